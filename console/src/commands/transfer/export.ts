/** `cinnabar export`: a store as a file: RDB, AOF, JSON lines, or commands. */

import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { UsageError } from "../../options.ts";
import { counted } from "../../values.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { placeOf } from "../link/place.ts";
import { writeRdb } from "../link/rdb.ts";
import { reach } from "../link/reach.ts";
import { encode, type Word } from "../link/reply.ts";
import { keysOf, WholeStore } from "../link/stores.ts";
import { tlsFrom } from "../link/tls.ts";
import { Progress } from "../progress.ts";
import { formatOf } from "./format.ts";
import { lineOf } from "./lines.ts";
import { commandsOf, type Row, readRows } from "./rows.ts";

type TextFormat = "jsonl" | "commands" | "aof";

/** The bytes of a row; `before`: the database of the row before it. */
function bytesFor(format: TextFormat, row: Row, before: number): Buffer | string {
  if (format === "jsonl") return `${JSON.stringify(row)}\n`;
  const select: Word[][] = row.db === before ? [] : [["SELECT", String(row.db)]];
  const commands = [...select, ...commandsOf(row)];
  return format === "aof" ? encode(commands) : `${commands.map(lineOf).join("\n")}\n`;
}

export async function runExport(args: Arguments, streams: Streams): Promise<number> {
  const [source, file, ...more] = args.positionals;
  if (source === undefined || file === undefined || more.length > 0)
    throw new UsageError("name a store and a file: cinnabar export FROM FILE");
  const format = formatOf(args.text("format"), file);
  const pattern = args.text("pattern");
  if (format === "rdb" && (pattern !== undefined || file === "-"))
    throw new UsageError("an RDB file is of the whole store: leave --pattern and - out");
  const place = placeOf(source, streams.env);
  const store = new WholeStore(await reach(place, { tls: tlsFrom(args, [place]), mustExist: true }));
  try {
    if (format === "rdb") {
      await writeRdb(store.reached, file);
      streams.stderr.write(`Wrote ${file}.\n`);
      return 0;
    }
    const out = file === "-" ? streams.stdout : createWriteStream(file, { mode: 0o600 });
    const failed = new Promise<never>((_, reject) =>
      out.once("error", (error: Error) => reject(new CommandFailure(`cannot write ${file}: ${error.message}`))),
    );
    const count = await Promise.race([write(store, out, format, pattern, new Progress(streams)), failed]);
    if (file !== "-") {
      out.end();
      await Promise.race([once(out, "finish"), failed]);
    }
    streams.stderr.write(`Exported ${counted(count, "key")} of ${store.label}.\n`);
    return 0;
  } finally {
    await store.close();
  }
}

async function write(
  store: WholeStore,
  out: Writable,
  format: TextFormat,
  pattern: string | undefined,
  progress: Progress,
): Promise<number> {
  const total = await store.count();
  let [count, db] = [0, 0];
  for (const part of await store.parts()) {
    // SCAN may give a key twice; twice the same is once too many in a file.
    const seen = new Set<string>();
    for await (const keys of keysOf(part, pattern, 200)) {
      const fresh = keys.filter((key) => !seen.has(key.toString("latin1")));
      for (const key of fresh) seen.add(key.toString("latin1"));
      for (const row of await readRows(part.link, part.db, fresh)) {
        if (!out.write(bytesFor(format, row, db))) await once(out, "drain");
        db = row.db;
        count++;
      }
      progress.show("Exporting", count, total);
    }
  }
  return count;
}
