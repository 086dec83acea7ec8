/**
 * Rate limits in front of an HTTP application: anything with (request, response, next). `cinnabar/express`, `cinnabar/fastify`,
 * `cinnabar/hono` and `cinnabar/koa` are built on it.
 *
 *   app.use(limited(new RateLimits(store, { name: "api", rules: { limit: 100, windowMs: 60_000 } })));
 *
 * Every answer carries `RateLimit-Limit`, `RateLimit-Remaining` and `RateLimit-Reset` (seconds); a refusal is 429 with
 * `Retry-After` and a problem+json body.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { callback, defineOptions } from "../../base/options.ts";
import type { RateLimits, Verdict } from "./index.ts";

/** How requests are limited. */
export interface LimitedOptions<Request> {
  /** Whom a request counts for; the address it came from by default. Null or undefined: not limited. */
  readonly subject?: (request: Request) => string | null | undefined | Promise<string | null | undefined>;
  /** How much a request counts; 1 by default. */
  readonly cost?: (request: Request) => number;
}

/** Checked by each of the adapters. @internal */
export const LIMITED_OPTIONS = defineOptions<LimitedOptions<never>>("limited", { subject: callback, cost: callback });

type Next = (error?: unknown) => void;

/**
 * Middleware for Express, Connect and plain Node servers. Every answer carries `RateLimit-Limit`, `RateLimit-Remaining` and
 * `RateLimit-Reset` in seconds; a refusal is 429 with `Retry-After`.
 *
 * @example
 * const limiter = new RateLimits(db, { name: "api", rules: { limit: 100, windowMs: 60_000 }, whenUnreachable: "allow" });
 * const { default: express } = await import("express");
 * const app = express().use(limited(limiter, { subject: ({ headers }) => String(headers["x-api-key"] ?? "nobody") }));
 * app.get("/", (_request, response) => void response.send("hello"));
 */
export function limited<Request extends IncomingMessage>(
  limiter: RateLimits,
  options: LimitedOptions<Request> = {},
): (request: Request, response: ServerResponse, next: Next) => void {
  LIMITED_OPTIONS.check(options);
  return (request, response, next) => {
    judge(limiter, options, request).then((verdict) => {
      if (verdict === null) return next();
      for (const [name, value] of headersOf(verdict)) response.setHeader(name, value);
      if (verdict.allowed) return next();
      response.statusCode = 429;
      response.setHeader("Content-Type", "application/problem+json");
      response.end(JSON.stringify(problem(verdict)));
    }, next);
  };
}

/** Null for a request that is not limited. @internal */
export async function judge<Request extends object>(
  limiter: RateLimits,
  options: LimitedOptions<Request>,
  request: Request,
): Promise<Verdict | null> {
  const subject = options.subject === undefined ? addressOf(request) : await options.subject(request);
  if (subject === null || subject === undefined) return null;
  return limiter.take(subject, options.cost === undefined ? {} : { cost: options.cost(request) });
}

interface MaybeAddressed {
  readonly ip?: string;
  readonly socket?: { readonly remoteAddress?: string };
}

/** `ip` is what Express and Fastify make of it with their trust-proxy settings. */
function addressOf({ ip, socket }: MaybeAddressed): string {
  return ip ?? socket?.remoteAddress ?? "unknown";
}

/** @internal */
export function* headersOf(verdict: Verdict): Generator<[string, string]> {
  yield ["RateLimit-Limit", String(verdict.limit)];
  yield ["RateLimit-Remaining", String(verdict.remaining)];
  yield ["RateLimit-Reset", String(Math.ceil(verdict.resetAfterMs / 1000))];
  if (!verdict.allowed) yield ["Retry-After", String(Math.max(1, Math.ceil(verdict.retryAfterMs / 1000)))];
}

/** The body of a refusal. @internal */
export function problem({ retryAfterMs }: Verdict): object {
  return {
    type: "about:blank",
    title: "Too Many Requests",
    status: 429,
    detail: `Try again in ${Math.max(1, Math.ceil(retryAfterMs / 1000))} seconds.`,
  };
}
