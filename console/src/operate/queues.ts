/** Task queues of the toolkit: what is in them, and the means to help a job along. Payloads are shown as they are stored. */
import { Registry, type Store } from "cinnabar";
import { type Job, Queue } from "cinnabar/queues";
import { type Context, Problem, type Route, route } from "../route.ts";
import { anything, array, boolean, date, integer, named, nullable, object, oneOf, partial, string } from "../schema.ts";
import { COUNTS } from "../shapes.ts";

const group = "Queues";
const MOST = 1_000;
const STATES = ["waiting", "delayed", "active", "done", "dead", "waiting-for-children"] as const;
const NAME = string({ minLength: 1, maxLength: 512 });
const ID = string({ minLength: 1, maxLength: 600 });

const JOB = named(
  "Job",
  object({
    id: string(),
    name: nullable(string({ description: "Which handler it is for." })),
    state: oneOf(STATES),
    data: anything("What it was added with."),
    createdAt: date(),
    priority: integer(),
    group: nullable(string()),
    attempts: integer(),
    attemptsMade: integer({ description: "Attempts that have ended." }),
    stalls: integer({ description: "How often its worker was lost." }),
    dueAt: nullable(date()),
    progress: anything("What it has told; null if nothing."),
    result: anything("Of one that is done; null otherwise."),
    error: nullable(object({ name: string(), message: string(), code: string(), stack: string() }, ["code", "stack"])),
    finishedAt: nullable(date()),
    startedAt: nullable(date()),
    worker: nullable(string({ description: "Which one ended it." })),
    resultRef: nullable(string({ description: "Where its result is, if that is kept elsewhere." })),
    parent: nullable(string()),
    children: array(string()),
  }),
);

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

const SCHEDULE = object(
  {
    name: string(),
    data: anything("What its jobs are given."),
    options: anything("The options of its jobs."),
    nextAt: date(),
    lastAt: nullable(date()),
    count: integer({ description: "How many jobs it has made." }),
    pausedAt: nullable(date()),
    cron: string(),
    timeZone: string(),
    everyMs: integer(),
    startAt: date(),
    endAt: date(),
    limit: integer(),
  },
  ["cron", "timeZone", "everyMs", "startAt", "endAt", "limit"],
);

const MINUTE = object({ at: date(), done: integer(), retried: integer(), dead: integer(), stalled: integer() });

const QUEUE = named(
  "Queue",
  object({ counts: COUNTS, settings: SETTINGS, minutes: array(MINUTE), schedules: array(SCHEDULE) }),
);

interface Place {
  readonly name: string;
  readonly shards: number;
}

/** Those that were used last, with the default prefix: others' jobs are no queues of the toolkit that can be opened by name alone. */
async function places(store: Store): Promise<{ places: Place[]; complete: boolean }> {
  const { items, cursor } = await new Registry(store).list("queues", { limit: MOST });
  const found = items.filter(({ prefix }) => prefix === "queue");
  return {
    places: found.map(({ name, details }) => ({ name, shards: Number(details.shards ?? 1) })),
    complete: cursor === null,
  };
}

/** A queue keeps an id prefix and subscriptions: one object for each name is enough. */
const known = new WeakMap<Store, Map<string, Queue>>();

function queueOf(store: Store, { name, shards }: Place): Queue {
  const queues = known.get(store) ?? new Map<string, Queue>();
  known.set(store, queues);
  const id = `${name}\0${shards}`;
  const queue = queues.get(id) ?? new Queue(store, name, { shards });
  queues.set(id, queue);
  return queue;
}

async function list({ store }: Context) {
  const found = await places(store);
  const queues = await Promise.all(
    found.places.map(async (place) => ({ ...place, counts: await queueOf(store, place).counts() })),
  );
  return { queues, complete: found.complete };
}

async function show(queue: Queue) {
  const [counts, settings, minutes, schedules] = await Promise.all([
    queue.counts(),
    queue.settings(),
    queue.stats(),
    queue.listSchedules({ limit: 100 }),
  ]);
  return { counts, settings, minutes, schedules: schedules.items };
}

async function job(queue: Queue, id: string): Promise<{ job: Job<unknown, unknown>; log: string[] }> {
  const found = await queue.get(id);
  if (found === null) throw new Problem(404, "NO_JOB", "there is no such job");
  return { job: found, log: await queue.logs(id) };
}

const JOB_ACTIONS = ["retry", "promote", "remove", "cancel"] as const;

