/** A client inside the process: words in and out, errors, transactions, calls that wait, subscriptions. */
import { afterEach, describe, expect, it } from "vitest";
import { ManualClock } from "../core/clock.ts";
import { CommandError, Engine } from "../index.ts";
import { messageOf } from "../lib/caught.ts";

const engines: Engine[] = [];

async function open(...options: Parameters<typeof Engine.open>): Promise<Engine> {
  const engine = await Engine.open(...options);
  engines.push(engine);
  return engine;
}

afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
});

/** Whether a promise is still open, after everything that is due in this turn. */
async function pending(promise: Promise<unknown>): Promise<boolean> {
  const open = Symbol("open");
  const first = await Promise.race([promise.catch(() => null), new Promise((resolve) => setImmediate(resolve, open))]);
  return first === open;
}

describe("words in and out", () => {
  it("are UTF-8 text, bytes, numbers and big integers", async () => {
    const client = (await open()).connect();
    for (const text of [
      "plain",
      "naïve",
      "日本語",
      "👋🏽",
      "a\x00b\r\nc",
      "long ".repeat(20_000),
      "ü".repeat(100_000),
    ]) {
      await client.call("SET", text, text);
      expect(await client.call("GET", text)).toBe(text);
      expect(await client.call("STRLEN", text)).toBe(Buffer.byteLength(text));
      expect(((await client.callBuffer("GET", text)) as Buffer).equals(Buffer.from(text))).toBe(true);
    }
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    await client.call("SET", bytes, bytes);
    expect(await client.callBuffer("GET", bytes)).toEqual(bytes);
    await client.call("SET", "n", 12.5);
    expect(await client.call("GET", "n")).toBe("12.5");
    await client.call("SET", "n", 9223372036854775806n);
    expect(await client.call("INCR", "n")).toBe(9223372036854775807n);
    expect(await client.call("SETRANGE", "view", 0, new Uint8Array([97, 98, 99]).subarray(1))).toBe(2);
    expect(await client.call("GET", "view")).toBe("bc");
  });

  it("can be a list longer than the stack takes arguments", async () => {
    const client = (await open()).connect();
    const words = Array.from({ length: 250_000 }, (_, nth) => String(nth));
    expect(await client.callWords(["RPUSH", "l", ...words])).toBe(words.length);
    const all = (await client.callWords(["LRANGE", "l", 0, -1], { buffers: true })) as Buffer[];
    expect(all.at(-1)).toEqual(Buffer.from("249999"));
    expect(words[0]).toBe("0");
  });

  it("can all be Buffers", async () => {
    const client = (await open()).connect({ buffers: true });
    await client.call("RPUSH", "l", "a", Buffer.from([0xff]));
    expect(await client.call("LRANGE", "l", 0, -1)).toEqual([Buffer.from("a"), Buffer.from([0xff])]);
    expect(await client.pipeline([["LINDEX", "l", 1]])).toEqual([Buffer.from([0xff])]);
  });

  it("come as RESP3 has them where asked for", async () => {
    const client = (await open({ config: { "enable-debug-command": "yes" } })).connect({ protocol: 3 });
    await client.call("ZADD", "z", 1.5, "m");
    await client.call("SADD", "s", "a");
    expect(await client.call("ZSCORE", "z", "m")).toBe(1.5);
    expect(await client.call("ZRANGE", "z", 0, -1, "WITHSCORES")).toEqual([["m", 1.5]]);
    expect(await client.call("SMEMBERS", "s")).toEqual(new Set(["a"]));
    expect(await client.call("DEBUG", "PROTOCOL", "TRUE")).toBe(true);
    expect(await client.call("DEBUG", "PROTOCOL", "BIGNUM")).toBe(1234567999999999999999999999999999999n);
    expect(await client.call("CONFIG", "GET", "port")).toBeInstanceOf(Map);
  });

  it("must be words: a rejection, and nothing has run", async () => {
    const client = (await open()).connect();
    await expect(client.call("SET", "k", undefined as unknown as string)).rejects.toThrow(TypeError);
    await expect(client.call("SET", "k", null as unknown as string)).rejects.toThrow(/not null/);
    await expect(client.call()).rejects.toThrow(TypeError);
    await expect(
      client.transaction([
        ["SET", "k", "v"],
        ["SET", "k2", {} as string],
      ]),
    ).rejects.toThrow(TypeError);
    await expect(client.pipeline([["SET", "k", "v"], [true as unknown as string]])).rejects.toThrow(TypeError);
    expect(await client.call("DBSIZE")).toBe(0);
  });
});

