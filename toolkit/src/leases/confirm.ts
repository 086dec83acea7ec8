/**
 * Waiting for replicas to confirm a lease, so that a failover cannot forget it.
 *
 * WAIT speaks of the writes of its own connection (connection/acknowledged.ts). So the lease is renewed on it, a write that comes
 * after the grant, by any client; then WAIT.
 */

import { CinnabarError, LeaseLostError } from "../base/errors.ts";
import type { ScriptCall } from "../base/script.ts";
import { onOwnConnection } from "../connection/acknowledged.ts";
import type { Store } from "../connection/store.ts";

/** How replicas confirm a lease. */
export interface Confirmation {
  /** How many replicas must have it. */
  readonly replicas: number;
  /** How long to wait for them. */
  readonly timeoutMs: number;
  /**
   * What when too few answer. "fail": the lease is given back and `acquire` rejects with the code UNCONFIRMED. "accept": it is
   * kept, and `lease.replicas` says how many have it, so that a broken replica does not stop all locking.
   */
  readonly otherwise: "fail" | "accept";
}

export async function confirmed(
  store: Store,
  { replicas, timeoutMs, otherwise }: Confirmation,
  renewal: ScriptCall<number>,
  key: string,
): Promise<{ readonly replicas: number; readonly sentMs: number }> {
  const done = await onOwnConnection(store, key, {
    write: async (connection) => {
      const sentMs = store.clock.monotonicMs();
      if ((await connection.run(renewal, { timeoutMs: 0 })) <= 0)
        throw new LeaseLostError("the lease ran out before replicas had it");
      return sentMs;
    },
    wait: async (connection, sentMs) => {
      const count = Number(await connection.call(["WAIT", replicas, timeoutMs], { timeoutMs }));
      return { replicas: count, sentMs };
    },
  });
  if (done.replicas < replicas && otherwise === "fail") {
    throw new CinnabarError(
      "UNCONFIRMED",
      `${done.replicas} of ${replicas} replicas have confirmed within ${timeoutMs} ms`,
    );
  }
  return done;
}
