/**
 * Clients that a program already has: told apart by their shape, never used and never closed by us. A store takes their
 * settings (addresses, credentials, TLS, database) and makes connections of its own. For a client's connection belongs to the
 * program: it may send commands twice after a cut, be in the middle of a MULTI, or be closed under us.
 */
import { InputError } from "../base/errors.ts";
import { adoptIoredis, adoptIoredisCluster, type IoredisCluster, type IoredisInstance } from "./adopt-ioredis.ts";
import { adoptNodeRedis, isNodeRedis } from "./adopt-node-redis.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";

/** An ioredis or node-redis client (or cluster, or sentinel), or an Engine of `@cinnabar/engine`. */
export type ExistingClient = object;

export async function adopt(client: ExistingClient, options: OpenOptions): Promise<Driver> {
  if ("connect" in client && "listen" in client && "stream" in client) {
    const { EmbeddedDriver } = await import("./embedded.ts");
    return new EmbeddedDriver(client as never, false);
  }
  if ("isCluster" in client && "options" in client && "sendCommand" in client) {
    return client.isCluster === true
      ? adoptIoredisCluster(client as IoredisCluster, options)
      : adoptIoredis(client as IoredisInstance, options);
  }
  if (isNodeRedis(client)) return adoptNodeRedis(client, options);
  throw new InputError("open() knows URLs, folders, ioredis and node-redis clients, and engines; this is none of them");
}
