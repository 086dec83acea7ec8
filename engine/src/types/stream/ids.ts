/**
 * Stream ids: two unsigned 64-bit numbers, milliseconds and a sequence number.
 *
 * Inside the engine an id is a latin1 string of 16 chars, its 16 bytes with the big end first: exact over the whole range,
 * compared in order by V8's own string comparison, and usable as a key. Its two halves are numbers where they are exact
 * as doubles, which clocks will not outgrow, and bigints beyond.
 */

/** 16 chars; `<` and `===` do what they should. */
export type Id = string;

/** Half an id. A bigint only past 2^53. */
export type Half = number | bigint;

export const HALF_MAX = 0xffffffffffffffffn;
export const MIN_ID: Id = "\0".repeat(16);
export const MAX_ID: Id = "\xff".repeat(16);

const TWO_32 = 0x100000000;

/** The bigint as a number where that loses nothing. */
export function half(value: bigint): Half {
  return value <= 0x1fffffffffffffn ? Number(value) : value;
}

// An id is taken apart again and again soon after it was made.
let recentId: Id = MIN_ID;
let recentMs: Half = 0;
let recentSeq: Half = 0;

export function makeId(ms: Half, seq: Half): Id {
  const id = join(ms, seq);
  recentId = id;
  recentMs = ms;
  recentSeq = seq;
  return id;
}

function join(ms: Half, seq: Half): Id {
  const msHigh = typeof ms === "number" ? Math.floor(ms / TWO_32) : Number(ms >> 32n);
  const msLow = typeof ms === "number" ? ms >>> 0 : Number(ms & 0xffffffffn);
  const seqHigh = typeof seq === "number" ? Math.floor(seq / TWO_32) : Number(seq >> 32n);
  const seqLow = typeof seq === "number" ? seq >>> 0 : Number(seq & 0xffffffffn);
  return String.fromCharCode(
    msHigh >>> 24,
    (msHigh >>> 16) & 0xff,
    (msHigh >>> 8) & 0xff,
    msHigh & 0xff,
    msLow >>> 24,
    (msLow >>> 16) & 0xff,
    (msLow >>> 8) & 0xff,
    msLow & 0xff,
    seqHigh >>> 24,
    (seqHigh >>> 16) & 0xff,
    (seqHigh >>> 8) & 0xff,
    seqHigh & 0xff,
    seqLow >>> 24,
    (seqLow >>> 16) & 0xff,
    (seqLow >>> 8) & 0xff,
    seqLow & 0xff,
  );
}

function word32(text: string, at: number): number {
  return (
    ((text.charCodeAt(at) << 24) |
      (text.charCodeAt(at + 1) << 16) |
      (text.charCodeAt(at + 2) << 8) |
      text.charCodeAt(at + 3)) >>>
    0
  );
}

function halfAt(id: Id, at: number): Half {
  const high = word32(id, at);
  const low = word32(id, at + 4);
  if (high < 0x200000) return high * TWO_32 + low;
  return (BigInt(high) << 32n) | BigInt(low);
}

export const msOf = (id: Id): Half => (id === recentId ? recentMs : halfAt(id, 0));
export const seqOf = (id: Id): Half => (id === recentId ? recentSeq : halfAt(id, 8));

/** As people read it: `1526919030474-55`. */
export const formatId = (id: Id): string => `${msOf(id)}-${seqOf(id)}`;

/** The id right behind this one, or undefined behind the last. */
export function idAfter(id: Id): Id | undefined {
  const seq = seqOf(id);
  if (seq < Number.MAX_SAFE_INTEGER) return makeId(msOf(id), Number(seq) + 1);
  if (seq < HALF_MAX) return makeId(msOf(id), BigInt(seq) + 1n);
  const ms = BigInt(msOf(id));
  return ms === HALF_MAX ? undefined : makeId(half(ms + 1n), 0);
}

/** The id right before this one, or undefined before the first. */
export function idBefore(id: Id): Id | undefined {
  const seq = seqOf(id);
  if (seq !== 0) return makeId(msOf(id), typeof seq === "number" ? seq - 1 : half(seq - 1n));
  const ms = BigInt(msOf(id));
  return ms === 0n ? undefined : makeId(half(ms - 1n), HALF_MAX);
}

/** An unsigned 64-bit number in plain digits, between two places of a word; undefined for anything else. */
function plainHalf(word: string, from: number, to: number): Half | undefined {
  const length = to - from;
  if (length === 0 || length > 15) return undefined;
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = word.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

/**
 * Half an id by C's rules for strtoull, which is what Redis falls back to: spaces before it, a sign and leading zeros are
 * allowed, and a minus wraps around, except in front of a number in its canonical form.
 */
function looseHalf(text: string): Half | undefined {
  if (/^-[1-9]\d*$/.test(text) && BigInt(text) >= -0x8000000000000000n) return undefined;
  const [, sign, digits] = /^[ \t\n\v\f\r]*([+-]?)(\d+)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const value = BigInt(digits);
  if (value > HALF_MAX) return undefined;
  return half(sign === "-" ? BigInt.asUintN(64, -value) : value);
}

/** Longer words are refused before they are read. */
const LONGEST = 127;

/**
 * The id that a word spells: `ms-seq`, or `ms` alone with this sequence number; undefined for anything else. With `open`,
 * `ms-*` is read as well, as the sequence number -1.
 */
export function parseHalves(word: string, missingSeq: Half, open: boolean): { ms: Half; seq: Half } | undefined {
  if (word.length > LONGEST) return undefined;
  const dash = word.indexOf("-");
  const ms = plainHalf(word, 0, dash < 0 ? word.length : dash);
  if (ms !== undefined) {
    if (dash < 0) return { ms, seq: missingSeq };
    const seq = plainHalf(word, dash + 1, word.length);
    if (seq !== undefined) return { ms, seq };
  }
  return parseLoosely(word, missingSeq, open);
}

function parseLoosely(word: string, missingSeq: Half, open: boolean): { ms: Half; seq: Half } | undefined {
  const end = word.indexOf("\0");
  const text = end < 0 ? word : word.slice(0, end);
  const dash = text.indexOf("-");
  const ms = looseHalf(dash < 0 ? text : text.slice(0, dash));
  if (ms === undefined) return undefined;
  if (dash < 0) return { ms, seq: missingSeq };
  const rest = text.slice(dash + 1);
  if (open && rest === "*") return { ms, seq: -1 };
  const seq = looseHalf(rest);
  return seq === undefined ? undefined : { ms, seq };
}

/** A whole id; `-` and `+` are not ids here. */
export function parseId(word: string, missingSeq: Half = 0): Id | undefined {
  const halves = parseHalves(word, missingSeq, false);
  return halves === undefined ? undefined : makeId(halves.ms, halves.seq);
}

/** A whole id, or `-` for the smallest and `+` for the largest. */
export function parseIdOrEdge(word: string, missingSeq: Half = 0): Id | undefined {
  if (word.charCodeAt(0) === 0x2d && (word.length === 1 || word.charCodeAt(1) === 0)) return MIN_ID;
  if (word.charCodeAt(0) === 0x2b && (word.length === 1 || word.charCodeAt(1) === 0)) return MAX_ID;
  return parseId(word, missingSeq);
}
