/**
 * `Queue`: adding jobs and everything else that is done from outside. What its methods do to jobs is in adding.ts, reading.ts and
 * managing.ts; running them is worker.ts; the data model is described in scripts/core.ts. A queue object is cheap, holds no
 * connection of its own but while somebody waits for a result, and any number of them in any number of processes may speak of the
 * same queue.
 */

import { aStore, oneOf } from "../../base/checks.ts";
import { type Codec, json } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import type { Filled } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import type { Page, PageOptions } from "../../base/page.ts";
import { asTextOrNull } from "../../base/replies.ts";
import { type StandardSchema, ValidatingCodec } from "../../base/schema.ts";
import type { Store } from "../../connection/store.ts";
import { Adding } from "./adding.ts";
import type {
  Added,
  CancelOutcome,
  Counts,
  DeleteOutcome,
  Group,
  JobPage,
  ListOptions,
  MinuteCounts,
  NewJob,
  Shard,
  UpdateOutcome,
} from "./answers.ts";
import { alone, inBulk } from "./bulk.ts";
import { type CleanableState, type CleanOptions, clean } from "./cleaning.ts";
import { fetchedOutcome, INLINE_RESULT_BYTES, KeptElsewhere, type ResultStore } from "./elsewhere.ts";
import { EventFeed, type EventsOptions, type QueueEventKind, type QueueEventOf } from "./events.ts";
import { type WorkerReport, workersOf } from "./figures.ts";
import { addressOf, type FlowNode, type FlowTarget } from "./flows.ts";
import { type Attempt, historyOf, type Incident, type IncidentsOptions, incidentsOf } from "./history.ts";
import { checkWord, queueKeys, shardTag } from "./keys.ts";
import {
  type FlowChild,
  type FlowMember,
  type FlowOptions,
  type FlowTree,
  flowFrom,
  type Lookout,
  listChildren,
  parentOf,
} from "./kin.ts";
import { type Change, changeOf, Managing } from "./managing.ts";
import {
  checkBackoff,
  decodeSettings,
  encodeSettings,
  JOB_OPTIONS,
  type JobOptions,
  type JobUpdate,
  type QueueOptions,
  SCHEDULE_OPTIONS,
  type Settings,
} from "./options.ts";
import {
  DRAIN_OPTIONS,
  EVENTS_OPTIONS,
  GROUPS_OPTIONS,
  LIST_OPTIONS,
  OPTIONS,
  PROMOTE_DELAYED_OPTIONS,
  REPLAY_DEAD_OPTIONS,
  SCHEDULES_OPTIONS,
  STATS_OPTIONS,
  UPCOMING_OPTIONS,
  WAIT_FOR_OPTIONS,
} from "./queue-options.ts";
import { countsOf, groupsOf, jobsOf, minutesOf, pageOf } from "./reading.ts";
import { decodeResult, JOB_STATES, type Job, type JobState, NO_OPTIONS, preparing } from "./record.ts";
import {
  SCHEDULE_UPDATE_OPTIONS,
  type Schedule,
  type ScheduledJobOptions,
  type ScheduleTimes,
  type ScheduleUpdate,
} from "./schedule.ts";
import { ScheduleBook } from "./schedule-book.ts";
import type { NotAdded } from "./scripts/add.ts";
import { setPaused, setSettings } from "./scripts/manage.ts";
import { type Outcome, Waiters, type WaitForOptions } from "./waiters.ts";

const MAX_PAYLOAD_BYTES = 1 << 20;

/**
 * Jobs that are added here and run by workers, in any process. `T` is the data that handlers get and `R` the result that callers get; `I`
 * and `S` are what callers and handlers give, where schemas make something else of it.
 * @example
 * const queue = new Queue<{ readonly to: string }>(db, "mails");
 * const { id } = await queue.add({ to: "ann@example.com" }, { priority: 5 });
 * await queue.addMany([{ data: { to: "bob@example.com" } }]); // → [{ id: "…", status: "added" }]
 * (await queue.get(id))?.state; // → "waiting"
 * (await queue.counts()).waiting; // → 2
 */
