/** Scheduled executors: their schedules with the next runs, what runs, and what has failed. Each is a queue of calls of tasks. */
import type { Job, JobState, Queue, ScheduleTimes } from "cinnabar/queues";
import { Problem } from "../../route.ts";
import { queueOf } from "../queue-places.ts";
import { onRow } from "./actions.ts";
import {
  type Doing,
  type Figure,
  figureOf,
  gone,
  type Kind,
  type List,
  type Looking,
  lengthOf,
  type Opening,
  paged,
  plural,
} from "./kind.ts";

const MOST_RUNS = 20;
const FAILED = "Failed for good";

interface Call {
  readonly task?: string;
  readonly of?: string;
}

const queue = ({ store, thing: { name, prefix } }: Opening): Queue => queueOf(store, { name, prefix, shards: 1 });

const callOf = (data: unknown): Call => (typeof data === "object" && data !== null ? data : {});

function rhythmOf({ cron, timeZone, everyMs }: ScheduleTimes): string {
  return cron === undefined ? `every ${lengthOf(everyMs ?? 0)}` : `${cron} (${timeZone ?? "UTC"})`;
}

async function schedules(looking: Looking): Promise<List> {
  const { items, cursor } = await queue(looking).listSchedules(paged(looking));
  return {
    title: "Schedules",
    empty: "No schedule: executor.schedule(name, { task, cron }) sets one.",
    columns: [
      { title: "Schedule", unit: "text" },
      { title: "Task", unit: "text" },
      { title: "When", unit: "text" },
      { title: "Next run", unit: "date" },
      { title: "Last run", unit: "date" },
      { title: "Runs", unit: "number" },
      { title: "State", unit: "state" },
    ],
    rows: items.map(({ name, data, nextAt, lastAt, count, pausedAt, ...times }) => ({
      id: name,
      cells: [
        name,
        callOf(data).task ?? "",
        rhythmOf(times),
        pausedAt === null ? nextAt.toISOString() : null,
        lastAt?.toISOString() ?? null,
        count,
        pausedAt === null ? "active" : "paused",
      ],
      actions: ["runNow", pausedAt === null ? "pause" : "resume", "unschedule"],
    })),
    actions: [],
    cursor,
  };
}

interface Runs {
  readonly title: string;
  readonly empty: string;
  readonly actions: readonly string[];
}

async function runs(looking: Looking, state: JobState, { title, empty, actions }: Runs): Promise<List> {
  const { items } = await queue(looking).list(state, { limit: MOST_RUNS, newestFirst: state === "dead" });
  return {
    title,
    empty,
    columns: [
      { title: "Run", unit: "text" },
      { title: "Task", unit: "text" },
      { title: "Schedule", unit: "text" },
      { title: state === "delayed" ? "Runs at" : "Began", unit: "date" },
      { title: state === "dead" ? "Error" : "Worker", unit: "text" },
    ],
    rows: items.map((job: Job<unknown, unknown>) => {
      const { task, of } = callOf(job.data);
      const at = state === "delayed" ? job.dueAt : (job.startedAt ?? job.createdAt);
      return {
        id: job.id,
        cells: [
          job.id,
          task ?? "",
          of ?? null,
          at?.toISOString() ?? null,
          state === "dead" ? (job.error?.message ?? null) : job.worker,
        ],
      };
    }),
    actions,
    cursor: null,
    isWhole: true,
  };
}

async function scheduleOf(doing: Doing) {
  const found = await queue(doing).getSchedule(doing.row);
  if (found === null) throw gone(`the schedule ${doing.row}`);
  return found;
}

const OFFERED: Readonly<Record<string, (figures: readonly Figure[]) => boolean>> = {
  pauseAll: (figures) => figureOf(figures, "State") === "active",
  resumeAll: (figures) => figureOf(figures, "State") === "paused",
  replay: (figures) => Number(figureOf(figures, FAILED)) > 0,
};

