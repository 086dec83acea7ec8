/**
 * Clients that wait for a key.
 *
 * A handler that finds nothing to give calls `client.block` with the keys, a timeout and `serve`. The door (db.ts) reports
 * every change to a key that somebody waits for; once the running command (or transaction, or script) is over, `serveReady`
 * asks the waiting clients in the order in which they came, key by key, whether they can be served now. Serving one may make
 * other keys ready (BLMOVE), so this goes on until nothing is.
 *
 * `serve` decides by itself whether the key suits it: wrong type, empty, gone. So the door need not know what is waited for.
 */

import type { Stats } from "../observe/stats.ts";
import { heldTimeout, type Timer } from "../platform/timers.ts";
import type { Client } from "./client.ts";
import type { Clock } from "./clock.ts";
import type { Db } from "./db.ts";
import { internalError, ReplyError } from "./errors.ts";
import { BLOCKED, type Reply } from "./reply.ts";

/** What a client can wait for. */
export type AwaitedType = "list" | "zset" | "stream" | "replicas";

export interface BlockRequest {
  readonly type: AwaitedType;
  readonly keys: readonly string[];
  /** 0 means for ever. */
  readonly timeoutMs: number;
  /** The reply when the time is over, or where the client may not block. */
  readonly nothing: Reply;
  /** The reply now that this key may have changed, or undefined to go on waiting. May throw a ReplyError. */
  readonly serve: (key: string) => Reply | undefined;
  /** Nothing but its own end releases the client: CLIENT UNBLOCK does not. */
  readonly stays?: boolean;
}

/** What a parked client waits for is no key. */
const PARKED: BlockRequest = {
  type: "list",
  keys: [],
  timeoutMs: 0,
  nothing: null,
  serve: () => undefined,
  stays: true,
};

/** What waiting needs of the store around it. */
interface BlockingHost {
  readonly clock: Clock;
  readonly stats: Stats;
  renewClock(): void;
  removeClient(client: Client): void;
  /** Runs part of a command on behalf of a client that was blocked in it. */
  runFor<T>(client: Client, run: () => T): T;
  /** What serving a client causes for itself comes behind its reply. */
  serving(client: Client, serve: () => void): void;
  /** A call that has waited is over. */
  waited(client: Client): void;
  onError(error: unknown, command: string): void;
}

interface Waiter {
  readonly db: Db;
  readonly deadline: number;
}

export class Blocking {
  readonly #host: BlockingHost;
  readonly #waiters = new Map<Client, Waiter>();
  /** Who waits for a key, first come first; the databases know which keys these are. */
  readonly #waiting = new Map<Db, Map<string, Set<Client>>>();
  #ready: { db: Db; key: string }[] = [];
  /** How many wait for each type: a key of a type that nobody waits for wakes nobody. */
  readonly #count: Record<AwaitedType, number> = { list: 0, zset: 0, stream: 0, replicas: 0 };
  #timer: Timer | null = null;
  #timerAt = Number.POSITIVE_INFINITY;

  constructor(host: BlockingHost) {
    this.#host = host;
  }

  /** How many clients wait. */
  get size(): number {
    return this.#waiters.size;
  }

  block(client: Client, request: BlockRequest): Reply {
    const { db } = client;
    client.blocked = request;
    const deadline =
      request.timeoutMs === 0 ? Number.POSITIVE_INFINITY : this.#host.clock.monotonic() + request.timeoutMs;
    this.#waiters.set(client, { db, deadline });
    this.#count[request.type]++;
    for (const key of request.keys) this.#await(db, key, client);
    this.#arm(deadline);
    return BLOCKED;
  }

