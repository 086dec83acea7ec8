/**
 * Reading and keeping timelines. What a timeline has stored is told in scripts/timelines.ts; here it is put together with what is
 * not: authors who are too large to be delivered, everything below the floor, and all of it while the timeline is cold.
 *
 * `align` makes one author's place in one timeline what it should be. It reads whether the author is followed, writes, and reads
 * again: follows, unfollows and mutes are written in another slot, so what was read may be old when it is written. If it was, it
 * starts over; a process that dies in between has left a note in the journal.
 */
import { randomToken } from "../../base/clock.ts";
import { InputError, refusesWrites } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { defineOptions, flag, text } from "../../base/options.ts";
import { asList, asReply, asTexts, asTuple, optional } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import { type Core, chunked, each, paging, sound } from "./core.ts";
import { authorOf, checkList, checkStatus, checkUser, isList, LAST, statusId, timeOf } from "./ids.ts";
import { applyAuthor, finishBuild, readHome, startBuild } from "./scripts/timelines.ts";
import type { Looking, Status, Views } from "./views.ts";

/** Which page of a timeline. */
export interface PageOptions {
  /** At most so many statuses (default 30, at most 1 000). */
  readonly limit?: number;
  /** `cursor` of the page before; the first page by default. */
  readonly cursor?: string;
}

/** A page of statuses. */
export interface StatusPage {
  /** The newest first. May be fewer than asked for although there are more: those that may not be seen are left out. */
  readonly items: readonly Status[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

/** Whether somebody follows an author, mutes them, and how the author is served. */
const asEdge = asTuple(asReply, asReply, asReply);

interface Found {
  readonly ids: readonly string[];
  readonly isEnd: boolean;
}

/** How often a page is filled up when much of it may not be seen. */
const ROUNDS = 10;
/** Another process fills a timeline if the first has not done so in this time. */
const BUILD_MS = 10_000;
/** A timeline is filled up again when it has lost more than a quarter. */
const THIN = 0.75;
const TRIES = 100;

const HOME_OPTIONS = defineOptions<PageOptions & { readonly own?: boolean }>("Timelines.home", {
  ...paging,
  own: flag,
});

const LIST_OPTIONS = defineOptions<PageOptions & { readonly viewer?: string }>("Timelines.list", {
  ...paging,
  viewer: text,
});

const PROFILE_OPTIONS = defineOptions<PageOptions & { readonly viewer?: string }>("Timelines.profile", {
  ...paging,
  viewer: text,
});

/** A profile whose newest statuses are read, and what of it is known. */
interface Source {
  readonly author: string;
  readonly ids: string[];
  /** There is no more of it. */
  isEmpty: boolean;
}

/**
 * What people read: `timelines` of a `Social`.
 *
 * @example
 * const { users, statuses, timelines } = new Social(db);
 * await users.join("ada", { id: "ada" });
 * await statuses.post("ada", "hello");
 * (await timelines.profile("ada")).items.map(({ text }) => text); // → ["hello"]
 * (await timelines.home("ada", { own: true, limit: 10 })).items.length; // → 1
 * @example
 * const { users, statuses, lists, timelines } = new Social(db);
 * await users.join("ada", { id: "ada" });
 * await statuses.post("ada", "hello");
 * await lists.create("ada", "me", { id: "+me" });
 * await lists.addMember("+me", "ada");
 * (await timelines.list("+me")).items.map(({ author }) => author.login); // → ["ada"]
 */
export class Timelines {
  readonly #core: Core;
  readonly #views: Views;

  constructor(core: Core, views: Views) {
    this.#core = core;
    this.#views = views;
  }

  // ---------------------------------------------------------------------------------------------- reading

  /** What the people that a user follows have posted. With `own`, the user's statuses too. */
  async home(user: string, options: PageOptions & { readonly own?: boolean } = {}): Promise<StatusPage> {
    HOME_OPTIONS.check(options);
    const looking = { viewer: checkUser("user", user), subject: user };
    const own = options.own === true ? user : undefined;
    return this.#page(options, looking, (before, limit) => this.#stored(user, own, before, limit));
  }

  /** What the members of a list have posted, as its owner or somebody else sees it. */
  async list(list: string, options: PageOptions & { readonly viewer?: string } = {}): Promise<StatusPage> {
    LIST_OPTIONS.check(options);
    const looking = { viewer: viewerOf(options), subject: checkList(list) };
    return this.#page(options, looking, (before, limit) => this.#stored(list, undefined, before, limit));
  }

  /** What a user has posted. */
  async profile(user: string, options: PageOptions & { readonly viewer?: string } = {}): Promise<StatusPage> {
    PROFILE_OPTIONS.check(options);
    checkUser("user", user);
    const looking = { viewer: viewerOf(options) };
    return this.#page(options, looking, async (before, limit) => {
      const ids = await this.#newest([user], before, limit + 1);
      return { ids: ids.slice(0, limit), isEnd: ids.length <= limit };
    });
  }

