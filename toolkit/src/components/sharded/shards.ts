/**
 * The shards of a structure, as operators see them: how many there are and what is in them, changing their number while others
 * read and write, emptying and deleting all.
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import { integer } from "../../base/checks.ts";
import { ServerError } from "../../base/errors.ts";
import { callback, defineOptions, flag, signal, whole } from "../../base/options.ts";
import { asList, asTexts, asTuple } from "../../base/replies.ts";
import { rootKey } from "./keys.ts";
import { beginAll, type MoveOptions, type MoveResult, moveAll, oldDirOf } from "./movement.ts";
import type { Layout } from "./place.ts";
import { valueIn } from "./scripts/answers.ts";
import { fieldsOf } from "./scripts/core.ts";
import { CLEAR, plan, ranges } from "./scripts/movement.ts";
import { type Gate, gateOf, MOST_SHARDS_PER_TAG, type Root, type Structure } from "./structure.ts";

const CLEAR_AT_ONCE = 64;

/** What the layout is to become; what is left out stays. */
export interface ReshardTarget {
  /** Shards by hash, in all; rounded up to a multiple of the tags. */
  readonly shards?: number;
  /** Numbers for each shard by range: a power of two. Bits, for a bitmap. */
  readonly shardSize?: number;
}

/** How a loop moves elements. */
export interface MoverOptions {
  /** How often to look whether there is something to move (default 5 000). */
  readonly everyMs?: number;
  /** How long a mover that died in the middle keeps others from the same tag (default 10 000). */
  readonly leaseMs?: number;
  /** Whether the number of shards is changed by itself when they are too full or nearly empty. True by default. */
  readonly tune?: boolean;
  /** Called when a round fails; the loop goes on. None by default. */
  readonly onError?: (error: unknown) => void;
}

/** How a sharded structure is doing. */
export interface ShardsInfo {
  /** The structure's name. */
  readonly name: string;
  /** What it is: `hash`, `set`, `zset` or `bitmap`. */
  readonly kind: string;
  /** Goes up by two for each change of the layout: odd while elements are moved. */
  readonly generation: number;
  /** Tags that the elements are divided among. */
  readonly tags: number;
  /** Shards by hash, in all. */
  readonly shards: number;
  /** Numbers for each shard by range. */
  readonly shardSize: number;
  /** Elements in all; bits that are set, of a bitmap. */
  readonly elements: number;
  /** Elements behind each tag. */
  readonly elementsByTag: readonly number[];
  /** A change of the layout that is under way. */
  readonly moving: { readonly elementsLeft: number; readonly tagsLeft: number } | null;
}

/** One shard. */
export interface ShardInfo {
  /** Its key. */
  readonly key: string;
  /** Which tag it is behind. */
  readonly tag: number;
  /** Elements in it. */
  readonly elements: number;
  /** What it takes in the server's memory. */
  readonly bytes: number;
  /** How the server keeps it, as OBJECT ENCODING says. */
  readonly encoding: string;
  /** Of the layout that elements are moved from. */
  readonly isOld: boolean;
}

const LIST_OPTIONS = defineOptions<{ readonly limit?: number }>("Shards.inspectTag", {
  limit: whole(1, 10_000),
});

const RESHARD_OPTIONS = defineOptions<ReshardTarget>("Shards.reshard", {
  shards: whole(1),
  shardSize: whole(1),
});

const MOVE_OPTIONS = defineOptions<MoveOptions>("Shards.move", {
  leaseMs: whole(1),
  maxSteps: whole(1),
  signal,
});

const MOVER_OPTIONS = defineOptions<MoverOptions>("Shards.mover", {
  everyMs: whole(1),
  leaseMs: whole(1),
  tune: flag,
  onError: callback,
});

