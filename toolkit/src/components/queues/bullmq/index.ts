/**
 * Moves what BullMQ has still to do into a `Queue`: waiting, prioritized and delayed jobs, and job schedulers.
 *
 *   const moved = await importFromBullMq(db, { from: "redis://localhost:6379", queue: "mails" });
 *
 * Every job is run once, by BullMQ's workers or by ours, whenever the move is cut off and begun again:
 *
 * 1. A job leaves BullMQ's list for the list of those on their way, in one step: from then on no worker of BullMQ gets it.
 * 2. It is added to the queue under its own id, and that id is noted beside the queue, in one step.
 * 3. It leaves the list of those on their way. A move that is begun again finds it there, and does not add it if it is noted.
 *
 * Workers of both sides and producers of BullMQ may go on meanwhile. Only one move of a queue runs at a time.
 */
import { aStore } from "../../../base/checks.ts";
import { InputError } from "../../../base/errors.ts";
import {
  callback,
  defineOptions,
  either,
  having,
  prefix,
  required,
  signal,
  text,
  whole,
  within,
} from "../../../base/options.ts";
import { defineScript } from "../../../base/script.ts";
import { open } from "../../../connection/open.ts";
import type { Store } from "../../../connection/store.ts";
import { Locks } from "../../locks/index.ts";
import type { Shard } from "../answers.ts";
import { QueueFullError } from "../errors.ts";
import { MAX_SHARDS } from "../keys.ts";
import { Queue } from "../queue.ts";
import type { Prepared } from "../record.ts";
import { addJobs, isFull } from "../scripts/add.ts";
import { type BullJob, type BullKeys, bullKeys, claimJobs, claimSchedulers, forgetJobs } from "./source.ts";
import { dataOf, jobOptions, scheduleOf } from "./translate.ts";

/** What is moved, from where and into what. */
export interface BullMqImportOptions {
  /** Where BullMQ's keys are: a URL, or a store. */
  readonly from: string | Store;
  /** The name of the queue in BullMQ. */
  readonly queue: string;
  /** BullMQ's own prefix; "bull" by default. */
  readonly prefix?: string;
  /** The queue that jobs are moved into, as `Queue` is made: of the same name by default, with `Queue`'s own prefix, in one shard. */
  readonly into?: ImportTarget;
  /** Called after each part, with what was moved until then. None by default. */
  readonly onProgress?: (moved: BullMqImport) => void;
  /** Ends the move between two parts; begun again, it goes on. None by default. */
  readonly signal?: AbortSignal;
}

/** The queue that jobs are moved into. */
export interface ImportTarget {
  /** Its name; that of BullMQ's queue by default. */
  readonly name?: string;
  /** The beginning of its keys; `queue` by default. */
  readonly prefix?: string;
  /** Over how many slots it is spread; 1 by default. */
  readonly shards?: number;
}

/** A job or a job scheduler that was not moved. */
export interface SkippedJob {
  /** Of a job, or of a job scheduler. */
  readonly id: string;
  /** Why not, for people. */
  readonly reason: string;
}

/** What was moved. */
export interface BullMqImport {
  /** Jobs that may run now, prioritized ones included. */
  readonly waiting: number;
  /** Jobs that wait for their time. */
  readonly delayed: number;
  /** Job schedulers, which are schedules now. */
  readonly schedules: number;
  /** Left where they were. */
  readonly skipped: readonly SkippedJob[];
}

const TARGET_OPTIONS = defineOptions<ImportTarget>("importFromBullMq.into", {
  name: text,
  prefix,
  shards: whole(1, MAX_SHARDS),
});

const OPTIONS = defineOptions<BullMqImportOptions>("importFromBullMq", {
  from: required(either(text, having("a Store", "run", "send"))),
  queue: required(text),
  prefix,
  into: within(TARGET_OPTIONS),
  onProgress: callback,
  signal,
});

const PART_OF_FLOW = "it is part of a flow, and its parent waits for it in BullMQ";

/** So many jobs leave BullMQ at a time. */
const PART = 500;
/** How long it is remembered which jobs were moved, after the last of them. */
const NOTED_MS = 30 * 86_400_000;

/**
 * Moves all that BullMQ has still to do; what was moved. Safe to repeat. Rejects with an InputError while another process moves jobs into
 * the same queue.
 * @example
 * const moved = await importFromBullMq(db, { from: db, queue: "mails" });
 * moved; // → { waiting: 0, delayed: 0, schedules: 0, skipped: [] }
 */
export async function importFromBullMq(store: Store, options: BullMqImportOptions): Promise<BullMqImport> {
  aStore("importFromBullMq", store);
  OPTIONS.check(options);
  const { name = options.queue, ...target } = options.into ?? {};
  const queue = new Queue(store, name, target);
  const source = typeof options.from === "string" ? await open(options.from) : options.from;
  try {
    const locks = new Locks(store, { prefix: "bullmq-import" });
    const moved = await locks.using(queue.name, { waitMs: 0 }, () => new Move(source, queue, options).run());
    if (moved === null) throw new InputError(`another process is moving jobs into the queue "${queue.name}"`);
    return moved;
  } finally {
    if (source !== options.from) await source.close();
  }
}

