/**
 * A run of words in one packed string (types/packed.ts): the whole of a small list, and the content of a chunk of a long
 * one. Pure functions; each that returns a run returns a flat string that shares memory with nothing.
 *
 * Flat copies are made by joining and `flat`: half the price of a round trip through a Buffer for the sizes that a run has,
 * and less than that of an array's `join`.
 */
import { entry, entryLength, find, flat, own, seek, skip, wordStart } from "../packed.ts";

/** The longest word whose entry has a length of one char. */
const SHORT = 252;

const HEADERS: readonly string[] = Array.from({ length: SHORT + 1 }, (_, n) => String.fromCharCode(n));

/** What stands before a word of this length in a packed string. */
function header(length: number): string {
  if (length <= SHORT) return HEADERS[length]!;
  if (length <= 0xffff) return String.fromCharCode(253, length >> 8, length & 0xff);
  return String.fromCharCode(254, length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff);
}

/** Two runs in one. */
export function glue(left: string, right: string): string {
  if (left === "") return right;
  if (right === "") return left;
  return flat(left + right);
}

/** The run with a word before its first. */
export function pushFront(run: string, word: string): string {
  if (run === "") return flat(entry(word));
  return flat(header(word.length) + word + run);
}

/** The run with a word behind its last. */
export function pushBack(run: string, word: string): string {
  if (run === "") return flat(entry(word));
  return flat(run + header(word.length) + word);
}

/** A run of `words[from]` up to, not including, `words[to]`; back to front when `reversed`. */
export function packSlice(words: readonly string[], from: number, to: number, reversed: boolean): string {
  const count = to - from;
  if (count <= 0) return "";
  let text = "";
  for (let i = 0; i < count; i++) {
    const word = words[reversed ? to - 1 - i : from + i]!;
    text += header(word.length) + word;
  }
  return flat(text);
}

/** How many chars these words take when packed. */
export function packedLength(words: readonly string[], from: number): number {
  let total = 0;
  for (let i = from; i < words.length; i++) total += entryLength(words[i]!.length);
  return total;
}

/** Writes `count` words, the first of them number `index`, into `out` from `at` on. They may share memory with the run. */
export function readInto(run: string, index: number, count: number, out: string[], at: number): void {
  let offset = index === 0 ? 0 : seek(run, index);
  for (let i = 0; i < count; i++) {
    const length = run.charCodeAt(offset);
    if (length <= SHORT) {
      const start = offset + 1;
      offset = start + length;
      out[at + i] = run.substring(start, offset);
    } else {
      const end = skip(run, offset);
      out[at + i] = run.substring(wordStart(run, offset), end);
      offset = end;
    }
  }
}

/** The numbers of the entries that are this word, in order. */
export function matches(run: string, word: string): number[] {
  const found: number[] = [];
  let ordinal = 0;
  let from = 0;
  for (let at = find(run, word); at >= 0; at = find(run, word, 1, from)) {
    for (; from < at; from = skip(run, from)) ordinal++;
    found.push(ordinal++);
    from = skip(run, at);
  }
  return found;
}

/** The run without `count` of the word's occurrences, leaving the first `spare` of them. */
export function withoutMatches(run: string, word: string, spare: number, count: number): string {
  const parts: string[] = [];
  let kept = 0;
  let seen = 0;
  for (let at = find(run, word); at >= 0 && seen < spare + count; seen++) {
    const end = skip(run, at);
    if (seen >= spare) {
      if (at > kept) parts.push(run.substring(kept, at));
      kept = end;
    }
    at = find(run, word, 1, end);
  }
  if (kept < run.length) parts.push(run.substring(kept));
  const [only] = parts;
  return only !== undefined && parts.length === 1 ? own(only) : parts.join("");
}
