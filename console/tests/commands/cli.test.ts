/** What `cinnabar cli` does beside printing replies: places, credentials, walks, pipes, redirections. */
import { spawnSync } from "node:child_process";
import { Engine, EngineCluster } from "@cinnabar/engine";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cli, installed, type ServerProcess, startRedis } from "../../../toolkit/tests/kit/servers.ts";
import { splitWords } from "../../src/commands/cli/words.ts";
import { temporaryFolder } from "../support.ts";
import { cinnabar } from "./kit.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

test("a folder is a place, in this process", async () => {
  expect(await cinnabar(["cli", `${folder.path}/d`, "SET", "k", "v"])).toEqual({ code: 0, out: "OK\n", err: "" });
  expect((await cinnabar(["cli", `${folder.path}/d`, "--json", "GET", "k"])).out).toBe('"v"\n');
  const engine = await Engine.open({ dir: `${folder.path}/d` });
  const { code, err } = await cinnabar(["cli", `${folder.path}/d`, "GET", "k"]);
  await engine.close();
  expect(code).toBe(1);
  expect(err).toContain("What to do: a program has this store open");
});

test.each([
  [["cli", "rediz://h", "PING"], "no store is at 'rediz://'; did you mean 'redis'?"],
  [["cli", "--jsn", "PING"], "unknown option '--jsn'; did you mean '--json'?"],
  [["cli", "--json", "--csv", "PING"], "--json and --csv exclude each other"],
  [["cli", "-p", "1", "PING"], "cannot reach 127.0.0.1:1: ECONNREFUSED\nWhat to do: start the server"],
  [["cli", "-p", "x", "PING"], "--port takes a whole number from 1 to 65535, not 'x'"],
])("%j is refused in words", async (argv, text) => {
  const { code, err } = await cinnabar(argv);
  expect(code).toBe(1);
  expect(err).toContain(text);
});

test("words are split as redis-cli splits them", () => {
  expect(splitWords(`a "b c" 'd \\' e' "\\x41\\n"`)).toEqual(["a", "b c", "d ' e", "A\n"]);
  expect(splitWords(`"a"b`)).toBeNull();
  expect(splitWords(`'a`)).toBeNull();
  expect(splitWords("   ")).toEqual([]);
});

describe.runIf(installed("redis-server"))("on a redis-server", () => {
  let redis: ServerProcess;
  const ours = (...argv: string[]) => cinnabar(["cli", "-p", String(redis.port), ...argv]);
  const theirs = (...argv: string[]): string =>
    spawnSync("redis-cli", ["-p", String(redis.port), ...argv], { encoding: "latin1" }).stdout;

  beforeAll(async () => {
    redis = await startRedis();
    const fill =
      "for i=1,300 do redis.call('SET','s'..i,('x'):rep(i)) redis.call('RPUSH','l'..i%7,i) redis.call('HSET','h'..i%5,i,1) end redis.call('XADD','x','*','a','b') redis.call('SADD','caf\\195\\169','m')";
    cli(redis.port, "EVAL", fill, "0");
  });
  afterAll(() => redis.stop());

  test("--scan prints what redis-cli prints", async () => {
    expect((await ours("--scan")).out).toBe(theirs("--scan"));
    expect((await ours("--scan", "--no-raw", "--pattern", "caf*")).out).toBe(
      theirs("--scan", "--no-raw", "--pattern", "caf*"),
    );
  });

  test.each(["--bigkeys", "--memkeys"])("%s finds what redis-cli finds", async (flag) => {
    const lines = (text: string): string[] =>
      text
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("#"))
        .sort();
    expect(lines((await ours(flag)).out)).toEqual(lines(theirs(flag)));
    expect((await ours(flag)).out).toContain("Sampled 314 keys in the keyspace!");
  });

  test("the last word comes from the input, binary", async () => {
    const value = Buffer.from([0, 255, 10, 13, 65]);
    const { out } = await cinnabar(["cli", "-p", String(redis.port), "-x", "SET", "binary"], { stdin: value });
    expect(out).toBe("OK\n");
    expect((await ours("GET", "binary")).out).toBe(`${value.latin1Slice()}\n`);
  });

  test("--pipe sends the input as it is and counts the answers", async () => {
    const stdin = `${Array.from({ length: 5_000 }, (_, i) => `SET p:${i} ${i}`).join("\r\n")}\r\nINCR h1\r\n`;
    const { code, out } = await cinnabar(["cli", "-p", String(redis.port), "--pipe"], { stdin });
    expect(out).toContain("errors: 1, replies: 5001\n");
    expect(code).toBe(1);
    expect((await ours("GET", "p:4999")).out).toBe("4999\n");
  });

  test("-e, -r and the URL in the environment", async () => {
    expect((await ours("-e", "NOSUCH")).code).toBe(1);
    expect((await ours("NOSUCH")).code).toBe(0);
    expect((await ours("-r", "3", "INCR", "times")).out).toBe("1\n2\n3\n");
    const { out } = await cinnabar(["cli", "GET", "times"], { env: { CINNABAR_URL: redis.url } });
    expect(out).toBe("3\n");
  });

  test("credentials come from the environment and are not shown", async () => {
    cli(redis.port, "ACL", "SETUSER", "reader", "on", ">s3cret", "+@read", "+select", "~*");
    const env = { CINNABAR_USERNAME: "reader", CINNABAR_PASSWORD: "s3cret" };
    expect((await cinnabar(["cli", "-p", String(redis.port), "GET", "s1"], { env })).out).toBe("x\n");
    const wrong = await cinnabar(["cli", `redis://reader:wr0ng@127.0.0.1:${redis.port}`, "GET", "s1"]);
    expect(wrong.code).toBe(1);
    expect(wrong.err).toContain("WRONGPASS");
    expect(wrong.err).toContain("What to do: check the user and the password");
    expect(wrong.err).not.toContain("wr0ng");
  });
});

test("redirections of a Cluster are followed, and a scan sees every primary", async () => {
  const cluster = await EngineCluster.open({ primaries: 3 });
  try {
    const [first] = cluster.addresses;
    const port = String(first!.port);
    const input = `${["a", "b", "c", "d"].map((key) => `SET ${key} 1`).join("\n")}\n`;
    const set = await cinnabar(["cli", "-c", "--no-raw", "-p", port], { stdin: input });
    expect(set.out.match(/^OK$/gm)).toHaveLength(4);
    expect(set.out).toMatch(/^-> Redirected to slot \[\d+\] located at 127\.0\.0\.1:\d+$/m);
    const url = `redis+cluster://127.0.0.1:${port}`;
    expect((await cinnabar(["cli", url, "--scan"])).out.trim().split("\n").sort()).toEqual(["a", "b", "c", "d"]);
    const plain = await cinnabar(["cli", "-p", port], { stdin: input });
    expect(plain.out).toMatch(/^MOVED \d+ 127/m);
  } finally {
    await cluster.close();
  }
});
