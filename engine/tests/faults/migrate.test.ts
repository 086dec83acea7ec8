/**
 * MIGRATE when something comes between: a target that is silent, dies, or answers half; other clients that want the keys
 * that are on their way; changes that cannot be held back. Whatever happens, a key is in at least one place.
 */
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../src/core/clock.ts";
import { Engine } from "../../src/core/engine.ts";
import { LocalClient } from "../../src/embed/local-client.ts";

const SILENCE = "60000";

/** Something that takes commands and answers when it is told to. */
class FakeTarget {
  readonly sockets: Socket[] = [];
  /** What came, in full. */
  received = "";
  /** Answers to every command at once; null: none by itself. */
  answer: string | null = null;
  connections = 0;
  readonly #server: Server;
  #wake = () => {};

  constructor() {
    this.#server = createServer((socket) => {
      this.connections++;
      this.sockets.push(socket);
      socket.setEncoding("latin1");
      socket.on("error", () => {});
      socket.on("data", (text: unknown) => {
        this.received += text as string;
        const commands = (text as string).match(/\*\d+\r\n/g)?.length ?? 0;
        // SELECT is never what this is about.
        for (let i = 0; i < commands; i++) {
          if ((text as string).includes("SELECT")) socket.write("+OK\r\n");
          else if (this.answer !== null) socket.write(this.answer);
        }
        this.#wake();
      });
      socket.on("close", () => this.#wake());
      this.#wake();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return String((this.#server.address() as { port: number }).port);
  }

  /** Settles when this has become true. */
  async until(come: () => boolean): Promise<void> {
    while (!come()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  restores(): number {
    return this.received.match(/RESTORE/g)?.length ?? 0;
  }

  say(text: string): void {
    this.sockets.at(-1)!.write(text);
  }

  hangUp(): void {
    for (const socket of this.sockets.splice(0)) socket.destroy();
  }

  close(): Promise<void> {
    this.hangUp();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

describe("MIGRATE", () => {
  let clock: ManualClock;
  let engine: Engine;
  let target: FakeTarget;
  let port: string;
  let mover: LocalClient;
  let other: LocalClient;
  let effects: string[];

  beforeEach(async () => {
    clock = new ManualClock();
    engine = new Engine({ clock, config: { "enable-debug-command": "yes" } });
    target = new FakeTarget();
    port = await target.listen();
    mover = new LocalClient(engine, {}, () => {});
    other = new LocalClient(engine, {}, () => {});
    effects = [];
    engine.effects.listen((batch) => effects.push(...batch.map(({ argv }) => argv.join(" "))));
    await other.call("MSET", "a", "1", "b", "2", "c", "3");
    effects.length = 0;
  });
  afterEach(async () => {
    engine.stop();
    await target.close();
  });

  const migrate = (timeout: string, ...keys: string[]) =>
    mover.call("MIGRATE", "127.0.0.1", port, "", "0", timeout, "KEYS", ...keys);

  /** Begins to move keys: they have arrived, and the answer is not there. The reply is in a box, so as not to be awaited. */
  async function begin(...keys: string[]): Promise<{ reply: Promise<unknown> }> {
    const reply = migrate(SILENCE, ...keys);
    reply.catch(() => {});
    await target.until(() => target.restores() === keys.length);
    return { reply };
  }

  const state = async (call: Promise<unknown>) => {
    let answer: unknown = "waits";
    call.then(
      (value) => {
        answer = value;
      },
      (error: Error) => {
        answer = error.message;
      },
    );
    // Everything that can go on without the target has done so after a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    return answer;
  };

  test("others go on, and who names the key waits until it is over", async () => {
    const { reply } = await begin("a");
    expect(await state(other.call("GET", "b"))).toBe("2");
    const clients = Array.from({ length: 5 }, () => new LocalClient(engine, {}, () => {}));
    const waiting = [
      clients[0]!.call("GET", "a"),
      clients[1]!.call("INCR", "a"),
      clients[2]!.transaction([
        ["SET", "b", "x"],
        ["APPEND", "a", "y"],
      ]),
      clients[3]!.call("EVAL", "return redis.call('GET', KEYS[1])", "1", "a"),
      clients[4]!.call("COPY", "b", "a", "REPLACE"),
    ];
    for (const call of waiting) expect(await state(call)).toBe("waits");
    expect(await other.call("GET", "b")).toBe("2");
    expect((await other.call("INFO", "clients")) as string).toContain("blocked_clients:6");
    target.say("+OK\r\n");
    expect(await reply).toBe("OK");
    // In the order in which they came: each as if the transfer had been one step before it.
    expect(await waiting[0]).toBe(null);
    expect(await waiting[1]).toBe(1);
    expect(await waiting[2]).toEqual(["OK", 2]);
    expect(await waiting[3]).toBe("1y");
    expect(await waiting[4]).toBe(1);
    expect(effects[0]).toBe("DEL a");
  });

  test("a second transfer of the same key waits for the first, and finds nothing", async () => {
    const { reply } = await begin("a");
    const again = other.call("MIGRATE", "127.0.0.1", port, "a", "0", SILENCE);
    expect(await state(again)).toBe("waits");
    target.say("+OK\r\n");
    expect(await reply).toBe("OK");
    expect(await again).toBe("NOKEY");
    expect(target.restores()).toBe(1);
  });

  test("commands that concern whole databases wait, so that the right key is deleted", async () => {
    const { reply } = await begin("a");
    const swap = other.call("SWAPDB", "0", "1");
    expect(await state(swap)).toBe("waits");
    target.say("+OK\r\n");
    expect(await reply).toBe("OK");
    expect(await swap).toBe("OK");
    expect(await mover.call("DBSIZE")).toBe(0);
    expect(engine.databases[1]!.size).toBe(2);
  });

  test("a refusal keeps the key, and clients that waited find it", async () => {
    const { reply } = await begin("a");
    const get = other.call("GET", "a");
    target.say("-BUSYKEY Target key name already exists.\r\n");
    await expect(reply).rejects.toThrow(
      "ERR Target instance replied with error: BUSYKEY Target key name already exists.",
    );
    expect(await get).toBe("1");
    expect(effects).toEqual([]);
    expect((await other.call("INFO", "errorstats")) as string).toContain("errorstat_ERR:count=1");
  });

  test("a silent target: an error in time, the key is kept, and the connection is not used again", async () => {
    target.answer = "+OK\r\n";
    expect(await migrate(SILENCE, "b")).toBe("OK");
    target.answer = null;
    // The connection is there from before, so it can only be the answer that does not come.
    await expect(migrate("30", "a")).rejects.toThrow("IOERR error or timeout reading to target instance");
    expect(await other.call("GET", "a")).toBe("1");
    target.answer = "+OK\r\n";
    expect(await migrate(SILENCE, "a")).toBe("OK");
    expect(target.connections).toBe(2);
  });

  test("a target that dies in the middle: what it has acknowledged is gone here, the rest is kept", async () => {
    const { reply } = await begin("a", "b", "c");
    target.say("+OK\r\n-BUSYKEY x\r\n");
    target.sockets[0]!.end();
    await expect(reply).rejects.toThrow("ERR Target instance replied with error: BUSYKEY x");
    expect(await other.call("MGET", "a", "b", "c")).toEqual([null, "2", "3"]);
    expect(effects).toEqual(["DEL a"]);
  });

  test("a target that dies before it has answered is asked once more, and then it is an error", async () => {
    const { reply } = await begin("a");
    target.hangUp();
    await target.until(() => target.restores() === 2);
    expect(target.connections).toBe(2);
    target.hangUp();
    await expect(reply).rejects.toThrow("IOERR error or timeout reading to target instance");
    expect(await other.call("GET", "a")).toBe("1");
  });

  test("a connection is kept for ten seconds; one that the target has closed is replaced without a word", async () => {
    target.answer = "+OK\r\n";
    expect(await migrate(SILENCE, "a")).toBe("OK");
    expect(await migrate(SILENCE, "b")).toBe("OK");
    expect(target.connections).toBe(1);
    target.hangUp();
    expect(await migrate(SILENCE, "c")).toBe("OK");
    expect(target.connections).toBe(2);
    clock.advance(9000);
    engine.tick();
    expect(engine.migrations.keptLinks).toBe(1);
    clock.advance(2000);
    engine.tick();
    expect(engine.migrations.keptLinks).toBe(0);
    const [socket] = target.sockets;
    await target.until(() => socket!.destroyed || socket!.readableEnded);
  });

  test("a change that could not be held back keeps the key, and the caller hears of it", async () => {
    const { reply } = await begin("a", "b");
    await other.call("EVAL", "redis.call('SET', 'a', 'newer')", "0");
    effects.length = 0;
    target.say("+OK\r\n+OK\r\n");
    await expect(reply).rejects.toThrow(/^ERR the key 'a' was changed while it was on its way/);
    expect(await other.call("MGET", "a", "b")).toEqual(["newer", null]);
    expect(effects).toEqual(["DEL b"]);
  });

  test("a move that is served into the key counts as one", async () => {
    await other.call("RPUSH", "list", "x");
    const waiting = new LocalClient(engine, {}, () => {});
    const moved = waiting.call("BLMOVE", "source", "list", "LEFT", "RIGHT", "0");
    const { reply } = await begin("list");
    await other.call("RPUSH", "source", "y");
    expect(await moved).toBe("y");
    target.say("+OK\r\n");
    await expect(reply).rejects.toThrow(/^ERR the key 'list' was changed/);
    expect(await other.call("LRANGE", "list", "0", "-1")).toEqual(["x", "y"]);
  });

  test("a change to a stream's groups counts as one", async () => {
    await other.call("XADD", "s", "1-1", "f", "v");
    await other.call("XGROUP", "CREATE", "s", "g", "0");
    const { reply } = await begin("s");
    await other.call("EVAL", "redis.call('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 's', '>')", "0");
    target.say("+OK\r\n");
    await expect(reply).rejects.toThrow(/^ERR the key 's' was changed/);
    expect(await other.call("XLEN", "s")).toBe(1);
  });

  test("a key that goes by itself meanwhile is gone, and a new one in its place is kept", async () => {
    await other.call("PEXPIRE", "a", "100");
    const { reply } = await begin("a", "b");
    clock.advance(200);
    engine.tick();
    await other.call("EVAL", "redis.call('DEL', 'b') redis.call('SET', 'b', 'new')", "0");
    target.say("+OK\r\n+OK\r\n");
    await expect(reply).rejects.toThrow(/^ERR the key 'b' was changed/);
    expect(await other.call("MGET", "a", "b")).toEqual([null, "new"]);
  });

  test("a key that is named twice is sent twice, as in Redis, and no trace of it is left", async () => {
    target.answer = "+OK\r\n";
    expect(await migrate(SILENCE, "a", "a")).toBe("OK");
    expect(target.restores()).toBe(2);
    expect(effects).toEqual(["DEL a"]);
    expect(engine.databases[0]!.watchers.size).toBe(0);
    expect(await other.call("SET", "a", "again")).toBe("OK");
  });

  test("COPY deletes nothing and hands on nothing", async () => {
    target.answer = "+OK\r\n";
    expect(await mover.call("MIGRATE", "127.0.0.1", port, "a", "0", SILENCE, "COPY")).toBe("OK");
    expect(await other.call("GET", "a")).toBe("1");
    expect(effects).toEqual([]);
  });

  test("the caller may go away, and CLIENT UNBLOCK does not end it", async () => {
    const { reply } = await begin("a");
    expect(await other.call("CLIENT", "UNBLOCK", String(mover.id))).toBe(0);
    const waiting = other.call("EXISTS", "a");
    mover.close();
    await expect(reply).rejects.toThrow("closed");
    target.say("+OK\r\n");
    expect(await waiting).toBe(0);
    expect(effects).toEqual(["DEL a"]);
  });

  test("an engine that is closed meanwhile ends its connections and changes nothing more", async () => {
    const { reply } = await begin("a");
    const [socket] = target.sockets;
    engine.stop();
    await target.until(() => socket!.destroyed || socket!.readableEnded);
    expect(await state(reply)).toBe("waits");
    expect(engine.databases[0]!.size).toBe(3);
    expect(effects).toEqual([]);
  });

  test("a key whose time comes before its turn is not sent", async () => {
    await other.call("PEXPIRE", "a", "100");
    const waiting = migrate(SILENCE, "a", "b");
    // Serialised when the connection is there, which is not yet.
    clock.advance(200);
    target.answer = "+OK\r\n";
    expect(await waiting).toBe("OK");
    expect(target.restores()).toBe(1);
    expect(target.received).not.toContain("$1\r\na\r\n");
  });

  test("inside a transaction everything stands still until the target answers or time is over", async () => {
    const replies = await mover.transaction([
      ["MIGRATE", "127.0.0.1", port, "a", "0", "100"],
      ["GET", "a"],
    ]);
    // Which step it is depends on how soon the other thread gets its turn.
    expect(String(replies![0])).toContain("IOERR error or timeout");
    expect(replies![1]).toBe("1");
  });

  test("two engines in one process exchange keys, and one may send to another of its own databases", async () => {
    const { EmbeddedEngine } = await import("../../src/embed/embedded.ts");
    const [one, two] = [await EmbeddedEngine.open({}), await EmbeddedEngine.open({})];
    try {
      const ports = [
        await one.listen({ host: "127.0.0.1", port: 0 }),
        await two.listen({ host: "127.0.0.1", port: 0 }),
      ];
      const client = one.connect();
      await client.call("SET", "k", "v");
      expect(await client.call("MIGRATE", "127.0.0.1", String(ports[1]!.port), "k", "0", SILENCE)).toBe("OK");
      const there = two.connect();
      expect(await there.call("GET", "k")).toBe("v");
      expect(await there.call("MIGRATE", "127.0.0.1", String(ports[0]!.port), "k", "0", SILENCE)).toBe("OK");
      expect(await client.call("MIGRATE", "127.0.0.1", String(ports[0]!.port), "k", "3", SILENCE)).toBe("OK");
      expect(one.core.databases.map((db) => db.size).slice(0, 4)).toEqual([0, 0, 0, 1]);
      // To the very same place it waits for itself, as in Redis.
      await client.call("SET", "k", "v");
      const itself = client.call("MIGRATE", "127.0.0.1", String(ports[0]!.port), "k", "0", "50");
      await expect(itself).rejects.toThrow("IOERR error or timeout");
      expect(await client.call("GET", "k")).toBe("v");
    } finally {
      await one.close();
      await two.close();
    }
  });
});
