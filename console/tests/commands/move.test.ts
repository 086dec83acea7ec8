/** `cinnabar move` under writes that never pause: nothing is lost, whatever the way, and when it is killed in the middle. */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open, type Store } from "cinnabar";
import { afterAll, describe, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { installed, startCluster, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar, startCinnabar } from "./kit.ts";

const KEYS = full ? 1_000_000 : 10_000;
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Values of every type, most of them strings, with and without deadlines. */
async function fill(store: Store, count: number): Promise<void> {
  const batch = 1_000;
  for (let from = 0; from < count; from += batch) {
    const items = Array.from({ length: batch }, (_, at) => {
      const i = from + at;
      if (i % 50 === 1) return ["RPUSH", `list:${i}`, "a", "b", String(i)];
      if (i % 50 === 2) return ["HSET", `hash:${i}`, "f", "1", "g", String(i)];
      if (i % 50 === 3) return ["ZADD", `zset:${i}`, "1.5", "a", String(i), "b"];
      if (i % 50 === 4) return ["SADD", `set:${i}`, "x", "y", String(i)];
      if (i % 50 === 5) return ["XADD", `stream:${i}`, "1-1", "f", String(i)];
      if (i % 50 === 6) return ["SET", `short:${i}`, "v", "EX", "86400"];
      return ["SET", `string:${i}`, `value ${i}`];
    });
    for (const answer of await store.pipeline(items)) if (answer instanceof Error) throw answer;
  }
}

/** Writes one after the other until the old store refuses. What was acknowledged is counted. */
class Writer {
  readonly #from: Store;
  acknowledged = 0;
  readonly done: Promise<void>;

  constructor(from: Store) {
    this.#from = from;
    this.done = this.#run();
  }

  async #run(): Promise<void> {
    for (let i = 1; ; i++) {
      try {
        await this.#from.call("EVAL", WRITES, 4, "acks", `new:${i % 500}`, `gone:${i % 7}`, `gone:${(i + 3) % 7}`, i);
        this.acknowledged = i;
      } catch (error) {
        // Refused, so it has not run: the move is over.
        if (!/NOREPLICAS|READONLY/.test(String(error))) throw error;
        return;
      }
    }
  }
}

const WRITES = `
  redis.call("RPUSH", KEYS[1], ARGV[1])
  redis.call("SET", KEYS[2], ARGV[1])
  redis.call("DEL", KEYS[3])
  return redis.call("SET", KEYS[4], ARGV[1])
`;

const quick = { retryMs: 0, breaker: false } as const;

/** Every acknowledged write is there, once and in order, and so is everything else. */
async function expectAll(store: Store, acknowledged: number, count: number): Promise<void> {
  const list = (await store.call("LRANGE", "acks", 0, -1)) as string[];
  // The writer was refused before or after its last write: it knows which.
  expect(list.map(Number)).toEqual(Array.from({ length: acknowledged }, (_, at) => at + 1));
  for (const i of [0, 1, 2, 3, 4, 5, 6, count - 1, count - 44]) {
    const kinds = ["string", "list", "hash", "zset", "set", "stream", "short"];
    const kind = kinds[i % 50] ?? "string";
    expect(await store.call("EXISTS", `${kind}:${i}`), `${kind}:${i}`).toBe(1);
  }
  expect(await store.call("TTL", "short:6")).toBeGreaterThan(80_000);
  expect(await store.call("XLEN", "stream:5")).toBe(1);
}

/** The figures of docs/command-line.md. */
function tell(route: string, out: string, { acknowledged }: Writer): void {
  const [, by, seconds] = /by (\w+) in ([\d.]+) s/.exec(out) ?? [];
  const [, heldMs] = /Writes were held for (\d+) ms/.exec(out) ?? [];
  expect(heldMs, out).toBeDefined();
  console.log(`${route} by ${by}: ${KEYS} keys in ${seconds} s, ${acknowledged} writes meanwhile, held ${heldMs} ms`);
}

const ROUTES: [route: string, by: string][] = [
  ["embedded → Redis", "replication"],
  ["embedded → Redis", "copy"],
  ["Redis → embedded", "replication"],
  ["Redis → embedded", "copy"],
];