async function actOnJob(queue: Queue, id: string, action: (typeof JOB_ACTIONS)[number]) {
  if (action === "retry" && !(await queue.retry(id)))
    throw new Problem(409, "STATE", "only a job that has ended can be retried");
  if (action === "promote" && !(await queue.promote(id)))
    throw new Problem(409, "STATE", "only a delayed job can be promoted");
  if (action === "remove") {
    const { status } = await queue.delete(id);
    if (status === "active") throw new Problem(409, "STATE", "the job is running: cancel it first");
    if (status === "not-found") throw new Problem(404, "NO_JOB", "there is no such job");
  }
  if (action === "cancel") {
    const { status } = await queue.cancel(id);
    if (status === "not-found") throw new Problem(404, "NO_JOB", "there is no such job");
    return { status };
  }
  return { status: "done" };
}

const QUEUE_ACTIONS = ["pause", "resume", "replayDead", "cleanDone"] as const;

async function actOnQueue(queue: Queue, action: (typeof QUEUE_ACTIONS)[number]) {
  if (action === "pause") await queue.pause();
  if (action === "resume") await queue.resume();
  if (action === "replayDead") return { jobs: await queue.replayDead() };
  if (action === "cleanDone") return { jobs: await queue.clean("done") };
  return { ok: true };
}

const SHARDS = integer({
  default: 1,
  minimum: 1,
  maximum: 64,
  description: "Over how many slots the queue is spread.",
});
const of = ({ store }: Context, name: string, shards: number) => queueOf(store, { name, shards });

/** A queue that was used before: looking at another would write the version of its layout into the store. */
async function used(context: Context, name: string, shards: number): Promise<Queue> {
  const found = await places(context.store);
  if (found.complete && !found.places.some((place) => place.name === name))
    throw new Problem(404, "NO_QUEUE", `no queue named ${name} was used in this store`);
  return of(context, name, shards);
}

export const QUEUE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/queues",
    group,
    summary: "The queues that are in the store.",
    answers: "Names and counts by state; `complete` is false where the store has too many keys to look at all.",
    answer: object({
      queues: array(object({ name: string(), shards: integer(), counts: COUNTS })),
      complete: boolean(),
    }),
    run: list,
  }),
  route({
    method: "GET",
    url: "/api/queues/:name",
    group,
    summary: "A queue: counts, settings, what happened in each of the last 60 minutes, schedules.",
    params: object({ name: NAME }),
    query: object({ shards: SHARDS }),
    answers: "Those.",
    answer: QUEUE,
    run: async (context, { params, query }) => show(await used(context, params.name, query.shards)),
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/jobs",
    group,
    summary: "Jobs in one state, page by page.",
    params: object({ name: NAME }),
    query: object(
      {
        shards: SHARDS,
        state: oneOf(STATES),
        cursor: string({ maxLength: 200 }),
        limit: integer({ default: 50, minimum: 1, maximum: 500 }),
      },
      ["cursor"],
    ),
    answers: "Jobs, and the cursor of the next page or null.",
    answer: object({ items: array(JOB), cursor: nullable(string()) }),
    run: async (context, { params, query }) =>
      (await used(context, params.name, query.shards)).list(query.state, {
        limit: query.limit,
        newestFirst: query.state === "done" || query.state === "dead",
        ...(query.cursor !== undefined && { cursor: query.cursor }),
      }),
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/jobs/:id",
    group,
    summary: "A job with its data, attempts, error, result and log.",
    params: object({ name: NAME, id: ID }),
    query: object({ shards: SHARDS }),
    answers: "The job and the lines that it logged.",
    answer: object({ job: JOB, log: array(string()) }),
    run: async (context, { params, query }) => job(await used(context, params.name, query.shards), params.id),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name/jobs/:id",
    group,
    summary: "Retries, promotes, removes or cancels a job.",
    params: object({ name: NAME, id: ID }),
    query: object({ shards: SHARDS }),
    body: object({ action: oneOf(JOB_ACTIONS) }),
    answers: "What became of it.",
    answer: object({ status: oneOf(["done", "cancelled", "asked", "finished"]) }),
    run: (context, { params, query, body }) => actOnJob(of(context, params.name, query.shards), params.id, body.action),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name",
    group,
    summary: "Pauses or resumes a queue, runs its dead letters again, or forgets what is done.",
    params: object({ name: NAME }),
    query: object({ shards: SHARDS }),
    body: object({ action: oneOf(QUEUE_ACTIONS) }),
    answers: "How many jobs that concerned, where it tells.",
    answer: partial({ ok: boolean(), jobs: integer() }),
    run: (context, { params, query, body }) => actOnQueue(of(context, params.name, query.shards), body.action),
  }),
];
