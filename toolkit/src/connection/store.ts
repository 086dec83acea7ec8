/**
 * `Store` is what `open()` gives and what every component stands on: one narrow port over any backend.
 *
 * It adds to an adapter what must be the same everywhere: scripts by SHA with reload, retries of what is safe to repeat and of
 * nothing else, transactions with retry on conflict, subscriptions shared by one connection, connections for blocking
 * commands with a guard, hooks for metrics, and a `close` that leaves nothing behind.
 *
 * When a call is sent again, when it is refused and when it is given up is in attempts.ts and breaker.ts; how commands and scripts go
 * to the driver is in sender.ts, and transactions are in transactions.ts.
 */

import { isSendable, seen, unsendable } from "../base/checks.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { ClosedError, InputError, ServerError } from "../base/errors.ts";
import { Layouts } from "../base/layout.ts";
import type { Probe } from "../base/probe.ts";
import { type Script, type ScriptCall, textFor } from "../base/script.ts";
import { Attempts, isPassing, type Sending } from "./attempts.ts";
import { BlockingConnection } from "./blocking.ts";
import type { Circuit } from "./breaker.ts";
import type { ClientCacheStats } from "./client-cache.ts";
import type { Commands, Replies } from "./commands.ts";
import { CLOSED, type Health, type HealthOptions, healthOf } from "./health.ts";
import { attempted, begun, callIn, checkWords, decoded, evaluatingOf, isCall, sendingOf } from "./items.ts";
import type {
  Answer,
  Attempt,
  ConnectionState,
  Driver,
  ReadPolicy,
  Reply,
  Request,
  Topology,
  Word,
  WorkerAddress,
} from "./port.ts";
import { positionIn, readingDriver, sharedDriver } from "./replicas.ts";
import { isRead, routingKey } from "./routing.ts";
import { Sender } from "./sender.ts";
import {
  type Answers,
  BUFFERS,
  checked,
  HEALTH_OPTIONS,
  type Item,
  NO_OPTIONS,
  type RoundTrip,
  type RoundTripListener,
  RUN_OPTIONS,
  type RunOptions,
  SEND_OPTIONS,
  type SendOptions,
  type StoreOptions,
  TRANSACTION_OPTIONS,
  type TransactionBody,
  type TransactionOptions,
} from "./store-options.ts";
import { type Subscription, Subscriptions } from "./subscriptions.ts";
import { Transactions } from "./transactions.ts";
import { addCommands } from "./typed.ts";

export type {
  Answers,
  Hooks,
  Item,
  RoundTrip,
  RoundTripListener,
  RunOptions,
  SendOptions,
  StoreOptions,
  TransactionBody,
  TransactionOptions,
  Watched,
} from "./store-options.ts";
export { runOptions, sendOptions, storing } from "./store-options.ts";

type StoreEvent =
  | [event: "close", listener: () => void | Promise<void>]
  | [event: "connection", listener: (state: ConnectionState) => void]
  | [event: "circuit", listener: (circuit: Circuit) => void]
  | [event: "roundTrip", listener: RoundTripListener];

/**
 * What `open` gives, and what every component stands on: every command as a method, and scripts, pipelines, transactions, subscriptions,
 * which are the same over any backend.
 * @example
 * await db.call("SET", "k", "v"); // → "OK"
 * await db.callBuffer("GET", "k"); // → Buffer "v"
 * await db.send(["GET", "k"], { timeoutMs: 500 }); // → "v"
 * await db.sendToAll(["DBSIZE"]); // → [1]
 * await db.close();
 */
