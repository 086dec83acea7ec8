/**
 * The words of one table (hash-table.ts), by place.
 *
 * A word as a string of V8's is a reference of 8 bytes to an object of 16 bytes and the chars. To compare it the processor waits twice,
 * for the reference and for the object; and the collector copies each new one twice and marks it for ever. So short words are kept as
 * bytes, in one piece of memory with a slot of the same size for each place: it follows from the place where the word is, and the
 * collector sees one object.
 *
 * A slot is some blocks of four bytes. Its last byte is the mark: 0 where the place is free, the word's length and one more where the
 * word is in the slot, and STRAY where it is too long for that and stands in `strings`. How many blocks there are is chosen for the words
 * that a table has when its memory is made, so that all of it takes the least. With no blocks, all words are strings.
 */
import { Buffer } from "../platform/bytes.ts";
import { wordOf } from "../platform/short-word.ts";
import { stringBytes } from "../types/collection.ts";

/**
 * Longer words are strings: what a slot saves is little beside them, what it wastes on shorter ones is not, and V8 compares long strings
 * faster than a loop over their chars.
 */
const MOST_BLOCKS = 8;
const STRAY = 255;
/** What a reference to a string takes. */
const REFERENCE_BYTES = 8;
/** How much longer than the first word of a table the others may be, by guess. */
const LONGER = 3;

/** The bytes of a block are read together, in the order that all processors have that Node is built for but one. */
const LITTLE_ENDIAN = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

const blocksFor = (length: number) => (length >> 2) + 1;

/** How many words there are of each length, in blocks; the last counts all that are longer. */
export type Lengths = Uint32Array;

export function countLength(length: number, lengths: Lengths): void {
  lengths[Math.min(blocksFor(length), MOST_BLOCKS + 1)]!++;
}

export const noLengths = (): Lengths => new Uint32Array(MOST_BLOCKS + 2);

/** The number of blocks with which such words take the least in so many places. */
export function chooseBlocks(lengths: Lengths, places: number): number {
  if (!LITTLE_ENDIAN) return 0;
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  // What the strings take, of words that are longer than so many blocks.
  let strings = 0;
  let strays = 0;
  for (let blocks = MOST_BLOCKS; blocks >= 0; blocks--) {
    const count = lengths[blocks + 1]!;
    strays += count;
    strings += count * stringBytes(4 * blocks + 2);
    const bytes = places * 4 * blocks + strings + (strays > 0 || blocks === 0 ? places * REFERENCE_BYTES : 0);
    if (bytes < least) {
      least = bytes;
      best = blocks;
    }
  }
  return best;
}

/** A guess at the same by a first word. */
export function guessBlocks(length: number): number {
  const blocks = blocksFor(length + LONGER);
  return LITTLE_ENDIAN && blocks <= MOST_BLOCKS ? blocks : 0;
}

/** What a word takes in a table of words like it, as a share of places that are three quarters full. */
export function wordBytes(length: number): number {
  const blocks = blocksFor(length);
  if (LITTLE_ENDIAN && blocks <= MOST_BLOCKS) return ((16 * blocks) / 3) | 0;
  return stringBytes(length) + 11;
}

export class WordColumn {
  readonly places: number;
  /** Blocks of each slot. */
  readonly blocks: number;
  /** The slots, one more than there are places, as bytes and as blocks. */
  readonly bytes: Buffer;
  readonly memory: Int32Array;
  /** Words that are in no slot. */
  strings: (string | undefined)[] | null;
  /** How many that are. */
  strays = 0;
  /** What all of it takes. */
  sizeBytes: number;

  constructor(places: number, blocks: number, memory = new ArrayBuffer((places + 1) * blocks * 4)) {
    this.places = places;
    this.blocks = blocks;
    this.bytes = Buffer.from(memory);
    this.memory = new Int32Array(memory);
    this.strings = null;
    this.sizeBytes = memory.byteLength;
  }

