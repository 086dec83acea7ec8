/**
 * A bitmap of any size, kept in strings of a bounded length: those without a bit set are not there at all, no key grows to megabytes,
 * and they spread over the nodes of a Cluster.
 *
 *   const active = new ShardedBitmap(store, "active:2026-11-15");
 *   await active.set(10_482);                        // false: it was not set before
 *   await active.count();
 *   await active.countWith("and", yesterday);
 */
import { aStore, integer, oneOf } from "../../base/checks.ts";
import { only, zipped } from "../../base/lists.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import { asBytesOrNulls, asTexts, asTuple } from "../../base/replies.ts";
import type { Script } from "../../base/script.ts";
import type { Reply, Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { oldDirOf } from "./movement.ts";
import { type Layout, spotOfNumber } from "./place.ts";
import { count, get, read, replace, set } from "./scripts/bitmap.ts";
import { ranges } from "./scripts/movement.ts";
import { Shards } from "./shards.ts";
import { type Gate, type Item, type ShardedOptions, Structure, sharding } from "./structure.ts";

/** Bits behind one tag, and at once: 128 KiB. */
const STRIDE = 2 ** 20;
const DEFAULT_SIZE = 2 ** 17;
const STRIDES_AT_ONCE = 16;

/** Settings of a `ShardedBitmap`. The first use stores them; later ones get what is stored. */
export interface ShardedBitmapOptions extends Pick<ShardedOptions, "prefix" | "tags"> {
  /** Bits for each shard: a power of two from 1 024 to 1 048 576. 131 072 by default. */
  readonly shardSize?: number;
  /** Offsets are below this (default 2^32, at most 2^40). */
  readonly maxBits?: number;
}

/** `to` does not belong to it. */
export interface BitRange {
  /** The first offset (default 0). */
  readonly from?: number;
  /** The offset behind the last (default `maxBits`). */
  readonly to?: number;
}

/** How two bitmaps are put together; "andnot": set in the first and not in the second. */
export type BitOperation = "and" | "or" | "xor" | "andnot";

/** A piece of a bitmap that has bits set. */
export interface BitBlock {
  /** Offset of its first bit; a multiple of 2^20. */
  readonly from: number;
  /** As Redis has them: the first bit is the highest of the first byte. */
  readonly bytes: Buffer;
}

const OPTIONS = defineOptions<ShardedBitmapOptions>("ShardedBitmap", {
  prefix,
  tags: sharding.tags,
  shardSize: whole(1, STRIDE),
  maxBits: whole(1, 2 ** 40),
});

/**
 * A bitmap of any size, in strings of a bounded length over the nodes of a Cluster. What has no bit set takes no memory.
 *
 * @example
 * const monday = new ShardedBitmap(db, "active:monday");
 * await monday.set(5); // → false
 * await monday.setMany([3, 1_000_000]); // → [false, false]
 * await monday.get(5); // → true
 * await monday.getMany([3, 4]); // → [true, false]
 * await monday.count({ to: 1_000 }); // → 2
 * @example
 * const monday = new ShardedBitmap(db, "active:monday");
 * await monday.setMany([3, 5]);
 * for await (const offset of monday.positions({ from: 4 })) offset; // → 5
 * for await (const block of monday.blocks()) block.from; // → 0
 * @example
 * const [monday, tuesday, both] = ["mon", "tue", "both"].map((day) => new ShardedBitmap(db, day));
 * await monday!.setMany([3, 5]);
 * await tuesday!.setMany([5, 7]);
 * await monday!.countWith("or", tuesday!); // → 3
 * await monday!.storeWith("and", tuesday!, both!); // → 1
 * for await (const block of monday!.combined("xor", tuesday!)) block.bytes[0]; // → 17
 */
export class ShardedBitmap {
  /** The bitmap's name, as given. */
  readonly name: string;
  /** Its shards, for operators. */
  readonly shards: Shards;
  /** Offsets are below this. */
  readonly maxBits: number;
  readonly #structure: Structure;

  constructor(store: Store, name: string, options: ShardedBitmapOptions = {}) {
    aStore("ShardedBitmap", store);
    OPTIONS.check(options);
    const { shardSize = DEFAULT_SIZE, maxBits = 2 ** 32 } = options;
    integer("shardSize, as a power of two,", Math.log2(shardSize), 10, 20);
    this.maxBits = maxBits;
    const shape = { kind: "bitmap", stride: STRIDE, size: DEFAULT_SIZE } as const;
    this.#structure = new Structure(store, shape, name, { ...options, shardSize });
    this.name = name;
    this.shards = new Shards(this.#structure);
  }

  /** Sets a bit, or clears it. Answers what it was. */
  async set(offset: number, isSet = true): Promise<boolean> {
    return only(await this.setMany([offset], isSet));
  }

  /** One round trip for all. */
  async setMany(offsets: readonly number[], isSet = true): Promise<boolean[]> {
    return this.#bits(set, offsets, [isSet ? 1 : 0]);
  }

  /** Whether a bit is set. */
  async get(offset: number): Promise<boolean> {
    return only(await this.getMany([offset]));
  }

  /** Whether each bit is set, in order. One round trip for all. */
  async getMany(offsets: readonly number[]): Promise<boolean[]> {
    return this.#bits(get, offsets, []);
  }

  async #bits(script: typeof get, offsets: readonly number[], words: readonly Word[]): Promise<boolean[]> {
    const structure = this.#structure;
    const root = await structure.root();
    const spots = offsets.map((offset) => spotOfNumber(integer("offset", offset, 0, this.maxBits - 1), root));
    const answers = await structure.apply(
      script,
      spots.map(
        (spot): Item => ({
          spot,
          element: (gate) => spot.id % gate.layout.size,
          words: (gate) => [gate.old === null ? 0 : spot.id % gate.old.size, ...words],
        }),
      ),
    );
    return answers.map((bit) => bit === 1);
  }

  /** How many bits are set, in all or in a range. Exact for each tag at a moment. */
  async count(range: BitRange = {}): Promise<number> {
    if (range.from === undefined && range.to === undefined) return this.shards.count();
    const { from, to } = this.#checked(range);
    // Whole bytes are counted by the server, the bits at the ends are looked at.
    const first = Math.min(to, Math.ceil(from / 8) * 8);
    const last = Math.max(first, Math.floor(to / 8) * 8);
    const ends = [...numbers(from, first), ...numbers(last, to)];
    const bits = ends.length === 0 ? [] : await this.getMany(ends);
    return bits.filter((bit) => bit).length + (first < last ? await this.#countBytes(first, last) : 0);
  }

  async #countBytes(from: number, to: number): Promise<number> {
    const strides = await this.#strides(from, to);
    let sum = 0;
    for await (const part of this.#perStride(strides, count, (tag, gate, stride) => {
      const shards: string[] = [];
      const spans: number[] = [];
      for (const shard of this.#shardsOf(tag, gate, stride)) {
        const begin = Math.max(from, shard.from);
        const end = Math.min(to, shard.from + shard.size);
        if (begin >= end) continue;
        shards.push(shard.key);
        spans.push((begin - shard.from) / 8, (end - shard.from) / 8 - 1);
      }
      return { gate: this.#structure.keys(tag).gate, gen: gate.gen, shards, spans };
    })) {
      sum += Number(part.answer);
    }
    return sum;
  }

  /** The offsets of the bits that are set, in order. */
  async *positions(range: BitRange = {}): AsyncGenerator<number> {
    const { from, to } = this.#checked(range);
    for await (const block of this.blocks(range)) {
      for (const [at, byte] of block.bytes.entries()) {
        if (byte === 0) continue;
        for (let bit = 0; bit < 8; bit++) {
          const offset = block.from + 8 * at + bit;
          if ((byte & (0x80 >> bit)) !== 0 && offset >= from && offset < to) yield offset;
        }
      }
    }
  }

  /** All pieces that have bits set and lie in the range at least in part, in order. Each is read in one step. */
  async *blocks(range: BitRange = {}): AsyncGenerator<BitBlock> {
    const { from, to } = this.#checked(range);
    yield* this.#read(await this.#strides(from, to));
  }

  async *#read(strides: readonly number[]): AsyncGenerator<BitBlock> {
    const layouts = new Map<number, readonly ShardOfStride[]>();
    const bind = (tag: number, gate: Gate, stride: number) => {
      const shards = this.#shardsOf(tag, gate, stride);
      layouts.set(stride, shards);
      return { gate: this.#structure.keys(tag).gate, gen: gate.gen, shards: shards.map(({ key }) => key) };
    };
    for await (const { stride, answer } of this.#perStride(strides, read, bind)) {
      const bytes = Buffer.alloc(STRIDE / 8);
      for (const [at, shard] of layouts.get(stride)!.entries()) {
        const stored = asBytesOrNulls(answer)[at];
        if (stored) mergeInto(bytes, (shard.from - stride * STRIDE) / 8, stored);
      }
      yield { from: stride * STRIDE, bytes };
    }
  }

  // ---------------------------------------------------------------------------------------------- two bitmaps

  /** Pieces of two bitmaps put together; "andnot": set here and not in the other. */
  async *combined(operation: BitOperation, other: ShardedBitmap): AsyncGenerator<BitBlock> {
    oneOf("operation", operation, ["and", "or", "xor", "andnot"]);
    const [mine, theirs] = await Promise.all([this.#strides(0, this.maxBits), other.#strides(0, other.maxBits)]);
    const here = new Set(mine);
    const there = new Set(theirs);
    const wanted =
      operation === "and"
        ? mine.filter((at) => there.has(at))
        : operation === "andnot"
          ? mine
          : [...new Set([...mine, ...theirs])].sort((a, b) => a - b);
    for (let from = 0; from < wanted.length; from += STRIDES_AT_ONCE) {
      const part = wanted.slice(from, from + STRIDES_AT_ONCE);
      const [a, b] = await Promise.all([
        collected(this.#read(part.filter((at) => here.has(at)))),
        collected(other.#read(part.filter((at) => there.has(at)))),
      ]);
      for (const stride of part) {
        const first = stride * STRIDE;
        yield { from: first, bytes: put(operation, a.get(first) ?? EMPTY, b.get(first) ?? EMPTY) };
      }
    }
  }

  /** How many bits are set in what the two give together. */
  async countWith(operation: BitOperation, other: ShardedBitmap): Promise<number> {
    let sum = 0;
    for await (const { bytes } of this.combined(operation, other)) for (const byte of bytes) sum += BITS[byte]!;
    return sum;
  }

  /** Stores what the two give together in a third, in place of all that was there. Answers how many bits are set in it. */
  async storeWith(operation: BitOperation, other: ShardedBitmap, into: ShardedBitmap): Promise<number> {
    await into.shards.clear();
    for await (const block of this.combined(operation, other)) await into.#replace(block);
    return into.count();
  }

  async #replace({ from, bytes }: BitBlock): Promise<void> {
    const structure = this.#structure;
    const root = await structure.root();
    const stride = from / STRIDE;
    const tag = stride % root.tags;
    const keys = structure.keys(tag);
    await structure.everywhere(
      replace,
      (_, gate) => {
        const shards = this.#shardsOf(tag, gate, stride);
        const news = shards.filter(({ isOld }) => !isOld).length;
        const parts = shards.map((shard) => (shard.isOld ? "" : partOf(bytes, shard, from)));
        const words = [...shards.map((shard) => shard.from / shard.size), ...parts];
        const dirs = { dir: keys.dir(gate.layout.number), oldDir: oldDirOf(structure, tag, gate) };
        return { gate: keys.gate, ...dirs, gen: gate.gen, news, shards: shards.map(({ key }) => key), words };
      },
      [tag],
    );
  }

  // ---------------------------------------------------------------------------------------------- strides

  #checked({ from = 0, to = this.maxBits }: BitRange): { from: number; to: number } {
    integer("from", from, 0, this.maxBits);
    return { from, to: integer("to", to, from, this.maxBits) };
  }

  /** Numbers of the strides in a range that have a shard, in order. */
  async #strides(from: number, to: number): Promise<number[]> {
    const structure = this.#structure;
    const root = await structure.root();
    const found = new Set<number>();
    const gates: Gate[] = [];
    const answers = await structure.everywhere(ranges, (tag, gate) => {
      gates[tag] = gate;
      const keys = structure.keys(tag);
      const at = (offset: number, layout: Layout | null): number => Math.floor(offset / (layout?.size ?? STRIDE));
      return {
        gate: keys.gate,
        dir: keys.dir(gate.layout.number),
        oldDir: oldDirOf(structure, tag, gate),
        gen: gate.gen,
        newFrom: at(from, gate.layout),
        newTo: at(to - 1, gate.layout),
        oldFrom: at(from, gate.old),
        oldTo: at(to - 1, gate.old),
        most: -1,
      };
    });
    for (let tag = 0; tag < root.tags; tag++) {
      const [olds, news] = asTuple(asTexts, asTexts)(answers[tag]);
      const { layout, old } = gates[tag]!;
      for (const shard of news) found.add(Math.floor((Number(shard) * layout.size) / STRIDE));
      for (const shard of olds) found.add(Math.floor((Number(shard) * old!.size) / STRIDE));
    }
    return [...found].sort((a, b) => a - b);
  }

  /** Runs a script for one stride after the other, some in one round trip. */
  async *#perStride<P>(
    strides: readonly number[],
    script: Script<P, Reply>,
    bind: (tag: number, gate: Gate, stride: number) => P,
  ): AsyncGenerator<{ stride: number; answer: Reply }> {
    const structure = this.#structure;
    const { tags } = await structure.root();
    for (let from = 0; from < strides.length; from += STRIDES_AT_ONCE) {
      const part = strides.slice(from, from + STRIDES_AT_ONCE);
      const answers = await structure.each(
        script,
        part.map((stride) => ({ tag: stride % tags, bind: (gate: Gate) => bind(stride % tags, gate, stride) })),
      );
      for (const [stride, answer] of zipped(part, answers)) yield { stride, answer };
    }
  }

  /** All shards that a stride can have: of the new layout, then of the old. */
  #shardsOf(tag: number, { layout, old }: Gate, stride: number): ShardOfStride[] {
    const keys = this.#structure.keys(tag);
    const of = ({ number, size }: Layout, isOld: boolean): ShardOfStride[] =>
      Array.from({ length: STRIDE / size }, (_, nth) => {
        const from = stride * STRIDE + nth * size;
        return { key: keys.ranged(number, from / size), from, size, isOld };
      });
    return old === null ? of(layout, false) : [...of(layout, false), ...of(old, true)];
  }
}

