/**
 * Lua 5.1's tokens, and its lexical errors word for word.
 */
import { stringToNumber } from "./number.ts";
import { shortName } from "./trace.ts";
import { LuaError } from "./value.ts";

/** Reserved words and operators stand for themselves. */
export type TokenKind = "<name>" | "<string>" | "<number>" | "<eof>" | (string & {});

export interface Token {
  kind: TokenKind;
  /** As messages show it. */
  text: string;
  /** Of a name or string. */
  word: string;
  /** Of a number. */
  number: number;
  /** The line that it ends on. */
  line: number;
}

const RESERVED = new Set(
  "and break do else elseif end false for function if in local nil not or repeat return then true until while".split(
    " ",
  ),
);

const ESCAPES = new Map(Object.entries({ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" }));

const isDigit = (c: number) => c >= 0x30 && c <= 0x39;
const isLetter = (c: number) => ((c | 0x20) >= 0x61 && (c | 0x20) <= 0x7a) || c === 0x5f;
const isLineEnd = (c: number) => c === 0x0a || c === 0x0d;

export class Lexer {
  readonly #source: string;
  readonly #chunkName: string;
  #at = 0;
  /** The line that has been read up to: what messages report. */
  line = 1;

  constructor(source: string, chunkName: string) {
    this.#source = source;
    this.#chunkName = chunkName;
  }

  /** An error at the current line, near a token's text if one is given; a NUL is a token that cannot be named. */
  error(message: string, near?: string): LuaError {
    const at = `${shortName(this.#chunkName, 80)}:${this.line}: ${message}`;
    return new LuaError(near === undefined || near === "char(0)" ? at : `${at} near '${cString(near)}'`);
  }

  next(): Token {
    const source = this.#source;
    for (;;) {
      const start = this.#at;
      if (start >= source.length) return this.#token("<eof>", "<eof>");
      const c = source.charCodeAt(start);
      if (isLineEnd(c)) this.#lineEnd();
      else if (c === 0x20 || (c >= 0x09 && c <= 0x0d)) this.#at++;
      else if (c === 0x2d && source.charCodeAt(start + 1) === 0x2d) this.#comment();
      else if (isLetter(c)) return this.#word(start);
      else if (isDigit(c) || (c === 0x2e && isDigit(source.charCodeAt(start + 1)))) return this.#number(start);
      else if (c === 0x22 || c === 0x27) return this.#string(start, c);
      else if (c === 0x5b) {
        const level = this.#longBracket(start);
        if (level >= 0) return this.#longString(start, level);
        if (level < -1) throw this.error("invalid long string delimiter", source.slice(start, start - level));
        return this.#symbol(start);
      } else return this.#symbol(start);
    }
  }

  #token(kind: TokenKind, text: string, word = "", number = 0): Token {
    return { kind, text, word, number, line: this.line };
  }

  /** Passes a line end; two different characters of one count once. */
  #lineEnd(): void {
    const c = this.#source.charCodeAt(this.#at++);
    const d = this.#source.charCodeAt(this.#at);
    if (isLineEnd(d) && d !== c) this.#at++;
    this.line++;
  }

  #comment(): void {
    const source = this.#source;
    const start = this.#at + 2;
    if (source.charCodeAt(start) === 0x5b) {
      const level = this.#longBracket(start);
      if (level >= 0) {
        this.#at = start;
        this.#longText(start, level, "comment");
        return;
      }
    }
    let i = start;
    while (i < source.length && !isLineEnd(source.charCodeAt(i))) i++;
    this.#at = i;
  }

  #word(start: number): Token {
    const source = this.#source;
    let i = start + 1;
    for (; i < source.length; i++) {
      const c = source.charCodeAt(i);
      if (!isLetter(c) && !isDigit(c)) break;
    }
    this.#at = i;
    const word = source.slice(start, i);
    return RESERVED.has(word) ? this.#token(word, word) : this.#token("<name>", word, word);
  }

  #number(start: number): Token {
    const source = this.#source;
    let i = start;
    while (isDigit(source.charCodeAt(i)) || source.charCodeAt(i) === 0x2e) i++;
    // C's strchr, by which Lua looks for these characters, finds a NUL in any list.
    if ("eE\0".includes(source.charAt(i)) && i < source.length) {
      i++;
      if ("+-\0".includes(source.charAt(i)) && i < source.length) i++;
    }
    while (isLetter(source.charCodeAt(i)) || isDigit(source.charCodeAt(i))) i++;
    this.#at = i;
    const text = source.slice(start, i);
    const value = stringToNumber(text);
    if (value === undefined) throw this.error("malformed number", text);
    return this.#token("<number>", text, "", value);
  }

  #string(start: number, quote: number): Token {
    const source = this.#source;
    const quoteText = source.charAt(start);
    let value = "";
    let i = start + 1;
    let from = i;
    for (;;) {
      const c = source.charCodeAt(i);
      if (c === quote) break;
      if (i >= source.length) {
        throw this.error("unfinished string", "<eof>");
      }
      if (isLineEnd(c)) throw this.error("unfinished string", quoteText + value + source.slice(from, i));
      if (c !== 0x5c) {
        i++;
        continue;
      }
      value += source.slice(from, i);
      this.#at = i + 1;
      value += this.#escape(quoteText + value);
      i = this.#at;
      from = i;
    }
    value += source.slice(from, i);
    this.#at = i + 1;
    return this.#token("<string>", quoteText + value + quoteText, value);
  }

  /** What follows a backslash. */
  #escape(before: string): string {
    const source = this.#source;
    const c = source.charCodeAt(this.#at);
    if (this.#at >= source.length) return "";
    if (isLineEnd(c)) {
      this.#lineEnd();
      return "\n";
    }
    if (!isDigit(c)) {
      const char = source.charAt(this.#at++);
      return ESCAPES.get(char) ?? char;
    }
    let code = 0;
    for (let i = 0; i < 3 && isDigit(source.charCodeAt(this.#at)); i++) {
      code = code * 10 + source.charCodeAt(this.#at++) - 0x30;
    }
    if (code > 255) throw this.error("escape sequence too large", before);
    return String.fromCharCode(code);
  }

  /** The level of the long bracket that opens or closes here: -1 for a lone bracket, less for `[=` and so on. */
  #longBracket(start: number): number {
    const source = this.#source;
    const bracket = source.charCodeAt(start);
    let i = start + 1;
    while (source.charCodeAt(i) === 0x3d) i++;
    const level = i - start - 1;
    return source.charCodeAt(i) === bracket ? level : -level - 1;
  }

  #longString(start: number, level: number): Token {
    const value = this.#longText(start, level, "string");
    return this.#token("<string>", this.#source.slice(start, this.#at), value);
  }

  /** The text of a long bracket, its line ends made into single newlines, the first one left out. */
  #longText(start: number, level: number, kind: "string" | "comment"): string {
    const source = this.#source;
    this.#at = start + level + 2;
    if (isLineEnd(source.charCodeAt(this.#at))) this.#lineEnd();
    let text = "";
    let from = this.#at;
    for (;;) {
      const c = source.charCodeAt(this.#at);
      if (this.#at >= source.length) throw this.error(`unfinished long ${kind}`, "<eof>");
      if (c === 0x5d && this.#longBracket(this.#at) === level) break;
      if (isLineEnd(c)) {
        text += `${source.slice(from, this.#at)}\n`;
        this.#lineEnd();
        from = this.#at;
      } else this.#at++;
    }
    text += source.slice(from, this.#at);
    this.#at += level + 2;
    return text;
  }

  #symbol(start: number): Token {
    const source = this.#source;
    const c = source.charAt(start);
    let text = c;
    if (c === ".") {
      while (
        text.length < 3 &&
        start + text.length < source.length &&
        ".\0".includes(source.charAt(start + text.length))
      )
        text += ".";
    } else if ((c === "=" || c === "<" || c === ">" || c === "~") && source[start + 1] === "=") text = `${c}=`;
    this.#at = start + text.length;
    const code = c.charCodeAt(0);
    const shown = code < 0x20 || code === 0x7f ? `char(${code})` : text;
    return this.#token(text, shown);
  }
}

/** Text as C's `%s` prints it. */
function cString(text: string): string {
  const nul = text.indexOf("\0");
  return nul < 0 ? text : text.slice(0, nul);
}
