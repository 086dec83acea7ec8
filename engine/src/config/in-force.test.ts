/**
 * Every directive works, or is refused, or is listed as harmless with the reason. A new directive belongs into one of the
 * three lists: WORKS below, REFUSED or INERT in in-force.ts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Config, ConfigError } from "./config.ts";
import { DIRECTIVES, type DirectiveName } from "./directives.ts";
import { ConfigFileError, parseConfigText, parseServerArguments } from "./file.ts";
import { INERT, inertSettings, REFUSED } from "./in-force.ts";

const WORKS: readonly DirectiveName[] = [
  "cluster-enabled",
  "cluster-config-file",
  "cluster-node-timeout",
  "cluster-port",
  "cluster-announce-ip",
  "cluster-announce-hostname",
  "cluster-announce-port",
  "cluster-announce-bus-port",
  "cluster-preferred-endpoint-type",
  "cluster-replica-validity-factor",
  "cluster-replica-no-failover",
  "cluster-allow-replica-migration",
  "cluster-migration-barrier",
  "cluster-require-full-coverage",
  "cluster-allow-reads-when-down",
  "cluster-allow-pubsubshard-when-down",
  "port",
  "bind",
  "bind-source-addr",
  "unixsocket",
  "unixsocketperm",
  "tcp-backlog",
  "tcp-keepalive",
  "timeout",
  "protected-mode",
  "maxclients",
  "client-query-buffer-limit",
  "client-output-buffer-limit",
  "proto-max-bulk-len",
  "daemonize",
  "pidfile",
  "loglevel",
  "logfile",
  "databases",
  "always-show-logo",
  "set-proc-title",
  "proc-title-template",
  "oom-score-adj",
  "oom-score-adj-values",
  "shutdown-timeout",
  "shutdown-on-sigint",
  "shutdown-on-sigterm",
  "requirepass",
  "aclfile",
  "acl-pubsub-default",
  "acllog-max-len",
  "enable-protected-configs",
  "enable-debug-command",
  "enable-module-command",
  "maxmemory",
  "maxmemory-policy",
  "maxmemory-samples",
  "maxmemory-eviction-tenacity",
  "maxmemory-clients",
  "lazyfree-lazy-eviction",
  "lazyfree-lazy-expire",
  "lazyfree-lazy-user-del",
  "lazyfree-lazy-user-flush",
  "script-time-limit",
  "lfu-log-factor",
  "lfu-decay-time",
  "active-expire-effort",
  "activedefrag",
  "hash-max-listpack-entries",
  "hash-max-listpack-value",
  "set-max-intset-entries",
  "zset-max-listpack-entries",
  "zset-max-listpack-value",
  "list-max-listpack-size",
  "stream-node-max-bytes",
  "stream-node-max-entries",
  "hll-sparse-max-bytes",
  "slowlog-log-slower-than",
  "slowlog-max-len",
  "latency-monitor-threshold",
  "latency-tracking",
  "latency-tracking-info-percentiles",
  "metrics-port",
  "metrics-bind",
  "notify-keyspace-events",
  "tracking-table-max-keys",
  "busy-reply-threshold",
  "dir",
  "dbfilename",
  "save",
  "stop-writes-on-bgsave-error",
  "rdbcompression",
  "rdbchecksum",
  "rdb-save-incremental-fsync",
  "rdb-key-save-delay",
  "key-load-delay",
  "appendonly",
  "appendfilename",
  "appenddirname",
  "appendfsync",
  "no-appendfsync-on-rewrite",
  "auto-aof-rewrite-percentage",
  "auto-aof-rewrite-min-size",
  "aof-load-truncated",
  "aof-timestamp-enabled",
  "aof-rewrite-incremental-fsync",
  "aof-disable-auto-gc",
  "replicaof",
  "masterauth",
  "masteruser",
  "replica-serve-stale-data",
  "replica-read-only",
  "replica-ignore-maxmemory",
  "replica-priority",
  "replica-announced",
  "replica-announce-ip",
  "replica-announce-port",
  "repl-timeout",
  "repl-ping-replica-period",
  "repl-backlog-size",
  "repl-backlog-ttl",
  "repl-diskless-sync",
  "repl-diskless-sync-delay",
  "repl-diskless-sync-max-replicas",
  "repl-diskless-load",
  "min-replicas-to-write",
  "min-replicas-max-lag",
  "tls-port",
  "tls-cluster",
  "tls-replication",
  "tls-auth-clients",
  "tls-prefer-server-ciphers",
  "tls-session-caching",
  "tls-session-cache-timeout",
  "tls-cert-file",
  "tls-key-file",
  "tls-key-file-pass",
  "tls-client-cert-file",
  "tls-client-key-file",
  "tls-client-key-file-pass",
  "tls-dh-params-file",
  "tls-ca-cert-file",
  "tls-ca-cert-dir",
  "tls-protocols",
  "tls-ciphers",
  "tls-ciphersuites",
];

const SOURCES = fileURLToPath(new URL("..", import.meta.url));

/** All sources but the table of directives and the lists of what is not in force. */
const code = readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
  .filter((file) => !["config/directives.ts", "config/in-force.ts"].includes(file))
  .map((file) => readFileSync(join(SOURCES, file), "utf8"))
  .join("\n");

