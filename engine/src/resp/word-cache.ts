/**
 * Words that were seen lately, found by their bytes.
 *
 * Making a string is a call out of JavaScript, and the most expensive part of reading a short command. Command names,
 * options and busy keys come again and again; finding the string that was made before costs a third. It is also the very
 * string that the keyspace holds, so comparing the two is comparing two pointers, and its hash is known already.
 *
 * A word's slot follows from its length and from four bytes at its beginning, middle and end. That is enough to spread
 * words; whether the one in the slot is the one that is asked for is decided by comparing all bytes. A word is kept when it
 * comes for the second time in a row among those of its slot: most keys and members do not come again soon, and keeping them
 * would cost more than it saves.
 *
 * Asking the keyspace for the string of a key that is not here, by its bytes, takes longer than making a new one.
 */

import { hashBytes, rememberHash, whenSeeded } from "../core/word-hash.ts";
import type { Buffer } from "../platform/bytes.ts";
import { wordOf } from "../platform/short-word.ts";

const SLOTS = 4096;
const SLOT_SHIFT = 20;
/** Longer words are not kept: comparing them costs as much as making them. A SHA1 still fits, for EVALSHA. */
const LONGEST = 40;

const words: string[] = new Array(SLOTS).fill("");
const lengths = new Uint8Array(SLOTS).fill(255);
/** Of the words, where they have been asked for as keys; 0 elsewhere. */
const hashes = new Uint32Array(SLOTS);
whenSeeded(() => hashes.fill(0));
/** The bytes of the words, LONGEST for each slot. */
const kept = new Uint8Array(SLOTS * LONGEST);
/**
 * Two for each slot: what the kept word was mixed to, and what the last one was that was passed over. Keys have much in common, and
 * differ at their end: almost always this tells them apart without a look at the bytes.
 */
const marks = new Int32Array(SLOTS * 2);

/** 32 bits of which the upper twelve are the slot. */
function mix(bytes: Buffer, start: number, length: number): number {
  let mixed = length;
  if (length < 4) {
    for (let i = 0; i < length; i++) mixed = (mixed << 8) | bytes[start + i]!;
  } else {
    const middle = start + (length >> 1) - 2;
    const last = start + length - 4;
    mixed = Math.imul(mixed ^ four(bytes, start), 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ four(bytes, middle), 0x85ebca6b);
    mixed = mixed ^ (mixed >>> 13) ^ four(bytes, last);
  }
  return Math.imul(mixed, 0xc2b2ae35);
}

function four(bytes: Buffer, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** The bytes from start to end as a word. */
export function cachedWord(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > LONGEST) return bytes.latin1Slice(start, end);
  const mixed = mix(bytes, start, length);
  const slot = mixed >>> SLOT_SHIFT;
  if (marks[slot * 2] === mixed && isKept(slot, bytes, start, length)) return words[slot]!;
  const word = wordOf(bytes, start, end);
  if (comesAgain(slot, mixed)) keep(slot, mixed, word, bytes, start);
  return word;
}

/** The same for one that will most likely be looked up next: its hash is remembered. */
export function cachedKey(bytes: Buffer, start: number, end: number): string {
  const length = end - start;
  if (length > LONGEST) return bytes.latin1Slice(start, end);
  const mixed = mix(bytes, start, length);
  const slot = mixed >>> SLOT_SHIFT;
  if (marks[slot * 2] === mixed && isKept(slot, bytes, start, length)) {
    let hash = hashes[slot]!;
    if (hash === 0) hash = hashes[slot] = hashBytes(bytes, start, end);
    rememberHash(words[slot]!, hash);
    return words[slot]!;
  }
  const word = wordOf(bytes, start, end);
  if (comesAgain(slot, mixed)) keep(slot, mixed, word, bytes, start);
  rememberHash(word, hashBytes(bytes, start, end));
  return word;
}

function isKept(slot: number, bytes: Buffer, start: number, length: number): boolean {
  if (lengths[slot] !== length) return false;
  const from = slot * LONGEST;
  // Four at a time: a branch for each is what would cost.
  const fours = length & ~3;
  let i = 0;
  for (; i < fours; i += 4) {
    const a = from + i;
    const b = start + i;
    const differs =
      (kept[a]! ^ bytes[b]!) |
      (kept[a + 1]! ^ bytes[b + 1]!) |
      (kept[a + 2]! ^ bytes[b + 2]!) |
      (kept[a + 3]! ^ bytes[b + 3]!);
    if (differs !== 0) return false;
  }
  for (; i < length; i++) if (kept[from + i] !== bytes[start + i]) return false;
  return true;
}

/** Whether the last word of this slot that was passed over is this one. */
function comesAgain(slot: number, mixed: number): boolean {
  const at = slot * 2 + 1;
  if (marks[at] === mixed) return true;
  marks[at] = mixed;
  return false;
}

function keep(slot: number, mixed: number, word: string, bytes: Buffer, start: number): void {
  marks[slot * 2] = mixed;
  words[slot] = word;
  lengths[slot] = word.length;
  hashes[slot] = 0;
  for (let i = 0, at = slot * LONGEST; i < word.length; i++, at++) kept[at] = bytes[start + i]!;
}
