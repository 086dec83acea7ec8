import { describe, expect, it, test } from "vitest";
import { ManualClock } from "./clock.ts";
import { Dict } from "./dict.ts";
import { chooseBlocks, guessBlocks, noLengths, WordColumn } from "./word-column.ts";
import { hashWord } from "./word-hash.ts";

/** A word of any bytes, a different one for each number. */
function wordOf(length: number, number: number): string {
  let word = "";
  for (let i = 0; i < length; i++) word += String.fromCharCode((number * 31 + i * 7 + (number >> 3)) & 0xff);
  return word;
}

/** What a column takes as it is now, counted again. */
function counted({ places, blocks, strings }: WordColumn): number {
  let bytes = (places + 1) * (blocks * 4 + (strings === null ? 0 : 8));
  for (const word of strings ?? []) if (word !== undefined) bytes += (16 + word.length + 7) & ~7;
  return bytes;
}

describe.each([0, 1, 2, 5, 8])("a column with slots of %i blocks", (blocks) => {
  const lengths = Array.from({ length: 80 }, (_, length) => length);

  it("gives back words of every length, and tells them from others", () => {
    const column = new WordColumn(lengths.length, blocks);
    for (const length of lengths) {
      expect(column.at(length)).toBeUndefined();
      column.put(length, wordOf(length, length));
      expect(column.fits(length)).toBe(length < blocks * 4);
    }
    for (const length of lengths) {
      expect(column.at(length)).toBe(wordOf(length, length));
      if (!column.fits(length)) continue;
      expect(column.holds(length, wordOf(length, length))).toBe(true);
      for (let i = 0; i < length; i++) {
        const word = wordOf(length, length);
        const other = word.slice(0, i) + String.fromCharCode(word.charCodeAt(i) ^ 0x80) + word.slice(i + 1);
        expect(column.holds(length, other)).toBe(false);
      }
    }
    expect(column.at(lengths.length)).toBeUndefined();
    expect(column.at(lengths.length + 1)).toBeUndefined();
    expect(column.sizeBytes).toBe(counted(column));
  });

  it("moves and frees words, whatever stood in a place before", () => {
    const column = new WordColumn(lengths.length + 1, blocks);
    const end = lengths.length;
    for (const length of lengths) column.put(length, wordOf(length, length));
    for (const length of lengths.toReversed()) {
      column.move(length, end);
      column.free(length);
      column.put(length, wordOf((length * 3) % 80, length));
      expect(column.at(end)).toBe(wordOf(length, length));
      column.drop(end);
      column.free(end);
      expect(column.at(end)).toBeUndefined();
    }
    for (const length of lengths) expect(column.at(length)).toBe(wordOf((length * 3) % 80, length));
    expect(column.sizeBytes).toBe(counted(column));
    expect(column.strays).toBe(column.strings?.filter((word) => word !== undefined).length ?? 0);
  });

  it.each([0, 1, 3, 8])("takes over what one with slots of %i blocks has", (otherBlocks) => {
    const other = new WordColumn(lengths.length, otherBlocks);
    for (const length of lengths) other.put(length, wordOf(length, length));
    const column = new WordColumn(lengths.length, blocks);
    // What was there before must not show.
    for (const length of lengths) {
      column.put(length, wordOf(Math.max(0, blocks * 4 - 1), length));
      column.drop(length);
      column.free(length);
    }
    for (const length of lengths) column.take(other, length, length);
    for (const length of lengths) expect(column.at(length)).toBe(wordOf(length, length));
    expect(column.sizeBytes + other.stringBytes).toBe(counted(column));
  });

  it("is copied whole", () => {
    const column = new WordColumn(lengths.length, blocks);
    for (const length of lengths) column.put(length, wordOf(length, length));
    const copy = column.clone();
    for (const length of lengths) {
      column.drop(length);
      column.free(length);
    }
    for (const length of lengths) expect(copy.at(length)).toBe(wordOf(length, length));
    expect(copy.sizeBytes).toBe(counted(copy));
  });
});

