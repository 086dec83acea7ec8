/**
 * INCRBYFLOAT and HINCRBYFLOAT count in x86's 80-bit `long double`: a 64-bit mantissa, rounded to the nearest, ties to even.
 * A double would print other digits than Redis does (`0.1 + 0.2`), so the sums are made here with exact integers.
 *
 * A value is mantissa × 2^exponent with a signed mantissa of at most 64 bits; an exponent of Infinity is an infinity. The
 * lowest exponent is that of the denormals' last bit. Results are printed as C's `%.17Lf` with the zeros at the end cut.
 */
import { isDecimal, readHexFloat } from "./numbers.ts";

export interface LongDouble {
  readonly mantissa: bigint;
  readonly exponent: number;
}

const MANTISSA_BITS = 64;
const MIN_EXPONENT = -16445;
const MAX_EXPONENT = 16383 - (MANTISSA_BITS - 1);
/** Redis reads no longer words than this as a long double. */
const MAX_CHARS = 5119;

const ZERO: LongDouble = { mantissa: 0n, exponent: 0 };
const INFINITE: LongDouble = { mantissa: 1n, exponent: Infinity };

function bitLength(value: bigint): number {
  const text = value.toString(16);
  return text.length * 4 - Math.clz32(Number.parseInt(text.charAt(0), 16)) + 28;
}

/** The nearest long double to value × 2^exponent, value > 0; `more` says that a little more than that is meant. */
function round(value: bigint, exponent: number, more = false): LongDouble {
  const drop = Math.max(bitLength(value) - MANTISSA_BITS, MIN_EXPONENT - exponent);
  let mantissa = value;
  let scale = exponent;
  if (drop > 0) {
    const shift = BigInt(drop);
    mantissa = value >> shift;
    const rest = value - (mantissa << shift);
    const half = 1n << (shift - 1n);
    if (rest > half || (rest === half && (more || (mantissa & 1n) === 1n))) mantissa++;
    scale += drop;
  }
  if (mantissa === 0n) return ZERO;
  const spare = MANTISSA_BITS - bitLength(mantissa);
  return scale - spare > MAX_EXPONENT ? INFINITE : { mantissa, exponent: scale };
}

const negate = ({ mantissa, exponent }: LongDouble): LongDouble => ({ mantissa: -mantissa, exponent });

/**
 * A whole word as C's strtold reads it, without spaces before it. Undefined for NaN, for anything else, and for what is too
 * large or too small to be told from infinity or zero.
 */
export function parseLongDouble(word: string): LongDouble | undefined {
  if (word.length === 0 || word.length > MAX_CHARS) return undefined;
  const sign = word.charCodeAt(0);
  const start = sign === 0x2b || sign === 0x2d ? 1 : 0;
  const first = word.charCodeAt(start) | 0x20;
  let value: LongDouble | undefined;
  if (first === 0x69) value = /^[+-]?inf(?:inity)?$/i.test(word) ? INFINITE : undefined;
  else if ((word.charCodeAt(start + 1) | 0x20) === 0x78) value = parseHex(word);
  else value = parseDecimal(word, start);
  return value !== undefined && sign === 0x2d ? negate(value) : value;
}

function parseHex(word: string): LongDouble | undefined {
  const parts = readHexFloat(word);
  if (parts === undefined) return undefined;
  const { mantissa, exponent } = parts;
  if (mantissa === 0n) return ZERO;
  const top = bitLength(mantissa) + exponent;
  if (top > 17_000 || top < -17_000) return undefined;
  return inRange(round(mantissa, exponent));
}

function parseDecimal(word: string, start: number): LongDouble | undefined {
  if (!isDecimal(word, start)) return undefined;
  let e = start;
  while (e < word.length && (word.charCodeAt(e) | 0x20) !== 0x65) e++;
  const point = word.indexOf(".", start);
  const whole = word.slice(start, point < 0 ? e : point);
  const fraction = point < 0 ? "" : word.slice(point + 1, e);
  const digits = BigInt(whole + fraction);
  if (digits === 0n) return ZERO;
  const power = (e < word.length ? Number(word.slice(e + 1)) : 0) - fraction.length;
  const top = digits.toString().length + power;
  if (top > 5000 || top < -5000) return undefined;
  if (power >= 0) return inRange(round(digits * 10n ** BigInt(power), 0));
  const divisor = 10n ** BigInt(-power);
  const shift = Math.max(0, MANTISSA_BITS + 2 + bitLength(divisor) - bitLength(digits));
  const scaled = digits << BigInt(shift);
  const quotient = scaled / divisor;
  return inRange(round(quotient, -shift, quotient * divisor !== scaled));
}

