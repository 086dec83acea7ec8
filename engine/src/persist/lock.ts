/**
 * Keeps a second process, or a second engine in this one, away from a data folder: a file with the number of the process
 * that uses it. A lock whose process is gone is taken over. Numbers are used again, so where the system tells when a process
 * began (Linux), that is in the file too.
 */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join, resolve } from "node:path";
import { codeOf } from "../lib/caught.ts";
import { atExit, notAtExit } from "./at-exit.ts";

const NAME = "cinnabar.lock";

/** The lock of an append-only file: servers that name theirs differently may share a folder. */
export function lockNameOf(appendDir: string, appendFile: string): string {
  const isUsual = appendDir === "appendonlydir" && appendFile === "appendonly.aof";
  return isUsual ? NAME : `cinnabar-${appendDir}-${appendFile}.lock`;
}

/** Locks that engines of this process hold. */
const held = new Set<string>();

/** When a process began, as the kernel counts; empty where that is not to be had. */
function beginOf(pid: number): string {
  try {
    // The name of the process, in brackets, may hold anything; the time is the 20th word behind it.
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
  } catch {
    return "";
  }
}

function isAlive(pid: number, begin: string): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  // In this process the set above knows better; a lock with our own number is left over from before.
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === "ESRCH") return false;
  }
  return begin === "" || beginOf(pid) === "" || beginOf(pid) === begin;
}

export class DirectoryLocked extends Error {
  override readonly name = "DirectoryLocked";

  constructor(folder: string, name: string, pid: number) {
    const who = pid === process.pid ? "this process" : `process ${pid}`;
    super(`${folder} is in use by ${who}: two engines cannot share a data folder (${join(folder, name)})`);
  }
}

/** Locks a folder; returns what unlocks it. Throws DirectoryLocked. */
export function lockDirectory(folder: string, name = NAME): () => void {
  const path = join(resolve(folder), name);
  if (held.has(path)) throw new DirectoryLocked(folder, name, process.pid);
  for (let attempt = 0; ; attempt++) {
    try {
      const descriptor = openSync(path, "wx", 0o644);
      writeSync(descriptor, `${process.pid} ${beginOf(process.pid)}\n`);
      closeSync(descriptor);
      break;
    } catch (error) {
      if (codeOf(error) !== "EEXIST" || attempt > 2) throw error;
      const [pid, begin] = readLock(path);
      if (isAlive(pid, begin)) throw new DirectoryLocked(folder, name, pid);
      rmSync(path, { force: true });
    }
  }
  held.add(path);
  const unlock = () => {
    if (!held.delete(path)) return;
    notAtExit(unlock);
    rmSync(path, { force: true });
  };
  atExit(unlock);
  return unlock;
}

function readLock(path: string): [pid: number, begin: string] {
  try {
    const [pid = "", begin = ""] = readFileSync(path, "latin1").trim().split(" ");
    return [Number(pid), begin];
  } catch {
    return [0, ""];
  }
}
