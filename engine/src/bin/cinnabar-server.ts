/**
 * cinnabar-server: the store on its own, started as redis-server is.
 *
 *   cinnabar-server [FILE] [--directive value ...]
 *   cinnabar-server --cluster-nodes 6 [--cluster-replicas 1] [--directive value ...]
 *
 * What it is as a process (log, title, pid file, addresses, its end) is in ../process/.
 */
import { closeSync, openSync, readFileSync } from "node:fs";
import { ConfigError } from "../config/config.ts";
import type { ConfigValues } from "../config/directives.ts";
import { ConfigFileError, parseServerArguments } from "../config/file.ts";
import { INERT, inertSettings } from "../config/in-force.ts";
import { userCheck } from "../core/acl/user-check.ts";
import { systemClock } from "../core/clock.ts";
import type { Engine } from "../core/engine.ts";
import { REDIS_VERSION, VERSION } from "../core/version.ts";
import { EmbeddedEngine } from "../embed/embedded.ts";
import { messageOf } from "../lib/caught.ts";
import { serveCluster, takeClusterFlags } from "../process/cluster-server.ts";
import { becomeDaemon, isDaemon } from "../process/daemon.ts";
import { Listeners } from "../process/listeners.ts";
import { Logger } from "../process/logger.ts";
import { serveMetricsAs } from "../process/metrics-server.ts";
import { OomScore } from "../process/oom-score.ts";
import { writePidFile } from "../process/pid-file.ts";
import { Shutdown } from "../process/shutdown.ts";
import { SignalHandlers } from "../process/signal-handlers.ts";
import { processTitle } from "../process/title.ts";

const HELP = `cinnabar-server ${VERSION}: a store with the data types, commands and protocol of Redis ${REDIS_VERSION}

Usage:
  cinnabar-server [FILE] [--directive value ...]
  cinnabar-server - (reads the configuration from standard input)
  cinnabar-server --cluster-nodes 6 [--cluster-replicas 1] --port 7000 (a whole Cluster in one process, for tests)

FILE is a redis.conf. Any of its directives may be given as a flag:
  cinnabar-server --port 7777 --maxmemory 100mb --maxmemory-policy allkeys-lru
  cinnabar-server /etc/redis.conf --loglevel verbose

Listens on 127.0.0.1:6379 unless told otherwise. Files are Redis's own, in --dir: snapshots (dump.rdb) as --save says, and
with --appendonly yes an append-only file. --metrics-port 9121 serves /metrics for Prometheus, /healthz and /readyz on
127.0.0.1, or where --metrics-bind says.

  -h, --help       this text
  -v, --version    the version
`;

function fail(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(1);
}

/** What redis-server shows when it starts, or one line of it: programs that start servers read the port and the pid from it. */
function showLogo(logger: Logger, values: ConfigValues): void {
  const { "always-show-logo": always, logfile: file } = values;
  const port = values.port || values["tls-port"];
  const mode = values["cluster-enabled"] ? "cluster" : "standalone";
  if (!always && !(file === "" && process.stdout.isTTY)) {
    logger.log("notice", `Running mode=${mode}, port=${port}.`);
    return;
  }
  const lines = [
    `   ◆    Cinnabar ${VERSION}`,
    `  ◆◆◆   Redis ${REDIS_VERSION} compatible, ${mode}`,
    ` ◆◆◆◆◆  Port: ${port}`,
    `  ◆◆◆   PID: ${process.pid}`,
    "   ◆",
  ];
  logger.write(`\n${lines.join("\n")}\n\n`);
}

/** The log, once its file is known to be writable. */
function openLog(core: Engine): Logger {
  const { logfile } = core.config.values;
  try {
    if (logfile !== "") closeSync(openSync(logfile, "a"));
  } catch (error) {
    fail(`Can't open the log file: ${messageOf(error)}`);
  }
  return new Logger(core.config.values, () => (core.replication.isReplica ? "S" : "M"));
}

/** Keeps the title that `ps` shows up to date. */
function keepTitle(core: Engine): void {
  const { config } = core;
  const show = () => {
    if (!config.values["set-proc-title"]) return;
    process.title = processTitle("cinnabar-server", config.values, config.file);
  };
  show();
  config.onChange(["proc-title-template", "port", "tls-port", "bind"], show);
}

/** Names settings that were given and change nothing. */
function tellOfInert({ config, log }: Engine): void {
  for (const name of inertSettings(config.values)) log("notice", `'${name}' has no effect here: ${INERT[name]}`);
}

/** Names users that nobody can come in as: often a rule that was forgotten. */
function tellOfDisabled({ acl, log }: Engine): void {
  for (const { name, enabled } of acl.users) {
    if (!enabled) log("notice", `The user '${name}' is disabled: it has no 'on' among its rules`);
  }
}

