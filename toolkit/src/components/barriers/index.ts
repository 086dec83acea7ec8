/**
 * Cyclic barriers: so many parties wait for each other, go on together, and may meet again. Each generation is released once, by the
 * script that sees the last of its parties (scripts.ts).
 *
 * An arrival is a lease: it counts while its process lives. A thread renews it (../../leases), so a busy process does not lose it.
 */
import { onAbort } from "../../base/abort.ts";
import { aStore, word } from "../../base/checks.ts";
import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, required, signal, text, whole, withDefaults } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { DRIFT, type KeptLease, Renewal, renewDueFirst } from "../../leases/renewal.ts";
import { Channel } from "../../waiting/channel.ts";
import { settleWhen } from "../../waiting/settle-when.ts";
import { type BarrierKeys, barrierKeys, newsChannel } from "./keys.ts";
import { type Arrival, arrive, readBarrier, renewArrival, resetBarrier, withdraw } from "./scripts.ts";

/** What `Barriers` are given. */
export interface BarriersOptions {
  /** How many must come. The same in all processes that meet. */
  readonly parties: number;
  /** How all keys begin (default "barrier"). */
  readonly prefix?: string;
  /** How long the arrival of a process that died still counts. 10 s by default. */
  readonly leaseMs?: number;
  /** How long a waiter may not notice what a lost message told. 5 s by default. */
  readonly pollMs?: number;
  /** How long a barrier that nobody uses is remembered, with the number of its generations. A day by default. */
  readonly keepMs?: number;
}

/** How a party arrives. */
export interface ArriveOptions {
  /**
   * Names the party. A new arrival under the same id takes the place of the old one: for processes that may be started again. By default
   * every call is a party of its own.
   */
  readonly id?: string;
  /** How long to wait for the others; waits on by default. A party that leaves does not count any more. */
  readonly timeoutMs?: number;
  /** Ends the waiting; `arrive` rejects with its reason. None by default. */
  readonly signal?: AbortSignal;
}

/** How an arrival ended. */
export type ArriveOutcome =
  | {
      /** "released": all parties have come. */
      readonly status: "released";
      /** The number of this meeting, from 1. */
      readonly generation: number;
      /** True for exactly one party of a generation: the place for what is to be done once. */
      readonly isLast: boolean;
    }
  | {
      /** "timeout": too few came in time, and this party has left. */
      readonly status: "timeout";
    }
  | {
      /** "replaced": another arrival under the same id has taken the place of this one. */
      readonly status: "replaced";
    }
  | {
      /** "reset": somebody has reset the barrier. */
      readonly status: "reset";
    };

/** A party that has come and waits for the others. */
export interface WaitingParty {
  /** What it arrived under; null for an arrival without one. */
  readonly id: string | null;
  /** How long its arrival counts unless its process renews it. */
  readonly validForMs: number;
}

/** A barrier at one moment. */
export interface BarrierInspection {
  /** The last one that was released; 0 before the first. */
  readonly generation: number;
  /** How many must come, as this object was made with. */
  readonly parties: number;
  /** How many wait for the next. */
  readonly arrived: number;
  /** The parties that wait, at most a hundred, by the ends of their leases. */
  readonly waiting: readonly WaitingParty[];
}

const DEFAULTS = { prefix: "barrier", leaseMs: 10_000, pollMs: 5_000, keepMs: 86_400_000 };
const MOST_PARTIES = 10_000;

const OPTIONS = defineOptions<BarriersOptions>("Barriers", {
  parties: required(whole(1, MOST_PARTIES)),
  prefix,
  leaseMs: whole(10),
  pollMs: whole(10),
  keepMs: whole(20),
});

const ARRIVE_OPTIONS = defineOptions<ArriveOptions>("Barriers.arrive", { id: text, timeoutMs: whole(0), signal });

interface Arriving {
  readonly keys: BarrierKeys;
  readonly token: string;
  readonly deadlineMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Cyclic barriers: processes wait for each other at a name, go on together, and may meet there again.
 *
 * @example
 * const barriers = new Barriers(db, { parties: 2 });
 * const met = await Promise.all([barriers.arrive("step"), barriers.arrive("step")]);
 * met.filter(({ status }) => status === "released").length; // → 2
 * await barriers.inspect("step"); // → { generation: 1, parties: 2, arrived: 0, waiting: [] }
 * await barriers.reset("step"); // → 0
 */
export class Barriers {
  readonly #store: Store;
  readonly #options: Required<BarriersOptions>;
  readonly #names: NameIndex;

  constructor(store: Store, options: BarriersOptions) {
    this.#store = aStore("Barriers", store);
    OPTIONS.check(options);
    this.#options = withDefaults(DEFAULTS, options);
    const { prefix, parties, leaseMs, keepMs } = this.#options;
    // Keys must outlive every lease.
    if (leaseMs > keepMs / 2) throw new InputError(`Barriers: leaseMs must be at most half of keepMs (${keepMs})`);
    this.#names = new NameIndex(store, { kind: "barriers", prefix, details: { parties } });
  }