/**
 * The shards of a structure, for operators: `shards` of a `ShardedHash`, `ShardedSet`, `ShardedSortedSet` or `ShardedBitmap`.
 *
 * @example
 * const { shards } = new ShardedHash<string>(db, "cities");
 * await shards.reshard({ shards: 256 }); // → true
 * await shards.move(); // → { moved: 0, finished: true }
 * await shards.inspect(); // → { name: "cities", kind: "hash", generation: 4, tags: 64, shards: 256, …
 * await shards.inspectTag(0); // → []
 * await shards.tune(); // → false
 * @example
 * const seen = new ShardedSet(db, "seen");
 * await seen.addMany(["a", "b"]);
 * await seen.shards.count(); // → 2
 * await using mover = seen.shards.mover({ everyMs: 10_000 }).start();
 * await seen.shards.clear(); // → 2
 * await seen.shards.delete();
 */
export class Shards {
  readonly #structure: Structure;

  constructor(structure: Structure) {
    this.#structure = structure;
  }

  // ---------------------------------------------------------------------------------------------- looking

  /** How many shards and elements there are, and whether the layout is being changed. */
  async inspect(): Promise<ShardsInfo> {
    const structure = this.#structure;
    const root = await structure.freshRoot();
    const gates = await this.#gates(root);
    const number = (fields: ReadonlyMap<string, string>, name: string): number => Number(fields.get(name) ?? 0);
    const elementsByTag = gates.map((fields) => number(fields, "n"));
    const moving = gates.filter((fields) => fields.has("ol") || behind(fields, root));
    return {
      name: structure.name,
      kind: root.kind,
      generation: 2 * root.layout.number - (root.moving ? 1 : 0),
      tags: root.tags,
      shards: root.tags * root.layout.shards,
      shardSize: root.layout.size,
      elements: elementsByTag.reduce((sum, each) => sum + each, 0),
      elementsByTag,
      moving: root.moving
        ? {
            elementsLeft: moving.reduce((sum, fields) => sum + number(fields, fields.has("ol") ? "left" : "n"), 0),
            tagsLeft: moving.length,
          }
        : null,
    };
  }

  /** How many elements there are: exact for each tag at a moment. */
  async count(): Promise<number> {
    const structure = this.#structure;
    const { tags } = await structure.root();
    const counts = await structure.store.pipeline(
      Array.from({ length: tags }, (_, tag) => ["HGET", structure.keys(tag).gate, "n"]),
    );
    return counts.reduce<number>((sum, count) => {
      if (count instanceof ServerError) throw count;
      return sum + Number(count ?? 0);
    }, 0);
  }

  /** The shards behind a tag that hold something, with their size in the server's memory; at most `limit`. */
  async inspectTag(tag: number, options: { readonly limit?: number } = {}): Promise<ShardInfo[]> {
    LIST_OPTIONS.check(options);
    const structure = this.#structure;
    const root = await structure.root();
    integer("tag", tag, 0, root.tags - 1);
    const limit = options.limit ?? 1_000;
    const found = (await this.#shardsOf(tag, limit)).slice(0, limit);
    const answers = await structure.store.pipeline(
      found.flatMap(({ key, isRange }) => [
        [...lengthCommand(structure.kind, isRange), key],
        ["MEMORY", "USAGE", key],
        ["OBJECT", "ENCODING", key],
      ]),
    );
    return found.flatMap(({ key, isOld }, at) => {
      const [elements, bytes, encoding] = answers.slice(3 * at, 3 * at + 3);
      // Emptied since, or not there at all.
      if (elements instanceof ServerError || encoding instanceof ServerError || !elements) return [];
      return [{ key, tag, elements: Number(elements), bytes: Number(bytes), encoding: String(encoding), isOld }];
    });
  }

  async #gates(root: Root): Promise<ReadonlyMap<string, string>[]> {
    const structure = this.#structure;
    const tags = Array.from({ length: root.tags }, (_, tag) => ["HGETALL", structure.keys(tag).gate]);
    return (await structure.store.pipeline(tags)).map((answer) => {
      if (answer instanceof ServerError) throw answer;
      return fieldsOf(answer);
    });
  }

