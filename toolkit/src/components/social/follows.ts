/** Following, blocking and muting. How an edge in two slots stays one thing is told in scripts/follows.ts. */

import { InputError } from "../../base/errors.ts";
import { inPairs, zipped } from "../../base/lists.ts";
import { defineOptions, text, whole } from "../../base/options.ts";
import { asNumber, asText, asTextOrNull, asTexts, asTextsOrNulls, asTuple, wordOf } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type Core, each, type Place, sound } from "./core.ts";
import { checkUser, isList } from "./ids.ts";
import { addOwn, attach, conclude, detach, intend, pageOf, setMode } from "./scripts/follows.ts";
import type { Timelines } from "./timelines.ts";
import type { Users } from "./users.ts";

/** What became of a wish to follow. */
export interface FollowOutcome {
  /** `exists`: they followed before. `blocked`: one of the two blocks the other. `full`: they follow as many as they may. */
  readonly status: Linked;
}

/** What became of a wish to block. */
export interface BlockOutcome {
  /** `full`: they block as many as they may. */
  readonly status: "blocked" | "not-found" | "full";
}

/** What became of a wish to mute. */
export interface MuteOutcome {
  /** `full`: they mute as many as they may. */
  readonly status: "muted" | "not-found" | "full";
}

type Linked = "followed" | "exists" | "blocked" | "not-found" | "full";

const asIntent = wordOf<Linked | "ok" | "late">("followed", "exists", "blocked", "not-found", "full", "ok", "late");

/** How many people and statuses a user has. */
export interface SocialCounts {
  /** Users who follow the user. */
  readonly followers: number;
  /** Users whom the user follows. */
  readonly following: number;
  /** Statuses that the user has posted, reposts included. */
  readonly statuses: number;
}

/** Which page of people. */
export interface PeopleOptions {
  /** At most so many (default 50, at most 1 000). */
  readonly limit?: number;
  /** `cursor` of the page before; the first page by default. */
  readonly cursor?: string;
}

/** A page of users. */
export interface People {
  /** Users' ids, in the order in which they came. */
  readonly items: readonly string[];
  /** For the next page; null at the end. */
  readonly cursor: string | null;
}

/** Whom a user blocks, has muted; more than that is no list that anybody keeps by hand. */
const MAX_OWN = 10_000;
/** An author is delivered again below this part of the threshold, so that nobody goes back and forth. */
const DOWN = 0.5;

const PEOPLE_OPTIONS = defineOptions<PeopleOptions>("Follows.followers", {
  limit: whole(1, 1_000),
  cursor: text,
});

/** Followers of an author, or lists that have the author: from a place on, up to a version. */
export interface AudiencePart {
  readonly set?: "listed" | undefined;
  readonly after?: Place | undefined;
  readonly until?: string | undefined;
}

/**
 * Who follows, blocks and mutes whom: `follows` of a `Social`.
 *
 * @example
 * const { users, follows } = new Social(db);
 * for (const login of ["ada", "bob"]) await users.join(login, { id: login });
 * await follows.follow("bob", "ada"); // → { status: "followed" }
 * await follows.isFollowing("bob", "ada"); // → true
 * await follows.counts("ada"); // → { followers: 1, following: 0, statuses: 0 }
 * await follows.unfollow("bob", "ada"); // → true
 * @example
 * const { users, follows } = new Social(db);
 * for (const login of ["ada", "bob"]) await users.join(login, { id: login });
 * await follows.follow("bob", "ada");
 * await follows.followers("ada"); // → { items: ["bob"], cursor: null }
 * await follows.following("bob", { limit: 10 }); // → { items: ["ada"], cursor: null }
 * @example
 * const { users, follows } = new Social(db);
 * for (const login of ["ada", "bob"]) await users.join(login, { id: login });
 * await follows.block("ada", "bob"); // → { status: "blocked" }
 * await follows.follow("bob", "ada"); // → { status: "blocked" }
 * (await follows.blocked("ada")).items; // → ["bob"]
 * await follows.unblock("ada", "bob"); // → true
 * @example
 * const { users, follows } = new Social(db);
 * for (const login of ["ada", "bob"]) await users.join(login, { id: login });
 * await follows.mute("ada", "bob"); // → { status: "muted" }
 * (await follows.muted("ada")).items; // → ["bob"]
 * await follows.unmute("ada", "bob"); // → true
 * await follows.membersOf("+none", {}); // → { items: [], cursor: null }
 */
export class Follows {
  readonly #core: Core;
  readonly #store: Store;
  readonly #users: Users;
  readonly #timelines: Timelines;

