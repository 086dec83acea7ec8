import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { InputError } from "../../base/errors.ts";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "./index.ts";

const items = (count: number, prefix = "item"): string[] =>
  Array.from({ length: count }, (_, nth) => `${prefix}:${nth}`);

describeBackends("a Bloom filter", (backend) => {
  test("knows what was added", async () => {
    const filter = new BloomFilter(backend.store, "seen", { capacity: 1_000 });
    expect(await filter.has("a")).toBe(false);
    expect(await filter.add("a")).toEqual({ status: "added" });
    expect(await filter.add("a")).toEqual({ status: "exists" });
    expect(await filter.addMany(["a", "ä", "😀"])).toEqual([
      { status: "exists" },
      { status: "added" },
      { status: "added" },
    ]);
    expect(await filter.hasMany(["a", "ä", "😀", "b"])).toEqual([true, true, true, false]);
    expect(await filter.count()).toBe(3);
    expect(await filter.addMany([])).toEqual([]);
  });

  test("takes as many as it was made for, and no more", async () => {
    const filter = new BloomFilter(backend.store, "seen", { capacity: 500, errorRate: 0.001 });
    const outcomes = await filter.addMany(items(2_000));
    const { count, bytes, maxBytes } = await filter.inspect();
    expect(count).toBe(500);
    expect(bytes).toBe(maxBytes);
    expect(outcomes.filter(({ status }) => status === "added")).toHaveLength(500);
    expect(outcomes.at(-1)).toEqual({ status: "full" });
    expect(await filter.add("item:0")).toEqual({ status: "exists" });
    // What was refused has left no trace.
    const later = await filter.hasMany(items(2_000).slice(1_000));
    expect(later.filter(Boolean).length).toBeLessThan(10);
  });

  test("grows as far as it may, and forgets nothing", async () => {
    const filter = new BloomFilter(backend.store, "seen", { capacity: 100, maxCapacity: 1_000, errorRate: 0.01 });
    const outcomes = await filter.addMany(items(1_100));
    const added = items(1_100).filter((_, at) => outcomes[at]?.status === "added");
    expect(added.length).toBe(1_000);
    expect(await filter.inspect()).toMatchObject({ count: 1_000, capacity: 100, maxCapacity: 1_000, grown: 3 });
    expect((await filter.hasMany(added)).every(Boolean)).toBe(true);
    const wrong = (await filter.hasMany(items(2_000, "other"))).filter(Boolean).length;
    expect(wrong).toBeLessThan(40);
  });

  test("has one answer for many who add the same item at once", async () => {
    const stores = [backend.store, await backend.open(), await backend.open()];
    const filters = stores.map((store) => new BloomFilter(store, "seen", { capacity: 1_000 }));
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, (_, nth) => filters[nth % 3]!.add(`item:${nth % 10}`)),
    );
    expect(outcomes.filter(({ status }) => status === "added")).toHaveLength(10);
  });

  test("of other options is refused, until it is cleared", async () => {
    const filter = new BloomFilter(backend.store, "seen", { capacity: 1_000 });
    const other = new BloomFilter(backend.store, "seen", { capacity: 2_000 });
    await filter.add("a");
    await expect(other.add("a")).rejects.toThrow(InputError);
    await expect(other.has("a")).rejects.toThrow('the Bloom filter "seen" was made with other options');
    await filter.clear();
    expect(await other.has("a")).toBe(false);
    expect(await other.add("a")).toEqual({ status: "added" });
  });

  test("lives as long as it was told, and every part of it ends together", async () => {
    const filter = new BloomFilter(backend.store, "seen", { capacity: 10, ttlMs: 3_600_000 });
    await filter.add("a");
    const keys = ["bloom:{seen}:meta", "bloom:{seen}:cells"];
    for (const key of keys) expect(await backend.store.call("PTTL", key)).toBeGreaterThan(3_500_000);
    const before = await backend.store.call("PTTL", "bloom:{seen}:meta");
    await filter.add("b");
    expect(await backend.store.call("PTTL", "bloom:{seen}:meta")).toBeLessThanOrEqual(before);
  });

  test("refuses wrong input", async () => {
    const filter = new BloomFilter(backend.store, "seen", { capacity: 10 });
    await expect(filter.add("")).rejects.toThrow(InputError);
    await expect(filter.addMany(["a", ""])).rejects.toThrow(InputError);
    expect(await filter.has("a")).toBe(false);
    expect(() => new BloomFilter(backend.store, "x", { capacity: 10, maxCapacity: 5 })).toThrow(InputError);
    expect(() => new BloomFilter(backend.store, "x", { capacity: 1e9, errorRate: 1e-9 })).toThrow("bytes");
  });
});

