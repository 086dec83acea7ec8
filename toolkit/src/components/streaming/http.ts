/**
 * The stream over HTTP: NDJSON by chunked transfer, or server-sent events.
 *
 *   const endpoint = new StreamEndpoint(stream, { tokens: new AccessTokens(store) });
 *   app.all("/stream", endpoint.handler);             // or createServer(endpoint.handler)
 *   await endpoint.close();                           // everybody is told, and comes back elsewhere
 *
 *   GET /stream?track=redis,news today&follow=@ann,17&locations=-122.75,36.8,-121.75,37.8&sample=1&after=…
 *
 * Refusals are problem+json, before the stream begins. After that everything is a message: events, `gap`, `heartbeat`, and at the
 * end, where there is time for one, `end` with the reason.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Timer } from "../../base/clock.ts";
import { ClosedError } from "../../base/errors.ts";
import { callback, defineOptions, flag, having, number, prefix, text, whole, within } from "../../base/options.ts";
import type { Subscription } from "../../connection/subscriptions.ts";
import type { Format, Frame } from "./entry.ts";
import type { CompiledFilter } from "./filters.ts";
import { HttpConnection } from "./http-connection.ts";
import { LIMIT_OPTIONS, Limits, type Places, type StreamLimits } from "./http-limits.ts";
import {
  type Asked,
  networkOf,
  queryOf,
  Refusal,
  readRequest,
  refuse,
  TOKEN_PARAMETER,
  toRefusal,
} from "./http-request.ts";
import type { StatusStream } from "./index.ts";
import { type EndReason, frameOfMessage } from "./messages.ts";
import type { AccessTokens, TokenInfo } from "./tokens.ts";

export { type ReadStreamOptions, readStream, StreamRefusedError } from "./client.ts";
export type { StreamLimits } from "./http-limits.ts";

/** How to serve a stream over HTTP. */
export interface StreamEndpointOptions {
  /** How the keys of its limits begin (default `"stream-http:"` and the stream's name). */
  readonly prefix?: string;
  /** Who may listen. Everybody by default. */
  readonly tokens?: AccessTokens;
  /** A scope that every token must have. None by default. */
  readonly scope?: string;
  /**
   * Tokens may also come as `access_token` in the address, for EventSource, which cannot send headers. They end up in logs there.
   * False by default.
   */
  readonly tokenInQuery?: boolean;
  /** Who may ask for everything: tokens with the scope `firehose` always; others, only if this is true. False by default. */
  readonly firehose?: boolean;
  /** The largest sample, in percent, for users who may not have everything. 10 by default. */
  readonly maxSample?: number;
  /** How often, and how many times at once, somebody may connect; see `StreamLimits` for the defaults. */
  readonly limits?: StreamLimits;
  /** Connections in this process (default 10 000); further ones are answered with 503. */
  readonly maxConnections?: number;
  /** Bytes that may wait for a reader before the feed waits for them (default 262 144). */
  readonly maxBufferBytes?: number;
  /** How often a quiet connection shows that it is alive (default 15 000). */
  readonly heartbeatEveryMs?: number;
  /** How often a token is looked at again, in case the message of its revocation was lost. A minute by default. */
  readonly recheckEveryMs?: number;
  /** How long the last message may take to be read. 10 s by default. */
  readonly lingerTimeoutMs?: number;
  /** Whom a request counts for; by default the address it came from, of IPv6 the first 64 bits. */
  readonly address?: (request: IncomingMessage) => string;
  /** Called with each connection when its stream begins. None by default. */
  readonly onOpen?: (connection: ConnectionInfo) => void;
  /** Called with each connection when it is over, and with how it ended. None by default. */
  readonly onClose?: (connection: ConnectionInfo, ended: ConnectionEnd) => void;
}

/** For logs and metrics. Nothing in it lets anybody in. */
export interface ConnectionInfo {
  /** Whom the connection counts for. */
  readonly address: string;
  /** Whose token it came with; null without one. */
  readonly user: string | null;
  /** The id of that token; null without one. */
  readonly tokenId: string | null;
  /** How messages are sent: lines of JSON, or server-sent events. */
  readonly format: Format;
  /** Whether it came with a cursor. */
  readonly resumed: boolean;
}

/** How a connection ended. */
export interface ConnectionEnd {
  /** "gone": the other side left. */
  readonly reason: EndReason | "gone";
  /** How many events were sent. */
  readonly events: number;
}

interface Open {
  readonly connection: HttpConnection;
  readonly info: ConnectionInfo;
  readonly token: TokenInfo | null;
  readonly bucket: number;
  checkedMs: number;
}

/** Heartbeats are spread over so many parts of their period. */
const BUCKETS = 10;

const OPTIONS = defineOptions<StreamEndpointOptions>("StreamEndpoint", {
  prefix,
  tokens: having("an AccessTokens", "verify", "isGood"),
  scope: text,
  tokenInQuery: flag,
  firehose: flag,
  maxSample: number(0, 100),
  limits: within(LIMIT_OPTIONS),
  maxConnections: whole(1),
  maxBufferBytes: whole(32_768),
  heartbeatEveryMs: whole(10, 3_600_000),
  recheckEveryMs: whole(1),
  lingerTimeoutMs: whole(0),
  address: callback,
  onOpen: callback,
  onClose: callback,
});

