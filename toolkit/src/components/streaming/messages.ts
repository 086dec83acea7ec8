/** What a listener gets besides events, and the form in which all of it is sent. */
import { type Format, type Frame, frameOf } from "./entry.ts";
import type { StatusEvent } from "./events.ts";

/** Events after `after` are missing: they are no longer in the log, or the log is another. It goes on behind `cursor`. */
export interface GapMessage {
  /** Events are missing. */
  readonly kind: "gap";
  /** The cursor behind which they are missing. */
  readonly after: string;
  /** The cursor behind which it goes on. */
  readonly cursor: string;
}

/** Nothing has come for a while; everything up to `cursor` was sent, or not asked for. */
export interface HeartbeatMessage {
  /** A sign of life. */
  readonly kind: "heartbeat";
  /** Everything up to here was sent, or not asked for. */
  readonly cursor: string;
}

/**
 * slow: it did not read fast enough. closing: this server ends. revoked: its token is no longer good. limit: there are more
 * connections than allowed.
 */
export type EndReason = "slow" | "closing" | "revoked" | "limit";

/** The last message. Who comes back with `cursor` misses nothing that is still in the log. */
export interface EndMessage {
  /** It is the end. */
  readonly kind: "end";
  /** Why it ends. */
  readonly reason: EndReason;
  /** The reason, for people. */
  readonly message: string;
  /** Everything up to here was sent, or not asked for. */
  readonly cursor: string;
  /** When to come back, if that makes sense. */
  readonly retryMs?: number;
}

/** What a listener gets: an event with its cursor, or a word about the stream. */
export type StreamMessage = (StatusEvent & { readonly cursor: string }) | GapMessage | HeartbeatMessage | EndMessage;

export function frameOfMessage(message: GapMessage | HeartbeatMessage | EndMessage, format: Format): Frame {
  if (format === "ndjson") return frameOf(`${JSON.stringify(message)}\n`);
  // An id without data moves the place to resume from, and the page hears nothing of it.
  if (message.kind === "heartbeat") return frameOf(`id: ${message.cursor}\n\n`);
  const retry = message.kind === "end" && message.retryMs !== undefined ? `retry: ${message.retryMs}\n` : "";
  return frameOf(`${retry}id: ${message.cursor}\ndata: ${JSON.stringify(message)}\n\n`);
}
