/** The servers that a benchmark compares: each on a free port in a temporary folder, stopped by its pid. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface BenchServer {
  readonly name: "cinnabar" | "redis";
  readonly port: number;
  readonly pid: number;
  rssBytes(): number;
  stop(): Promise<void>;
}

const COMMANDS = {
  cinnabar: [process.execPath, join(import.meta.dirname, "../engine/bin/cinnabar-server.js")],
  redis: ["redis-server"],
} as const;

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

async function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("data", () => socket.destroy());
    socket.once("error", () => resolve(false));
    socket.once("close", (failed) => resolve(!failed));
    socket.write("PING\r\n");
  });
}

export async function startServer(
  name: BenchServer["name"],
  flags: string[] = [],
  environment: Record<string, string> = {},
): Promise<BenchServer> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-bench-"));
  const port = await freePort();
  const [command, ...args] = COMMANDS[name];
  const child: ChildProcess = spawn(
    command,
    [...args, "--port", String(port), "--dir", dir, "--save", "", "--bind", "127.0.0.1", ...flags],
    { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, ...environment } },
  );
  const killed = () => child.kill("SIGKILL");
  process.once("exit", killed);
  for (let tries = 0; !(await answers(port)); tries++) {
    if (tries > 100 || child.exitCode !== null) throw new Error(`${name} did not start`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    name,
    port,
    pid: child.pid!,
    rssBytes: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))![1]) * 1024,
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => {
          process.off("exit", killed);
          rmSync(dir, { recursive: true, force: true });
          resolve();
        });
        child.kill("SIGTERM");
      }),
  };
}

/** Runs a program and returns what it printed. */
export function run(command: string, args: string[]): string {
  return execFileSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "ignore"] });
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
