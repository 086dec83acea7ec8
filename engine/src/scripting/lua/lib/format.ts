/**
 * `string.format`: C's printf for the conversions that Lua lets through.
 *
 * JavaScript's toFixed and toExponential give exact digits, but round a number that lies in the middle away from zero,
 * where C rounds to the even digit; and integers are 64 bits wide here, with the results that x86 gives for numbers that do
 * not fit. The sign of a NaN cannot be seen from JavaScript; those that arithmetic makes have it set.
 */
import { copied, take, VALUE_BYTES } from "../memory.ts";
import { numberToString } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import type { LuaFunction, LuaValue } from "../value.ts";
import { checkNumber, checkString, toInteger } from "./check.ts";
import { OFTEN } from "./search.ts";

/** One conversion: `%-08.3f`. */
interface Spec {
  left: boolean;
  plus: boolean;
  space: boolean;
  alternate: boolean;
  zero: boolean;
  width: number;
  /** -1 if not given. */
  precision: number;
  kind: string;
}

type Piece = string | Spec | { invalid: string };

/** Formats that were taken apart. */
const CACHED = 500;
const LONGEST = 256;
const formats = new Map<string, Piece[]>();

/** A long format is taken apart only as far as there are arguments for it. */
function piecesOf(rt: Runtime, format: string): Iterable<Piece> {
  if (format.length > LONGEST) return parse(rt, format);
  const known = formats.get(format);
  if (known !== undefined) return known;
  const pieces = [...parse(rt, format)];
  if (formats.size >= CACHED) formats.clear();
  formats.set(copied(format), pieces);
  return pieces;
}

export function formatFunction(rt: Runtime): LuaFunction {
  return (...args: LuaValue[]) => {
    const format = args[0];
    const pieces = piecesOf(rt, checkString(rt, format, 1, "format", args.length));
    let result = "";
    let next = 1;
    for (const piece of pieces) {
      if (typeof piece === "string") result += piece;
      else {
        if (next >= args.length) throw rt.argumentError(next + 1, "format", "no value");
        if ("invalid" in piece) throw rt.error(piece.invalid);
        result += convert(rt, piece, args[next], next + 1, args.length);
        next++;
      }
    }
    return result;
  };
}

/** Faults are found one after the other with the arguments before them, so they stay in the list. */
function* parse(rt: Runtime, format: string): Generator<Piece> {
  let text = "";
  let i = 0;
  while (i < format.length) {
    rt.step(2 * VALUE_BYTES);
    const at = format.indexOf("%", i);
    if (at < 0) break;
    text += format.slice(i, at);
    if (format.charAt(at + 1) === "%") {
      text += "%";
      i = at + 2;
      continue;
    }
    if (text !== "") yield text;
    text = "";
    const { piece, end } = parseSpec(format, at + 1);
    yield piece;
    if ("invalid" in piece) return;
    i = end;
  }
  text += format.slice(i);
  if (text !== "") yield text;
}

const KINDS = "cdiouxXeEfgGqs";

function parseSpec(format: string, start: number): { piece: Spec | { invalid: string }; end: number } {
  let p = start;
  const digit = () => p < format.length && format.charCodeAt(p) >= 0x30 && format.charCodeAt(p) <= 0x39;
  const number = () => {
    const from = p;
    if (digit()) p++;
    if (digit()) p++;
    return Number(format.slice(from, p));
  };
  while (p < format.length && "-+ #0".includes(format.charAt(p))) p++;
  const flags = format.slice(start, p);
  if (flags.length > 5) return { piece: { invalid: "invalid format (repeated flags)" }, end: p };
  const width = number();
  let precision = -1;
  if (format.charAt(p) === ".") {
    p++;
    precision = number();
  }
  if (digit()) return { piece: { invalid: "invalid format (width or precision too long)" }, end: p };
  const kind = format.charAt(p);
  if (kind === "" || !KINDS.includes(kind)) {
    const shown = kind === "\0" ? "" : kind;
    return { piece: { invalid: `invalid option '%${shown}' to 'format'` }, end: p };
  }
  const has = (flag: string) => flags.includes(flag);
  const left = has("-");
  const plus = has("+");
  const piece: Spec = {
    left,
    plus,
    space: has(" ") && !plus,
    alternate: has("#"),
    zero: has("0") && !left,
    width,
    precision,
    kind,
  };
  return { piece, end: p + 1 };
}

