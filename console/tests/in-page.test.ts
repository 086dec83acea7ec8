/** The key browser's API in a page answers as a server does: the same requests to both, on stores of the same keys. */
import { open, type Store } from "cinnabar";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { InPage } from "../src/in-page/index.ts";
import { type Served, serve } from "./support.ts";

let [theirs, ours]: Store[] = [];
let server: Served;
let page: InPage;
let count = 0;

beforeAll(async () => {
  const config = { "enable-debug-command": "yes" };
  [theirs, ours] = [await open("memory:", { config }), await open("memory:", { config })];
  server = await serve(theirs);
  page = new InPage(async () => ours!);
});
afterAll(async () => {
  await server.console.close();
  await page.close();
  await theirs!.close();
});
beforeEach(async () => {
  for (const store of [theirs!, ours!]) {
    await store.call("FLUSHALL");
    await store.pipeline([
      ["SET", "greeting", "hello"],
      ["SET", "json", '{"a":[1,2]}'],
      ["SET", Buffer.from([0xff, 0x01]), Buffer.from([0x1f, 0x8b, 0xff])],
      ["HSET", "user:1", "name", "Ann", "city", "Rome"],
      ["RPUSH", "list", "a", "b", "c"],
      ["ZADD", "board", "1.5", "ann", "2", "bob"],
      ["SADD", "tags", "x"],
      ["XADD", "events", "1-1", "kind", "login"],
      ["XGROUP", "CREATE", "events", "readers", "0"],
    ]);
  }
});

type Asked = readonly [method: string, path: string, body: unknown];

/** What differs from run to run. */
const settled = (body: unknown): unknown =>
  JSON.parse(
    JSON.stringify(body, (name, value) => (/^(?:id|undo|startedAt|endedAt|state|done)$/.test(name) ? "*" : value)),
  );

const both = async ([method, path, body]: Asked) => {
  const answered = await page.answer({
    id: ++count,
    method,
    path,
    body: body === undefined ? null : JSON.stringify(body),
    db: 0,
  });
  const expected = method === "GET" ? await server.get(path) : await server.send(method, path, body);
  return {
    page: { status: answered.status, body: settled(JSON.parse(answered.body)) },
    server: { status: expected.status, body: settled(expected.body) },
  };
};

const READS: readonly string[] = [
  "/api/keys",
  "/api/keys?count=2&cursor=0&match=*s*&type=",
  "/api/keys?type=hash&count=10",
  "/api/key?key=user%3A1",
  "/api/key?key=user%3A1&search=Ro",
  "/api/key?key=list&count=2",
  "/api/key?key=list&cursor=2",
  "/api/key?key=board",
  "/api/key?key=events",
  "/api/key?key=base64%3A%2FwE%3D",
  "/api/key/groups?key=events",
  "/api/key/value?key=greeting&as=auto",
  "/api/key/value?key=json&as=auto&from=0",
  "/api/key/value?key=greeting&as=hex",
  "/api/key/value?key=user%3A1&field=name&as=text",
  "/api/key/value?key=events&id=1-1&field=kind&as=auto",
];

test.each(READS)("GET %s", async (path) => {
  const { page, server } = await both(["GET", path, undefined]);
  expect(page).toEqual(server);
  expect(page.status).toBe(200);
});

