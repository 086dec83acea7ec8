/**
 * Words that were seen lately, found by their bytes.
 *
 * Making a string is a call out of JavaScript, and the most expensive part of reading a short command. Command names,
 * options and busy keys come again and again; finding the string that was made before costs a third. It is also the very
 * string that the keyspace holds, so comparing the two is comparing two pointers, and its hash is known already.
 */
import { hashBytes, rememberHash } from "../dict.ts";

const SLOTS = 4096;
/** Longer words are not kept: comparing them costs as much as making them. A SHA1 still fits, for EVALSHA. */
const LONGEST = 40;

const words: string[] = new Array(SLOTS).fill("");
const hashes = new Uint32Array(SLOTS);

/** The bytes from start to end as a word; `isKey` when it will most likely be looked up next. */
export function cachedWord(bytes: Buffer, start: number, end: number, isKey: boolean): string {
  const length = end - start;
  if (length > LONGEST) return bytes.latin1Slice(start, end);
  const hash = hashBytes(bytes, start, end);
  const slot = hash & (SLOTS - 1);
  const found = words[slot]!;
  if (hashes[slot] === hash && isSame(found, bytes, start, length)) {
    if (isKey) rememberHash(found, hash);
    return found;
  }
  const word = bytes.latin1Slice(start, end);
  words[slot] = word;
  hashes[slot] = hash;
  if (isKey) rememberHash(word, hash);
  return word;
}

function isSame(word: string, bytes: Buffer, start: number, length: number): boolean {
  if (word.length !== length) return false;
  for (let i = 0; i < length; i++) if (word.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
