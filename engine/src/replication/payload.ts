/**
 * The snapshot that a primary sends, loaded as its bytes come.
 *
 * **Framing.** Either its length is told (`$1234`) and so many bytes follow, or a mark is (`$EOF:` and forty bytes) that
 * stands behind it. Redis looks for the mark at the end of what it has read; we know where an RDB ends, so the mark is
 * expected there and nothing is searched.
 *
 * **Old data.** The snapshot goes into databases of its own, which take the place of the old ones in one step when it is
 * complete and sound (`install`). A transfer that breaks off has cost nothing. What is answered until then is the mode's:
 *
 * - `beside`: the old data is there to be read, as far as replica-serve-stale-data allows. The usual one.
 * - `async`: the same, asked for by repl-diskless-load swapdb where the snapshot continues our own history: the old data is
 *   an older state of the new. INFO says `async_loading`, and commands that would disturb it are refused with LOADING.
 * - `hidden`: repl-diskless-load swapdb with another history, or on-empty-db with nothing to show. LOADING, as in Redis.
 * - `in place`: there is no room for both. The old data is removed first, and LOADING until the new is there.
 */

import type { Db } from "../core/db.ts";
import type { Progress } from "../persist/persistence.ts";
import { RdbLoader } from "../persist/rdb/file.ts";
import { Buffer } from "../platform/bytes.ts";
import type { ReplicationHost } from "./host.ts";
import { ID_LENGTH } from "./ids.ts";

export type Framing = { readonly lengthBytes: number } | { readonly mark: string };

/** What the line says that stands before a snapshot; undefined if it is not such a line. */
export function parseFraming(line: string): Framing | undefined {
  if (line.startsWith("$EOF:")) {
    const mark = line.slice(5);
    return mark.length === ID_LENGTH ? { mark } : undefined;
  }
  return /^\$\d{1,15}$/.test(line) ? { lengthBytes: Number(line.slice(1)) } : undefined;
}

export type LoadMode = "beside" | "async" | "hidden" | "in place";

/** How a snapshot is to be loaded; `ownHistory`: it continues the history that our data belongs to. */
export function loadMode(store: ReplicationHost, ownHistory: boolean): LoadMode {
  const diskless = store.config.values["repl-diskless-load"];
  if (diskless === "swapdb") return ownHistory ? "async" : "hidden";
  const empty = store.databases.every(({ size }) => size === 0);
  if (diskless === "on-empty-db" && empty) return "hidden";
  return empty || hasRoomForBoth(store) ? "beside" : "in place";
}

export class Payload {
  readonly framing: Framing;
  readonly mode: LoadMode;
  readonly startedAt: number;
  /** Bytes that have come, the mark included. */
  readBytes = 0;
  readonly #store: ReplicationHost;
  readonly #databases: readonly Db[];
  readonly #loader: RdbLoader;
  readonly #functions: string[] = [];
  /** What has come behind the snapshot: first the mark. */
  #behind: Buffer[] | null = null;
  #behindBytes = 0;

  constructor(store: ReplicationHost, framing: Framing, mode: LoadMode) {
    this.#store = store;
    this.framing = framing;
    this.mode = mode;
    this.startedAt = store.clock.now();
    this.#databases = this.inPlace ? store.databases : store.databases.map(({ index }) => store.makeDatabase(index));
    const onFunction = (source: string) => void this.#functions.push(source);
    const size = "lengthBytes" in framing ? framing.lengthBytes : 0;
    this.#loader = new RdbLoader(store, { keepExpired: true, onFunction, databases: this.#databases }, size);
  }

  /** How far it is; 0 bytes in all where only the mark says where it ends. */
  get progress(): Progress {
    const totalBytes = "lengthBytes" in this.framing ? this.framing.lengthBytes : 0;
    return { startedAt: this.startedAt, loadedBytes: this.readBytes, totalBytes };
  }

  /** The old data had to go before this came. */
  get inPlace(): boolean {
    return this.mode === "in place";
  }

  /** Commands that need data are refused meanwhile. */
  get hidesData(): boolean {
    return this.mode === "hidden" || this.inPlace;
  }

  /** The bytes that are still to come; undefined if nobody knows. */
  get leftBytes(): number | undefined {
    return "lengthBytes" in this.framing ? this.framing.lengthBytes - this.readBytes : undefined;
  }

  /** The fields that the snapshot says of itself. */
  get aux(): ReadonlyMap<string, string> {
    return this.#loader.report.aux;
  }

  get keys(): number {
    return this.#loader.report.keys;
  }

  /** Takes a chunk; what stands behind the snapshot when it is complete, undefined before. Throws what is wrong with it. */
  feed(chunk: Buffer): Buffer | undefined {
    const { framing } = this;
    return "mark" in framing ? this.#feedMarked(chunk, framing.mark) : this.#feedCounted(chunk, framing.lengthBytes);
  }

  #feedCounted(chunk: Buffer, lengthBytes: number): Buffer | undefined {
    const own = chunk.subarray(0, Math.min(chunk.length, lengthBytes - this.readBytes));
    this.readBytes += own.length;
    if (!this.#loader.reader.done) this.#loader.feed(own);
    if (this.readBytes < lengthBytes) return undefined;
    this.#loader.reader.end();
    return chunk.subarray(own.length);
  }

  #feedMarked(chunk: Buffer, mark: string): Buffer | undefined {
    this.readBytes += chunk.length;
    if (this.#behind === null) {
      const { reader } = this.#loader;
      if (!this.#loader.feed(chunk)) return undefined;
      this.#behind = [reader.rest()];
    } else this.#behind.push(Buffer.from(chunk));
    this.#behindBytes = this.#behind.reduce((sum, { length }) => sum + length, 0);
    if (this.#behindBytes < mark.length) return undefined;
    const behind = Buffer.concat(this.#behind);
    if (behind.latin1Slice(0, mark.length) !== mark) {
      throw new Error("the mark that was announced does not stand behind the snapshot");
    }
    this.readBytes -= behind.length - mark.length;
    return behind.subarray(mark.length);
  }

  /** Puts what was loaded in the place of what was there. */
  install(): void {
    const store = this.#store;
    store.functions.restore(this.#functions, "flush");
    if (this.inPlace) return;
    store.databases.forEach((db, i) => {
      db.swap(this.#databases[i]!);
    });
    if (store.tracking.active) store.tracking.databaseCleared();
  }
}

/** Whether another copy of the data would fit beside the old; the new one is taken to be as large. */
function hasRoomForBoth(store: ReplicationHost): boolean {
  return store.dataBytes < store.heapGuard.availableBytes();
}
