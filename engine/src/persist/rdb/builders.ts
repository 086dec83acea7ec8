/**
 * Collections that come element by element. A builder marks the cursor after every element that it has taken in, so it can
 * be called again when bytes were missing. Small ones are gathered in Entries and made at the end in one piece.
 */
import { Dict } from "../../core/dict.ts";
import { parseFloat64 } from "../../lib/numbers.ts";
import type { Limits } from "../../types/collection.ts";
import { HashValue } from "../../types/hash/index.ts";
import { ListValue } from "../../types/list/index.ts";
import { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { hashOf, listOf, setOf } from "./collections.ts";
import type { Cursor } from "./cursor.ts";
import { EMPTY, type Empty } from "./empty.ts";
import type { Entries } from "./entries.ts";
import { readListpack } from "./listpack.ts";
import { NODE_PACKED, NODE_PLAIN, RDB } from "./types.ts";
import { readZiplist } from "./ziplist.ts";

export interface Builder {
  /** Goes on until the value is complete; throws UNDERFLOW to be called again. */
  read(cursor: Cursor, limits: Limits): Value | Empty;
}

/** More words than this are not gathered but put where they belong one by one. */
const MOST_GATHERED = 1024;
const MOST_GATHERED_BYTES = 1 << 20;

/** A list: words, or nodes that hold many. */
export class ListBuilder implements Builder {
  readonly #type: number;
  readonly #entries: Entries;
  #left: number;
  #list: ListValue | null = null;
  /** Words up to the end of each node. */
  readonly #ends: number[] = [];

  constructor(type: number, count: number, entries: Entries) {
    this.#type = type;
    this.#left = count;
    this.#entries = entries;
    entries.reset();
  }

  read(cursor: Cursor, limits: Limits): ListValue | Empty {
    const entries = this.#entries;
    const { listMaxListpackSize } = limits;
    for (; this.#left > 0; this.#left--) {
      if (this.#type === RDB.LIST) cursor.wordInto(entries);
      else {
        this.#node(cursor);
        this.#ends.push((this.#list?.size ?? 0) + entries.count);
      }
      cursor.commit();
      this.#place(MOST_GATHERED, listMaxListpackSize);
    }
    const ends = this.#ends;
    if (this.#list === null) {
      if (entries.count === 0) return EMPTY;
      if (ends.length === 1) return listOf(entries, limits);
    }
    this.#place(0, listMaxListpackSize);
    const list = this.#list ?? new ListValue();
    if (ends.length > 0) {
      const counts = ends.map((end, i) => end - (ends[i - 1] ?? 0));
      list.cutAs(counts, listMaxListpackSize);
    }
    return list;
  }

  #node(cursor: Cursor): void {
    if (this.#type === RDB.LIST_QUICKLIST) {
      readZiplist(cursor.blob(), this.#entries);
      return;
    }
    const container = cursor.length();
    if (container === NODE_PACKED) readListpack(cursor.blob(), this.#entries);
    else if (container === NODE_PLAIN) {
      // Such a node is for one long element; an empty one is not to be told from damage.
      if (cursor.at < cursor.end && cursor.bytes[cursor.at] === 0) throw cursor.corrupt("a list's plain node is empty");
      cursor.wordInto(this.#entries);
    } else throw cursor.corrupt(`a list's node of kind ${container}`);
  }

  /** Moves what is gathered into the list where it is more than this. */
  #place(most: number, listMaxListpackSize: number): void {
    const entries = this.#entries;
    if (entries.count <= most && entries.packedLength <= MOST_GATHERED_BYTES) return;
    this.#list ??= new ListValue();
    if (entries.count > 0) this.#list.pushAll(entries.words(), 0, false, listMaxListpackSize);
    entries.reset();
  }
}

export class SetBuilder implements Builder {
  readonly #entries: Entries;
  readonly #count: number;
  #left: number;
  #set: SetValue | null = null;

  constructor(count: number, entries: Entries) {
    this.#count = count;
    this.#left = count;
    this.#entries = entries;
    entries.reset();
  }

  read(cursor: Cursor, limits: Limits): SetValue | Empty {
    if (this.#count === 0) return EMPTY;
    const entries = this.#entries;
    if (this.#count > MOST_GATHERED && this.#set === null) {
      this.#set = new SetValue();
      if (this.#count > limits.setMaxIntsetEntries) this.#set.widen(this.#count);
    }
    const set = this.#set;
    for (; this.#left > 0; this.#left--) {
      if (set === null) cursor.wordInto(entries);
      else if (!set.add(cursor.word(), limits)) throw cursor.corrupt("a set has a member twice");
      cursor.commit();
    }
    if (set !== null) return set;
    if (entries.hasDuplicates(1)) throw cursor.corrupt("a set has a member twice");
    return setOf(entries, limits);
  }
}

export class HashBuilder implements Builder {
  readonly #entries: Entries;
  readonly #count: number;
  #left: number;
  #hash: HashValue | null = null;

  constructor(count: number, entries: Entries) {
    this.#count = count;
    this.#left = count;
    this.#entries = entries;
    entries.reset();
  }

  read(cursor: Cursor, limits: Limits): HashValue | Empty {
    const entries = this.#entries;
    if (this.#hash === null && this.#count > limits.hashMaxListpackEntries) {
      this.#hash = new HashValue();
      this.#hash.widen(this.#count);
    }
    const hash = this.#hash;
    for (; this.#left > 0; this.#left--) {
      if (hash !== null) {
        const field = cursor.word();
        if (!hash.set(field, cursor.word(), limits)) throw cursor.corrupt("a hash has a field twice");
      } else this.#gather(cursor, entries);
      cursor.commit();
    }
    return hash ?? hashOf(entries, cursor, limits);
  }

  /** One more pair; or none of it, where the value is missing: the field is read again then. */
  #gather(cursor: Cursor, entries: Entries): void {
    const gathered = (this.#count - this.#left) * 2;
    if (entries.count === gathered) {
      cursor.wordInto(entries);
      cursor.commit();
    }
    cursor.wordInto(entries);
  }
}

export class ZsetBuilder implements Builder {
  readonly #type: number;
  #left: number;
  readonly #members: string[] = [];
  readonly #scores: number[] = [];

  constructor(type: number, count: number) {
    this.#type = type;
    this.#left = count;
  }

  read(cursor: Cursor, limits: Limits): ZsetValue | Empty {
    const members = this.#members;
    const scores = this.#scores;
    for (; this.#left > 0; this.#left--) {
      const member = cursor.word();
      const score = this.#type === RDB.ZSET_2 ? cursor.double() : textScore(cursor);
      if (Number.isNaN(score)) throw cursor.corrupt("a score is not a number");
      members.push(member);
      scores.push(score);
      cursor.commit();
    }
    if (members.length === 0) return EMPTY;
    if (hasDuplicates(members)) throw cursor.corrupt("a sorted set has a member twice");
    // Redis writes from the highest score down.
    const first = scores[0];
    const last = scores.at(-1);
    if (members.length > 1 && first !== undefined && last !== undefined && first >= last) {
      members.reverse();
      scores.reverse();
    }
    return ZsetValue.from(members, scores, limits);
  }
}

/** A score as old versions write it: a length and text, or one of three lengths that stand for what has no digits. */
function textScore(cursor: Cursor): number {
  const length = cursor.byte();
  if (length === 255) return Number.NEGATIVE_INFINITY;
  if (length === 254) return Number.POSITIVE_INFINITY;
  if (length === 253) return Number.NaN;
  return parseFloat64(cursor.slice(length)) ?? Number.NaN;
}

const FEW = 12;

function hasDuplicates(words: readonly string[]): boolean {
  if (words.length <= FEW) return words.some((word, i) => words.indexOf(word) < i);
  const seen = new Dict({ values: "none" });
  seen.reserve(words.length);
  for (const word of words) if (!seen.add(word)) return true;
  return false;
}
