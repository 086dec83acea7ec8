/**
 * What a reader has to commit for a file: how far it is, and what it has counted since the last commit. A position lies anywhere;
 * reading can begin again only where a block begins, so the places at which blocks began are kept until a commit has passed them,
 * with the state of the unpacking there.
 */
import { integer, word } from "../../base/checks.ts";
import type { Store } from "../../connection/store.ts";
import { type Cursor, encodeCursor, type Held, NO_BLOCK, NOTHING } from "./cursor.ts";
import { FilesError } from "./errors.ts";
import type { ChannelKeys } from "./keys.ts";
import { commit, freeMore } from "./scripts.ts";

/** The beginning of a block. */
export interface Mark {
  readonly block: number;
  /** Where what it holds begins. */
  readonly out: number;
  /** What the blocks before it take, of those that were read here. */
  readonly stored: number;
  readonly state: Buffer | null;
}

export interface ProgressFacts {
  readonly number: number;
  readonly name: string;
  readonly reader: string;
  readonly token: string;
  readonly leaseMs: number;
}

const MAX_FIELDS = 5_000;

export class Progress {
  readonly #store: Store;
  readonly #keys: ChannelKeys;
  readonly #facts: ProgressFacts;
  #counts = new Map<string, Map<string, number>>();
  #fields = 0;
  #marks: Mark[] = [];
  #committed: Cursor;
  #position: number;
  #lines: number;
  #committing: Promise<void> = Promise.resolve();
  /** Why a commit failed: whether it was done is not known, so nothing more can be. */
  #failure: { readonly reason: unknown } | null = null;
  #isDone = false;
  #atMs: number;

  constructor(store: Store, keys: ChannelKeys, facts: ProgressFacts, committed: Cursor) {
    this.#store = store;
    this.#keys = keys;
    this.#facts = facts;
    this.#committed = committed;
    this.#position = committed.position;
    this.#lines = committed.lines;
    this.#atMs = store.clock.monotonicMs();
  }

