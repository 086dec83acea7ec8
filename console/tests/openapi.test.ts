/**
 * The OpenAPI document against what is really answered: a console on a store with a bit of everything in it, whose routes are all
 * asked, and each answer held against its schema. A field that no schema names fails, as does one that is missing.
 */
import { Engine } from "@cinnabar/engine";
import { Ajv, type ValidateFunction } from "ajv";
import { open, type Store } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { Audit } from "../src/access/audit.ts";
import { consoleRoutes } from "../src/access/routes.ts";
import { Targets } from "../src/access/targets.ts";
import { doorRoutes } from "../src/door.ts";
import { openApi, operationId } from "../src/openapi.ts";
import type { Route } from "../src/route.ts";
import { ROUTES } from "../src/routes.ts";
import { integer, named, object, string } from "../src/schema.ts";
import { Door } from "../src/security.ts";
import { type Filled, fill } from "./filled.ts";
import { NAMED } from "./kinds.ts";
import { type Served, serve, temporaryFolder } from "./support.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly in: string; readonly name: string; readonly required: boolean }[];
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: Contents }>>;
}
type Contents = Readonly<Record<string, { readonly schema?: Readonly<Record<string, unknown>> }>>;

interface Document {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

const templateOf = (url: string) => url.replace(/:(\w+)/g, "{$1}");
const nameOf = ({ method, url }: Route) => `${method} ${url}`;

/** Every route, as a console has them. */
async function allRoutes(): Promise<Route[]> {
  const door = await Door.open(undefined);
  const targets = new Targets([{ name: "main", backend: "" }]);
  const options = {
    door,
    readOnly: false,
    examples: true,
    isMounted: false,
    userOf: () => null,
    signedIn: () => {},
  };
  const routes = [...doorRoutes(options), ...consoleRoutes(targets, new Audit(), false), ...ROUTES];
  await targets.close();
  await door.close();
  return routes;
}

/** Everything but the examples, whose answers depend on what others keep in them. */
const described = async (): Promise<Route[]> => (await allRoutes()).filter(({ group }) => group !== "Examples");

function operationsOf({ paths }: Document): [string, string, Operation][] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [path, method, operation]),
  );
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : referencesIn(inner),
  );
}

test("every route that answers JSON says what its answer looks like", async () => {
  const silent = (await described()).filter(({ media, answer }) => media === undefined && answer === undefined);
  expect(silent.map(nameOf)).toEqual([]);
});

describe("the document", () => {
  let document: Document;

  beforeAll(async () => {
    // As it leaves the console.
    document = JSON.parse(JSON.stringify(openApi(await allRoutes(), "1.2.3")));
  });

  test("is OpenAPI 3.0 with an operation for every route, each under a name of its own", () => {
    expect(document.openapi).toMatch(/^3\.0\.\d$/);
    expect(document.info).toMatchObject({ title: expect.any(String), version: "1.2.3" });
    const ids = operationsOf(document).map(([, , operation]) => operation.operationId);
    expect(ids.length).toBeGreaterThan(ROUTES.length);
    expect(ids.filter((id, nth) => ids.indexOf(id) !== nth)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]*$/.test(id))).toEqual([]);
  });

  test("names operations by their method and address", () => {
    expect(operationId({ method: "GET", url: "/api/queues/:name/jobs/:id" })).toBe("getQueuesByNameJobsById");
    expect(operationId({ method: "POST", url: "/api/rate-limits/:name/reset" })).toBe("postRateLimitsByNameReset");
  });

  test("declares the parameters of every path, and describes every tag and answer", () => {
    const tags = new Map(document.tags.map(({ name, description }) => [name, description]));
    for (const [path, method, { tags: own, parameters, responses }] of operationsOf(document)) {
      const declared = parameters.filter((parameter) => parameter.in === "path" && parameter.required);
      expect(declared.map(({ name }) => `{${name}}`).sort(), `${method} ${path}`).toEqual(
        (path.match(/\{\w+\}/g) ?? []).sort(),
      );
      for (const tag of own) expect(tags.get(tag), tag).toMatch(/\.$/);
      for (const { description } of Object.values(responses)) expect(description).not.toBe("");
    }
  });

  test("has all shapes that it refers to, and no others", () => {
    const wanted = new Set(referencesIn(document));
    const there = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    expect([...wanted].sort()).toEqual(there.sort());
    expect(there).toEqual(expect.arrayContaining(["#/components/schemas/Job", "#/components/schemas/Value"]));
  });

  test("has no object in which a field could be forgotten", () => {
    const open: string[] = [];
    const look = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      const { type, additionalProperties } = value as Record<string, unknown>;
      if (type === "object" && additionalProperties === undefined) open.push(path);
      for (const [name, inner] of Object.entries(value)) look(inner, `${path}/${name}`);
    };
    look(document.components, "components");
    look(document.paths, "paths");
    expect(open).toEqual([]);
  });

  test("is refused where two different shapes have one name", () => {
    const route = (url: string, answer: Route["answer"]): Route =>
      ({ method: "GET", url, group: "Server", summary: "", answers: "", answer, run: () => null }) as Route;
    const one = route("/api/one", named("Twice", object({ a: string() })));
    expect(() => openApi([one, route("/api/two", named("Twice", object({ a: string() })))], "1")).not.toThrow();
    expect(() => openApi([one, route("/api/two", named("Twice", object({ a: integer() })))], "1")).toThrow("Twice");
  });
});

