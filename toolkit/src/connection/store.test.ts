/** The contract of a store, on every backend: what components may rely on. */
import { describe, expect, test } from "vitest";
import { type Backend, describeBackends, EVERY_BACKEND_AND_OWN_CLUSTER } from "../../tests/kit/index.ts";
import { ConflictError, InputError, ServerError } from "../base/errors.ts";
import { defineScript, NOW_MS } from "../base/script.ts";
import type { RoundTrip } from "./store.ts";

/** Every byte there is, valid UTF-8 or not. */
const BYTES = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

const increment = defineScript({
  name: "test.increment",
  keys: ["counter"],
  args: ["by"],
  lua: `return redis.call("INCRBY", counter, by)`,
  reply: (value) => Number(value),
});
const echo = defineScript({
  name: "test.echo",
  keys: ["k"],
  rest: "words",
  lua: `local out = {} for i, word in ipairs(words) do out[i] = word end return out`,
  buffers: true,
});

describeBackends("a store", { backends: [...EVERY_BACKEND_AND_OWN_CLUSTER, "sentinel"] }, (backend) => {
  describe("commands", () => commands(backend));
  describe("scripts", () => scripts(backend));
  describe("pipelines", () => pipelines(backend));
  describe("transactions", () => transactions(backend));
  describe("waiting", () => waiting(backend));
  describe("hooks and closing", () => hooksAndClosing(backend));
});

function commands(backend: Backend): void {
  test("text is UTF-8 and numbers are numbers", async () => {
    const { store } = backend;
    expect(await store.call("SET", "clé", "größe 🎈")).toBe("OK");
    expect(await store.call("GET", "clé")).toBe("größe 🎈");
    expect(await store.call("STRLEN", "clé")).toBe(Buffer.byteLength("größe 🎈"));
    expect(await store.call("INCRBY", "n", 41n)).toBe(41);
    expect(await store.call("GET", "nobody")).toBeNull();
  });

  test("bytes come back as they went", async () => {
    const { store } = backend;
    await store.call("SET", "bytes", BYTES);
    expect(await store.callBuffer("GET", "bytes")).toEqual(BYTES);
    await store.call("RPUSH", "list", BYTES.subarray(128), new Uint8Array([0, 255]));
    expect(await store.callBuffer("LRANGE", "list", 0, -1)).toEqual([BYTES.subarray(128), Buffer.from([0, 255])]);
  });

  test("integers past 2^53 are kept as text, and no string is taken for one", async () => {
    const { store } = backend;
    expect(await store.call("INCRBY", "big", "9007199254740993")).toBe("9007199254740993");
    expect(await store.call("INCRBY", "safe", "9007199254740991")).toBe(9007199254740991);
    await store.call("SET", "digits", "0012");
    expect(await store.call("GET", "digits")).toBe("0012");
    expect(await store.call("DECRBY", "minus", 5)).toBe(-5);
  });

  test("maps, sets and doubles have RESP2's shape", async () => {
    const { store } = backend;
    await store.call("HSET", "h", "field", "value");
    await store.call("SADD", "s", "member");
    await store.call("ZADD", "z", 1.5, "member");
    expect(await store.call("HGETALL", "h")).toEqual(["field", "value"]);
    expect(await store.call("hgetall", "h")).toEqual(["field", "value"]);
    expect(await store.call("SMEMBERS", "s")).toEqual(["member"]);
    expect(await store.call("ZRANGE", "z", 0, -1, "WITHSCORES")).toEqual(["member", "1.5"]);
    expect(await store.call("ZSCORE", "z", "member")).toBe("1.5");
  });

  test("a server's error is an error with its first word as the code", async () => {
    const { store } = backend;
    await store.call("SET", "text", "x");
    const error = await store.call("LPUSH", "text", 1).catch((caught) => caught);
    expect(error).toBeInstanceOf(ServerError);
    expect(error.code).toBe("WRONGTYPE");
    await expect(store.call("NO-SUCH-COMMAND")).rejects.toMatchObject({ code: "ERR" });
    await expect(store.send([])).rejects.toBeInstanceOf(InputError);
  });

  test("many at once are answered each with its own", async () => {
    const { store } = backend;
    await Promise.all(Array.from({ length: 500 }, (_, n) => store.call("SET", `k${n}`, n)));
    const values = await Promise.all(Array.from({ length: 500 }, (_, n) => store.call("GET", `k${n}`)));
    expect(values).toEqual(Array.from({ length: 500 }, (_, n) => String(n)));
  });

  test("a large value passes", async () => {
    const large = Buffer.alloc(5 << 20, "ü");
    await backend.store.call("SET", "large", large);
    expect(large.equals((await backend.store.callBuffer("GET", "large")) as Buffer)).toBe(true);
  });

  test("what is sent to all is answered by every primary", async () => {
    const answers = await backend.store.sendToAll(["PING"]);
    expect(answers).toEqual(new Array(backend.store.topology === "cluster" ? 3 : 1).fill("PONG"));
  });
}

