/** The HTTP API, against our store and against a real Redis. */
import { open } from "cinnabar";
import { Counters } from "cinnabar/counters";
import { Locks } from "cinnabar/locks";
import { Logs } from "cinnabar/logs";
import { Queue, Worker } from "cinnabar/queues";
import { Semaphores } from "cinnabar/semaphores";
import { Stats } from "cinnabar/stats";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { histogramOf, Live, quantilesOf } from "../src/live.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

describe.each(backends(installed("redis-server") ? startRedis : undefined))("on %s", (_name, start) => {
  let backend: Backend;
  let api: Served;
  const call = (...words: (string | number | Buffer)[]) => backend.store.call(...words);

  beforeAll(async () => {
    backend = await start();
    api = await serve(backend.store);
  });
  beforeEach(() => call("FLUSHALL"));
  afterAll(async () => {
    await api?.console.close();
    await backend?.stop();
  });

  test("INFO comes in sections", async () => {
    const { body } = await api.get("/api/info");
    expect(body.nodes[0].Server.redis_version).toBe("7.0.15");
    expect(body.backend).toBe("test");
  });

  test("every server has a circuit, and a store in this process has none", async () => {
    const { body } = await api.get("/api/circuits");
    const sound = { server: "", state: "closed", failures: 0, openForMs: 0, error: null };
    expect(body).toEqual({ circuits: backend.store.topology === "embedded" ? [] : [sound] });
  });

  test("wrong input is a problem that says what is wrong", async () => {
    const wrong = await api.get("/api/keys?count=0");
    expect(wrong.headers.get("content-type")).toContain("application/problem+json");
    expect(wrong).toMatchObject({ status: 400, body: { status: 400, code: "INPUT", title: "Bad request" } });
    expect(wrong.body.detail).toContain("count");
    expect((await api.get("/api/nothing")).body.code).toBe("NOT_FOUND");
    expect((await api.send("POST", "/api/command", { words: [] })).status).toBe(400);
    expect((await api.get("/api/key?key=none")).status).toBe(404);
    expect((await api.get("/api/keys?cursor=x")).status).toBe(400);
  });

  test("the OpenAPI document has every route and its parameters", async () => {
    const { body } = await api.get("/api/openapi.json");
    expect(body.openapi).toBe("3.0.3");
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(["/api/keys", "/api/queues/{name}", "/api/command", "/api/live"]),
    );
    const names = body.paths["/api/keys"].get.parameters.map(({ name }: { name: string }) => name);
    expect(names).toEqual(["cursor", "match", "type", "count"]);
    expect(body.paths["/api/queues/{name}"].post.requestBody.content["application/json"].schema.required).toEqual([
      "action",
    ]);
  });

  test("keys are listed to the last, with their facts, and filtered", async () => {
    await call("SET", "user:1", "x");
    await call("PEXPIRE", "user:1", 1_000_000);
    await call("RPUSH", "list", "a", "b");
    await call("SET", Buffer.from([0xff, 0xfe]), "binary");
    for (let nth = 0; nth < 50; nth++) await call("SET", `many:${nth}`, nth);
    const seen = new Map<unknown, { type: string; ttlMs: number | null }>();
    let cursor = "0";
    do {
      const { body } = await api.get(`/api/keys?count=10&cursor=${cursor}`);
      for (const each of body.keys) seen.set(JSON.stringify(each.key), each);
      cursor = body.cursor;
    } while (cursor !== "0");
    expect(seen.size).toBe(53);
    expect(seen.get('"user:1"')).toMatchObject({ type: "string", encoding: "embstr", bytes: expect.any(Number) });
    expect(seen.get('"user:1"')!.ttlMs).toBeGreaterThan(900_000);
    expect(seen.get('{"bytes":"//4="}')).toMatchObject({ type: "string", ttlMs: null });
    const lists = await api.get("/api/keys?type=list");
    expect(lists.body.keys.map(({ key }: { key: string }) => key)).toEqual(["list"]);
    expect((await api.get("/api/keys?match=user:*")).body.keys).toHaveLength(1);
    expect((await api.get(`/api/key?key=${encodeURIComponent("base64://4=")}`)).body.rows).toEqual([["binary"]]);
  });

  test("every type is shown and edited", async () => {
    const put = async (body: object) =>
      expect((await api.send("PUT", "/api/key", body)).body).toMatchObject({ answer: expect.anything() });
    const rows = async (key: string) => (await api.get(`/api/key?key=${key}`)).body.rows;
    const make = (body: object) => api.send("POST", "/api/key", body);
    expect((await make({ key: "s", type: "string", value: "one" })).status).toBe(200);
    expect((await make({ key: "s", type: "string", value: "two" })).status).toBe(409);
    await call("EXPIRE", "s", 100);
    await put({ key: "s", action: "set", value: "<b>two</b>" });
    expect(await rows("s")).toEqual([["<b>two</b>"]]);
    expect(await call("TTL", "s")).toBeGreaterThan(90);

    await make({ key: "h", type: "hash", field: "a", value: "1" });
    await put({ key: "h", action: "setField", field: "b", value: "2" });
    await put({ key: "h", action: "removeField", field: "a" });
    expect(await rows("h")).toEqual([["b", "2"]]);

    await make({ key: "l", type: "list", value: "x" });
    await put({ key: "l", action: "push", value: "x" });
    await put({ key: "l", action: "push", field: "left", value: "first" });
    await put({ key: "l", action: "setIndex", index: 1, value: "y" });
    await put({ key: "l", action: "removeIndex", index: 0, value: "first" });
    expect(await rows("l")).toEqual([
      [0, "y"],
      [1, "x"],
    ]);
    expect(
      (await api.send("PUT", "/api/key", { key: "l", action: "removeIndex", index: 0, value: "other" })).status,
    ).toBe(409);

    await make({ key: "set", type: "set", value: "m" });
    await put({ key: "set", action: "addMember", value: "n" });
    await put({ key: "set", action: "removeMember", value: "m" });
    expect(await rows("set")).toEqual([["n"]]);

    await make({ key: "z", type: "zset", field: "m", value: "1.5" });
    await put({ key: "z", action: "setScore", field: "n", value: "-inf" });
    await put({ key: "z", action: "removeMember", value: "m" });
    expect(await rows("z")).toEqual([["n", "-inf"]]);
    expect(
      (await api.send("PUT", "/api/key", { key: "z", action: "setScore", field: "n", value: "much" })).status,
    ).toBe(400);

    await make({ key: "x", type: "stream", field: "a", value: "1" });
    await put({ key: "x", action: "addEntry", pairs: [["b", "2"]] });
    const entries = await rows("x");
    expect(entries.map(([, fields]: [string, unknown]) => fields)).toEqual([
      { map: [["a", "1"]] },
      { map: [["b", "2"]] },
    ]);
    await put({ key: "x", action: "removeEntry", field: entries[0][0] });
    expect(await rows("x")).toHaveLength(1);
    await call("XGROUP", "CREATE", "x", "workers", "0");
    expect((await api.get("/api/key/groups?key=x")).body.groups[0]).toMatchObject({ name: "workers" });
    expect((await api.send("PUT", "/api/key", { key: "s", action: "addMember", value: "x" })).body.code).toBe(
      "WRONGTYPE",
    );
  });

  test("long values come in pages", async () => {
    await call("RPUSH", "l", ...Array.from({ length: 250 }, (_, nth) => nth));
    const first = await api.get("/api/key?key=l&count=100");
    expect(first.body).toMatchObject({ length: 250, next: "100", type: "list" });
    const last = await api.get("/api/key?key=l&count=100&cursor=200");
    expect(last.body.next).toBeNull();
    expect(last.body.rows.at(-1)).toEqual([249, "249"]);
    for (let nth = 1; nth <= 5; nth++) await call("XADD", "x", `${nth}-0`, "f", "v");
    const stream = await api.get("/api/key?key=x&count=2");
    const next = await api.get(`/api/key?key=x&count=2&cursor=${stream.body.next}`);
    expect(next.body.rows.map(([id]: [string]) => id)).toEqual(["3-0", "4-0"]);
  });

  test("keys are renamed, given a time to live, and deleted", async () => {
    await call("SET", "a", "1");
    await call("SET", "b", "2");
    expect((await api.send("POST", "/api/key/rename", { key: "a", to: "b" })).status).toBe(409);
    expect((await api.send("POST", "/api/key/rename", { key: "a", to: "c" })).status).toBe(200);
    expect((await api.send("POST", "/api/key/ttl", { key: "c", ttlMs: 50_000 })).status).toBe(200);
    expect(await call("PTTL", "c")).toBeGreaterThan(40_000);
    await api.send("POST", "/api/key/ttl", { key: "c", ttlMs: null });
    expect(await call("PTTL", "c")).toBe(-1);
    expect((await api.send("POST", "/api/key/ttl", { key: "none", ttlMs: 1 })).status).toBe(404);
    expect((await api.send("POST", "/api/keys/delete", { keys: ["b", "c", "none"] })).body).toEqual({
      removed: 2,
      undo: null,
    });
  });

  test("commands answer with readable values", async () => {
    const run = async (...words: string[]) => (await api.send("POST", "/api/command", { words })).body;
    expect((await run("HSET", "h", "a", "1", "b", "2")).value).toBe(2);
    expect((await run("hgetall", "h")).value).toEqual({
      map: [
        ["a", "1"],
        ["b", "2"],
      ],
    });
    expect((await run("GET", "none")).value).toBeNull();
    expect(await run("INCR", "h")).toMatchObject({ status: 422, code: "WRONGTYPE" });
    expect(await run("NOSUCH")).toMatchObject({ status: 422, code: "ERR" });
    await run("SET", "bin", "base64://4=");
    expect((await run("GET", "bin")).value).toEqual({ bytes: "//4=" });
  });

  test("dangerous commands need a word of confirmation, and some are not for a page", async () => {
    const run = (words: string[], confirm?: boolean) =>
      api.send("POST", "/api/command", { words, ...(confirm !== undefined && { confirm }) });
    await call("SET", "a", "1");
    expect(await run(["flushall"])).toMatchObject({ status: 409, body: { code: "CONFIRM" } });
    expect(await call("GET", "a")).toBe("1");
    expect((await run(["flushall"], true)).body.value).toBe("OK");
    expect(await call("GET", "a")).toBeNull();
    for (const words of [
      ["BLPOP", "l", "0"],
      ["SUBSCRIBE", "c"],
      ["MONITOR"],
      ["MULTI"],
      ["SELECT", "1"],
      ["XREAD", "BLOCK", "0", "STREAMS", "x", "$"],
      ["client", "reply", "off"],
    ]) {
      expect(await run(words, true), words.join(" ")).toMatchObject({ status: 422, body: { code: "NOT_HERE" } });
    }
    expect((await run(["XREAD", "STREAMS", "block", "0"])).status).toBe(200);
  });

  test("the command table has summary and syntax", async () => {
    const { body } = await api.get("/api/commands");
    const byName = new Map<string, { summary: string; syntax: string }>(
      body.commands.map((each: { name: string }) => [each.name, each]),
    );
    expect(byName.get("GET")!.syntax).toBe("GET key");
    expect(byName.get("SADD")!.syntax).toBe("SADD key member [member …]");
    expect(byName.get("SET")!.syntax).toContain("[NX | XX]");
    expect(byName.has("CONFIG GET")).toBe(true);
    expect(byName.get("ZADD")!.summary).not.toBe("");
  });

  test("slow log, clients, configuration and files", async () => {
    await api.send("PUT", "/api/config/slowlog-log-slower-than", { value: "0" });
    await call("SET", "slow", "1");
    await api.send("PUT", "/api/config/slowlog-log-slower-than", { value: "10000" });
    const { body } = await api.get("/api/slowlog");
    expect(body.entries.some(({ words }: { words: string[] }) => words.join(" ") === "SET slow 1")).toBe(true);
    expect((await api.send("DELETE", "/api/slowlog")).status).toBe(200);

    const { directives } = (await api.get("/api/config")).body;
    expect(directives.find(({ name }: { name: string }) => name === "slowlog-log-slower-than").value).toBe("10000");
    expect((await api.send("PUT", "/api/config/no-such", { value: "1" })).status).toBe(422);

    const { clients } = (await api.get("/api/clients")).body;
    expect(clients[0]).toHaveProperty("id");
    expect((await api.send("DELETE", "/api/clients/999999999")).status).toBe(404);
    expect((await api.get("/api/persistence")).body.nodes[0]).toHaveProperty("rdb_bgsave_in_progress");
  });

  test("live points come as events and are kept", async () => {
    const stop = new AbortController();
    const response = await fetch(`${api.url}/api/live`, { signal: stop.signal });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    let text = "";
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("event: point")) break;
    }
    stop.abort();
    expect(text).toContain('event: state\ndata: {"state":"ready"}');
    const points = (await api.get("/api/live/history?seconds=1")).body.points;
    expect(points.at(-1)).toMatchObject({
      ops: expect.any(Number),
      clients: expect.any(Number),
      memory: expect.any(Number),
    });
  });

  test("queues: counts, jobs, a job's story, and help for it", async () => {
    const { store } = backend;
    const queue = new Queue<unknown, unknown>(store, "mails", { defaults: { attempts: 1 } });
    const dead = await queue.add({ to: "<script>" });
    const worker = new Worker(queue, async (_job, { log }) => {
      await log("trying");
      throw new Error("no route");
    });
    worker.start();
    expect((await queue.waitFor(dead.id, { timeoutMs: 20_000 })).status).toBe("dead");
    await worker.stop();
    const later = await queue.add({ n: 2 }, { delayMs: 1_000_000 });
    const { body } = await api.get("/api/queues");
    expect(body).toMatchObject({
      complete: true,
      queues: [{ name: "mails", shards: 1, counts: { dead: 1, delayed: 1 } }],
    });
    const jobs = await api.get("/api/queues/mails/jobs?state=dead");
    expect(jobs.body.items[0]).toMatchObject({ id: dead.id, data: { to: "<script>" }, error: { message: "no route" } });
    const one = await api.get(`/api/queues/mails/jobs/${encodeURIComponent(dead.id)}`);
    expect(one.body).toMatchObject({ job: { state: "dead", attemptsMade: 1 }, log: ["trying"] });
    const act = (id: string, action: string) =>
      api.send("POST", `/api/queues/mails/jobs/${encodeURIComponent(id)}`, { action });
    expect((await act(later.id, "retry")).status).toBe(409);
    expect((await act(later.id, "promote")).status).toBe(200);
    expect((await act(dead.id, "retry")).status).toBe(200);
    expect((await queue.counts()).waiting).toBe(2);
    expect((await act(dead.id, "remove")).status).toBe(200);
    expect((await act(dead.id, "remove")).status).toBe(404);
    await api.send("POST", "/api/queues/mails", { action: "pause" });
    expect((await api.get("/api/queues/mails")).body.counts.paused).toBe(true);
    await api.send("POST", "/api/queues/mails", { action: "resume" });
    expect((await api.send("POST", "/api/queues/mails", { action: "explode" })).status).toBe(400);
  });

  test("locks, semaphores, counters, logs and statistics", async () => {
    const { store } = backend;
    const lease = (await new Locks(store).acquire("order:17"))!;
    const permit = (await new Semaphores(store, { limit: 3 }).acquire("db", { permits: 2 }))!;
    await new Counters(store).add("hits", 5);
    const logs = new Logs(store);
    logs.write("web", "error", "<img src=x onerror=alert(1)>");
    await logs.flush();
    await new Stats(store).record("checkout", "items", [1, 2, 3]);

    expect((await api.get("/api/locks")).body.locks[0]).toMatchObject({
      name: "order:17",
      holders: [{ shared: false }],
    });
    expect((await api.get("/api/locks/order:17")).body.holders).toHaveLength(1);
    expect((await api.get("/api/semaphores")).body.semaphores[0]).toMatchObject({
      name: "db",
      holders: [{ permits: 2 }],
    });
    expect((await api.get("/api/counters")).body.names).toEqual(["hits"]);
    const { series } = (await api.get("/api/counters/hits?precisionMs=60000")).body;
    expect(series.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(5);
    expect((await api.get("/api/counters/hits?precisionMs=7777")).status).toBe(400);
    expect((await api.get("/api/logs")).body.logs).toEqual([{ name: "web", severity: "error" }]);
    expect((await api.get("/api/logs/web/error")).body.recent[0].message).toContain("<img");
    const [stats] = (await api.get("/api/stats")).body.stats;
    expect(stats).toMatchObject({ context: "checkout", type: "items" });
    // The hour may have ended since.
    expect(stats.thisHour ?? stats.lastHour).toMatchObject({ count: 3, mean: 2 });
    await lease.release();
    await permit.release();
  });
});

