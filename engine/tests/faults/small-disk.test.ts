/**
 * A disk that really is full: a file system of two megabytes in memory, with a file in it that takes whatever is left, and
 * is removed when there is to be room again. Mounting needs the right to; where there is none, that is said in a line, and
 * failing-disk.test.ts (every call, made to fail) and disk-full.test.ts (a limit on the size of files) cover the same.
 *
 * After each: the files load here and in a real server, with the same keys.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, cpSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EmbeddedEngine } from "../../src/embed/embedded.ts";
import { freePort, redisMissing, startRedis } from "../conformance/redis-server.ts";
import { openWire } from "../conformance/target.ts";
import type { Wire } from "../conformance/wire.ts";

const SERVER = join(import.meta.dirname, "../../dist/bin/cinnabar-server.js");
const SIZE = "2m";

function mount(at: string): string | undefined {
  if (process.platform !== "linux") return "only Linux has tmpfs";
  const run = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "cinnabar", at], { encoding: "utf8" });
  return run.status === 0 ? undefined : (run.stderr || String(run.error)).trim();
}

function mayMount(): string | undefined {
  const at = mkdtempSync(join(tmpdir(), "cinnabar-mount-"));
  const why = mount(at);
  if (why === undefined) spawnSync("umount", [at]);
  rmSync(at, { recursive: true, force: true });
  return why;
}

const cannot = mayMount();
if (cannot !== undefined) console.warn(`No small disk can be mounted, its tests are skipped: ${cannot}`);
const missing = redisMissing();

describe.skipIf(cannot !== undefined)("a disk of two megabytes", () => {
  let folder: string;
  let dir: string;
  let server: ChildProcess | null;
  let exited: Promise<number | null>;
  let wire: Wire;
  let engine: EmbeddedEngine | null;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "cinnabar-small-"));
    dir = join(folder, "disk");
    spawnSync("mkdir", [dir]);
    expect(mount(dir)).toBeUndefined();
    server = null;
    engine = null;
  });
  afterEach(async () => {
    server?.kill("SIGKILL");
    if (server !== null) await exited;
    await engine?.close().catch(() => {});
    expect(spawnSync("umount", ["-l", dir]).status).toBe(0);
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(...flags: string[]): Promise<void> {
    const child = spawn(process.execPath, [SERVER, "--dir", dir, "--port", String(await freePort()), ...flags], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    server = child;
    exited = new Promise((resolve) => child.once("exit", resolve));
    let output = "";
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on("data", (chunk) => {
        output += chunk;
        if (output.includes("Ready to accept")) resolve();
      });
      void exited.then(() => reject(new Error(output)));
    });
    wire = await openWire(Number(/Listening on [^ \n]*:(\d+)/.exec(output)![1]));
  }

  /** Takes all room but this much. */
  function fill(leave = 0): void {
    const descriptor = openSync(join(dir, "filler"), "w");
    const piece = Buffer.alloc(4096, 1);
    try {
      for (;;) writeSync(descriptor, piece);
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ENOSPC");
    }
    closeSync(descriptor);
    if (leave > 0) spawnSync("truncate", ["-s", `-${leave}`, join(dir, "filler")]);
  }

  const makeRoom = () => rmSync(join(dir, "filler"), { force: true });
  const persistenceInfo = async () => (await wire.call("INFO", "persistence")).text;

  /** Writes until it is refused, or the server is gone; returns how many were acknowledged. */
  async function writeUntilRefused(value: string, prefix = "k"): Promise<number> {
    for (let i = 0; i < 20_000; i++) {
      const answer = await wire.call("SET", `${prefix}${i}`, value);
      if (answer.text === "OK") continue;
      if (answer.tag === "-") expect(answer.text).toMatch(/^MISCONF /);
      return i;
    }
    throw new Error("nothing was refused");
  }

  async function until(come: () => Promise<boolean>): Promise<void> {
    for (let i = 0; i < 1000; i++) {
      if (await come()) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error("it does not come");
  }

  const idle = () => until(async () => !/(bgsave|rewrite)_in_progress:1|scheduled:1/.test(await persistenceInfo()));

  /** What a kill leaves, loaded here and by a real server. */
  async function keysLeft(appendonly: boolean): Promise<number> {
    const copy = join(folder, "copy");
    rmSync(copy, { recursive: true, force: true });
    cpSync(dir, copy, { recursive: true, filter: (path) => !path.endsWith("filler") && !path.endsWith(".lock") });
    const flag = appendonly ? "yes" : "no";
    const found = await EmbeddedEngine.open({ dir: copy, config: { appendonly: flag } });
    const { size } = found.core.databases[0]!;
    await found.close();
    if (missing === undefined) {
      const real = await startRedis(["--dir", copy, "--appendonly", flag]);
      const theirs = await openWire(real.port);
      expect((await theirs.call("DBSIZE")).text).toBe(String(size));
      await theirs.close();
      await real.stop();
    }
    return size;
  }

  async function kill(): Promise<void> {
    // A write may be put off while a sync is under way, and be lost in a kill: that is everysec.
    await until(async () => !/aof_buffer_length:[1-9]/.test(await persistenceInfo()));
    server!.kill("SIGKILL");
    await exited;
  }

  test("everysec: writers are refused, readers served, and all goes on when there is room", async () => {
    await start("--appendonly", "yes", "--save", "");
    fill(100_000);
    const acknowledged = await writeUntilRefused("x".repeat(1000));
    const refusal = (await wire.call("SET", "refused", "1")).text;
    expect(refusal).toMatch(/^MISCONF Errors writing to the AOF file: .*(ENOSPC|no space left)/i);
    expect((await wire.call("GET", "k0")).text).toHaveLength(1000);
    expect(await persistenceInfo()).toContain("aof_last_write_status:err");
    makeRoom();
    await until(async () => (await wire.call("SET", "after", "1")).text === "OK");
    expect(await persistenceInfo()).toContain("aof_last_write_status:ok");
    // The write that met the full disk was acknowledged as well, and was kept until there was room.
    await kill();
    expect(await keysLeft(true)).toBe(acknowledged + 1);
  });

  test("always: the server ends rather than acknowledge what it cannot keep, and starts again with the rest", async () => {
    await start("--appendonly", "yes", "--appendfsync", "always", "--save", "");
    fill(100_000);
    const acknowledged = await writeUntilRefused("x".repeat(1000));
    expect(await exited).toBe(1);
    // The one that was not acknowledged may be there or not.
    const left = await keysLeft(true);
    expect([acknowledged, acknowledged + 1]).toContain(left);
    makeRoom();
    await start("--appendonly", "yes", "--appendfsync", "always", "--save", "");
    expect((await wire.call("DBSIZE")).text).toBe(String(left));
    expect((await wire.call("SET", "after", "1")).text).toBe("OK");
  });

  test("a snapshot that does not fit leaves the old one, and writers are refused until one fits", async () => {
    await start("--save", "3600 1", "--rdbcompression", "no");
    await wire.call("SET", "first", "1");
    expect((await wire.call("SAVE")).text).toBe("OK");
    for (let i = 0; i < 400; i++) await wire.call("SET", `k${i}`, "x".repeat(1000));
    fill();
    expect((await wire.call("SAVE")).tag).toBe("-");
    expect((await wire.call("BGSAVE")).text).toBe("Background saving started");
    await idle();
    expect(await persistenceInfo()).toContain("rdb_last_bgsave_status:err");
    expect((await wire.call("SET", "a", "1")).text).toMatch(/^MISCONF Redis is configured to save RDB/);
    expect((await wire.call("GET", "first")).text).toBe("1");
    expect(readdirSync(dir).sort()).toEqual(["dump.rdb", "filler"]);
    expect(await keysLeft(false)).toBe(1);
    makeRoom();
    await wire.call("BGSAVE");
    await idle();
    expect((await wire.call("SET", "a", "1")).text).toBe("OK");
    await kill();
    expect(await keysLeft(false)).toBe(401);
  });

  test("a rewrite that does not fit changes nothing, and one that does comes later", async () => {
    await start("--appendonly", "yes", "--save", "", "--rdbcompression", "no", "--auto-aof-rewrite-percentage", "0");
    for (let i = 0; i < 400; i++) await wire.call("SET", `k${i}`, "x".repeat(1000));
    // Room for a new manifest and some commands, not for a base.
    fill(100_000);
    for (let i = 0; i < 3; i++) {
      await wire.call("BGREWRITEAOF");
      await idle();
      expect(await persistenceInfo()).toContain("aof_last_bgrewrite_status:err");
      expect((await wire.call("SET", `between${i}`, "1")).text).toBe("OK");
    }
    expect(readdirSync(dir).some((name) => name.startsWith("temp"))).toBe(false);
    // And with no room at all, not even for the manifest.
    rmSync(join(dir, "filler"));
    fill();
    await wire.call("BGREWRITEAOF");
    await idle();
    expect(await keysLeft(true)).toBe(403);
    makeRoom();
    await until(async () => (await wire.call("SET", "after", "1")).text === "OK");
    await wire.call("BGREWRITEAOF");
    await idle();
    expect(await persistenceInfo()).toContain("aof_last_bgrewrite_status:ok");
    const parts = readdirSync(join(dir, "appendonlydir"));
    expect(parts.filter((name) => name.endsWith(".base.rdb"))).toHaveLength(1);
    await kill();
    expect(await keysLeft(true)).toBe(404);
  });

  test("in process: calls are refused, what could not be written at the end is told, and the folder opens again", async () => {
    engine = await EmbeddedEngine.open({ dir });
    engine.core.log = () => {};
    const client = engine.connect();
    fill(50_000);
    let acknowledged = 0;
    await expect(
      (async () => {
        for (;;) {
          await client.call("SET", `k${acknowledged}`, "x".repeat(1000));
          acknowledged++;
          // Each is tried before the next comes: a write is put off while a sync is under way.
          await until(async () =>
            /aof_buffer_length:0|aof_last_write_status:err/.test(String(await client.call("INFO", "persistence"))),
          );
        }
      })(),
    ).rejects.toThrow(/^MISCONF Errors writing to the AOF file/);
    await expect(engine.close()).rejects.toThrow("not everything could be brought to disk");
    engine = null;
    expect(existsSync(join(dir, "cinnabar.lock"))).toBe(false);
    // All but what met the full disk: with everysec it was acknowledged before.
    expect(await keysLeft(true)).toBe(acknowledged - 1);
  });
});