  #await(db: Db, key: string, client: Client): void {
    let waiting = this.#waiting.get(db);
    if (waiting === undefined) {
      waiting = new Map();
      this.#waiting.set(db, waiting);
    }
    const clients = waiting.get(key);
    if (clients !== undefined) clients.add(client);
    else {
      waiting.set(key, new Set([client]));
      db.awaited.add(key);
    }
  }

  /** Parks a client until somebody releases it. */
  park(client: Client): Reply {
    client.blocked = PARKED;
    this.#waiters.set(client, { db: client.db, deadline: Number.POSITIVE_INFINITY });
    return BLOCKED;
  }

  /** From the door: a key of this type has come, gone or grown. */
  keyChanged(db: Db, key: string, type: AwaitedType): void {
    if (this.#count[type] > 0 && db.awaited.has(key)) this.#ready.push({ db, key });
  }

  /** Looks again at every key that somebody waits for in these databases (SWAPDB). */
  lookAgain(...databases: Db[]): void {
    for (const db of databases) for (const key of db.awaited) this.#ready.push({ db, key });
  }

  get hasReady(): boolean {
    return this.#ready.length > 0;
  }

  /** Serves the clients that can be served, after a command is over. */
  serveReady(): void {
    while (this.#ready.length > 0) {
      const ready = this.#ready;
      this.#ready = [];
      const seen = new Map<Db, Set<string>>();
      for (const { db, key } of ready) {
        const keys = seen.get(db) ?? new Set();
        if (keys.has(key)) continue;
        seen.set(db, keys.add(key));
        const clients = this.#waiting.get(db)?.get(key);
        if (clients === undefined) continue;
        // The command that is over may have taken long: what it made may have expired meanwhile.
        this.#host.renewClock();
        for (const client of [...clients]) this.#host.serving(client, () => this.#serve(client, key));
      }
    }
  }

  #serve(client: Client, key: string): void {
    const request = client.blocked;
    if (request === null) return;
    if (client.transport.isGone?.()) {
      this.#host.removeClient(client);
      client.transport.close(false);
      return;
    }
    const reply = this.#host.runFor(client, () => {
      try {
        return request.serve(key);
      } catch (error) {
        if (error instanceof ReplyError) return error;
        const name = client.lastCommand?.name ?? "";
        this.#host.onError(error, name);
        return internalError(name);
      }
    });
    if (reply !== undefined) this.release(client, reply);
  }

  /** Ends a client's wait with this reply. An error counts as one of the command that it waited in. */
  release(client: Client, reply: Reply): void {
    this.forget(client);
    if (reply instanceof ReplyError) {
      const { stats } = this.#host;
      if (client.lastCommand !== null) stats.of(client.lastCommand.index).failed++;
      stats.countError(reply.code);
    }
    this.#host.waited(client);
    client.transport.send(client.filterReply(reply));
  }

  /** Ends a client's wait as if its time were over. Redis does not log how long such a wait was, nor do we. */
  timeOut(client: Client): void {
    const { blocked } = client;
    if (blocked === null) return;
    this.forget(client);
    client.blockedCall = null;
    client.transport.send(client.filterReply(blocked.nothing));
  }

  /** Ends everybody's wait with this error, and their connections with it: what they waited for may never come here. */
  releaseAll(error: ReplyError): void {
    for (const client of [...this.#waiters.keys()]) {
      if (client.blocked?.stays) continue;
      this.release(client, error);
      // A client in the same process has no connection that it could make anew.
      if (client.transport.sendBytes !== undefined) client.transport.close(true);
    }
  }

  /** Ends a client's wait without a reply (it is gone). */
  forget(client: Client): void {
    const waiter = this.#waiters.get(client);
    const request = client.blocked;
    if (waiter === undefined || request === null) return;
    this.#waiters.delete(client);
    if (request !== PARKED) this.#count[request.type]--;
    // A timer that nobody waits for any more would keep the process alive.
    if (this.#waiters.size === 0) this.close();
    client.blocked = null;
    const waiting = this.#waiting.get(waiter.db);
    for (const key of request.keys) {
      const clients = waiting?.get(key);
      if (waiting === undefined || clients === undefined) continue;
      clients.delete(client);
      if (clients.size > 0) continue;
      waiting.delete(key);
      waiter.db.awaited.delete(key);
    }
  }

  /** Answers clients whose time is over. */
  expire(): void {
    const now = this.#host.clock.monotonic();
    let next = Number.POSITIVE_INFINITY;
    for (const [client, { deadline }] of this.#waiters) {
      if (deadline <= now) this.timeOut(client);
      else if (deadline < next) next = deadline;
    }
    this.#arm(next);
  }

  #arm(deadline: number): void {
    if (deadline >= this.#timerAt) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerAt = deadline;
    const wait = Math.min(Math.max(1, deadline - this.#host.clock.monotonic()), 0x7fffffff);
    this.#timer = heldTimeout(() => {
      this.#timer = null;
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.expire();
    }, wait);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#timerAt = Number.POSITIVE_INFINITY;
  }
}
