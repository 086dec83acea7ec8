/**
 * Search over the descriptions of Debian's packages, or a small sample where there is no apt (`cinnabar/search`): words, phrases,
 * beginnings, misspelt words, sections and sizes; with the words marked, counts by section, and votes that count in the order.
 */
import { SearchIndex, type SearchOptions } from "cinnabar/search";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { integer, object, oneOf, string } from "../schema.ts";
import { perStore } from "../work.ts";
import { type PackageText, readCorpus } from "./corpus.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const EXAMPLE = "search";
const AT_ONCE = 500;
/** How long the pages of an answer can be turned. */
const KEPT_MS = 60_000;
const KEPT_HITS = 200;
const PAGE = 20;
/** Around words that were found, in texts that are shown as text: the page looks for these. */
const BEFORE = "\u0002";
const AFTER = "\u0003";

const FIELDS = {
  name: { type: "text", weight: 3, store: true },
  summary: { type: "text", weight: 2, store: true },
  relations: { type: "text", weight: 0.5, b: 0.4 },
  section: { type: "tags" },
  tags: { type: "tags" },
  size: { type: "number" },
  votes: { type: "number" },
  title: { type: "string" },
} as const;

const packages = perStore(
  (store) => new SearchIndex(store, "packages", { prefix: prefixOf(EXAMPLE, "search"), fields: FIELDS }),
);

const ID = string({ minLength: 1, maxLength: 100, pattern: "^[^\\u0000-\\u001f]+$" });
const ORDERS = ["best", "votes", "name", "largest"] as const;

const ORDER: Readonly<Record<(typeof ORDERS)[number], Pick<SearchOptions, "sort" | "rank">>> = {
  best: {},
  votes: { rank: { relevance: 1, votes: 1 } },
  name: { sort: "title" },
  largest: { sort: ["-size", "relevance"] },
};

const SHOWN = {
  limit: PAGE,
  documents: true,
  highlight: { before: BEFORE, after: AFTER, escape: false, units: 200 },
} as const;

async function find(context: Context, query: string, section: string, order: (typeof ORDERS)[number]) {
  const index = packages(context);
  const wanted = query.trim() === "" ? "*" : query;
  // A section in braces, so that none of its letters means anything; what would end it is no part of any.
  const whole = section === "" ? wanted : `(${wanted}) section:{${section.replace(/[{}|]/g, "")}}`;
  const options: SearchOptions = {
    ...SHOWN,
    ...ORDER[order],
    facets: { section: { limit: 12 }, size: { buckets: [100, 1_000, 10_000, 100_000] } },
    cacheTtlMs: KEPT_MS,
    cacheHits: KEPT_HITS,
    fresh: true,
  };
  const found = await index.search(whole, options);
  return { ...found, most: KEPT_HITS };
}

async function more(context: Context, answer: string, offset: number) {
  const found = await packages(context).page(answer, { ...SHOWN, offset });
  if (found === null) throw new Problem(410, "GONE", "that answer is no longer kept; search again");
  return { hits: found.hits };
}

async function vote(context: Context, id: string): Promise<{ votes: number }> {
  const index = packages(context);
  for (;;) {
    const found = await index.get(id);
    if (found === null) throw new Problem(404, "NO_PACKAGE", "there is no such package");
    const votes = (found.document.votes ?? 0) + 1;
    const { status } = await index.update(id, { votes }, { ifVersion: found.version });
    if (status === "conflict") continue;
    await announce(context.store, EXAMPLE, { type: "changed", id });
    return { votes };
  }
}

async function write(context: Context, id: string, text: { name: string; summary: string; section: string }) {
  const { name, summary, section } = text;
  const { status } = await packages(context).set(id, {
    name,
    title: name,
    summary,
    section: [section],
    size: summary.length,
  });
  await announce(context.store, EXAMPLE, { type: "changed", id });
  return { status };
}

async function remove(context: Context, id: string): Promise<void> {
  if (!(await packages(context).delete(id))) throw new Problem(404, "NO_PACKAGE", "there is no such package");
  await announce(context.store, EXAMPLE, { type: "changed", id });
}

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/search/packages",
    group,
    summary: "Searches. Whatever is typed has an answer; what was not understood is said in it.",
    query: object({
      query: string({ maxLength: 1_000, default: "" }),
      section: string({ maxLength: 100, default: "" }),
      order: oneOf(ORDERS),
    }),
    answers: "The first hits, their number, counts by section and size, an explanation, and an id for further pages.",
    run: (context, { query }) => find(context, query.query, query.section, query.order),
  }),
  route({
    method: "GET",
    url: "/api/examples/search/answers/:id",
    group,
    summary: "Another page of an answer, as it was when it was found.",
    params: object({ id: string({ minLength: 1, maxLength: 100, pattern: "^[\\w.-]+$" }) }),
    query: object({ offset: integer({ minimum: 0, maximum: KEPT_HITS, default: 0 }) }),
    answers: "Hits.",
    run: (context, { params, query }) => more(context, params.id, query.offset),
  }),
  route({
    method: "POST",
    url: "/api/examples/search/packages/:id/vote",
    group,
    summary: "Votes for a package. Votes count in one of the orders; the words are not touched.",
    params: object({ id: ID }),
    answers: "How many it has.",
    run: (context, { params, request }) => {
      needVisitor(request);
      return vote(context, params.id);
    },
  }),
  route({
    method: "PUT",
    url: "/api/examples/search/packages/:id",
    group,
    summary: "Adds a package, or changes it.",
    params: object({ id: ID }),
    body: object({ name: ID, summary: string({ maxLength: 2_000 }), section: string({ minLength: 1, maxLength: 60 }) }),
    answers: "`added`, `changed` or `same`.",
    run: (context, { params, body, request }) => {
      needVisitor(request);
      return write(context, params.id, body);
    },
  }),
  route({
    method: "DELETE",
    url: "/api/examples/search/packages/:id",
    group,
    summary: "Removes a package.",
    params: object({ id: ID }),
    answers: "Nothing.",
    run: (context, { params, request }) => {
      needVisitor(request);
      return remove(context, params.id);
    },
  }),
  eventsRoute(EXAMPLE, "Which packages change, as server-sent events."),
];

const toDocument = ({ name, summary, relations, section, tags, installedKb }: PackageText) => ({
  ...{ name, summary, relations, tags, title: name, size: installedKb },
  ...(section === "" ? {} : { section: [section] }),
});

async function make(context: Context, progress: Progress): Promise<void> {
  const index = packages(context);
  const { packages: texts } = await readCorpus();
  // Those that are there keep their votes: only what is missing is written.
  if ((await index.count()) >= texts.length) return;
  const known = new Set(await index.ids());
  const missing = texts.filter(({ id }) => !known.has(id));
  for (let at = 0; at < missing.length; at += AT_ONCE) {
    await index.setMany(missing.slice(at, at + AT_ONCE).map((text) => [text.id, toDocument(text)] as const));
    progress(texts.length - missing.length + Math.min(at + AT_ONCE, missing.length), texts.length);
  }
}

export const searchExample: Example = {
  name: EXAMPLE,
  title: "Search",
  about:
    "Debian's package descriptions, searched while you type: words, phrases, misspelt ones, sections and sizes, the best first.",
  components: ["search"],
  routes: ROUTES,
  make,
};
