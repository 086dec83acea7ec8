/**
 * A large sorted set ("skiplist"): a dict that knows each member's score and a tree that knows the order. The two share the
 * members' strings.
 */
import { Dict } from "../../core/dict.ts";
import { hashWord } from "../../core/word-hash.ts";
import { own } from "../packed.ts";
import { type Interval, type LexBound, type LexRange, NO_INTERVAL, type Visit } from "./range.ts";
import { ScoreTree } from "./score-tree.ts";

/** V8 shares memory only for substrings of this length and more. */
const SHORTEST_SHARED = 13;

/** The word, sharing memory with no packed string. */
const flat = (word: string) => (word.length < SHORTEST_SHARED ? word : own(word));

export class IndexedEntries {
  readonly #scores = new Dict<number>({ values: "numbers", strings: true });
  #tree: ScoreTree = new ScoreTree();

  /** From entries in order. */
  static fromSorted(members: readonly string[], scores: readonly number[]): IndexedEntries {
    const made = new IndexedEntries();
    const owned = members.map(flat);
    made.#scores.reserve(owned.length);
    for (let i = 0; i < owned.length; i++) made.#know(owned[i]!, scores[i]!);
    made.#tree = ScoreTree.fromSorted(owned, scores);
    return made;
  }

  /** The order as it is now. */
  freeze(): IndexedEntries {
    const frozen = new IndexedEntries();
    frozen.#tree = this.#tree.freeze();
    return frozen;
  }

  #know(member: string, score: number): void {
    this.#scores.addNew(member, hashWord(member), score);
  }

  get size(): number {
    return this.#tree.size;
  }

  get sizeBytes(): number {
    return 96 + this.#scores.sizeBytes + this.#tree.sizeBytes;
  }

  score(member: string): number | undefined {
    return this.#scores.get(member);
  }

  /** Adds a member or gives it another score. Returns its old score, undefined if it is new. */
  set(member: string, score: number): number | undefined {
    const hash = hashWord(member);
    const table = this.#scores.tableOf(hash);
    const place = table.find(member, hash);
    if (place < 0) {
      this.#scores.addNew(member, hash, score);
      this.#tree.insert(score, member);
      return undefined;
    }
    const old = table.values![place]!;
    if (old !== score) {
      table.values![place] = score;
      this.#tree.move(table.keyAt(place)!, old, score);
    }
    return old;
  }

  delete(member: string): boolean {
    const hash = hashWord(member);
    const table = this.#scores.tableOf(hash);
    const place = table.find(member, hash);
    if (place < 0) return false;
    this.#tree.delete(table.values![place]!, member);
    this.#scores.deleteAt(table, place);
    return true;
  }

  rank(member: string): number {
    const score = this.#scores.get(member);
    return score === undefined ? -1 : this.#tree.rank(score, member);
  }

  countBelow(bound: number, inclusive: boolean): number {
    return this.#tree.countBelow(bound, inclusive);
  }

  lexInterval(range: LexRange): Interval {
    const from = this.#lexRank(range.min, range.min.open);
    const to = this.#lexRank(range.max, !range.max.open);
    return from < to ? { from, to } : NO_INTERVAL;
  }

  #lexRank(bound: LexBound, inclusive: boolean): number {
    if (bound.beyond !== 0) return bound.beyond < 0 ? 0 : this.size;
    return this.#tree.countBeforeWord(bound.word, inclusive);
  }

  visit(from: number, to: number, reverse: boolean, visitor: Visit): void {
    this.#tree.visit(from, to, reverse, visitor);
  }

  deleteRanks(from: number, to: number): void {
    this.#tree.visit(from, to, false, (member) => {
      this.#scores.delete(member);
    });
    this.#tree.deleteRanks(from, to);
  }

  scan(cursor: number, count: number, visitor: Visit): number {
    return this.#scores.scan(cursor, count, visitor);
  }
}
