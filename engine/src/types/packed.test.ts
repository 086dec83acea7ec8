import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { append, entry, entryLength, find, isWordAt, own, pack, seek, skip, splice, unpack, wordAt } from "./packed.ts";

const LENGTHS = [0, 1, 2, 252, 253, 254, 255, 256, 65_535, 65_536, 70_000];
const wordOf = (length: number, salt = 0) => {
  let word = "";
  for (let i = 0; i < Math.min(length, 300); i++) word += String.fromCharCode((i * 7 + salt) & 0xff);
  return word.padEnd(length, "\xfe");
};

describe("packed words", () => {
  it("come back as they went in, whatever their length", () => {
    const words = LENGTHS.map((length, i) => wordOf(length, i));
    const packed = pack(words);
    expect(unpack(packed)).toEqual(words);
    expect(packed.length).toBe(words.reduce((sum, word) => sum + entryLength(word.length), 0));
    let at = 0;
    for (const word of words) {
      expect(entry(word).length).toBe(entryLength(word.length));
      expect(wordAt(packed, at)).toBe(word);
      expect(isWordAt(packed, at, word)).toBe(true);
      expect(isWordAt(packed, at, `${word}x`)).toBe(false);
      at = skip(packed, at);
    }
    expect(at).toBe(packed.length);
    expect(pack([])).toBe("");
    expect(unpack("")).toEqual([]);
  });

  it("are found as whole entries only, at every stride", () => {
    const words = ["ab", "\x02ab", "b", "", "ab", wordOf(300), "v", wordOf(300, 1)];
    const packed = pack(words);
    for (const stride of [1, 2]) {
      for (const word of [...words, "a", "missing", wordOf(300, 2), wordOf(299)]) {
        const index = words.findIndex((other, i) => i % stride === 0 && other === word);
        expect(find(packed, word, stride)).toBe(index < 0 ? -1 : seek(packed, index));
      }
    }
    expect(find(packed, "ab", 1, seek(packed, 1))).toBe(seek(packed, 4));
    expect(find("", "a")).toBe(-1);
  });

  it("are reached by number, up to the end", () => {
    const words = LENGTHS.map((length) => wordOf(length));
    const packed = pack(words);
    for (let i = 0; i < words.length; i++) expect(wordAt(packed, seek(packed, i))).toBe(words[i]);
    expect(seek(packed, words.length)).toBe(packed.length);
    expect(seek(packed, 1000)).toBe(packed.length);
  });

  it("agree with an array over random insertions, replacements and removals", () => {
    const clock = new ManualClock(0, 5);
    const below = (n: number) => Math.floor(clock.random() * n);
    let packed = "";
    const model: string[] = [];
    for (let i = 0; i < 3000; i++) {
      const word = wordOf(LENGTHS[below(8)]!, i);
      const index = below(model.length + 1);
      const at = seek(packed, index);
      const kind = model.length > 60 ? 2 : below(4);
      if (kind === 0) {
        packed = append(packed, entry(word));
        model.push(word);
      } else if (kind === 1 || index === model.length) {
        packed = splice(packed, at, at, entry(word));
        model.splice(index, 0, word);
      } else {
        const added = kind === 2 ? [] : [word];
        packed = splice(packed, at, skip(packed, at), added.map(entry).join(""));
        model.splice(index, 1, ...added);
      }
      if (i % 50 === 0) expect(unpack(packed)).toEqual(model);
    }
    expect(unpack(packed)).toEqual(model);
  });

  it("hold on to nothing that they were cut from", () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const megabyte = 1 << 20;
    const cuts: ((large: string) => string)[] = [
      (large) => own(large.substring(5, 40)),
      (large) => splice(large, 0, large.length - 40, ""),
      (large) => splice(large, 40, large.length, ""),
      (large) => splice(large, 20, large.length - 20, "x"),
      (large) => append("abc", entry(large.substring(5, 40))),
      (large) => pack([large.substring(5, 40)]),
    ];
    for (const cut of cuts) {
      collect();
      const before = process.memoryUsage().heapUsed;
      const kept = Array.from({ length: 32 }, (_, i) => cut(Buffer.alloc(megabyte, 65 + i).latin1Slice()));
      collect();
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * megabyte);
      expect(kept.every((word) => word.length > 30)).toBe(true);
    }
  });

  it("own copies keep every byte", () => {
    const all = wordOf(256);
    expect(own(all)).toBe(all);
    expect(own("")).toBe("");
    const long = "\xff\0".repeat(1 << 20);
    expect(own(long)).toBe(long);
  });
});
