/**
 * Many jobs at once: retried, promoted, removed, cancelled, cleaned by age. In the background, in steps of bounded size, with
 * progress, stopped at any time.
 *
 * A step is one call of the queue, so that a stop leaves whole jobs behind it. Where the queue has a bounded form of the work
 * (`clean`, `replayDead`, `promoteDelayed`), steps repeat it up to the number of jobs at the beginning: jobs that come into the
 * state meanwhile, such as those that die again, do not keep it going. For the others the ids are gathered first, since what is
 * done moves jobs from page to page.
 */
import type { CleanableState, JobState, Queue } from "cinnabar/queues";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, object, oneOf, string, type Typed } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { type Progress, TASK_FIELDS, type Task, TaskKind, tasksOf } from "../tasks.ts";
import { ACTIONS, type Action, doTo, STATES } from "./job-actions.ts";
import { ID, NAME, OPENING_QUERY, used } from "./queue-places.ts";

const group = "Queues";
const STEP = 500;
const MOST_AT_ONCE = 1_000;
/** Of those that are gathered before anything is done. */
const MOST_GATHERED = 200_000;
const MOST_FAILURES = 100;
/** Little work has ended when the answer is sent; the page shows no bar for it then. */
const ANSWER_MS = 150;

const CLEANABLE = ["done", "dead", "waiting", "delayed", "waiting-for-children"] as const satisfies readonly (JobState &
  CleanableState)[];

const WORK = object({
  ...TASK_FIELDS,
  action: oneOf(ACTIONS),
  changed: integer({ description: "How many jobs it was done to." }),
  failed: integer({ description: "How many stayed as they were." }),
  failures: array(object({ id: string(), reason: string() })),
});
export type JobsWork = Typed<typeof WORK>;

interface Outcome {
  readonly action: Action;
  changed: number;
  failed: number;
  readonly failures: { id: string; reason: string }[];
}

const KIND = new TaskKind<Outcome>();

type Part = { readonly ids: readonly string[] } | { readonly state: JobState; readonly keepMs?: number };

/** How many of a state there are now. */
async function countIn(queue: Queue, state: JobState): Promise<number> {
  return (await queue.counts())[state === "waiting-for-children" ? "waitingForChildren" : state];
}

/** A step that the queue itself can take on a state, and bounds: how many jobs that were. */
function stepOn(queue: Queue, action: Action, part: Part): ((limit: number) => Promise<number>) | null {
  if (!("state" in part)) return null;
  const { state, keepMs = 0 } = part;
  if (state === "dead" && action === "retry") return (limit) => queue.replayDead({ limit });
  if (state === "delayed" && action === "promote") return (limit) => queue.promoteDelayed({ limit });
  if (state !== "active" && action === "remove") return (limit) => queue.clean(state, { keepMs, limit });
  return null;
}

async function idsIn(queue: Queue, state: JobState, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    signal.throwIfAborted();
    const page: Awaited<ReturnType<Queue["list"]>> = await queue.list(state, {
      limit: STEP,
      ...(cursor !== undefined && { cursor }),
    });
    for (const { id } of page.items) ids.push(id);
    if (ids.length > MOST_GATHERED)
      throw new Error(`more than ${MOST_GATHERED} jobs are ${state}: nothing was done; choose some of them`);
    ({ cursor } = page);
  }
  return ids;
}

async function work(queue: Queue, action: Action, part: Part, into: Outcome, progress: Progress, before: number) {
  const step = stepOn(queue, action, part);
  if (step !== null && "state" in part) {
    const total = await countIn(queue, part.state);
    for (let done = 0; done < total; ) {
      progress.signal.throwIfAborted();
      progress(before + done, before + total);
      const limit = Math.min(STEP, total - done);
      const count = await step(limit);
      into.changed += count;
      done += count;
      if (count < limit) break;
    }
    return;
  }
  const ids = "ids" in part ? part.ids : await idsIn(queue, part.state, progress.signal);
  for (let at = 0; at < ids.length; at += STEP) {
    progress.signal.throwIfAborted();
    progress(before + at, before + ids.length);
    for (const { id, isDone, status } of await doTo(queue, ids.slice(at, at + STEP), action)) {
      if (isDone) into.changed++;
      else {
        into.failed++;
        if (into.failures.length < MOST_FAILURES) into.failures.push({ id, reason: status });
      }
    }
  }
}

