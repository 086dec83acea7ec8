/**
 * node-redis in process. Unlike ioredis it has no option for a connection of one's own: it always asks `net.createConnection`. Its
 * options are handed on to that, symbols included, so one of ours marks those that lead to a test store. `net.createConnection` is
 * wrapped once, when the first such client is made, and does what it did for everybody else.
 */
import net from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers";

const IN_PROCESS = Symbol.for("cinnabar.in-process");

/** What `createClient` takes. */
export interface NodeRedisOptions {
  /** Leads to the test store; reconnects at once. */
  readonly socket: { readonly path: string; readonly tls?: false; readonly reconnectStrategy: () => number };
}

type CreateConnection = typeof net.createConnection;

export function nodeRedisOptions(dial: () => Duplex): NodeRedisOptions {
  wrapOnce();
  // Reconnects at once: in process there is nobody to be spared.
  const socket = { path: "cinnabar:in-process", reconnectStrategy: () => 0, [IN_PROCESS]: dial };
  return { socket };
}

function wrapOnce(): void {
  const original = net.createConnection as CreateConnection & { [IN_PROCESS]?: true };
  if (original[IN_PROCESS] === true) return;
  const wrapped = function (this: unknown, ...given: Parameters<CreateConnection>) {
    const dial = (given[0] as { [IN_PROCESS]?: () => Duplex } | undefined)?.[IN_PROCESS];
    if (dial === undefined) return original.apply(this as typeof net, given);
    const stream = dial();
    // In a turn of its own, and not if it was refused meanwhile.
    nextTurn(() => stream.destroyed || stream.emit("connect"));
    return stream;
  };
  net.createConnection = Object.assign(wrapped, { [IN_PROCESS]: true }) as unknown as CreateConnection;
}
