/**
 * The table of directives: one row for each, with what Redis 7.0 sets it to when nobody says anything.
 *
 * Every name that Redis knows is here and is checked, kept and shown as Redis does it, also where nothing here depends on
 * it, so that configuration files and tools for Redis work unchanged. What a change does at run time stands in effects.ts.
 * Where our default differs, the row says why.
 */
import { keysOf } from "../lib/keys-of.ts";
import { workingFolder } from "../platform/process.ts";
import { bool, type Directive, integer, long, memory, memoryOrPercent, octal, oneOf, text, words } from "./kinds.ts";
import {
  bufferLimits,
  directory,
  events,
  oomScores,
  percentiles,
  primaryAddress,
  savePoints,
  shutdownWords,
} from "./special.ts";

const GIGABYTE = 1024 ** 3;
const MEGABYTE = 1024 ** 2;
const UINT_MAX = 4294967295;
const PORT = { max: 65535 };

/** Who may call DEBUG and MODULE, and set protected directives. */
const GUARD = ["no", "yes", "local"] as const;

const plainName = (what: string) => (name: string) =>
  name.includes("/") ? `${what} can't be a path, just a filename` : undefined;

const plainNonEmptyName = (what: string) => (name: string) =>
  name === "" ? `${what} can't be empty` : plainName(what)(name);

const hostname = (name: string) =>
  /^[a-z\d.-]*$/i.test(name) ? undefined : "Hostnames may only contain alphanumeric characters, hyphens or dots";

const TITLE_VARIABLES = /\{(?:title|listen-addr|server-mode|port|tls-port|unixsocket|config-file)\}/g;
const titleTemplate = (template: string) =>
  template === "" || /[{}]/.test(template.replace(TITLE_VARIABLES, ""))
    ? "template format is invalid or contains unknown variables"
    : undefined;

