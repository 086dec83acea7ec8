/** Ours and a real Redis, each the primary of the other: every type, by snapshot and by stream, equal to the byte. */
import { afterEach, describe, expect, it } from "vitest";
import { dataCommands } from "../../tests/conformance/rdb/data.ts";
import { type RealServer, startRedis, yardstickMissing } from "../../tests/conformance/redis-server.ts";
import { openWire } from "../../tests/conformance/target.ts";
import type { Wire } from "../../tests/conformance/wire.ts";
import { Engine as Store } from "../index.ts";

const missing = yardstickMissing();
if (missing !== undefined) console.warn(`Replication is not tried with a real server: ${missing}`);

const wires: Wire[] = [];
const stores: Store[] = [];
const servers: RealServer[] = [];

afterEach(async () => {
  for (const wire of wires.splice(0)) await wire.close();
  await Promise.all([...stores.splice(0).map((store) => store.close()), ...servers.splice(0).map((one) => one.stop())]);
});

interface Server {
  readonly port: number;
  readonly wire: Wire;
}

async function at(port: number): Promise<Server> {
  const wire = await openWire(port);
  wires.push(wire);
  return { port, wire };
}

async function ours(): Promise<Server> {
  const store = await Store.open({ config: { "repl-diskless-sync-delay": "0", "enable-debug-command": "yes" } });
  stores.push(store);
  return at((await store.listen({ port: 0 })).port);
}

async function real(...args: string[]): Promise<Server> {
  const server = await startRedis(["--repl-diskless-sync-delay", "0", ...args]);
  servers.push(server);
  return at(server.port);
}

async function run({ wire }: Server, commands: readonly (readonly string[])[]): Promise<string[]> {
  const texts: string[] = [];
  for (let i = 0; i < commands.length; i += 500) {
    const answers = await wire.pipeline(commands.slice(i, i + 500));
    for (const [j, answer] of answers.entries()) {
      if (answer.tag === "-") throw new Error(`${commands[i + j]!.join(" ").slice(0, 100)}: ${answer.text}`);
      texts.push(answer.text);
    }
  }
  return texts;
}

/** Follows, and waits until the link is up. */
async function follow(replica: Server, primary: Server): Promise<void> {
  await run(replica, [["REPLICAOF", "127.0.0.1", String(primary.port)]]);
  for (;;) {
    const [info] = await run(replica, [["INFO", "replication"]]);
    if (info!.includes("master_link_status:up")) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Both have the same keys with the same bytes, now that the replica has everything. */
async function expectSame(primary: Server, replica: Server): Promise<void> {
  const [, replicas] = await run(primary, [
    ["SET", "last", "write"],
    ["WAIT", "1", "10000"],
  ]);
  expect(replicas).toBe("1");
  const digest = ["DEBUG", "DIGEST"];
  expect(await run(replica, [digest])).toEqual(await run(primary, [digest]));
  const keys = (await primary.wire.call("KEYS", "*")).items.map(({ text }) => text).sort();
  expect(keys.length).toBeGreaterThan(50);
  const dumps = keys.map((key) => ["DUMP", key]);
  const [theirs, own] = [await run(primary, dumps), await run(replica, dumps)];
  const different = keys.filter((_, i) => theirs[i] !== own[i]);
  // A value that was changed in place may be laid out otherwise than one that was loaded; what it says is the same.
  for (const key of different) {
    const value = ["DEBUG", "DIGEST-VALUE", key];
    expect(await run(replica, [value])).toEqual(await run(primary, [value]));
  }
  expect(different.length).toBeLessThan(keys.length / 5);
}

/** What snapshots have, and what the stream brings. */
const [COPIED, STREAMED] = missing === undefined ? [dataCommands(11), dataCommands(12)] : [[], []];
const LIBRARY =
  "#!lua name=lib\nredis.register_function('twice', function(keys) return redis.call('INCRBY', keys[1], 2) end)";

async function replicate(primary: Server, replica: Server): Promise<void> {
  await run(replica, [["SET", "gone", "1"]]);
  await run(primary, [["FUNCTION", "LOAD", LIBRARY], ...COPIED]);
  await follow(replica, primary);
  await expectSame(primary, replica);
  expect(await run(replica, [["EXISTS", "gone"]])).toEqual(["0"]);
  await run(primary, [["SELECT", "7"], ["SET", "k", "v"], ["SELECT", "0"], ["FLUSHDB"], ...STREAMED]);
  await run(primary, [["FCALL", "twice", "1", "counter"]]);
  await expectSame(primary, replica);
  expect(await run(replica, [["GET", "counter"]])).toEqual(["2"]);
  const functions = ["FUNCTION", "LIST", "WITHCODE"];
  expect(await replica.wire.call(...functions)).toEqual(await primary.wire.call(...functions));
}

describe.skipIf(missing !== undefined)("every type of data", () => {
  it("goes from ours to Redis", async () => replicate(await ours(), await real()));

  it.each(["yes", "no"])("goes from Redis to ours, its snapshot sent without a file: %s", async (diskless) =>
    replicate(await real("--repl-diskless-sync", diskless), await ours()),
  );

  it("goes from ours to ours", async () => replicate(await ours(), await ours()));

  it("goes along a chain, of which each may take the place of the one before", async () => {
    const [first, second, third] = [await real(), await ours(), await real()];
    await run(first, COPIED);
    await follow(second, first);
    await follow(third, second);
    await expectSame(first, second);
    const ids = async (of: Server) => /master_replid:(\w+)/.exec((await run(of, [["INFO", "replication"]]))[0]!)![1];
    expect(await ids(second)).toBe(await ids(first));
    expect(await ids(third)).toBe(await ids(first));
    await run(second, [["REPLICAOF", "NO", "ONE"]]);
    await follow(third, second);
    await run(second, [["FLUSHDB"], ...STREAMED]);
    await expectSame(second, third);
    const [stats] = await run(second, [["INFO", "stats"]]);
    expect(stats).toContain("sync_full:1\r\nsync_partial_ok:1");
  });
});
