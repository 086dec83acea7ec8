/** Live feeds of the API: the profiler and messages of channels, on our store and on a real Redis; bounded, and ended when nobody looks. */
import { open } from "cinnabar";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { filterOf, globOf, parseLine } from "../src/operate/profiler.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

describe("a line of MONITOR", () => {
  test("is taken apart, with its escapes", () => {
    const line = String.raw`1700000000.123456 [3 127.0.0.1:5000] "set" "a \"b\"" "\x00\n\\"`;
    expect(parseLine(line)).toEqual({
      at: 1_700_000_000_123.456,
      db: 3,
      client: "127.0.0.1:5000",
      words: ["set", 'a "b"', "\0\n\\"],
    });
    expect(parseLine('1.5 [0 lua] "get" "k"')?.client).toBe("lua");
    expect(parseLine("OK")).toBeNull();
  });

  test("is cut where a command has many words, or large ones", () => {
    const words = Array.from({ length: 500 }, () => `"${"x".repeat(5_000)}"`).join(" ");
    const line = parseLine(`1.0 [0 1.1.1.1:1] ${words}`)!;
    expect(line.words).toHaveLength(13);
    expect(line.words[0]).toHaveLength(121);
  });

  test("passes filters by command, key and client, and not the console's own", () => {
    const line = parseLine('1.0 [0 10.0.0.1:5] "GET" "user:7"')!;
    const passes = (query: object, own: string[] = []) => filterOf({ seconds: 1, ...query }, new Set(own))(line);
    expect(passes({})).toBe(true);
    expect(passes({ command: "set, get" })).toBe(true);
    expect(passes({ command: "set" })).toBe(false);
    expect(passes({ key: "user:*" })).toBe(true);
    expect(passes({ key: "user" })).toBe(false);
    expect(passes({ client: "10.0." })).toBe(true);
    expect(passes({ client: "127." })).toBe(false);
    expect(passes({}, ["10.0.0.1:5"])).toBe(false);
    expect(passes({ own: true }, ["10.0.0.1:5"])).toBe(true);
    expect(globOf("a.b?[c]*").test("a.bx[c]\ny")).toBe(true);
  });
});

interface Event {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape.
  readonly data: any;
}

/** Reads a stream until somebody has heard enough. */
async function follow(url: string, until: (events: readonly Event[]) => boolean, began: () => Promise<unknown>) {
  const stop = new AbortController();
  const response = await fetch(url, { signal: stop.signal });
  expect(response.status, await (response.ok ? "" : response.text())).toBe(200);
  const events: Event[] = [];
  let rest = "";
  let isBegun = false;
  for await (const chunk of response.body!) {
    const parts = (rest + Buffer.from(chunk).toString()).split("\n\n");
    rest = parts.pop()!;
    for (const part of parts) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(part) ?? [];
      if (name !== undefined) events.push({ name, data: JSON.parse(data!) });
    }
    if (!isBegun && events.some(({ name }) => name === "began")) {
      isBegun = true;
      await began();
    }
    if (until(events)) break;
  }
  stop.abort();
  return events;
}