export const DIRECTIVES = {
  // ---------------------------------------------------------------------------------------------- network
  port: integer(6379, PORT),
  // Redis listens on every address when nothing is configured; loopback is what its configuration file says, and safer.
  bind: words(["127.0.0.1", "-::1"], { max: 16 }),
  "bind-source-addr": text(""),
  unixsocket: text("", { change: "never" }),
  unixsocketperm: octal(0, { change: "never" }),
  "tcp-backlog": integer(511, { change: "never" }),
  "tcp-keepalive": integer(300),
  timeout: integer(0),
  "protected-mode": bool(true),
  "socket-mark-id": integer(0, { max: UINT_MAX, change: "never" }),
  maxclients: integer(10000, { min: 1, max: UINT_MAX }),
  "maxmemory-clients": memoryOrPercent(0),
  "client-query-buffer-limit": memory(GIGABYTE, { min: MEGABYTE }),
  "client-output-buffer-limit": bufferLimits({
    normal: { hard: 0, soft: 0, softSeconds: 0 },
    replica: { hard: 256 * MEGABYTE, soft: 64 * MEGABYTE, softSeconds: 60 },
    pubsub: { hard: 32 * MEGABYTE, soft: 8 * MEGABYTE, softSeconds: 60 },
  }),
  "proto-max-bulk-len": memory(512 * MEGABYTE, { min: MEGABYTE }),
  "io-threads": integer(1, { min: 1, max: 128, change: "never" }),
  "io-threads-do-reads": bool(false, { change: "never" }),

  // ---------------------------------------------------------------------------------------------- TLS
  "tls-port": integer(0, PORT),
  "tls-cluster": bool(false),
  "tls-replication": bool(false),
  "tls-auth-clients": oneOf(["no", "yes", "optional"], "yes"),
  "tls-prefer-server-ciphers": bool(false),
  "tls-session-caching": bool(true),
  "tls-session-cache-size": integer(20480),
  "tls-session-cache-timeout": integer(300),
  "tls-cert-file": text("", { reapplied: true }),
  "tls-key-file": text("", { reapplied: true }),
  "tls-key-file-pass": text("", { secret: true, reapplied: true }),
  "tls-client-cert-file": text("", { reapplied: true }),
  "tls-client-key-file": text("", { reapplied: true }),
  "tls-client-key-file-pass": text("", { secret: true, reapplied: true }),
  "tls-dh-params-file": text("", { reapplied: true }),
  "tls-ca-cert-file": text("", { reapplied: true }),
  "tls-ca-cert-dir": text("", { reapplied: true }),
  "tls-protocols": text(""),
  "tls-ciphers": text(""),
  "tls-ciphersuites": text(""),

  // ---------------------------------------------------------------------------------------------- the process
  daemonize: bool(false, { change: "never" }),
  supervised: oneOf(["upstart", "systemd", "auto", "no"], "no", { change: "never" }),
  pidfile: text("", { change: "never" }),
  loglevel: oneOf(["debug", "verbose", "notice", "warning"], "notice"),
  logfile: text("", { change: "never" }),
  "syslog-enabled": bool(false, { change: "never" }),
  "syslog-ident": text("redis", { change: "never" }),
  "syslog-facility": oneOf(
    ["user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"],
    "local0",
    { change: "never" },
  ),
  "crash-log-enabled": bool(true),
  "crash-memcheck-enabled": bool(true),
  "use-exit-on-panic": bool(false, { hidden: true }),
  databases: integer(16, { min: 1, change: "never" }),
  "always-show-logo": bool(false, { change: "never" }),
  "set-proc-title": bool(true, { change: "never" }),
  "proc-title-template": text("{title} {listen-addr} {server-mode}", { check: titleTemplate }),
  "ignore-warnings": text(""),
  hz: integer(10),
  "dynamic-hz": bool(true),
  activerehashing: bool(true),
  "disable-thp": bool(true, { change: "never" }),
  "oom-score-adj": oneOf(["no", "yes", "relative", "absolute"], "no"),
  "oom-score-adj-values": oomScores([0, 200, 800]),
  "jemalloc-bg-thread": bool(true),
  server_cpulist: text("", { change: "never" }),
  bio_cpulist: text("", { change: "never" }),
  aof_rewrite_cpulist: text("", { change: "never" }),
  bgsave_cpulist: text("", { change: "never" }),
  "watchdog-period": integer(0, { hidden: true }),
  "shutdown-timeout": integer(10),
  "shutdown-on-sigint": shutdownWords(),
  "shutdown-on-sigterm": shutdownWords(),

  // ---------------------------------------------------------------------------------------------- who may do what
  requirepass: text("", { secret: true }),
  aclfile: text("", { change: "never" }),
  "acl-pubsub-default": oneOf(["allchannels", "resetchannels"], "resetchannels"),
  "acllog-max-len": long(128),
  "enable-protected-configs": oneOf(GUARD, "no", { change: "never" }),
  "enable-debug-command": oneOf(GUARD, "no", { change: "never" }),
  "enable-module-command": oneOf(GUARD, "no", { change: "never" }),

  // ---------------------------------------------------------------------------------------------- memory
  maxmemory: memory(0, { max: 2 ** 64 }),
  "maxmemory-policy": oneOf(
    [
      "volatile-lru",
      "volatile-lfu",
      "volatile-random",
      "volatile-ttl",
      "allkeys-lru",
      "allkeys-lfu",
      "allkeys-random",
      "noeviction",
    ],
    "noeviction",
  ),
  "maxmemory-samples": integer(5, { min: 1 }),
  "maxmemory-eviction-tenacity": integer(10, { max: 100 }),
  "lfu-log-factor": integer(10),
  "lfu-decay-time": integer(1),
  "active-expire-effort": integer(1, { min: 1, max: 10 }),
  "lazyfree-lazy-eviction": bool(false),
  "lazyfree-lazy-expire": bool(false),
  "lazyfree-lazy-server-del": bool(false),
  "lazyfree-lazy-user-del": bool(false),
  "lazyfree-lazy-user-flush": bool(false),
  activedefrag: bool(false),
  "active-defrag-cycle-min": integer(1, { min: 1, max: 99 }),
  "active-defrag-cycle-max": integer(25, { min: 1, max: 99 }),
  "active-defrag-threshold-lower": integer(10, { max: 1000 }),
  "active-defrag-threshold-upper": integer(100, { max: 1000 }),
  "active-defrag-max-scan-fields": long(1000, { min: 1 }),
  "active-defrag-ignore-bytes": memory(100 * MEGABYTE, { min: 1 }),

  // ---------------------------------------------------------------------------------------------- encodings
  "hash-max-listpack-entries": long(512, { alias: "hash-max-ziplist-entries" }),
  "hash-max-listpack-value": memory(64, { alias: "hash-max-ziplist-value" }),
  "set-max-intset-entries": long(512),
  "zset-max-listpack-entries": long(128, { alias: "zset-max-ziplist-entries" }),
  "zset-max-listpack-value": memory(64, { alias: "zset-max-ziplist-value" }),
  "list-max-listpack-size": integer(-2, { min: -2147483648, alias: "list-max-ziplist-size" }),
  "list-compress-depth": integer(0),
  "stream-node-max-bytes": memory(4096),
  "stream-node-max-entries": long(100),
  "hll-sparse-max-bytes": memory(3000),

  // ---------------------------------------------------------------------------------------------- watching
  "slowlog-log-slower-than": long(10000, { min: -1 }),
  "slowlog-max-len": long(128),
  "latency-monitor-threshold": long(0),
  "latency-tracking": bool(true),
  "latency-tracking-info-percentiles": percentiles([50, 99, 99.9]),
  "notify-keyspace-events": events(),
  "tracking-table-max-keys": long(1000000),
  "busy-reply-threshold": long(5000, { alias: "lua-time-limit" }),
  // Ours: ends scripts that have written nothing after so many milliseconds. Hidden, so that lists are Redis's.
  "script-time-limit": long(0, { hidden: true }),
  "lua-enable-deprecated-api": bool(false, { change: "never", hidden: true }),
  // Ours: where Prometheus and probes of health ask; 0 is nowhere.
  "metrics-port": integer(0, { ...PORT, change: "never", hidden: true }),
  "metrics-bind": text("127.0.0.1", { change: "never", hidden: true }),

  // ---------------------------------------------------------------------------------------------- files
  dir: directory(workingFolder(), { change: "protected", notWhileLoading: true }),
  dbfilename: text("dump.rdb", { change: "protected", check: plainName("dbfilename") }),
  save: savePoints([
    { seconds: 3600, changes: 1 },
    { seconds: 300, changes: 100 },
    { seconds: 60, changes: 10000 },
  ]),
  "stop-writes-on-bgsave-error": bool(true),
  rdbcompression: bool(true),
  rdbchecksum: bool(true, { change: "never" }),
  "rdb-del-sync-files": bool(false),
  "rdb-save-incremental-fsync": bool(true),
  "rdb-key-save-delay": integer(0, { min: -2147483648, hidden: true }),
  "key-load-delay": integer(0, { min: -2147483648, hidden: true }),
  "loading-process-events-interval-bytes": integer(2 * MEGABYTE, { min: 1024, hidden: true }),
  "sanitize-dump-payload": oneOf(["no", "yes", "clients"], "no"),
  appendonly: bool(false, { notWhileLoading: true }),
  appendfilename: text("appendonly.aof", { change: "never", check: plainNonEmptyName("appendfilename") }),
  appenddirname: text("appendonlydir", { change: "never", check: plainNonEmptyName("appenddirname") }),
  appendfsync: oneOf(["everysec", "always", "no"], "everysec"),
  "no-appendfsync-on-rewrite": bool(false),
  "auto-aof-rewrite-percentage": integer(100),
  "auto-aof-rewrite-min-size": memory(64 * MEGABYTE),
  "aof-load-truncated": bool(true),
  "aof-use-rdb-preamble": bool(true),
  "aof-timestamp-enabled": bool(false),
  "aof-rewrite-incremental-fsync": bool(true),
  "aof-disable-auto-gc": bool(false),

  // ---------------------------------------------------------------------------------------------- replication
  replicaof: primaryAddress({ alias: "slaveof", change: "never" }),
  masterauth: text("", { secret: true }),
  masteruser: text("", { secret: true }),
  "replica-serve-stale-data": bool(true, { alias: "slave-serve-stale-data" }),
  "replica-read-only": bool(true, { alias: "slave-read-only" }),
  "replica-ignore-maxmemory": bool(true, { alias: "slave-ignore-maxmemory" }),
  "replica-ignore-disk-write-errors": bool(false),
  "replica-lazy-flush": bool(false, { alias: "slave-lazy-flush" }),
  "replica-priority": integer(100, { alias: "slave-priority" }),
  "replica-announced": bool(true),
  "replica-announce-ip": text("", { alias: "slave-announce-ip" }),
  "replica-announce-port": integer(0, { ...PORT, alias: "slave-announce-port" }),
  "repl-timeout": integer(60, { min: 1 }),
  "repl-ping-replica-period": integer(10, { min: 1, alias: "repl-ping-slave-period" }),
  "repl-backlog-size": memory(MEGABYTE, { min: 1 }),
  "repl-backlog-ttl": long(3600),
  "repl-disable-tcp-nodelay": bool(false),
  "repl-diskless-sync": bool(true),
  "repl-diskless-sync-delay": integer(5),
  "repl-diskless-sync-max-replicas": integer(0),
  "repl-diskless-load": oneOf(["disabled", "on-empty-db", "swapdb"], "disabled", { notWhileLoading: true }),
  "min-replicas-to-write": integer(0, { alias: "min-slaves-to-write" }),
  "min-replicas-max-lag": integer(10, { alias: "min-slaves-max-lag" }),
  "propagation-error-behavior": oneOf(["ignore", "panic", "panic-on-replicas"], "ignore"),

  // ---------------------------------------------------------------------------------------------- cluster
  "cluster-enabled": bool(false, { change: "never" }),
  "cluster-config-file": text("nodes.conf", { change: "never" }),
  "cluster-node-timeout": long(15000),
  "cluster-port": integer(0, { ...PORT, change: "never" }),
  "cluster-announce-ip": text(""),
  "cluster-announce-hostname": text("", { check: hostname }),
  "cluster-announce-port": integer(0, PORT),
  "cluster-announce-bus-port": integer(0, PORT),
  "cluster-announce-tls-port": integer(0, PORT),
  "cluster-preferred-endpoint-type": oneOf(["ip", "hostname", "unknown-endpoint"], "ip"),
  "cluster-replica-validity-factor": integer(10, { alias: "cluster-slave-validity-factor" }),
  "cluster-replica-no-failover": bool(false, { alias: "cluster-slave-no-failover" }),
  "cluster-migration-barrier": integer(1),
  "cluster-allow-replica-migration": bool(true),
  "cluster-require-full-coverage": bool(true),
  "cluster-allow-reads-when-down": bool(false),
  "cluster-allow-pubsubshard-when-down": bool(true),
  "cluster-link-sendbuf-limit": memory(0, { max: 2 ** 64 }),
};

export type DirectiveName = keyof typeof DIRECTIVES;

/** Every directive's value, by name. */
export type ConfigValues = {
  -readonly [N in DirectiveName]: (typeof DIRECTIVES)[N] extends Directive<infer T> ? T : never;
};

export const DIRECTIVE_NAMES = keysOf(DIRECTIVES);

/** The same table for code that concerns any row: a name leads to a row for the values of that name. */
const ROWS: { readonly [N in DirectiveName]: Directive<ConfigValues[N]> } = DIRECTIVES;

export function rowOf<N extends DirectiveName>(name: N): Directive<ConfigValues[N]> {
  return ROWS[name];
}

/** Every name and alias in lower case, in the order of the table. */
export const NAMES: ReadonlyMap<string, DirectiveName> = new Map(
  DIRECTIVE_NAMES.flatMap((name) => {
    const { alias } = DIRECTIVES[name];
    const rows: [string, DirectiveName][] = [[name, name]];
    if (alias !== undefined) rows.push([alias, name]);
    return rows;
  }),
);
