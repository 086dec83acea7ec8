/**
 * The work in the queue. Each job does a bounded part, can be done again without harm, and adds what remains before it ends, so a
 * worker that dies anywhere costs a repetition and nothing else.
 *
 * **Delivering.** A pass reads some of the author's audience, in the order of its versions, puts the status into their timelines, and
 * then looks again: at the status, which may have been deleted since, and at the audience, some of whom may have left. A follower who left
 * before that look is cleaned here; one that leaves after it cleans what is then in their timeline. So nothing stays where it
 * should not be, and nothing is missing: who came since the status was posted has read it from the profile. A large audience is
 * cut into ranges that several workers pass over at once.
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import { callback, defineOptions, whole } from "../../base/options.ts";
import { asTexts } from "../../base/replies.ts";
import { Worker } from "../queues/index.ts";
import { type Core, chunked, type Entry, each, type Job, type Passing, sound } from "./core.ts";
import type { Follows } from "./follows.ts";
import { authorOf, msOf, statusId } from "./ids.ts";
import { JOURNALS } from "./keys.ts";
import type { Lists } from "./lists.ts";
import { setMode } from "./scripts/follows.ts";
import { noteRepost } from "./scripts/statuses.ts";
import { deliver, switchAuthor } from "./scripts/timelines.ts";
import { retireUser } from "./scripts/users.ts";
import type { Statuses } from "./statuses.ts";
import type { Timelines } from "./timelines.ts";
import type { Users } from "./users.ts";

/** Timelines in one script: the server does nothing else meanwhile. */
const HOMES_AT_ONCE = 100;
/** A range of an audience that one worker passes over, in passes. */
const RANGE_PASSES = 10;
const MAX_RANGES = 1_000;
/** Servers' clocks may differ: what was posted so long after a change was certainly posted after it. */
const CLOCKS_MS = 3_600_000;
const RETIRE_AT_ONCE = 100;
const GONE_MS = 86_400_000;

/** How a worker works. */
export interface SocialWorkerOptions {
  /** Jobs at once. 4 by default. */
  readonly concurrency?: number;
  /** How long after this process died its jobs run again. 30 s by default. */
  readonly leaseMs?: number;
  /** Called with the error when something went wrong that is tried again. None by default. */
  readonly onError?: (error: unknown) => void;
}

const OPTIONS = defineOptions<SocialWorkerOptions>("SocialWorker", {
  concurrency: whole(1, 10_000),
  leaseMs: whole(100),
  onError: callback,
});

const STOP_OPTIONS = defineOptions<{ readonly timeoutMs?: number }>("SocialWorker.stop", {
  timeoutMs: whole(0),
});

/**
 * Does what is in the queue, and looks for calls that died. Any number of them in any number of processes.
 *
 * @example
 * const social = new Social(db);
 * const worker = social.worker({ concurrency: 8 }).start();
 * await worker.stop({ timeoutMs: 5_000 });
 */
export class SocialWorker {
  readonly #core: Core;
  readonly #worker: Worker<Job, void>;
  readonly #sweeper: BackgroundLoop;

