/**
 * One listener: from its cursor it catches up, then it takes part in what is live.
 *
 * Catching up goes at the reader's pace: from `recent` where that reaches back far enough, from the log otherwise. A live
 * listener whose outlet is full goes back to catching up from the place it has reached, so that a burst costs nobody their
 * connection and no memory piles up. It is cut off when the outlet stays full for `readTimeoutMs`, or when it has fallen out of `recent`.
 */
import { sleep, type Timer } from "../../base/clock.ts";
import { compareCursors } from "./cursor.ts";
import { Entry } from "./entry.ts";
import type { Listener } from "./filter-index.ts";
import type { CompiledFilter } from "./filters.ts";
import type { EndMessage, EndReason, GapMessage } from "./messages.ts";
import type { Page } from "./scripts.ts";
import type { Tail } from "./tail.ts";

/** Where a feed's messages go. */
export interface Outlet {
  /** Takes them in any case; false when it wants no more until `drained`. */
  send(entries: readonly Entry[]): boolean;
  gap(message: GapMessage): void;
  /** Nothing more comes. */
  end(message: EndMessage): void;
  /** Resolves when there is room again, or it is closed. */
  drained(): Promise<void>;
}

/** How much is gathered for one `send`. */
const FLUSH_BYTES = 65_536;
/** How many events one listener judges before others get a turn. */
const SLICE = 1_000;
const RETRY_MS = 500;

export class Feed implements Listener {
  readonly filter: CompiledFilter;
  seenIn = 0;
  readonly #tail: Tail;
  readonly #outlet: Outlet;
  readonly #readTimeoutMs: number;
  readonly #onEnd: () => void;
  #state: "resuming" | "lagging" | "live" | "ended" = "resuming";
  #cursor: string;
  /** A live one that is ahead of the tail: nothing up to here is sent again. */
  #floor: string | null = null;
  #page: Page | null = null;
  #batch: Entry[] = [];
  #batchBytes = 0;
  #hasRoom = true;

  constructor(
    tail: Tail,
    filter: CompiledFilter,
    outlet: Outlet,
    options: { readonly after: string | undefined; readonly readTimeoutMs: number; readonly onEnd: () => void },
  ) {
    this.#tail = tail;
    this.filter = filter;
    this.#outlet = outlet;
    this.#readTimeoutMs = options.readTimeoutMs;
    this.#onEnd = options.onEnd;
    this.#cursor = options.after ?? tail.position;
    tail.add(this);
  }

  /** Everything up to here was sent, or not asked for. */
  get cursor(): string {
    return this.#state === "live" ? (this.#floor ?? this.#tail.position) : this.#cursor;
  }

  get isLive(): boolean {
    return this.#state === "live";
  }

