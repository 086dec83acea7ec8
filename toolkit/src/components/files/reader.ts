/**
 * A reader of a channel: registered under a name, with a lease that is renewed for as long as this object lives. Every file that is
 * announced is for every reader; a reader that dies is waited for until its lease is over, and then its blocks are given up when
 * room is wanted.
 */

import { defineOptions, flag, signal } from "../../base/options.ts";
import { asBytes, asTextOrNull, asTuple } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { type KeptLease, Renewal, renewDueFirst } from "../../leases/renewal.ts";
import { decodeCursor } from "./cursor.ts";
import { asEncoding, IncomingFile } from "./incoming.ts";
import type { ChannelKeys } from "./keys.ts";
import { refusal } from "./progress.ts";
import { leave, pending, renew } from "./scripts.ts";
import type { FileChannel, WakeUps } from "./wake-ups.ts";

/** A file that a reader cannot read, or not go on reading. */
export interface MissedFile {
  /** The file's name. */
  readonly name: string;
  /** Up to where this reader had it; 0 if it never began. */
  readonly position: number;
}

export interface ReaderFacts {
  readonly name: string;
  readonly token: string;
  readonly leaseMs: number;
  readonly dropped: boolean;
  readonly missed: readonly MissedFile[];
  /** When the lease was asked for. */
  readonly sentMs: number;
}

export interface ReaderSettings {
  readonly blockBytes: number;
  readonly budgetBytes: number;
  readonly commitBytes: number;
  readonly pollMs: number;
}

/** Which files to hand out. */
export interface FilesOptions {
  /** Whether to wait for files to come, until the signal (default false). */
  readonly follow?: boolean;
  /** Ends the loop, which rejects with the signal's reason. None by default. */
  readonly signal?: AbortSignal;
}

const RETRY_MS = 1_000;

const FILES_OPTIONS = defineOptions<FilesOptions>("Reader.files", {
  follow: flag,
  signal,
});

/** Its number, name, encoding, info, and where this reader is in it. */
const FILE = asTuple(asBytes, asBytes, asBytes, asBytes, asBytes);

/**
 * A reader of a channel, from `Files.join`: every file that is announced is for every reader.
 *
 * @example
 * const logs = new Files(db, "logs");
 * const reader = await logs.join("counter");
 * await logs.send("monday.log", Buffer.from("GET /\n"));
 * for await (const file of reader.files()) for await (const line of file.lines()) line.text; // → "GET /"
 * reader.close();
 * @example
 * const logs = new Files(db, "logs");
 * const reader = await logs.join("counter");
 * await reader.open("none.log"); // → null
 * await reader.leave();
 */
export class Reader {
  /** The name that it has joined under. */
  readonly name: string;
  /** It had been dropped: its lease was over and room was wanted. */
  readonly dropped: boolean;
  /** Files that it cannot read, or not go on reading, since blocks that it would need are freed. */
  readonly missed: readonly MissedFile[];
  readonly #store: Store;
  readonly #keys: ChannelKeys;
  readonly #wakeUps: WakeUps;
  readonly #settings: ReaderSettings;
  readonly #token: string;
  readonly #leaseMs: number;
  readonly #lost = new AbortController();
  #kept: KeptLease | null = null;
  #isOver = false;

  constructor({ store, keys, wakeUps }: FileChannel, facts: ReaderFacts, settings: ReaderSettings) {
    this.#store = store;
    this.#keys = keys;
    this.#wakeUps = wakeUps;
    this.#settings = settings;
    this.name = facts.name;
    this.dropped = facts.dropped;
    this.missed = facts.missed;
    this.#token = facts.token;
    this.#leaseMs = facts.leaseMs;
    this.#keep(facts.sentMs);
  }

  /** Aborted when this reader was dropped, or another process has taken its name. */
  get signal(): AbortSignal {
    return this.#lost.signal;
  }

