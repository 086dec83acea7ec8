/** Commands that never end: what has been read of them counts, and has a bound. */
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../kit/test-peer.ts";
import { type Bench, Bystander, figures, memoryMb, openBench } from "./bench.ts";

const MB = 1024 * 1024;
let bench: Bench;

afterEach(() => bench.close());

const WORDS = Buffer.from("$1\r\na\r\n".repeat(10_000));

describe("a command of two billion words", () => {
  it("ends at client-query-buffer-limit, with the words counted that were read", async () => {
    bench = await openBench({ "client-query-buffer-limit": "4mb" });
    const bystander = new Bystander(bench);
    const before = memoryMb();
    const peer = bench.peer().write("*2147483647\r\n");
    let sent = 0;
    while (!peer.ended && sent < 1000) {
      await peer.send(WORDS);
      sent++;
    }
    expect(peer.ended).toBe(true);
    const { worstMs } = await bystander.stop();
    const grown = memoryMb() - before;
    figures("a command without end", {
      "words sent": sent * 10_000,
      "MB grown": grown,
      "bystander's worst ms": worstMs,
    });
    // A word of one byte counts for some thirty: 4 MB are at most 4 M bytes of them.
    expect(sent * 10_000).toBeLessThan(1_000_000);
    expect(grown).toBeLessThan(30);
  });

  it("on many connections at once is bounded by a share of the heap; the largest go", async () => {
    bench = await openBench();
    const { core } = bench.engine;
    core.clientMemory.heapShare = 8 * MB;
    const bystander = new Bystander(bench);
    const peers = Array.from({ length: 20 }, () => bench.peer(false).write("*2147483647\r\n"));
    for (const [i, peer] of peers.entries()) {
      await peer.send("$1\r\na\r\n".repeat(1000 * (i + 1) * 4));
    }
    expect(await eventually(() => core.stats.evictedClients > 0)).toBe(true);
    const held = () => [...core.clients.values()].reduce((sum, client) => sum + (client.transport.heapBytes ?? 0), 0);
    expect(await eventually(() => held() <= 8 * MB)).toBe(true);
    expect(peers[0]!.ended).toBe(false);
    const { worstMs } = await bystander.stop();
    figures("unfinished commands", { evicted: core.stats.evictedClients, "bystander's worst ms": worstMs });
  });

  it("in a transaction counts as well", async () => {
    bench = await openBench();
    const { core } = bench.engine;
    core.clientMemory.heapShare = 4 * MB;
    const peer = bench.peer(false).write("MULTI\r\n");
    for (let i = 0; i < 300 && !peer.ended; i++) await peer.send("SET k 0123456789\r\n".repeat(500));
    expect(await eventually(() => peer.ended)).toBe(true);
    expect(core.stats.evictedClients).toBe(1);
  });
});

describe("a long word that is only announced", () => {
  it("takes what has come of it, and goes with maxmemory-clients", async () => {
    bench = await openBench({ "maxmemory-clients": "2mb" });
    const { core } = bench.engine;
    const peers = Array.from({ length: 10 }, () => bench.peer(false).write("*2\r\n$3\r\nGET\r\n$500000000\r\n"));
    expect(await eventually(() => core.clients.size === 10)).toBe(true);
    for (const peer of peers) await peer.send("x".repeat(100_000));
    expect(core.clientMemory.totalBytes).toBeLessThan(2 * MB);
    await peers[0]!.send("x".repeat(3 * MB));
    expect(await eventually(() => peers[0]!.ended)).toBe(true);
    expect(peers[1]!.ended).toBe(false);
    expect(core.stats.evictedClients).toBe(1);
  });
});
