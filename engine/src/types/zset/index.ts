/**
 * A sorted set: distinct members with a score each, in order of score and then of the member's bytes.
 *
 * Small ones are one packed string (packed-entries.ts), large ones a dict and a tree (indexed-entries.ts); this class
 * decides when to widen, which goes one way, and nobody else asks which it is. Ranges by score and by word are turned into
 * intervals of ranks first, and read, counted or removed by rank.
 */
import { formatDouble } from "../../lib/numbers.ts";
import type { Collection, Limits } from "../collection.ts";
import { stringBytes } from "../collection.ts";
import { IndexedEntries } from "./indexed-entries.ts";
import * as packed from "./packed-entries.ts";
import { type Interval, type LexRange, NO_INTERVAL, type ScoreRange, type Visit } from "./range.ts";
import { sortEntries } from "./sort-entries.ts";

export type { Interval, LexBound, LexRange, ScoreRange, Visit } from "./range.ts";

/** What `set` did. */
export const UNCHANGED = 0;
export const UPDATED = 1;
export const ADDED = 2;
export type SetResult = typeof UNCHANGED | typeof UPDATED | typeof ADDED;

export interface Entry {
  readonly member: string;
  readonly score: number;
}

/** No private methods: they would cost every instance eight bytes (V8 marks objects that have some). */
export class ZsetValue implements Collection {
  static readonly typeName = "zset";
  #entries: string | IndexedEntries = "";
  #size = 0;

  /** From distinct members in any order: for results that are stored and files that are loaded. */
  static from(members: readonly string[], scores: readonly number[], limits: Limits): ZsetValue {
    const { members: inOrder, scores: beside } = sortEntries({ members, scores });
    const made = new ZsetValue();
    made.#size = inOrder.length;
    made.#entries = fits(inOrder, limits)
      ? packed.packSorted(inOrder, beside)
      : IndexedEntries.fromSorted(inOrder, beside);
    return made;
  }

  get type(): "zset" {
    return "zset";
  }

  get size(): number {
    return this.#size;
  }

  get encoding(): string {
    return typeof this.#entries === "string" ? "listpack" : "skiplist";
  }

  get sizeBytes(): number {
    const entries = this.#entries;
    return typeof entries === "string" ? 40 + stringBytes(entries.length) : 40 + entries.sizeBytes;
  }

  /** Its frozen form knows the order, and so `size` and `visit`, but not where a member is. */
  freeze(): ZsetValue {
    const frozen = new ZsetValue();
    frozen.#size = this.#size;
    frozen.#entries = typeof this.#entries === "string" ? this.#entries : this.#entries.freeze();
    return frozen;
  }

  /** Nothing to do: nodes that were shared are copied when they next change, once (score-tree.ts). */
  thaw(): void {}

  clone(): ZsetValue {
    const copy = new ZsetValue();
    copy.#size = this.#size;
    const entries = this.#entries;
    if (typeof entries === "string") copy.#entries = entries;
    else {
      const { members, scores } = listOf(this);
      copy.#entries = IndexedEntries.fromSorted(members, scores);
    }
    return copy;
  }

  /** Takes on the wide encoding. Adding does it past the limits; SORT does it to whatever it sorts, as in Redis. */
  widen(): IndexedEntries {
    let entries = this.#entries;
    if (typeof entries === "string") {
      const { members, scores } = listOf(this);
      entries = IndexedEntries.fromSorted(members, scores);
      this.#entries = entries;
    }
    return entries;
  }

  // ---------------------------------------------------------------------------------------------- members

  score(member: string): number | undefined {
    const entries = this.#entries;
    if (typeof entries !== "string") return entries.score(member);
    const at = packed.find(entries, member);
    return at < 0 ? undefined : packed.scoreOf(entries, at);
  }

  has(member: string): boolean {
    return this.score(member) !== undefined;
  }

