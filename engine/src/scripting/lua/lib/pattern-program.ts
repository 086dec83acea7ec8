/**
 * Lua patterns, read once into a chain of nodes.
 *
 * A pattern is a line without branches, so everything about captures is known beforehand: which are open at a place, which
 * one a `)` closes, which back references can never match. Lua complains about a malformed pattern only when matching comes
 * to the fault; so faults become nodes that raise the error when they are reached, and `x%` on "abc" is just not found.
 * A pattern ends at a NUL, as C strings do.
 */

import { copied, LONG, take } from "../memory.ts";

export const END = 0;
export const TEXT = 1;
export const ONE = 2;
export const MAYBE = 3;
export const MANY = 4;
export const FEW = 5;
export const OPEN = 6;
export const CLOSE = 7;
export const HERE = 8;
export const AGAIN = 9;
export const BALANCED = 10;
export const FRONTIER = 11;
export const AT_END = 12;
export const NEVER = 13;
export const FAULT = 14;

/** What a pattern may capture at most. */
const MAX_CAPTURES = 32;

/** Characters by code: 1 for those that belong to a set. */
export type CharSet = Uint8Array;

export class Node {
  readonly op: number;
  /** ONE, MAYBE, MANY, FEW, FRONTIER */
  set: CharSet;
  /** TEXT: what must follow. FAULT: the message. */
  text: string;
  /** OPEN, CLOSE, HERE, AGAIN: which capture. BALANCED, TEXT: the first character's code. MANY: at least this often. */
  index: number;
  /** BALANCED: the last character's code. */
  index2: number;
  /** What comes behind it. The last node, at which matching ends, leads to itself. */
  next: Node;

  constructor(op: number) {
    this.op = op;
    this.set = NOTHING;
    this.text = "";
    this.index = 0;
    this.index2 = 0;
    this.next = this;
  }
}

export interface Program {
  readonly start: Node;
  /** Whether it begins with `^`, which only some functions regard. */
  readonly anchored: boolean;
  /** For each capture: closed, a position, or still open where the pattern ends. */
  readonly captures: readonly ("text" | "position" | "open")[];
}

const NOTHING: CharSet = new Uint8Array(256);
const ANYTHING: CharSet = new Uint8Array(256).fill(1);

const inRange = (c: number, from: string, to: string) => c >= from.charCodeAt(0) && c <= to.charCodeAt(0);
const isLower = (c: number) => inRange(c, "a", "z");
const isUpper = (c: number) => inRange(c, "A", "Z");
const isDigit = (c: number) => inRange(c, "0", "9");
const isAlnum = (c: number) => isLower(c) || isUpper(c) || isDigit(c);

/** What a class letter stands for in the C locale. */
const classes: Record<string, (c: number) => boolean> = {
  a: (c) => isLower(c) || isUpper(c),
  c: (c) => c < 32 || c === 127,
  d: isDigit,
  l: isLower,
  p: (c) => c > 32 && c < 127 && !isAlnum(c),
  s: (c) => c === 32 || (c >= 9 && c <= 13),
  u: isUpper,
  w: isAlnum,
  x: (c) => isDigit(c) || inRange(c, "a", "f") || inRange(c, "A", "F"),
  z: (c) => c === 0,
};

const classSets = new Map<number, CharSet>();
for (const [letter, test] of Object.entries(classes)) {
  const set = NOTHING.map((_, c) => (test(c) ? 1 : 0));
  classSets.set(letter.charCodeAt(0), set);
  classSets.set(
    letter.toUpperCase().charCodeAt(0),
    set.map((member) => 1 - member),
  );
}

const singles: CharSet[] = [];

function single(code: number): CharSet {
  let set = singles[code];
  if (set === undefined) {
    set = new Uint8Array(256);
    set[code] = 1;
    singles[code] = set;
  }
  return set;
}

const ESCAPE = 0x25;

