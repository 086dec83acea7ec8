/**
 * A disk that fails when it is told to: the functions of node:fs that the engine writes with, counted, and made to fail at
 * the n-th call. Tests put it in the place of the module, so that the engine has no seam that only tests need:
 *
 *   const disk = vi.hoisted(() => ({ current: null as FailingDisk | null }));
 *   vi.mock("node:fs", async (original) => failingFs(await original(), disk));
 *
 * Only files below one folder are concerned. Descriptors are known by the openSync that made them.
 */
import type * as Fs from "node:fs";
import { sep } from "node:path";

/** What can fail. Closing, removing and looking do not, or nobody could do anything about it. */
export const CALLS = [
  "openSync",
  "writeSync",
  "write",
  "fsyncSync",
  "fsync",
  "fdatasyncSync",
  "fdatasync",
  "renameSync",
  "ftruncateSync",
  "mkdirSync",
] as const;
export type Call = (typeof CALLS)[number];

/** `short`: half of a write is done, without an error; what comes next fails. */
export type FaultKind = "ENOSPC" | "EIO" | "short";

export interface Fault {
  readonly kind: FaultKind;
  /** The first call that fails, counted from 1. */
  readonly at: number;
  /** How many fail. */
  readonly times: number;
}

export class FailingDisk {
  readonly folder: string;
  /** Calls so far, while a fault was set. */
  count = 0;
  /** Faults that happened, as `write dump.rdb`. */
  readonly happened: string[] = [];
  fault: Fault | null = null;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** What becomes of a call on this file: undefined if it is done as usual. */
  outcome(call: Call, path: string | undefined): FaultKind | undefined {
    const { fault } = this;
    if (fault === null || path === undefined || !path.startsWith(this.folder)) return undefined;
    this.count++;
    if (this.count < fault.at || this.count >= fault.at + fault.times) return undefined;
    this.happened.push(
      `${call} ${path
        .slice(this.folder.length + 1)
        .split(sep)
        .at(-1)}`,
    );
    if (fault.kind !== "short") return fault.kind;
    // Only writes can be short; everything else, and whatever comes behind the short one, finds the disk full.
    return call.startsWith("write") && this.happened.length === 1 ? "short" : "ENOSPC";
  }
}

function failure(code: FaultKind, call: string): NodeJS.ErrnoException {
  const text = code === "EIO" ? "i/o error" : "no space left on device";
  return Object.assign(new Error(`${code}: ${text}, ${call}`), { code, syscall: call });
}

// biome-ignore lint/suspicious/noExplicitAny: stands for functions of every shape
type Any = any;

/** node:fs as the disk lets it be. */
export function failingFs(fs: typeof Fs, disk: { current: FailingDisk | null }): typeof Fs {
  const changed: Record<string, Any> = {};
  const paths = new Map<number, string>();
  for (const call of CALLS) {
    const real = fs[call] as (...args: Any[]) => Any;
    const isSync = call.endsWith("Sync");
    changed[call] = (...args: Any[]) => {
      const target = args[call === "renameSync" ? 1 : 0] as string | number;
      const outcome = disk.current?.outcome(call, typeof target === "number" ? paths.get(target) : target);
      if (outcome === "short")
        args[3] = Math.max(1, Math.floor(((args[3] ?? args[1].length - (args[2] ?? 0)) as number) / 2));
      else if (outcome !== undefined) {
        const error = failure(outcome, call);
        if (isSync) throw error;
        const done = args.at(-1) as (error: Error) => void;
        setImmediate(() => done(error));
        return undefined;
      }
      const result = real(...args);
      if (call === "openSync") paths.set(result, args[0]);
      return result;
    };
  }
  return { ...fs, ...changed, default: { ...fs, ...changed } } as typeof Fs;
}
