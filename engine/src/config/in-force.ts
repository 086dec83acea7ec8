/**
 * Directives of Redis that this server cannot put into force.
 *
 * A setting that asks for protection, or for another way of working that clients would notice, is refused with the reason:
 * a server that starts must do what its configuration says. The others change speed or upkeep of parts that do not exist
 * here, so ignoring them harms nobody; they are accepted, kept and shown, and the server names them in its log.
 */
import { keysOf } from "../lib/keys-of.ts";
import { environment } from "../platform/process.ts";
import { type ConfigValues, type DirectiveName, rowOf } from "./directives.ts";
import { BadValue } from "./kinds.ts";

const isDefault = <N extends DirectiveName>(name: N, value: ConfigValues[N]): boolean => {
  const row = rowOf(name);
  return row.format(value) === row.format(row.initial);
};

/** Why a value other than the default is refused, or null where this very value can be in force. */
type Reason = string | ((value: unknown) => string | null);

function supervision(value: unknown): string | null {
  if (value === "auto") {
    if (environment("NOTIFY_SOCKET") === undefined && environment("UPSTART_JOB") === undefined) return null;
  }
  return "this server cannot notify systemd or upstart. Set it to no, and have the supervisor start a simple service (systemd: Type=exec)";
}

/** Settings that are refused unless they have their default. */
export const REFUSED: Readonly<Partial<Record<DirectiveName, Reason>>> = {
  supervised: supervision,
  "syslog-enabled": "syslog is not available in this server. Use logfile, or pipe standard output to logger(1)",
  "lua-enable-deprecated-api":
    "getfenv, setfenv and newproxy are not available to scripts. Pass a table instead of an environment, and use setmetatable on one instead of newproxy",
  "socket-mark-id": "sockets cannot be marked by this server. Mark its traffic by its user or its cgroup instead",
};

const NO_CRASH_REPORT = "V8 writes its own report when the process fails";
const NO_ALLOCATOR = "memory belongs to V8's collector, which compacts by itself";
const LAZY_ALREADY = "memory that is let go of is always reclaimed in the background, by the collector";
const NO_PLACEMENT = "the process is placed from outside, by taskset or cgroups";
const NO_BUS = "the nodes of a Cluster live in one process and share what they know, so there is no cluster bus";
const ONE_THREAD = "commands and sockets are served by one thread";

/** Settings that change nothing here, and why that harms nobody. */
export const INERT: Readonly<Partial<Record<DirectiveName, string>>> = {
  "tls-session-cache-size": "clients keep TLS sessions themselves, as tickets, so there is nothing to bound",
  "io-threads": ONE_THREAD,
  "io-threads-do-reads": ONE_THREAD,
  "syslog-ident": "matters for syslog only, which is refused",
  "syslog-facility": "matters for syslog only, which is refused",
  "crash-log-enabled": NO_CRASH_REPORT,
  "crash-memcheck-enabled": NO_CRASH_REPORT,
  "use-exit-on-panic": NO_CRASH_REPORT,
  "watchdog-period": "the latency monitor and --cpu-prof show what takes long",
  "ignore-warnings": "the warning that it silences, of a kernel fault with fork, is never given",
  hz: "housekeeping runs ten times a second, and what is due earlier has timers of its own",
  "dynamic-hz": "housekeeping runs ten times a second, and what is due earlier has timers of its own",
  activerehashing: "hash tables grow in steps without it",
  "disable-thp": "huge pages cost memory when a process forks, and this one does not",
  "jemalloc-bg-thread": NO_ALLOCATOR,
  server_cpulist: NO_PLACEMENT,
  bio_cpulist: NO_PLACEMENT,
  aof_rewrite_cpulist: NO_PLACEMENT,
  bgsave_cpulist: NO_PLACEMENT,
  "lazyfree-lazy-server-del": LAZY_ALREADY,
  "replica-lazy-flush": LAZY_ALREADY,
  "active-defrag-cycle-min": NO_ALLOCATOR,
  "active-defrag-cycle-max": NO_ALLOCATOR,
  "active-defrag-threshold-lower": NO_ALLOCATOR,
  "active-defrag-threshold-upper": NO_ALLOCATOR,
  "active-defrag-max-scan-fields": NO_ALLOCATOR,
  "active-defrag-ignore-bytes": NO_ALLOCATOR,
  "list-compress-depth": "lists are kept uncompressed, which takes memory but changes no answer",
  "rdb-del-sync-files": "replication makes no files that could stay behind",
  "sanitize-dump-payload": "payloads are always checked in full",
  "loading-process-events-interval-bytes": "a load lets clients have a turn by time, every few milliseconds",
  "aof-use-rdb-preamble": "the base of the append-only file is always a snapshot, which any Redis since 4.0 reads",
  "replica-ignore-disk-write-errors": "a replica goes on and refuses its own writers while its disk fails",
  "repl-disable-tcp-nodelay":
    "the stream is written once per turn of the event loop, so small packets are joined anyway",
  "propagation-error-behavior": "a write that fails on a replica is logged and counted; the process goes on",
  "cluster-announce-tls-port": "clients of a Cluster are told the ports without TLS",
  "cluster-link-sendbuf-limit": NO_BUS,
};

/** A directive's value for these words. Throws a BadValue if they do not fit, or if it could not be in force. */
export function parseInForce<N extends DirectiveName>(
  name: N,
  words: readonly string[],
  current: ConfigValues[N],
): ConfigValues[N] {
  const value = rowOf(name).parse(words, current);
  const reason = REFUSED[name];
  if (reason === undefined || isDefault(name, value)) return value;
  const text = typeof reason === "string" ? reason : reason(value);
  if (text !== null) throw new BadValue(`'${name}' cannot be put into force: ${text}`);
  return value;
}

/** The settings that were given and change nothing, for the log. */
export function inertSettings(values: Readonly<ConfigValues>): DirectiveName[] {
  return keysOf(INERT).filter((name) => !isDefault(name, values[name]));
}
