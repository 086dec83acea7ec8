/**
 * What a key can hold. A string is kept as the leanest JavaScript value that says which encoding Redis would report:
 *
 *   number, bigint   `int`           an int64, as INCR leaves it
 *   string           `embstr`/`raw`  latin1, one char one byte
 *   Bytes            `raw`           growable, from the first partial write on
 *
 * Every other type is a class here that implements Collection and owns its encodings.
 */
import type { Bytes } from "./bytes.ts";
import type { HashValue } from "./hash/index.ts";
import type { ListValue } from "./list/index.ts";
import type { SetValue } from "./set/index.ts";
import type { StreamValue } from "./stream/index.ts";
import type { ZsetValue } from "./zset/index.ts";

export type StringValue = string | number | bigint | Bytes;
export type Value = StringValue | ListValue | SetValue | HashValue | ZsetValue | StreamValue;

/** As TYPE names them. */
export type TypeName = "string" | "list" | "set" | "zset" | "hash" | "stream";

export interface Collection {
  readonly type: TypeName;
  /** Elements in it. The door removes a key whose collection has none left (streams say so themselves). */
  readonly size: number;
  /** As OBJECT ENCODING names it in Redis 7.0. */
  readonly encoding: string;
  /** What it takes in memory, about; kept up to date by every change, so that asking costs nothing. */
  readonly sizeBytes: number;
  /**
   * A copy that is made in next to no time and stays as this is now, however this changes: both have the same parts, and
   * this one copies each before it changes it. For files: what they read is all that the copy is good for, and it must not
   * be changed. There is one at a time, until `thaw` says that it is not needed any more.
   */
  freeze(): Collection;
  thaw(): void;
  /** A deep copy, for COPY. */
  clone(): Collection;
}

/** A collection's class: what `db.edit` makes when the key does not exist. */
export interface CollectionClass<V extends Collection> {
  new (): V;
  readonly typeName: TypeName;
}

/** Where each type changes its encoding: the configuration's numbers, handed to every call that may widen. */
export interface Limits {
  hashMaxListpackEntries: number;
  hashMaxListpackValue: number;
  setMaxIntsetEntries: number;
  zsetMaxListpackEntries: number;
  zsetMaxListpackValue: number;
  listMaxListpackSize: number;
  streamNodeMaxBytes: number;
  streamNodeMaxEntries: number;
  hllSparseMaxBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  hashMaxListpackEntries: 512,
  hashMaxListpackValue: 64,
  setMaxIntsetEntries: 512,
  zsetMaxListpackEntries: 128,
  zsetMaxListpackValue: 64,
  listMaxListpackSize: -2,
  streamNodeMaxBytes: 4096,
  streamNodeMaxEntries: 100,
  hllSparseMaxBytes: 3000,
};

/** What one string costs in V8's heap. */
export const stringBytes = (length: number): number => (16 + length + 7) & ~7;
