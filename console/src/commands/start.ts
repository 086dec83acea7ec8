/** `cinnabar start`, which `cinnabar` alone is too. */
import { readOptions, START_FLAGS } from "../options.ts";
import type { Command } from "./command.ts";
import { placeOf } from "./link/place.ts";
import { TLS_FLAGS, tlsFrom } from "./link/tls.ts";

export const startCommand: Command = {
  name: "start",
  summary: "opens a store and the console to see and run it",
  usage: "[options]",
  flags: [...START_FLAGS, ...TLS_FLAGS],
  examples: [
    "cinnabar start --memory",
    "cinnabar start --url redis://db.internal:6379",
    "cinnabar start --host 0.0.0.0 --password P",
  ],
  async run(args, { env }) {
    const options = readOptions(args, env);
    const tls = tlsFrom(args, options.url === undefined ? [] : [placeOf(options.url, {})]);
    const { start } = await import("./start-console.ts");
    await start(options, tls);
    return undefined;
  },
};
