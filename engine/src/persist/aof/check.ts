/**
 * Whether an append-only file is sound, for people, in the manner of redis-check-aof: where the first bad byte is, and what
 * a repair would drop, before it does. Takes a manifest, or one file.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { quoteWord } from "../../quote.ts";
import { DEFAULT_LIMITS } from "../../types/value.ts";
import { RdbError } from "../rdb/errors.ts";
import { RdbReader } from "../rdb/reader.ts";
import { AofError } from "./error.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { AofReader } from "./reader.ts";

export interface CheckOptions {
  readonly fix: boolean;
  readonly print: (line: string) => void;
  /** Asked before anything is cut. */
  readonly confirm: () => boolean;
}

interface Finding {
  readonly size: number;
  /** Everything before this is sound. */
  readonly soundUpTo: number;
  readonly commands: number;
  /** Commands of a transaction that is not finished. */
  readonly unfinished: number;
  readonly error: AofError | null;
  /** Whether the file begins with an RDB, and where that ends. */
  readonly rdbBytes: number;
}

const READ_BYTES = 1 << 20;

/** How long the RDB is that a file begins with; 0 if it does not. Throws AofError. */
function readPreamble(path: string): { bytes: number; keys: number } {
  const descriptor = openSync(path, "r");
  let keys = 0;
  const count = () => {
    keys++;
  };
  const reader = new RdbReader({ key: count, emptyKey: count, module: count }, DEFAULT_LIMITS);
  try {
    const piece = Buffer.allocUnsafeSlow(READ_BYTES);
    for (let first = true; ; first = false) {
      const length = readSync(descriptor, piece, 0, piece.length, null);
      if (first && piece.latin1Slice(0, Math.min(5, length)) !== "REDIS") return { bytes: 0, keys: 0 };
      if (length === 0 || reader.feed(piece.subarray(0, length))) break;
    }
    reader.end();
    return { bytes: reader.offset, keys };
  } catch (error) {
    if (error instanceof RdbError) throw new AofError("format", path, error.offset, `in the RDB: ${error.message}`);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function examine(path: string, print: (line: string) => void): Finding {
  const { size } = statSync(path);
  let rdbBytes = 0;
  try {
    const { bytes, keys } = readPreamble(path);
    rdbBytes = bytes;
    if (bytes > 0) print(`The file begins with an RDB of ${bytes} bytes and ${keys} keys, which is OK.`);
  } catch (error) {
    if (!(error instanceof AofError)) throw error;
    return { size, soundUpTo: 0, commands: 0, unfinished: 0, error, rdbBytes };
  }
  const reader = new AofReader(path, rdbBytes);
  let commands = 0;
  let unfinished = -1;
  let soundUpTo = reader.offset;
  let error: AofError | null = null;
  try {
    for (let argv = reader.next(); argv !== undefined; argv = reader.next()) {
      commands++;
      const name = argv[0]!.toLowerCase();
      if (unfinished >= 0) unfinished++;
      if (name === "multi") {
        if (unfinished >= 0) throw new AofError("format", path, soundUpTo, "a transaction inside a transaction");
        unfinished = 0;
      } else if (name === "exec") {
        if (unfinished < 0) throw new AofError("format", path, soundUpTo, "EXEC without MULTI");
        unfinished = -1;
      }
      if (unfinished < 0) soundUpTo = reader.offset;
    }
    if (unfinished >= 0) throw new AofError("truncated", path, soundUpTo, "ends in the middle of a transaction");
  } catch (caught) {
    if (!(caught instanceof AofError)) throw caught;
    error = caught;
  } finally {
    reader.close();
  }
  return { size, soundUpTo, commands, unfinished: Math.max(0, unfinished), error, rdbBytes };
}

/** What stands at the bad place, for the eye. */
function excerpt(path: string, offset: number): string {
  const descriptor = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(60);
    const length = readSync(descriptor, bytes, 0, bytes.length, offset);
    return quoteWord(bytes.latin1Slice(0, length));
  } finally {
    closeSync(descriptor);
  }
}

function checkFile(path: string, last: boolean, options: CheckOptions): boolean {
  const { print } = options;
  const name = basename(path);
  const { size, soundUpTo, commands, unfinished, error } = examine(path, print);
  const left = size - soundUpTo;
  print(`AOF analyzed: filename=${name}, size=${size}, ok_up_to=${soundUpTo}, diff=${left}, commands=${commands}`);
  if (error === null) {
    print(size === 0 ? `AOF ${name} is empty` : `AOF ${name} is valid`);
    return true;
  }
  print(`${error.message}`);
  print(`What stands there: ${excerpt(path, soundUpTo)}`);
  const drops = unfinished > 0 ? ` (${unfinished} commands of a transaction without EXEC among them)` : "";
  if (!options.fix) {
    print(`AOF ${name} is not valid. --fix would drop the ${left} bytes from offset ${soundUpTo} on${drops}.`);
    return false;
  }
  if (!last) {
    print(`Failed to fix AOF ${name}: only the last file can be cut, since those behind it build on it.`);
    return false;
  }
  if (soundUpTo === 0 && error.message.includes("in the RDB")) {
    print(`Failed to fix AOF ${name}: an RDB cannot be cut.`);
    return false;
  }
  print(`This will shrink the AOF ${name} from ${size} bytes, with ${left} bytes, to ${soundUpTo} bytes${drops}`);
  if (!options.confirm()) {
    print("Aborting...");
    return false;
  }
  const descriptor = openSync(path, "r+");
  try {
    ftruncateSync(descriptor, soundUpTo);
  } finally {
    closeSync(descriptor);
  }
  print(`Successfully truncated AOF ${name}`);
  return true;
}

function firstBytes(path: string, count: number): string {
  const descriptor = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(count);
    return bytes.latin1Slice(0, readSync(descriptor, bytes, 0, count, 0));
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a file is a manifest, by its first words. */
function asManifest(path: string): Manifest | undefined {
  if (!path.endsWith(".manifest") && firstBytes(path, 5) !== "file ") return undefined;
  return parseManifest(readFileSync(path, "latin1"), path);
}

/** Checks everything; false if something is wrong and was not repaired. Throws where a file cannot be read. */
export function checkAof(path: string, options: CheckOptions): boolean {
  let manifest: Manifest | undefined;
  try {
    manifest = asManifest(path);
  } catch (error) {
    if (!(error instanceof AofError)) throw error;
    options.print(error.message);
    return false;
  }
  if (manifest === undefined) {
    options.print("Start checking Old-Style AOF");
    return checkFile(path, true, options);
  }
  options.print("Start checking Multi Part AOF");
  const parts = [...(manifest.base === null ? [] : [manifest.base]), ...manifest.increments];
  for (const [i, { name, type }] of parts.entries()) {
    options.print(`Start to check ${type === "b" ? "BASE" : "INCR"} AOF ${name}.`);
    if (!checkFile(join(dirname(path), name), i === parts.length - 1, options)) return false;
  }
  options.print("All AOF files and manifest are valid");
  return true;
}
