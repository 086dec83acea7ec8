/**
 * Entries that were delivered and not yet acknowledged, ordered by id.
 *
 * Ids mostly come in order and go from the front, and lists of a handful are as common as lists of a million; so this is
 * sorted chunks: a search is two binary searches, adding at the end is a push, and nothing is kept twice. A frozen copy
 * (types/value.ts) has the same chunks; those are noted, and copied before they change.
 */
import type { Consumer } from "./groups.ts";
import type { Id } from "./ids.ts";

/** One delivery that waits for its acknowledgement. Both its group and its consumer hold it. */
export class Delivery {
  readonly id: Id;
  consumer: Consumer;
  timeMs: number;
  /** How often it was delivered; an int64, so a bigint past 2^53. */
  count: number | bigint;

  constructor(id: Id, consumer: Consumer, timeMs: number, count: number | bigint) {
    this.id = id;
    this.consumer = consumer;
    this.timeMs = timeMs;
    this.count = count;
  }
}

const CHUNK = 128;

/** The position of the first delivery in a chunk that is not before this id. */
function lowerBound(chunk: readonly Delivery[], id: Id): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk[middle]!.id < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

export class Pending {
  /** None is empty. */
  #chunks: Delivery[][] = [];
  #size = 0;
  /** The chunks that a frozen copy has too. */
  #shared: Set<Delivery[]> | null = null;

  get size(): number {
    return this.#size;
  }

  get first(): Delivery | undefined {
    return this.#chunks[0]?.[0];
  }

  get last(): Delivery | undefined {
    return this.#chunks.at(-1)?.at(-1);
  }

  /** The chunk that this id belongs to: the last that does not begin behind it. */
  #chunkOf(id: Id): number {
    const chunks = this.#chunks;
    let low = 0;
    let high = chunks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (chunks[middle]![0]!.id <= id) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  /** A chunk, to be changed. */
  #ownChunk(at: number): Delivery[] | undefined {
    const chunk = this.#chunks[at];
    if (this.#shared === null || chunk === undefined || !this.#shared.has(chunk)) return chunk;
    const copy = chunk.slice();
    this.#chunks[at] = copy;
    return copy;
  }

  freeze(): Pending {
    const frozen = new Pending();
    frozen.#chunks = this.#chunks.slice();
    frozen.#size = this.#size;
    this.#shared = new Set(this.#chunks);
    return frozen;
  }

  thaw(): void {
    this.#shared = null;
  }

  /** Puts a delivery in the place of the one with its id. */
  replace(delivery: Delivery): void {
    const chunk = this.#ownChunk(this.#chunkOf(delivery.id));
    if (chunk === undefined) throw new Error("there is no delivery to replace");
    chunk[lowerBound(chunk, delivery.id)] = delivery;
  }

  get(id: Id): Delivery | undefined {
    const chunk = this.#chunks[this.#chunkOf(id)];
    if (chunk === undefined) return undefined;
    const delivery = chunk[lowerBound(chunk, id)];
    return delivery?.id === id ? delivery : undefined;
  }

  /** Adds a delivery whose id is not in here. */
  add(delivery: Delivery): void {
    const chunks = this.#chunks;
    this.#size++;
    const at = this.#chunkOf(delivery.id);
    const chunk = this.#ownChunk(at);
    if (chunk === undefined) {
      chunks.push([delivery]);
      return;
    }
    const place = lowerBound(chunk, delivery.id);
    if (chunk.length < CHUNK) {
      if (place === chunk.length) chunk.push(delivery);
      else chunk.splice(place, 0, delivery);
    } else if (place === chunk.length && at === chunks.length - 1) {
      chunks.push([delivery]);
    } else {
      const rest = chunk.splice(CHUNK / 2);
      chunks.splice(at + 1, 0, rest);
      if (place <= CHUNK / 2) chunk.splice(place, 0, delivery);
      else rest.splice(place - CHUNK / 2, 0, delivery);
    }
  }

  remove(id: Id): Delivery | undefined {
    const at = this.#chunkOf(id);
    const chunk = this.#ownChunk(at);
    if (chunk === undefined) return undefined;
    const place = lowerBound(chunk, id);
    const delivery = chunk[place];
    if (delivery?.id !== id) return undefined;
    if (place === 0) chunk.shift();
    else chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#size--;
    return delivery;
  }

  /** The first delivery whose id is not before this one. */
  atOrAfter(id: Id): Delivery | undefined {
    let at = this.#chunkOf(id);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return undefined;
    const place = lowerBound(chunk, id);
    return place < chunk.length ? chunk[place] : this.#chunks[++at]?.[0];
  }

  /** Deliveries in order of id from this one on. Nothing may be added or removed on the way. */
  *from(id: Id): Generator<Delivery> {
    let at = this.#chunkOf(id);
    for (let chunk = this.#chunks[at]; chunk !== undefined; chunk = this.#chunks[++at]) {
      const place = lowerBound(chunk, id);
      for (const delivery of place === 0 ? chunk : chunk.slice(place)) yield delivery;
    }
  }
}
