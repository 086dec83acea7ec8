/**
 * MurmurHash64A with HyperLogLog's seed, over a word's bytes. Sixty-four bits are kept as two halves of thirty-two: that is
 * several times faster than bigint. The halves of the last hash are left in `hashHigh` and `hashLow`.
 */

const SEED = 0xadc83b19;
const M_HIGH = 0xc6a4a793;
const M_LOW = 0x5bd1e995;
const M_LOW_0 = M_LOW & 0xffff;
const M_LOW_1 = M_LOW >>> 16;

let high = 0;
let low = 0;

export let hashHigh = 0;
export let hashLow = 0;

/** (high, low) × the multiplier, kept to 64 bits. */
function multiply(h: number, l: number): void {
  const l0 = l & 0xffff;
  const l1 = l >>> 16;
  const p00 = Math.imul(l0, M_LOW_0);
  const t = (Math.imul(l1, M_LOW_0) >>> 0) + (p00 >>> 16);
  const u = (Math.imul(l0, M_LOW_1) >>> 0) + (t & 0xffff);
  high = (Math.imul(l1, M_LOW_1) + (t >>> 16) + (u >>> 16) + Math.imul(h, M_LOW) + Math.imul(l, M_HIGH)) | 0;
  low = (u << 16) | (p00 & 0xffff);
}

/** The 32 bits at a place of a word, lowest byte first. */
const bitsAt = (word: string, i: number) =>
  word.charCodeAt(i) | (word.charCodeAt(i + 1) << 8) | (word.charCodeAt(i + 2) << 16) | (word.charCodeAt(i + 3) << 24);

export function murmur64(word: string): void {
  const length = word.length;
  multiply(0, length);
  let h = high;
  let l = low ^ SEED;
  const whole = length - (length & 7);
  for (let i = 0; i < whole; i += 8) {
    multiply(bitsAt(word, i + 4), bitsAt(word, i));
    // k ^= k >> 47: only the low half changes, by the top 17 bits of the high one.
    multiply(high, low ^ (high >>> 15));
    multiply(h ^ high, l ^ low);
    h = high;
    l = low;
  }
  if (whole < length) {
    for (let i = whole; i < length; i++) {
      const at = i - whole;
      if (at < 4) l ^= word.charCodeAt(i) << (at * 8);
      else h ^= word.charCodeAt(i) << ((at - 4) * 8);
    }
    multiply(h, l);
    h = high;
    l = low;
  }
  multiply(h, l ^ (h >>> 15));
  hashHigh = high >>> 0;
  hashLow = (low ^ (high >>> 15)) >>> 0;
}
