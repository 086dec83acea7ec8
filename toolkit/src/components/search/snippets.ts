/** The piece of a text that has most of what was looked for, with the words marked. */
import type { Analyser } from "./analyser.ts";

/** How snippets look. */
export interface HighlightOptions {
  /** The stored text fields to show; all of them by default. */
  readonly fields?: readonly string[];
  /** Before each word that was found (default `"<mark>"`). */
  readonly before?: string;
  /** Behind each word that was found (default `"</mark>"`). */
  readonly after?: string;
  /** About how long a snippet is, in UTF-16 units (default 160). */
  readonly units?: number;
  /** Whether what stands between is made safe for HTML, which it is by default. */
  readonly escape?: boolean;
}

interface Mark {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

export function snippet(
  text: string,
  analyser: Analyser,
  words: ReadonlySet<string>,
  options: HighlightOptions,
): string {
  const { before = "<mark>", after = "</mark>", units = 160 } = options;
  const marks: Mark[] = [];
  analyser.words(text, (word, _, start, end) => {
    if (words.has(word)) marks.push({ word, start, end });
  });
  const [from, to] = piece(text, marks, units);
  const safe = (options.escape ?? true) ? escaped : (each: string) => each;
  let made = from > 0 ? "…" : "";
  let at = from;
  for (const { start, end } of merged(marks)) {
    if (start < from || end > to) continue;
    made += safe(text.slice(at, start)) + before + safe(text.slice(start, end)) + after;
    at = end;
  }
  return made + safe(text.slice(at, to)) + (to < text.length ? "…" : "");
}

/** Words that overlap, or stand next to each other without a space between, are marked as one. */
function merged(marks: readonly Mark[]): { readonly start: number; readonly end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  for (const { start, end } of marks) {
    const last = ranges.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, end);
    else ranges.push({ start, end });
  }
  return ranges;
}

/** The window with most different words in it, the first of several, moved to the borders of words. */
function piece(text: string, marks: readonly Mark[], units: number): readonly [from: number, to: number] {
  if (text.length <= units) return [0, text.length];
  let best = 0;
  let most = 0;
  let last = 0;
  const inside = new Map<string, number>();
  for (const [first, { start, word }] of marks.entries()) {
    for (let mark = marks[last]; mark !== undefined && mark.end <= start + units; mark = marks[++last]) {
      inside.set(mark.word, (inside.get(mark.word) ?? 0) + 1);
    }
    if (inside.size > most) {
      most = inside.size;
      best = first;
    }
    const left = (inside.get(word) ?? 1) - 1;
    if (left <= 0) inside.delete(word);
    else inside.set(word, left);
    last = Math.max(last, first + 1);
  }
  const start = marks[best]?.start ?? 0;
  // Some of what stands before it, so that it can be understood.
  const from = wordStart(text, Math.max(0, Math.min(start - (units >> 2), text.length - units)), start);
  return [from, wordEnd(text, Math.min(text.length, from + units))];
}

function wordStart(text: string, at: number, most: number): number {
  if (at === 0) return 0;
  const space = text.indexOf(" ", at);
  return space >= 0 && space < most ? space + 1 : outsidePair(text, at);
}

function wordEnd(text: string, at: number): number {
  if (at >= text.length) return text.length;
  const space = text.indexOf(" ", at);
  return space >= 0 && space < at + 32 ? space : outsidePair(text, at);
}

/** Not between two surrogates. */
function outsidePair(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
