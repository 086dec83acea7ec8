/**
 * INFO: the sections and fields of Redis 7.0, in its order. Tools parse them by name, so all are there; those that stand for
 * something that does not exist here (an allocator's figures, a fork, modules) have the value of a server that does not use
 * it. Our own version stands beside Redis's.
 */

import { shortPercent } from "../config/special.ts";
import type { Engine } from "../core/engine.ts";
import { BASE_BYTES } from "../core/eviction.ts";
import { REDIS_VERSION, VERSION } from "../core/version.ts";
import { machineMemory } from "../platform/memory.ts";
import { cpuMicros, ownPid, SYSTEM } from "../platform/process.ts";
import { replicationFields } from "../replication/info.ts";
import type { Command } from "../table/command-table.ts";
import { memoryFigures } from "./memory-figures.ts";

/** A field's name and value. */
type Field = readonly [string, string | number];
type Section = (engine: Engine) => Field[];

/** Bytes as INFO prints them for people: 1.10M. */
export function humanBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  let value = bytes;
  for (const unit of ["K", "M", "G", "T"]) {
    value /= 1024;
    if (value < 1024 || unit === "T") return `${value.toFixed(2)}${unit}`;
  }
  return `${bytes}B`;
}

const percent = (share: number) => `${share.toFixed(2)}%`;

/** Shown while a shutdown waits for replicas. */
function shutdownFields({ replication }: Engine): Field[] {
  const { remainingMs } = replication.handover;
  return remainingMs === undefined ? [] : [["shutdown_in_milliseconds", remainingMs]];
}

const server: Section = (engine) => {
  const { values } = engine.config;
  const uptime = Math.max(0, Math.floor((engine.clock.now() - engine.startedAt) / 1000));
  return [
    ["redis_version", REDIS_VERSION],
    ["redis_git_sha1", "00000000"],
    ["redis_git_dirty", 0],
    ["redis_build_id", `cinnabar-${VERSION}`],
    ["redis_mode", engine.cluster === null ? "standalone" : "cluster"],
    ["os", SYSTEM.os],
    ["arch_bits", 64],
    ["monotonic_clock", SYSTEM.clock],
    ["multiplexing_api", SYSTEM.multiplexing],
    ["atomicvar_api", "none"],
    ["gcc_version", "0.0.0"],
    ["process_id", ownPid],
    ["process_supervised", values.supervised],
    ["run_id", engine.runId],
    ["tcp_port", values.port || values["tls-port"]],
    ["server_time_usec", engine.clock.nowMicros()],
    ["uptime_in_seconds", uptime],
    ["uptime_in_days", Math.floor(uptime / 86400)],
    ["hz", values.hz],
    ["configured_hz", values.hz],
    ["lru_clock", engine.stamps.clock],
    ["executable", SYSTEM.executable],
    ["config_file", engine.config.file],
    ["io_threads_active", 0],
    ...shutdownFields(engine),
    ["cinnabar_version", VERSION],
    ["node_version", SYSTEM.runtime],
    ["byte_order", SYSTEM.byteOrder],
  ];
};

const clients: Section = (engine) => {
  let input = 0;
  let output = 0;
  let timeouts = 0;
  for (const { transport, blocked } of engine.clients.values()) {
    input = Math.max(input, transport.inputBytes);
    output = Math.max(output, transport.outputBytes);
    if (blocked !== null && blocked.timeoutMs > 0) timeouts++;
  }
  return [
    ["connected_clients", engine.clients.size - engine.replication.replicas.size],
    ["cluster_connections", 0],
    ["maxclients", engine.config.values.maxclients],
    ["client_recent_max_input_buffer", input],
    ["client_recent_max_output_buffer", output],
    ["blocked_clients", engine.blocking.size + engine.pause.size],
    ["tracking_clients", engine.tracking.clientCount],
    ["clients_in_timeout_table", timeouts],
  ];
};