function scripts(backend: Backend): void {
  test("keys and arguments have names, and the answer is what the script makes of it", async () => {
    expect(await backend.store.run(increment, { counter: "c", by: 2 })).toBe(2);
    expect(await backend.store.run(increment, { counter: "c", by: 40 })).toBe(42);
  });

  test("any number of bytes passes through", async () => {
    const words = [...Array.from({ length: 5_000 }, (_, n) => Buffer.from(`word ${n}`)), BYTES];
    expect(await backend.store.run(echo, { k: "k", words })).toEqual(words);
  });

  test("a script that the server has forgotten is loaded again", async () => {
    const { store } = backend;
    await store.run(increment, { counter: "c", by: 1 });
    await store.sendToAll(["SCRIPT", "FLUSH"]);
    expect(await store.run(increment, { counter: "c", by: 1 })).toBe(2);
  });

  test("an error inside is the script's error", async () => {
    await backend.store.call("SET", "c", "no number");
    await expect(backend.store.run(increment, { counter: "c", by: 1 })).rejects.toBeInstanceOf(ServerError);
  });

  test("a parameter that is missing is refused before anything is sent", async () => {
    const { store } = backend;
    await expect(store.run(increment, { counter: "c" } as never)).rejects.toBeInstanceOf(InputError);
    expect(await store.call("EXISTS", "c")).toBe(0);
  });

  test("`now` is the server's time in milliseconds", async () => {
    const clock = defineScript({ name: "t", keys: ["k"], include: [NOW_MS], lua: "return now", reply: Number });
    const [seconds] = await backend.store.call("TIME");
    expect(Math.abs((await backend.store.run(clock, { k: "k" })) - Number(seconds) * 1_000)).toBeLessThan(60_000);
  });
}

function pipelines(backend: Backend): void {
  test("answers stand in the place of their items, errors among them", async () => {
    const { store } = backend;
    const [set, incremented, wrong, counted, missing] = await store.pipeline([
      ["SET", "a", 1],
      ["INCR", "a"],
      ["LPUSH", "a", 1],
      increment.with({ counter: "b", by: 7 }),
      ["GET", "{nowhere}"],
    ]);
    expect([set, incremented, counted, missing]).toEqual(["OK", 2, 7, null]);
    expect(wrong).toBeInstanceOf(ServerError);
  });

  test("items for one key are run in their order", async () => {
    const { store } = backend;
    const items = Array.from({ length: 300 }, (_, n) => ["RPUSH", `list:${n % 7}`, n] as const);
    await store.pipeline(items);
    for (let list = 0; list < 7; list++) {
      const values = (await store.call("LRANGE", `list:${list}`, 0, -1)) as string[];
      expect(values.map(Number)).toEqual(items.flatMap(([, , n]) => (n % 7 === list ? [n] : [])));
    }
  });

  test("scripts run by their SHA, and those that the server has forgotten are loaded again", async () => {
    const { store } = backend;
    const twice = () =>
      store.pipeline([increment.with({ counter: "x", by: 1 }), increment.with({ counter: "y", by: 1 })]);
    expect(await twice()).toEqual([1, 1]);
    expect(await twice()).toEqual([2, 2]);
    await store.sendToAll(["SCRIPT", "FLUSH"]);
    expect(await twice()).toEqual([3, 3]);
  });

  test("no item is run twice or left out when scripts are forgotten in the middle", async () => {
    const { store } = backend;
    const other = await backend.open();
    const rounds = 60;
    const flushing = (async () => {
      for (let n = 0; n < rounds; n++) await other.sendToAll(["SCRIPT", "FLUSH"]);
    })();
    for (let round = 0; round < rounds; round++) {
      await store.pipeline(Array.from({ length: 10 }, (_, n) => increment.with({ counter: `f${n}`, by: 1 })));
    }
    await flushing;
    expect(await store.pipeline(Array.from({ length: 10 }, (_, n) => ["GET", `f${n}`]))).toEqual(
      new Array(10).fill(String(rounds)),
    );
  });

  test("an empty one is answered by nothing", async () => {
    expect(await backend.store.pipeline([])).toEqual([]);
    expect(await backend.store.multi([])).toEqual([]);
  });
}

