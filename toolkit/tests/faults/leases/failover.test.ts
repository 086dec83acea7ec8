/** Locks when a primary dies under them, with real Sentinels. */
import { expect, test } from "vitest";
import { Locks } from "../../../src/components/locks/index.ts";
import { open } from "../../../src/connection/open.ts";
import { installed, startSentinel } from "../../kit/servers.ts";

test.skipIf(!installed("redis-sentinel"))(
  "a lock that replicas have confirmed outlives its primary: kept, fenced, and handed on to waiters",
  { timeout: 120_000 },
  async () => {
    const servers = await startSentinel();
    const stores = await Promise.all([open(servers.url, { retryMs: 60_000 }), open(servers.url, { retryMs: 60_000 })]);
    try {
      const confirm = { replicas: 2, timeoutMs: 30_000 };
      const mine = new Locks(stores[0]!, { confirm, leaseMs: 60_000, waitMs: 60_000 });
      const theirs = new Locks(stores[1]!, { leaseMs: 60_000, waitMs: 100_000 });
      const lease = await mine.acquire("order:17");
      expect(lease!.replicas).toBe(2);
      const waiting = theirs.acquire("order:17");
      while ((await mine.inspect("order:17")).waiting !== 1) await new Promise(setImmediate);
      // The line, too, is on the replicas.
      await stores[0]!.blocking().call(["WAIT", 2, 30_000], { timeoutMs: 30_000 });
      await servers.primary.kill();
      const after = await mine.inspect("order:17");
      expect(after.holders.map(({ fence }) => fence)).toEqual([lease!.fence]);
      expect(await lease!.renew()).toBe(true);
      expect(await theirs.acquire("order:17", { waitMs: 0 })).toBeNull();
      expect(lease!.lost).toBe(false);
      expect(await lease!.release()).toBe(true);
      const next = await waiting;
      expect(next!.fence).toBeGreaterThan(lease!.fence);
      expect(await next!.release()).toBe(true);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
      await servers.stop();
    }
  },
);