class Parser {
  readonly #text: string;
  #at: number;
  readonly captures: ("text" | "position" | "open")[] = [];
  /** Stands before the first node. */
  readonly #head = new Node(NEVER);
  #last = this.#head;

  constructor(text: string, from: number) {
    this.#text = text;
    this.#at = from;
  }

  parse(): Node {
    while (this.#at < this.#text.length) if (!this.#item()) return this.#head.next;
    this.#add(new Node(END));
    return this.#head.next;
  }

  #code(offset: number): number {
    const at = this.#at + offset;
    return at < this.#text.length ? this.#text.charCodeAt(at) : 0;
  }

  #add(node: Node): Node {
    this.#last.next = node;
    this.#last = node;
    return node;
  }

  /** Nothing after a fault is ever reached. */
  #fault(message: string): false {
    this.#add(new Node(FAULT)).text = message;
    return false;
  }

  #item(): boolean {
    switch (this.#text.charAt(this.#at)) {
      case "(":
        return this.#open();
      case ")":
        return this.#close();
      case "$":
        if (this.#at + 1 < this.#text.length) return this.#single();
        this.#at++;
        this.#add(new Node(AT_END));
        return true;
      case "%":
        return this.#escape();
      default:
        return this.#single();
    }
  }

  #open(): boolean {
    const index = this.captures.length;
    if (index >= MAX_CAPTURES) return this.#fault("too many captures");
    const position = this.#code(1) === 0x29;
    this.#at += position ? 2 : 1;
    this.captures.push(position ? "position" : "open");
    this.#add(new Node(position ? HERE : OPEN)).index = index;
    return true;
  }

  #close(): boolean {
    const index = this.captures.lastIndexOf("open");
    if (index < 0) return this.#fault("invalid pattern capture");
    this.#at++;
    this.captures[index] = "text";
    this.#add(new Node(CLOSE)).index = index;
    return true;
  }

  #escape(): boolean {
    const letter = this.#code(1);
    if (letter === 0x62) return this.#balanced();
    if (letter === 0x66) return this.#frontier();
    if (isDigit(letter)) return this.#again(letter - 0x31);
    return this.#single();
  }

  #balanced(): boolean {
    const from = this.#code(2);
    const to = this.#code(3);
    if (from === 0 || to === 0) return this.#fault("unbalanced pattern");
    this.#at += 4;
    const node = this.#add(new Node(BALANCED));
    node.index = from;
    node.index2 = to;
    return true;
  }

  #frontier(): boolean {
    this.#at += 2;
    if (this.#code(0) !== 0x5b) return this.#fault("missing '[' after '%f' in pattern");
    const set = this.#charSet();
    if (typeof set === "string") return this.#fault(set);
    this.#add(new Node(FRONTIER)).set = set;
    return true;
  }

  #again(index: number): boolean {
    const kind = this.captures[index];
    if (kind === undefined || kind === "open") return this.#fault("invalid capture index");
    this.#at += 2;
    // A position has no text that could come again.
    this.#add(new Node(kind === "position" ? NEVER : AGAIN)).index = index;
    return true;
  }

  /** A character or set, with its repetition. Characters without one are gathered. */
  #single(): boolean {
    const first = this.#code(0);
    const begin = this.#at;
    const set = this.#charSet();
    if (typeof set === "string") return this.#fault(set);
    const op = repetitions.get(this.#code(0));
    if (op !== undefined) {
      const node = this.#add(new Node(op));
      node.set = set;
      if (this.#code(0) === 0x2b) node.index = 1;
      this.#at++;
      return true;
    }
    const literal = this.#literal(first, begin);
    if (literal === undefined) this.#add(new Node(ONE)).set = set;
    else if (this.#last.op === TEXT) this.#last.text += literal;
    else {
      const node = this.#add(new Node(TEXT));
      node.text = literal;
      node.index = literal.charCodeAt(0);
    }
    return true;
  }

  #literal(first: number, begin: number): string | undefined {
    if (first === 0x2e || first === 0x5b) return undefined;
    if (first !== ESCAPE) return this.#text.charAt(begin);
    return classSets.has(this.#text.charCodeAt(begin + 1)) ? undefined : this.#text.charAt(begin + 1);
  }

  /** Reads one character, `.`, class or bracketed set; a string is what is wrong with it. */
  #charSet(): CharSet | string {
    const first = this.#code(0);
    this.#at++;
    if (first === 0x2e) return ANYTHING;
    if (first === 0x5b) return this.#bracket();
    if (first !== ESCAPE) return single(first);
    const letter = this.#code(0);
    if (letter === 0) return "malformed pattern (ends with '%')";
    this.#at++;
    return classSets.get(letter) ?? single(letter);
  }

  /** After a `[`. First its end is looked for, then what lies between is read, as Lua does it. */
  #bracket(): CharSet | string {
    const text = this.#text;
    const negated = this.#code(0) === 0x5e;
    let p = this.#at + (negated ? 1 : 0);
    const begin = p;
    do {
      if (p >= text.length) return "malformed pattern (missing ']')";
      if (text.charCodeAt(p++) === ESCAPE && p < text.length) p++;
    } while (text.charCodeAt(p) !== 0x5d);
    this.#at = p + 1;
    const set = readSet(text, begin, p);
    return negated ? set.map((member) => 1 - member) : set;
  }
}

