/** The page or the worker that the engine runs in. */
export const ownPid = 1;

export const workingFolder = (): string => "/";

export const environment = (_name: string): string | undefined => undefined;

/** A holder that has left something here is gone: the browser gives a store's files to one holder at a time. */
export const isRunning = (other: number): boolean => other === ownPid;

/** A page that is closed tells nobody in time: what must be kept is kept when it is written. */
export function onExit(_run: () => void): () => void {
  return () => {};
}

const started = performance.now();

/** A browser does not say: the time since the start. */
export const cpuMicros = (): { readonly user: number; readonly system: number } => ({
  user: (performance.now() - started) * 1000,
  system: 0,
});

export const SYSTEM = {
  // Node 20 has none, where tests of pages may load this.
  os: typeof navigator === "undefined" ? "unknown" : navigator.userAgent,
  clock: "performance.now",
  multiplexing: "none",
  executable: "",
  runtime: "",
  allocator: "javascript",
  byteOrder: "little",
} as const;
