/** Values that Redis would free in the background. */
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Client } from "./client.ts";
import { Engine } from "./engine.ts";
import { silentTransport } from "./transport.ts";

let engine: Engine;
let client: Client;

beforeEach(() => {
  engine = new Engine();
  client = engine.makeClient(silentTransport("test"));
});
afterEach(() => engine.stop());

const memory = (field: string) => Number(new RegExp(`^${field}:(\\d+)`, "m").exec(engine.info(["memory"]))?.[1]);

test.each([
  ["UNLINK", "large"],
  ["FLUSHDB", "ASYNC"],
  ["FLUSHALL", "ASYNC"],
  ["SET", "large", "small"],
])("nothing is pending after %s %s: the value is out of used_memory at once", (...words) => {
  const empty = memory("used_memory");
  engine.execute(client, ["SADD", "large", ...Array.from({ length: 20_000 }, (_, i) => `member:${i}`)]);
  expect(memory("used_memory")).toBeGreaterThan(empty + 200_000);
  engine.execute(client, words);
  expect(memory("used_memory")).toBeLessThan(empty + 1_000);
  expect(memory("lazyfree_pending_objects")).toBe(0);
});

test("a large value that is unlinked counts as freed in the background, a small one does not", () => {
  engine.execute(client, ["SADD", "large", ...Array.from({ length: 20_000 }, (_, i) => `member:${i}`)]);
  engine.execute(client, ["SADD", "small", "a"]);
  engine.execute(client, ["UNLINK", "large", "small"]);
  expect(memory("lazyfreed_objects")).toBe(1);
});
