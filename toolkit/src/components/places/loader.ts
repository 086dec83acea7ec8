/**
 * Loads ranges into a new version, block by block as they come, so that a file of any size takes little memory here. Ranges must
 * come in the order of their first addresses within their family, as all such files have them; what is out of order or makes no
 * sense is counted, with some examples, and left out.
 *
 * Ranges may lie in one another: an address belongs to the one that begins last. A range that others lie in is stored in the
 * pieces that are left of it, so that a look-up need not know.
 */

import { asTexts } from "../../base/replies.ts";
import type { Item, Store } from "../../connection/store.ts";
import { type Address, type Family, formatAddress, neighbour, parseAddress } from "./address.ts";
import { blockKey, bucketKey, indexKey, metaKey, PLACES_PER_BUCKET, RANGES_PER_BLOCK, type TableKeys } from "./keys.ts";
import { begin } from "./scripts.ts";

/** A range and its place, or why there is none. */
export type Row<P> =
  | {
      /** The first address, as text. */
      readonly from: string | Address;
      /** The last address, as text. */
      readonly to: string | Address;
      /** The place of the range. */
      readonly place: P;
    }
  | {
      /** Why there is none. */
      readonly bad: string;
      /** What stood there. */
      readonly line: string;
    };

const addressOf = (given: string | Address): Address | null =>
  typeof given === "string" ? parseAddress(given.trim()) : given;

/** The rows that a load left out. */
export interface BadRows {
  /** How many. */
  readonly count: number;
  /** Reason and row of the first few. */
  readonly examples: readonly { readonly reason: string; readonly line: string }[];
}

/** How far a load is. */
export interface Progress {
  /** Rows that were read. */
  readonly rows: number;
  /** Ranges that were made of them. */
  readonly ranges: number;
  /** Rows that were left out. */
  readonly bad: number;
}

const BATCH = 100;
const PROGRESS_EVERY = 10_000;
const EXAMPLES = 10;
const DEAD_MS = 600_000;

/** A range that may not be over yet. */
interface OpenRange {
  readonly to: Buffer;
  readonly number: number;
}

interface FamilyState {
  /** Ranges that the last address is in, the innermost last. */
  readonly open: OpenRange[];
  /** What is before it is stored. */
  next: Buffer;
  lastFrom: Buffer | null;
  /** The block that is being filled. */
  first: string;
  records: Buffer[];
}

const newState = (width: number): FamilyState => ({
  open: [],
  next: Buffer.alloc(width),
  lastFrom: null,
  first: "",
  records: [],
});

export class Loader<P> {
  readonly version: string;
  readonly #store: Store;
  readonly #keys: TableKeys;
  readonly #families: Record<Family, FamilyState> = { 4: newState(4), 6: newState(16) };
  readonly #places = new Map<string, number>();
  readonly #examples: { reason: string; line: string }[] = [];
  #items: Item[] = [];
  #rows = 0;
  #ranges = 0;
  #bad = 0;
  #bytes = 0;

  constructor(store: Store, keys: TableKeys, version: string) {
    this.#store = store;
    this.#keys = keys;
    this.version = version;
  }

