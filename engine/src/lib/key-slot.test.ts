import { expect, test } from "vitest";
import { keySlot } from "./key-slot.ts";

/** What CLUSTER KEYSLOT of Redis 7.0 answers. */
test.each([
  ["", 0],
  ["a", 15495],
  ["b", 3300],
  ["f", 3168],
  ["foo", 12182],
  ["{a}b", 15495],
  ["x{a}{b}", 15495],
  ["{}a", 10875],
])("the slot of %j is %i", (key, slot) => {
  expect(keySlot(key)).toBe(slot);
});

test("an empty tag is no tag, and an open one neither", () => {
  expect(keySlot("{}a")).not.toBe(keySlot(""));
  expect(keySlot("{a")).not.toBe(keySlot("a"));
  expect(keySlot("x{b}y")).toBe(keySlot("b"));
});
