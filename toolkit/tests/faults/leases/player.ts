/**
 * A process that takes locks and semaphores at random and writes down what it believes: from when until when it may act. Runs in a
 * process of its own, to be killed and stopped at any moment, or in this one.
 *
 *   node --conditions=source --import tsx player.ts '{"url": …, "player": "p1", "seed": 7, …}'
 *
 * Times are microseconds of the machine's monotonic clock, which all processes share; the clock that the toolkit is given is
 * another one: shifted, up to half a percent too fast or too slow, with a wall clock that jumps about.
 */
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { defineScript } from "../../../src/base/script.ts";
import { type Lease, Locks } from "../../../src/components/locks/index.ts";
import { Semaphores } from "../../../src/components/semaphores/index.ts";
import { type OpenOptions, open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { WHOLE_LOCK } from "../../../src/leases/scripts.ts";
import { out } from "../../kit/out.ts";

export interface Plan {
  readonly url: string;
  readonly player: string;
  readonly seed: number;
  readonly locks: readonly string[];
  readonly semaphores: readonly string[];
  readonly limit: number;
}

export type Note =
  | {
      readonly what: "got";
      readonly id: string;
      readonly player: string;
      readonly name: string;
      readonly weight: number;
      readonly fence: number;
      /** Before asking; when the place in line was certain; when it was got; until when it is valid. */
      readonly start: number;
      readonly asked: number;
      readonly got: number;
      readonly until: number;
      /** It may have been given and have run out before it was noticed, and so have lost its place in line. */
      readonly again: boolean;
    }
  | { readonly what: "valid"; readonly id: string; readonly until: number }
  | { readonly what: "end"; readonly id: string; readonly at: number; readonly lost: boolean }
  /** A newer holder's fence was seen although the lease was valid before and after. */
  | { readonly what: "refused"; readonly id: string };

/** The receiver of a fenced write. */
export const guard = defineScript({
  name: "guard",
  keys: ["seen"],
  args: ["fence"],
  lua: `
    if tonumber(redis.call("GET", seen) or 0) > tonumber(fence) then return 0 end
    redis.call("SET", seen, fence, "PX", 600000)
    return 1
  `,
});

export const micros = (): number => Number(process.hrtime.bigint()) / 1_000;
/** 0 if it is over. The time first, and one look at the lease: who is stopped in between must not take it for longer. */
const until = (lease: Lease): number => {
  const now = micros();
  const leftMs = lease.validForMs;
  return leftMs > 0 ? now + leftMs * 1_000 : 0;
};
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function wrongClock(random: () => number): Clock {
  const shift = random() * 1e9;
  const rate = 0.995 + random() / 100;
  return {
    ...systemClock,
    monotonicMs: () => systemClock.monotonicMs() * rate + shift,
    wallMs: () => Math.floor(random() * 2 ** 41),
  };
}

export class Player {
  readonly #plan: Plan;
  readonly #note: (note: Note) => void;
  readonly #random: () => number;
  /** When the script that asks was last answered, since the attempt began; and whether more was needed. */
  #asked: number | null = null;
  #again = false;
  #count = 0;
  stopping = false;

  constructor(plan: Plan, note: (note: Note) => void) {
    this.#plan = plan;
    this.#note = note;
    this.#random = randomFrom(plan.seed);
  }

  openOptions(): OpenOptions {
    return {
      clock: wrongClock(this.#random),
      hooks: {
        roundTrip: ({ kind, name }) => {
          if (kind !== "script") return undefined;
          if (name === "leases.renew") this.#again = true;
          return name.endsWith(".acquire") ? () => (this.#asked ??= micros()) : undefined;
        },
      },
    };
  }

  #pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)]!;
  }

  async play(store: Store): Promise<void> {
    const locks = new Locks(store);
    const semaphores = new Semaphores(store, { limit: this.#plan.limit });
    // So that the channel is open, and the first round trip of each attempt already takes a place in line.
    const warm = await locks.acquire(`warm-${this.#plan.player}`);
    await locks.acquire(`warm-${this.#plan.player}`, { waitMs: 300 });
    await warm?.release();
    while (!this.stopping) {
      this.#asked = null;
      this.#again = false;
      const start = micros();
      const isLock = this.#random() < 0.6;
      const name = this.#pick(isLock ? this.#plan.locks : this.#plan.semaphores);
      const shared = isLock && this.#random() < 0.3;
      const permits = 1 + Math.floor(this.#random() * this.#plan.limit);
      const renew = this.#random() < 0.7;
      const options = { leaseMs: this.#pick([300, 600, 1_200]), waitMs: this.#pick([0, 50, 5_000, 5_000]), renew };
      const lease = isLock
        ? await locks.acquire(name, { ...options, shared })
        : await semaphores.acquire(name, { ...options, permits });
      if (lease === null) continue;
      const weight = isLock ? (shared ? 1 : WHOLE_LOCK) : permits;
      const id = `${this.#plan.player}-${this.#count++}`;
      const got = micros();
      const { fence } = lease;
      const asked = this.#asked ?? got;
      const again = this.#again || got - start > lease.leaseMs * 1_000;
      const times = { start, asked, got, until: until(lease), again };
      this.#note({ what: "got", id, player: this.#plan.player, name, weight, fence, ...times });
      await this.#section(store, lease, id, isLock && !shared, renew);
    }
  }

  async #section(store: Store, lease: Lease, id: string, exclusive: boolean, renew: boolean): Promise<void> {
    const luck = this.#random();
    const end = micros() + 1_000 * (luck < 0.75 ? this.#random() * 30 : lease.leaseMs * 1.5 * this.#random());
    do {
      if (lease.validForMs <= 0) break;
      this.#note({ what: "valid", id, until: until(lease) });
      if (exclusive) {
        const passed = await store.run(guard, { seen: `seen:{${lease.name}}`, fence: lease.fence });
        if (passed === 0 && lease.validForMs > 0) this.#note({ what: "refused", id });
      }
      if (renew && luck > 0.97) compute(lease.leaseMs * this.#random() * 1.5);
      else await pause(this.#random() * 10);
    } while (micros() < end);
    const validUntil = until(lease);
    if (validUntil > 0) this.#note({ what: "valid", id, until: validUntil });
    this.#note({ what: "end", id, at: micros(), lost: lease.lost });
    await lease.release();
  }
}

function compute(ms: number): void {
  const end = micros() + ms * 1_000;
  while (micros() < end);
}

if (/\bplayer\.m?[jt]s$/.test(process.argv[1] ?? "")) {
  const plan = JSON.parse(process.argv[2]!) as Plan;
  // Written at once: what a killed process believed is known up to the moment.
  const player = new Player(plan, (note) => out(`${JSON.stringify(note)}\n`));
  process.on("SIGTERM", () => {
    player.stopping = true;
  });
  const store = await open(plan.url, player.openOptions());
  out("ready\n");
  await player.play(store);
  await store.close();
}
