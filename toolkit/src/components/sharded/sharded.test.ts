/** Sharded structures do what unsharded ones do, also while their layout is being changed. */

import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import {
  FullError,
  ShardedBitmap,
  ShardedHash,
  ShardedList,
  ShardedSet,
  ShardedSortedSet,
  ShardedStructures,
  type ShardsInfo,
} from "./index.ts";
import { spotOf } from "./place.ts";
import { all, randomFrom } from "./testing/models.ts";

/** Few and small: so that everything that happens at an edge happens. */
const SMALL = { tags: 3, expected: 60, shardSize: 16 } as const;

describe("placing", () => {
  test("is the same for ever", () => {
    const hashes = ["", "a", "visitor:1", "Zoë"].map(hashOf);
    expect(hashes).toEqual([2_872_998_923, 444_641_715, 534_074_906, 1_291_870_507]);
    const placing = { tags: 7, stride: 4_096, ids: "range" } as const;
    expect(spotOf("8191", placing)).toEqual({ tag: 1, id: 8_191, code: 0 });
    expect(spotOf("010", placing).id).toBe(-1);
    expect(spotOf("-1", placing).id).toBe(-1);
    expect(spotOf("9007199254740993", placing).id).toBe(-1);
    expect(spotOf("12", { ...placing, ids: "hash" }).id).toBe(-1);
  });

  test("spreads evenly", () => {
    const counts = new Array<number>(64).fill(0);
    for (let nth = 0; nth < 64_000; nth++) counts[spotOf(`user:${nth}`, { tags: 64, stride: 1, ids: "hash" }).tag]!++;
    expect(Math.min(...counts)).toBeGreaterThan(850);
    expect(Math.max(...counts)).toBeLessThan(1_150);
  });
});

