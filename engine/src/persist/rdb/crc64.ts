/**
 * The checksum of RDB files and DUMP payloads: CRC-64 with the polynomial 0xad93d23594c935a9, bits reflected, from zero.
 *
 * JavaScript has no fast 64-bit integers, so the register is two 32-bit halves, and eight bytes are taken a step: with
 * eight tables the lookups of a step do not wait for each other.
 */
import { Buffer } from "../../platform/bytes.ts";

const POLYNOMIAL_LOW = 0xac4bc9b5 | 0;
const POLYNOMIAL_HIGH = 0x95ac9329 | 0;

/** Entry `k * 256 + b`: what byte b contributes when k more bytes follow it. */
const LOW = new Int32Array(8 * 256);
const HIGH = new Int32Array(8 * 256);

for (let byte = 0; byte < 256; byte++) {
  let low = byte;
  let high = 0;
  for (let bit = 0; bit < 8; bit++) {
    const carry = low & 1;
    low = (low >>> 1) | (high << 31);
    high >>>= 1;
    if (carry === 1) {
      low ^= POLYNOMIAL_LOW;
      high ^= POLYNOMIAL_HIGH;
    }
  }
  LOW[byte] = low;
  HIGH[byte] = high;
}
for (let i = 256; i < LOW.length; i++) {
  const low = LOW[i - 256]!;
  const high = HIGH[i - 256]!;
  LOW[i] = LOW[low & 0xff]! ^ ((low >>> 8) | (high << 24));
  HIGH[i] = HIGH[low & 0xff]! ^ (high >>> 8);
}

export class Crc64 {
  #low = 0;
  #high = 0;

  /** Takes in the bytes from `from` up to `to`. */
  update(bytes: Uint8Array, from: number, to: number): void {
    let low = this.#low;
    let high = this.#high;
    let i = from;
    for (const end = to - 7; i < end; i += 8) {
      const a = 1792 + ((low ^ bytes[i]!) & 0xff);
      const b = 1536 + (((low >>> 8) ^ bytes[i + 1]!) & 0xff);
      const c = 1280 + (((low >>> 16) ^ bytes[i + 2]!) & 0xff);
      const d = 1024 + ((low >>> 24) ^ bytes[i + 3]!);
      const e = 768 + ((high ^ bytes[i + 4]!) & 0xff);
      const f = 512 + (((high >>> 8) ^ bytes[i + 5]!) & 0xff);
      const g = 256 + (((high >>> 16) ^ bytes[i + 6]!) & 0xff);
      const h = (high >>> 24) ^ bytes[i + 7]!;
      low = LOW[a]! ^ LOW[b]! ^ LOW[c]! ^ LOW[d]! ^ LOW[e]! ^ LOW[f]! ^ LOW[g]! ^ LOW[h]!;
      high = HIGH[a]! ^ HIGH[b]! ^ HIGH[c]! ^ HIGH[d]! ^ HIGH[e]! ^ HIGH[f]! ^ HIGH[g]! ^ HIGH[h]!;
    }
    for (; i < to; i++) {
      const index = (low ^ bytes[i]!) & 0xff;
      low = LOW[index]! ^ ((low >>> 8) | (high << 24));
      high = HIGH[index]! ^ (high >>> 8);
    }
    this.#low = low;
    this.#high = high;
  }

  /** Puts the checksum where files have it: eight bytes, little end first. */
  write(into: Buffer, at: number): void {
    into.writeInt32LE(this.#low, at);
    into.writeInt32LE(this.#high, at + 4);
  }

  /** Whether the eight bytes there are this checksum. */
  matches(bytes: Buffer, at: number): boolean {
    return bytes.readInt32LE(at) === this.#low && bytes.readInt32LE(at + 4) === this.#high;
  }
}

/** The checksum of some bytes as it stands in files. */
export function crc64(bytes: Uint8Array, from = 0, to = bytes.length): Buffer {
  const crc = new Crc64();
  crc.update(bytes, from, to);
  const written = Buffer.allocUnsafe(8);
  crc.write(written, 0);
  return written;
}
