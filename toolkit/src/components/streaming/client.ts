/**
 * The other end: reads a stream over HTTP and comes back by itself, so that what is still in the log is never missed.
 *
 *   for await (const message of readStream("https://example.com/stream", { filter: { track: ["redis"] }, token })) …
 *
 * After a lost connection, a silent one, or an `end` that allows it, it connects again behind the last cursor, after a pause that
 * grows and varies. A cursor that is too old gives a `gap` message, and it goes on with what there is. A refusal that would be
 * the same the next time throws.
 */

import { onAbort } from "../../base/abort.ts";
import { type Clock, sleep, systemClock, type Timer } from "../../base/clock.ts";
import { CinnabarError } from "../../base/errors.ts";
import { callback, defineOptions, flag, having, object, required, signal, text, whole } from "../../base/options.ts";
import type { StreamFilter } from "./filters.ts";
import type { StreamMessage } from "./messages.ts";

/** How to read a stream over HTTP. */
export interface ReadStreamOptions {
  /** What to listen for. */
  readonly filter: StreamFilter;
  /** An access token; none by default. */
  readonly token?: string;
  /** The cursor of the last message, or "oldest". From now on by default. */
  readonly from?: string;
  /** Ends reading: the loop ends. None by default. */
  readonly signal?: AbortSignal;
  /** A connection on which nothing comes for so long is made anew; more than twice the server's heartbeat. 45 s by default. */
  readonly silenceTimeoutMs?: number;
  /** The longest pause between attempts. 30 s by default. */
  readonly maxBackoffMs?: number;
  /** Whether heartbeats are handed on (default false). */
  readonly heartbeats?: boolean;
  /** What makes the requests (default: the global `fetch`). */
  readonly fetch?: typeof fetch;
  /** What measures time (default: the system's clock). */
  readonly clock?: Clock;
}

/** The server said no, and would again. */
export class StreamRefusedError extends CinnabarError {
  override readonly name = "StreamRefusedError";
  /** The status of the HTTP answer. */
  readonly status: number;

  constructor(status: number, detail: string) {
    super("REFUSED", `${status}: ${detail}`);
    this.status = status;
  }
}

const FIRST_PAUSE_MS = 100;

const READ_STREAM_OPTIONS = defineOptions<ReadStreamOptions>("readStream", {
  filter: required(object),
  token: text,
  from: text,
  signal,
  silenceTimeoutMs: whole(1),
  maxBackoffMs: whole(1),
  heartbeats: flag,
  fetch: callback,
  clock: having("a Clock", "monotonicMs", "after"),
});

/**
 * Reads a stream over HTTP, and connects again by itself behind the last cursor. Throws a `StreamRefusedError` when the server
 * would refuse again.
 *
 * @example
 * import { createServer } from "node:http";
 * import type { AddressInfo } from "node:net";
 * await using endpoint = new StreamEndpoint(new StatusStream(db, "public"));
 * const server = createServer(endpoint.handler).listen(0);
 * const url = `http://localhost:${(server.address() as AddressInfo).port}/stream`;
 * const messages = readStream(url, { filter: { track: ["redis"] }, heartbeats: true });
 * for await (const { kind } of messages) if (kind === "heartbeat") break;
 * server.close();
 */
export async function* readStream(url: string, options: ReadStreamOptions): AsyncGenerator<StreamMessage, void, void> {
  READ_STREAM_OPTIONS.check(options);
  const { signal, clock = systemClock, maxBackoffMs = 30_000 } = options;
  let { from: after } = options;
  let failures = 0;
  let pauseMs: number | null = null;
  for (;;) {
    if (isAborted(signal)) return;
    const attempt = new Attempt(url, options, after);
    try {
      for await (const message of attempt.messages()) {
        failures = 0;
        after = message.cursor;
        if (message.kind === "end") {
          if (message.reason === "revoked") return yield message;
          pauseMs = message.retryMs ?? null;
        }
        if (message.kind !== "heartbeat" || options.heartbeats === true) yield message;
      }
    } catch (error) {
      if (isAborted(signal)) return;
      if (error instanceof StreamRefusedError) throw error;
      if (error instanceof TooOld) {
        yield { kind: "gap", after: error.after, cursor: error.oldest };
        after = error.oldest;
        continue;
      }
      if (error instanceof Later) pauseMs = error.afterMs;
    } finally {
      attempt.end();
    }
    const longest = Math.min(maxBackoffMs, FIRST_PAUSE_MS * 2 ** Math.min(failures++, 20));
    try {
      await sleep(clock, pauseMs ?? longest * (0.5 + clock.random() / 2), signal);
    } catch {
      return;
    }
    pauseMs = null;
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}

class TooOld extends Error {
  readonly after: string;
  readonly oldest: string;

  constructor(after: string, oldest: string) {
    super("the cursor is too old");
    this.after = after;
    this.oldest = oldest;
  }
}

class Later extends Error {
  readonly afterMs: number;

  constructor(afterMs: number) {
    super("not now");
    this.afterMs = afterMs;
  }
}

/** One connection. */
class Attempt {
  readonly #url: string;
  readonly #options: ReadStreamOptions;
  readonly #after: string | undefined;
  readonly #ending = new AbortController();
  readonly #clock: Clock;
  readonly #silenceTimeoutMs: number;
  #silence: Timer | null = null;
  #removeFromSignal = (): void => {};

  constructor(url: string, options: ReadStreamOptions, after: string | undefined) {
    this.#url = url;
    this.#options = options;
    this.#after = after;
    this.#clock = options.clock ?? systemClock;
    this.#silenceTimeoutMs = options.silenceTimeoutMs ?? 45_000;
    const { signal } = options;
    if (signal !== undefined) this.#removeFromSignal = onAbort(signal, () => this.#ending.abort(signal.reason));
  }

  async *messages(): AsyncGenerator<StreamMessage> {
    this.#listen();
    const response = await this.#connect();
    if (!response.ok || response.body === null) return await this.#refused(response);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of response.body) {
      this.#listen();
      const text = rest + decoder.decode(bytes, { stream: true });
      // A line that was cut off comes whole the next time.
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      for (const line of text.slice(0, end).split("\n")) if (line !== "") yield JSON.parse(line);
    }
  }

  #connect(): Promise<Response> {
    const { filter, token, fetch: ask = fetch } = this.#options;
    const { locations, ...others } = filter;
    const boxes = locations?.map(({ west, south, east, north }) => [west, south, east, north]);
    const body = { ...others, locations: boxes, after: this.#after, format: "ndjson", gap: "fail" };
    return ask(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      signal: this.#ending.signal,
    });
  }

  /** Something has come; the next has to in time. */
  #listen(): void {
    this.#silence?.cancel();
    this.#silence = this.#clock.after(this.#silenceTimeoutMs, () =>
      this.#ending.abort(new Error("the stream is silent")),
    );
  }

  async #refused(response: Response): Promise<never> {
    const { status, headers } = response;
    const problem = (await response.json().catch(() => ({}))) as { detail?: string; oldest?: string };
    if (status === 410 && this.#after !== undefined && problem.oldest !== undefined) {
      throw new TooOld(this.#after, problem.oldest);
    }
    const seconds = Number(headers.get("retry-after"));
    if ((status === 429 || status === 503) && seconds > 0) throw new Later(seconds * 1_000);
    if (status === 429 || status >= 500) throw new Error(`${status}`);
    throw new StreamRefusedError(status, problem.detail ?? response.statusText);
  }

  end(): void {
    this.#silence?.cancel();
    this.#removeFromSignal();
    this.#ending.abort();
  }
}