const repetitions = new Map([
  [0x3f, MAYBE],
  [0x2a, MANY],
  [0x2b, MANY],
  [0x2d, FEW],
]);

function readSet(text: string, begin: number, end: number): CharSet {
  const set = new Uint8Array(256);
  for (let p = begin; p < end; p++) {
    const code = text.charCodeAt(p);
    if (code === ESCAPE) {
      // What is escaped may be the closing bracket itself: Lua reads past the end of the set here.
      const letter = text.charCodeAt(++p);
      const members = classSets.get(letter);
      if (members === undefined) set[letter] = 1;
      else for (let c = 0; c < 256; c++) if (members[c] === 1) set[c] = 1;
    } else if (text.charCodeAt(p + 1) === 0x2d && p + 2 < end) {
      const last = text.charCodeAt(p + 2);
      for (let c = code; c <= last; c++) set[c] = 1;
      p += 2;
    } else set[code] = 1;
  }
  return set;
}

function read(pattern: string, from: number): Pick<Program, "start" | "captures"> {
  const nul = pattern.indexOf("\0");
  const parser = new Parser(nul < 0 ? pattern : pattern.slice(0, nul), from);
  const start = parser.parse();
  return { start, captures: parser.captures };
}

/** Programs by pattern, for as many as scripts usually have. */
const CACHED = 500;
const programs = new Map<string, Program>();
/** The same for functions to which `^` is a character like others. */
const unanchored = new Map<string, Program>();

function remember(cache: Map<string, Program>, pattern: string, program: Program): Program {
  if (cache.size >= CACHED) cache.clear();
  if (pattern.length <= 256) cache.set(copied(pattern), program);
  return program;
}

/** The program of a pattern where `^` at its start ties it to the place where matching begins. */
export function programOf(pattern: string): Program {
  pay(pattern);
  const known = programs.get(pattern);
  if (known !== undefined) return known;
  const anchored = pattern.charCodeAt(0) === 0x5e;
  return remember(programs, pattern, { ...read(pattern, anchored ? 1 : 0), anchored });
}

/** What a character of a pattern may become: a node, and a third of a set. */
const NODE_BYTES = 200;

function pay(pattern: string): void {
  if (pattern.length > LONG) take(pattern.length * NODE_BYTES);
}

/** The program of a pattern where it does not. */
export function looseProgramOf(pattern: string): Program {
  pay(pattern);
  const known = unanchored.get(pattern);
  if (known !== undefined) return known;
  return remember(unanchored, pattern, { ...read(pattern, 0), anchored: false });
}
