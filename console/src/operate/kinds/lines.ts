/** Bounded queues, priority queues and time series. */
import { BoundedQueue, PriorityQueue } from "cinnabar/blocking-queues";
import { type RollUp, TimeSeries } from "cinnabar/time-series";
import type { Text } from "../../values.ts";
import {
  type Action,
  type Doing,
  type Figure,
  gone,
  integerOf,
  jsonOf,
  type Kind,
  keyOf,
  known,
  type Looking,
  listeners,
  numberIn,
  plural,
  STORED,
  short,
} from "./kind.ts";

type Opening = Pick<Looking, "store" | "thing">;

const PAGE = 50;
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

const VALUE_FIELD = { name: "value", label: "Value, as JSON", kind: "text" } as const;
const pushed = (isIn: boolean, { thing }: Doing): string =>
  isIn ? "The value was pushed." : `The queue ${thing.name} is full: the value was not pushed.`;

export const BOUNDED_QUEUES: Kind = {
  kind: "bounded-queues",
  title: "Bounded queues",
  about: "First in, first out, with a bound: callers wait for a value, or for room.",
  figures: async (looking) => figuresOf(looking, await bounded(looking).count()),
  async lists({ store, thing, after }) {
    const from = Number(after ?? 0);
    const words = ["LRANGE", keyOf(thing, ":items"), from, from + PAGE];
    const found = (await store.send(words, { buffers: true })) as Buffer[];
    return [
      {
        title: "Values, the first to be taken first",
        empty: "The queue is empty.",
        columns: [
          { title: "Place", unit: "number" },
          { title: "Value", unit: "text" },
        ],
        rows: found
          .slice(0, PAGE)
          .map((value, nth) => ({ id: String(from + nth), cells: [from + nth + 1, short(value)] })),
        actions: [],
        cursor: found.length > PAGE ? String(from + PAGE) : null,
      },
    ];
  },
  actions: [
    {
      name: "push",
      title: "Push value",
      on: "thing",
      fields: [VALUE_FIELD],
      run: async (doing) => pushed(await bounded(doing).push(JSON.stringify(jsonOf(doing.values, "value"))), doing),
    },
    taking(bounded),
    emptying(bounded),
  ],
};

export const PRIORITY_QUEUES: Kind = {
  kind: "priority-queues",
  title: "Priority queues",
  about: "The value with the highest priority comes out first.",
  figures: async (looking) => figuresOf(looking, await priority(looking).count()),
  async lists({ store, thing, after }) {
    const from = Number(after ?? 0);
    const words = ["ZRANGE", keyOf(thing, ":items"), from, from + PAGE, "WITHSCORES"];
    const flat = (await store.send(words, { buffers: true })) as Buffer[];
    const found = Array.from({ length: flat.length / 2 }, (_, at) => [flat[2 * at]!, flat[2 * at + 1]!] as const);
    return [
      {
        title: "Values, the first to be taken first",
        empty: "The queue is empty.",
        columns: [
          { title: "Priority", unit: "number" },
          { title: "Value", unit: "text" },
        ],
        rows: found.slice(0, PAGE).map(([value, score], nth) => ({
          id: String(from + nth),
          cells: [0 - Number(score.toString()), short(value.subarray(DIGITS))],
        })),
        actions: [],
        cursor: found.length > PAGE ? String(from + PAGE) : null,
      },
    ];
  },
  actions: [
    {
      name: "push",
      title: "Push value",
      on: "thing",
      fields: [VALUE_FIELD, { name: "priority", label: "Priority; larger is sooner", kind: "integer", initial: "0" }],
      run: async (doing) => {
        const rank = { priority: integerOf(doing.values, "priority", "Priority") };
        return pushed(await priority(doing).push(JSON.stringify(jsonOf(doing.values, "value")), rank), doing);
      },
    },
    taking(priority),
    emptying(priority),
  ],
};

const series = ({ store, thing: { prefix, details } }: Opening): TimeSeries =>
  new TimeSeries(store, {
    prefix,
    ...(Array.isArray(details.rollUps) && { rollUps: details.rollUps as readonly RollUp[] }),
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
    {
      name: "delete",
      title: "Delete series",
      on: "thing",
      ends: true,
      fields: [],
      warning: "All its samples and labels are deleted. This cannot be undone.",
      run: async (doing) => {
        if (!(await series(doing).delete(doing.thing.name))) throw gone(`the series ${doing.thing.name}`);
        return `The series ${doing.thing.name} was deleted.`;
      },
    },
  ],
};
