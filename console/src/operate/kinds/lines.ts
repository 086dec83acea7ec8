/** Bounded queues, priority queues and time series. */
import { BoundedQueue, PriorityQueue } from "cinnabar/blocking-queues";
import { TimeSeries } from "cinnabar/time-series";
import { byteListIn, pairs, type Text } from "../../values.ts";
import { deleting, VALUE_FIELD } from "./actions.ts";
import {
  type Action,
  type Cell,
  type Doing,
  type Field,
  type Figure,
  integerOf,
  jsonIn,
  type Kind,
  keyOf,
  known,
  type List,
  listeners,
  numberIn,
  type Opening,
  PAGE,
  plural,
  type Row,
  STORED,
  short,
} from "./kind.ts";

/** Digits before a value of a priority queue, which keep equal priorities in order. */
const DIGITS = 16;

const bounded = ({ store, thing }: Opening): BoundedQueue<Text> =>
  new BoundedQueue<Text>(store, thing.name, {
    prefix: thing.prefix,
    ...known(thing, "capacity"),
    codec: STORED,
  });

const priority = ({ store, thing }: Opening): PriorityQueue<Text> =>
  new PriorityQueue<Text>(store, thing.name, {
    prefix: thing.prefix,
    ...known(thing, "capacity"),
    codec: STORED,
  });

async function figuresOf({ store, thing }: Opening, count: number): Promise<Figure[]> {
  return [
    {
      title: "Values",
      value: count,
      unit: "number",
      ...(known(thing, "capacity").capacity !== undefined && { of: numberIn(thing, "capacity") }),
      note: "callers that push onto a full queue wait",
    },
    {
      title: "Processes waiting",
      value: await listeners(store, keyOf(thing, ":changes")),
      unit: "number",
      note: count === 0 ? "for a value" : "for a value or for room",
    },
  ];
}

const taking = (open: (opening: Opening) => { take(): Promise<Text | null> }): Action => ({
  name: "take",
  title: "Take first value",
  on: "thing",
  fields: [],
  warning: "The value leaves the queue, and no process gets it.",
  run: async (doing) => {
    const value = await open(doing).take();
    if (value === null) return `The queue ${doing.thing.name} is empty: nothing was taken.`;
    return `Taken: ${typeof value === "string" ? value : "bytes that are no text"}`;
  },
});

const emptying = (open: (opening: Opening) => { clear(): Promise<number> }): Action => ({
  name: "clear",
  title: "Delete all values",
  on: "thing",
  ends: true,
  fields: [],
  warning: "No process gets them. This cannot be undone.",
  run: async (doing) => `${plural(await open(doing).clear(), "value was", "values were")} deleted.`,
});

const pushing = (fields: readonly Field[], push: (doing: Doing) => Promise<boolean>): Action => ({
  name: "push",
  title: "Push value",
  on: "thing",
  fields: [VALUE_FIELD, ...fields],
  run: async (doing) =>
    (await push(doing)) ? "The value was pushed." : `The queue ${doing.thing.name} is full: the value was not pushed.`,
});

/** A page of a queue. `rows` has one row more than the page where another page follows. */
function valuesFrom(from: number, column: string, rows: readonly (readonly [Cell, Buffer])[]): List {
  return {
    title: "Values, the first to be taken first",
    empty: "The queue is empty.",
    columns: [
      { title: column, unit: "number" },
      { title: "Value", unit: "text" },
    ],
    rows: rows
      .slice(0, PAGE)
      .map(([rank, value], nth): Row => ({ id: String(from + nth), cells: [rank, short(value)] })),
    actions: [],
    cursor: rows.length > PAGE ? String(from + PAGE) : null,
  };
}