  /**
   * Comes, and waits until all have. Rejects with the signal's reason, unless all had come by then. Rejects with an InputError when
   * others wait for another number of parties.
   */
  async arrive(name: string, options: ArriveOptions = {}): Promise<ArriveOutcome> {
    ARRIVE_OPTIONS.check(options);
    const { id, timeoutMs = Number.POSITIVE_INFINITY, signal } = options;
    if (id !== undefined) word("id", id, 512);
    const keys = barrierKeys(this.#options.prefix, name);
    signal?.throwIfAborted();
    this.#names.announce(name);
    const deadlineMs = this.#store.clock.monotonicMs() + timeoutMs;
    return this.#wait({ keys, token: `${randomToken()}:${id ?? ""}`, deadlineMs, signal });
  }

  /** The generation that was released last, and how many wait for the next one. */
  async inspect(name: string): Promise<BarrierInspection> {
    const keys = barrierKeys(this.#options.prefix, name);
    const { generation, arrived, waiting } = await this.#store.run(readBarrier, { ...keys });
    return { generation, parties: this.#options.parties, arrived, waiting };
  }

  /** Sends all waiters away, with the status `reset`; how many. */
  async reset(name: string): Promise<number> {
    const keys = barrierKeys(this.#options.prefix, name);
    const { resets } = await this.#store.run(readBarrier, { ...keys });
    const { keepMs } = this.#options;
    return this.#store.run(resetBarrier, { ...keys, seen: resets, keepMs, channel: newsChannel(keys) });
  }

  async #wait(arriving: Arriving): Promise<ArriveOutcome> {
    const turn = new Turn();
    const channel = new Channel(this.#store, newsChannel(arriving.keys), {
      message: turn.wake,
      begun: turn.wake,
      resumed: turn.wake,
    });
    let kept: KeptLease | null = null;
    try {
      for (let again = ""; ; ) {
        const sentMs = this.#store.clock.monotonicMs();
        const answer = await this.#ask(arriving, again);
        const outcome = this.#outcome(answer);
        if (outcome !== null) return outcome;
        // From the first wait on it listens, and asks once more when it does: nothing falls between.
        if (again === "") channel.openEventually(this.#options.pollMs);
        again = String(answer.resets);
        if (kept === null || turn.isLost) kept = this.#keep(arriving, sentMs, turn);
        else kept.renewed(sentMs);
        if ((await this.#sleep(arriving, turn)) === "over") return await this.#leave(arriving);
      }
    } catch (error) {
      // It may have been counted, for all we know; else it must not stand in the others' way.
      this.#store.run(withdraw, { ...arriving.keys, token: arriving.token }).catch(() => {});
      throw error;
    } finally {
      kept?.end();
      await channel.close();
    }
  }

  #ask({ keys, token }: Arriving, again: string): Promise<Arrival> {
    renewDueFirst(this.#store);
    const { parties, leaseMs, keepMs } = this.#options;
    return this.#store.run(arrive, { ...keys, token, parties, leaseMs, keepMs, again, channel: newsChannel(keys) });
  }

  #outcome({ status, generation }: Arrival): ArriveOutcome | null {
    switch (status) {
      case "released":
      case "last":
        return { status: "released", generation, isLast: status === "last" };
      case "replaced":
      case "reset":
        return { status };
      case "conflict":
        throw new InputError(`this barrier is for ${this.#options.parties} parties, and others wait for ${generation}`);
      default:
        return null;
    }
  }

  #keep({ keys, token }: Arriving, sentMs: number, turn: Turn): KeptLease {
    const { leaseMs, keepMs } = this.#options;
    turn.isLost = false;
    return Renewal.of(this.#store).keep({
      call: () => renewArrival.with({ ...keys, token, leaseMs, keepMs }),
      leaseMs,
      validUntilMs: sentMs + leaseMs * (1 - DRIFT),
      renew: true,
      onLost: () => {
        turn.isLost = true;
        turn.wake();
      },
    });
  }

  /** Until there may be news. */
  #sleep({ deadlineMs, signal }: Arriving, turn: Turn): Promise<"look" | "over"> {
    const { clock } = this.#store;
    const leftMs = deadlineMs - clock.monotonicMs();
    const isDeadline = leftMs <= this.#options.pollMs;
    if (turn.takeNews()) return Promise.resolve("look");
    if (leftMs <= 0) return Promise.resolve("over");
    const limits = {
      timeoutMs: Math.min(leftMs, this.#options.pollMs),
      onTimeout: isDeadline ? "over" : "look",
    } as const;
    return settleWhen<"look" | "over">(this.#store, limits, ({ settle }) => {
      turn.onNews = () => settle("look");
      const forget = signal === undefined ? () => {} : onAbort(signal, () => settle("over"));
      if (signal?.aborted === true) settle("over");
      return () => {
        turn.onNews = null;
        forget();
      };
    }).then((woken) => {
      turn.takeNews();
      return woken;
    });
  }

  /** The time is over, or the caller gives up: it goes, unless all had come. */
  async #leave({ keys, token, signal }: Arriving): Promise<ArriveOutcome> {
    const outcome = this.#outcome(await this.#store.run(withdraw, { ...keys, token }));
    if (outcome !== null) return outcome;
    signal?.throwIfAborted();
    return { status: "timeout" };
  }
}

/** What has happened since the last look. */
class Turn {
  isLost = false;
  onNews: (() => void) | null = null;
  #isNews = false;

  readonly wake = (): void => {
    this.#isNews = true;
    this.onNews?.();
  };

  takeNews(): boolean {
    const isNews = this.#isNews;
    this.#isNews = false;
    return isNews;
  }
}
