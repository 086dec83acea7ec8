/** In a browser a program has no clients of servers: only an Engine can be taken over. */
import { InputError } from "../base/errors.ts";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";

/** An Engine of `@cinnabar/engine`. */
export type ExistingClient = object;

export async function adopt(client: ExistingClient, _options: OpenOptions): Promise<Driver> {
  if ("connect" in client && "serve" in client && "image" in client) {
    const { EmbeddedDriver } = await import("./embedded.ts");
    return new EmbeddedDriver(client as never, false);
  }
  throw new InputError("in a browser open() knows folders and engines; this is neither");
}
