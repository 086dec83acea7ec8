/** CONFIG SET port and bind: the server moves, all or nothing. */
import { connect, createServer, type Server } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { EmbeddedEngine } from "../embed/embedded.ts";
import type { LocalClient } from "../embed/local-client.ts";
import { ListenError, Listeners } from "./listeners.ts";

let engine: EmbeddedEngine;
let client: LocalClient;
let port: number;

function listen(): Promise<Server> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => resolve(server));
  });
}

const portOf = (server: Server) => (server.address() as { port: number }).port;
const close = (server: Server) => new Promise((resolve) => server.close(resolve));

async function freePort(): Promise<number> {
  const server = await listen();
  const free = portOf(server);
  await close(server);
  return free;
}

/** Whether somebody listens there. */
function answers(at: number, host = "127.0.0.1"): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(at, host);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}

beforeEach(async () => {
  port = await freePort();
  engine = await EmbeddedEngine.open({ config: { port: String(port), bind: "127.0.0.1" } });
  client = engine.connect();
  const listeners = new Listeners(engine);
  expect(await listeners.start()).toEqual([{ host: "127.0.0.1", port, path: null, tls: false }]);
  engine.core.onListen = (wanted) => listeners.move(wanted);
});
afterEach(() => engine.close());

describe("a change of the port", () => {
  it("opens the new one, leaves the old one, and keeps connections", async () => {
    const to = await freePort();
    expect(await client.call("CONFIG", "SET", "port", to, "maxmemory", "1mb")).toBe("OK");
    expect(await answers(to)).toBe(true);
    expect(await answers(port)).toBe(false);
    expect(await client.call("CONFIG", "GET", "port", "maxmemory")).toEqual([
      "port",
      String(to),
      "maxmemory",
      "1048576",
    ]);
  });

  it("changes nothing where the port is taken, nor any directive beside it", async () => {
    const taken = await listen();
    const asked = client.call("CONFIG", "SET", "maxmemory", "1mb", "port", portOf(taken), "hz", "50");
    await expect(asked).rejects.toThrow(
      "ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. Check server logs.",
    );
    expect(await answers(port)).toBe(true);
    expect(engine.core.config.values).toMatchObject({ port, maxmemory: 0, hz: 10 });
    await close(taken);
  });

  it("is taken back where another directive cannot be applied", async () => {
    const to = await freePort();
    const asked = client.call("CONFIG", "SET", "port", to, "activedefrag", "yes");
    await expect(asked).rejects.toThrow("argument 'activedefrag'");
    expect(engine.core.config.values.port).toBe(port);
    expect(await answers(port)).toBe(true);
    // The next change waits until the new address is left.
    expect(await client.call("CONFIG", "SET", "port", to)).toBe("OK");
    expect(await answers(to)).toBe(true);
  });

  it("is refused inside a transaction, which cannot wait", async () => {
    const replies = await client.transaction([["CONFIG", "SET", "port", await freePort()]]).catch((error) => [error]);
    expect(String(replies?.[0])).toContain("addresses cannot be changed inside a transaction");
    expect(await answers(port)).toBe(true);
  });

  it("to 0 leaves the port", async () => {
    expect(await client.call("CONFIG", "SET", "port", 0)).toBe("OK");
    expect(await answers(port)).toBe(false);
    expect(await client.call("CONFIG", "SET", "port", port)).toBe("OK");
    expect(await answers(port)).toBe(true);
  });
});

describe("a change of the addresses", () => {
  it("to all of them and back, on the same port", async () => {
    expect(await client.call("CONFIG", "SET", "bind", "*")).toBe("OK");
    expect(await answers(port)).toBe(true);
    expect(await client.call("CONFIG", "SET", "bind", "127.0.0.1")).toBe("OK");
    expect(await answers(port)).toBe(true);
  });

  it("changes nothing where one is none, and skips those that may be missing", async () => {
    await expect(client.call("CONFIG", "SET", "bind", "203.0.113.1")).rejects.toThrow(
      "(possibly related to argument 'bind') - Failed to bind to specified addresses.",
    );
    expect(await answers(port)).toBe(true);
    expect(await client.call("CONFIG", "SET", "bind", "127.0.0.1 -203.0.113.1")).toBe("OK");
    expect(await answers(port)).toBe(true);
  });
});

it("where a program decides, CONFIG SET does not", async () => {
  engine.core.onListen = null;
  const to = await freePort();
  await expect(client.call("CONFIG", "SET", "port", to)).rejects.toThrow("the program that holds this store decides");
  expect(await client.call("CONFIG", "SET", "port", port)).toBe("OK");
});

it("a start on a port that is taken says so", async () => {
  const listeners = new Listeners(engine);
  await expect(listeners.start()).rejects.toThrow(ListenError);
});