const stateOf = (task: Task<Outcome>): JobsWork => ({
  ...task.facts,
  ...task.about,
  failures: [...task.about.failures],
});
const workOf = ({ store }: Context, id: string): Task<Outcome> => tasksOf({ store }).get(id, KIND);

async function begin({ store }: Context, queue: Queue, action: Action, parts: readonly Part[]): Promise<JobsWork> {
  const outcome: Outcome = { action, changed: 0, failed: 0, failures: [] };
  const task = tasksOf({ store }).start(KIND, outcome, async (progress) => {
    for (const part of parts) await work(queue, action, part, outcome, progress, outcome.changed + outcome.failed);
    const done = outcome.changed + outcome.failed;
    progress(done, done);
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ANSWER_MS);
  });
  await Promise.race([task.ended, late]);
  clearTimeout(timer);
  return stateOf(task);
}

function partOf({ ids, state }: { ids?: readonly string[]; state?: JobState }): Part {
  if (ids !== undefined && state === undefined) return { ids };
  if (state !== undefined && ids === undefined) return { state };
  throw new Problem(400, "INPUT", "name either the ids of jobs or a state");
}

const params = object({ name: NAME });
const ONE = object({ name: NAME, id: string({ maxLength: 40 }) });
const answers = "The work: how far it is, or how it ended. `GET …/bulk/:id` says so later.";

export const QUEUE_BULK_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/queues/:name/bulk",
    group,
    summary:
      "Retries, promotes, removes or cancels many jobs in the background: some by their ids, or all in one state.",
    params,
    query: OPENING_QUERY,
    body: object(
      { action: oneOf(ACTIONS), ids: array(ID, { minItems: 1, maxItems: MOST_AT_ONCE }), state: oneOf(STATES) },
      ["ids", "state"],
    ),
    answers,
    answer: WORK,
    run: async (context, { params: { name }, query, body }) =>
      begin(context, await used(context, name, query), body.action, [partOf(body)]),
  }),
  route({
    method: "GET",
    url: "/api/queues/:name/bulk/:id",
    group,
    summary: "How far work on many jobs is.",
    params: ONE,
    answers: "Jobs that it was done to, and those that stayed as they were.",
    answer: WORK,
    run: (context, { params: { id } }) => stateOf(workOf(context, id)),
  }),
  route({
    method: "DELETE",
    url: "/api/queues/:name/bulk/:id",
    group,
    summary: "Stops work on many jobs; what is done stays done.",
    params: ONE,
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params: { id } }) => {
      await workOf(context, id).stop();
    },
  }),
  route({
    method: "POST",
    url: "/api/queues/:name/clean",
    group,
    summary: "Removes jobs of a state by their age, in the background. Jobs that run stay.",
    params,
    query: OPENING_QUERY,
    body: object({
      state: oneOf(CLEANABLE),
      keepMs: integer({
        default: 0,
        minimum: 0,
        maximum: 315_360_000_000,
        description: "Those stay that ended, or were added if they have not ended, less than so long ago.",
      }),
    }),
    answers,
    answer: WORK,
    run: async (context, { params: { name }, query, body }) =>
      begin(context, await used(context, name, query), "remove", [body]),
  }),
  route({
    method: "POST",
    url: "/api/queues/:name/drain",
    group,
    summary: "Removes all jobs that wait, and delayed ones if asked, in the background. What runs goes on.",
    params,
    query: OPENING_QUERY,
    body: object({ delayed: boolean("Delayed jobs too.") }),
    answers,
    answer: WORK,
    run: async (context, { params: { name }, query, body }) => {
      const states: JobState[] = body.delayed ? ["waiting", "delayed"] : ["waiting"];
      const parts = states.map((state) => ({ state }));
      return begin(context, await used(context, name, query), "remove", parts);
    },
  }),
];
