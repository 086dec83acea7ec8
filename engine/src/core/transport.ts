/** How the engine reaches a client: a socket, a program in the same process, or nobody. */
import type { Buffer } from "../platform/bytes.ts";
import type { Reply } from "./reply.ts";

/** What a connection's buffers hold, as CLIENT LIST has it. All in bytes but `replyParts`. */
export interface ClientBuffers {
  /** Received and not yet run, with all that arrived with the command that runs; and the room behind it. */
  readonly query: number;
  readonly queryFree: number;
  /** The words of the command that is being read, runs or waits. */
  readonly argv: number;
  /** What those words take beside their bytes. */
  readonly argvOverhead: number;
  readonly replyRoom: number;
  readonly replyPeak: number;
  /** Replies while they fit into that room; the others are in parts, and those in the room with them once they begin to leave. */
  readonly replyInBuffer: number;
  readonly replyParts: number;
  readonly replyBytes: number;
}

/** How a client is reached. */
export interface Transport {
  /** The reply of a command that was blocked. */
  send(reply: Reply): void;
  /** A message outside the request–reply order. */
  push(message: Reply): void;
  /** Ends the connection; `afterReplies` lets what is queued go out first. */
  close(afterReplies: boolean): void;
  /** What is queued for the client and not yet taken, in bytes. */
  readonly outputBytes: number;
  /** What was received from the client and not yet run, in bytes. */
  readonly inputBytes: number;
  /** What the two consist of; absent where there are none. */
  buffers?(): ClientBuffers;
  /** What is held for the client in V8's heap. */
  readonly heapBytes?: number;
  /** Housekeeping, about once a second. */
  cron?(): void;
  /** `127.0.0.1:50000`; for an embedder a name. */
  readonly address: string;
  readonly localAddress: string;
  /** The socket's descriptor, -1 where there is none. */
  readonly fd: number;
  /** Sends bytes as they are, behind what is queued; absent where there are no bytes. */
  sendBytes?(bytes: Buffer): void;
  /** Whether the peer is known to be gone, asked before it is given something that would be lost; absent: it is there. */
  isGone?(): boolean;
  /** Called when everything queued has been taken, and when the connection is gone. */
  onDrain?: (() => void) | null;
}

/** For clients that nobody hears: scripts, files that are loaded, tests. */
export const silentTransport = (address: string): Transport => ({
  send() {},
  push() {},
  close() {},
  outputBytes: 0,
  inputBytes: 0,
  address,
  localAddress: address,
  fd: -1,
});