const LONG = { timeout: full ? 900_000 : 120_000 };

describe.runIf(installed("redis-server"))("move", () => {
  test.each(full ? ["replication", "copy"] : ["replication"])(
    "embedded → Redis → embedded by %s, under writes",
    LONG,
    async (by) => {
      const engine = await Engine.open({ dir: join(folder.path, `old-${by}`) });
      const { port } = await engine.listen({ port: 0 });
      const url = `redis://127.0.0.1:${port}`;
      const redis = await startRedis();
      const [old, middle] = [await open(url, quick), await open(redis.url, quick)];
      await fill(old, KEYS);
      const first = new Writer(old);
      const there = await cinnabar(["move", url, redis.url, "--by", by]);
      expect(there.err + there.out).toContain(`by ${by} in`);
      expect(there.code).toBe(0);
      await first.done;
      expect(first.acknowledged).toBeGreaterThan(0);
      await expectAll(middle, first.acknowledged, KEYS);
      tell("embedded → Redis", there.out, first);
      await old.close();
      await engine.close();

      await middle.call("DEL", "acks");
      const second = new Writer(middle);
      const dir = join(folder.path, `new-${by}`);
      const back = await cinnabar(["move", redis.url, dir, "--by", by]);
      expect(back.code, back.err).toBe(0);
      await second.done;
      tell("Redis → embedded", back.out, second);
      await middle.close();
      await redis.stop();
      const store = await open(dir);
      await expectAll(store, second.acknowledged, KEYS);
      await store.close();
    },
  );

  test.each(full ? ROUTES : ROUTES.filter((_, at) => at === 1))(
    "%s by %s, killed in the middle and resumed",
    LONG,
    async (route, by) => {
      const redis = await startRedis();
      const dir = join(folder.path, `${route}-${by}`);
      const engine = route === "embedded → Redis" ? await Engine.open({ dir }) : null;
      const source = engine === null ? redis.url : `redis://127.0.0.1:${(await engine.listen({ port: 0 })).port}`;
      const target = engine === null ? dir : redis.url;
      const from = await open(source, quick);
      await fill(from, KEYS);
      const writer = new Writer(from);
      const child = startCinnabar(["move", source, target, "--by", by]);
      let said = "";
      child.stderr!.on("data", (text) => {
        said += text;
      });
      // It transfers, or has just begun to compare.
      const isUnderWay = async (): Promise<boolean> =>
        /Copying|follows/.test(said) || /slave0:.*state=online/.test(String(await from.call("INFO", "replication")));
      await expect.poll(isUnderWay, { timeout: 120_000, interval: 5 }).toBe(true);
      child.kill("SIGKILL");
      await once(child, "exit");
      const before = writer.acknowledged;
      await expect.poll(() => writer.acknowledged).toBeGreaterThan(before);
      if (by === "copy") {
        const refused = await cinnabar(["move", source, target, "--by", by]);
        expect(refused.code).toBe(1);
        expect(refused.err).toContain("--resume goes on with a move that was interrupted");
      }
      const resumed = await cinnabar(["move", source, target, "--by", by, "--resume"]);
      expect(resumed.code, resumed.err).toBe(0);
      await writer.done;
      await from.close();
      await engine?.close();
      const to = await open(target, engine === null ? {} : quick);
      await expectAll(to, writer.acknowledged, KEYS);
      tell(`${route}, killed and resumed`, resumed.out, writer);
      await to.close();
      await redis.stop();
    },
  );

  test("a server that still loads what it got before the kill is waited for", async () => {
    // So many microseconds for each key, and answers to others in between.
    const slow = ["--key-load-delay", "400", "--loading-process-events-interval-bytes", "1024"];
    const [a, b] = [await startRedis(), await startRedis({ args: slow })];
    const [from, to] = [await open(a.url, quick), await open(b.url, quick)];
    await fill(from, 5_000);
    await to.call("REPLICAOF", "127.0.0.1", a.port);
    await expect.poll(() => to.call("INFO", "persistence"), { timeout: 30_000, interval: 5 }).toContain("\nloading:1");
    const { code, err } = await cinnabar(["move", a.url, b.url, "--by", "replication", "--resume"]);
    expect(code, err).toBe(0);
    expect(err).toContain("is loading");
    expect(await to.call("DBSIZE")).toBe(5_000);
    await Promise.all([from.close(), to.close()]);
    await Promise.all([a.stop(), b.stop()]);
  });

  test("a move is rolled back while TO is unchanged, and refused when it is not", async () => {
    const [a, b] = [await startRedis(), await startRedis()];
    const [from, to] = [await open(a.url, quick), await open(b.url, quick)];
    await fill(from, 1_000);
    expect((await cinnabar(["move", a.url, b.url])).code).toBe(0);
    await expect(from.call("SET", "k", "v")).rejects.toThrow("NOREPLICAS");
    await to.call("SET", "string:0", "changed");
    const refused = await cinnabar(["move", "--roll-back", a.url, b.url]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain('1 key differs: "string:0"');
    await to.call("SET", "string:0", "value 0");
    const back = await cinnabar(["move", "--roll-back", a.url, b.url]);
    expect(back.out).toContain("takes writes again");
    expect(await from.call("SET", "k", "v")).toBe("OK");
    expect(await from.call("CONFIG", "GET", "min-replicas-to-write")).toEqual(["min-replicas-to-write", "0"]);
    await Promise.all([from.close(), to.close()]);
    await Promise.all([a.stop(), b.stop()]);
  });

  test("a comparison that fails leaves the old store as it was", async () => {
    const [a, b] = [await startRedis(), await startRedis({ args: ["--maxmemory", "2mb"] })];
    const from = await open(a.url, quick);
    // Nothing that can be compressed: the second does not fit.
    for (const key of ["large", "larger"]) await from.call("SET", key, randomBytes(2 << 20));
    const failed = await cinnabar(["move", a.url, b.url, "--by", "copy"]);
    expect(failed.code).toBe(1);
    expect(failed.err).toContain("OOM");
    expect(await from.call("SET", "k", "v")).toBe("OK");
    await from.close();
    await Promise.all([a.stop(), b.stop()]);
  });

  test("into a Cluster, by copy, with a password from the environment", LONG, async () => {
    const a = await startRedis({ args: ["--requirepass", "s3cret"] });
    const cluster = await startCluster({ replicas: 0 });
    const from = await open(a.url.replace("//", "//:s3cret@"), quick);
    await fill(from, 2_000);
    const env = { CINNABAR_FROM_PASSWORD: "s3cret" };
    const moved = await cinnabar(["move", a.url, cluster.url], { env });
    expect(moved.code, moved.err).toBe(0);
    expect(moved.out).toContain("Moved 2000 keys");
    expect(moved.out + moved.err).not.toContain("s3cret");
    const to = await open(cluster.url);
    expect(await to.call("GET", "string:0")).toBe("value 0");
    await Promise.all([from.close(), to.close()]);
    await Promise.all([a.stop(), cluster.stop()]);
  });
});

test("Ctrl-C puts everything back", async () => {
  const engine = await Engine.open();
  const { port } = await engine.listen({ port: 0 });
  const local = await open(engine);
  await fill(local, 2_000);
  const controller = new AbortController();
  controller.abort(new Error("interrupted"));
  const dir = join(folder.path, "interrupted");
  const { code, err } = await cinnabar(["move", `redis://127.0.0.1:${port}`, dir], { signal: controller.signal });
  expect(code).toBe(1);
  expect(err).toContain("interrupted");
  expect(await local.call("SET", "k", "v")).toBe("OK");
  await local.close();
  await engine.close();
});

test("places that cannot be meant are refused", async () => {
  expect((await cinnabar(["move", "./a"])).err).toContain("name two places: cinnabar move FROM TO");
  expect((await cinnabar(["move", "redis://127.0.0.1:1", "redis://127.0.0.1:2"])).err).toContain(
    "cannot reach 127.0.0.1:1",
  );
});
