/**
 * Large values of every type, changed heavily while a snapshot is taken: the file says what they were when it began. Compared
 * with what clients read then, element by element, consumer groups included.
 */
import { createHash } from "node:crypto";
import { afterEach, expect, test } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";
import type { LocalClient } from "../embed/local-client.ts";
import { RdbLoader } from "./rdb/file.ts";
import { type SnapshotSink, walk } from "./snapshot.ts";

const open: EmbeddedEngine[] = [];

afterEach(async () => {
  for (const engine of open.splice(0)) await engine.close();
});

async function start(): Promise<{ engine: EmbeddedEngine; client: LocalClient }> {
  const engine = await EmbeddedEngine.open({ config: { save: "" } });
  open.push(engine);
  return { engine, client: engine.connect() };
}

/** Keeps the chunks, and takes them slowly enough for commands to come between. */
class Chunks implements SnapshotSink {
  readonly chunks: Buffer[] = [];
  pendingBytes = 0;

  write(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.pendingBytes = 1e9;
  }

  async drained(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.pendingBytes = 0;
  }
}

function dice(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 1;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
}

type Roll = (below: number) => number;
type Words = readonly string[];

const count = (length: number, make: (i: number) => Words) => Array.from({ length }, (_, i) => make(i)).flat();

/** What makes a large value of each type, and what changes it. */
const KINDS: Record<string, { make(key: string): Words[]; change(key: string, roll: Roll): Words }> = {
  hash: {
    make: (key) => [["HSET", key, ...count(40_000, (i) => [`f${i}`, `value ${i}`])]],
    change: (key, roll) =>
      roll(3) === 0 ? ["HDEL", key, `f${roll(40_000)}`] : ["HSET", key, `f${roll(60_000)}`, `new ${roll(1000)}`],
  },
  set: {
    make: (key) => [["SADD", key, ...count(5000, (i) => [`word ${i}`])]],
    change: (key, roll) =>
      [
        ["SADD", key, `word ${roll(9000)}`],
        ["SREM", key, `word ${roll(5000)}`],
        ["SPOP", key],
      ][roll(3)]!,
  },
  zset: {
    make: (key) => [["ZADD", key, ...count(20_000, (i) => [String(i % 1777), `member ${i}`])]],
    change: (key, roll) =>
      [
        ["ZADD", key, String(roll(2000)), `member ${roll(30_000)}`],
        ["ZINCRBY", key, "0.25", `member ${roll(20_000)}`],
        ["ZREM", key, `member ${roll(20_000)}`],
        ["ZPOPMIN", key, "3"],
        ["ZREMRANGEBYRANK", key, String(roll(10_000)), String(roll(10_000))].with(3, "7"),
      ][roll(5)]!,
  },
  list: {
    make: (key) => [["RPUSH", key, ...count(20_000, (i) => [i % 500 === 0 ? "long".repeat(700) : `word ${i}`])]],
    change: (key, roll) =>
      [
        ["LPUSH", key, `new ${roll(99)}`],
        ["RPUSH", key, `new ${roll(99)}`],
        ["LPOP", key, "5"],
        ["RPOP", key],
        ["LSET", key, String(roll(5000)), "set"],
        ["LINSERT", key, "BEFORE", "set", "inserted"],
        ["LREM", key, "1", `word ${roll(20_000)}`],
      ][roll(7)]!,
  },
  stream: {
    make: (key) => [
      ...Array.from({ length: 3000 }, (_, i) => ["XADD", key, `${i + 1}-0`, "field", `value ${i}`]),
      ["XGROUP", "CREATE", key, "one", "0"],
      ["XGROUP", "CREATE", key, "two", "0"],
      ["XREADGROUP", "GROUP", "one", "ann", "COUNT", "1500", "STREAMS", key, ">"],
      ["XREADGROUP", "GROUP", "one", "bob", "COUNT", "700", "STREAMS", key, ">"],
    ],
    change: (key, roll) =>
      [
        ["XADD", key, "*", "field", "new"],
        ["XDEL", key, `${roll(3000)}-0`],
        ["XTRIM", key, "MAXLEN", String(2950 - roll(100))],
        ["XREADGROUP", "GROUP", "one", "cid", "COUNT", "20", "STREAMS", key, ">"],
        ["XREADGROUP", "GROUP", "one", "ann", "COUNT", "20", "STREAMS", key, `${roll(3000)}-0`],
        ["XACK", key, "one", ...count(30, () => [`${roll(2200)}-0`])],
        ["XCLAIM", key, "one", "dan", "0", `${roll(2200)}-0`, `${roll(2200)}-0`],
        ["XGROUP", "DELCONSUMER", key, "one", "dan"],
        ["XGROUP", "CREATE", key, `g${roll(9)}`, "$"],
        ["XGROUP", "DESTROY", key, "two"],
        ["XGROUP", "SETID", key, "one", `${roll(3000)}-0`],
      ][roll(11)]!,
  },
  bytes: {
    make: (key) => [
      ["SETRANGE", key, "400000", "end"],
      ["SETRANGE", key, "1000", "some text ".repeat(2000)],
    ],
    change: (key, roll) =>
      [
        ["SETRANGE", key, String(roll(400_000)), "changed"],
        ["APPEND", key, "x".repeat(100)],
      ][roll(2)]!,
  },
  text: {
    make: (key) => [["SET", key, Array.from({ length: 50_000 }, (_, i) => `word ${(i * 7919) % 65_537} `).join("")]],
    change: (key, roll) => (roll(5) === 0 ? ["SET", key, "short"] : ["APPEND", key, "more"]),
  },
};

