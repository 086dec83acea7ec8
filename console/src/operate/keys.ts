/** Looking at keys: lists of them, and the value of one, page by page. */
import type { Reply, Store, Word } from "cinnabar";
import { ServerError } from "cinnabar";
import { globOf } from "../glob.ts";
import { scan } from "../nodes.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, object, string, type Typed } from "../schema.ts";
import { TEXT, VALUE } from "../shapes.ts";
import {
  byteListIn,
  bytesIn,
  entriesIn,
  fieldsOf,
  listOf,
  pairs,
  scanned,
  sound,
  textIn,
  textOf,
  type Value,
  wordOf,
} from "../values.ts";
import { MOST_UNDO_BYTES } from "./undo.ts";

const group = "Keys";
const KEY = string({ maxLength: 1_000_000, description: "The key; `base64:…` for bytes that are no text." });

export const FACTS_FIELDS = {
  key: TEXT,
  type: string(),
  ttlMs: nullable(integer({ description: "Milliseconds left; null where the key stays." })),
  bytes: nullable(integer()),
  encoding: nullable(string()),
};

export const KEY_FACTS = named("KeyFacts", object(FACTS_FIELDS));

const VIEW = object({
  ...FACTS_FIELDS,
  length: integer(),
  next: nullable(string({ description: "The cursor of the next page." })),
  columns: array(string()),
  rows: array(array(VALUE)),
  cut: array(object({ row: integer(), column: integer(), bytes: integer({ description: "Of the whole value." }) })),
  searched: integer({ description: "Elements that a search has looked at for this page." }),
  restorable: boolean("Whether deleting the key can be undone: it is not too large for that."),
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

export type KeyFacts = Typed<typeof KEY_FACTS>;

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

const FACTS_AT_ONCE = 100;

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
  if (store.topology !== "embedded") return { cursor, scanned, keys: await factsOf(store, keys) };
  // On the store's own thread, in parts: others have their turn in between.
  const facts: KeyFacts[] = [];
  for (let at = 0; at < keys.length; at += FACTS_AT_ONCE) {
    facts.push(...(await factsOf(store, keys.slice(at, at + FACTS_AT_ONCE))));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { cursor, scanned, keys: facts };
}

/** By type: a string's `text`; rows of a collection. */
export type KeyView = Typed<typeof VIEW>;

/** A page as the server has it, before its values are cut to what a page can show. */
interface Page {
  readonly length: number;
  readonly next: string | null;
  readonly columns: string[];
  readonly rows: readonly Raw[][];
  readonly searched: number;
}
/** A number, bytes, or the fields of a stream's entry. */
type Raw = number | Buffer | { readonly fields: readonly [Buffer, Buffer][] };

interface Asked {
  readonly cursor: string;
  readonly count: number;
  /** Tells whether a row is shown; undefined: all are. */
  readonly isWanted: ((row: readonly Raw[]) => boolean) | undefined;
}

type Viewer = (store: Store, key: Word, asked: Asked) => Promise<Page>;

const ask = (store: Store, ...words: Word[]): Promise<Reply> => store.send(words, { buffers: true });
const whole = (cursor: string): number => Number(/^\d{1,15}$/.test(cursor) ? cursor : 0);

/** Elements that one request of a search looks at; a rare match must not take minutes. */
const MOST_SEARCHED = 20_000;
const SEARCH_STEP = 500;

/** Steps until a page is full of rows that are wanted. A step answers rows and the cursor of the next, null after the last. */
async function steps(
  { cursor, count, isWanted }: Asked,
  step: (cursor: string, count: number) => Promise<{ readonly rows: Raw[][]; readonly next: string | null }>,
): Promise<Pick<Page, "rows" | "next" | "searched">> {
  if (isWanted === undefined) return { ...(await step(cursor, count)), searched: 0 };
  const rows: Raw[][] = [];
  let [next, searched]: [string | null, number] = [cursor, 0];
  while (next !== null && rows.length < count && searched < MOST_SEARCHED) {
    const found: { readonly rows: Raw[][]; readonly next: string | null } = await step(next, SEARCH_STEP);
    searched += Math.max(found.rows.length, 1);
    rows.push(...found.rows.filter(isWanted));
    next = found.next;
  }
  return { rows, next, searched };
}

/** By place: `fetch` gives rows from `from` on. */
async function byPlace(
  length: number,
  asked: Asked,
  columns: string[],
  fetch: (from: number, to: number) => Promise<Raw[][]>,
): Promise<Page> {
  const found = await steps(asked, async (cursor, count) => {
    const from = whole(cursor);
    const rows = await fetch(from, from + count - 1);
    return { rows, next: from + count < length ? String(from + count) : null };
  });
  return { length, columns, ...found };
}

/** Hashes and sets, which have no places: by the server's cursor. */
async function byScan(
  store: Store,
  command: string,
  key: Word,
  length: number,
  asked: Asked,
  columns: string[],
  rowsOf: (flat: Buffer[]) => Raw[][],
): Promise<Page> {
  const found = await steps(asked, async (cursor, count) => {
    const { next, found } = scanned(await ask(store, command, key, cursor, "COUNT", count));
    return { rows: rowsOf(found), next: next === "0" ? null : next };
  });
  return { length, columns, ...found };
}

const CHUNK = 65_536;
const MOST_GROUPS = 50;
const MOST_PENDING = 50;

const VIEWERS: Readonly<Record<string, Viewer>> = {
  string: async (store, key, { cursor }) => {
    const length = Number(await store.call("STRLEN", key));
    const from = whole(cursor);
    const text = bytesIn(await ask(store, "GETRANGE", key, from, from + CHUNK - 1));
    const next = from + CHUNK < length ? String(from + CHUNK) : null;
    return { length, next, columns: ["value"], rows: [[text]], searched: 0 };
  },
  list: async (store, key, asked) =>
    byPlace(Number(await store.call("LLEN", key)), asked, ["index", "value"], async (from, to) =>
      byteListIn(await ask(store, "LRANGE", key, from, to)).map((each, nth) => [from + nth, each]),
    ),
  set: async (store, key, asked) =>
    byScan(store, "SSCAN", key, Number(await store.call("SCARD", key)), asked, ["member"], (flat) =>
      flat.map((member) => [member]),
    ),
  hash: async (store, key, asked) =>
    byScan(store, "HSCAN", key, Number(await store.call("HLEN", key)), asked, ["field", "value"], pairs),
  zset: async (store, key, asked) =>
    byPlace(Number(await store.call("ZCARD", key)), asked, ["member", "score"], async (from, to) =>
      pairs(byteListIn(await ask(store, "ZRANGE", key, from, to, "WITHSCORES"))),
    ),
  stream: async (store, key, asked) => {
    const length = Number(await store.call("XLEN", key));
    const found = await steps(asked, async (cursor, count) => {
      const from = cursor === "0" ? "-" : cursor;
      const entries = entriesIn(await ask(store, "XRANGE", key, from, "+", "COUNT", count + 1));
      const rows = entries.slice(0, count).map(([id, flat]): Raw[] => [id, { fields: pairs(flat) }]);
      return { rows, next: entries[count]?.[0].toString() ?? null };
    });
    return { length, columns: ["id", "fields"], ...found };
  },
};

/** What a search looks for in a row: names, values, ids. A word without signs of a pattern is looked for anywhere. */
function wanted(search: string): Asked["isWanted"] {
  if (search === "") return undefined;
  const fits = globOf(/[*?[]/.test(search) ? search : `*${search}*`);
  const isIn = (raw: Raw): boolean => {
    if (typeof raw === "number") return false;
    if (Buffer.isBuffer(raw)) return fits(raw.toString("latin1"));
    return raw.fields.some((pair) => pair.some(isIn));
  };
  return (row) => row.some(isIn);
}

/** Of a value, so much is in a table; /api/key/value has the rest. */
const MOST_IN_CELL = 4_096;

/** The beginning of what is longer, without half a character at its end. */
function beginning(bytes: Buffer, most: number): Buffer {
  if (bytes.length <= most) return bytes;
  let end = most;
  while (end > most - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
}

/** Rows as the page gets them, and which of their values are cut. */
function fitted(rows: readonly Raw[][], most: number): Pick<KeyView, "rows" | "cut"> {
  const cut: KeyView["cut"] = [];
  const shown = rows.map((row, at) =>
    row.map((raw, column): Value => {
      if (typeof raw === "number") return raw;
      if (Buffer.isBuffer(raw)) {
        if (raw.length > most) cut.push({ row: at, column, bytes: raw.length });
        return textOf(beginning(raw, most));
      }
      const bytes = raw.fields.reduce((sum, [, value]) => sum + value.length, 0);
      if (raw.fields.some(([, value]) => value.length > most)) cut.push({ row: at, column, bytes });
      return { map: raw.fields.map(([name, value]) => [textOf(name), textOf(beginning(value, most))]) };
    }),
  );
  return { rows: shown, cut };
}

interface ViewQuery {
  readonly key: string;
  readonly cursor: string;
  readonly count: number;
  readonly search: string;
}

async function view({ store }: Context, query: ViewQuery): Promise<KeyView> {
  const key = wordOf(query.key);
  const bytes = typeof key === "string" ? Buffer.from(key) : key;
  const [facts] = await factsOf(store, [bytes]);
  if (facts === undefined) throw new Problem(404, "NO_KEY", "there is no such key");
  const viewer = VIEWERS[facts.type];
  if (viewer === undefined) throw new Problem(422, "TYPE", `values of type ${facts.type} cannot be shown`);
  if (!/^[\d-]{1,42}$/.test(query.cursor)) throw new Problem(400, "INPUT", "that is no cursor of this console");
  const { rows, ...page } = await viewer(store, bytes, { ...query, isWanted: wanted(query.search) });
  const restorable = facts.bytes !== null && facts.bytes <= MOST_UNDO_BYTES;
  return { ...facts, ...page, restorable, ...fitted(rows, facts.type === "string" ? CHUNK : MOST_IN_CELL) };
}

/** Consumer groups of a stream, with their consumers and the oldest entries that nobody has acknowledged. */
async function groups({ store }: Context, key: string) {
  const name = wordOf(key);
  const [answer] = await store.pipeline([["XINFO", "GROUPS", name]]);
  if (answer instanceof ServerError && /no such key/i.test(answer.message))
    throw new Problem(404, "NO_KEY", "there is no such key");
  const found = listOf(sound(answer)).slice(0, MOST_GROUPS).map(fieldsOf);
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
      // A group may be destroyed between the two questions.
      consumers: listOf(answers[nth * 2]).map((flat) => {
        const consumer = fieldsOf(flat);
        const [pending, idleMs] = [Number(consumer.get("pending")), Number(consumer.get("idle"))];
        return { name: textIn(consumer, "name"), pending, idleMs };
      }),
      unacknowledged: listOf(answers[nth * 2 + 1]).map((entry) => {
        const [id, consumer, idleMs, deliveries] = listOf(entry);
        return { id: String(id), consumer: String(consumer), idleMs: Number(idleMs), deliveries: Number(deliveries) };
      }),
    })),
  };
}

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
    answer: object({ cursor: string(), scanned: integer(), keys: array(KEY_FACTS) }),
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
      search: string({
        default: "",
        maxLength: 1_000,
        description: "A word or a pattern, for fields, members and values.",
      }),
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
