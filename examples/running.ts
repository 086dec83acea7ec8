/** Examples as the tests run them: in processes of their own, on a store in the process and on a Redis. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe } from "vitest";
import { full } from "../scripts/full.ts";
import { type ServerProcess, startRedis } from "../toolkit/tests/kit/servers.ts";

const ARGS = ["--import", "tsx"];

/** `STORE` of the suite's example: the embedded store, or a redis-server of the suite's own. */
export function describeStores(name: string, suite: (env: () => { readonly STORE: string }) => void): void {
  describe(`${name} on the embedded store`, () => suite(() => ({ STORE: "memory:" })));
  describe.runIf(full)(`${name} on Redis`, () => {
    let redis: ServerProcess;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());
    suite(() => ({ STORE: `redis://127.0.0.1:${redis.port}` }));
  });
}

/** What an example prints until it ends. */
export async function printed(file: string, env: Readonly<Record<string, string>>): Promise<string[]> {
  const options = { cwd: import.meta.dirname, env: { ...process.env, ...env }, timeout: 50_000 };
  const { stdout } = await promisify(execFile)(process.execPath, [...ARGS, join(import.meta.dirname, file)], options);
  return stdout.trimEnd().split("\n");
}

export interface Running {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts an example that serves, on a free port; its first line is its address. */
export async function started(file: string, env: Readonly<Record<string, string>>): Promise<Running> {
  const child = spawn(process.execPath, [...ARGS, join(import.meta.dirname, file)], {
    cwd: import.meta.dirname,
    env: { ...process.env, PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const url = await firstAddress(child);
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGTERM");
    });
  return { url, stop };
}

function firstAddress(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = "";
    const heard = (chunk: Buffer): void => {
      said += chunk;
      const [url] = /http:\/\/\S+/.exec(said) ?? [];
      if (url !== undefined && said.includes("\n")) resolve(url);
    };
    child.stdout!.on("data", heard);
    child.stderr!.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    child.once("exit", (code) => reject(new Error(`the example ended with ${code}: ${said}`)));
  });
}
