/** Unchanged redis-cli and redis-benchmark against the engine. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Engine, type LocalClient } from "../../src/index.ts";

const has = (tool: string) => spawnSync(tool, ["--version"]).error === undefined;
const missing = ["redis-cli", "redis-benchmark"].filter((tool) => !has(tool));
if (missing.length > 0) console.warn(`skipped, not installed: ${missing.join(", ")} (node scripts/ensure-redis.js)`);
/** Gives a program a terminal, so that redis-cli is interactive. */
const terminal = has("script");

let engine: Engine;
let client: LocalClient;
let port: string;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  engine = await Engine.open();
  client = engine.connect();
  port = String((await engine.listen({ port: 0 })).port);
});

afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await engine.close();
});

beforeEach(async () => {
  await client.call("FLUSHALL");
});

const COLOURS = /\x1b\[[\d;]*m/g;

/** A running tool: what it has printed, what to tell it, and how it ended. */
class Tool {
  output = "";
  errors = "";
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;

  constructor(program: string, args: readonly string[]) {
    this.child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, TERM: "dumb" } });
    children.add(this.child);
    this.child.stdout!.on("data", (chunk: Buffer) => (this.output += String(chunk).replace(COLOURS, "")));
    this.child.stderr!.on("data", (chunk: Buffer) => (this.errors += chunk));
    this.child.stdin!.on("error", () => {});
    this.exited = new Promise((resolve) => this.child.on("close", resolve));
    void this.exited.then(() => children.delete(this.child));
  }

  async prints(what: RegExp): Promise<void> {
    for (let i = 0; i < 1500 && !what.test(this.output); i++) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(this.output).toMatch(what);
  }

  stop(): Promise<number | null> {
    this.child.kill("SIGTERM");
    return this.exited;
  }
}

/** Runs a tool to its end; its output. It must end well and complain about nothing. */
async function run(program: string, args: readonly string[], input = ""): Promise<string> {
  const tool = new Tool(program, ["-p", port, ...args]);
  tool.child.stdin!.end(input, "latin1");
  expect(await tool.exited).toBe(0);
  expect(tool.errors).toBe("");
  return tool.output;
}

const cli = (...args: string[]) => run("redis-cli", args);

