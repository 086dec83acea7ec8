/**
 * Every error that the toolkit throws. Expected outcomes (a lock that is taken, a job that does not exist) are values; errors
 * are for misuse and for servers and connections that fail. `code` is stable and meant for programs; the text is for people.
 */

export class CinnabarError extends Error {
  /** The name of the class, as `Error` has it. */
  override readonly name: string = "CinnabarError";
  /** Which error it is, for programs: `INPUT`, `CLOSED`, `CONNECTION` …, or the first word of what the server answered. */
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The caller passed something that cannot be right. Nothing has been written. */
export class InputError extends CinnabarError {
  override readonly name = "InputError";

  constructor(message: string, options?: ErrorOptions) {
    super("INPUT", message, options);
  }
}

/** The server answered with an error; `code` is its first word: `WRONGTYPE`, `NOSCRIPT`, `OOM` … */
export class ServerError extends CinnabarError {
  override readonly name = "ServerError";

  constructor(text: string, options?: ErrorOptions) {
    super(/^[A-Z][A-Z0-9_]*/.exec(text)?.[0] ?? "ERR", text, options);
  }
}

/** No answer came: the connection was lost, could not be made, or stayed silent past the deadline. */
export class ConnectionError extends CinnabarError {
  override readonly name = "ConnectionError";
  /** False: the server has certainly not run it. True: it may have, and only what is safe to repeat may be repeated. */
  readonly maybeExecuted: boolean;
  /** Which of several servers it was, where that is known. */
  readonly server: string | undefined;

  constructor(
    message: string,
    options: ErrorOptions & {
      readonly maybeExecuted: boolean;
      readonly code?: string;
      readonly server?: string | undefined;
    },
  ) {
    super(options.code ?? "CONNECTION", message, options);
    this.maybeExecuted = options.maybeExecuted;
    this.server = options.server;
  }
}

/** Answers of a server that takes no writes now: it is full, its disk fails, or too few replicas follow. Reads still work. */
const REFUSES_WRITES = new Set(["MISCONF", "NOREPLICAS", "OOM"]);
/** Answers of a server that can do nothing for anybody now. */
const UNAVAILABLE = new Set(["BUSY", "CLUSTERDOWN", "LOADING", "MASTERDOWN", "READONLY", "TRYAGAIN"]);

/** Whether the server answers, but takes no writes now. */
export function refusesWrites(error: unknown): error is ServerError {
  return error instanceof ServerError && REFUSES_WRITES.has(error.code);
}

/** Whether the store cannot do its work now: it is not reached, or it says so. For callers that have another way. */
export function isUnavailable(error: unknown): error is ConnectionError | ServerError {
  if (error instanceof ConnectionError || refusesWrites(error)) return true;
  return error instanceof ServerError && UNAVAILABLE.has(error.code);
}

/** The store was closed by this program. */
export class ClosedError extends CinnabarError {
  override readonly name = "ClosedError";

  constructor(message = "the store is closed") {
    super("CLOSED", message);
  }
}

/** Why the store in this process could not be opened. */
export type OpenErrorCode =
  | "LOCKED"
  | "DAMAGED"
  | "NO_PERMISSION"
  | "NOT_A_FOLDER"
  | "NO_SPACE"
  | "NO_MEMORY"
  | "OPEN_FAILED";

/** The folder of a store in this process could not be opened; `cause` is what the engine or the system said. */
export class OpenError extends CinnabarError {
  override readonly name = "OpenError";

  constructor(code: OpenErrorCode, message: string, options?: ErrorOptions) {
    super(code, message, options);
  }
}

/** The runtime lacks what this needs: sockets, threads or files, in a browser. The text says what to use instead. */
export class UnsupportedError extends CinnabarError {
  override readonly name = "UnsupportedError";

  constructor(message: string) {
    super("UNSUPPORTED", message);
  }
}

/** A transaction was attempted as often as allowed and met a change by somebody else each time. */
export class ConflictError extends CinnabarError {
  override readonly name = "ConflictError";

  constructor(attempts: number) {
    super("CONFLICT", `the watched keys changed in each of ${attempts} attempts`);
  }
}

/** A lease ended before it was given back: it ran out, or the server knows it no longer. The reason of `lease.signal`. */
export class LeaseLostError extends CinnabarError {
  override readonly name = "LeaseLostError";

  constructor(message: string, options?: ErrorOptions) {
    super("LOST", message, options);
  }
}

/** The text of what was thrown, which may be anything. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The system's name of an error (`ENOENT`) or the first word of a server's, where it has one. */
export function codeOf(thrown: unknown): string | undefined {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  return typeof code === "string" ? code : undefined;
}

/** What was thrown as an error, for listeners that take errors only. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
