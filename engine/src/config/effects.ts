/**
 * What a directive changes in a running engine. Directives that are read where they matter (`config.values`) need nothing
 * here; these are the ones that others keep a copy of for speed, or that act at once.
 */
import type { Limits } from "../types/collection.ts";
import type { ConfigValues, DirectiveName } from "./directives.ts";
import { BadValue } from "./kinds.ts";

/** What directives act on. */
export interface Configured {
  readonly limits: Limits;
  readonly eviction: { configure(): void };
  readonly clientMemory: { configure(): void };
  readonly slowLog: { threshold: number; trim(): void };
  readonly latency: { threshold: number; tracking: boolean };
  readonly notifications: { flags: number };
  readonly acl: { setDefaultPassword(password: string): void };
}

type Effect = (engine: Configured, values: ConfigValues) => void;

/** The table's numbers as the types want them. */
export function copyLimits(values: ConfigValues, limits: Limits): void {
  limits.hashMaxListpackEntries = values["hash-max-listpack-entries"];
  limits.hashMaxListpackValue = values["hash-max-listpack-value"];
  limits.setMaxIntsetEntries = values["set-max-intset-entries"];
  limits.zsetMaxListpackEntries = values["zset-max-listpack-entries"];
  limits.zsetMaxListpackValue = values["zset-max-listpack-value"];
  limits.listMaxListpackSize = values["list-max-listpack-size"];
  limits.streamNodeMaxBytes = values["stream-node-max-bytes"];
  limits.streamNodeMaxEntries = values["stream-node-max-entries"];
  limits.hllSparseMaxBytes = values["hll-sparse-max-bytes"];
}

const limits: Effect = (engine, values) => copyLimits(values, engine.limits);
const eviction: Effect = (engine) => engine.eviction.configure();
const clientMemory: Effect = (engine) => engine.clientMemory.configure();

export const EFFECTS: Partial<Record<DirectiveName, Effect>> = {
  "hash-max-listpack-entries": limits,
  "hash-max-listpack-value": limits,
  "set-max-intset-entries": limits,
  "zset-max-listpack-entries": limits,
  "zset-max-listpack-value": limits,
  "list-max-listpack-size": limits,
  "stream-node-max-bytes": limits,
  "stream-node-max-entries": limits,
  "hll-sparse-max-bytes": limits,
  "maxmemory-clients": clientMemory,
  maxmemory(engine, values) {
    // First: what clients take counts, and their share may be a part of this.
    clientMemory(engine, values);
    eviction(engine, values);
  },
  "maxmemory-policy": eviction,
  "maxmemory-samples": eviction,
  "lfu-log-factor": eviction,
  "lfu-decay-time": eviction,
  activedefrag(_engine, values) {
    if (!values.activedefrag) return;
    throw new BadValue(
      "Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified Jemalloc like the one shipped by default with the Redis source distribution",
    );
  },
  hz(_engine, values) {
    values.hz = Math.min(Math.max(values.hz, 1), 500);
  },
  "repl-backlog-size"(_engine, values) {
    values["repl-backlog-size"] = Math.max(values["repl-backlog-size"], 16384);
  },
  "slowlog-log-slower-than"(engine, values) {
    engine.slowLog.threshold = values["slowlog-log-slower-than"];
  },
  "slowlog-max-len"(engine) {
    engine.slowLog.trim();
  },
  "latency-monitor-threshold"(engine, values) {
    engine.latency.threshold = values["latency-monitor-threshold"];
  },
  "latency-tracking"(engine, values) {
    engine.latency.tracking = values["latency-tracking"];
  },
  "notify-keyspace-events"(engine, values) {
    engine.notifications.flags = values["notify-keyspace-events"];
  },
  requirepass(engine, values) {
    engine.acl.setDefaultPassword(values.requirepass);
  },
};
