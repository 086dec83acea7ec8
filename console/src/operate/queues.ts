/** Task queues of the toolkit: counts, charts, workers, groups, and what is done to a whole queue. Their jobs are in jobs.ts. */
import type { Queue } from "cinnabar/queues";
import { type Context, type Route, route } from "../route.ts";
import {
  array,
  boolean,
  date,
  integer,
  named,
  nullable,
  number,
  object,
  oneOf,
  partial,
  string,
  type Typed,
} from "../schema.ts";
import { COUNTS } from "../shapes.ts";
import { JOB_ROUTES } from "./jobs.ts";
import { QUEUE_BULK_ROUTES } from "./queue-bulk.ts";
import { NAME, OPENING, OPENING_QUERY, places, queueOf, used } from "./queue-places.ts";
import { SCHEDULE, SCHEDULE_ROUTES, schedulesOf } from "./schedules.ts";

const group = "Queues";

const RATE = object({ limit: integer(), windowMs: integer() });

/** Those that were set; the others are as the toolkit's manual says. */
const SETTINGS = partial({
  keepDone: integer(),
  keepDoneMs: integer(),
  keepDead: integer(),
  keepDeadMs: integer(),
  maxEvents: integer(),
  stalledLimit: integer(),
  concurrency: integer(),
  rate: RATE,
  groupConcurrency: integer(),
  groupRate: RATE,
  maxWaiting: integer(),
  keepAttempts: integer(),
  resultsInEvents: boolean(),
});

const MINUTE = object({ at: date(), done: integer(), retried: integer(), dead: integer(), stalled: integer() });

/** Of the jobs that ended in one minute, as far as they are kept. */
const WAIT = object({
  at: date(),
  jobs: integer(),
  waitP50Ms: number({ description: "From being added to the start of the last attempt, delays included." }),
  waitP95Ms: number(),
  runP50Ms: number({ description: "How long the last attempt took." }),
  runP95Ms: number(),
});

const QUEUE = named(
  "Queue",
  object({
    counts: COUNTS,
    settings: SETTINGS,
    minutes: array(MINUTE),
    waits: array(WAIT),
    schedules: array(SCHEDULE),
    workers: integer({ description: "How many live." }),
  }),
);

const WORKER = object({
  id: string(),
  name: string(),
  host: string(),
  pid: integer(),
  concurrency: integer(),
  running: integer(),
  done: integer(),
  failed: integer(),
  lost: integer({ description: "Jobs that ended after their lease was lost." }),
  busyMs: number({ description: "How long its attempts took in all." }),
  startedAt: date(),
  toldAt: date(),
  oldest: array(object({ id: string(), startedAt: date() })),
});

const INCIDENT = object(
  {
    id: string(),
    at: date(),
    worker: string(),
    kind: oneOf(["stalled", "slow"]),
    stalls: integer(),
    runningMs: number(),
  },
  ["stalls", "runningMs"],
);

const GROUP = object({
  name: string(),
  waiting: integer(),
  active: integer(),
  blocked: boolean("It waits for a retry, or its rate limit."),
});

/** How much happened in the last hour, for the list. */
const HOUR_MINUTES = 60;
/** So many of the jobs that ended last tell how long jobs wait. */
const SAMPLE = 200;
/** They are read again at the earliest after so long. */
const SAMPLE_MS = 5_000;

async function list({ store }: Context) {
  const found = await places(store);
  const queues = await Promise.all(
    found.places.map(async (place) => {
      const queue = queueOf(store, place);
      const [counts, minutes] = await Promise.all([queue.counts(), queue.stats({ minutes: HOUR_MINUTES })]);
      const sum = (name: "done" | "dead" | "retried") => minutes.reduce((total, each) => total + each[name], 0);
      return { ...place, counts, hour: { done: sum("done"), dead: sum("dead"), retried: sum("retried") } };
    }),
  );
  return { queues, complete: found.complete };
}

const sampled = new WeakMap<Queue, { readonly until: number; readonly waits: Promise<Typed<typeof WAIT>[]> }>();

/** How long jobs waited and ran, by the minute in which they ended. */
function waitsOf(queue: Queue): Promise<Typed<typeof WAIT>[]> {
  const now = performance.now();
  const last = sampled.get(queue);
  if (last !== undefined && last.until > now) return last.waits;
  const waits = sample(queue);
  sampled.set(queue, { until: now + SAMPLE_MS, waits });
  waits.catch(() => sampled.delete(queue));
  return waits;
}

