/**
 * Metrics for Prometheus from what INFO says: the one source for the server's own endpoint and for the console, whatever server that
 * looks at. Names are those of redis_exporter where it has one, so that dashboards and alerts for it work; ours begin with `cinnabar_`.
 * A field that a server does not have makes no sample.
 */
import { type Exposition, exposition, type Family, type Sample } from "./exposition.ts";
import { type InfoFields, infoFields, pairsOf } from "./info-fields.ts";

/** One server to make metrics of. */
export interface ScrapedNode {
  /** What tells nodes apart; none where there is only one. */
  readonly labels: Readonly<Record<string, string>>;
  /** The text of INFO with all its sections; null: the node did not answer. */
  readonly info: string | null;
}

/** A field of INFO: its name, that of the metric, and what it means. */
type Row = readonly [field: string, metric: string, help: string, read?: (value: string) => number];

const isOk = (value: string): number => (value === "ok" ? 1 : 0);

const GAUGES: readonly Row[] = [
  ["uptime_in_seconds", "redis_uptime_in_seconds", "Time since the server started."],
  ["connected_clients", "redis_connected_clients", "Clients that are connected, replicas not included."],
  ["maxclients", "redis_max_clients", "Clients that may be connected at once."],
  ["blocked_clients", "redis_blocked_clients", "Clients that wait in a blocking command."],
  ["tracking_clients", "redis_tracking_clients", "Clients that keep a cache of their own."],
  ["used_memory", "redis_memory_used_bytes", "Memory that the data and the buffers take."],
  ["used_memory_rss", "redis_memory_used_rss_bytes", "Resident memory of the process."],
  ["used_memory_peak", "redis_memory_used_peak_bytes", "The most that used memory has been."],
  ["used_memory_dataset", "redis_memory_used_dataset_bytes", "Memory that the data takes."],
  ["used_memory_overhead", "redis_memory_used_overhead_bytes", "Memory that is not data: tables and buffers."],
  ["used_memory_scripts", "redis_memory_used_scripts_bytes", "Memory that cached scripts take."],
  ["maxmemory", "redis_memory_max_bytes", "The limit of used memory; 0 where there is none."],
  ["mem_fragmentation_ratio", "redis_mem_fragmentation_ratio", "Resident memory to used memory."],
  ["instantaneous_ops_per_sec", "redis_instantaneous_ops_per_sec", "Commands a second, lately."],
  ["pubsub_channels", "redis_pubsub_channels", "Channels with subscribers."],
  ["pubsub_patterns", "redis_pubsub_patterns", "Patterns with subscribers."],
  ["loading", "redis_loading_dump_file", "1 while files are loaded."],
  ["rdb_changes_since_last_save", "redis_rdb_changes_since_last_save", "Changes since the last snapshot."],
  ["rdb_bgsave_in_progress", "redis_rdb_bgsave_in_progress", "1 while a snapshot is written."],
  ["rdb_last_save_time", "redis_rdb_last_save_timestamp_seconds", "When the last snapshot was written."],
  ["rdb_last_bgsave_status", "redis_rdb_last_bgsave_status", "1 if the last snapshot succeeded.", isOk],
  ["rdb_last_bgsave_time_sec", "redis_rdb_last_bgsave_duration_sec", "How long the last snapshot took; -1: none."],
  ["aof_enabled", "redis_aof_enabled", "1 if there is an append-only file."],
  ["aof_rewrite_in_progress", "redis_aof_rewrite_in_progress", "1 while the append-only file is rewritten."],
  ["aof_last_bgrewrite_status", "redis_aof_last_bgrewrite_status", "1 if the last rewrite succeeded.", isOk],
  ["aof_last_write_status", "redis_aof_last_write_status", "1 if the last write to the file succeeded.", isOk],
  ["aof_current_size", "redis_aof_current_size_bytes", "Size of the append-only file."],
  ["aof_base_size", "redis_aof_base_size_bytes", "Its size after the last rewrite."],
  ["connected_slaves", "redis_connected_slaves", "Replicas that are connected."],
  ["master_repl_offset", "redis_master_repl_offset", "How far the stream of changes is."],
  [
    "master_link_status",
    "redis_master_link_up",
    "Of a replica: 1 if its primary is connected.",
    (value) => (value === "up" ? 1 : 0),
  ],
  [
    "master_last_io_seconds_ago",
    "redis_master_last_io_seconds_ago",
    "Of a replica: since it last heard of its primary.",
  ],
  ["slave_repl_offset", "redis_slave_repl_offset", "Of a replica: how far it is."],
  ["cluster_enabled", "redis_cluster_enabled", "1 for a node of a Cluster."],
  ["heap_limit", "cinnabar_heap_limit_bytes", "The limit of V8's heap."],
  ["heap_write_limit", "cinnabar_heap_write_limit_bytes", "Live heap above which writes are refused or evict."],
  ["heap_live", "cinnabar_heap_live_bytes", "Live heap, as of the last collection."],
  ["heap_full", "cinnabar_heap_full", "1 while writes are refused because the heap is full."],
];

