/**
 * `open()`: from nothing to a Cluster by changing one argument.
 *
 *   open()                                     in this process, in memory
 *   open("./data")                             in this process, kept on disk
 *   open("redis://localhost:6379/0")           Redis, Valkey, or our own server; rediss:// with TLS, unix:///path/to/socket
 *   open("redis+sentinel://h1,h2:26379/main")  follows failovers
 *   open("redis+cluster://h1,h2,h3")           Cluster
 *   open(client)                               an ioredis or node-redis client, or an Engine, that the program already has
 */
import { InputError } from "../errors.ts";
import { adopt, type ExistingClient } from "./adopt.ts";
import type { Driver, ReadPolicy, TlsOptions } from "./port.ts";
import { Store, type StoreOptions } from "./store.ts";

export interface OpenOptions extends StoreOptions {
  /** For the store in this process: directives of redis.conf, `{ maxmemory: "100mb" }`. */
  readonly config?: Readonly<Record<string, string>>;
  /** How long one command may go unanswered (not blocking ones, which have their own guard). */
  readonly commandTimeoutMs?: number;
  /** How long `open` tries to reach the server before it gives up, and each later attempt to reconnect. */
  readonly connectTimeoutMs?: number;
  /** Who answers reads: the primary by default, or replicas that are fresh enough. The store in this process has none. */
  readonly reads?: ReadPolicy;
  /** For rediss:// and its kin. */
  readonly tls?: TlsOptions;
  /** How the server's CLIENT LIST names the connections. */
  readonly clientName?: string;
}

export async function open(target?: string | ExistingClient, options: OpenOptions = {}): Promise<Store> {
  return new Store(await driverFor(target, options), options);
}

async function driverFor(target: string | ExistingClient | undefined, options: OpenOptions): Promise<Driver> {
  if (target === undefined || typeof target === "string") {
    if (target?.includes("://") === true) {
      const { openUrl } = await import("./url.ts");
      return openUrl(target, options);
    }
    return openEmbedded(target, options);
  }
  return adopt(target, options);
}

async function openEmbedded(dir: string | undefined, options: OpenOptions): Promise<Driver> {
  if (dir === "") throw new InputError("the folder's name is empty; open() without one keeps data in memory");
  if (dir !== undefined && /^[\w.-]+:\d+$/.test(dir)) {
    throw new InputError(`"${dir}" is no folder and no URL; did you mean "redis://${dir}"?`);
  }
  const { EmbeddedDriver } = await import("./embedded.ts");
  return EmbeddedDriver.open({
    ...(dir === undefined ? {} : { dir }),
    ...(options.config === undefined ? {} : { config: options.config }),
  });
}
