/** What clients take, and which of them go. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventually, Peer as RawPeer } from "../../tests/kit/test-peer.ts";
import { Engine } from "../index.ts";
import { ManualClock } from "./clock.ts";

let engine: Engine;
let port: number;
const peers: RawPeer[] = [];

beforeEach(async () => {
  engine = await Engine.open();
  ({ port } = await engine.listen({ port: 0 }));
});

afterEach(async () => {
  for (const { socket } of peers.splice(0)) socket.destroy();
  await engine.close();
});

async function named(name: string): Promise<RawPeer> {
  const peer = new RawPeer(port);
  peers.push(peer);
  await peer.write(`CLIENT SETNAME ${name}\r\n`).take(5);
  return peer;
}

const run = (...words: (string | number)[]) => engine.connect().callSync(...words);

/** A client's fields in CLIENT LIST; undefined if there is no such client. */
function fields(name: string): Record<string, number> | undefined {
  const line = String(run("CLIENT", "LIST"))
    .split("\n")
    .find((text) => text.includes(` name=${name} `));
  if (line === undefined) return undefined;
  return Object.fromEntries(line.split(" ").map((field) => [field.split("=")[0], Number(field.split("=")[1])]));
}

const becomes = (name: string, test: (client: Record<string, number>) => boolean) =>
  expect.poll(() => test(fields(name) ?? {})).toBe(true);

describe("CLIENT LIST", () => {
  it("shows an unfinished command: its words, and what came behind them", async () => {
    const peer = await named("a");
    await peer.send("*3\r\n$3\r\nSET\r\n$4\r\nkeys\r\n$100\r\nabc");
    await becomes("a", (client) => client["argv-mem"] === 7 && client.qbuf === 3);
  });

  it("shows a long word that is being gathered", async () => {
    const peer = await named("a");
    await peer.send(`*2\r\n$3\r\nGET\r\n$1000000\r\n${"x".repeat(300_000)}`);
    await becomes("a", (client) => client.qbuf === 300_000 && client["tot-mem"]! > 300_000);
  });

  it("shows a transaction's queue, and forgets it with the transaction", async () => {
    const peer = await named("a");
    await peer.write(`MULTI\r\nSET k ${"x".repeat(10_000)}\r\n`).take(14);
    expect(fields("a")!["multi-mem"]).toBeGreaterThan(10_000);
    expect(fields("a")!.multi).toBe(1);
    await peer.write("EXEC\r\n").take(9);
    expect(fields("a")!["multi-mem"]).toBe(0);
  });

  it("shows replies that were not taken", async () => {
    const peer = await named("a");
    run("SET", "big", "x".repeat(20_000_000));
    peer.socket.pause();
    peer.write("GET big\r\n");
    await becomes("a", (client) => client.omem! > 10_000_000 && client.oll! > 0 && client.obl === 0);
  });

  it("shows that a client which says nothing for some seconds keeps nothing", async () => {
    await engine.close();
    const clock = new ManualClock();
    engine = await Engine.open({ clock });
    ({ port } = await engine.listen({ port: 0 }));
    await named("idle");
    const { "qbuf-free": room, rbs, rbp, "tot-mem": total } = fields("idle")!;
    expect([rbs, rbp]).toEqual([16384, 16384]);
    expect(room).toBeGreaterThan(0);
    expect(total).toBeGreaterThan(room! + rbs!);
    clock.advance(6000);
    await becomes("idle", (client) => client.rbp === 0);
    clock.advance(6000);
    await becomes("idle", (client) => client.rbs === 1024);
    // As a real server has it, which says 1800 of the whole.
    expect(fields("idle")).toMatchObject({
      qbuf: 0,
      "qbuf-free": 0,
      "argv-mem": 0,
      rbs: 1024,
      rbp: 0,
      obl: 0,
      omem: 0,
    });
    expect(fields("idle")!["tot-mem"]).toBeGreaterThan(1024);
    expect(fields("idle")!["tot-mem"]).toBeLessThan(3000);
  });

  it("shows the words of a command that waits", async () => {
    const peer = await named("a");
    peer.write("BLPOP list 0\r\n");
    await becomes("a", (client) => client["argv-mem"] === 10);
    run("RPUSH", "list", "x");
    await peer.take(20);
    expect(fields("a")!["argv-mem"]).toBe(0);
  });
});