  get report(): { ranges: number; places: number; bytes: number; bad: BadRows } {
    return {
      ranges: this.#ranges,
      places: this.#places.size,
      bytes: this.#bytes,
      bad: { count: this.#bad, examples: this.#examples },
    };
  }

  get buckets(): number {
    return Math.ceil(this.#places.size / PLACES_PER_BUCKET);
  }

  /** Answers versions that a loader has left behind. */
  heartbeat(): Promise<string[]> {
    const { current, versions } = this.#keys;
    return this.#store.run(begin, { current, versions, version: this.version, deadMs: DEAD_MS });
  }

  async load(
    rows: AsyncIterable<Row<P>> | Iterable<Row<P>>,
    onProgress: (progress: Progress) => void,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    for await (const row of rows) {
      signal?.throwIfAborted();
      this.#rows++;
      if ("bad" in row) this.#refuse(row.bad, row.line);
      else this.#take(row);
      if (this.#items.length >= BATCH) await this.#send();
      if (this.#rows % PROGRESS_EVERY === 0) {
        onProgress({ rows: this.#rows, ranges: this.#ranges, bad: this.#bad });
        await this.heartbeat();
      }
    }
    for (const family of [4, 6] as const) {
      this.#storeUntil(family, null);
      this.#closeBlock(family);
    }
    const { ranges, places, bytes } = this.report;
    const meta = { ranges, places, bytes, buckets: this.buckets };
    this.#items.push(["HSET", metaKey(this.#keys.base, this.version), ...Object.entries(meta).flat()]);
    await this.#send();
    onProgress({ rows: this.#rows, ranges: this.#ranges, bad: this.#bad });
  }

  #take(row: Extract<Row<P>, { readonly place: P }>): void {
    const [from, to] = [addressOf(row.from), addressOf(row.to)];
    if (from === null || to === null) {
      this.#refuse("there is no range of addresses in it", `${row.from} - ${row.to}`);
      return;
    }
    const reason = this.#fault(from, to);
    if (reason !== null) {
      this.#refuse(reason, `${formatAddress(from)} - ${formatAddress(to)}`);
      return;
    }
    const state = this.#families[from.family];
    this.#storeUntil(from.family, from.bytes);
    state.open.push({ to: to.bytes, number: this.#numberOf(row.place) });
    state.lastFrom = from.bytes;
    state.next = from.bytes;
  }

  /** Stores what is before an address of the ranges that are open; all that is left of them without one. */
  #storeUntil(family: Family, until: Buffer | null): void {
    const state = this.#families[family];
    for (let top = state.open.at(-1); top !== undefined; top = state.open.at(-1)) {
      const isOver = until === null || Buffer.compare(top.to, until) < 0;
      const to = isOver ? top.to : neighbour(until, -1);
      if (to !== null && Buffer.compare(state.next, to) <= 0) this.#storeRange(family, state.next, to, top.number);
      if (!isOver) return;
      state.open.pop();
      const after = neighbour(top.to, 1);
      if (after === null) state.open.length = 0;
      else if (Buffer.compare(after, state.next) > 0) state.next = after;
    }
  }

  #storeRange(family: Family, from: Buffer, to: Buffer, place: number): void {
    const state = this.#families[family];
    if (state.records.length === 0) state.first = from.toString("hex");
    const number = Buffer.alloc(4);
    number.writeUInt32BE(place);
    state.records.push(Buffer.concat([from, to, number]));
    this.#ranges++;
    if (state.records.length >= RANGES_PER_BLOCK) this.#closeBlock(family);
  }

  #fault(from: Address, to: Address): string | null {
    if (from.family !== to.family) return "the two addresses are of different families";
    if (Buffer.compare(from.bytes, to.bytes) > 0) return "the range ends before it begins";
    const { lastFrom } = this.#families[from.family];
    if (lastFrom === null || Buffer.compare(from.bytes, lastFrom) >= 0) return null;
    return "the range is out of order";
  }

  /** Places that are alike are stored once. */
  #numberOf(place: P): number {
    const json = JSON.stringify(place);
    const known = this.#places.get(json);
    if (known !== undefined) return known;
    const number = this.#places.size;
    this.#places.set(json, number);
    const bucket = bucketKey(this.#keys.base, this.version, Math.floor(number / PLACES_PER_BUCKET));
    this.#items.push(["HSET", bucket, number % PLACES_PER_BUCKET, json]);
    this.#bytes += Buffer.byteLength(json);
    return number;
  }

  #closeBlock(family: Family): void {
    const { first, records } = this.#families[family];
    if (records.length === 0) return;
    const { base } = this.#keys;
    const bytes = Buffer.concat(records);
    // In this order: what a loader that dies leaves behind is found by the index.
    this.#items.push(
      ["ZADD", indexKey(base, this.version, family), 0, first],
      ["SET", blockKey(base, this.version, family, first), bytes],
    );
    this.#bytes += bytes.length;
    this.#families[family].records = [];
  }

  #refuse(reason: string, line: string): void {
    this.#bad++;
    if (this.#examples.length < EXAMPLES) this.#examples.push({ reason, line: line.slice(0, 200) });
  }

  async #send(): Promise<void> {
    if (this.#items.length === 0) return;
    const answers = await this.#store.pipeline(this.#items);
    this.#items = [];
    for (const answer of answers) if (answer instanceof Error) throw answer;
  }
}

/** Removes what there is of a version, piece by piece. */
export async function removeVersion(store: Store, keys: TableKeys, version: string): Promise<void> {
  const { base } = keys;
  for (const family of [4, 6] as const) {
    const index = indexKey(base, version, family);
    for (;;) {
      const firsts = asTexts(await store.call("ZRANGE", index, 0, 499));
      if (firsts.length === 0) break;
      await store.send(["UNLINK", ...firsts.map((first) => blockKey(base, version, family, first))], { key: index });
      await store.send(["ZREM", index, ...firsts]);
    }
  }
  // A loader that died has written no meta: then buckets are looked for one after the other.
  for (let bucket = 0; ; bucket++) {
    if ((await store.call("UNLINK", bucketKey(base, version, bucket))) === 0) break;
  }
  await store.call("UNLINK", metaKey(base, version));
  await store.call("ZREM", keys.versions, version);
}
