/** Counters, logs and statistics of the toolkit, to be looked at. */
import type { Store } from "cinnabar";
import { Counters } from "cinnabar/counters";
import { Logs } from "cinnabar/logs";
import { Stats } from "cinnabar/stats";
import { type Context, type Route, route } from "../route.ts";
import { anything, array, date, integer, named, nullable, number, object, record, string } from "../schema.ts";

const group = "Components";
const NAME = object({ name: string({ minLength: 1, maxLength: 512 }) });
/** Of each kind, so many are shown at once. */
const MOST = 200;

const COMMON = array(object({ message: string(), count: integer() }));

const LOG = object({
  recent: array(object({ at: date(), message: string(), fields: record(anything()) }, ["fields"])),
  common: object({ thisHour: COMMON, lastHour: COMMON }),
});

/** Null for an hour in which nothing was recorded. */
const SUMMARY = named(
  "Summary",
  nullable(
    object({
      from: date(),
      count: integer(),
      min: number(),
      max: number(),
      sum: number(),
      sumOfSquares: number(),
      mean: number(),
      standardDeviation: number(),
      p50: number(),
      p95: number(),
      p99: number(),
    }),
  ),
);

const STATISTICS = object({
  stats: array(object({ context: string(), type: string(), thisHour: SUMMARY, lastHour: SUMMARY })),
  slowest: array(object({ context: string(), meanMs: number() })),
});

interface Components {
  readonly counters: Counters;
  readonly logs: Logs;
  readonly stats: Stats;
}

const made = new WeakMap<Store, Components>();

function of({ store }: Context): Components {
  let components = made.get(store);
  if (components === undefined) {
    components = {
      counters: new Counters(store),
      logs: new Logs(store),
      stats: new Stats(store),
    };
    made.set(store, components);
  }
  return components;
}

async function stats(context: Context) {
  // Reading statistics of a store that has none would write the version of their layout: looking writes nothing.
  if (Number(await context.store.call("HEXISTS", "cinnabar:layouts", "stats")) === 0) return { stats: [], slowest: [] };
  const { stats: all } = of(context);
  const { items: contexts } = await all.list({ limit: MOST });
  const read = await Promise.all(
    contexts.map(async (each) => ({ ...each, ...(await all.get(each.context, each.type)) })),
  );
  return { stats: read, slowest: await all.slowest({ limit: 10 }) };
}

async function log(context: Context, name: string, severity: string) {
  const { logs } = of(context);
  const [recent, common] = await Promise.all([logs.recent(name, severity), logs.common(name, severity)]);
  return { recent, common };
}

export const COMPONENT_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/counters",
    group,
    summary: "Names of counters.",
    answers: "Names.",
    answer: object({ names: array(string()) }),
    run: async (context) => ({ names: (await of(context).counters.list({ limit: MOST })).items }),
  }),
  route({
    method: "GET",
    url: "/api/counters/:name",
    group,
    summary: "A counter over time.",
    params: NAME,
    query: object({ precisionMs: integer({ default: 60_000, minimum: 1_000 }) }),
    answers: "Points, the oldest first.",
    answer: object({ series: array(object({ at: date(), count: number() })) }),
    run: async (context, { params, query }) => ({
      series: await of(context).counters.series(params.name, query.precisionMs),
    }),
  }),
  route({
    method: "GET",
    url: "/api/logs",
    group,
    summary: "Names and severities of logs.",
    answers: "Names and severities.",
    answer: object({ logs: array(object({ name: string(), severity: string() })) }),
    run: async (context) => ({ logs: (await of(context).logs.list({ limit: MOST })).items }),
  }),
  route({
    method: "GET",
    url: "/api/logs/:name/:severity",
    group,
    summary: "The recent and the most common entries of a log.",
    params: object({
      name: string({ minLength: 1, maxLength: 512 }),
      severity: string({ minLength: 1, maxLength: 64 }),
    }),
    answers: "Those.",
    answer: LOG,
    run: (context, { params }) => log(context, params.name, params.severity),
  }),
  route({
    method: "GET",
    url: "/api/stats",
    group,
    summary: "Statistics of this hour and the last.",
    answers: "By context and type; the slowest contexts.",
    answer: STATISTICS,
    run: stats,
  }),
];
