/**
 * Login sessions: who somebody is, what they did last, and what is kept for them until they leave.
 *
 *   const sessions = new Sessions(store);
 *   const visitor = await sessions.create();                          // somebody, not signed in
 *   const session = await sessions.signIn(visitor.token, "ann");      // a new token: the old one is worth nothing now
 *   const again = await sessions.load(session.token, { viewed: "item:17" });
 *   await sessions.update(session.token, { theme: "dark" });
 *   await sessions.signOutEverywhere("ann");
 *
 * http.ts has middleware for Express and Fastify, express-session.ts a store for express-session.
 */
import type { BackgroundLoop } from "../../base/background-loop.ts";
import { aStore, integer, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { inPairs, zipped } from "../../base/lists.ts";
import type { Page } from "../../base/page.ts";
import { asPairs, asTextOrNull, asTexts, asTuple } from "../../base/replies.ts";
import type { Script } from "../../base/script.ts";
import { slotOf } from "../../connection/slots.ts";
import { type RunOptions, runOptions, type SendOptions, type Store, sendOptions } from "../../connection/store.ts";
import { sessionCleaner } from "./cleaner.ts";
import {
  anonymousTag,
  boundKey,
  liveKey,
  liveKeys,
  newToken,
  placeOf,
  type SessionPlace,
  sessionKeys,
  userTag,
} from "./keys.ts";
import {
  CLEANER_OPTIONS,
  CREATE_OPTIONS,
  LIST_OPTIONS,
  LOAD_OPTIONS,
  OPTIONS,
  RECENT_OPTIONS,
  SIGN_OUT_OPTIONS,
  UPDATE_OPTIONS,
  VIEWED_OPTIONS,
} from "./options.ts";
import { Pieces } from "./pieces.ts";
import {
  type Changes,
  changed,
  changesOf,
  copy,
  create,
  list,
  noteLive,
  type Shown,
  shownIfAny,
  signIn,
  take,
  takeAll,
  touch,
  update,
  view,
} from "./scripts.ts";
import type {
  LiveSession,
  LoadOptions,
  Session,
  SessionBinding,
  SessionChangesOf,
  SessionData,
  SessionDataOf,
  SessionInfo,
  SessionSchemas,
  SessionsOptions,
} from "./types.ts";

export type {
  LiveSession,
  Session,
  SessionBinding,
  SessionChangesOf,
  SessionData,
  SessionDataOf,
  SessionInfo,
  SessionSchemas,
  SessionsOptions,
} from "./types.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** How often at most a process touches a session in use. */
const TOUCH_EVERY_MS = MINUTE_MS;
/** Of many sessions in use, how many are remembered as touched. */
const MOST_TOUCHED = 100_000;
const MAX_PIECES = 256;

/** What the data of an application's sessions is, for `request.session`: augment it with a field for each piece. */
// biome-ignore lint/suspicious/noEmptyInterface: applications fill it
export interface SessionFields {}

/** The data of `request.session`: that of `SessionFields` where the application has said it. */
export type RequestData = keyof SessionFields extends never ? SessionData : Partial<Readonly<SessionFields>>;

/**
 * Login sessions: who somebody is, what they viewed last, and what is kept for them until they leave.
 *
 * @example
 * const sessions = new Sessions(db);
 * const visitor = await sessions.create({ data: { theme: "dark" } });
 * await sessions.load(visitor.token, { viewed: "item:17" }); // On every request.
 * const { user, data, token } = await sessions.signIn(visitor.token, "ann");
 * [user, data.theme, await sessions.viewed(token)]; // → ["ann", "dark", ["item:17"]]
 * await sessions.load(visitor.token); // → null
 * @example
 * const sessions = new Sessions(db);
 * const { token } = await sessions.signIn(null, "ann");
 * await sessions.update(token, { theme: "light" });
 * (await sessions.list("ann", { current: token })).items.map(({ current }) => current); // → [true]
 * await sessions.signOut(token); // → true
 * await sessions.signOutEverywhere("ann"); // → 0
 * @example
 * const sessions = new Sessions(db);
 * const { id, token } = await sessions.create({ user: "ann" });
 * sessions.bindingOf(token)?.tag === sessions.tagOf(token); // → true
 * await sessions.revoke("ann", id); // → true
 * @example
 * const sessions = new Sessions(db, { maxLive: 1_000_000 });
 * await sessions.create({ user: "ann" });
 * await using cleaner = sessions.cleaner().start();
 * for (const { handle } of await sessions.recent({ limit: 10 })) await sessions.end(handle);
 * await sessions.count();
 */
export class Sessions<S extends SessionSchemas = SessionSchemas> {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #idleMs: number;
  readonly #touchEveryMs: number;
  /** How long a session lives on when it is touched: by the next time, it is not over. */
  readonly #keepMs: number;
  readonly #absoluteMs: number;
  /** How long a session is listed among the live ones after it was touched: by then it is over in any case. */
  readonly #listMs: number;
  readonly #maxPerUser: number;
  readonly #maxLive: number;
  readonly #maxViewed: number;
  readonly #maxValueBytes: number;
  readonly #limits: RunOptions;
  readonly #reading: SendOptions;
  readonly #codec: Codec<unknown> = json();
  readonly #pieces: Pieces | null;
  /** Session → when this process touched it last. */
  readonly #touched = new Map<string, number>();
  /** Session → its note in the list of live ones, while that is under way. */
  readonly #noting = new Map<string, Promise<void>>();

  constructor(store: Store, options: SessionsOptions<S> = {}) {
    aStore("Sessions", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "session";
    this.#idleMs = options.idleMs ?? 14 * DAY_MS;
    this.#touchEveryMs = Math.min(TOUCH_EVERY_MS, Math.floor(this.#idleMs / 20));
    this.#keepMs = this.#idleMs + this.#touchEveryMs;
    this.#absoluteMs = options.ttlMs ?? 90 * DAY_MS;
    this.#listMs = Math.min(this.#keepMs, this.#absoluteMs);
    this.#maxPerUser = options.maxPerUser ?? 100;
    this.#maxLive = options.maxLive ?? 10_000_000;
    this.#maxViewed = options.viewed ?? 25;
    this.#maxValueBytes = options.maxValueBytes ?? 65_536;
    this.#limits = runOptions({ timeoutMs: options.timeoutMs ?? 5_000 });
    this.#pieces = options.schema === undefined ? null : new Pieces(options.schema);
    this.#reading = sendOptions({ timeoutMs: options.timeoutMs ?? 5_000 });
  }

  #run<P, T>(script: Script<P, T>, params: P): Promise<T> {
    return this.#store.run(script, params, this.#limits);
  }

  /** How long a session lives without being used; what a cookie's age should be. */
  get idleMs(): number {
    return this.#idleMs;
  }

  /** Begins a session, of a user or of somebody who has not signed in. */
  async create(
    options: { readonly user?: string; readonly data?: SessionChangesOf<S> } = {},
  ): Promise<Session<SessionDataOf<S>>> {
    CREATE_OPTIONS.check(options);
    const { user, data = {} } = options;
    return (await this.#create(user, { data: this.#encode(data) })).session;
  }

  /**
   * The session of a token, and notes that it is in use; null when there is none. `viewed` is what the user is looking at.
   * One round trip.
   */
  async load(token: string, options: LoadOptions = {}): Promise<Session<SessionDataOf<S>> | null> {
    LOAD_OPTIONS.check(options);
    const place = placeOf(token);
    if (place === null) return null;
    const item = options.viewed === undefined ? "" : word("viewed", options.viewed);
    const found = await this.#find(place, item, options.touch ?? true);
    return found === null ? null : this.#toSession(token, place, found);
  }

  /** What a process touched a moment ago is only read. */
  async #find(place: SessionPlace, item: string, touches: boolean): Promise<Shown | null> {
    const { session, viewed, owned } = this.#keys(place);
    const maxViewed = this.#maxViewed;
    if (touches && !this.#isTouched(place)) {
      const touching = { session, viewed, owned, id: place.id, keepMs: this.#keepMs, item, maxViewed };
      const found = await this.#run(touch, touching);
      if (found !== null) this.#noteTouched(place);
      return found;
    }
    if (touches && item !== "") return this.#run(view, { session, viewed, item, maxViewed });
    return shownIfAny(await this.#store.send(["HGETALL", session], this.#reading));
  }

  /**
   * Changes pieces of the data and leaves the others alone; `undefined` removes one. With `ifVersion`, only if nobody has changed
   * anything since: "conflict" otherwise. Null when there is no session.
   */
  async update(
    token: string,
    changes: SessionChangesOf<S>,
    options: { readonly ifVersion?: number } = {},
  ): Promise<Session<SessionDataOf<S>> | "conflict" | null> {
    UPDATE_OPTIONS.check(options);
    const place = placeOf(token);
    if (place === null) return null;
    const pieces = new Map<string, string | Uint8Array | null>();
    for (const [name, value] of Object.entries(changes)) {
      word("the name of a piece of data", name, 256);
      pieces.set(name, value === undefined ? null : this.#encoded(name, value));
    }
    integer("the number of changes", pieces.size, 1, MAX_PIECES);
    const answer = await this.#change(place, pieces, options.ifVersion ?? "");
    if (answer === "too-many") throw new InputError(`a session holds at most ${MAX_PIECES} pieces of data`);
    if (answer === "conflict" || answer === null) return answer;
    return this.#toSession(token, place, answer);
  }

  async #change(
    place: SessionPlace,
    pieces: Changes,
    ifVersion: number | "",
  ): Promise<Shown | "conflict" | "too-many" | null> {
    const { session } = this.#keys(place);
    const { sets, changes } = changesOf(pieces);
    const before = await this.#run(update, { session, ifVersion, maxPieces: MAX_PIECES, sets, changes });
    return Array.isArray(before) ? changed(before, pieces) : before;
  }

  /**
   * Signs a user in: a new session with a new token, which takes over the data of the old one and ends it. So a token that
   * somebody else planted before the sign-in is worth nothing after it. A session of another user ends too, and nothing of it is
   * taken over. It is one step, but where the two sessions are in different slots of a Cluster.
   */
  async signIn(token: string | null, user: string): Promise<Session<SessionDataOf<S>>> {
    const from = token === null ? null : placeOf(token);
    if (from === null) return (await this.#create(user)).session;
    const made = newToken(userTag(word("user", user)));
    const isOneStep =
      this.#store.topology !== "cluster" || slotOf(this.#keys(from).session) === slotOf(this.#keys(made.place).session);
    return isOneStep ? this.#signInAtOnce(from, made, user) : this.#signInByTurns(from, user);
  }

  async #signInAtOnce(
    from: SessionPlace,
    made: ReturnType<typeof newToken>,
    user: string,
  ): Promise<Session<SessionDataOf<S>>> {
    const { session: oldSession, viewed: oldViewed, owned: oldOwned } = this.#keys(from);
    const old = { oldSession, oldViewed, oldOwned, oldId: from.id };
    const answer = await this.#run(signIn, { ...this.#beginning(made.place, user), ...old });
    this.#noteOver(from.tag, [from.id]);
    return this.#begun(made, answer).session;
  }

  /** The old one ends last: broken off anywhere, the visitor still has everything and can try again. */
  async #signInByTurns(from: SessionPlace, user: string): Promise<Session<SessionDataOf<S>>> {
    const { session, viewed } = this.#keys(from);
    const old = await this.#run(copy, { session, viewed });
    if (old !== null && isOfAnother(old[0], user)) {
      const fresh = await this.#create(user);
      await this.#take(from);
      return fresh.session;
    }
    const { session: made, place: to } = await this.#create(
      user,
      old === null ? {} : { data: old[0][5], views: old[1] },
    );
    if (old === null) return made;
    const taken = await this.#take(from, "left");
    return taken === null ? made : ((await this.#catchUp(made.token, to, old, taken)) ?? made);
  }

  /** Ends a session. False when it was over already. */
  async signOut(token: string): Promise<boolean> {
    const place = placeOf(token);
    return place !== null && (await this.#take(place)) !== null;
  }

  /** Ends all sessions of a user, except that of the token if one is given. Answers how many. */
  async signOutEverywhere(user: string, options: { readonly except?: string } = {}): Promise<number> {
    SIGN_OUT_OPTIONS.check(options);
    const tag = userTag(word("user", user));
    const except = options.except === undefined ? null : placeOf(options.except);
    const [ended, ids] = await this.#run(takeAll, {
      owned: sessionKeys(this.#prefix, { tag, id: "" }).owned,
      base: this.#base(tag),
      except: except?.tag === tag ? except.id : "",
    });
    this.#noteOver(tag, ids);
    return ended;
  }

  /** Ends one session of a user by its id, as `list` shows it. */
  async revoke(user: string, id: string): Promise<boolean> {
    return (await this.#take({ tag: userTag(word("user", user)), id: word("id", id, 64) })) !== null;
  }

  /** The living sessions of a user, the latest used first. All are on one page: a user has at most `maxPerUser`. */
  async list(user: string, options: { readonly current?: string } = {}): Promise<Page<SessionInfo>> {
    LIST_OPTIONS.check(options);
    const tag = userTag(word("user", user));
    const current = options.current === undefined ? null : placeOf(options.current);
    const found = await this.#run(list, {
      owned: sessionKeys(this.#prefix, { tag, id: "" }).owned,
      base: this.#base(tag),
    });
    const items = found.map(([id, created, seen, ends]) => ({
      id,
      createdAt: new Date(Number(created)),
      seenAt: new Date(Number(seen)),
      endsAt: new Date(Number(ends)),
      current: current?.tag === tag && current.id === id,
    }));
    return { items, cursor: null };
  }

  /** The sessions of everybody, the latest used first. The order may lag by a minute. At most `limit` (default 50). */
  async recent(options: { readonly limit?: number } = {}): Promise<LiveSession[]> {
    RECENT_OPTIONS.check(options);
    const { limit = 50 } = options;
    const lists = await this.#store.pipeline(
      liveKeys(this.#prefix).map((live) => ["ZREVRANGE", live, 0, limit - 1, "WITHSCORES"] as const),
    );
    const noted = lists.flatMap((each) => asPairs(each));
    noted.sort((a, b) => Number(b[1]) - Number(a[1]));
    const places = noted.slice(0, limit).map(([member]) => {
      const [tag = "", id = ""] = member.split("\0");
      return { tag, id };
    });
    const hashes = await this.#store.pipeline(
      places.map((place) => ["HMGET", this.#keys(place).session, "user", "created", "seen", "ends"] as const),
    );
    return zipped(places, hashes).flatMap(([{ tag, id }, each]) => {
      const [user, created, seen, ends] = asOwn(each);
      if (user === null || created === null || seen === null || ends === null) return [];
      const when = { createdAt: dateOf(created), seenAt: dateOf(seen), endsAt: dateOf(ends) };
      return [{ handle: `${tag}/${id}`, user: user === "" ? null : user, ...when }];
    });
  }

  /** How many live, about: sessions that ended by themselves are still counted until a cleaner passes. */
  async count(): Promise<number> {
    const sizes = await this.#store.pipeline(liveKeys(this.#prefix).map((live) => ["ZCARD", live] as const));
    return sizes.reduce((sum: number, each) => sum + Number(each), 0);
  }

  /** Ends a session by the handle that `recent` gave. False when it was over already. */
  async end(handle: string): Promise<boolean> {
    const [, tag, id] = /^([\w-]{12})\/([\w-]{22})$/.exec(handle) ?? [];
    if (tag === undefined || id === undefined) throw new InputError("that is no handle of a session");
    return (await this.#take({ tag, id })) !== null;
  }

  /** What was viewed last, the latest first. At most `limit`; by default all that are kept. */
  async viewed(token: string, options: { readonly limit?: number } = {}): Promise<string[]> {
    VIEWED_OPTIONS.check(options);
    const { limit = this.#maxViewed } = options;
    const place = placeOf(token);
    integer("limit", limit, 1, this.#maxViewed);
    if (place === null) return [];
    return asTexts(await this.#store.call("ZREVRANGE", this.#keys(place).viewed, 0, limit - 1));
  }

  /** The tag of a token's keys, for components that keep their own keys beside the session. Null for a text that is not a token. */
  tagOf(token: string): string | null {
    return placeOf(token)?.tag ?? null;
  }

  /**
   * The keys by which components bind theirs to the session of a token: what is in the set `bound`, with the tag, ends with the
   * session and lives as long. Null for a text that is not a token.
   */
  bindingOf(token: string): SessionBinding | null {
    const place = placeOf(token);
    if (place === null) return null;
    const { session } = this.#keys(place);
    return { ...place, session, bound: boundKey(session) };
  }

  /**
   * Ends the least recently used sessions beyond `maxLive`, again and again. Any number of processes may run one. It looks every `everyMs`
   * (default 1 000); `onError` is called with the error of a round that failed.
   */
  cleaner(options: { readonly everyMs?: number; readonly onError?: (error: unknown) => void } = {}): BackgroundLoop {
    CLEANER_OPTIONS.check(options);
    return sessionCleaner(this.#store, {
      prefix: this.#prefix,
      maxLive: this.#maxLive,
      listMs: this.#listMs,
      everyMs: options.everyMs ?? 1_000,
      onError: options.onError ?? (() => {}),
      end: async (place) => void (await this.#take(place)),
    });
  }

  async #create(
    user?: string,
    {
      data = [],
      views = [],
    }: { readonly data?: readonly (string | Uint8Array)[]; readonly views?: readonly string[] } = {},
  ): Promise<Created<SessionDataOf<S>>> {
    if (user !== undefined) word("user", user);
    const made = newToken(user === undefined ? anonymousTag() : userTag(user));
    const words = [...data, ...views];
    const beginning = this.#beginning(made.place, user ?? "");
    return this.#begun(made, await this.#run(create, { ...beginning, pieces: data.length / 2, words }));
  }

  #beginning(place: SessionPlace, user: string) {
    return {
      ...this.#keys(place),
      id: place.id,
      user,
      keepMs: this.#keepMs,
      absoluteMs: this.#absoluteMs,
      maxOwned: this.#maxPerUser,
      base: this.#base(place.tag),
    };
  }

  #begun(
    { token, place }: ReturnType<typeof newToken>,
    { shown, dropped }: { readonly shown: Shown; readonly dropped: readonly string[] },
  ): Created<SessionDataOf<S>> {
    this.#noteTouched(place);
    this.#noteOver(place.tag, dropped);
    return { session: this.#toSession(token, place, shown), place };
  }

  async #take(place: SessionPlace, bound: "ended" | "left" = "ended"): Promise<[Shown, string[]] | null> {
    this.#touched.delete(memberOf(place));
    const taken = await this.#run(take, { ...this.#keys(place), id: place.id, bound });
    this.#noteOver(place.tag, [place.id]);
    return taken;
  }

  /**
   * Takes sessions off the list of live ones, which is in another slot. If it fails, they go when they would have been idle. A note
   * that is under way comes first: when it is sent again after a refusal, it would list a session that is over.
   */
  #noteOver(tag: string, ids: readonly string[]): void {
    if (ids.length === 0 || this.#store.closed) return;
    const members = ids.map((id) => memberOf({ tag, id }));
    for (const member of members) this.#touched.delete(member);
    const unlist = async (): Promise<unknown> =>
      this.#store.send(["ZREM", liveKey(this.#prefix, { tag }), ...members], { repeatable: true });
    const noting = members.flatMap((member) => this.#noting.get(member) ?? []);
    const unlisted = noting.length === 0 ? unlist() : Promise.all(noting).then(unlist);
    unlisted.catch(() => {});
  }

  /** What another request has changed in the old session while the new one was made. Null if nothing. */
  async #catchUp(
    token: string,
    place: SessionPlace,
    [copied, viewsBefore]: [Shown, string[]],
    [now, views]: [Shown, string[]],
  ): Promise<Session<SessionDataOf<S>> | null> {
    if (views.join("\0") !== viewsBefore.join("\0")) await this.#restoreViews(place, views);
    if (now[4] === copied[4]) return null;
    const pieces = new Map<string, string | null>();
    for (const [name] of inPairs(copied[5])) pieces.set(name, null);
    for (const [name, value] of inPairs(now[5])) pieces.set(name, value);
    const answer = await this.#change(place, pieces, "");
    return typeof answer === "string" || answer === null ? null : this.#toSession(token, place, answer);
  }

  async #restoreViews(place: SessionPlace, flat: string[]): Promise<void> {
    if (flat.length === 0) return;
    const { viewed } = this.#keys(place);
    const words = asPairs(flat).flatMap(([item, at]) => [at, item]);
    await this.#store.multi([
      ["ZADD", viewed, ...words],
      ["PEXPIRE", viewed, Math.min(this.#keepMs, this.#absoluteMs)],
    ]);
  }

  #encode(data: SessionData): (string | Uint8Array)[] {
    const entries = Object.entries(data).filter(([, value]) => value !== undefined);
    if (entries.length > MAX_PIECES) throw new InputError(`a session holds at most ${MAX_PIECES} pieces of data`);
    return entries.flatMap(([name, value]) => {
      word("the name of a piece of data", name, 256);
      return [name, this.#encoded(name, value)];
    });
  }

  #isTouched(place: SessionPlace): boolean {
    const at = this.#touched.get(memberOf(place));
    return at !== undefined && this.#store.clock.monotonicMs() - at < this.#touchEveryMs;
  }

  /** The list of all live sessions hears of it too, in its own time: it only decides who goes when there are too many. */
  #noteTouched(place: SessionPlace): void {
    if (this.#store.closed) return;
    const member = memberOf(place);
    if (this.#touched.size >= MOST_TOUCHED) this.#touched.clear();
    this.#touched.set(member, this.#store.clock.monotonicMs());
    const noting: Promise<void> = this.#run(noteLive, {
      live: liveKey(this.#prefix, place),
      member,
      listMs: this.#listMs,
    }).then(
      () => this.#noted(member, noting),
      () => {
        this.#noted(member, noting);
        this.#touched.delete(member);
      },
    );
    this.#noting.set(member, noting);
  }

  #noted(member: string, noting: Promise<void>): void {
    if (this.#noting.get(member) === noting) this.#noting.delete(member);
  }

  #toSession(token: string, place: SessionPlace, shown: Shown): Session<SessionDataOf<S>> {
    const session = toSession(token, place, shown, this.#codec);
    const data = this.#pieces === null ? session.data : this.#pieces.accepted(session.data);
    return { ...session, data };
  }

  #encoded(name: string, value: unknown): string | Uint8Array {
    this.#pieces?.check(name, value);
    return encodeWithin(this.#codec, value, this.#maxValueBytes, `"${name}"`);
  }

  #keys(place: SessionPlace): { session: string; viewed: string; owned: string } {
    return sessionKeys(this.#prefix, place);
  }

  #base(tag: string): string {
    return `${this.#prefix}:{${tag}}:`;
  }
}

interface Created<D> {
  readonly session: Session<D>;
  readonly place: SessionPlace;
}

/** How the list of all live sessions names one. */
function memberOf({ tag, id }: SessionPlace): string {
  return `${tag}\0${id}`;
}

/** `user`, `created`, `seen` and `ends`; all null when the session is over. */
const asOwn = asTuple(asTextOrNull, asTextOrNull, asTextOrNull, asTextOrNull);

const dateOf = (ms: string): Date => new Date(Number(ms));

function toSession(token: string, { id }: SessionPlace, shown: Shown, codec: Codec<unknown>): Session {
  const [user, created, seen, ends, version, flat] = shown;
  const data: Record<string, unknown> = {};
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const value = codec.decode(flat[at + 1]!);
    // Setting this name would set the prototype.
    if (flat[at] === "__proto__") Object.defineProperty(data, "__proto__", { value, ...PLAIN });
    else data[flat[at]!] = value;
  }
  return {
    token,
    id,
    user: user === "" ? null : user,
    createdAt: new Date(Number(created)),
    seenAt: new Date(Number(seen)),
    endsAt: new Date(Number(ends)),
    version: Number(version),
    data,
  };
}

const PLAIN = { enumerable: true, configurable: true, writable: true } as const;

/** Visitors who have not signed in are nobody's, and take what they have with them. */
function isOfAnother([owner]: Shown, user: string): boolean {
  return owner !== "" && owner !== user;
}
