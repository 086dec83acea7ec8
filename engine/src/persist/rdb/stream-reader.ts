/**
 * Streams, read: nodes that are listpacks, then the stream's own ids and counters, then its consumer groups.
 *
 * A node's listpack begins with what its entries have in common: how many live, how many are deleted, the fields of the
 * first, a zero. Each entry is then: flags, the differences of its id to the node's, fields and values (values alone where
 * the fields are the first's), and the number of these elements, for walking backwards.
 */
import {
  addCounters,
  type BlockEntry,
  type Counter,
  type Group,
  type Id,
  MIN_ID,
  makeId,
  msOf,
  StreamValue,
  seqOf,
  UNKNOWN,
} from "../../types/stream/index.ts";
import type { Builder } from "./builders.ts";
import type { Blob, Cursor } from "./cursor.ts";
import type { Entries } from "./entries.ts";
import { readListpack } from "./listpack.ts";
import { RDB } from "./types.ts";

const DELETED = 1;
const SAME_FIELDS = 2;
const ID_BYTES = 16;

// What comes next; in this order, the last four once for each group or consumer.
const NODES = 0;
const OWN = 1;
const GROUP = 2;
const PENDING = 3;
const CONSUMERS = 4;
const CONSUMER = 5;
const CONSUMER_PENDING = 6;
const COMPLETE = 7;

/** A number that was written as unsigned and means a signed one. */
const signed = (value: number | bigint): Counter =>
  typeof value === "bigint" ? addCounters(BigInt.asIntN(64, value), 0) : value;

/** What a group has delivered, as its own list says. */
interface GroupDelivery {
  readonly id: Id;
  readonly timeMs: number;
  readonly count: Counter;
  claimed: boolean;
}

export class StreamBuilder implements Builder {
  readonly #type: number;
  readonly #entries: Entries;
  readonly #stream = new StreamValue();
  #phase = NODES;
  #left: number;
  #lastNodeId: Id | undefined;

  #groupsLeft = 0;
  #group!: Group;
  #consumersLeft = 0;
  #consumer = "";
  #seenMs = 0;
  /** The group's pending entries in order of id; a consumer claims each of them exactly once. */
  #deliveries: GroupDelivery[] = [];
  #unclaimed = 0;

  constructor(type: number, nodes: number, entries: Entries) {
    this.#type = type;
    this.#left = nodes;
    this.#entries = entries;
  }

  read(cursor: Cursor): StreamValue {
    while (this.#phase !== COMPLETE) {
      this.#step(cursor);
      cursor.commit();
    }
    return this.#stream;
  }