describe("errors", () => {
  it("are CommandErrors with Redis's text and code", async () => {
    const client = (await open()).connect();
    await client.call("SET", "k", "v");
    const wrongType = await client.call("LPUSH", "k", "x").catch((error: unknown) => error);
    expect(wrongType).toBeInstanceOf(CommandError);
    expect(wrongType).toMatchObject({ name: "CommandError", code: "WRONGTYPE" });
    expect(messageOf(wrongType)).toBe("WRONGTYPE Operation against a key holding the wrong kind of value");
    await expect(client.call("NO", "ü")).rejects.toMatchObject({
      code: "ERR",
      message: expect.stringContaining("'ü'"),
    });
  });

  it("stand among the replies of a pipeline", async () => {
    const client = (await open()).connect();
    const [ok, failed, value] = await client.pipeline([
      ["SET", "k", "v"],
      ["INCR", "k"],
      ["GET", "k"],
    ]);
    expect(ok).toBe("OK");
    expect(failed).toBeInstanceOf(CommandError);
    expect(value).toBe("v");
    expect(await client.pipeline([])).toEqual([]);
  });

  it("of a handler's fault reach onError and the caller; everybody goes on", async () => {
    const engine = await open();
    const [client, other] = [engine.connect(), engine.connect()];
    const faults: [unknown, string][] = [];
    engine.core.onError = (error, command) => faults.push([error, command]);
    const db = engine.core.databases[0]!;
    const fault = new Error("broken");
    db.getString = () => {
      throw fault;
    };
    await expect(client.call("GET", "k")).rejects.toMatchObject({ message: "ERR internal error in 'get'" });
    expect(faults).toEqual([[fault, "get"]]);
    Reflect.deleteProperty(db, "getString");
    expect(await client.call("GET", "k")).toBeNull();
    expect(await other.call("PING")).toBe("PONG");
  });

  it("of a fault while serving somebody who waits reach that client, not the one who pushed", async () => {
    const engine = await open();
    const [waiting, pusher] = [engine.connect(), engine.connect()];
    const faults: string[] = [];
    engine.core.onError = (_error, command) => faults.push(command);
    const popped = waiting.call("BLPOP", "l", 0).catch((error: unknown) => error);
    const client = engine.core.clients.get(waiting.id)!;
    client.blocked = {
      ...client.blocked!,
      serve: () => {
        throw new Error("broken");
      },
    };
    expect(await pusher.call("RPUSH", "l", "x")).toBe(1);
    expect(await popped).toMatchObject({ message: "ERR internal error in 'blpop'" });
    expect(faults).toEqual(["blpop"]);
    expect(await waiting.call("LLEN", "l")).toBe(1);
  });
});

describe("transactions", () => {
  it("run as one step", async () => {
    const client = (await open()).connect();
    expect(
      await client.transaction([
        ["SET", "a", 1],
        ["INCR", "a"],
        ["GET", "a"],
      ]),
    ).toEqual(["OK", 2, "2"]);
    expect(await client.transaction([])).toEqual([]);
  });

  it("answer null when a watched key has changed", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect()];
    await one.call("WATCH", "k");
    await two.call("SET", "k", "other");
    expect(await one.transaction([["SET", "k", "mine"]])).toBeNull();
    expect(await one.call("GET", "k")).toBe("other");
    expect(await one.transaction([["SET", "k", "mine"]])).toEqual(["OK"]);
  });

  it("reject when a command could not be queued, and none has run", async () => {
    const client = (await open()).connect();
    await expect(client.transaction([["SET", "k", "v"], ["NO"], ["GET"]])).rejects.toThrow("unknown command 'NO'");
    expect(await client.call("EXISTS", "k")).toBe(0);
    expect(await client.call("SET", "k", "v")).toBe("OK");
  });

  it("carry the errors of commands that failed inside", async () => {
    const client = (await open()).connect();
    const [first, failed, last] = (await client.transaction([
      ["SET", "k", "v"],
      ["INCR", "k"],
      ["GET", "k"],
    ]))!;
    expect([first, last]).toEqual(["OK", "v"]);
    expect(failed).toBeInstanceOf(CommandError);
  });

  it("of one client do not mix, however they are called", async () => {
    const client = (await open()).connect();
    const many = Array.from({ length: 50 }, () =>
      client.transaction([
        ["INCR", "n"],
        ["INCR", "n"],
      ]),
    );
    const replies = (await Promise.all(many)) as number[][];
    expect(replies.map(([a, b]) => b! - a!)).toEqual(Array(50).fill(1));
  });
});

