/**
 * Articles that users post and vote on, ordered by score or time, in groups.
 *
 *   const news = new Board(store, "news");
 *   const article = await news.post("ann", { title: "A link", url: "https://example.com" }, { groups: ["programming"] });
 *   await news.vote(article.id, "ben", "up");
 *   const page = await news.list({ by: "score", group: "programming" });
 *   const both = await news.list({ groups: ["programming", "games"], match: "all" });
 */
import { randomBytes } from "node:crypto";
import { aStore, oneOf, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { choice, defineOptions, listOf, prefix, text, whole } from "../../base/options.ts";
import type { Page } from "../../base/page.ts";
import { asList, asListOf, asText, asTextOrNumber, asTuple, ReplyFormError } from "../../base/replies.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import {
  articleKey,
  type BoardKeys,
  boardKeys,
  groupKey,
  groupOrderKey,
  groupsOrderKey,
  ordersKey,
  votersKey,
} from "./keys.ts";
import { list, post, read, regroup, remove, vote } from "./scripts.ts";

const DAY_MS = 86_400_000;
const MAX_FIELDS = 64;
const MAX_FIELD_BYTES = 65_536;
const MAX_GROUPS = 64;
const MAX_LIMIT = 1_000;
/** Of orders of several groups that are kept at once. */
const MAX_ORDERS = 64;

/** What a `Board` may be given. */
export interface BoardOptions {
  /** How all keys begin (default "voting"). */
  readonly prefix?: string;
  /** What a vote is worth, in seconds of age: 200 votes keep an article up for a day. By default 432. */
  readonly voteScore?: number;
  /** How long an article can be voted on. By default seven days. */
  readonly votingMs?: number;
  /** The oldest articles beyond it are dropped. By default 100 000. */
  readonly maxArticles?: number;
  /** How long the order of a group is kept before it is made anew. By default a minute. */
  readonly groupCacheTtlMs?: number;
}

/** An article, with its votes. */
export interface Article {
  /** Unique on its board: the one that was given to `post`, or a made-up one. */
  readonly id: string;
  /** Who posted it. */
  readonly poster: string;
  /** When it was posted, by the server's clock. */
  readonly postedAt: Date;
  /** Until when it can be voted on: `votingMs` after it was posted. */
  readonly closesAt: Date;
  /** The weights of all votes for it, summed up. The poster's own vote counts 1. */
  readonly up: number;
  /** The weights of all votes against it, summed up. */
  readonly down: number;
  /** What the order "score" goes by: the second of posting, plus `voteScore` for each vote for it, minus as much for each against it. */
  readonly score: number;
  /** The groups that it is in. */
  readonly groups: readonly string[];
  /** What was posted: title, address and the like. */
  readonly fields: Readonly<Record<string, string>>;
}

/** An article as one viewer sees it. */
export interface ArticleSeen extends Article {
  /** The viewer's own vote: its signed weight. 0 when there is none or voting is over. */
  readonly myVote: number;
}

/** What became of a vote. */
export type VoteOutcome =
  | {
      /** "changed": the vote counts. "same": the user had voted so already. "closed": voting is over. */
      readonly status: "changed" | "same" | "closed";
      /** The votes for it now. */
      readonly up: number;
      /** The votes against it now. */
      readonly down: number;
      /** Its score now. */
      readonly score: number;
    }
  | {
      /** "not-found": there is no such article. */
      readonly status: "not-found";
    };

/** Which articles to list, and in which order. */
export interface ListOptions {
  /** Best or newest first (default "score"). */
  readonly by?: "score" | "time";
  /** Only articles of this group. By default all articles. */
  readonly group?: string;
  /** Several groups in place of one. None by default. */
  readonly groups?: readonly string[];
  /** With `groups`: articles in "any" of them, or in "all"; "any" by default. */
  readonly match?: "any" | "all";
  /** At most so many articles, up to 1 000 (default 25). */
  readonly limit?: number;
  /** `cursor` of the page before; by default the first page. */
  readonly cursor?: string;
  /** Whose votes `myVote` tells. By default nobody's, and `myVote` is 0. */
  readonly viewer?: string;
}

const asSeen = asTuple(asList, asText, asTextOrNumber);
const asListed = asListOf(asTuple(asText, asText, asList, asTextOrNumber, asTextOrNumber));

const OPTIONS = defineOptions<BoardOptions>("Board", {
  prefix,
  voteScore: whole(1),
  votingMs: whole(1),
  maxArticles: whole(1),
  groupCacheTtlMs: whole(1),
});

const POST_OPTIONS = defineOptions<{ readonly id?: string; readonly groups?: readonly string[] }>("Board.post", {
  id: text,
  groups: listOf(text),
});

const VOTE_OPTIONS = defineOptions<{ readonly weight?: number }>("Board.vote", {
  weight: whole(1),
});

const GET_OPTIONS = defineOptions<{ readonly viewer?: string }>("Board.get", { viewer: text });