export interface Store extends Commands {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: `addCommands` below gives the class what the interface says
export class Store {
  /** Where timers, back-off and chance come from; never the time that decides, which is the server's. */
  readonly clock: Clock;
  /** What the store leads to. */
  readonly topology: Topology;
  readonly #driver: Driver;
  /** Listeners for round trips; null while there are none, which costs a request nothing. */
  #listeners: readonly RoundTripListener[] | null;
  readonly #options: StoreOptions;
  #attempts: Attempts;
  readonly #guardMs: number;
  readonly #layouts: Layouts;
  readonly #sender: Sender;
  readonly #transactions: Transactions;
  readonly #subscriptions: Subscriptions;
  readonly #blocking = new Set<BlockingConnection>();
  readonly #onClose = new Set<() => void | Promise<void>>();
  readonly #onCircuit = new Set<(circuit: Circuit) => void>();
  #probe: Probe | null = null;
  #isObserver = false;
  readonly #closing = new AbortController();
  #closed: Promise<void> | null = null;

  constructor(driver: Driver, options: StoreOptions = {}) {
    this.#driver = driver;
    this.topology = driver.topology;
    this.clock = options.clock ?? systemClock;
    const { connection, roundTrip, circuit } = options.hooks ?? {};
    this.#listeners = roundTrip === undefined ? null : [roundTrip];
    if (circuit !== undefined) this.#onCircuit.add(circuit);
    this.#options = options;
    this.#attempts = new Attempts(driver, options, {
      clock: this.clock,
      closing: this.#closing.signal,
      onCircuit: (each) => {
        for (const listener of [...this.#onCircuit]) listener(each);
      },
    });
    this.#guardMs = options.guardMs ?? 5_000;
    const isClosed = () => this.#closed !== null;
    this.#sender = new Sender(driver, { clock: this.clock, closing: this.#closing.signal, isClosed });
    this.#transactions = new Transactions({
      driver,
      sender: this.#sender,
      isClosed,
      attempts: () => this.#attempts,
      trip: (...trip) => this.#trip(...trip),
    });
    this.#layouts = new Layouts({
      clock: this.clock,
      run: (call, limits) => {
        const sending = { repeatable: true, keys: [call.keys[0]], ...limits };
        const send = (attempt?: Attempt) => this.#sender.evaluate(call, attempt);
        return this.topology === "embedded" ? send() : this.#attempts.run(sending, send);
      },
      isObserver: () => this.#isObserver,
    });
    this.#subscriptions = new Subscriptions(driver);
    if (connection !== undefined) driver.onState(connection);
    // A server that comes back may have forgotten the scripts, and what else leads to it is as lost.
    driver.onState((state) => {
      if (state !== "lost") return;
      this.#sender.forget();
      this.#transactions.endIdle();
    });
  }

  /** How a thread of this process can reach the same server; null where it cannot. */
  get workerAddress(): WorkerAddress | null {
    return this.#driver.address;
  }

  /** Whether `close` was called. */
  get closed(): boolean {
    return this.#closed !== null;
  }

  /** Whom components tell what they do: see probe.ts. @internal */
  get probe(): Probe | null {
    return this.#probe;
  }

  /** Returns what takes the probe off. @internal */
  attachProbe(probe: Probe): () => void {
    if (this.#probe !== null)
      throw new InputError("this store has telemetry already; end the first before you begin another");
    this.#probe = probe;
    return () => {
      if (this.#probe === probe) this.#probe = null;
    };
  }

  /** The servers that have failed since their last answer; those that are not named have answered. */
  circuits(): Circuit[] {
    return this.#attempts.circuits();
  }

  /**
   * Every server that the store leads to, with its circuit; none where there is no breaker, as in this process. Asks nobody.
   * @example
   * db.servers(); // → []
   * db.circuits(); // → []
   * (await db.health()).status; // → "healthy"
   * db.clientCache(); // → null
   */
  servers(): Circuit[] {
    return this.#attempts.servers();
  }

  /** Whether the store can be used now, and what is wrong with its servers. Asks all of them; does not reject for what it finds. */
  async health(options: HealthOptions = {}): Promise<Health> {
    HEALTH_OPTIONS.check(options);
    return this.closed ? CLOSED : healthOf(this.#driver, this.clock, options.timeoutMs ?? 2_000);
  }

  /** How the client cache does; null if `open` was not given `clientCache`. */
  clientCache(): ClientCacheStats | null {
    return this.#driver.cacheStats?.() ?? null;
  }

  // ---------------------------------------------------------------------------------------------- commands

  /** Runs a command; strings in the reply are text. */
  call<N extends keyof Replies>(name: N, ...words: Word[]): Promise<Replies[N]>;
  call(...words: Word[]): Promise<Reply>;
  call(...words: Word[]): Promise<Reply> {
    return this.send(words);
  }

  /** The same with strings as Buffers. */
  callBuffer(...words: Word[]): Promise<Reply> {
    return this.send(words, BUFFERS);
  }

  /** Runs a command whose words are in a list, with options. Rejects with a ServerError, or with a ConnectionError where no answer came. */
  send(words: readonly Word[], options: SendOptions = NO_OPTIONS): Promise<Reply> {
    try {
      checkWords(words);
      if (options !== NO_OPTIONS && options !== BUFFERS && !checked.has(options)) SEND_OPTIONS.check(options);
    } catch (error) {
      return Promise.reject(error);
    }
    const key = options.key ?? (this.topology === "cluster" ? routingKey(words) : undefined);
    const request: Request = { words, key, buffers: options.buffers === true };
    if (this.#driver.peek !== undefined) {
      const known = this.#driver.peek(request);
      if (known !== undefined) return Promise.resolve(known);
    }
    if (!this.#isStraight) {
      return this.#trip("call", words, sendingOf(request, options), (attempt) =>
        this.#driver.send(attempted(request, attempt)),
      );
    }
    const timeoutMs = options.timeoutMs ?? this.#attempts.timeoutMs;
    const posted = timeoutMs === undefined ? request : { words, key, buffers: request.buffers, timeoutMs };
    return new Promise((resolve, reject) => {
      const begunAt = this.#post(posted, resolve, (error) => {
        if (this.topology === "embedded") reject(error);
        else {
          this.#attempts
            .recover(error, begunAt, sendingOf(request, options), (attempt) =>
              this.#driver.send(attempted(request, attempt)),
            )
            .then(resolve, reject);
        }
      });
    });
  }

  /** A call may go to the driver and come back with nothing between: nobody listens, and no server has failed. */
  get #isStraight(): boolean {
    return this.#listeners === null && this.#driver.post !== undefined && this.#attempts.isCalm;
  }

  #post(request: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number {
    return this.#driver.post!(request, resolve, reject);
  }

  /**
   * Sends a command without a key to every primary: one answer for each. As long as none of them has run it (READONLY while another
   * becomes the primary, LOADING), it is sent again.
   */
  async sendToAll(words: readonly Word[]): Promise<Answer[]> {
    checkWords(words);
    const send = async () => {
      const answers = await this.#driver.sendToAll({ words, key: undefined, buffers: false });
      if (answers.length > 0 && answers.every(isPassing)) throw answers[0];
      return answers;
    };
    return this.#trip("call", words, { repeatable: isRead(words), keys: [] }, send);
  }

  /**
   * Runs a script.
   * @example
   * const double = defineScript({ name: "double", keys: ["n"], lua: 'return redis.call("INCRBY", n, redis.call("GET", n))' });
   * await db.set("n", 21); // → "OK"
   * await db.run(double, { n: "n" }); // → 42
   */
  run<P, T>(script: Script<P, T>, params: P, options: RunOptions = NO_OPTIONS): Promise<T> {
    try {
      if (options !== NO_OPTIONS && !checked.has(options)) RUN_OPTIONS.check(options);
      const entering = this.#layouts.enter(script, options);
      if (entering !== null) {
        const call = script.with(params);
        return entering.then(() => this.#evaluated(call, options));
      }
      if (!this.#isStraight) return this.#evaluated(script.with(params), options);
      return this.#run(script, params, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Straight from the parameters to the words, and from the answer to what the caller gets. */
  #run<P, T>(script: Script<P, T>, params: P, options: RunOptions): Promise<T> {
    const { sha } = textFor(script, this.topology);
    const words = script.words("EVALSHA", sha, params);
    const key = words[2] === 0 ? undefined : (words[3] as string);
    const timeoutMs = options.timeoutMs ?? this.#attempts.timeoutMs;
    const request: Request = { words, key, buffers: script.buffers, readOnly: script.readOnly, timeoutMs };
    return new Promise((resolve, reject) => {
      const settle = (reply: Reply): void => {
        try {
          resolve(script.reply(reply));
        } catch (error) {
          reject(error);
        }
      };
      const begunAt = this.#post(request, settle, (error) => {
        const call = callIn(words, script);
        if (error instanceof ServerError && error.code === "NOSCRIPT") {
          this.#evaluated(call, options).then(resolve, reject);
        } else if (this.topology === "embedded") reject(error);
        else {
          this.#attempts
            .recover(error, begunAt, evaluatingOf(call, options), (attempt) => this.#sender.evaluate(call, attempt))
            .then(settle, reject);
        }
      });
    });
  }

  async #evaluated<T>(call: ScriptCall<T>, options: RunOptions): Promise<T> {
    const send = (attempt?: Attempt) => this.#sender.evaluate(call, attempt);
    return call.script.reply(await this.#trip("script", call, evaluatingOf(call, options), send));
  }

  /** Scripts do not run on keys that this program cannot read (layout.ts). */
  async #enter(items: readonly Item[], limits: RunOptions): Promise<void> {
    for (const item of items) {
      const entering = isCall(item) ? this.#layouts.enter(item.script, limits) : null;
      if (entering !== null) await entering;
    }
  }

  /**
   * Sends many at once; errors stand among the answers. The items are independent: others' commands may come between, and a
   * script that the server has forgotten runs after the rest.
   * @example
   * await db.pipeline([["SET", "k", "v"], ["INCR", "k"], ["GET", "k"]]); // → ["OK", ServerError: ERR …, "v"]
   */
  async pipeline<const I extends readonly Item[]>(items: I, options: RunOptions = NO_OPTIONS): Promise<Answers<I>> {
    if (options !== NO_OPTIONS && !checked.has(options)) RUN_OPTIONS.check(options);
    for (const item of items) if (!isCall(item)) checkWords(item);
    let answers: readonly Answer[] = [];
    if (items.length > 0) {
      await this.#enter(items, options);
      const repeatable = items.every((item) => (isCall(item) ? item.script.repeatable : isRead(item)));
      const sending = { repeatable, keys: this.#keysOf(items), ...options };
      answers = await this.#trip("pipeline", items, sending, (attempt) =>
        this.#sender.sendAll(items, this.#attempts, attempt),
      );
    }
    return answers.map((answer, at) => decoded(items[at]!, answer)) as Answers<I>;
  }

  /** Where there is one server, it does not matter which keys they are. */
  #keysOf(items: readonly Item[]): (string | undefined)[] {
    if (this.topology !== "cluster") return [undefined];
    return items.map((item) => (isCall(item) ? item.keys[0] : routingKey(item)));
  }

  // ---------------------------------------------------------------------------------------------- transactions

  /**
   * Runs commands as one step, MULTI … EXEC. All keys in one slot. Rejects when one could not be queued: none has run.
   * @example
   * await db.multi([["INCR", "n"], ["INCRBY", "n", 2]]); // → [1, 3]
   */
  async multi<const I extends readonly Item[]>(items: I): Promise<Answers<I>> {
    let answers: readonly unknown[] = [];
    if (items.length > 0) {
      await this.#enter(items, NO_OPTIONS);
      answers = await this.#transactions.multi(items);
    }
    return answers as Answers<I>;
  }

  /**
   * WATCH, read, decide, MULTI … EXEC; again when a watched key has changed meanwhile. The body reads through what it is
   * given and returns the commands, or null to give up, which is then the result. With `reads`, it has their answers already.
   * @example
   * await db.set("stock", 1); // → "OK"
   * const sell = async (watched: Watched) => (Number(await watched.call("GET", "stock")) > 0 ? ([["DECR", "stock"]] as const) : null);
   * await db.transaction({ watch: ["stock"] }, sell); // → [0]
   * await db.transaction({ watch: ["stock"] }, sell); // → null
   */
  async transaction(options: TransactionOptions, body: TransactionBody): Promise<Answer[] | null> {
    TRANSACTION_OPTIONS.check(options);
    return this.#transactions.watching(options, body);
  }

  // ---------------------------------------------------------------------------------------------- waiting

  /**
   * Listens to a channel, through a connection that all subscriptions share. `onResumed` is called when that connection was
   * lost and is back: messages may be missing then.
   * @example
   * const heard: string[] = [];
   * const subscription = await db.subscribe("news", (message) => heard.push(message.toString()));
   * await db.publish("news", "hello"); // → 1
   * await subscription.close();
   */
  subscribe(channel: string, listener: (message: Buffer) => void, onResumed?: () => void): Promise<Subscription> {
    if (this.#closed !== null) return Promise.reject(new ClosedError());
    if (typeof channel !== "string" || !isSendable(channel)) return Promise.reject(unsendable("channel", channel));
    return this.#subscriptions.add(channel, listener, onResumed);
  }

  /**
   * A connection of its own on which an embedded store speaks unasked: MONITOR, PSUBSCRIBE. Answers what ends it; null where a server
   * is reached by its address instead (`workerAddress`).
   * @example
   * const heard: unknown[] = [];
   * const end = await db.feed(["PSUBSCRIBE", "news.*"], (message) => heard.push(message));
   * end?.();
   */
  async feed(words: readonly Word[], listener: (message: readonly unknown[]) => void): Promise<(() => void) | null> {
    if (this.#closed !== null) throw new ClosedError();
    return (await this.#driver.feed?.(words, listener)) ?? null;
  }

  /**
   * A connection of its own for commands that wait on the server.
   * @example
   * const connection = db.blocking();
   * await connection.blpop("jobs", 0.05); // → null
   * connection.close();
   */
  blocking(key?: string): BlockingConnection {
    if (this.#closed !== null) throw new ClosedError();
    const connection = new BlockingConnection(this.#driver, key, {
      clock: this.clock,
      guardMs: this.#guardMs,
      enter: (script) => this.#layouts.enter(script, NO_OPTIONS),
      onClose: () => this.#blocking.delete(connection),
    });
    this.#blocking.add(connection);
    return connection;
  }

  // ---------------------------------------------------------------------------------------------- replicas

  /**
   * The same store with another answer to who may answer reads: `store.reading({ from: "primary" })`. It has an effect where
   * `open` was given `reads`; elsewhere the primary answers everything, which no policy forbids. It ends with this one.
   * @example
   * await db.set("k", "v"); // → "OK"
   * const after = await db.position();
   * await db.reading({ from: "replicas", after }).get("k"); // → "v"
   */
  reading(policy: ReadPolicy): Store {
    return this.#sibling(readingDriver(this.#driver, policy));
  }

  /**
   * The same store for looking at it: what components do through it leaves no trace of its own, neither the version of their layout
   * nor the names they are asked about. For operators' tools, which look at names that nobody has used. It ends with this one.
   * @example
   * const seen = await new Locks(db.observing()).inspect("report"); // leaves no trace
   */
  observing(): Store {
    const store = this.#sibling(sharedDriver(this.#driver));
    store.#isObserver = true;
    store.#attempts = this.#attempts;
    return store;
  }

  /** Whether nothing is noted for what components do through it. */
  get isObserver(): boolean {
    return this.#isObserver;
  }

  #sibling(driver: Driver): Store {
    const store = new Store(driver, { ...this.#options, hooks: {} });
    for (const listener of this.#listeners ?? []) store.on("roundTrip", listener);
    store.#probe = this.#probe;
    store.#isObserver = this.#isObserver;
    const remove = this.on("close", () => store.close());
    store.on("close", () => void remove());
    return store;
  }

  /**
   * How far the primary is in its stream of changes, with all that was written before: for `reading({ after })` here or in
   * another process. In a Cluster, of the primary that has the key.
   */
  async position(key?: string): Promise<string> {
    if (key === undefined && this.topology === "cluster") {
      throw new InputError("in a Cluster, key must say which node is meant");
    }
    const words = ["INFO", "replication"];
    const send = () => this.#driver.send({ words, key, buffers: false, reads: { from: "primary" } });
    return positionIn(String(await this.#trip("call", words, { repeatable: true, keys: [key] }, send)));
  }

  /**
   * Calls the listener until the function that this returns is called.
   *
   * - `close`: when the store is closed, before its connections go; `close()` waits for the listener.
   * - `connection`: how the connection is, now and whenever that changes.
   * - `circuit`: the circuit of a server opens, is tried (half-open) or closes.
   * - `roundTrip`: every round trip from now on, with what is sent. A function that the listener returns is called at its end.
   * @example
   * const names: string[] = [];
   * const end = db.on("roundTrip", ({ name }) => void names.push(name));
   * await db.get("k"); // → null
   * end();
   * names; // → ["GET"]
   */
  on(event: "close", listener: () => void | Promise<void>): () => void;
  on(event: "connection", listener: (state: ConnectionState) => void): () => void;
  on(event: "circuit", listener: (circuit: Circuit) => void): () => void;
  on(event: "roundTrip", listener: RoundTripListener): () => void;
  on(...[event, listener]: StoreEvent): () => void {
    switch (event) {
      case "close":
        this.#onClose.add(listener);
        return () => this.#onClose.delete(listener);
      case "connection":
        return this.#driver.onState(listener);
      case "circuit":
        this.#onCircuit.add(listener);
        return () => this.#onCircuit.delete(listener);
      case "roundTrip":
        return this.#onRoundTrip(listener);
      default:
        throw new InputError(`a Store has the events close, connection, circuit and roundTrip, not ${seen(event)}`);
    }
  }

  /** Aborted when the store is closed. */
  get closeSignal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends everything that stands on this store, then its connections. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** The same as `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    await Promise.allSettled([...this.#onClose].map(async (callback) => callback()));
    this.#closing.abort(new ClosedError());
    this.#attempts.stop();
    for (const connection of [...this.#blocking]) connection.close();
    this.#transactions.endIdle();
    this.#subscriptions.close();
    await this.#driver.close();
  }

  // ---------------------------------------------------------------------------------------------- round trips

  #onRoundTrip(listener: RoundTripListener): () => void {
    this.#listeners = [...(this.#listeners ?? []), listener];
    return () => {
      const left = this.#listeners?.filter((each) => each !== listener) ?? [];
      this.#listeners = left.length === 0 ? null : left;
    };
  }

  /** `sending` is null for what is part of a larger attempt. */
  #trip<T>(
    kind: RoundTrip["kind"],
    sent: Item | readonly Item[],
    sending: Sending | null,
    send: (attempt?: Attempt) => Promise<T>,
  ): Promise<T> {
    const end = this.#listeners === null ? undefined : begun(this.#listeners, kind, sent);
    if (this.topology === "embedded" && end === undefined) return send();
    const answer = sending === null ? send() : this.#attempts.run(sending, send);
    if (end === undefined) return answer;
    return answer.then(
      (value) => {
        end();
        return value;
      },
      (error) => {
        end(error);
        throw error;
      },
    );
  }
}

addCommands(Store.prototype);
