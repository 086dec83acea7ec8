/** `cinnabar server`: what `cinnabar-server` does, in this process, so that pid, signals and streams are its own. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Command, CommandFailure } from "./command.ts";

/** Beside the engine's entry: `bin/` where it is built, its source while developing. */
function programOf(entry: string): URL {
  const isSource = entry.endsWith("/src/index.ts");
  return new URL(isSource ? "./bin/cinnabar-server.ts" : "../bin/cinnabar-server.js", entry);
}

export const serverCommand: Command = {
  name: "server",
  summary: "starts the store on its own, as redis-server is started",
  usage: "[FILE] [--directive value …]",
  flags: [],
  passesOn: true,
  details: `FILE is a redis.conf; any of its directives may be given as a flag. All words are passed on to cinnabar-server.
Listens on 127.0.0.1:6379 unless told otherwise.`,
  examples: [
    "cinnabar server --port 7777 --dir ./data --appendonly yes",
    "cinnabar server /etc/redis.conf --loglevel verbose",
    "cinnabar server --cluster-nodes 6 --cluster-replicas 1 --port 7000",
  ],
  async run(_args, _streams, argv) {
    const program = programOf(import.meta.resolve("@cinnabar/engine"));
    const file = fileURLToPath(program);
    if (!existsSync(file)) throw new CommandFailure(`${file} is missing`, "npm install @cinnabar/engine");
    process.argv = [process.argv[0]!, file, ...argv];
    await import(program.href);
    return undefined;
  },
};