/** Where answers hold lists, by operation and path, and whether one of them had anything in it. */
class Lists {
  readonly #seen = new Map<string, boolean>();

  note(path: string, value: unknown): void {
    if (Array.isArray(value)) {
      this.#seen.set(path, (this.#seen.get(path) ?? false) || value.length > 0);
      for (const each of value) this.note(`${path}[]`, each);
    } else if (typeof value === "object" && value !== null) {
      // An hour may end while this runs: what was in this one is in the last one then.
      for (const [name, inner] of Object.entries(value))
        this.note(`${path}.${name.replace("lastHour", "thisHour")}`, inner);
    }
  }

  get empty(): string[] {
    return [...this.#seen].filter(([, hasSome]) => !hasSome).map(([path]) => path);
  }
}

interface Backend {
  connect(): Promise<Store>;
  stop(): Promise<void>;
}

async function ours(): Promise<Backend> {
  const folder = temporaryFolder();
  const engine = await Engine.open({ config: { dir: folder.path } });
  return {
    connect: () => open(engine),
    stop: async () => {
      await engine.close();
      folder.remove();
    },
  };
}

async function redis(): Promise<Backend> {
  const server = await startRedis();
  return { connect: () => open(server.url), stop: () => server.stop() };
}

const BACKENDS: [string, () => Promise<Backend>][] = [["our store", ours]];
if (installed("redis-server")) BACKENDS.push(["redis-server", redis]);

describe.each(BACKENDS)("what is answered on %s", (_name, start) => {
  let backend: Backend;
  let store: Store;
  let other: Store;
  let api: Served;
  let document: Document;
  let filled: Filled;
  const asked = new Set<string>();
  const lists = new Lists();
  const validators = new Map<string, ValidateFunction>();
  const ajv = new Ajv({ strict: true, allErrors: true });
  ajv.addVocabulary(["components"]);
  ajv.addFormat("date-time", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  beforeAll(async () => {
    backend = await start();
    store = await backend.connect();
    other = await backend.connect();
    filled = await fill(store);
    api = await serve(store, { allowConnections: true });
    document = (await api.get("/api/openapi.json")).body;
  }, 60_000);
  afterAll(async () => {
    await filled?.release();
    await api?.console.close();
    await other?.close();
    await store?.close();
    await backend?.stop();
  });

  function validatorOf(method: string, url: string): ValidateFunction {
    const key = `${method} ${url}`;
    const schema =
      document.paths[templateOf(url)]?.[method.toLowerCase()]?.responses["200"]?.content["application/json"]?.schema;
    if (schema === undefined) throw new Error(`the document has no answer of ${key}`);
    const validator = validators.get(key) ?? ajv.compile({ ...schema, components: document.components });
    validators.set(key, validator);
    return validator;
  }

  /** Asks a route, with what its address names put there and the rest as the query, and holds the answer against its schema. */
  async function ask(key: string, input: Record<string, string | number> = {}, body?: unknown) {
    const [method, url] = key.split(" ") as [string, string];
    const rest = new URLSearchParams(
      Object.entries(input).map(([name, value]): [string, string] => [name, String(value)]),
    );
    const path = url.replace(/:(\w+)/g, (_, name: string) => {
      const value = rest.get(name);
      if (value === null) throw new Error(`${key} needs ${name}`);
      rest.delete(name);
      return encodeURIComponent(value);
    });
    const address = rest.size === 0 ? path : `${path}?${rest}`;
    const answer = method === "GET" ? await api.get(address) : await api.send(method, address, body);
    expect(answer, `${method} ${address}`).toMatchObject({ status: 200 });
    const validate = validatorOf(method, url);
    validate(answer.body);
    expect(validate.errors ?? [], `${method} ${address} answered ${JSON.stringify(answer.body)}`).toEqual([]);
    asked.add(key);
    if (method === "GET") lists.note(key, answer.body);
    return answer.body;
  }

  test("of the server and the session is as described", async () => {
    await ask("GET /api/session");
    await ask("POST /api/login", {}, { password: "" });
    await ask("POST /api/logout");
    await ask("GET /api/info");
    await ask("GET /api/circuits");
    const second = await Engine.open();
    const { port } = await second.listen({ host: "127.0.0.1", port: 0 });
    await ask("POST /api/connections", {}, { name: "second", url: `redis://127.0.0.1:${port}` });
    await ask("GET /api/connections");
    await ask("DELETE /api/connections/:name", { name: "second" });
    await second.close();
    await ask("GET /api/audit");
    const history = async () => {
      await api.console.live.sample();
      return (await ask("GET /api/live/history")).points.length;
    };
    await expect.poll(history, { timeout: 20_000 }).toBeGreaterThan(0);
    await ask("PUT /api/config/:name", { name: "slowlog-log-slower-than" }, { value: "0" });
    await store.call("GET", "text");
    await ask("GET /api/slowlog");
    await ask("PUT /api/config/:name", { name: "slowlog-log-slower-than" }, { value: "10000" });
    await ask("DELETE /api/slowlog");
    await ask("GET /api/config");
    await ask("GET /api/persistence");
    await ask("POST /api/persistence", {}, { what: "snapshot" });
    await ask("GET /api/clients");
    await ask("GET /api/commandstats");
    await ask("GET /api/latency");
    const subscription = await other.subscribe("news", () => {});
    await ask("GET /api/pubsub");
    await ask("POST /api/pubsub", {}, { channel: "news", message: "hello" });
    await subscription.close();
    await ask("GET /api/keyspace-events");
    await ask("DELETE /api/commandstats");
    const id = Number(await other.call("CLIENT", "ID"));
    await ask("DELETE /api/clients/:id", { id });
  });

  test("of keys and commands is as described", async () => {
    const { keys } = await ask("GET /api/keys");
    expect(keys.map(({ type }: { type: string }) => type)).toEqual(
      expect.arrayContaining(["string", "list", "set", "hash", "zset", "stream"]),
    );
    for (const key of ["text", "list", "set", "hash", "zset", "stream", "base64://4="]) {
      await ask("GET /api/key", { key });
    }
    await ask("GET /api/key", { key: "list", count: 1 });
    await ask("GET /api/key/groups", { key: "stream" });
    await ask("POST /api/key", {}, { key: "made", type: "hash", field: "a", value: "1" });
    await ask("PUT /api/key", {}, { key: "made", action: "setField", field: "b", value: "2" });
    await ask("PUT /api/key", {}, { key: "stream", action: "addEntry", pairs: [["n", "4"]] });
    await ask("POST /api/key/ttl", {}, { key: "made", ttlMs: 100_000 });
    await ask("POST /api/key/rename", {}, { key: "made", to: "renamed" });
    const { undo } = await ask("POST /api/keys/delete", {}, { keys: ["renamed"] });
    await ask("POST /api/undo", {}, { id: undo });
    await ask("POST /api/keys/delete", {}, { keys: ["renamed", "absent"] });
    await ask("GET /api/commands");
    for (const command of [
      "GET text",
      "GET absent",
      "HGETALL hash",
      "XRANGE stream - +",
      "XINFO GROUPS stream",
      "ZRANGE zset 0 -1 WITHSCORES",
      "COMMAND DOCS GET",
      "KEYS *",
    ]) {
      await ask("POST /api/command", {}, { words: command.split(" "), confirm: true });
    }
  });

  test("of scans, bulk actions, files and values is as described", async () => {
    await store.call("HSET", "scan:hash", "f", "v");
    await store.call("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu");
    await store.call("SET", "scan:large", "x".repeat(2_000_000));
    const { id } = await ask("POST /api/surveys", {}, { separator: ":", match: "*" });
    await expect.poll(async () => (await ask("GET /api/surveys/:id/progress", { id })).state).toBe("done");
    await ask("GET /api/surveys/:id", { id });
    await store.call("CONFIG", "SET", "maxmemory-policy", "noeviction");
    await ask("GET /api/surveys/:id/folders", { id, path: "[]" });
    await ask("GET /api/surveys/:id/keys", { id, count: 10 });
    await ask("DELETE /api/surveys/:id", { id });
    await ask(
      "POST /api/keys/rename-preview",
      {},
      { selection: { filter: { match: "scan:*" } }, from: "scan:*", to: "s:*" },
    );
    const bulk = await ask(
      "POST /api/keys/bulk",
      {},
      { selection: { keys: ["scan:hash", "text"] }, action: "rename", from: "*", to: "text" },
    );
    await expect.poll(async () => (await ask("GET /api/keys/bulk/:id", { id: bulk.id })).state).toBe("done");
    const failing = { selection: { keys: ["scan:large"] }, action: "expire", ttlMs: 9.3e18 };
    const failed = await ask("POST /api/keys/bulk", {}, failing);
    await expect.poll(async () => (await ask("GET /api/keys/bulk/:id", { id: failed.id })).failed).toBe(1);
    await ask("DELETE /api/keys/bulk/:id", { id: bulk.id });
    const file = await ask("POST /api/exports", {}, { selection: { filter: {} }, format: "jsonl" });
    await ask("GET /api/exports/:id", { id: file.id });
    await ask("DELETE /api/exports/:id", { id: file.id });
    const sent = await fetch(`${api.url}/api/imports?id=import-1&format=jsonl&existing=keep`, {
      method: "POST",
      headers: { "x-cinnabar": "1", "content-type": "application/octet-stream" },
      body: "nonsense",
    });
    const validate = validatorOf("POST", "/api/imports");
    expect([validate(await sent.json()), validate.errors]).toEqual([true, null]);
    asked.add("POST /api/imports");
    await ask("GET /api/imports/:id", { id: "import-1" });
    await ask("DELETE /api/imports/:id", { id: "import-1" });
    await ask("GET /api/key/value", { key: "text", as: "auto" });
    await store.call("HSET", "scan:cut", "f", "x".repeat(5_000));
    await ask("GET /api/key", { key: "scan:cut" });
    await ask("POST /api/key/groups", {}, { key: "stream", group: "mailers", action: "acknowledge", ids: ["1-0"] });
  });

  test("of scripts is as described", async () => {
    const trial = { script: "return {1, 'a', false, {2}}", keys: ["text"], args: ["x"], readOnly: true };
    await ask("POST /api/scripts/run", {}, trial);
    await ask("POST /api/scripts/run", {}, { ...trial, script: "return {redis.error_reply('no'), 1}" });
    await ask("GET /api/scripts");
    await ask(
      "POST /api/functions",
      {},
      { code: "#!lua name=b\nredis.register_function('f', function() return 1 end)", replace: false },
    );
    await ask("DELETE /api/functions/:name", { name: "b" });
    await ask("POST /api/scripts/flush");
  });

  test("of queues is as described", async () => {
    await ask("GET /api/queues");
    const { schedules } = await ask("GET /api/queues/:name", { name: "mails" });
    expect(schedules).toHaveLength(2);
    const counts = { waiting: 1, delayed: 1, done: 1, dead: 1, active: 0, "waiting-for-children": 1 };
    for (const [state, count] of Object.entries(counts)) {
      expect((await ask("GET /api/queues/:name/jobs", { name: "mails", state })).items, state).toHaveLength(count);
    }
    for (const id of Object.values(filled.jobs)) await ask("GET /api/queues/:name/jobs/:id", { name: "mails", id });
    const act = (id: string, action: string) =>
      ask("POST /api/queues/:name/jobs/:id", { name: "mails", id }, { action });
    await act(filled.jobs.dead, "retry");
    await act(filled.jobs.later, "promote");
    await act(filled.jobs.later, "cancel");
    await act(filled.jobs.dead, "remove");
    for (const action of ["pause", "resume", "cleanDone", "replayDead"]) {
      await ask("POST /api/queues/:name", { name: "mails" }, { action });
    }
    const queue = { name: "mails" };
    await ask("GET /api/queues/:name/jobs/:id/flow", { ...queue, id: filled.jobs.whole });
    const added = await ask("POST /api/queues/:name/jobs", queue, { data: { n: 1 }, group: "g", delayMs: 60_000 });
    await ask("PUT /api/queues/:name/jobs/:id", { ...queue, id: added.id }, { data: { n: 2 }, priority: 3 });
    const refused = await ask("POST /api/queues/:name/bulk", queue, { action: "retry", ids: [added.id] });
    expect(refused.failures).toHaveLength(1);
    await ask("GET /api/queues/:name/bulk/:id", { ...queue, id: refused.id });
    await ask("DELETE /api/queues/:name/bulk/:id", { ...queue, id: refused.id });
    await ask("POST /api/queues/:name/bulk", queue, { action: "promote", state: "delayed" });
    await ask("GET /api/queues/:name/groups", queue);
    let finish = (): void => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const worker = new Worker(new Queue(store, "mails"), () => finished, { slowMs: 10 }).start();
    const troubles = async () => {
      const { workers, incidents } = await ask("GET /api/queues/:name/workers", queue);
      return (workers[0]?.oldest.length ?? 0) > 0 && incidents.length > 0;
    };
    await expect.poll(troubles, { timeout: 30_000 }).toBe(true);
    finish();
    await worker.stop();
    await ask("GET /api/queues/:name/schedules", queue);
    const schedule = { ...queue, schedule: "extra" };
    await ask("PUT /api/queues/:name/schedules/:schedule", schedule, { everyMs: 60_000, data: null });
    for (const action of ["pause", "resume", "run"])
      await ask("POST /api/queues/:name/schedules/:schedule", schedule, { action });
    await ask("DELETE /api/queues/:name/schedules/:schedule", schedule);
    await ask("POST /api/queues/:name/clean", queue, { state: "done", keepMs: 60_000 });
    await ask("POST /api/queues/:name/drain", queue, { delayed: true });
    await ask("DELETE /api/queues/:name", queue);
  });

  test("of locks, semaphores, counters, logs, statistics and sessions is as described", async () => {
    await ask("GET /api/locks");
    await ask("GET /api/locks/:name", { name: "order:17" });
    await ask("GET /api/semaphores");
    await ask("GET /api/semaphores/:name", { name: "db" });
    await ask("GET /api/counters");
    await ask("GET /api/counters/:name", { name: "hits" });
    await ask("GET /api/logs");
    await ask("GET /api/logs/:name/:severity", { name: "web", severity: "error" });
    const [{ thisHour, lastHour }] = (await ask("GET /api/stats")).stats;
    expect((thisHour ?? lastHour).count).toBeGreaterThan(0);
    const { sessions } = await ask("GET /api/sessions");
    expect(sessions).toHaveLength(3);
    await ask("GET /api/sessions/of/:user", { user: "ann" });
    await ask("DELETE /api/sessions/of/:user", { user: "ann" });
    await ask("POST /api/sessions/end", {}, { handle: sessions[0].handle });
  });

  test("of elections, topics and the registry is as described", async () => {
    await ask("GET /api/elections");
    await ask("POST /api/elections/:name/release", { name: "indexer" });
    await ask("POST /api/locks/:name/release", { name: "shelf" });
    await ask("POST /api/semaphores/:name/release", { name: "db" });
    await ask("GET /api/topics");
    const topic = { name: "orders" };
    await ask("GET /api/topics/:name", topic);
    await ask("POST /api/topics/:name/messages", topic, { data: { n: 3 } });
    const billing = { ...topic, group: "billing" };
    await ask("GET /api/topics/:name/groups/:group/dead", billing);
    for (const action of ["replayDead", "replay"])
      await ask("POST /api/topics/:name/groups/:group", billing, { action });
    await ask("DELETE /api/topics/:name/groups/:group", billing);
    await ask("GET /api/components");
    for (const kind of ["locks", ...Object.keys(NAMED)]) await ask("GET /api/components/:kind", { kind });
    for (const [kind, [name, prefix]] of Object.entries(NAMED)) {
      const words = { kind, ...{ name, prefix } };
      await expect
        .poll(async () => (await ask("GET /api/components/:kind", { kind })).items.length, { timeout: 30_000 })
        .toBeGreaterThan(0);
      await ask("GET /api/components/:kind/one", { ...words, item: "item 7" });
    }
    const latch = { kind: "latches", name: "migrated", prefix: "latch" };
    await ask("POST /api/components/:kind/one", latch, { action: "countDown", values: { by: "1" } });
  });

  test("of caches and rate limits is as described", async () => {
    // Caches tell of themselves every few seconds.
    await expect.poll(async () => (await ask("GET /api/caches")).caches, { timeout: 30_000 }).not.toEqual([]);
    await ask("GET /api/caches/:name", { name: "pages" });
    await ask("POST /api/caches/:name/delete", { name: "pages" }, { key: "back" });
    await ask("POST /api/caches/:name/invalidate", { name: "pages" }, { tag: "news" });
    await ask("GET /api/rate-limits");
    await ask("GET /api/rate-limits/:name", { name: "api" });
    await ask("POST /api/rate-limits/:name/reset", { name: "api" }, { subject: "10.0.0.2" });
  }, 60_000);

  test("of the workbench is as described", async () => {
    await ask("POST /api/workbench/cost", {}, { commands: [["KEYS", "*"], ["HGETALL", "hash"], ["PING"]] });
    await ask(
      "POST /api/workbench/pipeline",
      {},
      {
        commands: [
          ["GET", "text"],
          ["INCR", "hash"],
        ],
      },
    );
  });

  test("of chats and timelines is as described", async () => {
    await ask("GET /api/chats");
    await ask("GET /api/chats/:name", { name: "team" });
    await ask("POST /api/chats/:name/remove", { name: "team" }, { member: "ben" });
    await ask("POST /api/chats/:name/delete", { name: "other" });
    await ask("POST /api/mailboxes/:name/delete", { name: "zoe" });
    await ask("GET /api/timelines");
    const network = "social";
    for (const who of ["ann", "ben", "+list"]) await ask("GET /api/timelines/look", { network, who });
    await ask("POST /api/timelines/drop", {}, { network, subject: "ben" });
    await ask("POST /api/timelines/retry", {}, { network });
  });

  test("of sharded structures and indexes is as described", async () => {
    expect((await ask("GET /api/shards")).structures).toHaveLength(2);
    await ask("GET /api/shards/:name", { name: "people" });
    await ask("POST /api/shards/:name/reshard", { name: "people" }, { shards: 64 });
    await ask("GET /api/shards");
    await ask("POST /api/shards/:name/move", { name: "people" });
    await ask("GET /api/indexes");
    await ask("GET /api/indexes/:name", { name: "books" });
    await ask("GET /api/indexes/:name/terms", { name: "books", limit: 1 });
    for (const query of ["", "dune the", "dune~ year:[1990 TO 2000]", '"walking dunes" -tides'])
      await ask("GET /api/indexes/:name/search", { name: "books", query });
    await ask("POST /api/indexes/:name/clear", { name: "books" });
  });

  test("as a problem is as described", async () => {
    const validate = ajv.compile({ $ref: "#/components/schemas/Problem", components: document.components });
    for (const path of ["/api/key?key=absent", "/api/keys?count=0", "/api/nothing"]) {
      const { body } = await api.get(path);
      validate(body);
      expect(validate.errors ?? [], JSON.stringify(body)).toEqual([]);
    }
  });

  test("would be found out if it had a field more, one less, or one of another type", async () => {
    const url = "/api/sessions";
    const validate = validatorOf("GET", url);
    const { count, sessions } = (await api.get(url)).body;
    const [first] = sessions;
    const { seenAt, ...less } = first;
    expect(validate({ count, sessions: [first] })).toBe(true);
    expect(validate({ count, sessions: [{ ...first, more: 1 }] })).toBe(false);
    expect(validate({ count, sessions: [less] })).toBe(false);
    expect(validate({ count, sessions: [{ ...first, seenAt: Date.parse(seenAt) }] })).toBe(false);
    expect(validate({ count, sessions: [{ ...first, seenAt: "yesterday" }] })).toBe(false);
    expect(validate({ count, sessions: [{ ...first, handle: null }] })).toBe(false);
  });

  test("was looked at for every route, with something in every list", async () => {
    const routes = (await described()).filter(({ media }) => media === undefined);
    // In this process a script that runs leaves nobody to ask, or to end it; page-components.test.ts has one on a real Redis.
    expect(routes.map(nameOf).filter((key) => !asked.has(key))).toEqual(["POST /api/scripts/kill"]);
    // A store in this process has no circuits; api.test.ts and cluster.test.ts have those of servers.
    const ours = store.topology === "embedded" ? ["GET /api/circuits.circuits"] : [];
    // The leaves of a flow have no children.
    const leaves = "GET /api/queues/:name/jobs/:id/flow.flow.children[].children";
    expect(lists.empty.sort()).toEqual([...ours, "GET /api/scripts.running", leaves].sort());
  });
});
