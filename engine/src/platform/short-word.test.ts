import { expect, test } from "vitest";
import { Buffer } from "./bytes.ts";
import { wordOf } from "./short-word.ts";

test("words of every length have the bytes that they are made of, at any place", () => {
  const bytes = Buffer.from(Array.from({ length: 600 }, (_, i) => (i * 7) & 0xff));
  for (let length = 0; length <= 40; length++) {
    for (let start = 0; start + length <= bytes.length; start += 3) {
      expect(wordOf(bytes, start, start + length)).toBe(bytes.latin1Slice(start, start + length));
    }
  }
});