  constructor(core: Core, users: Users, timelines: Timelines) {
    this.#core = core;
    this.#store = core.follows;
    this.#users = users;
    this.#timelines = timelines;
  }

  // ---------------------------------------------------------------------------------------------- following

  /** Follows; what the other has posted is in the follower's timeline when this resolves. */
  async follow(user: string, other: string): Promise<FollowOutcome> {
    distinct(user, other);
    return { status: await this.link(user, other, user) };
  }

  /** False if they did not follow. */
  async unfollow(user: string, other: string): Promise<boolean> {
    distinct(user, other);
    return this.unlink(user, other);
  }

  /** From a user or a list to a user. `owner` is who must not be blocked. @internal */
  async link(subject: string, user: string, owner: string): Promise<Linked> {
    const { journal, settings } = this.#core;
    const entry = journal.make({ k: "link", subject, user } as const);
    const params = { ...this.#ofSubject(subject), other: user, op: "add", most: settings.maxFollowing };
    const [[meant, version, before], exists, follows] = await Promise.all([
      this.#store.run(intend, params),
      this.#users.exists(user),
      isList(subject) ? true : this.#users.exists(subject),
      journal.open(entry),
    ]);
    let outcome = asIntent(meant);
    if (meant === "ok") {
      outcome = exists && follows ? await this.#attach(subject, user, owner, version) : "not-found";
      if (outcome === "ok") {
        await this.#conclude(subject, user, "add", version);
        await this.#timelines.align(subject, user);
      } else if (outcome === "late") {
        // Unless somebody else has decided about this edge since, it only took too long.
        const isOurs = (await this.#conclude(subject, user, "look", version)) === 1;
        if (isOurs) outcome = await this.link(subject, user, owner);
      } else if (before === 1) await this.unlink(subject, user);
      else await this.#conclude(subject, user, "cancel", version);
    }
    journal.close(entry);
    return outcome === "ok" || outcome === "late" ? "followed" : outcome;
  }

  async #attach(subject: string, user: string, owner: string, version: string): Promise<Linked | "ok" | "late"> {
    const { keys } = this.#core;
    const [outcome, mode, size] = await this.#store.run(attach, {
      ...this.#ofAudience(user, isList(subject) ? "listed" : undefined),
      left: keys.left(user),
      blocks: keys.blocks(user),
      subject,
      owner,
      version,
    });
    if (outcome === "ok") await this.#adjust(user, mode, size);
    return outcome;
  }

  #conclude(
    subject: string,
    user: string,
    op: "add" | "remove" | "cancel" | "look",
    version: string,
  ): Promise<unknown> {
    const { graph, following } = this.#ofSubject(subject);
    return this.#store.run(conclude, { graph, following, other: user, op, version });
  }

  /** `force`: the other side forgets the subject whether it knows of the edge or not. @internal */
  async unlink(subject: string, user: string, options: { readonly force?: boolean } = {}): Promise<boolean> {
    const { journal, keys } = this.#core;
    const entry = journal.make({ k: "link", subject, user } as const);
    const params = { ...this.#ofSubject(subject), other: user, op: "remove", most: 0 };
    const [[outcome, version]] = await Promise.all([this.#store.run(intend, params), journal.open(entry)]);
    if (outcome === "ok" || options.force === true) {
      const [mode, size] = await this.#store.run(detach, {
        ...this.#ofAudience(user, isList(subject) ? "listed" : undefined),
        left: keys.left(user),
        subject,
        version: version ?? "9007199254740991",
      });
      await this.#adjust(user, mode, size);
      if (version !== undefined) await this.#conclude(subject, user, "remove", version);
      await this.#timelines.align(subject, user);
    }
    journal.close(entry);
    return outcome === "ok";
  }

  /** Finishes what a call that died has left: as it was meant, if that can still be seen. @internal */
  async settle(subject: string, user: string): Promise<void> {
    const { keys } = this.#core;
    const noted = asTextOrNull(await this.#store.call("HGET", keys.graph(subject), `i:${user}`));
    if (noted === null) return this.#timelines.align(subject, user);
    if (noted.startsWith("remove")) return void (await this.unlink(subject, user));
    const owner = isList(subject) ? await this.#store.call("HGET", keys.list(subject), "owner") : subject;
    if (owner === null) return void (await this.unlink(subject, user));
    await this.link(subject, user, String(owner));
  }

  #ofSubject(subject: string) {
    const { keys } = this.#core;
    return { graph: keys.graph(subject), following: keys.following(subject), blocks: keys.blocks(subject) };
  }

  #ofAudience(user: string, set: "listed" | undefined) {
    const { keys } = this.#core;
    return { set: set === undefined ? keys.followers(user) : keys.listed(user), graph: keys.graph(user) };
  }

  // ---------------------------------------------------------------------------------------------- delivered or merged in

  /** An author whose audience has grown past the threshold, or has shrunk well below it, goes over to the other way. */
  async #adjust(user: string, mode: string, size: number): Promise<void> {
    const { pushBelow } = this.#core.settings;
    if (mode === "push" && size >= pushBelow) await this.switchTo(user, "pull");
    else if (mode === "pull" && size < pushBelow * DOWN) {
      const counts = await this.#store.pipeline(
        [this.#core.keys.followers(user), this.#core.keys.listed(user)].map((key) => ["ZCARD", key]),
      );
      if (Math.max(...sound(counts).map(Number)) < pushBelow * DOWN) await this.switchTo(user, "push");
    } else if (mode === "toPull" || mode === "toPush") await this.#hurry(user);
  }

  /** Begins to have an author's statuses merged in ("pull") or delivered ("push"), if it is not so. @internal */
  async switchTo(author: string, to: "pull" | "push"): Promise<void> {
    const from = to === "pull" ? "push" : "pull";
    const graph = this.#core.keys.graph(author);
    const since = await this.#store.run(setMode, { graph, from, to: to === "pull" ? "toPull" : "toPush" });
    if (since !== "") await this.#addSwitch(author, to, since);
  }

  async #addSwitch(author: string, to: "pull" | "push", since: string): Promise<void> {
    await this.#core.jobs.add({ k: "switch", author, to }, { id: `switch:${author}:${since}` });
  }

  /** A change of mode that is not over after a while may have been left by a process that died before its job was added. */
  async #hurry(author: string): Promise<void> {
    const { keys, settings } = this.#core;
    const served = await this.#store.call("HMGET", keys.graph(author), "mode", "modeAt");
    const [mode, since] = asTuple(asTextOrNull, asTextOrNull)(served);
    if (since === null) return;
    if (this.#store.clock.wallMs() - Number(since) < settings.leaseMs) return;
    if (mode === "toPull") await this.#addSwitch(author, "pull", since);
    if (mode === "toPush") await this.#addSwitch(author, "push", since);
  }

  /** Part of an author's audience, and how they are served: the pages that passes go over. @internal */
  async audience(
    author: string,
    { set, after, until }: AudiencePart,
    limit: number,
  ): Promise<{ mode: string; modeAtMs: number; subjects: string[]; last: Place | null }> {
    const [version, member] = after ?? ["", ""];
    const params = { ...this.#ofAudience(author, set), version, member, untilVersion: until ?? "", limit };
    const [mode, modeAt, flat] = await this.#store.run(pageOf, params);
    const followers = inPairs(flat);
    const [subject, since] = (followers.length < limit ? undefined : followers.at(-1)) ?? [];
    const last: Place | null = subject === undefined || since === undefined ? null : [since, subject];
    return { mode, modeAtMs: Number(modeAt), subjects: followers.map(([each]) => each), last };
  }

  /** Which of them are not in an author's audience any more. @internal */
  async gone(author: string, set: "listed" | undefined, subjects: readonly string[]): Promise<string[]> {
    if (subjects.length === 0) return [];
    const key = this.#ofAudience(author, set).set;
    const scores = asTextsOrNulls(await this.#store.send(["ZMSCORE", key, ...subjects]));
    return subjects.filter((_, at) => scores[at] === null);
  }

  // ---------------------------------------------------------------------------------------------- looking

  /** How many users follow a user and are followed, and how much the user has posted. */
  async counts(user: string): Promise<SocialCounts> {
    const { keys, statuses } = this.#core;
    checkUser("user", user);
    const [people, posted] = await Promise.all([
      this.#store.pipeline([
        ["ZCARD", keys.followers(user)],
        ["ZCARD", keys.following(user)],
      ]),
      statuses.call("ZCARD", keys.profile(user)),
    ]);
    const [followers, following] = [asNumber(people[0]), asNumber(people[1])];
    return { followers, following, statuses: Number(posted) };
  }

  /** Whether a user follows another. */
  async isFollowing(user: string, other: string): Promise<boolean> {
    const key = this.#core.keys.following(checkUser("user", user));
    return (await this.#store.call("ZSCORE", key, checkUser("other", other))) !== null;
  }

  /** Who follows a user, page by page; who comes or goes meanwhile moves nobody else. */
  async followers(user: string, options: PeopleOptions = {}): Promise<People> {
    return this.#people(this.#core.keys.followers(checkUser("user", user)), user, options);
  }

  /** Whom a user follows, in the order of following, page by page. */
  async following(user: string, options: PeopleOptions = {}): Promise<People> {
    return this.#people(this.#core.keys.following(checkUser("user", user)), user, options);
  }

  /** Whom a user blocks, page by page. */
  async blocked(user: string, options: PeopleOptions = {}): Promise<People> {
    return this.#people(this.#core.keys.blocks(checkUser("user", user)), user, options);
  }

  /** Whom a user has muted, page by page. */
  async muted(user: string, options: PeopleOptions = {}): Promise<People> {
    return this.#people(this.#core.keys.muted(checkUser("user", user)), user, options);
  }

  /** The members of a list, page by page, as `Lists.members` gives them. */
  async membersOf(list: string, options: PeopleOptions): Promise<People> {
    return this.#people(this.#core.keys.following(list), list, options);
  }

  async #people(set: string, subject: string, options: PeopleOptions): Promise<People> {
    PEOPLE_OPTIONS.check(options);
    const limit = options.limit ?? 50;
    const [version = "", member = ""] = options.cursor === undefined ? [] : parsePlace(options.cursor);
    const graph = this.#core.keys.graph(subject);
    const [, , flat] = await this.#store.run(pageOf, { set, graph, version, member, untilVersion: "", limit });
    const users = flat.filter((_, at) => at % 2 === 0);
    return { items: users, cursor: users.length < limit ? null : `${flat.at(-1)}~${flat.at(-2)}` };
  }

  // ---------------------------------------------------------------------------------------------- blocking, muting

  /** Neither follows the other, nor has them in a list, nor can; the blocked one does not see the other's statuses. */
  async block(user: string, other: string): Promise<BlockOutcome> {
    distinct(user, other);
    const { journal, keys } = this.#core;
    const entry = journal.make({ k: "block", user, other } as const);
    const params = { graph: keys.graph(user), set: keys.blocks(user), member: other, most: MAX_OWN };
    const added = asText(await journal.before(entry, this.#store, addOwn, params));
    if (added === "added" || added === "there") await this.sever(user, other);
    journal.close(entry);
    return { status: added === "not-found" || added === "full" ? added : "blocked" };
  }

  /** Ends what there is between two users, if one of them still blocks the other. @internal */
  async sever(user: string, other: string): Promise<void> {
    const { keys } = this.#core;
    if ((await this.#store.call("ZSCORE", keys.blocks(user), other)) === null) return;
    const pairs: [string, string][] = [
      [user, other],
      [other, user],
    ];
    for (const [subject, target] of [...pairs]) {
      const lists = asTexts(await this.#store.call("ZRANGE", keys.lists(subject), 0, -1));
      const scores = await this.#store.pipeline(lists.map((list) => ["ZSCORE", keys.following(list), target]));
      for (const [list, score] of zipped(lists, sound(scores))) if (score !== null) pairs.push([list, target]);
    }
    await each(pairs, 8, ([subject, target]) => this.unlink(subject, target));
  }

  /** Ends a block; follows that it ended stay ended. False if there was none. */
  async unblock(user: string, other: string): Promise<boolean> {
    distinct(user, other);
    const key = this.#core.keys.blocks(user);
    return Number(await this.#store.send(["ZREM", key, other], { repeatable: true })) === 1;
  }

  /** What the other posts is not in the user's timelines; the other does not learn of it. */
  async mute(user: string, other: string): Promise<MuteOutcome> {
    distinct(user, other);
    const { journal, keys } = this.#core;
    const entry = journal.make({ k: "link", subject: user, user: other } as const);
    const params = { graph: keys.graph(user), set: keys.muted(user), member: other, most: MAX_OWN };
    const added = asText(await journal.before(entry, this.#store, addOwn, params));
    if (added === "added" || added === "there") await this.#timelines.align(user, other);
    journal.close(entry);
    return { status: added === "not-found" || added === "full" ? added : "muted" };
  }

  /** Ends muting: what the other posted is in the user's timelines again. False if the other was not muted. */
  async unmute(user: string, other: string): Promise<boolean> {
    distinct(user, other);
    const { journal, keys } = this.#core;
    const entry = journal.make({ k: "link", subject: user, user: other } as const);
    await journal.open(entry);
    const removed = await this.#store.send(["ZREM", keys.muted(user), other], { repeatable: true });
    await this.#timelines.align(user, other);
    journal.close(entry);
    return Number(removed) === 1;
  }
}

function distinct(user: string, other: string): void {
  if (checkUser("user", user) === checkUser("other", other)) throw new InputError("the two users are the same");
}

function parsePlace(cursor: string): Place {
  const [, version, member] = /^(\d+)~([\w+-]+)$/.exec(cursor) ?? [];
  if (version === undefined || member === undefined) throw new InputError("after is not a cursor of this list");
  return [version, member];
}
