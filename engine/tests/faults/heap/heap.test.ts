/**
 * Stores that are filled to the limit of a heap of 300 MB: nothing aborts, nothing acknowledged is lost, the same heap loads
 * it again. The short form; `npm run faults:heap` does it in every way, at 300 MB, 1 GB and 4 GB.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { full } from "../../../../scripts/full.ts";
import { nodeWords } from "../../../../scripts/program.ts";
import { freePort } from "../../conformance/redis-server.ts";
import { command, fillToTheLimit, HeapServer, LineClient } from "./fill.ts";
import { kinds } from "./kinds.ts";

const run = promisify(execFile);
/** A fill is as fast as the machine; this is only for one that hangs. */
const TIMEOUT_MS = 600_000;
const kindOf = (name: string) => kinds.find((kind) => kind.name === name)!;

describe("a store that is filled", () => {
  it.runIf(full)(
    "with small values, while a replica follows and the file is rewritten",
    { timeout: TIMEOUT_MS },
    async () => {
      const kind = kindOf("SET 1 kB");
      const figures = await fillToTheLimit({ kind, heapMb: 300, replica: true, meanwhile: "BGREWRITEAOF" });
      expect(figures.missing).toBe(0);
      expect(figures.replicaKept).toBe(true);
      expect(figures.acknowledged).toBeGreaterThan(150_000);
    },
  );

  it.each(full ? ["SET 500 kB", "a script of 100 SETs"] : ["a script of 100 SETs"])(
    "with %s",
    { timeout: TIMEOUT_MS },
    async (name) => {
      const figures = await fillToTheLimit({ kind: kindOf(name), heapMb: 300 });
      expect(figures.missing).toBe(0);
    },
  );
});

describe("a heap that is too small", () => {
  const servers: HeapServer[] = [];
  let dir: string;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "cinnabar-heap-"));
  });

  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  async function start(heapMb: number, ...flags: string[]): Promise<HeapServer> {
    const server = new HeapServer(await freePort(), heapMb, dir, ["--enable-debug-command", "yes", ...flags]);
    servers.push(server);
    return server;
  }

  /** Asks one thing of a server, answered by one line. */
  async function ask(server: HeapServer, ...words: string[]): Promise<string> {
    const client = new LineClient(server.port);
    const [reply] = await client.ask([command(words)]);
    client.close();
    return reply ?? "cut off";
  }

  it.runIf(full)("refuses a file and says what to do", { timeout: TIMEOUT_MS }, async () => {
    const first = await start(400, "--dbfilename", "large.rdb");
    await first.ready;
    expect(await ask(first, "DEBUG", "POPULATE", "180000", "key", "1000")).toBe("+OK");
    expect(await ask(first, "SAVE")).toBe("+OK");
    await first.stop();
    const second = await start(150, "--dbfilename", "large.rdb");
    await expect(second.ready).rejects.toThrow(/does not fit into V8's heap.*--max-old-space-size=\d+/s);
    expect(second.child.exitCode).toBe(1);
  });

  it.runIf(full)("ends a replica's link, not the replica", { timeout: TIMEOUT_MS }, async () => {
    const primary = await start(400, "--dbfilename", "primary.rdb");
    await primary.ready;
    expect(await ask(primary, "DEBUG", "POPULATE", "180000", "key", "1000")).toBe("+OK");
    const replica = await start(150, "--dbfilename", "replica.rdb", "--replicaof", `127.0.0.1 ${primary.port}`);
    await replica.said(/does not fit into V8's heap/);
    expect(await ask(replica, "PING")).toBe("+PONG");
    expect(await ask(primary, "SET", "still", "here")).toBe("+OK");
  });

  it("evicts where the policy says so, without maxmemory", { timeout: TIMEOUT_MS }, async () => {
    const server = await start(150, "--maxmemory-policy", "allkeys-lru");
    await server.ready;
    expect(await ask(server, "DEBUG", "POPULATE", "110000", "key", "1000")).toBe("+OK");
    const client = new LineClient(server.port);
    const value = "x".repeat(1000);
    for (let i = 0; i < 100; i++) {
      const replies = await client.ask(
        Array.from({ length: 1000 }, (_, j) => command(["SET", `new:${i}:${j}`, value])),
      );
      expect(replies.filter((reply) => reply === "+OK")).toHaveLength(1000);
    }
    client.close();
    server.expectAlive();
  });

  it("is full of data, and scripts still read and delete; those that take much memory end, again and again", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const server = await start(300);
    await server.ready;
    const client = new LineClient(server.port);
    const value = "x".repeat(1000);
    let count = 0;
    for (let isFull = false; !isFull; ) {
      const keys = Array.from({ length: 1000 }, () => command(["SET", `key:${count++}`, value]));
      isFull = (await client.ask(keys)).some((reply) => reply.includes("OOM"));
    }
    client.close();
    const bomb = 'local t = {} for i = 1, 1e9 do t[i] = (string.rep("x", 100000) .. i):upper() end';
    const nodes = "local t = {} for i = 1, 1e9 do t[i] = {i} end";
    for (let round = 0; round < 8; round++) {
      expect(await ask(server, "EVAL", bomb, "0")).toContain("not enough memory");
      expect(await ask(server, "EVAL", "return redis.call('EXISTS', 'key:1')", "0")).toBe(":1");
      expect(await ask(server, "EVAL", nodes, "0")).toContain("not enough memory");
    }
    const clear = "for i = 0, 99999 do redis.call('DEL', 'key:' .. i) end return 1";
    expect(await ask(server, "EVAL", clear, "0")).toBe(":1");
    expect(await ask(server, "SET", "again", value)).toBe("+OK");
    server.expectAlive();
  });

  it("is shared with a program that has the store in its process", { timeout: TIMEOUT_MS }, async () => {
    const program = nodeWords(join(import.meta.dirname, "inside.ts"));
    const { stdout } = await run(process.execPath, ["--max-old-space-size=200", ...program]);
    const [, first] = /^(\d+) beside 60000\n(\d+) more\n$/.exec(stdout)!;
    expect(Number(first)).toBeGreaterThan(20_000);
  });

  it("stops a script that writes without end, and a command that would copy everything", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const server = await start(300);
    await server.ready;
    const endless = "local i = 0 while true do i = i + 1 redis.call('RPUSH', 'list', ARGV[1] .. i) end";
    // Its writes are refused, or its own memory is: whichever limit comes first.
    expect(await ask(server, "EVAL", endless, "0", "x".repeat(1000))).toMatch(/OOM|not enough memory/);
    expect(await ask(server, "LRANGE", "list", "0", "-1")).toContain("OOM");
    expect(await ask(server, "COPY", "list", "other")).toContain("OOM");
    expect(await ask(server, "LRANGE", "list", "0", "0")).toBe("*1");
    expect(await ask(server, "DEL", "list")).toBe(":1");
    expect(await ask(server, "RPUSH", "list", "again")).toBe(":1");
    server.expectAlive();
  });
});