describe("calls that wait", () => {
  it("are answered by another client, and those behind them in order", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect()];
    const order: string[] = [];
    const note = (name: string) => (value: unknown) => order.push(`${name}=${value}`);
    const calls = [one.call("BLPOP", "l", 0).then(note("pop")), one.call("SET", "x", 1).then(note("set"))];
    expect(await pending(calls[0]!)).toBe(true);
    expect(await two.call("EXISTS", "x")).toBe(0);
    const pushed = two.call("RPUSH", "l", "a");
    // The wait is over, but SET has not run yet: GET must not overtake it.
    calls.push(one.call("GET", "x").then(note("get")));
    await Promise.all([pushed, ...calls]);
    expect(order).toEqual(["pop=l,a", "set=OK", "get=1"]);
  });

  it("queue behind one another", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect()];
    const calls = [one.call("BLPOP", "a", 0), one.call("BLPOP", "b", 0), one.call("PING")];
    await two.call("RPUSH", "b", "2");
    expect(await Promise.all(calls.map(pending))).toEqual([true, true, true]);
    await two.call("RPUSH", "a", "1");
    expect(await Promise.all(calls)).toEqual([["a", "1"], ["b", "2"], "PONG"]);
  });

  it("are served first come, first served", async () => {
    const engine = await open();
    const clients = Array.from({ length: 5 }, () => engine.connect());
    const pops = clients.map((client) => client.call("BRPOP", "l", 0));
    await engine.connect().call("RPUSH", "l", 5, 4, 3, 2, 1);
    expect((await Promise.all(pops)).map((reply) => (reply as string[])[1])).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("end with null when their time is over", async () => {
    const clock = new ManualClock();
    const engine = await open({ clock });
    const client = engine.connect();
    const calls = [client.call("BLPOP", "l", 5), client.call("PING")];
    clock.advance(4_999);
    engine.core.tick();
    expect(await pending(calls[0]!)).toBe(true);
    clock.advance(1);
    engine.core.tick();
    expect(await Promise.all(calls)).toEqual([null, "PONG"]);
  });

  it("end by the system's clock without anybody asking", async () => {
    expect(await (await open()).connect().call("BLPOP", "l", 0.01)).toBeNull();
  });

  it("end with an error by CLIENT UNBLOCK", async () => {
    const engine = await open();
    const client = engine.connect();
    const call = client.call("BLPOP", "l", 0);
    expect(await engine.connect().call("CLIENT", "UNBLOCK", client.id, "ERROR")).toBe(1);
    await expect(call).rejects.toMatchObject({ code: "UNBLOCKED" });
  });

  it("do not wait inside a transaction", async () => {
    const client = (await open()).connect();
    expect(
      await client.transaction([
        ["BLPOP", "l", 0],
        ["XREAD", "BLOCK", 0, "STREAMS", "s", "$"],
      ]),
    ).toEqual([null, null]);
  });

  it("keep a hundred thousand calls behind them in order", async () => {
    const engine = await open();
    const client = engine.connect();
    const first = client.call("BLPOP", "l", 0);
    const behind = Array.from({ length: 100_000 }, () => client.call("INCR", "n"));
    await engine.connect().call("RPUSH", "l", "go");
    await first;
    const replies = await Promise.all(behind);
    expect(replies[0]).toBe(1);
    expect(replies.at(-1)).toBe(100_000);
  });

  it("are put off by CLIENT PAUSE", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect()];
    await one.call("CLIENT", "PAUSE", 100_000, "WRITE");
    const calls = [two.call("SET", "k", "v"), two.call("GET", "k")];
    expect(await pending(calls[0]!)).toBe(true);
    expect(() => one.callSync("SET", "k", "w")).toThrow("paused");
    await one.call("CLIENT", "UNPAUSE");
    expect(await Promise.all(calls)).toEqual(["OK", "v"]);
  });
});