const CLOSE_OPTIONS = defineOptions<{ readonly timeoutMs?: number; readonly spreadMs?: number }>(
  "StreamEndpoint.close",
  {
    timeoutMs: whole(0),
    spreadMs: whole(0),
  },
);

/**
 * Serves a stream over HTTP: NDJSON by chunked transfer, or server-sent events.
 *
 * @example
 * import { createServer } from "node:http";
 * const stream = new StatusStream(db, "public");
 * const endpoint = new StreamEndpoint(stream, { limits: { connectionsPerUser: 2 } });
 * const server = createServer(endpoint.handler);
 * endpoint.connections; // → 0
 * await endpoint.close({ timeoutMs: 1_000 });
 */
export class StreamEndpoint {
  /** For Express, Connect and plain Node servers; with Fastify, `reply.hijack()` and then `handler(request.raw, reply.raw)`. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly #stream: StatusStream;
  readonly #options: StreamEndpointOptions;
  readonly #limits: Limits;
  readonly #maxConnections: number;
  readonly #maxBufferBytes: number;
  readonly #heartbeatEveryMs: number;
  readonly #recheckEveryMs: number;
  readonly #lingerTimeoutMs: number;
  readonly #maxSample: number;
  readonly #open = new Set<Open>();
  #arriving = 0;
  #opened = 0;
  #beats = 0;
  #beatTimer: Timer | null = null;
  #revocations: Promise<Subscription | null> | null = null;
  #closing = false;

  constructor(stream: StatusStream, options: StreamEndpointOptions = {}) {
    OPTIONS.check(options);
    this.#stream = stream;
    this.#options = options;
    this.#limits = new Limits(stream.store, options.prefix ?? `stream-http:${stream.name}`, options.limits ?? {});
    this.#maxConnections = options.maxConnections ?? 10_000;
    this.#maxBufferBytes = options.maxBufferBytes ?? 262_144;
    this.#heartbeatEveryMs = options.heartbeatEveryMs ?? 15_000;
    this.#recheckEveryMs = options.recheckEveryMs ?? 60_000;
    this.#lingerTimeoutMs = options.lingerTimeoutMs ?? 10_000;
    this.#maxSample = options.maxSample ?? 10;
    this.handler = (request, response) => {
      this.#serve(request, response).catch((error) => refuse(response, toRefusal(error)));
    };
  }

  /** Connections that are open in this process. */
  get connections(): number {
    return this.#open.size;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "GET" && request.method !== "POST") {
      throw new Refusal(405, "use GET or POST", { headers: { Allow: "GET, POST" } });
    }
    if (this.#closing) throw unavailable("this server is closing");
    if (this.#open.size + this.#arriving >= this.#maxConnections) throw unavailable("this server is full");
    this.#arriving++;
    let places: Places | null = null;
    try {
      const address = this.#address(request);
      await this.#limits.connect("address", address);
      const token = await this.#authenticate(request);
      if (token !== null) await this.#limits.connect("user", token.user);
      const asked = await readRequest(request);
      const filter = this.#permitted(asked, token);
      places = await this.#limits.hold(token === null ? { address } : { address, user: token.user });
      const info: ConnectionInfo = {
        address,
        user: token?.user ?? null,
        tokenId: token?.id ?? null,
        format: asked.format,
        resumed: asked.after !== undefined,
      };
      await this.#begin({ request, response, asked, filter, token, info, places });
    } catch (error) {
      places?.release();
      throw error;
    } finally {
      this.#arriving--;
    }
  }

  #address(request: IncomingMessage): string {
    return this.#options.address?.(request) ?? networkOf(request.socket.remoteAddress ?? "unknown");
  }

