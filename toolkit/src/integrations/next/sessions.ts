/** Sessions in route handlers: functions from a Request to a Response. */
import {
  type AnySessions,
  type RequestSession,
  SESSION_HTTP_OPTIONS,
  type SessionHttpOptions,
  sessionOf,
  withCookie,
} from "../../components/sessions/http.ts";

/** `context` is what Next.js gives beside the request: the parameters of the route. */
export type RouteHandler<Context> = (request: Request, context: Context) => Promise<Response>;

/**
 * A route handler that has the session of its request. What it sets of the session's cookie goes with the answer.
 * @example
 * const GET = withSession(new Sessions(db), (_request, session) => new Response(session.user ?? "nobody"));
 * const answer = await GET(new Request("http://localhost/"), {});
 * await answer.text(); // → "nobody"
 */
export function withSession<Context = unknown>(
  sessions: AnySessions,
  handle: (request: Request, session: RequestSession, context: Context) => Response | Promise<Response>,
  options: SessionHttpOptions<Request> = {},
): RouteHandler<Context> {
  SESSION_HTTP_OPTIONS.check(options);
  return async (request, context) => {
    let set: string[] = [];
    const setCookie = (header: string): void => {
      set = withCookie(set, options.cookie, header);
    };
    const overTls = (request.headers.get("x-forwarded-proto") ?? new URL(request.url).protocol).startsWith("https");
    const cookies = request.headers.get("cookie") ?? undefined;
    const session = await sessionOf(sessions, options, { request, cookies, overTls, setCookie });
    const response = await handle(request, session, context);
    if (set.length === 0) return response;
    const answer = new Response(response.body, response);
    for (const each of set) answer.headers.append("Set-Cookie", each);
    return answer;
  };
}
