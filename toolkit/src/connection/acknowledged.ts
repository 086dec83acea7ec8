/**
 * Connections on which something is written and then waited for until replicas have it. WAIT speaks of the writes of its own
 * connection, and holds up whatever comes behind it: so both go over a connection for blocking commands, of which a few are
 * kept for the next.
 *
 * A connection that was kept may lead to a server that is no primary any more, and so may a new one during a failover. What such a
 * server did not run is written again, over another connection. Once it may have been run, nothing is repeated.
 */
import { sleep } from "../base/clock.ts";
import { ConnectionError } from "../base/errors.ts";
import type { BlockingConnection } from "./blocking.ts";
import type { Store } from "./store.ts";

const idle = new WeakMap<Store, BlockingConnection[]>();
const MOST_IDLE = 4;
/** How long it is tried to reach a primary, and the pause between two attempts: a failover takes a second or two. */
const RETRY_MS = 10_000;
const PAUSE_MS = 100;

export interface Acknowledged<W, T> {
  write(connection: BlockingConnection): Promise<W>;
  wait(connection: BlockingConnection, written: W): Promise<T>;
}

/** Gives the work a connection of its own. One on which the work has failed is not used again. */
export async function onOwnConnection<W, T>(
  store: Store,
  key: string | undefined,
  work: Acknowledged<W, T>,
): Promise<T> {
  const until = store.clock.monotonicMs() + RETRY_MS;
  for (;;) {
    const connection = take(store, key);
    let isSound = false;
    try {
      const written = await work.write(connection).then(
        (value) => ({ value }),
        (error) => {
          if (!isUnwritten(error) || store.closed || store.clock.monotonicMs() >= until) throw error;
          return null;
        },
      );
      if (written !== null) {
        const done = await work.wait(connection, written.value);
        isSound = true;
        return done;
      }
    } finally {
      giveBack(store, connection, isSound);
    }
    await sleep(store.clock, PAUSE_MS, store.closeSignal);
  }
}

const isUnwritten = (error: unknown): boolean => error instanceof ConnectionError && !error.maybeExecuted;

function take(store: Store, key: string | undefined): BlockingConnection {
  return idle.get(store)?.pop() ?? store.blocking(key);
}

function giveBack(store: Store, connection: BlockingConnection, isSound: boolean): void {
  const kept = idle.get(store) ?? [];
  // In a Cluster a connection belongs to one node.
  if (!isSound || store.topology === "cluster" || store.closed || kept.length >= MOST_IDLE) {
    connection.close();
    return;
  }
  kept.push(connection);
  idle.set(store, kept);
}
