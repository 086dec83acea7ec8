/** The server and its files: what it saves when it ends, what it finds when it starts, and what it says when it cannot. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freePort } from "../../tests/conformance/redis-server.ts";
import { openWire } from "../../tests/conformance/target.ts";
import type { Wire } from "../../tests/conformance/wire.ts";

const PROGRAM = join(import.meta.dirname, "../../dist/bin/cinnabar-server.js");

interface Started {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  /** What it has printed so far. */
  output: string;
  /** Settles when it is ready, or has ended. */
  readonly settled: Promise<void>;
  readonly port: number;
}

let dir: string;
const started: Started[] = [];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "cinnabar-files-"));
});
afterEach(async () => {
  for (const { child, exited } of started.splice(0)) {
    child.kill("SIGKILL");
    await exited;
  }
  rmSync(dir, { recursive: true, force: true });
});

async function launch(...flags: string[]): Promise<Started> {
  const port = await freePort();
  const child = spawn(process.execPath, [PROGRAM, "--dir", dir, "--port", String(port), ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("close", resolve));
  let ready = () => {};
  const settled = new Promise<void>((resolve) => {
    ready = resolve;
    void exited.then(() => resolve());
  });
  const one: Started = { child, exited, output: "", settled, port };
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (chunk) => {
      one.output += chunk;
      if (one.output.includes("Ready to accept connections")) ready();
    });
  }
  started.push(one);
  return one;
}

async function start(...flags: string[]): Promise<{ server: Started; wire: Wire }> {
  const server = await launch(...flags);
  await server.settled;
  return { server, wire: await openWire(server.port) };
}

async function stop({ child, exited }: Started): Promise<number | null> {
  child.kill("SIGTERM");
  return exited;
}

test("SIGTERM saves a snapshot where save points are set, and the next start finds it", async () => {
  const { server, wire } = await start("--save", "3600", "1");
  await wire.call("SET", "k", "v");
  expect(await stop(server)).toBe(0);
  expect(server.output).toContain("DB saved on disk");
  const again = await start();
  expect((await again.wire.call("GET", "k")).text).toBe("v");
  expect((await again.wire.call("INFO", "persistence")).text).toContain("rdb_last_load_keys_loaded:1");
});

test("without save points nothing is saved, unless SHUTDOWN SAVE asks for it", async () => {
  const { server, wire } = await start("--save", "");
  await wire.call("SET", "k", "v");
  await stop(server);
  expect(readdirSync(dir)).toEqual([]);
  const second = await start("--save", "");
  await second.wire.call("SET", "k", "v");
  second.wire.send(["SHUTDOWN", "SAVE"]);
  await second.server.exited;
  expect(existsSync(join(dir, "dump.rdb"))).toBe(true);
});

test("SHUTDOWN is refused where the snapshot cannot be saved, and NOSAVE is not", async () => {
  const { server, wire } = await start("--save", "3600", "1", "--dbfilename", "dump.rdb");
  rmSync(dir, { recursive: true });
  expect((await wire.call("SHUTDOWN")).text).toContain("Errors trying to SHUTDOWN");
  expect((await wire.call("PING")).text).toBe("PONG");
  wire.send(["SHUTDOWN", "NOSAVE"]);
  expect(await server.exited).toBe(0);
});

test("an append-only file is found again, and keeps a second server away", async () => {
  const { server, wire } = await start("--appendonly", "yes", "--save", "");
  await wire.call("RPUSH", "l", "a", "b");
  const second = await launch("--appendonly", "yes", "--save", "");
  expect(await second.exited).toBe(1);
  expect(second.output).toContain(`is in use by process ${server.child.pid}`);
  server.child.kill("SIGKILL");
  await server.exited;
  const again = await start("--appendonly", "yes", "--save", "");
  expect((await again.wire.call("LLEN", "l")).text).toBe("2");
});

test("a damaged file stops the start with its name and the offset", async () => {
  writeFileSync(join(dir, "dump.rdb"), "REDIS0010 and then nothing of the kind");
  const server = await launch();
  expect(await server.exited).toBe(1);
  expect(server.output).toMatch(/Cannot load .*dump\.rdb, offset \d+: /);
});

test("save points take effect at run time", async () => {
  const { wire } = await start("--save", "");
  await wire.call("SET", "k", "v");
  await wire.call("CONFIG", "SET", "save", "1 1");
  for (let i = 0; !existsSync(join(dir, "dump.rdb")); i++) {
    if (i > 500) throw new Error("nothing was saved");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (let i = 0; !(await wire.call("INFO", "persistence")).text.includes("rdb_changes_since_last_save:0"); i++) {
    if (i > 100) throw new Error("the save is not counted");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("SIGTERM during a background save leaves no temporary file", async () => {
  const { server, wire } = await start("--save", "", "--rdb-key-save-delay", "10000000");
  await wire.call("MSET", "a", "1", "b", "2", "c", "3");
  await wire.call("BGSAVE");
  expect((await wire.call("INFO", "persistence")).text).toContain("rdb_bgsave_in_progress:1");
  expect(readdirSync(dir)).toEqual([expect.stringMatching(/^temp-/)]);
  expect(await stop(server)).toBe(0);
  expect(readdirSync(dir)).toEqual([]);
});

test("two servers share a folder if their append-only files have different names", async () => {
  const first = await start("--appendonly", "yes", "--save", "");
  const second = await start("--appendonly", "yes", "--save", "", "--appendfilename", "other.aof");
  expect((await first.wire.call("PING")).text).toBe("PONG");
  expect((await second.wire.call("PING")).text).toBe("PONG");
});

test("a daemon goes on without the program that started it, and is found by its pid file", async () => {
  const pidfile = join(dir, "server.pid");
  const launcher = await launch(
    "--daemonize",
    "yes",
    "--pidfile",
    pidfile,
    "--save",
    "",
    "--logfile",
    join(dir, "log"),
  );
  expect(await launcher.exited).toBe(0);
  const readLog = () => (existsSync(join(dir, "log")) ? readFileSync(join(dir, "log"), "utf8") : "");
  while (!readLog().includes("Ready to accept connections")) await new Promise((resolve) => setTimeout(resolve, 20));
  const pid = Number(readFileSync(pidfile, "utf8"));
  try {
    expect(pid).not.toBe(launcher.child.pid);
    const wire = await openWire(launcher.port);
    expect((await wire.call("CONFIG", "GET", "daemonize")).items[1]!.text).toBe("yes");
    wire.send(["SHUTDOWN", "NOSAVE"]);
    while (!readLog().includes("ready to exit, bye bye")) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(existsSync(pidfile)).toBe(false);
  } finally {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, as it should.
    }
  }
});

test("a second SIGINT ends a save on the way out, and leaves no temporary file", async () => {
  const { server, wire } = await start("--save", "3600", "1", "--rdb-key-save-delay", "10000000");
  await wire.call("MSET", "a", "1", "b", "2", "c", "3");
  server.child.kill("SIGINT");
  while (readdirSync(dir).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  server.child.kill("SIGINT");
  expect(await server.exited).toBe(1);
  expect(server.output).toContain("You insist... exiting now.");
  expect(readdirSync(dir)).toEqual([]);
});
