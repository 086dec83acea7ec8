/**
 * Sets and maps whose elements expire, each at its own time.
 *
 *   const online = new ExpiringSet(store, "online", { ttlMs: 60_000 });
 *   await online.add("ann");                                       // again at each sign of life
 *   await online.count();
 *
 *   const codes = new ExpiringMap<string>(store, "codes");
 *   await codes.set("ann", "482 113", { ttlMs: 300_000 });
 *   await codes.take("ann");                                       // once
 */
export {
  type EntryCreateOutcome,
  type ExpiringEntry,
  ExpiringMap,
  type ExpiringMapOptions,
} from "./expiring-map.ts";
export {
  type ExpiringMember,
  ExpiringSet,
  type ExpiringSetOptions,
  type MemberAddOutcome,
} from "./expiring-set.ts";
export type { RequiredTtl, TtlOptions } from "./options.ts";