describe("maxmemory-clients", () => {
  it("ends the largest clients, and only as many as needed", async () => {
    const small = await named("small");
    const large = await named("large");
    await small.send(`*2\r\n$3\r\nGET\r\n$1000000\r\n${"x".repeat(200_000)}`);
    await large.send(`*2\r\n$3\r\nGET\r\n$1000000\r\n${"x".repeat(600_000)}`);
    await becomes("large", (client) => client.qbuf === 600_000);
    await becomes("small", (client) => client.qbuf === 200_000);
    run("CONFIG", "SET", "maxmemory-clients", 700_000);
    expect(await eventually(() => large.ended)).toBe(true);
    expect(fields("large")).toBeUndefined();
    expect(fields("small")).toBeDefined();
    expect(engine.core.stats.evictedClients).toBe(1);
  });

  it("leaves an operator enough to change it again", async () => {
    const peer = await named("operator");
    const answer = "+OK\r\n+PONG\r\n";
    expect(await peer.write("CONFIG SET maxmemory-clients 1\r\nPING\r\n").take(answer.length)).toBe(answer);
    engine.core.clientMemory.evict();
    expect(await peer.write("PING\r\n").take(7)).toBe("+PONG\r\n");
  });

  it("may be a share of maxmemory", () => {
    run("CONFIG", "SET", "maxmemory", 100_000_000);
    run("CONFIG", "SET", "maxmemory-clients", "5%");
    expect(engine.core.clientMemory.limit).toBe(5_000_000);
    run("CONFIG", "SET", "maxmemory", 200_000_000);
    expect(engine.core.clientMemory.limit).toBe(10_000_000);
  });

  it("spares a client with NO-EVICT until it gives that up", async () => {
    const peer = await named("a");
    await peer.write("CLIENT NO-EVICT on\r\n").take(5);
    run("CONFIG", "SET", "maxmemory-clients", 300_000);
    await peer.send(`*2\r\n$3\r\nGET\r\n$500000\r\n${"x".repeat(499_990)}`);
    await becomes("a", (client) => client.qbuf === 499_990);
    engine.core.clientMemory.evict();
    expect(fields("a")).toBeDefined();
    // The rest of the command, and the promise given up; then more again.
    await peer.send(`${"x".repeat(10)}\r\nCLIENT NO-EVICT off\r\n*2\r\n$3\r\nGET\r\n$500000\r\n${"x".repeat(400_000)}`);
    expect(await eventually(() => peer.ended)).toBe(true);
  });

  it("ends a client for its transaction's queue, which does not run", async () => {
    const peer = await named("a");
    run("CONFIG", "SET", "maxmemory-clients", 400_000);
    await peer.write("MULTI\r\n").take(5);
    for (let i = 0; i < 1000 && !peer.ended; i++) await peer.send(`SET ${i} ${"x".repeat(1000)}\r\n`);
    expect(await eventually(() => peer.ended)).toBe(true);
    expect(engine.core.stats.evictedClients).toBe(1);
    expect(run("DBSIZE")).toBe(0);
  });

  it("ends a client for replies that it does not take, and no other", async () => {
    const peer = await named("a");
    const other = await named("b");
    // Too much for the system's buffers.
    run("SET", "big", "x".repeat(20_000_000));
    run("CONFIG", "SET", "maxmemory-clients", 1_000_000);
    peer.socket.pause();
    peer.write("GET big\r\n");
    await expect.poll(() => fields("a")).toBeUndefined();
    expect(engine.core.stats.evictedClients).toBe(1);
    expect(await other.write("PING\r\n").take(7)).toBe("+PONG\r\n");
  });

  it("ends a client for invalidations that are redirected to it, not the one whose keys they are about", async () => {
    const [cache, told] = [await named("cache"), await named("told")];
    const id = fields("told")!.id!;
    await told.write("SUBSCRIBE __redis__:invalidate\r\n").until(() => told.received.includes(":1\r\n"));
    await cache.write(`CLIENT TRACKING on REDIRECT ${id} BCAST\r\n`).take(5);
    run("CONFIG", "SET", "maxmemory-clients", 1_000_000);
    told.socket.pause();
    // Names of a megabyte: what the system's buffers take is soon too little.
    for (let i = 0; i < 40 && fields("told") !== undefined; i++) {
      run("SET", `${i}${"k".repeat(1_000_000)}`, "v");
      await new Promise(setImmediate);
    }
    await expect.poll(() => fields("told")).toBeUndefined();
    expect(engine.core.stats.evictedClients).toBe(1);
    expect(await cache.write("PING\r\n").take(7)).toMatch(/PONG/);
  });

  it.each([
    ["watched keys", (i: number) => `WATCH ${i}\r\n`],
    ["channels", (i: number) => `SUBSCRIBE ${i}\r\n`],
    ["patterns", (i: number) => `PSUBSCRIBE ${i}\r\n`],
    ["shard channels", (i: number) => `SSUBSCRIBE ${i}\r\n`],
    ["prefixes", (i: number) => `CLIENT TRACKING on BCAST PREFIX ${String(i).padStart(8, "0")}\r\n`],
  ])("counts %s", async (_what, command) => {
    const peer = await named("a");
    run("CONFIG", "SET", "maxmemory-clients", 150_000);
    for (let i = 0; i < 2000 && !peer.ended; i++) await peer.send(command(i));
    expect(await eventually(() => peer.ended)).toBe(true);
    expect(engine.core.stats.evictedClients).toBe(1);
  });
});