  constructor(core: Core, run: (job: Job) => Promise<void>, options: SocialWorkerOptions) {
    OPTIONS.check(options);
    this.#core = core;
    const { concurrency = 4, leaseMs = 30_000, onError } = options;
    this.#worker = new Worker<Job, void>(core.jobs, ({ data }) => run(data), { concurrency, leaseMs });
    if (onError !== undefined) {
      this.#worker.on("failed", (_, error) => onError(error));
      this.#worker.on("error", onError);
    }
    this.#sweeper = new BackgroundLoop(core.queue, {
      everyMs: Math.max(10, Math.min(5_000, core.settings.leaseMs / 3)),
      round: (signal) => this.#sweep(signal),
      ...(onError === undefined ? {} : { onError }),
    });
  }

  /** Begins to work. */
  start(): this {
    this.#worker.start();
    this.#sweeper.start();
    return this;
  }

  /** Lets jobs under way end, up to a time; what has not ended runs elsewhere. */
  async stop(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    STOP_OPTIONS.check(options);
    await Promise.all([this.#sweeper.stop(), this.#worker.stop(options)]);
  }

  async #sweep(signal: AbortSignal): Promise<number> {
    let found = 0;
    for (let shard = 0; shard < JOURNALS && !signal.aborted; shard++) {
      const entries = await this.#core.journal.due(shard, 100);
      await this.#core.jobs.addMany(entries.map((data) => ({ data, options: { id: `entry:${data.t}` } })));
      found += entries.length;
    }
    return found;
  }

  /** The same as `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The parts of a network that jobs work on. */
interface Network {
  readonly users: Users;
  readonly statuses: Statuses;
  readonly follows: Follows;
  readonly lists: Lists;
  readonly timelines: Timelines;
}

export class FanOut {
  readonly #core: Core;
  readonly #users: Users;
  readonly #statuses: Statuses;
  readonly #follows: Follows;
  readonly #lists: Lists;
  readonly #timelines: Timelines;

  constructor(core: Core, { users, statuses, follows, lists, timelines }: Network) {
    this.#core = core;
    this.#users = users;
    this.#statuses = statuses;
    this.#follows = follows;
    this.#lists = lists;
    this.#timelines = timelines;
  }

  async run(job: Job): Promise<void> {
    switch (job.k) {
      case "deliver":
        return this.#deliver(job);
      case "clean":
        return this.#clean(job);
      case "switch":
        return this.#switch(job);
      case "publish":
        return this.#publish(job);
      case "build":
        return this.#timelines.build(job.subject);
      case "retire":
        return this.#retire(job.user);
      default:
        await this.#settle(job);
        return this.#core.journal.close(job);
    }
  }

  async #settle(entry: Entry): Promise<unknown> {
    switch (entry.k) {
      case "link":
        return this.#follows.settle(entry.subject, entry.user);
      case "block":
        return this.#follows.sever(entry.user, entry.other);
      case "post":
        return this.#statuses.resumePost(entry.author, entry.request);
      case "delete":
        return this.#statuses.resumeRemoval(entry.id, entry.of);
      case "unlist":
        return this.#lists.finishRemoval(entry.list);
      case "removal": {
        const { users, keys, jobs } = this.#core;
        if ((await users.call("HGET", keys.user(entry.user), "state")) !== "r") return;
        const login = await users.run(retireUser, { user: keys.user(entry.user) });
        await this.#users.finishRemoval(entry.user, login);
        return jobs.add({ k: "retire", user: entry.user });
      }
    }
  }

  async #publish({ event }: Extract<Job, { k: "publish" }>): Promise<void> {
    const { sink, statuses, keys } = this.#core;
    // A status that was deleted before its event was published is not published.
    if (event.kind === "status" && (await statuses.call("EXISTS", keys.status(event.id))) === 0) return;
    await sink?.publish(event);
  }

  // ---------------------------------------------------------------------------------------------- passes

  async #deliver(job: Extract<Job, { k: "deliver" }>): Promise<void> {
    const { id } = job;
    const author = authorOf(id);
    const isFirst = job.set === undefined && job.after === undefined;
    if (isFirst && job.of !== undefined && !(await this.#noteRepost(job.of, id))) {
      return void (await this.#statuses.delete(author, id));
    }
    const { passSize } = this.#core.settings;
    const page = await this.#follows.audience(author, job, passSize);
    if (page.mode === "pull") return;
    const rest = isFirst && page.last !== null ? this.#split(job, author, page.last[0]) : this.#next(job, page.last);
    await this.#put(id, author, page.subjects);
    const { statuses, keys } = this.#core;
    const [isThere, gone] = await Promise.all([
      statuses.call("EXISTS", keys.status(id)),
      this.#follows.gone(author, job.set, page.subjects),
    ]);
    // If it was deleted, the cleaning goes over everybody; but it may have been here before.
    await this.#timelines.takeOut(isThere === 0 ? page.subjects : gone, [id]);
    const remaining = await rest;
    if (isThere === 0) return;
    // The lists of authors whose audience is small are done at once.
    const [next, ...others] = remaining;
    if (next !== undefined && others.length === 0 && page.last === null) return this.#deliver(next);
    await this.#core.jobs.addMany(remaining.map((data) => ({ data })));
  }

  async #noteRepost(of: string, repost: string): Promise<boolean> {
    const { statuses, keys } = this.#core;
    return (await statuses.run(noteRepost, { status: keys.status(of), reposts: keys.reposts(of), repost })) === 1;
  }

  async #put(id: string, author: string, subjects: readonly string[]): Promise<void> {
    const { timelines, keys, settings } = this.#core;
    const { timelineSize: most, slack } = settings;
    // In a Cluster each timeline is in a slot of its own.
    const parts = chunked(
      subjects.map((subject) => keys.home(subject)),
      timelines.topology === "cluster" ? 1 : HOMES_AT_ONCE,
    );
    sound(await timelines.pipeline(parts.map((homes) => deliver.with({ homes, id, author, most, slack }))));
  }

  /** What comes after a page: the next one, or the lists. */
  async #next<J extends Job & Passing>(job: J, last: Passing["after"] | null): Promise<J[]> {
    if (last !== null) return [{ ...job, after: last }];
    if (job.set === "listed" || job.until !== undefined) return [];
    return [{ ...job, after: undefined, set: "listed" }];
  }

  /** The audience behind the first page, in ranges, and the lists. */
  async #split<J extends Job & Passing>(job: J, author: string, from: string): Promise<J[]> {
    const { follows, keys, settings } = this.#core;
    const followers = keys.followers(author);
    const count = Number(await follows.call("ZCARD", followers));
    const size = Math.max(settings.passSize * RANGE_PASSES, Math.ceil(count / MAX_RANGES));
    const ranks: number[] = [];
    for (let rank = size; rank < count; rank += size) ranks.push(rank);
    const ends = sound(await follows.pipeline(ranks.map((rank) => ["ZRANGE", followers, rank, rank, "WITHSCORES"])));
    const versions = ends.flatMap((each) => asTexts(each)[1] ?? []).filter((each) => Number(each) > Number(from));
    const ranges = [...new Set(versions)];
    // Ranges meet at a version, which belongs to the first of the two: a place without a name is behind all of its version. The
    // first begins inside a version, so it goes over all of that again; the last has no end, and goes on to the lists.
    const begins = [String(Number(from) - 1), ...ranges];
    return begins.map((version, at) => {
      const until = ranges[at];
      const part = { ...job, after: [version, ""] as const };
      return until === undefined ? part : { ...part, until };
    });
  }

  /** Takes a status out of every timeline, and its reposts with it. */
  async #clean(job: Extract<Job, { k: "clean" }>): Promise<void> {
    const { id } = job;
    const author = authorOf(id);
    if (job.set === undefined && job.after === undefined) await this.#cleanReposts(id, job.of);
    const page = await this.#follows.audience(author, job, this.#core.settings.passSize);
    // It was never delivered.
    if (page.mode === "pull" && msOf(id) > page.modeAtMs + CLOCKS_MS) return;
    await this.#timelines.takeOut(page.subjects, [id]);
    const remaining = await this.#next(job, page.last);
    const [next, ...others] = remaining;
    if (next !== undefined && others.length === 0 && page.last === null) return this.#clean(next);
    await this.#core.jobs.addMany(remaining.map((data) => ({ data })));
  }

  async #cleanReposts(id: string, of: string | undefined): Promise<void> {
    const { statuses, keys } = this.#core;
    if (of !== undefined) await statuses.send(["ZREM", keys.reposts(of), id], { repeatable: true });
    for (;;) {
      const reposts = asTexts(await statuses.call("ZRANGE", keys.reposts(id), 0, RETIRE_AT_ONCE - 1));
      if (reposts.length === 0) return;
      await each(reposts, 8, (repost) => this.#statuses.delete(authorOf(repost), repost));
      await statuses.send(["ZREM", keys.reposts(id), ...reposts], { repeatable: true });
    }
  }

  // ---------------------------------------------------------------------------------------------- delivered or merged in

  /**
   * An author whose audience has grown goes over to being merged in: every timeline gets a mark, and only when all have one does
   * delivering end. The other way: delivering begins, every timeline gets what it has missed and loses its mark. Timelines
   * that come meanwhile see the mode they need. So at every moment a status is delivered or merged in, or both.
   */
  async #switch(job: Extract<Job, { k: "switch" }>): Promise<void> {
    const { author, to } = job;
    const { timelines, follows, keys, settings, jobs } = this.#core;
    const passing = to === "pull" ? "toPull" : "toPush";
    const page = await this.#follows.audience(author, { set: job.set, after: job.after }, settings.passSize);
    if (page.mode !== passing) return;
    const { ids, cut } = to === "pull" ? { ids: [], cut: "" } : await this.#timelines.filling(author);
    const { timelineSize: most, slack } = settings;
    const op = to === "pull" ? "mark" : "unmark";
    const atOnce = timelines.topology === "cluster" || to === "push" ? 1 : HOMES_AT_ONCE;
    const parts = chunked(
      page.subjects.map((subject) => keys.home(subject)),
      atOnce,
    );
    for (const some of chunked(parts, 100)) {
      const calls = some.map((homes) => switchAuthor.with({ homes, author, op, cut, most, slack, ids }));
      sound(await timelines.pipeline(calls));
    }
    const [gone] = await Promise.all([
      this.#follows.gone(author, job.set, page.subjects),
      this.#timelines.dropDeleted(page.subjects, ids),
    ]);
    await each(gone, 8, (subject) => this.#timelines.align(subject, author));
    const [next] = await this.#next(job, page.last);
    if (next !== undefined) return void (await jobs.add(next));
    await follows.run(setMode, { graph: keys.graph(author), from: passing, to });
  }

  // ---------------------------------------------------------------------------------------------- removal of a user

  /** A part of what a removed user has left behind; comes again until there is nothing. */
  async #retire(user: string): Promise<void> {
    const { follows, statuses, keys, jobs } = this.#core;
    const some = async (key: string): Promise<string[]> =>
      asTexts(await follows.call("ZRANGE", key, 0, RETIRE_AT_ONCE - 1));
    const [followers, listed, following, lists] = await Promise.all([
      some(keys.followers(user)),
      some(keys.listed(user)),
      some(keys.following(user)),
      some(keys.lists(user)),
    ]);
    await each([...followers, ...listed], 16, (subject) => this.#follows.unlink(subject, user, { force: true }));
    await each(following, 16, (other) => this.#follows.unlink(user, other));
    await each(lists, 4, (list) => this.#lists.finishRemoval(list));
    const times = asTexts(await statuses.call("ZRANGE", keys.profile(user), 0, RETIRE_AT_ONCE - 1));
    await each(times, 8, (time) => this.#statuses.delete(user, statusId(time, user)));
    const left = followers.length + listed.length + following.length + lists.length + times.length;
    if (left > 0) return void (await jobs.add({ k: "retire", user }));
    await this.#forget(user);
  }

  /** What remains says for a day that the user is gone, so that calls under way find no open door. */
  async #forget(user: string): Promise<void> {
    const { users, follows, statuses, timelines, keys } = this.#core;
    const own = [keys.left(user), keys.blocks(user), keys.muted(user)];
    await Promise.all([
      follows.multi([
        ["DEL", ...own],
        ["DEL", keys.graph(user)],
        ["HSET", keys.graph(user), "closed", 1],
        ["PEXPIRE", keys.graph(user), GONE_MS],
      ]),
      statuses.send(["PEXPIRE", keys.posts(user), GONE_MS], { repeatable: true }),
      timelines.send(["DEL", keys.home(user)], { repeatable: true }),
    ]);
    await users.send(["DEL", keys.user(user)], { repeatable: true });
  }
}