function transactions(backend: Backend): void {
  test("all commands are one step, with text and bytes as each asked", async () => {
    const { store } = backend;
    const answers = await store.multi([
      ["SET", "{t}a", BYTES],
      ["INCR", "{t}n"],
      increment.with({ counter: "{t}n", by: 4 }),
      echo.with({ k: "{t}a", words: [BYTES] }),
      ["LPUSH", "{t}n", 1],
      ["GET", "{t}n"],
    ]);
    expect(answers.slice(0, 4)).toEqual(["OK", 1, 5, [BYTES]]);
    expect(answers[4]).toBeInstanceOf(ServerError);
    expect(answers[5]).toBe("5");
  });

  test("when one cannot be queued, none is run", async () => {
    const { store } = backend;
    await expect(store.multi([["SET", "{t}a", 1], ["GET"]])).rejects.toBeInstanceOf(ServerError);
    expect(await store.call("EXISTS", "{t}a")).toBe(0);
    expect(await store.multi([["SET", "{t}a", 2]])).toEqual(["OK"]);
  });

  test("a watched key that changes makes the body run again", async () => {
    const { store } = backend;
    await store.call("SET", "{w}n", 1);
    let runs = 0;
    const answers = await store.transaction({ watch: ["{w}n"] }, async (watched) => {
      const seen = Number(await watched.call("GET", "{w}n"));
      if (runs++ === 0) await store.call("SET", "{w}n", 10);
      return [["SET", "{w}n", seen + 1]];
    });
    expect(answers).toEqual(["OK"]);
    expect(runs).toBe(2);
    expect(await store.call("GET", "{w}n")).toBe("11");
  });

  test.skipIf(backend.isDisturbed)(
    "what is read along with WATCH takes no round trip of its own, and is watched",
    async () => {
      const { store } = backend;
      await store.call("SET", "{w}n", 1);
      const events: string[] = [];
      const stop = store.on("roundTrip", ({ name }) => {
        events.push(name);
        return () => events.push(`${name} ended`);
      });
      let runs = 0;
      const other = await backend.open();
      const options = {
        watch: ["{w}n"],
        reads: [
          ["GET", "{w}n"],
          ["STRLEN", "{w}n"],
        ] as const,
      };
      const answers = await store.transaction(options, async (_, [seen, length]) => {
        expect(length).toBe(String(seen).length);
        if (runs++ === 0) await other.call("SET", "{w}n", 10);
        return [["SET", "{w}n", Number(seen) + 1]];
      });
      stop();
      expect([answers, runs]).toEqual([["OK"], 2]);
      expect(await store.call("GET", "{w}n")).toBe("11");
      expect(events.slice(0, 6)).toEqual(["WATCH", "GET", "STRLEN", "WATCH ended", "GET ended", "STRLEN ended"]);
    },
  );

  test("under contention no change is lost", async () => {
    const stores = [backend.store, await backend.open(), await backend.open()];
    const add = (store: (typeof stores)[0]) =>
      store.transaction({ watch: ["{w}sum"], attempts: 1_000 }, async (watched) => [
        ["SET", "{w}sum", Number((await watched.call("GET", "{w}sum")) ?? 0) + 1],
      ]);
    await Promise.all(
      stores.map(async (store) => {
        for (let n = 0; n < 15; n++) await add(store);
      }),
    );
    expect(await backend.store.call("GET", "{w}sum")).toBe("45");
  });

  test("giving up leaves everything as it was, and the next one works", async () => {
    const { store } = backend;
    await store.call("SET", "{w}n", 1);
    expect(await store.transaction({ watch: ["{w}n"] }, () => null)).toBeNull();
    await store.call("SET", "{w}n", 2);
    expect(await store.transaction({ watch: ["{w}n"] }, () => [["INCR", "{w}n"]])).toEqual([3]);
  });

  test("a body that throws rejects with its error and writes nothing", async () => {
    const { store } = backend;
    const failing = store.transaction({ watch: ["{w}n"] }, () => Promise.reject(new TypeError("mine")));
    await expect(failing).rejects.toThrow("mine");
    expect(await store.transaction({ watch: ["{w}n"] }, () => [["SET", "{w}n", 1]])).toEqual(["OK"]);
  });

  test("a conflict each time ends in a ConflictError", async () => {
    const { store } = backend;
    const losing = store.transaction({ watch: ["{w}n"], attempts: 3 }, async () => {
      await store.call("INCR", "{w}n");
      return [["SET", "{w}n", 0]];
    });
    await expect(losing).rejects.toBeInstanceOf(ConflictError);
    expect(await store.call("GET", "{w}n")).toBe("3");
  });

  test("no keys to watch is a mistake", async () => {
    await expect(backend.store.transaction({ watch: [] }, () => [])).rejects.toBeInstanceOf(InputError);
  });
}

