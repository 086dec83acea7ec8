/**
 * What every sharded structure stands on: its stored description, the layout behind each tag as far as this process knows it, and
 * calls that do something to elements wherever these are.
 *
 * The gate behind a tag is the truth about that tag; what is known here is a guess that the scripts check. A wrong guess costs one
 * round trip more, once for each tag and change of the layout.
 */
import { integer } from "../../base/checks.ts";
import { CinnabarError, InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { type Checks, choice, prefix, whole } from "../../base/options.ts";
import { asList } from "../../base/replies.ts";
import type { Script } from "../../base/script.ts";
import type { Reply, Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { checkedName, DEFAULT_PREFIX, NAMES_MS, rootKey, type TagKeys, tagKeys } from "./keys.ts";
import { averageFill, packedLimits, rangeSize } from "./packing.ts";
import type { Layout, Placing, Spot } from "./place.ts";
import { gateIn, valueIn, verdictOf } from "./scripts/answers.ts";
import { define, fieldsOf, type ItemScript, openGate, type ShardedKind } from "./scripts/core.ts";

/** Names of structures that nobody has used for so long fall out of the list. */
/** Consecutive ids behind one tag; the most that a shard by range can hold. */
const STRIDE = 4_096;
/** The most shards by hash behind one tag: what reads all of them in one step must stay short. */
export const MOST_SHARDS_PER_TAG = 4_096;
const MOST_TAGS = 4_096;
/** Items for each run of a script, and runs for each pipeline. */
const ITEMS_PER_CALL = 500;
const CALLS_PER_PIPELINE = 128;
/** A layout changes twice while it is changed; who meets more changes than that in one call meets something else. */
const ATTEMPTS = 20;

/** Settings of a sharded structure. The first use stores what decides where elements are; later ones get what is stored. */
export interface ShardedOptions {
  /** How all keys begin (default `"sharded"`). */
  readonly prefix?: string;
  /** Tags that the elements are divided among, for good: the most nodes that it can spread over. 64 by default. */
  readonly tags?: number;
  /** How many elements are expected: decides the number of shards at the beginning. 100 000 by default. */
  readonly expected?: number;
  /**
   * Whether numbers are placed by range (ids given one after the other) or as everything else, by hash (ids at random). `"range"`
   * by default.
   */
  readonly ids?: "range" | "hash";
  /** Most entries of a shard. The server's own limit for packed ones by default. */
  readonly shardSize?: number;
  /** The most elements; each tag takes its part of them. 1 000 000 000 by default. */
  readonly maxElements?: number;
}

export interface Root extends Placing {
  readonly kind: string;
  readonly layout: Layout;
  readonly moving: boolean;
  /** Elements for each shard by hash that the layout was made for. */
  readonly fill: number;
  /** Shards by hash behind each tag in the beginning. */
  readonly least: number;
}

export interface Gate {
  readonly gen: number;
  readonly layout: Layout;
  /** The layout that elements are being moved from. */
  readonly old: Layout | null;
}

export interface Item {
  readonly spot: Spot;
  readonly element: Word | ((gate: Gate) => Word);
  /** What the script needs besides. */
  readonly words?: readonly Word[] | ((gate: Gate) => readonly Word[]);
}

/** It would hold more than `maxElements`. Nothing was written behind the tag that was full. */
export class FullError extends CinnabarError {
  override readonly name = "FullError";

  constructor(name: string) {
    super("FULL", `${name} holds as many elements as it may`);
  }
}

export interface StructureDefaults {
  readonly stride?: number;
  readonly size?: number;
}

export const withoutIds: Checks<Omit<ShardedOptions, "ids">> = {
  prefix,
  tags: whole(1, MOST_TAGS),
  expected: whole(0),
  shardSize: whole(1, STRIDE),
  maxElements: whole(1),
};

export const sharding: Checks<ShardedOptions> = { ...withoutIds, ids: choice("range", "hash") };

export class Structure {
  readonly name: string;
  readonly kind: ShardedKind;
  readonly store: Store;
  readonly prefix: string;
  readonly maxElements: number;
  readonly #options: ShardedOptions;
  readonly #defaults: StructureDefaults;
  readonly #names: NameIndex;
  #root: Promise<Root> | null = null;
  #gates: (Gate | undefined)[] = [];
  #keys: TagKeys[] = [];

  constructor(
    store: Store,
    { kind, ...defaults }: StructureDefaults & { readonly kind: ShardedKind },
    name: string,
    options: ShardedOptions,
  ) {
    this.store = store;
    this.kind = kind;
    this.name = checkedName(name);
    this.prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#options = options;
    this.#defaults = defaults;
    if (options.shardSize !== undefined) integer("shardSize", options.shardSize, 1, defaults.stride ?? STRIDE);
    this.maxElements = options.maxElements ?? 1_000_000_000;
    this.#names = new NameIndex(store, { kind: "sharded", prefix: this.prefix, keepMs: NAMES_MS });
  }

  /** The description as stored; made by the first who asks. */
  root(): Promise<Root> {
    this.#names.announce(`${this.kind} ${this.name}`);
    this.#root ??= this.#load().catch((error) => {
      this.#root = null;
      throw error;
    });
    return this.#root;
  }

  /** Reads it again. */
  freshRoot(): Promise<Root> {
    this.#root = null;
    return this.root();
  }

  async #load(): Promise<Root> {
    const key = rootKey(this.prefix, this.name);
    let fields = await this.store.run(define, { root: key, fields: [] });
    if (fields.size === 0) fields = await this.store.run(define, { root: key, fields: await this.#description() });
    const root = rootOf(fields);
    if (root.kind !== this.kind) {
      throw new CinnabarError("KIND", `${this.name} is a sharded ${root.kind}, not a ${this.kind}`);
    }
    return root;
  }

  async #description(): Promise<Word[]> {
    const { tags = 64, expected = 100_000, ids = "range", shardSize } = this.#options;
    const stride = this.#defaults.stride ?? STRIDE;
    const limits =
      this.kind === "bitmap" ? { hashed: 1, ranged: 1 } : await packedLimits(this.store, this.kind as "hash");
    const fill = averageFill(shardSize ?? limits.hashed);
    const shards = Math.min(MOST_SHARDS_PER_TAG, Math.max(1, Math.ceil(expected / tags / fill)));
    const size = rangeSize(shardSize ?? this.#defaults.size ?? limits.ranged, stride);
    const fields = { kind: this.kind, tags, stride, ids, l: 1, s: shards, z: size, moving: 0, fill, s0: shards };
    return Object.entries(fields).flat();
  }

  /** Forgets everything that is known; for a structure that was destroyed. */
  forget(): void {
    this.#root = null;
    this.#gates = [];
    void this.#names.remove(`${this.kind} ${this.name}`).catch(() => {});
  }

  keys(tag: number): TagKeys {
    this.#keys[tag] ??= tagKeys(this.prefix, this.name, tag);
    return this.#keys[tag];
  }

  /** The layout behind a tag as far as is known here. */
  gate(tag: number, root: Root): Gate {
    return this.#gates[tag] ?? { gen: 2 * root.layout.number, layout: root.layout, old: null };
  }

  /** Takes what a script has answered for the truth. Without any fields, there is no gate yet: opens it. */
  async learn(tag: number, fields: ReadonlyMap<string, string>): Promise<Gate> {
    if (fields.size > 0) {
      const gate = gateOf(fields);
      this.#gates[tag] = gate;
      return gate;
    }
    const { layout } = await this.freshRoot();
    const { number, shards, size } = layout;
    const opened = await this.store.run(openGate, { gate: this.keys(tag).gate, layout: number, shards, size });
    return this.learn(tag, opened);
  }

  /** The key of the shard that a spot has in a layout. */
  shardKey(spot: Spot, layout: Layout): string {
    const keys = this.keys(spot.tag);
    if (spot.id >= 0) return keys.ranged(layout.number, Math.floor(spot.id / layout.size));
    return keys.hashed(layout.number, spot.code % layout.shards);
  }

  // ---------------------------------------------------------------------------------------------- calls

  /** Runs a script for elements wherever they are: one run for each tag, all in one round trip. Answers stand in their places. */
  async apply(
    script: ItemScript,
    items: readonly Item[],
    extra: Readonly<Record<string, Word>> = {},
  ): Promise<Reply[]> {
    const root = await this.root();
    const answers: Reply[] = new Array(items.length).fill(null);
    let pending = batches(items);
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === ATTEMPTS) throw new CinnabarError("LAYOUT", `the layout of ${this.name} changes all the time`);
      const missed: Batch[] = [];
      for (let from = 0; from < pending.length; from += CALLS_PER_PIPELINE) {
        const part = pending.slice(from, from + CALLS_PER_PIPELINE);
        const runs = part.map((batch) => this.#bind(batch, root, extra));
        for (const [batch, reply] of zipped(part, await this.send(script, runs))) {
          if (await this.settled(batch.tag, reply)) {
            const found = asList(valueIn(reply));
            for (const [place, { at }] of batch.places.entries()) answers[at] = found[place] ?? null;
          } else missed.push(batch);
        }
      }
      pending = missed;
    }
    return answers;
  }

  #bind({ tag, places }: Batch, root: Root, extra: Readonly<Record<string, Word>>): ItemParams {
    const gate = this.gate(tag, root);
    const shards: string[] = [];
    // One alone, as most calls are, needs no looking up.
    const placed = places.length > 1 ? new Map<string, number>() : null;
    const place = (key: string): number => {
      const known = placed?.get(key);
      if (known !== undefined) return known;
      shards.push(key);
      placed?.set(key, shards.length);
      return shards.length;
    };
    const words: Word[] = [];
    for (const { item } of places) {
      const { spot, element, words: more = [] } = item;
      words.push(
        place(this.shardKey(spot, gate.layout)),
        gate.old === null ? 0 : place(this.shardKey(spot, gate.old)),
        spot.id >= 0 ? Math.floor(spot.id / gate.layout.size) : "",
        typeof element === "function" ? element(gate) : element,
      );
      for (const word of typeof more === "function" ? more(gate) : more) words.push(word);
    }
    const keys = this.keys(tag);
    const { number } = gate.layout;
    return {
      ...extra,
      gate: keys.gate,
      dir: keys.dir(number),
      gen: gate.gen,
      shards,
      items: words,
    } as unknown as ItemParams;
  }

  /** Runs a script behind every tag, or behind some. `bind` gives its parameters for the layout there; answers in their order. */
  async everywhere<P>(
    script: Script<P, Reply>,
    bind: (tag: number, gate: Gate) => P,
    only?: readonly number[],
  ): Promise<Reply[]> {
    const { tags } = await this.root();
    const all = only ?? Array.from({ length: tags }, (_, tag) => tag);
    return this.each(
      script,
      all.map((tag) => ({ tag, bind: (gate) => bind(tag, gate) })),
    );
  }

  /** Runs a script several times in one round trip, each behind its tag. */
  async each<P>(
    script: Script<P, Reply>,
    runs: readonly { readonly tag: number; readonly bind: (gate: Gate) => P }[],
  ): Promise<Reply[]> {
    const root = await this.root();
    const answers: Reply[] = new Array(runs.length).fill(null);
    let pending = runs.map((run, at) => ({ run, at }));
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === ATTEMPTS) throw new CinnabarError("LAYOUT", `the layout of ${this.name} changes all the time`);
      const replies = await this.send(
        script,
        pending.map(({ run }) => run.bind(this.gate(run.tag, root))),
      );
      const missed: typeof pending = [];
      for (const [each, reply] of zipped(pending, replies)) {
        if (await this.settled(each.run.tag, reply)) answers[each.at] = valueIn(reply);
        else missed.push(each);
      }
      pending = missed;
    }
    return answers;
  }

  /** Many runs in one round trip; one alone without the overhead of a pipeline. */
  async send<P>(script: Script<P, Reply>, runs: readonly P[]): Promise<Reply[][]> {
    const [first] = runs;
    if (first !== undefined && runs.length === 1) return [asList(await this.store.run(script, first))];
    const replies = await this.store.pipeline(runs.map((params) => script.with(params)));
    return replies.map(asList);
  }

  /** Whether a script did its work; otherwise what it said about the layout is known now. */
  async settled(tag: number, reply: readonly Reply[]): Promise<boolean> {
    const verdict = verdictOf(reply);
    if (verdict === "done") return true;
    if (verdict === "full") throw new FullError(this.name);
    await this.learn(tag, fieldsOf(gateIn(reply)));
    return false;
  }

  /** The most elements behind one tag. */
  mostPerTag(root: Root): number {
    return Math.ceil(this.maxElements / root.tags);
  }
}

