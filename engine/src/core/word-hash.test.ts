import { afterAll, describe, expect, it } from "vitest";
import { hashBytes, hashWord, seedHashes } from "./word-hash.ts";

afterAll(() => seedHashes(1));

describe("a word's hash", () => {
  it("is HalfSipHash-1-3", () => {
    // The known values for the key 00 01 … 07 and the words "", 00, 00 01, … (those that Linux tests its hsiphash with).
    seedHashes(0x03020100, 0x07060504);
    const known = [0x5814c896, 0xe7e864ca, 0xbc4b0e30, 0x01539939, 0x7e059ea6, 0x88e3d89b, 0xa0080b65, 0x9d38d9d6];
    const words = known.map((_, length) => Buffer.from(Array.from({ length }, (_, i) => i)).latin1Slice());
    expect(words.map(hashWord)).toEqual(known);
  });

  it("is the same for a word and its bytes, wherever they stand, and another one with another key", () => {
    const hashes = (low: number, high: number) => {
      seedHashes(low, high);
      return Array.from({ length: 70 }, (_, length) => {
        const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 37 + 200) & 0xff));
        const hash = hashWord(bytes.latin1Slice());
        expect(hashBytes(Buffer.concat([Buffer.from("##"), bytes, Buffer.from("#")]), 2, 2 + length)).toBe(hash);
        return hash;
      });
    };
    const first = hashes(1, 2);
    expect(new Set(first).size).toBe(70);
    for (const other of [hashes(1, 3), hashes(2, 2)]) expect(other.filter((hash) => first.includes(hash))).toEqual([]);
  });
});
