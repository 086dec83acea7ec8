/**
 * Several words in one string: each a length and its bytes, one behind the other.
 *
 * A small collection as JavaScript objects costs many times its content; as one latin1 string it costs sixteen bytes more
 * than its content. Reading hops from length to length; a change copies the whole string, which is cheap while it is small,
 * and the owner (types/hash, types/set …) widens it before it is not.
 *
 * Layout of an entry: one char for a length below 253; 253 and two chars, big end first; 254 and four chars. Then the word.
 *
 * Words that come out of `wordAt` may share memory with the packed string: right for replies, wrong for keeping. What is
 * kept (in a Dict, in an array) goes through `own`.
 */

const SHORT = 252;
const TWO = 253;
const FOUR = 254;

let scratch = Buffer.allocUnsafeSlow(64 * 1024);

function reserve(length: number): Buffer {
  if (scratch.length < length) scratch = Buffer.allocUnsafeSlow(Math.max(length, scratch.length * 2));
  return scratch;
}

/** A flat copy that shares memory with nothing. */
export function own(word: string): string {
  const length = word.length;
  if (length === 0) return "";
  if (length > 1 << 20) return Buffer.from(word, "latin1").latin1Slice();
  const buffer = reserve(length);
  buffer.latin1Write(word, 0, length);
  return buffer.latin1Slice(0, length);
}

/** The entry for one word. */
export function entry(word: string): string {
  const n = word.length;
  if (n <= SHORT) return String.fromCharCode(n) + word;
  if (n <= 0xffff) return String.fromCharCode(TWO, n >> 8, n & 0xff) + word;
  return String.fromCharCode(FOUR, n >>> 24, (n >> 16) & 0xff, (n >> 8) & 0xff, n & 0xff) + word;
}

/** How many chars the entry of a word of this length takes. */
export function entryLength(wordLength: number): number {
  return wordLength + (wordLength <= SHORT ? 1 : wordLength <= 0xffff ? 3 : 5);
}

/** A packed string of these words. */
export function pack(words: readonly string[]): string {
  let text = "";
  for (const word of words) text += entry(word);
  return own(text);
}

/** Where the word of the entry at `at` begins. */
export function wordStart(packed: string, at: number): number {
  const first = packed.charCodeAt(at);
  return at + (first <= SHORT ? 1 : first === TWO ? 3 : 5);
}

/** Where the entry at `at` ends and the next begins. */
export function skip(packed: string, at: number): number {
  const first = packed.charCodeAt(at);
  if (first <= SHORT) return at + 1 + first;
  if (first === TWO) return at + 3 + ((packed.charCodeAt(at + 1) << 8) | packed.charCodeAt(at + 2));
  return (
    at +
    5 +
    ((packed.charCodeAt(at + 1) << 24) |
      (packed.charCodeAt(at + 2) << 16) |
      (packed.charCodeAt(at + 3) << 8) |
      packed.charCodeAt(at + 4))
  );
}

/** The word of the entry at `at`; it may share memory with `packed`. */
export function wordAt(packed: string, at: number): string {
  return packed.substring(wordStart(packed, at), skip(packed, at));
}

/**
 * Whether these chars of a packed string are this word. From the back, since words of one collection tend to begin alike;
 * and by hand, since `startsWith` takes longer to call than this takes to run.
 */
function isHere(packed: string, start: number, word: string): boolean {
  for (let i = word.length - 1; i >= 0; i--) if (packed.charCodeAt(start + i) !== word.charCodeAt(i)) return false;
  return true;
}

/** Whether the entry at `at` is this word. */
export function isWordAt(packed: string, at: number, word: string): boolean {
  const start = wordStart(packed, at);
  return skip(packed, at) - start === word.length && isHere(packed, start, word);
}

/** Where the entry that is this word begins, looking at every `stride`-th entry from `from`; -1 if there is none. */
export function find(packed: string, word: string, stride = 1, from = 0): number {
  const length = packed.length;
  const n = word.length;
  let at = from;
  while (at < length) {
    const first = packed.charCodeAt(at);
    if (n <= SHORT) {
      if (first === n && isHere(packed, at + 1, word)) return at;
    } else if (isWordAt(packed, at, word)) return at;
    at = first <= SHORT ? at + 1 + first : skip(packed, at);
    for (let i = 1; i < stride; i++) at = skip(packed, at);
  }
  return -1;
}

/** Where entry number `index` begins (0 first); the packed string's length when there are fewer. */
export function seek(packed: string, index: number): number {
  const length = packed.length;
  let at = 0;
  for (let i = 0; i < index && at < length; i++) at = skip(packed, at);
  return at;
}

/** Every word, in order. */
export function unpack(packed: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < packed.length; ) {
    const end = skip(packed, at);
    words.push(packed.substring(wordStart(packed, at), end));
    at = end;
  }
  return words;
}

/** A flat copy with the chars from `from` to `to` replaced by `insert` (whole entries, all of them). */
export function splice(packed: string, from: number, to: number, insert: string): string {
  const length = packed.length;
  const added = insert.length;
  const total = length - (to - from) + added;
  if (total === 0) return "";
  const buffer = reserve(Math.max(total, length));
  buffer.latin1Write(packed, 0, length);
  if (to - from !== added && to < length) buffer.copyWithin(from + added, to, length);
  if (added > 0) buffer.latin1Write(insert, from, added);
  return buffer.latin1Slice(0, total);
}

/** A flat copy with these entries (from `entry`) at the end. */
export function append(packed: string, entries: string): string {
  const length = packed.length;
  const total = length + entries.length;
  const buffer = reserve(total);
  if (length > 0) buffer.latin1Write(packed, 0, length);
  buffer.latin1Write(entries, length, entries.length);
  return buffer.latin1Slice(0, total);
}
