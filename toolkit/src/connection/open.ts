/**
 * `open()`: from nothing to a Cluster by changing one argument.
 *
 *   open()                                     in this process, in memory; open("memory:", options) with options
 *   open("./data")                             in this process, kept on disk; further processes join the first (shared-folder.ts)
 *   open("redis://localhost:6379/0")           Redis, Valkey, or our own server; rediss:// with TLS, unix:///path/to/socket
 *   open("redis+sentinel://h1,h2:26379/main")  follows failovers
 *   open("redis+cluster://h1,h2,h3")           Cluster
 *   open(client)                               an ioredis or node-redis client, or an Engine, that the program already has
 *
 * What looks like a mistyped URL is refused: a folder of that name would take the data in place of the server. `open(undefined)`
 * is most often a setting that is missing, so it opens memory and says so in a process warning.
 */
import { isWellFormed, seen } from "../base/checks.ts";
import { codeOf, errorOf, InputError, OpenError, type OpenErrorCode } from "../base/errors.ts";
import {
  type Check,
  choice,
  defineOptions,
  duration,
  either,
  flag,
  listOf,
  recordOf,
  required,
  text,
  whole,
  within,
} from "../base/options.ts";
import { adopt, type ExistingClient } from "./adopt.ts";
import type { ClientCacheOptions } from "./client-cache.ts";
import type { Driver, ReadPolicy, TlsOptions } from "./port.ts";
import { Store, type StoreOptions, storing } from "./store.ts";

/** How a store is opened. */
export interface OpenOptions extends StoreOptions {
  /** For the store in this process: directives of redis.conf, `{ maxmemory: "100mb" }`. Redis's own defaults by default. */
  readonly config?: Readonly<Record<string, string>>;
  /**
   * For a folder: whether other processes may open it at the same time, and join the one that has it. True by default; false
   * keeps them out, and refuses a folder that another process has open. Not on Windows.
   */
  readonly shared?: boolean;
  /** How long one command may go unanswered (default 10 000); not blocking ones, which have their own guard. */
  readonly commandTimeoutMs?: number;
  /** How long `open` tries to reach the server before it gives up, and each later attempt to reconnect (default 5 000). */
  readonly connectTimeoutMs?: number;
  /** Who answers reads: the primary by default, or replicas that are fresh enough. The store in this process has none. */
  readonly reads?: ReadPolicy;
  /**
   * Keeps replies to reads of these keys in memory, until the server says that they have changed. It has no effect on the store in this
   * process, whose reads are in memory anyway. None by default.
   */
  readonly clientCache?: ClientCacheOptions;
  /** How servers are trusted, for rediss:// and its kin. By default the authorities that Node knows sign for them. */
  readonly tls?: TlsOptions;
  /** How the server's CLIENT LIST names the connections. None by default. */
  readonly clientName?: string;
}

const READ_OPTIONS = defineOptions<Extract<ReadPolicy, { from: "replicas" }>>("open.reads", {
  from: required(choice("primary", "replicas")),
  maxLagMs: whole(1),
  after: text,
  readYourWrites: flag,
});

const CACHE_OPTIONS = defineOptions<ClientCacheOptions>("open.clientCache", {
  prefixes: required(listOf(text)),
  maxBytes: whole(1),
});

const pem: Check = {
  expected: "a PEM text, or its bytes",
  accepts: (value) => value instanceof Uint8Array || (typeof value === "string" && value.includes("-----BEGIN")),
};

const TLS_OPTIONS = defineOptions<TlsOptions>("open.tls", {
  ca: either(pem, listOf(pem)),
  cert: pem,
  key: pem,
  passphrase: text,
  servername: text,
  minVersion: choice("TLSv1.2", "TLSv1.3"),
  ciphers: text,
  rejectUnauthorized: flag,
});

const OPTIONS = defineOptions<OpenOptions>("open", {
  ...storing,
  config: recordOf(text),
  shared: flag,
  commandTimeoutMs: duration,
  connectTimeoutMs: duration,
  reads: within(READ_OPTIONS),
  clientCache: within(CACHE_OPTIONS),
  tls: within(TLS_OPTIONS),
  clientName: text,
});

