/**
 * Everything that components have announced in this store, by kind: what the registry of names knows, so that nothing has to be
 * searched for among the keys. Kinds with a page of their own lead to it; what is known of the others stands in kinds/.
 */
import { type NamedThing, Registry, type Store } from "cinnabar";
import { type Context, Problem, type Route, route } from "../route.ts";
import {
  anything,
  array,
  boolean,
  either,
  integer,
  nullable,
  number,
  object,
  oneOf,
  record,
  string,
} from "../schema.ts";
import { MILLISECONDS, TEXT } from "../shapes.ts";
import { ADS } from "./kinds/ads.ts";
import { BOARDS } from "./kinds/boards.ts";
import { EXPIRING_MAPS, EXPIRING_SETS, LOCAL_MAPS, MULTI_MAPS } from "./kinds/collections.ts";
import { BARRIERS, IDS, LATCHES } from "./kinds/coordination.ts";
import { EXECUTORS } from "./kinds/executors.ts";
import { type Action, type Kind, type Looking, UNITS } from "./kinds/kind.ts";
import { BOUNDED_QUEUES, PRIORITY_QUEUES, TIME_SERIES } from "./kinds/lines.ts";
import { MARKETS } from "./kinds/markets.ts";
import { PACKED_TABLES } from "./kinds/packed-tables.ts";
import { BLOOM_FILTERS, COUNT_MIN_SKETCHES, CUCKOO_FILTERS, TOP_K } from "./kinds/sketches.ts";

const group = "Components";
const PAGE = 100;
const HOUR_MS = 3_600_000;

/** Every kind that the toolkit announces. `tests/registry.test.ts` reads them from its sources. */
export const KINDS: readonly Kind[] = [
  { kind: "queues", title: "Queues", page: "queues" },
  { kind: "locks", title: "Locks", page: "locks" },
  { kind: "semaphores", title: "Semaphores", page: "locks" },
  { kind: "elections", title: "Elections", page: "locks" },
  EXECUTORS,
  LATCHES,
  BARRIERS,
  IDS,
  { kind: "durable-topics", title: "Durable topics", page: "topics" },
  { kind: "topics", title: "Topics", page: "topics" },
  { kind: "chats", title: "Chats", page: "chats" },
  { kind: "mailboxes", title: "Mailboxes", page: "chats" },
  { kind: "streaming", title: "Streaming APIs" },
  { kind: "cache", title: "Caches", page: "caches" },
  { kind: "row-cache", title: "Row caches" },
  { kind: "rate-limits", title: "Rate limits", page: "limits" },
  { kind: "views", title: "Views of pages" },
  BOARDS,
  MARKETS,
  { kind: "search", title: "Search indexes", page: "indexes" },
  { kind: "autocomplete", title: "Autocompletions" },
  { kind: "places", title: "IP to place" },
  ADS,
  { kind: "job-search", title: "Job searches" },
  { kind: "logs", title: "Logs", page: "measures" },
  { kind: "counters", title: "Counters", page: "measures" },
  { kind: "stats", title: "Statistics", page: "measures" },
  { kind: "log-files", title: "Log files" },
  { kind: "files", title: "File distribution" },
  { kind: "config", title: "Configuration" },
  BLOOM_FILTERS,
  CUCKOO_FILTERS,
  COUNT_MIN_SKETCHES,
  TOP_K,
  EXPIRING_SETS,
  EXPIRING_MAPS,
  BOUNDED_QUEUES,
  PRIORITY_QUEUES,
  MULTI_MAPS,
  LOCAL_MAPS,
  TIME_SERIES,
  { kind: "sharded", title: "Sharded structures", page: "shards" },
  { kind: "visitors", title: "Unique visitors" },
  PACKED_TABLES,
  { kind: "fleet", title: "Fleets", page: "shards" },
];

async function kinds({ store }: Context) {
  const [counts, used] = await Promise.all([
    store.pipeline(KINDS.map(({ kind }) => ["ZCARD", `cinnabar:names:${kind}`])),
    new Registry(store).components(),
  ]);
  const found = KINDS.map((kind, at) => ({ ...headOf(kind), count: Number(counts[at]) }));
  return { kinds: found.filter((each) => each.count > 0), layouts: used };
}

interface Opened {
  readonly kind: Kind;
  readonly looking: Looking;
}

function kindOf(name: string): Kind {
  const known = KINDS.find((each) => each.kind === name);
  if (known === undefined) throw new Problem(404, "NOT_FOUND", `no component announces "${name}"`);
  return known;
}

const headOf = ({ kind, title, page, about }: Kind) => ({ kind, title, page: page ?? null, about: about ?? null });
const marked = ({ shardMark }: Kind) => ({ shardMark: shardMark ?? null });

