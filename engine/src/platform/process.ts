/** The program that the engine runs in, and its machine. */
import { endianness, release, type } from "node:os";

export const ownPid = process.pid;

/** Where relative names begin. */
export const workingFolder = (): string => process.cwd();

export const environment = (name: string): string | undefined => process.env[name];

/** Whether a process with this number is running. One of another user counts. */
export function isRunning(other: number): boolean {
  if (other === ownPid) return true;
  try {
    process.kill(other, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

/** Calls back when the program ends by itself; returns what takes that back. */
export function onExit(run: () => void): () => void {
  process.on("exit", run);
  return () => process.off("exit", run);
}

/** Microseconds on the processor. */
export const cpuMicros = (): { readonly user: number; readonly system: number } => process.cpuUsage();

/** What INFO tells of all this. */
export const SYSTEM = {
  os: `${type()} ${release()} ${process.arch === "x64" ? "x86_64" : process.arch}`,
  clock: "node performance.now",
  multiplexing: "libuv",
  executable: process.argv[1] ?? process.execPath,
  runtime: process.versions.node,
  allocator: `v8-${process.versions.v8}`,
  byteOrder: endianness() === "LE" ? "little" : "big",
} as const;
