/** The server as it is shipped, run by Bun and by Deno, as a target of the comparisons. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { vi } from "vitest";
import { bunProgram, denoProgram } from "../../../scripts/runtimes.js";
import { freePort } from "../conformance/redis-server.ts";
import { openWire, type Target, tcpTarget } from "../conformance/target.ts";

const SERVER = join(import.meta.dirname, "../../dist/bin/cinnabar-server.js");

export interface Runtime {
  readonly name: "Bun" | "Deno";
  command(): string[];
}

export const RUNTIMES: readonly Runtime[] = [
  { name: "Bun", command: () => [bunProgram(), SERVER] },
  { name: "Deno", command: () => [denoProgram(), "run", "--allow-all", SERVER] },
];

/** A server of its own on a free port; files go to the folder. */
export async function startOn({ name, command }: Runtime, dir: string): Promise<Target> {
  const port = await freePort();
  const [program, ...args] = command();
  const flags = ["--port", String(port), "--save", "", "--dir", dir, "--enable-debug-command", "yes"];
  const child: ChildProcess = spawn(program!, [...args, ...flags], { stdio: "ignore" });
  await vi.waitFor(async () => (await openWire(port)).close(), { timeout: 20_000, interval: 50 });
  return tcpTarget(name, port, async () => {
    child.kill("SIGKILL");
  });
}
