/**
 * A stream: entries in order of their ids, and consumer groups that read them.
 *
 * Entries live in blocks (block.ts) that begin and end exactly where Redis's nodes do, since trimming with `~` removes whole
 * nodes and so lets everybody see where they end. Blocks are kept in one array; trimming moves its beginning along and
 * cleans up now and then, so that neither end costs more as the stream grows.
 *
 * A frozen stream (types/value.ts) has the same blocks. A block is this stream's own if it is of its generation; freezing
 * begins a new one, and a block of an older one is copied before it changes.
 *
 * Invariants: blocks are in order and do not overlap; `size` is the sum of their living entries; `firstId` is the first
 * living entry, or zero when there is none.
 */

import type { Collection, Limits } from "../collection.ts";
import { own } from "../packed.ts";
import { Block, type BlockEntry } from "./block.ts";
import { StreamCursor } from "./cursor.ts";
import { addCounters, type Counter, Group, type Ledger, subtractCounters, UNKNOWN } from "./groups.ts";
import { type Id, idAfter, MAX_ID, MIN_ID, makeId, msOf } from "./ids.ts";

export type { BlockEntry } from "./block.ts";
export { Block } from "./block.ts";
export { StreamCursor } from "./cursor.ts";
export { addCounters, Consumer, type Counter, Group, UNKNOWN } from "./groups.ts";
export {
  formatId,
  HALF_MAX,
  type Half,
  type Id,
  idAfter,
  idBefore,
  MAX_ID,
  MIN_ID,
  makeId,
  msOf,
  parseHalves,
  parseId,
  parseIdOrEdge,
  seqOf,
} from "./ids.ts";
export { Delivery } from "./pending.ts";

const STREAM_BYTES = 480;
/** No block is larger, whatever the configuration says. */
const MAX_BLOCK_BYTES = 1 << 30;

/** In the place of a block that was taken out of the front. */
const GONE = new Block(MIN_ID, [], 0);

/** Counts what readers may wait for, over all streams. */
let arrivals = 0;

export class StreamValue implements Collection {
  static readonly typeName = "stream";

  /**
   * The number of its latest arrival, different from every other stream's. Readers that wait go by it: last ids move
   * without an entry (XSETID), and a stream may be replaced by another.
   */
  arrival = 0;

  /** The largest id ever added or set, the smallest that lives, the largest that was deleted by XDEL. */
  lastId: Id = MIN_ID;
  firstId: Id = MIN_ID;
  maxDeletedId: Id = MIN_ID;
  /** Entries ever added. */
  entriesAdded: Counter = 0;
  readonly groups = new Map<string, Group>();

  #blocks: Block[] = [];
  /** Where the blocks begin in the array; what is before it is gone. */
  #begin = 0;
  #size = 0;
  #generation = 0;
  readonly #ledger: Ledger = { bytes: STREAM_BYTES };

  get type(): "stream" {
    return "stream";
  }

  get encoding(): string {
    return "stream";
  }

  get size(): number {
    return this.#size;
  }

  get sizeBytes(): number {
    return this.#ledger.bytes;
  }

  /** Lets readers that wait look again. */
  arrive(): void {
    this.arrival = ++arrivals;
  }

  // ---------------------------------------------------------------------------------------------- blocks

  get blockCount(): number {
    return this.#blocks.length - this.#begin;
  }

  block(index: number): Block | undefined {
    return index < 0 ? undefined : this.#blocks[this.#begin + index];
  }

  /** All of them as they are now, in order. */
  blocks(): readonly Block[] {
    return this.#blocks.slice(this.#begin);
  }

