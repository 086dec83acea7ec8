/**
 * Hono: sessions and rate limits as middleware, on Node, Bun and Deno.
 *
 *   const app = new Hono<SessionEnv>();
 *   app.use(sessionMiddleware(new Sessions(db)));
 *   app.get("/", (c) => c.text(c.var.session.user ?? "somebody"));
 */
import type { Context, MiddlewareHandler } from "hono";
import { headersOf, judge, LIMITED_OPTIONS, type LimitedOptions, problem } from "../../components/rate-limits/http.ts";
import type { RateLimits } from "../../components/rate-limits/index.ts";
import {
  type AnySessions,
  type RequestSession,
  SESSION_HTTP_OPTIONS,
  type SessionHttpOptions,
  sessionOf,
  withCookie,
} from "../../components/sessions/http.ts";

export type { LimitedOptions } from "../../components/rate-limits/http.ts";
export { type CookieOptions, RequestSession, type SessionHttpOptions } from "../../components/sessions/http.ts";

/** What `new Hono<SessionEnv>()` knows of its context: `c.var.session`. */
export interface SessionEnv {
  /** The session of the request, by `sessionMiddleware`. */
  Variables: { session: RequestSession };
}

/**
 * Gives every context a `session`.
 * @example
 * import { Hono } from "hono";
 * const app = new Hono<SessionEnv>();
 * app.use(sessionMiddleware(new Sessions(db)));
 * app.get("/", (c) => c.text(c.var.session.user ?? "nobody"));
 * await (await app.request("/")).text(); // → "nobody"
 */
export function sessionMiddleware(
  sessions: AnySessions,
  options: SessionHttpOptions<Context> = {},
): MiddlewareHandler<SessionEnv> {
  SESSION_HTTP_OPTIONS.check(options);
  return async (c, next) => {
    const setCookie = (header: string): void => {
      const set = withCookie(c.res.headers.getSetCookie(), options.cookie, header);
      c.header("Set-Cookie", undefined);
      for (const each of set) c.header("Set-Cookie", each, { append: true });
    };
    const overTls = c.req.url.startsWith("https:");
    const context = { request: c, cookies: c.req.header("cookie"), overTls, setCookie };
    c.set("session", await sessionOf(sessions, options, context));
    await next();
  };
}

/** What Node's server for Hono binds. */
interface NodeBindings {
  readonly incoming?: { readonly socket?: { readonly remoteAddress?: string } };
}

/** As Node's server tells it; other runtimes say it elsewhere, so `subject` says where. */
function addressOf(c: Context): string {
  const { incoming }: NodeBindings = c.env ?? {};
  return incoming?.socket?.remoteAddress ?? "unknown";
}

/**
 * Refuses requests over the limit with 429. Counts by the address that Node's server sees unless `subject` says otherwise: behind a proxy
 * or on other runtimes, it should.
 * @example
 * import { Hono } from "hono";
 * const limits = new RateLimits(db, { name: "api", rules: [{ limit: 1, windowMs: 60_000 }] });
 * const app = new Hono();
 * app.use(limited(limits, { subject: (c) => c.req.header("x-api-key") ?? "nobody" }));
 * app.get("/", (c) => c.text("hello"));
 * [(await app.request("/")).status, (await app.request("/")).status]; // → [200, 429]
 */
export function limited(limits: RateLimits, options: LimitedOptions<Context> = {}): MiddlewareHandler {
  LIMITED_OPTIONS.check(options);
  const counting = { subject: addressOf, ...options };
  return async (c, next) => {
    const verdict = await judge(limits, counting, c);
    if (verdict === null || verdict.allowed) await next();
    else
      c.res = Response.json(problem(verdict), { status: 429, headers: { "Content-Type": "application/problem+json" } });
    if (verdict !== null) for (const [name, value] of headersOf(verdict)) c.header(name, value);
  };
}