describe("calls without a promise", () => {
  it("answer at once, throw errors, and do not block", async () => {
    const client = (await open()).connect();
    expect(client.callSync("SET", "k", "v")).toBe("OK");
    expect(client.callSync("GET", "k")).toBe("v");
    expect(() => client.callSync("INCR", "k")).toThrow(CommandError);
    expect(client.callSync("BLPOP", "l", 0)).toBeNull();
    client.callSync("MULTI");
    client.callSync("INCR", "n");
    expect(client.callSync("EXEC")).toEqual([1]);
  });

  it("come behind calls that are due, and not beside one that waits", async () => {
    const engine = await open();
    const [one, two] = [engine.connect(), engine.connect()];
    const calls = [one.call("BLPOP", "l", 0), one.call("SET", "x", 1)];
    expect(() => one.callSync("GET", "x")).toThrow("blocked");
    two.callSync("RPUSH", "l", "a");
    expect(one.callSync("GET", "x")).toBe("1");
    expect(await Promise.all(calls)).toEqual([["l", "a"], "OK"]);
    one.close();
    expect(() => one.callSync("PING")).toThrow("closed");
  });
});

describe("subscriptions", () => {
  it("bring messages until they end", async () => {
    const engine = await open();
    const [subscriber, publisher] = [engine.connect(), engine.connect()];
    const heard: string[] = [];
    const stop = await subscriber.subscribe("news ü", (message, channel) => heard.push(`${channel}: ${message}`));
    expect(await publisher.call("PUBLISH", "news ü", "one 👋")).toBe(1);
    await publisher.call("PUBLISH", "other", "no");
    await stop();
    await stop();
    expect(await publisher.call("PUBLISH", "news ü", "two")).toBe(0);
    expect(heard).toEqual(["news ü: one 👋"]);
    expect(await subscriber.call("SET", "k", "v")).toBe("OK");
  });

  it("to one channel end one by one", async () => {
    const engine = await open();
    const [subscriber, publisher] = [engine.connect(), engine.connect()];
    const heard: string[] = [];
    const stopA = await subscriber.subscribe("c", () => heard.push("a"));
    const stopB = await subscriber.subscribe("c", () => heard.push("b"));
    await publisher.call("PUBLISH", "c", "1");
    await stopA();
    await publisher.call("PUBLISH", "c", "2");
    await stopB();
    expect(await publisher.call("PUBLISH", "c", "3")).toBe(0);
    expect(heard).toEqual(["a", "b", "b"]);
  });

  it("bring bytes where the client asks for bytes", async () => {
    const engine = await open();
    const subscriber = engine.connect({ buffers: true });
    const heard: unknown[] = [];
    await subscriber.subscribe("c", (message) => heard.push(message));
    await engine.connect().call("PUBLISH", "c", Buffer.from([0, 255]));
    expect(heard).toEqual([Buffer.from([0, 255])]);
  });

  it("let a listener call the engine", async () => {
    const engine = await open();
    const [subscriber, client] = [engine.connect({ protocol: 3 }), engine.connect()];
    const answers: Promise<unknown>[] = [];
    await subscriber.subscribe("c", (message) => answers.push(subscriber.call("SET", "seen", message)));
    await client.call("PUBLISH", "c", "x");
    await Promise.all(answers);
    expect(await client.call("GET", "seen")).toBe("x");
  });

  it("to patterns, and key-space events, come by onPush", async () => {
    const engine = await open({ config: { "notify-keyspace-events": "KEA" } });
    const [subscriber, client] = [engine.connect(), engine.connect()];
    const heard: unknown[] = [];
    const stop = subscriber.onPush((message) => heard.push(message));
    await subscriber.call("PSUBSCRIBE", "__key*__:*");
    await client.call("SET", "k", "v");
    expect(heard).toEqual([
      ["pmessage", "__key*__:*", "__keyspace@0__:k", "set"],
      ["pmessage", "__key*__:*", "__keyevent@0__:set", "k"],
    ]);
    stop();
    await client.call("DEL", "k");
    expect(heard).toHaveLength(2);
  });

  it("bring invalidations of tracked keys", async () => {
    const engine = await open();
    const [one, two] = [engine.connect({ protocol: 3 }), engine.connect()];
    const heard: unknown[] = [];
    one.onPush((message) => heard.push(message));
    await one.call("CLIENT", "TRACKING", "ON");
    await one.call("GET", "k");
    await two.call("SET", "k", "v");
    await one.call("GET", "k");
    expect(await one.call("SET", "k", "own")).toBe("OK");
    await one.call("PING");
    expect(heard).toEqual([
      ["invalidate", ["k"]],
      ["invalidate", ["k"]],
    ]);
  });
});
