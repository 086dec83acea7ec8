/**
 * The shards of a structure, as one who runs it sees them: how many there are and what is in them, changing their number while others
 * read and write, emptying and deleting all.
 */
import { BackgroundLoop } from "../background-loop.ts";
import { integer } from "../checks.ts";
import { randomToken } from "../clock.ts";
import type { Reply, Word } from "../connection/port.ts";
import { ServerError } from "../errors.ts";
import { rootKey } from "./keys.ts";
import { type Layout, spotOf } from "./place.ts";
import { fieldsOf } from "./scripts/core.ts";
import { begin, CLEAR, claim, MOVE, plan, ranges, settle, settleRoot } from "./scripts/movement.ts";
import { type Gate, gateOf, MOST_SHARDS_PER_TAG, type Root, type Structure } from "./structure.ts";

/** Old shards that one step takes on. */
const SHARDS_PER_STEP = 8;
/** What is read of a shard at a time: all of it where it is packed. */
const SCAN_COUNT = 512;
const TAGS_AT_ONCE = 8;
const CLEAR_AT_ONCE = 64;

export interface ReshardTarget {
  /** Shards by hash, in all; rounded up to a multiple of the tags. */
  readonly shards?: number;
  /** Numbers for each shard by range: a power of two. Bits, for a bitmap. */
  readonly shardSize?: number;
}

export interface MoveOptions {
  /** How long one who died in the middle keeps others from the same tag. */
  readonly leaseMs?: number;
  /** Steps at most, each of up to 8 shards; without an end by default. */
  readonly maxSteps?: number;
  readonly signal?: AbortSignal;
}

export interface MoveResult {
  /** Elements that this call has moved. */
  readonly moved: number;
  /** Whether the change is over: also true when there was none. */
  readonly finished: boolean;
}

export interface MoverOptions {
  readonly everyMs?: number;
  readonly leaseMs?: number;
  /** Whether the number of shards is changed by itself when they are too full or nearly empty. */
  readonly tune?: boolean;
  readonly onError?: (error: unknown) => void;
}

export interface ShardsInfo {
  readonly name: string;
  readonly kind: string;
  /** Goes up by two for each change of the layout: odd while elements are moved. */
  readonly generation: number;
  readonly tags: number;
  /** Shards by hash, in all. */
  readonly shards: number;
  /** Numbers for each shard by range. */
  readonly shardSize: number;
  readonly elements: number;
  readonly elementsByTag: readonly number[];
  /** A change of the layout that is under way. */
  readonly moving: { readonly elementsLeft: number; readonly tagsLeft: number } | null;
}

export interface ShardInfo {
  readonly key: string;
  readonly tag: number;
  readonly elements: number;
  readonly bytes: number;
  readonly encoding: string;
  /** Of the layout that elements are moved from. */
  readonly isOld: boolean;
}

export class Shards {
  readonly #structure: Structure;

  constructor(structure: Structure) {
    this.#structure = structure;
  }

