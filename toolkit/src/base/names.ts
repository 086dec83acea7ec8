/**
 * What there is in a store: every component announces the names that it is used with, so that operators can list queues, locks or
 * indexes without scanning. The lists are for people, beside the data and not part of it: losing an announcement costs nothing.
 *
 * One sorted set for each kind of thing, `cinnabar:names:<kind>`: prefix, name and what is needed to open it, by when it was last
 * announced. A process announces a name when it first uses it and every hour after, names of the same second together; a name goes
 * with its thing, or when a hundred thousand others were used later, or when it was not used for a year.
 */

import type { Store } from "../connection/store.ts";
import { integer } from "./checks.ts";
import { HOUSE_KEYS } from "./layout.ts";
import { type Page, type PageOptions, pageByScore } from "./page.ts";

const MAX_NAMES = 100_000;
const YEAR_MS = 365 * 86_400_000;
const AGAIN_MS = 3_600_000;
/** Names of the same time are announced together. */
const TOGETHER_MS = 1_000;
const AT_ONCE = 1_000;

export const namesKey = (kind: string): string => `${HOUSE_KEYS}names:${kind}`;

/** One thing that somebody has used. */
export interface NamedThing {
  /** The first word of its keys. */
  readonly prefix: string;
  /** Its name, as its component was given it. */
  readonly name: string;
  /** What else it takes to open it: the number of its shards, for example. */
  readonly details: Readonly<Record<string, unknown>>;
}

export interface NameIndexOptions {
  /** `queues`, `locks` … */
  readonly kind: string;
  readonly prefix: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** `list` leaves out what was not announced for so long; a year by default. */
  readonly keepMs?: number;
}

/** The names of one kind and prefix. */
export class NameIndex {
  readonly #store: Store;
  readonly #key: string;
  readonly #prefix: string;
  readonly #details: NamedThing["details"];
  readonly #keepMs: number;
  readonly #againMs: number;
  readonly #announced = new Map<string, number>();
  /** Announcements under way. */
  readonly #sending = new Set<Promise<void>>();
  #waiting: string[] = [];
  #isPausing = false;

  constructor(store: Store, { kind, prefix, details, keepMs = YEAR_MS }: NameIndexOptions) {
    this.#store = store;
    this.#key = namesKey(kind);
    this.#prefix = prefix;
    this.#details = details ?? {};
    this.#keepMs = keepMs;
    this.#againMs = Math.min(AGAIN_MS, keepMs / 2);
  }

  /** Does not wait, and does not fail. */
  announce(name: string): void {
    const now = this.#store.clock.monotonicMs();
    const before = this.#announced.get(name);
    if ((before !== undefined && now - before < this.#againMs) || this.#store.closed) return;
    if (this.#store.isObserver) return;
    if (this.#announced.size >= MAX_NAMES) this.#announced.clear();
    this.#announced.set(name, now);
    this.#waiting.push(name);
    if (!this.#isPausing) this.#send();
  }

  #send(): void {
    const { clock, closed } = this.#store;
    const names = this.#waiting.splice(0, AT_ONCE);
    if (names.length === 0 || closed) return;
    this.#isPausing = true;
    clock.after(TOGETHER_MS, () => {
      this.#isPausing = false;
      this.#send();
    });
    const wall = clock.wallMs();
    const sending: Promise<void> = this.#store
      .pipeline([
        ["ZADD", this.#key, ...names.flatMap((name) => [wall, this.#member(name)])],
        ["ZREMRANGEBYRANK", this.#key, 0, -(MAX_NAMES + 1)],
        ["ZREMRANGEBYSCORE", this.#key, "-inf", wall - YEAR_MS],
        ["PEXPIRE", this.#key, YEAR_MS],
      ])
      .then(
        () => {},
        () => {
          for (const name of names) this.#announced.delete(name);
        },
      )
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
  }

  #member(name: string): string {
    return memberOf({ prefix: this.#prefix, name, details: this.#details });
  }

  /** The latest announced first. */
  async list(options: PageOptions = {}): Promise<Page<string>> {
    const { items, cursor } = await this.listThings(options);
    return { items: items.map(({ name }) => name), cursor };
  }

  /** The same, with what it takes to open them. What was opened in several ways is listed as it was last. */
  async listThings({ limit = 100, cursor }: PageOptions = {}): Promise<Page<NamedThing>> {
    integer("limit", limit, 1, MAX_NAMES);
    const sinceMs = this.#store.clock.wallMs() - this.#keepMs;
    const things = new Map<string, NamedThing>();
    let after = cursor;
    for (;;) {
      const page = await pageByScore(this.#store, this.#key, { limit: limit - things.size, cursor: after, sinceMs });
      for (const member of page.items) {
        const thing = parseMember(member);
        if (thing !== null && thing.prefix === this.#prefix && !things.has(thing.name)) things.set(thing.name, thing);
      }
      if (page.cursor === null || things.size === limit) return { items: [...things.values()], cursor: page.cursor };
      after = page.cursor;
    }
  }

  /** Announcements under way come first: one that is sent again after a refusal would bring the name back. */
  async remove(name: string): Promise<void> {
    this.#announced.delete(name);
    this.#waiting = this.#waiting.filter((each) => each !== name);
    if (this.#sending.size > 0) await Promise.all(this.#sending);
    await this.#store.send(["ZREM", this.#key, this.#member(name)], { repeatable: true });
  }
}

/** As JSON: names may have any character. */
export function memberOf({ prefix, name, details }: NamedThing): string {
  return JSON.stringify(Object.keys(details).length === 0 ? [prefix, name] : [prefix, name, details]);
}

/** Null for what no process of ours has written. */
export function parseMember(member: string): NamedThing | null {
  try {
    const [prefix, name, details = {}] = JSON.parse(member);
    return typeof prefix === "string" && typeof name === "string" ? { prefix, name, details } : null;
  } catch {
    return null;
  }
}
