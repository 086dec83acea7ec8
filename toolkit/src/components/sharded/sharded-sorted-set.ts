/**
 * A sorted set of any size, kept in shards that are small enough for the server to pack, and spread over the nodes of a Cluster.
 * Members are placed by hash, so each shard has some of every score: ranges are merged out of all of them.
 *
 *   const scores = new ShardedSortedSet(store, "scores");
 *   await scores.add("ann", 1_200);
 *   await scores.top({ limit: 10 });
 */
import { aStore, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { only, zipped } from "../../base/lists.ts";
import { type Check, choice, defineOptions, text, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asBytes, asReply, asRows } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { type OnceOptions, receiptOf } from "./once.ts";
import { spotOf } from "./place.ts";
import { scanAll, scanPage } from "./scan.ts";
import { add, count, increment, incrementOnce, range, remove, removeRange, score } from "./scripts/sorted-set.ts";
import { MAX_ELEMENT_BYTES } from "./sharded-hash.ts";
import { Shards } from "./shards.ts";
import { type Gate, type Item, type ShardedOptions, Structure, withoutIds } from "./structure.ts";

/** A member with its score. */
export interface Scored {
  /** The member. */
  readonly member: string;
  /** Its score. */
  readonly score: number;
}

/** Both ends belong to it; infinite where left out. */
export interface ScoreRange {
  /** The lowest score (default −∞). */
  readonly min?: number;
  /** The highest score (default +∞). */
  readonly max?: number;
}

/** Which members to read. */
export interface RangeOptions extends ScoreRange {
  /** At most so many members (default 100, at most 100 000). */
  readonly limit?: number;
  /** Which end of the scores comes first (default `"ascending"`). */
  readonly order?: "ascending" | "descending";
  /** `cursor` of the page before; the first page by default. */
  readonly cursor?: string;
}

/** When to write a score. */
export interface AddOptions {
  /** Only if it is not there, only if it is, only to a greater or a less score (or if it is not there). `"always"` by default. */
  readonly when?: "always" | "new" | "existing" | "greater" | "less";
}

const FLAGS = { always: "", new: "NX", existing: "XX", greater: "GT", less: "LT" } as const;

const OPTIONS = defineOptions<Omit<ShardedOptions, "ids">>("ShardedSortedSet", withoutIds);

const ADD_OPTIONS = defineOptions<AddOptions>("ShardedSortedSet.addMany", {
  when: choice("always", "new", "existing", "greater", "less"),
});

const INCREMENT_OPTIONS = defineOptions<OnceOptions>("ShardedSortedSet.increment", {
  id: text,
});

/** Scores may be infinite. */
const anyScore: Check = {
  expected: "a number",
  accepts: (value) => typeof value === "number" && !Number.isNaN(value),
};

const TOP_OPTIONS = defineOptions<{ readonly limit?: number }>("ShardedSortedSet.top", { limit: whole(1, 10_000) });

const BOTTOM_OPTIONS = defineOptions<{ readonly limit?: number }>("ShardedSortedSet.bottom", {
  limit: whole(1, 10_000),
});

const RANGE_OPTIONS = defineOptions<RangeOptions>("ShardedSortedSet.range", {
  min: anyScore,
  max: anyScore,
  limit: whole(1, 100_000),
  order: choice("ascending", "descending"),
  cursor: text,
});

const LIST_OPTIONS = defineOptions<PageOptions>("ShardedSortedSet.list", pageChecks(100_000));

/** Members and scores in turn. */
const asScored = asRows(asBytes, asBytes);

/**
 * A sorted set of any size, in shards that the server packs, over the nodes of a Cluster. Ranges are exact and in Redis's order.
 *
 * @example
 * const scores = new ShardedSortedSet(db, "scores");
 * await scores.add("ann", 1_200); // → true
 * await scores.addMany([["ben", 900], ["ann", 1_000]], { when: "greater" }); // → 1
 * await scores.increment("ben", 50); // → 950
 * await scores.top({ limit: 1 }); // → [{ member: "ann", score: 1200 }]
 * await scores.bottom({ limit: 1 }); // → [{ member: "ben", score: 950 }]
 * @example
 * const scores = new ShardedSortedSet(db, "scores");
 * await scores.addMany([["ann", 3], ["ben", 1], ["cat", 2]]);
 * await scores.range({ min: 2, limit: 10 }); // → { items: [{ member: "cat", score: 2 }, { member: "ann", score: 3 }], cursor: null }
 * await scores.score("ann"); // → 3
 * await scores.scores(["ben", "dan"]); // → [1, null]
 * await scores.count({ min: 2 }); // → 2
 * @example
 * const scores = new ShardedSortedSet(db, "scores");
 * await scores.addMany([["ann", 3], ["ben", 1], ["cat", 2], ["dan", 9]]);
 * await scores.deleteRange({ max: 1 }); // → 1
 * await scores.delete("ann"); // → true
 * await scores.deleteMany(["cat", "eve"]); // → 1
 * for await (const scored of scores.members()) scored; // → { member: "dan", score: 9 }
 * @example
 * const scores = new ShardedSortedSet(db, "scores");
 * await scores.add("ann", 3);
 * await scores.list({ limit: 100 }); // → { cursor: null, items: [{ member: "ann", score: 3 }] }
 */
export class ShardedSortedSet {
  /** The sorted set's name, as given. */
  readonly name: string;
  /** Its shards, for operators. */
  readonly shards: Shards;
  readonly #structure: Structure;

  constructor(store: Store, name: string, options: Omit<ShardedOptions, "ids"> = {}) {
    aStore("ShardedSortedSet", store);
    OPTIONS.check(options);
    this.#structure = new Structure(store, { kind: "zset" }, name, { ...options, ids: "hash" });
    this.name = name;
    this.shards = new Shards(this.#structure);
  }

  /** True if it is new. */
  async add(member: string, points: number, options: AddOptions = {}): Promise<boolean> {
    return (await this.addMany([[member, points]], options)) === 1;
  }

  /** One round trip for all. Answers how many are new. */
  async addMany(
    entries: Iterable<readonly [member: string, score: number]>,
    options: AddOptions = {},
  ): Promise<number> {
    ADD_OPTIONS.check(options);
    const when = FLAGS[options.when ?? "always"];
    const root = await this.#structure.root();
    const items = [...entries].map(([member, points]) => ({
      ...this.#item(member, root),
      words: [shownScore("score", points)],
    }));
    const most = this.#structure.mostPerTag(root);
    const answers = await this.#structure.apply(add, items, { most, when });
    return answers.filter((isNew) => isNew === 1).length;
  }

  /** Adds to a score, 0 if there is none, and answers the sum. */
  async increment(member: string, by: number, options: OnceOptions = {}): Promise<number> {
    INCREMENT_OPTIONS.check(options);
    if (!Number.isFinite(by)) throw new InputError("by must be a finite number");
    const structure = this.#structure;
    const root = await structure.root();
    const item = this.#item(member, root);
    const { id, keepMs } = receiptOf(options);
    const extra = { receipt: structure.keys(item.spot.tag).once(id), keepMs, most: structure.mostPerTag(root) };
    const [sum] = await structure.apply(keepMs > 0 ? incrementOnce : increment, [{ ...item, words: [by] }], extra);
    return parsedScore(asReply(sum));
  }

  /** The score of a member; null if it is not there. */
  async score(member: string): Promise<number | null> {
    return only(await this.scores([member]));
  }

  /** The score of each member, in order; null if it is not there. One round trip for all. */
  async scores(members: readonly string[]): Promise<(number | null)[]> {
    const root = await this.#structure.root();
    const answers = await this.#structure.apply(
      score,
      members.map((member) => this.#item(member, root)),
    );
    return answers.map((found) => (found === null ? null : parsedScore(found)));
  }

  /** Deletes a member. False if it was not there. */
  async delete(member: string): Promise<boolean> {
    return (await this.deleteMany([member])) === 1;
  }

  /** Answers how many there were. */
  async deleteMany(members: readonly string[]): Promise<number> {
    const root = await this.#structure.root();
    const answers = await this.#structure.apply(
      remove,
      members.map((member) => this.#item(member, root)),
    );
    return answers.filter((removed) => removed === 1).length;
  }

  /** Removes all members within the scores. Answers how many there were. */
  async deleteRange(scores: ScoreRange): Promise<number> {
    const { min, max } = bounds(scores);
    const removed = await this.#structure.everywhere(removeRange, (tag, gate) => {
      const { shards, olds } = this.#allShards(tag, gate);
      return { ...this.#gate(tag, gate), min, max, shards, olds };
    });
    return removed.reduce<number>((sum, each) => sum + Number(each), 0);
  }

  /**
   * How many members there are, or are within the scores. Exact for each tag at a moment; the sum is exact when nobody writes
   * meanwhile. So is `range`.
   */
  async count(scores: ScoreRange = {}): Promise<number> {
    if (scores.min === undefined && scores.max === undefined) return this.shards.count();
    const { min, max } = bounds(scores);
    const found = await this.#structure.everywhere(count, (tag, gate) => {
      return { ...this.#gate(tag, gate), min, max, shards: this.#allShards(tag, gate).shards };
    });
    return found.reduce<number>((sum, each) => sum + Number(each), 0);
  }

  /** The highest scores first; equal ones as a sorted set has them, the last name first. */
  async top(options: { readonly limit?: number } = {}): Promise<readonly Scored[]> {
    TOP_OPTIONS.check(options);
    return (await this.range({ ...options, order: "descending" })).items;
  }

  /** The lowest scores first. */
  async bottom(options: { readonly limit?: number } = {}): Promise<readonly Scored[]> {
    BOTTOM_OPTIONS.check(options);
    return (await this.range(options)).items;
  }

  /** Members by score, equal ones by name (as bytes), as the unsharded set has them; page by page. */
  async range(options: RangeOptions = {}): Promise<Page<Scored>> {
    RANGE_OPTIONS.check(options);
    const limit = options.limit ?? 100;
    const order = options.order ?? "ascending";
    const query: Query = {
      ...bounds(options),
      isReverse: order === "descending",
      limit,
      ...parsedCursor(options.cursor),
    };
    // The cursor's score is an end of the range by itself.
    const from = query.afterScore === "" ? query : { ...query, [query.isReverse ? "max" : "min"]: query.afterScore };
    const found = await this.#merged(narrower(query, from));
    const elements = found
      .slice(0, limit)
      .map(({ member, score: points }) => ({ member: member.toString("utf8"), score: points }));
    const last = found[limit - 1];
    return {
      items: elements,
      cursor: last === undefined ? null : `${shownScore("score", last.score)}~${last.member.toString("base64url")}`,
    };
  }

  /**
   * The first of all. Behind each tag are members of every score, so each is asked for a little more than its part; one that could
   * have more of the first ones is asked again for as many as there may be.
   */
  async #merged(query: Query): Promise<Found[]> {
    const root = await this.#structure.root();
    const byTag: Found[][] = [];
    let want = partOf(query.limit, root.tags);
    let tags = Array.from({ length: root.tags }, (_, tag) => tag);
    for (;;) {
      const asked = zipped(tags, await this.#ask(query, want, tags));
      for (const [tag, found] of asked) byTag[tag] = found;
      const all = byTag.flat().sort(query.isReverse ? (a, b) => byScore(b, a) : byScore);
      const last = all[query.limit - 1];
      const isCut = (found: readonly Found[]): boolean => {
        const end = found.at(-1);
        if (end === undefined || found.length < want) return false;
        return last === undefined || isBefore(end, last, query.isReverse);
      };
      tags = want >= query.limit ? [] : asked.flatMap(([tag, found]) => (isCut(found) ? [tag] : []));
      if (tags.length === 0) return all;
      want = query.limit;
    }
  }

  async #ask(query: Query, want: number, tags: readonly number[]): Promise<Found[][]> {
    const { isReverse, min, max, afterScore, after } = query;
    const answers = await this.#structure.everywhere(
      range,
      (tag, gate) => {
        const { shards } = this.#allShards(tag, gate);
        const per = Math.ceil(want / gate.layout.shards);
        return {
          ...this.#gate(tag, gate),
          isReverse: isReverse ? 1 : 0,
          min,
          max,
          want,
          per,
          afterScore,
          after,
          shards,
        };
      },
      tags,
    );
    return answers.map((answer) => {
      return asScored(answer).map(([member, score]) => ({ member, score: parsedScore(score) }));
    });
  }

  /** All that are there all the time, in no order; one that is moved to another shard meanwhile may come twice. */
  async *members(): AsyncGenerator<Scored> {
    for await (const { element, value } of scanAll(this.#structure, 1_000)) {
      yield { member: element.toString("utf8"), score: parsedScore(asBytes(value)) };
    }
  }

  /** The same page by page. A page can have more than `limit` items: a shard is given whole. */
  async list(options: PageOptions = {}): Promise<Page<Scored>> {
    LIST_OPTIONS.check(options);
    const size = options.limit ?? 1_000;
    const { elements, next } = await scanPage(this.#structure, options.cursor, size);
    return {
      cursor: next,
      items: elements.map(({ element, value }) => ({
        member: element.toString("utf8"),
        score: parsedScore(asBytes(value)),
      })),
    };
  }

  #item(member: string, root: Parameters<typeof spotOf>[1]): Item {
    return { spot: spotOf(word("member", member, MAX_ELEMENT_BYTES), root), element: member };
  }

  #gate(tag: number, gate: Gate): { gate: string; gen: number } {
    return { gate: this.#structure.keys(tag).gate, gen: gate.gen };
  }

  #allShards(tag: number, { layout, old }: Gate): { shards: string[]; olds: number[] } {
    const keys = this.#structure.keys(tag);
    const shards = Array.from({ length: layout.shards }, (_, at) => keys.hashed(layout.number, at));
    const olds = shards.map(() => 0);
    for (let at = 0; old !== null && at < old.shards; at++) {
      shards.push(keys.hashed(old.number, at));
      olds.push(1);
    }
    return { shards, olds };
  }
}