class Move {
  readonly #source: Store;
  readonly #queue: Queue<unknown, unknown>;
  readonly #keys: BullKeys;
  readonly #options: BullMqImportOptions;
  #waiting = 0;
  #delayed = 0;
  #schedules = 0;
  readonly #skipped: SkippedJob[] = [];

  constructor(source: Store, queue: Queue<unknown, unknown>, options: BullMqImportOptions) {
    this.#source = source;
    this.#queue = queue;
    this.#options = options;
    this.#keys = bullKeys(options.prefix ?? "bull", options.queue);
  }

  async run(): Promise<BullMqImport> {
    const { signal: ending, onProgress } = this.#options;
    if ((await this.#source.call("HEXISTS", this.#keys.meta, "paused")) === 1) await this.#queue.pause();
    // First the schedulers: a job that one of them has made ahead of time must not be moved as well.
    await this.#moveSchedulers();
    const { base, wait, paused, prioritized, delayed, moving } = this.#keys;
    for (;;) {
      ending?.throwIfAborted();
      const claiming = { wait, paused, prioritized, delayed, moving, base, most: PART };
      const { jobs, skipped } = await this.#source.run(claimJobs, claiming);
      if (jobs.length === 0) {
        for (const id of skipped) this.#skipped.push({ id, reason: PART_OF_FLOW });
        return this.#moved();
      }
      await this.#movePart(jobs);
      await this.#source.run(forgetJobs, { moving, base, ids: jobs.map(({ id }) => id) });
      onProgress?.(this.#moved());
    }
  }

  #moved(): BullMqImport {
    return { waiting: this.#waiting, delayed: this.#delayed, schedules: this.#schedules, skipped: [...this.#skipped] };
  }

  async #moveSchedulers(): Promise<void> {
    const { base, repeat, delayed, movingSchedulers: moving } = this.#keys;
    for (const scheduler of await this.#source.run(claimSchedulers, { base, schedulers: repeat, delayed, moving })) {
      const { id } = scheduler;
      const schedule = scheduleOf(scheduler);
      if (schedule === undefined) {
        this.#skipped.push({ id, reason: `it has neither a pattern nor a period; its fields are kept in ${moving}` });
        continue;
      }
      if (schedule !== null) {
        await this.#queue.schedule(id, schedule.times, schedule.data, schedule.options);
        this.#schedules++;
      }
      await this.#source.call("HDEL", moving, id);
    }
  }

  async #movePart(jobs: readonly BullJob[]): Promise<void> {
    const parts = new Map<Shard, Prepared[]>();
    for (const job of jobs) this.#prepare(job, parts);
    for (const [shard, part] of parts) await this.#add(shard, part);
    for (const { origin } of jobs) {
      if (origin === "delayed") this.#delayed++;
      else this.#waiting++;
    }
  }

  #prepare(job: BullJob, parts: Map<Shard, Prepared[]>): void {
    const options = jobOptions(job);
    const target = this.#queue.flowTarget(options, null);
    const shard = this.#queue.shards.find(({ address }) => address === target.address)!;
    const part = parts.get(shard) ?? [];
    parts.set(shard, part);
    part.push(target.prepare(target.newId(options), dataOf(job), options, {}));
  }

  /** Those that were not added by an earlier move. */
  async #add(shard: Shard, part: readonly Prepared[]): Promise<void> {
    const { store } = this.#queue;
    const noted = notedKey(shard);
    const known = await store.pipeline(part.map(({ id }) => ["SISMEMBER", noted, id] as const));
    const fresh = part.filter((_, at) => known[at] !== 1);
    if (fresh.length === 0) return;
    // The script puts plain jobs behind all others of one call; here each keeps its place.
    const jobs = fresh.flatMap(({ id, how, tail }) => [id, how === "" ? "{}" : how, tail]);
    const ids = fresh.map(({ id }) => id);
    const answers = await store.multi([
      addJobs.with({ ...shard.keys, jobs }),
      note.with({ data: shard.keys.data, noted, ids, ttlMs: NOTED_MS }),
    ]);
    const [added] = answers;
    if (isFull(added)) throw new QueueFullError(this.#queue.name);
    for (const answer of answers) if (answer instanceof Error) throw answer;
  }
}

const notedKey = ({ tag }: Shard): string => `bullmq-import:${tag}:noted`;

/** Runs behind the script that adds, in one transaction: only what was added is noted. */
const note = defineScript({
  name: "bullmq.note",
  keys: ["data", "noted"],
  args: ["ttlMs"],
  rest: "ids",
  lua: `
for _, id in ipairs(ids) do
  if redis.call("HEXISTS", data, "j" .. id) == 1 then redis.call("SADD", noted, id) end
end
return redis.call("PEXPIRE", noted, ttlMs)`,
});
