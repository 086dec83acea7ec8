/**
 * A client inside the process: calls the engine directly, with no encoding and no socket.
 *
 * Commands run to the end inside `call`, so a promise is already settled when it is returned; only blocking commands, and
 * what is called behind them, settle later. Calls of one client are answered in order.
 */

import type { Client } from "../core/client.ts";
import type { Engine } from "../core/engine.ts";
import { ReplyError } from "../core/errors.ts";
import { partOf } from "../core/parts.ts";
import {
  BigNumber,
  BLOCKED,
  Double,
  MapReply,
  NIL_ARRAY,
  NO_REPLY,
  OK,
  POSTPONED,
  Push,
  Replies,
  type Reply,
  SetReply,
  Status,
  Verbatim,
  WithAttributes,
  WithMessages,
} from "../core/reply.ts";
import type { Transport } from "../core/transport.ts";
import { errorOf } from "../lib/caught.ts";
import type { Buffer } from "../platform/bytes.ts";
import { type Input, toBuffer, toText, toWord } from "./words.ts";

/** An error that the store answered. `code` is its first word: `WRONGTYPE`, `ERR`, `NOSCRIPT` … */
export class CommandError extends Error {
  /** The name of the class, as `Error` has it. */
  override readonly name = "CommandError";
  /** The first word of the answer, for programs: `WRONGTYPE`, `OOM`, `NOSCRIPT` … */
  readonly code: string;

  constructor(error: ReplyError) {
    super(toText(error.text));
    this.code = error.code;
  }
}

/** How a client in this process connects. */
export interface LocalClientOptions {
  /** Strings in replies as Buffers rather than as UTF-8 text. False by default. */
  readonly buffers?: boolean;
  /**
   * 2 (the default): replies as RESP2 has them, maps flat and doubles as text, like most Redis libraries. 3: maps as Map,
   * sets as Set, doubles as numbers, booleans as booleans.
   */
  readonly protocol?: 2 | 3;
  /** The number of the database to start in (default 0). */
  readonly db?: number;
  /** The user (ACL SETUSER) whose permissions its commands are checked by. None by default: it may do everything. */
  readonly user?: string;
}

/** What a call is answered with. */
export type ReplyValue =
  | string
  | Buffer
  | number
  | bigint
  | boolean
  | null
  | CommandError
  | ReplyValue[]
  | Map<ReplyValue, ReplyValue>
  | Set<ReplyValue>;

/** A message that nobody asked for: `["message", channel, text]`, `["invalidate", keys]` … */
export type PushListener = (message: ReplyValue[]) => void;

interface Waiting {
  readonly resolve: (value: ReplyValue) => void;
  readonly reject: (error: Error) => void;
  readonly buffers: boolean;
}

interface Queued extends Waiting {
  readonly argv: string[];
}

/**
 * A client in the engine's process, which `Engine.connect` makes. It calls the engine directly, with no encoding and no socket; its calls
 * are answered in order.
 * @example
 * const client = (await Engine.open()).connect();
 * await client.call("SET", "k", "v"); // → "OK"
 * await client.callBuffer("GET", "k"); // → Buffer "v"
 * await client.callWords(["MGET", "k", "nothing"]); // → ["v", null]
 * client.callSync("STRLEN", "k"); // → 1
 * client.close();
 */
export class LocalClient implements Transport {
  readonly address = "local:0";
  /** Where the engine's end is, as CLIENT LIST has it: `local:0`. */
  readonly localAddress = "local:0";
  readonly fd = -1;
  readonly outputBytes = 0;
  readonly inputBytes = 0;
  readonly #engine: Engine;
  readonly #client: Client;
  readonly #buffers: boolean;
  readonly #onClose: () => void;
  readonly #listeners = new Set<PushListener>();
  /** By channel, the listeners of `subscribe`: how to end each. */
  readonly #subscribers = new Map<string, Set<() => void>>();
  /** The call that a blocked command will answer. */
  #waiting: Waiting | null = null;
  /** Calls behind it. */
  #queue: Queued[] = [];
  #closed = false;