interface Found {
  readonly member: Buffer;
  readonly score: number;
}

interface Query {
  readonly min: string;
  readonly max: string;
  readonly isReverse: boolean;
  readonly limit: number;
  readonly afterScore: string;
  readonly after: string | Buffer;
}

/** What to ask each of several for, so that it is seldom too little: chance seldom gives one more than three deviations. */
function partOf(all: number, several: number): number {
  const part = all / several;
  return Math.min(all, Math.ceil(part + 3 * Math.sqrt(part) + 1));
}

/** The cursor's end of the range, unless what was asked for is narrower. */
function narrower(asked: Query, from: Query): Query {
  if (parsedScore(from.min) < parsedScore(asked.min)) return asked;
  if (parsedScore(from.max) > parsedScore(asked.max)) return asked;
  return from;
}

function byScore(a: Found, b: Found): number {
  return a.score === b.score ? Buffer.compare(a.member, b.member) : a.score < b.score ? -1 : 1;
}

function isBefore(a: Found, b: Found, isReverse: boolean): boolean {
  return (isReverse ? byScore(b, a) : byScore(a, b)) < 0;
}

function bounds({ min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: ScoreRange): {
  min: string;
  max: string;
} {
  return { min: shownScore("min", min), max: shownScore("max", max) };
}

function shownScore(what: string, points: number): string {
  if (typeof points !== "number" || Number.isNaN(points)) throw new InputError(`${what} must be a number`);
  if (points === Number.POSITIVE_INFINITY) return "+inf";
  return points === Number.NEGATIVE_INFINITY ? "-inf" : String(points);
}

function parsedScore(shown: Reply): number {
  const text = String(shown);
  if (text === "inf" || text === "+inf") return Number.POSITIVE_INFINITY;
  return text === "-inf" ? Number.NEGATIVE_INFINITY : Number(text);
}

function parsedCursor(cursor: string | undefined): { afterScore: string; after: string | Buffer } {
  if (cursor === undefined) return { afterScore: "", after: "" };
  const at = cursor.indexOf("~");
  const afterScore = cursor.slice(0, at);
  if (at < 1 || Number.isNaN(parsedScore(afterScore))) throw new InputError("after is not a cursor that range() gave");
  return { afterScore, after: Buffer.from(cursor.slice(at + 1), "base64url") };
}