async function names({ store }: Context, name: string, cursor: string | undefined) {
  const kind = kindOf(name);
  const page = await new Registry(store).list(name, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
  const found = new Map<string, NamedThing>();
  for (const thing of page.items) {
    const id = JSON.stringify([thing.prefix, thing.name]);
    // One that was opened in several ways is the one that was used last.
    if (!found.has(id)) found.set(id, thing);
  }
  const items = await Promise.all(
    [...found.values()].map(async (thing) => ({
      ...thing,
      // One that cannot be read is listed all the same.
      figures: (await kind.figures?.({ store, thing, spanMs: HOUR_MS }).catch(() => [])) ?? [],
    })),
  );
  return { ...headOf(kind), ...marked(kind), isShown: kind.figures !== undefined, items, cursor: page.cursor };
}

/** A thing by its address; what it takes to open it comes from the registry. */
async function opened({ store }: Context, words: Words): Promise<Opened> {
  const kind = kindOf(words.kind);
  const { after, item, spanMs = HOUR_MS } = words;
  const thing = await announced(store, words);
  if (thing === null) {
    throw new Problem(
      404,
      "NOT_FOUND",
      `nothing named ${words.name} with the prefix ${words.prefix} is among the ${kind.title.toLowerCase()} of this store`,
    );
  }
  return { kind, looking: { store, thing, after, item, spanMs } };
}

/** Names that are looked at: as many as the registry keeps of a kind. */
const MOST_NAMES = 100_000;
const LOOKED_AT_ONCE = 5_000;

/** What was found a moment ago: whether it is still announced is one question. */
const lastFound = new WeakMap<Store, Map<string, NamedThing>>();

async function announced(store: Store, { kind, prefix, name }: Words): Promise<NamedThing | null> {
  const known = lastFound.get(store) ?? new Map<string, NamedThing>();
  lastFound.set(store, known);
  const id = JSON.stringify([kind, prefix, name]);
  const last = known.get(id);
  if (last !== undefined && (await isAnnounced(store, kind, last))) return last;
  const found = await searched(store, { kind, prefix, name });
  if (known.size >= LOOKED_AT_ONCE) known.clear();
  if (found === null) known.delete(id);
  else known.set(id, found);
  return found;
}

async function isAnnounced(store: Store, kind: string, { prefix, name, details }: NamedThing): Promise<boolean> {
  const words = Object.keys(details).length === 0 ? [prefix, name] : [prefix, name, details];
  return (await store.call("ZSCORE", `cinnabar:names:${kind}`, JSON.stringify(words))) !== null;
}

async function searched(store: Store, { kind, prefix, name }: Words): Promise<NamedThing | null> {
  const registry = new Registry(store);
  let cursor: string | null = null;
  for (let seen = 0; seen < MOST_NAMES; seen += LOOKED_AT_ONCE) {
    const page = await registry.list(kind, { limit: LOOKED_AT_ONCE, ...(cursor !== null && { cursor }) });
    const found = page.items.find((each) => each.prefix === prefix && each.name === name);
    if (found !== undefined) return found;
    ({ cursor } = page);
    if (cursor === null) return null;
  }
  return null;
}

interface Words {
  readonly kind: string;
  readonly prefix: string;
  readonly name: string;
  readonly after?: string;
  readonly item?: string;
  readonly spanMs?: number;
}

const described = ({ name, title, short, on, fields, warning, ends }: Action) => ({
  ...{ name, title, short: short ?? title, on, warning: warning ?? null, ends: ends ?? false },
  fields: fields.map(({ initial = "", ...field }) => ({ ...field, initial })),
});

async function look(context: Context, words: Words) {
  const { kind, looking } = await opened(context, words);
  const { item } = looking;
  const [figures, lists, lines, answer] = await Promise.all([
    kind.figures?.(looking) ?? [],
    kind.lists?.(looking) ?? [],
    kind.lines?.(looking) ?? [],
    item === undefined || kind.answer === undefined ? null : kind.answer(looking, item),
  ]);
  const { thing } = looking;
  return {
    ...{ kind: kind.kind, title: kind.title, about: kind.about ?? null, thing, ...marked(kind) },
    ...{ figures, lists, lines, question: kind.question ?? null, answer },
    actions: (kind.actions ?? [])
      .filter(({ name, on }) => on === "row" || (kind.offers?.(name, figures) ?? true))
      .map(described),
  };
}

async function act(context: Context, words: Words, { action, row, values }: Asked) {
  const { kind, looking } = await opened(context, words);
  const known = kind.actions?.find((each) => each.name === action);
  if (known === undefined) {
    throw new Problem(400, "INPUT", `${kind.title} have no action "${action}"`);
  }
  const { store, thing } = looking;
  return { said: await known.run({ store, thing, row, values }) };
}

interface Asked {
  readonly action: string;
  readonly row: string;
  readonly values: Readonly<Record<string, string>>;
}

const NAME = string({ minLength: 1, maxLength: 1_024 });
const KIND = object({ kind: string({ minLength: 1, maxLength: 100 }) });
const UNIT = oneOf(UNITS);
const CELL = either(nullable(number()), boolean(), TEXT);

const FIGURE = object(
  {
    title: string(),
    value: CELL,
    unit: UNIT,
    of: number({ description: "What it is a part of." }),
    note: string(),
  },
  ["of", "note"],
);

const SHARD_MARK = nullable(
  string({
    description: "What stands between the name and the number of a shard, where shards have keys of their own.",
  }),
);

const THING = object({ name: string(), prefix: string(), details: record(anything()) });

const LIST = object(
  {
    title: string(),
    empty: string({ description: "What stands there while it has no rows." }),
    columns: array(object({ title: string(), unit: UNIT })),
    rows: array(object({ id: string(), cells: array(CELL), actions: array(string()) }, ["actions"])),
    actions: array(string({ description: "The name of an action on a row." })),
    asks: boolean("Whether the id of a row is an item that can be asked about."),
    cursor: nullable(string()),
    isWhole: boolean("Whether this is all of it, whichever page of another list is shown."),
  },
  ["asks", "isWhole"],
);

const LOOK = object({
  kind: string(),
  title: string(),
  about: nullable(string()),
  thing: THING,
  shardMark: SHARD_MARK,
  figures: array(FIGURE),
  lists: array(LIST),
  lines: array(
    object({
      title: string(),
      labels: array(string()),
      points: array(object({ at: number({ description: MILLISECONDS }), values: array(nullable(number())) })),
    }),
  ),
  question: nullable(object({ label: string(), button: string() })),
  answer: nullable(array(FIGURE)),
  actions: array(
    object({
      name: string(),
      title: string(),
      short: string(),
      on: oneOf(["thing", "row"]),
      warning: nullable(string()),
      ends: boolean("Whether nothing is left to look at when it is done."),
      fields: array(object({ name: string(), label: string(), kind: oneOf(["text", "integer"]), initial: string() })),
    }),
  ),
});

export const REGISTRY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/components",
    group,
    summary: "What components have announced in this store, by kind; and the versions of their layouts.",
    answers: "Kinds that are there with the number of names and the page that shows them.",
    answer: object({
      kinds: array(
        object({
          kind: string(),
          title: string(),
          page: nullable(string()),
          about: nullable(string()),
          count: integer(),
        }),
      ),
      layouts: array(object({ component: string(), version: integer() })),
    }),
    run: kinds,
  }),
  route({
    method: "GET",
    url: "/api/components/:kind",
    group,
    summary: "The names of one kind, the latest used first, page by page.",
    params: KIND,
    query: object({ cursor: string({ maxLength: 2_000 }) }, ["cursor"]),
    answers: "Names with their prefixes, what it takes to open them, and their figures.",
    answer: object({
      kind: string(),
      title: string(),
      page: nullable(string()),
      about: nullable(string()),
      shardMark: SHARD_MARK,
      isShown: boolean("Whether more is known of each than its name."),
      items: array(object({ name: string(), prefix: string(), details: record(anything()), figures: array(FIGURE) })),
      cursor: nullable(string()),
    }),
    run: (context, { params, query }) => names(context, params.kind, query.cursor),
  }),
  route({
    method: "GET",
    url: "/api/components/:kind/one",
    group,
    summary: "One component: figures, lists, a chart, and the actions that it has.",
    params: KIND,
    query: object(
      {
        prefix: NAME,
        name: NAME,
        after: string({ maxLength: 2_000, description: "The cursor of a list." }),
        item: string({
          maxLength: 65_536,
          description: "An item that is asked about: whether a filter has it, for example.",
        }),
        spanMs: integer({
          default: HOUR_MS,
          minimum: 60_000,
          maximum: 7_776_000_000,
          description: "How far back charts reach.",
        }),
      },
      ["after", "item"],
    ),
    answers: "All that is known of it. Actions are those of `POST`.",
    answer: LOOK,
    run: (context, { params, query }) => look(context, { ...params, ...query }),
  }),
  route({
    method: "POST",
    url: "/api/components/:kind/one",
    group,
    summary: "Does one of the actions of a component.",
    params: KIND,
    query: object({ prefix: NAME, name: NAME }),
    body: object({
      action: string({ minLength: 1, maxLength: 100 }),
      row: string({ default: "", maxLength: 65_536, description: "The row of a list that it is done to." }),
      values: record(string({ maxLength: 1_048_576 })),
    }),
    answers: "What was done, as a sentence.",
    answer: object({ said: string() }),
    run: (context, { params, query, body }) => act(context, { ...params, ...query }, body),
  }),
];
