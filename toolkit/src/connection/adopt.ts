/** Clients that a program already has: told apart by their shape, and never closed by us. */
import { InputError } from "../errors.ts";
import type { Driver } from "./port.ts";

/** An ioredis or node-redis client (or cluster, or sentinel), or an Engine of `@cinnabar/engine`. */
export type ExistingClient = object;

export async function adopt(client: ExistingClient): Promise<Driver> {
  if ("connect" in client && "listen" in client && "stream" in client) {
    const { EmbeddedDriver } = await import("./embedded.ts");
    return new EmbeddedDriver(client as never, false);
  }
  throw new InputError("open() knows URLs, folders, ioredis and node-redis clients, and engines; this is none of them");
}
