/** Bloom filters, cuckoo filters, count-min sketches and top-k. */

import { BloomFilter, CountMinSketch, CuckooFilter, TopK } from "cinnabar/sketches";
import { counted } from "../../values.ts";
import { clearing } from "./actions.ts";
import { type Action, type Figure, integerOf, type Kind, numberIn, type Opening, PAGE } from "./kind.ts";

const bloom = ({ store, thing }: Opening): BloomFilter =>
  new BloomFilter(store, thing.name, {
    prefix: thing.prefix,
    capacity: numberIn(thing, "capacity"),
    maxCapacity: numberIn(thing, "maxCapacity"),
    errorRate: numberIn(thing, "errorRate"),
  });

const cuckoo = ({ store, thing }: Opening): CuckooFilter =>
  new CuckooFilter(store, thing.name, {
    prefix: thing.prefix,
    capacity: numberIn(thing, "capacity"),
    errorRate: numberIn(thing, "errorRate"),
  });

const countMin = ({ store, thing }: Opening): CountMinSketch =>
  new CountMinSketch(store, thing.name, {
    prefix: thing.prefix,
    errorRate: numberIn(thing, "errorRate"),
    missRate: numberIn(thing, "missRate"),
  });

const topK = ({ store, thing }: Opening): TopK =>
  new TopK(store, thing.name, { prefix: thing.prefix, maxItems: numberIn(thing, "maxItems") });

const forgetting = (what: string, open: (opening: Opening) => { clear(): Promise<void> }): Action =>
  clearing(
    what,
    "Everything that was added is forgotten, and so are its options. The next process that adds something creates it again.",
    (doing) => open(doing).clear(),
  );

const adding = (what: string, run: Action["run"]): Action => ({
  name: "add",
  title: `Add item to ${what}`,
  on: "thing",
  fields: [{ name: "item", label: "Item", kind: "text" }],
  run,
});

const counting = (what: string, run: Action["run"]): Action => ({
  name: "add",
  title: `Count item in ${what}`,
  on: "thing",
  fields: [
    { name: "item", label: "Item", kind: "text" },
    { name: "by", label: "How often", kind: "integer", initial: "1" },
  ],
  run,
});

const isIn = (found: boolean, errorRate: number): Figure[] => [
  {
    title: "Answer",
    value: found ? "probably added" : "not there",
    unit: "state",
    note: found
      ? `wrong for ${errorRate * 100} % of the items that are not there`
      : "certain: a filter never denies what was added",
  },
];

export const BLOOM_FILTERS: Kind = {
  kind: "bloom-filters",
  title: "Bloom filters",
  about:
    "Answers whether an item was added: “no” is certain, “yes” is wrong for a known part. Items cannot be deleted.",
  async figures(looking) {
    const { count, capacity, maxCapacity, errorRate, grown, bytes, maxBytes } = await bloom(looking).inspect();
    return [
      { title: "Items", value: count, unit: "number", of: maxCapacity, note: "a full filter refuses new items" },
      { title: "Error rate", value: errorRate, unit: "share", note: "at most, when it is full" },
      {
        title: "Capacity",
        value: capacity,
        unit: "number",
        note: maxCapacity > capacity ? `may grow to ${maxCapacity}` : "does not grow",
      },
      { title: "Grown", value: grown, unit: "number", note: "layers that were added" },
      { title: "Size", value: bytes, unit: "bytes", note: `${maxBytes} bytes when it is full grown` },
    ];
  },
  question: { label: "Item", button: "Look up item" },
  async answer(looking, item) {
    return isIn(await bloom(looking).has(item), numberIn(looking.thing, "errorRate"));
  },
  actions: [
    adding("filter", async (doing) => {
      const item = doing.values.item ?? "";
      const { status } = await bloom(doing).add(item);
      if (status === "full")
        return `The filter is full: ${item} was not added. Clear it, or open one with a larger maxCapacity.`;
      return status === "added" ? `${item} was added.` : `${item} was there already.`;
    }),
    forgetting("Bloom filter", bloom),
  ],
};

