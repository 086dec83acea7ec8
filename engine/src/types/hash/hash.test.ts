import { describe, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { DEFAULT_LIMITS, type Limits } from "../collection.ts";
import { HashValue } from "./index.ts";

const packed: Limits = DEFAULT_LIMITS;
const table: Limits = { ...DEFAULT_LIMITS, hashMaxListpackEntries: 0 };

const encodings = [
  { encoding: "listpack", limits: packed },
  { encoding: "hashtable", limits: table },
];

function hashOf(pairs: Record<string, string>, limits: Limits): HashValue {
  const hash = new HashValue();
  for (const [field, value] of Object.entries(pairs)) hash.set(field, value, limits);
  return hash;
}

const clock = new ManualClock();
const random = () => clock.random();

/** Every other word, in order. */
const evens = (flat: readonly string[]) => flat.filter((_, i) => i % 2 === 0);

describe.each(encodings)("a hash as $encoding", ({ encoding, limits }) => {
  test("says which encoding it has", () => {
    expect(hashOf({ a: "1" }, limits).encoding).toBe(encoding);
  });

  test("sets, finds, replaces and deletes fields", () => {
    const hash = new HashValue();
    expect(hash.set("a", "1", limits)).toBe(true);
    expect(hash.set("b", "", limits)).toBe(true);
    expect(hash.set("a", "another value", limits)).toBe(false);
    expect(hash.size).toBe(2);
    expect(hash.get("a")).toBe("another value");
    expect(hash.get("b")).toBe("");
    expect(hash.get("c")).toBeUndefined();
    expect(hash.has("b")).toBe(true);
    expect(hash.lengthOf("a")).toBe(13);
    expect(hash.lengthOf("c")).toBe(0);
    expect(hash.delete("a")).toBe(true);
    expect(hash.delete("a")).toBe(false);
    expect(hash.has("a")).toBe(false);
    expect(hash.size).toBe(1);
  });

  test("takes any bytes, the empty word included", () => {
    const words = ["", "\0", "\xff\xfe", "\r\n", "\x01a", "a".repeat(64)];
    const hash = new HashValue();
    for (const word of words) hash.set(word, `=${word}`.slice(0, 64), limits);
    for (const word of words) expect(hash.get(word)).toBe(`=${word}`.slice(0, 64));
    expect(hash.fields().sort()).toEqual([...words].sort());
  });

  test("a field is not found where only a value is equal to it", () => {
    const hash = hashOf({ a: "b", c: "d" }, limits);
    expect(hash.has("b")).toBe(false);
    expect(hash.has("d")).toBe(false);
  });

  test("a copy goes its own way", () => {
    const hash = hashOf({ a: "1", b: "2" }, limits);
    const copy = hash.clone();
    expect(copy.sizeBytes).toBe(hash.sizeBytes);
    copy.set("a", "9", limits);
    copy.delete("b");
    expect(hash.get("a")).toBe("1");
    expect(hash.size).toBe(2);
    expect(copy.pairs()).toEqual(["a", "9"]);
    expect(copy.encoding).toBe(encoding);
  });

  test("a sample has no field twice and each field evenly often", () => {
    const pairs = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`f${i}`, `v${i}`]));
    const hash = hashOf(pairs, limits);
    const seen = new Map<string, number>();
    for (const count of [1, 3, 4, 5, 11]) {
      for (let round = 0; round < 600; round++) {
        const flat = hash.sample(count, random);
        const fields = evens(flat);
        expect(new Set(fields).size).toBe(count);
        for (let i = 0; i < flat.length; i += 2) expect(pairs[flat[i]!]).toBe(flat[i + 1]);
        for (const field of fields) seen.set(field, (seen.get(field) ?? 0) + 1);
      }
    }
    for (const times of seen.values()) expect(Math.abs(times - 1200)).toBeLessThan(150);
    expect(hash.sample(100, random)).toHaveLength(24);
  });

  test("draws repeat fields and give each evenly often", () => {
    const hash = hashOf({ a: "1", b: "2", c: "3" }, limits);
    const fields = evens(hash.draw(3000, random));
    for (const field of ["a", "b", "c"]) {
      expect(Math.abs(fields.filter((f) => f === field).length - 1000)).toBeLessThan(120);
    }
    expect(["a", "b", "c"]).toContain(hash.randomField(random));
  });

  test("a scan from 0 to 0 visits every field", () => {
    const hash = new HashValue();
    for (let i = 0; i < 300; i++) hash.set(`field:${i}`, String(i), limits);
    const seen = new Map<string, string>();
    let cursor = 0;
    do {
      cursor = hash.scan(cursor, 10, (field, value) => {
        seen.set(field, value);
      });
    } while (cursor !== 0);
    expect(seen.size).toBe(300);
    expect(seen.get("field:299")).toBe("299");
  });

  test("random operations agree with a Map", () => {
    const hash = new HashValue();
    const model = new Map<string, string>();
    for (let step = 0; step < 20_000; step++) {
      const field = `f${Math.floor(random() * 60)}`.repeat(1 + Math.floor(random() * 3));
      const roll = random();
      if (roll < 0.5) {
        const value = "x".repeat(Math.floor(random() * 60)) + Math.floor(random() * 10);
        expect(hash.set(field, value, limits)).toBe(!model.has(field));
        model.set(field, value);
      } else if (roll < 0.8) {
        expect(hash.delete(field)).toBe(model.delete(field));
      } else {
        expect(hash.get(field)).toBe(model.get(field));
        expect(hash.lengthOf(field)).toBe(model.get(field)?.length ?? 0);
      }
      expect(hash.size).toBe(model.size);
    }
    const flat = hash.pairs();
    expect(new Map(evens(flat).map((field, i) => [field, flat[2 * i + 1]!]))).toEqual(model);
    expect(hash.fields().sort()).toEqual([...model.keys()].sort());
    expect(hash.values().sort()).toEqual([...model.values()].sort());
    for (const field of model.keys()) hash.delete(field);
    expect(hash.size).toBe(0);
    // A table that has been emptied keeps its smallest form, a packed string nothing: what went in must be counted out.
    const emptied = new HashValue();
    for (let i = 0; i < 200; i++) emptied.set(`f${i}`, "x", limits);
    for (let i = 0; i < 200; i++) emptied.delete(`f${i}`);
    expect(hash.sizeBytes).toBe(emptied.sizeBytes);
  });
});

