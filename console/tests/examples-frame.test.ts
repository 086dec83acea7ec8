/** What all examples share: traces that hold what a request sent and no secret, names, samples, live updates. */
import { defineScript, open, type Store } from "cinnabar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { channelOf } from "../src/events.ts";
import type { Example } from "../src/examples/example.ts";
import { EXAMPLES } from "../src/examples/index.ts";
import { makeSample, removeSample, sampleState } from "../src/examples/sample.ts";
import type { Context } from "../src/route.ts";
import { secret, type Trace, traced, traceOf, traceStore, untraced } from "../src/trace.ts";
import { whileVisited } from "../src/visits.ts";
import { as, describeExample, sentBy } from "./examples.ts";
import { serve } from "./support.ts";

const increment = defineScript({
  name: "test.increment",
  keys: ["counter"],
  args: ["by", "token"],
  rest: "words",
  lua: `return redis.call("INCRBY", counter, by)`,
});

describe("a trace", () => {
  let store: Store;
  let stop: () => void;

  beforeAll(async () => {
    store = await open();
    stop = traceStore(store);
  });
  afterAll(async () => {
    stop();
    await store.close();
  });

  const words = ({ trips }: Trace): string[] =>
    trips.flatMap(({ commands }) => commands.map((each) => each.words.map(({ text }) => text).join(" ")));

  test("holds commands, scripts by their names, pipelines and transactions, each with its time", async () => {
    const { answer, trace } = await traced(async () => {
      await store.call("SET", "{t}a", 1);
      await store.run(increment, { counter: "{t}a", by: 2, token: "t", words: [] });
      await store.pipeline([["GET", "{t}a"], increment.with({ counter: "{t}a", by: 1, token: "t", words: ["x"] })]);
      await store.multi([["GET", "{t}a"]]);
      await store.transaction(
        { watch: ["{t}a"] },
        async ({ call }) => [["SET", "{t}b", (await call("GET", "{t}a"))!]] as never,
      );
      await store.call("LPUSH", "{t}a", 1).catch(() => {});
      return store.call("GET", "{t}a");
    });
    expect(answer).toBe("4");
    expect(trace.trips.map(({ kind, commands }) => [kind, commands.length])).toEqual([
      ["call", 1],
      ["script", 1],
      ["pipeline", 2],
      ["transaction", 1],
      ["call", 1],
      ["call", 1],
      ["transaction", 1],
      ["call", 1],
      ["call", 1],
    ]);
    expect(sentBy(trace).slice(-5)).toEqual(["WATCH", "GET", "SET", "LPUSH", "GET"]);
    expect(trace.trips[1]!.commands[0]).toEqual({
      name: "test.increment",
      script: true,
      words: [
        { name: "counter", text: "{t}a" },
        { name: "by", text: "2" },
        { name: "token", text: "••••••" },
      ],
      more: 0,
    });
    expect(
      trace.trips.every(({ micros, startMicros }) => micros! >= 0 && startMicros + micros! <= trace.micros + 2),
    ).toBe(true);
    expect(trace.trips[7]!.error).toContain("WRONGTYPE");
  });

  test("is bounded, whatever is sent", async () => {
    const { trace } = await traced(async () => {
      await store.call("SET", "long", "ä".repeat(1_000_000));
      await store.call("SET", "bytes", Buffer.alloc(5_000, 0xff));
      await store.call("MGET", ...Array.from({ length: 200 }, (_, nth) => `k${nth}`));
      await store.pipeline(Array.from({ length: 100 }, () => ["PING"]));
      for (let nth = 0; nth < 100; nth++) await store.call("PING");
    });
    expect(trace.trips[0]!.commands[0]!.words[1]!.text).toMatch(/^ä{100}… \(1000000 characters\)$/);
    expect(trace.trips[1]!.commands[0]!.words[1]!.text).toBe(`0x${"ff".repeat(12)}… (5000 bytes)`);
    expect(trace.trips[2]!.commands[0]).toMatchObject({ more: 184 });
    expect(trace.trips[3]).toMatchObject({ more: 80 });
    expect(trace.trips.length + trace.more).toBe(104);
    expect(JSON.stringify(trace).length).toBeLessThan(20_000);
  });

  test("shows no secret", async () => {
    const token = `${"a".repeat(12)}.${"b".repeat(22)}`;
    const { trace } = await traced(async () => {
      secret("my own word");
      await store.call("HSET", "user", "name", "ann", "password", "hunter2", "d:token", "abc");
      await store.call("SET", "session", token);
      await store.call("SET", "said", "this is my own word, really");
      await store.call("SET", "json", JSON.stringify({ name: "ann", password: 'hun"ter2', token: "abc" }));
      await store.call("AUTH", "hunter2").catch(() => {});
      await store.run(increment, { counter: "n", by: 1, token: "hunter2", words: ["secret", "hunter2"] });
    });
    const text = words(trace).join("\n");
    expect(text).not.toMatch(/hunter2|ter2|abc|my own word/);
    expect(text).not.toContain(token);
    expect(text).toContain("user name ann password ••••••");
    expect(text).toContain('{"name":"ann","password":"••••••","token":"••••••"}');
  });

  test("holds exactly what its own request sent, also of requests at once and of those that fail", async () => {
    const names = Array.from({ length: 30 }, (_, nth) => `key:${nth}`);
    const all = await Promise.all(
      names.map((name) =>
        traced(async () => {
          untraced(() => void store.call("GET", "not mine"));
          await store.call("SET", name, 1);
          await Promise.all([store.call("GET", name), store.call("DEL", name)]);
        }),
      ),
    );
    all.forEach(({ trace }, nth) => {
      expect(sentBy(trace).sort()).toEqual(["DEL", "GET", "SET"]);
      expect(words(trace).every((text) => text.split(" ")[0] === names[nth])).toBe(true);
    });
    const failed = await traced(async () => {
      await store.call("GET", "x");
      throw new Error("no");
    }).catch((error: Error) => error);
    expect(sentBy(traceOf(failed as Error)!)).toEqual(["GET"]);
  });
});

