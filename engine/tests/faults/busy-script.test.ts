/** A script that does not end: the others are told, and it can be ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { freePort } from "../conformance/redis-server.ts";
import { Peer } from "../kit/test-peer.ts";
import { figures } from "./bench.ts";

/** Two seconds are promised, and it takes milliseconds; a machine with much else to do gets the rest. */
const ENDS_WITHIN_MS = 5000;

const BIN = join(import.meta.dirname, "../../dist/bin/cinnabar-server.js");

/** The server in a process of its own: the script holds the thread that a test would need. */
let server: ChildProcess;
let port: number;
let peers: Peer[];

beforeEach(async () => {
  peers = [];
  await start();
});

async function start(...flags: string[]): Promise<void> {
  port = await freePort();
  const all = ["--port", String(port), "--save", "", "--busy-reply-threshold", "50", ...flags];
  server = spawn(process.execPath, [BIN, ...all], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve) => {
    server.stdout!.on("data", (chunk) => String(chunk).includes("Ready to accept") && resolve());
  });
}

afterEach(() => {
  for (const { socket } of peers) socket.destroy();
  server.kill("SIGKILL");
});

async function peer(): Promise<Peer> {
  const made = new Peer(port);
  peers.push(made);
  await ask(made, "PING");
  return made;
}

