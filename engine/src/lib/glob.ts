/**
 * Glob patterns as KEYS, SCAN, PSUBSCRIBE and CONFIG GET take them: `*`, `?`, `[a-z]`, `[^a]`, and a backslash before a
 * character that is meant as itself.
 *
 * Every element but the star stands for exactly one byte, so matching needs only to come back to the last star, and no
 * pattern takes more than (pattern × text) steps. The pattern is read in place each time: it comes from outside and may be
 * very long, and anything built from it would be longer. Redis's quirks are kept:
 *
 * - a class that never ends ends with the pattern; `[a-]` is such a one, since its range runs from `a` to `]`;
 * - bytes in ranges are signed, and a range with its ends the wrong way round is turned (before the case is dropped);
 * - nothing but the empty pattern matches the empty word, not even `*`. Where Redis takes a lone `*` as "everything"
 *   (KEYS, the SCAN family) it does so before it matches, and so must our callers.
 */

const STAR = 0x2a;
const QUESTION = 0x3f;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const CARET = 0x5e;
const DASH = 0x2d;
const BACKSLASH = 0x5c;

const lower = (code: number) => (code >= 0x41 && code <= 0x5a ? code + 32 : code);
const signed = (code: number) => (code << 24) >> 24;

/** Where the element that `fits` looked at last ends. */
let elementEnd = 0;

/** Whether the element at `at` (not a star) stands for this byte. Leaves where it ends in `elementEnd`. */
function fits(pattern: string, at: number, byte: number, nocase: boolean): boolean {
  let code = pattern.charCodeAt(at);
  elementEnd = at + 1;
  if (code === QUESTION) return true;
  if (code === OPEN) return fitsClass(pattern, at + 1, byte, nocase);
  if (code === BACKSLASH && elementEnd < pattern.length) code = pattern.charCodeAt(elementEnd++);
  return code === byte || (nocase && lower(code) === lower(byte));
}

function fitsClass(pattern: string, start: number, byte: number, nocase: boolean): boolean {
  const end = pattern.length;
  let i = start;
  const not = pattern.charCodeAt(i) === CARET;
  if (not) i++;
  let found = false;
  for (; i < end; i++) {
    const code = pattern.charCodeAt(i);
    if (code === BACKSLASH && i + 1 < end) {
      if (pattern.charCodeAt(++i) === byte) found = true;
    } else if (code === CLOSE) {
      i++;
      break;
    } else if (i + 2 < end && pattern.charCodeAt(i + 1) === DASH) {
      if (inRange(byte, code, pattern.charCodeAt(i + 2), nocase)) found = true;
      i += 2;
    } else if (code === byte || (nocase && lower(code) === lower(byte))) {
      found = true;
    }
  }
  elementEnd = i;
  return found !== not;
}

function inRange(byte: number, from: number, to: number, nocase: boolean): boolean {
  const low = Math.min(signed(from), signed(to));
  const high = Math.max(signed(from), signed(to));
  if (nocase) return lower(signed(byte)) >= lower(low) && lower(signed(byte)) <= lower(high);
  return signed(byte) >= low && signed(byte) <= high;
}

function skipStars(pattern: string, at: number): number {
  let i = at;
  while (pattern.charCodeAt(i) === STAR) i++;
  return i;
}

/** Whether a text matches a pattern. */
export function globMatch(pattern: string, text: string, nocase = false): boolean {
  const end = pattern.length;
  const length = text.length;
  if (length === 0) return end === 0;
  let p = 0;
  let t = 0;
  let afterStar = -1;
  let retry = 0;
  while (t < length) {
    if (pattern.charCodeAt(p) === STAR) {
      p = skipStars(pattern, p);
      if (p === end) return true;
      afterStar = p;
      retry = t;
    } else if (p < end && fits(pattern, p, text.charCodeAt(t), nocase)) {
      p = elementEnd;
      t++;
    } else {
      if (afterStar < 0) return false;
      p = afterStar;
      t = ++retry;
    }
  }
  return skipStars(pattern, p) === end;
}

/** Whether a stretch of a pattern has nothing in it that stands for anything but itself. */
function isPlain(pattern: string, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const code = pattern.charCodeAt(i);
    if (code === STAR || code === QUESTION || code === OPEN || code === BACKSLASH) return false;
  }
  return true;
}

/** A function that tells whether a text matches; for patterns that are used more than once. */
export function compileGlob(pattern: string, nocase = false): (text: string) => boolean {
  const end = pattern.length;
  if (!nocase && end > 0) {
    const first = pattern.charCodeAt(0) === STAR ? 1 : 0;
    const last = end > 1 && pattern.charCodeAt(end - 1) === STAR ? end - 1 : end;
    if (isPlain(pattern, first, last)) {
      const plain = pattern.slice(first, last);
      if (plain === "") return (text) => text !== "";
      if (first === 1) return last < end ? (text) => text.includes(plain) : (text) => text.endsWith(plain);
      return last < end ? (text) => text.startsWith(plain) : (text) => text === plain;
    }
  }
  return (text) => globMatch(pattern, text, nocase);
}
