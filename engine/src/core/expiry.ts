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

/** How far the walk through a database's deadlines is. */
interface Walk {
  readonly db: Db;
  cursor: number;
  averageTtl: number;
}

/** New samples weigh a fiftieth, so that the figure does not jump about. */
function averageOver(walk: Walk, ttl: number): void {
  walk.averageTtl = walk.averageTtl === 0 ? ttl : walk.averageTtl * 0.98 + ttl * 0.02;
}

export class ActiveExpiry {
  /** DEBUG SET-ACTIVE-EXPIRE. */
  enabled = true;
  /** Time spent in it, for INFO. */
  totalMs = 0;
  /** Keys looked at by the last cycle. */
  visits = 0;

  readonly #host: ExpiryHost;
  /** The databases, the one whose turn is next first. */
  readonly #walks: Walk[];
  readonly #due: string[] = [];

  constructor(host: ExpiryHost) {
    this.#host = host;
    this.#walks = host.databases.map((db) => ({ db, cursor: 0, averageTtl: 0 }));
  }

  /** The average time to live in a database in ms, as the last cycles saw it. */
  averageTtl(db: Db): number {
    const walk = this.#walks.find((one) => one.db === db);
    return walk === undefined || db.expires.size === 0 ? 0 : Math.floor(walk.averageTtl);
  }

  cycle(): void {
    this.visits = 0;
    if (!this.enabled) return;
    const { clock, config, latency, stats } = this.#host;
    const effort = config.values["active-expire-effort"] - 1;
    const started = clock.monotonic();
    const until = started + (TICK_MS * (SHARE_PERCENT + 2 * effort)) / 100;
    let expired = 0;
    let cut = false;
    let done = 0;
    for (const walk of this.#walks) {
      if (walk.db.expires.size > 0) {
        const before = stats.expiredKeys;
        cut = this.#sweep(walk, BATCH + 5 * effort, 10 - effort, until);
        expired += stats.expiredKeys - before;
      }
      if (cut) break;
      done++;
    }
    this.#walks.push(...this.#walks.splice(0, done));
    if (cut) stats.expireCyclesCut++;
    const elapsed = clock.monotonic() - started;
    this.totalMs += elapsed;
    latency.add("expire-cycle", elapsed);
    const stale = this.visits === 0 ? 0 : (expired / this.visits) * 100;
    stats.expiredStale = stale * 0.05 + stats.expiredStale * 0.95;
  }

  /** Works on one database; true when the tick's budget is used up. */
  #sweep(walk: Walk, batch: number, acceptablePercent: number, until: number): boolean {
    const { db } = walk;
    const due = this.#due;
    for (let rounds = 1; ; rounds++) {
      const { now, clock } = this.#host;
      let seen = 0;
      let ttls = 0;
      due.length = 0;
      walk.cursor = db.expires.scan(walk.cursor, batch, (key, deadline) => {
        seen++;
        if (deadline <= now) due.push(key);
        else ttls += deadline - now;
      });
      if (seen > due.length) averageOver(walk, ttls / (seen - due.length));
      for (const key of due) db.expireIfDue(key);
      this.visits += seen;
      const many = due.length * 100 > seen * acceptablePercent;
      // A stretch without entries says nothing about the rest, but the walk must end where there are none at all.
      const again = db.expires.size > 0 && (many || (seen === 0 && walk.cursor !== 0));
      if (!again) return false;
      if (this.visits >= VISITS_PER_TICK || (rounds % 16 === 0 && clock.monotonic() > until)) return true;
    }
  }
}