/** Everything that a client can read of a key, in an order that does not depend on how it is kept. */
async function stateOf(client: LocalClient, key: string): Promise<unknown> {
  const time = await client.call("PEXPIRETIME", key);
  const type = await client.call("TYPE", key);
  const pairs = (flat: unknown) => {
    const words = flat as string[];
    return words.flatMap((word, i) => (i % 2 === 0 ? [`${word} = ${words[i + 1]}`] : [])).sort();
  };
  switch (type) {
    case "hash":
      return [time, pairs(await client.call("HGETALL", key))];
    case "set":
      return [time, [...((await client.call("SMEMBERS", key)) as Iterable<string>)].sort()];
    case "zset":
      return [time, await client.call("ZRANGE", key, "0", "-1", "WITHSCORES")];
    case "list":
      return [time, await client.call("LRANGE", key, "0", "-1")];
    case "stream":
      return [time, await client.call("XINFO", "STREAM", key, "FULL", "COUNT", "0")];
    default:
      return [time, await client.call("GET", key)];
  }
}

/** Not in the file, or different in the copy for good reasons: how the tree of a real server's stream looks. */
const FLEETING = new Set(["radix-tree-keys", "radix-tree-nodes", "seen-time"]);
/** As a hash: a difference of megabytes is of no use to anybody. */
function comparable(value: unknown): string {
  const text = JSON.stringify(value, (name, part) => (FLEETING.has(name) ? undefined : part));
  return createHash("sha1").update(text).digest("hex");
}

test.each([1, 2])("large values that change meanwhile are in the file as they were (seed %i)", async (seed) => {
  const { engine, client } = await start();
  const roll = dice(seed);
  const kinds = Object.entries(KINDS);
  const keys: string[] = [];
  for (const [kind, { make }] of kinds) {
    for (const number of [1, 2, 3]) {
      const key = `${kind}:${number}`;
      keys.push(key);
      for (const words of make(key)) await client.call(...words);
      if (number === 2) await client.call("PEXPIREAT", key, "4000000000000");
    }
  }
  const before = new Map<string, string>();
  for (const key of keys) before.set(key, comparable(await stateOf(client, key)));

  const sink = new Chunks();
  const snapshot = walk(engine.core, sink);
  let over = false;
  void snapshot.done.then(() => {
    over = true;
  });
  let rounds = 0;
  for (; !over; rounds++) {
    for (let i = 0; i < 20; i++) {
      const [kind, { change }] = kinds[roll(kinds.length)]!;
      await client.call(...change(`${kind}:${1 + roll(2)}`, roll)).catch(() => undefined);
    }
    const key = keys[roll(keys.length)]!;
    const other = keys[roll(keys.length)]!;
    if (roll(40) === 0) await client.call("RENAME", key, other).catch(() => undefined);
    if (roll(40) === 0) await client.call("COPY", key, other, "REPLACE").catch(() => undefined);
    if (roll(60) === 0) await client.call("DEL", key);
    if (roll(30) === 0) await client.call("PEXPIRE", key, "100000");
    if (roll(30) === 0) await client.call("PERSIST", key);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await snapshot.done;
  expect(rounds).toBeGreaterThan(30);

  const copy = await start();
  const loader = new RdbLoader(copy.engine.core);
  for (const chunk of sink.chunks) loader.reader.feed(chunk);
  loader.reader.end();
  for (const key of keys) expect(comparable(await stateOf(copy.client, key)), key).toBe(before.get(key));
});

test("a walk that is called off leaves values as they were, to be changed as ever", async () => {
  const { engine, client } = await start();
  for (const [kind, { make }] of Object.entries(KINDS)) for (const words of make(kind)) await client.call(...words);
  const snapshot = walk(engine.core, new Chunks());
  const roll = dice(9);
  for (let i = 0; i < 300; i++) {
    for (const [kind, { change }] of Object.entries(KINDS))
      await client.call(...change(kind, roll)).catch(() => undefined);
  }
  snapshot.abort();
  await expect(snapshot.done).rejects.toThrow("called off");
  for (const kind of Object.keys(KINDS)) {
    const before = comparable(await stateOf(client, kind));
    expect(await client.call("COPY", kind, "copy", "REPLACE")).toBe(1);
    expect(comparable(await stateOf(client, "copy"))).toBe(before);
  }
});