export const EXECUTORS: Kind = {
  kind: "executors",
  title: "Executors",
  about: "Named tasks that run once, after a delay or by a calendar, in whichever process is free.",
  async figures(looking) {
    const [counts, workers] = await Promise.all([queue(looking).counts(), queue(looking).workers()]);
    return [
      { title: "State", value: counts.paused ? "paused" : "active", unit: "state" },
      { title: "Running", value: counts.active, unit: "number" },
      { title: "Waiting", value: counts.waiting, unit: "number" },
      { title: "Delayed", value: counts.delayed, unit: "number" },
      { title: FAILED, value: counts.dead, unit: "number" },
      { title: "Processes", value: workers.length, unit: "number", note: "that run its tasks" },
    ];
  },
  lists: (looking) =>
    Promise.all([
      schedules(looking),
      runs(looking, "active", { title: "Running", empty: "Nothing runs.", actions: ["cancel"] }),
      runs(looking, "delayed", { title: "Next runs", empty: "Nothing is delayed.", actions: ["promote", "cancel"] }),
      runs(looking, "dead", { title: FAILED, empty: "Nothing has failed.", actions: ["retry", "remove"] }),
    ]),
  offers: (action, figures) => OFFERED[action]?.(figures) ?? true,
  actions: [
    onRow("runNow", "Run schedule now", "Run now", async (doing) => {
      const { data, options } = await scheduleOf(doing);
      return `Run ${(await queue(doing).add(data, options)).id} was added.`;
    }),
    onRow("pause", "Pause schedule", "Pause", async (doing) => {
      await scheduleOf(doing);
      if (!(await queue(doing).pauseSchedule(doing.row)))
        throw new Problem(409, "STATE", `the schedule ${doing.row} is paused already`);
      return `The schedule ${doing.row} is paused.`;
    }),
    onRow("resume", "Resume schedule", "Resume", async (doing) => {
      await scheduleOf(doing);
      if (!(await queue(doing).resumeSchedule(doing.row)))
        throw new Problem(409, "STATE", `the schedule ${doing.row} is not paused`);
      return `The schedule ${doing.row} runs again.`;
    }),
    onRow(
      "unschedule",
      "Remove schedule",
      "Remove",
      async (doing) => {
        if (!(await queue(doing).unschedule(doing.row))) throw gone(`the schedule ${doing.row}`);
        return `The schedule ${doing.row} was removed.`;
      },
      "It makes no further runs. A process that starts and sets it again brings it back.",
    ),
    onRow(
      "cancel",
      "Cancel run",
      "Cancel",
      async (doing) => {
        const { status } = await queue(doing).cancel(doing.row);
        if (status === "not-found") throw gone(`the run ${doing.row}`);
        return status === "cancelled"
          ? `The run ${doing.row} was cancelled.`
          : `The run ${doing.row} was asked to end.`;
      },
      "A run that has not begun never does. One that runs has its signal aborted, and ends when its task heeds it.",
    ),
    onRow("promote", "Run delayed run now", "Run now", async (doing) => {
      if (!(await queue(doing).promote(doing.row))) throw gone(`the delayed run ${doing.row}`);
      return `The run ${doing.row} waits for a free process.`;
    }),
    onRow("retry", "Retry run", "Retry", async (doing) => {
      if (!(await queue(doing).retry(doing.row))) throw gone(`the failed run ${doing.row}`);
      return `The run ${doing.row} is tried again.`;
    }),
    onRow(
      "remove",
      "Remove run",
      "Remove",
      async (doing) => {
        const { status } = await queue(doing).delete(doing.row);
        if (status !== "deleted") throw gone(`the failed run ${doing.row}`);
        return `The run ${doing.row} was removed.`;
      },
      "Its data and its error are gone.",
    ),
    {
      name: "pauseAll",
      title: "Pause executor",
      on: "thing",
      fields: [],
      warning: "No process begins a run until it is resumed. Runs that have begun go on.",
      run: async (doing) => {
        await queue(doing).pause();
        return `The executor ${doing.thing.name} is paused.`;
      },
    },
    {
      name: "resumeAll",
      title: "Resume executor",
      on: "thing",
      fields: [],
      run: async (doing) => {
        await queue(doing).resume();
        return `The executor ${doing.thing.name} runs again.`;
      },
    },
    {
      name: "replay",
      title: "Retry failed runs",
      on: "thing",
      fields: [],
      run: async (doing) =>
        `${plural(await queue(doing).replayDead({ limit: 1_000 }), "run is", "runs are")} tried again.`,
    },
  ],
};
