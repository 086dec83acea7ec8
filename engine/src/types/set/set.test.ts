import { describe, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { DEFAULT_LIMITS, type Limits } from "../collection.ts";
import { SetValue } from "./index.ts";

const limits: Limits = DEFAULT_LIMITS;
const clock = new ManualClock();
const random = () => clock.random();

/** A form of set: which words it is tried with, and how many it must have at least to be of that form. */
const forms = [
  { form: "intset of 2 bytes", encoding: "intset", word: (i: number) => String(i * 7 - 100), filler: [] },
  { form: "intset of 4 bytes", encoding: "intset", word: (i: number) => String(i * 65_537 - 100), filler: [] },
  {
    form: "intset of 8 bytes",
    encoding: "intset",
    word: (i: number) => String(-4611686018427387904n + BigInt(i) * 288230376151711743n),
    filler: [],
  },
  { form: "packed words", encoding: "hashtable", word: (i: number) => `word:${i}`, filler: ["a"] },
  {
    form: "table",
    encoding: "hashtable",
    word: (i: number) => (i % 2 === 0 ? `member of the set:${i}` : String(i)),
    filler: Array.from({ length: 40 }, (_, i) => `filler ${i}`),
  },
];

function setOf(words: readonly string[], bounds = limits): SetValue {
  const set = new SetValue();
  for (const word of words) set.add(word, bounds);
  return set;
}

const range = (count: number) => Array.from({ length: count }, (_, i) => i);

describe.each(forms)("a set as $form", ({ encoding, word, filler }) => {
  const words = range(20).map(word);
  const make = () => setOf([...filler, ...words]);

  test("says which encoding it has", () => {
    expect(make().encoding).toBe(encoding);
  });

  test("has what was added, once, and not what was not", () => {
    const set = make();
    expect(set.size).toBe(filler.length + 20);
    for (const member of words) {
      expect(set.has(member)).toBe(true);
      expect(set.add(member, limits)).toBe(false);
    }
    for (const other of ["", "01", "-0", "9223372036854775807", "9223372036854775808", "nothing", word(33)]) {
      expect(set.has(other)).toBe(false);
      expect(set.delete(other)).toBe(false);
    }
    expect(set.members().sort()).toEqual([...filler, ...words].sort());
    expect([...set.words()].sort()).toEqual(set.members().sort());
  });

  test("gives members up one by one", () => {
    const set = make();
    for (const member of [...filler, ...words]) {
      expect(set.delete(member)).toBe(true);
      expect(set.has(member)).toBe(false);
    }
    expect(set.size).toBe(0);
    expect(set.encoding).toBe(encoding);
  });

  test("a copy goes its own way", () => {
    const set = make();
    const copy = set.clone();
    expect(copy.sizeBytes).toBe(set.sizeBytes);
    copy.delete(words[0]!);
    copy.add(word(30), limits);
    expect(set.has(words[0]!)).toBe(true);
    expect(set.has(word(30))).toBe(false);
  });

  test("pops every member once", () => {
    const set = make();
    const popped = new Set<string>();
    while (set.size > 0) popped.add(set.pop(random));
    expect([...popped].sort()).toEqual([...filler, ...words].sort());
  });

  test.each([1, 5, 19, 20, 60, 1000])("pops %i at once", (count) => {
    const set = make();
    const all = set.members();
    const popped = set.popSome(count, random, limits);
    expect(popped).toHaveLength(Math.min(count, all.length));
    expect([...popped, ...set.members()].sort()).toEqual(all.sort());
    expect(set.size).toBe(all.length - popped.length);
  });

  test("a sample has no member twice and each evenly often", () => {
    const set = make();
    const seen = new Map<string, number>();
    const counts = [1, 4, 7, 15, set.size - 1];
    for (const count of counts) {
      for (let round = 0; round < 500; round++) {
        const chosen = set.sample(count, random);
        expect(new Set(chosen).size).toBe(count);
        for (const member of chosen) seen.set(member, (seen.get(member) ?? 0) + 1);
      }
    }
    expect(seen.size).toBe(set.size);
    const expected = (counts.reduce((a, b) => a + b) * 500) / set.size;
    for (const times of seen.values()) expect(Math.abs(times - expected)).toBeLessThan(expected / 6 + 30);
    expect(set.sample(1000, random)).toHaveLength(set.size);
  });

  test("draws give each member evenly often", () => {
    const set = make();
    const seen = new Map<string, number>();
    for (const member of set.draw(set.size * 400, random)) seen.set(member, (seen.get(member) ?? 0) + 1);
    for (const times of seen.values()) expect(Math.abs(times - 400)).toBeLessThan(110);
  });

  test("a scan from 0 to 0 visits every member", () => {
    const set = make();
    const seen = new Set<string>();
    let cursor = 0;
    do {
      cursor = set.scan(cursor, 3, (member) => {
        seen.add(member);
      });
    } while (cursor !== 0);
    expect(seen.size).toBe(set.size);
  });

  test("random operations agree with a Set", () => {
    const set = setOf(filler);
    const model = new Set(filler);
    for (let step = 0; step < 15_000; step++) {
      const member = word(Math.floor(random() * 30));
      const roll = random();
      if (roll < 0.5) {
        expect(set.add(member, limits)).toBe(!model.has(member));
        model.add(member);
      } else if (roll < 0.8) {
        expect(set.delete(member)).toBe(model.delete(member));
      } else if (roll < 0.9 || model.size === 0) {
        expect(set.has(member)).toBe(model.has(member));
      } else {
        expect(model.has(set.random(random))).toBe(true);
      }
      expect(set.size).toBe(model.size);
    }
    expect(set.members().sort()).toEqual([...model].sort());
    expect(set.encoding).toBe(encoding);
  });
});

describe("integers", () => {
  const edges = [
    "0",
    "-1",
    "32767",
    "-32768",
    "32768",
    "-32769",
    "2147483647",
    "-2147483648",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "-4294967297",
    "9007199254740991",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
  ];

  test("come out in ascending order, exact to the last of 64 bits", () => {
    const ascending = [...edges].sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
    for (let round = 0; round < 50; round++) {
      const shuffled = [...edges].sort(() => random() - 0.5);
      const set = setOf(shuffled);
      expect(set.members()).toEqual(ascending);
      for (const edge of edges) expect(set.has(edge)).toBe(true);
      expect(set.has("9223372036854775806")).toBe(false);
      expect(set.has("-9007199254740992")).toBe(false);
    }
  });

  test("one that is not spelt as a number is printed makes it a set of words", () => {
    for (const odd of ["01", "+1", "-0", "1.0", "", " 1", "9223372036854775808"]) {
      const set = setOf(["1", "2", odd]);
      expect(set.encoding).toBe("hashtable");
      expect(set.size).toBe(3);
      set.delete(odd);
      expect(set.encoding).toBe("hashtable");
    }
  });

  test("past the limit it is a set of words", () => {
    const bounds = { ...limits, setMaxIntsetEntries: 5 };
    const set = setOf(["1", "2", "3", "4", "5"], bounds);
    expect(set.encoding).toBe("intset");
    set.add("5", bounds);
    expect(set.encoding).toBe("intset");
    set.add("6", bounds);
    expect(set.encoding).toBe("hashtable");
    expect(set.members().sort()).toEqual(["1", "2", "3", "4", "5", "6"]);
  });

  test("600 of them leave the intset at 513", () => {
    const set = new SetValue();
    for (let i = 0; i < 512; i++) set.add(String(i), limits);
    expect(set.encoding).toBe("intset");
    for (let i = 512; i < 600; i++) set.add(String(i), limits);
    expect(set.encoding).toBe("hashtable");
    expect(set.size).toBe(600);
    set.popSome(595, random, limits);
    expect(set.encoding).toBe("intset");
    expect(set.size).toBe(5);
  });
});

describe("words that came out of another set", () => {
  test("are kept alike in every form", () => {
    for (const { word, filler } of forms) {
      const source = setOf([...filler, ...range(20).map(word)]);
      const target = new SetValue();
      source.forEach((member) => {
        target.addFrom(source, member, limits);
      });
      expect(target.members().sort()).toEqual(source.members().sort());
    }
  });

  test("the size in bytes goes back to where it was", () => {
    const set = setOf(range(40).map((i) => `member number ${i}`));
    // From the first long word on there is room for others.
    set.add("a first one, which is just as long", limits);
    const before = set.sizeBytes;
    set.add("one more, and a long one at that", limits);
    expect(set.sizeBytes).toBeGreaterThan(before);
    set.delete("one more, and a long one at that");
    expect(set.sizeBytes).toBe(before);
  });
});
