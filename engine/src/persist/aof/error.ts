/** What is wrong with an append-only file, with the file and the place in it. */

/**
 * `truncated`: it ends in the middle of a command or transaction. `format`: it contradicts the format. `unknown`: it has a
 * command that does not exist here. `missing`: a file is not there that should be. `manifest`: the manifest is wrong.
 * `memory`: nothing is wrong with it, but the heap has no room for what it holds.
 */
export type AofErrorKind = "truncated" | "format" | "unknown" | "missing" | "manifest" | "memory";

/** Redis's words, which people search for. */
const WORDS: Readonly<Record<AofErrorKind, string>> = {
  truncated: "Unexpected end of file reading the append only file",
  format: "Bad file format reading the append only file",
  unknown: "Unknown command '' reading the append only file",
  missing: "The append log file",
  memory: "Out of memory reading the append only file",
  manifest: "*** FATAL AOF MANIFEST FILE ERROR ***",
};

export class AofError extends Error {
  override readonly name = "AofError";
  readonly kind: AofErrorKind;
  readonly path: string;
  /** Everything before this byte is sound. */
  readonly offset: number;

  constructor(kind: AofErrorKind, path: string, offset: number, reason: string, command = "") {
    const words = WORDS[kind].replace("''", () => `'${command}'`);
    super(`${words} ${path}${kind === "missing" ? ` ${reason}` : `, offset ${offset}: ${reason}`}`);
    this.kind = kind;
    this.path = path;
    this.offset = offset;
  }
}
