/** What a worker and a sandbox say to each other. They travel as structured clones. */

import type { Word } from "../../../connection/port.ts";

/** In the environment of a process that is a sandbox. */
export const IN_SANDBOX = "CINNABAR_SANDBOX";

export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: string;
  /** Of a RetryLaterError. */
  readonly delayMs?: number;
}

/** A job as its handler sees it. */
export interface PlainJob {
  readonly id: string;
  readonly name: string | null;
  readonly data: unknown;
  readonly attempt: number;
  readonly attempts: number;
  readonly stalls: number;
  readonly createdAt: Date;
  readonly startedAt: Date;
  readonly priority: number;
  readonly group: string | null;
  readonly lastError: PlainError | null;
}

export type ToSandbox =
  | { readonly kind: "run"; readonly job: PlainJob; readonly tag: string; readonly fence: number }
  | { readonly kind: "abort"; readonly reason: PlainError; readonly isLost: boolean }
  | { readonly kind: "answer"; readonly call: number; readonly value: unknown }
  | { readonly kind: "refusal"; readonly call: number; readonly error: PlainError };

export type FromSandbox =
  | { readonly kind: "ready" }
  | { readonly kind: "not-started"; readonly error: PlainError }
  | { readonly kind: "done"; readonly result: unknown }
  | { readonly kind: "failed"; readonly error: PlainError }
  /** Something was thrown outside of the handler. */
  | { readonly kind: "crashed"; readonly error: PlainError }
  | { readonly kind: "call"; readonly call: number; readonly asked: Asked };

/** What a handler asks of the context of its job. */
export type Asked =
  | { readonly method: "progress"; readonly value: unknown }
  | { readonly method: "log"; readonly line: string }
  | { readonly method: "children" }
  | { readonly method: "effect"; readonly command: readonly Word[]; readonly keys: readonly string[] };

export function plainError(error: unknown): PlainError {
  if (!(error instanceof Error)) return { name: "Error", message: String(error) };
  const { name, message, stack } = error;
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const delayMs = "delayMs" in error && typeof error.delayMs === "number" ? error.delayMs : undefined;
  return {
    name,
    message,
    ...(stack === undefined ? {} : { stack }),
    ...(code === undefined ? {} : { code }),
    ...(delayMs === undefined ? {} : { delayMs }),
  };
}
