/** Clients that are gone while they wait: what comes meanwhile is not given to them. */
import { afterEach, describe, expect, it } from "vitest";
import { eventually, type Peer } from "../kit/test-peer.ts";
import { type Bench, figures, openBench } from "./bench.ts";

let bench: Bench;

afterEach(() => bench.close());

interface Case {
  readonly wait: string;
  readonly before?: readonly string[];
  readonly push: readonly string[];
  /** What must still be there, and how it is asked for. */
  readonly look: readonly string[];
  readonly left: unknown;
}

const list = { push: ["RPUSH", "k", "v"], look: ["LLEN", "k"], left: 1 };
const zset = { push: ["ZADD", "k", "1", "v"], look: ["ZCARD", "k"], left: 1 };
const stream = { push: ["XADD", "k", "1-1", "f", "v"], look: ["XPENDING", "k", "g"], left: [0, null, null, null] };

const CASES: readonly Case[] = [
  { wait: "BLPOP k 0", ...list },
  { wait: "BRPOP k 0", ...list },
  { wait: "BLMOVE k other LEFT RIGHT 0", ...list },
  { wait: "BRPOPLPUSH k other 0", ...list },
  { wait: "BLMPOP 0 1 k LEFT", ...list },
  { wait: "BZPOPMIN k 0", ...zset },
  { wait: "BZPOPMAX k 0", ...zset },
  { wait: "BZMPOP 0 1 k MIN", ...zset },
  {
    wait: "XREADGROUP GROUP g me BLOCK 0 STREAMS k >",
    before: ["XGROUP", "CREATE", "k", "g", "$", "MKSTREAM"],
    ...stream,
  },
];

/** Pushes in the same step in which the peer goes: the event loop has had no turn to notice. */
function pushAndLook({ push, look, left }: Case): void {
  const client = bench.engine.connect();
  client.callSync(...push);
  expect(client.callSync(...look)).toEqual(left);
  expect(bench.engine.core.blocking.size).toBe(0);
  client.close();
}

const isBlocked = () => eventually(() => bench.engine.core.blocking.size === 1);

describe.each(CASES)("$wait", (waiting) => {
  it("of a connection that was reset takes nothing", async () => {
    bench = await openBench();
    if (waiting.before !== undefined) await bench.engine.connect().call(...waiting.before);
    const peer = bench.peer().write(`${waiting.wait}\r\n`);
    expect(await isBlocked()).toBe(true);
    peer.socket.resetAndDestroy();
    pushAndLook(waiting);
  });

  it("of a connection whose peer has said its last word takes nothing", async () => {
    bench = await openBench();
    if (waiting.before !== undefined) await bench.engine.connect().call(...waiting.before);
    const peer = bench.peer().write(`${waiting.wait}\r\n`);
    expect(await isBlocked()).toBe(true);
    await new Promise<void>((resolve, reject) => {
      peer.socket.end(() => {
        try {
          pushAndLook(waiting);
          resolve();
        } catch (error) {
          reject(error as Error);
        }
      });
    });
  });

  it("of a stream in the process that was destroyed takes nothing", async () => {
    bench = await openBench();
    if (waiting.before !== undefined) await bench.engine.connect().call(...waiting.before);
    const stream = bench.engine.stream();
    stream.write(`${waiting.wait}\r\n`);
    expect(await isBlocked()).toBe(true);
    stream.destroy();
    pushAndLook(waiting);
  });
});

