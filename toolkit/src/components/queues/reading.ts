/** What a queue has: its jobs, how many there are in which state, their groups, and what happened in the last minutes. */

import type { Codec } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Page, PageOptions } from "../../base/page.ts";
import { asList } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import type { Counts, Group, JobPage, ListOptions, MinuteCounts, Shard } from "./answers.ts";
import { pageByName } from "./bulk.ts";
import { fetchedJob, type ResultStore } from "./elsewhere.ts";
import { describeJob, type Job, type JobState } from "./record.ts";
import { countJobs, getJobs, getJobsBytes, listGroups, listJobs, listJobsBytes, readMetrics } from "./scripts/read.ts";

interface Place {
  readonly store: Store;
  readonly shards: readonly Shard[];
}

/** A queue whose jobs are read. */
interface Source<T, R> extends Place {
  readonly codec: Codec<T, never>;
  readonly resultCodec: Codec<R, never>;
  readonly results: ResultStore | null;
}

/** Null for those that the queue does not know. */
export async function jobsOf<T, R>(
  queue: Source<T, R>,
  { keys }: Shard,
  ids: readonly string[],
): Promise<(Job<T, R> | null)[]> {
  const found = asList(await queue.store.run(isBinary(queue) ? getJobsBytes : getJobs, { ...keys, ids }));
  return described(queue, found);
}

/** Shard after shard. */
export async function pageOf<T, R>(queue: Source<T, R>, state: JobState, options: ListOptions): Promise<JobPage<T, R>> {
  const limit = options.limit ?? 50;
  const [first = -1, from = -1] = (options.cursor ?? "0.0").split(".").map(Number);
  if (!(first >= 0 && from >= 0)) throw new InputError(`"${options.cursor}" is no cursor`);
  const jobs: Job<T, R>[] = [];
  const script = isBinary(queue) ? listJobsBytes : listJobs;
  const short = state === "waiting-for-children" ? "parent" : state;
  for (const { index, keys } of queue.shards.slice(first)) {
    const skip = index === first ? from : 0;
    const most = limit - jobs.length;
    const params = { state: short, skip, most, newestFirst: options.newestFirst === true ? 1 : 0 };
    const found = asList(await queue.store.run(script, { ...keys, ...params }));
    for (const job of await described(queue, found)) if (job !== null) jobs.push(job);
    if (found.length === most) return { items: jobs, cursor: `${index}.${skip + most}` };
  }
  return { items: jobs, cursor: null };
}

/** With the results that are kept elsewhere. */
function described<T, R>(queue: Source<T, R>, found: readonly Reply[]): Promise<(Job<T, R> | null)[]> {
  return Promise.all(
    found.map(async (each) => {
      const job = describeJob(each, queue.codec, queue.resultCodec);
      return job === null ? null : fetchedJob(queue, job);
    }),
  );
}

function isBinary({ codec, resultCodec }: Source<unknown, unknown>): boolean {
  return codec.binary || resultCodec.binary;
}

export async function countsOf({ store, shards }: Place): Promise<Counts> {
  const all = await Promise.all(shards.map(({ keys }) => store.run(countJobs, keys)));
  const sum = (pick: (counts: (typeof all)[number]) => number) => all.reduce((total, each) => total + pick(each), 0);
  return {
    waiting: sum((each) => each.waiting),
    delayed: sum((each) => each.delayed),
    active: sum((each) => each.active),
    done: sum((each) => each.done),
    dead: sum((each) => each.dead),
    waitingForChildren: sum((each) => each.waitingForChildren),
    paused: all.some((each) => each.paused),
  };
}

export async function minutesOf({ store, shards }: Place, minutes: number): Promise<MinuteCounts[]> {
  const all = await Promise.all(shards.map(({ keys }) => store.run(readMetrics, { ...keys, minutes })));
  const first = all[0]![0];
  return Array.from({ length: minutes }, (_, at) => {
    const rows = all.map(([, counts]) => counts[at] ?? []);
    const sum = (column: number) => rows.reduce((total, row) => total + (row[column] ?? 0), 0);
    return {
      at: new Date((Number(first) + at) * 60_000),
      done: sum(0),
      retried: sum(1),
      dead: sum(2),
      stalled: sum(3),
    };
  });
}

/** By name, shard after shard. */
export function groupsOf({ store, shards }: Place, options: PageOptions): Promise<Page<Group>> {
  return pageByName(shards, options, async ({ keys }, after, most) => {
    const rows = await store.run(listGroups, { ...keys, after, most });
    return rows.map(([name, waiting, state]) => {
      const [active = "0", place] = state.split(",");
      return { name, waiting, active: Number(active), blocked: place === "2" };
    });
  });
}
