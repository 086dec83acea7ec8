/**
 * Counting and finding bits in string values, whatever form they have, without converting them: a Bytes is read where it
 * is, a string through a small buffer, a piece at a time. Bits are counted from the highest of the first byte, and loops go
 * by four bytes at once where the memory allows.
 */

import { Buffer } from "../platform/bytes.ts";
import { Bytes, type StringValue, textOf } from "./bytes.ts";

const PIECE = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(PIECE);

/** The bytes from `start` on: all of them up to `end` where they can be had for nothing, else a piece of them. */
function pieceOf(value: string | Bytes, start: number, end: number): Buffer {
  if (value instanceof Bytes) return value.raw.subarray(start, end);
  const length = Math.min(PIECE, end - start);
  scratch.latin1Write(value.substring(start, start + length), 0, length);
  return scratch.subarray(0, length);
}

/** A string value that can be read byte by byte. */
export function readable(value: StringValue): string | Bytes {
  return value instanceof Bytes ? value : textOf(value);
}

export function byteAt(value: string | Bytes, index: number): number {
  if (index >= value.length) return 0;
  return typeof value === "string" ? value.charCodeAt(index) : value.raw[index]!;
}

function bitsIn(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** How many bytes at the start of a buffer come before an address that four-byte words may begin at. */
const unaligned = (buffer: Buffer) => Math.min(buffer.length, (4 - (buffer.byteOffset & 3)) & 3);

const NO_WORDS = new Int32Array(0);

/** The whole four-byte words of a buffer from `head` on. */
function wordsOf(buffer: Buffer, head: number): Int32Array {
  const count = (buffer.length - head) >>> 2;
  return count === 0 ? NO_WORDS : new Int32Array(buffer.buffer, buffer.byteOffset + head, count);
}

function countIn(buffer: Buffer): number {
  const head = unaligned(buffer);
  let count = 0;
  for (let i = 0; i < head; i++) count += bitsIn(buffer[i]!);
  const words = wordsOf(buffer, head);
  for (let i = 0; i < words.length; i++) count += bitsIn(words[i]!);
  for (let i = head + words.length * 4; i < buffer.length; i++) count += bitsIn(buffer[i]!);
  return count;
}

/** How many bits are set in the bytes from `start` (inclusive) to `end` (exclusive). */
export function countBits(value: string | Bytes, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; ) {
    const piece = pieceOf(value, at, end);
    count += countIn(piece);
    at += piece.length;
  }
  return count;
}

/** The first byte of a buffer that is not `byte`; its length when there is none. */
function firstOther(buffer: Buffer, byte: number): number {
  const head = unaligned(buffer);
  let i = 0;
  while (i < head && buffer[i] === byte) i++;
  if (i < head) return i;
  const words = wordsOf(buffer, head);
  const word = byte === 0 ? 0 : -1;
  let w = 0;
  while (w < words.length && words[w] === word) w++;
  i = head + w * 4;
  while (i < buffer.length && buffer[i] === byte) i++;
  return i;
}

/** The first bit with this value among those from `start` to `end`, both inclusive; -1 when there is none. */
export function findBit(value: string | Bytes, bit: 0 | 1, start: number, end: number): number {
  const none = bit === 1 ? 0 : 0xff;
  const lastByte = Math.floor(end / 8);
  let at = Math.floor(start / 8);
  // The first byte may be only partly in the range; the last one is checked by the position found.
  const found = firstInByte(byteAt(value, at), bit, start % 8);
  if (found < 8) return at * 8 + found <= end ? at * 8 + found : -1;
  at++;
  while (at <= lastByte) {
    const piece = pieceOf(value, at, lastByte + 1);
    const i = firstOther(piece, none);
    if (i < piece.length) {
      const position = (at + i) * 8 + firstInByte(piece[i]!, bit, 0);
      return position <= end ? position : -1;
    }
    at += piece.length;
  }
  return -1;
}

/** The first bit of a byte with this value, from bit number `from` on; 8 when there is none. */
function firstInByte(byte: number, bit: 0 | 1, from: number): number {
  const wanted = (bit === 1 ? byte : ~byte) & (0xff >> from);
  return wanted === 0 ? 8 : Math.clz32(wanted) - 24;
}

export type BitOperation = "and" | "or" | "xor" | "not";

/** Combines string values bit by bit; shorter ones, and those that do not exist, are zeros at their end. */
export function combineBits(operation: BitOperation, values: readonly (StringValue | undefined)[]): Bytes {
  const sources = values.map(bufferOf);
  let length = 0;
  for (const source of sources) length = Math.max(length, source.length);
  const result = Buffer.alloc(length);
  for (const [i, source] of sources.entries()) {
    if (i === 0) source.copy(result);
    else if (operation !== "not") combineInto(result, source, operation);
  }
  if (operation === "not") invert(result);
  return new Bytes(result);
}

function bufferOf(value: StringValue | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (value instanceof Bytes) return value.raw.subarray(0, value.length);
  return Buffer.from(textOf(value), "latin1");
}

function invert(buffer: Buffer): void {
  const words = wordsOf(buffer, 0);
  for (let i = 0; i < words.length; i++) words[i] = ~words[i]!;
  for (let i = words.length * 4; i < buffer.length; i++) buffer[i] = ~buffer[i]!;
}

function combineInto(result: Buffer, source: Buffer, operation: "and" | "or" | "xor"): void {
  const aligned = unaligned(source) === 0;
  const words = aligned ? wordsOf(source, 0) : NO_WORDS;
  const target = wordsOf(result, 0);
  const count = words.length;
  if (operation === "and") for (let i = 0; i < count; i++) target[i]! &= words[i]!;
  else if (operation === "or") for (let i = 0; i < count; i++) target[i]! |= words[i]!;
  else for (let i = 0; i < count; i++) target[i]! ^= words[i]!;
  for (let i = count * 4; i < source.length; i++) {
    const byte = source[i]!;
    if (operation === "and") result[i]! &= byte;
    else if (operation === "or") result[i]! |= byte;
    else result[i]! ^= byte;
  }
  if (operation === "and") result.fill(0, source.length);
}
