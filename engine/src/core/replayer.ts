/**
 * Runs the commands of an append-only file again: each by its handler, for a client that nobody hears. Neither limits nor
 * passwords are asked, nothing is counted or handed on.
 */

import { quoteWord } from "../lib/quote.ts";
import type { Replayer, ReplayFailure } from "../persist/host.ts";
import { Args } from "../table/args.ts";
import type { Command, CommandTable } from "../table/command-table.ts";
import type { Client } from "./client.ts";
import type { Db } from "./db.ts";
import { OOM, ReplyError } from "./errors.ts";
import { silentTransport, type Transport } from "./transport.ts";

const NOWHERE = silentTransport("file");

/** What running a file's commands needs of the store around it. */
interface ReplayHost {
  readonly commands: CommandTable;
  /** The same under their own names, which files use whatever commands are called here. */
  readonly originalCommands: CommandTable;
  readonly databases: readonly Db[];
  /** A client that nobody counts. */
  makeClient(transport: Transport): Client;
}

/** A command of the file, and its first word. */
interface Call {
  readonly name: string;
  readonly argv: string[];
}

/** Finds a command's row, also that of a subcommand. */
function find({ commands, originalCommands }: ReplayHost, { name, argv }: Call): Command | undefined {
  const command = commands.get(name) ?? originalCommands.get(name);
  const subcommand = argv[1];
  if (command?.subcommands == null || subcommand === undefined) return command;
  return command.subcommands.get(subcommand.toLowerCase());
}

export class FileReplayer implements Replayer {
  readonly #host: ReplayHost;
  readonly #client: Client;
  /** By how much the data has grown; the heap guard starts counting again. */
  grownBytes = 0;
  /** The commands since MULTI. */
  #queue: Call[] | null = null;

  constructor(host: ReplayHost) {
    this.#host = host;
    this.#client = host.makeClient(NOWHERE);
    this.#client.trust();
    this.#client.inTransaction = true;
    // Obeyed whatever the state, as a primary is: a replica's own file holds writes too.
    this.#client.isPrimary = true;
  }

  get insideMulti(): boolean {
    return this.#queue !== null;
  }

  /** Runs a command, or keeps it until EXEC; what is wrong if it cannot be run. */
  run(argv: string[]): ReplayFailure | undefined {
    const name = argv[0];
    if (name === undefined) return { kind: "unknown", name: "", reason: "a command without a word" };
    const control = name.length <= 5 ? name.toLowerCase() : "";
    if (control === "multi") this.#queue = [];
    else if (control === "exec") {
      const queue = this.#queue ?? [];
      this.#queue = null;
      for (const queued of queue) {
        const failure = this.#call(queued);
        if (failure !== undefined) return failure;
      }
    } else if (this.#queue !== null) this.#queue.push({ name, argv });
    else return this.#call({ name, argv });
    return undefined;
  }

  #call(call: Call): ReplayFailure | undefined {
    const { name, argv } = call;
    const command = find(this.#host, call);
    if (command?.run === undefined || !command.accepts(argv.length)) {
      const words = argv.slice(0, 3).map((word) => quoteWord(word.slice(0, 64)));
      return {
        kind: "unknown",
        name: name.slice(0, 64),
        reason: `a command that cannot be run: ${words.join(" ")}`,
      };
    }
    const { db, propagate } = this.#client;
    const { instead } = propagate;
    const before = db.sizeBytes;
    try {
      command.run(this.#client, new Args(argv, command.firstArgument));
    } catch (error) {
      if (error === OOM) {
        const reason = "the heap has no room for the data: start with a larger one (--max-old-space-size)";
        return { kind: "memory", name, reason };
      }
      // As in Redis, a command that fails now has failed then.
      if (!(error instanceof ReplyError)) throw error;
    }
    this.grownBytes += db.sizeBytes - before;
    // What is loaded has been propagated before.
    propagate.instead = instead;
    return undefined;
  }
}