describeBackends("a cuckoo filter", (backend) => {
  test("knows what was added and not deleted", async () => {
    const filter = new CuckooFilter(backend.store, "users", { capacity: 1_000 });
    expect(await filter.has("a")).toBe(false);
    expect(await filter.delete("a")).toBe(false);
    expect(await filter.addMany(["a", "b", "ä"])).toEqual([true, true, true]);
    expect(await filter.hasMany(["a", "b", "ä", "c"])).toEqual([true, true, true, false]);
    expect(await filter.delete("a")).toBe(true);
    expect(await filter.has("a")).toBe(false);
    expect(await filter.count()).toBe(2);
  });

  test("keeps what was added twice until it was deleted twice", async () => {
    const filter = new CuckooFilter(backend.store, "users", { capacity: 1_000 });
    await filter.add("a");
    await filter.add("a");
    expect(await filter.deleteMany(["a"])).toEqual([true]);
    expect(await filter.has("a")).toBe(true);
    expect(await filter.deleteMany(["a", "a"])).toEqual([true, false]);
    expect(await filter.has("a")).toBe(false);
  });

  test("takes as many as it was made for; one that is full loses nothing", async () => {
    const filter = new CuckooFilter(backend.store, "users", { capacity: 1_000, errorRate: 0.001 });
    const first = items(1_000);
    expect((await filter.addMany(first)).every(Boolean)).toBe(true);
    const more = items(400, "more");
    const taken = await filter.addMany(more);
    expect(taken).toContain(false);
    const all = [...first, ...more.filter((_, at) => taken[at])];
    expect((await filter.hasMany(all)).every(Boolean)).toBe(true);
    expect(await filter.count()).toBe(all.length);
    // All of it can be deleted again: every fingerprint is where it is looked for.
    expect((await filter.deleteMany(all)).every(Boolean)).toBe(true);
    expect(await filter.count()).toBe(0);
    expect(Number(await backend.store.call("BITCOUNT", "cuckoo:{users}:cells"))).toBe(0);
  });

  test.each([1, 2, 7, 50])("for %i items takes that many", async (capacity) => {
    for (let nth = 0; nth < 20; nth++) {
      const filter = new CuckooFilter(backend.store, `small-${capacity}-${nth}`, { capacity });
      expect((await filter.addMany(items(capacity, `item-${nth}`))).every(Boolean)).toBe(true);
    }
  });

  test("of other options is refused, and wrong input too", async () => {
    const filter = new CuckooFilter(backend.store, "users", { capacity: 10 });
    await filter.add("a");
    await expect(new CuckooFilter(backend.store, "users", { capacity: 1_000 }).has("a")).rejects.toThrow(InputError);
    await expect(filter.add("")).rejects.toThrow(InputError);
    await filter.clear();
    expect(await backend.store.call("EXISTS", "cuckoo:{users}:meta", "cuckoo:{users}:cells")).toBe(0);
  });
});

