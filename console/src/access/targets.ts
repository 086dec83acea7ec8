/**
 * The stores that a console shows: one for each connection, database and user of the store's ACL. The first is opened at the start;
 * others when somebody asks for them, and closed when nobody has for a while. A store that cannot be reached is tried again each
 * second, and the console says so meanwhile.
 */
import { ConnectionError, type Store } from "cinnabar";
import { Live } from "../live.ts";
import { Problem } from "../route.ts";
import { traceStore } from "../trace.ts";
import { messageOf } from "../values.ts";
import { observerOf, stopWork } from "../work.ts";
import type { Credentials } from "./user.ts";

export interface Which {
  readonly db: number;
  readonly credentials?: Credentials | undefined;
}

export interface Connection {
  readonly name: string;
  /** How people are told what they look at; without credentials. */
  readonly backend: string;
  /** Open already, for database 0 without credentials: never closed here. */
  readonly store?: Store | undefined;
  /** Opens it; absent where only `store` can be shown. */
  open?(which: Which): Promise<Store>;
}

const RETRY_MS = 1_000;
const IDLE_MS = 10 * 60_000;
const SWEEP_MS = 60_000;
const MOST_TARGETS = 64;
const MOST_DATABASES = 1_024;
const DEFAULT_DATABASES = 16;

/** One store that is shown. */
export class Target {
  readonly backend: string;
  readonly live: Live;
  usedMs = performance.now();
  readonly #connection: Connection;
  readonly #which: Which;
  #opened: { readonly store: Store; readonly observing: Store; readonly isOwn: boolean; stop(): void } | null = null;
  #opening: Promise<void> | null = null;
  #reason = "it has not been reached yet";
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(connection: Connection, which: Which) {
    this.#connection = connection;
    this.#which = which;
    this.backend = which.db === 0 ? connection.backend : `${connection.backend}, database ${which.db}`;
    this.live = new Live({ sendToAll: (words) => this.store.sendToAll(words) });
    const { store } = connection;
    if (store !== undefined && which.db === 0 && which.credentials === undefined) this.#become(store, false);
  }

  get isOpen(): boolean {
    return this.#opened !== null;
  }

  /** Throws while it has not been reached. */
  get store(): Store {
    return this.#need().store;
  }

  /** The same, through which nothing is noted. */
  get observing(): Store {
    return this.#need().observing;
  }

  #need() {
    if (this.#opened !== null) return this.#opened;
    throw new ConnectionError(`${this.backend} cannot be reached: ${this.#reason}`, { maybeExecuted: false });
  }

