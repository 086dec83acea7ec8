/** What the structures promise when clocks are set, for promises.ts. */
import { expect } from "vitest";
import { BloomFilter, TopK } from "../../../src/components/sketches/index.ts";
import { type Promised, promised } from "./promised.ts";

export const STRUCTURE_PROMISES: Readonly<Record<string, Record<string, Promised>>> = {
  sketches: {
    "what was added and counted stays": promised(async ({ store, step }, stepMs) => {
      const filter = new BloomFilter(store, "seen", { capacity: 10, ttlMs: 60_000 });
      const top = new TopK(store, "words", { maxItems: 1, ttlMs: 60_000 });
      await filter.add("a");
      await top.add("a");
      step(stepMs);
      expect(await filter.add("a")).toEqual({ status: "exists" });
      await top.add("b");
      expect(await top.top()).toEqual([{ item: "b", count: 2, atLeast: 1 }]);
    }),
  },
};
