/**
 * Intsets: sets of integers in ascending order, all of one width. In files the little end of a number comes first, in memory
 * (types/set/intset.ts) the big one; otherwise they are the same.
 */

import { Buffer } from "../../platform/bytes.ts";
import type { Limits } from "../../types/collection.ts";
import { SetValue } from "../../types/set/index.ts";
import type { Blob } from "./cursor.ts";

export const INTSET_HEADER = 8;

/** The set in a blob, undefined if it is empty. */
export function readIntset(blob: Blob, limits: Limits): SetValue | undefined {
  const { bytes, start, end } = blob;
  if (end - start < INTSET_HEADER) throw blob.corrupt(start, "an intset is too short");
  const width = bytes.readUInt32LE(start);
  if (width !== 2 && width !== 4 && width !== 8) throw blob.corrupt(start, `an intset of width ${width}`);
  const count = bytes.readUInt32LE(start + 4);
  if (end - start !== INTSET_HEADER + count * width) throw blob.corrupt(start + 4, "an intset's size is wrong");
  if (count === 0) return undefined;
  checkOrder(blob, width);
  const text = swapped(bytes, start + INTSET_HEADER, end, width).latin1Slice();
  return SetValue.fromInts(text, width, count, limits);
}

function checkOrder(blob: Blob, width: number): void {
  const { bytes, start, end } = blob;
  for (let at = start + INTSET_HEADER + width; at < end; at += width) {
    let order: number;
    if (width === 2) order = bytes.readInt16LE(at) - bytes.readInt16LE(at - 2);
    else if (width === 4) order = bytes.readInt32LE(at) - bytes.readInt32LE(at - 4);
    else {
      order = bytes.readInt32LE(at + 4) - bytes.readInt32LE(at - 4);
      if (order === 0) order = bytes.readUInt32LE(at) - bytes.readUInt32LE(at - 8);
    }
    if (order <= 0) throw blob.corrupt(at, "an intset is out of order");
  }
}

/** A copy with the bytes of every number turned around. */
export function swapped(bytes: Buffer, from: number, to: number, width: number): Buffer {
  const copy = Buffer.from(bytes.subarray(from, to));
  if (width === 2) copy.swap16();
  else if (width === 4) copy.swap32();
  else copy.swap64();
  return copy;
}
