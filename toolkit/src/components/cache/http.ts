/**
 * Whole pages from the cache, in front of an HTTP application: anything with (request, response, next). `cinnabar/express` and
 * `cinnabar/fastify` have it, too.
 *
 *   const pages = new Cache<CachedPage>(store, "pages", { freshMs: 300_000, codec: pageCodec });
 *   app.use(cachedPages(pages, { views: new Views(store, "pages", { bufferMs: 200 }) }));
 *
 * Cached is what anybody may see: GET without credentials or cookies, answered with 200, that sets no cookie and does not forbid it. With
 * `views`, only pages whose rank by views is high enough; the others are not worth the memory.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Codec } from "../../base/codec.ts";
import { isUnavailable } from "../../base/errors.ts";
import { callback, choice, defineOptions, either, having, listOf, text, whole } from "../../base/options.ts";
import type { Views } from "../views/index.ts";
import type { Cache, Loading } from "./index.ts";

/** A page as it is kept. */
export interface CachedPage {
  /** The status of the answer: 200. */
  readonly status: number;
  /** Names and values of its headers, without those that belong to one answer, such as Date. */
  readonly headers: readonly (readonly [string, string])[];
  /** Its body, not compressed. */
  readonly body: Buffer;
}

/** Null stands for a page that was not to be kept. */
type MaybePage = CachedPage | null;

/** What `cachedPages` may be given. */
export interface PagesOptions {
  /** The key of a request, or null for one that is not to be cached; by default its host and URL, unless it is dynamic. */
  readonly key?: (request: IncomingMessage) => string | null;
  /** Tags of a page, for invalidation. None by default. */
  readonly tags?: (request: IncomingMessage) => readonly string[];
  /** Notes each request, and lets only pages into the cache that are among the most viewed. By default every page is let in. */
  readonly views?: Views;
  /** How many of the most viewed. By default 10 000. */
  readonly maxRank?: number;
  /**
   * Cookies that no page depends on (of statistics, say), or true for all of them. A request with any other is passed by: its page may be
   * for that visitor only. By default none is ignored.
   */
  readonly ignoreCookies?: readonly string[] | true;
  /** Larger answers are passed through and not kept. By default 4 MiB. */
  readonly maxBytes?: number;
}

const OPTIONS = defineOptions<PagesOptions>("cachedPages", {
  key: callback,
  tags: callback,
  views: having("a Views", "add"),
  maxRank: whole(1),
  ignoreCookies: either(choice(true), listOf(text)),
  maxBytes: whole(1),
});

type Next = (error?: unknown) => void;

/** Headers that belong to one answer or one connection. */
const NOT_KEPT = new Set(["connection", "date", "keep-alive", "set-cookie", "transfer-encoding", "x-cache", "age"]);

/**
 * Middleware that answers from the cache what anybody may see: GET without credentials or cookies, answered with 200, that sets no cookie
 * and does not forbid it. `X-Cache` says HIT, STALE or MISS.
 *
 * @example
 * const pages = new Cache<CachedPage>(db, "pages", { freshMs: 60_000, codec: pageCodec });
 * const cached = cachedPages(pages, { tags: () => ["products"], ignoreCookies: ["theme"] });
 * const { default: express } = await import("express");
 * express().use("/products", cached).get("/products/17", (_request, response) => void response.send("chair"));
 */
export function cachedPages(
  pages: Cache<CachedPage>,
  options: PagesOptions = {},
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  OPTIONS.check(options);
  const cache = pages as unknown as Cache<MaybePage>;
  return (request, response, next) => {
    serve(cache, options, { request, response, next }).catch(next);
  };
}

/** One request, and how the application gets it. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly next: Next;
}

async function serve(cache: Cache<MaybePage>, options: PagesOptions, exchange: Exchange): Promise<void> {
  const { request, next } = exchange;
  const key = isPublic(request, options.ignoreCookies ?? []) ? (options.key ?? defaultKey)(request) : null;
  if (key === null || !(await isWanted(options, key))) return next();
  let isMine = false;
  const found = await cache.getEntry(
    key,
    (loading) => {
      isMine = true;
      return capture(options, exchange, loading);
    },
    { tags: options.tags?.(request) ?? [] },
  );
  // The request that makes the page, also in the place of a stale one, is answered by the application.
  if (isMine) return;
  if (found.value === null) return next();
  send(exchange, found.value, { state: found.state === "stale" ? "STALE" : "HIT", ageMs: found.ageMs });
}

function isPublic({ method, headers }: IncomingMessage, ignored: readonly string[] | true): boolean {
  if (method !== "GET" || headers.authorization !== undefined || headers.range !== undefined) return false;
  if (ignored === true || headers.cookie === undefined) return true;
  return headers.cookie.split(";").every((pair) => ignored.includes(pair.replace(/=.*/s, "").trim()));
}