const CHANGES: readonly Asked[] = [
  ["POST", "/api/key", { key: "new", type: "zset", field: "m", value: "3" }],
  ["PUT", "/api/key", { key: "greeting", action: "set", value: "68 69", as: "hex" }],
  ["PUT", "/api/key", { key: "list", action: "removeIndex", index: 1, value: "b" }],
  ["PUT", "/api/key", { key: "list", action: "insertIndex", index: 1, shown: "b", value: "between" }],
  ["PUT", "/api/key", { key: "board", action: "setScore", field: "ann", value: "7" }],
  ["PUT", "/api/key", { key: "events", action: "addEntry", field: "2-1", pairs: [["kind", "logout"]] }],
  ["POST", "/api/key/groups", { key: "events", group: "readers", action: "destroy" }],
  ["POST", "/api/key/ttl", { key: "greeting", ttlMs: null }],
  ["POST", "/api/key/rename", { key: "greeting", to: "welcome" }],
  ["POST", "/api/keys/delete", { keys: ["greeting", "nothing"] }],
  ["POST", "/api/keys/delete", { keys: "greeting" }],
  ["POST", "/api/keys/rename-preview", { selection: { filter: { match: "user:*" } }, from: "user:*", to: "member:*" }],
  ["POST", "/api/surveys", { separator: ":", fresh: true }],
];

test.each(CHANGES)("%s %s %j", async (method, path, body) => {
  const { page, server } = await both([method, path, body]);
  expect(page).toEqual(server);
  expect(page.status).toBe(200);
  const left = async (store: Store) => (await store.call("DEBUG", "DIGEST")) as string;
  expect(await left(ours!)).toBe(await left(theirs!));
});

const WRONG: readonly Asked[] = [
  ["GET", "/api/keys?count=many", undefined],
  ["GET", "/api/keys?count=0", undefined],
  ["GET", "/api/keys?count=5001", undefined],
  ["GET", "/api/keys?count=1.5", undefined],
  ["GET", "/api/keys?type=HASH", undefined],
  ["GET", "/api/key", undefined],
  ["GET", "/api/key?key=absent", undefined],
  ["GET", "/api/key/value?key=greeting&as=poem", undefined],
  ["GET", "/api/key/value?key=greeting&as=msgpack", undefined],
  ["GET", "/api/key/value?key=absent&as=auto", undefined],
  ["GET", "/api/surveys/none/progress", undefined],
  ["GET", "/api/nothing", undefined],
  ["POST", "/api/key", { key: "", type: "string", value: "x" }],
  ["POST", "/api/key", { key: "greeting", type: "string", value: "x" }],
  ["POST", "/api/key", { key: "new", type: "zset", field: "m", value: "high" }],
  ["POST", "/api/key", { key: "new", type: "poem", value: "x" }],
  ["POST", "/api/key/rename", { key: "greeting", to: "" }],
  ["POST", "/api/key/rename", { key: "greeting", to: "json" }],
  ["POST", "/api/key/ttl", { key: "greeting", ttlMs: 0 }],
  ["POST", "/api/key/ttl", { key: "greeting" }],
  ["POST", "/api/keys/delete", { keys: [] }],
  ["POST", "/api/keys/delete", { keys: {} }],
  ["PUT", "/api/key", { key: "events", action: "addEntry", pairs: [["one"]] }],
  ["PUT", "/api/key", { key: "greeting", action: "addMember", value: "x" }],
  ["PUT", "/api/key", { key: "greeting", action: "set", value: "6", as: "hex" }],
  ["PUT", "/api/key", { key: "list", action: "removeIndex", index: 1, value: "other" }],
];

test.each(WRONG)("%s %s %j is refused in the same words", async (method, path, body) => {
  const { page, server } = await both([method, path, body]);
  expect(page).toEqual(server);
  expect(page.status).toBeGreaterThanOrEqual(400);
});

test("many keys at once are changed in the background", async () => {
  const asked = { selection: { filter: { match: "*" } }, action: "expire", ttlMs: 60_000 };
  const ask = async (method: string, path: string, body: unknown = null) => {
    const answered = await page.answer({
      id: 1,
      method,
      path,
      body: body === null ? null : JSON.stringify(body),
      db: 0,
    });
    return JSON.parse(answered.body);
  };
  const { id } = await ask("POST", "/api/keys/bulk", asked);
  await expect.poll(() => ask("GET", `/api/keys/bulk/${id}`)).toMatchObject({ state: "done", changed: 8, failed: 0 });
  expect(await ours!.call("TTL", "greeting")).toBe(60);
});