function convert(rt: Runtime, spec: Spec, value: LuaValue, argument: number, given: number): string {
  switch (spec.kind) {
    case "s":
      return formatText(checkString(rt, value, argument, "format", given), spec);
    case "d":
    case "i":
      return formatInteger(checkNumber(rt, value, argument, "format", given), spec);
    case "q":
      return quote(rt, checkString(rt, value, argument, "format", given));
    case "c":
      return formatChar(checkNumber(rt, value, argument, "format", given), spec);
    case "o":
    case "u":
    case "x":
    case "X":
      return formatUnsigned(checkNumber(rt, value, argument, "format", given), spec);
    default:
      return formatFloat(checkNumber(rt, value, argument, "format", given), spec);
  }
}

function pad(text: string, { left, width }: Spec): string {
  if (text.length >= width) return text;
  return left ? text.padEnd(width) : text.padStart(width);
}

/** A number with its sign or prefix: zeros go between the two. */
function padNumber(prefix: string, digits: string, spec: Spec, zero: boolean): string {
  if (prefix.length + digits.length >= spec.width) return prefix + digits;
  if (zero) return prefix + digits.padStart(spec.width - prefix.length, "0");
  return pad(prefix + digits, spec);
}

const sign = (negative: boolean, { plus, space }: Spec) => (negative ? "-" : plus ? "+" : space ? " " : "");

/** Long strings are taken as they are; short ones end at a NUL. */
function formatText(text: string, spec: Spec): string {
  if (spec.precision < 0 && text.length >= 100) return text;
  const nul = text.indexOf("\0");
  let shown = nul < 0 ? text : text.slice(0, nul);
  if (spec.precision >= 0) shown = shown.slice(0, spec.precision);
  return pad(shown, spec);
}

/** A character; a NUL ends what came out. */
function formatChar(value: number, spec: Spec): string {
  const code = value > -2147483649 && value < 2147483648 ? value & 0xff : 0;
  const text = pad(String.fromCharCode(code), spec);
  const nul = code === 0 ? text.indexOf("\0") : -1;
  return nul < 0 ? text : text.slice(0, nul);
}

function formatInteger(value: number, spec: Spec): string {
  const integer = toInteger(value);
  const size = Math.abs(integer);
  const digits = size < 2 ** 53 ? String(size) : String(BigInt(size));
  if (spec.width === 0 && spec.precision < 0 && integer >= 0 && !spec.plus && !spec.space) return digits;
  return padNumber(
    sign(integer < 0, spec),
    atLeast(digits, integer === 0, spec),
    spec,
    spec.zero && spec.precision < 0,
  );
}

/** At least as many digits as the precision says; none for a zero of precision zero. */
function atLeast(digits: string, isZero: boolean, { precision }: Spec): string {
  if (precision === 0 && isZero) return "";
  return precision > digits.length ? digits.padStart(precision, "0") : digits;
}

/** A double as C's cast to an unsigned 64-bit integer makes it on x86. */
function toUnsigned(value: number): bigint {
  if (value >= 2 ** 63) return value < 2 ** 64 ? BigInt(Math.trunc(value)) : 0n;
  return BigInt.asUintN(64, BigInt(toInteger(value)));
}

const RADIX: Record<string, number> = { o: 8, u: 10, x: 16, X: 16 };

function formatUnsigned(value: number, spec: Spec): string {
  const small = value >= 0 && value < 2 ** 53;
  const integer = small ? Math.trunc(value) : toUnsigned(value);
  const isZero = Number(integer) === 0;
  let digits = atLeast(integer.toString(RADIX[spec.kind]), isZero, spec);
  let prefix = "";
  if (spec.alternate) {
    if (spec.kind === "o" && !digits.startsWith("0")) digits = `0${digits}`;
    else if ((spec.kind === "x" || spec.kind === "X") && !isZero) prefix = "0x";
  }
  const text = padNumber(prefix, digits, spec, spec.zero && spec.precision < 0);
  return spec.kind === "X" ? text.toUpperCase() : text;
}

function formatFloat(value: number, spec: Spec): string {
  const kind = spec.kind.toLowerCase();
  let text: string;
  if (Number.isFinite(value)) {
    const negative = value < 0 || Object.is(value, -0);
    const digits = floatDigits(Math.abs(value), kind, spec.precision < 0 ? 6 : spec.precision, spec.alternate);
    text = padNumber(sign(negative, spec), digits, spec, spec.zero);
  } else {
    const invalid = Number.isNaN(value);
    text = pad(sign(invalid || value < 0, spec) + (invalid ? "nan" : "inf"), spec);
  }
  return kind === spec.kind ? text : text.toUpperCase();
}