  // ---------------------------------------------------------------------------------------------- looking

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
  async elements(): Promise<number> {
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
  async list(tag: number, options: { readonly limit?: number } = {}): Promise<ShardInfo[]> {
    const structure = this.#structure;
    const root = await structure.root();
    integer("tag", tag, 0, root.tags - 1);
    const limit = integer("limit", options.limit ?? 1_000, 1, 10_000);
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
    const [oldRanges, newRanges] = found as [string[], string[]];
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
    const structure = this.#structure;
    const root = await structure.freshRoot();
    const { tags, layout, stride } = root;
    const wanted = integer("shards", target.shards ?? layout.shards * tags, 1, MOST_SHARDS_PER_TAG * tags);
    const size = integer("shardSize", target.shardSize ?? layout.size, 1, stride);
    integer("shardSize, as a power of two,", Math.log2(size), structure.kind === "bitmap" ? 10 : 0);
    const shards = Math.ceil(wanted / tags);
    // One who asks for a layout asks for the fill that it has.
    const fill = root.fill;
    const planned = { root: rootKey(structure.prefix, structure.name), from: layout.number, shards, size, fill };
    if (!(await structure.store.run(plan, planned))) return false;
    await this.#beginAll(await structure.freshRoot());
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
    const leaseMs = integer("leaseMs", options.leaseMs ?? 10_000, 1);
    const maxSteps = integer("maxSteps", options.maxSteps ?? Number.MAX_SAFE_INTEGER, 1);
    const structure = this.#structure;
    const root = await structure.freshRoot();
    if (!root.moving) return { moved: 0, finished: true };
    const gates = await this.#beginAll(root);
    const token = randomToken();
    const budget = { steps: maxSteps, moved: 0, signal: options.signal };
    const waiting = gates.flatMap((gate, tag) => (gate.old === null ? [] : [tag]));
    let settled = root.tags - waiting.length;
    const worker = async (): Promise<void> => {
      for (let tag = waiting.pop(); tag !== undefined; tag = waiting.pop()) {
        if (await this.#moveTag(tag, root, token, leaseMs, budget)) settled++;
      }
    };
    await Promise.all(Array.from({ length: Math.min(TAGS_AT_ONCE, waiting.length) }, worker));
    const finished = settled === root.tags;
    if (finished) {
      const key = rootKey(structure.prefix, structure.name);
      await structure.store.run(settleRoot, { root: key, layout: root.layout.number });
      await structure.freshRoot();
    }
    return { moved: budget.moved, finished };
  }

  /** A loop that moves whenever there is something to move; run one in some processes, or in all. */
  mover(options: MoverOptions = {}): BackgroundLoop {
    const { everyMs = 5_000, leaseMs, tune = true, onError } = options;
    integer("everyMs", everyMs, 1);
    const round = async (signal: AbortSignal): Promise<number> => {
      const begun = tune && (await this.tune());
      const { moved } = await this.move({ signal, ...(leaseMs === undefined ? {} : { leaseMs }) });
      return begun ? moved + 1 : moved;
    };
    return new BackgroundLoop(this.#structure.store, { everyMs, round, ...(onError === undefined ? {} : { onError }) });
  }

  /** Has every gate begin: also those that one who died in the middle did not come to. */
  async #beginAll(root: Root): Promise<Gate[]> {
    const structure = this.#structure;
    const { number, shards, size } = root.layout;
    const calls = Array.from({ length: root.tags }, (_, tag) =>
      begin.with({ gate: structure.keys(tag).gate, layout: number, shards, size }),
    );
    const gates = await structure.store.pipeline(calls);
    return Promise.all(
      gates.map((fields, tag) => {
        if (fields instanceof ServerError) throw fields;
        return structure.learn(tag, fields);
      }),
    );
  }

  /** Steps behind one tag. True when it is settled; false when the budget is used up or another has the lease. */
  async #moveTag(tag: number, root: Root, token: string, leaseMs: number, budget: Budget): Promise<boolean> {
    const structure = this.#structure;
    const { gate: gateKey } = structure.keys(tag);
    for (;;) {
      const gate = structure.gate(tag, root);
      if (gate.old === null) return true;
      if (budget.steps <= 0 || budget.signal?.aborted === true) return false;
      budget.steps--;
      const oldDir = oldDirOf(structure, tag, gate);
      const lease = { gate: gateKey, oldDir, gen: gate.gen, token, leaseMs, most: SHARDS_PER_STEP };
      const claimed = (await structure.store.run(claim, lease)) as Reply[];
      if (claimed[0] === 3) return false;
      if (!(await structure.settled(tag, claimed))) continue;
      const [family, ...numbers] = claimed[1] as [string, ...(string | number)[]];
      if (family !== undefined) {
        if (!(await this.#moveShards(tag, gate, token, family, numbers.map(Number), budget))) return false;
        continue;
      }
      const ended = (await structure.store.run(settle, { gate: gateKey, oldDir, gen: gate.gen })) as Reply[];
      if ((await structure.settled(tag, ended)) && ended[1] === 1) {
        await structure.learn(tag, fieldsOf(await structure.store.call("HGETALL", gateKey)));
      }
    }
  }

  /** Reads old shards and moves what was in them. False when the lease is another's by now. */
  async #moveShards(
    tag: number,
    gate: Gate,
    token: string,
    family: string,
    numbers: readonly number[],
    budget: Budget,
  ): Promise<boolean> {
    const structure = this.#structure;
    const keys = structure.keys(tag);
    const old = gate.old!;
    const olds = numbers.map((at) => (family === "r" ? keys.ranged(old.number, at) : keys.hashed(old.number, at)));
    const contents = await this.#contents(tag, gate, family, numbers, olds);
    const script = MOVE[structure.kind];
    const replies = await structure.send(
      script,
      contents.map(({ shards, items }, at) => ({
        gate: keys.gate,
        dir: keys.dir(gate.layout.number),
        oldDir: keys.dir(old.number),
        old: olds[at]!,
        gen: gate.gen,
        token,
        family,
        index: numbers[at]!,
        shards,
        items,
      })),
    );
    for (const reply of replies) {
      if (reply[0] === 3) return false;
      if (await structure.settled(tag, reply)) budget.moved += Number((reply[1] as Reply[])[0]);
    }
    return true;
  }

  /** What is in old shards, and where in the new layout it belongs. */
  async #contents(
    tag: number,
    gate: Gate,
    family: string,
    numbers: readonly number[],
    olds: readonly string[],
  ): Promise<{ shards: string[]; items: Word[] }[]> {
    const structure = this.#structure;
    const root = await structure.root();
    if (structure.kind === "bitmap") return numbers.map((at) => bitmapParts(structure, tag, gate, at));
    const { kind } = structure;
    const [command, width] = scanCommand(kind, family === "r");
    const found = await Promise.all(olds.map((key) => firstElements(structure, command, key)));
    return found.map((flat) => {
      const shards: string[] = [];
      const items: Word[] = [];
      const placed = new Map<string, number>();
      for (let at = 0; at < flat.length; at += width) {
        const element = flat[at]!;
        const spot = spotOf(element.toString("utf8"), root);
        const key = structure.shardKey(spot, gate.layout);
        if (!placed.has(key)) placed.set(key, shards.push(key));
        items.push(placed.get(key)!, spot.id >= 0 ? Math.floor(spot.id / gate.layout.size) : "", element);
      }
      return { shards, items };
    });
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
    const reply = (await structure.store.run(CLEAR[structure.kind], {
      gate: keys.gate,
      dir: keys.dir(gate.layout.number),
      oldDir: oldDirOf(structure, tag, gate),
      gen: gate.gen,
      shards: shards.map(({ key }) => key),
      items: shards.flatMap(({ range, isOld }) => [range, isOld ? 1 : 0]),
    })) as Reply[];
    return (await structure.settled(tag, reply)) ? Number(reply[1]) : null;
  }

  /** Deletes everything, the description too. Nobody else may be using it then. */
  async destroy(): Promise<void> {
    const structure = this.#structure;
    const { tags } = await structure.freshRoot();
    await this.clear();
    const gates = Array.from({ length: tags }, (_, tag) => ["DEL", structure.keys(tag).gate]);
    for (const answer of await structure.store.pipeline(gates)) if (answer instanceof ServerError) throw answer;
    await structure.store.send(["DEL", rootKey(structure.prefix, structure.name)], { repeatable: true });
    structure.forget();
  }
}

interface Budget {
  steps: number;
  moved: number;
  readonly signal: AbortSignal | undefined;
}

/** Whether a gate has not begun what the root says. */
function behind(fields: ReadonlyMap<string, string>, root: Root): boolean {
  return fields.size > 0 && gateOf(fields).layout.number < root.layout.number;
}

export function oldDirOf(structure: Structure, tag: number, gate: Gate): string {
  return structure.keys(tag).dir(gate.old?.number ?? gate.layout.number - 1);
}

function lengthCommand(kind: Structure["kind"], isRange: boolean): string[] {
  if (kind === "set") return [isRange ? "SCARD" : "HLEN"];
  return [{ hash: "HLEN", zset: "ZCARD", bitmap: "BITCOUNT" }[kind]];
}

/** The command that reads a shard step by step, and how many words an element has in its answer. */
export function scanCommand(kind: "hash" | "set" | "zset", isRange: boolean): [command: string, width: number] {
  if (kind === "zset") return ["ZSCAN", 2];
  return kind === "set" && isRange ? ["SSCAN", 1] : ["HSCAN", 2];
}

/** Some elements of a shard, none only if it is empty. Moved ones are gone from it, so the beginning is always the place. */
async function firstElements(structure: Structure, command: string, key: string): Promise<Buffer[]> {
  let cursor = "0";
  do {
    const [next, found] = (await structure.store.callBuffer(command, key, cursor, "COUNT", SCAN_COUNT)) as [
      Buffer,
      Buffer[],
    ];
    if (found.length > 0) return found;
    cursor = next.toString("latin1");
  } while (cursor !== "0");
  return [];
}

/** Where the bytes of an old shard of a bitmap belong: parts that lie in one old and one new shard. */
function bitmapParts(
  structure: Structure,
  tag: number,
  gate: Gate,
  index: number,
): { shards: string[]; items: Word[] } {
  const old = gate.old!;
  const { layout } = gate;
  const shards: string[] = [];
  const items: Word[] = [];
  const part = Math.min(old.size, layout.size);
  for (let from = index * old.size; from < (index + 1) * old.size; from += part) {
    const to = Math.floor(from / layout.size);
    shards.push(structure.keys(tag).ranged(layout.number, to));
    items.push(shards.length, to, (from % old.size) / 8, (from % layout.size) / 8, part / 8);
  }
  return { shards, items };
}
