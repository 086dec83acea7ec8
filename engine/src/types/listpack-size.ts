/**
 * How many bytes Redis's listpacks would take.
 *
 * Nothing here is stored that way, but answers depend on it: approximate trimming removes whole nodes of a stream, and a node is
 * full when its listpack is; a list in a file is cut into nodes where Redis would have cut it.
 */
import { parseInt64 } from "../lib/numbers.ts";

/** Header and end byte of an empty listpack. */
export const EMPTY_LISTPACK = 7;

/** An integer: its encoding, its bytes and the byte that says how long they are. */
export function integerSize(value: number | bigint): number {
  if (value >= 0 && value <= 127) return 2;
  if (value >= -4096 && value <= 4095) return 3;
  if (value >= -32768 && value <= 32767) return 4;
  if (value >= -8388608 && value <= 8388607) return 5;
  if (value >= -2147483648 && value <= 2147483647) return 6;
  return 10;
}

/** A word: as an integer where it spells one. */
export function wordSize(word: string): number {
  const length = word.length;
  if (length > 0 && length <= 20 && word.charCodeAt(0) <= 0x39) {
    const integer = parseInt64(word);
    if (integer !== undefined) return integerSize(integer);
  }
  const size = length + (length < 64 ? 1 : length < 4096 ? 2 : 5);
  return size + (size <= 127 ? 1 : size < 16383 ? 2 : size < 2097151 ? 3 : size < 268435455 ? 4 : 5);
}

/** The difference of two unsigned 64-bit numbers, kept as a signed one. */
export function differenceSize(to: number | bigint, from: number | bigint): number {
  if (typeof to === "number" && typeof from === "number") return integerSize(to - from);
  return integerSize(BigInt.asIntN(64, BigInt(to) - BigInt(from)));
}