export const BOUNDED_QUEUES: Kind = {
  kind: "bounded-queues",
  title: "Bounded queues",
  about: "First in, first out, with a bound: callers wait for a value, or for room.",
  figures: async (looking) => figuresOf(looking, await bounded(looking).count()),
  async lists({ store, thing, after }) {
    const from = Number(after ?? 0);
    const words = ["LRANGE", keyOf(thing, ":items"), from, from + PAGE];
    const found = byteListIn(await store.send(words, { buffers: true }));
    const rows = found.map((value, nth) => [from + nth + 1, value] as const);
    return [valuesFrom(from, "Place", rows)];
  },
  actions: [pushing([], (doing) => bounded(doing).push(jsonIn(doing.values))), taking(bounded), emptying(bounded)],
};

const PRIORITY_FIELD: Field = { name: "priority", label: "Priority; larger is sooner", kind: "integer", initial: "0" };

export const PRIORITY_QUEUES: Kind = {
  kind: "priority-queues",
  title: "Priority queues",
  about: "The value with the highest priority comes out first.",
  figures: async (looking) => figuresOf(looking, await priority(looking).count()),
  async lists({ store, thing, after }) {
    const from = Number(after ?? 0);
    const words = ["ZRANGE", keyOf(thing, ":items"), from, from + PAGE, "WITHSCORES"];
    const found = byteListIn(await store.send(words, { buffers: true }));
    const rows = pairs(found).map(([value, score]) => [0 - Number(score.toString()), value.subarray(DIGITS)] as const);
    return [valuesFrom(from, "Priority", rows)];
  },
  actions: [
    pushing([PRIORITY_FIELD], (doing) => {
      const rank = { priority: integerOf(doing.values, "priority", "Priority") };
      return priority(doing).push(jsonIn(doing.values), rank);
    }),
    taking(priority),
    emptying(priority),
  ],
};

const series = ({ store, thing: { prefix, details } }: Opening): TimeSeries =>
  new TimeSeries(store, {
    prefix,
    ...(Array.isArray(details.rollUps) && { rollUps: details.rollUps }),
  });

export const TIME_SERIES: Kind = {
  kind: "time-series",
  title: "Time series",
  about: "Measured values: least, largest and average of each stretch of time.",
  async figures(looking) {
    const of = series(looking);
    const { name } = looking.thing;
    const [newest, hour] = await Promise.all([of.get(name), of.stats(name, { from: Date.now() - 3_600_000 })]);
    if (newest === null) return [{ title: "State", value: "expired", unit: "state", note: "nothing is kept any more" }];
    return [
      { title: "Newest", value: newest.value, unit: "number" },
      { title: "Measured", value: newest.at.toISOString(), unit: "date" },
      { title: "Samples in an hour", value: hour?.count ?? 0, unit: "number" },
      { title: "Average in an hour", value: hour?.avg ?? null, unit: "number" },
      { title: "Largest in an hour", value: hour?.max ?? null, unit: "number" },
    ];
  },
  async lines(looking) {
    const points = await series(looking).range(looking.thing.name, { from: Date.now() - looking.spanMs });
    return [
      {
        title: looking.thing.name,
        labels: ["average", "least", "largest"],
        points: points.map(({ at, avg, min, max }) => ({ at: at.getTime(), values: [avg, min, max] })),
      },
    ];
  },
  async lists(looking) {
    const of = series(looking);
    const labels = await of.labels(looking.thing.name);
    const columns = [
      { title: "Width of a bucket", unit: "ms" as const },
      { title: "Kept for", unit: "ms" as const },
    ];
    return [
      {
        title: "Precisions",
        empty: "",
        columns,
        rows: of.rollUps.map(({ everyMs, keepMs }) => ({ id: String(everyMs), cells: [everyMs, keepMs] })),
        actions: [],
        cursor: null,
      },
      {
        title: "Labels",
        empty: "The series has no labels.",
        columns: [
          { title: "Label", unit: "text" },
          { title: "Value", unit: "text" },
        ],
        rows: Object.entries(labels).map(([label, value]) => ({ id: label, cells: [label, value] })),
        actions: [],
        cursor: null,
      },
    ];
  },
  actions: [
    deleting("series", "All its samples and labels are deleted. This cannot be undone.", (doing) =>
      series(doing).delete(doing.thing.name),
    ),
  ],
};
