/**
 * The servers that suites run on: real Redis processes on free ports of this machine, with their files in temporary folders.
 * Nothing here is shipped.
 *
 * A process outlives the test file that started it only if it is shared (shared.ts); otherwise `stop` ends it, and a watcher
 * does when the run is killed before it gets there.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { accessSync, constants, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** `SERVER_BIN=folder npx vitest run toolkit`: the suites run on the programs there, by Redis's or Valkey's names. */
const SERVER_BIN = process.env.SERVER_BIN;

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Where one of the server's programs is, by Redis's name for it. */
export function programOf(name: string): string {
  if (SERVER_BIN === undefined || !name.startsWith("redis-")) return name;
  const valkey = join(SERVER_BIN, name.replace("redis-", "valkey-"));
  return isExecutable(valkey) ? valkey : join(SERVER_BIN, name);
}

/** Whether a program is installed; suites that need it are skipped without. */
export function installed(program: string): boolean {
  const file = programOf(program);
  if (file !== program) return isExecutable(file);
  const folders = (process.env.PATH ?? "").split(delimiter);
  return folders.some((folder) => isExecutable(join(folder, program)));
}

let tried = 0;

/**
 * A port that nobody uses, below those that the system hands out by itself: a connection that somebody opens meanwhile cannot get
 * it. Cluster nodes also use the one 10 000 above, which is below them too.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + ((process.pid * 41 + tried++ * 103) % 12_000);
    if ((await canListen(port)) && (await canListen(port + 10_000))) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Starts something on a free port; on another one if somebody else has taken that in between. */
async function onFreePort<T>(begin: (port: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    try {
      return await begin(port);
    } catch (error) {
      // What does not start for another reason does not start on another port either.
      if (attempt === 3 || !(error instanceof EndedEarly)) throw error;
    }
  }
}

class EndedEarly extends Error {
  constructor(port: number) {
    super(`the server on port ${port} ended before it answered`);
  }
}

/** In the folder of the test run where there is one, which goes with the run whatever becomes of the server. */
function newFolder(what: string): string {
  const run = process.env.CINNABAR_TEST_RUN;
  const parent = run === undefined ? tmpdir() : join(run, "servers");
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, `cinnabar-${what}-`));
}

export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  readonly url: string;
  /** Ends it at once, as a crash does; `stop` cleans up afterwards. */
  kill(): Promise<void>;
  /** Stands still, as a machine that swaps or a network that swallows does. */
  pause(): void;
  resume(): void;
  /** The same again after `kill`, on the same port, with the files that are there. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface StartOptions {
  /** Further words for the command line. */
  readonly args?: readonly string[];
  /** Keeps running when this process ends: for shared ones, which are ended by their owner. */
  readonly detached?: boolean;
  readonly port?: number;
}

export async function startRedis(options: StartOptions = {}): Promise<ServerProcess> {
  const begin = (port: number): Promise<ServerProcess> => {
    const dir = newFolder("redis");
    const args = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--daemonize", "no"];
    return run(programOf("redis-server"), [...args, ...(options.args ?? [])], port, dir, options.detached === true);
  };
  return options.port === undefined ? onFreePort(begin) : begin(options.port);
}

