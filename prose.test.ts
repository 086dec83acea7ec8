/**
 * Words that leave a reader without an actor, a thing or a source, in documents and in the comments and texts of sources. Say which caller,
 * process or user does what: "a second caller waits", not "whoever comes second waits".
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = import.meta.dirname;

/** What not to write, and what to write instead. */
const AVOIDED: readonly (readonly [words: RegExp, instead: string])[] = [
  [/\bwhoever\b/gi, "name the actor: a caller, the process that …"],
  [/\bthose who\b/gi, "name them: waiters, readers, clients that …"],
  [/\bthe notes\b/gi, "name the idea"],
  [/\bwhat is no\b/gi, "say what it is: anything but a number"],
  [/\btold of\b/gi, "called with, announced, hears about"],
  [/\blied to\b/gi, "name the fault: with skewed clocks"],
];

/** Places where the words stand for themselves: file, text, reason. */
const EXCEPTIONS: readonly (readonly [file: string, text: string, reason: string])[] = [
  ["prose.test.ts", "", "has the words that are avoided"],
];

const SKIPPED = /(^|\/)(?:node_modules|dist|data|coverage|api|\.[^/]+)\//;

const files = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .map((file) => file.split(sep).join("/"))
  .filter((file) => /\.(?:md|[jt]sx?|mjs|vue|lua)$/.test(file) && !SKIPPED.test(file))
  .sort();

/** A text on one line, so that a phrase is found across the lines of a comment; every character stays where it is. */
const joined = (text: string): string =>
  text
    .replace(/\n[ \t]*(?:\*(?!\/)|\/\/|--)?[ \t]*/g, (gap) => " ".repeat(gap.length))
    .replace(/ {2,}/g, (gap) => ` ${"\0".repeat(gap.length - 1)}`);

interface Place {
  readonly file: string;
  readonly line: number;
  readonly words: string;
  readonly text: string;
}

function placesIn(file: string, words: RegExp): Place[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  const flat = joined(text);
  const spread = new RegExp(words.source.replaceAll(" ", " \\0*"), words.flags);
  return [...flat.matchAll(spread)].map(({ 0: found, index }) => {
    const before = text.slice(0, index).split("\n");
    return { file, line: before.length, words: found.replaceAll("\0", ""), text: text.split("\n")[before.length - 1]! };
  });
}

const isException = ({ file, text }: Place): boolean =>
  EXCEPTIONS.some(([where, what]) => where === file && text.includes(what));

describe("documents, comments and texts", () => {
  test("are read", () => {
    expect(files.length).toBeGreaterThan(1_500);
    expect(joined("/**\n * Serves those\n * who wait.\n */").replaceAll("\0", "")).toContain("Serves those who wait.");
  });

  test.each(AVOIDED)("do not say %s: %s", (words) => {
    const places = files.flatMap((file) => placesIn(file, words)).filter((place) => !isException(place));
    expect(places.map(({ file, line, words: found }) => `${file}:${line}: ${found}`)).toEqual([]);
  });

  test("have only exceptions that are there", () => {
    const all = AVOIDED.flatMap(([words]) => files.flatMap((file) => placesIn(file, words)));
    const stale = EXCEPTIONS.filter(
      ([file, text]) => !all.some((place) => place.file === file && place.text.includes(text)),
    );
    expect(stale).toEqual([]);
  });
});
