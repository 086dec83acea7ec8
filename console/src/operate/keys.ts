/** Looking at keys: lists of them, and the value of one, page by page. */
import type { Answer, Reply, Store, Word } from "cinnabar";
import { ServerError } from "cinnabar";
import { scan } from "../nodes.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, integer, named, nullable, object, string, type Typed } from "../schema.ts";
import { TEXT, VALUE } from "../shapes.ts";
import { jsonOf, pairs, sound, textIn, textOf, type Value, wordOf } from "../values.ts";

const group = "Keys";
const KEY = string({ maxLength: 1_000_000, description: "The key; `base64:…` for bytes that are no text." });

const FIELDS = {
  key: TEXT,
  type: string(),
  ttlMs: nullable(integer({ description: "Milliseconds left; null where the key stays." })),
  bytes: nullable(integer()),
  encoding: nullable(string()),
};

const FACTS = object(FIELDS);

const VIEW = object({
  ...FIELDS,
  length: integer(),
  next: nullable(string({ description: "The cursor of the next page." })),
  columns: array(string()),
  rows: array(array(VALUE)),
});

const GROUP = named(
  "ConsumerGroup",
  object({
    name: string(),
    pending: integer(),
    lastDelivered: string(),
    lag: nullable(integer({ description: "Null where the server cannot tell." })),
    consumers: array(object({ name: string(), pending: integer(), idleMs: integer() })),
    unacknowledged: array(object({ id: string(), consumer: string(), idleMs: integer(), deliveries: integer() })),
  }),
);

export type KeyFacts = Typed<typeof FACTS>;

/** The facts of many keys, in one pipeline. Keys that are gone meanwhile are left out. */
async function factsOf(store: Store, keys: readonly Buffer[]): Promise<KeyFacts[]> {
  const answers = await store.pipeline(
    keys.flatMap((key): Word[][] => [
      ["TYPE", key],
      ["PTTL", key],
      ["MEMORY", "USAGE", key],
      ["OBJECT", "ENCODING", key],
    ]),
  );
  return keys.flatMap((key, nth) => {
    const [type, ttl, bytes, encoding] = answers.slice(4 * nth, 4 * nth + 4);
    if (typeof type !== "string" || type === "none") return [];
    return {
      key: textOf(key),
      type,
      ttlMs: typeof ttl === "number" && ttl >= 0 ? ttl : null,
      bytes: typeof bytes === "number" ? bytes : null,
      encoding: typeof encoding === "string" ? encoding : null,
    };
  });
}

/** Steps of SCAN until a page is full; a rare match must not need a thousand requests, nor one that takes minutes. */
async function listKeys({ store }: Context, query: { cursor: string; match: string; type: string; count: number }) {
  const { match, type, count } = query;
  const keys: Buffer[] = [];
  let cursor = query.cursor;
  let scanned = 0;
  const step = match === "" && type === "" ? count : Math.max(count, 2_000);
  do {
    const found = await scan(store, cursor, { match, type, count: step });
    for (const key of found.keys) keys.push(key);
    cursor = found.cursor;
    scanned += step;
  } while (cursor !== "0" && keys.length < count && scanned < 100_000);
  return { cursor, scanned, keys: await factsOf(store, keys) };
}

/** By type: a string's `text`; rows of a collection. */
export type KeyView = Typed<typeof VIEW>;

type Page = Omit<KeyView, keyof KeyFacts>;

type Viewer = (store: Store, key: Word, cursor: string, count: number) => Promise<Page>;

const ask = (store: Store, ...words: Word[]): Promise<Reply> => store.send(words, { buffers: true });
const whole = (cursor: string): number => Number(/^\d{1,15}$/.test(cursor) ? cursor : 0);

/** By place: `fetch` gives rows from `from` on. */
async function byPlace(
  length: number,
  cursor: string,
  count: number,
  columns: string[],
  fetch: (from: number, to: number) => Promise<Value[][]>,
): Promise<Page> {
  const from = whole(cursor);
  const rows = await fetch(from, from + count - 1);
  return { length, next: from + count < length ? String(from + count) : null, columns, rows };
}

/** Hashes and sets, which have no places: by the server's cursor. */
async function byScan(
  store: Store,
  words: readonly Word[],
  length: number,
  columns: string[],
  rowsOf: (flat: Value[]) => Value[][],
): Promise<Page> {
  const [next, flat] = (await ask(store, ...words)) as [Buffer, Reply[]];
  const cursor = next.toString();
  return { length, next: cursor === "0" ? null : cursor, columns, rows: rowsOf(flat.map(jsonOf)) };
}

const CHUNK = 65_536;
const MOST_GROUPS = 50;
const MOST_PENDING = 20;