/** Whether something reads the directive's value. */
const isRead = (name: string): boolean =>
  new RegExp(`"${name}"|(?:values|settings)\\.${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\} = [^;]*values`).test(code);

/** A value other than the default, for a directive that is refused. */
const sampleOf = (name: DirectiveName): string => {
  const { initial } = DIRECTIVES[name];
  if (typeof initial === "boolean") return initial ? "no" : "yes";
  if (typeof initial === "number") return String(initial + 1);
  if (name === "supervised") return "systemd";
  return "/nonexistent";
};

const refusedNames = Object.keys(REFUSED) as DirectiveName[];

test("every directive is in exactly one of the lists", () => {
  const listed = [...WORKS, ...refusedNames, ...Object.keys(INERT)];
  expect(listed.toSorted()).toEqual(Object.keys(DIRECTIVES).toSorted());
});

test("one that works is read somewhere", () => {
  expect(WORKS.filter((name) => !isRead(name))).toEqual([]);
});

describe("a setting that cannot be in force", () => {
  test.each(refusedNames)("%s is refused in a file, as a flag, as an option and by CONFIG SET", (name) => {
    const value = sampleOf(name);
    const reason = `'${name}' cannot be put into force: `;
    expect(() => parseConfigText(`${name} ${value}`)).toThrow(ConfigFileError);
    expect(() => parseServerArguments([`--${name}`, value])).toThrow(reason);
    expect(() => new Config({ [name]: value })).toThrow(ConfigError);
    expect(() => new Config({ [name]: value })).toThrow(reason);
    const refusal = new Config().set([[name, value]], () => true);
    if (DIRECTIVES[name].change === "never") expect(refusal?.text).toBe("can't set immutable config");
    else expect(refusal?.text).toContain(reason);
  });

  test.each(refusedNames)("%s may have its default", (name) => {
    const printed = new Config().format(name);
    expect(() => new Config({ [name]: printed })).not.toThrow();
  });
});

test("supervision that finds no supervisor is none", () => {
  const { NOTIFY_SOCKET, UPSTART_JOB } = process.env;
  delete process.env.NOTIFY_SOCKET;
  delete process.env.UPSTART_JOB;
  try {
    expect(new Config({ supervised: "auto" }).values.supervised).toBe("auto");
    process.env.NOTIFY_SOCKET = "/run/notify";
    expect(() => new Config({ supervised: "auto" })).toThrow("cannot notify systemd");
  } finally {
    delete process.env.NOTIFY_SOCKET;
    if (NOTIFY_SOCKET !== undefined) process.env.NOTIFY_SOCKET = NOTIFY_SOCKET;
    if (UPSTART_JOB !== undefined) process.env.UPSTART_JOB = UPSTART_JOB;
  }
});

test("settings without effect are named only if they were given", () => {
  expect(inertSettings(new Config().values)).toEqual([]);
  expect(inertSettings(new Config({ "io-threads": "4", maxmemory: "1mb" }).values)).toEqual(["io-threads"]);
});
