import { expect, test } from "vitest";
import { defineScript } from "../base/script.ts";
import { open } from "./open.ts";

test("a command and a script take as many words as Redis does", async () => {
  const store = await open();
  const words = Array.from({ length: 250_000 }, (_, nth) => `w${nth}`);
  expect(await store.send(["RPUSH", "list", ...words])).toBe(words.length);
  const count = defineScript({ name: "count", keys: ["list"], rest: "words", lua: "return #ARGV", reply: Number });
  expect(await store.run(count, { list: "list", words })).toBe(words.length);
  expect(await store.pipeline([count.with({ list: "list", words })])).toEqual([words.length]);
  expect(await store.multi([["DEL", ...words]])).toEqual([0]);
  await store.close();
});

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
