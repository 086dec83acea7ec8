/**
 * Inflating (RFC 1951) with a state that can be saved and restored: what Node's zlib cannot do, and what a reader needs that may
 * be killed in the middle of a compressed file whose beginning is no longer stored. The state is the last 32 KiB of what came
 * out, the code lengths of the block that it is in, and the few bytes of input that are not used up.
 *
 * Input may end anywhere. Each step (a block's header with its codes, a symbol with its distance) is decoded as if more zeros
 * followed; if it has used more bits than there are, it is forgotten and done again when there is more input.
 *
 * Codes of up to ten bits, which are nearly all, are one look into a table; longer ones are decoded bit by bit.
 */

export const WINDOW = 32_768;
/** What is put out at once. */
const OUTPUT = 65_536;
/** Input must be followed by so many zeros. */
export const PADDING = 16;
const FAST_BITS = 10;
const MAX_BITS = 15;
const END_OF_BLOCK = 256;

const LENGTH_BASE = new Uint16Array([
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
]);
const LENGTH_EXTRA = new Uint8Array([
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
]);
const DISTANCE_BASE = new Uint16Array([
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
]);
const DISTANCE_EXTRA = new Uint8Array([
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
]);
const CODE_LENGTH_ORDER = new Uint8Array([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);

/** What the bytes say cannot be. */
export class BadDeflate extends Error {}

/** A prefix code. `fast` has, by the next ten bits, symbol × 16 + length; 0 where the code is longer or there is none. */
class Code {
  readonly fast = new Uint16Array(1 << FAST_BITS);
  readonly counts = new Uint16Array(MAX_BITS + 1);
  readonly symbols = new Uint16Array(288);

  build(lengths: Uint8Array, from: number, to: number, what: string): void {
    const { fast, counts, symbols } = this;
    counts.fill(0);
    fast.fill(0);
    for (let at = from; at < to; at++) counts[lengths[at]!]!++;
    const used = to - from - counts[0]!;
    counts[0] = 0;
    const offsets = new Uint16Array(MAX_BITS + 2);
    const next = new Uint16Array(MAX_BITS + 2);
    let left = 1;
    let code = 0;
    for (let bits = 1; bits <= MAX_BITS; bits++) {
      left = left * 2 - counts[bits]!;
      if (left < 0) throw new BadDeflate(`${what} codes that are too many`);
      code = (code + counts[bits - 1]!) << 1;
      next[bits] = code;
      offsets[bits + 1] = offsets[bits]! + counts[bits]!;
    }
    // One code alone, or none, is how a block says that it has one distance or none.
    if (left > 0 && used > 1) throw new BadDeflate(`${what} codes that are too few`);
    for (let at = from; at < to; at++) {
      const bits = lengths[at]!;
      if (bits === 0) continue;
      symbols[offsets[bits]!++] = at - from;
      const reversed = reverse(next[bits]!++, bits);
      if (bits > FAST_BITS) continue;
      const entry = ((at - from) << 4) | bits;
      for (let slot = reversed; slot < 1 << FAST_BITS; slot += 1 << bits) fast[slot] = entry;
    }
  }
}

function reverse(code: number, bits: number): number {
  let reversed = 0;
  for (let bit = 0; bit < bits; bit++) reversed |= ((code >> bit) & 1) << (bits - 1 - bit);
  return reversed;
}

const FIXED_LENGTHS = new Uint8Array(320);
FIXED_LENGTHS.fill(8, 0, 144).fill(9, 144, 256).fill(7, 256, 280).fill(8, 280, 288).fill(5, 288, 320);

type Phase = "header" | "stored" | "symbols" | "done";
const PHASES: readonly Phase[] = ["header", "stored", "symbols", "done"];
/** Bytes of a saved state before the code lengths and the window. */
const STATE_HEAD = 16;

export class Inflate {
  /** What came out before, as far back as a distance reaches; then what has come out and was not taken. */
  readonly #out = new Uint8Array(WINDOW + OUTPUT);
  #at = WINDOW;
  /** How much of the window is there. */
  #history = 0;
  #phase: Phase = "header";
  #isLast = false;
  #storedLeft = 0;
  readonly #lengths = new Uint8Array(320);
  #literals = 0;
  #distances = 0;
  readonly #code = new Code();
  readonly #distanceCode = new Code();
  // The bits being decoded: `#hold` has `#bits` of them, the next input is at `#next`.
  #input: Uint8Array = new Uint8Array(PADDING);
  #end = 0;
  #next = 0;
  #hold = 0;
  #bits = 0;

  get isDone(): boolean {
    return this.#phase === "done";
  }

  /**
   * Decodes input from a bit on, until the input is used up, there is no more room for what comes out, or the stream has ended.
   * Answers the bit that it has come to. `input` has `PADDING` zeros behind `end`.
   */
  run(input: Uint8Array, end: number, bit: number): number {
    this.#input = input;
    this.#end = end;
    this.#seek(bit);
    while (this.#phase !== "done") {
      const before = this.#position();
      let goesOn: boolean;
      if (this.#phase === "symbols") goesOn = this.#decodeSymbols();
      else if (this.#phase === "stored") goesOn = this.#copyStored();
      else {
        goesOn = this.#readHeader();
        if (!goesOn) this.#seek(before);
      }
      if (!goesOn) break;
    }
    return this.#position();
  }

  /** Whether what has come out must be taken before more can. */
  get isFull(): boolean {
    return this.#at > WINDOW + OUTPUT - 258;
  }

  /** What has come out since the last time. */
  take(): Buffer {
    const taken = Buffer.from(this.#out.subarray(WINDOW, this.#at));
    this.#history = Math.min(WINDOW, this.#history + taken.length);
    this.#out.copyWithin(WINDOW - this.#history, this.#at - this.#history, this.#at);
    this.#at = WINDOW;
    return taken;
  }

  /** For the next stream: nothing of this one is left. */
  reset(): void {
    this.#at = WINDOW;
    this.#history = 0;
    this.#phase = "header";
    this.#isLast = false;
  }

  /** Everything but the input that is not used up. What has come out must have been taken. */
  save(): Buffer {
    const head = Buffer.alloc(STATE_HEAD);
    const codes = this.#phase === "symbols" ? this.#literals + this.#distances : 0;
    head.writeUInt8(PHASES.indexOf(this.#phase), 0);
    head.writeUInt8(this.#isLast ? 1 : 0, 1);
    head.writeUInt16LE(codes === 0 ? 0 : this.#literals, 2);
    head.writeUInt16LE(codes === 0 ? 0 : this.#distances, 4);
    head.writeUInt32LE(this.#storedLeft, 8);
    head.writeUInt32LE(this.#history, 12);
    return Buffer.concat([head, this.#lengths.subarray(0, codes), this.#out.subarray(WINDOW - this.#history, WINDOW)]);
  }

  restore(state: Buffer): void {
    this.#at = WINDOW;
    this.#phase = PHASES[state.readUInt8(0)]!;
    this.#isLast = state.readUInt8(1) === 1;
    this.#literals = state.readUInt16LE(2);
    this.#distances = state.readUInt16LE(4);
    this.#storedLeft = state.readUInt32LE(8);
    this.#history = state.readUInt32LE(12);
    const codes = this.#literals + this.#distances;
    this.#lengths.set(state.subarray(STATE_HEAD, STATE_HEAD + codes));
    if (codes > 0) this.#buildCodes();
    this.#out.set(state.subarray(STATE_HEAD + codes), WINDOW - this.#history);
  }

  // ---------------------------------------------------------------------------------------------- bits

  #seek(bit: number): void {
    this.#next = bit >>> 3;
    this.#hold = 0;
    this.#bits = 0;
    if ((bit & 7) !== 0) {
      this.#hold = this.#input[this.#next++]! >>> (bit & 7);
      this.#bits = 8 - (bit & 7);
    }
  }

  #position(): number {
    return this.#next * 8 - this.#bits;
  }

  get #isBeyondEnd(): boolean {
    return this.#position() > this.#end * 8;
  }

  /** Of up to 16 bits. Past the end there are zeros, and past those nothing, which counts as zero too. */
  #take(count: number): number {
    while (this.#bits < count) {
      this.#hold |= (this.#input[this.#next] ?? 0) << this.#bits;
      this.#next++;
      this.#bits += 8;
    }
    const value = this.#hold & ((1 << count) - 1);
    this.#hold >>>= count;
    this.#bits -= count;
    return value;
  }

  /** A symbol, bit by bit. */
  #decodeSlowly({ counts, symbols }: Code): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let bits = 1; bits <= MAX_BITS; bits++) {
      code |= this.#take(1);
      const count = counts[bits]!;
      if (code - count < first) return symbols[index + (code - first)]!;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    if (this.#isBeyondEnd) return 0;
    throw new BadDeflate("a code that does not exist");
  }

  // ---------------------------------------------------------------------------------------------- blocks

  /** False: there is not enough input for it. */
  #readHeader(): boolean {
    const isLast = this.#take(1) === 1;
    const kind = this.#take(2);
    if (this.#isBeyondEnd) return false;
    if (kind === 3) throw new BadDeflate("a block of an unknown kind");
    if (kind === 0) {
      this.#seek((this.#position() + 7) & ~7);
      const size = this.#take(16);
      const inverse = this.#take(16);
      if (this.#isBeyondEnd) return false;
      if (size !== (~inverse & 0xffff)) throw new BadDeflate("a stored block of two lengths");
      this.#storedLeft = size;
    } else if (kind === 1) {
      this.#lengths.set(FIXED_LENGTHS);
      this.#literals = 288;
      // The last two never occur, but make the code complete.
      this.#distances = 32;
      this.#buildCodes();
    } else if (!this.#readLengths()) {
      return false;
    }
    this.#isLast = isLast;
    this.#phase = kind === 0 ? "stored" : "symbols";
    return true;
  }

  /** The codes' lengths, which are themselves coded. */
  #readLengths(): boolean {
    const literals = this.#take(5) + 257;
    const distances = this.#take(5) + 1;
    const count = this.#take(4) + 4;
    const lengths = new Uint8Array(320);
    for (let at = 0; at < count; at++) lengths[CODE_LENGTH_ORDER[at]!] = this.#take(3);
    if (this.#isBeyondEnd) return false;
    if (literals > 286 || distances > 30) throw new BadDeflate("more codes than there are");
    this.#code.build(lengths, 0, 19, "lengths of");
    lengths.fill(0);
    for (let at = 0; at < literals + distances; ) {
      const symbol = this.#decodeSlowly(this.#code);
      let length = 0;
      let repeat = 1;
      if (symbol < 16) length = symbol;
      else if (symbol === 16) {
        if (at === 0 && !this.#isBeyondEnd) throw new BadDeflate("a length repeated before there is one");
        length = lengths[at - 1] ?? 0;
        repeat = 3 + this.#take(2);
      } else repeat = symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7);
      if (this.#isBeyondEnd) return false;
      if (at + repeat > literals + distances) throw new BadDeflate("more lengths than codes");
      lengths.fill(length, at, at + repeat);
      at += repeat;
    }
    if (lengths[END_OF_BLOCK] === 0) throw new BadDeflate("a block without an end");
    this.#lengths.set(lengths);
    this.#literals = literals;
    this.#distances = distances;
    this.#buildCodes();
    return true;
  }

  #buildCodes(): void {
    const both = this.#literals + this.#distances;
    this.#code.build(this.#lengths, 0, this.#literals, "symbols of");
    this.#distanceCode.build(this.#lengths, this.#literals, both, "distances of");
  }

  #endBlock(): void {
    this.#phase = this.#isLast ? "done" : "header";
  }

  #copyStored(): boolean {
    const from = this.#position() >>> 3;
    const size = Math.min(this.#storedLeft, this.#end - from, this.#out.length - this.#at);
    this.#out.set(this.#input.subarray(from, from + size), this.#at);
    this.#at += size;
    this.#storedLeft -= size;
    this.#seek((from + size) * 8);
    if (this.#storedLeft > 0) return false;
    this.#endBlock();
    return !this.isFull;
  }

  /** Symbols until the block ends. False: input or room is used up. */
  #decodeSymbols(): boolean {
    const out = this.#out;
    const input = this.#input;
    const { fast } = this.#code;
    const endBit = this.#end * 8;
    const oldest = WINDOW - this.#history;
    const lastRoom = out.length - 258;
    for (;;) {
      if (this.#at > lastRoom) return false;
      const before = this.#next * 8 - this.#bits;
      while (this.#bits <= 24) {
        this.#hold |= (input[this.#next] ?? 0) << this.#bits;
        this.#next++;
        this.#bits += 8;
      }
      let symbol: number;
      const entry = fast[this.#hold & ((1 << FAST_BITS) - 1)]!;
      if (entry !== 0) {
        symbol = entry >>> 4;
        this.#hold >>>= entry & 15;
        this.#bits -= entry & 15;
      } else {
        symbol = this.#decodeSlowly(this.#code);
      }
      if (symbol < END_OF_BLOCK) {
        if (this.#next * 8 - this.#bits > endBit) return this.#again(before);
        out[this.#at++] = symbol;
        continue;
      }
      if (symbol === END_OF_BLOCK) {
        if (this.#isBeyondEnd) return this.#again(before);
        this.#endBlock();
        return true;
      }
      if (!this.#copyMatch(symbol - 257, oldest, before)) return false;
    }
  }

  /** What came out before comes out again. False: the input ends within it. */
  #copyMatch(lengthCode: number, oldest: number, before: number): boolean {
    if (lengthCode > 28) {
      if (this.#isBeyondEnd) return this.#again(before);
      throw new BadDeflate("a length that does not exist");
    }
    const length = LENGTH_BASE[lengthCode]! + this.#take(LENGTH_EXTRA[lengthCode]!);
    while (this.#bits <= 24) {
      this.#hold |= (this.#input[this.#next] ?? 0) << this.#bits;
      this.#next++;
      this.#bits += 8;
    }
    const entry = this.#distanceCode.fast[this.#hold & ((1 << FAST_BITS) - 1)]!;
    let code: number;
    if (entry !== 0) {
      code = entry >>> 4;
      this.#hold >>>= entry & 15;
      this.#bits -= entry & 15;
    } else {
      code = this.#decodeSlowly(this.#distanceCode);
    }
    const distance = code > 29 ? 0 : DISTANCE_BASE[code]! + this.#take(DISTANCE_EXTRA[code]!);
    if (this.#isBeyondEnd) return this.#again(before);
    const out = this.#out;
    let at = this.#at;
    let from = at - distance;
    if (distance === 0 || from < oldest) throw new BadDeflate("a distance to before the beginning");
    this.#at = at + length;
    if (distance >= length && length > 32) out.copyWithin(at, from, from + length);
    else while (at < this.#at) out[at++] = out[from++]!;
    return true;
  }

  /** Not enough input for what was begun at a bit: back to there. */
  #again(bit: number): false {
    this.#seek(bit);
    return false;
  }
}
