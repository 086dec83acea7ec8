/**
 * Removing keys whose time has come although nobody asks for them.
 *
 * Keys that are asked for are removed by the door itself (db.ts). The rest would stay for ever, so every tick looks at some
 * of the keys that have a deadline: a batch per database, and more while more than a tenth of what was seen had to go, up to
 * a quarter of the tick's time. A database where little is stale thus costs next to nothing, and one where everything is
 * stale is emptied as fast as the budget allows. The walk goes on where it stopped, so every key is looked at again and
 * again however many there are.
 */
import type { Config } from "../config/config.ts";
import type { LatencyMonitor } from "../observe/latency.ts";
import type { Stats } from "../observe/stats.ts";
import type { Clock } from "./clock.ts";
import type { Db } from "./db.ts";

/** Of a tick's 100 ms, without effort; each further step of active-expire-effort adds 2 %. */
const SHARE_PERCENT = 25;
const TICK_MS = 100;
/** What a tick looks at, at most, however fast the machine: a bound on its pause that does not depend on the clock. */
const VISITS_PER_TICK = 25_000;
const BATCH = 20;

/** What expiry needs of the store around it. */
interface ExpiryHost {
  readonly now: number;
  readonly clock: Clock;
  readonly config: Pick<Config, "values">;
  readonly databases: readonly Db[];
  readonly latency: LatencyMonitor;
  readonly stats: Stats;
}

export class ActiveExpiry {
  /** DEBUG SET-ACTIVE-EXPIRE. */
  enabled = true;
  /** Time spent in it, for INFO. */
  totalMs = 0;
  /** Keys looked at by the last cycle. */
  visits = 0;

  readonly #host: ExpiryHost;
  /** Where the walk through each database's deadlines stands. */
  readonly #cursors: number[];
  readonly #due: string[] = [];
  readonly #averageTtl: number[];
  #nextDb = 0;

  constructor(host: ExpiryHost) {
    this.#host = host;
    this.#cursors = host.databases.map(() => 0);
    this.#averageTtl = host.databases.map(() => 0);
  }

  /** The average time to live in a database in ms, as the last cycles saw it. */
  averageTtl(index: number): number {
    return this.#host.databases[index]!.expires.size === 0 ? 0 : Math.floor(this.#averageTtl[index]!);
  }

  cycle(): void {
    this.visits = 0;
    if (!this.enabled) return;
    const { databases, clock, config, latency, stats } = this.#host;
    const effort = config.values["active-expire-effort"] - 1;
    const started = clock.monotonic();
    const until = started + (TICK_MS * (SHARE_PERCENT + 2 * effort)) / 100;
    let expired = 0;
    let cut = false;
    for (let i = 0; i < databases.length && !cut; i++) {
      const at = this.#nextDb % databases.length;
      const db = databases[at]!;
      if (db.expires.size > 0) {
        const before = stats.expiredKeys;
        cut = this.#sweep(db, at, BATCH + 5 * effort, 10 - effort, until);
        expired += stats.expiredKeys - before;
      }
      if (!cut) this.#nextDb = at + 1;
    }
    if (cut) stats.expireCyclesCut++;
    const elapsed = clock.monotonic() - started;
    this.totalMs += elapsed;
    latency.add("expire-cycle", elapsed);
    const stale = this.visits === 0 ? 0 : (expired / this.visits) * 100;
    stats.expiredStale = stale * 0.05 + stats.expiredStale * 0.95;
  }

  /** New samples weigh a fiftieth, so that the figure does not jump about. */
  #averageOver(index: number, ttl: number): void {
    const before = this.#averageTtl[index]!;
    this.#averageTtl[index] = before === 0 ? ttl : before * 0.98 + ttl * 0.02;
  }

  /** Works on one database; true when the tick's budget is used up. */
  #sweep(db: Db, index: number, batch: number, acceptablePercent: number, until: number): boolean {
    const due = this.#due;
    for (let rounds = 1; ; rounds++) {
      const { now, clock } = this.#host;
      let seen = 0;
      let ttls = 0;
      due.length = 0;
      this.#cursors[index] = db.expires.scan(this.#cursors[index]!, batch, (key, deadline) => {
        seen++;
        if (deadline <= now) due.push(key);
        else ttls += deadline - now;
      });
      if (seen > due.length) this.#averageOver(index, ttls / (seen - due.length));
      for (const key of due) db.expireIfDue(key);
      this.visits += seen;
      const many = due.length * 100 > seen * acceptablePercent;
      // A stretch without entries says nothing about the rest, but the walk must end where there are none at all.
      const again = db.expires.size > 0 && (many || (seen === 0 && this.#cursors[index] !== 0));
      if (!again) return false;
      if (this.visits >= VISITS_PER_TICK || (rounds % 16 === 0 && clock.monotonic() > until)) return true;
    }
  }
}
