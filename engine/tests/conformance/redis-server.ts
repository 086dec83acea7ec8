/**
 * Real servers for tests: on a free port, in a temporary folder, gone afterwards whatever happens. The server runs under a
 * small shell that holds the other end of a pipe: when this process ends, even by SIGKILL, the pipe closes, and the shell
 * stops the server and removes its folder.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The version whose answers count. */
export const YARDSTICK = "7.0.";

/** The folder of another server's programs, Valkey's for one, to run the suites with. */
const OTHERS = process.env.SERVER_BIN;

/** The program that runs a real server or sentinel: Redis's on the path, or what SERVER_BIN's folder has under either name. */
export function realProgram(name: "server" | "sentinel" = "server"): string {
  if (OTHERS === undefined) return `redis-${name}`;
  const valkey = join(OTHERS, `valkey-${name}`);
  return existsSync(valkey) ? valkey : join(OTHERS, `redis-${name}`);
}

let installed: string | null | undefined;

/** The version of the real server; undefined where there is none. */
function realVersion(): string | undefined {
  if (installed === undefined) {
    const run = spawnSync(realProgram(), ["--version"], { encoding: "utf8" });
    installed = /\bv=(\S+)/.exec(run.stdout ?? "")?.[1] ?? null;
  }
  return installed ?? undefined;
}

/** Why there is nothing whose answers count word by word; undefined when there is. */
export function yardstickMissing(): string | undefined {
  const version = realVersion();
  if (version === undefined) return "redis-server is not installed (node scripts/ensure-redis.js)";
  return version.startsWith(YARDSTICK) ? undefined : `the server is ${version}, words are compared with ${YARDSTICK}x`;
}

/** Why there is nothing to compare with, in a sentence; undefined when there is. If the user names another server, that one is meant. */
export function redisMissing(): string | undefined {
  return OTHERS !== undefined && realVersion() !== undefined ? undefined : yardstickMissing();
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

let tried = 0;

/**
 * A port that nobody listens on, below those that the system hands out by itself: between our look and the server's start,
 * another test that asks the system for any port cannot be given this one.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + ((process.pid * 37 + tried++ * 101) % 12_000);
    if (await canListen(port)) return port;
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
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
  const command = [realProgram(), ...defaults, "--enable-debug-command", "yes", ...args];
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
  const listen = (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-20_000);
  };
  child.stdout.on("data", listen);
  child.stderr.on("data", listen);
  child.stdin.on("error", () => {});
  const gone = exited.then(() => child.stdin.end());
  return Promise.race([
    gone.then(() => log),
    untilReady(port, gone, () => log).then((ready) => (ready ? server : log)),
  ]).then(async (outcome) => {
    if (typeof outcome === "string") await server.stop();
    // Neither the child nor its pipes keep a finished test run alive.
    child.unref();
    for (const pipe of [child.stdin, child.stdout, child.stderr]) (pipe as unknown as { unref?(): void }).unref?.();
    return outcome;
  });
}

/**
 * The log says when the server is ready. Where it is told to be quiet, an answer on the port does, if the server is still
 * there a while later: it might be another's port, and ours about to give up.
 */
async function untilReady(port: number, gone: Promise<unknown>, log: () => string): Promise<boolean> {
  let stopped = false;
  void gone.then(() => {
    stopped = true;
  });
  let answered = 0;
  for (let attempt = 0; attempt < 1000 && !stopped; attempt++) {
    if (log().includes("Ready to accept connections")) return true;
    if (attempt > 20 && (await answers(port))) answered++;
    if (answered > 20) return !stopped;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    const finish = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.setTimeout(1000, () => finish(false));
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", () => finish(true));
    socket.once("close", () => finish(false));
    socket.once("error", () => finish(false));
  });
}
