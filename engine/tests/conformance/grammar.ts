/**
 * The small language of commands.ts: how a command's arguments are made up.
 *
 *   SET <str> <value> [NX|XX] [EX <secs>|KEEPTTL]
 *
 *   WORD       itself                      [a|b]   one of them, or nothing
 *   <name>     made up by words.ts         (a|b)   one of them
 *   x+         x once or several times     x*      x, or nothing, or several times
 */
import type { Prng } from "./prng.ts";
import { type Making, makers } from "./words.ts";

type Node = (making: Making, out: string[]) => void;

/** Turns a line of the grammar into a function that makes up one command. */
export function compile(pattern: string): (making: Making) => string[] {
  const tokens = pattern.match(/[[\]()|]|[+*](?=\s|$|[\])|])|<[^>]+>[+*]?|[^\s[\]()|<]+/g) ?? [];
  const reader = { tokens, at: 0 };
  const node = readAlternatives(reader, pattern);
  if (reader.at !== tokens.length) throw new Error(`cannot read ${pattern}`);
  return (making) => {
    const out: string[] = [];
    node(making, out);
    return out;
  };
}

interface Reader {
  readonly tokens: readonly string[];
  at: number;
}

function readAlternatives(reader: Reader, pattern: string): Node {
  const choices: Node[] = [readSequence(reader, pattern)];
  while (reader.tokens[reader.at] === "|") {
    reader.at++;
    choices.push(readSequence(reader, pattern));
  }
  if (choices.length === 1) return choices[0]!;
  return (making, out) => making.rng.pick(choices)(making, out);
}

function readSequence(reader: Reader, pattern: string): Node {
  const parts: Node[] = [];
  for (;;) {
    const token = reader.tokens[reader.at];
    if (token === undefined || token === "|" || token === "]" || token === ")") break;
    reader.at++;
    parts.push(token === "[" || token === "(" ? readGroup(reader, token, pattern) : readWord(token, pattern));
  }
  return (making, out) => {
    for (const part of parts) part(making, out);
  };
}

function readGroup(reader: Reader, open: string, pattern: string): Node {
  const inner = readAlternatives(reader, pattern);
  if (reader.tokens[reader.at] !== (open === "[" ? "]" : ")")) throw new Error(`unclosed ${open} in ${pattern}`);
  reader.at++;
  const repeat = reader.tokens[reader.at];
  if (repeat === "+" || repeat === "*") {
    reader.at++;
    return repeated(inner, repeat);
  }
  return open === "(" ? inner : optional(inner);
}

function readWord(token: string, pattern: string): Node {
  const made = /^<([^>]+)>([+*]?)$/.exec(token);
  if (made === null) return (_, out) => void out.push(token);
  const maker = makers[made[1]!];
  if (maker === undefined) throw new Error(`nothing makes <${made[1]}> in ${pattern}`);
  const node: Node = (making, out) => {
    const words = maker(making);
    if (typeof words === "string") out.push(words);
    else out.push(...words);
  };
  return made[2] === "" ? node : repeated(node, made[2]!);
}

const optional =
  (inner: Node): Node =>
  (making, out) => {
    if (making.rng.chance(0.4)) inner(making, out);
  };

/** Mostly a few; now and then so many that a collection outgrows its compact form. */
function repeated(inner: Node, how: string): Node {
  return (making, out) => {
    making.bulk = making.rng.chance(0.008);
    let times = making.bulk ? making.rng.between(60, 600) : few(making.rng);
    if (how === "*" && making.rng.chance(0.3)) times = 0;
    for (; times > 0; times--) inner(making, out);
    making.bulk = false;
  };
}

const few = (rng: Prng): number => (rng.chance(0.6) ? rng.between(1, 2) : rng.between(2, 5));