const COUNTERS: readonly Row[] = [
  ["total_commands_processed", "redis_commands_processed_total", "Commands that were run."],
  ["total_connections_received", "redis_connections_received_total", "Connections that were accepted."],
  ["rejected_connections", "redis_rejected_connections_total", "Connections that were refused: too many clients."],
  ["total_net_input_bytes", "redis_net_input_bytes_total", "Bytes that were read from the network."],
  ["total_net_output_bytes", "redis_net_output_bytes_total", "Bytes that were written to the network."],
  ["keyspace_hits", "redis_keyspace_hits_total", "Reads of keys that exist."],
  ["keyspace_misses", "redis_keyspace_misses_total", "Reads of keys that do not exist."],
  ["expired_keys", "redis_expired_keys_total", "Keys whose time was over."],
  ["evicted_keys", "redis_evicted_keys_total", "Keys that were removed to make room."],
  ["evicted_clients", "redis_evicted_clients_total", "Clients that were disconnected to make room."],
  ["total_error_replies", "redis_total_error_replies_total", "Commands that were answered with an error."],
  ["sync_full", "redis_replica_resyncs_full_total", "Full resynchronisations of replicas."],
  ["sync_partial_ok", "redis_replica_partial_resync_accepted_total", "Partial resynchronisations."],
  ["sync_partial_err", "redis_replica_partial_resync_denied_total", "Partial ones that were refused."],
  ["used_cpu_sys", "redis_cpu_sys_seconds_total", "Processor time in the system."],
  ["used_cpu_user", "redis_cpu_user_seconds_total", "Processor time in the process."],
];

/** A part of a line such as `cmdstat_get:calls=1,usec=5`. */
interface Part {
  readonly lines: RegExp;
  /** What the first group of the expression is. */
  readonly label: string;
  readonly part: string;
  readonly metric: string;
  readonly type: Family["type"];
  readonly help: string;
  readonly scale?: number;
}

const commands = (part: string, metric: string, help: string, scale = 1): Part => ({
  ...{ lines: /^cmdstat_(.+)$/, label: "cmd", part, metric, type: "counter", help, scale },
});
const databases = (part: string, metric: string, help: string, scale = 1): Part => ({
  ...{ lines: /^(db\d+)$/, label: "db", part, metric, type: "gauge", help, scale },
});

const PARTS: readonly Part[] = [
  commands("calls", "redis_commands_total", "Calls of a command."),
  commands("usec", "redis_commands_duration_seconds_total", "Time that its calls took.", 1e-6),
  commands("rejected_calls", "redis_commands_rejected_calls_total", "Calls that were refused before they ran."),
  commands("failed_calls", "redis_commands_failed_calls_total", "Calls that failed."),
  {
    ...{ lines: /^errorstat_(.+)$/, label: "err", part: "count", metric: "redis_errors_total", type: "counter" },
    help: "Errors by their first word.",
  },
  databases("keys", "redis_db_keys", "Keys of a database."),
  databases("expires", "redis_db_keys_expiring", "Keys that have a time to live."),
  databases("avg_ttl", "redis_db_avg_ttl_seconds", "Their time to live, on average.", 1e-3),
];

const INSTANCE = ["role", "redis_version", "redis_mode", "maxmemory_policy", "os", "tcp_port", "cinnabar_version"];

/**
 * All metrics of all nodes, in the format that a scraper asks for.
 * @example
 * const { text } = infoMetrics([{ labels: { node: "a" }, info: await db.info() }]);
 * text; // → "…redis_up{node=\"a\"} 1…"
 */
