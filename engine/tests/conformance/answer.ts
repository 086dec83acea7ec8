/**
 * What a server answered, without loss: `+OK` is not `$2 OK`, `*-1` is not `$-1`. The decoder is strict and shares nothing
 * with the engine's own parser and encoder, so that a mistake there cannot hide itself here.
 */

/** The first byte on the wire, the two RESP2 nulls spelt out, and what happened where no answer came. */
export type Tag =
  | "+"
  | "-"
  | ":"
  | "$"
  | "$-1"
  | "*"
  | "*-1"
  | "_"
  | "#"
  | ","
  | "("
  | "="
  | "!"
  | "%"
  | "~"
  | ">"
  | "|"
  /** Several answers to one line, or none (SUBSCRIBE a b; CLIENT REPLY OFF). */
  | "several"
  /** The command waits: its answer comes later. */
  | "blocked"
  /** The server closed the connection. */
  | "closed"
  /** Waited for an answer that the client is not owed: the transcript is wrong. */
  | "nothing owed"
  /** No answer in the time allowed. */
  | "timeout"
  /** Bytes that are not RESP. */
  | "broken";

export interface Answer {
  readonly tag: Tag;
  /** Of scalars: the text (numbers as their digits; verbatim strings with their `txt:`). */
  readonly text: string;
  /** Of aggregates: the elements; of maps, key and value in turn; of `|`, the attributes (a map) and the reply. */
  readonly items: readonly Answer[];
}

const NONE: readonly Answer[] = [];

export const scalar = (tag: Tag, text = ""): Answer => ({ tag, text, items: NONE });
export const aggregate = (tag: Tag, items: readonly Answer[]): Answer => ({ tag, text: "", items });

export const BLOCKED = scalar("blocked");
export const CLOSED = scalar("closed");
export const NOTHING_OWED = scalar("nothing owed");
export const TIMEOUT = scalar("timeout");

export class ProtocolError extends Error {}

const INCOMPLETE = Symbol("incomplete");
const INTEGER = /^[+-]?(0|[1-9][0-9]*)$/;
const LENGTH = /^(0|[1-9][0-9]*)$/;
const DOUBLE = /^(-?(inf|[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?)|-?nan)$/;

/** Bytes in, at whatever splits; answers out. */
export class Decoder {
  #text = "";
  #chunks: string[] = [];
  #held = 0;
  #at = 0;
  /** Nothing can be complete before this many bytes are there: keeps large answers from being scanned again and again. */
  #need = 0;

  /** Decodes as many whole answers as there are. Throws ProtocolError on bytes that are not RESP. */
  push(chunk: string): Answer[] {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    const answers: Answer[] = [];
    if (this.#held < this.#need) return answers;
    this.#text = this.#chunks.length === 1 ? chunk : this.#chunks.join("");
    this.#need = 0;
    let start = 0;
    while (start < this.#text.length) {
      this.#at = start;
      const answer = this.#decode();
      if (answer === INCOMPLETE) break;
      answers.push(answer);
      start = this.#at;
    }
    const rest = start === 0 ? this.#text : this.#text.slice(start);
    this.#need = Math.max(0, this.#need - start);
    this.#chunks = rest === "" ? [] : [rest];
    this.#held = rest.length;
    this.#text = "";
    return answers;
  }

  #line(): string | typeof INCOMPLETE {
    const end = this.#text.indexOf("\r\n", this.#at);
    if (end < 0) {
      if (this.#text.indexOf("\n", this.#at) >= 0) throw new ProtocolError("a line that ends in a bare newline");
      return INCOMPLETE;
    }
    const line = this.#text.slice(this.#at, end);
    if (line.includes("\n") || line.includes("\r")) throw new ProtocolError("a line break inside a line");
    this.#at = end + 2;
    return line;
  }

  #decode(): Answer | typeof INCOMPLETE {
    const tag = this.#text[this.#at]!;
    this.#at += 1;
    const line = this.#line();
    if (line === INCOMPLETE) return INCOMPLETE;
    switch (tag) {
      case "+":
      case "-":
        return scalar(tag, line);
      case ":":
      case "(":
        if (!INTEGER.test(line)) throw new ProtocolError(`not an integer: ${tag}${line}`);
        return scalar(tag, line);
      case ",":
        if (!DOUBLE.test(line)) throw new ProtocolError(`not a double: ${line}`);
        return scalar(tag, line);
      case "#":
        if (line !== "t" && line !== "f") throw new ProtocolError(`not a boolean: ${line}`);
        return scalar(tag, line);
      case "_":
        if (line !== "") throw new ProtocolError(`a null with text: ${line}`);
        return scalar(tag);
      case "$":
        return line === "-1" ? scalar("$-1") : this.#bulk(tag, line);
      case "=":
      case "!":
        return this.#bulk(tag, line);
      case "*":
        return line === "-1" ? scalar("*-1") : this.#aggregate(tag, line, 1);
      case "~":
      case ">":
        return this.#aggregate(tag, line, 1);
      case "%":
        return this.#aggregate(tag, line, 2);
      case "|":
        return this.#attributed(line);
      default:
        throw new ProtocolError(`an answer cannot start with ${JSON.stringify(tag)}`);
    }
  }

  #bulk(tag: Tag, line: string): Answer | typeof INCOMPLETE {
    if (!LENGTH.test(line)) throw new ProtocolError(`not a length: ${tag}${line}`);
    const end = this.#at + Number(line);
    if (this.#text.length < end + 2) {
      this.#need = end + 2;
      return INCOMPLETE;
    }
    if (this.#text[end] !== "\r" || this.#text[end + 1] !== "\n") {
      throw new ProtocolError("a string that does not end where its length says");
    }
    const text = this.#text.slice(this.#at, end);
    if (tag === "=" && text[3] !== ":") throw new ProtocolError("a verbatim string without its format");
    this.#at = end + 2;
    return scalar(tag, text);
  }

  #aggregate(tag: Tag, line: string, each: number): Answer | typeof INCOMPLETE {
    if (!LENGTH.test(line)) throw new ProtocolError(`not a length: ${tag}${line}`);
    const items: Answer[] = [];
    for (let left = Number(line) * each; left > 0; left--) {
      if (this.#at >= this.#text.length) return INCOMPLETE;
      const item = this.#decode();
      if (item === INCOMPLETE) return INCOMPLETE;
      items.push(item);
    }
    return aggregate(tag, items);
  }

  #attributed(line: string): Answer | typeof INCOMPLETE {
    const attributes = this.#aggregate("%", line, 2);
    if (attributes === INCOMPLETE || this.#at >= this.#text.length) return INCOMPLETE;
    const reply = this.#decode();
    return reply === INCOMPLETE ? INCOMPLETE : aggregate("|", [attributes, reply]);
  }
}
