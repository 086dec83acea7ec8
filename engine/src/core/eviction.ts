/**
 * What happens when memory is short: which keys go, by maxmemory-policy.
 *
 * Every key carries a stamp that says when or how often it was used (access-stamps.ts). Nothing is kept in order: choosing
 * means looking at a few keys by chance and keeping the best candidates of all looks so far in a small pool, as Redis does.
 * With 16 places in the pool and 5 looks a time, what goes is close to what a true LRU would choose, at the cost of no list
 * at all.
 *
 * What counts against maxmemory is the sum of these accounts, all kept by the engine itself:
 * - BASE_BYTES for what an engine takes before its first key, so that a limit below it refuses at once, as in Redis;
 * - keys and values (`sizeBytes` of every type);
 * - clients: buffers, unfinished commands, MULTI queues, subscriptions (client-memory.ts);
 * - the replication backlog; scripts and functions that are kept.
 * `used_memory` adds what replicas and the append-only file have yet to take. That does not count for eviction, since
 * removing keys would only add to it. Beside maxmemory there is what V8's heap can hold (heap-guard.ts), with the same
 * consequences.
 */

import type { Config } from "../config/config.ts";
import type { LatencyMonitor } from "../observe/latency.ts";
import { soon } from "../platform/timers.ts";
import type { AccessStamps } from "./access-stamps.ts";
import type { Clock } from "./clock.ts";
import type { Db } from "./db.ts";

const POOL_SIZE = 16;
/** What the command table, the configuration and the empty keyspace take, about. */
export const BASE_BYTES = 1024 * 1024;

/** What eviction needs of the store around it. */
interface EvictionHost {
  readonly now: number;
  readonly clock: Clock;
  readonly config: Pick<Config, "values">;
  readonly databases: readonly Db[];
  readonly stamps: AccessStamps;
  readonly latency: LatencyMonitor;
  readonly heapGuard: { readonly full: boolean; isShort(db: Db): boolean };
  readonly clientMemory: { readonly totalBytes: number; sum(): number };
  readonly replication: { readonly isReplica: boolean };
  readonly pause: { readonly paused: boolean };
  /** What keys and values take, about. */
  readonly dataBytes: number;
  /** What the replication backlog takes, and scripts and functions that are kept. */
  readonly keptBytes: number;
  /** What replicas and the append-only file have yet to take. */
  readonly unsentBytes: number;
  /** Hands on that a key was evicted, where no command runs that it would be a part of. */
  handOnRemoval(): void;
}

/** A key that may go: the higher the score, the sooner. */
interface Candidate {
  readonly db: Db;
  readonly key: string;
  readonly score: number;
}

export class Eviction {
  /** maxmemory; 0 means that there is none. */
  limit = 0;
  /** Milliseconds spent over the limit, and since when it is exceeded now (0: it is not). */
  exceededMs = 0;
  exceededSince = 0;

  readonly #host: EvictionHost;
  readonly #stamps: AccessStamps;
  readonly #chance: () => number;
  #pool: Candidate[] = [];
  #nextDb = 0;
  #otherBytes = 0;
  #running = false;
  #volatile = false;
  #random = false;
  #byDeadline = false;
  #never = true;
  #samples = 5;

  constructor(host: EvictionHost) {
    this.#host = host;
    this.#stamps = host.stamps;
    this.#chance = () => host.clock.random();
    this.renewClock();
  }

