/**
 * Count-down latches: wait until so many things have happened, in whatever processes. Waiters are woken by a message and look at the
 * store: the message is only a hint, and a poll finds what it missed.
 */
import { aStore, integer, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { isUnavailable } from "../../base/errors.ts";
import { getOrMake } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, required, signal, text, whole, withDefaults } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { Hint } from "../../waiting/hint.ts";
import { settleWhen, type Waiting } from "../../waiting/settle-when.ts";
import { type LatchKeys, latchKeys, newsChannel } from "./keys.ts";
import { countDownLatch, createLatch, deleteLatch, type LatchState, readLatch } from "./scripts.ts";

/** What `Latches` may be given. */
export interface LatchesOptions {
  /** How all keys begin (default "latch"). */
  readonly prefix?: string;
  /** How long a latch is kept from its creation, open or not. A day by default. */
  readonly ttlMs?: number;
  /** How long a waiter may not notice what a lost message told. 5 s by default. */
  readonly pollMs?: number;
}

/** What a latch is made with. */
export interface CreateLatchOptions {
  /** How many counts open it. */
  readonly count: number;
  /** How long it is kept, open or not; by default as the `Latches` were made. */
  readonly ttlMs?: number;
}

/** How a call counts. */
export interface CountDownOptions {
  /** Counts once under this id, however often it is called; a new one for each call by default. */
  readonly id?: string;
  /** How much this call counts. 1 by default. */
  readonly by?: number;
}

/** How long to wait. */
export interface LatchWaitOptions {
  /** How long to wait for it to open; waits on by default. */
  readonly timeoutMs?: number;
  /** Ends the waiting; `waitFor` rejects with its reason. None by default. */
  readonly signal?: AbortSignal;
}

/** What waiting for a latch came to. */
export type LatchOutcome =
  | {
      /** All counts have come. */
      readonly status: "open";
    }
  | {
      /** Some were missing when the time was over. */
      readonly status: "timeout";
    }
  | {
      /** There is no such latch, or it was deleted or ran out while it was waited for. */
      readonly status: "not-found";
    };

/** A latch at one moment. */
export interface LatchInspection {
  /** How many counts open it. */
  readonly count: number;
  /** How many counts are missing; 0: it is open. */
  readonly left: number;
  /** How long it is kept from now. */
  readonly ttlMs: number;
}

const DEFAULTS = { prefix: "latch", ttlMs: 86_400_000, pollMs: 5_000 };
const MOST = 1_000_000;
const ALIVE_MS = 3_600_000;

const OPTIONS = defineOptions<LatchesOptions>("Latches", { prefix, ttlMs: whole(1), pollMs: whole(10) });

const CREATE_OPTIONS = defineOptions<CreateLatchOptions>("Latches.create", {
  count: required(whole(1, MOST)),
  ttlMs: whole(1),
});

const COUNT_DOWN_OPTIONS = defineOptions<CountDownOptions>("Latches.countDown", { id: text, by: whole(1, MOST) });

const WAIT_FOR_OPTIONS = defineOptions<LatchWaitOptions>("Latches.waitFor", { timeoutMs: whole(0), signal });

/** All waiters of one name in this process. */
interface Followed {
  readonly hint: Hint;
  readonly waiters: Set<Waiting<LatchOutcome>>;
}

/**
 * Count-down latches: wait until so many things have happened, in whatever processes. A latch opens once, and stays open.
 *
 * @example
 * const latches = new Latches(db);
 * await latches.create("import", { count: 2 }); // → true
 * await latches.countDown("import", { id: "part 1" }); // → 1
 * await latches.countDown("import", { id: "part 2" }); // → 0
 * await latches.waitFor("import", { timeoutMs: 5_000 }); // → { status: "open" }
 * await latches.inspect("import"); // → { count: 2, left: 0, ttlMs: … }
 * @example
 * const latches = new Latches(db);
 * await latches.create("deployment", { count: 3, ttlMs: 60_000 });
 * await latches.delete("deployment"); // → true
 */
export class Latches {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #ttlMs: number;
  readonly #pollMs: number;
  readonly #names: NameIndex;
  readonly #followed = new Map<string, Followed>();