const memory: Section = (engine) => {
  const { values } = engine.config;
  const m = memoryFigures(engine);
  const replicas = engine.replication.bytes();
  const total = machineMemory();
  return [
    ["used_memory", m.used],
    ["used_memory_human", humanBytes(m.used)],
    ["used_memory_rss", m.rss],
    ["used_memory_rss_human", humanBytes(m.rss)],
    ["used_memory_peak", m.peak],
    ["used_memory_peak_human", humanBytes(m.peak)],
    ["used_memory_peak_perc", percent(m.peakPercent)],
    ["used_memory_overhead", m.overhead],
    ["used_memory_startup", BASE_BYTES],
    ["used_memory_dataset", m.dataset],
    ["used_memory_dataset_perc", percent(m.datasetPercent)],
    ["allocator_allocated", m.heapUsed],
    ["allocator_active", m.heapTotal],
    ["allocator_resident", m.rss],
    ["total_system_memory", total],
    ["total_system_memory_human", humanBytes(total)],
    ["used_memory_lua", 0],
    ["used_memory_vm_eval", 0],
    ["used_memory_lua_human", "0B"],
    ["used_memory_scripts_eval", engine.scripts.sizeBytes],
    ["number_of_cached_scripts", engine.scripts.count],
    ["number_of_functions", engine.functions.count],
    ["number_of_libraries", engine.functions.libraryCount],
    ["used_memory_vm_functions", 0],
    ["used_memory_vm_total", 0],
    ["used_memory_vm_total_human", "0B"],
    ["used_memory_functions", 0],
    ["used_memory_scripts", engine.scripts.sizeBytes],
    ["used_memory_scripts_human", humanBytes(engine.scripts.sizeBytes)],
    ["maxmemory", engine.config.format("maxmemory")],
    ["maxmemory_human", humanBytes(values.maxmemory)],
    ["maxmemory_policy", values["maxmemory-policy"]],
    ["allocator_frag_ratio", (m.heapTotal / m.heapUsed).toFixed(2)],
    ["allocator_frag_bytes", m.heapTotal - m.heapUsed],
    ["allocator_rss_ratio", (m.rss / m.heapTotal).toFixed(2)],
    ["allocator_rss_bytes", m.rss - m.heapTotal],
    ["rss_overhead_ratio", "1.00"],
    ["rss_overhead_bytes", 0],
    ["mem_fragmentation_ratio", m.fragmentation.toFixed(2)],
    ["mem_fragmentation_bytes", m.rss - m.used],
    ["mem_not_counted_for_evict", engine.unsentBytes],
    ["mem_replication_backlog", replicas.backlog],
    ["mem_total_replication_buffers", replicas.backlog + replicas.replicas],
    ["mem_clients_slaves", replicas.replicas],
    ["mem_clients_normal", m.clients],
    ["mem_cluster_links", 0],
    ["mem_aof_buffer", engine.persistence.aof.appender.bufferedBytes],
    ["heap_limit", engine.heapGuard.heapLimit],
    ["heap_limit_human", humanBytes(engine.heapGuard.heapLimit)],
    ["heap_write_limit", engine.heapGuard.writeLimit],
    ["heap_live", Math.round(engine.heapGuard.liveBytes)],
    ["heap_full", engine.heapGuard.full ? 1 : 0],
    ["mem_allocator", SYSTEM.allocator],
    ["active_defrag_running", 0],
    ["lazyfree_pending_objects", 0],
    ["lazyfreed_objects", engine.stats.lazyFreed],
  ];
};

/** What a load has done so far, and how long the rest may take. */
function loadingFields(engine: Engine): Field[] {
  const progress = engine.persistence.progress ?? engine.replication.link?.payload?.progress ?? null;
  if ((!engine.loading && !engine.replication.asyncLoading) || progress === null) return [];
  const { startedAt, loadedBytes, totalBytes } = progress;
  const seconds = Math.max(0, (engine.clock.now() - startedAt) / 1000);
  const eta = loadedBytes === 0 ? 1 : Math.floor((seconds * (totalBytes - loadedBytes)) / loadedBytes);
  return [
    ["loading_start_time", Math.floor(startedAt / 1000)],
    ["loading_total_bytes", totalBytes],
    ["loading_rdb_used_mem", 0],
    ["loading_loaded_bytes", loadedBytes],
    ["loading_loaded_perc", percent(totalBytes === 0 ? 0 : (loadedBytes / totalBytes) * 100).slice(0, -1)],
    ["loading_eta_seconds", eta],
  ];
}

function aofFields({ persistence: { aof } }: Engine): Field[] {
  if (aof.state === "off") return [];
  return [
    ["aof_current_size", aof.currentSize],
    ["aof_base_size", aof.baseSize],
    ["aof_pending_rewrite", 0],
    ["aof_buffer_length", aof.appender.bufferedBytes],
    ["aof_pending_bio_fsync", aof.appender.syncsInFlight],
    ["aof_delayed_fsync", aof.appender.delayedFsyncs],
  ];
}

const status = (ok: boolean) => (ok ? "ok" : "err");
const flag = (on: boolean) => (on ? 1 : 0);

