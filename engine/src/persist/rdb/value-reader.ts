/**
 * Reads the value of a key, of any type that Redis up to 7.2 writes.
 *
 * Collections that come as one string are read in one step. Those that come element by element are read by a builder, which
 * is kept while bytes are missing and goes on where it was (see cursor.ts); so a collection of any size needs no more
 * memory than itself. Nothing is believed before it is checked, and no memory is taken because a count says so.
 */
import { parseFloat64 } from "../../lib/numbers.ts";
import type { Limits } from "../../types/collection.ts";
import type { HashValue } from "../../types/hash/index.ts";
import { ListValue } from "../../types/list/index.ts";
import type { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { type Builder, HashBuilder, ListBuilder, SetBuilder, ZsetBuilder } from "./builders.ts";
import { hashOf, setOf } from "./collections.ts";
import type { Blob, Cursor } from "./cursor.ts";
import { EMPTY, type Empty } from "./empty.ts";
import { Entries } from "./entries.ts";
import { RdbError } from "./errors.ts";
import { readIntset } from "./intset.ts";
import { readListpack } from "./listpack.ts";
import { StreamBuilder } from "./stream-reader.ts";
import { RDB, typeLabel } from "./types.ts";
import { readZiplist } from "./ziplist.ts";
import { readZipmap } from "./zipmap.ts";

export class ValueReader {
  readonly #entries = new Entries();
  #builder: Builder | null = null;

  /** Forgets a value that was begun and will not be finished. */
  reset(): void {
    this.#builder = null;
  }

  /** The value of this type, or EMPTY for a collection without elements. Throws RdbError, and UNDERFLOW to be called again. */
  read(type: number, cursor: Cursor, limits: Limits): Value | Empty {
    switch (type) {
      case RDB.STRING:
        return cursor.stringValue();
      case RDB.HASH_ZIPMAP:
      case RDB.HASH_ZIPLIST:
      case RDB.HASH_LISTPACK:
        return this.#hash(type, cursor, limits);
      case RDB.ZSET_ZIPLIST:
      case RDB.ZSET_LISTPACK:
        return this.#zset(type, cursor, limits);
      case RDB.LIST_ZIPLIST:
        return this.#list(cursor, limits);
      case RDB.SET_INTSET:
        return readIntset(cursor.blob(), limits) ?? EMPTY;
      case RDB.SET_LISTPACK:
        return this.#set(cursor, limits);
      default:
        return this.#build(type, cursor, limits);
    }
  }

  #build(type: number, cursor: Cursor, limits: Limits): Value | Empty {
    this.#builder ??= this.#newBuilder(type, cursor);
    const value = this.#builder.read(cursor, limits);
    this.#builder = null;
    return value;
  }

  #newBuilder(type: number, cursor: Cursor): Builder {
    switch (type) {
      case RDB.LIST:
      case RDB.LIST_QUICKLIST:
      case RDB.LIST_QUICKLIST_2:
        return new ListBuilder(type, begin(cursor), this.#entries);
      case RDB.SET:
        return new SetBuilder(begin(cursor), this.#entries);
      case RDB.HASH:
        return new HashBuilder(begin(cursor), this.#entries);
      case RDB.ZSET:
      case RDB.ZSET_2:
        return new ZsetBuilder(type, begin(cursor));
      case RDB.STREAM_LISTPACKS:
      case RDB.STREAM_LISTPACKS_2:
      case RDB.STREAM_LISTPACKS_3:
        return new StreamBuilder(type, begin(cursor), this.#entries);
      default:
        throw new RdbError("unsupported", `values of type ${typeLabel(type)} cannot be read`, cursor.offset);
    }
  }

  // ---------------------------------------------------------------------------------------------- blobs

  #read(cursor: Cursor, read: (blob: Blob, entries: Entries) => void): Entries {
    const entries = this.#entries;
    entries.reset();
    read(cursor.blob(), entries);
    return entries;
  }

  #hash(type: number, cursor: Cursor, limits: Limits): HashValue | Empty {
    const entries = this.#read(
      cursor,
      type === RDB.HASH_LISTPACK ? readListpack : type === RDB.HASH_ZIPLIST ? readZiplist : readZipmap,
    );
    return hashOf(entries, cursor, type === RDB.HASH_ZIPMAP ? limits : anyLength(limits));
  }

  #zset(type: number, cursor: Cursor, limits: Limits): ZsetValue | Empty {
    const entries = this.#read(cursor, type === RDB.ZSET_LISTPACK ? readListpack : readZiplist);
    const { count } = entries;
    if (count === 0) return EMPTY;
    if (count % 2 !== 0) throw cursor.corrupt("a sorted set's last member has no score");
    if (entries.hasDuplicates(2)) throw cursor.corrupt("a sorted set has a member twice");
    const members: string[] = [];
    const scores: number[] = [];
    for (let i = 0; i < count; i += 2) {
      members.push(entries.word(i));
      const number = entries.number(i + 1);
      const score = Number.isNaN(number) ? parseFloat64(entries.word(i + 1)) : number;
      if (score === undefined) throw cursor.corrupt("a score is not a number");
      scores.push(score);
    }
    return ZsetValue.from(members, scores, anyLength(limits));
  }

  #list(cursor: Cursor, limits: Limits): ListValue | Empty {
    const entries = this.#read(cursor, readZiplist);
    if (entries.count === 0) return EMPTY;
    // Redis pushes these words one by one, and cuts them where that leads.
    const list = new ListValue();
    list.pushAll(entries.words(), 0, false, limits.listMaxListpackSize);
    return list;
  }

  #set(cursor: Cursor, limits: Limits): SetValue | Empty {
    const entries = this.#read(cursor, readListpack);
    if (entries.count === 0) return EMPTY;
    if (entries.hasDuplicates(1)) throw cursor.corrupt("a set has a member twice");
    return setOf(entries, limits);
  }
}

let lengthless: Limits | undefined;
let lengthlessOf: Limits | undefined;

/** The limits without those on words: what a file has in packed form stays packed unless it has too many, as in Redis. */
function anyLength(limits: Limits): Limits {
  if (lengthless === undefined || lengthlessOf !== limits) {
    lengthlessOf = limits;
    const made: Limits = Object.create(limits, {
      hashMaxListpackValue: { value: Number.POSITIVE_INFINITY },
      zsetMaxListpackValue: { value: Number.POSITIVE_INFINITY },
    });
    lengthless = made;
  }
  return lengthless;
}

/** The count that begins a collection. */
function begin(cursor: Cursor): number {
  const count = cursor.length();
  cursor.commit();
  return count;
}
