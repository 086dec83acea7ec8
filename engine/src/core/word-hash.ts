/**
 * The hash of a word: HalfSipHash-1-3, a keyed function of 32 bits with a key of 64 bits that is drawn once per process.
 *
 * An attacker who can choose keys, members and fields must not be able to choose their hashes. A hash that merely starts from a
 * random seed does not prevent that: a few of its values give the seed away. Of SipHash and its half-width sibling no way is
 * known to compute the key from any number of hashes, other than to try all keys; Redis rests on the same family. The half
 * width is here because V8 computes with 32 bits at full speed: it takes what an unkeyed multiplicative hash takes for words
 * of 8 to 64 bytes. What can still be learnt is the order of hashes (SMEMBERS and KEYS answer in it); dict.ts says why
 * that is of little use.
 */
import { randomBytes } from "../platform/random.ts";

let [k0, k1] = new Int32Array(new Uint8Array(randomBytes(8)).buffer) as unknown as [number, number];

/** What others keep of hashes is void once the key is another. */
const keepers: (() => void)[] = [];

/** Has this called when the key is another; it lets go of the hashes that it keeps. */
export function whenSeeded(forget: () => void): void {
  keepers.push(forget);
}

/** Fixes the key: only for tests that want the same order every time, before the first Dict is made. */
export function seedHashes(low: number, high = 0): void {
  k0 = low | 0;
  k1 = high | 0;
  recentHash = 0;
  for (const forget of keepers) forget();
}

/** An odd number that a table multiplies hashes with: another one for every range of hashes and every capacity. */
export function factorOf(base: number, depth: number, capacity: number): number {
  let mixed = k0 ^ base;
  for (const part of [k1, depth, capacity]) {
    mixed = Math.imul(mixed ^ part, 0x85ebca6b);
    mixed ^= mixed >>> 15;
  }
  return Math.imul(mixed, 0x9e3779b1) | 1;
}

// A command's key is hashed where it is read (resp/word-cache.ts) and looked up soon after, maybe twice.
let recentWord = "";
let recentHash = 0;

/** Lets the next look-ups of this very word go without hashing it. */
export function rememberHash(word: string, hash: number): void {
  recentWord = word;
  recentHash = hash;
}

/** The hash of this very word if it is the one that was remembered; 0 if not. */
export function rememberedHash(word: string): number {
  return word === recentWord ? recentHash : 0;
}

/** A word's hash: 1 to 2^32 − 1. The round stands here in full, as in hashBytes: a call that returns four numbers costs more. */
export function hashWord(word: string): number {
  if (word === recentWord && recentHash !== 0) return recentHash;
  const { length } = word;
  const fours = length & ~3;
  let v0 = k0;
  let v1 = k1;
  let v2 = k0 ^ 0x6c796765;
  let v3 = k1 ^ 0x74656462;
  for (let i = 0; i <= fours; i += 4) {
    let m: number;
    if (i < fours) {
      m =
        word.charCodeAt(i) |
        (word.charCodeAt(i + 1) << 8) |
        (word.charCodeAt(i + 2) << 16) |
        (word.charCodeAt(i + 3) << 24);
    } else {
      m = length << 24;
      if (i < length) m |= word.charCodeAt(i);
      if (i + 1 < length) m |= word.charCodeAt(i + 1) << 8;
      if (i + 2 < length) m |= word.charCodeAt(i + 2) << 16;
    }
    v3 ^= m;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= m;
  }
  return finish(v0, v1, v2, v3);
}

/** The hash that the word with these bytes has. */
export function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  const fours = start + ((end - start) & ~3);
  let v0 = k0;
  let v1 = k1;
  let v2 = k0 ^ 0x6c796765;
  let v3 = k1 ^ 0x74656462;
  for (let i = start; i <= fours; i += 4) {
    let m: number;
    if (i < fours) m = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    else {
      m = (end - start) << 24;
      if (i < end) m |= bytes[i]!;
      if (i + 1 < end) m |= bytes[i + 1]! << 8;
      if (i + 2 < end) m |= bytes[i + 2]! << 16;
    }
    v3 ^= m;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= m;
  }
  return finish(v0, v1, v2, v3);
}

/** The last three rounds. 0 is not a hash: it marks a free place in a table. */
function finish(a: number, b: number, c: number, d: number): number {
  let v0 = a;
  let v1 = b;
  let v2 = c ^ 0xff;
  let v3 = d;
  for (let round = 0; round < 3; round++) {
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
  }
  const hash = (v1 ^ v3) >>> 0;
  return hash === 0 ? 1 : hash;
}
