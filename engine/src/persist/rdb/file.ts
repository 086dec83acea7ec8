/**
 * RDB files on disk: an engine's data into one, and one into an host.
 *
 * A file is written beside its place under a temporary name, brought to disk, and only then given its name, so that at any
 * moment the name stands for a whole file, the old one or the new one.
 */

import type { Db } from "../../core/db.ts";
import { REDIS_VERSION } from "../../core/version.ts";
import { quoteWord } from "../../lib/quote.ts";
import { Buffer } from "../../platform/bytes.ts";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "../../platform/files.ts";
import { dirname, join } from "../../platform/paths.ts";
import { ownPid } from "../../platform/process.ts";
import { stall } from "../../platform/stall.ts";
import { soon } from "../../platform/timers.ts";
import { sizeOfKey } from "../../types/kind.ts";
import type { Value } from "../../types/value.ts";
import type { PersistHost } from "../host.ts";
import { KeyDelay } from "../key-delay.ts";
import { RdbError } from "./errors.ts";
import { type KeyAttributes, type RdbHandler, RdbReader } from "./reader.ts";
import { OPCODE } from "./types.ts";
import { RdbWriter, type StampForm } from "./writer.ts";

// ---------------------------------------------------------------------------------------------- writing

/** A file that takes its name when it is complete. */
export class PendingFile {
  readonly #path: string;
  readonly #temporary: string;
  #descriptor: number;

  constructor(path: string, temporaryName = `temp-${ownPid}.rdb`) {
    this.#path = path;
    this.#temporary = join(dirname(path), temporaryName);
    this.#descriptor = openSync(this.#temporary, "w", 0o644);
  }

  write(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) at += writeSync(this.#descriptor, chunk, at);
  }

