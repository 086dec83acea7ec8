/** Replies, messages and postponed input that together are larger than what the process may take for them. */
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../kit/test-peer.ts";
import { type Bench, Bystander, figures, memoryMb, openBench } from "./bench.ts";

const MB = 1024 * 1024;
let bench: Bench;

afterEach(() => bench.close());

describe("a reply that names one large value again and again", () => {
  it.each([
    ["a string", ["SET", "big", "x".repeat(16 * MB)]],
    ["a string that was appended to", ["APPEND", "big", "x".repeat(16 * MB)]],
  ])("costs the value once: %s", async (_what, write) => {
    bench = await openBench();
    bench.engine.connect().callSync(...write);
    const bystander = new Bystander(bench);
    const before = memoryMb();
    const times = 50;
    const expected = 5 + times * (16 * MB + 13);
    const peer = bench.peer(false).write(`MGET${" big".repeat(times)}\r\n`);
    let most = 0;
    while (peer.receivedBytes < expected && !peer.ended) {
      most = Math.max(most, memoryMb() - before);
      const next = Math.min(expected, peer.receivedBytes + 200 * MB);
      await peer.until(() => peer.receivedBytes >= next);
    }
    expect(peer.receivedBytes).toBe(expected);
    const { asked, worstMs } = await bystander.stop();
    figures("one value fifty times", {
      "reply MB": expected / MB,
      "memory grown MB": most,
      "bystander asked": asked,
      "its worst wait ms": worstMs,
    });
    expect(most).toBeLessThan(150);
    expect(asked).toBeGreaterThan(5);
  });

  it("costs nothing more when the client does not read", async () => {
    bench = await openBench();
    bench.engine.connect().callSync("SET", "big", "x".repeat(16 * MB));
    const peer = bench.peer(false);
    peer.socket.pause();
    const before = memoryMb();
    peer.write(`MGET${" big".repeat(50)}\r\nPING\r\n`);
    const { clients } = bench.engine.core;
    expect(
      await eventually(() => [...clients.values()].some(({ transport }) => transport.outputBytes > 700 * MB)),
    ).toBe(true);
    expect(memoryMb() - before).toBeLessThan(60);
  });
});

describe("a large message to many subscribers", () => {
  it("is there once", async () => {
    bench = await openBench({ "client-output-buffer-limit": "pubsub 0 0 0" });
    const peers = Array.from({ length: 50 }, () => bench.peer(false).write("SUBSCRIBE news\r\n"));
    expect(await eventually(() => bench.engine.core.pubsub.channels.get("news")?.size === 50)).toBe(true);
    for (const { socket } of peers) socket.pause();
    const before = memoryMb();
    expect(bench.engine.connect().callSync("PUBLISH", "news", "m".repeat(20 * MB))).toBe(50);
    await new Promise(setImmediate);
    // A window for each of them and the message itself, not a gigabyte.
    const grown = memoryMb() - before;
    figures("20 MB to 50 subscribers", { "memory grown MB": grown });
    expect(grown).toBeLessThan(300);
    for (const { socket } of peers) socket.resume();
    await Promise.all(peers.map((peer) => peer.until(() => peer.receivedBytes >= 20 * MB)));
    for (const peer of peers) expect(peer.receivedBytes).toBeGreaterThan(20 * MB);
  });
});

/** Returns when a figure has not changed for so many turns of the event loop: both ends are in this process. */
async function standsStill(figure: () => string, turns = 200): Promise<void> {
  let last = "";
  for (let same = 0; same < turns; same++) {
    await new Promise((resolve) => setImmediate(resolve));
    if (figure() === last) continue;
    last = figure();
    same = 0;
  }
}

describe("what a client sends behind a command that has to wait", () => {
  it.each([
    ["CLIENT PAUSE", "SET k v\r\n"],
    ["BLPOP", "BLPOP l 0\r\n"],
  ])("is taken only as far as a bound: %s", async (how, first) => {
    bench = await openBench();
    const client = bench.engine.connect();
    const bystander = new Bystander(bench);
    if (how === "CLIENT PAUSE") {
      await bystander.stop();
      await client.call("CLIENT", "PAUSE", 100_000, "WRITE");
    }
    const before = memoryMb();
    const peer = bench.peer(false).write(first);
    const { core } = bench.engine;
    expect(await eventually(() => core.pause.size + core.blocking.size === 1)).toBe(true);
    const commands = 400_000;
    const flood = Buffer.from("ECHO 0123456789012345678901234567890123456789\r\n".repeat(1000));
    for (let i = 0; i < commands / 1000; i++) peer.write(flood);
    // It must fill the system's buffers and go no further.
    const taken = () => Math.max(...[...core.clients.values()].map(({ transport }) => transport.inputBytes));
    await standsStill(() => `${peer.socket.writableLength} ${taken()}`);
    const pending = taken();
    const grown = memoryMb() - before - peer.socket.writableLength / MB;
    expect(pending).toBeGreaterThan(MB / 2);
    expect(pending).toBeLessThan(2 * MB);
    expect(grown).toBeLessThan(30);
    if (how === "CLIENT PAUSE") await client.call("CLIENT", "UNPAUSE");
    else {
      await client.call("RPUSH", "l", "x");
      await bystander.stop();
    }
    const answers = commands * 47;
    await peer.until(() => peer.receivedBytes >= answers);
    expect(peer.receivedBytes).toBeGreaterThan(answers);
    figures(`a flood behind ${how}`, { "sent MB": (commands * 47) / MB, "taken MB": pending / MB });
  });
});
