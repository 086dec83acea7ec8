/**
 * MIGRATE: keys go to another server and are deleted here once it has them.
 *
 * Redis stands still meanwhile, so nobody can touch a key that is on its way. Here the loop goes on: the client is parked
 * as in a blocking command, and only who names one of these keys waits too (`#holds`, asked by `engine.execute` as
 * CLIENT PAUSE is). Readers as well as writers: somebody who has seen the key on the other server must not find its old
 * value here afterwards. Commands that act on a whole database (SWAPDB, FLUSHALL, DEBUG) wait for all transfers. So a
 * transfer is one step for commands that name the key, as in Redis, and costs the others nothing.
 *
 * What does not name its keys cannot be held: a script that touches what it has not declared, a blocked BLMOVE that is
 * served into the key, expiry, eviction. Therefore each key on its way is also watched, as by WATCH, from the moment at
 * which it was serialised. When the answer has come:
 *
 * - unchanged: it is deleted. This is all but always so.
 * - gone by itself (expired, evicted, flushed): nothing to do. As if it had happened after the transfer.
 * - changed: it stays, and the caller gets an error that says so. The other server has it as it was; here is what is
 *   newer. Nothing is lost; which of the two counts is for the caller to say (again with REPLACE, or delete one). To send
 *   it again by ourselves would overwrite what the other server's clients may have done to it by then.
 *
 * A process that dies between the answer and the deletion has the key on both sides, as in Redis; never on neither. A
 * client that goes away does not end its transfer. Deletion is one step, handed on as one DEL.
 *
 * Inside EXEC and scripts, which cannot be parked, everything stands still (blocking-link.ts).
 *
 * Links are kept for ten seconds after they were last used, 64 of them at most, as in Redis; transfers to the same server
 * at the same time each have their own.
 */
import type { Config } from "../config/config.ts";
import type { Client } from "../core/client.ts";
import type { Clock } from "../core/clock.ts";
import type { Db } from "../core/db.ts";
import type { Dial } from "../core/dial.ts";
import { internalError, type ReplyError } from "../core/errors.ts";
import type { Pause } from "../core/pause.ts";
import type { MigrationPort } from "../core/ports.ts";
import { migrateChanged } from "../core/rare-errors.ts";
import { OK, type Reply } from "../core/reply.ts";
import type { Watcher } from "../core/watchers.ts";
import { dumpValue } from "../persist/rdb/payload.ts";
import type { Command } from "../table/command-table.ts";
import { keysOf } from "../table/key-extraction.ts";
import type { Dialed, TlsContexts } from "../tls/contexts.ts";
import { BlockingLink } from "./blocking-link.ts";
import { Link } from "./link.ts";
import { type MigrateRequest, type Outcome, type Serialized, type StepResult, transfer } from "./transfer.ts";

const KEEP_MS = 10_000;
const MOST_KEPT = 64;

/** A key that is on its way. */
class KeyInFlight implements Watcher {
  /** Changed since it was serialised. */
  watchBroken = false;
  readonly seesAll = true;
}

/** The keys of one transfer. */
class Flight {
  readonly db: Db;
  readonly keys = new Map<string, KeyInFlight>();

  constructor(db: Db, keys: readonly string[]) {
    this.db = db;
    for (const key of new Set(keys)) {
      const inFlight = new KeyInFlight();
      this.keys.set(key, inFlight);
      db.watchers.add(key, inFlight);
    }
  }

  land(): void {
    for (const [key, inFlight] of this.keys) this.db.watchers.remove(key, inFlight);
  }
}

/** What MIGRATE needs of the store around it. */
interface MigrationsHost {
  readonly clock: Clock;
  readonly config: Pick<Config, "values">;
  readonly pause: Pause;
  readonly blocking: { park(client: Client): Reply; release(client: Client, reply: Reply): void };
  readonly replication: { readonly isReplica: boolean };
  readonly tls: Pick<TlsContexts, "client" | "dial">;
  readonly dial: Dial | null;
  /** Runs the rest of a command whose client was parked, now that what it waited for has come. */
  runAfterwards(client: Client, run: () => Reply): Reply;
  onError(error: unknown, command: string): void;
}

