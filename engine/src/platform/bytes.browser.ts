/**
 * Bytes where there is no Buffer of Node's: the part of it that the engine uses, with the same names.
 *
 * `TextDecoder("latin1")` is not used: by the standard that is windows-1252, which has other characters from 0x80 to 0x9F.
 */

/** Chars that String.fromCharCode takes at once without running out of stack. */
const PIECE = 8192;
/** Up to this length a loop is faster than a call with a list of arguments. */
const SHORT = 24;

/** V8's on 64 bits; other engines allow more. */
export const LONGEST_STRING = 2 ** 29 - 24;
export const MOST_BYTES = 2 ** 32;

type Encoding = "latin1" | "ascii" | "utf8" | "utf16le" | "hex" | "base64" | "base64url";

const encoder = new TextEncoder();
// Node keeps a byte order mark.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const wide = new TextDecoder("utf-16le", { ignoreBOM: true });

/**
 * `Uint8Array<ArrayBuffer>`: compilers before 5.7 have no parameter there, and later ones want it of a class that overrides `slice`.
 * Both know it by this.
 */
type Bytes = ReturnType<typeof Uint8Array.of>;

/** Without its `from`, which takes other things. */
const Base: {
  new (length: number): Bytes;
  new (memory: ArrayBuffer, offset?: number, length?: number): Bytes;
} = Uint8Array;

export class Buffer extends Base {
  #view: DataView | undefined;

  static alloc(length: number): Buffer {
    return new Buffer(length);
  }

  static allocUnsafe(length: number): Buffer {
    return new Buffer(length);
  }

  static allocUnsafeSlow(length: number): Buffer {
    return new Buffer(length);
  }

  static from(source: string, encoding?: Encoding): Buffer;
  static from(source: ArrayBufferLike, offset?: number, length?: number): Buffer;
  static from(source: ArrayLike<number>): Buffer;
  static from(
    source: string | ArrayBufferLike | ArrayLike<number>,
    second?: Encoding | number,
    length?: number,
  ): Buffer {
    if (typeof source === "string") return fromText(source, second as Encoding | undefined);
    if (source instanceof ArrayBuffer) return new Buffer(source, second as number | undefined, length);
    const list = source as ArrayLike<number>;
    const made = new Buffer(list.length);
    made.set(list);
    return made;
  }

  static of(...bytes: number[]): Buffer {
    return Buffer.from(bytes);
  }

  static compare(one: Uint8Array, other: Uint8Array): -1 | 0 | 1 {
    return compared(one, 0, one.length, other, 0, other.length);
  }

  static concat(parts: readonly Uint8Array[], total?: number): Buffer {
    let length = 0;
    for (const part of parts) length += part.length;
    if (total !== undefined && total < length) return Buffer.concat(parts).subarray(0, total);
    const made = new Buffer(total ?? length);
    let at = 0;
    for (const part of parts) {
      made.set(part, at);
      at += part.length;
    }
    return made;
  }

  static isBuffer(value: unknown): value is Buffer {
    return value instanceof Buffer;
  }

  static byteLength(text: string, encoding: Encoding = "utf8"): number {
    if (encoding === "latin1") return text.length;
    return encoding === "utf8" ? utf8Length(text) : fromText(text, encoding).length;
  }

