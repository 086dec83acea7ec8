/** Errors that handlers throw to say what is to become of a job, and those that callers get. */
import { CinnabarError } from "../../base/errors.ts";
import type { JobError } from "./record.ts";

/** Thrown by a handler: no further attempt makes sense, the job goes to the dead letters. */
export class UnrecoverableError extends CinnabarError {
  override readonly name = "UnrecoverableError";

  constructor(message: string, options?: ErrorOptions) {
    super("UNRECOVERABLE", message, options);
  }
}

/** Thrown by a handler: not now. The job runs again after the delay, and this does not count as an attempt. */
export class RetryLaterError extends CinnabarError {
  override readonly name = "RetryLaterError";
  /** How long from now the job runs again. */
  readonly delayMs: number;

  constructor(delayMs: number) {
    super("RETRY_LATER", `to be run again in ${delayMs} ms`);
    this.delayMs = delayMs;
  }
}

/** The queue holds as many waiting jobs as its settings allow; nothing was added. */
export class QueueFullError extends CinnabarError {
  override readonly name = "QueueFullError";

  constructor(name: string) {
    super("FULL", `the queue "${name}" is full`);
  }
}

/** The reason of a job's signal when an attempt took longer than its `timeoutMs`. */
export class JobTimeoutError extends CinnabarError {
  override readonly name = "JobTimeoutError";

  constructor(timeoutMs: number) {
    super("TIMEOUT", `the attempt took longer than ${timeoutMs} ms`);
  }
}

/** The reason of a job's signal when somebody cancelled it. */
export class JobCancelledError extends CinnabarError {
  override readonly name = "JobCancelledError";

  constructor() {
    super("CANCELLED", "the job was cancelled");
  }
}

/** The reason of a job's signal when its worker stops and the time for finishing is over: the job runs again elsewhere. */
export class WorkerStoppedError extends CinnabarError {
  override readonly name = "WorkerStoppedError";

  constructor() {
    super("STOPPED", "the worker stops; the job is handed back");
  }
}

/**
 * A sandbox ended in the middle of a job: `SANDBOX_MEMORY` it used more memory than it may, `SANDBOX_CRASHED` its process or thread
 * ended by itself, `SANDBOX_NOT_STARTED` its file could not be loaded. The attempt has failed; the worker goes on.
 */
export class SandboxError extends CinnabarError {
  override readonly name = "SandboxError";

  constructor(
    code: "SANDBOX_MEMORY" | "SANDBOX_CRASHED" | "SANDBOX_NOT_STARTED",
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** The worker has handlers for jobs of other names only. */
export class NoHandlerError extends CinnabarError {
  override readonly name = "NoHandlerError";

  constructor(name: string | null, known: readonly string[]) {
    const which = name === null ? "without a name" : `named "${name}"`;
    super("NO_HANDLER", `this worker has no handler for jobs ${which}; it has ${known.join(", ")}`);
  }
}

/** The longest text of an error that is kept. */
const MAX_STACK = 4_000;
const MAX_CODE = 100;
const MAX_CAUSES = 5;

export function describeError(error: unknown): JobError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error).slice(0, MAX_STACK) };
  const { name, message } = error;
  const stack = stackOf(error);
  return {
    name,
    message: message.slice(0, MAX_STACK),
    ...("code" in error && typeof error.code === "string" ? { code: error.code.slice(0, MAX_CODE) } : {}),
    ...(stack === "" ? {} : { stack: stack.slice(0, MAX_STACK) }),
  };
}

/** Its own, and those of its causes, to a bound. */
function stackOf(error: Error): string {
  let text = error.stack ?? "";
  let { cause } = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++) {
    text += `\nCaused by: ${cause.stack ?? `${cause.name}: ${cause.message}`}`;
    ({ cause } = cause);
  }
  return text;
}
