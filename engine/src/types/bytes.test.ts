import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { Bytes, bytesOf, encodeString, encodingOf, lengthOf, sizeOfString, textOf } from "./bytes.ts";

describe("Bytes", () => {
  it("agrees with a plain string over random writes, appends and cuts", () => {
    const clock = new ManualClock(0, 3);
    const below = (n: number) => Math.floor(clock.random() * n);
    const bytes = Bytes.from("start");
    let model = "start";
    for (let i = 0; i < 2000; i++) {
      const word = String.fromCharCode(...Array.from({ length: below(20) }, () => below(256)));
      const offset = below(model.length + 30);
      const kind = below(5);
      if (kind === 0) {
        bytes.append(word);
        model += word;
      } else if (kind < 3) {
        bytes.write(offset, word);
        if (word !== "") model = model.padEnd(offset, "\0").slice(0, offset) + word + model.slice(offset + word.length);
      } else if (kind === 3) {
        bytes.resize(offset);
        model = model.slice(0, offset).padEnd(offset, "\0");
      } else {
        bytes.put(offset, i & 0xff);
        const padded = model.padEnd(offset + 1, "\0");
        model = padded.slice(0, offset) + String.fromCharCode(i & 0xff) + padded.slice(offset + 1);
      }
      expect(bytes.length).toBe(model.length);
      expect(bytes.at(offset)).toBe(offset < model.length ? model.charCodeAt(offset) : 0);
    }
    expect(bytes.text()).toBe(model);
    expect(bytes.slice(3, 9)).toBe(model.slice(3, 9));
    expect(bytes.slice(3, 1e9)).toBe(model.slice(3));
  });

  it("reads and sets bits from the highest of the first byte on", () => {
    const bytes = new Bytes();
    expect(bytes.setBit(9, 1)).toBe(0);
    expect(bytes.text()).toBe("\0\x40");
    expect(bytes.setBit(9, 1)).toBe(1);
    expect(bytes.getBit(9)).toBe(1);
    expect(bytes.getBit(8)).toBe(0);
    expect(bytes.getBit(1_000_000)).toBe(0);
    expect(bytes.setBit(9, 0)).toBe(1);
    expect(bytes.text()).toBe("\0\0");
  });

  it("grows in leaps, so that a loop of appends copies little", () => {
    const bytes = new Bytes();
    let moves = 0;
    let memory = bytes.raw;
    for (let i = 0; i < 100_000; i++) {
      bytes.append("0123456789");
      if (bytes.raw !== memory) moves++;
      memory = bytes.raw;
    }
    expect(bytes.length).toBe(1_000_000);
    expect(moves).toBeLessThan(25);
  });

  it("is one word however often it is read, until it changes", () => {
    const long = "x".repeat(5_000);
    const bytes = Bytes.from(long);
    const other = Bytes.from("y".repeat(5_000));
    expect([bytes.text(), other.text(), bytes.text()]).toEqual([long, "y".repeat(5_000), long]);
    bytes.put(0, 0x61);
    expect(bytes.text()).toBe(`a${long.slice(1)}`);
    bytes.raw[1] = 0x62;
    expect(bytes.text()).toBe(`ab${long.slice(2)}`);
    bytes.resize(2_000);
    bytes.append("end");
    expect(bytes.text()).toBe(`ab${long.slice(2, 2_000)}end`);
    expect(other.text()).toBe("y".repeat(5_000));
  });

  it("clones without sharing", () => {
    const bytes = Bytes.from("abc");
    const copy = bytes.clone();
    bytes.put(0, 0x7a);
    expect(copy.text()).toBe("abc");
    expect(bytesOf(bytes)).toBe(bytes);
  });
});

describe("string values", () => {
  it.each([
    ["12", 12, "int"],
    ["-9223372036854775808", -9223372036854775808n, "int"],
    ["012", "012", "embstr"],
    ["", "", "embstr"],
    ["a".repeat(44), "a".repeat(44), "embstr"],
    ["a".repeat(45), "a".repeat(45), "raw"],
  ])("%s is kept in its leanest form", (word, value, encoding) => {
    const kept = encodeString(word);
    expect(kept).toBe(value);
    expect(encodingOf(kept)).toBe(encoding);
    expect(textOf(kept)).toBe(word);
    expect(lengthOf(kept)).toBe(word.length);
    expect(bytesOf(kept).text()).toBe(word);
    expect(encodingOf(bytesOf(kept))).toBe("raw");
    expect(sizeOfString(kept)).toBeLessThan(word.length + 32);
  });
});
