/**
 * A call of a command, made from its syntax: every required argument once, options left out. It stands where nobody has written a better
 * one, so that a new command has an example of its typed method, a prompt on the site and a check of its reply without a line elsewhere.
 */
import type { Argument } from "../engine/src/table/syntax.ts";

/** One argument: the words that are sent, and the value that the typed method takes for them, as code. */
interface Piece {
  readonly words: readonly string[];
  readonly code: readonly string[];
}

export interface SampleCall {
  /** Without the command's name. */
  readonly words: readonly string[];
  /** The arguments of the typed method. */
  readonly code: string;
}

/** New Year of 2100. */
const FUTURE_SECONDS = 4_102_444_800;

const both = (value: string | number): Piece => ({ words: [String(value)], code: [JSON.stringify(value)] });

const concat = (pieces: readonly Piece[]): Piece => ({
  words: pieces.flatMap(({ words }) => words),
  code: pieces.flatMap(({ code }) => code),
});

/** The argument's own word or number; for a choice, its first. */
function value(argument: Argument): Piece {
  switch (argument.type) {
    case "pure-token":
      return concat([]);
    case "oneof":
      return single(argument.arguments![0]!);
    case "block":
      return concat((argument.arguments ?? []).map(each));
    case "integer":
      return both(1);
    case "double":
      return both(1.5);
    case "unix-time":
      return both(argument.name.includes("milli") ? FUTURE_SECONDS * 1_000 : FUTURE_SECONDS);
    default:
      return both(argument.name);
  }
}

const token = (argument: Argument): Piece => (argument.token === undefined ? concat([]) : both(argument.token));

const single = (argument: Argument): Piece => concat([token(argument), value(argument)]);

const object = (field: string, value: string): string =>
  `{ ${/^"[a-z]\w*"$/i.test(field) ? field.slice(1, -1) : field}: ${value} }`;

/** What the typed methods take for an argument that may come again: a value, an object of pairs, or a list of tuples. */
function repeated(argument: Argument): Piece {
  const { words, code } = value(argument);
  if (code.length < 2) return { words, code };
  const [first, second] = code;
  const parts = argument.type === "block" ? (argument.arguments ?? []) : [];
  const types = parts.map(({ type }) => type);
  const isWord = (type: string | undefined): boolean => type === "string" || type === "key" || type === "pattern";
  if (code.length === 2 && isWord(types[0]) && isWord(types[1])) return { words, code: [object(first!, second!)] };
  if (code.length === 2 && types[0] === "double" && isWord(types[1])) return { words, code: [object(second!, first!)] };
  return { words, code: [`[[${code.join(", ")}]]`] };
}

function each(argument: Argument): Piece {
  if (argument.optional === true) return concat([]);
  return argument.multiple === true ? concat([token(argument), repeated(argument)]) : single(argument);
}

/** A call with one of everything that the command needs. */
export function sampleCall(syntax: readonly Argument[]): SampleCall {
  const { words, code } = concat(syntax.map(each));
  return { words, code: code.join(", ") };
}

const QUOTED = /^[\w:.*+-]+$/;

/** The same as typed into redis-cli. */
export const typedIn = (words: readonly string[]): string =>
  words.map((word) => (QUOTED.test(word) ? word : JSON.stringify(word))).join(" ");
