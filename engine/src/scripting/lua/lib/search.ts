/** Finding a text in another one, with ticks: V8's own search takes minutes for texts that are made for it. */
import { take } from "../memory.ts";
import type { Runtime } from "../runtime.ts";

/** Comparisons that V8 makes at worst in some tenths of a second. */
const COMPARISONS = 1e8;
/** Longer texts are looked for by an algorithm of our own, which is linear whatever they are. */
const LONG_NEEDLE = 1000;
/** Characters that are looked at between two ticks, less one: a mask for positions. */
export const OFTEN = 0xfffff;

/** `text.indexOf(needle, from)`. */
export function indexOf(rt: Runtime, text: string, needle: string, from: number): number {
  const { length } = needle;
  if ((text.length - from) * length <= COMPARISONS) return text.indexOf(needle, from);
  return length > LONG_NEEDLE ? linear(rt, text, needle, from) : inPieces(rt, text, needle, from);
}

function inPieces(rt: Runtime, text: string, needle: string, from: number): number {
  const step = Math.floor(COMPARISONS / needle.length);
  for (let at = from; at < text.length; at += step) {
    const found = text.slice(at, at + step + needle.length - 1).indexOf(needle);
    if (found >= 0) return at + found;
    rt.tick();
  }
  return -1;
}

/** The algorithm of Knuth, Morris and Pratt: for each place of the needle, where to go on in it after a mismatch. */
function linear(rt: Runtime, text: string, needle: string, from: number): number {
  take(needle.length * Int32Array.BYTES_PER_ELEMENT);
  const borders = new Int32Array(needle.length);
  let matched = 0;
  const advance = (code: number): number => {
    let at = matched;
    while (at > 0 && needle.charCodeAt(at) !== code) at = borders[at - 1]!;
    return needle.charCodeAt(at) === code ? at + 1 : at;
  };
  for (let i = 1; i < needle.length; i++) {
    matched = advance(needle.charCodeAt(i));
    borders[i] = matched;
    if ((i & OFTEN) === 0) rt.tick();
  }
  matched = 0;
  for (let i = from; i < text.length; i++) {
    matched = advance(text.charCodeAt(i));
    if (matched === needle.length) return i - matched + 1;
    if ((i & OFTEN) === 0) rt.tick();
  }
  return -1;
}
