/** Search indexes of the toolkit: how large they are, which words are in them, and what they answer. */
import { SearchIndex } from "cinnabar/search";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, number, object, oneOf, record, string } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { listOf } from "../values.ts";
import { perStore } from "../work.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 1_024 }) });
const MOST = 200;
/** Words that are weighed when an index is shown. */
const MAX_TERMS = 20_000;

const TERM = named("IndexTerm", object({ term: string(), bytes: integer() }));

const INDEX = named(
  "IndexInspection",
  object({
    documents: integer(),
    terms: integer(),
    postingsBytes: integer({ description: "Of the lists of the words that were looked at." }),
    sampled: integer({ description: "How many words were looked at." }),
    documentsBytes: integer(),
    wordsBytes: integer(),
    columnsBytes: record(integer()),
    version: integer({ description: "Goes up with every write." }),
    memoryBytes: integer({ description: "What the console keeps of it." }),
    longest: array(TERM),
    fields: array(
      object({
        name: string(),
        type: oneOf(["text", "number", "string", "tags"]),
        analyser: nullable(string({ description: "Of text: what makes its words." })),
      }),
    ),
    positions: boolean("Whether it knows where words stand, for phrases."),
    isSearchable: boolean("Whether the console has the analyser that made its words."),
  }),
);

const EXPLANATION = named(
  "SearchExplanation",
  object({
    words: array(object({ text: string(), words: integer(), documents: integer() })),
    ignored: array(object({ text: string(), why: string() })),
    notes: array(string()),
    postings: integer({ description: "Entries of word lists that the query went through." }),
  }),
);

const HIT = object({
  id: string(),
  score: number(),
  parts: array(object({ text: string(), score: number(), tf: number(), idf: number() })),
});

const FOUND = object({
  hits: array(HIT),
  count: integer({ description: "All that were found, not only those that are shown." }),
  explanation: EXPLANATION,
  complete: boolean("False if the query was cut down to stay within its limits."),
});

type Opened = NonNullable<Awaited<ReturnType<typeof SearchIndex.open>>>;

/** Kept, so that a page that is looked at again and again reads only what is new. An index that was made anew is opened anew. */
const opened = perStore(() => new Map<string, Opened>());

async function open(context: Context, name: string): Promise<Opened> {
  const known = opened(context);
  const found = await SearchIndex.open(context.store, name);
  if (found === null) {
    known.delete(name);
    throw new Problem(404, "NOT_FOUND", `there is no index "${name}"`);
  }
  const before = known.get(name);
  if (before !== undefined && before.index.schema.signature === found.index.schema.signature) return before;
  if (known.size >= MOST) known.clear();
  known.set(name, found);
  return found;
}

async function list({ store }: Context) {
  const { items: names } = await SearchIndex.list(store, { limit: MOST });
  const counts = await store.pipeline(names.map((name) => ["HMGET", `search:{${name}}:meta`, "count", "v"]));
  const indexes = names.flatMap((name, at) => {
    const [count, version] = listOf(counts[at]);
    return typeof count === "string" ? [{ name, documents: Number(count), version: Number(version) }] : [];
  });
  return { indexes, most: MOST };
}

async function show(context: Context, name: string) {
  const { index, isSearchable } = await open(context, name);
  const { text, columns, positions } = index.schema;
  const inspection = await index.inspect({ maxTerms: MAX_TERMS, longest: 20 });
  const fields = [
    ...text.map((field) => ({ name: field.name, type: "text", analyser: field.analyser.name })),
    ...columns.map((field) => ({ ...field, analyser: null })),
  ];
  return { ...inspection, fields, positions, isSearchable };
}

async function search(context: Context, name: string, query: string) {
  const { index, isSearchable } = await open(context, name);
  if (!isSearchable)
    throw new Problem(409, "ANALYSER", "its words were made by an analyser that the console does not have");
  const { hits, count, explanation, complete } = await index.search(query, { limit: 20, explain: true });
  return { hits, count, explanation, complete };
}

async function clear(context: Context, name: string): Promise<void> {
  await (await open(context, name)).index.clear();
}

export const INDEX_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/indexes",
    group,
    summary: "Search indexes.",
    answers: "Their names, documents and versions.",
    answer: object({
      indexes: array(object({ name: string(), documents: integer(), version: integer() })),
      most: integer(),
    }),
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/indexes/:name",
    group,
    summary: "An index.",
    params: NAME,
    answers: `Its fields and sizes, and the words with the longest lists (of the first ${MAX_TERMS}).`,
    answer: INDEX,
    run: (context, { params }) => show(context, params.name),
  }),
  route({
    method: "GET",
    url: "/api/indexes/:name/terms",
    group,
    summary: "The words of an index in order.",
    params: NAME,
    query: object({
      prefix: string({ maxLength: 100, default: "" }),
      after: string({ maxLength: 200, default: "" }),
      limit: integer({ minimum: 1, maximum: 1_000, default: 100 }),
    }),
    answers: "Words with the bytes of their lists; where the next page begins.",
    answer: object({ terms: array(TERM), next: nullable(string()) }),
    run: async (context, { params, query: { after, ...rest } }) => {
      const { index } = await open(context, params.name);
      const { items, cursor } = await index.terms({ ...rest, ...(after !== "" && { cursor: after }) });
      return { terms: items, next: cursor };
    },
  }),
  route({
    method: "GET",
    url: "/api/indexes/:name/search",
    group,
    summary: "Asks an index.",
    params: NAME,
    query: object({ query: string({ maxLength: 1_000, default: "" }) }),
    answers: "The best hits with what their scores are made of, and an explanation.",
    answer: FOUND,
    run: (context, { params, query }) => search(context, params.name, query.query),
  }),
  route({
    method: "POST",
    url: "/api/indexes/:name/clear",
    group,
    summary: "Removes every document of an index, and with the last one the index.",
    params: NAME,
    answers: "Nothing.",
    answer: DONE,
    run: (context, { params }) => clear(context, params.name),
  }),
];