interface ShardOfStride {
  readonly key: string;
  readonly from: number;
  readonly size: number;
  readonly isOld: boolean;
}

const EMPTY = Buffer.alloc(STRIDE / 8);
const BITS = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

function* numbers(from: number, to: number): Generator<number> {
  for (let at = from; at < to; at++) yield at;
}

function mergeInto(bytes: Buffer, from: number, stored: Buffer): void {
  for (let at = 0; at < stored.length; at++) bytes[from + at]! |= stored[at]!;
}

/** The bytes of a shard without the zeros at its end. */
function partOf(bytes: Buffer, shard: ShardOfStride, from: number): Buffer {
  const first = (shard.from - from) / 8;
  let last = first + shard.size / 8;
  while (last > first && bytes[last - 1] === 0) last--;
  return bytes.subarray(first, last);
}

function put(operation: BitOperation, a: Buffer, b: Buffer): Buffer {
  const bytes = Buffer.alloc(STRIDE / 8);
  for (let at = 0; at < bytes.length; at++) {
    const [x, y] = [a[at]!, b[at]!];
    if (operation === "and") bytes[at] = x & y;
    else if (operation === "or") bytes[at] = x | y;
    else if (operation === "xor") bytes[at] = x ^ y;
    else bytes[at] = x & ~y;
  }
  return bytes;
}

async function collected(blocks: AsyncIterable<BitBlock>): Promise<Map<number, Buffer>> {
  const all = new Map<number, Buffer>();
  for await (const { from, bytes } of blocks) all.set(from, bytes);
  return all;
}
