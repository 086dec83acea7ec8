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
import { indexOf, OFTEN } from "./search.ts";

/**
 * What is being matched, and where each capture of the last match begins and ends. Shared by all matchers, since matching
 * calls nothing that could match something else, and captures are read before anybody is called back.
 */
let source = "";
let runtime: Runtime;
const starts: number[] = new Array(32).fill(0);
const ends: number[] = new Array(32).fill(0);

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

  constructor(rt: Runtime, program: Program, text: string) {
    this.#rt = rt;
    this.#program = program;
    this.#source = text;
  }

  /** Where a match that begins here ends, or -1. */
  matchAt(at: number): number {
    source = this.#source;
    runtime = this.#rt;
    return match(this.#program.start, at, 0);
  }

  /** The first place from here on where a match could begin, judged by the pattern's first node; past the end if none. */
  skip(at: number): number {
    const { start } = this.#program;
    const text = this.#source;
    if (start.op === TEXT) {
      const found = indexOf(this.#rt, text, start.text, at);
      return found < 0 ? text.length + 1 : found;
    }
    if (start.op === ONE || (start.op === MANY && start.index === 1)) {
      const { set } = start;
      let i = at;
      while (i < text.length && set[text.charCodeAt(i)] === 0) if ((++i & OFTEN) === 0) this.#rt.tick();
      return i < text.length ? i : text.length + 1;
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
    if (kind === "text") return this.#source.slice(starts[index], ends[index]);
    if (kind === "open") throw new PatternFault("unfinished capture");
    return starts[index]! + 1;
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
}

function match(first: Node, at: number, depth: number): number {
  let node = first;
  let s = at;
  if (--runtime.fuel < 0) runtime.tick();
  if (depth > MAX_DEPTH) throw new PatternFault("pattern too complex");
  for (;;) {
    switch (node.op) {
      case END:
        return s;
      case TEXT:
        if (source.charCodeAt(s) !== node.index || !follows(node.text, s)) return -1;
        s += node.text.length;
        break;
      case ONE:
        if (s >= source.length || node.set[source.charCodeAt(s)] === 0) return -1;
        s++;
        break;
      case MAYBE:
        if (s < source.length && node.set[source.charCodeAt(s)] === 1) {
          const end = match(node.next, s + 1, depth + 1);
          if (end >= 0) return end;
        }
        break;
      case MANY:
        return many(node, s, depth);
      case FEW:
        return few(node, s, depth);
      case OPEN:
      case HERE:
        starts[node.index] = s;
        break;
      case CLOSE:
        ends[node.index] = s;
        break;
      default:
        s = seldom(node, s);
        if (s < 0) return -1;
    }
    node = node.next;
  }
}

/** Whether a text stands here; its first character is known to. */
function follows(text: string, at: number): boolean {
  for (let i = 1; i < text.length; i++) if (source.charCodeAt(at + i) !== text.charCodeAt(i)) return false;
  return true;
}

/** As often as possible, then less and less. */
function many(node: Node, at: number, depth: number): number {
  const { set } = node;
  const length = source.length;
  let s = at;
  while (s < length && set[source.charCodeAt(s)] === 1) if ((++s & OFTEN) === 0) runtime.tick();
  const least = at + node.index;
  if (s < least) return -1;
  runtime.fuel -= (s - at) >> 3;
  const { next } = node;
  // What has to follow, past the end of a capture: only where it can it is worth a try.
  const then = next.op === CLOSE ? next.next : next;
  if (then.op === END) {
    if (next.op === CLOSE) ends[next.index] = s;
    return s;
  }
  const code = then.op === TEXT ? then.index : -1;
  for (; s >= least; s--) {
    if ((s & OFTEN) === 0) runtime.tick();
    if (code >= 0 && source.charCodeAt(s) !== code) continue;
    const end = match(next, s, depth + 1);
    if (end >= 0) return end;
  }
  return -1;
}

/** As seldom as possible, then more and more. */
function few(node: Node, at: number, depth: number): number {
  const { set } = node;
  const { next } = node;
  for (let s = at; ; s++) {
    const end = match(next, s, depth + 1);
    if (end >= 0) return end;
    if (s >= source.length || set[source.charCodeAt(s)] === 0) return -1;
  }
}

function seldom(node: Node, s: number): number {
  switch (node.op) {
    case AT_END:
      return s === source.length ? s : -1;
    case AGAIN: {
      const start = starts[node.index]!;
      const length = ends[node.index]! - start;
      runtime.fuel -= length >> 3;
      if (s + length > source.length) return -1;
      return source.slice(start, start + length) === source.slice(s, s + length) ? s + length : -1;
    }
    case BALANCED:
      return balanced(node.index, node.index2, s);
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

function balanced(from: number, to: number, at: number): number {
  if (source.charCodeAt(at) !== from) return -1;
  let open = 1;
  for (let s = at + 1; s < source.length; s++) {
    const code = source.charCodeAt(s);
    if (code === to) {
      if (--open === 0) {
        runtime.fuel -= (s - at) >> 3;
        return s + 1;
      }
    } else if (code === from) open++;
    if ((s & OFTEN) === 0) runtime.tick();
  }
  runtime.fuel -= (source.length - at) >> 3;
  return -1;
}
