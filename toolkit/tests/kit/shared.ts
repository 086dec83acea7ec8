/**
 * Servers that are shared by the files of a test run, since starting them takes long: a Redis and a Cluster for each worker
 * (files of one worker run one after the other, so each may empty them), and the process that runs our own servers. They are
 * started by the first who asks, noted in the run's folder, and ended with the run.
 */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { nodeWords } from "../../../scripts/program.ts";
import { cli, endWith, owner, startCluster, startRedis } from "./servers.ts";

interface Noted {
  readonly url: string;
  readonly ports: readonly number[];
  readonly pids: readonly number[];
}

/** The folder of the run: made by global-setup.ts; without that, by this process. */
function runFolder(): string {
  process.env.CINNABAR_TEST_RUN ??= mkdtempSync(join(tmpdir(), "cinnabar-run-"));
  const folder = join(process.env.CINNABAR_TEST_RUN, process.env.VITEST_POOL_ID ?? "0");
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function shared(name: string, start: () => Promise<Noted>): Promise<Noted> {
  const file = join(runFolder(), `${name}.json`);
  if (existsSync(file)) {
    const noted = JSON.parse(readFileSync(file, "utf8")) as Noted;
    if (noted.pids.every(isAlive)) return noted;
  }
  const noted = await start();
  writeFileSync(file, JSON.stringify(noted));
  return noted;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function sharedRedis(): Promise<Noted> {
  return shared("redis", async () => {
    const server = await startRedis({ detached: true });
    return { url: server.url, ports: [server.port], pids: [server.pid] };
  });
}

export function sharedCluster(): Promise<Noted> {
  return shared("cluster", async () => {
    const { nodes, url } = await startCluster({ detached: true });
    return { url, ports: nodes.map(({ port }) => port), pids: nodes.map(({ pid }) => pid) };
  });
}

/** As it was in the beginning: no keys, no scripts, default settings of what suites change. */
export function cleanSlate(ports: readonly number[]): void {
  for (const port of ports) {
    cli(port, "FLUSHALL");
    cli(port, "SCRIPT", "FLUSH");
  }
}

export interface OwnServer {
  readonly url: string;
  /** One, or those of a Cluster's nodes. */
  readonly ports: readonly number[];
  close(): void;
}

/** Has the process that all of our own servers share open something; answers with its ports. */
async function askFarm(what: "open" | "cluster"): Promise<Omit<OwnServer, "url">> {
  const farm = await shared("farm", startFarm);
  const socket = connect({ host: "127.0.0.1", port: farm.ports[0]! });
  const ports = await new Promise<number[]>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("data", (data) => resolve(data.toString("latin1").trim().split(" ").map(Number)));
    socket.write(`${what}\n`);
  });
  socket.on("error", () => {});
  socket.unref();
  return { ports, close: () => void socket.destroy() };
}

/** A fresh server of our own. */
export async function ownServer(): Promise<OwnServer> {
  const server = await askFarm("open");
  return { ...server, url: `redis://127.0.0.1:${server.ports[0]}` };
}

/** A fresh Cluster of our own: three primaries with a replica each, all in one process. */
export async function ownCluster(): Promise<OwnServer> {
  const server = await askFarm("cluster");
  return { ...server, url: `redis+cluster://${server.ports.map((port) => `127.0.0.1:${port}`).join(",")}` };
}

async function startFarm(): Promise<Noted> {
  const program = join(dirname(fileURLToPath(import.meta.url)), "farm.ts");
  const args = [...nodeWords(program), String(owner())];
  // The environment of a test is not that of a server.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("VITEST")));
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], detached: true, env });
  const port = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => reject(new Error("the process for our own servers ended")));
    child.stdout.once("data", (data: Buffer) => resolve(Number(data.toString("latin1"))));
  });
  child.stdout.destroy();
  child.unref();
  endWith(owner(), [child.pid!]);
  return { url: "", ports: [port], pids: [child.pid!] };
}
