/**
 * Everything that components have announced in this store, by kind: what the registry of names knows, so that nothing has to be
 * searched for among the keys. Kinds with a page of their own lead to it; of some others a few facts are told.
 */
import { type NamedThing, Registry, type Store } from "cinnabar";
import { Barriers } from "cinnabar/barriers";
import { BoundedQueue, PriorityQueue } from "cinnabar/blocking-queues";
import { Ids } from "cinnabar/ids";
import { Latches } from "cinnabar/latches";
import { MultiMap } from "cinnabar/multi-map";
import { TimeSeries } from "cinnabar/time-series";
import { type Context, Problem, type Route, route } from "../route.ts";
import { anything, array, integer, nullable, object, record, string } from "../schema.ts";

const group = "Components";

type Facts = Readonly<Record<string, unknown>>;

interface Kind {
  readonly kind: string;
  readonly title: string;
  /** The page that shows them, where there is one. */
  readonly page?: string;
  /** What is told of one; nothing is written by it. */
  facts?(store: Store, thing: NamedThing): Promise<Facts>;
}

const count = async (of: { count(): Promise<number> }): Promise<Facts> => ({ count: await of.count() });

/** Every kind that the toolkit announces. `tests/registry.test.ts` reads them from its sources. */
export const KINDS: readonly Kind[] = [
  { kind: "queues", title: "Queues", page: "queues" },
  { kind: "locks", title: "Locks", page: "locks" },
  { kind: "semaphores", title: "Semaphores", page: "locks" },
  { kind: "elections", title: "Elections", page: "locks" },
  {
    kind: "latches",
    title: "Latches",
    facts: async (store, { prefix, name }) => ({ ...(await new Latches(store, { prefix }).inspect(name)) }),
  },
  {
    kind: "barriers",
    title: "Barriers",
    facts: async (store, { prefix, name, details }) => ({
      ...(await new Barriers(store, { prefix, parties: Number(details.parties ?? 1) }).inspect(name)),
    }),
  },
  {
    kind: "ids",
    title: "Sequences of ids",
    facts: async (store, { prefix, name }) => ({ ...(await new Ids(store, { prefix }).inspect(name)) }),
  },
  { kind: "durable-topics", title: "Durable topics", page: "topics" },
  { kind: "topics", title: "Topics", page: "topics" },
  { kind: "chats", title: "Chats", page: "chats" },
  { kind: "mailboxes", title: "Mailboxes", page: "chats" },
  { kind: "streaming", title: "Streaming APIs" },
  { kind: "cache", title: "Caches", page: "caches" },
  { kind: "row-cache", title: "Row caches" },
  { kind: "rate-limits", title: "Rate limits", page: "limits" },
  { kind: "views", title: "Views of pages" },
  { kind: "board", title: "Voting boards" },
  { kind: "market", title: "Marketplaces" },
  { kind: "search", title: "Search indexes", page: "indexes" },
  { kind: "autocomplete", title: "Autocompletions" },
  { kind: "places", title: "IP to place" },
  { kind: "ads", title: "Ads" },
  { kind: "job-search", title: "Job searches" },
  { kind: "logs", title: "Logs", page: "measures" },
  { kind: "counters", title: "Counters", page: "measures" },
  { kind: "stats", title: "Statistics", page: "measures" },
  { kind: "log-files", title: "Log files" },
  { kind: "files", title: "File distribution" },
  { kind: "config", title: "Configuration" },
  { kind: "bloom-filters", title: "Bloom filters" },
  { kind: "cuckoo-filters", title: "Cuckoo filters" },
  { kind: "count-min-sketches", title: "Count-min sketches" },
  { kind: "top-k", title: "Top-k sketches" },
  { kind: "expiring-sets", title: "Sets with expiring members" },
  { kind: "expiring-maps", title: "Maps with expiring entries" },
  {
    kind: "bounded-queues",
    title: "Bounded queues",
    facts: (store, { prefix, name }) => count(new BoundedQueue(store, name, { prefix })),
  },
  {
    kind: "priority-queues",
    title: "Priority queues",
    facts: (store, { prefix, name }) => count(new PriorityQueue(store, name, { prefix })),
  },
  {
    kind: "multi-maps",
    title: "Multi-maps",
    facts: async (store, { prefix, name }) => ({ ...(await new MultiMap(store, name, { prefix }).counts()) }),
  },
  { kind: "local-maps", title: "Local cached maps" },
  {
    kind: "time-series",
    title: "Time series",
    facts: async (store, { prefix, name }) => ({ ...(await new TimeSeries(store, { prefix }).get(name)) }),
  },
  { kind: "sharded", title: "Sharded structures", page: "shards" },
  { kind: "visitors", title: "Unique visitors" },
  { kind: "packed-table", title: "Packed tables" },
  { kind: "fleet", title: "Fleets", page: "shards" },
];

async function kinds({ store }: Context) {
  const [counts, used] = await Promise.all([
    store.pipeline(KINDS.map(({ kind }) => ["ZCARD", `cinnabar:names:${kind}`])),
    new Registry(store).components(),
  ]);
  const found = KINDS.map(({ kind, title, page }, at) => ({
    kind,
    title,
    page: page ?? null,
    count: Number(counts[at]),
  }));
  return { kinds: found.filter((each) => each.count > 0), layouts: used };
}

async function names({ store }: Context, kind: string, cursor: string | undefined) {
  const known = KINDS.find((each) => each.kind === kind);
  if (known === undefined) throw new Problem(404, "NOT_FOUND", `no component announces "${kind}"`);
  const page = await new Registry(store).list(kind, { limit: 100, ...(cursor !== undefined && { cursor }) });
  const items = await Promise.all(
    page.items.map(async (thing) => ({
      ...thing,
      // One that cannot be read is listed all the same.
      facts: (await known.facts?.(store, thing).catch(() => ({}))) ?? {},
    })),
  );
  return { kind, title: known.title, page: known.page ?? null, items, cursor: page.cursor };
}

export const REGISTRY_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/components",
    group,
    summary: "What components have announced in this store, by kind; and the versions of their layouts.",
    answers: "Kinds that are there with the number of names and the page that shows them.",
    answer: object({
      kinds: array(object({ kind: string(), title: string(), page: nullable(string()), count: integer() })),
      layouts: array(object({ component: string(), version: integer() })),
    }),
    run: kinds,
  }),
  route({
    method: "GET",
    url: "/api/components/:kind",
    group,
    summary: "The names of one kind, the latest used first, page by page.",
    params: object({ kind: string({ minLength: 1, maxLength: 100 }) }),
    query: object({ cursor: string({ maxLength: 2_000 }) }, ["cursor"]),
    answers: "Names with their prefixes, what it takes to open them, and a few facts.",
    answer: object({
      kind: string(),
      title: string(),
      page: nullable(string()),
      items: array(
        object({ name: string(), prefix: string(), details: record(anything()), facts: record(anything()) }),
      ),
      cursor: nullable(string()),
    }),
    run: (context, { params, query }) => names(context, params.kind, query.cursor),
  }),
];