describe("the size of slots", () => {
  const of = (...words: readonly (readonly [length: number, count: number])[]) => {
    const column = new WordColumn(1, 0);
    const lengths = noLengths();
    for (const [length, count] of words) {
      column.put(0, "x".repeat(length));
      for (let i = 0; i < count; i++) column.count(0, lengths);
    }
    return chooseBlocks(lengths, words.reduce((sum, [, count]) => sum + count, 0) * 1.4);
  };

  test("is the longest word's where they are alike, and that of most where few are long", () => {
    expect(of([16, 1000])).toBe(5);
    expect(of([15, 1000])).toBe(4);
    expect(of([8, 500], [11, 500])).toBe(3);
    expect(of([8, 995], [30, 5])).toBe(3);
  });

  test("is nothing where words are long", () => {
    expect(of([32, 1000])).toBe(0);
    expect(of([200, 990], [4, 10])).toBe(0);
  });

  test("is guessed with some room by a first word", () => {
    expect(guessBlocks(10)).toBe(4);
    expect(guessBlocks(0)).toBe(1);
    expect(guessBlocks(28)).toBe(8);
    expect(guessBlocks(29)).toBe(0);
  });
});

describe("a dict of words of all lengths", () => {
  it("counts what strings take, whichever half of a split table empties first", () => {
    for (const isFirst of [(hash: number) => hash < 2 ** 31, (hash: number) => hash >= 2 ** 31]) {
      const dict = new Dict<number>();
      const empty = dict.sizeBytes;
      const words = Array.from({ length: 5_000 }, (_, i) =>
        i % 10 === 0 ? `a long word, which is a string: ${i}` : `word ${i}`,
      );
      for (const word of words) dict.set(word, 1);
      for (const word of words) if (isFirst(hashWord(word))) dict.delete(word);
      for (const word of words) dict.delete(word);
      expect(dict.size).toBe(0);
      expect(dict.sizeBytes).toBe(empty);
    }
  });

  it("takes what it took before its only word came, once that is gone", () => {
    const dict = new Dict<number>();
    const empty = dict.sizeBytes;
    for (const word of ["short", "a long word, which is a string, and in no slot"]) {
      dict.set(word, 1);
      dict.delete(word);
      expect(dict.sizeBytes).toBe(empty);
    }
  });

  it.each([1, 2, 3, 4])("agrees with a Map over random changes (seed %i)", (seed) => {
    const clock = new ManualClock(0, seed);
    const below = (n: number) => Math.floor(clock.random() * n);
    const dict = new Dict<number>({ stamps: true });
    const empty = dict.sizeBytes;
    const model = new Map<string, number>();
    let frozen: { readonly dict: Dict<number>; readonly model: ReadonlyMap<string, number> } | null = null;
    for (let i = 0; i < 60_000; i++) {
      // What is usual swings between short and long, so that tables find themselves with the wrong slots.
      const phase = Math.floor(i / 7_000) % 4;
      const number = below(9_000);
      const length = [6, 22, 40, 3 + (number % 70)][phase]! + (number % 5);
      const key = wordOf(length, number);
      if (below(100) < (phase === 3 ? 60 : 25)) expect(dict.delete(key)).toBe(model.delete(key));
      else {
        expect(dict.set(key, i)).toBe(!model.has(key));
        model.set(key, i);
      }
      if (i % 9_000 === 8_999) {
        if (frozen !== null) {
          expect(new Map(frozen.dict.entries())).toEqual(frozen.model);
          dict.thaw();
        }
        frozen = { dict: dict.freeze(), model: new Map(model) };
        expect(dict.size).toBe(model.size);
        expect(new Map(dict.entries())).toEqual(model);
        expect(new Map(dict.clone().entries())).toEqual(model);
      }
    }
    for (const [key, value] of model) {
      expect(dict.get(key)).toBe(value);
      expect(dict.get(`${key}x`)).toBe(model.get(`${key}x`));
    }
    const taken = new Set<string>();
    while (dict.size > model.size / 2) taken.add(dict.takeKey(() => clock.random()));
    for (const key of model.keys()) expect(dict.delete(key)).toBe(!taken.has(key));
    expect(dict.sizeBytes).toBe(empty);
  });
});
