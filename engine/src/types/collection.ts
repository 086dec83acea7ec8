/** What every type of collection is, where each changes its encoding, and how memory is counted. */

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