const LIST_OPTIONS = defineOptions<ListOptions>("Board.list", {
  by: choice("score", "time"),
  group: text,
  groups: listOf(text, 1),
  match: choice("any", "all"),
  limit: whole(1, MAX_LIMIT),
  cursor: text,
  viewer: text,
});

/**
 * Articles that users post and vote on, listed by score or by time, as a whole or in groups.
 *
 * @example
 * const news = new Board(db, "news");
 * const { id } = await news.post("ann", { title: "A link" }, { groups: ["code"] });
 * const vote = await news.vote(id, "ben", "up");
 * vote.status; // → "changed"
 * (await news.list({ group: "code", viewer: "ben" })).items.map(({ up, myVote }) => [up, myVote]); // → [[2, 1]]
 * @example
 * const links = new Board(db, "links");
 * await links.post("ann", { title: "A link" }, { id: "17" });
 * await links.regroup("17", { add: ["code"] }); // → true
 * (await links.get("17"))?.groups; // → ["code"]
 * await links.delete("17"); // → true
 * await links.count(); // → 0
 */
export class Board {
  /** The name of the board, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: BoardKeys;
  readonly #voteScore: number;
  readonly #votingMs: number;
  readonly #maxArticles: number;
  readonly #names: NameIndex;
  readonly #groupCacheTtlMs: number;

  constructor(store: Store, name: string, options: BoardOptions = {}) {
    aStore("Board", store);
    OPTIONS.check(options);
    this.name = name;
    this.#store = store;
    const { prefix = "voting", voteScore = 432, votingMs = 7 * DAY_MS, maxArticles = 100_000 } = options;
    this.#keys = boardKeys(prefix, name);
    const details = { voteScore, votingMs, maxArticles };
    this.#names = new NameIndex(store, { kind: "board", prefix, details });
    this.#voteScore = voteScore;
    this.#votingMs = votingMs;
    this.#maxArticles = maxArticles;
    this.#groupCacheTtlMs = options.groupCacheTtlMs ?? 60_000;
  }

  /** Posts an article, with its poster's own vote. With an `id` of the caller's, posting twice is posting once. */
  async post(
    poster: string,
    fields: Readonly<Record<string, string>>,
    options: { readonly id?: string; readonly groups?: readonly string[] } = {},
  ): Promise<Article> {
    POST_OPTIONS.check(options);
    const { id = randomBytes(9).toString("base64url"), groups = [] } = options;
    word("id", id, 256);
    word("poster", poster, 256);
    checkGroups(groups);
    const words = Object.entries(fields);
    if (words.length > MAX_FIELDS) throw new InputError(`an article has at most ${MAX_FIELDS} fields`);
    for (const [name, value] of words) {
      if (typeof value !== "string") throw new InputError(`field ${name} must be a string`);
      if (Buffer.byteLength(value) > MAX_FIELD_BYTES) {
        throw new InputError(`field ${name} is longer than ${MAX_FIELD_BYTES} bytes`);
      }
    }
    this.#names.announce(this.name);
    const [stored, score] = await this.#store.run(post, {
      ...this.#of(id),
      byTime: this.#keys.byTime,
      id,
      poster,
      voteScore: this.#voteScore,
      votingMs: this.#votingMs,
      maxArticles: this.#maxArticles,
      base: this.#keys.base,
      groupCount: groups.length,
      words: [...groups, ...words.flat()],
    });
    return toArticle(stored, Number(score));
  }

  /**
   * Sets a user's vote: up, down, or none to take it back. One vote a user; the last one counts, until voting closes. `weight` is what the
   * vote counts (default 1).
   */
  async vote(
    id: string,
    user: string,
    direction: "up" | "down" | "none",
    options: { readonly weight?: number } = {},
  ): Promise<VoteOutcome> {
    VOTE_OPTIONS.check(options);
    word("id", id, 256);
    word("user", user, 256);
    const { weight = 1 } = options;
    const sign = { up: 1, down: -1, none: 0 }[oneOf("direction", direction, ["up", "down", "none"])];
    const answer = await this.#store.run(vote, {
      ...this.#of(id),
      id,
      user,
      weight: sign * weight,
      voteScore: this.#voteScore,
    });
    if (answer === null) return { status: "not-found" };
    const [outcome, up, down, score] = answer;
    const status = outcome === 1 ? "changed" : outcome === 0 ? "same" : "closed";
    return { status, up, down, score: Number(score) };
  }

  /** An article, or null. */
  async get(id: string, options: { readonly viewer?: string } = {}): Promise<ArticleSeen | null> {
    GET_OPTIONS.check(options);
    word("id", id, 256);
    const { viewer = "" } = options;
    const reply = await this.#store.run(read, { ...this.#of(id), id, viewer });
    if (reply === null) return null;
    const [fields, score, mine] = asSeen(reply);
    return { ...toArticle(fields, Number(score)), myVote: Number(mine) };
  }

  /** A page of articles, best or newest first. The order of groups is at most `groupCacheTtlMs` old. */
  async list(options: ListOptions = {}): Promise<Page<ArticleSeen>> {
    LIST_OPTIONS.check(options);
    const { by = "score", match = "any", limit = 25, cursor: after, viewer = "" } = options;
    const groups = groupsOf(options);
    const { base } = this.#keys;
    const all = by === "time" ? this.#keys.byTime : this.#keys.byScore;
    const cursor = after === undefined ? { score: "0", id: "" } : parseCursor(after);
    const found = asListed(
      await this.#store.run(list, {
        order: orderKey(base, groups, { match, by }) ?? all,
        all,
        orders: ordersKey(base),
        groups: groups.map((each) => groupKey(base, each)),
        match,
        maxOrders: MAX_ORDERS,
        base,
        limit,
        afterScore: cursor.score,
        afterId: cursor.id,
        cacheMs: this.#groupCacheTtlMs,
        viewer,
      }),
    );
    const last = found.at(-1);
    return {
      items: found
        .filter(([, , fields]) => fields.length > 0)
        .map(([, , fields, score, mine]) => ({ ...toArticle(fields, Number(score)), myVote: Number(mine) })),
      cursor: last === undefined || found.length < limit ? null : `${last[1]}~${last[0]}`,
    };
  }

  /** Puts an article into groups, or takes it out. False if there is no such article. */
  async regroup(
    id: string,
    change: { readonly add?: readonly string[]; readonly delete?: readonly string[] },
  ): Promise<boolean> {
    word("id", id, 256);
    const { add = [], delete: drop = [] } = change;
    checkGroups([...add, ...drop]);
    const { base } = this.#keys;
    return this.#store.run(regroup, {
      article: articleKey(base, id),
      orders: ordersKey(base),
      id,
      base,
      addCount: add.length,
      groups: [...add, ...drop],
    });
  }

  /** Removes an article with its votes, from all orders and groups. False if there was none. */
  async delete(id: string): Promise<boolean> {
    word("id", id, 256);
    const { base, byTime } = this.#keys;
    return this.#store.run(remove, { ...this.#of(id), byTime, orders: ordersKey(base), id, base });
  }

  /** How many articles the board has. */
  async count(): Promise<number> {
    return Number(await this.#store.call("ZCARD", this.#keys.byTime));
  }

  #of(id: string): { article: string; voters: string; byScore: string } {
    const { base, byScore } = this.#keys;
    return { article: articleKey(base, id), voters: votersKey(base, id), byScore };
  }
}

