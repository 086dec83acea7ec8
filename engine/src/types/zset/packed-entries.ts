/**
 * A small sorted set in one string ("listpack"): entries in order of score, then of the member's bytes, each the member as
 * types/packed.ts lays out a word and its score behind it.
 *
 * Scores are mostly small whole numbers, so they are kept as short as they are. The first char tells:
 *
 *   0 … 199      the number itself
 *   200 … 231    200 and up, 13 bits: the low five of this char, then one more
 *   232 … 235    a whole number in 2, 3, 4 or 6 more chars, two's complement, big end first
 *   236          4 more chars: a single-precision float that says the same
 *   237          8 more chars: the double
 *
 * As in Redis's listpack a whole number loses the sign of its zero. All functions take the string and return a new one;
 * offsets are of entries' beginnings.
 */
import { entry, own, skip, splice, wordAt, wordStart } from "../packed.ts";
import { type Interval, isAtOrAfter, isAtOrBefore, type LexRange, NO_INTERVAL, type Visit } from "./range.ts";

const TINY = 200;
const SMALL = 32 * 256;
const INT16 = 232;
const INT24 = 233;
const INT32 = 234;
const INT48 = 235;
const FLOAT = 236;
const DOUBLE = 237;

/** How many chars a score takes, by its first. */
const SCORE_CHARS = new Uint8Array(256).fill(1);
SCORE_CHARS.fill(2, TINY, INT16);
SCORE_CHARS.set([3, 4, 5, 7, 5, 9], INT16);

const view = new DataView(new ArrayBuffer(8));
const char = String.fromCharCode;

/** A score as the entry keeps it. */
export function encodeScore(score: number): string {
  if (Number.isInteger(score) && score >= -0x800000000000 && score < 0x800000000000) return encodeWhole(score);
  if (Math.fround(score) === score) {
    view.setFloat32(0, score);
    return char(FLOAT, view.getUint8(0), view.getUint8(1), view.getUint8(2), view.getUint8(3));
  }
  view.setFloat64(0, score);
  const high = view.getUint32(0);
  const low = view.getUint32(4);
  return (
    char(DOUBLE, high >>> 24, (high >> 16) & 0xff, (high >> 8) & 0xff, high & 0xff) +
    char(low >>> 24, (low >> 16) & 0xff, (low >> 8) & 0xff, low & 0xff)
  );
}

function encodeWhole(score: number): string {
  if (score >= 0 && score < TINY) return char(score);
  if (score >= TINY && score < TINY + SMALL) return char(TINY + ((score - TINY) >> 8), (score - TINY) & 0xff);
  if (score >= -0x8000 && score < 0x8000) return char(INT16, (score >> 8) & 0xff, score & 0xff);
  if (score >= -0x800000 && score < 0x800000)
    return char(INT24, (score >> 16) & 0xff, (score >> 8) & 0xff, score & 0xff);
  const low = (score % 4294967296) | 0;
  const tail = char(low >>> 24, (low >> 16) & 0xff, (low >> 8) & 0xff, low & 0xff);
  if (low === score) return char(INT32) + tail;
  const high = Math.floor(score / 4294967296);
  return char(INT48, (high >> 8) & 0xff, high & 0xff) + tail;
}

const int16 = (text: string, at: number) => (((text.charCodeAt(at) << 24) | (text.charCodeAt(at + 1) << 16)) >> 16) | 0;
const int32 = (text: string, at: number) => (int16(text, at) << 16) | (int16(text, at + 2) & 0xffff);

/** The score that begins at `at`. */
function scoreAt(packed: string, at: number): number {
  const first = packed.charCodeAt(at);
  if (first < TINY) return first;
  if (first < INT16) return TINY + ((first - TINY) << 8) + packed.charCodeAt(at + 1);
  switch (first) {
    case INT16:
      return int16(packed, at + 1);
    case INT24:
      return (int16(packed, at + 1) << 8) | packed.charCodeAt(at + 3);
    case INT32:
      return int32(packed, at + 1);
    case INT48:
      return int16(packed, at + 1) * 4294967296 + (int32(packed, at + 3) >>> 0);
    case FLOAT:
      view.setInt32(0, int32(packed, at + 1));
      return view.getFloat32(0);
    default:
      view.setInt32(0, int32(packed, at + 1));
      view.setInt32(4, int32(packed, at + 5));
      return view.getFloat64(0);
  }
}

/** Where the entry behind the one at `at` begins. */
function next(packed: string, at: number): number {
  const score = skip(packed, at);
  return score + SCORE_CHARS[packed.charCodeAt(score)]!;
}

/** Whether the chars before `end` are this word. From the end, where the members of a set differ most often. */
function endsAt(packed: string, end: number, word: string): boolean {
  for (let i = word.length - 1, at = end - 1; i >= 0; i--, at--) {
    if (packed.charCodeAt(at) !== word.charCodeAt(i)) return false;
  }
  return true;
}

/** Where a member's entry begins, -1 if it is not there. */
export function find(packed: string, member: string): number {
  const length = packed.length;
  const wanted = member.length;
  for (let at = 0; at < length; ) {
    const first = packed.charCodeAt(at);
    const start = first <= 252 ? at + 1 : wordStart(packed, at);
    const end = first <= 252 ? start + first : skip(packed, at);
    if (end - start === wanted && endsAt(packed, end, member)) return at;
    at = end + SCORE_CHARS[packed.charCodeAt(end)]!;
  }
  return -1;
}

