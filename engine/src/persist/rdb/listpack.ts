/**
 * Listpacks, read: how Redis 7 keeps small collections and parts of lists and streams. Everything is checked: that the sizes
 * agree, that every entry is a known kind and lies inside, that the length behind each entry is its own, that there are as
 * many as the header says.
 */
import type { Blob } from "./cursor.ts";
import type { Entries } from "./entries.ts";

const HEADER = 6;
const END = 0xff;
/** The header's number of entries when there are too many to tell. */
const UNKNOWN_COUNT = 0xffff;

/** Appends a listpack's words to some entries. */
export function readListpack(blob: Blob, entries: Entries): void {
  const { bytes, start, end } = blob;
  if (end - start < HEADER + 1) throw blob.corrupt(start, "a listpack is too short");
  if (bytes.readUInt32LE(start) !== end - start) throw blob.corrupt(start, "a listpack's size is wrong");
  const last = end - 1;
  if (bytes[last] !== END) throw blob.corrupt(last, "a listpack has no end");
  const before = entries.count;
  let at = start + HEADER;
  while (at < last) {
    const first = bytes[at]!;
    if ((first & 0xc0) === 0x80) {
      // Most entries by far: a word of up to 63 bytes. What is wrong with one is found out below.
      const length = first & 0x3f;
      const behind = at + 1 + length;
      if (behind < last && bytes[behind] === length + 1) {
        entries.addShort(bytes, at + 1, length);
        at = behind + 1;
        continue;
      }
    }
    const size = readEntry(blob, at, last, entries);
    at = checkBacklen(blob, at + size, last, size);
  }
  const count = bytes.readUInt16LE(start + 4);
  if (count !== UNKNOWN_COUNT && count !== entries.count - before) {
    throw blob.corrupt(start + 4, `a listpack of ${entries.count - before} entries says it has ${count}`);
  }
}

/** Reads one entry; returns its size without the length behind it. `last` is where the listpack ends. */
function readEntry(blob: Blob, at: number, last: number, entries: Entries): number {
  const { bytes } = blob;
  const first = bytes[at]!;
  if (first < 0x80) {
    entries.addInt(first);
    return 1;
  }
  if (first < 0xc0) return readWord(blob, at, 1, first & 0x3f, last, entries);
  const size = SIZES[first]!;
  if (at + size > last) throw blob.corrupt(at, "a listpack entry reaches beyond its end");
  if (first < 0xe0) {
    entries.addInt((((((first & 0x1f) << 8) | bytes[at + 1]!) << 19) >> 19) | 0);
    return 2;
  }
  if (first < 0xf0) return readWord(blob, at, 2, ((first & 0x0f) << 8) | bytes[at + 1]!, last, entries);
  switch (first) {
    case 0xf0:
      return readWord(blob, at, 5, bytes.readUInt32LE(at + 1), last, entries);
    case 0xf1:
      entries.addInt(bytes.readInt16LE(at + 1));
      return 3;
    case 0xf2:
      entries.addInt(bytes.readIntLE(at + 1, 3));
      return 4;
    case 0xf3:
      entries.addInt(bytes.readInt32LE(at + 1));
      return 5;
    case 0xf4:
      entries.addInt64(bytes, at + 1);
      return 9;
    default:
      throw blob.corrupt(at, `no listpack entry begins with 0x${first.toString(16)}`);
  }
}

/** How many bytes an entry has at least, by its first. */
const SIZES = new Uint8Array(256).fill(1);
SIZES.fill(2, 0xc0, 0xf0);
SIZES.set([5, 3, 4, 5, 9], 0xf0);

function readWord(blob: Blob, at: number, header: number, length: number, last: number, entries: Entries): number {
  const from = at + header;
  if (from + length > last) throw blob.corrupt(at, "a listpack entry reaches beyond its end");
  entries.addBytes(blob.bytes, from, from + length);
  return header + length;
}

/** Checks the length that stands behind an entry, for walking backwards; returns where the next entry begins. */
function checkBacklen(blob: Blob, at: number, last: number, size: number): number {
  const { bytes } = blob;
  if (size <= 127) {
    if (at < last && bytes[at] === size) return at + 1;
    throw blob.corrupt(at, "the length behind a listpack entry is wrong");
  }
  const width = size < 16383 ? 2 : size < 2097151 ? 3 : size < 268435455 ? 4 : 5;
  let right = at + width <= last;
  for (let i = 0, rest = size; right && i < width; i++, rest = Math.floor(rest / 128)) {
    right = bytes[at + width - 1 - i] === ((rest & 0x7f) | (i === width - 1 ? 0 : 0x80));
  }
  if (!right) throw blob.corrupt(at, "the length behind a listpack entry is wrong");
  return at + width;
}
