/**
 * Reads one file from where its record says, in batches. Each batch is one step, which moves the record and does what the lines
 * do, or nothing: a script where the lines do nothing but add up, otherwise a transaction that watches the record. Whatever goes wrong in between (a crash, a lost answer, another process that
 * was quicker), the record says what has been done, and work goes on from there.
 */

import { CinnabarError, ConflictError, ConnectionError, messageOf, ServerError } from "../../base/errors.ts";
import { asTextsOrNulls } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { Batch } from "./batch.ts";
import { decoderFor, LineSplitter, type RawLine } from "./lines.ts";
import { addUp, advance, claim, release, restart } from "./scripts.ts";
import { type LogSource, tailLength, tailOf, Window } from "./source.ts";

/** How often in a row a file may begin again, after lost answers, without any progress. */
const MOST_ATTEMPTS = 10;
const MOST_EFFECTS = 10_000;

/** A line of a file. */
export interface Line {
  /** Decoded, without its line feed. */
  readonly text: string;
  /** As it is in the file, without its line feed; no more than `maxLineBytes`. */
  readonly bytes: Buffer;
  /** From 1. */
  readonly number: number;
  /** Where it begins in the file (in what it unpacks to). */
  readonly offset: number;
  /** Whether it was longer than `maxLineBytes`. */
  readonly cut: boolean;
  /** The path of the file. */
  readonly file: string;
}

/** What a line does. It is called again for lines whose batch was not committed, so it changes nothing but through the batch. */
export type Effects = (line: Line, batch: Batch) => void | Promise<void>;

/** What became of one file. */
export interface FileOutcome {
  /** Its path. */
  readonly file: string;
  /** What the file's progress is kept under; null while its first line is not there as a whole. */
  readonly id: string | null;
  /**
   * "done": all lines that there are. "taken": another process is at it. "incomplete": a gzip file that is still being
   * written; what could be unpacked is done. "different": it begins like a file that was read before, but is another one.
   * "gone": it was removed.
   */
  readonly status: "done" | "taken" | "incomplete" | "different" | "gone";
  /** Lines that this call has committed. */
  readonly lines: number;
  /** How far the file is read, in bytes. */
  readonly offset: number;
}

/** A file that could not be read, an effect that threw, or one that the server refused. */
export class LogFileError extends CinnabarError {
  override readonly name = "LogFileError";
  /** The path of the file. */
  readonly file: string;
  /** The number of the line, from 1; null where it is about the whole file. */
  readonly line: number | null;

  constructor(message: string, at: { readonly file: string; readonly line: number | null }, options?: ErrorOptions) {
    super("LOGFILE", `${at.file}${at.line === null ? "" : `, line ${at.line}`}: ${message}`, options);
    this.file = at.file;
    this.line = at.line;
  }
}

export interface WorkOptions {
  readonly base: string;
  readonly index: string;
  readonly record: string;
  readonly id: string;
  readonly owner: string;
  readonly leaseMs: number;
  readonly keepMs: number;
  readonly batchLines: number;
  readonly batchBytes: number;
  readonly maxLineBytes: number;
  readonly encoding: string;
  readonly takeLastLine: boolean;
  /** Whether a file that is not the one that was read takes its place, or is reported. */
  readonly replaceable: boolean;
  readonly known: Set<string>;
  readonly effects: Effects;
  readonly signal: AbortSignal | undefined;
}

interface Place {
  readonly offset: number;
  readonly lines: number;
  readonly tail: string;
  readonly number: number;
}

type Status = FileOutcome["status"];

export class FileWork {
  readonly #store: Store;
  readonly #source: LogSource;
  readonly #options: WorkOptions;
  readonly #decode: (line: RawLine) => string;
  #committed = 0;
  #offset = 0;

  constructor(store: Store, source: LogSource, options: WorkOptions) {
    this.#store = store;
    this.#source = source;
    this.#options = options;
    this.#decode = decoderFor(options.encoding);
  }

