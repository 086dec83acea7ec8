/** What the append-only file and the replicas see of list commands that wait, choose a list, or change nothing. */
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

test("commands that could wait are seen as the plain ones that did the work", async () => {
  await client.call("RPUSH", "l", "1", "2", "3", "4", "5", "6", "7");
  effects.length = 0;
  await client.call("BLPOP", "missing", "l", "0");
  await client.call("BRPOP", "l", "0");
  await client.call("BLMOVE", "l", "m", "LEFT", "RIGHT", "0");
  await client.call("BRPOPLPUSH", "l", "m", "0");
  await client.call("LMPOP", "2", "missing", "l", "LEFT");
  await client.call("BLMPOP", "0", "1", "l", "RIGHT", "COUNT", "10");
  expect(effects).toEqual([
    ["LPOP", "l"],
    ["RPOP", "l"],
    ["LMOVE", "l", "m", "left", "right"],
    ["RPOPLPUSH", "l", "m"],
    ["LPOP", "l", "1"],
    ["RPOP", "l", "2"],
  ]);
});

test("a client that waited is seen after the push that served it", async () => {
  const waiters = [engine.connect(), engine.connect(), engine.connect()] as const;
  const replies = [
    waiters[0].call("BLMOVE", "a", "b", "LEFT", "RIGHT", "0"),
    waiters[1].call("BLMPOP", "0", "1", "b", "LEFT", "COUNT", "3"),
    waiters[2].call("BRPOP", "c", "0"),
  ];
  await client.call("RPUSH", "a", "x");
  await client.call("RPUSH", "c", "y");
  expect(await Promise.all(replies)).toEqual(["x", ["b", ["x"]], ["c", "y"]]);
  expect(effects).toEqual([
    ["RPUSH", "a", "x"],
    ["LMOVE", "a", "b", "left", "right"],
    ["LPOP", "b", "1"],
    ["RPUSH", "c", "y"],
    ["RPOP", "c"],
  ]);
});

test("what changes nothing is not seen", async () => {
  await client.call("RPUSH", "l", "a");
  effects.length = 0;
  await client.call("LPUSHX", "missing", "a");
  await client.call("LPOP", "l", "0");
  await client.call("LPOP", "missing");
  await client.call("LREM", "l", "0", "b");
  await client.call("LINSERT", "l", "BEFORE", "b", "c");
  await client.call("LTRIM", "l", "0", "-1");
  await client.call("LMOVE", "missing", "l", "LEFT", "LEFT");
  await client.call("LMPOP", "1", "missing", "LEFT");
  await client.call("SORT", "l", "ALPHA");
  expect(effects).toEqual([]);
});

test("SORT is seen where it stores or clears its target", async () => {
  await client.call("RPUSH", "l", "2", "1");
  effects.length = 0;
  await client.call("SORT", "l", "STORE", "d");
  await client.call("SORT", "missing", "STORE", "d");
  await client.call("SORT", "missing", "STORE", "d");
  expect(effects).toEqual([
    ["SORT", "l", "STORE", "d"],
    ["SORT", "missing", "STORE", "d"],
  ]);
});
