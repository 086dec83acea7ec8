/** A look into an index, for people and the console. */
import { zipped } from "../../base/lists.ts";
import { wordKey } from "./keys.ts";
import type { Shard } from "./search-index.ts";
import type { Searcher } from "./searcher.ts";

/** How large an index is. */
export interface Inspection {
  /** Documents in it. */
  readonly documents: number;
  /** Different words in it. */
  readonly terms: number;
  /** Bytes of the logs of words that were looked at; all of them if `sampled` is the number of terms. */
  readonly postingsBytes: number;
  /** How many words were looked at. */
  readonly sampled: number;
  /** Bytes of the log of ids and lengths. */
  readonly documentsBytes: number;
  /** Bytes of the log of words. */
  readonly wordsBytes: number;
  /** Bytes of the log of each number, string and tags field, by its name. */
  readonly columnsBytes: Readonly<Record<string, number>>;
  /** Goes up with every write. */
  readonly version: number;
  /** What this process keeps of it. */
  readonly memoryBytes: number;
  /** The words with the longest logs, of those that were looked at. */
  readonly longest: readonly { readonly term: string; readonly bytes: number }[];
}

/** How closely to look. */
export interface InspectOptions {
  /** How many words are looked at (default 200 000). */
  readonly maxTerms?: number;
  /** How many of the longest are named (default 20, at most 1 000). */
  readonly longest?: number;
}

/** Which words of an index to list. */
export interface TermsOptions {
  /** Only words that begin so; all by default. */
  readonly prefix?: string;
  /** `cursor` of the page before; the first page by default. */
  readonly cursor?: string;
  /** At most so many words (default 100, at most 10 000). */
  readonly limit?: number;
}

/** A page of the words of an index. */
export interface TermsPage {
  /** Words in order, with the bytes of each one's log. */
  readonly items: readonly { readonly term: string; readonly bytes: number }[];
  /** For the next page; null at the end. */
  readonly cursor: string | null;
}

const WITH_VOCABULARY = { words: new Set<string>(), columns: new Set<string>(), vocabulary: true };
const AT_ONCE = 1_000;

export async function inspect(shard: Shard, searcher: Searcher, options: InspectOptions): Promise<Inspection> {
  const maxTerms = options.maxTerms ?? 200_000;
  const count = options.longest ?? 20;
  const { store, keys, schema, replica } = shard;
  const columns = schema.columns.map(({ name }) => `${keys.base}:c:${name}`);
  const known = await searcher.view(WITH_VOCABULARY, () => ({
    documents: replica.documents.count,
    terms: replica.vocabulary.size,
    words: replica.vocabulary.from("", maxTerms),
    memoryBytes: replica.sizeBytes,
  }));
  const [version, ...sizes] = await store.pipeline([
    ["HGET", keys.meta, "v"],
    ...[keys.docs, keys.words, ...columns].map((key) => ["STRLEN", key]),
  ]);
  const bytes = await sizesOf(shard, known.words);
  const all = zipped(known.words, bytes).map(([term, size]) => ({ term, bytes: size }));
  return {
    documents: known.documents,
    terms: known.terms,
    postingsBytes: bytes.reduce((sum, each) => sum + each, 0),
    sampled: known.words.length,
    documentsBytes: Number(sizes[0]),
    wordsBytes: Number(sizes[1]),
    columnsBytes: Object.fromEntries(schema.columns.map(({ name }, at) => [name, Number(sizes[at + 2])])),
    version: Number(version ?? 0),
    memoryBytes: known.memoryBytes,
    longest: all.sort((a, b) => b.bytes - a.bytes || (a.term < b.term ? -1 : 1)).slice(0, count),
  };
}

export async function terms(shard: Shard, searcher: Searcher, options: TermsOptions): Promise<TermsPage> {
  const { prefix = "", cursor: after = "", limit = 100 } = options;
  const [, first = after] = [prefix, after].sort();
  const words = await searcher.viewOnly(WITH_VOCABULARY, (replica) =>
    replica.vocabulary
      .from(first, limit + 1)
      .filter((word) => word !== after && word.startsWith(prefix))
      .slice(0, limit),
  );
  const bytes = await sizesOf(shard, words);
  const page = zipped(words, bytes).map(([term, size]) => ({ term, bytes: size }));
  return { items: page, cursor: words.length < limit ? null : (words.at(-1) ?? null) };
}

async function sizesOf({ store, keys }: Shard, words: readonly string[]): Promise<number[]> {
  const sizes: number[] = [];
  for (let at = 0; at < words.length; at += AT_ONCE) {
    const some = words.slice(at, at + AT_ONCE).map((word) => ["STRLEN", wordKey(keys.base, word)]);
    for (const size of await store.pipeline(some)) sizes.push(Number(size));
  }
  return sizes;
}
