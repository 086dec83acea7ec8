/** `cinnabar start`, which `cinnabar` alone is too. */
import { readOptions, START_FLAGS } from "../options.ts";
import type { Command } from "./command.ts";

export const startCommand: Command = {
  name: "start",
  summary: "opens a store and the console to see and run it",
  usage: "[options]",
  flags: START_FLAGS,
  examples: [
    "cinnabar start --memory",
    "cinnabar start --url redis://db.internal:6379",
    "cinnabar start --host 0.0.0.0 --password P",
  ],
  async run(args, { env }) {
    const options = readOptions(args, env);
    const { start } = await import("./start-console.ts");
    await start(options);
    return undefined;
  },
};
