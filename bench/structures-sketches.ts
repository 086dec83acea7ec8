/**
 * Filters and sketches beside bloom-filters, which keeps its own in the process, and beside the commands that one sends by hand
 * to keep them in Redis: a pipeline of SETBIT or HINCRBY, one for each hash.
 */
import { createHash } from "node:crypto";
import bloomFilters from "bloom-filters";
import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "cinnabar/sketches";
import type { ChainableCommander } from "ioredis";
import type { CaseMaker, Sides, StructureCase } from "./structures-kit.ts";
import type { Op } from "./web.ts";

const CAPACITY = 1_000_000;
const ERROR_RATE = 0.01;
/** What a Bloom filter of this error rate takes: 9.6 bits an item, 7 hashes. */
const BITS = Math.ceil(CAPACITY * 9.6);
const HASHES = 7;
/** What a count-min sketch of 0.001 and 0.01 takes. */
const COLUMNS = 2_719;
const ROWS = 5;
const ITEMS = 100_000;
/** Few words are frequent, as in texts. */
const WORDS = 10_000;
const MANY = 100;

const item = (nth: number): string => `https://example.org/articles/${(nth * 7_919) % ITEMS}`;
const word = (nth: number): string => `word-${Math.floor(WORDS ** (((nth * 7_919) % ITEMS) / ITEMS))}`;
const items = (nth: number): string[] => Array.from({ length: MANY }, (_, at) => item(nth * MANY + at));

/** So many places below `size` for an item, by double hashing. */
function places(text: string, count: number, size: number): number[] {
  const digest = createHash("sha1").update(text).digest();
  const [first, second] = [digest.readUInt32LE(0), digest.readUInt32LE(4) | 1];
  return Array.from({ length: count }, (_, nth) => (first + nth * second) % size);
}

/** In the process nothing waits. */
const now =
  (call: (nth: number) => unknown): Op =>
  async (nth) =>
    call(nth);

export const sketchCases: readonly CaseMaker[] = [filters, counts];

async function filters(sides: Sides): Promise<StructureCase[]> {
  const bloom = bloomFilters.BloomFilter.create(CAPACITY, ERROR_RATE);
  const cuckoo = bloomFilters.CuckooFilter.create(CAPACITY, ERROR_RATE);
  const sent = (add: (pipeline: ChainableCommander, text: string) => void, texts: readonly string[]) => {
    const pipeline = sides.byHand.pipeline();
    for (const text of texts) add(pipeline, text);
    return pipeline.exec();
  };
  const set = (pipeline: ChainableCommander, text: string): void => {
    for (const place of places(text, HASHES, BITS)) pipeline.setbit("bits", place, 1);
  };
  const look = (pipeline: ChainableCommander, text: string): void => {
    for (const place of places(text, HASHES, BITS)) pipeline.getbit("bits", place);
  };
  const made = { capacity: CAPACITY, errorRate: ERROR_RATE };
  return [
    ...(await sides.cases(
      "Bloom filter: add",
      (store) => new BloomFilter(store, "urls", made),
      (filter, nth) => filter.add(item(nth)),
      {
        others: { "SETBIT by hand": (nth) => sent(set, [item(nth)]) },
        inProcess: { "bloom-filters 3": now((nth) => bloom.add(item(nth))) },
      },
    )),
    ...(await sides.cases(
      "Bloom filter: has",
      (store) => new BloomFilter(store, "urls", made),
      (filter, nth) => filter.has(item(nth)),
      {
        others: { "GETBIT by hand": (nth) => sent(look, [item(nth)]) },
        inProcess: { "bloom-filters 3": now((nth) => bloom.has(item(nth))) },
      },
    )),
    ...(await sides.cases(
      `Bloom filter: addMany of ${MANY}, items`,
      (store) => new BloomFilter(store, "urls", made),
      (filter, nth) => filter.addMany(items(nth)),
      {
        others: { "SETBIT by hand": (nth) => sent(set, items(nth)) },
        inProcess: {
          "bloom-filters 3": now((nth) => {
            for (const each of items(nth)) bloom.add(each);
          }),
        },
        each: MANY,
        inFlight: [1],
      },
    )),
    ...(await sides.cases(
      "cuckoo filter: add and delete",
      (store) => new CuckooFilter(store, "online", made),
      async (filter, nth) => {
        await filter.add(item(nth));
        await filter.delete(item(nth));
      },
      {
        inProcess: {
          "bloom-filters 3": now((nth) => {
            cuckoo.add(item(nth));
            cuckoo.remove(item(nth));
          }),
        },
      },
    )),
  ];
}

async function counts(sides: Sides): Promise<StructureCase[]> {
  const sketch = bloomFilters.CountMinSketch.create(0.001, 0.99);
  const top = new bloomFilters.TopK(100, 0.001, 0.99);
  return [
    ...(await sides.cases(
      "count-min sketch: add",
      (store) => new CountMinSketch(store, "hits"),
      (hits, nth) => hits.add(word(nth)),
      {
        others: {
          "HINCRBY by hand": (nth) => {
            const pipeline = sides.byHand.pipeline();
            places(word(nth), ROWS, COLUMNS).forEach((place, row) => {
              pipeline.hincrby("hits", `${row * COLUMNS + place}`, 1);
            });
            return pipeline.exec();
          },
        },
        inProcess: { "bloom-filters 3": now((nth) => sketch.update(word(nth))) },
      },
    )),
    ...(await sides.cases(
      "top-k of 100: add",
      (store) => new TopK(store, "words", { maxItems: 100 }),
      (words, nth) => words.add(word(nth)),
      {
        others: { "ZINCRBY by hand, all items kept": (nth) => sides.byHand.zincrby("words", 1, word(nth)) },
        inProcess: { "bloom-filters 3": now((nth) => top.add(word(nth))) },
      },
    )),
  ];
}
