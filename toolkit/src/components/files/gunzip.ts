/**
 * Gzip (RFC 1952) around `Inflate`: headers, checksums, several members one after the other, as `cat a.gz b.gz` makes them. Bytes
 * go in as they come; between two pieces the state can be saved, and another `Gunzip` goes on from it.
 */
import { crc32 } from "./checksum.ts";
import { FilesError } from "./errors.ts";
import { BadDeflate, Inflate, PADDING } from "./inflate.ts";

/** A header with comments of more than this is no header. */
const MAX_HEADER = 131_072;
const TRAILER = 8;

type Part = "header" | "body" | "trailer";
const PARTS: readonly Part[] = ["header", "body", "trailer"];
const STATE_HEAD = 32;

export class Gunzip {
  readonly #inflate = new Inflate();
  #part: Part = "header";
  /** Input that is not used up, and how many bits of its first byte are. */
  #carry: Buffer = Buffer.alloc(0);
  #bit = 0;
  #members = 0;
  #crc = 0;
  #size = 0;

  /** What comes out of more input. To be read to the end before the next piece, or `save`. */
  *push(more: Uint8Array): Generator<Buffer> {
    const end = this.#carry.length + more.length;
    const input = Buffer.concat([this.#carry, more, Buffer.alloc(PADDING)], end + PADDING);
    let bit = this.#bit;
    try {
      for (;;) {
        if (this.#part === "header") {
          const size = this.#headerSize(input.subarray(bit >>> 3, end));
          if (size === null) break;
          bit += size * 8;
          this.#part = "body";
        } else if (this.#part === "body") {
          const before = bit;
          bit = this.#inflate.run(input, end, bit);
          const out = this.#inflate.take();
          if (out.length > 0) {
            this.#crc = crc32(out, this.#crc);
            this.#size = (this.#size + out.length) >>> 0;
            yield out;
          }
          if (this.#inflate.isDone) {
            this.#part = "trailer";
            bit = (bit + 7) & ~7;
          } else if (out.length === 0 && bit === before) break;
        } else {
          const at = bit >>> 3;
          if (end - at < TRAILER) break;
          this.#endMember(input.readUInt32LE(at), input.readUInt32LE(at + 4));
          bit += TRAILER * 8;
        }
      }
    } catch (error) {
      if (!(error instanceof BadDeflate)) throw error;
      throw new FilesError("CORRUPT", `not a sound gzip file: there is ${error.message}`, { cause: error });
    }
    this.#carry = Buffer.from(input.subarray(bit >>> 3, end));
    this.#bit = bit & 7;
  }

  /** To be called when there is no more input. */
  end(): void {
    const isZeros = this.#carry.every((byte) => byte === 0);
    if (this.#part === "header" && this.#members > 0 && isZeros) return;
    throw new FilesError("CORRUPT", "the gzip file ends too early: it was cut off");
  }

  save(): Buffer {
    const head = Buffer.alloc(STATE_HEAD);
    head.writeUInt8(1, 0);
    head.writeUInt8(PARTS.indexOf(this.#part), 1);
    head.writeUInt8(this.#bit, 2);
    head.writeUInt8(this.#members > 0 ? 1 : 0, 3);
    head.writeUInt32LE(this.#crc, 4);
    head.writeUInt32LE(this.#size, 8);
    head.writeUInt32LE(this.#carry.length, 12);
    const parts = [head, this.#carry];
    if (this.#part === "body") parts.push(this.#inflate.save());
    return Buffer.concat(parts);
  }

  static restore(state: Buffer): Gunzip {
    const gunzip = new Gunzip();
    gunzip.#part = PARTS[state.readUInt8(1)]!;
    gunzip.#bit = state.readUInt8(2);
    gunzip.#members = state.readUInt8(3);
    gunzip.#crc = state.readUInt32LE(4);
    gunzip.#size = state.readUInt32LE(8);
    const carried = STATE_HEAD + state.readUInt32LE(12);
    gunzip.#carry = Buffer.from(state.subarray(STATE_HEAD, carried));
    if (gunzip.#part === "body") gunzip.#inflate.restore(state.subarray(carried));
    return gunzip;
  }

  /** How long a member's header is; null if it is not all there. */
  #headerSize(input: Buffer): number | null {
    if (this.#members > 0 && input[0] === 0) {
      // Tapes and some tools fill up with zeros, which is no member.
      if (input.every((byte) => byte === 0)) return null;
      throw new BadDeflate("something after its end that is no gzip");
    }
    const magic = [0x1f, 0x8b, 8];
    for (let at = 0; at < 3 && at < input.length; at++) {
      if (input[at] === magic[at]) continue;
      throw new BadDeflate(this.#members > 0 ? "something after its end that is no gzip" : "no gzip header");
    }
    if (input.length < 10) return null;
    const flags = input[3]!;
    if ((flags & 0xe0) !== 0) throw new BadDeflate("a header with unknown flags");
    let at = 10;
    if ((flags & 4) !== 0) at += input.length < at + 2 ? MAX_HEADER : 2 + input.readUInt16LE(at);
    for (const flag of [8, 16]) {
      if ((flags & flag) === 0 || at > input.length) continue;
      const zero = input.indexOf(0, at);
      at = zero === -1 ? input.length + 1 : zero + 1;
    }
    if ((flags & 2) !== 0) at += 2;
    if (at <= input.length) return at;
    if (input.length > MAX_HEADER) throw new BadDeflate("a header that does not end");
    return null;
  }

  #endMember(crc: number, size: number): void {
    if (crc !== this.#crc || size !== this.#size) throw new BadDeflate("a checksum that does not match");
    this.#members = 1;
    this.#crc = 0;
    this.#size = 0;
    this.#part = "header";
    this.#inflate.reset();
  }
}