/** What strtold reports as out of range is no number for Redis. */
function inRange(value: LongDouble): LongDouble | undefined {
  return value.mantissa === 0n || value.exponent === Infinity ? undefined : value;
}

export function isInfinite(value: LongDouble): boolean {
  return value.exponent === Infinity;
}

/** The sum; undefined where it is infinite or not a number. */
function add(a: LongDouble, b: LongDouble): LongDouble | undefined {
  if (isInfinite(a) || isInfinite(b)) return undefined;
  const exponent = Math.min(a.exponent, b.exponent);
  const sum = (a.mantissa << BigInt(a.exponent - exponent)) + (b.mantissa << BigInt(b.exponent - exponent));
  if (sum === 0n) return ZERO;
  const value = round(sum < 0n ? -sum : sum, exponent);
  if (isInfinite(value)) return undefined;
  return sum < 0n ? negate(value) : value;
}

const FRACTION_DIGITS = 17;
const FRACTION = 10n ** BigInt(FRACTION_DIGITS);

/** As Redis prints it for people: 17 digits behind the point, the zeros at the end cut. */
function format({ mantissa, exponent }: LongDouble): string {
  const negative = mantissa < 0n;
  const size = negative ? -mantissa : mantissa;
  if (exponent >= 0) return `${negative ? "-" : ""}${size << BigInt(exponent)}`;
  const shift = BigInt(-exponent);
  const scaled = size * FRACTION;
  let quotient = scaled >> shift;
  const rest = scaled - (quotient << shift);
  const half = 1n << (shift - 1n);
  if (rest > half || (rest === half && (quotient & 1n) === 1n)) quotient++;
  if (quotient === 0n) return "0";
  const digits = quotient.toString().padStart(FRACTION_DIGITS + 1, "0");
  const point = digits.length - FRACTION_DIGITS;
  let end = digits.length;
  while (end > point && digits.charCodeAt(end - 1) === 0x30) end--;
  const text = end > point ? `${digits.slice(0, point)}.${digits.slice(point, end)}` : digits.slice(0, point);
  return negative ? `-${text}` : text;
}

/**
 * Fixed-point numbers below this size with at most SMALL_DIGITS digits behind the point: the error of a long double stays
 * far behind the seventeenth digit, so that the exact decimal sum is what Redis prints.
 */
const SMALL = 8;
const SMALL_DIGITS = 12;
const SMALL_SCALE = 1e12;

/** `-d.ddd` times 10^12; NaN for any other form. */
function readSmall(word: string): number {
  const negative = word.charCodeAt(0) === 0x2d;
  const start = negative ? 1 : 0;
  const end = word.length;
  if (end - start > SMALL_DIGITS + 2 || end === start) return Number.NaN;
  let value = word.charCodeAt(start) - 0x30;
  if (value < 0 || value >= SMALL) return Number.NaN;
  let digits = 0;
  if (end > start + 1) {
    if (word.charCodeAt(start + 1) !== 0x2e) return Number.NaN;
    for (let i = start + 2; i < end; i++) {
      const digit = word.charCodeAt(i) - 0x30;
      if (digit < 0 || digit > 9) return Number.NaN;
      value = value * 10 + digit;
      digits++;
    }
  }
  value *= 10 ** (SMALL_DIGITS - digits);
  return negative ? -value : value;
}

function formatSmall(scaled: number): string {
  if (scaled === 0) return "0";
  const size = Math.abs(scaled);
  const whole = Math.floor(size / SMALL_SCALE);
  const rest = size - whole * SMALL_SCALE;
  let text = String(whole);
  if (rest > 0) {
    const digits = String(rest).padStart(SMALL_DIGITS, "0");
    let end = digits.length;
    while (digits.charCodeAt(end - 1) === 0x30) end--;
    text += `.${digits.slice(0, end)}`;
  }
  return scaled < 0 ? `-${text}` : text;
}

/** What `addLongDouble` throws: for a first or a second word that is no number, and for a sum that is not finite. */
export interface SumErrors {
  readonly left: unknown;
  readonly right: unknown;
  readonly sum: unknown;
}

/** The sum of two words as INCRBYFLOAT stores it. */
export function addLongDouble(a: string, b: string, errors: SumErrors): string {
  const small = readSmall(a) + readSmall(b);
  if (!Number.isNaN(small)) return formatSmall(small);
  const left = parseLongDouble(a);
  if (left === undefined) throw errors.left;
  const right = parseLongDouble(b);
  if (right === undefined) throw errors.right;
  const sum = add(left, right);
  if (sum === undefined) throw errors.sum;
  return format(sum);
}