const persistence: Section = (engine) => {
  const { persistence: p } = engine;
  const { aof } = p;
  return [
    ["loading", flag(engine.loading)],
    ["async_loading", flag(engine.replication.asyncLoading)],
    ["current_cow_peak", 0],
    ["current_cow_size", 0],
    ["current_cow_size_age", 0],
    ["current_fork_perc", "0.00"],
    ["current_save_keys_processed", p.jobKeys.processed],
    ["current_save_keys_total", p.jobKeys.total],
    ["rdb_changes_since_last_save", p.dirty],
    ["rdb_bgsave_in_progress", flag(p.saving)],
    ["rdb_last_save_time", p.lastSaveAt],
    ["rdb_last_bgsave_status", status(p.lastSaveOk)],
    ["rdb_last_bgsave_time_sec", p.lastSaveSeconds],
    ["rdb_current_bgsave_time_sec", p.jobSeconds("rdb")],
    ["rdb_saves", p.saves],
    ["rdb_last_cow_size", 0],
    ["rdb_last_load_keys_expired", p.keysExpired],
    ["rdb_last_load_keys_loaded", p.keysLoaded],
    ["aof_enabled", flag(aof.state !== "off")],
    ["aof_rewrite_in_progress", flag(p.rewriting)],
    ["aof_rewrite_scheduled", flag(aof.rewriteScheduled)],
    ["aof_last_rewrite_time_sec", aof.lastRewriteSeconds],
    ["aof_current_rewrite_time_sec", p.jobSeconds("aof")],
    ["aof_last_bgrewrite_status", status(aof.lastRewriteOk)],
    ["aof_rewrites", aof.rewrites],
    ["aof_rewrites_consecutive_failures", aof.consecutiveFailures],
    ["aof_last_write_status", status(aof.appender.error === null)],
    ["aof_last_cow_size", 0],
    ["module_fork_in_progress", 0],
    ["module_fork_last_cow_size", 0],
    ...aofFields(engine),
    ...loadingFields(engine),
  ];
};

const stats: Section = (engine) => {
  const { stats: s, eviction, expiry, pubsub, tracking } = engine;
  const exceeded = eviction.exceededSince === 0 ? 0 : engine.clock.monotonic() - eviction.exceededSince;
  return [
    ["total_connections_received", s.connections],
    ["total_commands_processed", s.commands],
    ["instantaneous_ops_per_sec", Math.floor(s.opsPerSecond.value)],
    ["total_net_input_bytes", s.netInput + s.replInput],
    ["total_net_output_bytes", s.netOutput + s.replOutput],
    ["total_net_repl_input_bytes", s.replInput],
    ["total_net_repl_output_bytes", s.replOutput],
    ["instantaneous_input_kbps", (s.inputPerSecond.value / 1024).toFixed(2)],
    ["instantaneous_output_kbps", (s.outputPerSecond.value / 1024).toFixed(2)],
    ["instantaneous_input_repl_kbps", (s.replInputPerSecond.value / 1024).toFixed(2)],
    ["instantaneous_output_repl_kbps", (s.replOutputPerSecond.value / 1024).toFixed(2)],
    ["rejected_connections", s.rejectedConnections],
    ["sync_full", s.fullSyncs],
    ["sync_partial_ok", s.partialSyncs],
    ["sync_partial_err", s.refusedPartialSyncs],
    ["expired_keys", s.expiredKeys],
    ["expired_stale_perc", s.expiredStale.toFixed(2)],
    ["expired_time_cap_reached_count", s.expireCyclesCut],
    ["expire_cycle_cpu_milliseconds", Math.floor(expiry.totalMs)],
    ["evicted_keys", s.evictedKeys],
    ["evicted_clients", s.evictedClients],
    ["total_eviction_exceeded_time", Math.floor(eviction.exceededMs + exceeded)],
    ["current_eviction_exceeded_time", Math.floor(exceeded)],
    ["keyspace_hits", s.keyspaceHits],
    ["keyspace_misses", s.keyspaceMisses],
    ["pubsub_channels", pubsub.channels.size],
    ["pubsub_patterns", pubsub.patternCount],
    ["pubsubshard_channels", pubsub.shardChannels.size],
    ["latest_fork_usec", 0],
    ["total_forks", engine.persistence.jobsBegun],
    ["migrate_cached_sockets", engine.migrations.keptLinks],
    ["slave_expires_tracked_keys", engine.replication.ownDeadlines.count],
    ["active_defrag_hits", 0],
    ["active_defrag_misses", 0],
    ["active_defrag_key_hits", 0],
    ["active_defrag_key_misses", 0],
    ["total_active_defrag_time", 0],
    ["current_active_defrag_time", 0],
    ["tracking_total_keys", tracking.keyCount],
    ["tracking_total_items", tracking.itemCount],
    ["tracking_total_prefixes", tracking.prefixCount],
    ["unexpected_error_replies", s.unexpectedErrors],
    ["total_error_replies", s.errorReplies],
    ["dump_payload_sanitizations", 0],
    ["total_reads_processed", s.reads],
    ["total_writes_processed", s.writes],
    ["io_threaded_reads_processed", 0],
    ["io_threaded_writes_processed", 0],
    ["reply_buffer_shrinks", s.replyBufferShrinks],
    ["reply_buffer_expands", s.replyBufferExpands],
  ];
};