describe.skipIf(missing.length > 0)("redis-cli", () => {
  it("runs commands, and prints replies of every kind", async () => {
    expect(await cli("SET", "k", "naïve 👋")).toBe("OK\n");
    expect(await cli("GET", "k")).toBe("naïve 👋\n");
    expect(await cli("--no-raw", "RPUSH", "l", "a", "b")).toBe("(integer) 2\n");
    expect(await cli("--no-raw", "LRANGE", "l", "0", "-1")).toBe('1) "a"\n2) "b"\n');
    expect(await cli("--no-raw", "GET", "none")).toBe("(nil)\n");
    expect(await cli("--json", "LRANGE", "l", "0", "-1")).toBe('["a","b"]\n');
    expect(await cli("--csv", "LRANGE", "l", "0", "-1")).toBe('"a","b"\n');
    expect(await cli("INCR", "l")).toMatch(/^WRONGTYPE /);
    expect(await run("redis-cli", ["-x", "SET", "bytes"], "\x00\xff")).toBe("OK\n");
    expect(await client.callBuffer("GET", "bytes")).toEqual(Buffer.from([0, 255]));
    expect(await cli("-n", "3", "SET", "k", "three")).toBe("OK\n");
    expect(engine.core.databases[3]!.size).toBe(1);
    expect(await run("redis-cli", [], "SET a 1\nINCR a\n")).toBe("OK\n2\n");
    expect(await cli("-r", "3", "INCR", "n")).toBe("1\n2\n3\n");
    expect(await cli("INFO", "server")).toContain("redis_version:7.0.15");
  });

  it("speaks RESP3", async () => {
    await client.call("HSET", "h", "f", "v");
    expect(await cli("-3", "--no-raw", "HGETALL", "h")).toBe('1# "f" => "v"\n');
    await client.call("ZADD", "z", 1.5, "m");
    expect(await cli("-3", "--no-raw", "ZSCORE", "z", "m")).toBe("(double) 1.5\n");
  });

  it("signs in", async () => {
    await client.call("CONFIG", "SET", "requirepass", "secret");
    expect(await cli("--no-auth-warning", "-a", "secret", "PING")).toBe("PONG\n");
    expect(await cli("PING")).toMatch(/^NOAUTH /);
    await client.call("CONFIG", "SET", "requirepass", "");
  });

  it("looks for keys: --scan, --bigkeys, --memkeys, --hotkeys", async () => {
    await client.pipeline(Array.from({ length: 3000 }, (_, i) => ["SET", `key:${i}`, "x".repeat(i % 50)]));
    await client.call("RPUSH", "list", ...Array.from({ length: 100 }, (_, i) => i));
    await client.call("XADD", "stream", "*", "f", "v");
    const keys = (await cli("--scan", "--pattern", "key:1*")).trim().split("\n");
    expect(new Set(keys).size).toBe(1111);
    const big = await cli("--bigkeys");
    expect(big).toContain("Sampled 3002 keys in the keyspace!");
    expect(big).toContain(`Biggest   list found '"list"' has 100 items`);
    expect(big).toContain("1 streams with 1 entries");
    const memory = await cli("--memkeys");
    expect(memory).toMatch(/Biggest +list found '"list"' has \d+ bytes/);
    await client.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
    expect(await cli("--hotkeys")).toContain("Sampled 3002 keys in the keyspace!");
    await client.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
  });

  it("sends a hundred thousand commands with --pipe", async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `SET p:${i} ${i}\r\n`).join("");
    expect(await run("redis-cli", ["--pipe"], lines)).toContain("errors: 0, replies: 100000");
    expect(await client.call("DBSIZE")).toBe(100_000);
    const wrong = new Tool("redis-cli", ["-p", port, "--pipe"]);
    wrong.child.stdin!.end("SET a 1\r\nLPUSH a 1\r\nSET b 2\r\n");
    expect(await wrong.exited).toBe(1);
    expect(wrong.output).toContain("errors: 1, replies: 3");
  });

  it("subscribes and monitors", async () => {
    const monitor = new Tool("redis-cli", ["-p", port, "MONITOR"]);
    const subscriber = new Tool("redis-cli", ["-p", port, "--csv", "SUBSCRIBE", "news"]);
    await monitor.prints(/OK/);
    await subscriber.prints(/"subscribe","news",1/);
    expect(await client.call("PUBLISH", "news", "hello")).toBe(1);
    await subscriber.prints(/"message","news","hello"/);
    await cli("SET", "k", "two words");
    await monitor.prints(/^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] "SET" "k" "two words"$/im);
    await Promise.all([monitor.stop(), subscriber.stop()]);
  });

  it("measures latency", async () => {
    // Where it does not write to a terminal it stops by itself after the interval.
    expect(await cli("--latency", "-i", "0.2")).toMatch(/^\d+ \d+ \d+\.\d+ \d+\n$/);
  });

  it.skipIf(!terminal)("is interactive in a terminal: help from COMMAND DOCS, statistics", async () => {
    const interactive = new Tool("script", ["-qfc", `redis-cli -p ${port}`, "/dev/null"]);
    const stat = new Tool("script", ["-qfc", `redis-cli -p ${port} --stat -i 0.05`, "/dev/null"]);
    await interactive.prints(new RegExp(`127.0.0.1:${port}> `));
    interactive.child.stdin!.write("SET k v\r");
    await interactive.prints(/OK/);
    interactive.child.stdin!.write("HELP GETEX\r");
    await interactive.prints(/summary: \S+[\s\S]*since: 6\.2\.0\s+group: string/);
    interactive.child.stdin!.write("HELP @hash\r");
    await interactive.prints(/HRANDFIELD/);
    interactive.child.stdin!.write("QUIT\r");
    await stat.prints(/keys +mem +clients[\s\S]*\n1 +\d[\d.]*[BKM]/);
    await Promise.all([interactive.stop(), stat.stop()]);
  });
});

describe.skipIf(missing.length > 0)("redis-benchmark", () => {
  const tests =
    /^(PING_INLINE|PING_MBULK|SET|GET|INCR|LPUSH|RPUSH|LPOP|RPOP|SADD|HSET|SPOP|ZADD|ZPOPMIN|LPUSH|LRANGE_\d+|MSET)\b.*?: \d+\.\d+ requests per second/;

  it.each([
    ["all tests", ["-n", "1000"]],
    ["pipelines of 16", ["-n", "2000", "-P", "16"]],
    [
      "two threads and random keys",
      ["-n", "1000", "--threads", "2", "-r", "1000", "-t", "set,get,incr,lpush,hset,zadd"],
    ],
    ["large values", ["-n", "50", "-d", "2000", "-c", "10", "-t", "set,get,lpush,lrange"]],
    ["RESP3", ["-n", "1000", "-3", "-t", "get,set,hset,zadd"]],
  ])("runs %s", async (_what, args) => {
    const output = await run("redis-benchmark", ["-q", ...args]);
    const lines = output.split(/[\r\n]+/).filter((line) => line.includes("requests per second"));
    const expected = args.includes("-t") ? args.at(-1)!.split(",").length : 20;
    expect(lines.filter((line) => tests.test(line)).length).toBeGreaterThanOrEqual(expected);
    expect(output).not.toMatch(/error|ERR|failed|WARNING/i);
  });

  it("runs a command of its own", async () => {
    expect(await run("redis-benchmark", ["-q", "-n", "1000", "-r", "100", "SADD", "s", "__rand_int__"])).toContain(
      "requests per second",
    );
    expect(await client.call("SCARD", "s")).toBeLessThanOrEqual(100);
  });
});