/** Takes up what nodes.conf says, where this is a node of a Cluster. */
function openNode({ cluster, log }: Engine): void {
  try {
    cluster?.open();
  } catch (error) {
    log("warning", messageOf(error));
    fail(messageOf(error));
  }
}

const PROGRESS_MS = 2000;

/** Loads what is on disk; says now and then how far it is. */
async function load({ persistence, log }: Engine): Promise<void> {
  let told = systemClock.monotonic();
  const onProgress = (loaded: number, total: number) => {
    const now = systemClock.monotonic();
    if (now - told < PROGRESS_MS || total === 0) return;
    told = now;
    log("notice", `Loading: ${Math.floor((loaded / total) * 100)} % of ${total} bytes`);
  };
  try {
    await persistence.open({ lock: false, onProgress });
  } catch (error) {
    log("warning", `Fatal error loading the DB: ${messageOf(error)}`);
    fail(`Fatal error loading the DB: ${messageOf(error)}`);
  }
}

/** Opens the port and the unix socket, as configured, and lets CONFIG SET change the addresses. */
async function listen(engine: EmbeddedEngine): Promise<void> {
  const { core } = engine;
  const { values } = core.config;
  const listeners = new Listeners(engine);
  const addresses = await listeners.start().catch((error: Error) => {
    core.log("warning", error.message);
    fail(error.message);
  });
  core.onListen = (wanted) => listeners.move(wanted);
  for (const { host, port, tls } of addresses) core.log("notice", `Listening on ${host}:${port}${tls ? " (TLS)" : ""}`);
  if (values.unixsocket !== "") {
    await engine.listen({ path: values.unixsocket, mode: values.unixsocketperm }).catch((error: Error) => {
      fail(`Could not listen on ${values.unixsocket}: ${error.message}`);
    });
    core.log("notice", `Listening on ${values.unixsocket}`);
  }
  if (addresses.length === 0 && values.unixsocket === "") {
    fail("Nothing to listen on: port and tls-port are 0 and no unixsocket is set.");
  }
}

async function start(argv: string[]): Promise<void> {
  let stdin = "";
  const cluster = takeClusterFlags(argv);
  const readStdin = () => {
    stdin = readFileSync(0, "latin1");
    return stdin;
  };
  const given = parseServerArguments(cluster?.rest ?? argv, readStdin, userCheck());
  const { file, directives, renamedCommands, users } = given;
  if (directives.daemonize?.toLowerCase() === "yes" && !isDaemon()) {
    becomeDaemon(stdin);
    return;
  }
  if (cluster !== null) {
    await serveCluster(cluster, given);
    return;
  }
  const engine = await EmbeddedEngine.open({ config: directives, renamedCommands, users });
  const { core } = engine;
  const { values } = core.config;
  if (file !== undefined) core.config.file = file;
  const logger = openLog(core);
  core.log = logger.log;
  keepTitle(core);

  core.log("notice", `cinnabar-server ${VERSION} (Redis ${REDIS_VERSION}), pid ${process.pid}`);
  core.log("notice", core.heapGuard.describe());
  const oomScore = new OomScore(core);
  if (!oomScore.apply()) fail("oom-score-adj could not be put into force; the log says why.");

  let removePidFile = () => {};
  const shutdown = new Shutdown(engine, () => removePidFile());
  const signals = new SignalHandlers({
    SIGTERM: () => shutdown.signal("SIGTERM"),
    SIGINT: () => shutdown.signal("SIGINT"),
  });
  // While a script holds the thread no handler runs, and the operator's word is the kernel's to carry out.
  core.onHeld = (held) => (held ? signals.suspend() : signals.resume());
  core.persistence.aof.appender.onFatal = () => process.exit(1);
  openNode(core);
  // Set before anybody can call: commands are answered with LOADING until everything is there.
  core.loading = true;

  await listen(engine);
  await serveMetricsAs(
    values,
    () => [{ name: null, core }],
    (text) => core.log("notice", text),
  );
  removePidFile = writePidFile(core);
  // Programs that start servers wait for this, and then connect.
  showLogo(logger, values);
  tellOfInert(core);
  tellOfDisabled(core);
  core.log("notice", "Server initialized");
  await load(core);
  core.log("notice", "Ready to accept connections");
}

const argv = process.argv.slice(2);
if (argv[0] === "-h" || argv[0] === "--help") process.stdout.write(HELP);
else if (argv[0] === "-v" || argv[0] === "--version") {
  process.stdout.write(`cinnabar-server v=${VERSION} redis=${REDIS_VERSION} node=${process.versions.node}\n`);
} else {
  start(argv).catch((error: unknown) => {
    if (error instanceof ConfigFileError || error instanceof ConfigError) fail(error.message);
    throw error;
  });
}