const VIEWERS: Readonly<Record<string, Viewer>> = {
  string: async (store, key, cursor) => {
    const length = Number(await store.call("STRLEN", key));
    const from = whole(cursor);
    const text = (await ask(store, "GETRANGE", key, from, from + CHUNK - 1)) as Buffer;
    const next = from + CHUNK < length ? String(from + CHUNK) : null;
    return { length, next, columns: ["value"], rows: [[textOf(text)]] };
  },
  list: async (store, key, cursor, count) =>
    byPlace(Number(await store.call("LLEN", key)), cursor, count, ["index", "value"], async (from, to) =>
      ((await ask(store, "LRANGE", key, from, to)) as Reply[]).map((each, nth) => [from + nth, jsonOf(each)]),
    ),
  set: async (store, key, cursor, count) =>
    byScan(store, ["SSCAN", key, cursor, "COUNT", count], Number(await store.call("SCARD", key)), ["member"], (flat) =>
      flat.map((member) => [member]),
    ),
  hash: async (store, key, cursor, count) =>
    byScan(
      store,
      ["HSCAN", key, cursor, "COUNT", count],
      Number(await store.call("HLEN", key)),
      ["field", "value"],
      pairs,
    ),
  zset: async (store, key, cursor, count) =>
    byPlace(Number(await store.call("ZCARD", key)), cursor, count, ["member", "score"], async (from, to) =>
      pairs(((await ask(store, "ZRANGE", key, from, to, "WITHSCORES")) as Reply[]).map(jsonOf)),
    ),
  stream: async (store, key, cursor, count) => {
    const length = Number(await store.call("XLEN", key));
    const from = cursor === "0" ? "-" : cursor;
    const entries = (await ask(store, "XRANGE", key, from, "+", "COUNT", count + 1)) as [Buffer, Reply[]][];
    const next = entries[count]?.[0].toString() ?? null;
    const rows = entries.slice(0, count).map(([id, flat]) => [textOf(id), { map: pairs(flat.map(jsonOf)) }]);
    return { length, next, columns: ["id", "fields"], rows };
  },
};

async function view({ store }: Context, query: { key: string; cursor: string; count: number }): Promise<KeyView> {
  const key = wordOf(query.key);
  const bytes = typeof key === "string" ? Buffer.from(key) : (key as Buffer);
  const [facts] = await factsOf(store, [bytes]);
  if (facts === undefined) throw new Problem(404, "NO_KEY", "there is no such key");
  const viewer = VIEWERS[facts.type];
  if (viewer === undefined) throw new Problem(422, "TYPE", `values of type ${facts.type} cannot be shown`);
  if (!/^[\d-]{1,42}$/.test(query.cursor)) throw new Problem(400, "INPUT", "that is no cursor of this console");
  return { ...facts, ...(await viewer(store, bytes, query.cursor, query.count)) };
}

/** Consumer groups of a stream, with their consumers and the oldest entries that nobody has acknowledged. */
async function groups({ store }: Context, key: string) {
  const name = wordOf(key);
  const [answer] = await store.pipeline([["XINFO", "GROUPS", name]]);
  if (answer instanceof ServerError && /no such key/i.test(answer.message))
    throw new Problem(404, "NO_KEY", "there is no such key");
  const found = (sound(answer) as Reply[][]).slice(0, MOST_GROUPS).map((flat) => new Map(pairs(flat as string[])));
  const answers = await store.pipeline(
    found.flatMap((each) => [
      ["XINFO", "CONSUMERS", name, textIn(each, "name")] as const,
      ["XPENDING", name, textIn(each, "name"), "-", "+", MOST_PENDING] as const,
    ]),
  );
  return {
    groups: found.map((each, nth) => ({
      name: textIn(each, "name"),
      pending: Number(each.get("pending")),
      lastDelivered: textIn(each, "last-delivered-id"),
      // Since Redis 7; null where it cannot be told.
      lag: each.get("lag") == null ? null : Number(each.get("lag")),
      consumers: listOf(answers[nth * 2]).map((flat) => {
        const consumer = new Map(pairs(flat as string[]));
        const [pending, idleMs] = [Number(consumer.get("pending")), Number(consumer.get("idle"))];
        return { name: textIn(consumer, "name"), pending, idleMs };
      }),
      unacknowledged: listOf(answers[nth * 2 + 1]).map((entry) => {
        const [id, consumer, idleMs, deliveries] = entry as [string, string, number, number];
        return { id, consumer, idleMs: Number(idleMs), deliveries: Number(deliveries) };
      }),
    })),
  };
}

/** A group may be destroyed between the two questions. */
const listOf = (answer: Answer | undefined): Reply[] => (Array.isArray(answer) ? answer : []);

export const KEY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/keys",
    group,
    summary: "Keys, page by page, of all nodes, with type, time to live, size and encoding.",
    query: object({
      cursor: string({ default: "0", maxLength: 30 }),
      match: string({ default: "", maxLength: 1_000, description: "A pattern, as for SCAN." }),
      type: string({ default: "", maxLength: 20, pattern: "^[a-z]*$" }),
      count: integer({ default: 500, minimum: 1, maximum: 5_000 }),
    }),
    answers: "Keys, and the cursor of the next page: `0` after the last. A page may be empty and not be the last.",
    answer: object({ cursor: string(), scanned: integer(), keys: array(named("KeyFacts", FACTS)) }),
    run: (context, { query }) => listKeys(context, query),
  }),
  route({
    method: "GET",
    url: "/api/key",
    group,
    summary: "A key's value, page by page.",
    query: object({
      key: KEY,
      cursor: string({ default: "0", maxLength: 42 }),
      count: integer({ default: 100, minimum: 1, maximum: 1_000 }),
    }),
    answers: "Its facts, and rows: the columns depend on the type.",
    answer: VIEW,
    run: (context, { query }) => view(context, query),
  }),
  route({
    method: "GET",
    url: "/api/key/groups",
    group,
    summary: "A stream's consumer groups.",
    query: object({ key: KEY }),
    answers: "Groups, their consumers, and their oldest entries that nobody has acknowledged.",
    answer: object({ groups: array(GROUP) }),
    run: (context, { query }) => groups(context, query.key),
  }),
];