  /** The files that this reader is not done with, in the order of their announcement. */
  async *files(options: FilesOptions = {}): AsyncGenerator<IncomingFile, void, undefined> {
    FILES_OPTIONS.check(options);
    const signal = options.signal === undefined ? this.signal : AbortSignal.any([options.signal, this.signal]);
    for (let after = 0; ; ) {
      signal.throwIfAborted();
      let file = await this.#next(after);
      if (file === null) {
        if (options.follow !== true) return;
        const from = after;
        file = await this.#wakeUps.until("f", () => this.#next(from), { signal, pollMs: this.#settings.pollMs });
      }
      after = file.number;
      yield file;
    }
  }

  /** A file by its name; null if there is none that this reader is not done with. */
  async open(name: string): Promise<IncomingFile | null> {
    const number = asTextOrNull(await this.#store.call("ZSCORE", this.#keys.files, name));
    if (number === null) return null;
    const file = await this.#next(Number(number) - 1);
    return file?.number === Number(number) ? file : null;
  }

  async #next(after: number): Promise<IncomingFile | null> {
    this.signal.throwIfAborted();
    renewDueFirst(this.#store);
    const { name: reader } = this;
    const found = await this.#store.run(pending, {
      files: this.#keys.files,
      record: this.#keys.reader(reader),
      base: this.#keys.base,
      reader,
      token: this.#token,
      after,
      limit: 1,
    });
    if (!Array.isArray(found)) throw this.#lose(refusal(found.toString(), reader, ""));
    if (found.length === 0) return null;
    const [number, name, encoding, info, cursor] = FILE(found[0]);
    const facts = {
      number: Number(number),
      name: name.toString("utf8"),
      encoding: asEncoding(encoding.toString()),
      info: JSON.parse(info.toString("utf8")),
      cursor: decodeCursor(cursor),
      reader,
      token: this.#token,
      leaseMs: this.#leaseMs,
    };
    const settings = { ...this.#settings, lost: this.signal };
    const channel = { store: this.#store, keys: this.#keys, wakeUps: this.#wakeUps };
    return new IncomingFile(channel, facts, settings);
  }

  /** Nothing is kept for this reader any more, neither blocks nor how far it is. What it has counted stays. */
  async leave(): Promise<void> {
    this.#end();
    const { base } = this.#keys;
    const record = this.#keys.reader(this.name);
    await this.#store.run(leave, { record, base, reader: this.name, token: this.#token });
  }

  /** Ends here. The reader is still waited for until its lease is over, so that it can come back. */
  close(): void {
    this.#end();
  }

  /** The same as `close()`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  /** The same as `close()`. */
  [Symbol.dispose](): void {
    this.close();
  }

  #end(): void {
    this.#isOver = true;
    this.#kept?.end();
  }

  #lose(reason: Error): Error {
    this.#end();
    this.#lost.abort(reason);
    return reason;
  }

  #renewal() {
    const { name: reader } = this;
    const record = this.#keys.reader(reader);
    const params = { readers: this.#keys.readers, record, reader, token: this.#token, leaseMs: this.#leaseMs };
    return renew.with(params);
  }

  #keep(sentMs: number): void {
    this.#kept = Renewal.of(this.#store).keep({
      call: () => this.#renewal(),
      leaseMs: this.#leaseMs,
      validUntilMs: sentMs + this.#leaseMs,
      renew: true,
      // By the clock it may be over; what counts is whether the store has dropped it, which it does only for want of room.
      onLost: () => void this.#ask(),
    });
  }

  async #ask(): Promise<void> {
    if (this.#isOver || this.#store.closed) return;
    const sentMs = this.#store.clock.monotonicMs();
    try {
      const [answer] = await this.#store.pipeline([this.#renewal()]);
      if (this.#isOver) return;
      if (answer instanceof Error) throw answer;
      if (answer === 1) return this.#keep(sentMs);
      const owner = await this.#store.call("HGET", this.#keys.reader(this.name), "token");
      this.#lose(refusal(owner === null ? "dropped" : "taken", this.name, ""));
    } catch {
      if (!this.#isOver && !this.#store.closed) this.#store.clock.after(RETRY_MS, () => void this.#ask());
    }
  }
}