/** What it holds besides what it waits for goes in the same step, too. */
describe("a connection that was reset", () => {
  const isSent = (peer: Peer, answer: string) => peer.until(() => peer.received.endsWith(answer));

  it("with WATCH and a queue runs nothing, and watches nothing", async () => {
    bench = await openBench();
    const peer = bench.peer().write("SET k v\r\nWATCH k other\r\nMULTI\r\nSET k queued\r\nRPUSH l queued\r\n");
    await isSent(peer, "+QUEUED\r\n+QUEUED\r\n");
    peer.socket.resetAndDestroy();
    const client = bench.engine.connect();
    client.callSync("SET", "other", "changed");
    expect(client.callSync("MGET", "k", "l")).toEqual(["v", null]);
    expect(await eventually(() => bench.engine.core.clients.size === 1)).toBe(true);
    expect(bench.engine.core.databases[0]!.watchers.size).toBe(0);
    expect(client.callSync("GET", "k")).toBe("v");
    client.close();
  });

  it("with EXEC right behind it runs the transaction whole, or not at all", async () => {
    bench = await openBench();
    const client = bench.engine.connect();
    for (let round = 0; round < 50; round++) {
      const peer = bench.peer();
      await peer.send(`MULTI\r\nINCR a\r\nINCR b\r\nEXEC\r\n`);
      peer.socket.resetAndDestroy();
      const [a, b] = client.callSync("MGET", "a", "b") as unknown[];
      expect(a).toEqual(b);
    }
    expect(await eventually(() => bench.engine.core.clients.size === 1)).toBe(true);
    const [a, b] = client.callSync("MGET", "a", "b") as unknown[];
    expect(a).toEqual(b);
    client.close();
  });

  it.each([
    ["SUBSCRIBE", "PUBLISH", "NUMSUB"],
    ["SSUBSCRIBE", "SPUBLISH", "SHARDNUMSUB"],
  ])("with %s is not counted among those that a message reached", async (subscribe, publish, number) => {
    bench = await openBench();
    const peer = bench.peer().write(`${subscribe} c\r\n`);
    await isSent(peer, ":1\r\n");
    const client = bench.engine.connect();
    expect(client.callSync(publish, "c", "m")).toBe(1);
    await isSent(peer, "m\r\n");
    peer.socket.resetAndDestroy();
    expect(await eventually(() => bench.engine.core.clients.size === 1)).toBe(true);
    expect(client.callSync(publish, "c", "m")).toBe(0);
    expect(client.callSync("PUBSUB", number, "c")).toEqual(["c", 0]);
    client.close();
  });

  it("with PSUBSCRIBE is not, either", async () => {
    bench = await openBench();
    const peer = bench.peer().write("PSUBSCRIBE c*\r\n");
    await isSent(peer, ":1\r\n");
    peer.socket.resetAndDestroy();
    const client = bench.engine.connect();
    expect(await eventually(() => bench.engine.core.clients.size === 1)).toBe(true);
    expect(client.callSync("PUBLISH", "c", "m")).toBe(0);
    expect(client.callSync("PUBSUB", "NUMPAT")).toBe(0);
    client.close();
  });
});

describe("a client that waits and is there", () => {
  it("gets what comes, and what it has sent behind its command is run", async () => {
    bench = await openBench();
    const peer = bench.peer().write("BLPOP k 0\r\n");
    expect(await isBlocked()).toBe(true);
    const behind = "ECHO behind\r\n".repeat(100);
    await peer.send(behind);
    bench.engine.connect().callSync("RPUSH", "k", "v");
    const answer = `*2\r\n$1\r\nk\r\n$1\r\nv\r\n${"$6\r\nbehind\r\n".repeat(100)}`;
    expect(await peer.take(answer.length)).toBe(answer);
  });
});

describe("waiters over TCP that go, one after the other", () => {
  const ROUNDS = 200;

  it.each([
    ["reset", true],
    ["half closed", false],
  ])("lose nothing when they are %s", async (_how, reset) => {
    bench = await openBench();
    const pusher = bench.peer();
    let lost = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const waiter = bench.peer();
      const key = `k${round}`;
      if (reset) {
        waiter.write(`BLPOP ${key} 0\r\n`);
        expect(await isBlocked()).toBe(true);
        waiter.socket.resetAndDestroy();
      } else waiter.socket.end(`BLPOP ${key} 0\r\n`);
      await pusher.write(`RPUSH ${key} v\r\nLLEN ${key}\r\n`).until(() => /:\d\r\n:\d\r\n/.test(pusher.received));
      await waiter.closed;
      const kept = (await pusher.take(0)).endsWith(":1\r\n");
      if (!kept && !waiter.received.includes("v")) lost++;
    }
    figures("elements lost to dead waiters", { rounds: ROUNDS, lost });
    expect(lost).toBe(0);
  });
});