export class Queue<T = unknown, R = unknown, I = T, S = R> {
  /** The store that the queue is in. */
  readonly store: Store;
  /** Its name. */
  readonly name: string;
  /** How the data of jobs is stored, with its schema. */
  readonly codec: Codec<T, I>;
  /** How results are stored, with their schema. */
  readonly resultCodec: Codec<R, S>;
  /** Lines of log that are kept for each job. */
  readonly maxLogLines: number;
  /** A larger payload is refused. */
  readonly maxPayloadBytes: number;
  /** Where large results are kept; null: in the store. */
  readonly results: ResultStore | null;
  /** The size up to which results stay in the store, where `results` says where else to keep them. */
  readonly maxInlineResultBytes: number;
  /** The slots that it is spread over, with the keys of each. */
  readonly shards: Filled<Shard>;
  readonly #prefix: string;
  readonly #adding: Adding<I>;
  readonly #managing: Managing;
  readonly #waiters: readonly Waiters<R>[];
  readonly #schedules: ScheduleBook<T, I>;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: QueueOptions<T, R, I, S> = {}) {
    aStore("Queue", store);
    OPTIONS.check(options);
    this.store = store;
    this.name = name;
    this.#prefix = options.prefix ?? "queue";
    this.codec = codecFor(options.codec, options.schema, "the data of a job");
    this.resultCodec = codecFor(options.resultCodec, options.resultSchema, "the result of a job");
    this.maxPayloadBytes = options.maxPayloadBytes ?? MAX_PAYLOAD_BYTES;
    this.maxLogLines = options.maxLogLines ?? 100;
    this.results = options.results ?? null;
    this.maxInlineResultBytes = options.maxInlineResultBytes ?? INLINE_RESULT_BYTES;
    const count = options.shards ?? 1;
    this.#names = new NameIndex(store, {
      kind: "queues",
      prefix: this.#prefix,
      ...(count === 1 ? {} : { details: { shards: count } }),
    });
    const shard = (index: number): Shard => ({
      index,
      keys: queueKeys(this.#prefix, name, index, count),
      tag: shardTag(name, index, count),
      address: addressOf(this.#prefix, name, index, count),
    });
    this.shards = [shard(0), ...Array.from({ length: count - 1 }, (_, index) => shard(index + 1))];
    const prepare = preparing({
      defaults: checkedDefaults(options.defaults),
      codec: this.codec,
      maxBytes: this.maxPayloadBytes,
    });
    this.#schedules = new ScheduleBook({ store, shards: this.shards, codec: this.codec, prepare });
    this.#adding = new Adding({ store, name, shards: this.shards, names: this.#names, prepare });
    this.#managing = new Managing(store, this.shards);
    this.#waiters = this.shards.map(({ keys }) => new Waiters(store, keys, this.resultCodec));
  }

  // ---------------------------------------------------------------------------------------------- adding

  /** One round trip. Safe to repeat: after a lost answer it is sent again under the same id, and added once. */
  add(data: I, options?: JobOptions): Promise<Added> {
    return this.#adding.one(data, options);
  }

  /**
   * Adds a job and waits for its end; the result is never missed, however short jobs are kept. Where another job stands in its
   * place (`id`, `dedup`), that one is waited for.
   * @example
   * const queue = new Queue<number, number>(db, "double");
   * const worker = new Worker(queue, ({ data }) => data * 2).start();
   * await queue.addAndWait(21); // → { status: "done", result: 42 }
   * const { id } = await queue.add(4);
   * await queue.waitFor(id, { timeoutMs: 5_000 }); // → { status: "done", result: 8 }
   * await worker.stop();
   */
  async addAndWait(data: I, options: JobOptions = {}, wait: WaitForOptions = {}): Promise<Outcome<R>> {
    WAIT_FOR_OPTIONS.check(wait);
    const { id, shard, send } = this.#adding.awaited(data, options);
    const waiters = this.#waiters[shard.index]!;
    let standing: NotAdded | undefined;
    const outcome = await waiters.expect(id, wait, async () => {
      standing = await send();
      return standing === undefined;
    });
    const other: NotAdded | undefined = standing;
    return fetchedOutcome(this, other === undefined || other.id === id ? outcome : await waiters.wait(other.id, wait));
  }

  /** Many, one round trip for every 500. Each such part is added whole or not at all. */
  addMany(jobs: readonly NewJob<I>[]): Promise<Added[]> {
    return this.#adding.many(jobs);
  }

  /**
   * A job that runs when its children have; the tree may span queues. Resolves with the id of the root.
   * @example
   * const queue = new Queue(db, "orders");
   * const root = await queue.addFlow({ data: "ship", children: [{ data: "pack" }] });
   * const { items } = await queue.children(root);
   * items; // → [{ queue: "orders", id: "…", name: "…", status: "pending" }]
   * await queue.parent(items[0]!.id); // → { queue: "orders", id: "…" }
   * (await queue.getFlow(root))?.state; // → "waiting-for-children"
   */
  addFlow(root: FlowNode): Promise<string> {
    return this.#adding.flow(root, this);
  }

  /** Where a job of a flow goes: beside its parent if it may. @internal */
  flowTarget(options: JobOptions | undefined, parent: FlowTarget | null): FlowTarget {
    if (options !== undefined) JOB_OPTIONS.check(options);
    return this.#adding.flowTarget(options, parent);
  }

  #shardOfId(id: string): Shard {
    checkWord(id, "the id of a job");
    if (this.shards.length === 1) return this.shards[0];
    const shard = this.shards[Number(/@(\d+)$/.exec(id)?.[1] ?? -1)];
    if (shard === undefined) throw new InputError(`"${id}" is no id of this queue: it does not name its shard`);
    return shard;
  }

  // ---------------------------------------------------------------------------------------------- looking

  /** Reads a job. Null if the queue does not know it, or not any more. */
  async get(id: string): Promise<Job<T, R> | null> {
    return alone(id, (each) => this.#shardOfId(each), this.#read);
  }

  /** Null for those that the queue does not know. */
  async getMany(ids: readonly string[]): Promise<(Job<T, R> | null)[]> {
    return inBulk(ids, (id) => this.#shardOfId(id), this.#read);
  }

  readonly #read = (shard: Shard, ids: readonly string[]) => jobsOf(this, shard, ids);

  /** How many jobs there are, by their states. */
  async counts(): Promise<Counts> {
    return countsOf(this);
  }

  /**
   * Jobs in one state, page by page: in the order in which they will run, are due, or have ended. Shard after shard.
   * @example
   * const queue = new Queue(db, "mails");
   * const { id } = await queue.add("hello", { group: "ann" });
   * (await queue.getMany([id, "other"])).map((job) => job?.data); // → ["hello", undefined]
   * (await queue.list("waiting", { limit: 10 })).items.length; // → 1
   * await queue.listGroups(); // → { items: [{ name: "ann", waiting: 1, active: 0, blocked: false }], cursor: null }
   */
  async list(state: JobState, options: ListOptions = {}): Promise<JobPage<T, R>> {
    oneOf("state", state, JOB_STATES);
    LIST_OPTIONS.check(options);
    return pageOf(this, state, options);
  }

  /** Lines that the job's handlers have logged, the oldest first. */
  async logs(id: string): Promise<string[]> {
    const { keys } = this.#shardOfId(id);
    const lines = await this.store.call("HGET", keys.data, `l${id}`);
    return lines === null
      ? []
      : String(lines)
          .split("\n")
          .map((line): string => JSON.parse(line));
  }

  /**
   * What happened in the last minutes, the oldest first; a day is kept.
   * @example
   * const queue = new Queue(db, "mails");
   * const { id } = await queue.add("hello");
   * [await queue.logs(id), await queue.history(id)]; // → [[], []]
   * [await queue.incidents(), await queue.workers()]; // → [[], []]
   * (await queue.stats({ minutes: 5 })).map(({ done }) => done); // → [0, 0, 0, 0, 0]
   */
  async stats(options: { readonly minutes?: number } = {}): Promise<MinuteCounts[]> {
    STATS_OPTIONS.check(options);
    return minutesOf(this, options.minutes ?? 60);
  }

  /** Waits until a job has ended. */
  async waitFor(id: string, options: WaitForOptions = {}): Promise<Outcome<R>> {
    WAIT_FOR_OPTIONS.check(options);
    const shard = this.#shardOfId(id);
    return fetchedOutcome(this, await this.#waiters[shard.index]!.wait(id, options));
  }

  /**
   * Follows what happens: everything, or events of some kinds. A result that is kept elsewhere is not fetched for it.
   * @example
   * const queue = new Queue(db, "mails");
   * await queue.add("hello");
   * const feed = await queue.events({ from: "start" });
   * for await (const event of feed) {
   *   if (event.kind === "added") break;
   * }
   */
  async events<K extends QueueEventKind = QueueEventKind>(
    options: EventsOptions & { readonly kinds?: readonly K[] } = {},
  ): Promise<EventFeed<QueueEventOf<K, R>>> {
    EVENTS_OPTIONS.check(options);
    const keys = this.shards.map((shard) => shard.keys.events);
    const decode = (payload: string | Buffer): R | null => {
      const result = decodeResult(payload, this.resultCodec);
      return result instanceof KeptElsewhere ? null : result;
    };
    return EventFeed.open({ store: this.store, keys, buffers: this.resultCodec.binary, decode }, options);
  }

  /** Its attempts, the oldest first, with times, workers and errors. Null if there is no such job. */
  async history(id: string): Promise<Attempt[] | null> {
    return historyOf(this.store, this.#shardOfId(id).keys, id);
  }

  /** Jobs that stalled or were slow, the newest first; the last 100 of each kind are kept. */
  async incidents(options: IncidentsOptions = {}): Promise<Incident[]> {
    return incidentsOf(this.store, this.shards, options);
  }

  /** The workers that live, and what each has done; as they told last, up to five seconds ago. */
  async workers(): Promise<WorkerReport[]> {
    return workersOf(this);
  }

  /** Groups with jobs that wait, by name, page by page. Shard after shard. */
  async listGroups(options: PageOptions = {}): Promise<Page<Group>> {
    GROUPS_OPTIONS.check(options);
    return groupsOf(this, options);
  }

  // ---------------------------------------------------------------------------------------------- flows

  /** The job that waits for this one, or did; null if there is none. */
  async parent(id: string): Promise<FlowMember | null> {
    return parentOf(this.#lookout(id), id);
  }

  /** The children of a job and what they gave, in the order of the flow, page by page. */
  async children(id: string, options: PageOptions = {}): Promise<Page<FlowChild>> {
    return listChildren(this.#lookout(id), id, options);
  }

  /** A job and all below it, over all queues. */
  async getFlow(id: string, options: FlowOptions = {}): Promise<FlowTree | null> {
    return flowFrom(this.#lookout(id), id, options);
  }

  #lookout(id: string): Lookout {
    const { address } = this.#shardOfId(id);
    return { store: this.store, address, binary: this.resultCodec.binary, results: this.results };
  }

  // ---------------------------------------------------------------------------------------------- managing

  /** `active`: the job is running and stays; `cancel` it first. */
  async delete(id: string): Promise<DeleteOutcome> {
    return alone(id, (each) => this.#shardOfId(each), this.#managing.delete);
  }

  /** The same for many, in chunks; what became of each, in order. */
  async deleteMany(ids: readonly string[]): Promise<DeleteOutcome[]> {
    return inBulk(ids, (id) => this.#shardOfId(id), this.#managing.delete);
  }

  /**
   * Changes a job that does not run: its data, when it is due, its priority, how it is tried. What is not named stays.
   * @example
   * const queue = new Queue(db, "mails");
   * const { id } = await queue.add("hello", { delayMs: 60_000 });
   * await queue.update(id, { priority: 10 }); // → { status: "updated" }
   * await queue.promote(id); // → true
   * await queue.cancel(id); // → { status: "cancelled" }
   * await queue.retry(id); // → true
   * await queue.delete(id); // → { status: "deleted" }
   */
  async update(id: string, update: JobUpdate<I>): Promise<UpdateOutcome> {
    return alone(this.#change(id, update), ({ shard }) => shard, this.#managing.update);
  }

  /**
   * The same for many, each with its id; what became of each, in order.
   * @example
   * const queue = new Queue(db, "mails");
   * const { id } = await queue.add("hello");
   * await queue.updateMany([{ id, delayMs: 60_000 }]); // → [{ status: "updated" }]
   * await queue.promoteMany([id]); // → [true]
   * await queue.cancelMany([id]); // → [{ status: "cancelled" }]
   * await queue.retryMany([id]); // → [true]
   * await queue.deleteMany([id]); // → [{ status: "deleted" }]
   */
  async updateMany(updates: readonly (JobUpdate<I> & { readonly id: string })[]): Promise<UpdateOutcome[]> {
    const changes = updates.map(({ id, ...update }) => this.#change(id, update));
    return inBulk(changes, ({ shard }) => shard, this.#managing.update);
  }

  #change(id: string, update: JobUpdate<I>): Change {
    return changeOf(this, this.#shardOfId(id), id, update);
  }

  /** A job that has not begun goes to the dead letters; one that runs has its signal aborted, and is not tried again. */
  async cancel(id: string): Promise<CancelOutcome> {
    return alone(id, (each) => this.#shardOfId(each), this.#managing.cancel);
  }

  /** The same for many; what became of each, in order. */
  async cancelMany(ids: readonly string[]): Promise<CancelOutcome[]> {
    return inBulk(ids, (id) => this.#shardOfId(id), this.#managing.cancel);
  }

  /** Runs a finished job again, with fresh attempts. False if it is not done or dead. */
  async retry(id: string): Promise<boolean> {
    return alone(id, (each) => this.#shardOfId(each), this.#managing.retry);
  }

  /** The same for many; whether each runs again, in order. */
  async retryMany(ids: readonly string[]): Promise<boolean[]> {
    return inBulk(ids, (id) => this.#shardOfId(id), this.#managing.retry);
  }

  /** Runs dead letters again, the oldest first; how many. */
  async replayDead(options: { readonly limit?: number } = {}): Promise<number> {
    REPLAY_DEAD_OPTIONS.check(options);
    return this.#managing.replayDead(options.limit ?? Number.POSITIVE_INFINITY);
  }

  /** Makes a delayed job due now. False if it is not delayed. */
  async promote(id: string): Promise<boolean> {
    return alone(id, (each) => this.#shardOfId(each), this.#managing.promote);
  }

  /** The same for many; whether each was delayed, in order. */
  async promoteMany(ids: readonly string[]): Promise<boolean[]> {
    return inBulk(ids, (id) => this.#shardOfId(id), this.#managing.promote);
  }

  /** Makes delayed jobs due now, those that are due first before the others; how many. */
  async promoteDelayed(options: { readonly limit?: number } = {}): Promise<number> {
    PROMOTE_DELAYED_OPTIONS.check(options);
    return this.#managing.promoteDelayed(options.limit ?? Number.POSITIVE_INFINITY);
  }

  /**
   * No job begins until `resume`; those under way go on.
   * @example
   * const queue = new Queue(db, "mails");
   * await queue.pause();
   * await queue.add("hello", { delayMs: 60_000 });
   * await queue.promoteDelayed({ limit: 100 }); // → 1
   * await queue.drain({ delayed: true }); // → 1
   * await queue.resume();
   */
  async pause(): Promise<void> {
    await Promise.all(this.shards.map(({ keys }) => this.store.run(setPaused, { ...keys, paused: 1 })));
  }

  /** Jobs begin again, on all workers. */
  async resume(): Promise<void> {
    await Promise.all(this.shards.map(({ keys }) => this.store.run(setPaused, { ...keys, paused: 0 })));
  }

  /**
   * Sets the settings of the queue, all of them: what is not named has its default again.
   * @example
   * const queue = new Queue(db, "mails");
   * await queue.configure({ rate: { limit: 10, windowMs: 1_000 } });
   * await queue.settings(); // → { rate: { limit: 10, windowMs: 1000 } }
   */
  async configure(settings: Settings): Promise<void> {
    const encoded = encodeSettings(settings);
    await Promise.all(this.shards.map(({ keys }) => this.store.run(setSettings, { ...keys, settings: encoded })));
  }

  /** The settings that `configure` has set; what has its default is left out. */
  async settings(): Promise<Settings> {
    return decodeSettings(asTextOrNull(await this.store.call("HGET", this.shards[0].keys.data, "#settings")));
  }

  /** Removes all jobs that wait, and delayed ones if asked; how many. What runs goes on. */
  async drain(options: { readonly delayed?: boolean } = {}): Promise<number> {
    DRAIN_OPTIONS.check(options);
    return this.#managing.drain(options.delayed === true);
  }

  /**
   * Drops jobs of a state by their age; how many. Those that run stay.
   * @example
   * const queue = new Queue(db, "mails");
   * await queue.replayDead({ limit: 100 }); // → 0
   * await queue.clean("done", { keepMs: 3_600_000 }); // → 0
   * await queue.clear();
   */
  async clean(state: CleanableState, options: CleanOptions = {}): Promise<number> {
    return clean(this, state, options);
  }

  /** Deletes the queue with all that is in it, schedules and settings too. Workers on it start over with an empty one. */
  async clear(): Promise<void> {
    await Promise.all(this.shards.map(({ keys }) => this.store.call("UNLINK", ...Object.values(keys))));
    await this.#names.remove(this.name);
  }

  // ---------------------------------------------------------------------------------------------- schedules

  /**
   * Sets a schedule, or changes it; when its next job is due. To be called by every process that starts.
   * @example
   * const queue = new Queue<string>(db, "reports");
   * await queue.schedule("daily", { cron: "0 6 * * *", timeZone: "Europe/Rome" }, "sales");
   * (await queue.upcoming("daily", { limit: 3 }))?.length; // → 3
   * await queue.updateSchedule("daily", { times: { everyMs: 3_600_000 } }); // → true
   * (await queue.getSchedule("daily"))?.everyMs; // → 3600000
   * await queue.unschedule("daily"); // → true
   */
  async schedule(name: string, times: ScheduleTimes, data: I, options: ScheduledJobOptions = {}): Promise<Date> {
    SCHEDULE_OPTIONS.check(options);
    const nextAt = await this.#schedules.set(name, { times, data, options });
    this.#names.announce(this.name);
    return nextAt;
  }

  /** Reads a schedule. Null if there is none of this name. */
  async getSchedule(name: string): Promise<Schedule<T> | null> {
    return this.#schedules.get(name);
  }

  /** Changes a schedule in part; how many jobs it has made stays known. False if there is none. A group stays what it is. */
  async updateSchedule(name: string, update: ScheduleUpdate<I>): Promise<boolean> {
    SCHEDULE_UPDATE_OPTIONS.check(update);
    if (update.options !== undefined) SCHEDULE_OPTIONS.check(update.options);
    return this.#schedules.update(name, update);
  }

  /**
   * It makes no jobs until it is resumed, also when it is set again meanwhile. False if there is none, or it is paused.
   * @example
   * const queue = new Queue<string>(db, "reports");
   * await queue.schedule("hourly", { everyMs: 3_600_000 }, "sales");
   * await queue.pauseSchedule("hourly"); // → true
   * await queue.resumeSchedule("hourly"); // → true
   * (await queue.listSchedules()).items.map(({ name }) => name); // → ["hourly"]
   */
  async pauseSchedule(name: string): Promise<boolean> {
    return this.#schedules.pause(name);
  }

  /** Goes on with its next time; times that passed meanwhile are left out. False if there is none, or it is not paused. */
  async resumeSchedule(name: string): Promise<boolean> {
    return this.#schedules.resume(name);
  }

  /** When its next jobs are due: 10 by default, none while it is paused. Null if there is no such schedule. */
  async upcoming(name: string, options: { readonly limit?: number } = {}): Promise<Date[] | null> {
    UPCOMING_OPTIONS.check(options);
    return this.#schedules.upcoming(name, options.limit ?? 10);
  }

  /** Deletes a schedule; jobs that it has made stay. False if there is none. */
  async unschedule(name: string): Promise<boolean> {
    return this.#schedules.delete(name);
  }

  /** The schedules by name, page by page. Shard after shard. */
  async listSchedules(options: PageOptions = {}): Promise<Page<Schedule<T>>> {
    SCHEDULES_OPTIONS.check(options);
    return this.#schedules.list(options);
  }
}

/** JSON unless something else is chosen; and only what the schema accepts, if there is one. */
function codecFor<Output, Input>(
  chosen: Codec<Output> | undefined,
  given: StandardSchema<Input, Output> | undefined,
  what: string,
): Codec<Output, Input> {
  const plain = chosen ?? json<Output>();
  // Without a schema what is given and what comes back have one type.
  return given === undefined
    ? (plain as Codec<Output, never>)
    : new ValidatingCodec(plain as Codec<unknown>, given, what);
}

function checkedDefaults(defaults: QueueOptions<unknown, unknown>["defaults"]): JobOptions {
  if (defaults === undefined) return NO_OPTIONS;
  if (defaults.backoff !== undefined) checkBackoff(defaults.backoff);
  return defaults;
}