export const CUCKOO_FILTERS: Kind = {
  kind: "cuckoo-filters",
  title: "Cuckoo filters",
  about: "Like a Bloom filter, but items can be deleted.",
  async figures(looking) {
    const { count, capacity, errorRate, bytes } = await cuckoo(looking).inspect();
    return [
      { title: "Items", value: count, unit: "number", of: capacity, note: "above its capacity it may find no room" },
      { title: "Error rate", value: errorRate, unit: "share", note: "at most" },
      { title: "Size", value: bytes, unit: "bytes" },
    ];
  },
  question: { label: "Item", button: "Look up item" },
  async answer(looking, item) {
    return isIn(await cuckoo(looking).has(item), numberIn(looking.thing, "errorRate"));
  },
  actions: [
    adding("filter", async (doing) => {
      const item = doing.values.item ?? "";
      return (await cuckoo(doing).add(item)) ? `${item} was added.` : `The filter has no room: ${item} was not added.`;
    }),
    {
      name: "delete",
      title: "Delete item from filter",
      on: "thing",
      fields: [{ name: "item", label: "Item", kind: "text" }],
      warning:
        "Delete only an item that was added. One that never was may share the fingerprint of another, which is then gone.",
      run: async (doing) => {
        const item = doing.values.item ?? "";
        return (await cuckoo(doing).delete(item)) ? `${item} was deleted.` : `${item} was not there.`;
      },
    },
    forgetting("cuckoo filter", cuckoo),
  ],
};

export const COUNT_MIN_SKETCHES: Kind = {
  kind: "count-min-sketches",
  title: "Count-min sketches",
  about: "Counts how often items were seen, in a fixed size. A count is never too small.",
  async figures(looking) {
    const { total, errorRate, missRate, error, bytes } = await countMin(looking).inspect();
    return [
      { title: "Counted", value: total, unit: "number", note: "all items together" },
      {
        title: "Too large by",
        value: Math.ceil(error),
        unit: "number",
        note: `at most, for all but ${missRate * 100} % of the items`,
      },
      { title: "Error rate", value: errorRate, unit: "share", note: "of everything counted" },
      { title: "Size", value: bytes, unit: "bytes", note: "does not grow" },
    ];
  },
  question: { label: "Item", button: "Count item" },
  async answer(looking, item) {
    const sketch = countMin(looking);
    const [count, { error }] = await Promise.all([sketch.count(item), sketch.inspect()]);
    return [
      { title: "Seen", value: count, unit: "number", note: count === 0 ? "certain" : "not more often than this" },
      { title: "At least, probably", value: Math.max(0, Math.floor(count - error)), unit: "number" },
    ];
  },
  actions: [
    counting("sketch", async (doing) => {
      const item = doing.values.item ?? "";
      return `${item} is now counted as seen ${counted(await countMin(doing).add(item, integerOf(doing.values, "by", "How often")), "time")}.`;
    }),
    forgetting("count-min sketch", countMin),
  ],
};

export const TOP_K: Kind = {
  kind: "top-k",
  title: "Top-k sketches",
  about: "Keeps the most frequent items with their counts, in a fixed number of counters.",
  async figures(looking) {
    const { total, count, maxItems, error } = await topK(looking).inspect();
    return [
      { title: "Counted", value: total, unit: "number", note: "all items together" },
      {
        title: "Counters in use",
        value: count,
        unit: "number",
        note: `of ${maxItems}; when all are, the rarest items give way`,
      },
      { title: "Too large by", value: error, unit: "number", note: "at most" },
    ];
  },
  async lists(looking) {
    const offset = Number(looking.after ?? 0);
    const found = await topK(looking).top({ limit: PAGE + 1, offset });
    return [
      {
        title: "Most frequent items",
        empty: "Nothing was counted.",
        columns: [
          { title: "Item", unit: "text" },
          { title: "Seen at most", unit: "number" },
          { title: "At least", unit: "number" },
        ],
        rows: found.slice(0, PAGE).map(({ item, count, atLeast }) => ({ id: item, cells: [item, count, atLeast] })),
        actions: [],
        cursor: found.length > PAGE ? String(offset + PAGE) : null,
      },
    ];
  },
  question: { label: "Item", button: "Count item" },
  async answer(looking, item) {
    const found = await topK(looking).get(item);
    if (found === null)
      return [{ title: "Answer", value: "no counter", unit: "state", note: "it is not among the most frequent" }];
    return [
      { title: "Seen at most", value: found.count, unit: "number" },
      { title: "At least", value: found.atLeast, unit: "number" },
    ];
  },
  actions: [
    counting("sketch", async (doing) => {
      const item = doing.values.item ?? "";
      return `${item} is now counted as seen ${counted(await topK(doing).add(item, integerOf(doing.values, "by", "How often")), "time")}.`;
    }),
    forgetting("top-k sketch", topK),
  ],
};
