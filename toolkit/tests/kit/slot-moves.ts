/**
 * Moves slots of a Cluster while suites use it, as `redis-cli --cluster reshard` does: IMPORTING, MIGRATING, MIGRATE key by key,
 * NODE. Between two steps it waits a little, so that requests meet the slot in every state.
 */

import { systemClock } from "../../src/base/clock.ts";
import { open } from "../../src/connection/open.ts";
import type { Reply } from "../../src/connection/port.ts";
import { SLOTS, slotOf } from "../../src/connection/slots.ts";
import type { Store } from "../../src/connection/store.ts";

interface Primary {
  readonly id: string;
  readonly port: number;
  readonly store: Store;
}

export interface SlotMovesOptions {
  /** The ports of all nodes. */
  readonly ports: readonly number[];
  /** The longest wait between two steps of a move; it is a random part of this. */
  readonly pauseMs?: number;
  readonly random?: () => number;
  /** The node's port for one that it announces, where clients are to reach it through something in between. */
  readonly portOf?: (announced: number) => number;
}

/** A slot on its way: neither side has all of it. */
export interface MovingSlot {
  readonly source: number;
  readonly target: number;
  /** Sends so many of its keys over; how many there were. */
  carry(count: number): Promise<number>;
  /** Carries the rest and makes the target the owner. */
  finish(): Promise<void>;
}

const CARRY = 2;
/** So many steps are slow; what is left of a large slot goes as fast as it can, as when an operator moves it. */
const SLOW_STEPS = 100;
const RESTS = 10;

export class SlotMoves {
  readonly #options: SlotMovesOptions;
  readonly #stores = new Map<number, Store>();
  #running: Promise<void> | null = null;
  #stopped = false;
  /** Slots that were moved from beginning to end. */
  count = 0;

  constructor(options: SlotMovesOptions) {
    this.#options = options;
  }

  async #primaries(): Promise<Primary[]> {
    const found: Primary[] = [];
    for (const port of this.#options.ports) {
      let store = this.#stores.get(port);
      if (store === undefined) {
        store = await open(`redis://127.0.0.1:${port}`, { retryMs: 0 });
        this.#stores.set(port, store);
      }
      const lines = String(await store.call("CLUSTER", "NODES")).split("\n");
      const [id, , flags = ""] = lines.find((line) => line.includes("myself"))!.split(" ") as [string, string, string];
      if (flags.includes("master")) found.push({ id, port, store });
    }
    return found;
  }

  async #owner(slot: number, primaries: readonly Primary[]): Promise<Primary> {
    const ranges = (await primaries[0]!.store.call("CLUSTER", "SLOTS")) as [number, number, [Reply, number]][];
    const range = ranges.find(([from, to]) => slot >= from && slot <= to)!;
    const announced = range[2][1];
    return primaries.find(({ port }) => port === (this.#options.portOf?.(announced) ?? announced))!;
  }

  /** Begins to move a slot to another primary, and leaves it on its way. */
  async begin(slot: number): Promise<MovingSlot> {
    const primaries = await this.#primaries();
    const source = await this.#owner(slot, primaries);
    const others = primaries.filter((each) => each !== source);
    const target = others[Math.floor(this.#random() * others.length)]!;
    await target.store.call("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id);
    await source.store.call("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id);
    const carry = async (count: number): Promise<number> => {
      const keys = (await source.store.callBuffer("CLUSTER", "GETKEYSINSLOT", slot, count)) as Buffer[];
      if (keys.length > 0) {
        await source.store.call("MIGRATE", "127.0.0.1", target.port, "", 0, 5_000, "KEYS", ...keys);
      }
      return keys.length;
    };
    const finish = async (): Promise<void> => {
      while ((await carry(100)) > 0);
      await target.store.call("CLUSTER", "SETSLOT", slot, "NODE", target.id);
      await source.store.call("CLUSTER", "SETSLOT", slot, "NODE", target.id);
      const rest = others.filter((each) => each !== target);
      await Promise.all(rest.map(({ store }) => store.call("CLUSTER", "SETSLOT", slot, "NODE", target.id)));
    };
    return { source: source.port, target: target.port, carry, finish };
  }

  /** Moves slots that hold keys, one after the other, until `stop`. */
  start(): this {
    this.#running ??= this.#run();
    return this;
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const slot = await this.#someSlot();
      if (slot === null) {
        await this.#pause();
        continue;
      }
      const began = systemClock.monotonicMs();
      const moving = await this.begin(slot);
      let steps = 0;
      do await this.#pause();
      while ((await moving.carry(CARRY)) > 0 && ++steps < SLOW_STEPS);
      await moving.finish();
      this.count++;
      // A suite may have all its keys in one slot: what takes several round trips needs it at rest for some. A large slot is on its
      // way for longer, and rests for as long.
      const restedAt = 2 * systemClock.monotonicMs() - began;
      for (let rests = 0; rests < RESTS || systemClock.monotonicMs() < restedAt; rests++) {
        if (this.#stopped) return;
        await this.#pause();
      }
    }
  }

  /** One with a key in it, now and then an empty one. */
  async #someSlot(): Promise<number | null> {
    if (this.#random() < 0.1) return Math.floor(this.#random() * SLOTS);
    const primaries = await this.#primaries();
    const { store } = primaries[Math.floor(this.#random() * primaries.length)]!;
    const key = await store.call("RANDOMKEY");
    return key === null ? null : slotOf(String(key));
  }

  #random(): number {
    return (this.#options.random ?? systemClock.random)();
  }

  #pause(): Promise<void> {
    const ms = this.#random() * (this.#options.pauseMs ?? 10);
    return new Promise((resolve) => setTimeout(resolve, ms));
  }

  /** Finishes the move that is under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await Promise.all([...this.#stores.values()].map((store) => store.close()));
  }
}
