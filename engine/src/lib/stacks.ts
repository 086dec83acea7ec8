/** The stack of the program, where the runtime is V8; others tell of it in ways of their own, and it stays unknown. */

/** What V8 adds to Error. */
interface V8Errors {
  stackTraceLimit: number;
  captureStackTrace?: (target: object, above: unknown) => void;
}

const v8 = Error as unknown as V8Errors;

/** Notes up to so many frames on `target`, those below `above`. */
export function noteStack(target: object, above: unknown, frames: number): void {
  const limit = v8.stackTraceLimit;
  v8.stackTraceLimit = frames;
  v8.captureStackTrace?.(target, above);
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
