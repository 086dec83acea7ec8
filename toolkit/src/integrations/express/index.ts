/**
 * Express 4 and 5: sessions, rate limits and cached pages as middleware.
 *
 *   app.use(sessionMiddleware(new Sessions(db)));
 *   app.get("/", (request, response) => response.send(request.session.user ?? "somebody"));
 *
 * With this import `request.session` has its type. Its data has one where the application says what it is:
 *
 *   declare module "cinnabar/sessions" {
 *     interface SessionFields { visits: number }
 *   }
 */
import type { NextFunction, Request, RequestHandler, Response } from "express";
import { LIMITED_OPTIONS, type LimitedOptions, limited as limitedRequests } from "../../components/rate-limits/http.ts";
import type { RateLimits } from "../../components/rate-limits/index.ts";
import {
  type AnySessions,
  type RequestSession,
  SESSION_HTTP_OPTIONS,
  type SessionHttpOptions,
  sessionMiddleware as sessionsOfRequests,
} from "../../components/sessions/http.ts";
import { requestSession } from "../shared/request-session.ts";

export { type CachedPage, cachedPages, type PagesOptions, pageCodec } from "../../components/cache/http.ts";
export type { LimitedOptions } from "../../components/rate-limits/http.ts";
export { type CookieOptions, RequestSession, type SessionHttpOptions } from "../../components/sessions/http.ts";

/**
 * express-session declares a `session` too. Where its types are part of the program (`sessionID` shows it) they win, and
 * `sessionOf(request)` has ours.
 */
// biome-ignore lint/suspicious/noExplicitAny: what is declared twice must fit both.
type SessionBeside<R> = R extends { readonly sessionID: string } ? any : RequestSession;

/** What an Express request has with this import. */
export interface SessionRequest {
  /** The session of the request, by `sessionMiddleware` of cinnabar/express. */
  session: SessionBeside<Express.Request>;
}

declare global {
  namespace Express {
    interface Request extends SessionRequest {}
  }
}

/**
 * The session of a request, whatever else declares a `session`.
 * @example
 * import express from "express";
 * const app = express();
 * app.use(sessionMiddleware(new Sessions(db)));
 * app.get("/", (request, response) => void response.send(sessionOf(request).user ?? "nobody"));
 */
export function sessionOf(request: Request): RequestSession {
  return requestSession(request, "sessionMiddleware");
}

/**
 * Gives every request a `session`.
 * @example
 * import express from "express";
 * const app = express();
 * app.use(sessionMiddleware(new Sessions(db), { cookie: { name: "shop" } }));
 * app.get("/", (request, response) => void response.send(sessionOf(request).user ?? "nobody"));
 */
export function sessionMiddleware(sessions: AnySessions, options: SessionHttpOptions<Request> = {}): RequestHandler {
  SESSION_HTTP_OPTIONS.check(options);
  const handle = sessionsOfRequests(sessions, options as SessionHttpOptions);
  return (request: Request, response: Response, next: NextFunction) => handle(request, response, next);
}

/**
 * Refuses requests over the limit with 429. Counts by `request.ip` unless `subject` says otherwise.
 * @example
 * import express from "express";
 * const limits = new RateLimits(db, { name: "api", rules: [{ limit: 100, windowMs: 60_000 }] });
 * const app = express();
 * app.use(limited(limits, { subject: (request) => request.get("x-api-key") }));
 */
export function limited(limits: RateLimits, options: LimitedOptions<Request> = {}): RequestHandler {
  LIMITED_OPTIONS.check(options);
  const handle = limitedRequests(limits, options);
  return (request: Request, response: Response, next: NextFunction) => handle(request, response, next);
}
