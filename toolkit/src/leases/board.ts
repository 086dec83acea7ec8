/**
 * The memory that a process shares with the thread that renews its leases: a board of slots, one for each lease.
 *
 * Most leases are given back long before a renewal is due. So telling the thread about one must cost next to nothing: no message
 * and no wake-up, only a few bytes written to where the thread will look by itself.
 *
 *   word    64 bits: the microsecond until which the lease is valid, by the clock that all threads share, and a generation
 *   length  32 bits: how long the text is; 0 for a slot that is not in use
 *   text    what the thread needs to know, as JSON
 *
 * The near side writes text, word, length, in that order, and reads the word whenever it wants to know what is left. The far
 * side looks at all slots from time to time. It takes a lease over when word and length are the same before and after reading
 * the text, and afterwards replaces the word only if it is still the one that it knows (compare and exchange): an answer that
 * comes late cannot touch a slot that belongs to another lease by then.
 */
import { Buffer } from "node:buffer";
import { threadsMicros } from "../base/clock.ts";

export const SLOTS = 256;
const TEXT_BYTES = 512;
const GENERATIONS = 4_096n;

export class Board {
  readonly memory: SharedArrayBuffer;
  readonly #words: BigInt64Array;
  readonly #lengths: Int32Array;
  readonly #texts: Buffer;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(SLOTS * (8 + 4 + TEXT_BYTES))) {
    this.memory = memory;
    this.#words = new BigInt64Array(memory, 0, SLOTS);
    this.#lengths = new Int32Array(memory, SLOTS * 8, SLOTS);
    this.#texts = Buffer.from(memory, SLOTS * 12);
  }

  /** False when the text is too long for a slot. */
  write(slot: number, text: string, validForMs: number, generation: number): boolean {
    const bytes = Buffer.byteLength(text, "utf8");
    if (bytes > TEXT_BYTES) return false;
    this.#texts.write(text, slot * TEXT_BYTES, "utf8");
    Atomics.store(this.#words, slot, wordOf(threadsMicros(), validForMs, BigInt(generation) % GENERATIONS));
    Atomics.store(this.#lengths, slot, bytes);
    return true;
  }

  clear(slot: number): void {
    Atomics.store(this.#lengths, slot, 0);
  }

  validForMs(slot: number): number {
    return Number(Atomics.load(this.#words, slot) / GENERATIONS - threadsMicros()) / 1_000;
  }

  inUse(slot: number): boolean {
    return Atomics.load(this.#lengths, slot) > 0;
  }

  word(slot: number): bigint {
    return Atomics.load(this.#words, slot);
  }

  /** The text, if nobody wrote to the slot meanwhile. */
  read(slot: number): { readonly word: bigint; readonly text: string } | null {
    const word = this.word(slot);
    const length = Atomics.load(this.#lengths, slot);
    if (length === 0) return null;
    const text = this.#texts.toString("utf8", slot * TEXT_BYTES, slot * TEXT_BYTES + length);
    return this.word(slot) === word && Atomics.load(this.#lengths, slot) === length ? { word, text } : null;
  }

  /** It was renewed by a request sent at `sentMicros`. The new word, or null when the slot is another lease's by now. */
  renewed(slot: number, word: bigint, sentMicros: bigint, validForMs: number): bigint | null {
    const next = wordOf(sentMicros, validForMs, word % GENERATIONS);
    return Atomics.compareExchange(this.#words, slot, word, next) === word ? next : null;
  }
}

function wordOf(sinceMicros: bigint, validForMs: number, generation: bigint): bigint {
  return (sinceMicros + BigInt(Math.max(0, Math.floor(validForMs * 1_000)))) * GENERATIONS + generation;
}
