/** One client over bytes: batches, order, waiting, limits before AUTH, and how a connection ends. */
import { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventually, Peer as RawPeer } from "../../tests/kit/test-peer.ts";
import { ManualClock } from "../core/clock.ts";
import { Engine } from "../index.ts";
import { readBorrowed } from "./socket-input.ts";

let engine: Engine;
let port: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  engine = await Engine.open();
  ({ port } = await engine.listen({ port: 0 }));
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of sockets.splice(0)) socket.destroy();
  await engine.close();
});

class Peer extends RawPeer {
  constructor() {
    super(port);
    sockets.push(this.socket);
  }
}

/** Until something inside the engine is so. */
const until = async (what: () => boolean) => expect(await eventually(what)).toBe(true);

describe("memory that all connections read into", () => {
  it("is there with this Node", async () => {
    const socket = new Socket();
    sockets.push(socket);
    socket.connect(port, "127.0.0.1");
    await new Promise((resolve) => socket.once("connect", resolve));
    expect(readBorrowed(socket, () => {})).toBe(true);
    expect(readBorrowed(new PassThrough(), () => {})).toBe(false);
  });

  it("is not held on to by a command of which a part is missing", async () => {
    const word = "w".repeat(100_000);
    const value = "1".repeat(40);
    const text =
      `*3\r\n$3\r\nSET\r\n$1\r\na\r\n$40\r\n${value}\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n` +
      `*3\r\n$3\r\nSET\r\n$5\r\nlarge\r\n$100000\r\n${word}\r\n*2\r\n$6\r\nSTRLEN\r\n$5\r\nlarge\r\n`;
    const answer = `+OK\r\n$40\r\n${value}\r\n+OK\r\n:100000\r\n`;
    const other = new Peer();
    for (const cut of [1, 5, 13, 30, 60, 90, 120, 140, 70_000, text.length - 30]) {
      const heard = engine.core.stats.netInput;
      const peer = new Peer().write(text.slice(0, cut));
      await until(() => engine.core.stats.netInput >= heard + cut);
      // What others say lies over what this one has said so far.
      for (let i = 0; i < 3; i++) {
        other.write(`*2\r\n$4\r\nECHO\r\n$2000\r\n${"x".repeat(2000)}\r\n`);
        expect((await other.take(2009)).length).toBe(2009);
      }
      peer.write(text.slice(cut));
      expect(await peer.take(answer.length)).toBe(answer);
      await engine.connect().call("FLUSHALL");
    }
  });
});

describe("a batch", () => {
  it("is answered in order, whatever it holds", async () => {
    const peer = new Peer().write("SET k v\r\n*2\r\n$3\r\nGET\r\n$1\r\nk\r\nNO such\r\n\r\nINCR k\r\nPING\r\n");
    const answer =
      "+OK\r\n$1\r\nv\r\n-ERR unknown command 'NO', with args beginning with: 'such' \r\n" +
      "-ERR value is not an integer or out of range\r\n+PONG\r\n";
    expect(await peer.take(answer.length)).toBe(answer);
  });

  it("stops at a command that blocks and goes on behind it", async () => {
    const peer = new Peer().write("BLPOP l 0\r\nSET x 1\r\nBLPOP m 0\r\nGET x\r\n");
    await until(() => engine.core.blocking.size === 1);
    const other = engine.connect();
    expect(await other.call("EXISTS", "x")).toBe(0);
    await other.call("RPUSH", "m", "2");
    await other.call("RPUSH", "l", "1");
    const answer = "*2\r\n$1\r\nl\r\n$1\r\n1\r\n+OK\r\n*2\r\n$1\r\nm\r\n$1\r\n2\r\n$1\r\n1\r\n";
    expect(await peer.take(answer.length)).toBe(answer);
  });

  it("is put off by CLIENT PAUSE and goes on behind it", async () => {
    const other = engine.connect();
    await other.call("CLIENT", "PAUSE", 100_000, "WRITE");
    const peer = new Peer().write("GET k\r\nSET k v\r\nGET k\r\n");
    await until(() => engine.core.pause.size === 1);
    expect(await peer.take(5)).toBe("$-1\r\n");
    await other.call("CLIENT", "UNPAUSE");
    expect(await peer.take(12)).toBe("+OK\r\n$1\r\nv\r\n");
  });

  it("may hold AUTH and then what only an authenticated client may send", async () => {
    await engine.connect().call("CONFIG", "SET", "requirepass", "secret");
    const words = Array.from({ length: 20 }, (_, i) => `w${i}`);
    const many = `*${words.length + 2}\r\n$5\r\nRPUSH\r\n$1\r\nl\r\n${words.map((w) => `$${w.length}\r\n${w}\r\n`).join("")}`;
    const long = `*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$20000\r\n${"x".repeat(20_000)}\r\n`;
    expect(await new Peer().write(many).rest()).toBe("-ERR Protocol error: unauthenticated multibulk length\r\n");
    expect(await new Peer().write(long).rest()).toBe("-ERR Protocol error: unauthenticated bulk length\r\n");
    const peer = new Peer().write(`AUTH secret\r\n${many}${long}PING\r\n`);
    expect(await peer.take(22)).toBe("+OK\r\n:20\r\n+OK\r\n+PONG\r\n");
  });

  it("follows proto-max-bulk-len as it changes", async () => {
    const long = `*2\r\n$4\r\nECHO\r\n$2000000\r\n`;
    const peer = new Peer().write("CONFIG SET proto-max-bulk-len 1mb\r\n");
    expect(await peer.take(5)).toBe("+OK\r\n");
    expect(await peer.write(long).rest()).toBe("-ERR Protocol error: invalid bulk length\r\n");
  });
});