  /** Adds a member or gives it another score. */
  set(member: string, score: number, limits: Limits): SetResult {
    let entries = this.#entries;
    if (typeof entries === "string") {
      const at = packed.find(entries, member);
      if (at >= 0) {
        if (packed.scoreOf(entries, at) === score) return UNCHANGED;
        this.#entries = packed.rescore(entries, at, member, score);
        return UPDATED;
      }
      if (this.#size < limits.zsetMaxListpackEntries && member.length <= limits.zsetMaxListpackValue) {
        this.#entries = packed.insert(entries, member, score);
        this.#size++;
        return ADDED;
      }
      entries = this.widen();
    }
    const old = entries.set(member, score);
    if (old !== undefined) return old === score ? UNCHANGED : UPDATED;
    this.#size++;
    return ADDED;
  }

  delete(member: string): boolean {
    const entries = this.#entries;
    if (typeof entries === "string") {
      const at = packed.find(entries, member);
      if (at < 0) return false;
      this.#entries = packed.remove(entries, at);
    } else if (!entries.delete(member)) return false;
    this.#size--;
    return true;
  }

  // ---------------------------------------------------------------------------------------------- ranks

  /** How many members come before this one, -1 if it is not there. */
  rank(member: string): number {
    const entries = this.#entries;
    if (typeof entries !== "string") return entries.rank(member);
    const at = packed.find(entries, member);
    return at < 0 ? -1 : packed.rankOf(entries, at);
  }

  /** The entry at a rank, which must exist. */
  at(rank: number): Entry {
    const found: Entry[] = [];
    this.visit(rank, rank + 1, false, (member, score) => {
      found.push({ member, score });
    });
    const [entry] = found;
    if (entry === undefined) throw new RangeError(`the sorted set has no entry at rank ${rank}`);
    return entry;
  }

  scoreInterval(range: ScoreRange): Interval {
    const entries = this.#entries;
    const from = countBelow(entries, range.min, range.minOpen);
    const to = countBelow(entries, range.max, !range.maxOpen);
    return from < to ? { from, to } : NO_INTERVAL;
  }

  /** Means something only where all scores are equal; `reverse` says from which end a mixed one is looked at. */
  lexInterval(range: LexRange, reverse = false): Interval {
    const entries = this.#entries;
    if (typeof entries === "string") return packed.lexInterval(entries, range, reverse);
    return entries.lexInterval(range);
  }

  /**
   * Walks the ranks from `from` up to but not including `to`, or downwards from the end of that interval. The interval must
   * lie within the set, and the set must not change meanwhile.
   */
  visit(from: number, to: number, reverse: boolean, visitor: Visit): void {
    const entries = this.#entries;
    if (typeof entries === "string") packed.visit(entries, from, to, reverse, visitor);
    else entries.visit(from, to, reverse, visitor);
  }

  /** Takes the ranks from `from` up to but not including `to` out; returns how many. */
  deleteRanks(from: number, to: number): number {
    if (from >= to) return 0;
    const entries = this.#entries;
    if (typeof entries === "string") this.#entries = packed.removeRanks(entries, from, to);
    else entries.deleteRanks(from, to);
    this.#size -= to - from;
    return to - from;
  }

  /** A score as ZSCAN prints it: the packed form shows whole numbers in full. */
  printScore(score: number): string {
    const whole = typeof this.#entries === "string" && Number.isInteger(score) && Math.abs(score) <= 2 ** 62;
    return whole ? String(BigInt(score)) : formatDouble(score);
  }

  /** One step of ZSCAN: a small set is visited as a whole. */
  scan(cursor: number, count: number, visitor: Visit): number {
    const entries = this.#entries;
    if (typeof entries !== "string") return entries.scan(cursor, count, visitor);
    packed.visit(entries, 0, this.#size, false, visitor);
    return 0;
  }
}

function fits(members: readonly string[], limits: Limits): boolean {
  if (members.length > limits.zsetMaxListpackEntries) return false;
  for (const member of members) if (member.length > limits.zsetMaxListpackValue) return false;
  return true;
}

function listOf(zset: ZsetValue): { members: string[]; scores: number[] } {
  const members: string[] = [];
  const scores: number[] = [];
  zset.visit(0, zset.size, false, (member, score) => {
    members.push(member);
    scores.push(score);
  });
  return { members, scores };
}

function countBelow(entries: string | IndexedEntries, bound: number, inclusive: boolean): number {
  if (typeof entries === "string") return packed.countBelow(entries, bound, inclusive);
  return entries.countBelow(bound, inclusive);
}