export function infoMetrics(nodes: readonly ScrapedNode[], accept?: string): Exposition {
  const known = nodes.flatMap(({ labels, info }) => (info === null ? [] : [{ labels, fields: infoFields(info) }]));
  return exposition([upOf(nodes), ...plain(known), ...parts(known), ...replicas(known), ...latencies(known)], accept);
}

interface KnownNode {
  readonly labels: ScrapedNode["labels"];
  readonly fields: InfoFields;
}

function upOf(nodes: readonly ScrapedNode[]): Family {
  const samples = nodes.map(({ labels, info }) => ({ labels, value: info === null ? 0 : 1 }));
  return { name: "redis_up", type: "gauge", help: "1 if the server answered.", samples };
}

function plain(nodes: readonly KnownNode[]): Family[] {
  const family = (type: Family["type"], [field, name, help, read = Number]: Row): Family => {
    const samples = nodes.flatMap(({ labels, fields }): Sample[] => {
      const text = fields.get(field);
      const value = text === undefined || text === "" ? Number.NaN : read(text);
      return Number.isNaN(value) ? [] : [{ labels, value }];
    });
    return { name, type, help, samples };
  };
  const instances = nodes.map(({ labels, fields }) => {
    const words = INSTANCE.flatMap((field) => (fields.has(field) ? [[field, fields.get(field)!] as const] : []));
    return { labels: { ...labels, ...Object.fromEntries(words) }, value: 1 };
  });
  const help = "1, with what the server is as labels.";
  return [
    { name: "redis_instance_info", type: "gauge", help, samples: instances },
    ...GAUGES.map((row) => family("gauge", row)),
    ...COUNTERS.map((row) => family("counter", row)),
  ];
}

function parts(nodes: readonly KnownNode[]): Family[] {
  return PARTS.map(({ lines, label, part, metric, type, help, scale = 1 }) => ({
    ...{ name: metric, type, help },
    samples: nodes.flatMap(({ labels, fields }) =>
      [...fields].flatMap(([field, list]): Sample[] => {
        const name = lines.exec(field)?.[1];
        const text = name === undefined ? undefined : pairsOf(list).get(part);
        return text === undefined
          ? []
          : [{ labels: { ...labels, [label]: name! }, value: scaled(Number(text), scale) }];
      }),
    ),
  }));
}

/** Without the noise of a multiplication in binary: 17 µs are 0.000017 s. */
const scaled = (value: number, scale: number): number =>
  scale === 1 ? value : Number((value * scale).toPrecision(15));

/** `slave0:ip=127.0.0.1,port=6380,state=online,offset=14,lag=0`. */
function replicas(nodes: readonly KnownNode[]): Family[] {
  const each = (part: string): Sample[] =>
    nodes.flatMap(({ labels, fields }) =>
      [...fields].flatMap(([field, list]): Sample[] => {
        if (!/^slave\d+$/.test(field)) return [];
        const facts = pairsOf(list);
        const value = Number(facts.get(part) ?? Number.NaN);
        const [slave_ip = "", slave_port = "", slave_state = ""] = ["ip", "port", "state"].map((name) =>
          facts.get(name),
        );
        return Number.isNaN(value) ? [] : [{ labels: { ...labels, slave_ip, slave_port, slave_state }, value }];
      }),
    );
  return [
    {
      ...{
        name: "redis_connected_slave_offset_bytes",
        type: "gauge",
        help: "How far a replica is in the stream of changes.",
      },
      samples: each("offset"),
    },
    {
      ...{ name: "redis_connected_slave_lag_seconds", type: "gauge", help: "Since a replica last told how far it is." },
      samples: each("lag"),
    },
  ];
}

/** `latency_percentiles_usec_get:p50=0.001,p99=1.003,p99.9=2.007`. */
function latencies(nodes: readonly KnownNode[]): Family[] {
  const samples = nodes.flatMap(({ labels, fields }) =>
    [...fields].flatMap(([field, list]): Sample[] => {
      const cmd = /^latency_percentiles_usec_(.+)$/.exec(field)?.[1];
      if (cmd === undefined) return [];
      return [...pairsOf(list)].map(([share, micros]) => {
        const quantile = String(scaled(Number(share.slice(1)), 0.01));
        return { labels: { ...labels, cmd, quantile }, value: scaled(Number(micros), 1e-6) };
      });
    }),
  );
  const help = "How long calls of a command take in the server, by quantile.";
  return [{ name: "redis_commands_latency_seconds", type: "gauge", help, samples }];
}
