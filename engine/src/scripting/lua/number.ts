/**
 * Numbers as Lua 5.1 writes and reads them: `%.14g` one way, C's strtod and strtoul the other.
 */
import { formatG, isDecimal, isSpace, readHexFloat } from "../../lib/numbers.ts";

/**
 * A number as text. Every NaN that arithmetic makes on the reference's machines has its sign set, and C prints it; the sign
 * of a NaN cannot be seen from JavaScript.
 */
export function numberToString(value: number): string {
  if (value % 1 === 0 && value < 1e14 && value > -1e14) return value === 0 && 1 / value < 0 ? "-0" : String(value);
  return Number.isNaN(value) ? "-nan" : formatG(value, 14);
}

/**
 * The number that a string stands for, or undefined. Spaces around it are allowed, and a NUL ends it, since the reference
 * reads a C string.
 */
export function stringToNumber(text: string): number | undefined {
  const length = text.length;
  // The common case, a decimal integer that a double holds exactly, without copying anything: moments in microseconds have 16 digits.
  if (length > 0 && length <= 16) {
    let value = 0;
    let i = 0;
    for (; i < length; i++) {
      const digit = text.charCodeAt(i) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    if (i === length && value <= Number.MAX_SAFE_INTEGER) return value;
  }
  return length > LONGEST ? undefined : readNumber(text);
}

/** Reading a longer numeral would hold up everybody for a second: it is no number here. */
const LONGEST = 64 * 1024 * 1024;

function readNumber(text: string): number | undefined {
  const nul = text.indexOf("\0");
  let end = nul < 0 ? text.length : nul;
  let start = 0;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return readTrimmed(text.slice(start, end));
}

function readTrimmed(word: string): number | undefined {
  const sign = word.charCodeAt(0);
  const start = sign === 0x2b || sign === 0x2d ? 1 : 0;
  if (isDecimal(word, start)) return Number(word);
  const body = word.slice(start).toLowerCase();
  if (body === "inf" || body === "infinity") return sign === 0x2d ? -Infinity : Infinity;
  if (body === "nan" || /^nan\([a-z0-9_]*\)$/.test(body)) return NaN;
  const hex = readHexFloat(word);
  if (hex === undefined) return undefined;
  const value = Number(hex.mantissa) * 2 ** hex.exponent;
  return hex.negative ? -value : value;
}

/** Digits of a base other than ten, as strtoul reads them: 64 bits, a sign wraps round, spaces around. */
export function parseInteger(text: string, base: number): number | undefined {
  if (text.length > LONGEST) return undefined;
  const nul = text.indexOf("\0");
  const end = nul < 0 ? text.length : nul;
  let i = 0;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  const sign = text.charCodeAt(i);
  if (sign === 0x2b || sign === 0x2d) i++;
  if (base === 16 && text.charCodeAt(i) === 0x30 && (text.charCodeAt(i + 1) | 0x20) === 0x78) {
    if (digitOf(text.charCodeAt(i + 2)) < 16) i += 2;
  }
  const begin = i;
  let value = 0n;
  let small = 0;
  for (; i < end; i++) {
    const digit = digitOf(text.charCodeAt(i));
    if (digit >= base) break;
    if (small < 2 ** 40) {
      small = small * base + digit;
      value = BigInt(small);
    } else if (value < MAX) {
      value = value * BigInt(base) + BigInt(digit);
      if (value > MAX) value = MAX;
    }
  }
  if (i === begin) return undefined;
  while (i < end && isSpace(text.charCodeAt(i))) i++;
  if (i !== end) return undefined;
  if (sign === 0x2d && value < MAX) value = BigInt.asUintN(64, -value);
  return Number(value);
}

const MAX = 0xffffffffffffffffn;

/** A digit or letter as the digit it is in base 36; 99 for anything else. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x7a ? letter - 0x57 : 99;
}
