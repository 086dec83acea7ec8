/**
 * The words of a page and of an ad, in one form, so that they meet: folded as everywhere (text/fold.ts), letters, digits and
 * pictures.
 * Text of scripts that are written without spaces is cut by the runtime's own segmenter, which is much slower and so is not asked
 * about anything else.
 */
import { InputError } from "../../base/errors.ts";
import { fold } from "../../text/fold.ts";
import { LETTERS, PICTURE, UNSPACED } from "../../text/scripts.ts";

/** Of a longer page, the beginning is what it is about. */
const MAX_CHARS = 32_768;
const MAX_WORD_BYTES = 64;
const WORD = new RegExp(`[${LETTERS}]+|${PICTURE}`, "gu");
const HAS_UNSPACED = new RegExp(`[${UNSPACED}]`, "u");

let segmenter: Intl.Segmenter | undefined;

function segments(text: string): string[] {
  segmenter ??= new Intl.Segmenter("und", { granularity: "word" });
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

/** Every word of a text, in its order, as often as it stands there. */
export function wordsOf(text: string): string[] {
  const folded = fold(text.slice(0, MAX_CHARS));
  const runs = folded.match(WORD) ?? [];
  const found = HAS_UNSPACED.test(folded)
    ? runs.flatMap((run) => (HAS_UNSPACED.test(run) ? segments(run) : [run]))
    : runs;
  return found.filter((word) => word.length * 3 <= MAX_WORD_BYTES || Buffer.byteLength(word) <= MAX_WORD_BYTES);
}

/** The words that stand on a page most often, at most so many; of those that are as frequent, the first ones. */
export function pageWords(content: string | readonly string[], most: number): string[] {
  const counts = new Map<string, number>();
  const texts = typeof content === "string" ? [content] : content;
  for (const text of texts) for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  if (counts.size <= most) return [...counts.keys()];
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([word]) => word);
}

/** The words that an ad is for. */
export function adWords(words: readonly string[], most: number): string[] {
  const all = new Set<string>();
  for (const word of words) {
    if (typeof word !== "string") throw new InputError("the words of an ad must be strings");
    const parts = wordsOf(word);
    if (parts.length === 0)
      throw new InputError(`"${word.slice(0, 64)}" has no word of at most ${MAX_WORD_BYTES} bytes in it`);
    for (const part of parts) all.add(part);
  }
  if (all.size > most) throw new InputError(`an ad has at most ${most} words`);
  return [...all];
}
