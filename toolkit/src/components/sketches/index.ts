/**
 * Answers about very many items from very few bytes, with errors of a known size.
 *
 *   const seen = new BloomFilter(store, "mails", { capacity: 1_000_000, errorRate: 0.001 });
 *   if ((await seen.add(id)).status === "added") await send(id);      // never skipped wrongly by more than one in a thousand
 *
 *   const words = new TopK(store, "words");
 *   await words.addMany(["to", "be", "or", "not", "to", "be"]);
 *   await words.top({ limit: 2 });                                    // be and to, 2 each
 */
export {
  BloomFilter,
  type BloomFilterInspection,
  type BloomFilterOptions,
  type FilterAddOutcome,
} from "./bloom-filter.ts";
export {
  type Counted,
  type CountMinInspection,
  CountMinSketch,
  type CountMinSketchOptions,
} from "./count-min-sketch.ts";
export { CuckooFilter, type CuckooFilterInspection, type CuckooFilterOptions } from "./cuckoo-filter.ts";
export { type Frequent, type FrequentOptions, TopK, type TopKInspection, type TopKOptions } from "./top-k.ts";
