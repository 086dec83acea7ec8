/**
 * A run of consecutive stream entries: what a node of Redis's stream is.
 *
 * A block is open while it is the last one: an array of entries, so that adding one copies nothing. It is sealed when the
 * next one begins: one packed string. Entries that were deleted stay in their block and are marked beside it; they count
 * for its fullness, as in Redis, because approximate trimming goes by blocks.
 *
 * An entry is a string: its id as a difference to the block's first id (see `code`), one char that says whether the fields
 * are the block's own, then the packed words: the values alone, or fields and values in turn.
 *
 * A difference is written so that the order of ids is the order of strings, and so that no code is the beginning of
 * another. Thus `entry >= code` says "this id or a later one" without decoding anything.
 */

import { stringBytes } from "../collection.ts";
import { differenceSize, EMPTY_LISTPACK, integerSize, wordSize } from "../listpack-size.ts";
import { flat, own, pack, entry as packedEntry, skip, unpack, wordAt, wordStart } from "../packed.ts";
import { type Half, half, type Id, makeId, msOf, seqOf } from "./ids.ts";

const SAME_FIELDS = "\0";
const OWN_FIELDS = "\x01";

/** What a block costs in memory beside its text. */
const BLOCK_BYTES = 400;
/** What an entry of an open block costs beside its text. */
const OPEN_ENTRY_BYTES = 8;

// One char up to SMALL; else a char for the width and the number, big end first.
const SMALL = 247;
const IN_2 = 248;
const IN_4 = 249;
const IN_6 = 250;
const IN_8 = 251;

function encodeHalf(value: Half): string {
  if (typeof value === "number") {
    if (value <= SMALL) return String.fromCharCode(value);
    if (value <= 0xffff) return String.fromCharCode(IN_2, value >> 8, value & 0xff);
    if (value <= 0xffffffff) {
      return String.fromCharCode(IN_4, value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff);
    }
  }
  const bytes = makeId(value, 0);
  return value <= 0xffffffffffff
    ? String.fromCharCode(IN_6) + bytes.slice(2, 8)
    : String.fromCharCode(IN_8) + bytes.slice(0, 8);
}

const WIDTHS = [2, 4, 6, 8];

/** How many chars the encoded half at `at` takes. */
function widthAt(text: string, at: number): number {
  const first = text.charCodeAt(at);
  return first <= SMALL ? 1 : 1 + WIDTHS[first - IN_2]!;
}

function decodeHalf(text: string, at: number): Half {
  const first = text.charCodeAt(at);
  if (first <= SMALL) return first;
  if (first === IN_2) return (text.charCodeAt(at + 1) << 8) | text.charCodeAt(at + 2);
  const end = at + widthAt(text, at);
  if (first === IN_8) {
    let value = 0n;
    for (let i = at + 1; i < end; i++) value = (value << 8n) | BigInt(text.charCodeAt(i));
    return half(value);
  }
  let value = 0;
  for (let i = at + 1; i < end; i++) value = value * 256 + text.charCodeAt(i);
  return value;
}

function sum(a: Half, b: Half): Half {
  if (typeof a === "number" && typeof b === "number") {
    const total = a + b;
    if (total <= Number.MAX_SAFE_INTEGER) return total;
  }
  return half(BigInt(a) + BigInt(b));
}

function difference(a: Half, b: Half): Half {
  return typeof a === "number" && typeof b === "number" ? a - b : half(BigInt(a) - BigInt(b));
}

/** An entry of a block for the files: with its id, its words as given to XADD, and whether it was deleted. */
export interface BlockEntry {
  readonly id: Id;
  readonly words: readonly string[];
  readonly deleted: boolean;
}

export class Block {
  /** The id of its first entry, which need not live any more. */
  readonly first: Id;
  /** The id of its last entry, which need not live any more. */
  last: Id;
  /** Entries that live, and entries that were deleted. */
  live = 0;
  deleted = 0;
  /** The fields of its first entry, which the others need not repeat. */
  readonly fields: readonly string[];
  /** Of the stream when it was made: an older one than the stream's says that a frozen copy may have it too. */
  readonly generation: number;
  /** What it takes in memory, about. */
  sizeBytes: number;

  readonly #ms: Half;
  readonly #seq: Half;
  /** Its size as a listpack, without the two counts, which change. */
  #listpackBytes: number;
  /** The entries while it is open; null when sealed. */
  #open: string[] | null = [];
  /** The entries packed, when it is sealed. */
  #sealed = "";
  /** Marks of deleted entries by position; null while there are none. */
  #dead: Uint8Array | null = null;
  /** How many entries at the front are deleted, and where the first that is not begins when sealed. */
  #head = 0;
  #headAt = 0;