  async run(): Promise<FileOutcome> {
    const { record, owner, id } = this.#options;
    let status: Status | null = null;
    try {
      for (let attempt = 1; status === null; attempt++) {
        const before = this.#committed;
        status = await this.#attempt(attempt >= MOST_ATTEMPTS);
        if (this.#committed > before) attempt = 0;
      }
    } finally {
      // Who cannot be reached frees the file when the lease runs out.
      if (status !== "taken") await this.#store.run(release, { record, owner }).catch(() => {});
    }
    return { file: this.#source.path, id, status, lines: this.#committed, offset: this.#offset };
  }

  /** From the record to the end of the file; null to begin again with what the record says then. */
  async #attempt(last: boolean): Promise<Status | null> {
    const { record, index, id, owner, leaseMs, keepMs, replaceable } = this.#options;
    this.#options.signal?.throwIfAborted();
    const path = this.#source.path;
    const place = await this.#store.run(claim, { record, index, id, owner, path, leaseMs, keepMs });
    this.#offset = place.offset;
    if (!place.mine) return "taken";
    const chunks = this.#source.chunks(place.offset - tailLength(place.tail));
    try {
      const begun = await begin(chunks, place);
      if (begun !== null) return await this.#read(chunks, place, begun, last);
    } finally {
      await chunks.return(undefined);
    }
    if (this.#source.broken) return "incomplete";
    if (!replaceable) return "different";
    await this.#store.run(restart, { record, owner, number: place.number });
    return null;
  }

  async #read(chunks: AsyncGenerator<Buffer>, place: Place, begun: Begun, last: boolean): Promise<Status | null> {
    const { batchLines, batchBytes, maxLineBytes, encoding, takeLastLine } = this.#options;
    const splitter = new LineSplitter(maxLineBytes, encoding);
    const { window } = begun;
    let from = place;
    let { offset, lines } = place;
    let batch = this.#newBatch();
    const commit = async (): Promise<boolean> => {
      if (lines === from.lines) return true;
      const to = { offset, lines, tail: window.tailAt(offset), number: place.number };
      const committed = await this.#commit(from, to, batch, last);
      if (committed) {
        this.#committed += lines - from.lines;
        this.#offset = offset;
        from = to;
        batch = this.#newBatch();
        this.#options.signal?.throwIfAborted();
      }
      return committed;
    };
    const take = async (line: RawLine): Promise<boolean> => {
      await this.#collect(line, ++lines, offset, batch);
      offset += line.length;
      const full = lines - from.lines >= batchLines || offset - from.offset >= batchBytes || batch.size >= MOST_EFFECTS;
      return !full || (await commit());
    };
    for (let chunk: Buffer | null = begun.rest; chunk !== null; chunk = (await chunks.next()).value ?? null) {
      window.push(chunk);
      for (const line of splitter.push(chunk)) if (!(await take(line))) return null;
    }
    const { gzip, broken } = this.#source;
    if (gzip ? !broken : takeLastLine) {
      const partial = splitter.rest();
      if (partial !== null && !(await take(partial))) return null;
    }
    if (!(await commit())) return null;
    return broken ? "incomplete" : "done";
  }

  #newBatch(): Batch {
    return new Batch(this.#options.base, this.#options.known);
  }

  async #collect(raw: RawLine, number: number, offset: number, batch: Batch): Promise<void> {
    const { path: file } = this.#source;
    const line: Line = { text: this.#decode(raw), bytes: raw.bytes, number, offset, cut: raw.cut, file };
    try {
      const pending = this.#options.effects(line, batch);
      if (pending !== undefined) await pending;
    } catch (cause) {
      const message = messageOf(cause);
      throw new LogFileError(message, { file, line: number }, { cause });
    }
  }

  /** False when it is not known to be committed: the record tells. */
  async #commit(from: Place, to: Place, batch: Batch, last: boolean): Promise<boolean> {
    const sums = batch.sums();
    try {
      const outcome = sums === null ? await this.#transact(from, to, batch) : await this.#addUp(from, to, sums);
      if (outcome instanceof ServerError) {
        const at = { file: this.#source.path, line: null };
        const which = `an effect of lines ${from.lines + 1} to ${to.lines} was refused; the others are done`;
        throw new LogFileError(`${which}: ${outcome.message}`, at, { cause: outcome });
      }
      return outcome;
    } catch (error) {
      const unknown = error instanceof ConflictError || (error instanceof ConnectionError && error.maybeExecuted);
      if (!unknown || last) throw error;
      return false;
    }
  }

  /** One round trip. False: the record says that the file is read up to somewhere else. */
  async #addUp(from: Place, to: Place, sums: NonNullable<ReturnType<Batch["sums"]>>): Promise<boolean | ServerError> {
    const { record, leaseMs, keepMs } = this.#options;
    const { offset, lines, tail } = to;
    const moved = { offset, lines, tail, leaseMs, keepMs };
    const outcome = await this.#store.run(addUp, {
      ...{ record, fromOffset: from.offset, number: from.number, ...moved },
      ...sums,
    });
    return outcome === "done" ? true : outcome === "elsewhere" ? false : new ServerError(outcome);
  }

  /** Two round trips, for effects that are commands or scripts: those are refused before anything is done, or run as they are. */
  async #transact(from: Place, to: Place, batch: Batch): Promise<boolean | ServerError> {
    const { record, leaseMs, keepMs } = this.#options;
    const { offset, lines, tail } = to;
    const moved = advance.with({ record, offset, lines, tail, leaseMs, keepMs });
    const options = { watch: [record], reads: [["HMGET", record, "offset", "number"]], attempts: 1 };
    const answers = await this.#store.transaction(options, (_, [now]) => {
      // Whose claim it is does not matter here: who commits first has done it, so slow work gets done as well.
      const [offsetNow, numberNow] = asTextsOrNulls(now);
      const same = Number(offsetNow ?? 0) === from.offset && Number(numberNow ?? 0) === from.number;
      return same ? [moved, ...batch.items()] : null;
    });
    return answers?.find((answer) => answer instanceof ServerError) ?? answers !== null;
  }
}

interface Begun {
  readonly window: Window;
  /** Of the first chunk, what comes after the place. */
  readonly rest: Buffer;
}

/** Goes to the place, if what stands before it is what stood there; null if it is not. */
async function begin(chunks: AsyncGenerator<Buffer>, { offset, tail }: Place): Promise<Begun | null> {
  const length = tailLength(tail);
  let read = Buffer.alloc(0);
  while (read.length < length) {
    const { value } = await chunks.next();
    if (value === undefined) return null;
    read = Buffer.concat([read, value]);
  }
  const before = read.subarray(0, length);
  if (length > 0 && tailOf(before) !== tail) return null;
  return { window: new Window(before, offset), rest: read.subarray(length) };
}