  /** Takes over the directives; a limit that was lowered acts after the command, or transaction, that lowered it. */
  configure(): void {
    const { values } = this.#host.config;
    const policy = values["maxmemory-policy"];
    this.limit = values.maxmemory;
    this.#never = policy === "noeviction";
    this.#volatile = policy.startsWith("volatile");
    this.#random = policy.endsWith("random");
    this.#byDeadline = policy === "volatile-ttl";
    this.#samples = values["maxmemory-samples"];
    this.#stamps.configure({
      lfu: policy.endsWith("lfu"),
      logFactor: values["lfu-log-factor"],
      decayMinutes: values["lfu-decay-time"],
    });
    this.#pool = [];
    this.renewClock();
    if (this.limit > 0) this.#goOnLater();
  }

  /** Called by every tick: the stamps' clock, and what changes slowly of what counts. */
  renewClock(): void {
    this.#stamps.renewClock(this.#host.now);
    this.#otherBytes = BASE_BYTES + this.#host.keptBytes;
  }

  /** Whether small integers are one object for all keys, as OBJECT REFCOUNT tells: not when each needs its own stamp. */
  get sharesIntegers(): boolean {
    return this.limit === 0 || this.#never || this.#random || this.#byDeadline;
  }

  // ---------------------------------------------------------------------------------------------- making room

  /** What counts against maxmemory. */
  get usedBytes(): number {
    return this.#otherBytes + this.#host.dataBytes + this.#host.clientMemory.totalBytes;
  }

  /** The same as of now, with what is not counted for eviction: INFO's used_memory. */
  get totalBytes(): number {
    const { keptBytes, dataBytes, clientMemory, unsentBytes } = this.#host;
    return BASE_BYTES + keptBytes + dataBytes + clientMemory.sum() + unsentBytes;
  }

  /** Below maxmemory, if there is one, and below what the heap can hold. */
  #hasRoom(): boolean {
    return this.#excessBytes() === 0 && !this.#isHeapFull();
  }

  #excessBytes(): number {
    return this.limit > 0 ? Math.max(0, this.usedBytes - this.limit) : 0;
  }

  #isHeapFull(): boolean {
    const { heapGuard, databases } = this.#host;
    return heapGuard.full && heapGuard.isShort(databases[0]!);
  }

  /**
   * Removes keys until what is left fits; false where that cannot be done. A command must not wait long for it: past its
   * share of time the rest goes on between commands, and the command is let through.
   */
  makeRoom(): boolean {
    if (this.#hasRoom()) {
      if (this.exceededSince !== 0) this.#endExcess();
      return true;
    }
    if (this.#host.replication.isReplica && this.#host.config.values["replica-ignore-maxmemory"]) return true;
    if (this.#never) return false;
    // Nothing changes while clients are paused, as in Redis: a failover or a copy may rely on it.
    if (this.#host.pause.paused) return true;
    const { clock, latency } = this.#host;
    const started = clock.monotonic();
    if (this.exceededSince === 0) this.exceededSince = started;
    const madeRoom = this.#removeSome(this.#excessBytes(), started + this.#budgetMs());
    latency.add("eviction-cycle", clock.monotonic() - started);
    return madeRoom;
  }

  /**
   * Goes by what the removed keys took, not by the whole sum: that grows with every message to a client that tracks the key,
   * and would never stop.
   */
  #removeSome(excess: number, until: number): boolean {
    const host = this.#host;
    const goal = host.dataBytes - excess;
    for (let removed = 1; ; removed++) {
      const victim = this.#random ? this.#anyKey() : this.#bestKey();
      if (victim === undefined) return false;
      victim.db.evict(victim.key);
      host.handOnRemoval();
      if (host.dataBytes <= goal && !this.#isHeapFull()) {
        this.#endExcess();
        return true;
      }
      if (removed % 16 === 0 && host.clock.monotonic() > until) {
        this.#goOnLater();
        return true;
      }
    }
  }

  #endExcess(): void {
    this.exceededMs += this.#host.clock.monotonic() - this.exceededSince;
    this.exceededSince = 0;
  }

  /** By maxmemory-eviction-tenacity: half a millisecond by default, no bound at 100. */
  #budgetMs(): number {
    const tenacity = this.#host.config.values["maxmemory-eviction-tenacity"];
    if (tenacity <= 10) return 0.05 * tenacity;
    return tenacity < 100 ? 0.5 * 1.15 ** (tenacity - 10) : Number.POSITIVE_INFINITY;
  }

  #goOnLater(): void {
    if (this.#running) return;
    this.#running = true;
    soon(() => {
      this.#running = false;
      this.makeRoom();
    });
  }

  // ---------------------------------------------------------------------------------------------- choosing

  #anyKey(): { db: Db; key: string } | undefined {
    const { databases } = this.#host;
    for (let i = 0; i < databases.length; i++) {
      const db = databases[this.#nextDb++ % databases.length]!;
      const key = (this.#volatile ? db.expires : db.keyspace).randomKey(this.#chance);
      if (key !== undefined) return { db, key };
    }
    return undefined;
  }

  /** The best candidate that still exists; looks at more keys first. */
  #bestKey(): { db: Db; key: string } | undefined {
    for (;;) {
      let keys = 0;
      for (const db of this.#host.databases) {
        const from = this.#volatile ? db.expires.size : db.size;
        if (from === 0) continue;
        keys += from;
        this.#look(db);
      }
      if (keys === 0) return undefined;
      for (let best = this.#pool.pop(); best !== undefined; best = this.#pool.pop()) {
        const { db, key } = best;
        if ((this.#volatile ? db.expires : db.keyspace).has(key)) return best;
      }
    }
  }

  /** Takes a few keys by chance and offers them to the pool. */
  #look(db: Db): void {
    if (this.#byDeadline) {
      db.expires.sample(this.#samples, this.#chance, (key, deadline) => this.#offer(db, key, -deadline));
    } else if (this.#volatile) {
      // As the keyspace has it: a key whose time has come, and that is only hidden yet, may go like any other.
      db.expires.sample(this.#samples, this.#chance, (key) =>
        this.#offer(db, key, this.#scoreOf(db.keyspace.stampOf(key)!)),
      );
    } else {
      db.keyspace.sample(this.#samples, this.#chance, (key, _value, place, table) =>
        this.#offer(db, key, this.#scoreOf(table.stamps![place]!)),
      );
    }
  }

  #scoreOf(stamp: number): number {
    return this.#stamps.lfu ? 255 - this.#stamps.frequency(stamp) : this.#stamps.idleSeconds(stamp);
  }

  /** Puts a key into the pool, which is in ascending order, if it is better than the worst there or there is room. */
  #offer(db: Db, key: string, score: number): void {
    const pool = this.#pool;
    const worst = pool[0];
    if (worst !== undefined && pool.length === POOL_SIZE && score <= worst.score) return;
    let place = 0;
    for (const candidate of pool) {
      if (candidate.key === key && candidate.db === db) return;
      if (candidate.score <= score) place++;
    }
    pool.splice(place, 0, { db, key, score });
    if (pool.length > POOL_SIZE) pool.shift();
  }
}