describe("widening", () => {
  test("a packed hash keeps the order in which fields came, also when they are set again", () => {
    const hash = hashOf({ c: "1", a: "2", b: "3" }, packed);
    hash.set("a", "something longer", packed);
    hash.delete("c");
    hash.set("c", "4", packed);
    expect(hash.pairs()).toEqual(["a", "something longer", "b", "3", "c", "4"]);
  });

  test("one entry too many turns it into a table", () => {
    const limits = { ...DEFAULT_LIMITS, hashMaxListpackEntries: 3 };
    const hash = hashOf({ a: "1", b: "2", c: "3" }, limits);
    expect(hash.encoding).toBe("listpack");
    hash.set("d", "4", limits);
    expect(hash.encoding).toBe("hashtable");
    hash.delete("d");
    expect(hash.encoding).toBe("hashtable");
    expect(hash.pairs()).toHaveLength(6);
  });

  test("a lowered limit takes effect when a field is set, even an old one", () => {
    const hash = hashOf({ a: "1", b: "2" }, packed);
    hash.set("a", "1", { ...DEFAULT_LIMITS, hashMaxListpackEntries: 1 });
    expect(hash.encoding).toBe("hashtable");
  });

  test.each(["field", "value"])("a %s that is too long turns it into a table", (which) => {
    const long = "x".repeat(65);
    const hash = hashOf({ a: "1" }, packed);
    hash.set(which === "field" ? long : "a", which === "field" ? "1" : long, packed);
    expect(hash.encoding).toBe("hashtable");
    expect(hash.size).toBe(which === "field" ? 2 : 1);
  });

  test("makeRoom widens before anything is set, for words from the given place on only", () => {
    const hash = hashOf({ a: "1" }, packed);
    hash.makeRoom(["x".repeat(65), "b", "c"], 1, packed);
    expect(hash.encoding).toBe("listpack");
    hash.makeRoom(["b", "x".repeat(65)], 0, packed);
    expect(hash.encoding).toBe("hashtable");
    expect(hash.get("a")).toBe("1");
  });
});
