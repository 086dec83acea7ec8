/**
 * A script that takes all the memory it can get ends with an error, and the server goes on.
 *
 * The short form runs a part of the bombs at a heap of 300 MB. The long form runs them all, at 1 GB and 4 GB, too, which takes
 * minutes:
 *   FULL=1 HEAPS=300,1024,4096 npx vitest run engine/tests/faults/script-memory.test.ts
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { full } from "../../../scripts/full.ts";
import { freePort } from "../conformance/redis-server.ts";
import { Peer } from "../kit/test-peer.ts";
import { BOMBS, CALLS } from "./script-bombs.ts";

const BIN = join(import.meta.dirname, "../../dist/bin/cinnabar-server.js");
/** One in three; of the many ways to read a string, one in four with a rope, and one in ten with large strings, which take longer. */
const bombs = BOMBS.filter(({ name }, nth) => {
  if (full) return true;
  if (name.endsWith("of large strings")) return nth % 10 === 0;
  return name.endsWith("of a rope") ? nth % 4 === 0 : nth % 3 === 0;
});
const HEAPS = (process.env.HEAPS ?? "300").split(",").map(Number);

async function ask(peer: Peer, words: readonly string[]): Promise<string> {
  peer.write(`*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join("")}`);
  await peer.until(() => peer.received.endsWith("\r\n"));
  return peer.take(0);
}

describe.each(HEAPS)("with a heap of %d MB", (heapMb) => {
  let server: ChildProcess;
  let peer: Peer;

  beforeAll(async () => {
    const port = await freePort();
    // As the launcher starts it, with a heap of this size.
    const program = ["--max-semi-space-size=4", `--max-old-space-size=${heapMb}`, BIN];
    server = spawn(process.execPath, [...program, "--port", String(port), "--save", ""], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await new Promise<void>((resolve) => {
      server.stdout!.on("data", (chunk) => String(chunk).includes("Ready to accept") && resolve());
    });
    peer = new Peer(port);
  });

  afterAll(() => {
    peer.socket.destroy();
    server.kill("SIGKILL");
  });

  test.each(bombs)("$name", { timeout: 300_000 }, async ({ script, before }) => {
    for (const words of before ?? []) await ask(peer, words);
    expect(await ask(peer, ["EVAL", script, "0"])).toMatch(/^-ERR .*not enough memory/);
    expect(await ask(peer, ["PING"])).toBe("+PONG\r\n");
    await ask(peer, ["FLUSHALL"]);
  });

  // There is room for more of them in larger heaps, but the same texts show nothing there.
  test.runIf(heapMb === 300).each(CALLS)("$name, in one call", { timeout: 300_000 }, async ({ text, call }) => {
    const script = `local text = ${text} text:byte(1) redis.call('set', 'made', #text) return #${call}`;
    // Where the machine is busy, the text's own garbage may be left when it is written: there is no room then.
    let answer = await ask(peer, ["EVAL", script, "0"]);
    for (let tries = 0; answer.startsWith("-OOM") && tries < 5; tries++) {
      await ask(peer, ["MEMORY", "PURGE"]);
      answer = await ask(peer, ["EVAL", script, "0"]);
    }
    expect(answer).toMatch(/^-ERR .*not enough memory/);
    // The text was there: it was the call that ended.
    expect(await ask(peer, ["EXISTS", "made"])).toBe(":1\r\n");
    expect(await ask(peer, ["PING"])).toBe("+PONG\r\n");
    await ask(peer, ["FLUSHALL"]);
  });
});
