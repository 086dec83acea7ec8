import { describe, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { MultiMap } from "./index.ts";

const sorted = <T>(values: readonly T[]): T[] => [...values].sort();

describeBackends("a multi-map of sets", (backend) => {
  test("has each value of a key once", async () => {
    const map = new MultiMap<string>(backend.store, "tags");
    expect(await map.get("a")).toEqual([]);
    expect(await map.add("a", "x")).toEqual({ status: "added" });
    expect(await map.add("a", "x")).toEqual({ status: "exists" });
    expect(await map.addMany("a", ["x", "y", "z", "z"])).toEqual([
      { status: "exists" },
      { status: "added" },
      { status: "added" },
      { status: "exists" },
    ]);
    expect(sorted(await map.get("a"))).toEqual(["x", "y", "z"]);
    expect([await map.has("a"), await map.has("a", "y"), await map.has("a", "w"), await map.has("b")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(await map.count("a")).toBe(3);
    expect(await map.counts()).toEqual({ keys: 1, values: 3 });
  });
});

describeBackends("a multi-map of lists", (backend) => {
  test("has values in the order in which they were added, any number of times", async () => {
    const map = new MultiMap<number>(backend.store, "log", { values: "list" });
    expect(await map.addMany("a", [3, 1, 3])).toEqual([{ status: "added" }, { status: "added" }, { status: "added" }]);
    expect(await map.get("a")).toEqual([3, 1, 3]);
    expect([await map.has("a", 3), await map.has("a", 4)]).toEqual([true, false]);
    expect(await map.deleteValue("a", 3)).toBe(true);
    expect(await map.get("a")).toEqual([1]);
    expect(await map.counts()).toEqual({ keys: 1, values: 1 });
  });
});

describeBackends("a multi-map", (backend) => {
  describe.each(["set", "list"] as const)("of %ss", (values) => {
    test("forgets a key with its last value", async () => {
      const map = new MultiMap<string>(backend.store, "m", { values });
      await map.addMany("a", ["x", "y"]);
      await map.add("b", "x");
      expect(await map.deleteValues("a", ["x", "y", "z"])).toEqual([true, true, false]);
      expect(await map.has("a")).toBe(false);
      expect(await map.list()).toEqual({ items: ["b"], cursor: null });
      expect(await map.deleteMany(["a", "b"])).toEqual([false, true]);
      expect(await map.counts()).toEqual({ keys: 0, values: 0 });
      expect(await backend.store.call("EXISTS", "multi-map:{m}:keys", "multi-map:{m}:total")).toBe(0);
    });

    test("has its values replaced in one step", async () => {
      const map = new MultiMap<string>(backend.store, "m", { values, maxKeys: 1, maxValues: 3 });
      expect(await map.set("a", ["x", "y"])).toBe(true);
      expect(await map.set("a", ["z"])).toBe(true);
      expect(await map.get("a")).toEqual(["z"]);
      expect(await map.set("b", ["x"])).toBe(false);
      expect(await map.set("b", [])).toBe(true);
      expect(await map.counts()).toEqual({ keys: 1, values: 1 });
      expect(await map.set("a", [])).toBe(true);
      expect(await map.counts()).toEqual({ keys: 0, values: 0 });
      await expect(map.set("a", ["1", "2", "3", "4"])).rejects.toThrow(InputError);
    });

    test("is bounded, in keys and in values of a key", async () => {
      const map = new MultiMap<number>(backend.store, "m", { values, maxKeys: 2, maxValues: 2 });
      expect(await map.addMany("a", [1, 2, 3])).toEqual([{ status: "added" }, { status: "added" }, { status: "full" }]);
      await map.add("b", 1);
      expect(await map.add("c", 1)).toEqual({ status: "full" });
      expect(await map.add("b", 2)).toEqual({ status: "added" });
      expect(await map.counts()).toEqual({ keys: 2, values: 4 });
      expect(await map.list()).toEqual({ items: ["a", "b"], cursor: null });
    });

    test("lists its keys in pages, and is cleared", async () => {
      const map = new MultiMap<number>(backend.store, "m", { values });
      const keys = sorted(Array.from({ length: 25 }, (_, nth) => `k${nth}`));
      for (const key of keys) await map.addMany(key, [1, 2]);
      const first = await map.list({ limit: 10 });
      expect(first.items).toEqual(keys.slice(0, 10));
      await map.delete("k16");
      const rest = await map.list({ limit: 100, cursor: first.cursor! });
      expect(rest).toEqual({ items: keys.slice(10).filter((key) => key !== "k16"), cursor: null });
      await map.clear();
      expect(await map.counts()).toEqual({ keys: 0, values: 0 });
      expect(await map.getMany(["k1", "k2"])).toEqual([[], []]);
    });

    test("counts what everybody adds and deletes at once", async () => {
      const maps = [backend.store, await backend.open(), await backend.open()].map(
        (store) => new MultiMap<number>(store, "m", { values }),
      );
      await Promise.all(Array.from({ length: 200 }, (_, nth) => maps[nth % 3]!.add(`k${nth % 4}`, nth)));
      await Promise.all(Array.from({ length: 100 }, (_, nth) => maps[nth % 3]!.deleteValue(`k${nth % 4}`, nth)));
      const all = await maps[0]!.getMany(["k0", "k1", "k2", "k3"]);
      expect(all.flat().length).toBe(100);
      expect(await maps[0]!.counts()).toEqual({ keys: 4, values: 100 });
    });

    test("keeps bytes as they are, and refuses wrong input", async () => {
      const map = new MultiMap<Uint8Array>(backend.store, "m", { values, codec: bytes, maxBytes: 3 });
      await map.add("a", Buffer.from([0, 255]));
      expect(await map.get("a")).toEqual([Buffer.from([0, 255])]);
      expect(await map.has("a", Buffer.from([0, 255]))).toBe(true);
      await expect(map.addMany("a", [Buffer.from([1]), Buffer.alloc(4)])).rejects.toThrow(InputError);
      await expect(map.add("", Buffer.from([1]))).rejects.toThrow(InputError);
      expect(await map.count("a")).toBe(1);
    });
  });
});