  get #data(): DataView {
    this.#view ??= new DataView(this.buffer, this.byteOffset, this.byteLength);
    return this.#view;
  }

  override subarray(start = 0, end = this.length): Buffer {
    const { length } = this;
    const from = start < 0 ? Math.max(0, length + start) : Math.min(start, length);
    const to = end < 0 ? Math.max(0, length + end) : Math.min(end, length);
    return new Buffer(this.buffer, this.byteOffset + from, Math.max(0, to - from));
  }

  /** A view, as Node's is. */
  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end);
  }

  copy(target: Uint8Array, at = 0, start = 0, end = this.length): number {
    const count = Math.max(0, Math.min(Math.min(end, this.length) - start, target.length - at));
    if (count > 0) target.set(new Uint8Array(this.buffer, this.byteOffset + start, count), at);
    return count;
  }

  equals(other: Uint8Array): boolean {
    return this.compare(other) === 0;
  }

  /** With another: from one of its bytes on to another, and of this one's likewise. */
  compare(other: Uint8Array, otherFrom = 0, otherTo = other.length, from = 0, to = this.length): -1 | 0 | 1 {
    return compared(this, from, to, other, otherFrom, otherTo);
  }

  /** Turns the bytes of every number around. */
  #swap(width: number): this {
    for (let at = 0; at + width <= this.length; at += width) this.subarray(at, at + width).reverse();
    return this;
  }
  swap16(): this {
    return this.#swap(2);
  }
  swap32(): this {
    return this.#swap(4);
  }
  swap64(): this {
    return this.#swap(8);
  }

  override indexOf(sought: number | string | Uint8Array, from = 0, encoding: Encoding = "utf8"): number {
    if (typeof sought === "number") return super.indexOf(sought, from);
    const bytes = typeof sought === "string" ? fromText(sought, encoding) : sought;
    if (bytes.length === 0) return Math.min(from, this.length);
    const last = this.length - bytes.length;
    for (let at = super.indexOf(bytes[0]!, from); at >= 0 && at <= last; at = super.indexOf(bytes[0]!, at + 1)) {
      let i = 1;
      while (i < bytes.length && this[at + i] === bytes[i]) i++;
      if (i === bytes.length) return at;
    }
    return -1;
  }

  latin1Slice(start = 0, end = this.length): string {
    const stop = Math.min(end, this.length);
    if (stop - start <= SHORT) {
      let text = "";
      for (let i = start; i < stop; i++) text += String.fromCharCode(this[i]!);
      return text;
    }
    if (stop - start <= PIECE)
      return String.fromCharCode.apply(null, this.subarray(start, stop) as unknown as number[]);
    const pieces: string[] = [];
    for (let at = start; at < stop; at += PIECE) pieces.push(this.latin1Slice(at, Math.min(at + PIECE, stop)));
    return pieces.join("");
  }

  latin1Write(text: string, offset = 0, length = text.length): number {
    const count = Math.min(length, text.length, this.length - offset);
    for (let i = 0; i < count; i++) this[offset + i] = text.charCodeAt(i);
    return count;
  }

  utf8Write(text: string, offset = 0): number {
    return encoder.encodeInto(text, this.subarray(offset)).written;
  }

  write(text: string, offset = 0, encoding: Encoding = "utf8"): number {
    return encoding === "latin1" ? this.latin1Write(text, offset) : this.utf8Write(text, offset);
  }

  override toString(encoding: Encoding = "utf8", start = 0, end = this.length): string {
    if (encoding === "latin1" || encoding === "ascii") return this.latin1Slice(start, end);
    const bytes = this.subarray(start, end);
    if (encoding === "utf8") return decoder.decode(bytes);
    if (encoding === "base64") return btoa(bytes.latin1Slice());
    if (encoding === "base64url") return inUrls(btoa(bytes.latin1Slice()));
    if (encoding === "utf16le") return wide.decode(bytes);
    let text = "";
    for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
    return text;
  }

  readUInt8(at = 0): number {
    return this.#data.getUint8(at);
  }
  readInt8(at = 0): number {
    return this.#data.getInt8(at);
  }
  readUInt16LE(at = 0): number {
    return this.#data.getUint16(at, true);
  }
  readUInt16BE(at = 0): number {
    return this.#data.getUint16(at);
  }
  readInt16LE(at = 0): number {
    return this.#data.getInt16(at, true);
  }
  readUInt32LE(at = 0): number {
    return this.#data.getUint32(at, true);
  }
  readUInt32BE(at = 0): number {
    return this.#data.getUint32(at);
  }
  readInt32LE(at = 0): number {
    return this.#data.getInt32(at, true);
  }
  readIntLE(at: number, length: number): number {
    let value = 0;
    for (let i = length - 1; i >= 0; i--) value = value * 256 + this[at + i]!;
    const limit = 2 ** (8 * length);
    return value >= limit / 2 ? value - limit : value;
  }
  readUIntLE(at: number, length: number): number {
    let value = 0;
    for (let i = length - 1; i >= 0; i--) value = value * 256 + this[at + i]!;
    return value;
  }
  readUIntBE(at: number, length: number): number {
    let value = 0;
    for (let i = 0; i < length; i++) value = value * 256 + this[at + i]!;
    return value;
  }
  readBigUInt64LE(at = 0): bigint {
    return this.#data.getBigUint64(at, true);
  }
  readBigUInt64BE(at = 0): bigint {
    return this.#data.getBigUint64(at);
  }
  readBigInt64LE(at = 0): bigint {
    return this.#data.getBigInt64(at, true);
  }
  readBigInt64BE(at = 0): bigint {
    return this.#data.getBigInt64(at);
  }
  readDoubleBE(at = 0): number {
    return this.#data.getFloat64(at);
  }
  readFloatBE(at = 0): number {
    return this.#data.getFloat32(at);
  }
  readIntBE(at: number, length: number): number {
    const value = this.readUIntBE(at, length);
    const limit = 2 ** (8 * length);
    return value >= limit / 2 ? value - limit : value;
  }
  readDoubleLE(at = 0): number {
    return this.#data.getFloat64(at, true);
  }
  readFloatLE(at = 0): number {
    return this.#data.getFloat32(at, true);
  }

  writeUInt8(value: number, at = 0): number {
    this.#data.setUint8(at, value);
    return at + 1;
  }
  writeInt8(value: number, at = 0): number {
    this.#data.setInt8(at, value);
    return at + 1;
  }
  writeUInt16LE(value: number, at = 0): number {
    this.#data.setUint16(at, value, true);
    return at + 2;
  }
  writeUInt16BE(value: number, at = 0): number {
    this.#data.setUint16(at, value);
    return at + 2;
  }
  writeInt16LE(value: number, at = 0): number {
    this.#data.setInt16(at, value, true);
    return at + 2;
  }
  writeUInt32LE(value: number, at = 0): number {
    this.#data.setUint32(at, value, true);
    return at + 4;
  }
  writeUInt32BE(value: number, at = 0): number {
    this.#data.setUint32(at, value);
    return at + 4;
  }
  writeInt32LE(value: number, at = 0): number {
    this.#data.setInt32(at, value, true);
    return at + 4;
  }
  writeInt32BE(value: number, at = 0): number {
    this.#data.setInt32(at, value);
    return at + 4;
  }
  writeIntLE(value: number, at: number, length: number): number {
    let rest = value;
    for (let i = 0; i < length; i++) {
      this[at + i] = rest & 0xff;
      rest = Math.floor(rest / 256);
    }
    return at + length;
  }
  writeBigUInt64LE(value: bigint, at = 0): number {
    this.#data.setBigUint64(at, value, true);
    return at + 8;
  }
  writeBigUInt64BE(value: bigint, at = 0): number {
    this.#data.setBigUint64(at, value);
    return at + 8;
  }
  writeBigInt64LE(value: bigint, at = 0): number {
    this.#data.setBigInt64(at, value, true);
    return at + 8;
  }
  writeDoubleLE(value: number, at = 0): number {
    this.#data.setFloat64(at, value, true);
    return at + 8;
  }
  writeDoubleBE(value: number, at = 0): number {
    this.#data.setFloat64(at, value);
    return at + 8;
  }
  writeFloatBE(value: number, at = 0): number {
    this.#data.setFloat32(at, value);
    return at + 4;
  }
  writeIntBE(value: number, at: number, length: number): number {
    let rest = value;
    for (let i = length - 1; i >= 0; i--) {
      this[at + i] = rest & 0xff;
      rest = Math.floor(rest / 256);
    }
    return at + length;
  }
  writeUIntBE(value: number, at: number, length: number): number {
    return this.writeIntBE(value, at, length);
  }
}

