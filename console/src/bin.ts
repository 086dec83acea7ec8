/**
 * `cinnabar`: opens the store and tells how to reach it.
 *
 *   cinnabar [start] [--dir ./data | --memory] [--port 6379] [--host 127.0.0.1] [--password P]
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Address, Engine } from "@cinnabar/engine";

const VERSION = "0.1.0";
const DEFAULT_PORT = 6379;
/** How many ports to try when the usual one is taken. */
const TRIES = 100;

const HELP = `cinnabar ${VERSION}: a store with Redis's data types and commands

Usage: cinnabar [start] [options]

  --dir FOLDER     folder to keep the data in (default ./data)
  --memory         keep nothing on disk
  --port N         port to listen on (default ${DEFAULT_PORT}; the next free one if that is taken)
  --host ADDRESS   address to listen on (default 127.0.0.1); others than loopback need --password
  --password P     password that clients must give
  -h, --help       this text
  -v, --version    the version
`;

function fail(text: string): never {
  process.stderr.write(`cinnabar: ${text}\nTry \`cinnabar --help\`.\n`);
  process.exit(1);
}

function readOptions(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      allowPositionals: true,
      options: {
        dir: { type: "string" },
        memory: { type: "boolean", default: false },
        port: { type: "string" },
        host: { type: "string", default: "127.0.0.1" },
        password: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", short: "v", default: false },
      },
    });
  } catch (error) {
    return fail((error as Error).message.split("\n")[0]!.split(". To")[0]!);
  }
}

function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) fail(`--port takes a number from 0 to 65535, not '${text}'`);
  return port;
}

const isLoopback = (host: string) => host === "localhost" || host === "::1" || host.startsWith("127.");

/** Listens on the port, or on the next free one unless it was asked for by number. */
async function listen(engine: Engine, host: string, wanted: number | undefined): Promise<Address> {
  const first = wanted ?? DEFAULT_PORT;
  for (let port = first; ; port++) {
    try {
      return await engine.listen({ host, port });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE") fail(`cannot listen on ${host}:${port}: ${message}`);
      if (wanted !== undefined) fail(`port ${port} is taken; choose another with --port`);
      if (port === first + TRIES) fail(`ports ${first} to ${port} are all taken`);
    }
  }
}

/** Opens the store, and says how a long load gets on. */
async function openStore(dir: string | undefined, config: Record<string, string>): Promise<Engine> {
  const terminal = process.stdout.isTTY;
  let shown = -1;
  const onProgress = (loaded: number, total: number) => {
    const percent = total === 0 ? 0 : Math.floor((loaded / total) * 100);
    if (percent === shown || !terminal) return;
    shown = percent;
    process.stdout.write(`\rLoading ${dir}: ${percent} %`);
  };
  try {
    return await Engine.open(dir === undefined ? { config } : { dir, config, onProgress });
  } catch (error) {
    return fail((error as Error).message);
  } finally {
    if (shown >= 0) process.stdout.write("\r\x1b[K");
  }
}

async function start(options: {
  host: string;
  dir?: string | undefined;
  memory: boolean;
  port?: string | undefined;
  password?: string | undefined;
}): Promise<void> {
  const { host, password } = options;
  if (!isLoopback(host) && password === undefined)
    fail(`--host ${host} opens the store to other machines: give a --password`);
  if (options.memory && options.dir !== undefined) fail("--memory keeps nothing on disk: leave --dir out");
  const dir = options.memory ? undefined : (options.dir ?? "./data");
  const engine = await openStore(dir, password === undefined ? {} : { requirepass: password });
  const wanted = options.port === undefined ? undefined : readPort(options.port);
  const { port } = await listen(engine, host, wanted);
  if (wanted === undefined && port !== DEFAULT_PORT) console.log(`Port ${DEFAULT_PORT} is taken; using ${port}.`);
  console.log(`Store    redis://${host}:${port}   (redis-cli -h ${host} -p ${port}, or any Redis client)`);
  if (dir === undefined) console.log("Data     in memory: it is gone when the store stops");
  else console.log(`Data     kept in ${resolve(dir)} (synced every second)`);
  console.log("Stop     Ctrl-C");
  const stop = () => {
    console.log("Stopping.");
    engine.close().then(() => process.exit(0));
  };
  process.once("SIGINT", stop);
  process.once("SIGTERM", stop);
}

const { values, positionals } = readOptions(process.argv.slice(2));
if (values.help) process.stdout.write(HELP);
else if (values.version) console.log(VERSION);
else if (positionals.length > 1 || (positionals.length === 1 && positionals[0] !== "start")) {
  fail(`unknown command '${positionals.join(" ")}'`);
} else await start(values);
