/**
 * Numbers as Redis reads and prints them. A word is a latin1 string; integers are int64, so those past 2^53 are bigint.
 */

export const INT64_MAX = 9223372036854775807n;
export const INT64_MIN = -9223372036854775808n;

/**
 * The int64 that a word spells in its one canonical form (`12`, `-3`; not `+1`, `01`, `-0`, ` 1`), as a number when it is
 * exact as a double and as a bigint otherwise; undefined for anything else.
 */
export function parseInt64(word: string): number | bigint | undefined {
  const length = word.length;
  if (length === 0 || length > 20) return undefined;
  let i = 0;
  const negative = word.charCodeAt(0) === 0x2d;
  if (negative) {
    if (length === 1) return undefined;
    i = 1;
  }
  const first = word.charCodeAt(i);
  if (first === 0x30) return length === 1 ? 0 : undefined;
  if (first < 0x30 || first > 0x39) return undefined;
  if (length - i > 16) return parseLongInt64(word, i);
  let value = 0;
  for (let k = i; k < length; k++) {
    const digit = word.charCodeAt(k) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  if (value > Number.MAX_SAFE_INTEGER) return parseLongInt64(word, i);
  return negative ? -value : value;
}

function parseLongInt64(word: string, start: number): number | bigint | undefined {
  for (let i = start; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return undefined;
  }
  const value = BigInt(word);
  if (value > INT64_MAX || value < INT64_MIN) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Brings a bigint back to a number where that loses nothing. */
export function narrow(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/**
 * A float as Redis reads an argument: a whole word that strtod takes, without spaces before it; decimal or hexadecimal, or
 * `inf`, `+infinity`. Undefined for NaN, for anything else, and for what is too large or too small to be told from infinity
 * or zero.
 */
export function parseFloat64(word: string): number | undefined {
  const value = readFloat(word);
  if (value === undefined) return undefined;
  if (value === 0) return hasNonZeroDigit(word) ? undefined : value;
  return Number.isFinite(value) || isInfinity(word) ? value : undefined;
}

/**
 * A float as C's strtod reads a C string, which is how Redis reads the borders of score ranges: spaces before it are
 * skipped, a NUL ends it, nothing at all is 0, too large is infinite and too small is zero. Undefined for NaN and the rest.
 */
export function parseFloatLoosely(word: string): number | undefined {
  const nul = word.indexOf("\0");
  const end = nul < 0 ? word.length : nul;
  if (end === 0) return 0;
  let start = 0;
  while (start < end && isSpace(word.charCodeAt(start))) start++;
  return readFloat(start === 0 && end === word.length ? word : word.slice(start, end));
}

/** isspace of C's own locale. */
export const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

/** A whole word as strtod reads it, whatever its size; undefined for NaN and anything else. */
function readFloat(word: string): number | undefined {
  const sign = word.charCodeAt(0);
  const start = sign === 0x2b || sign === 0x2d ? 1 : 0;
  const first = word.charCodeAt(start);
  if ((first | 0x20) === 0x69) {
    if (!isInfinity(word)) return undefined;
    return sign === 0x2d ? -Infinity : Infinity;
  }
  if (first === 0x30 && (word.charCodeAt(start + 1) | 0x20) === 0x78) return parseHexFloat(word);
  return isDecimal(word, start) ? Number(word) : undefined;
}

function isInfinity(word: string): boolean {
  const c = word.charCodeAt(0);
  const text = (c === 0x2b || c === 0x2d ? word.slice(1) : word).toLowerCase();
  return text === "inf" || text === "infinity";
}

/** Whether the rest of a word is a decimal number: digits with at most one point, and an exponent. */
export function isDecimal(word: string, start: number): boolean {
  const end = word.length;
  let i = start;
  while (i < end && isDigit(word.charCodeAt(i))) i++;
  let digits = i - start;
  if (i < end && word.charCodeAt(i) === 0x2e) {
    const point = i++;
    while (i < end && isDigit(word.charCodeAt(i))) i++;
    digits += i - point - 1;
  }
  if (digits === 0) return false;
  if (i === end) return true;
  if ((word.charCodeAt(i) | 0x20) !== 0x65) return false;
  i++;
  const sign = word.charCodeAt(i);
  if (sign === 0x2b || sign === 0x2d) i++;
  if (i === end) return false;
  while (i < end && isDigit(word.charCodeAt(i))) i++;
  return i === end;
}

/** Of a word that reads as a float: whether the number before the exponent is not zero. */
function hasNonZeroDigit(word: string): boolean {
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if ((code | 0x20) === 0x78) return readHexFloat(word)!.mantissa !== 0n;
    if ((code | 0x20) === 0x65) return false;
    if (code > 0x30 && code <= 0x39) return true;
  }
  return false;
}

/** The parts of a hexadecimal float: its digits as one integer, and the power of two that they are to be taken times. */
export function readHexFloat(word: string): { negative: boolean; mantissa: bigint; exponent: number } | undefined {
  const parts = /^([+-]?)0x([\da-f]*)(?:\.([\da-f]*))?(?:p([+-]?\d+))?$/i.exec(word);
  if (parts === null) return undefined;
  const [, sign, whole = "", fraction = "", power = "0"] = parts;
  if (whole.length + fraction.length === 0) return undefined;
  return {
    negative: sign === "-",
    mantissa: BigInt(`0x${whole}${fraction}`),
    exponent: Number(power) - 4 * fraction.length,
  };
}

function parseHexFloat(word: string): number | undefined {
  const parts = readHexFloat(word);
  if (parts === undefined) return undefined;
  const value = scale(parts.mantissa, parts.exponent);
  return parts.negative ? -value : value;
}

/** mantissa × 2^exponent as the nearest double, ties to even. */
function scale(mantissa: bigint, exponent: number): number {
  if (mantissa === 0n) return 0;
  const bits = mantissa.toString(2).length;
  const top = bits - 1 + exponent;
  if (top > 1023) return Infinity;
  if (top < -1075) return 0;
  const precision = Math.min(53, top + 1075);
  const drop = bits - precision;
  if (drop <= 0) return Number(mantissa) * 2 ** exponent;
  const shift = BigInt(drop);
  let kept = mantissa >> shift;
  const rest = mantissa - (kept << shift);
  const half = 1n << (shift - 1n);
  if (rest > half || (rest === half && (kept & 1n) === 1n)) kept++;
  return Number(kept) * 2 ** (exponent + drop);
}

/** C's `%.17g`: how Redis 7.0 prints doubles in replies. */
export function formatDouble(value: number): string {
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? "-0" : String(value);
  return formatG(value, 17);
}

/** C's `%.<precision>g`, for up to 17 digits. */
export function formatG(value: number, precision: number): string {
  if (value === Infinity) return "inf";
  if (value === -Infinity) return "-inf";
  if (Number.isNaN(value)) return "nan";
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const text = value.toExponential(precision - 1);
  const e = text.indexOf("e");
  const exponent = Number(text.slice(e + 1));
  const mantissa = isTie(value, precision) ? toEven(text.slice(0, e)) : text.slice(0, e);
  if (exponent < -4 || exponent >= precision) {
    const size = Math.abs(exponent);
    return `${trimZeros(mantissa)}e${exponent < 0 ? "-" : "+"}${size < 10 ? "0" : ""}${size}`;
  }
  return movePoint(trimZeros(mantissa), exponent);
}

/**
 * Whether a number lies exactly between two decimals of this many digits. C then takes the even one, JavaScript the larger
 * one. Such a number is D × 10^(e − precision) with D odd, so its binary form gives it away.
 */
function isTie(value: number, precision: number): boolean {
  const size = Math.abs(value);
  let exponent = Math.floor(Math.log10(size));
  if (10 ** exponent > size) exponent--;
  else if (10 ** (exponent + 1) <= size) exponent++;
  const odd = size * 2 ** (precision - exponent);
  if (odd % 2 !== 1) return false;
  return precision > exponent || odd % 5 ** (exponent - precision + 1) === 0;
}

/** Rounded up from a tie: one less where the last digit is odd. */
function toEven(mantissa: string): string {
  const last = mantissa.charCodeAt(mantissa.length - 1);
  return last % 2 === 0 ? mantissa : mantissa.slice(0, -1) + String.fromCharCode(last - 1);
}

/** Without the zeros at the end of a fraction. */
function trimZeros(text: string): string {
  if (!text.includes(".")) return text;
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x30) end--;
  if (text.charCodeAt(end - 1) === 0x2e) end--;
  return text.slice(0, end);
}

/** `d.ddd` times a power of ten, written without an exponent. */
function movePoint(mantissa: string, exponent: number): string {
  const sign = mantissa.charCodeAt(0) === 0x2d ? "-" : "";
  const digits = (sign === "" ? mantissa : mantissa.slice(1)).replace(".", "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  if (digits.length <= exponent + 1) return sign + digits.padEnd(exponent + 1, "0");
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`;
}

/**
 * C's `%.<digits>f`, for 1 to 55 digits. JavaScript's toFixed differs in two points: it rounds a tie up where C rounds to
 * the even digit, and it gives up on large numbers.
 */
export function formatFixed(value: number, digits: number): string {
  if (!Number.isFinite(value)) return formatG(value, 17);
  if (Math.abs(value) >= 1e21) return `${BigInt(value)}.${"0".repeat(digits)}`;
  const long = value.toFixed(digits + 45);
  const cut = long.length - 45;
  const even = (long.charCodeAt(cut - 1) & 1) === 0;
  // Nothing but a five is left behind the cut: a tie.
  if (even && long.charCodeAt(cut) === 0x35 && Number(`0.${long.slice(cut + 1)}`) === 0) return long.slice(0, cut);
  const text = value.toFixed(digits);
  return Object.is(value, -0) ? `-${text}` : text;
}
