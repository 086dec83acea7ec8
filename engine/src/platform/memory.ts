/** What memory there is, what of it is in use, and collecting garbage now. */
import { totalmem } from "node:os";
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { HeapFigures } from "./figures.ts";

export function heapFigures(): HeapFigures {
  const { used_heap_size: used, heap_size_limit: limit, external_memory: external } = getHeapStatistics();
  return { used, limit, external };
}

const MB = 1024 * 1024;
/** V8's own choice for each half of the young generation. */
const USUAL_SEMI_SPACE_MB = 16;

/** What the heap's limit has for new objects: three times `--max-semi-space-size`. Data that stays cannot use it. */
export const youngBytes = 3 * MB * semiSpaceMb();

function semiSpaceMb(): number {
  const flags = `${process.env.NODE_OPTIONS ?? ""} ${process.execArgv.join(" ")}`;
  const sizes = [...flags.matchAll(/--max[-_]semi[-_]space[-_]size[= ](\d+)/g)];
  return Number(sizes.at(-1)?.[1] ?? USUAL_SEMI_SPACE_MB);
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
