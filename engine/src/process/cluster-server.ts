/**
 * `cinnabar-server --cluster-nodes 6`: a whole Cluster in this process, for development and tests (embed/engine-cluster.ts).
 *
 * Directives hold for every node. `port` is the first of consecutive ones, 0 takes free ones; the first address of `bind` is
 * where all of them listen. With `dir` each node keeps its files in a folder of its own there; without, data is in memory only.
 */
import { Config } from "../config/config.ts";
import { ConfigFileError, type ServerArguments } from "../config/file.ts";
import { VERSION } from "../core/version.ts";
import { EngineCluster } from "../embed/engine-cluster.ts";
import { Logger } from "./logger.ts";
import { serveMetricsAs } from "./metrics-server.ts";
import { SignalHandlers } from "./signal-handlers.ts";

export interface ClusterFlags {
  readonly nodes: number;
  readonly replicas: number;
  /** The other words. */
  readonly rest: readonly string[];
}

/** From this many nodes on, half of them are replicas unless something else is asked for. */
const ENOUGH_FOR_REPLICAS = 6;

/** What --cluster-nodes and --cluster-replicas ask for; null without the first. */
export function takeClusterFlags(argv: readonly string[]): ClusterFlags | null {
  const rest = [...argv];
  const take = (name: string): number | undefined => {
    const at = rest.indexOf(name);
    if (at < 0) return undefined;
    const [, word = ""] = rest.splice(at, 2);
    if (!/^\d{1,4}$/.test(word)) throw new ConfigFileError(`${name} wants a number, not '${word}'`);
    return Number(word);
  };
  const nodes = take("--cluster-nodes");
  if (nodes === undefined) return null;
  const replicas = take("--cluster-replicas") ?? (nodes >= ENOUGH_FOR_REPLICAS && nodes % 2 === 0 ? 1 : 0);
  if (nodes === 0 || nodes % (replicas + 1) !== 0) {
    throw new ConfigFileError(
      `--cluster-nodes ${nodes} with --cluster-replicas ${replicas}: the nodes must be a multiple of ${replicas + 1}, since each primary has ${replicas} replicas`,
    );
  }
  return { nodes, replicas, rest };
}

/** Directives that are the process's, or that each node has its own of. */
const NOT_OF_NODES = new Set([
  "port",
  "bind",
  "dir",
  "daemonize",
  "pidfile",
  "unixsocket",
  "cluster-config-file",
  "metrics-port",
]);
const METRICS = ["metrics-port", "metrics-bind"];
const REDIS_NODE_TIMEOUT_MS = 15_000;

export async function serveCluster(
  { nodes, replicas }: ClusterFlags,
  { directives, renamedCommands, users }: Pick<ServerArguments, "directives" | "renamedCommands" | "users">,
): Promise<void> {
  const { port = "6379", bind = "127.0.0.1", dir } = directives;
  const config = Object.fromEntries(Object.entries(directives).filter(([name]) => !NOT_OF_NODES.has(name)));
  const [host = "127.0.0.1"] = bind.split(" ").filter((word) => !word.startsWith("-"));
  const cluster = await EngineCluster.open({
    primaries: nodes / (replicas + 1),
    replicas,
    listen: { host: host === "*" ? "0.0.0.0" : host, port: Number(port) },
    nodeTimeoutMs: REDIS_NODE_TIMEOUT_MS,
    config,
    renamedCommands,
    users,
    ...(dir === undefined ? {} : { dir }),
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EADDRINUSE") throw error;
    throw new ConfigFileError(
      `The Cluster needs ${nodes} free ports from ${port} on, choose others with --port: ${error.message}`,
    );
  });
  const { log } = new Logger(cluster.nodes[0]!.engine.core.config.values, () => "M");
  log(
    "notice",
    `cinnabar-server ${VERSION}, a Cluster of ${nodes} nodes for development and tests, pid ${process.pid}`,
  );
  for (const node of cluster.nodes) {
    const { core } = node.engine;
    core.log = (level, text) => log(level, `[${node.port}] ${text}`);
    // One node ends as a server of its own would; with the last one the process has nothing left to do.
    core.onShutdown = () => {
      void cluster.kill(node.index);
      return true;
    };
    log("notice", `Listening on ${node.host}:${node.port} (${node.role})`);
  }
  const end = () => void cluster.close().then(() => process.exit(0));
  const signals = new SignalHandlers({ SIGTERM: end, SIGINT: end });
  for (const { engine } of cluster.nodes) engine.core.onHeld = (held) => (held ? signals.suspend() : signals.resume());
  const watched = () =>
    cluster.nodes.flatMap((node) =>
      node.isRunning ? [{ name: `${node.host}:${node.port}`, core: node.engine.core }] : [],
    );
  const metrics = new Config(
    Object.fromEntries(METRICS.flatMap((name) => (directives[name] === undefined ? [] : [[name, directives[name]]]))),
  );
  await serveMetricsAs(metrics.values, watched, (text) => log("notice", text));
  log("notice", "Ready to accept connections");
}