  #become(store: Store, isOwn: boolean): void {
    this.#opened = { store, observing: observerOf(store), isOwn, stop: traceStore(store) };
  }

  /** Tries to open it. Resolves when it is open or the attempt has failed; further attempts follow by themselves. */
  open(): Promise<void> {
    if (this.#opened !== null || this.#isClosed) return Promise.resolve();
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    clearTimeout(this.#timer);
    const { open } = this.#connection;
    if (open === undefined) {
      this.#reason = "this console was given no address for it";
      return;
    }
    try {
      const store = await open(this.#which);
      if (this.#isClosed) return await store.close();
      this.#become(store, true);
      void this.live.sample();
    } catch (error) {
      this.#reason = messageOf(error);
      if (this.#isClosed) return;
      this.#timer = setTimeout(() => void this.open(), RETRY_MS);
      this.#timer.unref();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.live.stop();
    await this.#opening;
    const opened = this.#opened;
    if (opened === null) return;
    await stopWork(opened.store);
    opened.stop();
    await opened.observing.close();
    if (opened.isOwn) await opened.store.close();
  }
}

export class Targets {
  readonly #connections: Map<string, Connection>;
  readonly #targets = new Map<string, Target>();
  readonly #first: Connection;
  readonly #sweeper: NodeJS.Timeout;
  #isLive = false;

  constructor(connections: readonly [Connection, ...Connection[]]) {
    this.#first = connections[0];
    this.#connections = new Map(connections.map((each) => [each.name, each]));
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  get first(): Target {
    return this.find(undefined, { db: 0 });
  }

  get connections(): readonly Connection[] {
    return [...this.#connections.values()];
  }

  add(connection: Connection): void {
    if (this.#connections.has(connection.name)) {
      throw new Problem(409, "EXISTS", `there is a connection "${connection.name}" already`);
    }
    if (this.#connections.size >= MOST_TARGETS) throw new Problem(409, "TOO_MANY", "there are too many connections");
    this.#connections.set(connection.name, connection);
  }

  async remove(name: string): Promise<void> {
    if (name === this.#first.name) throw new Problem(409, "FIRST", "the first connection stays");
    if (!this.#connections.delete(name)) throw new Problem(404, "NOT_FOUND", `there is no connection "${name}"`);
    const gone = [...this.#targets].filter(([key]) => key.startsWith(`${name}\n`));
    for (const [key] of gone) this.#targets.delete(key);
    await Promise.allSettled(gone.map(([, target]) => target.close()));
  }

  find(name: string | undefined, which: Which): Target {
    const connection = name === undefined || name === "" ? this.#first : this.#connections.get(name);
    if (connection === undefined) throw new Problem(404, "NO_CONNECTION", `there is no connection "${name}"`);
    if (which.db >= MOST_DATABASES) throw new Problem(404, "NO_DATABASE", `there is no database ${which.db}`);
    const key = `${connection.name}\n${which.db}\n${which.credentials?.username ?? ""}`;
    let target = this.#targets.get(key);
    if (target === undefined) {
      if (this.#targets.size >= MOST_TARGETS) throw new Problem(503, "TOO_MANY", "too many databases are open");
      if (connection.open === undefined && (which.db !== 0 || which.credentials !== undefined)) {
        throw new Problem(404, "NO_DATABASE", "this console shows one database only: it was given no address");
      }
      target = new Target(connection, which);
      this.#targets.set(key, target);
      if (this.#isLive) target.live.start();
      void target.open();
    }
    target.usedMs = performance.now();
    return target;
  }

  /** Begins to sample. */
  start(): void {
    this.#isLive = true;
    for (const target of this.#targets.values()) target.live.start();
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await Promise.allSettled([...this.#targets.values()].map((target) => target.close()));
    this.#targets.clear();
  }

  async #sweep(): Promise<void> {
    const before = performance.now() - IDLE_MS;
    const { first } = this;
    for (const [key, target] of this.#targets) {
      if (target === first || target.usedMs > before || target.live.listeners > 0) continue;
      this.#targets.delete(key);
      await target.close().catch(() => {});
    }
  }
}

/** How many databases a server has. */
export async function databasesOf(connection: Connection, store: Store): Promise<number> {
  if (store.topology === "cluster" || connection.open === undefined) return 1;
  try {
    const { databases } = await store.configGet("databases");
    return Math.min(MOST_DATABASES, Number(databases) || DEFAULT_DATABASES);
  } catch {
    // This user may not ask.
    return DEFAULT_DATABASES;
  }
}

/** The address of another database, or for another user. */
export function urlFor(url: string, { db, credentials }: Which): string {
  const [, scheme, given = "", rest] = /^([\w+]+:\/\/)(?:([^/@]*)@)?(.*)$/s.exec(url) ?? [];
  if (scheme === undefined || rest === undefined) return url;
  const { username, password } = credentials ?? {};
  const who = username === undefined ? given : `${encodeURIComponent(username)}:${encodeURIComponent(password ?? "")}`;
  const at = who === "" ? "" : `${who}@`;
  if (db === 0) return `${scheme}${at}${rest}`;
  if (/cluster/.test(scheme)) throw new Problem(404, "NO_DATABASE", "a Cluster has only database 0");
  const [place = "", query = ""] = rest.split("?", 2);
  const others = new URLSearchParams(query);
  others.delete("db");
  if (/unix/.test(scheme)) return `${scheme}${at}${place}?${new URLSearchParams([...others, ["db", String(db)]])}`;
  const [hosts = "", ...path] = place.split("/");
  const name = /sentinel/.test(scheme) ? `/${path[0] ?? ""}` : "";
  const more = others.size === 0 ? "" : `?${others}`;
  return `${scheme}${at}${hosts}${name}/${db}${more}`;
}
