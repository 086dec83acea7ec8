/**
 * Connections on which something is written and then waited for until replicas have it. WAIT speaks of the writes of its own
 * connection, and holds up whatever comes behind it: so both go over a connection for blocking commands, of which a few are
 * kept for the next.
 */
import type { BlockingConnection } from "./blocking.ts";
import type { Store } from "./store.ts";

const idle = new WeakMap<Store, BlockingConnection[]>();
const MOST_IDLE = 4;

/** Gives the work a connection of its own. One on which the work has failed is not used again. */
export async function onOwnConnection<T>(
  store: Store,
  key: string | undefined,
  work: (connection: BlockingConnection) => Promise<T>,
): Promise<T> {
  // In a Cluster a connection belongs to one node.
  const isKept = store.topology !== "cluster";
  const kept = isKept ? (idle.get(store) ?? []) : [];
  if (isKept) idle.set(store, kept);
  const connection = kept.pop() ?? store.blocking(key);
  let sound = false;
  try {
    const done = await work(connection);
    sound = true;
    return done;
  } finally {
    if (sound && isKept && !store.closed && kept.length < MOST_IDLE) kept.push(connection);
    else connection.close();
  }
}
