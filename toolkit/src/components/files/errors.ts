/** What can go wrong with a file that is not the caller's mistake. */
import { CinnabarError } from "../../base/errors.ts";

/**
 * - `CORRUPT`: a block is not what was sent, or a gzip file is broken or ends too early.
 * - `DROPPED`: the reader's lease ran out and its blocks were given up; `join` again, and see what it has missed.
 * - `TAKEN`: another process writes this file now, or reads under this name.
 * - `GONE`: the file was removed.
 * - `IDLE`: nothing came for as long as the reader was willing to wait.
 * - `UNCOMMITTED`: a reader with `autoCommit: false` waits for more, and has half of the budget read and not committed.
 * - `FULL`: there are as many readers as are allowed.
 */
export type FilesErrorCode = "CORRUPT" | "DROPPED" | "TAKEN" | "GONE" | "IDLE" | "UNCOMMITTED" | "FULL";

/** Something went wrong with a file that is not the caller's mistake; `code` says what. */
export class FilesError extends CinnabarError {
  override readonly name = "FilesError";
  declare readonly code: FilesErrorCode;

  constructor(code: FilesErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}
