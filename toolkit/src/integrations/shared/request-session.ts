/** The session of a request where another library may have put one at the same place, or has declared that it does. */
import { InputError } from "../../base/errors.ts";
import { RequestSession } from "../../components/sessions/http.ts";

/** Throws where there is none, or one of another library. */
export function requestSession(request: { readonly session?: unknown }, by: string): RequestSession {
  if (request.session instanceof RequestSession) return request.session;
  const found = request.session === undefined ? "none" : "one of another library";
  throw new InputError(`the request has no session of cinnabar but ${found}; ${by} must come before this`);
}
