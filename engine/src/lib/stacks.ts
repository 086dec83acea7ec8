/**
 * The stack of the program, where the runtime is V8 or tells of it as V8 does. V8 makes a text of it when it is asked for; Bun does
 * when it is noted, so there the frames are asked for at once. Elsewhere it stays unknown.
 */

/** What V8 adds to Error. */
interface V8Errors {
  stackTraceLimit?: number | undefined;
  captureStackTrace?: (target: object, above: unknown) => void;
  prepareStackTrace?: unknown;
}

// Types of browsers know nothing of these, and types of Node less than Bun has.
const errors: object = Error;
export const v8: V8Errors = errors;
const isBun = "Bun" in globalThis;
const framesThemselves = (_: unknown, frames: unknown): unknown => frames;

/** Notes up to so many frames on `target`, those below `above`. */
export function noteStack(target: object, above: unknown, frames: number): void {
  const limit = v8.stackTraceLimit;
  v8.stackTraceLimit = frames;
  if (isBun) {
    const before = v8.prepareStackTrace;
    v8.prepareStackTrace = framesThemselves;
    v8.captureStackTrace?.(target, above);
    v8.prepareStackTrace = before;
  } else v8.captureStackTrace?.(target, above);
  v8.stackTraceLimit = limit;
}

/** Runs something whose errors need no stack. */
export function withoutStacks<T>(run: () => T): T {
  const limit = v8.stackTraceLimit;
  v8.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    v8.stackTraceLimit = limit;
  }
}
