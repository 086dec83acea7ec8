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

/**
 * Lets V8 turn a concatenation into one flat string now, while its parts are at hand; asking for a char does that. What is
 * left is the flat string behind a small header, which the garbage collector takes away. Half the cost of writing the parts
 * to a buffer and reading a string from there: both of those are calls out of JavaScript.
 */
export function flat(joined: string): string {
  joined.charCodeAt(0);
  return joined;
}

/** A flat copy that shares memory with nothing. */
export function own(word: string): string {
  const last = word.length - 1;
  // V8 has no word for copying a string. It does copy two that are joined, and up to twelve chars at once.
  return last < 1 ? word : flat(word.substring(0, last) + word.charAt(last));
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
  return flat(text);
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
  const front = packed.substring(0, from);
  const back = packed.substring(to);
  // Joined to nothing, a part stays what it is: a slice.
  if (front === "") return back === "" ? own(insert) : insert === "" ? own(back) : flat(insert + back);
  if (back === "") return insert === "" ? own(front) : flat(front + insert);
  return flat(front + insert + back);
}

/** A flat copy with these entries (from `entry`) at the end. */
export function append(packed: string, entries: string): string {
  return flat(packed + entries);
}