  #makeStrings(): (string | undefined)[] {
    this.strings = new Array(this.places + 1).fill(undefined);
    this.sizeBytes += (this.places + 1) * REFERENCE_BYTES;
    return this.strings;
  }

  /** Forgets all words; the room that strings have stays. */
  clear(): void {
    this.memory.fill(0);
    this.strings?.fill(undefined);
    this.strays = 0;
    this.sizeBytes = this.memory.byteLength + (this.strings === null ? 0 : (this.places + 1) * REFERENCE_BYTES);
  }

  clone(): WordColumn {
    const copy = new WordColumn(this.places, this.blocks, this.memory.slice().buffer as ArrayBuffer);
    copy.strings = this.strings === null ? null : this.strings.slice();
    copy.strays = this.strays;
    copy.sizeBytes = this.sizeBytes;
    return copy;
  }

  /** Whether words of this length have room in a slot. */
  fits(length: number): boolean {
    return length < this.blocks * 4;
  }

  /** The word at a place; undefined where it is free, or there is none. */
  at(place: number): string | undefined {
    const width = this.blocks * 4;
    if (width === 0) return this.strings === null ? undefined : this.strings[place];
    if (place >= this.places) return undefined;
    const start = place * width;
    const mark = this.bytes[start + width - 1]!;
    if (mark === STRAY) return this.strings![place];
    return mark === 0 ? undefined : wordOf(this.bytes, start, start + mark - 1);
  }

  /** Whether the slot of a place has this word; for one that fits, where the mark says its length. */
  holds(place: number, word: string): boolean {
    const { memory } = this;
    const { length } = word;
    const whole = length & ~3;
    let at = place * this.blocks;
    for (let i = 0; i < whole; i += 4) {
      const four =
        word.charCodeAt(i) |
        (word.charCodeAt(i + 1) << 8) |
        (word.charCodeAt(i + 2) << 16) |
        (word.charCodeAt(i + 3) << 24);
      if (memory[at++] !== four) return false;
    }
    const { bytes } = this;
    for (let i = whole, from = at * 4; i < length; i++, from++) if (bytes[from] !== word.charCodeAt(i)) return false;
    return true;
  }

  /** Puts a word at a free place. */
  put(place: number, word: string): void {
    const width = this.blocks * 4;
    const { length } = word;
    const { bytes } = this;
    const start = place * width;
    if (length < width) {
      for (let i = 0; i < length; i++) bytes[start + i] = word.charCodeAt(i);
      bytes[start + width - 1] = length + 1;
      return;
    }
    const strings = this.strings ?? this.#makeStrings();
    strings[place] = word;
    this.strays++;
    this.sizeBytes += stringBytes(length);
    if (width > 0) bytes[start + width - 1] = STRAY;
  }

  /** The word at a place is not wanted any more; a move may overwrite it, or `free` ends it. */
  drop(place: number): void {
    const word = this.strings === null ? undefined : this.strings[place];
    if (word === undefined) return;
    this.strays--;
    this.sizeBytes -= stringBytes(word.length);
  }

  /** Moves a word to a place whose own is of no use any more. */
  move(from: number, to: number): void {
    const { blocks, strings, memory } = this;
    for (let i = 0, a = from * blocks, b = to * blocks; i < blocks; i++) memory[b++] = memory[a++]!;
    if (strings !== null) strings[to] = strings[from];
  }

  /** Marks a place as free whose word was dropped, or moved. */
  free(place: number): void {
    const width = this.blocks * 4;
    if (width > 0) this.bytes[place * width + width - 1] = 0;
    if (this.strings !== null) this.strings[place] = undefined;
  }

  /**
   * Puts a word of another column at a free place. What strings take that stay strings is not counted here, since that would be a
   * look at each: who moves them sees to it that the sum over all columns stays what it is.
   */
  take(other: WordColumn, from: number, to: number): void {
    const { blocks } = other;
    const width = blocks * 4;
    const ownWidth = this.blocks * 4;
    const mark = width === 0 ? STRAY : other.bytes[from * width + width - 1]!;
    if (mark === STRAY) {
      const word = other.strings![from]!;
      if (ownWidth > 0 && word.length < ownWidth) {
        this.sizeBytes -= stringBytes(word.length);
        this.put(to, word);
        return;
      }
      const strings = this.strings ?? this.#makeStrings();
      strings[to] = word;
      this.strays++;
      if (ownWidth > 0) this.bytes[to * ownWidth + ownWidth - 1] = STRAY;
      return;
    }
    if (mark > ownWidth) {
      this.put(to, wordOf(other.bytes, from * width, from * width + mark - 1));
      return;
    }
    // Beyond the word's own chars anything may stand in a slot but for the mark.
    const source = other.memory;
    const target = this.memory;
    const count = Math.min(blocks, this.blocks);
    for (let i = 0, a = from * blocks, b = to * this.blocks; i < count; i++) target[b++] = source[a++]!;
    this.bytes[to * ownWidth + ownWidth - 1] = mark;
  }

  /** What the strings take, but for references to them: added to what another column takes that has them all, or a part. */
  get stringBytes(): number {
    const references = this.strings === null ? 0 : REFERENCE_BYTES;
    return this.sizeBytes - (this.places + 1) * (4 * this.blocks + references);
  }

  /** Counts a word's length among others. */
  count(place: number, lengths: Lengths): void {
    const width = this.blocks * 4;
    const mark = width === 0 ? STRAY : this.bytes[place * width + width - 1]!;
    const length = mark === STRAY ? this.strings![place]!.length : mark - 1;
    countLength(length, lengths);
  }
}
