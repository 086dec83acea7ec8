/** `cinnabar start`: opens the store (or another's, by its URL), serves the console, and tells how to reach both. */
import { resolve } from "node:path";
import { Engine } from "@cinnabar/engine";
import { ConnectionError, open } from "cinnabar";
import { connectionTo } from "../access/routes.ts";
import type { Connection } from "../access/targets.ts";
import { DEFAULT_HTTP_PORT, DEFAULT_PORT, type Options } from "../options.ts";
import { openConsole } from "../server.ts";
import { codeOf, messageOf } from "../values.ts";
import { inFlags, isTlsRefusal, type TlsSettings } from "./link/tls.ts";

/** How many ports to try when the usual one is taken. */
const TRIES = 100;
/** How long the start waits for a store that does not answer. */
const CONNECT_MS = 2_000;

function fail(text: string): never {
  process.stderr.write(`cinnabar: ${text}\nTry \`cinnabar --help\`.\n`);
  process.exit(1);
}

/** Listens on the port, or on the next free one unless it was asked for by number; says so aloud. */
async function listenOn(
  what: { readonly name: string; readonly option: string; readonly usual: number },
  host: string,
  wanted: number | undefined,
  listen: (port: number) => Promise<number>,
): Promise<number> {
  const first = wanted ?? what.usual;
  for (let port = first; ; port++) {
    try {
      const got = await listen(port);
      if (port !== first) console.log(`Port ${first} is taken; the ${what.name} uses ${got}.`);
      return got;
    } catch (error) {
      if (codeOf(error) !== "EADDRINUSE") fail(`cannot listen on ${host}:${port}: ${messageOf(error)}`);
      if (wanted !== undefined) fail(`port ${port} is taken; choose another with ${what.option}`);
      if (port === first + TRIES) fail(`ports ${first} to ${port} are all taken`);
    }
  }
}

/** Opens the store, and says how a long load gets on. */
async function openEngine(dir: string | undefined, config: Record<string, string>): Promise<Engine> {
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
    return fail(messageOf(error));
  } finally {
    if (shown >= 0) process.stdout.write("\r\x1b[K");
  }
}

interface Opened {
  readonly connection: Connection;
  readonly lines: readonly string[];
  close(): Promise<void>;
}

async function openOwn({ dir, host, port: wanted, password }: Options): Promise<Opened> {
  const engine = await openEngine(dir, password === undefined ? {} : { requirepass: password });
  const what = { name: "store", option: "--port", usual: DEFAULT_PORT };
  const port = await listenOn(what, host, wanted, async (each) => (await engine.listen({ host, port: each })).port);
  const store = await open(engine);
  // Other databases, and users of the ACL, are reached as any client reaches them.
  const secret = password === undefined ? "" : `:${encodeURIComponent(password)}@`;
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : shownHost(host);
  const backend = dir === undefined ? "in memory" : resolve(dir);
  return {
    connection: { ...connectionTo("main", `redis://${secret}${reached}:${port}`), backend, store },
    lines: [
      `Store    redis://${shownHost(host)}:${port}   (redis-cli -h ${host} -p ${port}, or any Redis client)`,
      dir === undefined
        ? "Data     in memory: it is gone when the store stops"
        : `Data     kept in ${resolve(dir)} (synced every second)`,
      `Memory   ${engine.core.heapGuard.describe()}`,
    ],
    close: async () => {
      await store.close();
      await engine.close();
    },
  };
}

/** A store that is down is no reason to end: the console says so, and connects when it is back. One that refuses us is. */
async function openOther(url: string, tls: TlsSettings): Promise<Opened> {
  const connection = connectionTo("main", url, { connectTimeoutMs: CONNECT_MS, tls });
  const { backend } = connection;
  try {
    const store = await connection.open!({ db: 0 });
    const lines = [`Store    ${backend}   (${store.topology})`];
    return { connection: { ...connection, store }, lines, close: () => store.close() };
  } catch (error) {
    const isDown = error instanceof ConnectionError && !isTlsRefusal(error.code);
    if (!isDown) return fail(`cannot open ${backend}: ${inFlags(messageOf(error))}`);
    const lines = [`Store    ${backend}   (down: ${messageOf(error)}; trying again each second)`];
    return { connection, lines, close: async () => {} };
  }
}

const shownHost = (host: string) => (host.includes(":") ? `[${host}]` : host);

export async function start(options: Options, tls: TlsSettings): Promise<void> {
  const { host, password, readOnly, examples, users, allowConnections, trustProxy, auditLog } = options;
  const opened = options.url === undefined ? await openOwn(options) : await openOther(options.url, tls);
  const others = [...options.connections].map(([name, url]) => connectionTo(name, url));
  const page = await openConsole({
    connections: [opened.connection, ...others],
    password,
    users,
    hosts: [host],
    readOnly,
    examples,
    allowConnections,
    trustProxy,
    ...(auditLog !== undefined && { audit: { file: resolve(auditLog) } }),
  });
  const what = { name: "console", option: "--http-port", usual: DEFAULT_HTTP_PORT };
  const httpPort = await listenOn(what, host, options.httpPort, (port) => page.listen(host, port));
  console.log(`Console  http://${shownHost(host)}:${httpPort}/`);
  for (const line of opened.lines) console.log(line);
  console.log("Stop     Ctrl-C");
  let stopping = false;
  const stop = () => {
    // A second Ctrl-C means that the first takes too long: what was synced is safe.
    if (stopping) process.exit(1);
    stopping = true;
    console.log("Stopping.");
    page
      .close()
      .then(opened.close)
      .then(
        () => process.exit(0),
        (error) => fail(`could not stop cleanly: ${messageOf(error)}`),
      );
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
}