async function run(
  program: string,
  args: readonly string[],
  port: number,
  dir: string,
  detached: boolean,
): Promise<ServerProcess> {
  let child = start(program, args, dir, detached);
  await answering(port, child);
  const gone = (): Promise<void> =>
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise((resolve) => void child.once("exit", () => resolve()));
  const server: ServerProcess = {
    port,
    get pid() {
      return child.pid!;
    },
    url: `redis://127.0.0.1:${port}`,
    kill: async () => {
      child.kill("SIGKILL");
      await gone();
    },
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    restart: async () => {
      await server.kill();
      child = start(program, args, dir, detached);
      await answering(port, child);
    },
    stop: async () => {
      await server.kill();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return server;
}

function start(program: string, args: readonly string[], dir: string, detached: boolean): ChildProcess {
  const child = spawn(program, args, { stdio: "ignore", detached });
  if (detached) child.unref();
  if (child.pid !== undefined) endWith(owner(), [child.pid], [dir]);
  return child;
}

/** Who the servers belong to: the whole test run where there is one. */
export function owner(): number {
  return Number(process.env.CINNABAR_TEST_OWNER ?? process.pid);
}

/**
 * Ends processes when another one is gone, however that came. A small shell, since it must not die with the run; it ends
 * itself with the last of them.
 */
export function endWith(ownerPid: number, pids: readonly number[], dirs: readonly string[] = []): void {
  const list = pids.join(" ");
  const script = `
    while kill -0 ${ownerPid} 2>/dev/null; do
      alive=; for p in ${list}; do kill -0 $p 2>/dev/null && alive=1; done
      [ -n "$alive" ] || exit 0
      sleep 2
    done
    kill -9 ${list} 2>/dev/null
    rm -rf "$@"
  `;
  spawn("sh", ["-c", script, "sh", ...dirs], { stdio: "ignore", detached: true }).unref();
}

/** Resolves when the server answers. */
async function answering(port: number, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new EndedEarly(port);
    if (await answers(port, child.pid!)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Whether this process answers there, and not another one that was quicker. One that wants a password does not say who it is. */
function answers(port: number, pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    let text = "";
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
    socket.on("data", (data) => {
      text += data.toString("latin1");
      const [, told, ping] = /process_id:(\d+)\r\n.*\r\n([+-].*)\r\n$/s.exec(text) ?? [];
      if (text.startsWith("-")) end(true);
      else if (told !== undefined) end(Number(told) === pid && !ping!.startsWith("-LOADING"));
    });
    socket.write("INFO server\r\nPING\r\n");
  });
}

// -------------------------------------------------------------------------------------------------- cluster

export interface ClusterProcesses {
  readonly nodes: readonly ServerProcess[];
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Three primaries (the first three nodes) with a replica each, or without. Takes some seconds; a dead node is noticed after one.
 */
export async function startCluster(
  options: { readonly detached?: boolean; readonly replicas?: 0 | 1 } = {},
): Promise<ClusterProcesses> {
  const { replicas = 1, ...rest } = options;
  const size = 3 * (1 + replicas);
  const nodes: ServerProcess[] = [];
  const args = ["--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-config-file", "nodes.conf"];
  for (let count = 0; count < size; count++) {
    nodes.push(await startRedis({ args: [...args, "--repl-diskless-sync-delay", "0"], ...rest }));
  }
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  const created = spawnSync(
    programOf("redis-cli"),
    ["--cluster", "create", ...addresses, "--cluster-replicas", String(replicas), "--cluster-yes"],
    { encoding: "utf8" },
  );
  if (created.status !== 0) {
    await Promise.all(nodes.map((node) => node.stop()));
    throw new Error(`the cluster was not created: ${created.stdout}${created.stderr}`);
  }
  for (const node of nodes) await clusterIsUp(node.port, size, replicas);
  return {
    nodes,
    url: `redis+cluster://${addresses.slice(0, 3).join(",")}`,
    stop: async () => void (await Promise.all(nodes.map((node) => node.stop()))),
  };
}

/** Every node knows all slots and all nodes, and replicas follow their primaries. */
async function clusterIsUp(port: number, size: number, replicas: number): Promise<void> {
  for (;;) {
    const info = cli(port, "CLUSTER", "INFO");
    const replication = cli(port, "INFO", "replication");
    const followed = /role:master/.test(replication)
      ? new RegExp(`connected_slaves:${replicas}`).test(replication)
      : /master_link_status:up/.test(replication);
    if (/cluster_state:ok/.test(info) && new RegExp(`cluster_known_nodes:${size}\\b`).test(info) && followed) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export function cli(port: number, ...words: string[]): string {
  return spawnSync(programOf("redis-cli"), ["-p", String(port), ...words], { encoding: "utf8" }).stdout.trim();
}

// -------------------------------------------------------------------------------------------------- sentinel

export interface SentinelProcesses {
  readonly primary: ServerProcess;
  readonly replicas: readonly ServerProcess[];
  readonly sentinels: readonly ServerProcess[];
  readonly url: string;
  stop(): Promise<void>;
}

/** One primary named "main" with two replicas, watched by three sentinels that act after half a second. */
export async function startSentinel(options: { readonly detached?: boolean } = {}): Promise<SentinelProcesses> {
  const quick = ["--repl-diskless-sync-delay", "0"];
  const primary = await startRedis({ args: quick, ...options });
  const following = [...quick, "--replicaof", "127.0.0.1", String(primary.port)];
  const replicas = [
    await startRedis({ args: following, ...options }),
    await startRedis({ args: following, ...options }),
  ];
  while (!/connected_slaves:2/.test(cli(primary.port, "INFO", "replication"))) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const sentinels: ServerProcess[] = [];
  for (let count = 0; count < 3; count++)
    sentinels.push(await startOneSentinel(primary.port, options.detached === true));
  for (const { port } of sentinels) await sentinelKnowsAll(port);
  const all = [primary, ...replicas, ...sentinels];
  return {
    primary,
    replicas,
    sentinels,
    url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",")}/main`,
    stop: async () => void (await Promise.all(all.map((each) => each.stop()))),
  };
}

/** `more`: further lines of its configuration. */
export async function startOneSentinel(
  primaryPort: number,
  detached: boolean,
  more: readonly string[] = [],
): Promise<ServerProcess> {
  return onFreePort((port) => {
    const dir = newFolder("sentinel");
    const lines = [
      `port ${port}`,
      "bind 127.0.0.1",
      `dir ${dir}`,
      `sentinel monitor main 127.0.0.1 ${primaryPort} 2`,
      "sentinel down-after-milliseconds main 500",
      "sentinel failover-timeout main 3000",
      "sentinel parallel-syncs main 2",
      ...more,
    ];
    writeFileSync(join(dir, "sentinel.conf"), `${lines.join("\n")}\n`);
    return run(programOf("redis-sentinel"), [join(dir, "sentinel.conf")], port, dir, detached);
  });
}

async function sentinelKnowsAll(port: number): Promise<void> {
  for (;;) {
    const about = cli(port, "SENTINEL", "MASTER", "main").split("\n");
    const field = (name: string): string => about[about.indexOf(name) + 1] ?? "";
    if (field("num-slaves") === "2" && field("num-other-sentinels") === "2") return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/**
 * Makes a call while a server is no primary, and the server a primary again as soon as it has refused the command once: what a call
 * meets during a failover. The command is named in lower case.
 */
export async function whileReadOnly<T>({ port }: ServerProcess, command: string, call: () => Promise<T>): Promise<T> {
  cli(port, "REPLICAOF", "127.0.0.1", "1");
  const called = call();
  const refused = new RegExp(`cmdstat_${command}:calls=\\d+.*rejected_calls=[1-9]`);
  while (!refused.test(cli(port, "INFO", "commandstats"))) await new Promise((resolve) => setTimeout(resolve, 10));
  cli(port, "REPLICAOF", "NO", "ONE");
  return called;
}
