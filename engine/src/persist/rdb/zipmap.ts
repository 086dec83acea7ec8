/** Zipmaps, read: the small hashes of Redis before 2.6. */
import type { Blob } from "./cursor.ts";
import type { Entries } from "./entries.ts";

const END = 0xff;
/** Lengths from here on take five bytes; a count from here on is not known. */
const LONG = 254;

/** Appends fields and values in turn to some entries. */
export function readZipmap(blob: Blob, entries: Entries): void {
  const { bytes, start, end } = blob;
  const last = end - 1;
  if (last <= start || bytes[last] !== END) throw blob.corrupt(start, "a zipmap has no end");
  const before = entries.count;
  let at = start + 1;
  while (at < last) {
    at = readWord(blob, at, last, false, entries);
    if (at >= last) throw blob.corrupt(at, "a zipmap's last field has no value");
    at = readWord(blob, at, last, true, entries);
  }
  const count = bytes[start]!;
  if (count < LONG && count * 2 !== entries.count - before) {
    throw blob.corrupt(start, `a zipmap of ${(entries.count - before) / 2} fields says it has ${count}`);
  }
}

/** Reads a field or a value, which has unused bytes behind it; returns where the next begins. */
function readWord(blob: Blob, at: number, last: number, isValue: boolean, entries: Entries): number {
  const { bytes } = blob;
  const long = bytes[at] === LONG;
  let from = at + (long ? 5 : 1);
  if (bytes[at]! > LONG || from > last) throw blob.corrupt(at, "a zipmap's length is wrong");
  const length = long ? bytes.readUInt32LE(at + 1) : bytes[at]!;
  let unused = 0;
  if (isValue) {
    if (from >= last) throw blob.corrupt(at, "a zipmap's entry reaches beyond its end");
    unused = bytes[from++]!;
  }
  const next = from + length + unused;
  if (next > last) throw blob.corrupt(at, "a zipmap's entry reaches beyond its end");
  entries.addBytes(bytes, from, from + length);
  return next;
}
