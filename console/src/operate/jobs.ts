/** Jobs of a queue: lists, one job's story and flow, and what helps one job along. Many at once are in queue-bulk.ts. */
import type { FlowTree, Job, JobOptions, JobState, JobUpdate, Queue } from "cinnabar/queues";
import { type Context, Problem, type Route, route } from "../route.ts";
import {
  anything,
  array,
  date,
  integer,
  named,
  nullable,
  object,
  oneOf,
  reference,
  type Schema,
  string,
  type Typed,
} from "../schema.ts";
import { ACTIONS, type Action, doTo, STATES } from "./job-actions.ts";
import { ID, NAME, OPENING, OPENING_QUERY, places, queueOf, used } from "./queue-places.ts";

const group = "Queues";

/** Data and results in lists are cut to so many characters of JSON: a page of large ones would be a page of megabytes. */
const MOST_SHOWN = 2_000;
const MOST_PARENTS = 20;

const ERROR = object({ name: string(), message: string(), code: string(), stack: string() }, ["code", "stack"]);

const JOB = named(
  "Job",
  object({
    id: string(),
    name: nullable(string({ description: "Which handler it is for." })),
    state: oneOf(STATES),
    data: anything("What it was added with; in lists, cut to text where it is long."),
    createdAt: date(),
    priority: integer(),
    group: nullable(string()),
    attempts: integer(),
    attemptsMade: integer({ description: "Attempts that have ended." }),
    stalls: integer({ description: "How often its worker was lost." }),
    dueAt: nullable(date()),
    progress: anything("What it has told; null if nothing."),
    result: anything("Of one that is done; null otherwise."),
    error: nullable(ERROR),
    finishedAt: nullable(date()),
    startedAt: nullable(date()),
    worker: nullable(string({ description: "Which one ended it." })),
    resultRef: nullable(string({ description: "Where its result is, if that is kept elsewhere." })),
    parent: nullable(string()),
    children: array(string()),
  }),
);

const ATTEMPT = object({
  attempt: integer(),
  status: oneOf(["done", "failed", "stalled", "active"]),
  startedAt: nullable(date()),
  endedAt: nullable(date()),
  worker: string(),
  error: nullable(ERROR),
});

interface FlowNode {
  readonly queue: string;
  readonly id: string;
  readonly name: string | null;
  readonly state: JobState | "not-found";
  readonly error: string | null;
  readonly children: readonly FlowNode[];
  readonly hiddenChildren: number;
}

const FLOW_FIELDS = {
  queue: string(),
  id: string(),
  name: nullable(string()),
  state: oneOf([...STATES, "not-found"]),
  error: nullable(string({ description: "What the last attempt failed with." })),
  children: array(reference<FlowNode>("FlowNode")),
  hiddenChildren: integer({ description: "How many more there are." }),
};
const FLOW: Schema<FlowNode> = named("FlowNode", object<typeof FLOW_FIELDS>(FLOW_FIELDS));

const MS = { minimum: 0, maximum: 315_360_000_000 };

/** What both a new job and a changed one can be told. */
const PLANNING = {
  name: string({ minLength: 1, maxLength: 512, description: "Which handler it is for." }),
  delayMs: integer({ ...MS, description: "Milliseconds from now." }),
  priority: integer({ minimum: -1_000, maximum: 1_000 }),
  attempts: integer({ minimum: 1, maximum: 1_000_000 }),
  backoffMs: integer({ ...MS, description: "Between two attempts." }),
  timeoutMs: integer({ ...MS, minimum: 1 }),
};
const PLANNED = ["name", "delayMs", "priority", "attempts", "backoffMs", "timeoutMs"] as const;

const NEW_JOB = object({ data: anything("Any JSON."), ...PLANNING, id: ID, group: NAME }, [...PLANNED, "id", "group"]);
const CHANGE = object({ data: anything("Any JSON."), ...PLANNING }, ["data", ...PLANNED]);

const shortened = (value: unknown): unknown => {
  const text = JSON.stringify(value) ?? "null";
  return text.length <= MOST_SHOWN ? value : `${text.slice(0, MOST_SHOWN)}…`;
};

async function list(queue: Queue, query: { state: JobState; cursor?: string; limit: number }) {
  const { items, cursor } = await queue.list(query.state, {
    limit: query.limit,
    newestFirst: query.state === "done" || query.state === "dead",
    ...(query.cursor !== undefined && { cursor: query.cursor }),
  });
  const short = items.map((job) => ({ ...job, data: shortened(job.data), result: shortened(job.result) }));
  return { items: short, cursor };
}

const noJob = ({ name }: Queue, id: string): Problem => new Problem(404, "NO_JOB", `queue ${name} has no job ${id}`);

async function found(queue: Queue, id: string): Promise<Job<unknown, unknown>> {
  const job = await queue.get(id);
  if (job === null) throw noJob(queue, id);
  return job;
}

async function story(queue: Queue, id: string) {
  const [job, log, attempts, parent] = await Promise.all([
    found(queue, id),
    queue.logs(id),
    queue.history(id),
    queue.parent(id),
  ]);
  return { job, log, attempts: attempts ?? [], parent };
}