  /** Before `start`: whether anything is missing behind the cursor. */
  async check(): Promise<GapMessage | null> {
    if (this.#tail.recent.covers(this.#cursor)) return null;
    this.#page = await this.#tail.read(this.#cursor);
    return gapIn(this.#cursor, this.#page);
  }

  start(): void {
    void this.#catchUp();
  }

  /** The next of what is live, sent by `flush` at the latest. */
  take(entry: Entry): void {
    // It may have left since it was found.
    if (this.#state !== "live") return;
    if (this.#floor !== null) {
      if (compareCursors(entry.cursor, this.#floor) <= 0) return;
      this.#floor = null;
    }
    this.#batch.push(entry);
    this.#batchBytes += entry.sizeBytes;
    if (this.#batchBytes >= FLUSH_BYTES) this.flush();
  }

  flush(): void {
    if (this.#state !== "live" || this.#batch.length === 0) return;
    this.#send();
    if (this.#hasRoom) return;
    this.#cursor = this.#tail.position;
    this.#leave("lagging");
    void this.#catchUp();
  }

  #send(): void {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    this.#hasRoom = this.#outlet.send(batch);
  }

  /** Events are missing for everybody. Who is still catching up finds out by itself. */
  missed(after: string, cursor: string): void {
    if (this.#state !== "live") return;
    this.#outlet.gap({ kind: "gap", after: this.#floor ?? after, cursor });
    this.#floor = null;
  }

  end(reason: EndReason, message: string, retryMs?: number): void {
    if (this.#state === "ended") return;
    const { cursor } = this;
    this.close();
    this.#outlet.end({ kind: "end", reason, message, cursor, ...(retryMs === undefined ? {} : { retryMs }) });
  }

  /** The other side is gone, or is being told by somebody else. */
  close(): void {
    if (this.#state === "ended") return;
    this.#cursor = this.cursor;
    this.#leave("ended");
    this.#tail.delete(this);
    this.#onEnd();
  }

  get #ended(): boolean {
    return this.#state === "ended";
  }

  #leave(state: "lagging" | "ended"): void {
    if (this.#state === "live") this.#tail.live.delete(this);
    this.#state = state;
    this.#batch = [];
    this.#batchBytes = 0;
  }

  #goLive(): void {
    const { position } = this.#tail;
    this.#floor = compareCursors(this.#cursor, position) > 0 ? this.#cursor : null;
    this.#state = "live";
    this.#tail.live.add(this);
    // Who is ahead of the tail knows of something that it has not read.
    if (this.#floor !== null) this.#tail.look();
  }

  async #catchUp(): Promise<void> {
    while (!this.#ended) {
      if (!this.#hasRoom && !(await this.#room())) return;
      if (this.#tail.recent.covers(this.#cursor)) {
        const entries = this.#tail.recent.after(this.#cursor, SLICE);
        if (entries.length === 0) return this.#goLive();
        // What was read to check the cursor begins at a place that is left now.
        this.#page = null;
        this.#pass(entries);
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      if (this.#state === "lagging") {
        return this.end("slow", "cut off: you read more slowly than the events come, and have fallen too far behind");
      }
      const page = await this.#nextPage();
      if (page === null) return;
      const gap = gapIn(this.#cursor, page);
      if (gap !== null) {
        this.#outlet.gap(gap);
        this.#cursor = gap.cursor;
      }
      // Meanwhile the tail may have read on past a cursor that `recent` does not reach back to: then there is more to read.
      if (page.entries.length === 0 && compareCursors(this.#cursor, this.#tail.position) >= 0) return this.#goLive();
      this.#pass(page.entries.map(([cursor, json]) => this.#entry(cursor, json)));
    }
  }

  #entry(cursor: string, json: string): Entry {
    const entry = new Entry(cursor, json);
    if (entry.event.kind === "delete") entry.target = this.#tail.recent.status(entry.event.id);
    return entry;
  }

  /** Sends what the filter wants of them, as far as there is room. */
  #pass(entries: readonly Entry[]): void {
    for (const entry of entries) {
      this.#cursor = entry.cursor;
      if (!this.#wants(entry)) continue;
      this.#batch.push(entry);
      this.#batchBytes += entry.sizeBytes;
      if (this.#batchBytes < FLUSH_BYTES) continue;
      this.#send();
      if (!this.#hasRoom || this.#ended) return;
    }
    if (this.#batch.length > 0) this.#send();
  }

  #wants({ event, traits, target, withdrawn }: Entry): boolean {
    if (withdrawn) return false;
    const known = traits ?? target;
    return known !== null ? this.filter.matches(known) : this.filter.mayHaveMatched(event.id, event.userId);
  }

  async #nextPage(): Promise<Page | null> {
    const first = this.#page;
    this.#page = null;
    if (first !== null) return first;
    while (!this.#ended) {
      try {
        const page = await this.#tail.read(this.#cursor);
        return this.#ended ? null : page;
      } catch {
        // The store cannot be reached, which the tail reports; the cursor keeps.
        await sleep(this.#tail.clock, RETRY_MS);
      }
    }
    return null;
  }

  async #room(): Promise<boolean> {
    let timer: Timer | undefined;
    const late = new Promise<false>((resolve) => {
      timer = this.#tail.clock.after(this.#readTimeoutMs, () => resolve(false));
    });
    const drained = await Promise.race([this.#outlet.drained().then(() => true), late]);
    timer?.cancel();
    if (this.#ended) return false;
    if (!drained) {
      this.end(
        "slow",
        `cut off: you have read nothing of what waits for you for ${this.#readTimeoutMs / 1_000} seconds`,
      );
      return false;
    }
    this.#hasRoom = true;
    return true;
  }
}

function gapIn(cursor: string, { lost, top }: Page): GapMessage | null {
  if (compareCursors(cursor, lost) < 0) return { kind: "gap", after: cursor, cursor: lost };
  if (compareCursors(cursor, top) > 0) return { kind: "gap", after: cursor, cursor: top };
  return null;
}
