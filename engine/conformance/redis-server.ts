/**
 * Real servers for tests: on a free port, in a temporary folder, gone afterwards whatever happens. The server runs under a
 * small shell that holds the other end of a pipe: when this process ends, even by SIGKILL, the pipe closes, and the shell
 * stops the server and removes its folder.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The version whose answers count. */
export const YARDSTICK = "7.0.";

let missing: string | null | undefined;

/** Why there is nothing to compare with, in a sentence; undefined when there is. */
export function redisMissing(): string | undefined {
  if (missing === undefined) {
    const run = spawnSync("redis-server", ["--version"], { encoding: "utf8" });
    const version = /\bv=(\S+)/.exec(run.stdout ?? "")?.[1];
    if (version === undefined) missing = "redis-server is not installed (node scripts/ensure-redis.js)";
    else
      missing = version.startsWith(YARDSTICK)
        ? null
        : `redis-server is ${version}, answers are compared with ${YARDSTICK}x`;
  }
  return missing ?? undefined;
}

export const redisAvailable = (): boolean => redisMissing() === undefined;

export interface RealServer {
  readonly port: number;
  readonly folder: string;
  /** What it has logged so far. */
  log(): string;
  /** Stops it, waits until it is gone, and removes its folder. Calling it twice is fine. */
  stop(): Promise<void>;
}

const KEEPER = `
"$@" & pid=$!
exec 3<&0
( cat <&3 >/dev/null 2>&1; kill -TERM $pid 2>/dev/null ) >/dev/null 2>&1 &
wait $pid; code=$?
cd / && rm -rf -- "$FOLDER"
exit $code
`;

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Starts `redis-server` with `args` behind the defaults (no files, loopback, DEBUG allowed), ready when this returns. */
export async function startRedis(args: readonly string[] = []): Promise<RealServer> {
  let failure = "";
  for (let attempt = 0; attempt < 5; attempt++) {
    const server = await launch(await freePort(), args);
    if (typeof server !== "string") return server;
    failure = server;
    // Somebody else may have taken the port in between; anything else will not get better.
    if (!failure.includes("Address already in use")) break;
  }
  throw new Error(`redis-server did not start:\n${failure}`);
}

function launch(port: number, args: readonly string[]): Promise<RealServer | string> {
  const folder = mkdtempSync(join(tmpdir(), "cinnabar-redis-"));
  const defaults = ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", "", "--appendonly", "no"];
  const command = ["redis-server", ...defaults, "--enable-debug-command", "yes", ...args];
  const child = spawn("sh", ["-c", KEEPER, "keeper", ...command], {
    stdio: ["pipe", "pipe", "pipe"],
    // SORT ALPHA follows the locale; the comparison wants bytes.
    env: { ...process.env, LC_ALL: "C", FOLDER: folder },
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let log = "";
  const server: RealServer = {
    port,
    folder,
    log: () => log,
    stop: () => {
      child.ref();
      child.stdin.end();
      return exited;
    },
  };
  return new Promise((resolve) => {
    const timer = setTimeout(() => void server.stop().then(() => resolve(`not ready in 20 s\n${log}`)), 20_000);
    const listen = (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-20_000);
      if (!log.includes("Ready to accept connections")) return;
      clearTimeout(timer);
      resolve(server);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.stdin.on("error", () => {});
    void exited.then(() => {
      clearTimeout(timer);
      child.stdin.end();
      resolve(log);
    });
    // Neither the child nor its pipes keep a finished test run alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as unknown as { unref?(): void }).unref?.();
  });
}
