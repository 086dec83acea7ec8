/** The servers that a benchmark compares: each on a free port in a temporary folder, stopped by its pid. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The same figures as those of `cinnabar bench`. */
export { median, ratioOf } from "../console/src/commands/bench/figures.ts";

export interface BenchServer {
  readonly name: "cinnabar" | "redis";
  readonly port: number;
  readonly pid: number;
  rssBytes(): number;
  /** Processor time that it has used, in its own code and in the kernel's. */
  cpuMs(): number;
  stop(): Promise<void>;
}

const commandOf = (name: BenchServer["name"], tree: string): readonly [string, ...string[]] =>
  name === "redis" ? ["redis-server"] : [join(tree, "engine/bin/cinnabar-server")];

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
  /** Of another commit. */
  tree = join(import.meta.dirname, ".."),
): Promise<BenchServer> {
  const dir = mkdtempSync(join(tmpdir(), "cinnabar-bench-"));
  const port = await freePort();
  const [command, ...args] = commandOf(name, tree);
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
    cpuMs: () => {
      // Behind the name, which may hold spaces and brackets: fields 3 and on; 14 and 15 are user and system time in ticks of 10 ms.
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return (Number(fields[11]) + Number(fields[12])) * 10;
    },
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
