/** Connections by the thousand: opened, cut, killed and refused, with nothing left behind. */
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../kit/test-peer.ts";
import { type Bench, Bystander, figures, memoryMb, openBench } from "./bench.ts";

let bench: Bench;

afterEach(() => bench.close());

const gone = (left: number) => eventually(() => bench.engine.core.clients.size === left);

describe("connections", () => {
  it("ten thousand of them, opened and closed in every way, leave nothing behind", async () => {
    bench = await openBench();
    const { core } = bench.engine;
    const bystander = new Bystander(bench);
    expect(await eventually(() => core.clients.size === 1)).toBe(true);
    const ways = [
      "",
      "PING\r\n",
      "SUBSCRIBE a b\r\nPSUBSCRIBE c*\r\n",
      "WATCH k\r\nMULTI\r\nSET k v\r\n",
      "BLPOP l 0\r\n",
      "*3\r\n$3\r\nSET\r\n$100000\r\nx",
      "MONITOR\r\n",
      "HELLO 3\r\nCLIENT TRACKING ON\r\nGET k\r\n",
    ];
    const started = performance.now();
    let before = 0;
    for (let round = 0; round < 50; round++) {
      if (round === 5) before = memoryMb();
      const peers = await Promise.all(
        Array.from({ length: 200 }, async (_, i) => {
          const peer = bench.peer(false);
          await peer.send(ways[i % ways.length]!);
          return peer;
        }),
      );
      peers.forEach((peer, i) => {
        if (i % 3 === 0) peer.socket.resetAndDestroy();
        else if (i % 3 === 1) peer.socket.end();
        else peer.socket.destroy();
      });
      await Promise.all(peers.map((peer) => peer.closed));
    }
    const seconds = (performance.now() - started) / 1000;
    expect(await gone(1)).toBe(true);
    const { worstMs } = await bystander.stop();
    expect(core.blocking.size).toBe(0);
    expect(core.pubsub.channels.size + core.pubsub.patternCount).toBe(0);
    expect(core.monitor.active).toBe(false);
    const [db] = core.databases;
    expect(db!.watchers.size + db!.awaited.size).toBe(0);
    const grown = memoryMb() - before;
    expect(grown).toBeLessThan(60);
    figures("ten thousand connections", {
      "per second": 10_000 / seconds,
      "MB grown since the first 1,000": grown,
      "bystander's worst wait ms": worstMs,
    });
  });

  it("past maxclients are refused, and clients that leave make room", async () => {
    bench = await openBench({ maxclients: "100" });
    const peers = Array.from({ length: 300 }, () => bench.peer().write("PING\r\n"));
    const answers = await Promise.all(peers.map((peer) => peer.take(7)));
    const served = answers.filter((answer) => answer === "+PONG\r\n").length;
    expect(served).toBe(100);
    expect(answers.filter((answer) => answer.startsWith("-ERR max number of clients"))).toHaveLength(200);
    expect(bench.engine.core.stats.rejectedConnections).toBe(200);
    for (const { socket } of peers) socket.destroy();
    expect(await gone(0)).toBe(true);
    expect(await bench.peer().write("PING\r\n").take(7)).toBe("+PONG\r\n");
    figures("maxclients", { asked: 300, served, refused: 200 });
  });

  it("in a storm of CLIENT KILL end, whatever they are doing", async () => {
    bench = await openBench();
    const { core } = bench.engine;
    const killer = bench.engine.connect();
    let killed = 0;
    for (let round = 0; round < 10; round++) {
      const peers = Array.from({ length: 50 }, (_, i) => {
        const lines = [
          "PING\r\n".repeat(2000),
          "BLPOP l 0\r\nPING\r\n",
          "SUBSCRIBE c\r\n",
          "MULTI\r\nSET k v\r\n",
          "CLIENT KILL TYPE pubsub\r\n".repeat(5),
        ];
        return bench.peer(false).write(lines[i % lines.length]!);
      });
      expect(await eventually(() => core.clients.size > 1 || peers.every((peer) => peer.ended))).toBe(true);
      while (core.clients.size > 1) {
        killed += Number(await killer.call("CLIENT", "KILL", "SKIPME", "yes"));
        await new Promise(setImmediate);
      }
      for (const { socket } of peers) socket.destroy();
    }
    expect(await gone(1)).toBe(true);
    expect(await bench.peer().write("PING\r\n").take(7)).toBe("+PONG\r\n");
    expect(core.blocking.size).toBe(0);
    figures("CLIENT KILL storm", { connections: 500, "killed by the one": killed });
  });

  it("that are cut while they wait lose no element to nobody", async () => {
    bench = await openBench();
    const { core } = bench.engine;
    const client = bench.engine.connect();
    const peers = Array.from({ length: 500 }, () => bench.peer().write("BLPOP l 0\r\n"));
    expect(await eventually(() => core.blocking.size === 500)).toBe(true);
    peers.forEach((peer, i) => {
      if (i % 2 === 0) peer.socket.resetAndDestroy();
    });
    expect(await eventually(() => core.blocking.size === 250)).toBe(true);
    await client.call("RPUSH", "l", ...Array.from({ length: 300 }, (_, i) => i));
    expect(await client.call("LLEN", "l")).toBe(50);
    const answers = await Promise.all(peers.filter((_, i) => i % 2 === 1).map((peer) => peer.take(18)));
    expect(new Set(answers).size).toBe(250);
    expect(core.blocking.size).toBe(0);
    figures("waiting clients cut", { waiting: 500, cut: 250, served: 250, "left in the list": 50 });
  });
});