/** Sends a command and takes its answer, which is one line. */
async function ask(peer: Peer, ...words: string[]): Promise<string> {
  peer.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`);
  await peer.until(() => peer.received.endsWith("\r\n"));
  return peer.take(0);
}

/** Asks until the script is busy: what was asked before it began is answered as usual, but not before it is busy. */
async function untilBusy(other: Peer): Promise<string> {
  for (;;) {
    const answer = await ask(other, "GET", "k");
    if (!answer.startsWith("$-1")) return answer;
  }
}

describe("a script that does not end", () => {
  test("makes others wait, then tells them BUSY, until SCRIPT KILL ends it", async () => {
    const [caller, other] = [await peer(), await peer()];
    const running = ask(caller, "EVAL", "while true do end", "0");
    expect(await untilBusy(other)).toMatch(/^-BUSY Redis is busy running a script\. You can only call SCRIPT KILL/);
    expect(await ask(other, "FUNCTION", "KILL")).toMatch(/^-BUSY/);
    expect(await ask(other, "SHUTDOWN")).toMatch(/^-BUSY/);
    expect(await ask(other, "SCRIPT", "KILL")).toBe("+OK\r\n");
    expect(await running).toMatch(
      /^-ERR Script killed by user with SCRIPT KILL\.\.\. script: [0-9a-f]{40}, on @user_script:1\./,
    );
    expect(await ask(caller, "PING")).toBe("+PONG\r\n");
    expect(await ask(other, "SCRIPT", "KILL")).toMatch(/^-NOTBUSY/);
  });

  test("is not saved by pcall, and not by a coroutine", async () => {
    const [caller, other] = [await peer(), await peer()];
    for (const script of [
      "return pcall(function() while true do end end)",
      "return coroutine.wrap(function() while true do end end)()",
      "local function f() return f() end return f()",
      "repeat until pcall(string.rep, 'x', -1) == 5",
    ]) {
      const running = ask(caller, "EVAL", script, "0");
      expect(await untilBusy(other)).toMatch(/^-BUSY/);
      expect(await ask(other, "SCRIPT", "KILL")).toBe("+OK\r\n");
      expect(await running).toMatch(/^-ERR Script killed/);
    }
  });

  test("cannot be killed once it has written; SHUTDOWN NOSAVE still ends the server", async () => {
    const [caller, other] = [await peer(), await peer()];
    void ask(caller, "EVAL", "redis.call('set', 'k', 'v') while true do end", "0");
    expect(await untilBusy(other)).toMatch(/^-BUSY/);
    expect(await ask(other, "SCRIPT", "KILL")).toMatch(/^-UNKILLABLE/);
    const exited = new Promise<number | null>((resolve) => server.once("exit", resolve));
    other.socket.write("*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n");
    expect(await exited).toBe(0);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("%s ends the server while it is busy", async (signal) => {
    const [caller, other] = [await peer(), await peer()];
    void ask(caller, "EVAL", "redis.call('set', 'k', 'v') while true do end", "0");
    expect(await untilBusy(other)).toMatch(/^-BUSY/);
    const sent = performance.now();
    expect(await ended(() => server.kill(signal))).toBe(signal);
    const ms = performance.now() - sent;
    figures(`${signal} ends a server with a busy script`, { ms });
    expect(ms).toBeLessThan(ENDS_WITHIN_MS);
  });

  test("SIGTERM while it is busy leaves the last snapshot as it is, without an append-only file", async () => {
    const dir = mkdtempSync(join(tmpdir(), "cinnabar-busy-"));
    const flags = ["--dir", dir, "--save", "3600 1"];
    try {
      await ended(() => server.kill("SIGKILL"));
      await start(...flags);
      const [caller, other] = [await peer(), await peer()];
      await ask(caller, "SET", "n", "saved");
      expect(await ask(caller, "SAVE")).toBe("+OK\r\n");
      const saved = readFileSync(join(dir, "dump.rdb"));
      await ask(caller, "SET", "n", "not saved");
      void ask(caller, "EVAL", "redis.call('set', 'k', 'v') while true do end", "0");
      expect(await untilBusy(other)).toMatch(/^-BUSY/);
      expect(await ended(() => server.kill("SIGTERM"))).toBe("SIGTERM");
      expect(readFileSync(join(dir, "dump.rdb")).equals(saved)).toBe(true);
      await start(...flags);
      const again = await peer();
      expect(await ask(again, "GET", "n")).toBe("$5\r\nsaved\r\n");
      expect(await ask(again, "EXISTS", "k")).toBe(":0\r\n");
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test.each(["everysec", "always"])("SIGTERM while it is busy loses nothing acknowledged: %s", async (appendfsync) => {
    const dir = mkdtempSync(join(tmpdir(), "cinnabar-busy-"));
    const flags = ["--dir", dir, "--appendonly", "yes", "--appendfsync", appendfsync];
    try {
      await ended(() => server.kill("SIGKILL"));
      await start(...flags);
      const [caller, writer, other] = [await peer(), await peer(), await peer()];
      expect(await ask(writer, "INCR", "n")).toBe(":1\r\n");
      // Another writer is in the middle of it when the script comes: what it is told counts.
      writer.write("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n".repeat(20_000));
      void ask(caller, "EVAL", "redis.call('set', 'k', 'v') while true do end", "0");
      expect(await untilBusy(other)).toMatch(/^-BUSY/);
      expect(await ended(() => server.kill("SIGTERM"))).toBe("SIGTERM");
      const told = Math.max(1, ...[...writer.received.matchAll(/:(\d+)\r\n/g)].map(([, n]) => Number(n)));
      await start(...flags);
      const [, kept = "0"] = /\$\d+\r\n(\d+)/.exec(await ask(await peer(), "GET", "n")) ?? [];
      expect(Number(kept)).toBeGreaterThanOrEqual(told);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  test("a signal that came before it was busy is carried out when it is", async () => {
    const caller = await peer();
    await ask(caller, "CONFIG", "SET", "busy-reply-threshold", "2000");
    // The script says that it has begun: the signal comes while it holds the thread and is not busy yet.
    const begun = new Promise<void>((resolve) => {
      server.stdout!.on("data", (chunk) => String(chunk).includes("begun") && resolve());
    });
    void ask(caller, "EVAL", "redis.log(redis.LOG_WARNING, 'begun') while true do end", "0");
    await begun;
    expect(await ended(() => server.kill("SIGTERM"))).toBe("SIGTERM");
  });

  test("signals shut the server down as usual once it is over", async () => {
    const [caller, other] = [await peer(), await peer()];
    const running = ask(caller, "EVAL", "while true do end", "0");
    expect(await untilBusy(other)).toMatch(/^-BUSY/);
    expect(await ask(other, "SCRIPT", "KILL")).toBe("+OK\r\n");
    expect(await running).toMatch(/^-ERR Script killed/);
    expect(await ended(() => server.kill("SIGTERM"))).toBe(0);
  });

  test("script-time-limit ends it if it has written nothing", async () => {
    const caller = await peer();
    await ask(caller, "CONFIG", "SET", "script-time-limit", "20");
    expect(await ask(caller, "EVAL", "while true do end", "0")).toMatch(/^-ERR Script ended: it ran longer than/);
    expect(await ask(caller, "EVAL", "return pcall(function() while true do end end)", "0")).toMatch(
      /^-ERR Script ended/,
    );
    const wrote = "redis.call('set', 'k', 'v') for i = 1, 1e7 do end return 'written'";
    expect(await ask(caller, "EVAL", wrote, "0")).toBe("$7\r\nwritten\r\n");
  });
});

/** The signal or the code with which the server ends. */
function ended(by: () => void): Promise<string | number | null> {
  const exited = new Promise<string | number | null>((resolve) => {
    server.once("exit", (code, signal) => resolve(signal ?? code));
  });
  by();
  return exited;
}
