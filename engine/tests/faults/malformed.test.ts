/** Requests that are broken, unfinished, slow or far too large, while others go on. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, type Peer } from "../kit/test-peer.ts";
import { type Bench, Bystander, command, figures, memoryMb, openBench } from "./bench.ts";

let bench: Bench;

beforeEach(async () => {
  bench = await openBench();
});

afterEach(() => bench.close());

const GARBAGE = [
  "*abc\r\n",
  "*2147483648\r\n",
  "*-0\r\n",
  "*1\r\n$-1\r\n",
  "*1\r\n$536870913\r\n",
  "*1\r\n$99999999999999999999\r\n",
  "*3\r\n$3\r\nSET\r\n:1\r\n",
  'SET k "unbalanced\r\n',
  "A".repeat(66_000),
  `*${"9".repeat(66_000)}`,
  `*1\r\n$${"9".repeat(66_000)}`,
  "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

describe("malformed requests", () => {
  it("in a storm on many connections are refused one by one, and others go on", async () => {
    const bystander = new Bystander(bench);
    let refused = 0;
    const started = performance.now();
    for (let round = 0; round < 25; round++) {
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => {
          const bytes = GARBAGE[(round + i) % GARBAGE.length]!;
          // Much more behind it, which must not be run. (A line that is too long is one only until it ends.)
          const behind = bytes.startsWith("A") ? "" : "SET broken 1\r\n".repeat(100);
          return bench.peer().write(`PING\r\n${bytes}${behind}`).rest();
        }),
      );
      for (const answer of answers) {
        expect(answer).toMatch(/^(?:\+PONG\r\n-ERR Protocol error: [^\r\n]+\r\n)?$/);
        refused++;
      }
    }
    const seconds = (performance.now() - started) / 1000;
    const { asked, worstMs } = await bystander.stop();
    expect(await bench.engine.connect().call("EXISTS", "broken")).toBe(0);
    expect(await eventually(() => bench.engine.core.clients.size <= 2)).toBe(true);
    figures("malformed storm", {
      refused,
      "per second": refused / seconds,
      "bystander asked": asked,
      "its worst wait ms": worstMs,
    });
  });

  it("made of random bytes never stop the server", async () => {
    const bystander = new Bystander(bench);
    let seed = 11;
    const random = (below: number) => {
      seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
      return (seed >>> 8) % below;
    };
    const alphabet = "*$:+-0123456789\r\n\r\n\r\n\"' \\xab\x00\xff";
    const peers: Peer[] = [];
    let bytes = 0;
    for (let i = 0; i < 400; i++) {
      const text = Array.from({ length: 1 + random(2000) }, () => alphabet[random(alphabet.length)]).join("");
      const peer = bench.peer(false);
      await peer.send(text);
      bytes += text.length;
      peers.push(peer);
    }
    for (const { socket } of peers) socket.destroy();
    const { worstMs } = await bystander.stop();
    figures("random bytes", { connections: peers.length, bytes, "bystander's worst wait ms": worstMs });
  });
});

describe("lengths that are only announced", () => {
  it("on two thousand connections take no memory", async () => {
    const before = memoryMb();
    const bystander = new Bystander(bench);
    const peers = Array.from({ length: 2000 }, () => bench.peer(false));
    await Promise.all(peers.map((peer) => peer.send("*2147483647\r\n$3\r\nSET\r\n$1\r\nk\r\n$536000000\r\nx")));
    expect(await eventually(() => bench.engine.core.clients.size === 2001)).toBe(true);
    const grown = memoryMb() - before;
    const { worstMs } = await bystander.stop();
    // A terabyte was announced. Both ends of the connections are in this process.
    expect(grown).toBeLessThan(400);
    figures("half-open arrays", {
      connections: 2000,
      "MB in all": grown,
      "KB each": (grown * 1024) / 2000,
      "bystander's worst wait ms": worstMs,
    });
  });

  it("past the limits are refused at once", async () => {
    for (const [bytes, text] of [
      ["*2147483648\r\n", "invalid multibulk length"],
      ["*1\r\n$536870889\r\n", "invalid bulk length"],
      ["*1\r\n$9223372036854775807\r\n", "invalid bulk length"],
    ]) {
      expect(await bench.peer().write(bytes!).rest()).toBe(`-ERR Protocol error: ${text}\r\n`);
    }
  });

  it("bound what the query buffer may hold", async () => {
    await bench.engine.connect().call("CONFIG", "SET", "client-query-buffer-limit", "1mb");
    const word = bench.peer().write(`*2\r\n$4\r\nECHO\r\n$10000000\r\n`);
    word.write("x".repeat(3_000_000));
    expect(await word.rest()).toBe("");
    // The same behind a command that blocks: nothing of it runs, all of it waits.
    const blocked = bench.peer().write("BLPOP l 0\r\n");
    expect(await eventually(() => bench.engine.core.blocking.size === 1)).toBe(true);
    blocked.write(command("SET", "k", "v".repeat(1000)).repeat(3000));
    expect(await blocked.rest()).toBe("");
    expect(await eventually(() => bench.engine.core.blocking.size === 0)).toBe(true);
    expect(await bench.engine.connect().call("EXISTS", "k")).toBe(0);
  });
});

describe("a slow client", () => {
  it("that sends byte by byte, on 200 connections, is answered in the end", async () => {
    const bystander = new Bystander(bench);
    const bytes = command("SET", "slow", "x".repeat(100)) + command("INCR", "n");
    const peers = Array.from({ length: 200 }, () => bench.peer());
    for (const char of bytes) await Promise.all(peers.map((peer) => peer.send(char)));
    const answers = await Promise.all(peers.map((peer) => peer.take(8)));
    expect(answers.every((answer) => /^\+OK\r\n:\d+\r\n$/.test(answer))).toBe(true);
    expect(await bench.engine.connect().call("GET", "n")).toBe("200");
    const { worstMs } = await bystander.stop();
    figures("slow-loris", { connections: 200, "bytes each": bytes.length, "bystander's worst wait ms": worstMs });
  });
});

describe("a pipeline", () => {
  it("of a million commands in one write is answered in full, and others go on", async () => {
    const before = memoryMb();
    const bystander = new Bystander(bench);
    const peer = bench.peer(false);
    const started = performance.now();
    peer.write(Buffer.from("*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n".repeat(1_000_000)));
    let expected = 0;
    for (let i = 1; i <= 1_000_000; i++) expected += String(i).length + 3;
    await peer.until(() => peer.receivedBytes >= expected);
    const seconds = (performance.now() - started) / 1000;
    expect(peer.receivedBytes).toBe(expected);
    const { asked, worstMs } = await bystander.stop();
    expect(await bench.engine.connect().call("GET", "n")).toBe("1000000");
    figures("a million commands", {
      "commands per second": 1_000_000 / seconds,
      "MB grown": memoryMb() - before,
      "bystander asked": asked,
      "its worst wait ms": worstMs,
    });
  });

  it("in one transaction runs as one step, however long", async () => {
    const peer = bench.peer(false);
    const started = performance.now();
    const count = 200_000;
    peer.write(Buffer.from(`MULTI\r\n${"*2\r\n$4\r\nINCR\r\n$1\r\nn\r\n".repeat(count)}EXEC\r\n`));
    let expected = 5 + count * 9 + `*${count}\r\n`.length;
    for (let i = 1; i <= count; i++) expected += String(i).length + 3;
    await peer.until(() => peer.receivedBytes >= expected);
    expect(peer.receivedBytes).toBe(expected);
    figures("a long transaction", { commands: count, ms: performance.now() - started });
  });
});