describe("client-output-buffer-limit", () => {
  it("ends a client before a reply over the hard limit leaves; its transaction is complete", async () => {
    run("RPUSH", "list", ...Array.from({ length: 300 }, () => "x".repeat(1000)));
    run("CONFIG", "SET", "client-output-buffer-limit", "normal 100000 0 0");
    const peer = await named("a");
    peer.write("MULTI\r\nSET before 1\r\nLRANGE list 0 -1\r\nSET behind 1\r\n");
    await peer.take(5 + 3 * 9);
    expect(await peer.write("EXEC\r\nPING\r\n").rest()).toBe("");
    expect(run("EXISTS", "before", "behind")).toBe(2);
    expect(engine.core.stats.outputLimitDisconnections).toBe(1);
  });

  it("does not count what has left: a pipeline of large answers, each below the limit, ends nobody", async () => {
    run("CONFIG", "SET", "client-output-buffer-limit", "normal 1000000 0 0");
    const peer = await named("a");
    const words = ["a", "b", "c", "d"].map((letter) => letter.repeat(300_000));
    const answers = words.map((word) => `$${word.length}\r\n${word}\r\n`);
    peer.write(words.map((word) => `*2\r\n$4\r\nPING\r\n$${word.length}\r\n${word}\r\n`).join(""));
    const expected = answers.join("");
    const got = await peer.take(expected.length);
    expect(got.length).toBe(expected.length);
    expect(got).toBe(expected);
    expect(engine.core.stats.outputLimitDisconnections).toBe(0);
  });

  it.each(["HRANDFIELD h -999999999", "SRANDMEMBER s -999999999", "ZRANDMEMBER z -999999999"])(
    "ends %s, which no memory holds",
    async (command) => {
      run("HSET", "h", "a", "b");
      run("SADD", "s", "a");
      run("ZADD", "z", "1", "a");
      run("CONFIG", "SET", "client-output-buffer-limit", "normal 1000000 0 0");
      const peer = await named("a");
      expect(await peer.write(`${command}\r\n`).rest()).toBe("");
    },
  );
});
