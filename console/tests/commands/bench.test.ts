/** `cinnabar bench` on our server, redis-server and a Cluster: counts that the server confirms, keys that are gone, honest latencies. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect as connectSocket, createServer, type Server } from "node:net";
import { join } from "node:path";
import { Engine } from "@cinnabar/engine";
import { open, type Store } from "cinnabar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, type ServerProcess, startCluster, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { COMPONENT_WORKLOADS } from "../../src/commands/bench/components.ts";
import { WORKLOADS } from "../../src/commands/bench/names.ts";
import { COMMAND_WORKLOADS } from "../../src/commands/bench/workloads.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar, PROGRAM, type RunOptions } from "./kit.ts";
import { Terminal } from "./terminal.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The figures of a run, as --json has them. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into reports of every shape.
async function figures(argv: readonly string[], options: RunOptions = {}): Promise<any> {
  const { code, out, err } = await cinnabar(["bench", "--json", ...argv], options);
  expect(err).toBe("");
  return { code, ...JSON.parse(out) };
}

const QUICK = ["--warm-up", "0", "--keys", "500"];

async function callsOf(store: Store, command: string): Promise<number> {
  const text = String(await store.call("INFO", "commandstats"));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(text)?.[1] ?? 0);
}

test("every workload of the help exists", () => {
  expect([...COMMAND_WORKLOADS, ...COMPONENT_WORKLOADS].sort()).toEqual([...WORKLOADS].sort());
});

const SERVERS: [string, () => Promise<{ readonly url: string; stop(): Promise<void> }>][] = [
  [
    "our server",
    async () => {
      const engine = await Engine.open();
      const { port } = await engine.listen({ port: 0 });
      return { url: `redis://127.0.0.1:${port}`, stop: () => engine.close() };
    },
  ],
  ...(installed("redis-server")
    ? [["redis-server", () => startRedis()] as [string, () => Promise<ServerProcess>]]
    : []),
];

describe.each(SERVERS)("on %s", (_name, start) => {
  let server: { readonly url: string; stop(): Promise<void> };
  let store: Store;

  beforeAll(async () => {
    server = await start();
    store = await open(server.url);
    await store.call("SET", "mine", "text");
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  const expectOnlyMine = async (): Promise<void> => expect(await store.call("KEYS", "*")).toEqual(["mine"]);

  test("sends as many requests as it says, and deletes its keys", async () => {
    await store.call("CONFIG", "RESETSTAT");
    const { code, sides, loop } = await figures([server.url, "-n", "1234", "-c", "7", "-P", "10", ...QUICK]);
    expect([code, loop]).toEqual([0, "closed"]);
    expect(await callsOf(store, "set")).toBe(1_234);
    const [{ requests, errors, unsent, unanswered, latencyMs, rounds }] = sides;
    expect([requests, errors.count, unsent, unanswered, rounds.length]).toEqual([1_234, 0, 0, 0, 1]);
    const { min, p50, p90, p99, max } = latencyMs;
    expect(
      [min, p50, p90, p99, latencyMs["p99.9"], max].every((each, at, all) => at === 0 || all[at - 1] <= each),
    ).toBe(true);
    expect(min).toBeGreaterThan(0);
    await expectOnlyMine();
  });

  test("sends at a rate", async () => {
    await store.call("CONFIG", "RESETSTAT");
    const { sides, loop } = await figures([server.url, "--rate", "500", "-d", "600ms", "-w", "incr", ...QUICK]);
    expect(loop).toBe("open");
    expect(sides[0].requests + sides[0].unsent).toBe(300);
    expect(await callsOf(store, "incr")).toBe(sides[0].requests);
    expect(sides[0].sentLateMs.max).toBeGreaterThan(0);
    await expectOnlyMine();
  });

  test.each(WORKLOADS)("workload %s is answered without errors, and leaves nothing behind", async (workload) => {
    const { code, sides } = await figures([server.url, "-n", "300", "-w", workload, "-c", "5", "-P", "2", ...QUICK]);
    expect(code).toBe(0);
    expect(sides[0]).toMatchObject({ requests: 300, errors: { count: 0, kinds: [] } });
    await expectOnlyMine();
  });

  test("mixes reads and writes as asked", async () => {
    await store.call("CONFIG", "RESETSTAT");
    await figures([server.url, "-n", "1000", "-w", "mixed", "--reads", "90", ...QUICK]);
    // The keys are filled first.
    const [reads, writes] = [await callsOf(store, "get"), (await callsOf(store, "set")) - 500];
    expect(reads + writes).toBe(1_000);
    expect(reads).toBeGreaterThan(800);
    expect(writes).toBeGreaterThan(30);
  });

  test("a command line with placeholders", async () => {
    const own = ["--", "HSET", "__key__:h", "f__rand:5__", "__seq__ __rand_int__ __rand__ __data__"];
    const run = await figures([server.url, "-n", "100", "--value-bytes", "3", "--keys", "1", "--warm-up", "0", ...own]);
    expect(run.sides[0]).toMatchObject({ requests: 100, errors: { count: 0 } });
    await expectOnlyMine();
    const kept = ["--", "RPUSH", "kept", "__seq__ __rand_int__ __data__"];
    await figures([server.url, "-n", "3", "--value-bytes", "3", "--keys", "1", "--warm-up", "0", "--any-key", ...kept]);
    const list = (await store.call("LRANGE", "kept", 0, -1)) as string[];
    expect(list.sort()).toEqual(
      ["1", "2", "3"].map((each) => expect.stringMatching(new RegExp(`^${each} 0{12} [\\w-]{3}$`))),
    );
    await store.call("DEL", "kept");
  });

  test("errors are counted by kind, and end with 1", async () => {
    const { code, sides } = await figures([server.url, "-n", "50", ...QUICK, "--", "HGET", "mine", "field"]);
    expect(code).toBe(1);
    expect(sides[0]).toMatchObject({ requests: 0, errors: { count: 50, kinds: [{ count: 50 }] } });
    expect(sides[0].errors.kinds[0].text).toMatch(/^WRONGTYPE /);
    const { code: again, out } = await cinnabar([
      "bench",
      server.url,
      "-n",
      "50",
      ...QUICK,
      "--",
      "HGET",
      "mine",
      "field",
    ]);
    expect(again).toBe(1);
    expect(out).toMatch(/errors +50 of 50: WRONGTYPE /);
  });

  test.each([
    [["FLUSHALL"], "bench does not send FLUSHALL"],
    [["flushdb"], "bench does not send FLUSHDB"],
    [["EVAL", "return redis.call('FLUSHALL')", "0"], "bench does not send EVAL"],
    [["CONFIG", "SET", "save", ""], "bench does not send CONFIG"],
    [["SLOWLOG", "RESET"], "for operators"],
    [["SET", "mine", "other"], "may change the key 'mine', which is not the benchmark's own"],
    [["RENAME", "__key__", "mine"], "may change the key 'mine'"],
    [["XGROUP", "CREATE", "mine", "g", "$"], "may change the key 'mine'"],
    [["SET", "__key__:__seq__", "x"], "may change the key"],
    [["GET", "__keys__"], "'__keys__' is no placeholder"],
    [["NOSUCH"], "NOSUCH"],
  ])("%j is refused", async (words, text) => {
    const { code, out, err } = await cinnabar(["bench", server.url, "-n", "1", "--", ...words]);
    expect(code).toBe(1);
    expect(err).toContain(text);
    expect(out).toBe("");
    expect(await store.call("GET", "mine")).toBe("text");
    await expectOnlyMine();
  });

  test("Ctrl-C tells what was measured so far, and deletes the keys", async () => {
    const controller = new AbortController();
    const running = figures([server.url, "-d", "10m", ...QUICK], { signal: controller.signal });
    await expect.poll(() => store.call("DBSIZE")).toBeGreaterThan(100);
    controller.abort();
    const { code, interrupted, sides } = await running;
    expect([code, interrupted]).toEqual([0, true]);
    expect(sides[0].requests).toBeGreaterThan(0);
    await expectOnlyMine();
  });

  test("keys are of the database in the URL", async () => {
    await figures([`${server.url}/3`, "-n", "100", "-w", "get", ...QUICK]);
    expect(String(await store.call("INFO", "keyspace"))).not.toContain("db3");
    await expectOnlyMine();
  });
});

describe.runIf(installed("redis-server"))("latency", () => {
  let redis: ServerProcess;
  let store: Store;

  beforeAll(async () => {
    redis = await startRedis();
    store = await open(redis.url);
  });
  afterAll(async () => {
    await store.close();
    await redis.stop();
  });

  /** Hands answers on after a while, if they are of the benchmark's clients and it is their turn. */
  async function delayed(
    ms: number,
    isDelayed: () => boolean,
  ): Promise<{ readonly url: string; readonly server: Server }> {
    const server = createServer((client) => {
      const upstream = connectSocket(redis.port, "127.0.0.1");
      client.on("error", () => {}).on("close", () => upstream.destroy());
      upstream.on("error", () => {}).on("close", () => client.destroy());
      client.pipe(upstream, { end: false });
      upstream.on("data", (chunk) => {
        if (isDelayed()) setTimeout(() => client.write(chunk), ms);
        else client.write(chunk);
      });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
  }

  test("of a server with an artificial delay is at least the delay", async () => {
    const { url, server } = await delayed(30, () => true);
    const { sides } = await figures([url, "-n", "60", "-c", "3", "-w", "ping", ...QUICK]);
    // Timers of Node may be a millisecond early.
    for (const name of ["min", "mean", "p50", "p90", "p99", "max"])
      expect(sides[0].latencyMs[name]).toBeGreaterThanOrEqual(29);
    server.close();
  });

  test("of one answer in twenty is in the percentiles where it belongs", async () => {
    let answers = 0;
    const { url, server } = await delayed(300, () => answers++ % 20 === 19);
    const { sides } = await figures([url, "-n", "200", "-c", "1", "-w", "ping", ...QUICK]);
    const { p50, p99, max } = sides[0].latencyMs;
    expect(p99).toBeGreaterThanOrEqual(299);
    expect(max).toBeGreaterThanOrEqual(299);
    expect(p50).toBeLessThan(p99);
    server.close();
  });

  test("in an open loop shows a server that stood still in every request that was due meanwhile", async () => {
    await store.call("CONFIG", "RESETSTAT");
    const running = figures([redis.url, "--rate", "400", "-d", "2s", "-c", "4", "-w", "incr", ...QUICK]);
    await expect.poll(() => callsOf(store, "incr"), { interval: 5 }).toBeGreaterThan(50);
    redis.pause();
    const stoodStill = setTimeout(() => redis.resume(), 1_000);
    const { sides } = await running;
    clearTimeout(stoodStill);
    // A second of 2: half of the requests were due then. Counted from when they were sent, four would be slow.
    expect(sides[0].latencyMs.p90).toBeGreaterThan(500);
    expect(sides[0].latencyMs.max).toBeGreaterThan(900);
    expect(sides[0].requests + sides[0].unsent).toBe(800);
  });

  test("a server that never answers again ends the run with what was measured", async () => {
    const other = await startRedis();
    const running = cinnabar(["bench", other.url, "-d", "10m", "-c", "4", "-w", "ping", "--timeout", "1s", "--json"]);
    const watch = await open(other.url);
    await expect.poll(() => callsOf(watch, "ping"), { interval: 5 }).toBeGreaterThan(50);
    other.pause();
    const { code, out } = await running;
    expect(code).toBe(1);
    expect(JSON.parse(out).sides[0].unanswered).toBe(4);
    other.resume();
    await watch.close();
    await other.stop();
  });

  test("connections that are lost are errors, and come back", async () => {
    const other = await startRedis();
    const controller = new AbortController();
    const argv = ["bench", other.url, "-d", "10m", "-c", "4", "-w", "incr", "--json", ...QUICK];
    const running = cinnabar(argv, { signal: controller.signal });
    const watch = await open(other.url);
    await expect.poll(() => callsOf(watch, "incr"), { interval: 5 }).toBeGreaterThan(50);
    await other.restart();
    await expect.poll(() => callsOf(watch, "incr"), { interval: 5, timeout: 20_000 }).toBeGreaterThan(50);
    controller.abort();
    const { code, out } = await running;
    expect(code).toBe(1);
    expect(JSON.parse(out).sides[0].errors.kinds[0].text).toMatch(/^LOST /);
    expect(await watch.call("DBSIZE")).toBe(0);
    await watch.close();
    await other.stop();
  });

  test("two stores are compared in turns, with the ratio of each round", async () => {
    const dir = join(folder.path, "compared");
    const argv = [dir, "--compare", redis.url, "-n", "1000", "--rounds", "5", "-w", "mixed", ...QUICK];
    const { code, sides, comparison } = await figures(argv);
    expect(code).toBe(0);
    expect(sides.map((side: { requests: number }) => side.requests)).toEqual([1_000, 1_000]);
    for (const { rounds } of sides)
      expect(rounds.map((round: { requests: number }) => round.requests)).toEqual(Array(5).fill(200));
    for (const { ratio, low, high } of Object.values(comparison) as { ratio: number; low: number; high: number }[]) {
      expect(low).toBeLessThanOrEqual(ratio);
      expect(ratio).toBeLessThanOrEqual(high);
    }
    expect(await store.call("DBSIZE")).toBe(0);
    const engine = await Engine.open({ dir });
    expect(await engine.connect().call("DBSIZE")).toBe(0);
    await engine.close();
    const { out } = await cinnabar(["bench", ...argv]);
    expect(out).toMatch(
      new RegExp(`in proportion to ${redis.url}: median of 5 rounds.*\n  throughput +[\\d.]+ \\([\\d.]+ to [\\d.]+\\)`),
    );
  });

  test("a Cluster gets each request at the node of its key", async () => {
    const cluster = await startCluster({ replicas: 0 });
    for (const workload of ["set", "get", "list", "lock", "queue"]) {
      const { code, sides } = await figures([cluster.url, "-n", "500", "-c", "5", "-w", workload, ...QUICK]);
      expect([code, sides[0].requests, sides[0].errors.count], workload).toEqual([0, 500, 0]);
    }
    // Its nodes are asked by a plain URL too, and are known as a Cluster.
    const { sides } = await figures([cluster.nodes[1]!.url, "-n", "500", "-w", "hset", ...QUICK]);
    expect(sides[0]).toMatchObject({ requests: 500, errors: { count: 0 } });
    for (const { url } of cluster.nodes) {
      const node = await open(url);
      expect(await node.call("KEYS", "*")).toEqual([]);
      await node.close();
    }
    await cluster.stop();
  });

  test.runIf(installed("tmux"))("a terminal shows how far it is", async () => {
    const terminal = new Terminal([...PROGRAM, "bench", redis.url, "-d", "1m", "--warm-up", "0"]);
    try {
      await expect.poll(() => terminal.screen, { timeout: 20_000 }).toMatch(/\d+ requests\/s \[#*-+\] \d+ of 60 s \(/);
      terminal.press("C-c");
      await expect.poll(() => store.call("DBSIZE"), { timeout: 20_000 }).toBe(0);
    } finally {
      terminal.close();
    }
  });
});

test.each([
  [["--pipeline", "2", "--rate", "5"], "--pipeline is for a closed loop"],
  [["--count", "2", "--duration", "5s"], "give --duration or --count, not both"],
  [["--rounds", "2"], "--rounds is for --compare"],
  [["--workload", "sett"], "did you mean 'set'?"],
  [["--workload", "set", "--", "GET", "a"], "give a --workload or a command, not both"],
  [["redis://127.0.0.1:1", "GET", "a"], "a command stands behind --: -- GET a"],
  [["--clients", "10000", "--pipeline", "10000", "--value-bytes", "1000"], "more than 1 GiB in flight"],
  [["get"], "'get' is no URL and no folder; did you mean '--workload get'?"],
  [["flushall"], "did you mean '-- flushall'?"],
  [["localhost:6379"], "'localhost:6379' is neither a folder nor a URL"],
  [["--script", "x.lua"], "--script is for --workload script"],
  [["--workload", "script", "--script", "/nowhere/x.lua"], "--script: ENOENT"],
  [["redis://127.0.0.1:1"], "cannot reach 127.0.0.1:1: ECONNREFUSED"],
])("%j cannot be meant", async (argv, text) => {
  const { code, out, err } = await cinnabar(["bench", ...argv]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain(text);
});