/** The whole flow that a job belongs to: from its topmost parent that is still known. */
async function flow(context: Context, queue: Queue, id: string): Promise<{ flow: FlowNode }> {
  await found(queue, id);
  const known = (await places(context.store)).places;
  let top = { queue, id };
  for (let nth = 0; nth < MOST_PARENTS; nth++) {
    const parent = await top.queue.parent(top.id);
    if (parent === null) break;
    const place = known.find(({ name }) => name === parent.queue);
    const above = parent.queue === top.queue.name ? top.queue : place && queueOf(context.store, place);
    if (above === undefined || (await above.get(parent.id)) === null) break;
    top = { queue: above, id: parent.id };
  }
  const tree = await top.queue.getFlow(top.id);
  if (tree === null) throw noJob(top.queue, top.id);
  return { flow: nodeOf(tree) };
}

const nodeOf = ({ queue, id, state, job, children, hiddenChildren }: FlowTree): FlowNode => ({
  queue,
  id,
  name: job?.name ?? null,
  state,
  error: job?.error?.message ?? null,
  children: children.map(nodeOf),
  hiddenChildren,
});

const planned = ({ backoffMs, ...rest }: Omit<Typed<typeof NEW_JOB>, "data">): JobOptions => ({
  ...rest,
  ...(backoffMs !== undefined && { backoff: backoffMs }),
});

async function change(queue: Queue, id: string, { backoffMs, ...update }: Typed<typeof CHANGE>) {
  const to: JobUpdate<unknown> = { ...update, ...(backoffMs !== undefined && { backoff: backoffMs }) };
  const { status } = await queue.update(id, to);
  if (status === "updated") return { status };
  if (status === "not-found") throw noJob(queue, id);
  const reasons = {
    active: "the job is running: what it runs with cannot be changed",
    finished: "a job that has ended has no delay and no place in line: retry it first",
    "waiting-for-children": "a job that waits for its children has no time at which it runs",
  };
  throw new Problem(409, "STATE", reasons[status]);
}

async function act(queue: Queue, id: string, action: Action) {
  const [outcome] = await doTo(queue, [id], action);
  if (outcome!.isDone) return { status: outcome!.status };
  if (outcome!.status === "not-found") throw noJob(queue, id);
  throw new Problem(409, "STATE", outcome!.status);
}

const ONE = object({ name: NAME, id: ID });

export const JOB_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/queues/:name/jobs",
    group,
    summary: "Jobs in one state, page by page.",
    params: object({ name: NAME }),
    query: object(
      {
        ...OPENING,
        state: oneOf(STATES),
        cursor: string({ maxLength: 200 }),
        limit: integer({ default: 50, minimum: 1, maximum: 500 }),
      },
      ["cursor", "shards"],
    ),
    answers: "Jobs, and the cursor of the next page or null.",
    answer: object({ items: array(JOB), cursor: nullable(string()) }),
    run: async (context, { params, query }) => list(await used(context, params.name, query), query),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name/jobs",
    group,
    summary: "Adds a job.",
    params: object({ name: NAME }),
    query: OPENING_QUERY,
    body: NEW_JOB,
    answers: "Its id, and whether it was added.",
    answer: object({ id: string(), status: oneOf(["added", "exists", "duplicate", "replaced"]) }),
    run: async (context, { params, query, body: { data, ...options } }) =>
      (await used(context, params.name, query)).add(data, planned(options)),
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/jobs/:id",
    group,
    summary: "A job with its data, attempts, errors, result, log and parent.",
    params: ONE,
    query: OPENING_QUERY,
    answers: "The job, the lines that it logged, its attempts with times, workers and errors.",
    answer: object({
      job: JOB,
      log: array(string()),
      attempts: array(ATTEMPT),
      parent: nullable(object({ queue: string(), id: string() })),
    }),
    run: async (context, { params, query }) => story(await used(context, params.name, query), params.id),
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/jobs/:id/flow",
    group,
    summary: "The flow that a job belongs to: parents, children and their states, over all queues.",
    params: ONE,
    query: OPENING_QUERY,
    answers: "A tree from the topmost parent that is still known.",
    answer: object({ flow: FLOW }),
    run: async (context, { params, query }) => flow(context, await used(context, params.name, query), params.id),
  }),
  route({
    method: "PUT",
    url: "/api/queues/:name/jobs/:id",
    group,
    summary: "Changes a job that does not run: its data, delay, priority, attempts. What is not named stays.",
    params: ONE,
    query: OPENING_QUERY,
    body: CHANGE,
    answers: "That it was changed.",
    answer: object({ status: oneOf(["updated"]) }),
    run: async (context, { params, query, body }) => change(await used(context, params.name, query), params.id, body),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name/jobs/:id",
    group,
    summary: "Retries, promotes, removes or cancels a job.",
    params: ONE,
    query: OPENING_QUERY,
    body: object({ action: oneOf(ACTIONS) }),
    answers: "What became of it.",
    answer: object({ status: oneOf(["done", "cancelled", "asked", "finished"]) }),
    run: async (context, { params, query, body }) =>
      act(await used(context, params.name, query), params.id, body.action),
  }),
];
