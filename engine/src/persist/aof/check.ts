/**
 * Whether an append-only file is sound, for people, in the manner of redis-check-aof: where the first bad byte is, and what
 * a repair would drop, before it does. Takes a manifest, or one file.
 */

import { quoteWord } from "../../lib/quote.ts";
import { Buffer } from "../../platform/bytes.ts";
import { closeSync, ftruncateSync, openSync, readFileSync, readSync, statSync } from "../../platform/files.ts";
import { basename, dirname, join } from "../../platform/paths.ts";
import { DEFAULT_LIMITS } from "../../types/collection.ts";
import { RdbError } from "../rdb/errors.ts";
import { RdbReader } from "../rdb/reader.ts";
import { AofError } from "./error.ts";
import { type Manifest, parseManifest } from "./manifest.ts";
import { AofReader } from "./reader.ts";

export interface CheckOptions {
  readonly fix: boolean;
  /** Cut where the first annotation says a later moment, in seconds since 1970 (aof-timestamp-enabled). */
  readonly truncateTo?: number;
  readonly print: (line: string) => void;
  /** Asked before anything is cut. */
  readonly confirm: () => boolean;
}

interface Finding {
  readonly size: number;
  /** Everything before this is sound. */
  readonly soundUpTo: number;
  /** The first line that is not, of those of commands, counted from 1. */
  readonly line: number;
  readonly commands: number;
  /** Commands of a transaction that is not finished. */
  readonly unfinished: number;
  readonly error: AofError | null;
  /** Where what was written later than `truncateTo` begins. */
  readonly tooLateAt: number | null;
}

const READ_BYTES = 1 << 20;

/** The place in a file that was written after the moment to truncate it to. */
class TooLate {
  readonly offset: number;
  constructor(offset: number) {
    this.offset = offset;
  }
}

/** Throws TooLate at the first annotation of a later moment. */
function stopAfter(reader: AofReader, seconds: number): void {
  reader.onAnnotation = (text, offset) => {
    if (!text.startsWith("TS:")) return;
    const moment = text.slice(3);
    if (!/^\d+$/.test(moment)) throw new AofError("format", reader.path, offset, "Invalid timestamp annotation");
    if (Number(moment) > seconds) throw new TooLate(offset);
  };
}

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

function examine(path: string, { print, truncateTo }: CheckOptions): Finding {
  const { size } = statSync(path);
  let rdbBytes = 0;
  try {
    const { bytes, keys } = readPreamble(path);
    rdbBytes = bytes;
    if (bytes > 0) print(`RDB preamble is OK, proceeding with AOF tail... (${bytes} bytes, ${keys} keys)`);
  } catch (error) {
    if (!(error instanceof AofError)) throw error;
    return { size, soundUpTo: 0, line: 1, commands: 0, unfinished: 0, error, tooLateAt: null };
  }
  const reader = new AofReader(path, rdbBytes);
  let commands = 0;
  let unfinished = -1;
  let soundUpTo = reader.offset;
  let lines = 1;
  let line = 1;
  let error: AofError | null = null;
  let tooLateAt: number | null = null;
  if (truncateTo !== undefined) stopAfter(reader, truncateTo);
  try {
    for (let argv = reader.next(); argv !== undefined; argv = reader.next()) {
      commands++;
      const name = argv[0]?.toLowerCase();
      if (unfinished >= 0) unfinished++;
      if (name === "multi") {
        if (unfinished >= 0) throw new AofError("format", path, soundUpTo, "a transaction inside a transaction");
        unfinished = 0;
      } else if (name === "exec") {
        if (unfinished < 0) throw new AofError("format", path, soundUpTo, "EXEC without MULTI");
        unfinished = -1;
      }
      lines += 1 + 2 * argv.length;
      if (unfinished >= 0) continue;
      soundUpTo = reader.offset;
      line = lines;
    }
    if (unfinished >= 0) throw new AofError("truncated", path, soundUpTo, "ends in the middle of a transaction");
  } catch (caught) {
    if (caught instanceof TooLate) tooLateAt = caught.offset;
    else if (caught instanceof AofError) error = caught;
    else throw caught;
  } finally {
    reader.close();
  }
  return { size, soundUpTo, line, commands, unfinished: Math.max(0, unfinished), error, tooLateAt };
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

function shorten(path: string, length: number): void {
  const descriptor = openSync(path, "r+");
  try {
    ftruncateSync(descriptor, length);
  } finally {
    closeSync(descriptor);
  }
}

/** Cuts a file where what is too late begins; false if it cannot be. */
function truncateAt(offset: number, path: string, last: boolean, { print, truncateTo }: CheckOptions): boolean {
  const name = basename(path);
  if (offset === 0) {
    print(`AOF ${name} has nothing before timestamp ${truncateTo}, aborting...`);
    return false;
  }
  if (!last) {
    print(
      `Failed to truncate AOF ${name} to timestamp ${truncateTo} to offset ${offset} because it is not the last file. Remove the files behind it, and their lines in the manifest, if that is what you want.`,
    );
    return false;
  }
  shorten(path, offset);
  print(`Successfully truncated AOF ${name} to timestamp ${truncateTo}`);
  return true;
}

/** What a file is called in what is said of it: INCR AOF, BASE AOF, or just AOF. */
type Kind = "AOF" | "BASE AOF" | "INCR AOF";

function checkFile(path: string, kind: Kind, last: boolean, options: CheckOptions): boolean {
  const { print, truncateTo } = options;
  const name = basename(path);
  const { size, soundUpTo, line, commands, unfinished, error, tooLateAt } = examine(path, options);
  if (tooLateAt !== null) return truncateAt(tooLateAt, path, last, options);
  if (truncateTo !== undefined && error === null) {
    print(`Truncate nothing in AOF ${name} to timestamp ${truncateTo}`);
    return true;
  }
  const left = size - soundUpTo;
  print(
    `AOF analyzed: filename=${name}, size=${size}, ok_up_to=${soundUpTo}, ok_up_to_line=${line}, diff=${left}, commands=${commands}`,
  );
  if (error === null) {
    print(size === 0 ? `${kind} ${name} is empty` : `${kind} ${name} is valid`);
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
    print(`Failed to truncate AOF ${name} because it is not the last file: those behind it build on it.`);
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
  shorten(path, soundUpTo);
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
    return checkFile(path, "AOF", true, options);
  }
  options.print("Start checking Multi Part AOF");
  const parts = [...(manifest.base === null ? [] : [manifest.base]), ...manifest.increments];
  for (const [i, { name, type }] of parts.entries()) {
    const file = join(dirname(path), name);
    const format = type === "b" && firstBytes(file, 5) === "REDIS" ? "RDB" : "RESP";
    if (type === "b") options.print(`Start to check BASE AOF (${format} format).`);
    else if (parts[i - 1]?.type !== "i") options.print("Start to check INCR files.");
    if (!checkFile(file, type === "b" ? "BASE AOF" : "INCR AOF", i === parts.length - 1, options)) return false;
  }
  options.print("All AOF files and manifest are valid");
  return true;
}
