/**
 * What happens when connections fail, with a proxy that cuts, swallows and loses answers. The rule under test: what may have
 * been run is never sent again unless it is safe to repeat, and nobody waits for ever.
 */
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { manualClock } from "../../tests/kit/manual-clock.ts";
import { FaultyProxy } from "../../tests/kit/proxy.ts";
import {
  freePort,
  installed,
  type ServerProcess,
  startOneSentinel,
  startRedis,
  whileReadOnly,
} from "../../tests/kit/servers.ts";
import { ConnectionError } from "../base/errors.ts";
import { defineScript } from "../base/script.ts";
import { Cache } from "../components/cache/index.ts";
import { RateLimits } from "../components/rate-limits/index.ts";
import { Sessions } from "../components/sessions/index.ts";
import { type OpenOptions, open } from "./open.ts";
import type { Store } from "./store.ts";

const increment = defineScript({ name: "inc", keys: ["n"], lua: `return redis.call("INCR", n)` });
const look = defineScript({
  name: "look",
  keys: ["n", "calls"],
  lua: `redis.call("INCR", calls) return redis.call("GET", n)`,
  repeatable: true,
});

describe.skipIf(!installed("redis-server"))("a connection that fails", () => {
  let server: ServerProcess;
  let proxy: FaultyProxy;
  let direct: Store;
  const opened: Store[] = [];
  const through = async (options: OpenOptions = {}): Promise<Store> => {
    const store = await open(proxy.url, { connectTimeoutMs: 2_000, ...options });
    opened.push(store);
    return store;
  };

  /** A store whose connection is known to be lost, with nobody to connect to. */
  const cutOff = async (options: OpenOptions = {}): Promise<Store> => {
    let lost: () => void = () => {};
    const isLost = new Promise<void>((resolve) => {
      lost = resolve;
    });
    const store = await through({ ...options, hooks: { connection: (state) => void (state === "lost" && lost()) } });
    proxy.refuse();
    proxy.cut();
    await isLost;
    return store;
  };

  beforeAll(async () => {
    server = await startRedis();
    direct = await open(server.url);
  });
  afterAll(async () => {
    await direct?.close();
    await server?.stop();
  });
  beforeEach(async () => {
    proxy = await FaultyProxy.open(server.port);
    await direct.call("FLUSHALL");
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
    await proxy.close();
  });

  describe("after the command was run", () => {
    test("a script that is not repeatable is run once, and the caller is told that it may have been", async () => {
      const store = await through();
      await store.run(increment, { n: "n" });
      const lost = proxy.loseAnswerOf("EVALSHA");
      const error = await store.run(increment, { n: "n" }).catch((caught) => caught);
      await lost;
      expect(error).toBeInstanceOf(ConnectionError);
      expect(error.maybeExecuted).toBe(true);
      expect(await store.call("GET", "n")).toBe("2");
    });

    test("a write is not sent again, a read is", async () => {
      const store = await through();
      let lost = proxy.loseAnswerOf("INCR");
      await expect(store.call("INCR", "n")).rejects.toMatchObject({ maybeExecuted: true });
      await lost;
      lost = proxy.loseAnswerOf("GET");
      expect(await store.call("GET", "n")).toBe("1");
      await lost;
    });

    test("a script that is repeatable is run again", async () => {
      const store = await through();
      await direct.call("SET", "n", "seen");
      await store.run(look, { n: "n", calls: "calls" });
      const lost = proxy.loseAnswerOf("EVALSHA");
      expect(await store.run(look, { n: "n", calls: "calls" })).toBe("seen");
      await lost;
      expect(await direct.call("GET", "calls")).toBe("3");
    });

    test("a pipeline is repeated only if all of it may be", async () => {
      const store = await through();
      let lost = proxy.loseAnswerOf("INCR");
      await expect(
        store.pipeline([
          ["GET", "n"],
          ["INCR", "n"],
        ]),
      ).rejects.toMatchObject({ maybeExecuted: true });
      await lost;
      lost = proxy.loseAnswerOf("STRLEN");
      expect(
        await store.pipeline([
          ["GET", "n"],
          ["STRLEN", "n"],
        ]),
      ).toEqual(["1", 1]);
      await lost;
    });

    test("a pipeline whose scripts the server has forgotten is not sent again when the answer to them is lost", async () => {
      const store = await through();
      await store.run(increment, { n: "n" });
      await direct.sendToAll(["SCRIPT", "FLUSH"]);
      // The commands have run and the script has not; then its source is sent, and runs.
      const lost = proxy.loseAnswerOf("redis.call");
      const sent = store.pipeline([["INCR", "other"], increment.with({ n: "n" }), ["INCR", "other"]]);
      await expect(sent).rejects.toMatchObject({ maybeExecuted: true });
      await lost;
      expect(
        await direct.pipeline([
          ["GET", "n"],
          ["GET", "other"],
        ]),
      ).toEqual(["2", "2"]);
    });

    test("a MULTI is not sent again", async () => {
      const store = await through();
      const lost = proxy.loseAnswerOf("EXEC");
      await expect(
        store.multi([
          ["INCR", "n"],
          ["INCR", "n"],
        ]),
      ).rejects.toMatchObject({ maybeExecuted: true });
      await lost;
      expect(await direct.call("GET", "n")).toBe("2");
    });

    test("a transaction with WATCH is begun again before EXEC, and not after", async () => {
      const store = await through();
      let lost = proxy.loseAnswerOf("GET");
      const add = () =>
        store.transaction({ watch: ["n"] }, async (watched) => [
          ["SET", "n", Number((await watched.call("GET", "n")) ?? 0) + 1],
        ]);
      expect(await add()).toEqual(["OK"]);
      await lost;
      lost = proxy.loseAnswerOf("EXEC");
      await expect(add()).rejects.toMatchObject({ maybeExecuted: true });
      await lost;
      expect(await direct.call("GET", "n")).toBe("2");
    });
  });

  test("everything under way is rejected when the connection is cut, and later requests wait for the next", async () => {
    const store = await through();
    const states: string[] = [];
    const watching = await through({ hooks: { connection: (state) => void states.push(state) } });
    proxy.swallow();
    const under = ["INCR", "APPEND"].map((name) => store.call(name, "n", ...(name === "APPEND" ? ["x"] : [])));
    const outcomes = Promise.allSettled(under);
    await direct.call("PING");
    proxy.swallow(false);
    proxy.cut();
    for (const outcome of await outcomes) {
      expect(outcome).toMatchObject({ status: "rejected", reason: { maybeExecuted: true } });
    }
    expect(await store.call("INCR", "n")).toBe(1);
    expect(await watching.call("GET", "n")).toBe("1");
    expect(states).toEqual(["ready", "lost", "ready"]);
  });

  test("what was never sent is sent when the server is back, even if it is no read", async () => {
    const store = await cutOff();
    const adding = store.call("INCR", "n");
    await expect(Promise.race([adding, direct.call("GET", "n")])).resolves.toBeNull();
    proxy.refuse(false);
    expect(await adding).toBe(1);
  });

  test("when the server stays away, the error comes after retryMs and says that nothing was run", async () => {
    const store = await cutOff({ retryMs: 150 });
    await expect(store.call("INCR", "n")).rejects.toMatchObject({ name: "ConnectionError", maybeExecuted: false });
  });

  test("a server that is restarted has forgotten the scripts, and nobody notices", async () => {
    const own = await startRedis();
    const store = await open(own.url);
    await store.pipeline([increment.with({ n: "n" })]);
    await own.restart();
    expect(await store.pipeline([increment.with({ n: "n" }), increment.with({ n: "n" })])).toEqual([1, 2]);
    expect(await store.run(increment, { n: "n" })).toBe(3);
    await store.close();
    await own.stop();
  });

  test("a read in a pipeline is asked again with the write before it that was refused", async () => {
    const own = await startRedis();
    const store = await open(own.url);
    await store.call("SET", "k", "old");
    const calls = () =>
      store.pipeline([
        ["GET", "k"],
        ["SET", "k", "new"],
        ["GET", "k"],
      ]);
    expect(await whileReadOnly(own, "set", calls)).toEqual(["old", "OK", "new"]);
    await store.close();
    await own.stop();
  });

  describe("half-open", () => {
    test("a command is given up at its deadline, and the next one gets a new connection", async () => {
      const store = await through({ commandTimeoutMs: 100, retryMs: 3_000 });
      proxy.swallow();
      const error = await store.call("INCR", "n").catch((caught) => caught);
      expect(error).toMatchObject({ name: "ConnectionError", code: "TIMEOUT", maybeExecuted: true });
      proxy.swallow(false);
      expect(await store.call("GET", "n")).toBeNull();
    });

    test("a blocking command is given up by its guard, and the next one works", async () => {
      const clock = manualClock();
      const store = await through({ clock, guardMs: 1_000 });
      const connection = store.blocking("q");
      expect(await connection.call(["BLPOP", "q", 0.01], { timeoutMs: 10 })).toBeNull();
      proxy.swallow();
      const waiting = connection.call(["BLPOP", "q", 5], { timeoutMs: 5_000 }).catch((error) => error);
      await direct.call("PING");
      clock.advance(5_999);
      expect(await Promise.race([waiting, direct.call("PING")])).toBe("PONG");
      clock.advance(1);
      expect(await waiting).toMatchObject({ name: "ConnectionError", code: "SILENT", maybeExecuted: true });
      proxy.swallow(false);
      await direct.call("RPUSH", "q", "x");
      expect(await connection.call(["BLPOP", "q", 1], { timeoutMs: 1_000 })).toEqual(["q", "x"]);
    });

    test("a transaction does not hang", async () => {
      const store = await through({ commandTimeoutMs: 2_000 });
      proxy.swallow();
      const adding = store.transaction({ watch: ["n"] }, () => [["INCR", "n"]]);
      await direct.call("PING");
      proxy.swallow(false);
      expect(await adding).toEqual([1]);
    });

    test("closing does not wait for answers that will not come", async () => {
      const store = await through();
      proxy.swallow();
      const outcome = store.call("INCR", "n").catch((error) => error);
      await store.close();
      expect(await outcome).toMatchObject({ maybeExecuted: true });
    });
  });

  describe("frozen", () => {
    test("what ran when the server woke up is not said to have not run", async () => {
      const own = await startRedis();
      const store = await open(own.url, { commandTimeoutMs: 150, connectTimeoutMs: 500, retryMs: 300 });
      own.pause();
      const outcomes = Promise.all([
        store.call("RPUSH", "list", "x").catch((error) => error),
        store.send(["SET", "k", "v"], { repeatable: true }).catch((error) => error),
      ]);
      for (const error of await outcomes) expect(error).toMatchObject({ name: "ConnectionError", maybeExecuted: true });
      own.resume();
      const plain = await open(own.url);
      expect([await plain.call("LLEN", "list"), await plain.call("GET", "k")]).toEqual([1, "v"]);
      await Promise.all([store.close(), plain.close()]);
      await own.stop();
    });

    test("with the circuit open nothing is written, and components answer without the store", async () => {
      const states: string[] = [];
      const store = await through({
        breaker: { failures: 2, openAfterMs: 0, probeEveryMs: 3_600_000, whenOpen: "fail" },
        hooks: { circuit: ({ state }) => void states.push(state) },
      });
      const limits = { limit: 5, windowMs: 1_000 };
      const limiter = new RateLimits(store, { name: "api", rules: limits, whenUnreachable: "allow", timeoutMs: 50 });
      const cache = new Cache<number>(store, "page", { timeoutMs: 50 });
      const sessions = new Sessions(store, { timeoutMs: 50 });
      const { token } = await new Sessions(direct).create();
      proxy.swallow();
      while (states.length === 0) expect(await limiter.take("ann")).toMatchObject({ allowed: true, unchecked: true });
      const before = proxy.received;
      for (let nth = 0; nth < 100; nth++) {
        expect(await limiter.take("ann")).toMatchObject({ unchecked: true });
        expect(await cache.get(`k${nth}`, () => nth)).toBe(nth);
        await expect(sessions.load(token)).rejects.toMatchObject({ code: "CIRCUIT_OPEN", maybeExecuted: false });
        await expect(store.call("GET", "k")).rejects.toMatchObject({ code: "CIRCUIT_OPEN", maybeExecuted: false });
      }
      await direct.call("PING");
      expect(proxy.received).toBe(before);
      expect(states).toEqual(["open"]);
      expect(store.circuits()).toMatchObject([{ state: "open" }]);
    });

    test("with the circuit open calls say so, although their deadline is over before they can", async () => {
      let isOpen = false;
      const store = await through({
        breaker: { failures: 1, openAfterMs: 0, probeEveryMs: 3_600_000, whenOpen: "fail" },
        hooks: {
          circuit: ({ state }) => {
            isOpen = state === "open";
          },
        },
      });
      proxy.swallow();
      while (!isOpen) await store.send(["GET", "k"], { timeoutMs: 20 }).catch(() => {});
      // In a phase of the event loop after which timers come first.
      await new Promise((resolve) => setImmediate(resolve));
      const call = store.send(["GET", "k"], { timeoutMs: 5 });
      for (const until = performance.now() + 20; performance.now() < until; );
      await expect(call).rejects.toMatchObject({ code: "CIRCUIT_OPEN", maybeExecuted: false });
    });

    test("the circuit closes by itself when the server answers again", async () => {
      const states: string[] = [];
      let closed: () => void = () => {};
      const isClosed = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const store = await through({
        timeoutMs: 50,
        breaker: { failures: 2, openAfterMs: 0, probeEveryMs: 20 },
        hooks: {
          circuit: ({ state }) => {
            states.push(state);
            if (state === "closed") closed();
          },
        },
      });
      proxy.swallow();
      while (!states.includes("open")) await store.call("GET", "k").catch(() => {});
      proxy.swallow(false);
      proxy.cut();
      await isClosed;
      expect(await store.send(["SET", "k", "v"], { timeoutMs: 10_000 })).toBe("OK");
      expect(store.circuits()).toEqual([]);
    });
  });

  describe("subscriptions", () => {
    test("come back after the connection is killed, and the listener is told that messages may be missing", async () => {
      const store = await through();
      const got: string[] = [];
      let resumed: () => void = () => {};
      let arrived: () => void = () => {};
      const isBack = new Promise<void>((resolve) => {
        resumed = resolve;
      });
      const isThere = new Promise<void>((resolve) => {
        arrived = resolve;
      });
      const listener = (message: Buffer): void => {
        got.push(message.toString());
        arrived();
      };
      await store.subscribe("a", listener, () => resumed());
      await store.subscribe("b", listener);
      await direct.call("CLIENT", "KILL", "TYPE", "pubsub");
      await isBack;
      expect(await direct.call("PUBLISH", "a", "again")).toBe(1);
      expect(await direct.call("PUBLISH", "b", "too")).toBe(1);
      await isThere;
      expect(got[0]).toBe("again");
    });

    test("one that is asked for while the server is away is there when it is back", async () => {
      const store = await cutOff();
      const subscribing = store.subscribe("late", () => {});
      await direct.call("PING");
      proxy.refuse(false);
      await subscribing;
      expect(await direct.call("PUBLISH", "late", "x")).toBe(1);
    });

    test("a connection that is dead without a sign is noticed by its silence", async () => {
      // Time is moved by hand: the heartbeat and the deadline of its answer.
      const clock = manualClock();
      const store = await through({ clock, commandTimeoutMs: 1_000 });
      let resumed: () => void = () => {};
      const isBack = new Promise<void>((resolve) => {
        resumed = resolve;
      });
      await store.subscribe(
        "a",
        () => {},
        () => resumed(),
      );
      proxy.swallow();
      clock.advance(5_000);
      await direct.call("PING");
      proxy.swallow(false);
      clock.advance(1_000);
      clock.run();
      await isBack;
      expect(await direct.call("PUBLISH", "a", "x")).toBeGreaterThanOrEqual(1);
    });
  });

  describe("from the beginning", () => {
    test("nobody there: open fails in time and names the address", async () => {
      const port = await freePort();
      const opening = open(`redis://user:secret@127.0.0.1:${port}`, { connectTimeoutMs: 200 });
      const error = await opening.catch((caught) => caught);
      expect(error).toMatchObject({ name: "ConnectionError", code: "UNREACHABLE", maybeExecuted: false });
      expect(error.message).toContain(`127.0.0.1:${port}`);
      expect(inspected(error)).not.toContain("secret");
    });

    test("somebody there who never answers: open fails in time", async () => {
      proxy.swallow();
      const error = await open(proxy.url, { connectTimeoutMs: 200 }).catch((caught) => caught);
      expect(error).toMatchObject({ name: "ConnectionError", code: "UNREACHABLE" });
    });

    test("a server that comes up while open waits is taken", async () => {
      proxy.refuse();
      const opening = open(proxy.url, { connectTimeoutMs: 10_000 });
      await direct.call("PING");
      proxy.refuse(false);
      const store = await opening;
      expect(await store.call("PING")).toBe("PONG");
      await store.close();
    });

    test("a wrong password, a missing one, and a database that is not there are said at once", async () => {
      const own = await startRedis({ args: ["--requirepass", "right-password"] });
      const at = `127.0.0.1:${own.port}`;
      const wrong = await open(`redis://:wrong-password@${at}`).catch((caught) => caught);
      expect(wrong).toMatchObject({ name: "ServerError", code: "WRONGPASS" });
      expect(inspected(wrong)).not.toContain("wrong-password");
      await expect(open(`redis://${at}`)).rejects.toMatchObject({ code: "NOAUTH" });
      await expect(open(`redis://:right-password@${at}/99`)).rejects.toThrow("DB index is out of range");
      const store = await open(`redis://default:right-password@${at}/3`, { clientName: "named", retryMs: 100 });
      expect(await store.call("CLIENT", "LIST")).toMatch(/name=named .*db=3/);
      await own.stop();
      const lost = await store.call("INCR", "n").catch((caught) => caught);
      expect(inspected(lost)).not.toContain("right-password");
      await store.close();
    });

    test("a unix socket is a server too", async () => {
      const own = await startRedis({ args: ["--unixsocket", "redis.sock"] });
      const [, dir] = (await (await open(own.url)).call("CONFIG", "GET", "dir")) as [string, string];
      const store = await open(`unix://${join(dir, "redis.sock")}?db=2`);
      expect(await store.call("CLIENT", "LIST")).toMatch(/redis.sock:0 .*db=2/);
      await store.close();
      await own.stop();
    });

    test("sentinels and their primary may each ask for a password", async () => {
      const own = await startRedis({ args: ["--requirepass", "the-servers"] });
      const sentinel = await startOneSentinel(own.port, false, [
        "sentinel auth-pass main the-servers",
        "requirepass theirs",
      ]);
      const at = `127.0.0.1:${sentinel.port}/main`;
      const store = await open(`redis+sentinel://:the-servers@${at}/5?sentinelPassword=theirs`);
      expect(await store.call("CLIENT", "INFO")).toContain("db=5");
      await store.close();
      const opening = open(`redis+sentinel://:the-servers@${at}?sentinelPassword=wrong-one`);
      const error = await opening.catch((caught) => caught);
      expect(error.message).toMatch(/no sentinel could name the primary of "main".*WRONGPASS/);
      expect(inspected(error)).not.toContain("wrong-one");
      await expect(open(`redis+sentinel://127.0.0.1:${sentinel.port}/other?sentinelPassword=theirs`)).rejects.toThrow(
        'knows no primary "other"',
      );
      await Promise.all([sentinel.stop(), own.stop()]);
    });

    test("a server that speaks something else is refused", async () => {
      const { createServer } = await import("node:http");
      const http = createServer((_, response) => response.end("hello"));
      const port = await freePort();
      await new Promise<void>((resolve) => void http.listen(port, "127.0.0.1", resolve));
      await expect(open(`redis://127.0.0.1:${port}`, { connectTimeoutMs: 300 })).rejects.toBeInstanceOf(
        ConnectionError,
      );
      http.closeAllConnections();
      http.close();
    });
  });

  test("a program that closes its store ends by itself", async () => {
    const here = dirname(fileURLToPath(import.meta.url));
    const program = `
      import { open } from ${JSON.stringify(join(here, "open.ts"))};
      for (const target of [undefined, ${JSON.stringify(server.url)}]) {
        const store = await open(target);
        await store.subscribe("c", () => {});
        const waiting = store.blocking("q").call(["BLPOP", "q", 0], { timeoutMs: 60_000 }).catch(() => {});
        await store.transaction({ watch: ["k"] }, () => [["SET", "k", 1]]);
        await store.close();
        await waiting;
      }
      console.log("closed");
    `;
    const args = ["--conditions=source", "--import", "tsx", "--input-type=module", "--eval", program];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.on("data", (data) => {
      output += data;
    });
    const code = await new Promise((resolve) => void child.once("exit", resolve));
    expect(output).toContain("closed");
    expect(code).toBe(0);
    expect(await direct.call("CLIENT", "LIST", "TYPE", "pubsub")).toBe("");
  });
});

/** Everything that a logger could print of an error. */
function inspected(error: unknown): string {
  const parts: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    parts.push(each.message, String(each.stack), JSON.stringify({ ...each }));
  }
  return parts.join("\n");
}

test.skipIf(!installed("redis-server"))(
  "what is sent to all is sent again while the only server is no primary",
  async () => {
    const server = await startRedis();
    const store = await open(server.url);
    try {
      await store.call("SET", "key", "value");
      expect(await whileReadOnly(server, "flushall", () => store.sendToAll(["FLUSHALL"]))).toEqual(["OK"]);
      expect(await store.call("GET", "key")).toBeNull();
    } finally {
      await store.close();
      await server.stop();
    }
  },
);
