import { describe, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { compress, expand } from "./lzf.ts";

const clock = new ManualClock();
const below = (n: number) => Math.floor(clock.random() * n);

function sample(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; ) {
    const size = Math.min(length - at, 1 + below(300));
    if (at > 10 && below(2) === 0) {
      const from = below(at);
      for (let i = 0; i < size; i++) bytes[at + i] = bytes[from + i]!;
    } else for (let i = 0; i < size; i++) bytes[at + i] = below(4) === 0 ? below(256) : 97 + below(3);
    at += size;
  }
  return bytes;
}

describe("LZF", () => {
  test("what is compressed expands to what it was", () => {
    let shortened = 0;
    for (let round = 0; round < 2000; round++) {
      const input = sample(5 + below(round % 20 === 0 ? 30_000 : 400));
      const packed = Buffer.alloc(input.length);
      const size = compress(input, 0, input.length, packed, input.length - 4);
      if (size === 0) continue;
      shortened++;
      expect(size).toBeLessThanOrEqual(input.length - 4);
      const output = Buffer.alloc(input.length);
      expect(expand(packed, 0, size, output, input.length)).toBe(true);
      expect(output.equals(input)).toBe(true);
    }
    expect(shortened).toBeGreaterThan(500);
  });

  test("noise is given up early", () => {
    const noise = Buffer.from(Array.from({ length: 1000 }, () => below(256)));
    expect(compress(noise, 0, 1000, Buffer.alloc(1000), 996)).toBe(0);
  });

  test("damage never reads or writes outside", () => {
    const input = sample(2000);
    const packed = Buffer.alloc(2000);
    const size = compress(input, 0, 2000, packed, 1996);
    for (let round = 0; round < 5000; round++) {
      const damaged = Buffer.from(packed.subarray(0, size));
      for (let i = 0; i < 3; i++) damaged[below(size)] = below(256);
      const output = Buffer.alloc(2100, 0xaa);
      expand(damaged, 0, size - below(5), output, 2000);
      expect(output.subarray(2000).every((byte) => byte === 0xaa)).toBe(true);
    }
  });
});
