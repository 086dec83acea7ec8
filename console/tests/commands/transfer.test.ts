/** `cinnabar export` and `cinnabar import`: every type, every form, there and back. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Queue as BullQueue } from "bullmq";
import { open, type Store } from "cinnabar";
import { Queue } from "cinnabar/queues";
import { afterAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar } from "./kit.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

async function fill(store: Store): Promise<void> {
  await store.call("SET", "text", "héllo\n'\"");
  await store.call("SET", Buffer.from([255, 0, 10]), Buffer.from([0, 254, 13, 10]));
  await store.call("SET", "short", "v", "PX", 86_400_000);
  await store.call("RPUSH", "list", "c", "a", "b");
  await store.call("SADD", "set", "x", "y");
  await store.call("HSET", "hash", "f", "1", "g", Buffer.from([200]));
  await store.call("ZADD", "zset", "-1.5", "a", "inf", "b");
  await store.call("XADD", "stream", "1-1", "f", "v");
  await store.call("XGROUP", "CREATE", "stream", "group", "0");
  await store.call("XREADGROUP", "GROUP", "group", "me", "STREAMS", "stream", ">");
}

async function expectFilled(store: Store): Promise<void> {
  expect(await store.call("DBSIZE")).toBe(8);
  expect(await store.call("GET", "text")).toBe("héllo\n'\"");
  expect(await store.callBuffer("GET", Buffer.from([255, 0, 10]))).toEqual(Buffer.from([0, 254, 13, 10]));
  expect(await store.call("PTTL", "short")).toBeGreaterThan(86_000_000);
  expect(await store.call("PTTL", "text")).toBe(-1);
  expect(await store.call("LRANGE", "list", 0, -1)).toEqual(["c", "a", "b"]);
  expect(((await store.call("SMEMBERS", "set")) as string[]).sort()).toEqual(["x", "y"]);
  expect(await store.callBuffer("HGET", "hash", "g")).toEqual(Buffer.from([200]));
  expect(await store.call("ZRANGE", "zset", 0, -1, "WITHSCORES")).toEqual(["a", "-1.5", "b", "inf"]);
  expect(await store.call("XPENDING", "stream", "group")).toEqual([1, "1-1", "1-1", [["me", "1"]]]);
}

describe.runIf(installed("redis-server")).each(["rdb", "jsonl", "commands", "aof"])("as %s", (format) => {
  test("a Redis comes into a folder and back", async () => {
    const [a, b] = [await startRedis(), await startRedis()];
    const [from, to] = [await open(a.url), await open(b.url)];
    await fill(from);
    const [file, dir] = [join(folder.path, `there.${format}`), join(folder.path, format)];
    const out = await cinnabar(["export", a.url, file, "--format", format]);
    expect(out.code, out.err).toBe(0);
    const into = await cinnabar(["import", file, dir, "--format", format]);
    expect(into.code, into.err).toBe(0);
    const back = join(folder.path, `back.${format}`);
    expect((await cinnabar(["export", dir, back, "--format", format])).err).toMatch(/Wrote|Exported 8 keys/);
    await to.call("RPUSH", "list", "old");
    const again = await cinnabar(["import", back, b.url, "--format", format]);
    expect(again.code, again.err).toBe(0);
    await expectFilled(to);
    await Promise.all([from.close(), to.close()]);
    await Promise.all([a.stop(), b.stop()]);
  });
});

test("a pattern chooses keys, a pipe is a file, and what cannot be read is named", async () => {
  const dir = join(folder.path, "chosen");
  const store = await open(dir);
  await fill(store);
  await store.close();
  const some = await cinnabar(["export", dir, "-", "--format", "jsonl", "--pattern", "*et"]);
  expect(
    some.out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { key: string }).key)
      .sort(),
  ).toEqual(["set", "zset"]);
  const other = join(folder.path, "other");
  const piped = await cinnabar(["import", "-", other, "--format", "jsonl"], { stdin: some.out });
  expect(piped.err).toContain("Imported 2 keys");
  const broken = join(folder.path, "broken.jsonl");
  writeFileSync(broken, `${some.out.split("\n")[0]}\n{"db":0,"key":1}\n`);
  const refused = await cinnabar(["import", broken, other]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("near entry 2");
  expect((await cinnabar(["export", dir, "noending"])).err).toContain("give --format rdb|aof|jsonl|commands");
  expect((await cinnabar(["export", dir, "x.rdb", "--pattern", "a"])).err).toContain("leave --pattern");
  expect(existsSync("x.rdb")).toBe(false);
});

test.runIf(installed("redis-server"))(
  "jobs of BullMQ come into a queue, each once, and again is harmless",
  async () => {
    const redis = await startRedis();
    const connection = { url: redis.url };
    const bull = new BullQueue("mails", { connection });
    await bull.addBulk([
      { name: "welcome", data: { to: "ann" } },
      { name: "welcome", data: { to: "ben" }, opts: { delay: 3_600_000 } },
    ]);
    await bull.close();
    const told = await cinnabar(["import", "--from", "bullmq", redis.url, redis.url, "--queue", "mails"]);
    expect(told.code, told.err).toBe(0);
    expect(told.err).toContain("Moved 1 waiting and 1 delayed jobs and 0 schedules of mails");
    const again = await cinnabar(["import", "--from", "bullmq", redis.url, redis.url, "--queue", "mails"]);
    expect(again.err).toContain("Moved 0 waiting and 0 delayed jobs");
    const store = await open(redis.url);
    expect(await new Queue(store, "mails").counts()).toMatchObject({ waiting: 1, delayed: 1 });
    await store.close();
    await redis.stop();
  },
);

test("import of another library's data says what it needs", async () => {
  const noQueue = await cinnabar(["import", "--from", "bullmq", "redis://127.0.0.1:1", "redis://127.0.0.1:1"]);
  expect(noQueue.code).not.toBe(0);
  expect(noQueue.err).toContain("--queue NAME");
  expect((await cinnabar(["import", "--from", "bulmq", "a", "b"])).err).toContain("bullmq");
});
