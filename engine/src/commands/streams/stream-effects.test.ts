/** What the append-only file and the replicas see of stream commands whose outcome depends on time or on where blocks end. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { EmbeddedEngine } from "../../embed/embedded.ts";
import type { LocalClient } from "../../embed/local-client.ts";

const NOW = 1_700_000_000_000;

let clock: ManualClock;
let engine: EmbeddedEngine;
let client: LocalClient;
let effects: string[];

beforeEach(async () => {
  clock = new ManualClock(NOW);
  engine = await EmbeddedEngine.open({ clock });
  client = engine.connect();
  effects = [];
  engine.core.effects.listen((batch) => {
    for (const { argv } of batch) effects.push(argv.join(" "));
  });
});

afterEach(() => engine.close());

/** Runs commands, and returns what was seen of them. */
async function seen(...commands: string[]): Promise<string[]> {
  effects.length = 0;
  for (const command of commands) await client.call(...(command.split(" ") as [string, ...string[]]));
  return effects;
}

test("XADD is seen with the id that it chose", async () => {
  expect(await seen("XADD s * f v", "XADD s * f v", `XADD s ${NOW + 1}-* f v`)).toEqual([
    `XADD s ${NOW}-0 f v`,
    `XADD s ${NOW}-1 f v`,
    `XADD s ${NOW + 1}-0 f v`,
  ]);
});

test("trimming by whole blocks is seen as the exact trimming that it came to", async () => {
  await seen(...Array.from({ length: 150 }, (_, i) => `XADD s ${i + 1}-1 f v`));
  expect(await seen("XADD s MAXLEN ~ 50 LIMIT 1000 200-1 f v")).toEqual(["XADD s MAXLEN = 51 200-1 f v"]);
  expect(await seen("XADD s NOMKSTREAM MINID ~ 120 201-1 f v")).toEqual(["XADD s NOMKSTREAM MINID = 101-1 201-1 f v"]);
  expect(await seen("XTRIM s MINID ~ 120", "XTRIM s MAXLEN ~ 0")).toEqual(["XTRIM s MAXLEN = 0"]);
  expect(await seen("XADD s 300-1 f v", "XTRIM s MINID ~ 400")).toEqual([
    "XADD s 300-1 f v",
    "XTRIM s MINID = 18446744073709551615-18446744073709551615",
  ]);
});

test("a delivery is seen as the claim that leads to the same state", async () => {
  await seen("XADD s 1-1 f v", "XADD s 2-1 f v", "XADD s 3-1 f v", "XGROUP CREATE s g 0");
  expect(await seen("XREADGROUP GROUP g c COUNT 1 STREAMS s >")).toEqual([
    `XCLAIM s g c 0 1-1 TIME ${NOW} RETRYCOUNT 1 FORCE JUSTID LASTID 1-1`,
  ]);
  expect(await seen("XREADGROUP GROUP g c NOACK COUNT 1 STREAMS s >")).toEqual(["XGROUP SETID s g 2-1 ENTRIESREAD 2"]);
  expect(await seen("XREADGROUP GROUP g new NOACK STREAMS s 0")).toEqual(["XGROUP CREATECONSUMER s g new"]);
  expect(await seen("XREADGROUP GROUP g other STREAMS s 0")).toEqual([]);
});

test("claims is seen entry by entry, with the time and the count that they set", async () => {
  await seen("XADD s 1-1 f v", "XADD s 2-1 f v", "XGROUP CREATE s g 0", "XREADGROUP GROUP g c STREAMS s >");
  clock.advance(1000);
  expect(await seen("XCLAIM s g d 0 1-1 9-9 IDLE 400")).toEqual([
    `XCLAIM s g d 0 1-1 TIME ${NOW + 600} RETRYCOUNT 2 FORCE JUSTID LASTID 2-1`,
  ]);
  expect(await seen("XCLAIM s g d 0 9-9 LASTID 5-5")).toEqual(["XGROUP SETID s g 5-5 ENTRIESREAD 2"]);
  await seen("XDEL s 1-1");
  expect(await seen("XAUTOCLAIM s g e 0 0")).toEqual([
    `XCLAIM s g d 0 1-1 TIME ${NOW + 600} RETRYCOUNT 2 FORCE JUSTID LASTID 5-5`,
    `XCLAIM s g e 0 2-1 TIME ${NOW + 1000} RETRYCOUNT 2 FORCE JUSTID LASTID 5-5`,
  ]);
});

test("a reader that waited is seen when it is served", async () => {
  await seen("XGROUP CREATE s g $ MKSTREAM");
  const reader = engine.connect();
  const waiting = reader.call("XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">");
  expect(await seen("XADD s 1-1 f v")).toEqual([
    "XADD s 1-1 f v",
    `XCLAIM s g c 0 1-1 TIME ${NOW} RETRYCOUNT 1 FORCE JUSTID LASTID 1-1`,
  ]);
  expect(await waiting).toEqual([["s", [["1-1", ["f", "v"]]]]]);
});

test("what was seen makes the same stream elsewhere", async () => {
  const copy = engine.connect();
  await copy.call("SELECT", "1");
  const log: string[][] = [];
  engine.core.effects.listen((batch) => {
    for (const { db, argv } of batch) if (db === 0) log.push([...argv]);
  });
  for (let i = 1; i <= 250; i++) await client.call("XADD", "s", "MAXLEN", "~", "120", "*", "f", String(i));
  await client.call("XGROUP", "CREATE", "s", "g", "0");
  for (let i = 0; i < 20; i++) {
    clock.advance(10);
    await client.call("XREADGROUP", "GROUP", "g", `c${i % 3}`, "COUNT", "7", "STREAMS", "s", ">");
    if (i % 4 === 0) await client.call("XAUTOCLAIM", "s", "g", "c9", "25", "0", "COUNT", "3");
  }
  for (const argv of log) await copy.call(...(argv as [string, ...string[]]));
  const describe = async (by: LocalClient) => [
    await by.call("XRANGE", "s", "-", "+"),
    await by.call("XPENDING", "s", "g", "-", "+", "1000"),
    ((await by.call("XINFO", "GROUPS", "s")) as unknown[][]).map((group) => group.slice(0, 8)),
  ];
  expect(await describe(copy)).toEqual(await describe(client));
});

test("a read of more entries than the stack takes arguments is seen entry by entry", async () => {
  const count = 130_000;
  const fill = "for i = 1, ARGV[1] do redis.call('XADD', KEYS[1], i .. '-1', 'f', 'v') end";
  await client.call("EVAL", fill, 1, "s", count);
  await client.call("XGROUP", "CREATE", "s", "g", 0);
  effects.length = 0;
  await client.call("XREADGROUP", "GROUP", "g", "a", "COUNT", count, "STREAMS", "s", ">");
  expect(effects.filter((effect) => effect.startsWith("XCLAIM")).length).toBe(count);
});
