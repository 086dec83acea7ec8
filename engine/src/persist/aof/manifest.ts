/**
 * The manifest: which files in appendonlydir make up the append-only file, and in which order.
 *
 *   file appendonly.aof.2.base.rdb seq 2 type b
 *   file appendonly.aof.2.incr.aof seq 2 type i
 *
 * A base (b), then increments (i) in the order of their numbers; history (h) is what a rewrite has replaced and nobody has
 * removed yet. It is written beside its place and renamed, so it is always whole.
 */

import { codeOf } from "../../lib/caught.ts";
import { quoteWord } from "../../lib/quote.ts";
import { Buffer } from "../../platform/bytes.ts";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from "../../platform/files.ts";
import { join } from "../../platform/paths.ts";
import { splitWords } from "../../resp/split-words.ts";
import { syncFolder } from "../rdb/file.ts";
import { AofError } from "./error.ts";

export type PartType = "b" | "h" | "i";

export interface Part {
  readonly name: string;
  readonly seq: number;
  readonly type: PartType;
}

export interface Manifest {
  readonly base: Part | null;
  readonly history: readonly Part[];
  readonly increments: readonly Part[];
  /** The highest numbers that were ever used: new files get higher ones. */
  readonly baseSeq: number;
  readonly incrementSeq: number;
}

export const EMPTY_MANIFEST: Manifest = { base: null, history: [], increments: [], baseSeq: 0, incrementSeq: 0 };

const LONGEST_LINE = 1024;
const BAD_LINE = "Invalid AOF manifest file format";

export const manifestName = (filename: string) => `${filename}.manifest`;
export const baseName = (filename: string, seq: number) => `${filename}.${seq}.base.rdb`;
export const incrementName = (filename: string, seq: number) => `${filename}.${seq}.incr.aof`;

function parseLine(line: string, fail: (reason: string) => AofError): Part {
  if (line.length > LONGEST_LINE) throw fail("The AOF manifest file contains too long line");
  const words = splitWords(line);
  if (words === undefined || words.length < 6 || words.length % 2 !== 0) throw fail(BAD_LINE);
  let name = "";
  let seq = 0;
  let type = "";
  let key = "";
  for (const [i, word] of words.entries()) {
    if (i % 2 === 0) key = word.toLowerCase();
    else if (key === "file") name = word;
    else if (key === "seq") seq = Number(word);
    else if (key === "type") type = word;
  }
  if (name.includes("/")) throw fail("File can't be a path, just a filename");
  if (name === "" || type === "" || !Number.isSafeInteger(seq) || seq < 1) throw fail(BAD_LINE);
  if (type !== "b" && type !== "h" && type !== "i") throw fail("Unknown AOF file type");
  return { name, seq, type };
}

export function parseManifest(text: string, path: string): Manifest {
  let base: Part | null = null;
  const history: Part[] = [];
  const increments: Part[] = [];
  let offset = 0;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const at = offset;
    offset += line.length + 1;
    if (line.startsWith("#") || text === "") continue;
    const fail = (reason: string) => new AofError("manifest", path, at, reason);
    const part = parseLine(line, fail);
    if (part.type === "h") history.push(part);
    else if (part.type === "b") {
      if (base !== null) throw fail("Found duplicate base file information");
      base = part;
    } else {
      if (part.seq <= (increments.at(-1)?.seq ?? 0)) throw fail("Found a non-monotonic sequence number");
      increments.push(part);
    }
  }
  if (base === null && increments.length === 0 && history.length === 0) {
    throw new AofError("manifest", path, 0, "Found an empty AOF manifest");
  }
  return { base, history, increments, baseSeq: base?.seq ?? 0, incrementSeq: increments.at(-1)?.seq ?? 0 };
}

/** Whether a name has to be quoted. */
const isPlain = (name: string) => /^[\w.-]+$/.test(name);

export function formatManifest({ base, history, increments }: Manifest): string {
  const parts = [...(base === null ? [] : [base]), ...history, ...increments];
  const line = ({ name, seq, type }: Part) =>
    `file ${isPlain(name) ? name : quoteWord(name)} seq ${seq} type ${type}\n`;
  return parts.map(line).join("");
}

/** Undefined where there is none. */
export function readManifest(folder: string, filename: string): Manifest | undefined {
  const path = join(folder, manifestName(filename));
  let text: string;
  try {
    text = readFileSync(path, "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  return parseManifest(text, path);
}

export function writeManifest(folder: string, filename: string, manifest: Manifest): void {
  const name = manifestName(filename);
  const temporary = join(folder, `temp-${name}`);
  try {
    const descriptor = openSync(temporary, "w", 0o644);
    try {
      const bytes = Buffer.from(formatManifest(manifest), "latin1");
      // A disk that is nearly full takes part of it without a word.
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, join(folder, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(folder);
}
