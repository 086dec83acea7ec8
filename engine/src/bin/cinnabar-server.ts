/**
 * cinnabar-server: the store on its own, started as redis-server is.
 *
 *   cinnabar-server [FILE] [--directive value ...]
 */
import { appendFileSync } from "node:fs";
import { systemClock } from "../clock.ts";
import { ConfigFileError, parseServerArguments } from "../config/file.ts";
import type { ShutdownWord } from "../config/special.ts";
import { EmbeddedEngine } from "../embedded.ts";
import type { Engine, ShutdownRequest } from "../engine.ts";
import type { Address } from "../net/server.ts";
import { REDIS_VERSION, VERSION } from "../version.ts";

const HELP = `cinnabar-server ${VERSION}: a store with the data types, commands and protocol of Redis ${REDIS_VERSION}

Usage:
  cinnabar-server [FILE] [--directive value ...]
  cinnabar-server - (reads the configuration from standard input)

FILE is a redis.conf. Any of its directives may be given as a flag:
  cinnabar-server --port 7777 --maxmemory 100mb --maxmemory-policy allkeys-lru
  cinnabar-server /etc/redis.conf --loglevel verbose

Listens on 127.0.0.1:6379 unless told otherwise. Files are Redis's own, in --dir: snapshots (dump.rdb) as --save says, and
with --appendonly yes an append-only file.

  -h, --help       this text
  -v, --version    the version
`;

/** Redis's signs for the levels of its log. */
const SIGNS = { debug: ".", verbose: "-", notice: "*", warning: "#" } as const;
type Level = keyof typeof SIGNS;
const LEVELS = Object.keys(SIGNS) as Level[];

/** Writes log lines of at least this level to standard output or a file. */
function logger(least: Level, file: string, role: () => "M" | "S"): (level: Level, text: string) => void {
  return (level, text) => {
    if (LEVELS.indexOf(level) < LEVELS.indexOf(least)) return;
    const time = new Date(systemClock.now()).toISOString().replace("T", " ").slice(0, 23);
    const line = `${process.pid}:${role()} ${time} ${SIGNS[level]} ${text}\n`;
    if (file === "") process.stdout.write(line);
    else appendFileSync(file, line);
  };
}

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** What redis-server shows when it starts, or one line of it: programs that start servers read the port and the pid from it. */
function showLogo(log: (level: Level, text: string) => void, always: boolean, file: string, port: number): void {
  if (!always && !(file === "" && process.stdout.isTTY)) {
    log("notice", `Running mode=standalone, port=${port}.`);
    return;
  }
  const lines = [
    `   ◆    Cinnabar ${VERSION}`,
    `  ◆◆◆   Redis ${REDIS_VERSION} compatible, standalone`,
    ` ◆◆◆◆◆  Port: ${port}`,
    `  ◆◆◆   PID: ${process.pid}`,
    "   ◆",
  ];
  const text = `\n${lines.join("\n")}\n\n`;
  if (file === "") process.stdout.write(text);
  else appendFileSync(file, text);
}

/** A bind address as Node takes it; a leading dash means that it may be missing on this machine. */
function bindAddress(word: string): { host: string; optional: boolean } {
  const optional = word.startsWith("-");
  const address = optional ? word.slice(1) : word;
  return { host: address === "*" ? "0.0.0.0" : address === "::*" ? "::" : address, optional };
}

