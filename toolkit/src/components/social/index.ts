/**
 * A social network: users, statuses, follows, timelines, lists.
 *
 *   const social = new Social(store);
 *   const worker = social.worker().start();
 *   const ada = await social.users.join("Ada");
 *   await social.follows.follow(bob, ada);
 *   await social.statuses.post(ada, "hello");
 *   await social.timelines.home(bob);
 *
 * The parts may be on different servers: `new Social({ users, statuses, follows, timelines, queue })`. README.md tells what is
 * promised, scripts/ how it is kept.
 */

import { ServerError } from "../../base/errors.ts";
import { asNumber, wordOf } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import type { Counts } from "../queues/index.ts";
import { type Core, makeCore, type SocialOptions, type SocialParts, sound } from "./core.ts";
import { FanOut, SocialWorker, type SocialWorkerOptions } from "./fan-out.ts";
import { Follows } from "./follows.ts";
import { checkList, checkUser, isList } from "./ids.ts";
import { Lists } from "./lists.ts";
import { readHome } from "./scripts/timelines.ts";
import { Statuses } from "./statuses.ts";
import { Timelines } from "./timelines.ts";
import { Users } from "./users.ts";
import { Views } from "./views.ts";

export type { StatusEvent, StatusSink } from "../streaming/events.ts";
export type { SocialOptions, SocialParts } from "./core.ts";
export type { SocialWorker, SocialWorkerOptions } from "./fan-out.ts";
export type {
  BlockOutcome,
  FollowOutcome,
  Follows,
  MuteOutcome,
  People,
  PeopleOptions,
  SocialCounts,
} from "./follows.ts";
export type { Lists, UserList } from "./lists.ts";
export type { PostOptions, Statuses } from "./statuses.ts";
export type { PageOptions, StatusPage, Timelines } from "./timelines.ts";
export type { JoinOutcome, User, Users } from "./users.ts";
export type { Place, Status } from "./views.ts";

/** A timeline as it is stored, for people who operate one. */
export interface TimelineState {
  /** cold: not there, and built when it is read. building: being filled. warm: there. */
  readonly state: "cold" | "building" | "warm";
  /** Statuses that it has stored. */
  readonly size: number;
  /** Whether it has all there is; otherwise older ones are read from the profiles. */
  readonly isComplete: boolean;
  /** Authors who are merged in at reading. */
  readonly merged: readonly string[];
  /** Authors who are left out at reading. */
  readonly muted: readonly string[];
  /** Until it is dropped, if nobody reads it. */
  readonly expiresInMs: number;
}

/** How an author's statuses reach timelines. */
export interface AuthorState {
  /** push: delivered. pull: merged in at reading. toPull, toPush: on the way. */
  readonly mode: "push" | "toPull" | "pull" | "toPush";
  /** Users who follow the author. */
  readonly followers: number;
  /** Lists that have the author. */
  readonly lists: number;
}

const asMode = wordOf<AuthorState["mode"]>("push", "toPull", "pull", "toPush");

/** What workers have still to do. */
export interface Backlog {
  /** Jobs of the fan-out's queue, by state. */
  readonly jobs: Counts;
  /** Calls under way, and those that died and are not finished yet. */
  readonly open: number;
}

/**
 * A social network: users, statuses, follows, lists and timelines, on one store or on one for each part.
 *
 * @example
 * const social = new Social(db);
 * await using worker = social.worker().start();
 * for (const login of ["ada", "bob"]) await social.users.join(login, { id: login });
 * await social.follows.follow("bob", "ada");
 * await social.statuses.post("ada", "hello");
 * (await social.timelines.home("bob")).items.map(({ text }) => text); // → […]
 * @example
 * const social = new Social(db);
 * await social.users.join("ada", { id: "ada" });
 * await social.inspectAuthor("ada"); // → { mode: "push", followers: 0, lists: 0 }
 * (await social.inspectTimeline("ada")).state; // → "cold"
 * await social.deleteTimeline("ada"); // → false
 * @example
 * const social = new Social(db);
 * (await social.stats()).open; // → 0
 * await social.retryDead(); // → 0
 */
export class Social {
  /** Joining, logins and names. */
  readonly users: Users;
  /** Posting, reposting and deleting. */
  readonly statuses: Statuses;
  /** Following, blocking and muting. */
  readonly follows: Follows;
  /** Lists of users. */
  readonly lists: Lists;
  /** Home timelines, profiles and timelines of lists. */
  readonly timelines: Timelines;
  readonly #core: Core;
  readonly #fanOut: FanOut;

  constructor(store: Store | SocialParts, options: SocialOptions = {}) {
    const core = makeCore(store, options);
    this.#core = core;
    this.users = new Users(core);
    const views = new Views(core, this.users);
    this.timelines = new Timelines(core, views);
    this.statuses = new Statuses(core, this.users, views);
    this.follows = new Follows(core, this.users, this.timelines);
    this.lists = new Lists(core, this.users, this.follows);
    this.#fanOut = new FanOut(core, this);
  }

  /** Delivers what is posted, and finishes what others have left. At least one process must have one running. */
  worker(options: SocialWorkerOptions = {}): SocialWorker {
    return new SocialWorker(this.#core, (job) => this.#fanOut.run(job), options);
  }

  /** What is still to be done. */
  async stats(): Promise<Backlog> {
    const [jobs, open] = await Promise.all([this.#core.jobs.counts(), this.#core.journal.size()]);
    return { jobs, open };
  }

  /** Does again what was given up after many attempts; how many jobs. */
  retryDead(): Promise<number> {
    return this.#core.jobs.replayDead();
  }

  /** Drops the timeline of a user or a list; it is built anew when it is read. False if there was none. */
  async deleteTimeline(subject: string): Promise<boolean> {
    const { timelines, keys } = this.#core;
    return Number(await timelines.send(["DEL", keys.home(checkSubject(subject))], { repeatable: true })) === 1;
  }

  /** The timeline of a user or a list, without keeping it alive. */
  async inspectTimeline(subject: string): Promise<TimelineState> {
    const { timelines, keys } = this.#core;
    const home = keys.home(checkSubject(subject));
    const [read, size, ttl] = await timelines.pipeline([
      readHome.with({ home, before: "", limit: 0, keepMs: 0 }),
      ["ZLEXCOUNT", home, "($", "+"],
      ["PTTL", home],
    ]);
    if (read instanceof ServerError) throw read;
    if (read === null) {
      return { state: "cold", size: 0, isComplete: false, merged: [], muted: [], expiresInMs: 0 };
    }
    const [floor, , merged, muted] = read;
    const state = floor === "~" ? "building" : "warm";
    return { state, size: asNumber(size), isComplete: floor === "", merged, muted, expiresInMs: asNumber(ttl) };
  }

  /** How an author's statuses reach timelines. */
  async inspectAuthor(author: string): Promise<AuthorState> {
    const { follows, keys } = this.#core;
    checkUser("author", author);
    const [mode, followers, lists] = sound(
      await follows.pipeline([
        ["HGET", keys.graph(author), "mode"],
        ["ZCARD", keys.followers(author)],
        ["ZCARD", keys.listed(author)],
      ]),
    );
    return {
      mode: mode === null ? "push" : asMode(mode),
      followers: Number(followers),
      lists: Number(lists),
    };
  }
}

const checkSubject = (subject: string): string =>
  isList(subject) ? checkList(subject) : checkUser("subject", subject);