describe("live figures", () => {
  test("percentiles are those of the calls since the last look", () => {
    const before = histogramOf([["get", ["calls", 10, "histogram_usec", [1, 10]]]]);
    const after = histogramOf([
      ["get", ["calls", 20, "histogram_usec", [1, 10, 8, 19, 512, 20]], "set", ["calls", 1, "histogram_usec", [2, 1]]],
    ]);
    const quantile = quantilesOf(before, after);
    expect([quantile(0.01), quantile(0.5), quantile(0.99)]).toEqual([2, 8, 512]);
    expect(quantilesOf(after, after)(0.5)).toBeNull();
  });

  test("a server that is lost and back is a state, then points again", async () => {
    let now = 0;
    let lost = false;
    let commands = 0;
    const info = () => {
      commands += 100;
      return `# Server\r\nrun_id:a\r\n# Stats\r\ntotal_commands_processed:${commands}\r\n`;
    };
    const store = {
      sendToAll: async ([name]: string[]) => {
        if (lost) throw new Error("gone");
        return [name === "INFO" ? info() : []];
      },
    };
    const live = new Live(store as never, () => {
      now += 1_000;
      return now;
    });
    const told: string[] = [];
    live.listen((event) => told.push(event.type === "point" ? `${event.point.ops}/s` : event.state));
    await live.sample();
    await live.sample();
    lost = true;
    await live.sample();
    await live.sample();
    lost = false;
    await live.sample();
    await live.sample();
    expect(told).toEqual(["100/s", "lost", "ready", "100/s"]);
    for (let nth = 0; nth < 3_700; nth++) await live.sample();
    expect([1, 5, 10].map((seconds) => live.history(seconds).length)).toEqual([600, 360, 360]);
  });
});

test.runIf(installed("redis-server"))(
  "the circuit of a server that is gone is open, and told without asking it",
  async () => {
    const server = await startRedis();
    const states: string[] = [];
    let onOpen = (): void => {};
    const isOpen = new Promise<void>((resolve) => {
      onOpen = resolve;
    });
    const store = await open(server.url, {
      retryMs: 100,
      breaker: { failures: 1, openAfterMs: 0, probeEveryMs: 60_000 },
      hooks: {
        circuit: ({ state }) => {
          states.push(state);
          onOpen();
        },
      },
    });
    const api = await serve(store);
    try {
      await server.kill();
      await store.call("PING").catch(() => {});
      await isOpen;
      const { status, body } = await api.get("/api/circuits");
      expect(status).toBe(200);
      expect(body.circuits).toEqual([
        {
          server: "",
          state: "open",
          failures: expect.any(Number),
          openForMs: expect.any(Number),
          error: expect.any(String),
        },
      ]);
      expect(body.circuits[0].failures).toBeGreaterThan(0);
      expect(states[0]).toBe("open");
    } finally {
      await api.console.close();
      await store.close();
      await server.stop();
    }
  },
);