  constructor(engine: Engine, options: LocalClientOptions, onClose: () => void) {
    this.#engine = engine;
    this.#buffers = options.buffers ?? false;
    this.#onClose = onClose;
    const db = engine.databases[options.db ?? 0];
    if (db === undefined) throw new RangeError(`there is no database ${options.db}`);
    const user = options.user === undefined ? undefined : engine.acl.find(toWord(options.user, true));
    if (options.user !== undefined && user === undefined) throw new RangeError(`there is no user ${options.user}`);
    this.#client = engine.addClient(this);
    this.#client.beginAs(user ?? engine.acl.superuser);
    this.#client.protocol = options.protocol ?? 2;
    this.#client.db = db;
  }

  /** As CLIENT ID has it. */
  get id(): number {
    return this.#client.id;
  }

  /** Runs a command; rejects with a CommandError where the store answers with one. */
  call(...words: Input[]): Promise<ReplyValue> {
    return this.#call(words, this.#buffers);
  }

  /** The same with every string of the reply as a Buffer. */
  callBuffer(...words: Input[]): Promise<ReplyValue> {
    return this.#call(words, true);
  }

  /** The same with the words as a list, of any length: as arguments, 100 000 of them overflow the stack. */
  callWords(words: readonly Input[], options: { readonly buffers?: boolean } = {}): Promise<ReplyValue> {
    return this.#call([...words], options.buffers ?? this.#buffers);
  }