describe("a sample", () => {
  test("is made once by all who ask at once, is not removed meanwhile, and may fail and be made again", async () => {
    const store = await open();
    const context = { store } as Context;
    let finish = () => {};
    let fails = false;
    let runs = 0;
    const example: Example = {
      ...{ name: "slow", title: "Slow", about: "", components: [], routes: [] },
      make: async (_context, progress) => {
        runs++;
        progress(1, 2);
        await new Promise<void>((resolve) => {
          finish = resolve;
        });
        if (fails) throw new Error("half way");
        await store.call("SET", "example:slow:thing", 1);
      },
    };
    expect(await sampleState(context, example)).toMatchObject({ state: "absent" });
    const both = [makeSample(context, example), makeSample(context, example)];
    expect(await sampleState(context, example)).toEqual({ state: "making", done: 1, total: 2 });
    await expect(removeSample(context, example)).rejects.toMatchObject({ status: 409, code: "BUSY" });
    finish();
    await Promise.all(both);
    expect(runs).toBe(1);
    expect(await sampleState(context, example)).toMatchObject({ state: "present" });
    fails = true;
    const failing = makeSample(context, example);
    finish();
    await expect(failing).rejects.toThrow("half way");
    expect(await removeSample(context, example)).toBe(2);
    expect(await sampleState(context, example)).toMatchObject({ state: "absent" });
    await store.close();
  });

  test("work beside requests runs while somebody is there, and ends with the console", async () => {
    const store = await open();
    const log: string[] = [];
    const visits = whileVisited(() => {
      log.push("started");
      return { stop: async () => void log.push("stopped") };
    });
    const served = await serve(store);
    visits.visit({ store });
    visits.visit({ store });
    await served.console.close();
    expect(log).toEqual(["started", "stopped"]);
    visits.visit({ store });
    await visits.stop({ store });
    expect(log).toEqual(["started", "stopped", "started", "stopped"]);
    await store.close();
  });
});