const MEMORY = "memory:";
let hasWarned = false;

/**
 * Opens a store: in this process (nothing, or `memory:`), in a folder (`./data`), on a server (`redis://`, `rediss://`, `unix://`,
 * `redis+sentinel://`, `redis+cluster://`), or over a client that the program has. Rejects with an OpenError where it cannot.
 * @example
 * const store = await open("memory:", { config: { maxmemory: "100mb" } });
 * await store.set("greeting", "hello"); // → "OK"
 * await store.get("greeting"); // → "hello"
 * await store.close();
 */
export function open(target?: string | ExistingClient, options?: OpenOptions): Promise<Store>;
export async function open(...given: [target?: string | ExistingClient, options?: OpenOptions]): Promise<Store> {
  const [target, options = {}] = given;
  OPTIONS.check(options);
  const driver = await driverFor(target, options);
  if (given.length > 0 && target === undefined) warnOfMemory();
  return new Store(driver, options);
}

function warnOfMemory(): void {
  if (hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    `open(undefined) keeps everything in memory, and it is gone when the process ends. Is a setting missing? open() or open("${MEMORY}") means memory.`,
    { type: "CinnabarWarning", code: "CINNABAR_MEMORY" },
  );
}

async function driverFor(target: string | ExistingClient | undefined, options: OpenOptions): Promise<Driver> {
  if (target === undefined || target === MEMORY) return openEmbedded(undefined, options);
  if (typeof target === "string") {
    if (target.includes("://")) {
      const { openUrl } = await import("./url.ts");
      return openUrl(target, options);
    }
    return openFolder(folderOf(target), options);
  }
  if (typeof target === "object" && target !== null && !("then" in target)) return adopt(target, options);
  throw new InputError(`open() takes a URL, a folder or a client, not ${seen(target)}${hintFor(target)}`);
}

function hintFor(target: unknown): string {
  if (Number.isInteger(target)) return `; did you mean "redis://localhost:${String(target)}"?`;
  if (target instanceof Promise) return "; await it first";
  return "";
}

// -------------------------------------------------------------------------------------------------- folders

