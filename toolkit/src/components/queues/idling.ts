/**
 * What a worker does on a shard with room and nothing to do.
 *
 * It blocks on the wake list, and looks for itself every few seconds whatever happens: a wake that was lost, or a server that failed
 * over, costs seconds and never a standstill. An alarm wakes it for what is due at a known time.
 */
import type { Timer } from "../../base/clock.ts";
import type { Store } from "../../connection/store.ts";
import { BlockingLoop, type Wait } from "../../waiting/blocking-loop.ts";
import type { Faults } from "./faults.ts";
import type { QueueKeys } from "./keys.ts";
import { wakeAnother } from "./scripts/sessions.ts";

/** How long it goes without looking, at most. */
const POLL_MS = 5_000;

export interface Idler {
  readonly store: Store;
  readonly keys: Pick<QueueKeys, "data" | "wake">;
  readonly faults: Faults;
  readonly hasRoom: () => boolean;
  /** When it last looked at what is due, by the monotonic clock. */
  readonly lookedMs: () => number;
  /** There may be something to do. */
  readonly rouse: () => void;
  /** It has not looked for long: also where there is no room, for cancellations, and for a session that is gone. */
  readonly lookNow: () => void;
}

export class Idling {
  readonly #idler: Idler;
  readonly #waits: BlockingLoop;
  #isWaiting = false;
  #alarm: Timer | null = null;
  #poll: Timer | null = null;

  constructor(idler: Idler) {
    this.#idler = idler;
    this.#waits = new BlockingLoop(idler.store, {
      round: (wait) => this.#round(wait),
      isWanted: () => this.#isWaiting,
    });
  }

  start(): void {
    this.#pollIn(POLL_MS);
  }

  /** Until it is woken. */
  wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    void this.#waits.run();
  }

  async #round(wait: Wait): Promise<void> {
    const { store, keys, faults, hasRoom, rouse } = this.#idler;
    const { data, wake } = keys;
    try {
      const sign = await wait(wake, ["BLPOP", wake, POLL_MS / 1_000], { timeoutMs: POLL_MS });
      // Room was filled meanwhile: the sign is for somebody else.
      if (sign !== null && !hasRoom()) await store.run(wakeAnother, { data, wake });
    } catch (error) {
      await faults.after(error);
    }
    this.#isWaiting = false;
    rouse();
  }

  /** Something is due in so many milliseconds. */
  rouseIn(ms: number): void {
    const { store, rouse } = this.#idler;
    this.#alarm?.cancel();
    this.#alarm = store.clock.after(Math.min(ms, POLL_MS), rouse, { keepAlive: true });
  }

  #pollIn(ms: number): void {
    const { store, lookedMs, lookNow } = this.#idler;
    const poll = (): void => {
      const restMs = POLL_MS - (store.clock.monotonicMs() - lookedMs());
      const isDue = restMs <= 1;
      this.#pollIn(isDue ? POLL_MS : restMs);
      if (isDue) lookNow();
    };
    this.#poll = store.clock.after(ms, poll, { keepAlive: true });
  }

  close(): void {
    this.#alarm?.cancel();
    this.#poll?.cancel();
    this.#waits.close();
  }
}