  /** Every shard that there may be behind a tag; the old layout's first. */
  async #shardsOf(
    tag: number,
    most: number,
  ): Promise<{ key: string; range: string; isRange: boolean; isOld: boolean }[]> {
    const structure = this.#structure;
    const keys = structure.keys(tag);
    let seen: Gate | undefined;
    const [found] = await structure.everywhere(
      ranges,
      (_, gate) => {
        seen = gate;
        const all = { newFrom: "-inf", newTo: "+inf", oldFrom: "-inf", oldTo: "+inf", most };
        return {
          gate: keys.gate,
          dir: keys.dir(gate.layout.number),
          oldDir: oldDirOf(structure, tag, gate),
          gen: gate.gen,
          ...all,
        };
      },
      [tag],
    );
    const [oldRanges, newRanges] = asTuple(asTexts, asTexts)(found);
    const of = (layout: Layout | null, numbers: readonly string[], isOld: boolean) => {
      if (layout === null) return [];
      const hashed = structure.kind === "bitmap" ? 0 : layout.shards;
      return [
        ...Array.from({ length: hashed }, (_, at) => ({
          key: keys.hashed(layout.number, at),
          range: "",
          isRange: false,
          isOld,
        })),
        ...numbers.map((range) => ({ key: keys.ranged(layout.number, Number(range)), range, isRange: true, isOld })),
      ];
    };
    return [...of(seen!.old, oldRanges, true), ...of(seen!.layout, newRanges, false)];
  }

  // ---------------------------------------------------------------------------------------------- changing the layout

  /**
   * Begins to change the layout while others go on; `move` or a `mover`, here or in any process, then moves the elements. False
   * when a change is under way already.
   */
  async reshard(target: ReshardTarget): Promise<boolean> {
    RESHARD_OPTIONS.check(target);
    const structure = this.#structure;
    const root = await structure.freshRoot();
    const { tags, layout, stride } = root;
    const wanted = integer("shards", target.shards ?? layout.shards * tags, 1, MOST_SHARDS_PER_TAG * tags);
    const size = integer("shardSize", target.shardSize ?? layout.size, 1, stride);
    integer("shardSize, as a power of two,", Math.log2(size), structure.kind === "bitmap" ? 10 : 0);
    const shards = Math.ceil(wanted / tags);
    // A caller that asks for a layout asks for the fill that it has.
    const fill = root.fill;
    const planned = { root: rootKey(structure.prefix, structure.name), from: layout.number, shards, size, fill };
    if (!(await structure.store.run(plan, planned))) return false;
    await beginAll(structure, await structure.freshRoot());
    return true;
  }

  /**
   * Begins a change when the shards by hash are too full to stay packed, or nearly empty: but never to fewer than there were in the
   * beginning. Answers whether it did.
   */
  async tune(): Promise<boolean> {
    const structure = this.#structure;
    if (structure.kind === "bitmap") return false;
    const { elements, moving, shards, tags } = await this.inspect();
    const { fill, ids, least } = await structure.root();
    // How many of them are placed by range is not known; those fill their shards by themselves.
    if (moving !== null || (ids === "range" && !(await this.#isMostlyHashed(elements)))) return false;
    const wanted = Math.min(MOST_SHARDS_PER_TAG * tags, tags * Math.ceil(elements / tags / fill));
    const isCrowded = wanted > shards;
    const isEmpty = shards > tags * least && wanted * 8 <= shards;
    if (!isCrowded && !isEmpty) return false;
    // Twice what is needed, so that the next change is far off.
    return this.reshard({ shards: Math.min(MOST_SHARDS_PER_TAG * tags, Math.max(tags * least, 2 * wanted)) });
  }

  /** By a sample of the tags: whether more elements are in shards by hash than by range. */
  async #isMostlyHashed(elements: number): Promise<boolean> {
    if (elements === 0) return true;
    const structure = this.#structure;
    const { tags } = await structure.root();
    let hashed = 0;
    let all = 0;
    for (const tag of new Set([0, Math.floor(tags / 2), tags - 1])) {
      const shards = await this.#shardsOf(tag, 1_000);
      const lengths = await structure.store.pipeline(
        shards.map(({ key, isRange }) => [...lengthCommand(structure.kind, isRange), key]),
      );
      for (const [at, { isRange }] of shards.entries()) {
        all += Number(lengths[at]);
        if (!isRange) hashed += Number(lengths[at]);
      }
    }
    return hashed * 2 > all;
  }

  /** Moves elements of a change that is under way, until it is over or others are at it. */
  async move(options: MoveOptions = {}): Promise<MoveResult> {
    MOVE_OPTIONS.check(options);
    return moveAll(this.#structure, options);
  }

  /** A loop that moves whenever there is something to move; run one in some processes, or in all. */
  mover(options: MoverOptions = {}): BackgroundLoop {
    MOVER_OPTIONS.check(options);
    const { everyMs = 5_000, leaseMs, tune = true, onError } = options;
    const round = async (signal: AbortSignal): Promise<number> => {
      const begun = tune && (await this.tune());
      const { moved } = await this.move({ signal, ...(leaseMs === undefined ? {} : { leaseMs }) });
      return begun ? moved + 1 : moved;
    };
    return new BackgroundLoop(this.#structure.store, { everyMs, round, ...(onError === undefined ? {} : { onError }) });
  }

  // ---------------------------------------------------------------------------------------------- emptying

  /**
   * Deletes all elements, a bounded number of shards at a time, and keeps the layout. What others write meanwhile may stay. Answers
   * how many it deleted.
   */
  async clear(): Promise<number> {
    const structure = this.#structure;
    const { tags } = await structure.root();
    let deleted = 0;
    for (let tag = 0; tag < tags; tag++) deleted += await this.#clearTag(tag);
    return deleted;
  }

  async #clearTag(tag: number): Promise<number> {
    let deleted = 0;
    for (let isMore = true; isMore; ) {
      const shards = await this.#shardsOf(tag, CLEAR_AT_ONCE);
      isMore = shards.filter(({ isRange }) => isRange).length >= CLEAR_AT_ONCE;
      for (let from = 0; from < shards.length; from += CLEAR_AT_ONCE) {
        const some = await this.#clearSome(tag, shards.slice(from, from + CLEAR_AT_ONCE));
        // With another layout, the shards are others.
        if (some === null) {
          isMore = true;
          break;
        }
        deleted += some;
      }
    }
    return deleted;
  }

  async #clearSome(
    tag: number,
    shards: readonly { key: string; range: string; isOld: boolean }[],
  ): Promise<number | null> {
    const structure = this.#structure;
    const gate = structure.gate(tag, await structure.root());
    const keys = structure.keys(tag);
    const reply = asList(
      await structure.store.run(CLEAR[structure.kind], {
        gate: keys.gate,
        dir: keys.dir(gate.layout.number),
        oldDir: oldDirOf(structure, tag, gate),
        gen: gate.gen,
        shards: shards.map(({ key }) => key),
        items: shards.flatMap(({ range, isOld }) => [range, isOld ? 1 : 0]),
      }),
    );
    return (await structure.settled(tag, reply)) ? Number(valueIn(reply)) : null;
  }

  /** Deletes everything, the description too. Nobody else may be using it then. */
  async delete(): Promise<void> {
    const structure = this.#structure;
    const { tags } = await structure.freshRoot();
    await this.clear();
    const gates = Array.from({ length: tags }, (_, tag) => ["DEL", structure.keys(tag).gate]);
    for (const answer of await structure.store.pipeline(gates)) if (answer instanceof ServerError) throw answer;
    await structure.store.send(["DEL", rootKey(structure.prefix, structure.name)], { repeatable: true });
    structure.forget();
  }
}

/** Whether a gate has not begun what the root says. */
function behind(fields: ReadonlyMap<string, string>, root: Root): boolean {
  return fields.size > 0 && gateOf(fields).layout.number < root.layout.number;
}

function lengthCommand(kind: Structure["kind"], isRange: boolean): string[] {
  if (kind === "set") return [isRange ? "SCARD" : "HLEN"];
  return [{ hash: "HLEN", zset: "ZCARD", bitmap: "BITCOUNT" }[kind]];
}
