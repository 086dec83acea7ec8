/** What the append-only file and the replicas see of pops, of waiting pops, and of positions. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../../embed/embedded.ts";
import type { LocalClient } from "../../embed/local-client.ts";

let engine: EmbeddedEngine;
let client: LocalClient;
let effects: string[][];

beforeEach(async () => {
  engine = await EmbeddedEngine.open();
  client = engine.connect();
  await client.call("ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d");
  effects = [];
  engine.core.effects.listen((batch) => {
    for (const { argv } of batch) effects.push([...argv]);
  });
});

afterEach(() => engine.close());

test("ZMPOP is seen as a pop from the key that it found, with the number that there were", async () => {
  await client.call("ZMPOP", "2", "none", "z", "MIN");
  await client.call("ZMPOP", "2", "none", "z", "MAX", "COUNT", "10");
  await client.call("ZMPOP", "2", "none", "z", "MAX", "COUNT", "10");
  expect(effects).toEqual([
    ["ZPOPMIN", "z", "1"],
    ["ZPOPMAX", "z", "3"],
  ]);
});

test("a waiting pop that need not wait is seen as a plain one", async () => {
  await client.call("BZPOPMAX", "none", "z", "0");
  await client.call("BZMPOP", "0", "1", "z", "MIN", "COUNT", "2");
  expect(effects).toEqual([
    ["ZPOPMAX", "z"],
    ["ZPOPMIN", "z", "2"],
  ]);
});

test("a pop that waited is seen behind the command that served it", async () => {
  const other = engine.connect();
  const popped = other.call("BZPOPMIN", "y", "0");
  await client.call("ZADD", "y", "1", "m", "2", "n");
  expect(await popped).toEqual(["y", "m", "1"]);
  expect(effects).toEqual([
    ["ZADD", "y", "1", "m", "2", "n"],
    ["ZPOPMIN", "y"],
  ]);
});

test("GEOADD is seen as the scores it came to, and not where nothing changed", async () => {
  await client.call("GEOADD", "g", "NX", "ch", "1", "1", "a");
  await client.call("GEOADD", "g", "1", "1", "a");
  expect(effects).toEqual([["zadd", "g", "NX", "ch", "3377822707026402", "a"]]);
});

test("commands that change nothing are not seen", async () => {
  await client.call("ZADD", "z", "1", "a");
  await client.call("ZADD", "z", "GT", "0", "a");
  await client.call("ZREM", "z", "nobody");
  await client.call("ZPOPMIN", "z", "0");
  await client.call("ZREMRANGEBYSCORE", "z", "50", "60");
  await client.call("ZUNIONSTORE", "none", "1", "missing");
  expect(effects).toEqual([]);
});