/** The digits of a number that is not negative. */
function floatDigits(value: number, kind: string, precision: number, alternate: boolean): string {
  if (kind === "f") return fixed(value, precision) + (alternate && precision === 0 ? "." : "");
  if (kind === "e") return exponential(value, precision, alternate);
  const digits = precision === 0 ? 1 : precision;
  const text = roundedExponential(value, digits - 1);
  const e = text.indexOf("e");
  const exponent = Number(text.slice(e + 1));
  if (exponent < -4 || exponent >= digits) {
    // Where rounding alone makes the number too large for digits only, the C library drops the zeros although told not to.
    const rounded = alternate && exponent === digits && value < 10 ** digits;
    const mantissa = alternate ? withPoint(rounded ? "1" : text.slice(0, e)) : trimZeros(text.slice(0, e));
    return mantissa + exponentPart(exponent);
  }
  const plain = movePoint(text.slice(0, e), exponent);
  return alternate ? withPoint(plain) : trimZeros(plain);
}

/** `d.ddd` times a power of ten, written without an exponent. */
function movePoint(mantissa: string, exponent: number): string {
  const digits = mantissa.charAt(0) + mantissa.slice(2);
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1);
  return digits.length > exponent + 1 ? `${whole}.${digits.slice(exponent + 1)}` : whole;
}

const withPoint = (text: string) => (text.includes(".") ? text : `${text}.`);

function trimZeros(text: string): string {
  if (!text.includes(".")) return text;
  let end = text.length;
  while (text.charCodeAt(end - 1) === 0x30) end--;
  if (text.charCodeAt(end - 1) === 0x2e) end--;
  return text.slice(0, end);
}

function exponentPart(exponent: number): string {
  const size = Math.abs(exponent);
  return `e${exponent < 0 ? "-" : "+"}${size < 10 ? "0" : ""}${size}`;
}

function exponential(value: number, precision: number, alternate: boolean): string {
  const text = roundedExponential(value, precision);
  const e = text.indexOf("e");
  const mantissa = text.slice(0, e);
  return (alternate ? withPoint(mantissa) : mantissa) + exponentPart(Number(text.slice(e + 1)));
}

/** toExponential with ties to even. Twice a tie is an odd number times a power of ten. */
function roundedExponential(value: number, precision: number): string {
  const text = value.toExponential(precision);
  const e = text.indexOf("e");
  const last = text.charCodeAt(e - 1);
  if (last % 2 === 0) return text;
  const power = Number(text.slice(e + 1)) - precision;
  const odd = value * 2 ** (1 - power);
  if (odd % 2 !== 1 || (power > 0 && odd % 5 ** power !== 0)) return text;
  return text.slice(0, e - 1) + String.fromCharCode(last - 1) + text.slice(e);
}

/** toFixed with ties to even, for numbers of any size. */
function fixed(value: number, precision: number): string {
  if (value >= 1e21) return String(BigInt(value)) + (precision > 0 ? `.${"0".repeat(precision)}` : "");
  const text = value.toFixed(precision);
  const last = text.charCodeAt(text.length - 1);
  // A tie has one more binary digit behind the point than there are decimal ones asked for.
  if (last % 2 === 0 || (value * 2 ** (precision + 1)) % 2 !== 1) return text;
  return text.slice(0, -1) + String.fromCharCode(last - 1);
}

function quote(rt: Runtime, text: string): string {
  let result = '"';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((i & OFTEN) === OFTEN) rt.tick();
    let escaped: string;
    if (code === 0x22 || code === 0x5c || code === 0x0a) escaped = `\\${text.charAt(i)}`;
    else if (code === 0x0d) escaped = "\\r";
    else if (code === 0) escaped = "\\000";
    else continue;
    take(4 * VALUE_BYTES);
    result += text.slice(from, i) + escaped;
    from = i + 1;
  }
  return `${result}${text.slice(from)}"`;
}

/** C's `%.<digits>g` with the fast way for integers, for numbers in another precision than Lua's own. */
export function formatGeneral(value: number, digits: number): string {
  if (digits === 14) return numberToString(value);
  const negative = value < 0 || Object.is(value, -0);
  return (negative ? "-" : "") + floatDigits(Math.abs(value), "g", digits, false);
}