/** The score in the entry at `at`. */
export function scoreOf(packed: string, at: number): number {
  return scoreAt(packed, skip(packed, at));
}

/** Where an entry with this score and member belongs, from an offset on: before the first that is greater, or at `until`. */
function placeFor(packed: string, score: number, member: string, from: number, until: number): number {
  let at = from;
  while (at < until) {
    const behind = skip(packed, at);
    const other = scoreAt(packed, behind);
    if (other > score || (other === score && wordAt(packed, at) > member)) return at;
    at = behind + SCORE_CHARS[packed.charCodeAt(behind)]!;
  }
  return until;
}

/** With a member that is not in it yet. */
export function insert(packed: string, member: string, score: number): string {
  const at = placeFor(packed, score, member, 0, packed.length);
  return splice(packed, at, at, entry(member) + encodeScore(score));
}

/** With another score for the member whose entry is at `at`. */
export function rescore(packed: string, at: number, member: string, score: number): string {
  const behind = skip(packed, at);
  const end = behind + SCORE_CHARS[packed.charCodeAt(behind)]!;
  const rises = score > scoreAt(packed, behind);
  const place = rises ? placeFor(packed, score, member, end, packed.length) : placeFor(packed, score, member, 0, at);
  if (place === (rises ? end : at)) return splice(packed, behind, end, encodeScore(score));
  const moved = packed.substring(at, behind) + encodeScore(score);
  return own(
    rises
      ? packed.substring(0, at) + packed.substring(end, place) + moved + packed.substring(place)
      : packed.substring(0, place) + moved + packed.substring(place, at) + packed.substring(end),
  );
}

/** Without the entry at `at`. */
export function remove(packed: string, at: number): string {
  return splice(packed, at, next(packed, at), "");
}

/** Where entry number `rank` begins; the length when there are fewer. */
function seek(packed: string, rank: number): number {
  let at = 0;
  for (let i = 0; i < rank && at < packed.length; i++) at = next(packed, at);
  return at;
}

/** Without the entries from one rank up to another. */
export function removeRanks(packed: string, from: number, to: number): string {
  const start = seek(packed, from);
  let end = start;
  for (let i = from; i < to; i++) end = next(packed, end);
  return splice(packed, start, end, "");
}

/** The rank of the entry at `at`. */
export function rankOf(packed: string, at: number): number {
  let rank = 0;
  for (let i = 0; i < at; i = next(packed, i)) rank++;
  return rank;
}

/** How many entries have a score below the bound, or up to and with it. */
export function countBelow(packed: string, bound: number, inclusive: boolean): number {
  let count = 0;
  for (let at = 0; at < packed.length; count++) {
    const behind = skip(packed, at);
    const score = scoreAt(packed, behind);
    if (inclusive ? score > bound : score >= bound) break;
    at = behind + SCORE_CHARS[packed.charCodeAt(behind)]!;
  }
  return count;
}

/**
 * The ranks of the members in a range of words. The range means something only where all scores are equal; where they are
 * not, Redis walks from the end that was asked for while members fit, and so does this.
 */
export function lexInterval(packed: string, range: LexRange, reverse: boolean): Interval {
  const members: string[] = [];
  for (let at = 0; at < packed.length; at = next(packed, at)) members.push(wordAt(packed, at));
  const last = members.at(-1);
  const [first] = members;
  if (first === undefined || last === undefined) return NO_INTERVAL;
  if (!isAtOrAfter(last, range.min) || !isAtOrBefore(first, range.max)) return NO_INTERVAL;
  if (reverse) {
    const to = members.findLastIndex((member) => isAtOrBefore(member, range.max)) + 1;
    const from = members.findLastIndex((member, i) => i < to && !isAtOrAfter(member, range.min)) + 1;
    return from < to ? { from, to } : NO_INTERVAL;
  }
  const from = members.findIndex((member) => isAtOrAfter(member, range.min));
  const behind = members.findIndex((member, i) => i >= from && !isAtOrBefore(member, range.max));
  const to = behind < 0 ? members.length : behind;
  return from < to ? { from, to } : NO_INTERVAL;
}

/** Walks the ranks from `from` up to `to`, or down from `to`. Words share memory with the packed string. */
export function visit(packed: string, from: number, to: number, reverse: boolean, visitor: Visit): void {
  let at = seek(packed, from);
  if (!reverse) {
    for (let i = from; i < to; i++) {
      const behind = skip(packed, at);
      if (visitor(packed.substring(wordStart(packed, at), behind), scoreAt(packed, behind)) === false) return;
      at = behind + SCORE_CHARS[packed.charCodeAt(behind)]!;
    }
    return;
  }
  const places: number[] = [];
  for (let i = from; i < to; i++) {
    places.push(at);
    at = next(packed, at);
  }
  for (const place of places.reverse()) {
    if (visitor(wordAt(packed, place), scoreOf(packed, place)) === false) return;
  }
}

/** Entries that are already in order, packed. */
export function packSorted(members: readonly string[], scores: readonly number[]): string {
  let text = "";
  for (let i = 0; i < members.length; i++) text += entry(members[i]!) + encodeScore(scores[i]!);
  return own(text);
}
