/**
 * Brings the commands of an append-only file back: each is run by its handler, for a client that nobody hears. Neither
 * limits nor passwords are asked, nothing is counted or handed on.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync } from "node:fs";
import { Client, type Transport } from "../../core/client.ts";
import type { Engine } from "../../core/engine.ts";
import { OOM, ReplyError } from "../../core/errors.ts";
import { quoteWord } from "../../lib/quote.ts";
import { Args } from "../../table/args.ts";
import type { Command } from "../../table/command-table.ts";
import { KeyDelay } from "../key-delay.ts";
import { RdbError } from "../rdb/errors.ts";
import { type LoadOptions, type LoadReport, RdbLoader } from "../rdb/file.ts";
import { AofError } from "./error.ts";
import { AofReader } from "./reader.ts";

const NOWHERE: Transport = {
  send() {},
  push() {},
  close() {},
  outputBytes: 0,
  inputBytes: 0,
  address: "file",
  localAddress: "file",
  fd: -1,
};

const READ_BYTES = 256 * 1024;
/** Commands between two chances to pause. */
const COMMANDS_AT_ONCE = 256;
/** What may be read or built between two looks at the heap. */
const UNCHECKED_BYTES = 1024 * 1024;

/** Finds a command's row, also that of a subcommand. */
function find(engine: Engine, argv: readonly string[]): Command | undefined {
  const command = engine.commands.get(argv[0]!) ?? engine.originalCommands.get(argv[0]!);
  if (command?.subcommands == null || argv.length < 2) return command;
  return command.subcommands.get(argv[1]!.toLowerCase());
}

/** A command that cannot be run. */
interface Failure {
  readonly kind: "unknown" | "memory";
  readonly name: string;
  readonly reason: string;
}

export class Replayer {
  readonly #engine: Engine;
  readonly #client: Client;
  /** By how much the data has grown; whoever looks at the heap begins anew. */
  grownBytes = 0;
  /** The commands since MULTI. */
  #queue: string[][] | null = null;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#client = new Client(engine, 0, NOWHERE);
    this.#client.authenticated = true;
    this.#client.inTransaction = true;
    // Obeyed whatever the state, as a primary is: a replica's own file holds writes too.
    this.#client.isPrimary = true;
  }

  get insideMulti(): boolean {
    return this.#queue !== null;
  }

  /** Forgets a transaction that was not finished, and the database that was selected. */
  reset(): void {
    this.#queue = null;
    this.#client.db = this.#engine.databases[0]!;
  }

  /** Runs a command, or keeps it until EXEC; what is wrong if it cannot be run. */
  run(argv: string[]): Failure | undefined {
    const name = argv[0]!.length <= 5 ? argv[0]!.toLowerCase() : "";
    if (name === "multi") this.#queue = [];
    else if (name === "exec") {
      const queue = this.#queue ?? [];
      this.#queue = null;
      for (const queued of queue) {
        const failure = this.#call(queued);
        if (failure !== undefined) return failure;
      }
    } else if (this.#queue !== null) this.#queue.push(argv);
    else return this.#call(argv);
    return undefined;
  }

  #call(argv: string[]): Failure | undefined {
    const command = find(this.#engine, argv);
    if (command?.run === undefined || !command.accepts(argv.length)) {
      const words = argv.slice(0, 3).map((word) => quoteWord(word.slice(0, 64)));
      return {
        kind: "unknown",
        name: argv[0]!.slice(0, 64),
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
        return { kind: "memory", name: argv[0]!, reason };
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

export interface PartOptions extends LoadOptions {
  /** Whether nothing comes behind this file: only then may it end too early. */
  readonly last: boolean;
  /** Told how many bytes of this file have been read. */
  readonly onBytes?: (bytes: number) => void;
}

export interface PartReport {
  readonly commands: number;
  readonly rdb: LoadReport | undefined;
  /** Where a file that ended too early was cut. */
  readonly cutAt: number | undefined;
}

/** Loads one file of an append-only file: an RDB, commands, or an RDB with commands behind it. Pauses at every `yield`, for so many milliseconds. */
export function* loadPart(engine: Engine, path: string, options: PartOptions): Generator<number, PartReport> {
  const rdb = yield* loadPreamble(engine, path, options);
  const reader = new AofReader(path, rdb?.bytes ?? 0);
  const replayer = new Replayer(engine);
  const delay = new KeyDelay(engine.config.values["key-load-delay"]);
  let commands = 0;
  let sound = reader.offset;
  let checkedAt = sound;
  try {
    for (;;) {
      const argv = reader.next();
      if (argv === undefined) break;
      const failure = replayer.run(argv);
      if (failure !== undefined) throw new AofError(failure.kind, path, sound, failure.reason, failure.name);
      if (!replayer.insideMulti) sound = reader.offset;
      if (reader.offset - checkedAt > UNCHECKED_BYTES || replayer.grownBytes > UNCHECKED_BYTES) {
        replayer.grownBytes = 0;
        checkedAt = reader.offset;
        engine.heapGuard.checkLoad(reader.offset, reader.size);
      }
      if (++commands % COMMANDS_AT_ONCE === 0) {
        options.onBytes?.(reader.offset);
        delay.count(COMMANDS_AT_ONCE);
        yield delay.take();
      }
    }
    if (replayer.insideMulti) {
      throw new AofError("truncated", path, sound, "the file ends in the middle of a transaction");
    }
    return { commands, rdb, cutAt: undefined };
  } catch (error) {
    if (!(error instanceof AofError) || error.kind !== "truncated") throw error;
    if (!options.last || !engine.config.values["aof-load-truncated"]) throw error;
    engine.log("warning", `!!! Warning: short read while loading the AOF file ${path}!!!`);
    engine.log("warning", `Truncating the AOF ${path} from ${reader.size} bytes to ${sound}`);
    cut(path, sound);
    engine.log("warning", "AOF loaded anyway because aof-load-truncated is enabled");
    return { commands, rdb, cutAt: sound };
  } finally {
    reader.close();
  }
}

function cut(path: string, length: number): void {
  const descriptor = openSync(path, "r+");
  try {
    ftruncateSync(descriptor, length);
  } finally {
    closeSync(descriptor);
  }
}

/** Loads the RDB that a file begins with; undefined if it does not. */
function* loadPreamble(engine: Engine, path: string, options: PartOptions): Generator<number, LoadReport | undefined> {
  const descriptor = openSync(path, "r");
  try {
    const piece = Buffer.allocUnsafeSlow(READ_BYTES);
    let length = readSync(descriptor, piece, 0, piece.length, 0);
    if (piece.latin1Slice(0, Math.min(length, 5)) !== "REDIS") return undefined;
    const loader = new RdbLoader(engine, { ...options, keepExpired: true }, fstatSync(descriptor).size);
    for (let at = 0; length > 0; ) {
      if (loader.feed(piece.subarray(0, length))) break;
      at += length;
      options.onBytes?.(at);
      yield loader.delay.take();
      length = readSync(descriptor, piece, 0, piece.length, at);
    }
    loader.reader.end();
    return loader.report;
  } catch (error) {
    // An RDB that ends too early has lost keys that were there: nothing to be cut off.
    if (error instanceof RdbError) throw new AofError("format", path, error.offset, error.message);
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
