/**
 * Keeps a second process, or a second engine in this one, away from a data folder: a file that names the thread that uses it.
 *
 *   <process> <when the thread began> <thread> [shared]
 *
 * A lock whose thread is gone is taken over. Numbers are used again, so where the system tells when a thread began (Linux), that
 * is in the file too, and so is the thread: workers of one process do not know of each other's engines. `shared` says that the
 * owner serves the folder to other processes over a socket.
 *
 * **Taking over is exclusive.** The file appears with all its content (a link to a file that is written before), so nobody reads
 * half of it. The file of a dead thread is removed only by the holder of a second lock beside it, who looks again first: of two
 * processes that find it at the same moment, the slower one would otherwise remove the lock that the faster one has just made.
 * That second lock is an ordinary one, so a process that dies while it holds it is outlived in the same way.
 */

import { codeOf } from "../lib/caught.ts";
import { linkSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "../platform/files.ts";
import { basename, dirname, join, resolve } from "../platform/paths.ts";
import { isRunning, ownPid } from "../platform/process.ts";
import { atExit, notAtExit } from "./at-exit.ts";

const NAME = "cinnabar.lock";
/** Locks of locks, each of which needs a process that died in the microseconds before: more of them are something else. */
const MOST_GUARDS = 4;

/** The lock of an append-only file: servers that name theirs differently may share a folder. */
export function lockNameOf(appendDir: string, appendFile: string): string {
  const isUsual = appendDir === "appendonlydir" && appendFile === "appendonly.aof";
  return isUsual ? NAME : `cinnabar-${appendDir}-${appendFile}.lock`;
}

/** Locks that engines of this thread hold; for all copies of this module that a program has loaded. */
const HELD = Symbol.for("cinnabar.locks");
const everywhere = globalThis as { [HELD]?: Set<string> };
everywhere[HELD] ??= new Set();
const held = everywhere[HELD];

interface Holder {
  readonly pid: number;
  readonly begin: string;
  readonly thread: number;
  readonly isShared: boolean;
}

interface ThreadState {
  /** In the kernel's ticks. */
  readonly begin: string;
  /** Ended, and only its parent has not asked yet how. */
  readonly isOver: boolean;
}

/** What the kernel tells of a thread; null where it tells nothing, or there is none. */
function stateOf(pid: number, thread: number): ThreadState | null {
  try {
    // The name of the thread, in brackets, may hold anything; the state is the first word behind it, the time the 20th.
    const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
    const words = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { begin: words[19] ?? "", isOver: words[0] === "Z" || words[0] === "X" };
  } catch {
    return null;
  }
}

/** The thread that runs this, as the kernel numbers it; that of the process where it does not say. */
function ownThread(): number {
  try {
    const thread = Number(basename(readlinkSync("/proc/thread-self")));
    return Number.isSafeInteger(thread) && thread > 0 ? thread : ownPid;
  } catch {
    return ownPid;
  }
}

function isAlive({ pid, begin, thread }: Holder): boolean {
  if (!Number.isSafeInteger(pid) || pid < 1) return false;
  const state = stateOf(pid, thread);
  if (state !== null && begin !== "") return !state.isOver && state.begin === begin;
  // Its own locks a thread knows (`held`): one with our number is left over from before.
  if (pid === ownPid) return false;
  if (!isRunning(pid)) return false;
  // The process is there. Where its threads can be seen, this one is not among them.
  return thread === pid || stateOf(pid, pid) === null;
}

export class DirectoryLocked extends Error {
  override readonly name = "DirectoryLocked";
  /** Who has the folder. */
  readonly pid: number;
  /** It serves the folder to other processes, or will when it has loaded it. */
  readonly isShared: boolean;

  constructor(folder: string, name: string, { pid, isShared }: Pick<Holder, "pid" | "isShared">) {
    const who = pid === ownPid ? "this process" : `process ${pid}`;
    super(`${folder} is in use by ${who}: two engines cannot share a data folder (${join(folder, name)})`);
    this.pid = pid;
    this.isShared = isShared;
  }
}

export interface LockOptions {
  readonly name?: string;
  /** Whether the owner serves the folder to other processes. */
  readonly shared?: boolean;
}

/** Locks a folder; returns what unlocks it. Throws DirectoryLocked. */
export function lockDirectory(folder: string, { name = NAME, shared = false }: LockOptions = {}): () => void {
  const path = join(resolve(folder), name);
  const thread = ownThread();
  const begin = stateOf(ownPid, thread)?.begin ?? "";
  const holder = take(path, `${ownPid} ${begin} ${thread}${shared ? " shared" : ""}\n`, 0);
  if (holder !== null) throw new DirectoryLocked(folder, name, holder);
  held.add(path);
  const unlock = () => {
    if (!held.delete(path)) return;
    notAtExit(unlock);
    rmSync(path, { force: true });
  };
  atExit(unlock);
  return unlock;
}

/** Makes the file; answers who has it if somebody does. */
function take(path: string, content: string, guards: number): Holder | null {
  for (;;) {
    if (link(path, content)) return null;
    const holder = readLock(path);
    // It has gone meanwhile.
    if (holder === null) continue;
    if (held.has(path) || isAlive(holder) || guards >= MOST_GUARDS) return holder;
    const guard = `${path}.takeover`;
    // Somebody else is about to have it.
    const other = take(guard, content, guards + 1);
    if (other !== null) return { ...other, isShared: holder.isShared };
    try {
      const now = readLock(path);
      if (now !== null && !isAlive(now)) rmSync(path, { force: true });
    } finally {
      rmSync(guard, { force: true });
    }
  }
}

/** Makes a file with its content in one step; false if there is one. */
function link(path: string, content: string): boolean {
  const draft = join(dirname(path), `.${basename(path)}.${ownPid}.${ownThread()}`);
  writeFileSync(draft, content, { mode: 0o644 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    // A file system without links: the content follows the name.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP" && code !== "EMLINK") throw error;
    return create(path, content);
  } finally {
    rmSync(draft, { force: true });
  }
}

function create(path: string, content: string): boolean {
  try {
    writeFileSync(path, content, { flag: "wx", mode: 0o644 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Null if there is no file. */
function readLock(path: string): Holder | null {
  let text: string;
  try {
    text = readFileSync(path, "latin1");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
  const [pid = "", begin = "", thread = "", note = ""] = text.replace(/\n$/, "").split(" ");
  return {
    pid: Number(pid),
    begin,
    thread: thread === "" ? Number(pid) : Number(thread),
    isShared: note === "shared",
  };
}
