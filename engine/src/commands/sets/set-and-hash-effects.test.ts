/** What the append-only file and the replicas see of commands whose outcome depends on chance or rounding. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../../embed/embedded.ts";
import type { LocalClient } from "../../embed/local-client.ts";

let engine: EmbeddedEngine;
let client: LocalClient;
let effects: string[][];

beforeEach(async () => {
  engine = await EmbeddedEngine.open();
  client = engine.connect();
  effects = [];
  engine.core.effects.listen((batch) => {
    for (const { argv } of batch) effects.push([...argv]);
  });
});

afterEach(() => engine.close());

test("SPOP is seen as the removal of what it took", async () => {
  await client.call("SADD", "s", "a", "b", "c");
  effects.length = 0;
  const popped = await client.call("SPOP", "s");
  expect(effects).toEqual([["SREM", "s", popped]]);
});

test("SPOP with a count is seen as the removal of all it took", async () => {
  await client.call("SADD", "s", "a", "b", "c", "d");
  effects.length = 0;
  const popped = (await client.call("SPOP", "s", "3")) as string[];
  expect(effects).toEqual([["SREM", "s", ...popped]]);
});

test("SPOP of everything is seen as a deletion", async () => {
  await client.call("SADD", "s", "a", "b", "c");
  effects.length = 0;
  await client.call("SPOP", "s", "3");
  expect(effects).toEqual([["DEL", "s"]]);
});

test("SPOP of nothing is not seen", async () => {
  await client.call("SADD", "s", "a");
  effects.length = 0;
  await client.call("SPOP", "s", "0");
  await client.call("SPOP", "missing");
  await client.call("SPOP", "missing", "2");
  expect(effects).toEqual([]);
});

test("HINCRBYFLOAT is seen as the setting of its sum", async () => {
  await client.call("HINCRBYFLOAT", "h", "f", "0.1");
  await client.call("HINCRBYFLOAT", "h", "f", "0.2");
  expect(effects).toEqual([
    ["HSET", "h", "f", "0.1"],
    ["HSET", "h", "f", "0.3"],
  ]);
});

test("what changes nothing is not seen, what sets the same value again is", async () => {
  await client.call("HSET", "h", "a", "1");
  await client.call("SADD", "s", "a");
  effects.length = 0;
  await client.call("HSETNX", "h", "a", "2");
  await client.call("HDEL", "h", "b");
  await client.call("SADD", "s", "a");
  await client.call("SREM", "s", "b");
  await client.call("SMOVE", "s", "t", "b");
  await client.call("SMOVE", "s", "s", "a");
  await client.call("SINTERSTORE", "d", "s", "missing");
  expect(effects).toEqual([]);
  await client.call("HSET", "h", "a", "1");
  expect(effects).toEqual([["HSET", "h", "a", "1"]]);
});
