/** What memory there is, what of it is in use, and collecting garbage now. */
import { totalmem } from "node:os";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { resourceLimits } from "node:worker_threads";
import type { HeapFigures } from "./figures.ts";
import { type HeapStart, oldLimitOf } from "./old-limit.ts";

export function heapFigures(): HeapFigures {
  const { used_heap_size: used, heap_size_limit: limit, external_memory: external } = getHeapStatistics();
  return { used, limit, external };
}

const START: Omit<HeapStart, "limit"> = {
  flags: `${process.env.NODE_OPTIONS ?? ""} ${process.execArgv.join(" ")}`,
  v8: process.versions.v8,
  youngMb: resourceLimits.maxYoungGenerationSizeMb,
};

let lastLimit = 0;
let lastOld = 0;

/** What of the heap's limit is for objects that stay: V8 tells only the sum with what is for new ones. */
export function oldLimit(limit: number): number {
  if (limit !== lastLimit) {
    lastLimit = limit;
    lastOld = oldLimitOf({ ...START, limit });
  }
  return lastOld;
}

/** What this process may use: of its container, or of the machine. */
export function memoryLimit(): number {
  const constrained = process.constrainedMemory?.() ?? 0;
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

export const machineMemory = (): number => totalmem();

/** What the process takes, kind by kind. */
export const processMemory = (): NodeJS.MemoryUsage => process.memoryUsage();

type Collect = (options?: { type: "minor" }) => void;

let collect: Collect | null = null;

function collector(): Collect {
  collect ??= ofBun() ?? ofNode();
  return collect;
}

function ofBun(): Collect | null {
  const everything: object = globalThis;
  if (!("Bun" in everything)) return null;
  const { Bun } = everything;
  if (typeof Bun !== "object" || Bun === null || !("gc" in Bun) || typeof Bun.gc !== "function") return null;
  const { gc } = Bun;
  return () => gc(true);
}

/** Node hides the function unless it was started with this flag; a context made after setting it has one. */
function ofNode(): Collect {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
}

/** It pauses in proportion to the heap. */
export function collectAll(): void {
  collector()();
}

/** Only what was made lately. */
export function collectYoung(): void {
  collector()({ type: "minor" });
}
