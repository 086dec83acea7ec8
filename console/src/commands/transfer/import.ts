/**
 * `cinnabar import`: a file into a store: RDB, AOF, JSON lines, or commands.
 *
 * `SOURCES` is where data of other libraries plugs in: `--from NAME` calls the function of that name with the command line.
 */
import { createReadStream, existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { UsageError } from "../../options.ts";
import { isObject, messageOf } from "../../values.ts";
import { splitWords } from "../cli/words.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { checked, LinkFailure } from "../link/link.ts";
import { placeOf } from "../link/place.ts";
import { loadRdb } from "../link/rdb.ts";
import { reach } from "../link/reach.ts";
import { itemsIn, ReplyReader, type Word } from "../link/reply.ts";
import { type Keyed, keysOf, noErrors, WholeStore } from "../link/stores.ts";
import { tlsFrom } from "../link/tls.ts";
import { readValues, writeValues } from "../link/values.ts";
import { didYouMean } from "../nearest.ts";
import { Progress } from "../progress.ts";
import { formatOf } from "./format.ts";
import { commandsOf, keyOf } from "./rows.ts";

/** Brings the data of another library over; answers with the exit code. */
type Source = (args: Arguments, streams: Streams) => Promise<number>;

/** By the name behind `--from`. */
const SOURCES: Readonly<Record<string, Source>> = {
  bullmq: async (args, streams) => (await import("./bullmq.ts")).importBullMq(args, streams),
};

const BATCH = 500;

interface Import {
  readonly to: WholeStore;
  readonly file: string;
  readonly streams: Streams;
  readonly progress: Progress;
}

export async function runImport(args: Arguments, streams: Streams): Promise<number> {
  const from = args.text("from");
  const [file, target, ...more] = args.positionals;
  if (from !== undefined) {
    const source = SOURCES[from];
    const names = Object.keys(SOURCES);
    if (source === undefined) throw new UsageError(`nothing is known of '${from}'${didYouMean(from, names)}`);
    return source(args, streams);
  }
  if (file === undefined || target === undefined || more.length > 0)
    throw new UsageError("name a file and a store: cinnabar import FILE TO");
  const format = formatOf(args.text("format"), file);
  const pattern = args.text("pattern");
  if (pattern !== undefined && format !== "rdb")
    throw new UsageError("--pattern is for RDB files: the others are read command by command");
  if (file !== "-" && !existsSync(file)) throw new CommandFailure(`there is no file ${file}`);
  const place = placeOf(target, streams.env);
  const to = new WholeStore(await reach(place, { tls: tlsFrom(args, [place]) }));
  try {
    await to.control();
    const job: Import = { to, file, streams, progress: new Progress(streams) };
    const count = format === "rdb" ? await importRdb(job, pattern) : await importText(job, format);
    streams.stderr.write(
      `Imported ${count} ${format === "rdb" || format === "jsonl" ? "keys" : "commands"} into ${to.label}.\n`,
    );
    return 0;
  } finally {
    await to.close();
  }
}

async function importRdb({ to, file, progress }: Import, pattern: string | undefined): Promise<number> {
  const from = new WholeStore(await loadRdb(file));
  try {
    const total = await from.count();
    let count = 0;
    for (const part of await from.parts()) {
      for await (const keys of keysOf(part, pattern, BATCH)) {
        await writeValues(to, part.db, await readValues(part.link, keys));
        count += keys.length;
        progress.show("Importing", count, total);
      }
    }
    return count;
  } finally {
    await from.close();
  }
}

/** A command with the database that it is for. */
interface InDb {
  readonly db: number;
  readonly commands: readonly (readonly Word[])[];
}

async function importText(job: Import, format: "jsonl" | "commands" | "aof"): Promise<number> {
  const { to, progress } = job;
  let [count, db] = [0, 0];
  let waiting: Keyed[] = [];
  const flush = async (): Promise<void> => {
    noErrors(await to.run(db, waiting));
    waiting = [];
    progress.show("Importing", count, 0);
  };
  const items = format === "aof" ? aofCommands(job) : textCommands(job, format);
  try {
    for await (const item of items) {
      if (item.db !== db || waiting.length >= BATCH) await flush();
      db = item.db;
      for (const words of item.commands) waiting.push({ key: Buffer.from(words[1] ?? ""), words });
      count++;
    }
    await flush();
  } catch (error) {
    if (error instanceof LinkFailure) throw error;
    throw new CommandFailure(
      `${job.file}, near entry ${count + 1}: ${messageOf(error)}`,
      "what stands before it is imported; mend the file and import it again",
      { cause: error },
    );
  }
  return count;
}

const input = ({ file, streams }: Import): NodeJS.ReadableStream =>
  file === "-" ? streams.stdin : createReadStream(file);

async function* textCommands(job: Import, format: "jsonl" | "commands"): AsyncGenerator<InDb> {
  const stream = input(job);
  stream.setEncoding(format === "jsonl" ? "utf8" : "latin1");
  let db = 0;
  for await (const line of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === "") continue;
    if (format === "jsonl") {
      const row: unknown = JSON.parse(line);
      if (!isObject(row) || typeof row.db !== "number" || !Number.isInteger(row.db) || keyOf(row) === undefined)
        throw new Error("a line needs db, key, type and value");
      yield { db: row.db, commands: commandsOf(row) };
      continue;
    }
    const words = splitWords(line);
    if (words === null) throw new Error("quotes do not match");
    if (words[0]?.toLowerCase() === "select") db = Number(words[1]);
    else yield { db, commands: [words.map((word) => Buffer.from(word, "latin1"))] };
  }
}

/** An append-only file of commands; one that begins with a snapshot is an RDB file first, and belongs to its folder. */
async function* aofCommands(job: Import): AsyncGenerator<InDb> {
  let db = 0;
  let found: InDb[] = [];
  const reader = new ReplyReader((reply) => {
    const words = itemsIn(checked(reply)).flatMap((each) => ("bytes" in each ? [each.bytes] : []));
    if (words.length === 0) throw new Error("this is no append-only file of commands");
    if (words[0]!.toString().toLowerCase() === "select") db = Number(words[1]);
    else found.push({ db, commands: [words] });
  });
  for await (const chunk of input(job)) {
    const bytes = Buffer.from(chunk);
    if (bytes.subarray(0, 5).toString() === "REDIS")
      throw new Error("it begins with a snapshot: use `cinnabar move` with the folder that it is in");
    reader.feed(bytes);
    yield* found;
    found = [];
  }
}