describe("the end of a connection", () => {
  it("comes after the reply to QUIT, though the peer neither ends nor stops sending", async () => {
    const peer = new Peer().write("PING\r\nQUIT\r\nPING\r\n");
    expect(await peer.rest()).toBe("+PONG\r\n+OK\r\n");
    const connections = () => engine.core.clients.size;
    expect(connections()).toBe(0);
    expect(await peer.gone()).toBe(true);
  });

  it("comes after the error to malformed bytes, and what stood before them is answered", async () => {
    const peer = new Peer().write("SET k v\r\n*1\r\n:4\r\nSET k w\r\n");
    expect(await peer.rest()).toBe("+OK\r\n-ERR Protocol error: expected '$', got ':'\r\n");
    expect(await engine.connect().call("GET", "k")).toBe("v");
  });

  it("is silent for HTTP", async () => {
    expect(await new Peer().write("POST / HTTP/1.1\r\nHost: x\r\n\r\nSET k v\r\n").rest()).toBe("");
    expect(await new Peer().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n").rest()).not.toContain("PONG");
    expect(await engine.connect().call("EXISTS", "k")).toBe(0);
  });

  it("gives the answers to a peer that has said all it will say", async () => {
    const peer = new Peer().write("SET k v\r\nGET k\r\n");
    peer.socket.end();
    expect(await peer.rest()).toBe("+OK\r\n$1\r\nv\r\n");
    await until(() => engine.core.clients.size === 0);
  });

  it("lets go of what the client held", async () => {
    const peer = new Peer().write("WATCH k\r\nSUBSCRIBE c\r\n");
    await peer.take(30);
    const blocked = new Peer().write("BLPOP l 0\r\n");
    await until(() => engine.core.blocking.size === 1);
    peer.socket.destroy();
    blocked.socket.resetAndDestroy();
    await until(() => engine.core.clients.size === 0);
    expect(engine.core.blocking.size).toBe(0);
    expect(engine.core.pubsub.channels.size).toBe(0);
    expect(await engine.connect().call("RPUSH", "l", "kept")).toBe(1);
  });

  it("of one that kills itself comes after its reply, of others at once", async () => {
    const peer = new Peer().write("CLIENT ID\r\n");
    const id = (await peer.take(4)).trim().slice(1);
    expect(await peer.write(`CLIENT KILL ID ${id} SKIPME no\r\nPING\r\n`).rest()).toBe(":1\r\n");
    const other = new Peer().write("PING\r\n");
    await other.take(7);
    expect(await engine.connect().call("CLIENT", "KILL", "TYPE", "normal")).toBe(1);
    expect(await other.rest()).toBe("");
  });

  it("does not wait for ever for a peer that never takes the last replies", async () => {
    await engine.close();
    const clock = new ManualClock();
    engine = await Engine.open({ clock });
    const intervals = vi.spyOn(globalThis, "setInterval");
    ({ port } = await engine.listen({ port: 0 }));
    const housekeeping = intervals.mock.calls.at(-1)![0] as () => void;
    const destroyed = vi.spyOn(Socket.prototype, "destroy");
    engine.connect().callSync("SET", "big", "x".repeat(30_000_000));
    const peer = new Peer();
    peer.socket.pause();
    peer.write("GET big\r\nQUIT\r\n");
    await until(() => engine.core.clients.size === 1);
    housekeeping();
    clock.advance(59_000);
    housekeeping();
    expect(destroyed).not.toHaveBeenCalled();
    // The system may take some more at first, and the time begins anew.
    await until(() => {
      clock.advance(61_000);
      housekeeping();
      return destroyed.mock.calls.length > 0;
    });
    peer.socket.resume();
    expect((await peer.rest()).length).toBeLessThan(30_000_000);
  });
});

describe("a fault of ours", () => {
  it("in a handler is an error for its caller, and the connection goes on, also inside a transaction", async () => {
    const faults: string[] = [];
    engine.core.onError = (_error, command) => faults.push(command);
    const echo = engine.core.commands.get("echo") as { run: unknown };
    const { run } = echo;
    echo.run = () => {
      throw new RangeError("Invalid string length");
    };
    const answer =
      "-ERR internal error in 'echo'\r\n+PONG\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n" +
      "*2\r\n-ERR internal error in 'echo'\r\n+PONG\r\n";
    const peer = new Peer().write("ECHO x\r\nPING\r\nMULTI\r\nECHO x\r\nPING\r\nEXEC\r\n");
    expect(await peer.take(answer.length)).toBe(answer);
    expect(faults).toEqual(["echo", "echo"]);
    echo.run = run;
  });

  it("while a reply is written ends that connection and no other", async () => {
    const faults: string[] = [];
    engine.core.onError = (_error, command) => faults.push(command);
    const [peer, other] = [new Peer(), new Peer().write("PING\r\n")];
    await other.take(7);
    const echo = engine.core.commands.get("echo") as { run: unknown };
    const { run } = echo;
    echo.run = () => ({});
    expect(await peer.write("ECHO x\r\n").rest()).toBe("");
    echo.run = run;
    expect(faults).toEqual(["echo"]);
    expect(await other.write("PING\r\n").take(7)).toBe("+PONG\r\n");
  });
});

describe("who may connect", () => {
  it("nobody past maxclients, who is told so and sent away", async () => {
    await engine.connect().call("CONFIG", "SET", "maxclients", 3);
    const [a, b] = [new Peer().write("PING\r\n"), new Peer().write("PING\r\n")];
    await Promise.all([a.take(7), b.take(7)]);
    const refused = new Peer().write("PING\r\n");
    expect(await refused.rest()).toBe("-ERR max number of clients reached\r\n");
    expect(await refused.gone()).toBe(true);
    a.socket.destroy();
    await until(() => engine.core.clients.size === 2);
    expect(await new Peer().write("PING\r\n").take(7)).toBe("+PONG\r\n");
    expect(engine.core.stats.rejectedConnections).toBe(1);
  });

  it("nobody from another machine while there is no password", async () => {
    let from = "";
    // An own property of every socket that is accepted, since the prototype's cannot be replaced.
    const original = EventEmitter.prototype.emit;
    vi.spyOn(EventEmitter.prototype, "emit").mockImplementation(function (this: EventEmitter, event, ...values) {
      if (event === "connection") Object.defineProperty(values[0], "remoteAddress", { value: from });
      return original.call(this, event, ...values);
    });
    for (const address of ["192.0.2.7", "::ffff:192.0.2.7", "2001:db8::1", "1270.0.0.1"]) {
      from = address;
      expect(await new Peer().write("PING\r\n").rest()).toMatch(/^-DENIED [^\r\n]+\r\n$/);
    }
    for (const address of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"]) {
      from = address;
      expect(await new Peer().write("PING\r\n").take(7)).toBe("+PONG\r\n");
    }
    from = "192.0.2.7";
    const client = engine.connect();
    await client.call("CONFIG", "SET", "requirepass", "secret");
    expect(await new Peer().write("AUTH secret\r\n").take(5)).toBe("+OK\r\n");
    await client.call("CONFIG", "SET", "requirepass", "", "protected-mode", "no");
    expect(await new Peer().write("PING\r\n").take(7)).toBe("+PONG\r\n");
  });
});

describe("time", () => {
  it("ends idle clients, but not clients that wait, listen or watch", async () => {
    await engine.close();
    const clock = new ManualClock();
    engine = await Engine.open({ clock, config: { timeout: "10" } });
    ({ port } = await engine.listen({ port: 0 }));
    const names = ["PING", "BLPOP l 0", "SUBSCRIBE c", "MONITOR"];
    const peers = names.map((line) => new Peer().write(`${line}\r\n`));
    await Promise.all([0, 2, 3].map((i) => peers[i]!.take(5)));
    await until(() => engine.core.blocking.size === 1);
    clock.advance(10_001);
    await until(() => engine.core.clients.size === 3);
    expect(await peers[0]!.rest()).toBe("");
    expect(peers.map((peer) => peer.ended)).toEqual([true, false, false, false]);
  });
});