  async #authenticate(request: IncomingMessage): Promise<TokenInfo | null> {
    const { tokens, tokenInQuery, scope } = this.#options;
    if (tokens === undefined) return null;
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
    const given = bearer ?? (tokenInQuery === true ? queryOf(request).get(TOKEN_PARAMETER) : null);
    if (given === null || given === undefined) {
      throw new Refusal(401, "an access token is needed", { headers: { "WWW-Authenticate": "Bearer" } });
    }
    const info = await tokens.verify(given);
    if (info === null) {
      const headers = { "WWW-Authenticate": 'Bearer error="invalid_token"' };
      throw new Refusal(401, "the access token is not, or no longer, valid", { headers });
    }
    if (scope !== undefined && !info.scopes.includes(scope)) throw lacking(scope);
    await this.#hearRevocations(tokens);
    return info;
  }

  #permitted({ filter }: Asked, token: TokenInfo | null): CompiledFilter {
    const compiled = this.#stream.compile(filter);
    if (this.#options.firehose === true || token?.scopes.includes("firehose") === true) return compiled;
    if (compiled.all) throw lacking("firehose");
    if (compiled.sample > this.#maxSample) {
      throw new Refusal(403, `a sample must not be above ${this.#maxSample} percent without the scope firehose`);
    }
    return compiled;
  }

  async #begin(arrival: {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly asked: Asked;
    readonly filter: CompiledFilter;
    readonly token: TokenInfo | null;
    readonly info: ConnectionInfo;
    readonly places: Places;
  }): Promise<void> {
    const { request, response, asked, filter, token, info, places } = arrival;
    const connection = new HttpConnection(request, response, {
      format: asked.format,
      maxBufferBytes: this.#maxBufferBytes,
      lingerTimeoutMs: this.#lingerTimeoutMs,
      clock: this.#stream.store.clock,
    });
    const { feed, gap } = await this.#stream.attach(filter, connection, asked.after);
    if (gap !== null && asked.onGap === "fail") {
      feed.close();
      const more = { oldest: gap.cursor };
      throw new Refusal(410, "events after this cursor are no longer in the log; the rest begins after `oldest`", {
        more,
      });
    }
    if (connection.isGone || this.#closing) {
      feed.close();
      throw unavailable("this server is closing");
    }
    connection.feed = feed;
    const checkedMs = this.#stream.store.clock.monotonicMs();
    const open: Open = { connection, info, token, bucket: this.#opened++ % BUCKETS, checkedMs };
    this.#open.add(open);
    places.onLost = () => feed.end("limit", "there are more connections than allowed");
    void connection.closed.then(() => this.#ended(open, places));
    connection.open();
    // The first message tells where it begins, and that it has begun.
    if (gap === null) connection.beat(frameOfMessage({ kind: "heartbeat", cursor: feed.cursor }, asked.format));
    feed.start();
    this.#scheduleBeat();
    this.#options.onOpen?.(info);
  }

  #ended(open: Open, places: Places): void {
    this.#open.delete(open);
    places.release();
    const { reason, sent } = open.connection;
    this.#options.onClose?.(open.info, { reason, events: sent });
  }

  // ---------------------------------------------------------------------------------------------- while open

  #scheduleBeat(): void {
    if (this.#beatTimer !== null || this.#open.size === 0) return;
    this.#beatTimer = this.#stream.store.clock.after(this.#heartbeatEveryMs / BUCKETS, () => {
      this.#beatTimer = null;
      this.#beat();
      this.#scheduleBeat();
    });
  }

  #beat(): void {
    const bucket = this.#beats++ % BUCKETS;
    const frames = new Map<string, Frame>();
    const now = this.#stream.store.clock.monotonicMs();
    for (const open of this.#open) {
      if (open.bucket !== bucket) continue;
      if (open.token !== null && now - open.checkedMs >= this.#recheckEveryMs) this.#recheck(open, open.token, now);
      const { connection } = open;
      const { feed, format } = connection;
      if (connection.idle && feed?.isLive === true) {
        const key = `${format} ${feed.cursor}`;
        let frame = frames.get(key);
        if (frame === undefined) {
          frame = frameOfMessage({ kind: "heartbeat", cursor: feed.cursor }, format);
          frames.set(key, frame);
        }
        connection.beat(frame);
      }
      connection.idle = true;
    }
  }

  #recheck(open: Open, token: TokenInfo, now: number): void {
    open.checkedMs = now;
    this.#options.tokens?.isGood(token).then(
      (good) => (good ? undefined : revoked(open)),
      // A store that cannot be reached is no reason to cut anybody off.
      () => {},
    );
  }

  /** Once for all connections, before the first that has a token. */
  async #hearRevocations(tokens: AccessTokens): Promise<void> {
    this.#revocations ??= tokens
      .subscribe((affects) => {
        for (const open of [...this.#open]) if (open.token !== null && affects(open.token)) revoked(open);
      })
      .catch((error) => {
        this.#revocations = null;
        if (error instanceof ClosedError) return null;
        throw error;
      });
    await this.#revocations;
  }

  /**
   * Lets nobody in any more and tells everybody that it is over, each to come back after another while, so that they do not all
   * come at once. Resolves when all connections are closed, by force after `timeoutMs`.
   */
  async close(options: { readonly timeoutMs?: number; readonly spreadMs?: number } = {}): Promise<void> {
    CLOSE_OPTIONS.check(options);
    const { timeoutMs = 5_000, spreadMs = 5_000 } = options;
    const { clock } = this.#stream.store;
    this.#closing = true;
    this.#beatTimer?.cancel();
    const open = [...this.#open];
    for (const { connection } of open) {
      connection.feed?.end("closing", "this server is closing; come back", Math.round(clock.random() * spreadMs));
    }
    const force = clock.after(timeoutMs, () => {
      for (const { connection } of open) connection.destroy();
    });
    await Promise.all(open.map(({ connection }) => connection.closed));
    force.cancel();
    await (await this.#revocations)?.close();
  }

  /** The same as `close()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function revoked({ connection }: Open): void {
  connection.feed?.end("revoked", "the access token is no longer valid");
}

function lacking(scope: string): Refusal {
  const headers = { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${scope}"` };
  return new Refusal(403, `this needs an access token with the scope ${scope}`, { headers });
}

function unavailable(detail: string): Refusal {
  return new Refusal(503, detail, { headers: { "Retry-After": "5", Connection: "close" } });
}
