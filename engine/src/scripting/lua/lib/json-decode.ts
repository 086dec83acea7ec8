/**
 * JSON text as Lua values, with cjson's tolerance (numbers as strtod reads them: hexadecimal, `inf`, leading zeros) and its
 * error messages. The text is taken for a C string: a NUL ends it.
 */
import { TABLE_BYTES, VALUE_BYTES } from "../memory.ts";
import { stringToNumber } from "../number.ts";
import type { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import type { LuaValue } from "../value.ts";
import { makeSequence } from "./check.ts";
import { Fields } from "./fields.ts";
import { JsonFault, type JsonSettings, NULL } from "./json.ts";
import { OFTEN } from "./search.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const isDigit = (code: number) => code >= 0x30 && code <= 0x39;

export class Decoder {
  readonly #rt: Runtime;
  readonly #text: string;
  readonly #settings: JsonSettings;
  #at = 0;
  #depth = 0;

  constructor(rt: Runtime, settings: JsonSettings, text: string) {
    this.#rt = rt;
    this.#settings = settings;
    this.#text = text;
  }

  decode(): LuaValue {
    const text = this.#text;
    if (text.length >= 2 && (text.charCodeAt(0) === 0 || text.charCodeAt(1) === 0)) {
      throw new JsonFault("JSON parser does not support UTF-16 or UTF-32");
    }
    const value = this.#value();
    if (this.#skipSpace() !== 0) throw this.#unexpected("the end");
    return value;
  }

  /** The code of the next character that is not a space; 0 at the end. */
  #skipSpace(): number {
    const text = this.#text;
    let at = this.#at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (code > 0x20) {
        this.#at = at;
        return code;
      }
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) {
        this.#at = at;
        return Number.isNaN(code) ? 0 : code;
      }
      if ((++at & OFTEN) === 0) this.#rt.tick();
    }
  }

  #value(): LuaValue {
    const code = this.#skipSpace();
    this.#rt.step(code === 0x7b || code === 0x5b ? TABLE_BYTES : 2 * VALUE_BYTES);
    if (code === QUOTE) return this.#string();
    if (code === 0x7b) return this.#object();
    if (code === 0x5b) return this.#array();
    if (code === 0x2d || isDigit(code)) return this.#number("value");
    const text = this.#text;
    if (code === 0x74 && text.startsWith("true", this.#at)) {
      this.#at += 4;
      return true;
    }
    if (code === 0x66 && text.startsWith("false", this.#at)) {
      this.#at += 5;
      return false;
    }
    if (code === 0x6e && text.startsWith("null", this.#at)) {
      this.#at += 4;
      return NULL;
    }
    if (this.#settings.decodeInvalidNumbers === 1 && this.#isOddNumber()) return this.#number("value");
    throw this.#unexpected("value");
  }

  /** `+1`, `inf`, `NaN`: what only strtod takes for a number. */
  #isOddNumber(): boolean {
    const text = this.#text;
    const code = text.charCodeAt(this.#at);
    if (code === 0x2b) return true;
    if ((code | 0x20) !== 0x69 && (code | 0x20) !== 0x6e) return false;
    const word = text.slice(this.#at, this.#at + 3).toLowerCase();
    return word === "inf" || word === "nan";
  }

  #descend(): void {
    this.#at++;
    if (++this.#depth > this.#settings.decodeMaxDepth) {
      throw new JsonFault(`Found too many nested data structures (${this.#depth}) at character ${this.#at}`);
    }
  }

  #object(): LuaTable {
    this.#descend();
    let code = this.#skipSpace();
    if (code === 0x7d) {
      this.#at++;
      this.#depth--;
      return new LuaTable();
    }
    const fields = new Fields();
    for (;;) {
      if (code !== QUOTE) throw this.#unexpected("object key string");
      const key = this.#key(fields.expected);
      if (this.#skipSpace() !== 0x3a) throw this.#unexpected("colon");
      this.#at++;
      fields.add(key, this.#value());
      code = this.#skipSpace();
      if (code === 0x7d) break;
      if (code !== 0x2c) throw this.#unexpected("comma or object end");
      this.#at++;
      code = this.#skipSpace();
    }
    this.#at++;
    this.#depth--;
    return fields.done();
  }

  /** A key. If the expected one stands here as it is written, nothing needs to be read. */
  #key(expected: string | undefined): string {
    if (expected !== undefined) {
      const text = this.#text;
      const end = this.#at + 1 + expected.length;
      if (text.charCodeAt(end) === QUOTE && text.startsWith(expected, this.#at + 1) && isVerbatim(expected)) {
        this.#at = end + 1;
        return expected;
      }
    }
    return this.#string("object key string");
  }

  #array(): LuaTable {
    this.#descend();
    const values: LuaValue[] = [undefined];
    if (this.#skipSpace() !== 0x5d) {
      for (;;) {
        values.push(this.#value());
        const code = this.#skipSpace();
        if (code === 0x5d) break;
        if (code !== 0x2c) throw this.#unexpected("comma or array end");
        this.#at++;
      }
    }
    this.#at++;
    this.#depth--;
    return makeSequence(values);
  }

  #string(expected = "value"): string {
    const text = this.#text;
    const begin = this.#at + 1;
    for (let at = begin; ; ) {
      for (const end = at + OFTEN; at < end; at++) {
        const code = text.charCodeAt(at);
        if (code === QUOTE) {
          this.#at = at + 1;
          return text.slice(begin, at);
        }
        if (code === BACKSLASH) return this.#escapedString(begin, at, expected);
        if (!(code > 0)) throw this.#fault(expected, "unexpected end of string", at);
      }
      this.#rt.tick();
    }
  }

  /** A string with escapes, the first of which is at a place. */
  #escapedString(begin: number, first: number, expected: string): string {
    const text = this.#text;
    let result = text.slice(begin, first);
    let copied = first;
    for (let at = first; ; ) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.#at = at + 1;
        return result + text.slice(copied, at);
      }
      if (code === BACKSLASH) {
        result += text.slice(copied, at);
        this.#rt.step(3 * VALUE_BYTES);
        const letter = text.charCodeAt(at + 1);
        if (letter === 0x75) {
          const point = codePointAt(text, at);
          if (point < 0) throw this.#fault(expected, "invalid unicode escape code", at);
          result += utf8(point);
          at += point > 0xffff ? 12 : 6;
        } else {
          const char = escaped(letter);
          if (char === "") throw this.#fault(expected, "invalid escape code", at);
          result += char;
          at += 2;
        }
        copied = at;
      } else if (code > 0) {
        if ((++at & OFTEN) === 0) this.#rt.tick();
      } else throw this.#fault(expected, "unexpected end of string", at);
    }
  }

  #number(expected: string): number {
    const text = this.#text;
    const begin = this.#at;
    let at = begin;
    const negative = text.charCodeAt(at) === 0x2d;
    if (negative) at++;
    const first = at;
    let value = 0;
    let code = text.charCodeAt(at);
    // The common case: a short integer without anything odd about it.
    for (; isDigit(code) && at - first <= 15; code = text.charCodeAt(++at)) value = value * 10 + code - 0x30;
    const odd = code === 0x2e || (code | 0x20) === 0x65 || (code | 0x20) === 0x78;
    const canonical = at - first === 1 || text.charCodeAt(first) !== 0x30;
    if (at > first && at - first <= 15 && !odd && canonical) {
      this.#at = at;
      return negative ? -value : value;
    }
    if (this.#settings.decodeInvalidNumbers === 0 && isInvalid(text, begin)) {
      throw this.#fault(expected, "invalid number", begin);
    }
    const end = numberEnd(text, begin);
    if (end === begin) throw this.#fault(expected, "invalid number", begin);
    this.#at = end;
    return stringToNumber(text.slice(begin, end)) ?? NaN;
  }

  #fault(expected: string, found: string, at: number): JsonFault {
    return new JsonFault(`Expected ${expected} but found ${found} at character ${at + 1}`);
  }

  /** The fault of meeting the token at this place, which may itself be malformed. */
  #unexpected(expected: string): JsonFault {
    const at = this.#at;
    try {
      return this.#fault(expected, this.#tokenName(expected), at);
    } catch (thrown) {
      if (thrown instanceof JsonFault) return thrown;
      throw thrown;
    }
  }

  #tokenName(expected: string): string {
    const text = this.#text;
    const code = text.charCodeAt(this.#at);
    if (!(code > 0)) return "T_END";
    const mark = MARKS[text.charAt(this.#at)];
    if (mark !== undefined) return mark;
    if (code === QUOTE) {
      this.#string(expected);
      return "T_STRING";
    }
    if (code === 0x2d || isDigit(code)) {
      this.#number(expected);
      return "T_NUMBER";
    }
    if (text.startsWith("true", this.#at) || text.startsWith("false", this.#at)) return "T_BOOLEAN";
    if (text.startsWith("null", this.#at)) return "T_NULL";
    if (this.#settings.decodeInvalidNumbers === 1 && this.#isOddNumber()) {
      this.#number(expected);
      return "T_NUMBER";
    }
    return "invalid token";
  }
}

/** Whether a key is written as it is, without escapes. */
function isVerbatim(key: string): boolean {
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    if (code === QUOTE || code === BACKSLASH || code === 0) return false;
  }
  return true;
}

const MARKS: Record<string, string | undefined> = {
  "{": "T_OBJ_BEGIN",
  "}": "T_OBJ_END",
  "[": "T_ARR_BEGIN",
  "]": "T_ARR_END",
  ":": "T_COLON",
  ",": "T_COMMA",
};

function escaped(letter: number): string {
  switch (letter) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
      return String.fromCharCode(letter);
    case 0x62:
      return "\b";
    case 0x66:
      return "\f";
    case 0x6e:
      return "\n";
    case 0x72:
      return "\r";
    case 0x74:
      return "\t";
    default:
      return "";
  }
}

/** Four hexadecimal digits; -1 if they are not. */
function hex4(text: string, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i++) {
    const code = text.charCodeAt(i);
    const letter = (code | 0x20) - 0x57;
    if (isDigit(code)) value = value * 16 + code - 0x30;
    else if (letter >= 10 && letter <= 15) value = value * 16 + letter;
    else return -1;
  }
  return value;
}

/** The code point of a `\uXXXX`, or of two that make a pair; -1 if it is none. */
function codePointAt(text: string, at: number): number {
  const unit = hex4(text, at + 2);
  if (unit < 0 || (unit & 0xf800) !== 0xd800) return unit;
  if ((unit & 0x400) !== 0 || !text.startsWith("\\u", at + 6)) return -1;
  const low = hex4(text, at + 8);
  if (low < 0 || (low & 0xfc00) !== 0xdc00) return -1;
  return (((unit & 0x3ff) << 10) | (low & 0x3ff)) + 0x10000;
}

function utf8(point: number): string {
  if (point < 0x80) return String.fromCharCode(point);
  const last = (point & 0x3f) | 0x80;
  if (point < 0x800) return String.fromCharCode((point >> 6) | 0xc0, last);
  const third = ((point >> 6) & 0x3f) | 0x80;
  if (point < 0x10000) return String.fromCharCode((point >> 12) | 0xe0, third, last);
  return String.fromCharCode((point >> 18) | 0xf0, ((point >> 12) & 0x3f) | 0x80, third, last);
}

/** Whether what strtod might read here is not JSON: a plus, hexadecimal, leading zeros, inf, nan. */
function isInvalid(text: string, begin: number): boolean {
  let at = begin;
  if (text.charCodeAt(at) === 0x2b) return true;
  if (text.charCodeAt(at) === 0x2d) at++;
  const code = text.charCodeAt(at);
  if (code === 0x30) {
    const next = text.charCodeAt(at + 1);
    return (next | 0x20) === 0x78 || isDigit(next);
  }
  if (!(code > 0x39)) return false;
  return /^(?:inf|nan)/i.test(text.slice(at, at + 3));
}

/** Where the number that strtod reads here ends. */
const NUMBER =
  /[+-]?(?:0x(?:[\da-f]+\.?[\da-f]*|\.[\da-f]+)(?:p[+-]?\d+)?|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|infinity|inf|nan(?:\([a-z0-9_]*\))?)/iy;

function numberEnd(text: string, begin: number): number {
  NUMBER.lastIndex = begin;
  return NUMBER.test(text) ? NUMBER.lastIndex : begin;
}