/**
 * Host and address, as the client has asked for them (Express takes the part off that a router stands at): pages of different
 * hosts may differ, and may name their host. A page with `_` among its parameters is dynamic: browsers add it to get past caches.
 */
function defaultKey(request: IncomingMessage): string | null {
  const original = "originalUrl" in request ? request.originalUrl : undefined;
  const url = typeof original === "string" ? original : (request.url ?? "");
  const key = `${request.headers.host ?? ""} ${url}`;
  if (key.length > 1_000 || !URL.canParse(url, "http://localhost")) return null;
  return new URL(url, "http://localhost").searchParams.has("_") ? null : key;
}

async function isWanted({ views, maxRank = 10_000 }: PagesOptions, key: string): Promise<boolean> {
  if (views === undefined) return true;
  try {
    await views.add(key);
    const rank = await views.rank(key);
    return rank !== null && rank < maxRank;
  } catch (error) {
    // A store that cannot be reached, or is full, must not keep the page from being made.
    if (isUnavailable(error)) return false;
    throw error;
  }
}

/** Lets the application answer, and keeps what it sends. */
function capture(
  { maxBytes = 4 * 1024 * 1024 }: PagesOptions,
  { request, response, next }: Exchange,
  loading: Loading,
): Promise<MaybePage> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: unknown, encoding: unknown): void => {
      if (typeof chunk !== "string" && !(chunk instanceof Uint8Array)) return;
      const bytes =
        typeof chunk === "string"
          ? Buffer.from(chunk, typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8")
          : Buffer.from(chunk);
      size += bytes.length;
      if (size <= maxBytes) chunks.push(bytes);
    };
    const { write, end } = response;
    response.setHeader("X-Cache", "MISS");
    response.write = (chunk: unknown, encoding: unknown, ...rest: unknown[]) => {
      take(chunk, encoding);
      return Reflect.apply(write, response, [chunk, encoding, ...rest]);
    };
    response.end = (chunk?: unknown, encoding?: unknown, ...rest: unknown[]) => {
      take(chunk, encoding);
      return Reflect.apply(end, response, [chunk, encoding, ...rest]);
    };
    // Also when the client goes away before the end: nobody may wait for ever.
    response.once("close", () => {
      const isKept = response.writableFinished && size <= maxBytes && mayBeKept(request, response);
      if (!isKept) loading.skip();
      resolve(
        isKept ? { status: response.statusCode, headers: headersOf(response), body: Buffer.concat(chunks) } : null,
      );
    });
    next();
  });
}

function mayBeKept(request: IncomingMessage, response: ServerResponse): boolean {
  if (response.statusCode !== 200 || response.hasHeader("set-cookie")) return false;
  if (/\b(no-store|private|no-cache)\b/i.test(String(response.getHeader("cache-control") ?? ""))) return false;
  const vary = String(response.getHeader("vary") ?? "").toLowerCase();
  // One form of a page is kept. One that depends on more than its encoding is not for everybody, nor is one that was encoded
  // for this client.
  if (vary.split(",").some((name) => !["", "accept-encoding", "origin"].includes(name.trim()))) return false;
  return !response.hasHeader("content-encoding") && request.method === "GET";
}

function headersOf(response: ServerResponse): [string, string][] {
  return Object.entries(response.getHeaders())
    .filter(([name, value]) => value !== undefined && !NOT_KEPT.has(name.toLowerCase()))
    .map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]);
}

function send(
  { request, response }: Exchange,
  page: CachedPage,
  { state, ageMs }: { readonly state: string; readonly ageMs: number },
): void {
  response.statusCode = page.status;
  for (const [name, value] of page.headers) response.setHeader(name, value);
  response.setHeader("X-Cache", state);
  response.setHeader("Age", String(Math.max(0, Math.floor(ageMs / 1000))));
  const etag = response.getHeader("etag");
  if (etag !== undefined && request.headers["if-none-match"] === etag) {
    response.statusCode = 304;
    response.removeHeader("Content-Length");
    response.end();
    return;
  }
  response.setHeader("Content-Length", String(page.body.length));
  response.end(page.body);
}

/** Pages as one buffer: a line of JSON with status and headers, then the body as it is. */
export const pageCodec: Codec<CachedPage> = {
  binary: true,
  encode: ({ status, headers, body }) =>
    Buffer.concat([Buffer.from(`${JSON.stringify({ status, headers })}\n`, "utf8"), body]),
  decode: (stored) => {
    const bytes = typeof stored === "string" ? Buffer.from(stored, "utf8") : stored;
    const at = bytes.indexOf("\n");
    const { status, headers }: Omit<CachedPage, "body"> = JSON.parse(bytes.toString("utf8", 0, at));
    return { status, headers, body: bytes.subarray(at + 1) };
  },
};
