/**
 * A connection for commands that wait on the server. A failover or a half-open socket can leave such a command without an
 * answer for ever, so each has a guard: past its own timeout and a little more, the connection is given up and made anew.
 * What is given up may have run. So components wait for a sign and take the truth from a script afterwards.
 */

import { onAbort } from "../base/abort.ts";
import { sendable } from "../base/checks.ts";
import type { Clock, Timer } from "../base/clock.ts";
import { ClosedError, ConnectionError, ServerError } from "../base/errors.ts";
import { defineOptions, flag, number, required, signal } from "../base/options.ts";
import { type Script, type ScriptCall, textFor } from "../base/script.ts";
import type { BlockingCommands } from "./commands.ts";
import type { Driver, Reply, Session, Word } from "./port.ts";
import { addBlockingCommands } from "./typed.ts";

/** How long a command on a BlockingConnection waits. */
export interface WaitOptions {
  /** How long the command itself may wait on the server: the timeout among its words. */
  readonly timeoutMs: number;
  /** Ends the wait and the connection: the call rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
  /** Strings of the reply as Buffers (false by default). */
  readonly buffers?: boolean;
}

/** What a server says that is not, or no longer, the one to wait at. */
const ELSEWHERE = new Set([
  "ASK",
  "CLUSTERDOWN",
  "LOADING",
  "MASTERDOWN",
  "MOVED",
  "READONLY",
  "TRYAGAIN",
  "UNBLOCKED",
]);

const WAIT_OPTIONS = defineOptions<WaitOptions>("BlockingConnection.call", {
  timeoutMs: required(number(0, Number.MAX_SAFE_INTEGER)),
  signal,
  buffers: flag,
});

/** What the store gives it. */
interface Host {
  readonly clock: Clock;
  readonly guardMs: number;
  /** Before a script: null, or what to wait for (layout.ts). */
  enter(script: Script<never, unknown>): Promise<void> | null;
  onClose(): void;
}

/** A connection of its own for commands that wait on the server, each as a method. Calls run one at a time. */
export interface BlockingConnection extends BlockingCommands {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: `addBlockingCommands` below gives the class what the interface says
export class BlockingConnection {
  readonly #driver: Driver;
  readonly #clock: Clock;
  readonly #key: string | undefined;
  readonly #guardMs: number;
  readonly #enter: Host["enter"];
  readonly #onClose: () => void;
  #session: Promise<Session> | null = null;
  #closed = false;

  constructor(driver: Driver, key: string | undefined, { clock, guardMs, enter, onClose }: Host) {
    this.#driver = driver;
    this.#clock = clock;
    this.#key = key;
    this.#guardMs = guardMs;
    this.#enter = enter;
    this.#onClose = onClose;
  }

  /**
   * One at a time. Rejects with the signal's reason, or with a ConnectionError; the next call connects anew.
   * @example
   * const connection = db.blocking();
   * await connection.call(["BLPOP", "jobs", 0.05], { timeoutMs: 50 }); // → null
   * connection.close();
   */
  async call(words: readonly Word[], options: WaitOptions): Promise<Reply> {
    if (this.#closed) throw new ClosedError("the blocking connection is closed");
    sendable(words);
    WAIT_OPTIONS.check(options);
    options.signal?.throwIfAborted();
    this.#session ??= this.#driver.session(this.#key, { blocking: true });
    const opening = this.#session;
    let opened = false;
    try {
      const session = await opening;
      opened = true;
      // It may have been given up while the connection was made.
      options.signal?.throwIfAborted();
      const request = { words, key: this.#key, buffers: options.buffers ?? false };
      return await this.#guarded(session, options, session.send(request));
    } catch (error) {
      const moved = error instanceof ServerError && ELSEWHERE.has(error.code);
      const over = !opened || moved || error instanceof ConnectionError || options.signal?.aborted === true;
      if (over) this.#drop(opening);
      if (!moved) throw error;
      throw new ConnectionError(error.message, { maybeExecuted: false, code: error.code, cause: error });
    }
  }

  /**
   * Runs a script on this connection, under the rules of `call`.
   * @example
   * const connection = db.blocking();
   * const size = defineScript({ name: "size", keys: ["list"], lua: 'return redis.call("LLEN", list)', reply: Number });
   * await connection.run(size.with({ list: "jobs" }), { timeoutMs: 0 }); // → 0
   */
  async run<T>(call: ScriptCall<T>, options: WaitOptions): Promise<T> {
    const { script, keys, args } = call;
    const entering = this.#enter(script);
    if (entering !== null) await entering;
    const text = textFor(script, this.#driver.topology);
    const rest = [keys.length, ...keys, ...args];
    const asking = { ...options, buffers: script.buffers };
    try {
      return script.reply(await this.call(["EVALSHA", text.sha, ...rest], asking));
    } catch (error) {
      if (!(error instanceof ServerError) || error.code !== "NOSCRIPT") throw error;
      return script.reply(await this.call(["EVAL", text.source, ...rest], asking));
    }
  }

  #guarded(session: Session, options: WaitOptions, answer: Promise<Reply>): Promise<Reply> {
    const { timeoutMs, signal } = options;
    let guard: Timer | undefined;
    let forget = (): void => {};
    const interrupted = new Promise<never>((_, reject) => {
      guard = this.#clock.after(timeoutMs + this.#guardMs, () => {
        reject(
          new ConnectionError("a blocking command was not answered in time; its connection is made anew", {
            maybeExecuted: true,
            code: "SILENT",
          }),
        );
        session.destroy();
      });
      if (signal === undefined) return;
      forget = onAbort(signal, () => {
        reject(signal.reason);
        session.destroy();
      });
    });
    return Promise.race([answer, interrupted]).finally(() => {
      guard?.cancel();
      forget();
    });
  }

  #drop(opening: Promise<Session>): void {
    if (this.#session === opening) this.#session = null;
    opening.then(
      (session) => session.destroy(),
      () => {},
    );
  }

  /** Ends the connection; a call that waits is rejected with a ConnectionError. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#session !== null) this.#drop(this.#session);
    this.#onClose();
  }

  /** The same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }
}

addBlockingCommands(BlockingConnection.prototype);