function waiting(backend: Backend): void {
  test("messages reach every listener of their channel, as bytes, until it is closed", async () => {
    const { store } = backend;
    const publisher = await backend.open();
    const got: string[] = [];
    let arrived: () => void = () => {};
    const next = () =>
      new Promise<void>((resolve) => {
        arrived = resolve;
      });
    const first = await store.subscribe("news", (message) => void got.push(`first ${message.toString("hex")}`));
    const second = await store.subscribe("news", (message) => {
      got.push(`second ${message.toString("hex")}`);
      arrived();
    });
    await store.subscribe("other", () => void got.push("other"));
    let arriving = next();
    await publisher.call("PUBLISH", "news", Buffer.from([0, 255]));
    await arriving;
    await first.close();
    arriving = next();
    await publisher.call("PUBLISH", "news", "x");
    await arriving;
    await second.close();
    expect(got).toEqual(["first 00ff", "second 00ff", "second 78"]);
  });

  test("a blocking command waits, is woken, and leaves other commands alone", async () => {
    const { store } = backend;
    const connection = store.blocking("{b}q");
    const waiting = connection.call(["BLPOP", "{b}q", 30], { timeoutMs: 30_000 });
    expect(await store.call("PING")).toBe("PONG");
    await store.call("RPUSH", "{b}q", "job");
    expect(await waiting).toEqual(["{b}q", "job"]);
    expect(await connection.call(["BLPOP", "{b}q", 0.01], { timeoutMs: 10 })).toBeNull();
    connection.close();
    await expect(connection.call(["BLPOP", "{b}q", 1], { timeoutMs: 1_000 })).rejects.toMatchObject({ code: "CLOSED" });
  });

  test("a blocking command can be given up, and takes nothing afterwards", async () => {
    const { store } = backend;
    const connection = store.blocking("{b}q");
    const giveUp = new AbortController();
    const waiting = connection.call(["BLPOP", "{b}q", 30], { timeoutMs: 30_000, signal: giveUp.signal });
    giveUp.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    // The server drops who is gone before it serves who is there.
    const other = store.blocking("{b}q");
    const next = other.call(["BLPOP", "{b}q", 30], { timeoutMs: 30_000 });
    await store.call("RPUSH", "{b}q", "kept");
    expect(await next).toEqual(["{b}q", "kept"]);
    other.close();
    connection.close();
  });
}