  #step(cursor: Cursor): void {
    switch (this.#phase) {
      case NODES:
        if (this.#left === 0) this.#phase = OWN;
        else this.#node(cursor);
        return;
      case OWN:
        this.#own(cursor);
        return;
      case GROUP:
        if (this.#groupsLeft === 0) this.#phase = COMPLETE;
        else this.#groupHead(cursor);
        return;
      case PENDING:
        if (this.#left === 0) this.#phase = CONSUMERS;
        else this.#pending(cursor);
        return;
      case CONSUMERS:
        this.#consumersLeft = cursor.length();
        this.#phase = CONSUMER;
        return;
      case CONSUMER:
        if (this.#consumersLeft === 0) this.#endGroup(cursor);
        else this.#consumerHead(cursor);
        return;
      default:
        if (this.#left === 0) {
          this.#consumersLeft--;
          this.#phase = CONSUMER;
        } else this.#claim(cursor);
    }
  }

  // ---------------------------------------------------------------------------------------------- nodes

  #node(cursor: Cursor): void {
    const id = cursor.word();
    if (id.length !== ID_BYTES) throw cursor.corrupt("a stream node's id is not 16 bytes");
    if (this.#lastNodeId !== undefined && id <= this.#lastNodeId) throw cursor.corrupt("stream nodes are out of order");
    const entries = this.#entries;
    entries.reset();
    const blob = cursor.blob();
    readListpack(blob, entries);
    const node = new NodeReader(id, entries, blob);
    this.#stream.loadBlock(id, node.fields, node.entries());
    this.#lastNodeId = node.lastId;
    this.#left--;
  }

  // ---------------------------------------------------------------------------------------------- the stream itself

  #own(cursor: Cursor): void {
    const stream = this.#stream;
    const id = () => {
      const ms = cursor.length64();
      return makeId(ms, cursor.length64());
    };
    const length = cursor.length();
    const lastId = id();
    if (length !== stream.size) throw cursor.corrupt(`a stream of ${stream.size} entries says it has ${length}`);
    if (this.#lastNodeId !== undefined && this.#lastNodeId > lastId) {
      throw cursor.corrupt("a stream's last id is smaller than an entry's");
    }
    let entriesAdded: Counter = length;
    let maxDeletedId: Id = MIN_ID;
    if (this.#type !== RDB.STREAM_LISTPACKS) {
      id();
      maxDeletedId = id();
      entriesAdded = signed(cursor.length64());
    }
    this.#groupsLeft = cursor.length();
    stream.lastId = lastId;
    stream.maxDeletedId = maxDeletedId;
    stream.entriesAdded = entriesAdded;
    const entries = stream.cursor();
    stream.firstId = entries.next() ? entries.id : MIN_ID;
    this.#phase = GROUP;
  }

  // ---------------------------------------------------------------------------------------------- groups

  #groupHead(cursor: Cursor): void {
    const name = cursor.word();
    const ms = cursor.length64();
    const lastId = makeId(ms, cursor.length64());
    const read = this.#type === RDB.STREAM_LISTPACKS ? readBefore(this.#stream, lastId) : signed(cursor.length64());
    const pending = cursor.length();
    if (this.#stream.groups.has(name)) throw cursor.corrupt("a stream has a group twice");
    this.#group = this.#stream.addGroup(name, lastId, read);
    this.#left = pending;
    this.#deliveries = [];
    this.#unclaimed = 0;
    this.#phase = PENDING;
  }

  #pending(cursor: Cursor): void {
    const id = cursor.slice(ID_BYTES);
    const timeMs = cursor.time();
    const count = signed(cursor.length64());
    const previous = this.#deliveries.at(-1);
    if (previous !== undefined && previous.id >= id) throw cursor.corrupt("a group's pending entries are out of order");
    this.#deliveries.push({ id, timeMs, count, claimed: false });
    this.#unclaimed++;
    this.#left--;
  }

  #consumerHead(cursor: Cursor): void {
    const name = cursor.word();
    const seenMs = cursor.time();
    if (this.#type === RDB.STREAM_LISTPACKS_3) cursor.time();
    const pending = cursor.length();
    if (this.#group.consumers.has(name)) throw cursor.corrupt("Duplicate stream consumer detected");
    this.#group.addConsumer(name, seenMs);
    this.#consumer = name;
    this.#seenMs = seenMs;
    this.#left = pending;
    this.#phase = CONSUMER_PENDING;
  }

  #claim(cursor: Cursor): void {
    const id = cursor.slice(ID_BYTES);
    const delivery = find(this.#deliveries, id);
    if (delivery === undefined || delivery.claimed) {
      throw cursor.corrupt("a consumer's pending entry is not one of its group's");
    }
    const consumer = this.#group.seen(this.#consumer, this.#seenMs)!;
    this.#group.addDelivery(id, consumer, delivery.timeMs, delivery.count);
    delivery.claimed = true;
    this.#unclaimed--;
    this.#left--;
  }

  #endGroup(cursor: Cursor): void {
    if (this.#unclaimed > 0) throw cursor.corrupt("a group's pending entry belongs to no consumer");
    this.#groupsLeft--;
    this.#phase = GROUP;
  }
}

/** The delivery with this id in an ordered list. */
function find(deliveries: readonly GroupDelivery[], id: Id): GroupDelivery | undefined {
  let low = 0;
  let high = deliveries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (deliveries[middle]!.id < id) low = middle + 1;
    else high = middle;
  }
  const delivery = deliveries[low];
  return delivery?.id === id ? delivery : undefined;
}

/** How many entries a group has read that old versions did not count, where the stream's ends tell. */
function readBefore(stream: StreamValue, id: Id): Counter {
  if (stream.entriesAdded === 0) return 0;
  if (id === stream.lastId || (stream.size === 0 && id <= stream.lastId)) return stream.entriesAdded;
  if (id > stream.lastId) return UNKNOWN;
  if (id < stream.firstId) return 0;
  return id === stream.firstId ? 1 : UNKNOWN;
}

/** The entries of one node, from the elements of its listpack. */
class NodeReader {
  readonly fields: readonly string[];
  lastId: Id;
  readonly #first: Id;
  readonly #entries: Entries;
  readonly #blob: Blob;
  readonly #live: number;
  readonly #deleted: number;
  #at = 0;