describeBackends("a count-min sketch", (backend) => {
  test("counts", async () => {
    const sketch = new CountMinSketch(backend.store, "hits");
    expect(await sketch.count("a")).toBe(0);
    expect(await sketch.add("a")).toBe(1);
    expect(await sketch.add("a", 41)).toBe(42);
    expect(await sketch.addMany(["b", ["a", 8], "b"])).toEqual([1, 50, 2]);
    expect(await sketch.counts(["a", "b", "c"])).toEqual([50, 2, 0]);
    expect(await sketch.inspect()).toMatchObject({ total: 52, errorRate: 0.001, missRate: 0.01 });
  });

  test("counts exactly what everybody adds at once, as long as there are few", async () => {
    const sketches = [backend.store, await backend.open(), await backend.open()].map(
      (store) => new CountMinSketch(store, "hits"),
    );
    await Promise.all(Array.from({ length: 300 }, (_, nth) => sketches[nth % 3]!.add(`item:${nth % 5}`, 2)));
    expect(await sketches[0]!.counts(items(5))).toEqual([120, 120, 120, 120, 120]);
  });

  test("counts large numbers exactly, and refuses more than its cells hold", async () => {
    const sketch = new CountMinSketch(backend.store, "hits");
    await sketch.add("a", 2 ** 47);
    expect(await sketch.add("a", 1)).toBe(2 ** 47 + 1);
    await expect(sketch.add("b", 2 ** 47)).rejects.toThrow("in all");
    expect(await sketch.counts(["a", "b"])).toEqual([2 ** 47 + 1, 0]);
  });

  test("of other options is refused, and wrong input too", async () => {
    const sketch = new CountMinSketch(backend.store, "hits");
    await sketch.add("a");
    await expect(new CountMinSketch(backend.store, "hits", { errorRate: 0.1 }).add("a")).rejects.toThrow(InputError);
    await expect(sketch.add("a", 0)).rejects.toThrow(InputError);
    await expect(sketch.add("", 1)).rejects.toThrow(InputError);
    expect(() => new CountMinSketch(backend.store, "x", { errorRate: 1e-7, missRate: 1e-7 })).toThrow("bytes");
    await sketch.clear();
    expect(await sketch.count("a")).toBe(0);
  });
});

describeBackends("a top-k", (backend) => {
  test("is exact as long as every item has a counter", async () => {
    const top = new TopK(backend.store, "words");
    await top.addMany(["to", "be", "or", "not", ["to", 2], "be"]);
    expect(await top.top({ limit: 2 })).toEqual([
      { item: "to", count: 3, atLeast: 3 },
      { item: "be", count: 2, atLeast: 2 },
    ]);
    expect((await top.top({ offset: 3 })).length).toBe(1);
    expect(await top.get("or")).toEqual({ item: "or", count: 1, atLeast: 1 });
    expect(await top.get("x")).toBeNull();
    expect(await top.inspect()).toEqual({ total: 7, count: 4, maxItems: 1_000, error: 0 });
  });

  test("keeps the frequent ones, and says within which bounds", async () => {
    const top = new TopK(backend.store, "words", { maxItems: 20 });
    const truth = new Map<string, number>();
    const stream = Array.from({ length: 3_000 }, (_, nth) =>
      nth % 3 === 0 ? "often" : nth % 5 === 0 ? "rather" : `r:${nth}`,
    );
    for (const item of stream) truth.set(item, (truth.get(item) ?? 0) + 1);
    for (let at = 0; at < stream.length; at += 250) await top.addMany(stream.slice(at, at + 250));
    const found = await top.top({ limit: 20 });
    expect(found.slice(0, 2).map(({ item }) => item)).toEqual(["often", "rather"]);
    const { error, total, count } = await top.inspect();
    expect([total, count, error]).toEqual([3_000, 20, 150]);
    for (const { item, count: most, atLeast } of found) {
      expect(most).toBeGreaterThanOrEqual(truth.get(item)!);
      expect(atLeast).toBeLessThanOrEqual(truth.get(item)!);
      expect(most - atLeast).toBeLessThanOrEqual(error);
    }
  });

  test("all parts end together, also those that are made later", async () => {
    const top = new TopK(backend.store, "words", { maxItems: 1, ttlMs: 3_600_000 });
    await top.add("a");
    await top.add("b");
    for (const part of ["counts", "errors", "meta"]) {
      expect(await backend.store.call("PTTL", `top-k:{words}:${part}`)).toBeGreaterThan(3_500_000);
    }
    expect(await top.top()).toEqual([{ item: "b", count: 2, atLeast: 1 }]);
    await top.clear();
    expect(await top.top()).toEqual([]);
  });

  test("of other options is refused, and wrong input too", async () => {
    const top = new TopK(backend.store, "words");
    await top.add("a");
    await expect(new TopK(backend.store, "words", { maxItems: 5 }).top()).rejects.toThrow(InputError);
    await expect(top.add("")).rejects.toThrow(InputError);
    await expect(top.add("a", 0)).rejects.toThrow(InputError);
    await expect(top.add("a", Number.MAX_SAFE_INTEGER)).rejects.toThrow("in all");
  });
});