  /**
   * The same without a promise, for layers that make their own: one of the two is called, before this returns if the reply is
   * there by then.
   * @example
   * const client = (await Engine.open()).connect();
   * const replies: ReplyValue[] = [];
   * client.post(["ECHO", "hello"], {}, (reply) => replies.push(reply), console.error);
   * replies; // → ["hello"]
   */
  post(
    words: readonly Input[],
    { buffers = this.#buffers }: { readonly buffers?: boolean },
    resolve: (reply: ReplyValue) => void,
    reject: (error: Error) => void,
  ): void {
    let value: ReplyValue;
    try {
      const argv = this.#words([...words]);
      const isBehind = this.#client.closed || this.#waiting !== null || this.#queue.length > 0;
      const reply = isBehind ? POSTPONED : this.#execute(argv);
      if (isBehind || reply === BLOCKED || reply === POSTPONED || this.#engine.persistence.aof.appender.holdsReplies) {
        (isBehind ? this.#run(argv, buffers) : this.#whenKept(reply, argv, buffers)).then(resolve, reject);
        return;
      }
      value = decode(reply, this.#client.protocol, buffers);
    } catch (error) {
      reject(errorOf(error));
      return;
    }
    if (value instanceof CommandError) reject(value);
    else resolve(value);
  }

  /**
   * Runs a command at once and returns its reply, or throws a CommandError. Not for commands that block, and not while one
   * of this client's calls is blocked.
   */
  callSync(...words: Input[]): ReplyValue {
    if (this.#client.closed) throw new Error("the client is closed");
    const argv = this.#words(words);
    this.#runQueue();
    if (this.#waiting !== null) throw new Error("a call of this client is blocked");
    this.#client.inTransaction = true;
    try {
      const reply = this.#execute(argv);
      const { appender } = this.#engine.persistence.aof;
      if (appender.holdsReplies && !appender.flush()) throw new CommandError(this.#engine.persistence.refusal()!);
      if (reply === POSTPONED) this.#refuseUnloaded(argv[0]!);
      if (reply === POSTPONED) throw new Error("the engine is paused (CLIENT PAUSE), or a key is on its way (MIGRATE)");
      const value = decode(reply, this.#client.protocol, this.#buffers);
      if (value instanceof CommandError) throw value;
      return value;
    } finally {
      this.#client.inTransaction = false;
    }
  }

  /** In a browser, the code of a command may not have been loaded. */
  #refuseUnloaded(name: string): void {
    const part = partOf(this.#engine.commands.get(name));
    if (part === undefined) return;
    const how = `open the engine with { parts: ["${part}"] }, or use \`call\``;
    throw new Error(`${name} is in the part "${part}" of the engine, which has not been loaded: ${how}`);
  }

  /**
   * Runs commands one behind the other; errors stand among the replies.
   * @example
   * const client = (await Engine.open()).connect();
   * await client.pipeline([["SET", "k", "v"], ["INCR", "k"]]); // → ["OK", CommandError: ERR…]
   * await client.transaction([["SET", "n", 1], ["INCR", "n"]]); // → ["OK", 2]
   */
  pipeline(commands: readonly (readonly Input[])[]): Promise<ReplyValue[]> {
    return this.#callAll(commands);
  }

  /**
   * Runs commands as one step (MULTI … EXEC). Null when a key that this client WATCHes has changed; rejects when a command
   * could not be queued, in which case none has run.
   */
  async transaction(commands: readonly (readonly Input[])[]): Promise<ReplyValue[] | null> {
    const replies = await this.#callAll([["MULTI"], ...commands, ["EXEC"]]);
    for (const reply of replies) if (reply instanceof CommandError) throw reply;
    const last = replies.at(-1);
    return Array.isArray(last) ? last : null;
  }

  /**
   * Calls back for every message of this client's subscriptions, and for invalidations. Returns what ends it.
   * @example
   * const client = (await Engine.open()).connect();
   * const end = client.onPush((message) => console.log(message));
   * await client.call("SUBSCRIBE", "news");
   * end();
   */
  onPush(listener: PushListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Subscribes to a channel; returns what ends the subscription. Use a client of its own for it.
   * @example
   * const engine = await Engine.open();
   * const heard: string[] = [];
   * const end = await engine.connect().subscribe("news", (message) => heard.push(String(message)));
   * await engine.connect().call("PUBLISH", "news", "hello"); // → 1
   * await end();
   * heard; // → ["hello"]
   */
  async subscribe(
    channel: Input,
    listener: (message: string | Buffer, channel: string) => void,
  ): Promise<() => Promise<void>> {
    const wanted = toWord(channel, true);
    const subscribers = this.#subscribers;
    const stop = this.onPush(([kind, from, message]) => {
      if (String(kind) === "message" && toWord(from as Input, false) === wanted) {
        listener(message as string | Buffer, String(from));
      }
    });
    const listeners = subscribers.get(wanted) ?? new Set();
    subscribers.set(wanted, listeners.add(stop));
    let listening = true;
    const end = async () => {
      if (!listening) return;
      listening = false;
      stop();
      listeners.delete(stop);
      if (listeners.size > 0) return;
      subscribers.delete(wanted);
      if (!this.#client.closed) await this.call("UNSUBSCRIBE", channel);
    };
    try {
      await this.call("SUBSCRIBE", channel);
    } catch (error) {
      await end();
      throw error;
    }
    return end;
  }

  /** Ends it. Calls that wait are rejected, and its subscriptions end. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#engine.removeClient(this.#client);
    const gone = new Error("the client is closed");
    for (const waiting of [this.#waiting, ...this.#queue]) waiting?.reject(gone);
    this.#waiting = null;
    this.#queue = [];
    this.#onClose();
  }

  // ---------------------------------------------------------------------------------------------- calls

  /** Turns a call's own array into words, in place. */
  #words(inputs: Input[]): string[] {
    const name = inputs[0];
    if (name === undefined) throw new TypeError("a command needs a name");
    const command = this.#engine.commands.get(typeof name === "string" ? name : toWord(name, false));
    const kept = command === undefined || command.keepsWords;
    for (let i = 0; i < inputs.length; i++) inputs[i] = toWord(inputs[i]!, kept);
    return inputs as string[];
  }

  #call(inputs: Input[], buffers: boolean): Promise<ReplyValue> {
    try {
      return this.#run(this.#words(inputs), buffers);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Calls one behind the other; errors that the store answers stand among the replies. Bad words: nothing is called. */
  async #callAll(commands: readonly (readonly Input[])[]): Promise<ReplyValue[]> {
    const all = commands.map((words) => this.#words([...words]));
    return Promise.all(all.map((argv) => this.#run(argv, this.#buffers).catch(toValue)));
  }

  #run(argv: string[], buffers: boolean): Promise<ReplyValue> {
    if (this.#client.closed) return Promise.reject(new Error("the client is closed"));
    // Also when the wait is just over and those behind it have not run yet: calls are answered in order.
    if (this.#waiting !== null || this.#queue.length > 0) {
      return new Promise((resolve, reject) => this.#queue.push({ argv, resolve, reject, buffers }));
    }
    const reply = this.#execute(argv);
    if (this.#engine.persistence.aof.appender.holdsReplies) return this.#whenKept(reply, argv, buffers);
    if (typeof reply === "string") return Promise.resolve(buffers ? toBuffer(reply) : toText(reply));
    if (reply === OK) return OK_PROMISE;
    if (reply === BLOCKED || reply === POSTPONED) return this.#wait(reply, argv, buffers);
    const value = decode(reply, this.#client.protocol, buffers);
    return value instanceof CommandError ? Promise.reject(value) : Promise.resolve(value);
  }

  /** The reply once what led to it is on disk: appendfsync always. */
  #whenKept(reply: Reply, argv: string[], buffers: boolean): Promise<ReplyValue> {
    if (reply === BLOCKED || reply === POSTPONED) return this.#wait(reply, argv, buffers);
    const value = decode(reply, this.#client.protocol, buffers);
    return this.#engine.persistence.aof.appender.whenSynced().then(() => {
      if (value instanceof CommandError) throw value;
      return value;
    });
  }

  /** Answers a call that has waited, and with appendfsync always not before what led to it is on disk. */
  #settle(waiting: Waiting, value: ReplyValue): void {
    const { appender } = this.#engine.persistence.aof;
    if (appender.holdsReplies) appender.whenSynced().then(() => settle(waiting, value), waiting.reject);
    else settle(waiting, value);
  }

  #execute(argv: string[]): Reply {
    this.#engine.renewClock();
    this.#client.lastActiveAt = this.#engine.tickedAt;
    const reply = this.#engine.execute(this.#client, argv);
    if (!(reply instanceof WithMessages)) return reply;
    for (const message of reply.messages) this.push(message);
    return reply.reply;
  }

  #wait(reply: Reply, argv: string[], buffers: boolean): Promise<ReplyValue> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject, buffers };
      if (reply === POSTPONED) this.#engine.pause.whenResumed(this.#client, () => this.#retry(argv));
    });
  }

  #retry(argv: string[]): void {
    const reply = this.#execute(argv);
    if (reply === POSTPONED) this.#engine.pause.whenResumed(this.#client, () => this.#retry(argv));
    else if (reply !== BLOCKED) this.send(reply);
  }

  /**
   * The reply of a blocked command: answers its call, then runs those behind it. The engine calls it.
   * @example
   * const client = (await Engine.open()).connect();
   * const popped = client.call("BLPOP", "jobs", 0);
   * client.send("cancelled");
   * await popped; // → "cancelled"
   */
  send(reply: Reply): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) this.#settle(waiting, decode(reply, this.#client.protocol, waiting.buffers));
    if (this.#queue.length > 0) queueMicrotask(() => this.#runQueue());
  }

  #runQueue(): void {
    const queue = this.#queue;
    let done = 0;
    for (const { argv, ...waiting } of queue) {
      if (this.#waiting !== null || this.#client.closed) break;
      done++;
      const reply = this.#execute(argv);
      if (reply === BLOCKED || reply === POSTPONED) {
        this.#waiting = waiting;
        if (reply === POSTPONED) this.#engine.pause.whenResumed(this.#client, () => this.#retry(argv));
      } else this.#settle(waiting, decode(reply, this.#client.protocol, waiting.buffers));
    }
    queue.splice(0, done);
  }

  /**
   * Gives a message to the listeners of `onPush`. The engine calls it.
   * @example
   * const client = (await Engine.open()).connect();
   * client.onPush((message) => console.log(message));
   * client.push("hello");
   */
  push(message: Reply): void {
    if (this.#listeners.size === 0) return;
    const items = message instanceof Push ? message.items : [message];
    const values = items.map((item) => decode(item, this.#client.protocol, this.#buffers));
    // Not inside the command that caused the message: a listener may call the engine.
    queueMicrotask(() => {
      for (const listener of this.#listeners) listener(values);
    });
  }
}

/** Most writes are answered with it. */
const OK_PROMISE: Promise<ReplyValue> = Promise.resolve("OK");

function toValue(error: Error): ReplyValue {
  if (error instanceof CommandError) return error;
  throw error;
}

function settle(waiting: Waiting, value: ReplyValue): void {
  if (value instanceof CommandError) waiting.reject(value);
  else waiting.resolve(value);
}

/** A reply as JavaScript values. */
function decode(reply: Reply, protocol: 2 | 3, buffers: boolean): ReplyValue {
  const each = (item: Reply) => decode(item, protocol, buffers);
  if (typeof reply === "string") return buffers ? toBuffer(reply) : toText(reply);
  if (typeof reply === "number" || typeof reply === "bigint" || reply === null) return reply;
  if (Array.isArray(reply)) return decodeAll(reply, protocol, buffers);
  if (reply instanceof Status) return toText(reply.text);
  if (reply instanceof ReplyError) return new CommandError(reply);
  if (typeof reply === "boolean") return protocol === 3 ? reply : Number(reply);
  if (reply instanceof Double) return protocol === 3 ? reply.value : each(reply.text);
  if (reply instanceof MapReply) return protocol === 3 ? toMap(reply, each) : reply.flat.map(each);
  if (reply instanceof SetReply) return protocol === 3 ? new Set(reply.items.map(each)) : reply.items.map(each);
  if (reply instanceof Push) return reply.items.map(each);
  if (reply instanceof Replies) return decodeSeveral(reply, each);
  if (reply instanceof Verbatim) return each(reply.text);
  if (reply instanceof BigNumber) return protocol === 3 ? BigInt(reply.digits) : each(reply.digits);
  if (reply instanceof WithAttributes) return each(reply.reply);
  if (reply === NIL_ARRAY || reply === NO_REPLY) return null;
  throw new TypeError("a handler returned something that is no reply");
}

/** Arrays in arrays without recursion: a script's reply may be nested thousands deep. */
function decodeAll(items: readonly Reply[], protocol: 2 | 3, buffers: boolean): ReplyValue[] {
  const all: ReplyValue[] = new Array(items.length);
  const nested: { readonly from: readonly Reply[]; readonly into: ReplyValue[] }[] = [];
  let from = items;
  let into = all;
  for (;;) {
    for (let i = 0; i < from.length; i++) {
      const item = from[i]!;
      if (Array.isArray(item)) {
        const inner: ReplyValue[] = new Array(item.length);
        into[i] = inner;
        nested.push({ from: item, into: inner });
      } else into[i] = decode(item, protocol, buffers);
    }
    const next = nested.pop();
    if (next === undefined) return all;
    ({ from, into } = next);
  }
}

/** SUBSCRIBE a b answers once for each channel; an embedder's one call is answered with the last. */
function decodeSeveral(reply: Replies, each: (item: Reply) => ReplyValue): ReplyValue {
  const last = reply.items.at(-1);
  return last === undefined ? null : each(last);
}

function toMap(reply: MapReply, each: (item: Reply) => ReplyValue): Map<ReplyValue, ReplyValue> {
  const map = new Map<ReplyValue, ReplyValue>();
  for (let i = 0; i < reply.flat.length; i += 2) map.set(each(reply.flat[i]!), each(reply.flat[i + 1]!));
  return map;
}
