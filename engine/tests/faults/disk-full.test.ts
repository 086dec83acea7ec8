/**
 * A disk that is full: a limit on the size of files stands for it, which the system lets us take back later. Writers hear of
 * it, readers do not, the files stay sound, and when there is room again everything goes on by itself.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../../src/embed/embedded.ts";
import { freePort } from "../conformance/redis-server.ts";
import { openWire } from "../conformance/target.ts";
import type { Wire } from "../conformance/wire.ts";

const SERVER = join(import.meta.dirname, "../../dist/bin/cinnabar-server.js");
const LIMIT = 200_000;
const canLimit = spawnSync("prlimit", ["--version"]).status === 0;

let dir: string;
let server: ChildProcess;
let wire: Wire;
let exited: Promise<number | null>;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "cinnabar-full-"));
});
afterEach(async () => {
  server?.kill("SIGKILL");
  await exited;
  rmSync(dir, { recursive: true, force: true });
});

async function start(...flags: string[]): Promise<void> {
  const node = [process.execPath, SERVER];
  // A signal comes with the error unless it is ignored, which children inherit.
  server = spawn("sh", ["-c", `trap '' XFSZ; exec "$@"`, "sh", ...node, "--dir", dir, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  exited = new Promise((resolve) => server.once("exit", resolve));
  let output = "";
  await new Promise<void>((resolve, reject) => {
    server.stdout!.on("data", (chunk) => {
      output += chunk;
      if (output.includes("Ready to accept")) resolve();
    });
    void exited.then(() => reject(new Error(output)));
  });
  wire = await openWire(Number(/Listening on [^ \n]*:(\d+)/.exec(output)![1]));
}

const limit = (bytes: number | "unlimited") => {
  expect(spawnSync("prlimit", ["--pid", String(server.pid), `--fsize=${bytes}:`]).status).toBe(0);
};

/** Writes until it is refused; returns how many were acknowledged. */
async function writeUntilRefused(): Promise<number> {
  for (let i = 0; i < 10_000; i++) {
    const answer = await wire.call("SET", `k${i}`, "x".repeat(1000));
    if (answer.tag === "-") {
      expect(answer.text).toMatch(/^MISCONF /);
      return i;
    }
    if (answer.text !== "OK") return i;
  }
  throw new Error("nothing was refused");
}

async function untilAccepted(): Promise<void> {
  for (let i = 0; i < 200; i++) {
    if ((await wire.call("SET", "after", "1")).tag !== "-") return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("writes are still refused");
}

async function keysOnDisk(): Promise<number> {
  const engine = await EmbeddedEngine.open({ dir });
  const { size } = engine.core.databases[0]!;
  await engine.close();
  return size;
}

describe.skipIf(!canLimit)("a full disk", () => {
  test("everysec: writers are refused, readers are not, and it goes on when there is room", async () => {
    await start("--appendonly", "yes", "--port", String(await freePort()), "--save", "");
    limit(LIMIT);
    const acknowledged = await writeUntilRefused();
    expect((await wire.call("GET", "k0")).text.length).toBe(1000);
    expect((await wire.call("INFO", "persistence")).text).toContain("aof_last_write_status:err");
    limit("unlimited");
    await untilAccepted();
    expect((await wire.call("INFO", "persistence")).text).toContain("aof_last_write_status:ok");
    // A write may be put off while a sync is under way, and be lost in a kill: that is everysec.
    while (!(await wire.call("INFO", "persistence")).text.includes("aof_buffer_length:0")) {}
    server.kill("SIGKILL");
    await exited;
    expect(await keysOnDisk()).toBe(acknowledged + 1);
  });

  test("always: the server ends rather than acknowledge what it cannot keep", async () => {
    const port = String(await freePort());
    await start("--appendonly", "yes", "--appendfsync", "always", "--port", port, "--save", "");
    limit(LIMIT);
    const acknowledged = await writeUntilRefused();
    expect(await exited).toBe(1);
    expect(await keysOnDisk()).toBe(acknowledged);
  });

  test("a snapshot that does not fit leaves the old one, and writers are refused until one fits", async () => {
    await start("--port", String(await freePort()), "--save", "3600 1", "--rdbcompression", "no");
    await wire.call("SET", "first", "1");
    await wire.call("SAVE");
    for (let i = 0; i < 400; i++) await wire.call("SET", `k${i}`, "x".repeat(1000));
    limit(LIMIT);
    expect((await wire.call("SAVE")).tag).toBe("-");
    expect((await wire.call("BGSAVE")).text).toBe("Background saving started");
    for (let i = 0; (await wire.call("INFO", "persistence")).text.includes("rdb_bgsave_in_progress:1"); i++) {
      if (i > 500) throw new Error("the save does not end");
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    expect((await wire.call("SET", "a", "1")).text).toMatch(/^MISCONF Redis is configured to save RDB/);
    expect(spawnSync("ls", [dir], { encoding: "utf8" }).stdout).toBe("dump.rdb\n");
    limit("unlimited");
    await wire.call("SAVE");
    expect((await wire.call("SET", "a", "1")).text).toBe("OK");
    server.kill("SIGKILL");
    await exited;
    expect(await keysOnDisk()).toBe(401);
  });
});
