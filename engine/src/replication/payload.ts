/**
 * The snapshot that a primary sends, loaded as its bytes come.
 *
 * **Framing.** Either its length is told (`$1234`) and so many bytes follow, or a mark is (`$EOF:` and forty bytes) that
 * stands behind it. Redis looks for the mark at the end of what it has read; we know where an RDB ends, so the mark is
 * expected there and nothing is searched.
 *
 * **Old data.** The snapshot goes into databases of its own, which take the place of the old ones in one step when it is
 * complete and sound (`install`). Until then the old data is there to be read, as far as replica-serve-stale-data allows,
 * and a transfer that breaks off has cost nothing. That needs room for both. Where there is not enough of it, the old data
 * is removed first and commands are answered with LOADING until the new is there (`inPlace`), as Redis does it without
 * repl-diskless-load swapdb.
 */
import { Db } from "../db.ts";
import type { Engine } from "../engine.ts";
import { RdbLoader } from "../persist/rdb/file.ts";
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

export class Payload {
  readonly framing: Framing;
  /** The old data had to go before this came. */
  readonly inPlace: boolean;
  /** Bytes that have come, the mark included. */
  readBytes = 0;
  readonly #engine: Engine;
  readonly #databases: readonly Db[];
  readonly #loader: RdbLoader;
  readonly #functions: string[] = [];
  /** What has come behind the snapshot: first the mark. */
  #behind: Buffer[] | null = null;
  #behindBytes = 0;

  /** `inPlace`: there was no room for both the last time. */
  constructor(engine: Engine, framing: Framing, inPlace = false) {
    this.#engine = engine;
    this.framing = framing;
    this.inPlace = inPlace || !hasRoomForBoth(engine);
    this.#databases = this.inPlace ? engine.databases : engine.databases.map(({ index }) => new Db(engine, index));
    const onFunction = (source: string) => void this.#functions.push(source);
    const size = "lengthBytes" in framing ? framing.lengthBytes : 0;
    this.#loader = new RdbLoader(engine, { keepExpired: true, onFunction, databases: this.#databases }, size);
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
    return "mark" in this.framing ? this.#feedMarked(chunk, this.framing.mark) : this.#feedCounted(chunk);
  }

  #feedCounted(chunk: Buffer): Buffer | undefined {
    const own = chunk.subarray(0, Math.min(chunk.length, this.leftBytes!));
    this.readBytes += own.length;
    if (!this.#loader.reader.done) this.#loader.feed(own);
    if (this.leftBytes! > 0) return undefined;
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
    const engine = this.#engine;
    engine.functions.restore(this.#functions, "flush");
    if (this.inPlace) return;
    engine.databases.forEach((db, i) => {
      db.swap(this.#databases[i]!);
    });
    if (engine.tracking.active) engine.tracking.databaseCleared();
  }
}

/** Whether another copy of the data would fit beside the old; the new one is taken to be as large. */
function hasRoomForBoth(engine: Engine): boolean {
  if (engine.databases.every(({ size }) => size === 0)) return true;
  if (engine.config.values["repl-diskless-load"] === "swapdb") return true;
  return engine.dataBytes < engine.heapGuard.availableBytes();
}