describe.each(backends(installed("redis-server") ? startRedis : undefined))("feeds on %s", (name, start) => {
  let backend: Backend;
  let api: Served;
  beforeAll(async () => {
    backend = await start();
    api = await serve(backend.store);
  });
  afterAll(async () => {
    await api?.console.close();
    await backend?.stop();
  });
  const linesIn = (events: readonly Event[]) =>
    events.filter((event) => event.name === "lines").flatMap(({ data }) => data.lines);
  const messagesIn = (events: readonly Event[]) =>
    events.filter((event) => event.name === "messages").flatMap(({ data }) => data.messages);
  const monitors = async () =>
    String(await backend.store.call("CLIENT", "LIST"))
      .split("\n")
      .filter((line) => / flags=\S*O| psub=[1-9]| cmd=monitor/.test(line)).length;

  test("the profiler shows commands that match, and its connection is gone when nobody looks", async () => {
    const events = await follow(
      `${api.url}/api/stream/commands?seconds=30&own=true&command=set&key=user:*`,
      (all) => linesIn(all).length >= 1,
      async () => {
        await backend.store.call("SET", "other", "1");
        await backend.store.call("GET", "user:7");
        await backend.store.call("SET", "user:7", "x");
      },
    );
    expect(linesIn(events)).toMatchObject([{ db: 0, words: [expect.stringMatching(/^set$/i), "user:7", "x"] }]);
    await expect.poll(monitors).toBe(0);
  });

  test("it ends by itself and says why", async () => {
    const events = await follow(
      `${api.url}/api/stream/commands?seconds=1`,
      (all) => all.some((event) => event.name === "ended"),
      async () => {},
    );
    const ends = events.filter((event) => event.name === "ended");
    expect(ends).toEqual([{ name: "ended", data: { reason: "it ran for 1 s" } }]);
    await expect.poll(monitors).toBe(0);
  });

  test("more than 200 a second are counted, not shown", async () => {
    const events = await follow(
      `${api.url}/api/stream/commands?seconds=30&own=true&command=incr`,
      (all) => all.some((event) => event.name === "second" && event.data.matched >= 1_000),
      async () => {
        await backend.store.pipeline(Array.from({ length: 3_000 }, () => ["INCR", "n"]));
      },
    );
    const seconds = events.filter((event) => event.name === "second");
    expect(Math.max(...seconds.map(({ data }) => data.shown))).toBeLessThanOrEqual(200);
    expect(linesIn(events).length).toBeLessThanOrEqual(200 * (seconds.length + 1));
  });

  test("messages of channels and patterns are heard, and key events once they are set", async () => {
    const events = await follow(
      `${api.url}/api/stream/messages?channels=news&patterns=${encodeURIComponent("orders:*")}`,
      (all) => messagesIn(all).length >= 2,
      async () => {
        await backend.store.call("PUBLISH", "other", "no");
        expect((await api.send("POST", "/api/pubsub", { channel: "news", message: "<b>" })).body).toEqual({
          receivers: 1,
        });
        await backend.store.call("PUBLISH", "orders:17", "y".repeat(9_000));
      },
    );
    expect(messagesIn(events)).toMatchObject([
      { channel: "news", text: "<b>" },
      { channel: "orders:17", text: expect.stringMatching(/^y{2000}…$/) },
    ]);
    await expect.poll(monitors).toBe(0);
    expect((await api.get("/api/stream/messages")).status).toBe(400);
    expect((await api.get("/api/keyspace-events")).body).toMatchObject({ enabled: false, wanted: "KEA" });
    await api.send("PUT", "/api/config/notify-keyspace-events", { value: "KEA" });
    expect((await api.get("/api/keyspace-events")).body).toMatchObject({ enabled: true });
    const changes = await follow(
      `${api.url}/api/stream/messages?patterns=${encodeURIComponent("__keyevent@*__:*")}`,
      (all) => messagesIn(all).length >= 1,
      async () => backend.store.call("SET", "changed", "1"),
    );
    expect(messagesIn(changes)[0]).toMatchObject({ channel: "__keyevent@0__:set", text: "changed" });
    await api.send("PUT", "/api/config/notify-keyspace-events", { value: "" });
  });

  test("a ninth feed is refused, and there is room again when one ends", async () => {
    const stops = Array.from({ length: 8 }, () => new AbortController());
    await Promise.all(
      stops.map(({ signal }) =>
        fetch(`${api.url}/api/stream/messages?channels=a`, { signal }).then(({ status }) => expect(status).toBe(200)),
      ),
    );
    expect(await api.get("/api/stream/messages?channels=a")).toMatchObject({ status: 429 });
    for (const stop of stops) stop.abort();
    const room = async () => {
      const stop = new AbortController();
      const { status } = await fetch(`${api.url}/api/stream/messages?channels=a`, { signal: stop.signal });
      stop.abort();
      return status;
    };
    await expect.poll(room).toBe(200);
  });

  test("commands are counted and timed; the console's own are marked in the slow log and among clients", async () => {
    await backend.store.call("CONFIG", "SET", "slowlog-log-slower-than", "0");
    await backend.store.call("SET", "slow", "1");
    await backend.store.call("CONFIG", "SET", "slowlog-log-slower-than", "10000");
    const entries = (await api.get("/api/slowlog")).body.entries;
    expect(entries.find(({ words }: { words: string[] }) => words[1] === "slow")).toMatchObject({ own: true });
    const stats = (await api.get("/api/commandstats")).body.commands;
    expect(stats.find((each: { name: string }) => each.name === "incr")).toMatchObject({ calls: 3_000 });
    const { supported, commands } = (await api.get("/api/latency")).body;
    expect(supported).toBe(true);
    const set = commands.find((each: { name: string }) => each.name === "set");
    expect(set.buckets.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(set.calls);
    expect((await api.get("/api/clients")).body.clients.some(({ own }: { own: string }) => own === "1")).toBe(true);
    await api.send("DELETE", "/api/commandstats");
    const after = (await api.get("/api/commandstats")).body.commands;
    expect(after.find((each: { name: string }) => each.name === "incr")).toBeUndefined();
  });

  test.skipIf(name === "our store")("what another client does is not taken for the console's own", async () => {
    const [, port] = (await backend.store.call("CONFIG", "GET", "port")) as string[];
    const other = await open(`redis://127.0.0.1:${port}`);
    const events = await follow(
      `${api.url}/api/stream/commands?seconds=30`,
      (all) => linesIn(all).some(({ words }: { words: string[] }) => words[1] === "theirs"),
      async () => {
        await backend.store.call("SET", "ours", "1");
        await other.call("SET", "theirs", "1");
      },
    );
    expect(linesIn(events).map(({ words }: { words: string[] }) => words[1])).not.toContain("ours");
    await other.close();
  });
});
