/**
 * One search engine, indexed and asked in a process of its own, so that its memory can be told apart. Prints a row as JSON.
 *
 *   node --expose-gc --import tsx bench/search-subject.ts <subject> <documents> <seconds for each kind of query> [port]
 */
import { create, insertMultiple, search } from "@orama/orama";
import { open } from "cinnabar";
import { SearchIndex } from "cinnabar/search";
import MiniSearch from "minisearch";
import { type PackageText, readCorpus } from "../console/src/examples/corpus.ts";
import type { SearchRow } from "./search.ts";

export type Kind = "and" | "or" | "prefix" | "fuzzy";

/** An engine with all documents in it. */
interface Subject {
  /** How many were found. */
  ask(kind: Kind, words: readonly string[]): Promise<number> | number;
  /** Memory that is not this process's. */
  otherBytes?(): Promise<number>;
  readonly atOnce?: number;
  close?(): Promise<void>;
}

type Make = (documents: readonly PackageText[], port: number) => Promise<Subject> | Subject;

async function ours(documents: readonly PackageText[], port: number, atOnce: number): Promise<Subject> {
  const store = await open(port === 0 ? undefined : `redis://127.0.0.1:${port}`);
  const used = async () => Number(/used_memory:(\d+)/.exec(String(await store.call("INFO", "memory")))![1]);
  const before = port === 0 ? 0 : await used();
  const index = new SearchIndex(store, `packages ${atOnce}`, {
    fields: { name: { type: "text" }, summary: { type: "text" }, relations: { type: "text" } },
  });
  await index.setMany(documents.map(({ id, name, summary, relations }) => [id, { name, summary, relations }] as const));
  const query = (kind: Kind, words: readonly string[]): string => {
    if (kind === "prefix") return `${words[0]}*`;
    return kind === "fuzzy" ? `${words[0]}~1` : words.join(kind === "or" ? " OR " : " ");
  };
  return {
    ask: async (kind, words) => (await index.search(query(kind, words))).count,
    ...(port === 0 ? {} : { otherBytes: async () => (await used()) - before }),
    atOnce,
    close: () => store.close(),
  };
}

const SUBJECTS: Readonly<Record<string, Make>> = {
  "cinnabar, embedded": (documents) => ours(documents, 0, 1),
  "cinnabar on Redis": (documents, port) => ours(documents, port, 1),
  "cinnabar on Redis, 64 at a time": (documents, port) => ours(documents, port, 64),
  "MiniSearch 7": (documents) => {
    const index = new MiniSearch<PackageText>({ fields: ["name", "summary", "relations"], idField: "id" });
    index.addAll(documents);
    return {
      ask: (kind, words) => {
        if (kind === "prefix") return index.search(words[0]!, { prefix: true }).length;
        if (kind === "fuzzy") return index.search(words[0]!, { fuzzy: 1 }).length;
        return index.search(words.join(" "), { combineWith: kind === "and" ? "AND" : "OR" }).length;
      },
    };
  },
  "Orama 3": async (documents) => {
    const index = create({ schema: { name: "string", summary: "string", relations: "string" } });
    await insertMultiple(
      index,
      documents.map(({ id, name, summary, relations }) => ({ id, name, summary, relations })),
      500,
    );
    return {
      // It looks for beginnings of words unless told otherwise.
      ask: async (kind, words) => {
        if (kind === "prefix") return (await search(index, { term: words[0]! })).count;
        if (kind === "fuzzy") return (await search(index, { term: words[0]!, tolerance: 1 })).count;
        return (await search(index, { term: words.join(" "), exact: true, threshold: kind === "and" ? 0 : 1 })).count;
      },
    };
  },
};

/** Words out of the summaries themselves, so that something is found; the same for all. */
function questions(documents: readonly PackageText[]): Record<Kind, string[][]> {
  const all: Record<Kind, string[][]> = { and: [], or: [], prefix: [], fuzzy: [] };
  const step = Math.max(1, Math.floor(documents.length / 300));
  for (let at = 0; at < documents.length && all.and.length < 200; at += step) {
    const words = documents[at]!.summary.toLowerCase().match(/[a-z]{4,}/g) ?? [];
    if (words.length < 3) continue;
    const [first, second] = [words[0]!, words.at(-1)!];
    all.and.push([first, second]);
    all.or.push([first, second]);
    all.prefix.push([second.slice(0, 4)]);
    all.fuzzy.push([`${first.slice(0, 2)}x${first.slice(3)}`]);
  }
  return all;
}

async function rate(subject: Subject, kind: Kind, words: readonly string[][], seconds: number): Promise<number> {
  let asked = 0;
  const until = async (end: number): Promise<void> => {
    while (performance.now() < end) await subject.ask(kind, words[asked++ % words.length]!);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: subject.atOnce ?? 1 }, () => until(started + seconds * 1000)));
  return asked / ((performance.now() - started) / 1000);
}

const inUse = (): number => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const [what, count, seconds, port] = process.argv.slice(2) as [string, string, string, string?];
const { packages } = await readCorpus(Number(count));
const asked = questions(packages);
const before = inUse();
const started = performance.now();
const subject = await SUBJECTS[what]!(packages, Number(port ?? 0));
const indexMs = performance.now() - started;
const indexed = inUse() - before + ((await subject.otherBytes?.()) ?? 0);
const rates = {} as Record<Kind, number>;
for (const kind of ["and", "or", "prefix", "fuzzy"] as const) {
  // So that all is compiled, and in memory where it is to be.
  await rate(subject, kind, asked[kind], Number(seconds) / 2);
  rates[kind] = await rate(subject, kind, asked[kind], Number(seconds));
}
const row: SearchRow = {
  what,
  documents: packages.length,
  indexMs,
  ...rates,
  indexedBytes: indexed,
  askedBytes: inUse() - before + ((await subject.otherBytes?.()) ?? 0),
};
console.log(JSON.stringify(row));
await subject.close?.();
