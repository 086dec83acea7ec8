/**
 * Ziplists, read: what Redis up to 6.2 had in the place of listpacks. An entry begins with the length of the one before it,
 * so that the list can be walked backwards.
 */
import type { Blob } from "./cursor.ts";
import type { Entries } from "./entries.ts";

const HEADER = 10;
const END = 0xff;
const UNKNOWN_COUNT = 0xffff;
/** A length before an entry that takes five bytes. */
const LONG_BEFORE = 254;

/** Appends a ziplist's words to some entries. */
export function readZiplist(blob: Blob, entries: Entries): void {
  const { bytes, start, end } = blob;
  if (end - start < HEADER + 1) throw blob.corrupt(start, "a ziplist is too short");
  if (bytes.readUInt32LE(start) !== end - start) throw blob.corrupt(start, "a ziplist's size is wrong");
  const last = end - 1;
  if (bytes[last] !== END) throw blob.corrupt(last, "a ziplist has no end");
  const before = entries.count;
  let at = start + HEADER;
  let tail = at;
  let previous = 0;
  while (at < last) {
    tail = at;
    const size = readEntry(blob, at, last, previous, entries);
    previous = size;
    at += size;
  }
  if (bytes.readUInt32LE(start + 4) !== tail - start)
    throw blob.corrupt(start + 4, "a ziplist's last entry is elsewhere");
  const count = bytes.readUInt16LE(start + 8);
  if (count !== UNKNOWN_COUNT && count !== entries.count - before) {
    throw blob.corrupt(start + 8, `a ziplist of ${entries.count - before} entries says it has ${count}`);
  }
}

/** Reads one entry; returns its whole size. */
function readEntry(blob: Blob, at: number, last: number, previous: number, entries: Entries): number {
  const { bytes } = blob;
  const long = bytes[at] === LONG_BEFORE;
  const body = at + (long ? 5 : 1);
  if (body >= last) throw blob.corrupt(at, "a ziplist entry reaches beyond its end");
  if ((long ? bytes.readUInt32LE(at + 1) : bytes[at]) !== previous) {
    throw blob.corrupt(at, "the length before a ziplist entry is wrong");
  }
  const first = bytes[body]!;
  return body - at + (first < 0xc0 ? readWord(blob, body, last, entries) : readInteger(blob, body, last, entries));
}

/** Reads a word; returns the size of its header and itself. */
function readWord(blob: Blob, at: number, last: number, entries: Entries): number {
  const { bytes } = blob;
  const kind = bytes[at]! >> 6;
  const header = kind === 0 ? 1 : kind === 1 ? 2 : 5;
  if (at + header > last || (kind === 2 && bytes[at] !== 0x80))
    throw blob.corrupt(at, "a ziplist entry of no known kind");
  const length =
    kind === 0 ? bytes[at]! : kind === 1 ? ((bytes[at]! & 0x3f) << 8) | bytes[at + 1]! : bytes.readUInt32BE(at + 1);
  const from = at + header;
  if (from + length > last) throw blob.corrupt(at, "a ziplist entry reaches beyond its end");
  entries.addBytes(bytes, from, from + length);
  return header + length;
}

/** How many bytes an integer takes, by its kind; what is missing is no kind. */
const WIDTHS: Readonly<Record<number, number>> = { 192: 2, 208: 4, 224: 8, 240: 3, 254: 1 };

function readInteger(blob: Blob, at: number, last: number, entries: Entries): number {
  const { bytes } = blob;
  const kind = bytes[at]!;
  if (kind > 0xf0 && kind < 0xfe) {
    entries.addInt(kind - 0xf1);
    return 1;
  }
  const width = WIDTHS[kind];
  if (width === undefined) throw blob.corrupt(at, `no ziplist entry begins with 0x${kind.toString(16)}`);
  if (at + 1 + width > last) throw blob.corrupt(at, "a ziplist entry reaches beyond its end");
  if (width === 8) entries.addInt64(bytes, at + 1);
  else entries.addInt(bytes.readIntLE(at + 1, width));
  return 1 + width;
}