function fromText(text: string, encoding: Encoding = "utf8"): Buffer {
  if (encoding === "utf8") {
    const bytes = encoder.encode(text);
    return new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
  if (encoding === "hex") {
    const made = new Buffer(text.length >> 1);
    for (let i = 0; i < made.length; i++) made[i] = Number.parseInt(text.slice(i * 2, i * 2 + 2), 16);
    return made;
  }
  if (encoding === "utf16le") {
    const made = new Buffer(text.length * 2);
    for (let i = 0; i < text.length; i++) made.writeUInt16LE(text.charCodeAt(i), i * 2);
    return made;
  }
  const latin1 = encoding.startsWith("base64") ? fromBase64(text) : text;
  const made = new Buffer(latin1.length);
  made.latin1Write(latin1);
  return made;
}

const inUrls = (base64: string): string => base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");

/** Of either alphabet, up to what belongs to neither, as Node reads it. */
function fromBase64(text: string): string {
  const digits = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .replace(/=.*$/s, "")
    .replace(/[^A-Za-z0-9+/]/g, "");
  return atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
}

function utf8Length(text: string): number {
  let length = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) length += 1;
    else if (unit < 0x800) length += 2;
    else {
      // A pair of surrogates takes four bytes; one alone is replaced by a sign of three.
      const isPair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00;
      length += isPair ? 4 : 3;
      if (isPair) i++;
    }
  }
  return length;
}

function compared(one: Uint8Array, from: number, to: number, other: Uint8Array, otherFrom: number, otherTo: number) {
  const [length, otherLength] = [to - from, otherTo - otherFrom];
  for (let i = 0; i < Math.min(length, otherLength); i++) {
    const difference = one[from + i]! - other[otherFrom + i]!;
    if (difference !== 0) return difference < 0 ? -1 : 1;
  }
  return length === otherLength ? 0 : length < otherLength ? -1 : 1;
}
