/**
 * Files that were being written when their process was killed. They have temporary names with its number in them, no other
 * file refers to them, and a store that crashes again and again would fill its disk with them.
 */

import { readdirSync, rmSync } from "../platform/files.ts";
import { join } from "../platform/paths.ts";
import { isRunning, ownPid } from "../platform/process.ts";

/** As PendingFile, a background save and a rewrite name them; Redis's own, too. */
const NAMES = /^temp-(?:rewriteaof-(?:bg-)?)?(\d+)(?:-bg)?\.(?:rdb|aof)$/;

/** Removes what this process is writing itself, before it ends at once. */
export function removeUnfinished(folder: string): void {
  remove(folder, (pid) => pid === ownPid);
}

/**
 * Removes them from a folder that is ours; returns their names. What a living process may be writing stays. Whatever stands
 * in the way of it is not this one's business: a start does not fail for what it would rather be rid of.
 */
export function removeLeftovers(folder: string): string[] {
  return remove(folder, (pid) => !isRunning(pid));
}

function remove(folder: string, isDoomed: (pid: number) => boolean): string[] {
  try {
    const left = readdirSync(folder).filter((name) => {
      const pid = NAMES.exec(name)?.[1];
      return pid !== undefined && isDoomed(Number(pid));
    });
    for (const name of left) rmSync(join(folder, name), { force: true });
    return left;
  } catch {
    return [];
  }
}
