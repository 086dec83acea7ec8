/** What memory there is, as far as a browser tells: Chromium says how large its heap is, others say nothing. */
import type { HeapFigures } from "./figures.ts";

/** Where nothing is known: what a tab on a small machine may have. */
const ASSUMED_LIMIT = 1024 * 1024 * 1024;

interface ChromiumMemory {
  readonly usedJSHeapSize: number;
  readonly totalJSHeapSize: number;
  readonly jsHeapSizeLimit: number;
}

const figures = (): ChromiumMemory | undefined => (performance as { memory?: ChromiumMemory }).memory;

export function heapFigures(): HeapFigures {
  const told = figures();
  return { used: told?.usedJSHeapSize ?? 0, limit: told?.jsHeapSizeLimit ?? ASSUMED_LIMIT, external: 0 };
}

/** What of the limit is for objects that stay. No page is told; in Chromium up to 192 MB are for new ones. */
export const oldLimit = (limit: number): number => Math.max(limit - 192 * 1024 * 1024, limit * 0.6);

export function memoryLimit(): number {
  if (typeof navigator === "undefined" || !("deviceMemory" in navigator)) return ASSUMED_LIMIT;
  const { deviceMemory: gigabytes } = navigator;
  return typeof gigabytes === "number" ? gigabytes * 1024 ** 3 : ASSUMED_LIMIT;
}

export const machineMemory = (): number => memoryLimit();

export function processMemory() {
  const told = figures();
  const heapUsed = told?.usedJSHeapSize ?? 0;
  const heapTotal = told?.totalJSHeapSize ?? heapUsed;
  return { rss: heapTotal, heapTotal, heapUsed, external: 0, arrayBuffers: 0 };
}

/** A page cannot ask for it. */
export function collectAll(): void {}

export function collectYoung(): void {}