describeBackends("sharded structures", (backend) => {
  test("a hash sets, gets, counts and deletes", async () => {
    const cities = new ShardedHash<{ name: string }>(backend.store, "cities", SMALL);
    expect(await cities.get("17")).toBe(null);
    expect(await cities.set("17", { name: "Berlin" })).toBe(true);
    expect(await cities.set("17", { name: "Bern" })).toBe(false);
    expect(await cities.get("17")).toEqual({ name: "Bern" });
    expect(await cities.setIfAbsent("17", { name: "Bonn" })).toBe(false);
    expect(
      await cities.setMany([
        ["18", { name: "Köln" }],
        ["paris", { name: "Paris" }],
        ["17", { name: "Rom" }],
      ]),
    ).toBe(2);
    expect(await cities.getMany(["paris", "none", "17", "18"])).toEqual([
      { name: "Paris" },
      null,
      { name: "Rom" },
      { name: "Köln" },
    ]);
    expect([await cities.has("18"), await cities.has("19"), await cities.count()]).toEqual([true, false, 3]);
    expect(await cities.delete("18")).toBe(true);
    expect(await cities.delete("18")).toBe(false);
    expect(await cities.deleteMany(["17", "paris", "none"])).toBe(2);
    expect([await cities.count(), await all(cities.entries())]).toEqual([0, []]);
  });

  test("a hash increments, with an id once", async () => {
    const hits = new ShardedHash<number>(backend.store, "hits", SMALL);
    expect(await hits.increment("a", 5)).toBe(5);
    expect(await hits.increment("a", -2, { id: "x" })).toBe(3);
    expect(await hits.increment("a", 10)).toBe(13);
    expect(await hits.increment("a", -2, { id: "x" })).toBe(3);
    expect([await hits.get("a"), await hits.count()]).toEqual([13, 1]);
    await expect(hits.increment("a", 0.5)).rejects.toThrow(InputError);
  });

  test("a hash keeps bytes as they are", async () => {
    const blobs = new ShardedHash(backend.store, "blobs", { ...SMALL, codec: bytes });
    const blob = Buffer.from([0, 255, 10, 13, 128]);
    await blobs.set("ä", blob);
    expect(await blobs.get("ä")).toEqual(blob);
    expect(await all(blobs.entries())).toEqual([["ä", blob]]);
  });

  test("a set adds, has and removes; numbers and texts", async () => {
    const seen = new ShardedSet(backend.store, "seen", SMALL);
    expect(await seen.add("7")).toBe(true);
    expect(await seen.add("7")).toBe(false);
    expect(await seen.addMany(["8", "007", "zoë", "7", "-1", "9007199254740991", "9007199254740993"])).toBe(6);
    expect(await seen.hasMany(["7", "9", "007", "zoë", "9007199254740993"])).toEqual([true, false, true, true, true]);
    expect(await seen.count()).toBe(7);
    expect((await all(seen.members())).sort()).toEqual([
      "-1",
      "007",
      "7",
      "8",
      "9007199254740991",
      "9007199254740993",
      "zoë",
    ]);
    expect([await seen.delete("7"), await seen.delete("7"), await seen.deleteMany(["8", "none"])]).toEqual([
      true,
      false,
      1,
    ]);
    expect(await seen.count()).toBe(5);
  });

  test("a sorted set adds under conditions, increments and removes", async () => {
    const scores = new ShardedSortedSet(backend.store, "scores", SMALL);
    expect(await scores.add("ann", 5)).toBe(true);
    expect(await scores.add("ann", 9, { when: "new" })).toBe(false);
    expect(await scores.score("ann")).toBe(5);
    expect(await scores.add("ben", 9, { when: "existing" })).toBe(false);
    await scores.add("ann", 3, { when: "greater" });
    expect(await scores.score("ann")).toBe(5);
    await scores.add("ann", 3, { when: "less" });
    expect(await scores.scores(["ann", "ben"])).toEqual([3, null]);
    expect(await scores.increment("ben", 0.5, { id: "i" })).toBe(0.5);
    expect(await scores.increment("ben", 0.5, { id: "i" })).toBe(0.5);
    expect(await scores.increment("ben", Number.MIN_VALUE)).toBe(0.5);
    await scores.add("top", Number.POSITIVE_INFINITY);
    await scores.add("low", Number.NEGATIVE_INFINITY);
    expect((await scores.top({ limit: 2 })).map(({ member }) => member)).toEqual(["top", "ann"]);
    expect((await scores.bottom({ limit: 2 })).map(({ member }) => member)).toEqual(["low", "ben"]);
    expect(await scores.count({ min: 0.5, max: 3 })).toBe(2);
    expect([await scores.delete("ann"), await scores.delete("ann"), await scores.count()]).toEqual([true, false, 3]);
    await expect(scores.add("nan", Number.NaN)).rejects.toThrow(InputError);
  });

  test("a sorted set's pages have every member once, in the order of the unsharded one, equal scores too", async () => {
    const { store } = backend;
    const scores = new ShardedSortedSet(store, "scores", SMALL);
    const random = randomFrom(5);
    const entries = Array.from({ length: 300 }, (_, nth) => [`m${nth}${"é".repeat(nth % 3)}`, random(7) - 3] as const);
    await scores.addMany(entries);
    await store.call("ZADD", "plain", ...entries.flatMap(([member, score]) => [score, member]));
    for (const order of ["ascending", "descending"] as const) {
      const range = order === "ascending" ? "ZRANGEBYSCORE" : "ZREVRANGEBYSCORE";
      const ends = order === "ascending" ? [-2, 2] : [2, -2];
      const expected = (await store.call(range, "plain", ...ends)) as string[];
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = await scores.range({
          min: -2,
          max: 2,
          order,
          limit: 17,
          ...(after === undefined ? {} : { cursor: after }),
        });
        found.push(...page.items.map(({ member }) => member));
        after = page.cursor ?? undefined;
      } while (after !== undefined);
      expect(found).toEqual(expected);
    }
    expect((await scores.top({ limit: 50 })).map(({ member }) => member)).toEqual(
      await store.call("ZREVRANGE", "plain", 0, 49),
    );
    expect((await scores.bottom({ limit: 300 })).map(({ member }) => member)).toEqual(
      await store.call("ZRANGE", "plain", 0, -1),
    );
    expect(await scores.deleteRange({ min: 0 })).toBe(await store.call("ZREMRANGEBYSCORE", "plain", 0, "+inf"));
    expect(await scores.count()).toBe(await store.call("ZCARD", "plain"));
  });

  test("the first of a sorted set are found when one shard has all of them", async () => {
    const scores = new ShardedSortedSet(backend.store, "scores", { ...SMALL, expected: 2_000 });
    const members = Array.from({ length: 2_000 }, (_, nth) => `m${nth}`);
    const placing = { tags: 3, stride: 1, ids: "hash" } as const;
    // By chance each shard has its part of the first; here chance is against it.
    const isFirst = (member: string): boolean => {
      const { tag, code } = spotOf(member, placing);
      return tag === 1 && code % 4 === 0;
    };
    await scores.addMany(members.map((member, nth) => [member, isFirst(member) ? 10_000 + nth : nth]));
    const expected = members.filter(isFirst).reverse();
    expect(expected.length).toBeGreaterThan(100);
    expect((await scores.top({ limit: 100 })).map(({ member }) => member)).toEqual(expected.slice(0, 100));
  });

  test("a bitmap sets, gets, counts ranges and lists positions", async () => {
    const active = new ShardedBitmap(backend.store, "active", { tags: 3, shardSize: 1_024 });
    const offsets = [0, 1, 7, 8, 1_023, 1_024, 99_999, 2 ** 20 - 1, 2 ** 20, 5 * 2 ** 20 + 3, 2 ** 32 - 1];
    expect(await active.setMany(offsets)).toEqual(offsets.map(() => false));
    expect(await active.set(7)).toBe(true);
    expect(await active.getMany([7, 9, 2 ** 32 - 1, 2 ** 31])).toEqual([true, false, true, false]);
    expect([await active.count(), await all(active.positions())]).toEqual([offsets.length, offsets]);
    for (const [from, to] of [
      [0, 8],
      [1, 8],
      [1, 7],
      [3, 1_024],
      [8, 2 ** 20],
      [2 ** 20, 2 ** 32],
      [1_025, 1_025],
      [0, 2 ** 32],
    ]) {
      const within = offsets.filter((offset) => offset >= from! && offset < to!);
      expect([from, to, await active.count({ from: from!, to: to! })]).toEqual([from, to, within.length]);
      expect(await all(active.positions({ from: from!, to: to! }))).toEqual(within);
    }
    expect([await active.set(7, false), await active.set(50_000_000, false), await active.count()]).toEqual([
      true,
      false,
      10,
    ]);
    await expect(active.set(-1)).rejects.toThrow(InputError);
    await expect(active.set(2 ** 32)).rejects.toThrow(InputError);
  });

  test("two bitmaps are put together", async () => {
    const open = (name: string, shardSize: number) => new ShardedBitmap(backend.store, name, { tags: 3, shardSize });
    const [a, b, into] = [open("a", 1_024), open("b", 8_192), open("c", 65_536)];
    const random = randomFrom(3);
    const ofA = new Set(Array.from({ length: 200 }, () => random(3_000_000)));
    const ofB = new Set([
      ...[...ofA].filter(() => random(2) === 0),
      ...Array.from({ length: 100 }, () => random(6_000_000)),
    ]);
    await a.setMany([...ofA]);
    await b.setMany([...ofB]);
    await into.setMany([1, 4_000_000]);
    const both = [...ofA].filter((bit) => ofB.has(bit)).length;
    const expected = {
      and: both,
      or: ofA.size + ofB.size - both,
      xor: ofA.size + ofB.size - 2 * both,
      andnot: ofA.size - both,
    };
    for (const operation of ["and", "or", "xor", "andnot"] as const) {
      expect([operation, await a.countWith(operation, b)]).toEqual([operation, expected[operation]]);
    }
    expect(await a.storeWith("and", b, into)).toBe(both);
    expect(await all(into.positions())).toEqual([...ofA].filter((bit) => ofB.has(bit)).sort((x, y) => x - y));
  });

  test("a layout that was made stays, whatever the next one asks for, and a name has one kind", async () => {
    const first = new ShardedSet(backend.store, "things", { tags: 5, expected: 1_000, shardSize: 16 });
    await first.add("a");
    const second = new ShardedSet(await backend.open(), "things", { tags: 9 });
    expect(await second.has("a")).toBe(true);
    expect(await second.shards.inspect()).toMatchObject({
      kind: "set",
      tags: 5,
      generation: 2,
      elements: 1,
      moving: null,
    });
    const other = new ShardedHash(backend.store, "things");
    await expect(other.get("a")).rejects.toMatchObject({ code: "KIND" });
    expect(() => new ShardedSet(backend.store, "a}b")).toThrow(InputError);
    expect(() => new ShardedSet(backend.store, "a", { tags: 0 })).toThrow(InputError);
  });

  test("it holds no more than it may", async () => {
    const few = new ShardedHash<number>(backend.store, "few", { ...SMALL, tags: 1, maxElements: 10 });
    await few.setMany(Array.from({ length: 10 }, (_, nth) => [`f${nth}`, nth]));
    await expect(few.set("one more", 1)).rejects.toThrow(FullError);
    await expect(few.increment("another", 1)).rejects.toThrow(FullError);
    expect(await few.set("f3", 30)).toBe(false);
    expect([await few.get("f3"), await few.count()]).toEqual([30, 10]);
    await few.delete("f1");
    expect(await few.set("one more", 1)).toBe(true);
  });

  test("shards stay packed: numbers as integers, texts of sets too", async () => {
    const { store } = backend;
    const set = new ShardedSet(store, "members", { tags: 2, expected: 2_000 });
    const hash = new ShardedHash<number>(store, "fields", { tags: 2, expected: 2_000 });
    const zset = new ShardedSortedSet(store, "scores", { tags: 2, expected: 2_000 });
    const names = Array.from({ length: 2_000 }, (_, nth) => (nth % 2 === 0 ? String(nth) : `user-${nth}`));
    await set.addMany(names);
    await hash.setMany(names.map((name, nth) => [name, nth]));
    await zset.addMany(names.map((name, nth) => [name, nth]));
    const encodings = async ({ shards }: { shards: ShardedSet["shards"] }): Promise<string[]> => {
      const found = [...(await shards.inspectTag(0)), ...(await shards.inspectTag(1))];
      expect(found.reduce((sum, { elements }) => sum + elements, 0)).toBe(2_000);
      for (const { bytes: size } of found) expect(size).toBeGreaterThan(0);
      return [...new Set(found.map(({ encoding }) => encoding))].sort();
    };
    const packed = [(await encodings(zset))[0]!];
    expect(["listpack", "ziplist"]).toContain(packed[0]);
    expect(await encodings(hash)).toEqual(packed);
    expect(await encodings(set)).toEqual(["intset", ...packed]);
  });

  test("all structures of a store are listed and looked into", async () => {
    const { store } = backend;
    await new ShardedSet(store, "members", SMALL).addMany(["1", "two"]);
    await new ShardedList<number>(store, "jobs", { lanes: 2 }).push("left", 1);
    await new ShardedBitmap(store, "bits", { tags: 2 }).set(5);
    const structures = new ShardedStructures(store);
    await expect.poll(async () => (await structures.list()).items.length, { timeout: 20_000 }).toBe(3);
    expect(new Set((await structures.list()).items.map(({ kind, name }) => `${kind} ${name}`))).toEqual(
      new Set(["set members", "list jobs", "bitmap bits"]),
    );
    expect(await structures.inspect("members")).toMatchObject({ kind: "set", tags: 3, elements: 2, shardSize: 16 });
    expect(await structures.inspect("jobs")).toMatchObject({ kind: "list", lanes: 2, elements: 1 });
    expect(await structures.inspect("none")).toBe(null);
    const shards = (await structures.shards("members"))!;
    expect(await shards.reshard({ shards: 12 })).toBe(true);
    const { moving, elements } = (await structures.inspect("members")) as ShardsInfo;
    expect(moving).toEqual({ elementsLeft: elements, tagsLeft: moving!.tagsLeft });
    expect(await shards.move()).toEqual({ moved: 2, finished: true });
    expect([await structures.shards("jobs"), await structures.shardedList("members")]).toEqual([null, null]);
  });

  test("a store that was emptied is begun anew", async () => {
    const set = new ShardedSet(backend.store, "members", SMALL);
    const list = new ShardedList<number>(backend.store, "jobs", { lanes: 2 });
    await set.shards.reshard({ shards: 30 });
    await set.shards.move();
    await set.addMany(["1", "two"]);
    await list.push("left", 1);
    await backend.flush();
    expect(await set.add("1")).toBe(true);
    expect([await set.count(), await set.has("two")]).toEqual([1, false]);
    expect([await list.count(), await list.pop("left")]).toEqual([0, null]);
    await list.push("left", 2);
    expect(await list.pop("right")).toBe(2);
  });

  test("clearing empties it, destroying leaves no key", async () => {
    const { store } = backend;
    const set = new ShardedSet(store, "gone", SMALL);
    const bitmap = new ShardedBitmap(store, "bits", { tags: 2, shardSize: 1_024 });
    await set.addMany(Array.from({ length: 3_000 }, (_, nth) => (nth % 3 === 0 ? `x${nth}` : String(nth))));
    await bitmap.setMany([1, 5_000_000]);
    await set.shards.reshard({ shards: 9, shardSize: 8 });
    expect(await set.shards.clear()).toBe(3_000);
    expect([await set.count(), await all(set.members())]).toEqual([0, []]);
    await set.add("again");
    expect(await set.count()).toBe(1);
    await set.shards.delete();
    await bitmap.shards.delete();
    expect(await keysIn(store)).toEqual([]);
  });
});
