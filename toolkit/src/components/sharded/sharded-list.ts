/**
 * A list of any length in pieces of a bounded size: pushed and popped at both ends, also waiting.
 *
 *   const jobs = new ShardedList<Job>(store, "jobs");
 *   await jobs.push("right", { id: 17 });
 *   await jobs.pop("left", { waitMs: 10_000 });
 *
 * With one lane, the default, it is a list: the order is exact among all processes that push and pop. With several, each lane is such a list with
 * a Cluster slot of its own; elements are put into the lanes in turn, or those with the same `key` into the same one.
 */

import { aStore, integer, oneOf, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { CinnabarError, ServerError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import { codec, defineOptions, prefix, signal, text, whole } from "../../base/options.ts";
import { asByteList, asBytes, asList } from "../../base/replies.ts";
import type { Reply, Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { Bells, type Side, type WaitOptions } from "./bells.ts";
import { rootKey } from "./keys.ts";
import { Lanes, type ListOptions, MOST_LANES, MOST_PER_PIECE, type View } from "./lanes.ts";
import { type OnceOptions, receiptOf } from "./once.ts";
import { laneIn, takenIn, verdictOf } from "./scripts/answers.ts";
import { clearLane, look, pop, popOnce, push, pushOnce } from "./scripts/list.ts";
import { FullError } from "./structure.ts";

export type { Side } from "./bells.ts";

const ATTEMPTS = 100;
const VALUES_PER_PUSH = 1_000;
const PIECES_PER_CLEAR = 64;

/** Settings of a `ShardedList`. The lanes and the size of pieces are stored at the first use; later ones get what is stored. */
export interface ShardedListOptions<T> extends ListOptions {
  /** How values become text or bytes (default `json()`). */
  readonly codec?: Codec<T>;
  /** Elements at most; each lane takes its part of them. 10 000 000 by default. */
  readonly maxElements?: number;
  /** A value larger than this is refused (default 1 MiB). */
  readonly maxValueBytes?: number;
}

/** How to push. */
export interface PushOptions extends OnceOptions {
  /** Elements with the same key go into the same lane, so they keep their order. By default lanes are taken in turn. */
  readonly key?: string;
}

/** How to pop, and how long to wait. */
export type PopOptions = WaitOptions;

/** How a `ShardedList` is doing. */
export interface ListInfo {
  /** The list's name. */
  readonly name: string;
  /** What it is. */
  readonly kind: "list";
  /** Goes up by two for each change of the lanes: odd while some are given up. */
  readonly generation: number;
  /** Lanes that elements are put into. */
  readonly lanes: number;
  /** The most elements of a new piece. */
  readonly pieceSize: number;
  /** Elements in all lanes. */
  readonly elements: number;
  /** Of each lane: its elements, its pieces, and about how much memory they take. */
  readonly byLane: readonly { readonly elements: number; readonly pieces: number; readonly bytes: number }[];
  /** A change of the lanes that is under way, with what is left in those that are given up; null if there is none. */
  readonly moving: { readonly elementsLeft: number; readonly lanesLeft: number } | null;
}

const OPTIONS = defineOptions<ShardedListOptions<unknown>>("ShardedList", {
  prefix,
  lanes: whole(1, MOST_LANES),
  pieceSize: whole(1, MOST_PER_PIECE),
  codec,
  maxElements: whole(1),
  maxValueBytes: whole(1, 536_870_912),
});

const PUSH_OPTIONS = defineOptions<PushOptions>("ShardedList.pushMany", {
  id: text,
  key: text,
});

const POP_OPTIONS = defineOptions<PopOptions>("ShardedList.pop", {
  id: text,
  waitMs: whole(1),
  signal,
});

const RESHARD_OPTIONS = defineOptions<{ readonly lanes?: number; readonly pieceSize?: number }>("ShardedList.reshard", {
  lanes: whole(1, MOST_LANES),
  pieceSize: whole(1, MOST_PER_PIECE),
});

/** One push into a lane; `keepMs` 0 leaves no receipt. */
interface Pushing {
  readonly side: Side;
  readonly values: readonly Word[];
  readonly id: string;
  readonly keepMs: number;
}

/** One pop out of a lane; by a process that has heard its bell, or not. */
interface Popping {
  readonly side: Side;
  readonly count: number;
  readonly once: OnceOptions;
  readonly isHeard: boolean;
}

/**
 * A list of any length in pieces of a bounded size, pushed and popped at both ends, also waiting.
 *
 * @example
 * const jobs = new ShardedList<number>(db, "jobs");
 * const waiting = jobs.pop("left", { waitMs: 10_000 });
 * await jobs.push("right", 1);
 * await waiting; // → 1
 * await jobs.pushMany("right", [2, 3, 4]);
 * await jobs.popMany("left", 2); // → [2, 3]
 * @example
 * const jobs = new ShardedList<number>(db, "jobs");
 * await jobs.pushMany("right", [1, 2]);
 * await jobs.count(); // → 2
 * for await (const job of jobs.items()) job >= 1; // → true
 * await jobs.clear(); // → 2
 * await jobs.delete();
 * @example
 * const jobs = new ShardedList<number>(db, "jobs");
 * await jobs.push("right", 1);
 * await jobs.reshard({ lanes: 4 }); // → true
 * await jobs.settle(); // → true
 * await jobs.inspect(); // → { name: "jobs", kind: "list", generation: …, lanes: 4, …
 */
export class ShardedList<T = unknown> {
  /** The list's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #lanes: Lanes;
  readonly #codec: Codec<T>;
  readonly #maxElements: number;
  readonly #maxValueBytes: number;
  readonly #bells: Bells<T>;
  #pushes = 0;
  #pops = 0;

  constructor(store: Store, name: string, options: ShardedListOptions<T> = {}) {
    aStore("ShardedList", store);
    OPTIONS.check(options);
    this.#store = store;
    this.name = name;
    this.#lanes = new Lanes(store, name, options);
    this.#codec = options.codec ?? json<T>();
    this.#maxElements = options.maxElements ?? 10_000_000;
    this.#maxValueBytes = options.maxValueBytes ?? 1_048_576;
    // Processes do not all begin with the first lane.
    this.#pushes = this.#pops = Math.floor(store.clock.random() * 1_024);
    this.#bells = new Bells<T>(this.#lanes, {
      pop: async (side, once, heard) => (await this.#take(side, 1, once, heard))[0] ?? null,
      pass: (lane) => this.#pass(lane),
    });
  }

  /** Adds at an end. */
  async push(side: Side, value: T, options: PushOptions = {}): Promise<void> {
    await this.pushMany(side, [value], options);
  }

  /** Adds all of them, one behind the other, into one lane: the last of them is at the end then. Up to 1 000, in one step. */
  async pushMany(side: Side, values: readonly T[], options: PushOptions = {}): Promise<void> {
    PUSH_OPTIONS.check(options);
    oneOf("side", side, ["left", "right"]);
    integer("the number of values", values.length, 0, VALUES_PER_PUSH);
    if (values.length === 0) return;
    if (options.key !== undefined) word("key", options.key, 1_024);
    const stored = values.map((value) => encodeWithin(this.#codec, value, this.#maxValueBytes, "a value"));
    const { id, keepMs } = receiptOf(options);
    const turn = options.key === undefined ? this.#pushes++ : hashOf(options.key);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const view = await this.#lanes.view();
      // With an id always the same lane, where its receipt is.
      const lane = (options.key === undefined && keepMs > 0 ? hashOf(id) : turn) % view.lanes;
      if (await this.#pushTo(lane, view, { side, values: stored, id, keepMs })) return;
    }
    throw changing(this.name);
  }

  async #pushTo(lane: number, view: View, { side, values, id, keepMs }: Pushing): Promise<boolean> {
    const keys = this.#lanes.keys(lane);
    const { first, last } = this.#lanes.ends(lane);
    const at = side === "left" ? first : last;
    const step = side === "left" ? -1 : 1;
    const pieces = Array.from({ length: Math.ceil(values.length / view.size) + 1 }, (_, nth) =>
      keys.piece(at + step * nth),
    );
    const reply = asList(
      await this.#store.run(keepMs > 0 ? pushOnce : push, {
        gate: keys.gate,
        bell: keys.bell,
        receipt: keys.once(id),
        gen: view.gen,
        side,
        at,
        most: Math.ceil(this.#maxElements / view.lanes),
        keepMs,
        pieces,
        values,
      }),
    );
    if (verdictOf(reply) === "full") throw new FullError(this.name);
    return this.#lanes.settled(lane, reply, view);
  }

  /** Takes from an end. Null when there is nothing, with `waitMs` for so long. */
  async pop(side: Side, options: PopOptions = {}): Promise<T | null> {
    POP_OPTIONS.check(options);
    oneOf("side", side, ["left", "right"]);
    options.signal?.throwIfAborted();
    const [value] = await this.#take(side, 1, options, null);
    if (value !== undefined) return value;
    const isWaiting = options.waitMs !== undefined || options.signal !== undefined;
    if (!isWaiting || options.waitMs === 0) return null;
    return this.#bells.wait(side, options);
  }

  /** Takes up to so many, as they come at that end of a lane, and then of the next. */
  async popMany(side: Side, count: number): Promise<T[]> {
    oneOf("side", side, ["left", "right"]);
    return this.#take(side, integer("count", count, 1, VALUES_PER_PUSH), {}, null);
  }

  async #take(side: Side, count: number, once: OnceOptions, heard: number | null): Promise<T[]> {
    const found: T[] = [];
    let lane: number | null = heard;
    let isHeard = heard !== null;
    if (once.id !== undefined) {
      const before = await this.#takenBefore(once.id);
      if (before !== null) return [before];
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const view = await this.#lanes.view();
      lane ??= this.#firstLane(view);
      // Given up meanwhile.
      if (lane >= view.wide) {
        lane = null;
        isHeard = false;
        continue;
      }
      const reply = await this.#popFrom(lane, view, { side, count: count - found.length, once, isHeard });
      if (!(await this.#lanes.settled(lane, reply, view))) continue;
      isHeard = false;
      for (const stored of takenIn(reply)) found.push(this.#decode(asBytes(stored)));
      if (found.length >= count) return found;
      if (laneIn(reply).count > 0) continue;
      // Others may have something. All are asked at once; what they say is worth something only if none knows of another layout.
      if (view.wide === 1) return found;
      const lengths = await this.#lanes.lengths(view);
      const next = lengths?.findIndex((length) => length > 0);
      if (next === -1) return found;
      lane = next ?? null;
    }
    throw changing(this.name);
  }

  /** What the pop with this id has taken: its receipt is in the lane that it came from. With one lane, the script looks. */
  async #takenBefore(id: string): Promise<T | null> {
    const { wide } = await this.#lanes.view();
    if (wide === 1) return null;
    const receipts = Array.from({ length: wide }, (_, lane) => this.#lanes.keys(lane).once(receiptOf({ id }).id));
    const found = await Promise.all(receipts.map((key) => this.#store.callBuffer("GET", key)));
    const stored = found.find((each) => each !== null);
    return stored === undefined ? null : this.#decode(asBytes(stored));
  }

  /** Those that are given up first; then in turn. */
  #firstLane({ lanes, wide }: View): number {
    const turn = this.#pops++;
    return wide > lanes ? lanes + (turn % (wide - lanes)) : turn % lanes;
  }

  async #popFrom(lane: number, view: View, { side, count, once, isHeard }: Popping): Promise<Reply[]> {
    const keys = this.#lanes.keys(lane);
    const { first, last } = this.#lanes.ends(lane);
    const { id, keepMs } = receiptOf(once);
    const at = side === "left" ? first : last;
    const step = side === "left" ? 1 : -1;
    // The piece at the end may be empty, and the one behind it not full.
    const pieces = Array.from({ length: Math.ceil(count / view.size) + 2 }, (_, nth) => keys.piece(at + step * nth));
    const params = {
      gate: keys.gate,
      bell: keys.bell,
      receipt: keys.once(id),
      gen: view.gen,
      side,
      at,
      count,
      keepMs,
      pieces,
    };
    return asList(await this.#store.run(keepMs > 0 ? popOnce : pop, { ...params, heard: isHeard ? 1 : 0 }));
  }

  async #pass(lane: number): Promise<void> {
    const { gate, bell } = this.#lanes.keys(lane);
    const view = await this.#lanes.view();
    const reply = asList(await this.#store.run(look, { gate, bell, gen: view.gen, heard: 1 }));
    if (!(await this.#lanes.settled(lane, reply, view)) && lane < (await this.#lanes.view()).wide)
      await this.#pass(lane);
  }

  /** Exact for each lane at a moment. */
  async count(): Promise<number> {
    return (await this.#lengths()).reduce((sum, length) => sum + length, 0);
  }

  async #lengths(): Promise<number[]> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const lengths = await this.#lanes.lengths(await this.#lanes.view());
      if (lengths !== null) return lengths;
    }
    throw changing(this.name);
  }

  /** What is in it, lane after lane from left to right, without taking anything; what is pushed and popped meanwhile may be missed. */
  async *items(): AsyncGenerator<T> {
    const lengths = await this.#lengths();
    for (const lane of lengths.keys()) {
      const { first, last } = this.#lanes.ends(lane);
      for (let piece = first; piece <= last; piece++) {
        const found = asByteList(await this.#store.callBuffer("LRANGE", this.#lanes.keys(lane).piece(piece), 0, -1));
        for (const stored of found) yield this.#decode(stored);
      }
    }
  }

  /**
   * Begins to change the number of lanes or the size of new pieces while others go on. Lanes that are given up get nothing more;
   * when they are empty, `settle` ends the change. False when one is under way.
   */
  async reshard(target: { readonly lanes?: number; readonly pieceSize?: number }): Promise<boolean> {
    RESHARD_OPTIONS.check(target);
    return this.#lanes.reshard(target.lanes, target.pieceSize);
  }

  /** Ends a change if the lanes that were given up are empty. Whether none is under way any more. */
  settle(): Promise<boolean> {
    return this.#lanes.settle();
  }

  /** How many lanes, pieces and elements there are, and what they take. */
  async inspect(): Promise<ListInfo> {
    const { gen, lanes, size, isMoving } = await this.#lanes.freshView();
    const lengths = await this.#lengths();
    const byLane = await Promise.all(
      lengths.map(async (elements, lane) => {
        const { first, last } = this.#lanes.ends(lane);
        const pieces = elements === 0 ? 0 : last - first + 1;
        // A sample: pieces are alike.
        const sizes = await this.#store.pipeline(
          Array.from({ length: Math.min(pieces, 10) }, (_, nth) => [
            "MEMORY",
            "USAGE",
            this.#lanes.keys(lane).piece(first + nth),
          ]),
        );
        const sampled = sizes.filter((bytes) => typeof bytes === "number");
        const mean = sampled.reduce((sum, bytes) => sum + bytes, 0) / Math.max(1, sampled.length);
        return { elements, pieces, bytes: Math.round(mean * pieces) };
      }),
    );
    const left = lengths.slice(lanes);
    return {
      name: this.name,
      kind: "list",
      generation: gen,
      lanes,
      pieceSize: size,
      elements: lengths.reduce((sum, length) => sum + length, 0),
      byLane,
      moving: isMoving
        ? {
            elementsLeft: left.reduce((sum, length) => sum + length, 0),
            lanesLeft: left.filter((length) => length > 0).length,
          }
        : null,
    };
  }

  /** Deletes what is in it, a bounded number of pieces at a time. Answers how much. */
  async clear(): Promise<number> {
    let deleted = 0;
    const lengths = await this.#lengths();
    for (const [lane, length] of lengths.entries()) {
      for (let left = length; left > 0; ) {
        const view = await this.#lanes.view();
        const { gate, bell, piece } = this.#lanes.keys(lane);
        const { first, last } = this.#lanes.ends(lane);
        const to = Math.min(last, first + PIECES_PER_CLEAR - 1);
        const pieces = Array.from({ length: to - first + 1 }, (_, nth) => piece(first + nth));
        const reply = asList(
          await this.#store.run(clearLane, {
            gate,
            bell,
            gen: view.gen,
            from: first,
            to,
            pieces,
          }),
        );
        const count = (await this.#lanes.settled(lane, reply, view)) ? laneIn(reply).count : null;
        deleted += count ?? 0;
        left -= count ?? 0;
        if (lane >= (await this.#lanes.view()).wide || count === 0) break;
      }
    }
    return deleted;
  }

  /** Deletes everything, the description too. Nobody else may be using it then. */
  async delete(): Promise<void> {
    await this.clear();
    const { wide } = await this.#lanes.view();
    const gates = Array.from({ length: wide }, (_, lane) => this.#lanes.keys(lane));
    const answers = await this.#store.pipeline(gates.map(({ gate, bell }) => ["DEL", gate, bell]));
    for (const answer of answers) if (answer instanceof ServerError) throw answer;
    await this.#store.send(["DEL", rootKey(this.#lanes.prefix, this.name)], { repeatable: true });
    this.#lanes.forget();
  }

  #decode(stored: Buffer): T {
    return this.#codec.decode(this.#codec.binary ? stored : stored.toString("utf8"));
  }
}

const changing = (name: string): CinnabarError =>
  new CinnabarError("LAYOUT", `the layout or the ends of ${name} change all the time`);