async function listenTcp(engine: EmbeddedEngine): Promise<Address[]> {
  const { values } = engine.core.config;
  const addresses: Address[] = [];
  if (values.port === 0) return addresses;
  for (const word of values.bind) {
    const { host, optional } = bindAddress(word);
    try {
      addresses.push(await engine.listen({ host, port: values.port, backlog: values["tcp-backlog"] }));
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (optional && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT")) continue;
      const reason = code === "EADDRINUSE" ? "the port is taken, choose another with --port" : message;
      const text = `Failed listening on port ${values.port} (tcp) of ${host}: ${reason}`;
      engine.core.log("warning", text);
      fail(text);
    }
  }
  return addresses;
}

/** What a signal asks for, by shutdown-on-sigterm and its like. */
const requestOf = (words: readonly ShutdownWord[]): ShutdownRequest => ({
  save: words.includes("save") ? true : words.includes("nosave") ? false : undefined,
  now: words.includes("now"),
  force: words.includes("force"),
});

const PROGRESS_MS = 2000;

/** Loads what is on disk; says now and then how far it is. */
async function load(core: Engine, log: (level: Level, text: string) => void): Promise<void> {
  let told = systemClock.monotonic();
  const onProgress = (loaded: number, total: number) => {
    const now = systemClock.monotonic();
    if (now - told < PROGRESS_MS || total === 0) return;
    told = now;
    log("notice", `Loading: ${Math.floor((loaded / total) * 100)} % of ${total} bytes`);
  };
  try {
    await core.persistence.open({ lock: false, onProgress });
  } catch (error) {
    log("warning", `Fatal error loading the DB: ${(error as Error).message}`);
    fail(`Fatal error loading the DB: ${(error as Error).message}`);
  }
}

async function start(argv: string[]): Promise<void> {
  const { file, directives } = parseServerArguments(argv);
  const engine = await EmbeddedEngine.open({ config: directives });
  const { core } = engine;
  const { values } = core.config;
  if (file !== undefined) core.config.file = file;
  const log = logger(values.loglevel, values.logfile, () => (core.replication.isReplica ? "S" : "M"));
  core.log = log;
  process.title = `cinnabar-server ${values.bind[0] ?? "*"}:${values.port}`;

  log("notice", `cinnabar-server ${VERSION} (Redis ${REDIS_VERSION}), pid ${process.pid}`);
  showLogo(log, values["always-show-logo"], values.logfile, values.port);

  let stopping = false;
  const stop = (why: string, request: ShutdownRequest): boolean | Promise<boolean> => {
    if (stopping) return true;
    log("warning", why);
    if (core.loading) process.exit(0);
    const waiting = request.now ? null : core.replication.handover.begin();
    return waiting === null ? finish(request) : waiting.then((outcome) => outcome !== "aborted" && finish(request));
  };
  const finish = ({ save, force }: ShutdownRequest): boolean => {
    if (!core.persistence.shutdown(save, force)) {
      core.pause.end();
      return false;
    }
    stopping = true;
    void engine.close().then(() => {
      log("warning", "Bye.");
      process.exitCode = 0;
    });
    return true;
  };
  process.on("SIGTERM", () => stop("Received SIGTERM, shutting down", requestOf(values["shutdown-on-sigterm"])));
  process.on("SIGINT", () => stop("Received SIGINT, shutting down", requestOf(values["shutdown-on-sigint"])));
  core.onShutdown = (request) => {
    // While a script holds the thread nothing would ever come to an end.
    if (core.scripts.running !== null) process.exit(0);
    return stop("User requested shutdown", request);
  };
  core.persistence.aof.appender.onFatal = () => process.exit(1);
  // Set before anybody can call: commands are answered with LOADING until everything is there.
  core.loading = true;

  const addresses = await listenTcp(engine);
  for (const { host, port } of addresses) log("notice", `Listening on ${host}:${port}`);
  if (values.unixsocket !== "") {
    await engine.listen({ path: values.unixsocket, mode: values.unixsocketperm }).catch((error: Error) => {
      fail(`Could not listen on ${values.unixsocket}: ${error.message}`);
    });
    log("notice", `Listening on ${values.unixsocket}`);
  }
  if (addresses.length === 0 && values.unixsocket === "")
    fail("Nothing to listen on: port is 0 and no unixsocket is set.");
  await load(core, log);
  log("notice", "Ready to accept connections");
}

const argv = process.argv.slice(2);
if (argv[0] === "-h" || argv[0] === "--help") process.stdout.write(HELP);
else if (argv[0] === "-v" || argv[0] === "--version") {
  process.stdout.write(`cinnabar-server v=${VERSION} redis=${REDIS_VERSION} node=${process.versions.node}\n`);
} else {
  start(argv).catch((error: unknown) => {
    if (error instanceof ConfigFileError) fail(error.message);
    throw error;
  });
}