  get committed(): Cursor {
    return this.#committed;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Adds to a field of a total, with the next commit. */
  count(total: string, field: string, by: number): void {
    integer("by", by, Number.MIN_SAFE_INTEGER);
    let of = this.#counts.get(total);
    if (of === undefined) {
      of = new Map();
      this.#counts.set(word("the name of a total", total, 256), of);
    }
    const before = of.get(field);
    if (before === undefined) this.#fields++;
    of.set(field, (before ?? 0) + by);
  }

  /** Back to what is committed: for who begins to read again. */
  async rewind(): Promise<Cursor> {
    await this.#committing.catch(() => {});
    this.#counts = new Map();
    this.#fields = 0;
    this.#marks = [];
    this.#position = this.#committed.position;
    this.#lines = this.#committed.lines;
    return this.#committed;
  }

  /** A block begins. */
  mark(mark: Mark): void {
    this.#marks.push(mark);
  }

  /** What was handed out ends here. */
  reach(position: number, lines: number): void {
    this.#position = position;
    this.#lines = lines;
  }

  /** Whether so much was read since the last commit, or it was so long ago, that another is due. */
  isDue(bytes: number, ms: number): boolean {
    if (this.#position === this.#committed.position && this.#fields === 0) return false;
    if (this.#fields >= MAX_FIELDS) return true;
    const marks = this.#marks;
    if (marks.length > 1 && this.#markAt(this.#position).stored - marks[0]!.stored >= bytes) return true;
    return this.#store.clock.monotonicMs() - this.#atMs >= ms;
  }

  /** Commits beside further reading; one at a time. What failed before is thrown here. */
  async commitSoon(): Promise<void> {
    await this.#committing;
    this.#commit(false).catch(() => {});
  }

  async commitNow(isDone = false): Promise<void> {
    await this.#committing;
    await this.#commit(isDone);
  }

  /**
   * For who waits for the block of `mark`: gives up all before it. `held` is what came out between the position and there.
   * `mostKept`: only if there is nothing else to commit; then it must be no more than this.
   */
  async release(mark: Mark, held: Held, mostKept: number | null): Promise<void> {
    await this.#committing;
    const { position, block } = this.#committed;
    const isNews = this.#position !== position || this.#fields > 0;
    if (mostKept !== null && isNews) {
      const kept = mark.stored - (this.#marks[0]?.stored ?? mark.stored);
      // More may never come: it may wait for the room that this takes.
      if (kept > mostKept)
        throw new FilesError("UNCOMMITTED", `${kept} bytes of "${this.#facts.name}" are not committed`);
      return;
    }
    if (!isNews && block === mark.block) return;
    this.#marks = [];
    await this.#put({ ...mark, position: this.#position, lines: this.#lines, held });
  }

  #markAt(position: number): Mark {
    const marks = this.#marks;
    let at = marks.length - 1;
    while (at > 0 && marks[at]!.out > position) at--;
    return marks[at]!;
  }

  #commit(isDone: boolean): Promise<void> {
    const position = this.#position;
    const lines = this.#lines;
    const isSame = position === this.#committed.position;
    if ((isSame && this.#fields === 0 && !isDone) || this.#isDone) return Promise.resolve();
    if (isDone) return this.#put({ block: NO_BLOCK, position, lines, out: position, state: null, held: NOTHING }, true);
    if (isSame) return this.#put(this.#committed);
    const { block, out, state } = this.#marks.length === 0 ? this.#committed : this.#markAt(position);
    while (this.#marks.length > 1 && this.#marks[0]!.block < block) this.#marks.shift();
    return this.#put({ block, position, lines, out, state, held: NOTHING });
  }

  #put({ block, position, lines, out, state, held }: Omit<Cursor, "step">, isDone = false): Promise<void> {
    const counts = this.#counts;
    this.#counts = new Map();
    this.#fields = 0;
    this.#atMs = this.#store.clock.monotonicMs();
    const next: Cursor = { step: this.#committed.step + 1, block, position, lines, out, state, held };
    this.#committing = this.#run(next, counts, isDone);
    return this.#committing;
  }

  async #run(next: Cursor, counts: Map<string, Map<string, number>>, isDone: boolean): Promise<void> {
    if (this.#failure !== null) throw this.#failure.reason;
    const { number, name, reader, token, leaseMs } = this.#facts;
    const totals = [...counts.keys()].map((total) => this.#keys.total(total));
    const words = [...counts.values()].flatMap((of, at) => [...of].flatMap(([field, by]) => [at + 1, field, by]));
    try {
      const outcome = await this.#store.run(commit, {
        record: this.#keys.reader(reader),
        file: this.#keys.file(number),
        at: this.#keys.at(number),
        totals,
        base: this.#keys.base,
        number,
        name,
        reader,
        token,
        step: next.step - 1,
        block: next.block,
        cursor: encodeCursor(next),
        done: isDone ? 1 : 0,
        leaseMs,
        counts: words,
      });
      if (outcome !== "ok" && outcome !== "more") throw refusal(outcome, reader, name);
      const rest = { file: this.#keys.file(number), base: this.#keys.base, number };
      for (let isMore = outcome === "more"; isMore; ) isMore = await this.#store.run(freeMore, rest);
    } catch (reason) {
      this.#failure = { reason };
      throw reason;
    }
    this.#committed = next;
    this.#isDone = isDone;
  }
}

/** Why the store does not take what a reader says. */
export function refusal(outcome: string, reader: string, file: string): FilesError {
  switch (outcome) {
    case "dropped":
      return new FilesError(
        "DROPPED",
        `the lease of reader "${reader}" ran out, and its place was given up: it must join again`,
      );
    case "gone":
      return new FilesError("GONE", `the file "${file}" was removed`);
    default:
      return new FilesError("TAKEN", `another process reads as "${reader}" now`);
  }
}
