/** Clients that do not take what they asked for. */
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../../src/core/clock.ts";
import { eventually, type Peer } from "../kit/test-peer.ts";
import { type Bench, Bystander, figures, memoryMb, openBench } from "./bench.ts";

const MB = 1024 * 1024;
let bench: Bench;

afterEach(() => bench.close());

/** A connection that never reads, and what the engine knows of it. */
async function deafPeer(lines: string): Promise<{ peer: Peer; pending: () => number; alive: () => boolean }> {
  const { clients } = bench.engine.core;
  const peer = bench.peer(false);
  peer.socket.pause();
  await peer.send("CLIENT SETNAME deaf\r\n");
  const find = () => [...clients.values()].find((client) => client.name === "deaf");
  expect(await eventually(() => find() !== undefined)).toBe(true);
  const client = find()!;
  await peer.send(lines);
  return { peer, pending: () => client.transport.outputBytes, alive: () => clients.has(client.id) };
}

describe("a client that does not read", () => {
  it("without a limit is neither run nor read from past 64 MB, and gets everything once it reads", async () => {
    bench = await openBench();
    bench.engine.connect().callSync("SET", "big", "x".repeat(MB));
    const bystander = new Bystander(bench);
    const asked = 400;
    const before = memoryMb();
    const { peer, pending, alive } = await deafPeer("GET big\r\n".repeat(asked));
    expect(await eventually(() => pending() > 60 * MB)).toBe(true);
    // It goes on asking, which must not make the pile grow.
    for (let i = 0; i < 20; i++) peer.write("GET big\r\n".repeat(10_000));
    await bystander.isAnswered(50);
    const [most, grown] = [pending(), memoryMb() - before];
    expect(most).toBeLessThan(70 * MB);
    expect(grown).toBeLessThan(200);
    expect(alive()).toBe(true);
    const { asked: others, worstMs } = await bystander.stop();
    peer.socket.resume();
    const expected = 5 + asked * (MB + 12);
    await peer.until(() => peer.receivedBytes >= expected);
    expect(peer.receivedBytes).toBeGreaterThanOrEqual(expected);
    figures("big GETs unread", {
      "asked for MB": asked,
      "pending MB": most / MB,
      "memory grown MB": grown,
      "bystander asked": others,
      "its worst wait ms": worstMs,
    });
  });

  it("of many small replies is bounded as well", async () => {
    bench = await openBench();
    bench.engine.connect().callSync("SET", "k", "x".repeat(1000));
    const { peer, pending } = await deafPeer("");
    const batch = Buffer.from("GET k\r\n".repeat(20_000));
    let sent = 0;
    while (sent < 20 && !(pending() > 64 * MB)) {
      peer.write(batch);
      sent++;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    expect(await eventually(() => pending() > 60 * MB)).toBe(true);
    expect(pending()).toBeLessThan(66 * MB);
    peer.socket.resume();
    const expected = 5 + sent * 20_000 * 1009;
    await peer.until(() => peer.receivedBytes >= expected);
    expect(peer.receivedBytes).toBe(expected);
  });

  it("with a hard limit is cut off there", async () => {
    bench = await openBench({ "client-output-buffer-limit": "normal 10mb 0 0" });
    bench.engine.connect().callSync("SET", "big", "x".repeat(MB));
    const bystander = new Bystander(bench);
    const { alive } = await deafPeer("GET big\r\n".repeat(100));
    expect(await eventually(() => !alive())).toBe(true);
    const { worstMs } = await bystander.stop();
    expect(bench.engine.core.stats.outputLimitDisconnections).toBe(1);
    figures("normal client over its limit", { "limit MB": 10, "bystander's worst wait ms": worstMs });
  });

  it("with a soft limit is cut off when its time is over", async () => {
    const clock = new ManualClock();
    bench = await openBench({ "client-output-buffer-limit": "normal 0 1mb 10" }, clock);
    bench.engine.connect().callSync("SET", "big", "x".repeat(20 * MB));
    const bystander = new Bystander(bench);
    const { alive, pending } = await deafPeer("GET big\r\n");
    expect(await eventually(() => pending() > MB)).toBe(true);
    clock.advance(9_000);
    await bystander.isAnswered(50);
    expect(alive()).toBe(true);
    expect(
      await eventually(() => {
        clock.advance(1_000);
        return !alive();
      }),
    ).toBe(true);
    await bystander.stop();
  });
});

describe("a subscriber that does not read", () => {
  it("is cut off at the hard limit of its class; the publisher and the others go on", async () => {
    bench = await openBench();
    const { pending, alive, peer } = await deafPeer("SUBSCRIBE news\r\n");
    const listener = bench.peer(false).write("SUBSCRIBE news\r\n");
    expect(await eventually(() => listener.receivedBytes > 0)).toBe(true);
    const bystander = new Bystander(bench);
    const publisher = bench.engine.connect();
    const message = "m".repeat(100_000);
    let published = 0;
    let most = 0;
    while (alive() && published < 2000) {
      await publisher.call("PUBLISH", "news", message);
      published++;
      most = Math.max(most, pending());
      if (published % 10 === 0) await new Promise(setImmediate);
    }
    expect(alive()).toBe(false);
    expect(most).toBeGreaterThan(30 * MB);
    expect(most).toBeLessThan(36 * MB);
    expect(await publisher.call("PUBLISH", "news", "last")).toBe(1);
    await listener.until(() => listener.receivedBytes >= published * message.length);
    expect(listener.ended).toBe(false);
    const { worstMs } = await bystander.stop();
    figures("deaf subscriber", {
      "messages of 100 KB": published,
      "pending MB at the end": most / MB,
      "bystander's worst wait ms": worstMs,
    });
    peer.socket.destroy();
  });

  it("in one command's burst is cut off too", async () => {
    bench = await openBench({ "client-output-buffer-limit": "pubsub 1mb 0 0" });
    const { alive } = await deafPeer("SUBSCRIBE news\r\n");
    expect(await eventually(() => bench.engine.core.pubsub.channels.size === 1)).toBe(true);
    const publisher = bench.engine.connect();
    await publisher.transaction(Array.from({ length: 1000 }, () => ["PUBLISH", "news", "m".repeat(10_000)]));
    expect(alive()).toBe(false);
    expect(await publisher.call("PUBSUB", "NUMSUB", "news")).toEqual(["news", 0]);
  });

  it("and monitors is bounded like a client", async () => {
    bench = await openBench({ "client-output-buffer-limit": "normal 1mb 0 0" });
    const { alive } = await deafPeer("MONITOR\r\n");
    expect(await eventually(() => bench.engine.core.monitor.active)).toBe(true);
    const client = bench.engine.connect();
    for (let i = 0; alive() && i < 5000; i++) {
      await client.call("SET", "k", "v".repeat(10_000));
      if (i % 100 === 0) await new Promise(setImmediate);
    }
    expect(alive()).toBe(false);
  });
});
