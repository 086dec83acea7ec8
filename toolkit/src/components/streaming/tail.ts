/**
 * The one reader of the log in a process, shared by all that listen. Woken by a hint (waiting/hint.ts), it reads from the log behind
 * the last event that it has seen, so a lost message costs a pause and never an event.
 *
 * What it reads goes to the listeners that the filter index finds. A listener takes part between two events, never during one,
 * so that what it gets from `recent` and what it gets from here join without a seam.
 */
import type { Store } from "../../connection/store.ts";
import { Hint } from "../../waiting/hint.ts";
import { compareCursors } from "./cursor.ts";
import { Entry } from "./entry.ts";
import type { Feed } from "./feed.ts";
import { FilterIndex } from "./filter-index.ts";
import type { StreamKeys } from "./keys.ts";
import { Recent } from "./recent.ts";
import { type Page, read, tail } from "./scripts.ts";

export interface TailOptions {
  readonly recentEvents: number;
  readonly recentBytes: number;
  readonly pollMs: number;
  readonly onError: (error: unknown) => void;
}

const PAGE = 500;
/** How many times an event is handed out before the event loop gets a turn. */
const HANDED_AT_ONCE = 20_000;
/** How many listeners may read the log for themselves at a time. */
const MOST_READING = 8;

export class Tail {
  readonly recent: Recent;
  readonly live = new FilterIndex<Feed>();
  readonly #store: Store;
  readonly #keys: StreamKeys;
  readonly #options: TailOptions;
  readonly #feeds = new Set<Feed>();
  readonly #hint: Hint;
  /** Null until the first events are here: nothing may be read behind them before. */
  #epoch: string | null = null;
  #stopped = false;
  #reading = 0;
  readonly #waiting: (() => void)[] = [];

  private constructor(store: Store, keys: StreamKeys, options: TailOptions) {
    this.#store = store;
    this.#keys = keys;
    this.#options = options;
    this.recent = new Recent("0-0", { maxEvents: options.recentEvents, maxBytes: options.recentBytes });
    this.#hint = new Hint(store, {
      channel: keys.wake,
      pollMs: options.pollMs,
      look: () => (this.#epoch === null ? this.#begin() : this.#pump()),
      onError: options.onError,
    });
  }

  static async start(store: Store, keys: StreamKeys, options: TailOptions): Promise<Tail> {
    const made = new Tail(store, keys, options);
    try {
      await made.#hint.start();
    } catch (error) {
      await made.stop();
      throw error;
    }
    return made;
  }

  /** The first look: the last events of the log. */
  async #begin(): Promise<void> {
    const { log, meta } = this.#keys;
    const count = this.#options.recentEvents;
    const { lost, top, epoch, entries } = await this.#store.run(tail, { log, meta_key: meta, count });
    this.#epoch = epoch;
    const [oldest] = entries;
    const isAll = oldest === undefined || entries.length < count;
    this.recent.restart(isAll ? lost : oldest[0]);
    for (const [cursor, json] of isAll ? entries : entries.slice(1)) {
      this.recent.push(new Entry(cursor, json));
    }
    // Statuses at the end that were deleted stand before the delete, so the last entry is the top; the log may also be empty.
    if (compareCursors(this.recent.top, top) < 0) this.recent.restart(top);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#hint.stop();
  }

  get position(): string {
    return this.recent.top;
  }

  get clock(): Store["clock"] {
    return this.#store.clock;
  }

  add(feed: Feed): void {
    this.#feeds.add(feed);
  }

  delete(feed: Feed): void {
    this.#feeds.delete(feed);
  }

  /** What stands behind a cursor, from the log itself. */
  async read(after: string): Promise<Page> {
    if (this.#reading >= MOST_READING) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#reading++;
    try {
      return await this.#readPage(after);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#reading--;
      else next();
    }
  }

  #readPage(after: string): Promise<Page> {
    const { log, meta } = this.#keys;
    return this.#store.run(read, { log, meta_key: meta, after, count: PAGE });
  }

  /** There may be something new. */
  look(): void {
    // What went wrong is told to `onError`.
    if (!this.#stopped) this.#hint.look().catch(() => {});
  }

  async #pump(): Promise<void> {
    let isBehind = true;
    while (isBehind && !this.#stopped) {
      const page = await this.#readPage(this.position);
      if (this.#stopped) return;
      if (page.epoch !== this.#epoch) {
        this.#epoch = page.epoch;
        this.#skipTo(page.lost);
        continue;
      }
      if (compareCursors(this.position, page.lost) < 0) this.#skipTo(page.lost);
      else if (compareCursors(this.position, page.top) > 0) this.#skipTo(page.top);
      await this.#handOut(page);
      isBehind = page.entries.length === PAGE;
    }
  }

  /** The log was cut while we could not read it, or is another one: everybody is told. */
  #skipTo(cursor: string): void {
    const after = this.position;
    this.recent.restart(cursor);
    for (const feed of [...this.#feeds]) feed.missed(after, cursor);
  }

  async #handOut({ entries }: Page): Promise<void> {
    let handed = 0;
    const touched = new Set<Feed>();
    for (const [cursor, json] of entries) {
      const entry = new Entry(cursor, json);
      this.recent.push(entry);
      const found = this.#find(entry);
      for (const feed of found) {
        feed.take(entry);
        touched.add(feed);
      }
      handed += found.length;
      if (handed < HANDED_AT_ONCE) continue;
      for (const feed of touched) feed.flush();
      touched.clear();
      handed = 0;
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#stopped) return;
    }
    for (const feed of touched) feed.flush();
  }

  #find(entry: Entry): Feed[] {
    const { event, traits, target } = entry;
    if (traits !== null) return this.live.find(traits);
    return target !== null ? this.live.find(target) : this.live.findForDelete(event.id, event.userId);
  }
}
