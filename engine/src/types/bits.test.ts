import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { fitField, readField, writeField } from "./bitfield.ts";
import { combineBits, countBits, findBit } from "./bits.ts";
import { Bytes } from "./bytes.ts";

const clock = new ManualClock(0, 11);
const below = (n: number) => Math.floor(clock.random() * n);
const randomWord = (length: number) => String.fromCharCode(...Array.from({ length }, () => below(4) * 85));
const binary = (word: string) => [...word].map((c) => c.charCodeAt(0).toString(2).padStart(8, "0")).join("");

describe.each([
  ["a string", (word: string) => word],
  ["bytes", (word: string) => Bytes.from(word)],
])("bits of %s", (_form, make) => {
  it("are counted and found as in the binary spelling", () => {
    for (let i = 0; i < 500; i++) {
      const word = randomWord(1 + below(40));
      const value = make(word);
      const bits = binary(word);
      const start = below(word.length);
      const end = start + below(word.length - start) + 1;
      expect(countBits(value, start, end)).toBe(bits.slice(start * 8, end * 8).replaceAll("0", "").length);
      const from = below(bits.length);
      const to = from + below(bits.length - from);
      for (const bit of [0, 1] as const) {
        const position = bits.slice(from, to + 1).indexOf(String(bit));
        expect(findBit(value, bit, from, to)).toBe(position < 0 ? -1 : from + position);
      }
    }
  });

  it("are counted and found over more than one piece", () => {
    const word = `${"\0".repeat(70_000)}\x01${"\xff".repeat(70_001)}`;
    const value = make(word);
    expect(countBits(value, 0, word.length)).toBe(1 + 70_001 * 8);
    expect(countBits(value, 70_001, word.length)).toBe(70_001 * 8);
    expect(findBit(value, 1, 0, word.length * 8 - 1)).toBe(70_000 * 8 + 7);
    expect(findBit(value, 0, 70_001 * 8, word.length * 8 - 1)).toBe(-1);
  });

  it("are combined with zeros where a value ends", () => {
    for (let i = 0; i < 200; i++) {
      const words = Array.from({ length: 1 + below(3) }, () => randomWord(below(30)));
      const length = Math.max(...words.map((word) => word.length));
      for (const operation of ["and", "or", "xor"] as const) {
        let expected = words[0]!.padEnd(length, "\0");
        for (const word of words.slice(1)) {
          const other = word.padEnd(length, "\0");
          expected = [...expected]
            .map((c, k) => {
              const [x, y] = [c.charCodeAt(0), other.charCodeAt(k)];
              return String.fromCharCode(operation === "and" ? x & y : operation === "or" ? x | y : x ^ y);
            })
            .join("");
        }
        expect(
          combineBits(
            operation,
            words.map((word) => make(word)),
          ).text(),
        ).toBe(expected);
      }
      const inverted = [...words[0]!].map((c) => String.fromCharCode(~c.charCodeAt(0) & 0xff)).join("");
      expect(combineBits("not", [make(words[0]!)]).text()).toBe(inverted);
    }
  });
});

describe("integers of any width", () => {
  it("come back as they were written and leave their neighbours alone", () => {
    for (let i = 0; i < 2000; i++) {
      const signed = below(2) === 1;
      const type = { signed, bits: 1 + below(signed ? 64 : 63) };
      const offset = below(70);
      const word = randomWord(20);
      const bytes = Bytes.from(word);
      const value = BigInt.asUintN(64, (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32)));
      const fitted = signed ? BigInt.asIntN(type.bits, value) : BigInt.asUintN(type.bits, value);
      writeField(bytes, type, offset, fitted);
      expect(BigInt(readField(bytes, type, offset))).toBe(fitted);
      const digits = BigInt.asUintN(type.bits, fitted).toString(2).padStart(type.bits, "0");
      const before = binary(word);
      expect(binary(bytes.text())).toBe(before.slice(0, offset) + digits + before.slice(offset + type.bits));
    }
  });

  it("are zero beyond the end", () => {
    expect(readField("\xff", { signed: false, bits: 8 }, 4)).toBe(0xf0);
    expect(readField("\xff", { signed: true, bits: 64 }, 4)).toBe(-1152921504606846976n);
    expect(readField("", { signed: true, bits: 5 }, 1000)).toBe(0);
  });

  it("wrap, saturate or fail alike in both ways of computing", () => {
    for (let i = 0; i < 5000; i++) {
      const signed = below(2) === 1;
      const bits = 1 + below(32);
      const type = { signed, bits };
      const min = signed ? -(2 ** (bits - 1)) : 0;
      const value = min + below(2 ** bits);
      const increment = below(2 ** 33) - 2 ** 32;
      for (const overflow of ["wrap", "sat", "fail"] as const) {
        const wide = fitField(BigInt(value), BigInt(increment), type, overflow);
        expect(fitField(value, increment, type, overflow)).toBe(wide);
      }
    }
  });
});