const cpu: Section = () => {
  const { system, user } = cpuMicros();
  const seconds = (micros: number) => (micros / 1e6).toFixed(6);
  return [
    ["used_cpu_sys", seconds(system)],
    ["used_cpu_user", seconds(user)],
    ["used_cpu_sys_children", "0.000000"],
    ["used_cpu_user_children", "0.000000"],
    ["used_cpu_sys_main_thread", seconds(system)],
    ["used_cpu_user_main_thread", seconds(user)],
  ];
};

function allCommands(engine: Engine): Command[] {
  return [...engine.commands.commands.values()].flatMap((command) => [
    command,
    ...(command.subcommands?.values() ?? []),
  ]);
}

const commandstats: Section = (engine) =>
  allCommands(engine).flatMap((command): Field[] => {
    const s = engine.stats.perCommand[command.index];
    if (s === undefined || s.calls + s.rejected + s.failed === 0) return [];
    const each = s.calls === 0 ? 0 : Math.floor(s.microseconds) / s.calls;
    const text = `calls=${s.calls},usec=${Math.floor(s.microseconds)},usec_per_call=${each.toFixed(2)},rejected_calls=${s.rejected},failed_calls=${s.failed}`;
    return [[`cmdstat_${command.name}`, text]];
  });

const errorstats: Section = (engine) =>
  [...engine.stats.errors]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, count]): Field => [`errorstat_${code}`, `count=${count}`]);

const latencystats: Section = (engine) => {
  const wanted = engine.config.values["latency-tracking-info-percentiles"];
  return allCommands(engine).flatMap((command): Field[] => {
    const stats = engine.stats.perCommand[command.index];
    stats?.settle(engine.latency.tracking);
    const histogram = stats?.histogram;
    if (!engine.latency.tracking || histogram === undefined || histogram === null) return [];
    const shares = wanted.map((share) => `p${shortPercent(share)}=${histogram.percentile(share).toFixed(3)}`);
    return [[`latency_percentiles_usec_${command.name}`, shares.join(",")]];
  });
};

const cluster: Section = (engine) => [["cluster_enabled", engine.cluster === null ? 0 : 1]];

const keyspace: Section = (engine) =>
  engine.databases
    .filter((db) => db.size > 0)
    .map((db): Field => {
      const ttl = engine.expiry.averageTtl(db);
      return [`db${db.index}`, `keys=${db.size},expires=${db.expires.size},avg_ttl=${ttl}`];
    });

/** Sections in Redis's order; the last column says whether a plain INFO shows it. */
const SECTIONS: readonly (readonly [string, Section, boolean])[] = [
  ["Server", server, true],
  ["Clients", clients, true],
  ["Memory", memory, true],
  ["Persistence", persistence, true],
  ["Stats", stats, true],
  ["Replication", ({ replication, clock, config }) => replicationFields(replication, clock, config), true],
  ["CPU", cpu, true],
  ["Modules", () => [], true],
  ["Commandstats", commandstats, false],
  ["Errorstats", errorstats, true],
  ["Latencystats", latencystats, false],
  ["Cluster", cluster, true],
  ["Keyspace", keyspace, true],
];

/** The text of INFO for these sections, `default`, `all` or `everything`; with none, the default. */
export function infoText(engine: Engine, names: readonly string[]): string {
  const wanted = new Set(names.length === 0 ? ["default"] : names.map((name) => name.toLowerCase()));
  const all = wanted.has("all") || wanted.has("everything");
  const parts: string[] = [];
  for (const [title, section, byDefault] of SECTIONS) {
    if (!(all || wanted.has(title.toLowerCase()) || (byDefault && wanted.has("default")))) continue;
    const lines = [`# ${title}`, ...section(engine).map(([name, value]) => `${name}:${value}`)];
    parts.push(`${lines.join("\r\n")}\r\n`);
  }
  return parts.join("\r\n");
}
