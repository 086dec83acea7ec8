/**
 * How far a reader is with a file, as it is stored: a line of numbers, of which scripts read the first, then bytes.
 *
 * A position lies anywhere, while reading begins again where a block begins. Most often that is the block with the position in it:
 * what it holds before the position is passed over. A reader that waits for more gives up all blocks that it has, also those with
 * the beginning of a line whose end has not come: that beginning is then `held` here.
 */

export interface Cursor {
  /** Commits so far. */
  readonly step: number;
  /** The first block that is still needed. */
  readonly block: number;
  /** Up to where it is read: of a gzip file, in what is unpacked. */
  readonly position: number;
  readonly lines: number;
  /** Where what the block holds begins, counted as the position is. */
  readonly out: number;
  /** The unpacking at the beginning of the block. */
  readonly state: Buffer | null;
  readonly held: Held;
}

/** The beginning of a line: its bytes, of which those that would be cut off are not kept, and its length. */
export interface Held {
  readonly bytes: Buffer;
  readonly length: number;
}

export const NOTHING: Held = { bytes: Buffer.alloc(0), length: 0 };
export const BEGINNING: Cursor = { step: 0, block: 0, position: 0, lines: 0, out: 0, state: null, held: NOTHING };
/** The block that is needed by who needs none. */
export const NO_BLOCK = Number.MAX_SAFE_INTEGER;

export function encodeCursor({ step, block, position, lines, out, state, held }: Cursor): Buffer {
  const numbers = `${step} ${block} ${position} ${lines} ${out} ${held.length} ${held.bytes.length}\n`;
  return Buffer.concat([Buffer.from(numbers, "latin1"), held.bytes, state ?? NOTHING.bytes]);
}

export function decodeCursor(stored: Buffer): Cursor {
  if (stored.length === 0) return BEGINNING;
  const begin = stored.indexOf(10) + 1;
  const numbers = stored
    .toString("latin1", 0, begin - 1)
    .split(" ")
    .map(Number);
  const [step, block, position, lines, out, length, size] = numbers as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const state = stored.length > begin + size ? stored.subarray(begin + size) : null;
  return { step, block, position, lines, out, state, held: { bytes: stored.subarray(begin, begin + size), length } };
}
