/** Brings one part of an append-only file back: what it holds as an RDB, and the commands behind that. */
import { Buffer } from "../../platform/bytes.ts";
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from "../../platform/files.ts";
import type { PersistHost } from "../host.ts";
import { KeyDelay } from "../key-delay.ts";
import { RdbError } from "../rdb/errors.ts";
import { type LoadOptions, type LoadReport, RdbLoader, type RdbLoadHost } from "../rdb/file.ts";
import { AofError } from "./error.ts";
import { AofReader } from "./reader.ts";

const READ_BYTES = 256 * 1024;
/** Commands between two chances to pause. */
const COMMANDS_AT_ONCE = 256;
/** What may be read or built between two looks at the heap. */
const UNCHECKED_BYTES = 1024 * 1024;

export interface PartOptions extends LoadOptions {
  /** Whether nothing comes behind this file: only then may it end too early. */
  readonly last: boolean;
  /** Told how many bytes of this file have been read. */
  readonly onBytes?: (bytes: number) => void;
}

export interface PartReport {
  readonly commands: number;
  readonly rdb: LoadReport | undefined;
  /** Where a file that ended too early was cut. */
  readonly cutAt: number | undefined;
}

type AofLoadHost = RdbLoadHost & Pick<PersistHost, "replayer">;

/** Loads one file of an append-only file: an RDB, commands, or an RDB with commands behind it. Pauses at every `yield`, for so many milliseconds. */
export function* loadPart(host: AofLoadHost, path: string, options: PartOptions): Generator<number, PartReport> {
  const rdb = yield* loadPreamble(host, path, options);
  const reader = new AofReader(path, rdb?.bytes ?? 0);
  const replayer = host.replayer();
  const delay = new KeyDelay(host.config.values["key-load-delay"]);
  let commands = 0;
  let sound = reader.offset;
  let checkedAt = sound;
  try {
    for (;;) {
      const argv = reader.next();
      if (argv === undefined) break;
      const failure = replayer.run(argv);
      if (failure !== undefined) throw new AofError(failure.kind, path, sound, failure.reason, failure.name);
      if (!replayer.insideMulti) sound = reader.offset;
      if (reader.offset - checkedAt > UNCHECKED_BYTES || replayer.grownBytes > UNCHECKED_BYTES) {
        replayer.grownBytes = 0;
        checkedAt = reader.offset;
        host.heapGuard.checkLoad(reader.offset, reader.size);
      }
      if (++commands % COMMANDS_AT_ONCE === 0) {
        options.onBytes?.(reader.offset);
        delay.count(COMMANDS_AT_ONCE);
        yield delay.take();
      }
    }
    if (replayer.insideMulti) {
      throw new AofError("truncated", path, sound, "the file ends in the middle of a transaction");
    }
    return { commands, rdb, cutAt: undefined };
  } catch (error) {
    if (!(error instanceof AofError) || error.kind !== "truncated") throw error;
    if (!options.last || !host.config.values["aof-load-truncated"]) throw error;
    host.log("warning", `!!! Warning: short read while loading the AOF file ${path}!!!`);
    host.log("warning", `Truncating the AOF ${path} from ${reader.size} bytes to ${sound}`);
    cut(path, sound);
    host.log("warning", "AOF loaded anyway because aof-load-truncated is enabled");
    return { commands, rdb, cutAt: sound };
  } finally {
    reader.close();
  }
}

function cut(path: string, length: number): void {
  const descriptor = openSync(path, "r+");
  try {
    ftruncateSync(descriptor, length);
  } finally {
    closeSync(descriptor);
  }
}

/** Loads the RDB that a file begins with; undefined if it does not. */
function* loadPreamble(
  host: AofLoadHost,
  path: string,
  options: PartOptions,
): Generator<number, LoadReport | undefined> {
  const descriptor = openSync(path, "r");
  try {
    const piece = Buffer.allocUnsafeSlow(READ_BYTES);
    let length = readSync(descriptor, piece, 0, piece.length, 0);
    if (piece.latin1Slice(0, Math.min(length, 5)) !== "REDIS") return undefined;
    const loader = new RdbLoader(host, { ...options, keepExpired: true }, fstatSync(descriptor).size);
    for (let at = 0; length > 0; ) {
      if (loader.feed(piece.subarray(0, length))) break;
      at += length;
      options.onBytes?.(at);
      yield loader.delay.take();
      length = readSync(descriptor, piece, 0, piece.length, at);
    }
    loader.reader.end();
    return loader.report;
  } catch (error) {
    // An RDB that ends too early has lost keys that were there: nothing to be cut off.
    if (error instanceof RdbError) throw new AofError("format", path, error.offset, error.message);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
