/**
 * A small set of integers: the numbers in ascending order, all of one width, as bytes in a string.
 *
 * A string because it costs sixteen bytes beside its content where a typed array costs two hundred, and because it is as
 * easily searched: reading a number takes as many `charCodeAt`s as it has bytes. The width is 2, 4 or 8, whichever the
 * widest number ever in it needed, as in Redis's intset; big end first, two's complement.
 *
 * Numbers are int64: a JavaScript number where that is exact, a bigint past 2^53 (numbers.ts). They are compared as two
 * halves, so that no bigint is made on the way.
 */
import { own, splice } from "../packed.ts";

export type Int = number | bigint;

const TWO_32 = 4294967296;

/** How many bytes a number needs. */
export function widthOf(value: Int): 2 | 4 | 8 {
  if (typeof value === "bigint") return 8;
  if (value >= -0x8000 && value <= 0x7fff) return 2;
  return value >= -0x80000000 && value <= 0x7fffffff ? 4 : 8;
}

const highOf = (value: Int): number => (typeof value === "bigint" ? Number(value >> 32n) : Math.floor(value / TWO_32));
const lowOf = (value: Int, high: number): number =>
  typeof value === "bigint" ? Number(value & 0xffffffffn) : value - high * TWO_32;

const int16At = (text: string, at: number): number =>
  ((text.charCodeAt(at) << 24) | (text.charCodeAt(at + 1) << 16)) >> 16;

const int32At = (text: string, at: number): number =>
  (text.charCodeAt(at) << 24) |
  (text.charCodeAt(at + 1) << 16) |
  (text.charCodeAt(at + 2) << 8) |
  text.charCodeAt(at + 3);

/** Number `index`, counted from 0. */
export function intAt(text: string, width: number, index: number): Int {
  const at = index * width;
  if (width === 2) return int16At(text, at);
  const high = int32At(text, at);
  if (width === 4) return high;
  const low = int32At(text, at + 4) >>> 0;
  const value = high * TWO_32 + low;
  return Number.isSafeInteger(value) ? value : (BigInt(high) << 32n) | BigInt(low);
}

/** The index of a number that needs no more than the width; if it is missing, −1 − the index where it belongs. */
export function findInt(text: string, width: number, value: Int): number {
  if (width === 8) return findWide(text, value);
  let from = 0;
  let to = text.length / width;
  while (from < to) {
    const middle = (from + to) >> 1;
    const here = width === 2 ? int16At(text, middle * 2) : int32At(text, middle * 4);
    if (here === value) return middle;
    if (here < (value as number)) from = middle + 1;
    else to = middle;
  }
  return -1 - from;
}

function findWide(text: string, value: Int): number {
  const high = highOf(value);
  const low = lowOf(value, high);
  let from = 0;
  let to = text.length >> 3;
  while (from < to) {
    const middle = (from + to) >> 1;
    const at = middle * 8;
    let order = int32At(text, at) - high;
    if (order === 0) order = (int32At(text, at + 4) >>> 0) - low;
    if (order === 0) return middle;
    if (order < 0) from = middle + 1;
    else to = middle;
  }
  return -1 - from;
}

const bytesOfInt32 = (n: number): string =>
  String.fromCharCode(n >>> 24, (n >>> 16) & 0xff, (n >>> 8) & 0xff, n & 0xff);

function encodeInt(value: Int, width: number): string {
  if (width === 2) return String.fromCharCode(((value as number) >> 8) & 0xff, (value as number) & 0xff);
  if (width === 4) return bytesOfInt32(value as number);
  const high = highOf(value);
  return bytesOfInt32(high) + bytesOfInt32(lowOf(value, high));
}

/** The text with a number put in at an index. */
export function insertInt(text: string, width: number, index: number, value: Int): string {
  return splice(text, index * width, index * width, encodeInt(value, width));
}

/** The text without the number at an index. */
export function removeInt(text: string, width: number, index: number): string {
  return splice(text, index * width, (index + 1) * width, "");
}

/** The same numbers at a larger width. */
export function rewiden(text: string, width: number, to: number): string {
  let wider = "";
  for (let i = 0; i < text.length / width; i++) wider += encodeInt(intAt(text, width, i), to);
  return own(wider);
}
