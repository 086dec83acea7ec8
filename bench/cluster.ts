/**
 * A Cluster of six nodes, three of them replicas: how long until every slot is served and every replica follows, and what it
 * takes. Ours in one process, as a server and opened by a program that runs already; six redis-servers made one by redis-cli.
 */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EngineCluster } from "@cinnabar/engine";
import { type BenchServer, median, run, startServer } from "./servers.ts";

export interface ClusterRow {
  readonly what: string;
  readonly startMs: number;
  readonly memoryBytes: number;
}

const NODES = 6;
const PROGRAM = join(import.meta.dirname, "../engine/bin/cinnabar-server.js");
const FLAGS = ["--cluster-enabled", "yes", "--repl-diskless-sync-delay", "0"];

const rssOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1024;

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

/** Opened inside this process; what the resident set grows by. */
async function inThisProcess(): Promise<ClusterRow> {
  const before = process.memoryUsage().rss;
  const started = performance.now();
  const cluster = await EngineCluster.open();
  const startMs = performance.now() - started;
  const memoryBytes = Math.max(0, process.memoryUsage().rss - before);
  await cluster.close();
  return { what: "EngineCluster.open() in a program that runs", startMs, memoryBytes };
}

async function asServer(): Promise<ClusterRow> {
  const started = performance.now();
  const child = spawn(process.execPath, [PROGRAM, "--cluster-nodes", String(NODES), "--port", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise((resolve) => child.once("exit", resolve));
  let log = "";
  child.stdout.on("data", (chunk: Buffer) => {
    log += String(chunk);
  });
  while (!log.includes("Ready to accept connections")) await pause();
  const startMs = performance.now() - started;
  const memoryBytes = rssOf(child.pid!);
  child.kill("SIGTERM");
  await exited;
  return { what: "cinnabar-server --cluster-nodes 6", startMs, memoryBytes };
}

function isUp({ port }: BenchServer): boolean {
  const about = run("redis-cli", ["-p", String(port), "CLUSTER", "INFO"]);
  const replication = run("redis-cli", ["-p", String(port), "INFO", "replication"]);
  return about.includes("cluster_state:ok") && /connected_slaves:1|master_link_status:up/.test(replication);
}

async function redisServers(): Promise<ClusterRow> {
  const started = performance.now();
  const servers = await Promise.all(Array.from({ length: NODES }, () => startServer("redis", FLAGS)));
  const addresses = servers.map(({ port }) => `127.0.0.1:${port}`);
  run("redis-cli", ["--cluster", "create", ...addresses, "--cluster-replicas", "1", "--cluster-yes"]);
  while (!servers.every(isUp)) await pause();
  const startMs = performance.now() - started;
  const memoryBytes = servers.reduce((sum, server) => sum + server.rssBytes(), 0);
  await Promise.all(servers.map((server) => server.stop()));
  return { what: "six redis-servers and redis-cli --cluster create", startMs, memoryBytes };
}

export async function compareClusters(quick: boolean): Promise<ClusterRow[]> {
  const ways = [inThisProcess, asServer, redisServers];
  const measured: ClusterRow[][] = ways.map(() => []);
  for (let round = 0; round < (quick ? 1 : 3); round++) {
    for (const [i, measure] of ways.entries()) measured[i]!.push(await measure());
  }
  return measured.map((rows) => ({
    what: rows[0]!.what,
    startMs: median(rows.map(({ startMs }) => startMs)),
    // A program that has opened one before has room from then.
    memoryBytes: Math.max(...rows.map(({ memoryBytes }) => memoryBytes)),
  }));
}

export function clusterTable(rows: readonly ClusterRow[]): string {
  return [
    "**A Cluster of six nodes**, empty: until all slots are served and all replicas follow",
    "",
    "| Cluster | start, ms | resident memory, MB |",
    "| --- | ---: | ---: |",
    ...rows.map(
      ({ what, startMs, memoryBytes }) => `| ${what} | ${Math.round(startMs)} | ${Math.round(memoryBytes / 1e6)} |`,
    ),
  ].join("\n");
}
