/** Schedules of a queue: when each runs next, and the means to set, pause and remove them. */
import type { Queue, Schedule, ScheduleTimes } from "cinnabar/queues";
import { Problem, type Route, route } from "../route.ts";
import { anything, array, boolean, date, integer, nullable, object, oneOf, string, type Typed } from "../schema.ts";
import { NAME, OPENING, OPENING_QUERY, used } from "./queue-places.ts";

const group = "Queues";
/** How many of its next runs are shown. */
const AHEAD = 5;

export const SCHEDULE = object(
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
    upcoming: array(date()),
  },
  ["cron", "timeZone", "everyMs", "startAt", "endAt", "limit"],
);

const TIMES = {
  cron: string({ minLength: 1, maxLength: 200, description: "`minute hour day month weekday`." }),
  timeZone: string({ minLength: 1, maxLength: 100, description: "IANA name; UTC if it is left out." }),
  everyMs: integer({ minimum: 1, maximum: 315_360_000_000, description: "Instead of a cron expression." }),
};

const SETTING = object({ ...TIMES, data: anything("What its jobs are given.") }, ["cron", "timeZone", "everyMs"]);

const ONE = object({ name: NAME, schedule: NAME });

async function withUpcoming(queue: Queue, schedule: Schedule<unknown>) {
  const upcoming = (await queue.upcoming(schedule.name, { limit: AHEAD })) ?? [];
  return { ...schedule, upcoming };
}

export async function schedulesOf(queue: Queue, page: { limit?: number; cursor?: string } = {}) {
  const { items, cursor } = await queue.listSchedules({ limit: 100, ...page });
  return { items: await Promise.all(items.map((each) => withUpcoming(queue, each))), cursor };
}

/** Changes one that is there, so that what it has made stays counted; else makes it. */
async function set(queue: Queue, name: string, { data, ...given }: Typed<typeof SETTING>) {
  if ((given.cron === undefined) === (given.everyMs === undefined))
    throw new Problem(400, "INPUT", "a schedule has either a cron expression or a period");
  const before = await queue.getSchedule(name);
  const kept: ScheduleTimes = {
    ...(before?.startAt !== undefined && { startAt: before.startAt }),
    ...(before?.endAt !== undefined && { endAt: before.endAt }),
    ...(before?.limit !== undefined && { limit: before.limit }),
  };
  const times = { ...kept, ...given };
  if (before === null || !(await queue.updateSchedule(name, { times, data }))) await queue.schedule(name, times, data);
  const after = await queue.getSchedule(name);
  if (after === null) throw new Problem(409, "STATE", `the schedule ${name} was removed meanwhile`);
  return withUpcoming(queue, after);
}

const ACTIONS = ["pause", "resume", "run"] as const;

async function act(queue: Queue, name: string, action: (typeof ACTIONS)[number]) {
  const schedule = await queue.getSchedule(name);
  if (schedule === null) throw new Problem(404, "NO_SCHEDULE", `queue ${queue.name} has no schedule ${name}`);
  if (action === "pause" && !(await queue.pauseSchedule(name)))
    throw new Problem(409, "STATE", `the schedule ${name} is paused already`);
  if (action === "resume" && !(await queue.resumeSchedule(name)))
    throw new Problem(409, "STATE", `the schedule ${name} is not paused`);
  if (action === "run") return { job: (await queue.add(schedule.data, schedule.options)).id };
  return { job: null };
}

export const SCHEDULE_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/queues/:name/schedules",
    group,
    summary: "Schedules by name, page by page, each with its next runs.",
    params: object({ name: NAME }),
    query: object(
      {
        ...OPENING,
        cursor: string({ maxLength: 600 }),
        limit: integer({ default: 100, minimum: 1, maximum: 500 }),
      },
      ["cursor", "shards"],
    ),
    answers: "Schedules, and the cursor of the next page or null.",
    answer: object({ items: array(SCHEDULE), cursor: nullable(string()) }),
    run: async (context, { params, query: { cursor, limit, ...opening } }) =>
      schedulesOf(await used(context, params.name, opening), { limit, ...(cursor !== undefined && { cursor }) }),
  }),
  route({
    method: "PUT",
    url: "/api/queues/:name/schedules/:schedule",
    group,
    summary: "Sets a schedule, or changes it; how many jobs it has made stays known.",
    params: ONE,
    query: OPENING_QUERY,
    body: SETTING,
    answers: "The schedule as it is now.",
    answer: SCHEDULE,
    run: async (context, { params, query, body }) =>
      set(await used(context, params.name, query), params.schedule, body),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name/schedules/:schedule",
    group,
    summary: "Pauses or resumes a schedule, or adds its job now, besides those of its times.",
    params: ONE,
    query: OPENING_QUERY,
    body: object({ action: oneOf(ACTIONS) }),
    answers: "The id of the job that was added, or null.",
    answer: object({ job: nullable(string()) }),
    run: async (context, { params, query, body }) =>
      act(await used(context, params.name, query), params.schedule, body.action),
  }),
  route({
    method: "DELETE",
    url: "/api/queues/:name/schedules/:schedule",
    group,
    summary: "Removes a schedule. Jobs that it has made stay.",
    params: ONE,
    query: OPENING_QUERY,
    answers: "Whether there was one.",
    answer: object({ removed: boolean() }),
    run: async (context, { params, query }) => ({
      removed: await (await used(context, params.name, query)).unschedule(params.schedule),
    }),
  }),
];
