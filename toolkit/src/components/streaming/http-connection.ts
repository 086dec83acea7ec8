/**
 * One answer that does not end: a feed's outlet over HTTP.
 *
 * Over HTTP/1.1 the frames of an entry, chunk head included, are written to the socket as they are: one buffer for all connections,
 * and no work for each but the write itself. Over anything else (HTTP/1.0 of old proxies, HTTP/2) the payload goes through the
 * response. What the socket has not taken yet is bounded; the feed waits when it is full.
 */
import { type IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Entry, Format, Frame } from "./entry.ts";
import type { Feed, Outlet } from "./feed.ts";
import { type EndMessage, type EndReason, frameOfMessage, type GapMessage } from "./messages.ts";

const CONTENT_TYPES = { ndjson: "application/x-ndjson; charset=utf-8", sse: "text/event-stream; charset=utf-8" };

export interface ConnectionOptions {
  readonly format: Format;
  readonly maxBufferBytes: number;
  /** How long the last message may take to be read. */
  readonly lingerTimeoutMs: number;
  readonly clock: Clock;
}

export class HttpConnection implements Outlet {
  readonly format: Format;
  /** Nothing was sent since the last beat. */
  idle = true;
  /** Why it ended; "gone" when the other side left. */
  reason: EndReason | "gone" = "gone";
  sent = 0;
  feed: Feed | null = null;
  readonly closed: Promise<void>;
  readonly #response: ServerResponse;
  /** Where chunks can be written as they are. */
  readonly #socket: Socket | null;
  readonly #options: ConnectionOptions;
  #linger: Timer | null = null;
  #over = false;

  constructor(request: IncomingMessage, response: ServerResponse, options: ConnectionOptions) {
    this.#response = response;
    this.#options = options;
    this.format = options.format;
    const direct = request.httpVersion === "1.1" && response instanceof ServerResponse;
    this.#socket = direct ? response.socket : null;
    this.closed = new Promise((resolve) => {
      response.once("close", () => {
        this.#over = true;
        this.#linger?.cancel();
        this.feed?.close();
        resolve();
      });
    });
  }

  get isGone(): boolean {
    return this.#over || this.#response.destroyed;
  }

  open(): void {
    const response = this.#response;
    // Proxies must pass everything on at once; what comes after the stream needs no care, since nothing does.
    response.writeHead(200, {
      "Content-Type": CONTENT_TYPES[this.format],
      "Cache-Control": "no-store",
      "X-Accel-Buffering": "no",
      "X-Content-Type-Options": "nosniff",
      ...(response instanceof ServerResponse ? { Connection: "close" } : {}),
    });
    response.flushHeaders();
    response.socket?.setTimeout(0);
    response.socket?.setKeepAlive(true, 60_000);
    response.socket?.setNoDelay(true);
  }

  #write({ chunk, start, end }: Frame): void {
    if (this.#socket !== null) this.#socket.write(chunk);
    else this.#response.write(chunk.subarray(start, end));
  }

  get #waitingBytes(): number {
    return (this.#socket ?? this.#response).writableLength;
  }

  // ---------------------------------------------------------------------------------------------- outlet

  send(entries: readonly Entry[]): boolean {
    if (this.isGone) return false;
    this.idle = false;
    this.sent += entries.length;
    const target = this.#socket ?? this.#response;
    if (entries.length > 1) target.cork();
    for (const entry of entries) this.#write(entry.frame(this.format));
    if (entries.length > 1) target.uncork();
    return this.#waitingBytes < this.#options.maxBufferBytes;
  }

  gap(message: GapMessage): void {
    if (this.isGone) return;
    this.idle = false;
    this.#write(frameOfMessage(message, this.format));
  }

  /** A sign of life, unless something is on its way anyway. The same bytes for all. */
  beat(frame: Frame): void {
    if (!this.isGone && this.#waitingBytes === 0) this.#write(frame);
  }

  end(message: EndMessage): void {
    this.reason = message.reason;
    if (this.isGone) return;
    this.#over = true;
    this.#write(frameOfMessage(message, this.format));
    this.#response.end();
    this.#linger = this.#options.clock.after(this.#options.lingerTimeoutMs, () => this.destroy());
  }

  drained(): Promise<void> {
    if (this.isGone || this.#waitingBytes === 0) return Promise.resolve();
    const target = this.#socket ?? this.#response;
    return Promise.race([new Promise<void>((resolve) => void target.once("drain", resolve)), this.closed]);
  }

  destroy(): void {
    this.#response.destroy();
  }
}
