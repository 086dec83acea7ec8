/**
 * The last events of the log in this process's memory, without holes: who resumes from among them needs no look into the store,
 * and a delete is sent to the listeners that got the status. Bounded by number and bytes.
 */
import { compareCursors } from "./cursor.ts";
import type { Entry } from "./entry.ts";
import type { Traits } from "./filters.ts";

export class Recent {
  readonly #maxEvents: number;
  readonly #maxBytes: number;
  #entries: Entry[] = [];
  /** Where in the array the first one stands. */
  #first = 0;
  #bytes = 0;
  /** Everything behind this is here. */
  #floor: string;
  #top: string;
  readonly #statuses = new Map<string, Entry>();

  constructor(floor: string, limits: { readonly maxEvents: number; readonly maxBytes: number }) {
    this.#floor = floor;
    this.#top = floor;
    this.#maxEvents = limits.maxEvents;
    this.#maxBytes = limits.maxBytes;
  }

  /** The last event that was taken in, or skipped. */
  get top(): string {
    return this.#top;
  }

  get size(): number {
    return this.#entries.length - this.#first;
  }

  push(entry: Entry): void {
    const { event } = entry;
    if (event.kind === "status") this.#statuses.set(event.id, entry);
    else {
      const status = this.#statuses.get(event.id);
      if (status !== undefined) {
        status.withdrawn = true;
        entry.target = status.traits;
      }
    }
    this.#entries.push(entry);
    this.#top = entry.cursor;
    this.#bytes += entry.sizeBytes;
    while (this.size > this.#maxEvents || (this.#bytes > this.#maxBytes && this.size > 1)) this.#drop();
  }

  #drop(): void {
    const entry = this.#entries[this.#first++]!;
    this.#floor = entry.cursor;
    this.#bytes -= entry.sizeBytes;
    const { kind, id } = entry.event;
    if (kind === "status" && this.#statuses.get(id) === entry) this.#statuses.delete(id);
    if (this.#first > 1_024 && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first);
      this.#first = 0;
    }
  }

  /** Something is missing before `floor`: nothing held is without holes any more. */
  restart(floor: string): void {
    this.#entries = [];
    this.#first = 0;
    this.#bytes = 0;
    this.#statuses.clear();
    this.#floor = floor;
    this.#top = floor;
  }

  /** What is known of a status that was sent lately. */
  status(id: string): Traits | null {
    return this.#statuses.get(id)?.traits ?? null;
  }

  /** Whether all that follows a cursor is here. One that is ahead of us is not: the store has to tell whether it exists. */
  covers(cursor: string): boolean {
    return compareCursors(cursor, this.#floor) >= 0 && compareCursors(cursor, this.#top) <= 0;
  }

  /** The next ones behind a cursor that is covered. */
  after(cursor: string, count: number): Entry[] {
    let from = this.#first;
    let to = this.#entries.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (compareCursors(this.#entries[middle]!.cursor, cursor) > 0) to = middle;
      else from = middle + 1;
    }
    return this.#entries.slice(from, from + count);
  }
}
