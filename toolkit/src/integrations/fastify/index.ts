/**
 * Fastify 5: plugins for sessions, rate limits and cached pages.
 *
 *   await app.register(sessionsPlugin, { sessions: new Sessions(db) });
 *   app.get("/", (request) => request.session.user ?? "somebody");
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { fastifyPlugin } from "fastify-plugin";
import { errorOf } from "../../base/errors.ts";
import { anything, callback, defineOptions, having, required, within } from "../../base/options.ts";
import { type CachedPage, cachedPages, type PagesOptions } from "../../components/cache/http.ts";
import type { Cache } from "../../components/cache/index.ts";
import { headersOf, judge, type LimitedOptions, problem } from "../../components/rate-limits/http.ts";
import type { RateLimits } from "../../components/rate-limits/index.ts";
import { COOKIE_OPTIONS } from "../../components/sessions/cookies.ts";
import {
  type AnySessions,
  isOverTls,
  sessionOf as loadSession,
  type RequestSession,
  type SessionHttpOptions,
  tooLate,
  withCookie,
} from "../../components/sessions/http.ts";
import { requestSession } from "../shared/request-session.ts";

export { type CachedPage, type PagesOptions, pageCodec } from "../../components/cache/http.ts";
export type { LimitedOptions } from "../../components/rate-limits/http.ts";
export { type CookieOptions, RequestSession, type SessionHttpOptions } from "../../components/sessions/http.ts";

/**
 * @fastify/session and @fastify/secure-session declare a `session` too. Where their types are part of the program (what they add
 * to the instance shows it) they win, and `sessionOf(request)` has ours.
 */
type OtherPlugins = { readonly decryptSession: unknown } | { readonly createSecureSession: unknown };
// biome-ignore lint/suspicious/noExplicitAny: what is declared twice must fit both.
type SessionBeside<I> = I extends OtherPlugins ? any : RequestSession;

/** What a Fastify request has with this import. */
export interface SessionRequest {
  /** The session of the request, by `sessionsPlugin` of cinnabar/fastify. */
  session: SessionBeside<FastifyInstance>;
}

declare module "fastify" {
  interface FastifyRequest extends SessionRequest {}
}

/**
 * The session of a request, whatever else declares a `session`.
 * @example
 * import fastify from "fastify";
 * const app = fastify();
 * await app.register(sessionsPlugin, { sessions: new Sessions(db) });
 * app.get("/", async (request) => sessionOf(request).user ?? "nobody");
 * (await app.inject("/")).body; // → "nobody"
 */
export function sessionOf(request: FastifyRequest): RequestSession {
  return requestSession(request, "sessionsPlugin");
}

/** What `sessionsPlugin` takes. */
export interface SessionsPluginOptions extends SessionHttpOptions<FastifyRequest> {
  /** Where sessions are kept. */
  readonly sessions: AnySessions;
}

const SESSIONS_OPTIONS = defineOptions<SessionsPluginOptions>("sessionsPlugin", {
  sessions: required(having("a Sessions", "load", "signIn")),
  cookie: within(COOKIE_OPTIONS),
  viewed: callback,
});

/** What `rateLimitsPlugin` takes. */
export interface RateLimitsPluginOptions extends LimitedOptions<FastifyRequest> {
  /** The rules, and the counters. */
  readonly limits: RateLimits;
}

const LIMITS_OPTIONS = defineOptions<RateLimitsPluginOptions>("rateLimitsPlugin", {
  limits: required(having("a RateLimits", "take")),
  subject: callback,
  cost: callback,
});

/** What `cachedPagesPlugin` takes. */
export interface CachedPagesPluginOptions {
  /** Where pages are kept. */
  readonly pages: Cache<CachedPage>;
  /** As for `cachedPages` of cinnabar/cache/http. None by default. */
  readonly options?: PagesOptions;
}

const PAGES_OPTIONS = defineOptions<CachedPagesPluginOptions>("cachedPagesPlugin", {
  pages: required(having("a Cache", "getEntry")),
  // Checked by cachedPages.
  options: anything,
});

interface FastifysOptions {
  readonly prefix?: unknown;
  readonly logLevel?: unknown;
  readonly logSerializers?: unknown;
}

/** Fastify adds options of its own: the prefix of a route, the level of its log. */
function ownOptions<O extends object>(given: O & FastifysOptions) {
  const { prefix: _prefix, logLevel: _level, logSerializers: _serializers, ...own } = given;
  return own;
}

/** Gives every request a `session`. */
export const sessionsPlugin = fastifyPlugin<SessionsPluginOptions>(
  async (app: FastifyInstance, given: SessionsPluginOptions) => {
    const { sessions, ...options } = SESSIONS_OPTIONS.check(ownOptions(given));
    app.decorateRequest("session");
    app.addHook("onRequest", async (request, reply) => {
      const setCookie = (header: string): void => {
        if (reply.sent) throw tooLate();
        const set = [reply.getHeader("set-cookie") ?? []].flat().map(String);
        reply.removeHeader("set-cookie");
        reply.header("set-cookie", withCookie(set, options.cookie, header));
      };
      const overTls = request.protocol === "https" || isOverTls(request.raw);
      const context = { request, cookies: request.headers.cookie, overTls, setCookie };
      request.session = await loadSession(sessions, options, context);
    });
  },
  { name: "cinnabar-sessions", fastify: "5.x" },
);

/** Refuses requests over the limit with 429. Counts by `request.ip` unless `subject` says otherwise. */
export const rateLimitsPlugin = fastifyPlugin<RateLimitsPluginOptions>(
  async (app: FastifyInstance, given: RateLimitsPluginOptions) => {
    const { limits, ...options } = LIMITS_OPTIONS.check(ownOptions(given));
    app.addHook("onRequest", async (request: FastifyRequest, reply: FastifyReply) => {
      const verdict = await judge(limits, options, request);
      if (verdict === null) return;
      for (const [name, value] of headersOf(verdict)) reply.header(name, value);
      if (verdict.allowed) return;
      reply.header("Content-Type", "application/problem+json");
      await reply.code(429).send(problem(verdict));
    });
  },
  { name: "cinnabar-rate-limits", fastify: "5.x" },
);

/** Answers with pages from the cache, and keeps those that the application sends. */
export const cachedPagesPlugin = fastifyPlugin<CachedPagesPluginOptions>(
  async (app: FastifyInstance, given: CachedPagesPluginOptions) => {
    const { pages, options } = PAGES_OPTIONS.check(ownOptions(given));
    const serve = cachedPages(pages, options ?? {});
    app.addHook("onRequest", (request, reply, done) => {
      let isPassed = false;
      const { raw } = reply;
      const { end } = raw;
      // An answer out of the cache is not Fastify's.
      raw.end = (...args: unknown[]) => {
        if (!isPassed) reply.hijack();
        return Reflect.apply(end, raw, args);
      };
      serve(request.raw, raw, (error) => {
        isPassed = true;
        done(error === undefined ? undefined : errorOf(error));
      });
    });
  },
  { name: "cinnabar-cached-pages", fastify: "5.x" },
);