export class Migrations implements MigrationPort {
  readonly #store: MigrationsHost;
  readonly #flights = new Set<Flight>();
  /** Links that nobody uses just now, by name. */
  readonly #kept = new Map<string, Link[]>();
  readonly #used = new Set<Link>();
  #blocking: BlockingLink | null = null;
  #closed = false;

  constructor(store: MigrationsHost) {
    this.#store = store;
  }

  /** Keys that exist; the caller has looked. */
  run(client: Client, request: MigrateRequest): Reply {
    return client.inTransaction ? this.#runNow(client, request) : this.#runLater(client, request);
  }

  /** A key's value as it is at this moment; nothing happens to the key, not even if its time has come. */
  #serialize(db: Db, key: string): Serialized | undefined {
    const value = db.keyspace.get(key);
    if (value === undefined) return undefined;
    const deadline = db.expires.get(key);
    const left = deadline === undefined ? 0 : deadline - this.#store.clock.now();
    if (left < 0) return undefined;
    const payload = dumpValue(value, this.#store.config.values.rdbcompression);
    return { ttlMs: deadline === undefined ? 0 : Math.max(1, left), payload };
  }

  // ---------------------------------------------------------------------------------------------- all at once

  #runNow(client: Client, request: MigrateRequest): Reply {
    this.#blocking ??= new BlockingLink();
    const { db } = client;
    const tls = this.#secure ? this.#store.tls.client : null;
    const outcome = this.#blocking.run(
      { ...request, tls },
      transfer(request, (key) => this.#serialize(db, key)),
    );
    const gone = request.copy ? [] : outcome.moved.filter((key) => db.delete(key));
    if (gone.length > 0) client.propagate.asDelOf(gone);
    return outcome.error ?? OK;
  }

  // ---------------------------------------------------------------------------------------------- while others go on

  #runLater(client: Client, request: MigrateRequest): Reply {
    const flight = new Flight(client.db, request.keys);
    this.#flights.add(flight);
    this.#store.pause.hold = this.#holds;
    void this.#fly(flight, request).then((outcome) => this.#land(client, request, flight, outcome));
    return this.#store.blocking.park(client);
  }

  async #fly(flight: Flight, request: MigrateRequest): Promise<Outcome> {
    const steps = transfer(request, (key) => {
      flight.keys.get(key)!.watchBroken = false;
      return this.#serialize(flight.db, key);
    });
    let link: Link | null = null;
    let result: StepResult = { lines: [], failure: null };
    try {
      for (;;) {
        const { done, value } = steps.next(result);
        if (done) {
          if (link !== null) this.#release(request, link, value.linkIsSound);
          return value;
        }
        if ("reuse" in value) {
          if (link !== null) this.#release(request, link, false);
          const opened = (value.reuse && this.#take(request)) || (await this.#open(request));
          link = opened instanceof Link ? opened : null;
          result =
            opened instanceof Link ? { state: opened, lines: [], failure: null } : { lines: [], failure: opened };
        } else result = await link!.exchange(value.commands, request.timeoutMs);
      }
    } catch (error) {
      // A fault of ours, as a value too large for V8: nobody may wait for ever.
      this.#store.onError(error, "migrate");
      if (link !== null) this.#release(request, link, false);
      return { moved: [], error: internalError("migrate"), linkIsSound: false };
    }
  }

  #land(client: Client, request: MigrateRequest, flight: Flight, outcome: Outcome): void {
    // Nothing is written any more: the key is on both sides, as after a crash.
    if (this.#closed) return;
    const store = this.#store;
    flight.land();
    this.#flights.delete(flight);
    const reply = store.runAfterwards(client, () => this.#delete(client, request, flight, outcome));
    if (client.isParked) store.blocking.release(client, reply);
    if (this.#flights.size === 0) store.pause.hold = null;
    store.pause.lookAgain();
  }

  #delete(client: Client, request: MigrateRequest, { db, keys }: Flight, outcome: Outcome): Reply | ReplyError {
    const changed: string[] = [];
    const gone: string[] = [];
    if (!request.copy) {
      // Meanwhile a replica: what goes and comes here is its primary's to say.
      const { isReplica } = this.#store.replication;
      for (const key of outcome.moved) {
        if (isReplica || keys.get(key)!.watchBroken) {
          if (db.exists(key)) changed.push(key);
        } else if (db.delete(key)) gone.push(key);
      }
    }
    if (gone.length > 0) client.propagate.asDelOf(gone);
    return outcome.error ?? (changed.length === 0 ? OK : migrateChanged(changed[0]!));
  }

  // ---------------------------------------------------------------------------------------------- who has to wait

  readonly #holds = (client: Client, command: Command, argv: readonly string[]): boolean => {
    // What a primary says comes in its order, or not at all.
    if (client.isPrimary) return false;
    // What is queued waits with its EXEC.
    if (client.multi !== null) {
      return client.queuedFor(command).some((queued) => this.#touches(null, queued.command, queued.argv));
    }
    return this.#touches(command.row.otherDatabases ? null : client.db, command, argv);
  };

  /** Whether a command concerns a key that is on its way; `db` null: in whichever database. */
  #touches(db: Db | null, command: Command, argv: readonly string[]): boolean {
    if (command.row.wholeDatabases) return true;
    const places = keysOf(command, argv);
    if (places.length === 0) return false;
    for (const flight of this.#flights) {
      if (db !== null && flight.db !== db) continue;
      for (const place of places) if (flight.keys.has(argv[place]!)) return true;
    }
    return false;
  }

  // ---------------------------------------------------------------------------------------------- links

  /** As in Redis, what concerns the bus of a cluster concerns MIGRATE. */
  get #secure(): boolean {
    return this.#store.config.values["tls-cluster"];
  }

  /** A link from before TLS was switched on is not taken up again. */
  #nameOf(host: string, port: number): string {
    return `${host}:${port}${this.#secure ? " tls" : ""}`;
  }

  #take({ host, port }: MigrateRequest): Link | undefined {
    const kept = this.#kept.get(this.#nameOf(host, port));
    for (let link = kept?.pop(); link !== undefined; link = kept?.pop()) {
      if (!link.isOpen) continue;
      link.wake();
      this.#used.add(link);
      return link;
    }
    return undefined;
  }

  async #open({ host, port, timeoutMs }: MigrateRequest) {
    const inside = this.#store.dial?.(host, port, "migration") ?? null;
    const secure = this.#secure;
    const dial = (): Dialed =>
      inside === null
        ? this.#store.tls.dial({ host, port, noDelay: true }, secure)
        : { socket: inside, ready: "connect" };
    const opened = await Link.open(dial, timeoutMs);
    if (opened instanceof Link) {
      this.#used.add(opened);
      if (this.#closed) opened.close();
    }
    return opened;
  }

  #release({ host, port }: MigrateRequest, link: Link, isSound: boolean): void {
    this.#used.delete(link);
    if (!isSound || !link.isOpen || this.#closed) {
      link.close();
      return;
    }
    link.usedAt = this.#store.clock.monotonic();
    link.rest();
    const name = this.#nameOf(host, port);
    const kept = this.#kept.get(name);
    if (kept === undefined) this.#kept.set(name, [link]);
    else kept.push(link);
    let count = 0;
    for (const links of this.#kept.values()) count += links.length;
    if (count > MOST_KEPT) this.#closeOldest();
  }

  #closeOldest(): void {
    let oldest: Link | undefined;
    for (const [first] of this.#kept.values()) {
      if (first !== undefined && (oldest === undefined || first.usedAt < oldest.usedAt)) oldest = first;
    }
    for (const links of this.#kept.values()) if (links[0] === oldest) links.shift()?.close();
  }

  /** Closes links that have not been used for a while. Ten times a second. */
  cron(): void {
    if (this.#kept.size === 0) return;
    const before = this.#store.clock.monotonic() - KEEP_MS;
    for (const [name, links] of this.#kept) {
      const kept = links.filter((link) => link.isOpen && link.usedAt >= before);
      for (const link of links) if (!kept.includes(link)) link.close();
      if (kept.length === 0) this.#kept.delete(name);
      else this.#kept.set(name, kept);
    }
  }

  /** Links that are kept for the next transfer. */
  get keptLinks(): number {
    let count = 0;
    for (const links of this.#kept.values()) count += links.length;
    return count;
  }

  close(): void {
    this.#closed = true;
    for (const links of this.#kept.values()) for (const link of links) link.close();
    this.#kept.clear();
    for (const link of this.#used) link.close();
    for (const flight of this.#flights) flight.land();
    this.#flights.clear();
    this.#store.pause.hold = null;
    this.#blocking?.close();
    this.#blocking = null;
  }
}