  /** Brings it to disk and gives it its name. */
  commit(): void {
    fsyncSync(this.#descriptor);
    closeSync(this.#descriptor);
    this.#descriptor = -1;
    renameSync(this.#temporary, this.#path);
    syncFolder(dirname(this.#path));
  }

  /** Leaves nothing behind. */
  abandon(): void {
    if (this.#descriptor >= 0) closeSync(this.#descriptor);
    this.#descriptor = -1;
    rmSync(this.#temporary, { force: true });
  }
}

/** A name is on disk when its folder is. */
export function syncFolder(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export interface AuxOptions {
  /** Whether the file is the base of an append-only file. */
  readonly aofBase?: boolean;
  /** Where in the replication stream the data stands. */
  readonly replication?: { readonly streamDb: number; readonly id: string; readonly offset: number };
}

/** What a file says about itself. */
/** What writing a file needs. */
export type RdbSaveHost = Pick<PersistHost, "config" | "databases" | "eviction" | "limits" | "now" | "stamps">;

/** What loading one needs. */
export type RdbLoadHost = Pick<
  PersistHost,
  "clock" | "config" | "databases" | "heapGuard" | "limits" | "log" | "now" | "skipsChecksums" | "stamps"
>;

export function auxFields(host: RdbSaveHost, options: AuxOptions = {}): [string, string][] {
  const fields: [string, string][] = [
    ["redis-ver", REDIS_VERSION],
    ["redis-bits", "64"],
    ["ctime", String(Math.floor(host.now / 1000))],
    ["used-mem", String(host.eviction.usedBytes)],
  ];
  const { replication } = options;
  if (replication !== undefined) {
    fields.push(["repl-stream-db", String(replication.streamDb)]);
    fields.push(["repl-id", replication.id]);
    fields.push(["repl-offset", String(replication.offset)]);
  }
  fields.push(["aof-base", options.aofBase ? "1" : "0"]);
  return fields;
}

/** Access stamps go into the file where the policy goes by them. */
function stampsFor(host: RdbSaveHost): StampForm | undefined {
  const { stamps } = host;
  const policy = host.config.values["maxmemory-policy"];
  if (policy.endsWith("lfu")) return { opcode: OPCODE.FREQ, valueOf: (stamp) => stamps.frequency(stamp) };
  if (policy.endsWith("lru")) return { opcode: OPCODE.IDLE, valueOf: (stamp) => stamps.idleSeconds(stamp) };
  return undefined;
}

/** A writer as the engine is configured. */
export function writerFor(host: RdbSaveHost, sink: (chunk: Buffer) => void): RdbWriter {
  const { values } = host.config;
  return new RdbWriter({
    sink,
    compress: values.rdbcompression,
    checksum: values.rdbchecksum,
    stamps: stampsFor(host),
  });
}

export interface SaveOptions extends AuxOptions {
  /** Sources of the libraries of functions. */
  readonly functions?: Iterable<string>;
}

/** Writes one database, all at once. */
function writeDb(writer: RdbWriter, db: Db, delay: KeyDelay): void {
  const { keyspace, expires } = db;
  writer.selectDb(db.index);
  writer.resizeDb(keyspace.size, expires.size);
  const hasDeadlines = expires.size > 0;
  keyspace.forEach((key, value, place, table) => {
    writer.key(key, value, hasDeadlines ? expires.get(key) : undefined, table.stamps![place]!);
    if (delay.isOn) {
      delay.count();
      stall(delay.take());
    }
  });
}

/** Writes everything, all at once: nothing else happens meanwhile. Returns the number of bytes. */
export function writeRdb(host: RdbSaveHost, sink: (chunk: Buffer) => void, options: SaveOptions = {}): number {
  const writer = writerFor(host, sink);
  writer.begin(auxFields(host, options));
  writer.functions(options.functions ?? []);
  const delay = new KeyDelay(host.config.values["rdb-key-save-delay"]);
  for (const db of host.databases) if (db.size > 0) writeDb(writer, db, delay);
  return writer.end();
}

/** Saves everything to a file, all at once. Returns the number of bytes. */
export function saveRdb(host: RdbSaveHost, path: string, options: SaveOptions = {}): number {
  const file = new PendingFile(path);
  try {
    const length = writeRdb(host, (chunk) => file.write(chunk), options);
    file.commit();
    return length;
  } catch (error) {
    file.abandon();
    throw error;
  }
}

// ---------------------------------------------------------------------------------------------- loading

export interface LoadOptions {
  /** Keys whose time has come are dropped unless this is set: a replica keeps them until its primary says so. */
  readonly keepExpired?: boolean;
  /** A key that exists is an error unless this is set: then the file's takes its place. */
  readonly replaceKeys?: boolean;
  /** Where the keys go; the engine's own databases unless given. */
  readonly databases?: readonly Db[];
  /** Called with every key that is dropped because its deadline has passed. */
  readonly onExpired?: (db: number, key: string) => void;
  /** Told the source of every library of functions. */
  readonly onFunction?: (source: string) => void;
  /** Told now and then how far it is. */
  readonly onProgress?: (loadedBytes: number, totalBytes: number) => void;
}

export interface LoadReport {
  readonly version: number;
  readonly bytes: number;
  readonly keys: number;
  /** Keys that were dropped because their time had come, and collections that were left out because they were empty. */
  readonly expired: number;
  readonly empty: number;
  readonly aux: ReadonlyMap<string, string>;
}

/**
 * Keys do not go into their table as they come, but in batches when the file is this much further on. By then V8 has moved
 * their strings out of its nursery. A table whose entries point into the nursery, all over the place, has to be visited by
 * every small collection: loading a million keys that way takes twice the time.
 */
const SETTLED_AFTER = 12 * 1024 * 1024;
const BATCH_KEYS = 4096;

interface Batch {
  readonly db: Db;
  /** Where in the file its first key stands. */
  readonly offset: number;
  readonly keys: string[];
  readonly values: Value[];
  readonly deadlines: (number | undefined)[];
  readonly stamps: (number | undefined)[];
}

/** What may be built between two looks at the heap. */
const UNCHECKED_BYTES = 1024 * 1024;

/** Puts what a file has into an host. All of it is there when the reader is done. */
export class RdbLoader implements RdbHandler {
  readonly #host: RdbLoadHost;
  readonly #options: LoadOptions;
  readonly #totalBytes: number;
  readonly #now: number;
  readonly #databases: readonly Db[];
  readonly reader: RdbReader;
  readonly delay: KeyDelay;
  #db: Db;
  #version = 0;
  #keys = 0;
  #expired = 0;
  #empty = 0;
  /** What has been built since the heap was last looked at: a piece of a file may hold many times its size. */
  #uncheckedBytes = 0;
  readonly #aux = new Map<string, string>();
  /** Keys that wait, those that came first at the front. */
  readonly #batches: Batch[] = [];

  /** With the size of the file, an estimate tells early whether its data fits. */
  constructor(host: RdbLoadHost, options: LoadOptions = {}, totalBytes = 0) {
    this.#host = host;
    this.#totalBytes = totalBytes;
    this.#options = options;
    this.#now = host.now;
    this.delay = new KeyDelay(host.config.values["key-load-delay"]);
    this.#databases = options.databases ?? host.databases;
    this.#db = this.#databases[0]!;
    this.reader = new RdbReader(this, host.limits, {
      checksum: host.config.values.rdbchecksum && !host.skipsChecksums,
    });
  }

  get report(): LoadReport {
    return {
      version: this.#version,
      bytes: this.reader.offset,
      keys: this.#keys,
      expired: this.#expired,
      empty: this.#empty,
      aux: this.#aux,
    };
  }

  /** Takes a piece of the file; true when it was the last. Throws RdbError, and HeapFullError where the data does not fit. */
  feed(piece: Buffer): boolean {
    this.#checkRoom();
    return this.reader.feed(piece);
  }

  #checkRoom(): void {
    this.#uncheckedBytes = 0;
    this.#host.heapGuard.checkLoad(this.reader.offset, this.#totalBytes);
  }

  version(version: number): void {
    this.#version = version;
  }

  aux(name: string, value: string): void {
    this.#aux.set(name, value);
  }

  selectDb(index: number): void {
    const db = this.#databases[index];
    if (db === undefined) {
      const reason = `the file has a database ${index}, and only ${this.#host.databases.length} are configured`;
      throw new RdbError("unsupported", reason, this.reader.offset);
    }
    this.#db = db;
  }

  key(key: string, value: Value, attributes: KeyAttributes): void {
    const { deadline } = attributes;
    this.delay.count();
    if (deadline !== undefined && deadline < this.#now && !this.#options.keepExpired) {
      this.#expired++;
      this.#options.onExpired?.(this.#db.index, key);
      return;
    }
    this.#uncheckedBytes += sizeOfKey(key, value);
    if (this.#uncheckedBytes > UNCHECKED_BYTES) this.#checkRoom();
    const { offset } = this.reader;
    let batch = this.#batches.at(-1);
    if (batch === undefined || batch.keys.length === BATCH_KEYS || batch.db !== this.#db) {
      this.#settleUpTo(offset - SETTLED_AFTER);
      batch = { db: this.#db, offset, keys: [], values: [], deadlines: [], stamps: [] };
      this.#batches.push(batch);
    }
    batch.keys.push(key);
    batch.values.push(value);
    batch.deadlines.push(deadline);
    batch.stamps.push(this.#host.stamps.of(attributes.idle, attributes.frequency));
    this.#keys++;
  }

  /** Puts the keys that came before an offset of the file, of those that wait, into their database. */
  #settleUpTo(offset: number): void {
    for (let batch = this.#batches[0]; batch !== undefined && batch.offset < offset; batch = this.#batches[0]) {
      this.#batches.shift();
      this.#settle(batch);
    }
  }

  #settle({ db, offset, keys, values, deadlines, stamps }: Batch): void {
    const { replaceKeys = false } = this.#options;
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i]!;
      if (db.load(key, values[i]!, deadlines[i], stamps[i], replaceKeys)) continue;
      throw new RdbError("corrupt", `the key ${quoteWord(key)} occurs twice in database ${db.index}`, offset);
    }
  }

  end(): void {
    this.#settleUpTo(Number.POSITIVE_INFINITY);
  }

  emptyKey(key: string): void {
    if (this.#empty++ < 10) this.#host.log("warning", `rdbLoadObject skipping empty key: ${key}`);
  }

  function(source: string): void {
    this.#options.onFunction?.(source);
  }
}

const READ_BYTES = 256 * 1024;
/** How long a load goes on before it lets others have a turn. */
const SLICE_MS = 8;

/** Feeds a file to a loader, a piece at a time; pauses at every `yield`, for so many milliseconds. */
function* loadPieces(host: RdbLoadHost, path: string, options: LoadOptions): Generator<number, LoadReport> {
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    const loader = new RdbLoader(host, options, size);
    const piece = Buffer.allocUnsafeSlow(READ_BYTES);
    for (;;) {
      const length = readSync(descriptor, piece, 0, piece.length, null);
      if (length === 0) break;
      const whole = loader.feed(piece.subarray(0, length));
      options.onProgress?.(loader.reader.offset, size);
      yield loader.delay.take();
      if (whole) break;
    }
    loader.reader.end();
    return loader.report;
  } finally {
    closeSync(descriptor);
  }
}

/** Loads a file, all at once. What the engine held before stays; an error leaves part of the file in it. Throws RdbError. */
export function loadRdbSync(host: RdbLoadHost, path: string, options: LoadOptions = {}): LoadReport {
  const pieces = loadPieces(host, path, options);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    stall(value);
  }
}

/** Lets others have a turn, for this long at least. */
export const breath = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (ms === 0) soon(resolve);
    else setTimeout(resolve, ms);
  });

/** Loads a file in short slices, so that the process answers meanwhile. */
export async function loadRdb(host: RdbLoadHost, path: string, options: LoadOptions = {}): Promise<LoadReport> {
  const pieces = loadPieces(host, path, options);
  let sliceEnd = host.clock.monotonic() + SLICE_MS;
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    if (value === 0 && host.clock.monotonic() < sliceEnd) continue;
    await breath(value);
    sliceEnd = host.clock.monotonic() + SLICE_MS;
  }
}
