/** The store in a process: opening, clients side by side, closing, and leaving nothing behind. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { Engine, type LocalClient } from "../index.ts";

const engines: Engine[] = [];

async function open(...options: Parameters<typeof Engine.open>): Promise<Engine> {
  const engine = await Engine.open(...options);
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

describe("opening", () => {
  it("takes directives of redis.conf and refuses wrong ones", async () => {
    const engine = await open({ config: { databases: "3", maxmemory: "100mb" } });
    const client = engine.connect();
    expect(await client.call("CONFIG", "GET", "maxmemory")).toEqual(["maxmemory", "104857600"]);
    await expect(client.call("SELECT", 3)).rejects.toThrow("DB index is out of range");
    await expect(Engine.open({ config: { nonsense: "1" } })).rejects.toThrow();
    await expect(Engine.open({ config: { databases: "none" } })).rejects.toThrow();
  });

  it("takes time from a clock that is given to it", async () => {
    const clock = new ManualClock(5_000);
    const client = (await open({ clock })).connect();
    await client.call("SET", "k", "v", "PX", 100);
    expect(await client.call("PEXPIRETIME", "k")).toBe(5_100);
    clock.advance(100);
    expect(await client.call("GET", "k")).toBeNull();
  });

  it("gives each engine its own data", async () => {
    const [a, b] = [(await open()).connect(), (await open()).connect()];
    await a.call("SET", "k", "a");
    expect(await b.call("EXISTS", "k")).toBe(0);
  });
});

describe("clients", () => {
  it("may do everything, unless they are a user", async () => {
    const engine = await open({
      config: { requirepass: "secret" },
      users: [["worker", "on", ">pw", "~jobs:*", "&jobs", "+@all", "-@dangerous"]],
    });
    const admin = engine.connect();
    expect(await admin.call("SET", "k", "v")).toBe("OK");
    expect(await admin.call("ACL", "WHOAMI")).toBeNull();
    const worker = engine.connect({ user: "worker" });
    expect(await worker.call("ACL", "WHOAMI")).toBe("worker");
    expect(await worker.call("SET", "jobs:1", "v")).toBe("OK");
    await expect(worker.call("GET", "k")).rejects.toMatchObject({ code: "NOPERM" });
    expect(() => worker.callSync("FLUSHALL")).toThrow("has no permissions to run the 'flushall' command");
    await expect(worker.call("EVAL", "return redis.call('GET', 'k')", 0)).rejects.toThrow("can't access");
    for (const client of [admin, worker]) await client.call("RESET");
    expect(await admin.call("GET", "k")).toBe("v");
    await expect(worker.call("GET", "k")).rejects.toMatchObject({ code: "NOPERM" });
    expect(() => engine.connect({ user: "nobody" })).toThrow("there is no user nobody");
    const waiting = worker.call("BLPOP", "jobs:list", 0);
    expect(await admin.call("ACL", "DELUSER", "worker")).toBe(1);
    await expect(waiting).rejects.toThrow("the client is closed");
    await expect(worker.call("PING")).rejects.toThrow("the client is closed");
  });

  it("have their own database, name, transaction and protocol", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect({ db: 3, protocol: 3 })];
    expect(one.id).not.toBe(two.id);
    expect(one.id).toBe(await one.call("CLIENT", "ID"));
    await one.call("CLIENT", "SETNAME", "one");
    expect(await two.call("CLIENT", "GETNAME")).toBeNull();
    await two.call("SET", "k", "three");
    expect(await one.call("GET", "k")).toBeNull();
    expect(await one.call("SELECT", 3)).toBe("OK");
    expect(await one.call("GET", "k")).toBe("three");
    await one.call("MULTI");
    expect(await one.call("SET", "k", "queued")).toBe("QUEUED");
    expect(await two.call("GET", "k")).toBe("three");
    expect(await one.call("EXEC")).toEqual(["OK"]);
    await one.call("HSET", "h", "f", "1");
    expect(await one.call("HGETALL", "h")).toEqual(["f", "1"]);
    expect(await two.call("HGETALL", "h")).toEqual(new Map([["f", "1"]]));
  });

  it("refuse a database that is not there, and leave no client behind", async () => {
    const engine = await open();
    expect(() => engine.connect({ db: 16 })).toThrow(RangeError);
    expect(engine.core.clients.size).toBe(0);
  });

  it("need no password", async () => {
    const client = (await open({ config: { requirepass: "secret" } })).connect();
    expect(await client.call("PING")).toBe("PONG");
  });

  it("work side by side by the thousand", async () => {
    const engine = await open();
    const clients = Array.from({ length: 1000 }, () => engine.connect());
    await Promise.all(clients.map((client, i) => client.call("SELECT", i % 16)));
    await Promise.all(clients.map((client) => client.call("INCR", "n")));
    const counts = await Promise.all(clients.slice(0, 16).map((client) => client.call("GET", "n")));
    expect(counts.map(Number).reduce((a, b) => a + b)).toBe(1000);
    for (const client of clients) client.close();
    expect(engine.core.clients.size).toBe(0);
  });
});

describe("closing", () => {
  it("a client rejects what waits and what comes later", async () => {
    const engine = await open();
    const client = engine.connect();
    const calls = [client.call("BLPOP", "l", 0), client.call("PING"), client.transaction([["PING"]])];
    client.close();
    client.close();
    for (const call of calls) await expect(call).rejects.toThrow("the client is closed");
    await expect(client.call("PING")).rejects.toThrow("the client is closed");
    await expect(client.pipeline([["PING"]])).rejects.toThrow("the client is closed");
    await expect(client.transaction([["PING"], ["PING"]])).rejects.toThrow("the client is closed");
    await expect(client.subscribe("c", () => {})).rejects.toThrow("the client is closed");
    expect(await engine.connect().call("RPUSH", "l", "kept")).toBe(1);
    expect(engine.core.blocking.size).toBe(0);
  });

  it("happens by QUIT and CLIENT KILL as well", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect()];
    expect(await one.call("QUIT")).toBe("OK");
    await expect(one.call("PING")).rejects.toThrow("closed");
    const killer = engine.connect();
    const waiting = two.call("BLPOP", "l", 0);
    expect(await killer.call("CLIENT", "KILL", "ID", two.id)).toBe(1);
    await expect(waiting).rejects.toThrow("closed");
    expect(engine.core.clients.size).toBe(1);
  });

  it("an engine ends its clients, its streams and its sockets, and refuses new ones", async () => {
    const engine = await Engine.open();
    const path = join(tmpdir(), `cinnabar-embedded-${process.pid}.sock`);
    const [{ port }, unix] = [await engine.listen({ port: 0 }), await engine.listen({ path })];
    expect(unix.path).toBe(path);
    const client: LocalClient = engine.connect();
    const waiting = client.call("BLPOP", "l", 0);
    const stream = engine.stream();
    const sockets = [connect(port, "127.0.0.1"), connect(path)];
    for (const socket of sockets) socket.write("PING\r\n");
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("data", resolve))));
    const ends = [stream, ...sockets].map((end) => new Promise((resolve) => end.once("close", resolve)));
    const [first, second] = [engine.close(), engine.close()];
    expect(first).toBe(second);
    await expect(waiting).rejects.toThrow("the client is closed");
    await Promise.all([first, ...ends]);
    expect(engine.core.clients.size).toBe(0);
    expect(() => engine.connect()).toThrow("the engine is closed");
    expect(() => engine.stream()).toThrow("the engine is closed");
    await expect(engine.listen({ port: 0 })).rejects.toThrow("the engine is closed");
    await expect(new Promise((_, reject) => connect(port, "127.0.0.1").once("error", reject))).rejects.toThrow();
  });
});

describe("a process", () => {
  const index = fileURLToPath(new URL("../index.ts", import.meta.url));

  /** Runs a module that has `Engine`; what it printed, once it has ended by itself. */
  function run(code: string, ...flags: string[]): Promise<{ output: string; exitCode: number | null }> {
    const source = `import { Engine } from ${JSON.stringify(index)};\n${code}`;
    const child = spawn(process.execPath, [...flags, "--import", "tsx", "--input-type=module", "-e", source]);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk));
    const timer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    return new Promise((resolve) =>
      child.on("close", (exitCode) => {
        clearTimeout(timer);
        resolve({ output, exitCode });
      }),
    );
  }

  it("ends by itself after close, sockets and timers included", async () => {
    const ended = await run(`
      import { connect } from "node:net";
      const engine = await Engine.open();
      const client = engine.connect();
      await client.call("SET", "k", "v", "EX", 1000);
      const { port } = await engine.listen({ port: 0 });
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write("BLPOP l 1000\\r\\nPING\\r\\n");
      client.call("BLPOP", "l", 1000).catch((error) => console.log(error.message));
      engine.connect().callSync("CLIENT", "PAUSE", 100000, "WRITE");
      while (engine.core.pause.size === 0) await new Promise(setImmediate);
      await engine.close();
      console.log("closed");
    `);
    expect(ended).toEqual({ output: "the client is closed\nclosed\n", exitCode: 0 });
  });

  it("ends by itself without close when nothing else holds it, also after a wait that was served", async () => {
    const ended = await run(`
      const engine = await Engine.open();
      const [one, two] = [engine.connect(), engine.connect()];
      await one.call("SET", "k", "v", "EX", 1000);
      await one.subscribe("c", () => {});
      const popped = two.call("BLPOP", "l", 3600);
      await engine.connect().call("RPUSH", "l", "x");
      console.log(await popped);
    `);
    expect(ended).toEqual({ output: "[ 'l', 'x' ]\n", exitCode: 0 });
  });

  it("stays for a blocking call that will be answered by its timeout", async () => {
    const ended = await run(`
      const engine = await Engine.open();
      console.log(await engine.connect().call("BLPOP", "l", 0.2));
    `);
    expect(ended).toEqual({ output: "null\n", exitCode: 0 });
  });

  it("does not keep a large string for a short slice of it, as key, value, field or member", async () => {
    const { output } = await run(
      `
      const engine = await Engine.open();
      const client = engine.connect();
      const heap = () => { gc(); const m = process.memoryUsage(); return m.heapUsed + m.external; };
      const before = heap();
      for (let i = 0; i < 50; i++) {
        const huge = ("slice number " + i + " ").padEnd(100).repeat(20_000);
        const part = (n) => huge.slice(n * 100, n * 100 + 40) + i;
        const slice = huge.slice(1000, 1040);
        client.callSync("SET", "value" + i, slice);
        client.callSync("SET", huge.slice(0, 30), "v");
        client.callSync("HSET", "h" + i, huge.slice(100, 140), huge.slice(200, 240));
        client.callSync("SADD", "s", slice + part(1));
        client.callSync("ZADD", "z", 1, huge.slice(300, 330));
        client.callSync("RPUSH", "l", huge.slice(400, 440));
        client.callSync("XADD", "x", "*", huge.slice(500, 520), huge.slice(600, 620));
        client.callSync("PFADD", "p", huge.slice(700, 720));
        client.callSync("CLIENT", "SETNAME", "name" + huge.slice(0, 5));
        client.callSync("WATCH", huge.slice(800, 830));
        client.callSync("GET", huge.slice(900, 930));
        client.callSync("SUBSCRIBE", "c");
        client.callSync("UNSUBSCRIBE", "c");
      }
      console.log(heap() - before);
      `,
      "--expose-gc",
    );
    // 50 strings of 2 MB would be 100 MB.
    expect(Number(output)).toBeGreaterThan(0);
    expect(Number(output)).toBeLessThan(5_000_000);
  });
});
