/** Streams: ids, blocks, ranges, trimming, groups; then random operations against a naive model. */
import { describe, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { DEFAULT_LIMITS } from "../collection.ts";
import { integerSize, wordSize } from "../listpack-size.ts";
import {
  formatId,
  type Id,
  idAfter,
  idBefore,
  MAX_ID,
  MIN_ID,
  makeId,
  parseId,
  parseIdOrEdge,
  StreamValue,
  UNKNOWN,
} from "./index.ts";
import { radixNodes } from "./radix-nodes.ts";

const id = (text: string): Id => parseId(text)!;

function read(stream: StreamValue, start = MIN_ID, end = MAX_ID, reverse = false): string[] {
  const cursor = stream.cursor(start, end, reverse);
  const found: string[] = [];
  while (cursor.next()) {
    expect(formatId(cursor.id)).toBe(cursor.idText);
    found.push(`${cursor.idText} ${cursor.words().join(" ")}`);
  }
  return found;
}

describe("ids", () => {
  test("are exact over the whole range and print as they were read", () => {
    for (const text of [
      "0-0",
      "1-1",
      "1526919030474-55",
      "9007199254740991-9007199254740991",
      "9007199254740992-9007199254740993",
      "18446744073709551615-18446744073709551614",
    ]) {
      expect(formatId(id(text))).toBe(text);
    }
  });

  test("compare as strings in the order of their numbers", () => {
    const texts = [
      "0-1",
      "0-255",
      "0-256",
      "1-0",
      "255-9",
      "256-0",
      "4294967295-1",
      "4294967296-0",
      "9007199254740993-0",
    ];
    const ids = texts.map(id);
    expect([...ids].sort()).toEqual(ids);
  });

  test("take the given sequence number where only milliseconds are written", () => {
    expect(formatId(parseId("5")!)).toBe("5-0");
    expect(formatId(parseId("5", 0xffffffffffffffffn)!)).toBe("5-18446744073709551615");
  });

  test("are read by C's rules where they are not in plain digits", () => {
    expect(formatId(id(" 7"))).toBe("7-0");
    expect(formatId(id("+8-007"))).toBe("8-7");
    expect(formatId(id("8--05"))).toBe("8-18446744073709551611");
    expect(formatId(id("1-1\0x"))).toBe("1-1");
    for (const bad of [
      "",
      "-",
      "+",
      "x",
      "1-",
      "-1",
      "1--5",
      "1-2-3",
      "18446744073709551616-0",
      `${"0".repeat(128)}`,
    ]) {
      expect(parseId(bad)).toBeUndefined();
    }
    expect(parseIdOrEdge("-")).toBe(MIN_ID);
    expect(parseIdOrEdge("+")).toBe(MAX_ID);
  });

  test("have neighbours, but for the first and the last", () => {
    expect(formatId(idAfter(id("5-18446744073709551615"))!)).toBe("6-0");
    expect(formatId(idAfter(id("5-9007199254740991"))!)).toBe("5-9007199254740992");
    expect(formatId(idBefore(id("6-0"))!)).toBe("5-18446744073709551615");
    expect(formatId(idBefore(id("5-9007199254740992"))!)).toBe("5-9007199254740991");
    expect(idAfter(MAX_ID)).toBeUndefined();
    expect(idBefore(MIN_ID)).toBeUndefined();
  });
});

describe("listpack sizes", () => {
  test("follow Redis's encodings", () => {
    expect([0, 127, 128, 4095, -4096, 4096, 32768, 8388608, 2147483648].map(integerSize)).toEqual([
      2, 2, 3, 3, 3, 4, 5, 6, 10,
    ]);
    expect(["", "a", "12", "-1", "007", "x".repeat(63), "x".repeat(64), "x".repeat(4096)].map(wordSize)).toEqual([
      2, 3, 2, 3, 5, 65, 67, 4103,
    ]);
  });
});

describe("blocks", () => {
  test("end after so many entries", () => {
    const stream = new StreamValue();
    for (let i = 1; i <= 250; i++) stream.add(makeId(i, 0), ["f", String(i)], 0, DEFAULT_LIMITS);
    expect(stream.blockCount).toBe(3);
    expect(stream.trimToLength(120, true, 0)).toBe(100);
    expect(stream.size).toBe(150);
    expect(formatId(stream.firstId)).toBe("101-0");
  });

  test("end when their listpack would be full", () => {
    const stream = new StreamValue();
    const value = "x".repeat(1000);
    for (let i = 1; i <= 10; i++) stream.add(makeId(i, 0), ["f", value], 0, DEFAULT_LIMITS);
    expect(stream.blockCount).toBe(3);
  });

  test("go when their last entry goes, and keep deleted ones until then", () => {
    const stream = new StreamValue();
    for (let i = 1; i <= 5; i++) stream.add(makeId(i, 0), ["f", "v"], 0, DEFAULT_LIMITS);
    for (let i = 1; i <= 4; i++) expect(stream.delete(makeId(i, 0))).toBe(true);
    expect(stream.blockCount).toBe(1);
    expect(formatId(stream.firstId)).toBe("5-0");
    expect(stream.delete(makeId(5, 0))).toBe(true);
    expect(stream.delete(makeId(5, 0))).toBe(false);
    expect(stream.blockCount).toBe(0);
    expect(radixNodes(stream)).toBe(1);
    expect(formatId(stream.maxDeletedId)).toBe("5-0");
  });

  test("hold ids whose parts need all 64 bits, with fields of their own", () => {
    const stream = new StreamValue();
    const ids = ["0-1", "0-18446744073709551615", "1-0", "1-9007199254740993", "18446744073709551615-3"].map(id);
    for (const [i, each] of ids.entries()) stream.add(each, [`f${i}`, "v", "", "\xff"], 0, DEFAULT_LIMITS);
    expect(read(stream)).toEqual(ids.map((each, i) => `${formatId(each)} f${i} v  \xff`));
    expect(read(stream, MIN_ID, MAX_ID, true)).toEqual(read(stream).reverse());
    for (const each of ids) expect(stream.has(each)).toBe(true);
    expect(stream.has(id("0-2"))).toBe(false);
  });
});

describe("groups", () => {
  test("lag behind by what they have not read, while that can be told", () => {
    const stream = new StreamValue();
    for (let i = 1; i <= 5; i++) stream.add(makeId(i, 0), ["f", "v"], 0, DEFAULT_LIMITS);
    const group = stream.addGroup("g", MIN_ID, UNKNOWN);
    expect(stream.lag(group)).toBe(5);
    stream.advance(group, makeId(1, 0));
    expect([group.entriesRead, stream.lag(group)]).toEqual([1, 4]);
    stream.delete(makeId(3, 0));
    expect(stream.lag(group)).toBe(null);
    for (const ms of [2, 4, 5]) stream.advance(group, makeId(ms, 0));
    expect(stream.lag(group)).toBe(0);
  });

  test("book what they hold and give it all back", () => {
    const stream = new StreamValue();
    const empty = stream.sizeBytes;
    const group = stream.addGroup("g", MIN_ID, UNKNOWN);
    const [a, b] = [group.addConsumer("a", 1), group.addConsumer("b", 1)];
    for (let i = 1; i <= 1000; i++) group.deliver(makeId((i * 7919) % 1009, 0), i % 2 ? a : b, 5);
    expect(group.pending.size).toBe(a.pending.size + b.pending.size);
    expect([...group.pending.from("")].map((each) => each.id)).toEqual(
      [...group.pending.from("")].map((each) => each.id).sort(),
    );
    expect(group.removeConsumer("a")).toBe(500);
    expect(group.pending.size).toBe(b.pending.size);
    expect(stream.clone().sizeBytes).toBe(stream.sizeBytes);
    stream.removeGroup("g");
    expect(stream.sizeBytes).toBe(empty);
  });
});

/** What a stream is, without blocks. */
class Model {
  entries: { id: Id; words: string[] }[] = [];

  read(start: Id, end: Id): string[] {
    return this.entries
      .filter((entry) => entry.id >= start && entry.id <= end)
      .map((entry) => `${formatId(entry.id)} ${entry.words.join(" ")}`);
  }
}

describe.each([1, 2, 3, 4, 5, 6])("random operations, seed %i", (seed) => {
  test("leave what they would leave in a plain list", () => {
    const clock = new ManualClock(0, seed);
    const below = (limit: number) => Math.floor(clock.random() * limit);
    const limits = {
      ...DEFAULT_LIMITS,
      streamNodeMaxEntries: [100, 3, 1, 0, 17, 8][seed - 1]!,
      streamNodeMaxBytes: 300,
    };
    const huge = seed % 2 === 0;
    const stream = new StreamValue();
    const model = new Model();
    let ms = huge ? 0xfff0000000000000n : 1n;
    let seq = 0n;
    const anyId = () => {
      const { entries } = model;
      const near = entries.length > 0 ? entries[below(entries.length)]!.id : makeId(1, 1);
      const pick = below(4);
      return pick === 0
        ? near
        : pick === 1
          ? idAfter(near)!
          : pick === 2
            ? idBefore(near)!
            : makeId(below(300), below(9));
    };
    for (let step = 0; step < 1000; step++) {
      const what = below(20);
      if (what < 12) {
        if (below(2) === 0) ms += BigInt([0, 1, 300, 70000, 5_000_000_000][below(5)]!);
        seq += BigInt(1 + below(300)) * (huge && below(9) === 0 ? 1n << 50n : 1n);
        const words = ["f", String(below(1000)), ...(below(3) === 0 ? ["g", "x".repeat(below(80))] : [])];
        const next = makeId(ms < 2n ** 53n ? Number(ms) : ms, seq < 2n ** 53n ? Number(seq) : seq);
        stream.add(next, words, 0, limits);
        model.entries.push({ id: next, words });
      } else if (what < 15) {
        const target = anyId();
        const at = model.entries.findIndex((entry) => entry.id === target);
        expect(stream.delete(target)).toBe(at >= 0);
        if (at >= 0) model.entries.splice(at, 1);
      } else if (what === 15) {
        const length = below(model.entries.length + 5);
        const excess = Math.max(0, model.entries.length - length);
        expect(stream.trimToLength(length, false, 0)).toBe(excess);
        model.entries.splice(0, excess);
      } else if (what === 16 && below(3) === 0) {
        const target = anyId();
        const kept = model.entries.filter((entry) => entry.id >= target);
        expect(stream.trimBefore(target, false, 0)).toBe(model.entries.length - kept.length);
        model.entries = kept;
      } else if (what === 17) {
        const removed = stream.trimToLength(below(model.entries.length + 5), true, 50);
        model.entries.splice(0, removed);
      } else {
        const [start, end] = [anyId(), anyId()];
        expect(read(stream, start, end)).toEqual(model.read(start, end));
        expect(read(stream, start, end, true)).toEqual(model.read(start, end).reverse());
        expect(stream.wordsOf(start)).toEqual(model.entries.find((entry) => entry.id === start)?.words);
      }
      expect(stream.size).toBe(model.entries.length);
      expect(stream.firstId).toBe(model.entries[0]?.id ?? MIN_ID);
      expect(stream.lastLivingId).toBe(model.entries.at(-1)?.id ?? MIN_ID);
    }
    expect(read(stream)).toEqual(model.read(MIN_ID, MAX_ID));
    const copy = stream.clone();
    expect(copy.sizeBytes).toBe(stream.sizeBytes);
    stream.trimToLength(0, false, 0);
    expect(stream.sizeBytes).toBe(new StreamValue().sizeBytes);
    expect(read(copy)).toEqual(model.read(MIN_ID, MAX_ID));
    const loaded = new StreamValue();
    for (let i = 0; i < copy.blockCount; i++)
      loaded.loadBlock(copy.block(i)!.first, copy.block(i)!.fields, copy.block(i)!.all());
    expect(read(loaded)).toEqual(read(copy));
    for (let i = 0; i < copy.blockCount; i++) expect(loaded.block(i)!.listpackBytes).toBe(copy.block(i)!.listpackBytes);
  });
});
