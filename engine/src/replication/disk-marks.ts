/**
 * How much of the replication stream is on this server's disk: for WAITAOF, here and at the primary of a replica.
 *
 * The append-only file counts its own bytes, which are not those of the stream. So for every chunk of the stream that is
 * handed on, what the file had been given by then is noted, and what the file says it has synced leads back to an offset.
 */
import type { Persistence } from "../persist/persistence.ts";

interface Mark {
  readonly offset: number;
  /** What the file had been given. */
  readonly bytes: number;
}

export class DiskMarks {
  readonly #persistence: Persistence;
  #marks: Mark[] = [];
  #reached = 0;
  /** The last offset that was noted while the first base was being written. */
  #beforeBase: number | null = null;

  constructor(persistence: Persistence) {
    this.#persistence = persistence;
  }

  /** Everything up to this offset has been given to the file. */
  note(offset: number): void {
    const { state, appender } = this.#persistence.aof;
    // While the first base is being written, nothing counts.
    if (state !== "on") {
      this.#marks = [];
      this.#beforeBase = offset;
      return;
    }
    this.#beforeBase = null;
    const bytes = appender.writtenBytes + appender.bufferedBytes;
    const last = this.#marks.at(-1);
    if (last?.bytes === bytes) this.#marks[this.#marks.length - 1] = { offset, bytes };
    else this.#marks.push({ offset, bytes });
  }

  /** Another history begins. */
  reset(): void {
    this.#marks = [];
    this.#beforeBase = null;
    this.#reached = 0;
  }

  /** The offset up to which the stream is on disk; undefined where nothing is kept. */
  get offset(): number | undefined {
    const { state, appender } = this.#persistence.aof;
    if (state !== "on") return undefined;
    // What came before the base was there is in it, or in what the file has been given since.
    if (this.#beforeBase !== null) this.note(this.#beforeBase);
    let done = 0;
    for (const { offset, bytes } of this.#marks) {
      if (bytes > appender.syncedBytes) break;
      this.#reached = offset;
      done++;
    }
    if (done > 0) this.#marks.splice(0, done);
    return this.#reached;
  }
}
