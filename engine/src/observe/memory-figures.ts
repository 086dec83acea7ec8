/** Where memory goes, by the store's own accounts: what INFO memory and MEMORY STATS tell. */

import type { Db } from "../core/db.ts";
import { BASE_BYTES } from "../core/eviction.ts";
import { processMemory } from "../platform/memory.ts";

/** What the figures are taken from. */
interface Accounts {
  readonly databases: readonly Db[];
  readonly eviction: { readonly totalBytes: number };
  readonly stats: { readonly peakBytes: number };
  readonly scripts: { readonly sizeBytes: number };
  readonly clientMemory: { sum(): number };
  readonly replication: { bytes(): { readonly backlog: number } };
  readonly unsentBytes: number;
}

export function memoryFigures(accounts: Accounts) {
  const { heapUsed, heapTotal, external, rss } = processMemory();
  const used = accounts.eviction.totalBytes;
  const peak = Math.max(accounts.stats.peakBytes, used);
  const { backlog } = accounts.replication.bytes();
  let overhead = BASE_BYTES + backlog + accounts.unsentBytes + accounts.scripts.sizeBytes;
  for (const db of accounts.databases) if (db.size > 0) overhead += db.keyspace.sizeBytes + db.expires.sizeBytes;
  const clients = accounts.clientMemory.sum();
  overhead = Math.min(overhead + clients, used);
  return {
    used,
    peak,
    rss,
    clients,
    overhead,
    heapUsed: heapUsed + external,
    heapTotal: Math.max(heapTotal, heapUsed) + external,
    dataset: used - overhead,
    datasetPercent: used <= BASE_BYTES ? 0 : ((used - overhead) / (used - BASE_BYTES)) * 100,
    peakPercent: peak === 0 ? 100 : (used / peak) * 100,
    fragmentation: used === 0 ? 1 : rss / used,
  };
}
