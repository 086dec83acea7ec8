/** JavaScript's strings and the engine's words: UTF-8, bytes, numbers, and what shares memory with what. */
import { describe, expect, it } from "vitest";
import { type Input, isAscii, toBuffer, toText, toWord } from "./words.ts";

const TEXTS = [
  "",
  "a",
  "hello",
  "naïve café",
  "日本語",
  "👋🏽 emoji",
  "\u{10ffff}",
  "\x00\x7f",
  "\x80",
  "x".repeat(70_000),
  "ü".repeat(70_000),
];

describe("words", () => {
  it.each(TEXTS)("are a text's UTF-8 bytes, and back: %#", (text) => {
    for (const kept of [true, false]) {
      const word = toWord(text, kept);
      expect(Buffer.from(word, "latin1").equals(Buffer.from(text, "utf8"))).toBe(true);
      expect(toText(word)).toBe(text);
      expect(toBuffer(word).equals(Buffer.from(text, "utf8"))).toBe(true);
    }
  });

  it("are bytes as they are, of any view", () => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    expect(toBuffer(toWord(all, true))).toEqual(Buffer.from(all));
    expect(toBuffer(toWord(all.subarray(100, 103), true))).toEqual(Buffer.from([100, 101, 102]));
    expect(toBuffer(toWord(Buffer.from("ünï"), true)).toString()).toBe("ünï");
  });

  it("do not change when the bytes that they were made from do", () => {
    const bytes = Buffer.from("before");
    const word = toWord(bytes, true);
    bytes.fill("x");
    expect(word).toBe("before");
  });

  it.each([
    [0, "0"],
    [-0, "0"],
    [-1.5, "-1.5"],
    [Number.MAX_SAFE_INTEGER, "9007199254740991"],
    [9223372036854775807n, "9223372036854775807"],
  ])("are numbers as JavaScript prints them: %s", (number, word) => {
    expect(toWord(number, true)).toBe(word);
  });

  it.each([null, undefined, true, {}, [], Symbol("s"), () => 1, new Date(0)])("are nothing else: %#", (input) => {
    expect(() => toWord(input as unknown as Input, true)).toThrow(TypeError);
  });

  it("stand in for half characters with U+FFFD, as UTF-8 has none", () => {
    expect(toText(toWord("a\ud800b", true))).toBe("a\ufffdb");
    expect(toText("\xff\xfe")).toBe("\ufffd\ufffd");
  });

  it("know ASCII", () => {
    expect(isAscii("\x00az~\x7f")).toBe(true);
    expect(isAscii("az\x80")).toBe(false);
    expect(isAscii("日")).toBe(false);
  });
});