  constructor(store: Store, options: LatchesOptions = {}) {
    this.#store = aStore("Latches", store);
    OPTIONS.check(options);
    const { prefix, ttlMs, pollMs } = withDefaults(DEFAULTS, options);
    this.#prefix = prefix;
    this.#ttlMs = ttlMs;
    this.#pollMs = pollMs;
    this.#names = new NameIndex(store, { kind: "latches", prefix });
  }

  /** True: it was made. False: there is one of this name already, as every process but the first finds. */
  async create(name: string, options: CreateLatchOptions): Promise<boolean> {
    CREATE_OPTIONS.check(options);
    const { count, ttlMs = this.#ttlMs } = options;
    const made = await this.#store.run(createLatch, { ...this.#keys(name), count, ttlMs, maker: randomToken() });
    this.#names.announce(name);
    return made > 0;
  }

  /** How many counts are missing afterwards; null where there is no such latch. An open one stays open. */
  async countDown(name: string, options: CountDownOptions = {}): Promise<number | null> {
    COUNT_DOWN_OPTIONS.check(options);
    const { id = randomToken(), by = 1 } = options;
    const keys = this.#keys(name);
    word("id", id, 512);
    integer("by", by, 1, MOST);
    return this.#store.run(countDownLatch, { ...keys, id, by, channel: newsChannel(keys) });
  }

  /** Resolves when the latch is open, at once if it is. Rejects with the signal's reason. */
  async waitFor(name: string, options: LatchWaitOptions = {}): Promise<LatchOutcome> {
    WAIT_FOR_OPTIONS.check(options);
    const { signal, timeoutMs } = options;
    const keys = this.#keys(name);
    signal?.throwIfAborted();
    const now = outcomeOf(await this.#store.run(readLatch, { latch: keys.latch }));
    if (now !== null) return now;
    const { clock } = this.#store;
    const endMs = clock.monotonicMs() + (timeoutMs ?? Number.POSITIVE_INFINITY);
    for (;;) {
      // With a timer even where there is no end: it keeps the process alive, since somebody waits.
      const leftMs = Math.max(0, Math.min(endMs - clock.monotonicMs(), ALIVE_MS));
      const limits = { signal, timeoutMs: leftMs, onTimeout: { status: "timeout" } } as const;
      const outcome = await settleWhen<LatchOutcome>(this.#store, limits, (waiting) =>
        this.#follow(name, keys, waiting),
      );
      if (outcome.status !== "timeout" || clock.monotonicMs() >= endMs) return outcome;
    }
  }

  /** How many counts are missing, and how long it is kept; null where there is no such latch. */
  async inspect(name: string): Promise<LatchInspection | null> {
    return this.#store.run(readLatch, { latch: this.#keys(name).latch });
  }

  /** Deletes a latch; waiters are told that there is none. False: there was none. */
  async delete(name: string): Promise<boolean> {
    const keys = this.#keys(name);
    const deleted = await this.#store.run(deleteLatch, { ...keys, channel: newsChannel(keys) });
    await this.#names.remove(name);
    return deleted;
  }

  #keys(name: string): LatchKeys {
    return latchKeys(this.#prefix, name);
  }

  #follow(name: string, keys: LatchKeys, waiting: Waiting<LatchOutcome>): () => void {
    const followed = getOrMake(this.#followed, name, () => this.#begin(keys));
    followed.waiters.add(waiting);
    followed.hint.follow();
    // The first look may have been before the subscription of another waiter, and after the message.
    followed.hint.look().catch(() => {});
    return () => {
      followed.waiters.delete(waiting);
      if (followed.waiters.size > 0) return;
      this.#followed.delete(name);
      void followed.hint.stop();
    };
  }

  #begin(keys: LatchKeys): Followed {
    const waiters = new Set<Waiting<LatchOutcome>>();
    const hint = new Hint(this.#store, {
      channel: newsChannel(keys),
      pollMs: this.#pollMs,
      look: async () => {
        const outcome = outcomeOf(await this.#store.run(readLatch, { latch: keys.latch }));
        if (outcome !== null) for (const { settle } of [...waiters]) settle(outcome);
      },
      onError: (error) => {
        // A store that is away for a while is looked at again.
        if (!isUnavailable(error)) for (const { fail } of [...waiters]) fail(error);
      },
    });
    return { hint, waiters };
  }
}

function outcomeOf(state: LatchState | null): LatchOutcome | null {
  if (state === null) return { status: "not-found" };
  return state.left === 0 ? { status: "open" } : null;
}
