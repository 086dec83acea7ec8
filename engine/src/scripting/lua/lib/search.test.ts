import { expect, test } from "vitest";
import { Runtime } from "../runtime.ts";
import { indexOf } from "./search.ts";

/** Searches that V8 would take minutes for, and their like that are found. */
test("long searches find what indexOf finds, and tick", () => {
  const rt = new Runtime();
  let ticks = 0;
  rt.onTick = () => void ticks++;
  const text = `${"a".repeat(2 ** 21)}b${"a".repeat(2 ** 20)}`;
  for (const length of [90, 1000, 5000]) {
    const half = "a".repeat(length / 2);
    const needle = `${half}b${half}`;
    expect(indexOf(rt, text, needle, 0)).toBe(2 ** 21 - length / 2);
    expect(indexOf(rt, text, needle, 2 ** 21)).toBe(-1);
    expect(indexOf(rt, text, `${needle}b`, 0)).toBe(-1);
  }
  expect(indexOf(rt, text, "b", 0)).toBe(2 ** 21);
  expect(ticks).toBeGreaterThan(6);
});

test("every short text is found where it is", () => {
  const rt = new Runtime();
  const text = "abacabadabacabaeabacabadabacaba".repeat(60_000);
  for (const from of [0, 1, 30, text.length - 400]) {
    const needle = text.slice(from, from + 300);
    expect(indexOf(rt, text, needle, from)).toBe(from);
    expect(indexOf(rt, text, `${needle}x`, from)).toBe(-1);
  }
});