function hooksAndClosing(backend: Backend): void {
  test("hooks see every round trip with its name and how it ended", async () => {
    const trips: string[] = [];
    const states: string[] = [];
    const store = await backend.open({
      hooks: {
        roundTrip: (trip: RoundTrip) => (error) =>
          void trips.push(`${trip.kind} ${trip.name} ${trip.commands} ${error === undefined ? "ok" : "failed"}`),
        connection: (state) => void states.push(state),
      },
    });
    await store.call("SET", "k", "x");
    await store.call("LPUSH", "k", 1).catch(() => {});
    await store.run(increment, { counter: "n", by: 1 });
    await store.pipeline([
      ["GET", "k"],
      ["GET", "n"],
    ]);
    await store.multi([["SET", "{t}", 1]]);
    await store.close();
    expect(trips).toEqual([
      "call SET 1 ok",
      "call LPUSH 1 failed",
      "script test.increment 1 ok",
      "pipeline PIPELINE 2 ok",
      "transaction MULTI 1 ok",
    ]);
    expect(states).toEqual(["ready", "closed"]);
  });

  test.skipIf(backend.isDisturbed)("listeners are told what is sent, watched reads too, until they leave", async () => {
    const store = await backend.open();
    const sent: string[] = [];
    const ended: string[] = [];
    const leave = store.on("roundTrip", ({ kind, name, items }) => {
      const texts = items.map((item) =>
        ("script" in item ? [item.script.name, ...item.keys, ...item.args] : item).join(" "),
      );
      sent.push(`${kind}: ${texts.join("; ")}`);
      return (error) => void ended.push(`${name} ${error === undefined ? "ok" : "failed"}`);
    });
    const leaveToo = store.on("roundTrip", () => undefined);
    await store.run(increment, { counter: "{t}n", by: 2 });
    await store.transaction({ watch: ["{t}n"] }, async ({ call }) => [
      ["SET", "{t}m", String(await call("GET", "{t}n"))],
    ]);
    await store.pipeline([["GET", "{t}m"], increment.with({ counter: "{t}n", by: 3 })]);
    leave();
    leaveToo();
    await store.call("GET", "{t}m");
    expect(sent).toEqual([
      "script: test.increment {t}n 2",
      "call: WATCH {t}n",
      "call: GET {t}n",
      "transaction: SET {t}m 2",
      "pipeline: GET {t}m; test.increment {t}n 3",
    ]);
    expect(ended).toEqual(["test.increment ok", "WATCH ok", "GET ok", "MULTI ok", "PIPELINE ok"]);
    expect([increment.nameOf("key", 0), increment.nameOf("arg", 0), increment.nameOf("arg", 1)]).toEqual([
      "counter",
      "by",
      "",
    ]);
  });

  test("what was sent is still answered when the store is closed right behind it", async () => {
    const store = await backend.open();
    const answers = Promise.all(Array.from({ length: 50 }, () => store.call("INCR", "counted")));
    await store.close();
    expect(await answers).toHaveLength(50);
    expect(await backend.store.call("GET", "counted")).toBe("50");
  });

  test("a closed store refuses everything, and closing twice is fine", async () => {
    const store = await backend.open();
    const order: string[] = [];
    store.on("close", () => void order.push("component"));
    store.closeSignal.addEventListener("abort", () => order.push("signal"));
    await Promise.all([store.close(), store.close()]);
    expect(order).toEqual(["component", "signal"]);
    expect(store.closed).toBe(true);
    const closed = { code: "CLOSED" };
    await expect(store.call("PING")).rejects.toMatchObject(closed);
    await expect(store.pipeline([["PING"]])).rejects.toMatchObject(closed);
    await expect(store.multi([["SET", "k", 1]])).rejects.toMatchObject(closed);
    await expect(store.transaction({ watch: ["k"] }, () => [])).rejects.toMatchObject(closed);
    await expect(store.subscribe("c", () => {})).rejects.toMatchObject(closed);
    await expect(store.sendToAll(["PING"])).rejects.toMatchObject(closed);
    expect(() => store.blocking("k")).toThrow("closed");
  });

  test("what waits when the store is closed is ended", async () => {
    const store = await backend.open();
    const waiting = store.blocking("k").call(["BLPOP", "k", 30], { timeoutMs: 30_000 });
    await store.subscribe("c", () => {});
    const outcome = waiting.catch((error) => error);
    await store.call("PING");
    await store.close();
    expect(await outcome).toMatchObject({ name: expect.stringMatching(/ConnectionError|ClosedError/) });
  });
}