const PORT = /^(?:[\w.-]+|\[[0-9a-f:.]+\]):\d+(?:\/\d*)?$/i;
const SCHEMES = "redis|rediss|valkey|valkeys|unix";
/** A name, and then signs that stand in URLs; of folders only those of Windows begin so, with one letter. */
const SIGNS = /^([a-z][a-z0-9+.-]+)(?:[:;]+\/*|\/\/+)(.*)$/is;
const LIKE_SCHEME = new RegExp(`^(?:${SCHEMES}|r[edis]{2,6}|valk?ey?s?|https?|tcp|tls)(?:[+-]\\w+)?$`, "i");

/** The folder that somebody means; refuses what is more likely a URL. */
function folderOf(name: string): string {
  if (name.trim() === "") {
    throw new InputError("the folder's name is empty; open() without one keeps data in memory");
  }
  if (!isWellFormed(name) || /[\u0000-\u001f\u007f]/.test(name)) {
    throw new InputError(`the folder's name ${seen(name)} has characters that no folder's name has`);
  }
  if (/^[^/\s]+@[^/\s@]+(?::\d+)?(?:\/|$)/.test(name)) {
    const host = name.slice(name.lastIndexOf("@") + 1);
    throw new InputError(
      `this looks like a user at the server ${host}; did you mean "redis://user:password@${host}"? A folder is written "./…"`,
    );
  }
  if (PORT.test(name)) throw mistyped(name, `redis://${name}`);
  const [, scheme = "", rest = ""] = SIGNS.exec(name) ?? [];
  const isLike = LIKE_SCHEME.test(scheme) || (scheme !== "" && !name.startsWith(`${scheme}/`));
  if (isLike) {
    const isKnown = new RegExp(`^(?:${SCHEMES})(?:[+-](?:unix|socket|sentinel|cluster))?$`, "i").test(scheme);
    throw mistyped(name, `${isKnown ? scheme : "redis"}://${/^\d+$/.test(rest) ? `localhost:${rest}` : rest}`);
  }
  return name;
}

function mistyped(name: string, meant: string): InputError {
  const question = `did you mean "${withoutSecrets(meant)}"?`;
  return new InputError(
    `"${withoutSecrets(name)}" looks like a URL; ${question} A folder of that name is written "./…"`,
  );
}

/** User and password must not stand in messages. */
function withoutSecrets(url: string): string {
  const at = url.lastIndexOf("@");
  if (at === -1) return url;
  return `${/^[a-z+-]*[:;]?\/*/i.exec(url)?.[0] ?? ""}…${url.slice(at)}`;
}

// -------------------------------------------------------------------------------------------------- the engine

async function openFolder(dir: string, options: OpenOptions): Promise<Driver> {
  // Pipes with names take the place of unix sockets on Windows, where this has not been tried.
  if (options.shared === false || process.platform === "win32") return openEmbedded(dir, options);
  const { SharedFolder, isJoinable } = await import("./shared-folder.ts");
  const { EmbeddedDriver } = await import("./embedded.ts");
  const folder = new SharedFolder(dir, options);
  try {
    return new EmbeddedDriver(await folder.own(), true, () => folder.leave());
  } catch (error) {
    if (!isJoinable(error)) throw openError(error, dir);
  }
  return folder.join();
}

async function openEmbedded(dir: string | undefined, options: OpenOptions): Promise<Driver> {
  const { EmbeddedDriver } = await import("./embedded.ts");
  try {
    return await EmbeddedDriver.open({
      ...(dir === undefined ? {} : { dir }),
      ...(options.config === undefined ? {} : { config: options.config }),
    });
  } catch (error) {
    throw openError(error, dir);
  }
}

/** What the engine or the system says, by name or code, and what to do about it. */
const REASONS: Readonly<Record<string, readonly [code: OpenErrorCode, advice: string]>> = {
  DirectoryLocked: [
    "LOCKED",
    "Close the other store, or connect to it if it is a server. Two that are opened without shared: false share the folder.",
  ],
  AofError: ["DAMAGED", "cinnabar-check-aof shows what is wrong and can cut off a damaged end."],
  RdbError: ["DAMAGED", "cinnabar-check-rdb shows what is in it."],
  HeapFullError: ["NO_MEMORY", ""],
  EACCES: ["NO_PERMISSION", "This user needs to read and write the folder and its files."],
  EPERM: ["NO_PERMISSION", "This user needs to read and write the folder and its files."],
  EROFS: ["NO_PERMISSION", "The file system can only be read."],
  ENOTDIR: ["NOT_A_FOLDER", "A part of the path is a file."],
  EEXIST: ["NOT_A_FOLDER", "There is a file of that name."],
  EBUSY: ["LOCKED", "Close it there first."],
  ENOTSUP: ["OPEN_FAILED", "open() without a folder works on a page, and keeps data in memory."],
  ENOSPC: ["NO_SPACE", "The disk is full."],
  EDQUOT: ["NO_SPACE", "The quota of this user is used up."],
};

function openError(error: unknown, dir: string | undefined): Error {
  if (!(error instanceof Error)) return errorOf(error);
  const { name, message, cause } = error;
  if (name === "ConfigError") return new InputError(`config: ${message}`, { cause: error });
  const kinds = [name, codeOf(error), cause instanceof Error ? cause.name : undefined];
  const kind = kinds.find((each) => each !== undefined && Object.hasOwn(REASONS, each));
  const [code, advice] = (kind === undefined ? undefined : REASONS[kind]) ?? ["OPEN_FAILED", ""];
  const isOutOfMemory = name === "AofError" && "kind" in error && error.kind === "memory";
  const what = dir === undefined ? "the store" : `"${dir}"`;
  const text = `${what} cannot be opened: ${message}${advice === "" || isOutOfMemory ? "" : ` ${advice}`}`;
  return new OpenError(isOutOfMemory ? "NO_MEMORY" : code, text, { cause: error });
}
