/** Caches of the toolkit: how often they had what was asked for, what is in them, what was made invalid. */
import { Cache, Caches } from "cinnabar/cache";
import { findKeys } from "../nodes.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, date, integer, named, number, object, string } from "../schema.ts";
import { DONE, MILLISECONDS } from "../shapes.ts";
import { listOf } from "../values.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 512 }) });
const KEY = string({ minLength: 1, maxLength: 1_024 });
const MOST_ENTRIES = 200;

const CACHE = named(
  "Cache",
  object({
    name: string(),
    shards: integer(),
    stats: object({
      hits: integer(),
      staleHits: integer(),
      misses: integer(),
      loads: integer(),
      failures: integer(),
    }),
  }),
);

const ENTRY = named(
  "CacheEntry",
  object({
    key: string(),
    madeAt: number({ description: MILLISECONDS }),
    freshUntil: number({ description: MILLISECONDS }),
    endsInMs: integer({ description: "-1 for one that stays." }),
    bytes: integer(),
    tags: array(string()),
  }),
);

const CONTENTS = object({
  entries: array(ENTRY),
  count: integer({ description: "Those that are not shown included." }),
  complete: boolean(),
  invalidated: array(object({ tag: string(), at: date() })),
});

async function cacheOf({ store }: Context, name: string): Promise<{ shards: number; cache: Cache }> {
  const found = (await new Caches(store).list({ limit: 1_000 })).items.find((each) => each.name === name);
  if (found === undefined) throw new Problem(404, "NOT_FOUND", `no cache "${name}" has been used lately`);
  return { shards: found.shards, cache: new Cache(store, name, { shards: found.shards }) };
}

/** Characters that mean something in a pattern of SCAN. */
const literal = (text: string) => text.replace(/[[\]*?\\]/g, "\\$&");

async function entries({ store }: Context, name: string) {
  const { keys, complete } = await findKeys(store, `cache:{${literal(name)}:*}:e:*`);
  const shown = keys.slice(0, MOST_ENTRIES);
  const answers = await store.pipeline(
    shown.flatMap((key) => [
      ["HMGET", key, "at", "fresh", "t"] as const,
      ["PTTL", key] as const,
      ["HSTRLEN", key, "v"] as const,
    ]),
  );
  const list = shown.flatMap((key, at) => {
    const [facts, ttl, bytes] = answers.slice(at * 3, at * 3 + 3);
    const [madeAt, freshUntil, tagged] = listOf(facts);
    if (madeAt == null) return [];
    return {
      key: key.slice(key.indexOf("}:e:") + 4),
      madeAt: Number(madeAt) / 1_000,
      freshUntil: Number(freshUntil),
      endsInMs: Number(ttl),
      bytes: Number(bytes),
      tags: String(tagged ?? "")
        .split("\n")
        .filter((tag) => tag !== ""),
    };
  });
  return { entries: list, count: keys.length, complete: complete && keys.length <= MOST_ENTRIES };
}

async function show(context: Context, name: string) {
  const { shards } = await cacheOf(context, name);
  const [held, invalidated] = await Promise.all([
    entries(context, name),
    new Caches(context.store).invalidated({ name, shards }),
  ]);
  return { ...held, invalidated };
}

export const CACHE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/caches",
    group,
    summary: "Caches that were used in the last week.",
    answers: "Hits, stale hits, misses, loads and failures of all processes.",
    answer: object({ caches: array(CACHE) }),
    run: async ({ store }) => ({ caches: (await new Caches(store).list()).items }),
  }),
  route({
    method: "GET",
    url: "/api/caches/:name",
    group,
    summary: "A cache.",
    params: NAME,
    answers: "Some of its entries with age, size and tags; the tags that were invalidated last.",
    answer: CONTENTS,
    run: (context, { params }) => show(context, params.name),
  }),
  route({
    method: "POST",
    url: "/api/caches/:name/invalidate",
    group,
    summary: "Makes all entries with a tag invalid.",
    params: NAME,
    body: object({ tag: KEY }),
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params, body }) => (await cacheOf(context, params.name)).cache.invalidate(body.tag),
  }),
  route({
    method: "POST",
    url: "/api/caches/:name/delete",
    group,
    summary: "Deletes an entry.",
    params: NAME,
    body: object({ key: KEY }),
    answers: "Whether it was there.",
    answer: object({ deleted: boolean() }),
    run: async (context, { params, body }) => ({
      deleted: await (await cacheOf(context, params.name)).cache.delete(body.key),
    }),
  }),
];
