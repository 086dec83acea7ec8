/**
 * Matching Lua patterns: a walk along a program's nodes over a latin1 string.
 *
 * Captures need no undoing: a path that comes to read one has passed the nodes that set it, so what a failed path left is
 * never seen. Hence only repetitions recurse. Every step costs fuel, so that a pattern that takes exponential time ends at
 * the script's limit; and depth is bounded, since the reference just overflows its C stack there.
 */
import type { Runtime } from "../runtime.ts";
import type { LuaValue } from "../value.ts";
import {
  AGAIN,
  AT_END,
  BALANCED,
  CLOSE,
  END,
  FAULT,
  FEW,
  FRONTIER,
  HERE,
  MANY,
  MAYBE,
  NEVER,
  type Node,
  ONE,
  OPEN,
  type Program,
  TEXT,
} from "./pattern-program.ts";

/** Repetitions in one pattern that have been begun and not ended. */
const MAX_DEPTH = 2000;

/**
 * What is wrong with a pattern. Raised deep inside; who called the library makes a Lua error of it, since the place in the
 * script is read from the stack and must not be too far away.
 */
export class PatternFault {
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

export class Matcher {
  readonly #rt: Runtime;
  readonly #program: Program;
  readonly #source: string;
  readonly #starts: number[];
  readonly #ends: number[];

  constructor(rt: Runtime, program: Program, source: string) {
    this.#rt = rt;
    this.#program = program;
    this.#source = source;
    this.#starts = [];
    this.#ends = [];
    for (let i = 0; i < program.captures.length; i++) {
      this.#starts.push(0);
      this.#ends.push(0);
    }
  }

  /** Where a match that begins here ends, or -1. */
  matchAt(at: number): number {
    return this.#match(this.#program.start, at, 0);
  }

  /** The first place from here on where a match could begin, judged by the pattern's first node; past the end if none. */
  skip(at: number): number {
    const { start } = this.#program;
    const source = this.#source;
    if (start.op === TEXT) {
      const found = source.indexOf(start.text, at);
      return found < 0 ? source.length + 1 : found;
    }
    if (start.op === ONE || (start.op === MANY && start.index === 1)) {
      const { set } = start;
      let i = at;
      while (i < source.length && set[source.charCodeAt(i)] === 0) i++;
      return i < source.length ? i : source.length + 1;
    }
    return at;
  }

  get captureCount(): number {
    return this.#program.captures.length;
  }

  /** A capture of the last match, which went from start to end; the first of none is the match itself. */
  capture(index: number, start: number, end: number): string | number {
    const { captures } = this.#program;
    if (index >= captures.length) {
      if (index === 0) return this.#source.slice(start, end);
      throw new PatternFault("invalid capture index");
    }
    const kind = captures[index];
    if (kind === "open") throw new PatternFault("unfinished capture");
    const from = this.#starts[index]!;
    return kind === "position" ? from + 1 : this.#source.slice(from, this.#ends[index]);
  }

  /** The text of a match. */
  matched(start: number, end: number): string {
    return this.#source.slice(start, end);
  }

  /** All captures are added, and the match itself if there are none and `whole` is set. */
  addCaptures(values: LuaValue[], start: number, end: number, whole: boolean): void {
    const count = this.#program.captures.length;
    if (count === 0 && whole) values.push(this.#source.slice(start, end));
    else for (let i = 0; i < count; i++) values.push(this.capture(i, start, end));
  }

  #match(first: Node, at: number, depth: number): number {
    const source = this.#source;
    let node = first;
    let s = at;
    if (--this.#rt.fuel < 0) this.#rt.tick();
    if (depth > MAX_DEPTH) throw new PatternFault("pattern too complex");
    for (;;) {
      switch (node.op) {
        case END:
          return s;
        case TEXT:
          if (!source.startsWith(node.text, s)) return -1;
          s += node.text.length;
          break;
        case ONE:
          if (s >= source.length || node.set[source.charCodeAt(s)] === 0) return -1;
          s++;
          break;
        case MAYBE:
          if (s < source.length && node.set[source.charCodeAt(s)] === 1) {
            const end = this.#match(node.next!, s + 1, depth + 1);
            if (end >= 0) return end;
          }
          break;
        case MANY:
          return this.#many(node, s, depth);
        case FEW:
          return this.#few(node, s, depth);
        case OPEN:
        case HERE:
          this.#starts[node.index] = s;
          break;
        case CLOSE:
          this.#ends[node.index] = s;
          break;
        default:
          s = this.#seldom(node, s);
          if (s < 0) return -1;
      }
      node = node.next!;
    }
  }

  /** As often as possible, then less and less. */
  #many(node: Node, at: number, depth: number): number {
    const source = this.#source;
    const { set } = node;
    const length = source.length;
    let s = at;
    while (s < length && set[source.charCodeAt(s)] === 1) s++;
    const least = at + node.index;
    const next = node.next!;
    const rt = this.#rt;
    rt.fuel -= (s - at) >> 3;
    if (next.op === END) return s >= least ? s : -1;
    if (next.op === TEXT) {
      // Only where its first character stands it is worth a try.
      const code = next.text.charCodeAt(0);
      for (; s >= least; s--) {
        if (source.charCodeAt(s) !== code) continue;
        const end = this.#match(next, s, depth + 1);
        if (end >= 0) return end;
      }
      return -1;
    }
    for (; s >= least; s--) {
      const end = this.#match(next, s, depth + 1);
      if (end >= 0) return end;
    }
    return -1;
  }

  /** As seldom as possible, then more and more. */
  #few(node: Node, at: number, depth: number): number {
    const source = this.#source;
    const { set } = node;
    const next = node.next!;
    for (let s = at; ; s++) {
      const end = this.#match(next, s, depth + 1);
      if (end >= 0) return end;
      if (s >= source.length || set[source.charCodeAt(s)] === 0) return -1;
    }
  }

  #seldom(node: Node, s: number): number {
    const source = this.#source;
    switch (node.op) {
      case AT_END:
        return s === source.length ? s : -1;
      case AGAIN: {
        const start = this.#starts[node.index]!;
        const length = this.#ends[node.index]! - start;
        this.#rt.fuel -= length >> 3;
        if (s + length > source.length) return -1;
        return source.slice(start, start + length) === source.slice(s, s + length) ? s + length : -1;
      }
      case BALANCED:
        return this.#balanced(node.index, node.index2, s);
      case FRONTIER: {
        const before = s === 0 ? 0 : source.charCodeAt(s - 1);
        const here = s < source.length ? source.charCodeAt(s) : 0;
        return node.set[before] === 0 && node.set[here] === 1 ? s : -1;
      }
      case FAULT:
        throw new PatternFault(node.text);
      case NEVER:
        return -1;
      default:
        throw new Error(`no such node: ${node.op}`);
    }
  }

  #balanced(from: number, to: number, at: number): number {
    const source = this.#source;
    if (source.charCodeAt(at) !== from) return -1;
    let open = 1;
    for (let s = at + 1; s < source.length; s++) {
      const code = source.charCodeAt(s);
      if (code === to) {
        if (--open === 0) {
          this.#rt.fuel -= (s - at) >> 3;
          return s + 1;
        }
      } else if (code === from) open++;
    }
    this.#rt.fuel -= (source.length - at) >> 3;
    return -1;
  }
}