/** Each once and in one order, so that the same groups have the same cached order. */
function groupsOf({ group, groups, match }: ListOptions): readonly string[] {
  if (group !== undefined && groups !== undefined) throw new InputError("give group or groups, not both");
  if (match !== undefined && groups === undefined)
    throw new InputError("match says how groups are combined: give groups");
  const all = [...new Set(groups ?? (group === undefined ? [] : [group]))].sort();
  checkGroups(all);
  return all;
}

function orderKey(
  base: string,
  groups: readonly string[],
  { match, by }: { readonly match: "any" | "all"; readonly by: "score" | "time" },
): string | null {
  const [first, ...others] = groups;
  if (first === undefined) return null;
  return others.length === 0 ? groupOrderKey(base, first, by) : groupsOrderKey(base, groups, { match, by });
}

function checkGroups(groups: readonly string[]): void {
  if (groups.length > MAX_GROUPS) throw new InputError(`at most ${MAX_GROUPS} groups at once`);
  for (const group of groups) {
    word("group", group, 256);
    // The cached orders of a group are kept under its name with a suffix.
    if (/:(score|time)$/.test(group)) throw new InputError('the name of a group must not end in ":score" or ":time"');
  }
}

function parseCursor(cursor: string): { score: string; id: string } {
  const at = cursor.indexOf("~");
  const score = cursor.slice(0, at);
  if (at < 1 || !Number.isFinite(Number(score))) throw new InputError("cursor is not one that list() gave");
  return { score, id: cursor.slice(at + 1) };
}

function toArticle(flat: readonly Reply[], score: number): Article {
  const own = new Map<string, string>();
  const fields: [string, string][] = [];
  const groups: string[] = [];
  for (let i = 0; i < flat.length; i += 2) {
    const name = String(flat[i]);
    if (name.startsWith("f:")) fields.push([name.slice(2), String(flat[i + 1])]);
    else if (name.startsWith("g:")) groups.push(name.slice(2));
    else own.set(name, String(flat[i + 1]));
  }
  const [id, poster] = [own.get("id"), own.get("poster")];
  if (id === undefined || poster === undefined) throw new ReplyFormError("all fields of an article", [...flat]);
  return {
    id,
    poster,
    postedAt: new Date(Number(own.get("postedAt"))),
    closesAt: new Date(Number(own.get("closesAt"))),
    up: Number(own.get("up")),
    down: Number(own.get("down")),
    score,
    groups: groups.sort(),
    // Not by assignment: a field may be called __proto__.
    fields: Object.fromEntries(fields),
  };
}
