/** An error as its caller gets it, from the server or from a page by itself (in-page/): problem+json. */
import { ClosedError, ConnectionError, InputError, ServerError } from "cinnabar";
import { Problem } from "./route.ts";

/** What Fastify adds to errors of its own. */
interface HttpError extends Error {
  readonly statusCode?: number;
  readonly code?: string;
  readonly validation?: unknown;
}

const TITLES: Readonly<Record<number, string>> = {
  400: "Bad request",
  401: "Not signed in",
  403: "Refused",
  404: "Not found",
  409: "Conflict",
  413: "Too large",
  415: "Unsupported media type",
  421: "Misdirected request",
  422: "The store refused it",
  429: "Too many attempts",
  500: "Internal error",
  503: "The store cannot be reached",
};

/** What the caller is told. Errors that nobody foresaw are written to stderr, and tell the caller nothing. */
export function problemOf(error: HttpError): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InputError) return new Problem(400, "INPUT", error.message);
  if (error instanceof ServerError) return new Problem(422, error.code, error.message);
  if (error instanceof ConnectionError || error instanceof ClosedError)
    return new Problem(503, error.code, error.message);
  const { statusCode, code, validation } = error;
  if (validation !== undefined) return new Problem(400, "INPUT", error.message);
  if (statusCode !== undefined && statusCode < 500) return new Problem(statusCode, code ?? "REQUEST", error.message);
  console.error(error);
  return new Problem(500, "INTERNAL", "something went wrong in the console; its terminal says what");
}

/** As RFC 9457 has it. */
export function documentOf({ status, code, message }: Problem) {
  return { type: "about:blank", title: TITLES[status] ?? "Error", status, code, detail: message };
}