  constructor(first: Id, fields: readonly string[], generation: number) {
    this.generation = generation;
    this.first = first;
    this.last = first;
    this.fields = fields;
    this.#ms = msOf(first);
    this.#seq = seqOf(first);
    this.#listpackBytes = EMPTY_LISTPACK + integerSize(fields.length) + integerSize(0);
    this.sizeBytes = BLOCK_BYTES;
    for (const field of fields) {
      this.#listpackBytes += wordSize(field);
      this.sizeBytes += stringBytes(field.length) + 8;
    }
  }

  /** All entries, deleted ones too. */
  get entries(): number {
    return this.live + this.deleted;
  }

  get listpackBytes(): number {
    return this.#listpackBytes + integerSize(this.live) + integerSize(this.deleted);
  }

  // ---------------------------------------------------------------------------------------------- ids

  /** The difference of an id, which must not be before the block's first, to that. */
  code(id: Id): string {
    return this.#code(msOf(id), seqOf(id));
  }

  #code(ms: Half, seq: Half): string {
    const later = difference(ms, this.#ms);
    return encodeHalf(later) + encodeHalf(later === 0 ? difference(seq, this.#seq) : seq);
  }

  /** The id of the entry that begins at `at` of a text. */
  idAt(text: string, at: number): Id {
    const ms = decodeHalf(text, at);
    const seq = decodeHalf(text, at + widthAt(text, at));
    return makeId(sum(this.#ms, ms), ms === 0 ? sum(this.#seq, seq) : seq);
  }

  /** The same as people read it. */
  idTextAt(text: string, at: number): string {
    const ms = decodeHalf(text, at);
    const seq = decodeHalf(text, at + widthAt(text, at));
    return `${sum(this.#ms, ms)}-${ms === 0 ? sum(this.#seq, seq) : seq}`;
  }

  /** The fields and values in turn of the entry between two places of a text. */
  wordsAt(text: string, from: number, to: number): string[] {
    let at = from + widthAt(text, from);
    at += widthAt(text, at);
    const kind = text[at++];
    const words: string[] = [];
    if (kind === OWN_FIELDS) {
      for (; at < to; at = skip(text, at)) words.push(wordAt(text, at));
      return words;
    }
    for (const field of this.fields) {
      words.push(field, wordAt(text, at));
      at = skip(text, at);
    }
    return words;
  }

  // ---------------------------------------------------------------------------------------------- adding

  /** Adds an entry at the end: fields and values in turn, from a place of the command's words on. */
  add(id: Id, words: readonly string[], from: number): void {
    const { fields } = this;
    const count = (words.length - from) >> 1;
    let same = count === fields.length;
    for (let i = 0; same && i < count; i++) same = words[from + 2 * i] === fields[i];
    const ms = msOf(id);
    const seq = seqOf(id);
    let size = integerSize(0) + differenceSize(ms, this.#ms) + differenceSize(seq, this.#seq);
    let text = this.#code(ms, seq) + (same ? SAME_FIELDS : OWN_FIELDS);
    for (let i = from; i < words.length; i++) {
      const word = words[i]!;
      if (same && ((i - from) & 1) === 0) continue;
      text += packedEntry(word);
      size += wordSize(word);
    }
    // The entry's number of elements closes it; an entry with fields of its own also says how many they are.
    size += same ? integerSize(count + 3) : integerSize(count) + integerSize(2 * count + 4);
    this.#listpackBytes += size;
    const open = this.#open ?? this.#unseal();
    open.push(flat(text));
    this.sizeBytes += stringBytes(text.length) + OPEN_ENTRY_BYTES;
    this.last = id;
    this.live++;
  }

  /** Packs the entries: no more will come. */
  seal(): void {
    const open = this.#open;
    if (open === null) return;
    let before = 0;
    for (const text of open) before += stringBytes(text.length) + OPEN_ENTRY_BYTES;
    this.#sealed = pack(open);
    this.#open = null;
    this.sizeBytes += stringBytes(this.#sealed.length) - before;
    this.#headAt = 0;
    for (let i = 0; i < this.#head; i++) this.#headAt = skip(this.#sealed, this.#headAt);
  }

  /** A sealed block has become the last again, since the one behind it went, and there is room in it. */
  #unseal(): string[] {
    const open = unpack(this.#sealed).map(own);
    this.sizeBytes -= stringBytes(this.#sealed.length);
    for (const text of open) this.sizeBytes += stringBytes(text.length) + OPEN_ENTRY_BYTES;
    this.#open = open;
    this.#sealed = "";
    return open;
  }

  // ---------------------------------------------------------------------------------------------- looking

  isDead(index: number): boolean {
    return this.#dead !== null && this.#dead[index] === 1;
  }

  /** Entries that are deleted at the front. */
  get head(): number {
    return this.#head;
  }

  /** The entries of an open block; of a sealed one, undefined. */
  get open(): readonly string[] | undefined {
    return this.#open ?? undefined;
  }

  get sealed(): string {
    return this.#sealed;
  }

  get headAt(): number {
    return this.#headAt;
  }

  /** All entries, unpacked; those of a sealed block share its memory. */
  list(): readonly string[] {
    return this.#open ?? unpack(this.#sealed);
  }

  /** The position of an entry with this id that lives, -1 if there is none. */
  find(id: Id): number {
    if (id < this.first || id > this.last) return -1;
    const code = this.code(id);
    if (this.#open !== null) {
      const index = seekOpen(this.#open, code);
      const entry = this.#open[index];
      return entry?.startsWith(code) && !this.isDead(index) ? index : -1;
    }
    const text = this.#sealed;
    let index = this.#head;
    for (let at = this.#headAt; at < text.length; at = skip(text, at), index++) {
      const start = wordStart(text, at);
      if (text.startsWith(code, start)) return this.isDead(index) ? -1 : index;
      if (isAtOrAfter(text, start, code)) return -1;
    }
    return -1;
  }

  /** The fields and values of the entry with this id, or undefined. */
  wordsOf(id: Id): string[] | undefined {
    const index = this.find(id);
    if (index < 0) return undefined;
    if (this.#open !== null) {
      const text = this.#open[index]!;
      return this.wordsAt(text, 0, text.length);
    }
    let at = this.#headAt;
    for (let i = this.#head; i < index; i++) at = skip(this.#sealed, at);
    return this.wordsAt(this.#sealed, wordStart(this.#sealed, at), skip(this.#sealed, at));
  }

  // ---------------------------------------------------------------------------------------------- deleting

  /** Marks the entry at this position, which must live, as deleted. */
  kill(index: number): void {
    let dead = this.#dead;
    const entries = this.live + this.deleted;
    if (dead === null || dead.length < entries) {
      const more = new Uint8Array(Math.max(entries, 2 * (dead?.length ?? 0)));
      if (dead !== null) more.set(dead);
      this.sizeBytes += more.length - (dead?.length ?? -96);
      this.#dead = dead = more;
    }
    dead[index] = 1;
    this.live--;
    this.deleted++;
    while (this.#head < entries && dead[this.#head] === 1) {
      this.#head++;
      if (this.#open === null) this.#headAt = skip(this.#sealed, this.#headAt);
    }
  }

  /** Deletes living entries from the front, at most `count` and only those before `limit`; returns how many. */
  killFront(count: number, limit: Id | undefined): number {
    const code = limit === undefined || limit <= this.first ? undefined : this.code(limit);
    let killed = 0;
    const entries = this.live + this.deleted;
    for (let index = this.#head; index < entries && killed < count; index++) {
      if (this.isDead(index)) continue;
      if (limit !== undefined && (code === undefined || this.#isNotBefore(index, code))) break;
      this.kill(index);
      killed++;
    }
    return killed;
  }

  /** Whether the entry at this position, which is the first that lives or comes after it, is not before this code. */
  #isNotBefore(index: number, code: string): boolean {
    if (this.#open !== null) return this.#open[index]! >= code;
    let at = this.#headAt;
    for (let i = this.#head; i < index; i++) at = skip(this.#sealed, at);
    return isAtOrAfter(this.#sealed, wordStart(this.#sealed, at), code);
  }

  // ---------------------------------------------------------------------------------------------- whole

  /** Every entry, deleted ones too, for the files. */
  *all(): Generator<BlockEntry> {
    for (const [i, text] of this.list().entries()) {
      yield { id: this.idAt(text, 0), words: this.wordsAt(text, 0, text.length), deleted: this.isDead(i) };
    }
  }

  clone(generation: number): Block {
    const copy = new Block(this.first, this.fields, generation);
    copy.last = this.last;
    copy.live = this.live;
    copy.deleted = this.deleted;
    copy.sizeBytes = this.sizeBytes;
    copy.#listpackBytes = this.#listpackBytes;
    copy.#open = this.#open === null ? null : this.#open.slice();
    copy.#sealed = this.#sealed;
    copy.#dead = this.#dead === null ? null : this.#dead.slice();
    copy.#head = this.#head;
    copy.#headAt = this.#headAt;
    return copy;
  }
}

/** The position of the first entry of an open block that is not before this code. */
export function seekOpen(open: readonly string[], code: string): number {
  let low = 0;
  let high = open.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (open[middle]! < code) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether the entry that begins at `at` is not before this code. */
export function isAtOrAfter(text: string, at: number, code: string): boolean {
  for (let i = 0; i < code.length; i++) {
    const difference = text.charCodeAt(at + i) - code.charCodeAt(i);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
