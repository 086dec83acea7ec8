import { expect, test } from "vitest";
import { open } from "./open.ts";

test("a loop of awaited calls lets timers, and so requests and signals, come in between", async () => {
  const store = await open();
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 20);
  let calls = 0;
  while (!isOver) {
    await store.call("INCR", "n");
    await store.multi([["INCR", "n"]]);
    await store.pipeline([["INCR", "n"]]);
    calls += 3;
  }
  expect(Number(await store.call("GET", "n"))).toBe(calls);
  await store.close();
});

test("an error that comes late is still the caller's, and nobody else's", async () => {
  const store = await open();
  let isOver = false;
  setTimeout(() => {
    isOver = true;
  }, 20);
  await store.call("SET", "word", "x");
  while (!isOver) await expect(store.call("INCR", "word")).rejects.toThrow("not an integer");
  await store.close();
});
