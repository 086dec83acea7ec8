/** Append-only files that go from a real server to the engine and back: the same data, and its tools accept ours. */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../../../src/embed/embedded.ts";
import { dataCommands } from "../rdb/data.ts";
import { redisMissing, startRedis } from "../redis-server.ts";
import { openWire } from "../target.ts";
import type { Wire } from "../wire.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Append-only files are not exchanged with a real server: ${missing}`);

const SEED = Number(process.env.AOF_SEED ?? 1);
const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "cinnabar-aof-"));
  folders.push(path);
  return path;
}

/** Commands whose effect is not what was sent, in several databases. */
const EFFECTS: readonly (readonly string[])[] = [
  ["SELECT", "9"],
  ["SET", "timed", "v", "EX", "1000"],
  ["SETEX", "timed:2", "1000", "v"],
  ["SET", "timed:3", "v"],
  ["EXPIRE", "timed:3", "1000"],
  ["GETEX", "timed:2", "PX", "2000000"],
  ["INCRBYFLOAT", "float", "3.25"],
  ["HINCRBYFLOAT", "hash", "f", "1.5"],
  ["SADD", "set", "a", "b", "c", "d"],
  ["SPOP", "set", "2"],
  ["RPUSH", "list", "1", "2", "3"],
  ["BLPOP", "list", "0"],
  ["BLMOVE", "list", "list:2", "LEFT", "RIGHT", "0"],
  ["DEL", "stream"],
  ["XADD", "stream", "*", "f", "v"],
  ["XGROUP", "CREATE", "stream", "g", "0"],
  ["XREADGROUP", "GROUP", "g", "c", "STREAMS", "stream", ">"],
  ["MULTI"],
  ["SET", "x", "1"],
  ["SELECT", "2"],
  ["INCR", "x"],
  ["EXEC"],
  ["EVAL", "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('INCR', KEYS[1])", "1", "scripted", "41"],
  ["SWAPDB", "2", "3"],
  ["COPY", "x", "y", "DB", "5"],
  ["FLUSHDB"],
  ["SET", "last", "1"],
  ["SELECT", "0"],
];

async function run(wire: Wire, commands: readonly (readonly string[])[]): Promise<void> {
  for (let i = 0; i < commands.length; i += 200) {
    for (const [j, answer] of (await wire.pipeline(commands.slice(i, i + 200))).entries()) {
      if (answer.tag === "-") throw new Error(`${commands[i + j]!.join(" ").slice(0, 100)}: ${answer.text}`);
    }
  }
}

const digest = async (wire: Wire) => (await wire.call("DEBUG", "DIGEST")).text;

async function rewrite(wire: Wire): Promise<void> {
  await wire.call("BGREWRITEAOF");
  for (;;) {
    const info = (await wire.call("INFO", "persistence")).text;
    if (info.includes("aof_rewrite_in_progress:0") && info.includes("aof_rewrite_scheduled:0")) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lets a real server work in a folder; returns the data's signature. */
async function withRedis(dir: string, work: (wire: Wire) => Promise<void>, flags: string[] = []): Promise<string> {
  const server = await startRedis(["--dir", dir, "--appendonly", "yes", ...flags]);
  try {
    const wire = await openWire(server.port);
    await work(wire);
    const found = await digest(wire);
    await wire.close();
    return found;
  } finally {
    await server.stop();
  }
}

async function withEngine(
  dir: string,
  work: (wire: Wire) => Promise<void>,
  config: Record<string, string> = {},
): Promise<string> {
  const engine = await EmbeddedEngine.open({ dir, config: { "enable-debug-command": "yes", ...config } });
  const { port } = await engine.listen({ host: "127.0.0.1", port: 0 });
  try {
    const wire = await openWire(port);
    await work(wire);
    const found = await digest(wire);
    await wire.close();
    return found;
  } finally {
    await engine.close();
  }
}

const work = async (wire: Wire) => {
  await run(wire, dataCommands(SEED));
  await run(wire, EFFECTS);
  await rewrite(wire);
  await run(wire, EFFECTS.slice(0, 6));
  await run(
    wire,
    dataCommands(SEED + 1).filter(([name]) => name === "RPUSH" || name === "ZADD"),
  );
  await run(wire, [["SELECT", "0"]]);
};
const nothing = async () => {};

describe.skipIf(missing !== undefined)("append-only files", () => {
  test.each(["always", "everysec", "no"])(
    "written here are loaded by the real server (appendfsync %s)",
    async (how) => {
      const dir = folder();
      const ours = await withEngine(dir, work, { appendfsync: how });
      const manifest = join(dir, "appendonlydir", "appendonly.aof.manifest");
      const check = spawnSync("redis-check-aof", [manifest], { encoding: "utf8" });
      expect(check.stdout).toContain("All AOF files and manifest are valid");
      expect(check.status).toBe(0);
      const [base] = readdirSync(join(dir, "appendonlydir")).filter((name) => name.endsWith(".base.rdb"));
      expect(spawnSync("redis-check-rdb", [join(dir, "appendonlydir", base!)]).status).toBe(0);
      expect(await withRedis(dir, nothing)).toBe(ours);
      // And back again, with what the real server has added.
      const theirs = await withRedis(dir, (wire) => run(wire, EFFECTS));
      expect(await withEngine(dir, nothing)).toBe(theirs);
    },
  );

  test.each([
    ["with an RDB as base", []],
    ["with a base of commands", ["--aof-use-rdb-preamble", "no"]],
    ["with timestamps", ["--aof-timestamp-enabled", "yes"]],
  ])("written by the real server are loaded here, %s", async (_how, flags) => {
    const dir = folder();
    await withRedis(dir, work, flags);
    // As the real server itself finds it again: with a base of commands, a large sorted set has not always the digest that
    // it had before the restart.
    const theirs = await withRedis(dir, nothing, flags);
    const copy = folder();
    cpSync(dir, copy, { recursive: true });
    expect(await withEngine(dir, nothing)).toBe(theirs);
    expect(await withEngine(dir, rewrite)).toBe(theirs);
    expect(await withRedis(dir, nothing)).toBe(theirs);
    // The single file of older versions: base and increments in one.
    const parts = join(copy, "appendonlydir");
    const names = readdirSync(parts).sort();
    const base = names.find((name) => name.includes(".base."))!;
    const increment = names.find((name) => name.includes(".incr."))!;
    const old = Buffer.concat([readFileSync(join(parts, base)), readFileSync(join(parts, increment))]);
    rmSync(parts, { recursive: true });
    writeFileSync(join(copy, "appendonly.aof"), old);
    expect(await withEngine(copy, nothing)).toBe(theirs);
    expect(existsSync(join(copy, "appendonly.aof"))).toBe(false);
    expect(await withRedis(copy, nothing)).toBe(theirs);
  });
});