  /** The last block that does not begin behind this id; -1 if all do. */
  blockAt(id: Id): number {
    const blocks = this.#blocks;
    let low = this.#begin;
    let high = blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (blocks[middle]!.first <= id) low = middle + 1;
      else high = middle;
    }
    return low - 1 - this.#begin;
  }

  /** The block at a place, to be changed. */
  #own(block: Block, index: number): Block {
    if (block.generation === this.#generation) return block;
    const copy = block.clone(this.#generation);
    this.#blocks[this.#begin + index] = copy;
    return copy;
  }

  /** Takes a block out, whatever lives in it. */
  #remove(block: Block, index: number): void {
    this.#size -= block.live;
    this.#ledger.bytes -= block.sizeBytes + 8;
    if (index > 0) {
      this.#blocks.splice(this.#begin + index, 1);
      return;
    }
    // The array keeps its length until half of it is empty; an emptied slot must not keep its block alive.
    this.#blocks[this.#begin++] = GONE;
    if (this.#begin === this.#blocks.length) this.#blocks = [];
    else if (this.#begin < 32 || this.#begin * 2 < this.#blocks.length) return;
    else this.#blocks = this.#blocks.slice(this.#begin);
    this.#begin = 0;
  }

  // ---------------------------------------------------------------------------------------------- adding

  /** The id for an entry that is added now; undefined when there are no more. */
  nextId(nowMs: number): Id | undefined {
    const { lastId } = this;
    if (nowMs > msOf(lastId)) return makeId(nowMs, 0);
    return idAfter(lastId);
  }

  /** Adds an entry whose id is larger than the last: fields and values in turn, from a place of the words on. */
  add(id: Id, words: readonly string[], from: number, limits: Limits): void {
    const last = this.block(this.blockCount - 1);
    let block = last && this.#own(last, this.blockCount - 1);
    if (block === undefined || this.#isFull(block, words, from, limits)) {
      if (block !== undefined) this.#seal(block);
      const fields: string[] = [];
      for (let i = from; i < words.length; i += 2) fields.push(own(words[i]!));
      block = new Block(id, fields, this.#generation);
      this.#ledger.bytes += block.sizeBytes + 8;
      this.#blocks.push(block);
    }
    const before = block.sizeBytes;
    block.add(id, words, from);
    this.#ledger.bytes += block.sizeBytes - before;
    this.#size++;
    this.entriesAdded = addCounters(this.entriesAdded, 1);
    this.lastId = id;
    if (this.#size === 1) this.firstId = id;
    this.arrive();
  }

  #isFull(block: Block, words: readonly string[], from: number, limits: Limits): boolean {
    const maxBytes = limits.streamNodeMaxBytes;
    const most = maxBytes === 0 || maxBytes > MAX_BLOCK_BYTES ? MAX_BLOCK_BYTES : maxBytes;
    let bytes = block.listpackBytes;
    for (let i = from; i < words.length; i++) bytes += words[i]!.length;
    if (bytes >= most) return true;
    return limits.streamNodeMaxEntries > 0 && block.entries >= limits.streamNodeMaxEntries;
  }

  #seal(block: Block): void {
    const before = block.sizeBytes;
    block.seal();
    this.#ledger.bytes += block.sizeBytes - before;
  }

  // ---------------------------------------------------------------------------------------------- looking

  has(id: Id): boolean {
    const block = this.block(this.blockAt(id));
    return block !== undefined && block.find(id) >= 0;
  }

  /** The fields and values in turn of an entry, or undefined. They may share memory with the stream. */
  wordsOf(id: Id): string[] | undefined {
    return this.block(this.blockAt(id))?.wordsOf(id);
  }

  cursor(start: Id = MIN_ID, end: Id = MAX_ID, reverse = false): StreamCursor {
    return new StreamCursor(this, start, end, reverse);
  }

  /** The largest id that lives; zero when none does. */
  get lastLivingId(): Id {
    const block = this.#blocks.at(-1);
    if (block !== undefined && block.find(block.last) >= 0) return block.last;
    const cursor = this.cursor(MIN_ID, MAX_ID, true);
    return cursor.next() ? cursor.id : MIN_ID;
  }

  // ---------------------------------------------------------------------------------------------- removing

  /** Deletes an entry; false if there is none. */
  delete(id: Id): boolean {
    const at = this.blockAt(id);
    const block = this.block(at);
    if (block === undefined) return false;
    const index = block.find(id);
    if (index < 0) return false;
    if (block.live === 1) this.#remove(block, at);
    else {
      const own = this.#own(block, at);
      const before = own.sizeBytes;
      own.kill(index);
      this.#size--;
      this.#ledger.bytes += own.sizeBytes - before;
    }
    if (id > this.maxDeletedId) this.maxDeletedId = id;
    if (this.#size === 0) this.firstId = MIN_ID;
    else if (id === this.firstId) this.#findFirst();
    return true;
  }

  #findFirst(): void {
    const cursor = this.cursor();
    this.firstId = cursor.next() ? cursor.id : MIN_ID;
  }

  /**
   * Removes entries from the front until at most `maxLength` are left. With `whole`, only whole blocks, and no more than
   * `most` entries (0: any number). Returns how many were removed.
   */
  trimToLength(maxLength: number, whole: boolean, most: number): number {
    let removed = 0;
    for (let block = this.block(0); block !== undefined && this.#size > maxLength; block = this.block(0)) {
      const { live } = block;
      if (most > 0 && removed + live > most) break;
      if (this.#size - live >= maxLength) {
        this.#remove(block, 0);
        removed += live;
        continue;
      }
      if (!whole) removed += this.#killFront(block, this.#size - maxLength, undefined);
      break;
    }
    return this.#trimmed(removed);
  }

  /** The same for entries with ids smaller than `minId`. */
  trimBefore(minId: Id, whole: boolean, most: number): number {
    let removed = 0;
    for (let block = this.block(0); block !== undefined; block = this.block(0)) {
      const { live } = block;
      if (most > 0 && removed + live > most) break;
      if (block.last < minId) {
        this.#remove(block, 0);
        removed += live;
        continue;
      }
      if (!whole) removed += this.#killFront(block, Number.POSITIVE_INFINITY, minId);
      break;
    }
    return this.#trimmed(removed);
  }

  /** Deletes entries of the first block. */
  #killFront(first: Block, count: number, before: Id | undefined): number {
    const block = this.#own(first, 0);
    const bytes = block.sizeBytes;
    const killed = block.killFront(count, before);
    this.#size -= killed;
    this.#ledger.bytes += block.sizeBytes - bytes;
    return killed;
  }

  #trimmed(removed: number): number {
    if (this.#size === 0) this.firstId = MIN_ID;
    else if (removed > 0) this.#findFirst();
    return removed;
  }

  /** The first id in the first block, deleted or not, that trimming by id would leave; the largest id of an empty stream. */
  get firstIdInBlocks(): Id {
    return this.block(0)?.first ?? MAX_ID;
  }

  // ---------------------------------------------------------------------------------------------- groups

  /** Makes a group whose name is not taken. */
  addGroup(name: string, lastId: Id, entriesRead: Counter): Group {
    const group = new Group(own(name), lastId, entriesRead, this.#ledger);
    this.groups.set(group.name, group);
    return group;
  }

  removeGroup(name: string): boolean {
    const group = this.groups.get(name);
    if (group === undefined) return false;
    group.release();
    return this.groups.delete(name);
  }

  /** Groups by name, as Redis lists them. */
  sortedGroups(): Group[] {
    return [...this.groups.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Moves a group on to an entry that it reads now, which lies behind all that it has read. */
  advance(group: Group, id: Id): void {
    if (group.entriesRead !== UNKNOWN && !this.#hasDeletedFrom(id)) {
      group.entriesRead = addCounters(group.entriesRead, 1);
    } else if (this.entriesAdded !== 0) group.entriesRead = this.#addedUpTo(id);
    group.lastId = id;
  }

  /** How many entries a group has yet to read; null when deletions make it impossible to tell. */
  lag(group: Group): Counter | null {
    if (this.entriesAdded === 0) return 0;
    if (group.entriesRead !== UNKNOWN && !this.#hasDeletedFrom(group.lastId)) {
      return subtractCounters(this.entriesAdded, group.entriesRead);
    }
    const read = this.#addedUpTo(group.lastId);
    return read === UNKNOWN ? null : subtractCounters(this.entriesAdded, read);
  }

  /** Whether among what is left there is a gap at this id or behind it, as far as the largest deleted id tells. */
  #hasDeletedFrom(id: Id): boolean {
    const { maxDeletedId } = this;
    return this.#size > 0 && maxDeletedId !== MIN_ID && this.firstId <= maxDeletedId && id <= maxDeletedId;
  }

  /** How many entries had been added when the one with this id was; UNKNOWN when that cannot be told. */
  #addedUpTo(id: Id): Counter {
    if (this.entriesAdded === 0) return 0;
    if (this.#size === 0 && id <= this.lastId) return this.entriesAdded;
    if (id === this.lastId) return this.entriesAdded;
    if (id > this.lastId) return UNKNOWN;
    if (this.maxDeletedId === MIN_ID || this.maxDeletedId < this.firstId) {
      const gone = subtractCounters(this.entriesAdded, this.#size);
      if (id < this.firstId) return gone;
      if (id === this.firstId) return addCounters(gone, 1);
    }
    return UNKNOWN;
  }

  // ---------------------------------------------------------------------------------------------- whole

  /**
   * Adds a block as a file has it: its entries, deleted ones too, behind all that are there. Ids, counters and groups are
   * set by the caller afterwards.
   */
  loadBlock(first: Id, fields: readonly string[], entries: Iterable<BlockEntry>): void {
    const previous = this.#blocks.at(-1);
    if (previous !== undefined) this.#seal(previous);
    const block = new Block(first, fields.map(own), this.#generation);
    let index = 0;
    const dead: number[] = [];
    for (const entry of entries) {
      block.add(entry.id, entry.words, 0);
      if (entry.deleted) dead.push(index);
      index++;
    }
    for (const position of dead) block.kill(position);
    this.#blocks.push(block);
    this.#ledger.bytes += block.sizeBytes + 8;
    this.#size += block.live;
    this.arrive();
  }

  freeze(): StreamValue {
    const frozen = new StreamValue();
    frozen.#takeHead(this);
    frozen.#blocks = this.#blocks.slice(this.#begin);
    for (const [name, group] of this.groups) frozen.groups.set(name, group.freeze());
    this.#generation++;
    return frozen;
  }

  thaw(): void {
    for (const group of this.groups.values()) group.thaw();
  }

  #takeHead(other: StreamValue): void {
    this.lastId = other.lastId;
    this.firstId = other.firstId;
    this.maxDeletedId = other.maxDeletedId;
    this.entriesAdded = other.entriesAdded;
    this.#size = other.#size;
  }

  clone(): StreamValue {
    const copy = new StreamValue();
    copy.arrive();
    copy.#takeHead(this);
    for (const original of this.blocks()) {
      const block = original.clone(0);
      copy.#blocks.push(block);
      copy.#ledger.bytes += block.sizeBytes + 8;
    }
    for (const [name, group] of this.groups) copy.groups.set(name, group.clone(copy.#ledger));
    return copy;
  }
}