  constructor(first: Id, entries: Entries, blob: Blob) {
    this.#first = first;
    this.lastId = first;
    this.#entries = entries;
    this.#blob = blob;
    this.#live = this.#count();
    this.#deleted = this.#count();
    this.fields = this.#words(this.#count());
    if (this.#count() !== 0) throw this.#corrupt("the head of a stream node has no end");
  }

  #corrupt(reason: string): Error {
    return this.#blob.corrupt(this.#blob.start, reason);
  }

  #integer(): number | bigint {
    const value = this.#at < this.#entries.count ? this.#entries.int(this.#at++) : undefined;
    if (value === undefined) throw this.#corrupt("a stream node lacks a number");
    return value;
  }

  #count(): number {
    const count = this.#integer();
    if (count < 0 || count > 0xffffffff) throw this.#corrupt("a stream node has an impossible count");
    return Number(count);
  }

  #word(): string {
    return this.#entries.word(this.#at++);
  }

  #words(count: number): string[] {
    if (count > this.#entries.count - this.#at) throw this.#corrupt("a stream node ends too early");
    const words: string[] = [];
    for (let i = 0; i < count; i++) words.push(this.#word());
    return words;
  }

  /** Every entry, deleted ones too; throws where the node contradicts itself, at the latest at its end. */
  *entries(): Generator<BlockEntry> {
    let live = 0;
    let deleted = 0;
    const total = this.#entries.count;
    while (this.#at < total) {
      const start = this.#at;
      const flags = this.#count();
      const id = this.#id(live + deleted === 0);
      const words = (flags & SAME_FIELDS) === 0 ? this.#words(this.#count() * 2) : this.#values();
      const size = this.#at - start;
      if (this.#count() !== size) throw this.#corrupt("a stream entry's number of elements is wrong");
      if ((flags & DELETED) === 0) live++;
      else deleted++;
      yield { id, words, deleted: (flags & DELETED) !== 0 };
    }
    if (live !== this.#live || deleted !== this.#deleted) throw this.#corrupt("a stream node's counts are wrong");
    if (live === 0) throw this.#corrupt("a stream node has no living entry");
  }

  /** The node's fields with values of the entry's own. */
  #values(): string[] {
    const { fields } = this;
    if (fields.length > this.#entries.count - this.#at) throw this.#corrupt("a stream node ends too early");
    const words: string[] = [];
    for (const field of fields) words.push(field, this.#word());
    return words;
  }

  #id(isFirst: boolean): Id {
    const ms = plus(msOf(this.#first), this.#integer());
    const id = makeId(ms, plus(seqOf(this.#first), this.#integer()));
    if (isFirst ? id < this.lastId : id <= this.lastId) throw this.#corrupt("stream entries are out of order");
    this.lastId = id;
    return id;
  }
}

/** The sum of an unsigned and a signed 64-bit number, wrapped around. */
function plus(a: number | bigint, b: number | bigint): number | bigint {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (sum >= 0 && sum <= Number.MAX_SAFE_INTEGER) return sum;
  }
  const sum = BigInt.asUintN(64, BigInt(a) + BigInt(b));
  return sum <= 0x1fffffffffffffn ? Number(sum) : sum;
}