async function sample(queue: Queue): Promise<Typed<typeof WAIT>[]> {
  const ended = await Promise.all(
    (["done", "dead"] as const).map((state) => queue.list(state, { limit: SAMPLE / 2, newestFirst: true })),
  );
  const minutes = new Map<number, { waits: number[]; runs: number[] }>();
  for (const { createdAt, startedAt, finishedAt } of ended.flatMap(({ items }) => items)) {
    if (startedAt === null || finishedAt === null) continue;
    const at = Math.floor(finishedAt.getTime() / 60_000) * 60_000;
    const minute = minutes.get(at) ?? { waits: [], runs: [] };
    minutes.set(at, minute);
    minute.waits.push(Math.max(0, startedAt.getTime() - createdAt.getTime()));
    minute.runs.push(Math.max(0, finishedAt.getTime() - startedAt.getTime()));
  }
  return [...minutes]
    .sort(([a], [b]) => a - b)
    .map(([at, { waits, runs }]) => ({
      at: new Date(at).toISOString(),
      jobs: waits.length,
      waitP50Ms: quantile(waits, 0.5),
      waitP95Ms: quantile(waits, 0.95),
      runP50Ms: quantile(runs, 0.5),
      runP95Ms: quantile(runs, 0.95),
    }));
}

function quantile(values: number[], q: number): number {
  values.sort((a, b) => a - b);
  return values[Math.max(0, Math.ceil(q * values.length) - 1)] ?? 0;
}

async function show(queue: Queue) {
  const [counts, settings, minutes, waits, schedules, workers] = await Promise.all([
    queue.counts(),
    queue.settings(),
    queue.stats(),
    waitsOf(queue),
    schedulesOf(queue),
    queue.workers(),
  ]);
  return { counts, settings, minutes, waits, schedules: schedules.items, workers: workers.length };
}

const ACTIONS = ["pause", "resume", "replayDead", "cleanDone"] as const;

async function act(queue: Queue, action: (typeof ACTIONS)[number]) {
  if (action === "pause") await queue.pause();
  if (action === "resume") await queue.resume();
  if (action === "replayDead") return { jobs: await queue.replayDead() };
  if (action === "cleanDone") return { jobs: await queue.clean("done") };
  return { ok: true };
}

export const QUEUE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/queues",
    group,
    summary: "The queues that are in the store, from the registry of names: however many other keys there are.",
    answers: "Names, counts by state, what the last hour brought; `complete` is false where there are more than 1 000.",
    answer: object({
      queues: array(
        object({
          name: string(),
          prefix: string(),
          shards: integer(),
          counts: COUNTS,
          hour: object({ done: integer(), dead: integer(), retried: integer() }),
        }),
      ),
      complete: boolean(),
    }),
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/queues/:name",
    group,
    summary: "A queue: counts, settings, what happened in each of the last 60 minutes, waiting times, schedules.",
    params: object({ name: NAME }),
    query: OPENING_QUERY,
    answers: "Those.",
    answer: QUEUE,
    run: async (context, { params, query }) => show(await used(context, params.name, query)),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name",
    group,
    summary: "Pauses or resumes a queue, runs its dead letters again, or forgets what is done.",
    params: object({ name: NAME }),
    query: OPENING_QUERY,
    body: object({ action: oneOf(ACTIONS) }),
    answers: "How many jobs that concerned, where it tells.",
    answer: partial({ ok: boolean(), jobs: integer() }),
    run: async (context, { params, query, body }) => act(await used(context, params.name, query), body.action),
  }),
  route({
    method: "DELETE",
    url: "/api/queues/:name",
    group,
    summary: "Deletes a queue with all its jobs, schedules and settings. Workers on it start over with an empty one.",
    params: object({ name: NAME }),
    query: OPENING_QUERY,
    answers: "Nothing.",
    answer: object({ ok: boolean() }),
    run: async (context, { params, query }) => (await used(context, params.name, query)).clear(),
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/workers",
    group,
    summary: "The workers that live with their figures, and the jobs that stalled or were slow.",
    params: object({ name: NAME }),
    query: OPENING_QUERY,
    answers: "Workers as they told last, up to five seconds ago; incidents, the newest first.",
    answer: object({ workers: array(WORKER), incidents: array(INCIDENT) }),
    run: async (context, { params, query }) => {
      const queue = await used(context, params.name, query);
      const [workers, incidents] = await Promise.all([queue.workers(), queue.incidents()]);
      return { workers, incidents };
    },
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/groups",
    group,
    summary: "Groups with jobs that wait, by name, page by page.",
    params: object({ name: NAME }),
    query: object(
      { ...OPENING, cursor: string({ maxLength: 600 }), limit: integer({ default: 100, minimum: 1, maximum: 500 }) },
      ["cursor", "shards"],
    ),
    answers: "Groups, and the cursor of the next page or null.",
    answer: object({ items: array(GROUP), cursor: nullable(string()) }),
    run: async (context, { params, query: { cursor, limit, ...opening } }) =>
      (await used(context, params.name, opening)).listGroups({ limit, ...(cursor !== undefined && { cursor }) }),
  }),
  ...JOB_ROUTES,
  ...QUEUE_BULK_ROUTES,
  ...SCHEDULE_ROUTES,
];
