/** The body of `using`: runs it with a lease, gives the lease back whatever happens. */
import type { Lease } from "./lease.ts";

export async function whileHeld<T>(
  lease: Lease,
  signal: AbortSignal | undefined,
  body: (lease: Lease, signal: AbortSignal) => Promise<T> | T,
): Promise<T> {
  try {
    return await body(lease, signal === undefined ? lease.signal : AbortSignal.any([lease.signal, signal]));
  } finally {
    // What cannot be given back runs out by itself; what the body did stands.
    await lease.release().catch(() => {});
  }
}
