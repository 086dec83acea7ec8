/** Replaces a file in one step, so that a crash leaves the old one or the new one. */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "../platform/files.ts";
import { ownPid } from "../platform/process.ts";

/** The text's chars are bytes. */
export function replaceFile(path: string, text: string): void {
  const temporary = `${path}.${ownPid}.tmp`;
  try {
    const fd = openSync(temporary, "w", 0o644);
    try {
      writeSync(fd, text, null, "latin1");
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
