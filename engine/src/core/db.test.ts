import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";
import { hashWord } from "./word-hash.ts";

setFlagsFromString("--expose_gc");
const collect = runInNewContext("gc") as () => void;

test.each([
  ["FLUSHALL", [["FLUSHALL"]]],
  ["FLUSHDB of the database that they were swapped to", [["SWAPDB", "0", "1"], ["SELECT", "1"], ["FLUSHDB"]]],
])("tables that a script has looked into are let go of by %s", async (_, commands) => {
  const engine = await EmbeddedEngine.open();
  const client = engine.connect();
  const keys = Array.from({ length: 100 }, (_, nth) => `key:${nth}`);
  await client.call(
    "EVAL",
    "for _, key in ipairs(KEYS) do redis.call('SET', key, 1) redis.call('GET', key) end",
    100,
    ...keys,
  );
  const table = new WeakRef(engine.core.databases[0]!.keyspace.tableOf(hashWord("key:1")));
  for (const words of commands) await client.call(...(words as [string, ...string[]]));
  await expect
    .poll(async () => {
      await new Promise(setImmediate);
      collect();
      return table.deref();
    })
    .toBeUndefined();
  expect(await client.call("DBSIZE")).toBe(0);
  await engine.close();
});
