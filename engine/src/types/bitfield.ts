/**
 * BITFIELD's integers: 1 to 64 bits wide, signed or not, at any bit of a string. Up to 32 bits they are plain numbers; wider
 * ones, and increments past 2^52, are bigint, so that every result is exact.
 */
import { INT64_MAX, narrow } from "../lib/numbers.ts";
import { byteAt } from "./bits.ts";
import type { Bytes } from "./bytes.ts";

export interface FieldType {
  readonly signed: boolean;
  readonly bits: number;
}

export type Overflow = "wrap" | "sat" | "fail";

const NARROW_BITS = 32;
const SMALL = 2 ** 52;

/** The integer at a bit; bytes beyond the end are zero. */
export function readField(value: string | Bytes, type: FieldType, offset: number): number | bigint {
  const { signed, bits } = type;
  const first = Math.floor(offset / 8);
  const last = Math.floor((offset + bits - 1) / 8);
  const below = 7 - ((offset + bits - 1) % 8);
  if (bits <= NARROW_BITS) {
    let all = 0;
    for (let i = first; i <= last; i++) all = all * 256 + byteAt(value, i);
    const field = Math.floor(all / 2 ** below) % 2 ** bits;
    return signed && field >= 2 ** (bits - 1) ? field - 2 ** bits : field;
  }
  let all = 0n;
  for (let i = first; i <= last; i++) all = (all << 8n) | BigInt(byteAt(value, i));
  const field = all >> BigInt(below);
  return narrow(signed ? BigInt.asIntN(bits, field) : BigInt.asUintN(bits, field));
}

/** Writes an integer that fits its type; the bytes must be long enough. */
export function writeField(bytes: Bytes, type: FieldType, offset: number, value: number | bigint): void {
  let rest = BigInt.asUintN(type.bits, BigInt(value));
  let at = offset + type.bits;
  while (at > offset) {
    const index = Math.floor((at - 1) / 8);
    const from = Math.max(offset, index * 8);
    const count = at - from;
    const below = (index + 1) * 8 - at;
    const mask = ((1 << count) - 1) << below;
    const part = Number(BigInt.asUintN(count, rest)) << below;
    bytes.put(index, (bytes.at(index) & ~mask) | part);
    rest >>= BigInt(count);
    at = from;
  }
}

/** value + increment brought into the type's range; undefined where that fails. A SET is an increment of 0. */
export function fitField(
  value: number | bigint,
  increment: number | bigint,
  type: FieldType,
  overflow: Overflow,
): number | bigint | undefined {
  if (type.bits <= NARROW_BITS && isSmall(value) && isSmall(increment)) {
    return fitNarrow(value, increment, type, overflow);
  }
  return fitWide(BigInt(value), BigInt(increment), type, overflow);
}

const isSmall = (value: number | bigint): value is number =>
  typeof value === "number" && value < SMALL && value > -SMALL;

function fitNarrow(value: number, increment: number, type: FieldType, overflow: Overflow): number | undefined {
  const span = 2 ** type.bits;
  const min = type.signed ? -span / 2 : 0;
  const max = min + span - 1;
  const sum = value + increment;
  // An unsigned field takes a negative value as the large number that its bits spell.
  const above = sum > max || (!type.signed && value < 0);
  if (!above && sum >= min) return sum;
  if (overflow === "fail") return undefined;
  if (overflow === "sat") return above ? max : min;
  return ((((sum - min) % span) + span) % span) + min;
}

function fitWide(value: bigint, increment: bigint, type: FieldType, overflow: Overflow): number | bigint | undefined {
  const { signed, bits } = type;
  const span = 1n << BigInt(bits);
  const min = signed ? -span / 2n : 0n;
  const max = min + span - 1n;
  const sum = value + increment;
  // Redis subtracts a signed value from the maximum in 64 bits; far below the minimum that wraps, and counts as above it.
  const wraps = signed && bits < 64 && max - value > INT64_MAX;
  const above = sum > max || (!signed && value < 0n) || wraps;
  if (!above && sum >= min) return narrow(sum);
  if (overflow === "fail") return undefined;
  if (overflow === "sat") return narrow(above ? max : min);
  return narrow(signed ? BigInt.asIntN(bits, sum) : BigInt.asUintN(bits, sum));
}
