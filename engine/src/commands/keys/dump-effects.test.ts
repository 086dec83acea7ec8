/** What the append-only file and the replicas see of RESTORE. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { ManualClock } from "../../core/clock.ts";
import { EmbeddedEngine } from "../../embed/embedded.ts";
import type { LocalClient } from "../../embed/local-client.ts";

const PAYLOAD = Buffer.from("00c00c0a003c2af8515c04bcd5", "hex");

let engine: EmbeddedEngine;
let client: LocalClient;
let clock: ManualClock;
let effects: string[][];

beforeEach(async () => {
  clock = new ManualClock();
  engine = await EmbeddedEngine.open({ clock });
  client = engine.connect();
  effects = [];
  engine.core.effects.listen((batch) => {
    for (const { argv } of batch) effects.push([...argv]);
  });
});

afterEach(() => engine.close());

const payload = PAYLOAD.toString("latin1");

test("a time to live is seen as the moment when it ends", async () => {
  await client.call("RESTORE", "k", "1000", PAYLOAD);
  await client.call("RESTORE", "k", "1000", PAYLOAD, "REPLACE", "IDLETIME", "3");
  const deadline = String(clock.now() + 1000);
  expect(effects).toEqual([
    ["RESTORE", "k", deadline, payload, "ABSTTL"],
    ["RESTORE", "k", deadline, payload, "REPLACE", "IDLETIME", "3", "ABSTTL"],
  ]);
});

test("without one it is seen as it came, and a key that could not live is not seen at all", async () => {
  await client.call("RESTORE", "k", "0", PAYLOAD);
  await client.call("RESTORE", "gone", "5", PAYLOAD, "ABSTTL");
  expect(effects).toEqual([["RESTORE", "k", "0", payload]]);
});

test("a key that is replaced by one whose time has come is seen as deleted", async () => {
  await client.call("SET", "k", "v");
  effects.length = 0;
  await client.call("RESTORE", "k", "5", PAYLOAD, "ABSTTL", "REPLACE");
  expect(effects).toEqual([["DEL", "k"]]);
});