describeExample("frame", (served, backend) => {
  test("every example has routes of its own, and a sample that can be made twice and removed without a trace", async () => {
    const { store } = backend;
    const ann = await as(served(), "Ann");
    const others = ["example:", "example:newsy:x", "examples:news:x", "other", "news"];
    for (const key of others) await store.call("SET", key, 1);
    const keys = async () => {
      const answers = await store.sendToAll(["KEYS", "*"]);
      // The lists of what is in the store are not the example's.
      return (answers as string[][])
        .flat()
        .filter((key) => !key.startsWith("cinnabar:"))
        .sort();
    };
    const listed = (await served().get("/api/examples")).body.examples;
    expect(listed.map(({ name }: { name: string }) => name)).toEqual(EXAMPLES.map(({ name }) => name));
    for (const example of EXAMPLES) {
      expect(example.name).toMatch(/^[a-z-]+$/);
      for (const { url, group } of example.routes) {
        expect([url.startsWith(`/api/examples/${example.name}/`), group], url).toEqual([true, "Examples"]);
      }
      const path = `/${example.name}/sample`;
      expect((await ann.get(path)).body.state, example.name).toBe("absent");
      expect((await ann.send("POST", path)).status, example.name).toBe(200);
      const once = await keys();
      expect(once.filter((key) => !key.startsWith(`example:${example.name}:`))).toEqual([...others].sort());
      expect(once.length, example.name).toBeGreaterThan(others.length + 1);
      expect((await ann.send("POST", path)).status, example.name).toBe(200);
      expect((await ann.get(path)).body.state).toBe("present");
      expect((await ann.send("DELETE", path)).body.removed, example.name).toBeGreaterThan(1);
      expect(await keys(), example.name).toEqual([...others].sort());
    }
    expect((await ann.send("POST", "/nothing/sample")).status).toBe(404);
  });

  test("somebody without a name gets one, and may choose another", async () => {
    const first = await served().get("/api/examples/visitor");
    expect(first.body.name).toMatch(/^[A-Z][a-z]+ \d\d$/);
    const cookie = first.headers.get("set-cookie")!;
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    const again = await served().get("/api/examples/visitor", { cookie: cookie.split(";")[0]! });
    expect(again.body.name).toBe(first.body.name);
    expect(again.headers.get("set-cookie")).toBeNull();
    const ann = await as(served(), "  Zoë  O'Neil ");
    expect((await ann.get("/visitor")).body.name).toBe("Zoë O'Neil");
    for (const name of ["", "  ", "a".repeat(25), "<b>", "a\u0000b", "-"]) {
      expect((await ann.send("POST", "/visitor", { name })).body.code, JSON.stringify(name)).toBe("NAME");
    }
    expect((await served().get("/api/examples/visitor", { cookie: `${cookie.split("=")[0]}=%zz` })).status).toBe(200);
  });

  test("what is announced is heard by pages of every console on the store", async () => {
    const other = await serve(await backend.open());
    const stop = new AbortController();
    const heard = async (url: string, found: (text: string) => boolean) => {
      const response = await fetch(`${url}/api/examples/news/events`, { signal: stop.signal });
      expect(response.headers.get("content-type")).toBe("text/event-stream");
      expect(response.headers.get("x-frame-options")).toBe("DENY");
      let text = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        // The stream has begun when it says so: from then on nothing is missed.
        if (text.includes("event: resumed") && !begun.has(url)) begin(url);
        if (found(text)) return text;
      }
      return text;
    };
    const begun = new Set<string>();
    const begin = (url: string) => {
      begun.add(url);
      if (begun.size === 2) void backend.store.call("PUBLISH", channelOf("news"), JSON.stringify({ type: "sample" }));
    };
    try {
      const texts = await Promise.all(
        [served().url, other.url].map((url) => heard(url, (text) => text.includes("event: change"))),
      );
      for (const text of texts) expect(text).toContain('event: change\ndata: {"type":"sample"}\n\n');
    } finally {
      stop.abort();
      await other.console.close();
    }
  });
});
