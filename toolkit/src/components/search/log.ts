/**
 * The logs that an index is made of. A log is a string to which records are only ever appended:
 *
 *   log    = generation (4 bytes, big endian), then records
 *   record = number of a document (varint), then what holds for it from now on, or a sign that nothing does
 *
 * The last record of a document counts. So a writer appends, whatever the log's length, and a reader that has the first n bytes
 * needs only what follows them. Records that no longer count are dropped when they are more than half of a log: it is written
 * anew with another generation, by which readers notice that what they have is of the past. A record's length depends on
 * nothing but itself, so that the bytes which no longer count can be added up by writers and stay right across rewriting.
 *
 * Payloads:
 *   word    mask of text fields (varint, 0: not in this document), then for each field in it: the number of occurrences
 *           (varint) and, if the index keeps them, that many positions, each less the one before (varints)
 *   docs    length of the id in bytes (varint, 0: removed), the id, the length of each text field (varints)
 *   number  1 and 8 bytes (double, big endian), or 0
 *   string  length in bytes + 1 (varint, 0: none), the bytes
 *   tags    their number (varint), then each as length (varint) and bytes
 *
 * The log of words has records of another kind: 2 × length in bytes, + 1 if the word is gone (varint), then the word.
 */

export const HEADER_BYTES = 4;

/** Bytes that grow. */
export class Bytes {
  #buffer: Buffer;
  length = 0;

  constructor(capacity = 64) {
    this.#buffer = Buffer.allocUnsafe(capacity);
  }

  #room(more: number): void {
    if (this.length + more <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.length + more));
    this.#buffer.copy(larger, 0, 0, this.length);
    this.#buffer = larger;
  }

  varint(value: number): void {
    this.#room(8);
    const buffer = this.#buffer;
    let left = value;
    let at = this.length;
    while (left > 127) {
      buffer[at++] = (left % 128) + 128;
      left = Math.floor(left / 128);
    }
    buffer[at++] = left;
    this.length = at;
  }

  byte(value: number): void {
    this.#room(1);
    this.#buffer[this.length++] = value;
  }

  /** A byte, then a number in so many, the highest first. */
  big(first: number, value: number, size: number): void {
    this.#room(size + 1);
    this.#buffer[this.length] = first;
    this.length = this.#buffer.writeUIntBE(value, this.length + 1, size);
  }

  double(value: number): void {
    this.#room(8);
    this.length = this.#buffer.writeDoubleBE(value, this.length);
  }

  text(value: string): void {
    // No character takes more than three bytes for each of its units.
    this.#room(value.length * 3);
    const buffer = this.#buffer;
    const { length } = this;
    let at = 0;
    // Most texts here are short and plain, and quicker written than passed on.
    for (; at < value.length && at < 32; at++) {
      const unit = value.charCodeAt(at);
      if (unit > 127) break;
      buffer[length + at] = unit;
    }
    this.length += at === value.length ? at : buffer.write(value, length, "utf8");
  }

  /** Its length in bytes, plus `add`, before it. */
  sized(value: string, add = 0): void {
    this.varint(Buffer.byteLength(value, "utf8") + add);
    this.text(value);
  }

  bytes(value: Uint8Array, from = 0, to = value.length): void {
    const size = to - from;
    this.#room(size);
    const buffer = this.#buffer;
    if (size > 32) buffer.set(value.subarray(from, to), this.length);
    else for (let at = 0; at < size; at++) buffer[this.length + at] = value[from + at]!;
    this.length += size;
  }

  /** A copy of what is in it. */
  taken(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.length));
  }

  clear(): void {
    this.length = 0;
  }
}

/** Reads one after the other. */
export class Cursor {
  readonly bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get atEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  varint(): number {
    const { bytes } = this;
    let byte = bytes[this.at++]!;
    if (byte < 128) return byte;
    let value = byte - 128;
    let scale = 128;
    do {
      byte = bytes[this.at++]!;
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  double(): number {
    const value = this.bytes.readDoubleBE(this.at);
    this.at += 8;
    return value;
  }

  text(length: number): string {
    const end = this.at + length;
    const value = this.bytes.toString("utf8", this.at, end);
    this.at = end;
    return value;
  }

  skip(length: number): void {
    this.at += length;
  }

  skipVarints(count: number): void {
    const { bytes } = this;
    for (let left = count; left > 0; ) if (bytes[this.at++]! < 128) left--;
  }
}

/** Passes over the payload of one kind of log. */
export type Skip = (cursor: Cursor) => boolean;

/** Each passes over a payload and says whether it stands for something. */
export function skipWord(positions: boolean): Skip {
  return (cursor) => {
    const mask = cursor.varint();
    for (let left = mask; left > 0; left = Math.floor(left / 2)) {
      if (left % 2 === 0) continue;
      const count = cursor.varint();
      if (positions) cursor.skipVarints(count);
    }
    return mask !== 0;
  };
}

export function skipDocument(textFields: number): Skip {
  return (cursor) => {
    const length = cursor.varint();
    if (length === 0) return false;
    cursor.skip(length);
    cursor.skipVarints(textFields);
    return true;
  };
}

export const SKIP_VALUE: Readonly<Record<"number" | "string" | "tags", Skip>> = {
  number: (cursor) => {
    if (cursor.varint() === 0) return false;
    cursor.skip(8);
    return true;
  },
  string: (cursor) => {
    const length = cursor.varint();
    if (length === 0) return false;
    cursor.skip(length - 1);
    return true;
  },
  tags: (cursor) => {
    const count = cursor.varint();
    for (let tag = 0; tag < count; tag++) cursor.skip(cursor.varint());
    return count > 0;
  },
};

/** A log without what no longer counts, in the order of the documents; without its header. */
export function compacted(log: Buffer, skip: Skip): Buffer {
  const last = new Map<number, readonly [from: number, to: number]>();
  const cursor = new Cursor(log, HEADER_BYTES);
  while (!cursor.atEnd) {
    const from = cursor.at;
    const doc = cursor.varint();
    if (skip(cursor)) last.set(doc, [from, cursor.at]);
    else last.delete(doc);
  }
  const kept = [...last].sort(([a], [b]) => a - b);
  return Buffer.concat(kept.map(([, [from, to]]) => log.subarray(from, to)));
}

/** The same for the log of words. */
export function compactedWords(log: Buffer): Buffer {
  const bytes = new Bytes(log.length);
  for (const word of liveWords(log)) {
    bytes.varint(Buffer.byteLength(word, "utf8") * 2);
    bytes.text(word);
  }
  return bytes.taken();
}

function liveWords(log: Buffer): Set<string> {
  const live = new Set<string>();
  const cursor = new Cursor(log, HEADER_BYTES);
  while (!cursor.atEnd) {
    const size = cursor.varint();
    const word = cursor.text(Math.floor(size / 2));
    if (size % 2 === 0) live.add(word);
    else live.delete(word);
  }
  return live;
}
