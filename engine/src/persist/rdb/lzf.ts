/**
 * LZF, the compression of strings in RDB files: literal runs and references back, nothing else.
 *
 *   000lllll                     l + 1 literal bytes follow
 *   lllddddd dddddddd            l + 2 bytes (l from 1 to 6) from d + 1 bytes back
 *   111ddddd llllllll dddddddd   l + 9 bytes from d + 1 bytes back; the two may overlap
 *
 * Any compressor is right whose output expands to the input. This one looks for references in the places where Redis's
 * does, so that the bytes are the same too and a DUMP from here equals one from there.
 */

const TABLE_BITS = 16;
const TABLE_MASK = (1 << TABLE_BITS) - 1;
const LONGEST_RUN = 32;
const LONGEST_REFERENCE = 264;
const FARTHEST = 8192;

/** The best that LZF can do: three bytes for 264. Who claims more is lying, and gets no memory for it. */
export const BEST_RATIO = 88;

/**
 * Where three bytes with a given hash were last seen. Positions count on from call to call, so that what an earlier call
 * left is told by being too small, and 65 536 places need not be cleared for a string of thirty bytes.
 */
const seen = new Int32Array(1 << TABLE_BITS);
let origin = 1;

/** Redis hashes the three bytes from `at` on like this; the middle of `h` is what makes neighbours differ. */
function placeOf(bytes: Uint8Array, at: number): number {
  const h = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!;
  return ((h >> (24 - TABLE_BITS)) - h * 5) & TABLE_MASK;
}

/** Where a long compression stands that is made step by step. */
export class Progress {
  /** Bytes taken in. */
  at = -1;
  to = 0;
  literals = 0;
  bias = 0;
}

/** What `compress` returns when it is to be called again. */
export const PAUSED = -1;

/**
 * Compresses `length` bytes from `from` on into `output`, from its beginning. Returns how many bytes that took; 0 if it
 * would take more than `most`, which ends it early. With a Progress it pauses at `pauseAt` and goes on when it is called
 * again; what others compress in between can only make it miss a reference.
 */
export function compress(
  input: Uint8Array,
  from: number,
  length: number,
  output: Uint8Array,
  most: number,
  progress: Progress | null = null,
  pauseAt = Number.POSITIVE_INFINITY,
): number {
  const end = from + length;
  const last = end - 2;
  let bias: number;
  let at = from;
  // The place before `to - literals` is kept free for the length of the run of literals that is being written.
  let to = 1;
  let literals = 0;
  if (progress === null || progress.at < 0) {
    if (origin > 0x7fffffff - length - 1) {
      seen.fill(0);
      origin = 1;
    }
    bias = origin - from;
    origin += length;
  } else ({ bias, at, to, literals } = progress);
  const edge = Math.min(last, pauseAt);
  while (at < edge) {
    const place = placeOf(input, at);
    const before = seen[place]! - bias;
    seen[place] = at + bias;
    const distance = at - before - 1;
    // The very first byte is never referred to: so does Redis. What lies ahead was noted by somebody else meanwhile.
    const found =
      before > from &&
      distance >>> 0 < FARTHEST &&
      input[before] === input[at] &&
      input[before + 1] === input[at + 1] &&
      input[before + 2] === input[at + 2];
    if (!found) {
      if (to >= most) return 0;
      output[to++] = input[at++]!;
      if (++literals === LONGEST_RUN) {
        output[to - literals - 1] = literals - 1;
        literals = 0;
        to++;
      }
      continue;
    }
    if (to + 4 >= most && to - (literals === 0 ? 1 : 0) + 4 >= most) return 0;
    if (literals === 0) to--;
    else output[to - literals - 1] = literals - 1;
    literals = 0;
    const longest = Math.min(end - at - 2, LONGEST_REFERENCE);
    const size = matchLength(input, before, at, longest);
    at += size;
    if (size < 9) output[to++] = ((size - 2) << 5) | (distance >> 8);
    else {
      output[to++] = 0xe0 | (distance >> 8);
      output[to++] = size - 9;
    }
    output[to++] = distance & 0xff;
    to++;
    if (at >= last) break;
    // Of the bytes that were referred to, only the last two are remembered.
    seen[placeOf(input, at - 2)] = at - 2 + bias;
    seen[placeOf(input, at - 1)] = at - 1 + bias;
  }
  if (at < last && progress !== null) {
    progress.at = at;
    progress.to = to;
    progress.literals = literals;
    progress.bias = bias;
    return PAUSED;
  }
  if (to + 3 > most) return 0;
  while (at < end) {
    output[to++] = input[at++]!;
    if (++literals === LONGEST_RUN) {
      output[to - literals - 1] = literals - 1;
      literals = 0;
      to++;
    }
  }
  if (literals === 0) return to - 1;
  output[to - literals - 1] = literals - 1;
  return to;
}

/**
 * How many bytes are alike at two places, of which three are known to be. Redis compares sixteen more without looking at
 * the limit where the limit is seventeen or eighteen, which is as far as the input reaches; so does this.
 */
function matchLength(input: Uint8Array, before: number, at: number, longest: number): number {
  const limit = longest === 17 || longest === 18 ? 19 : longest;
  let size = 3;
  while (size < limit && input[before + size] === input[at + size]) size++;
  return size;
}

/** Expands into `output`, which must have room for `length` bytes; false unless it comes to exactly that length. */
export function expand(input: Uint8Array, from: number, end: number, output: Uint8Array, length: number): boolean {
  let at = from;
  let to = 0;
  while (at < end) {
    const control = input[at++]!;
    if (control < LONGEST_RUN) {
      const stop = at + control + 1;
      if (stop > end || to + control + 1 > length) return false;
      while (at < stop) output[to++] = input[at++]!;
      continue;
    }
    let size = (control >> 5) + 2;
    if (size === 9) {
      if (at >= end) return false;
      size += input[at++]!;
    }
    if (at >= end) return false;
    let source = to - (((control & 31) << 8) | input[at++]!) - 1;
    if (source < 0 || to + size > length) return false;
    for (const stop = to + size; to < stop; ) output[to++] = output[source++]!;
  }
  return to === length;
}