type ItemParams = ItemScript extends Script<infer P, infer _> ? P : never;

interface Batch {
  readonly tag: number;
  /** Its items, and their places among all. */
  readonly places: { readonly at: number; readonly item: Item }[];
}

function batches(items: readonly Item[]): Batch[] {
  const [first] = items;
  if (first !== undefined && items.length === 1) return [{ tag: first.spot.tag, places: [{ at: 0, item: first }] }];
  const open = new Map<number, Batch>();
  const all: Batch[] = [];
  for (const [at, item] of items.entries()) {
    const { tag } = item.spot;
    let batch = open.get(tag);
    if (batch === undefined || batch.places.length >= ITEMS_PER_CALL) {
      batch = { tag, places: [] };
      open.set(tag, batch);
      all.push(batch);
    }
    batch.places.push({ at, item });
  }
  return all;
}

export function rootOf(fields: ReadonlyMap<string, string>): Root {
  const number = (name: string): number => Number(fields.get(name));
  return {
    kind: fields.get("kind") ?? "",
    tags: number("tags"),
    stride: number("stride"),
    ids: fields.get("ids") === "hash" ? "hash" : "range",
    layout: { number: number("l"), shards: number("s"), size: number("z") },
    moving: fields.get("moving") === "1",
    fill: number("fill"),
    least: number("s0"),
  };
}

export function gateOf(fields: ReadonlyMap<string, string>): Gate {
  const number = (name: string): number => Number(fields.get(name));
  const layout = { number: number("l"), shards: number("s"), size: number("z") };
  const old = fields.has("ol") ? { number: number("ol"), shards: number("os"), size: number("oz") } : null;
  if (!Number.isSafeInteger(layout.number)) throw new InputError("this is not the gate of a sharded structure");
  return { gen: number("gen"), layout, old };
}