  async #page(
    options: PageOptions,
    looking: Looking,
    find: (before: string, limit: number) => Promise<Found>,
  ): Promise<StatusPage> {
    const limit = options.limit ?? 30;
    let before = options.cursor === undefined ? "" : checkStatus("cursor", options.cursor);
    let ids: readonly string[] = [];
    let statuses: Status[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const found = await find(before, limit - statuses.length);
      // Together, since a later one may be a repost of what is there already.
      ids = [...ids, ...found.ids];
      if (found.ids.length > 0) statuses = await this.#views.show(ids, looking);
      if (found.isEnd) return { items: statuses, cursor: null };
      before = ids.at(-1)!;
      if (statuses.length >= limit) break;
    }
    return { items: statuses, cursor: before };
  }

  /** From the timeline as far as it goes, and from there on from the profiles. */
  async #stored(subject: string, own: string | undefined, before: string, limit: number): Promise<Found> {
    const { timelines, keys, settings } = this.#core;
    const home = keys.home(subject);
    const read = await timelines.run(readHome, { home, before, limit: limit + 1, keepMs: settings.idleMs });
    if (read === null || read[0] === "~") {
      // The process that began to fill it may have died before the job was in the queue: the script tells when to begin again.
      await this.#begin(subject).catch(unlessFull);
      return this.#fromProfiles(subject, own, before, limit);
    }
    const [floor, , merged, muted, stored] = read;
    const hidden = new Set(muted);
    const others = merged.filter((author) => !hidden.has(author));
    if (own !== undefined) others.push(own);
    const also = others.length === 0 ? [] : await this.#newest(others, before, limit + 1);
    const all = also.length === 0 ? stored : newestOf([stored, also], limit + 1);
    if (stored.length > limit || floor === "") return { ids: all.slice(0, limit), isEnd: all.length <= limit };
    // Here the timeline ends. Of the others' only what is later than its floor is in order with it.
    const later = all.filter((id) => timeOf(id) > floor);
    if (later.length > limit) return { ids: later.slice(0, limit), isEnd: false };
    const below = floor + LAST;
    const from = before !== "" && before < below ? before : below;
    const rest = await this.#fromProfiles(subject, own, from, limit - later.length);
    return { ids: [...later, ...rest.ids], isEnd: rest.isEnd };
  }

  async #fromProfiles(subject: string, own: string | undefined, before: string, limit: number): Promise<Found> {
    const { authors, muted } = await this.#sources(subject);
    const wanted = authors.filter((author) => !muted.has(author));
    if (own !== undefined) wanted.push(own);
    const ids = await this.#newest(wanted, before, limit + 1);
    return { ids: ids.slice(0, limit), isEnd: ids.length <= limit };
  }

  async #sources(subject: string): Promise<{ authors: string[]; muted: Set<string> }> {
    const { follows, keys } = this.#core;
    const items = [["ZRANGE", keys.following(subject), 0, -1]];
    if (!isList(subject)) items.push(["ZRANGE", keys.muted(subject), 0, -1]);
    const [authors, muted = []] = asTuple(asTexts, optional(asTexts))(sound(await follows.pipeline(items)));
    return { authors, muted: new Set(muted) };
  }

  /**
   * The newest so many of several profiles, older than an id. Each profile is asked for its share first, and asked again only
   * while what it has not told could still be among the newest: of thousands of profiles few are asked twice.
   */
  async #newest(authors: readonly string[], before: string, count: number): Promise<string[]> {
    const sources = authors.map((author): Source => ({ author, ids: [], isEmpty: false }));
    let open = sources;
    let share = Math.min(count, Math.max(1, Math.ceil((2 * count) / Math.max(1, authors.length))));
    for (;;) {
      for (const part of chunked(open, 1_000)) await this.#ask(part, before, share);
      const all = newestOf(
        sources.map(({ ids }) => ids),
        count,
      );
      // Beyond what there is, nothing is too old.
      const last = all[count - 1] ?? "";
      open = open.filter(({ ids, isEmpty }) => {
        const oldest = ids.at(-1);
        return !isEmpty && oldest !== undefined && oldest > last;
      });
      if (open.length === 0) return all;
      share = Math.min(count, share * 4);
    }
  }

  async #ask(sources: readonly Source[], before: string, count: number): Promise<void> {
    const { statuses, keys } = this.#core;
    const items = sources.map(({ author, ids }) => {
      const last = ids.at(-1);
      const from = last === undefined ? boundOf(author, before) : `(${timeOf(last)}`;
      return ["ZREVRANGEBYLEX", keys.profile(author), from, "-", "LIMIT", 0, count];
    });
    for (const [source, reply] of zipped(sources, await statuses.pipeline(items))) {
      const times = asTexts(reply);
      for (const time of times) source.ids.push(statusId(time, source.author));
      source.isEmpty = times.length < count;
    }
  }

  // ---------------------------------------------------------------------------------------------- keeping

  /** Makes an author's place in a timeline what following and muting say. @internal */
  async align(subject: string, author: string): Promise<void> {
    const { timelines, keys, settings, jobs } = this.#core;
    const { timelineSize: most, slack, idleMs: keepMs } = settings;
    const home = keys.home(subject);
    for (let tries = 0; tries < TRIES; tries++) {
      const [edge, read] = await Promise.all([
        this.#edge(subject, author),
        timelines.run(readHome, { home, before: "", limit: 0, keepMs }),
      ]);
      if (read === null) return;
      const [floor, nonce] = read;
      const isShown = edge.follows !== null && edge.muted === null;
      const state = isShown ? "show" : edge.follows === null ? "none" : "mute";
      const isFilled = isShown && edge.mode !== "pull" && floor !== "~";
      const times = isFilled ? await this.#timesAfter(author, floor, most + 1) : [];
      const ids = times.slice(0, most).map((time) => statusId(time, author));
      const [outcome, lowest, count] = await timelines.run(applyAuthor, {
        home,
        author,
        state,
        nonce,
        fresh: floor === "~" ? `${nonce.split(".")[0]}.${randomToken()}` : randomToken(),
        merged: edge.mode === "pull" || edge.mode === "toPull" ? 1 : 0,
        cut: times[most] ?? "",
        most,
        slack,
        ids,
      });
      if (outcome === "cold") return;
      if (outcome !== "ok") continue;
      const [now] = await Promise.all([this.#edge(subject, author), this.dropDeleted([subject], ids)]);
      if (now.follows !== edge.follows || now.muted !== edge.muted || now.mode !== edge.mode) continue;
      const isThin = !isShown && lowest !== "" && lowest !== "~" && count < most * THIN;
      if (isThin) await jobs.add({ k: "build", subject }, { id: `refill:${subject}` });
      return;
    }
    throw new InputError(`whether ${subject} follows ${author} changes too often`);
  }

  async #edge(subject: string, author: string): Promise<{ follows: Reply; muted: Reply; mode: string }> {
    const { follows, keys } = this.#core;
    const items = [
      ["ZSCORE", keys.following(subject), author],
      ["ZSCORE", keys.muted(subject), author],
      ["HGET", keys.graph(author), "mode"],
    ];
    const [score, muted, mode] = asEdge(sound(await follows.pipeline(items)));
    return { follows: score, muted, mode: String(mode ?? "push") };
  }

  /** Times of an author's statuses, newest first. */
  async #timesAfter(author: string, floor: string, count: number): Promise<string[]> {
    const { statuses, keys } = this.#core;
    const to = floor === "" ? "-" : `(${floor}`;
    return asTexts(await statuses.call("ZREVRANGEBYLEX", keys.profile(author), "+", to, "LIMIT", 0, count));
  }

  /** An author's newest for a timeline, and the time from which on there may be more. @internal */
  async filling(author: string): Promise<{ ids: string[]; cut: string }> {
    const { timelineSize } = this.#core.settings;
    const times = await this.#timesAfter(author, "", timelineSize + 1);
    return { ids: times.slice(0, timelineSize).map((time) => statusId(time, author)), cut: times[timelineSize] ?? "" };
  }

  /** Takes back what was deleted while it was being put into timelines: the cleaning may have passed there already. @internal */
  async dropDeleted(subjects: readonly string[], ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const { statuses, keys } = this.#core;
    const byAuthor = new Map<string, string[]>();
    for (const id of ids) {
      const list = byAuthor.get(authorOf(id));
      if (list === undefined) byAuthor.set(authorOf(id), [id]);
      else list.push(id);
    }
    const groups = [...byAuthor];
    const items = groups.map(([author, own]) => ["ZMSCORE", keys.profile(author), ...own.map(timeOf)]);
    const answers = sound(await statuses.pipeline(items));
    const gone = groups.flatMap(([, own], at) => own.filter((_, nth) => asList(answers[at])[nth] === null));
    await this.takeOut(subjects, gone);
  }

  /** @internal */
  async takeOut(subjects: readonly string[], ids: readonly string[]): Promise<void> {
    if (ids.length === 0 || subjects.length === 0) return;
    const { timelines, keys } = this.#core;
    sound(await timelines.pipeline(subjects.map((subject) => ["ZREM", keys.home(subject), ...ids])));
  }

  // ---------------------------------------------------------------------------------------------- building

  async #begin(subject: string): Promise<void> {
    const [state] = await this.#start(subject, false);
    if (state === "build") await this.#core.jobs.add({ k: "build", subject });
  }

  #start(subject: string, take: boolean) {
    const { timelines, keys, settings } = this.#core;
    return timelines.run(startBuild, {
      home: keys.home(subject),
      token: randomToken(),
      take: take ? 1 : 0,
      leaseMs: BUILD_MS,
      keepMs: settings.idleMs,
    });
  }

  /** Fills a timeline from the profiles: one that was cold, or one that has become thin. @internal */
  async build(subject: string): Promise<void> {
    const { timelineSize: most } = this.#core.settings;
    for (let tries = 0; tries < TRIES; tries++) {
      const [state, nonce, floor, count] = await this.#start(subject, true);
      if (state === "warm" && (floor === "" || count >= most * THIN)) return;
      if (state === "busy") continue;
      const { authors, muted } = await this.#sources(subject);
      const modes = await this.#modes(authors);
      const wanted = authors.filter((author, at) => modes[at] !== "pull" && !muted.has(author));
      const marks = authors.filter((_, at) => modes[at] === "pull" || modes[at] === "toPull").map((each) => `!${each}`);
      for (const author of authors) if (muted.has(author)) marks.push(`"${author}`);
      const ids = await this.#newest(wanted, "", most + 1);
      if (await this.#finish(subject, { floor: floor ?? "~", nonce }, marks, ids)) return;
    }
    throw new InputError(`whom ${subject} follows changes too often`);
  }

  async #finish(
    subject: string,
    begun: { readonly floor: string; readonly nonce: string },
    marks: readonly string[],
    ids: readonly string[],
  ): Promise<boolean> {
    const { timelines, keys, settings } = this.#core;
    const { timelineSize: most, slack } = settings;
    const kept = ids.slice(0, most);
    const beyond = ids[most];
    const done = await timelines.run(finishBuild, {
      home: keys.home(subject),
      ...begun,
      fresh: randomToken(),
      cut: beyond === undefined ? "" : timeOf(beyond),
      most,
      slack,
      markCount: marks.length,
      words: [...marks, ...kept],
    });
    if (done !== 1) return false;
    await this.dropDeleted([subject], kept);
    return true;
  }

  async #modes(authors: readonly string[]): Promise<string[]> {
    const { follows, keys } = this.#core;
    const modes: string[] = [];
    await each(chunked(authors, 1_000), 1, async (part) => {
      const answers = sound(await follows.pipeline(part.map((author) => ["HGET", keys.graph(author), "mode"])));
      for (const mode of answers) modes.push(String(mode ?? "push"));
    });
    return modes;
  }
}

/** The newest of several lists, which are newest first, without repetitions. */
function newestOf(lists: readonly (readonly string[])[], count: number): string[] {
  const all = lists.flat().sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
  const found: string[] = [];
  for (const id of all) {
    if (found.length === count) break;
    if (found.at(-1) !== id) found.push(id);
  }
  return found;
}

/** Where a profile is read from, so that the ids made of its times are older than this one. */
function boundOf(author: string, before: string): string {
  if (before === "") return "+";
  return author < authorOf(before) ? `[${timeOf(before)}` : `(${timeOf(before)}`;
}

function viewerOf({ viewer }: { readonly viewer?: string }): string | undefined {
  return viewer === undefined ? undefined : checkUser("viewer", viewer);
}

/** A reader needs no timeline: without one, the profiles answer. */
function unlessFull(error: unknown): void {
  if (!refusesWrites(error)) throw error;
}
