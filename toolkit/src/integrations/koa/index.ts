/**
 * Koa: sessions and rate limits as middleware.
 *
 *   app.use(sessionMiddleware(new Sessions(db)));
 *   app.use((ctx) => { ctx.body = ctx.session.user ?? "somebody"; });
 */
import type { DefaultContext, Middleware, ParameterizedContext } from "koa";
import { headersOf, judge, LIMITED_OPTIONS, type LimitedOptions, problem } from "../../components/rate-limits/http.ts";
import type { RateLimits } from "../../components/rate-limits/index.ts";
import {
  type AnySessions,
  type RequestSession,
  SESSION_HTTP_OPTIONS,
  type SessionHttpOptions,
  sessionOf,
  tooLate,
  withCookie,
} from "../../components/sessions/http.ts";

export type { LimitedOptions } from "../../components/rate-limits/http.ts";
export { type CookieOptions, RequestSession, type SessionHttpOptions } from "../../components/sessions/http.ts";

declare module "koa" {
  interface DefaultContext {
    /** The session of the request, by `sessionMiddleware` of cinnabar/koa. */
    session: RequestSession;
  }
}

type Context = ParameterizedContext<object, DefaultContext>;

/**
 * Gives every context a `session`.
 * @example
 * import Koa from "koa";
 * const app = new Koa();
 * app.use(sessionMiddleware(new Sessions(db)));
 * app.use((ctx) => void (ctx.body = ctx.session.user ?? "nobody"));
 */
export function sessionMiddleware(sessions: AnySessions, options: SessionHttpOptions<Context> = {}): Middleware {
  SESSION_HTTP_OPTIONS.check(options);
  return async (ctx, next) => {
    const setCookie = (header: string): void => {
      if (ctx.headerSent) throw tooLate();
      const set = [ctx.response.headers["set-cookie"] ?? []].flat().map(String);
      ctx.set("Set-Cookie", withCookie(set, options.cookie, header));
    };
    const context = { request: ctx, cookies: ctx.headers.cookie, overTls: ctx.secure, setCookie };
    ctx.session = await sessionOf(sessions, options, context);
    await next();
  };
}

/**
 * Refuses requests over the limit with 429. Counts by `ctx.ip` unless `subject` says otherwise.
 * @example
 * import Koa from "koa";
 * const limits = new RateLimits(db, { name: "api", rules: [{ limit: 100, windowMs: 60_000 }] });
 * const app = new Koa();
 * app.use(limited(limits, { subject: (ctx) => ctx.get("x-api-key") }));
 */
export function limited(limits: RateLimits, options: LimitedOptions<Context> = {}): Middleware {
  LIMITED_OPTIONS.check(options);
  return async (ctx, next) => {
    const verdict = await judge(limits, options, ctx);
    if (verdict === null) return next();
    for (const [name, value] of headersOf(verdict)) ctx.set(name, value);
    if (verdict.allowed) return next();
    ctx.status = 429;
    ctx.body = JSON.stringify(problem(verdict));
    ctx.type = "application/problem+json";
  };
}
