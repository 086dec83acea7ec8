/**
 * Digests of words. Browsers have SHA-1 and SHA-256, but answer later: a script's name and a password are needed at once, so they are
 * computed here (FIPS 180-4).
 */
import { Buffer } from "./bytes.browser.ts";

const BLOCK = 64;

/** The message with its padding, as big-endian 32-bit words. */
function padded(message: Uint8Array): Int32Array {
  const { length } = message;
  const blocks = Math.ceil((length + 9) / BLOCK);
  const words = new Int32Array(blocks * 16);
  for (let i = 0; i < length; i++) words[i >> 2]! |= message[i]! << (24 - (i & 3) * 8);
  words[length >> 2]! |= 0x80 << (24 - (length & 3) * 8);
  words[words.length - 2] = Math.floor(length / 0x20000000);
  words[words.length - 1] = length << 3;
  return words;
}

const left = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
const right = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

function bytesOf(words: Int32Array): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [at, word] of words.entries()) bytes.writeInt32BE(word, at * 4);
  return bytes;
}

export function sha1(message: Uint8Array): Buffer {
  const words = padded(message);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const w = new Int32Array(80);
  for (let block = 0; block < words.length; block += 16) {
    for (let i = 0; i < 16; i++) w[i] = words[block + i]!;
    for (let i = 16; i < 80; i++) w[i] = left(w[i - 3]! ^ w[i - 8]! ^ w[i - 14]! ^ w[i - 16]!, 1);
    let [a = 0, b = 0, c = 0, d = 0, e = 0] = state;
    for (let i = 0; i < 80; i++) {
      const [f, k] =
        i < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : i < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : i < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6];
      const next = (left(a, 5) + f + e + k + w[i]!) | 0;
      e = d;
      d = c;
      c = left(b, 30);
      b = a;
      a = next;
    }
    for (const [i, word] of [a, b, c, d, e].entries()) state[i]! += word;
  }
  return bytesOf(state);
}

/** The first 32 bits of the fractional parts of a root of the first primes. */
function fractions(count: number, root: (prime: number) => number): Int32Array {
  const found = new Int32Array(count);
  for (let n = 2, nth = 0; nth < count; n++) {
    let isPrime = true;
    for (let by = 2; by * by <= n; by++) if (n % by === 0) isPrime = false;
    if (!isPrime) continue;
    const value = root(n);
    found[nth++] = ((value - Math.floor(value)) * 2 ** 32) | 0;
  }
  return found;
}

const SQUARE = fractions(8, Math.sqrt);
const CUBE = fractions(64, Math.cbrt);

function sha256(message: Uint8Array): Buffer {
  const words = padded(message);
  const state = SQUARE.slice();
  const w = new Int32Array(64);
  for (let block = 0; block < words.length; block += 16) {
    for (let i = 0; i < 16; i++) w[i] = words[block + i]!;
    for (let i = 16; i < 64; i++) {
      const [x, y] = [w[i - 15]!, w[i - 2]!];
      const s0 = right(x, 7) ^ right(x, 18) ^ (x >>> 3);
      const s1 = right(y, 17) ^ right(y, 19) ^ (y >>> 10);
      w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < 64; i++) {
      const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + CUBE[i]! + w[i]!) | 0;
      const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i]! += word;
  }
  return bytesOf(state);
}

/** For what runs beside the engine and has no digests that answer at once either. */
export const digest = (algorithm: "sha1" | "sha256", message: Uint8Array): Buffer =>
  algorithm === "sha1" ? sha1(message) : sha256(message);

/** A digest as lower-case hexadecimal digits. */
export const sha1Hex = (word: string): string => sha1(Buffer.from(word, "latin1")).toString("hex");

export const sha256Hex = (word: string): string => sha256(Buffer.from(word, "latin1")).toString("hex");

/** Whether two lists of bytes are the same; how long it takes depends on their length alone. */
export function isSame(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  let difference = 0;
  for (let i = 0; i < one.length; i++) difference |= one[i]! ^ other[i]!;
  return difference === 0;
}
