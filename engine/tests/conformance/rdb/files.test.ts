/** Whole files: saved by a real server and loaded here, saved here and loaded by a real server. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../../../src/embed/embedded.ts";
import { checkRdb } from "../../../src/persist/rdb/check.ts";
import { loadRdb, loadRdbSync, saveRdb } from "../../../src/persist/rdb/file.ts";
import { type RealServer, redisMissing, startRedis } from "../redis-server.ts";
import { compareState } from "../state.ts";
import { openWire } from "../target.ts";
import type { Wire } from "../wire.ts";
import { dataCommands } from "./data.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Files are not exchanged with a real server: ${missing}`);

const LIBRARY = "#!lua name=lib\nredis.register_function('answer', function() return 42 end)";
const NOW = 1_000_000;

async function run(wire: Wire, commands: readonly (readonly string[])[]): Promise<void> {
  for (let i = 0; i < commands.length; i += 500) {
    for (const answer of await wire.pipeline(commands.slice(i, i + 500))) {
      if (answer.tag === "-") throw new Error(answer.text);
    }
  }
}

/** Data in several databases, some of it with deadlines. */
function everything(): string[][] {
  const commands = dataCommands(7);
  commands.push(["SELECT", "3"]);
  for (let i = 0; i < 500; i++) commands.push(["SET", `k${i}`, `v${i}`, "PX", String(NOW + i)]);
  for (let i = 0; i < 2000; i++) commands.push(["HSET", `h${i}`, "name", `someone ${i}`, "visits", String(i)]);
  commands.push(["SELECT", "15"], ["SET", "far", "1", "PXAT", "9999999999999"], ["SELECT", "0"]);
  return commands;
}

describe.skipIf(missing !== undefined)("files", () => {
  let folder: string;
  let file: string;
  let engine: EmbeddedEngine;
  let own: Wire;
  const servers: RealServer[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "cinnabar-rdb-"));
    file = join(folder, "dump.rdb");
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  beforeEach(async () => {
    engine = await EmbeddedEngine.open({ config: { "enable-debug-command": "yes" } });
    own = await openWire((await engine.listen({ host: "127.0.0.1", port: 0 })).port);
  });
  afterEach(async () => {
    await own.close();
    await engine.close();
    for (const server of servers.splice(0)) await server.stop();
  });

  /** A real server in the folder of the file, which it loads if it exists. */
  async function realServer(...args: string[]): Promise<Wire> {
    const server = await startRedis(["--dir", folder, "--dbfilename", "dump.rdb", ...args]);
    servers.push(server);
    return openWire(server.port);
  }

  test.each([
    { compression: "yes", checksum: "yes" },
    { compression: "no", checksum: "no" },
  ])("of a real server are loaded: compression $compression, checksum $checksum", async ({ compression, checksum }) => {
    rmSync(file, { force: true });
    const real = await realServer("--rdbcompression", compression, "--rdbchecksum", checksum);
    await run(real, everything());
    await run(real, [["FUNCTION", "LOAD", LIBRARY], ["SAVE"]]);
    // What the real one has after a load of its own file: strings that are numbers have become so.
    await run(real, [["DEBUG", "RELOAD"], ["SAVE"]]);
    const functions: string[] = [];
    const report = loadRdbSync(engine.core, file, { onFunction: (source) => functions.push(source) });
    await own.call("CONFIG", "SET", "rdbcompression", compression);
    expect(await compareState(real, own)).toBeUndefined();
    expect(functions).toEqual([LIBRARY]);
    expect(report.aux.get("redis-ver")).toBe("7.0.15");
    expect(report.bytes).toBe(readFileSync(file).length);
    const lines: string[] = [];
    expect(checkRdb(file, 0, (line) => lines.push(line))).toBe(true);
    expect(lines).toContain(`[info] ${report.keys} keys read`);
    expect(lines.some((line) => line.endsWith("RDB looks OK! \\o/"))).toBe(true);
  });

  test.each([
    { compression: "yes", checksum: "yes" },
    { compression: "no", checksum: "no" },
  ])("saved here are loaded by a real server: compression $compression, checksum $checksum", async (options) => {
    const { core } = engine;
    core.config.values.rdbcompression = options.compression === "yes";
    core.config.values.rdbchecksum = options.checksum === "yes";
    await run(own, everything());
    const bytes = saveRdb(core, file, { functions: [LIBRARY] });
    expect(bytes).toBe(readFileSync(file).length);
    expect(readdirSync(folder)).toEqual(["dump.rdb"]);
    const check = spawnSync("redis-check-rdb", [file], { encoding: "utf8" });
    expect(check.stdout).toContain("RDB looks OK!");
    expect(check.status).toBe(0);
    const real = await realServer("--rdbcompression", options.compression);
    for (const db of core.databases) db.clear();
    await loadRdb(core, file);
    expect(await compareState(real, own)).toBeUndefined();
    expect((await real.call("FUNCTION", "LIST")).items).toHaveLength(1);
  });

  test.each([
    { policy: "allkeys-lru", question: "IDLETIME", option: "IDLETIME", value: "5000" },
    { policy: "volatile-lfu", question: "FREQ", option: "FREQ", value: "77" },
  ])("carry what the policy $policy knows of a key, both ways", async ({ policy, question, option, value }) => {
    rmSync(file, { force: true });
    const real = await realServer("--maxmemory-policy", policy);
    await own.call("CONFIG", "SET", "maxmemory-policy", policy);
    await run(own, [["SET", "k", "v"]]);
    const { text } = await own.call("DUMP", "k");
    await run(own, [["RESTORE", "k", "0", text, "REPLACE", option, value]]);
    saveRdb(engine.core, file);
    // The real one writes a file from memory on DEBUG RELOAD unless told not to.
    await run(real, [["DEBUG", "RELOAD", "NOSAVE"]]);
    expect(Number((await real.call("OBJECT", question, "k")).text)).toBeGreaterThanOrEqual(Number(value));
    await run(real, [["SAVE"], ["FLUSHALL"]]);
    engine.core.databases[0]!.clear();
    loadRdbSync(engine.core, file);
    expect(Number((await own.call("OBJECT", question, "k")).text)).toBeGreaterThanOrEqual(Number(value));
    expect(Number((await own.call("OBJECT", question, "k")).text)).toBeLessThan(Number(value) + 20);
  });

  test("leave the old one in place when saving fails, and nothing beside it", () => {
    writeFileSync(file, "old");
    const { core } = engine;
    core.databases[0]!.put("k", "v");
    const failing: Iterable<string> = {
      [Symbol.iterator]: () => {
        throw new Error("no more");
      },
    };
    expect(() => saveRdb(core, file, { functions: failing })).toThrow("no more");
    expect(readFileSync(file, "utf8")).toBe("old");
    expect(readdirSync(folder)).toEqual(["dump.rdb"]);
    expect(existsSync(join(folder, `temp-${process.pid}.rdb`))).toBe(false);
  });
});
