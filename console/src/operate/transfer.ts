/**
 * Keys as files: JSON lines, CSV, commands, DUMP. A file is written while it is downloaded and read while it is uploaded, so that
 * neither side ever holds all of it. The forms are those of `cinnabar export` and `cinnabar import`; in DUMP's every value is as the
 * server keeps it.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { type Reply as Given, ServerError, type Store } from "cinnabar";
import { splitWords } from "../commands/cli/words.ts";
import type { Reply, Word } from "../commands/link/reply.ts";
import { lineOf } from "../commands/transfer/lines.ts";
import {
  type Asked,
  commandsOf,
  type GivenRow,
  keyOf,
  type Piece,
  type Row,
  readRows,
} from "../commands/transfer/rows.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, integer, object, oneOf, string, type Typed } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { type Progress, TASK_FIELDS, type Task, TaskKind, tasksOf } from "../tasks.ts";
import { isObject, messageOf } from "../values.ts";
import { CsvReader, csvLine } from "./csv.ts";
import { checkSelection, SELECTION, type Selection, selected } from "./selection.ts";

const group = "Keys";
const FORMATS = ["jsonl", "csv", "commands", "dump"] as const;
type Format = (typeof FORMATS)[number];
const ENDINGS: Readonly<Record<Format, string>> = { jsonl: "jsonl", csv: "csv", commands: "txt", dump: "dump.jsonl" };

const reply = (given: Given): Reply => {
  if (given === null) return { type: "nil" };
  if (typeof given === "number") return { type: "integer", digits: String(given) };
  if (Array.isArray(given)) return { type: "array", items: given.map(reply) };
  return { type: "string", bytes: Buffer.isBuffer(given) ? given : Buffer.from(given) };
};

/** The console's store in place of a connection of a command's own. */
function askedThrough(store: Store): Asked {
  const send = async (words: readonly Word[]): Promise<Reply> => {
    try {
      return reply(await store.send([...words], { buffers: true }));
    } catch (error) {
      if (!(error instanceof ServerError)) throw error;
      return { type: "error", bytes: Buffer.from(error.message) };
    }
  };
  const sendMany = (commands: readonly (readonly Word[])[]) => commands.map(send);
  return {
    sendMany,
    callMany: async (commands) => {
      const replies = await Promise.all(sendMany(commands));
      for (const each of replies) if (each.type === "error") throw new Error(each.bytes.toString());
      return replies;
    },
  };
}

/** A value larger than this is left out of a file: it would have to be held in memory as a whole. */
const MOST_VALUE_BYTES = 64 * 1_048_576;
/** Values that are read together. */
const TOGETHER_BYTES = 1_048_576;

async function dumped(asked: Asked, keys: readonly Buffer[]): Promise<Row[]> {
  const replies = await asked.callMany(
    keys.flatMap((key): Word[][] => [
      ["DUMP", key],
      ["PTTL", key],
    ]),
  );
  const now = Date.now();
  const piece = (bytes: Buffer): Piece => ({ base64: bytes.toString("base64") });
  return keys.flatMap((key, at): Row[] => {
    const [value, left] = [replies[at * 2]!, replies[at * 2 + 1]!];
    if (!("bytes" in value)) return [];
    const leftMs = Number("digits" in left ? left.digits : -1);
    const deadline = leftMs > 0 ? { expiresAt: now + leftMs } : {};
    return [{ db: 0, key: piece(key), type: "dump", value: piece(value.bytes), ...deadline }];
  });
}

const BYTES = "base64:";
const cellOf = (piece: Piece): string => {
  if (typeof piece !== "string") return BYTES + piece.base64;
  return piece.startsWith(BYTES) ? BYTES + Buffer.from(piece).toString("base64") : piece;
};
const pieceIn = (cell: string): Piece => (cell.startsWith(BYTES) ? { base64: cell.slice(BYTES.length) } : cell);
const COLUMNS = ["key", "type", "expiresAt", "value"];
const isPiece = (value: Row["value"]): value is Piece => !Array.isArray(value);

function textOf(format: Format, row: Row): string {
  if (format === "commands") return `${commandsOf(row).map(lineOf).join("\n")}\n`;
  if (format !== "csv") return `${JSON.stringify(row)}\n`;
  const value = isPiece(row.value) ? cellOf(row.value) : JSON.stringify(row.value);
  return csvLine([cellOf(row.key), row.type, String(row.expiresAt ?? ""), value]);
}

const EXPORT = object({
  ...TASK_FIELDS,
  keys: integer({ description: "Keys that are in the file." }),
  leftOut: integer({ description: "Keys whose values are larger than 64 MB." }),
  bytes: integer(),
});
export type ExportState = Typed<typeof EXPORT>;

interface Export {
  readonly format: Format;
  keys: number;
  leftOut: number;
  bytes: number;
  /** Begins to write; only the first download does. */
  open: (() => Readable) | null;
}

const EXPORT_KIND = new TaskKind<Export>();

/** The keys in groups that are read together. */
async function* sized(store: Store, batch: readonly Buffer[], about: Export): AsyncGenerator<Buffer[]> {
  const sizes = await store.pipeline(batch.map((key) => ["MEMORY", "USAGE", key]));
  let [together, bytes]: [Buffer[], number] = [[], 0];
  for (const [at, key] of batch.entries()) {
    const size = Number(sizes[at]) || 0;
    if (size > MOST_VALUE_BYTES) {
      about.leftOut++;
      continue;
    }
    if (together.length > 0 && bytes + size > TOGETHER_BYTES) {
      yield together;
      [together, bytes] = [[], 0];
    }
    together.push(key);
    bytes += size;
  }
  if (together.length > 0) yield together;
}

async function* written(store: Store, selection: Selection, about: Export, progress: Progress): AsyncGenerator<string> {
  const asked = askedThrough(store);
  const counted = (text: string): string => {
    about.bytes += Buffer.byteLength(text);
    return text;
  };
  if (about.format === "csv") yield counted(csvLine(COLUMNS));
  for await (const batch of selected(store, selection, progress)) {
    for await (const keys of sized(store, batch, about)) {
      const rows = about.format === "dump" ? await dumped(asked, keys) : await readRows(asked, 0, keys);
      for (const row of rows) {
        about.keys++;
        yield counted(textOf(about.format, row));
      }
    }
  }
}

const WAIT_MS = 60_000;

/** The task begins with the download. Nobody may come for it: then it ends by itself. */
function prepare({ store }: Context, { selection, format }: { selection: Selection; format: Format }): ExportState {
  checkSelection(selection);
  const about: Export = { format, keys: 0, leftOut: 0, bytes: 0, open: null };
  const task = tasksOf({ store }).start(EXPORT_KIND, about, async (progress) => {
    const stream = await new Promise<Readable>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("nobody has downloaded the file")), WAIT_MS);
      progress.signal.addEventListener("abort", () => reject(new Error("stopped")));
      about.open = () => {
        clearTimeout(timer);
        about.open = null;
        const made = Readable.from(written(store, selection, about, progress), { objectMode: false });
        resolve(made);
        return made;
      };
    });
    await new Promise<void>((resolve, reject) => {
      // Somebody who does not read on must not keep it from being stopped.
      progress.signal.addEventListener("abort", () => stream.destroy());
      stream.once("end", resolve);
      stream.once("error", reject);
      stream.once("close", () => reject(new Error("the download was broken off")));
    });
  });
  return exportState(task);
}

const exportState = (task: Task<Export>): ExportState => {
  const { keys, leftOut, bytes } = task.about;
  return { ...task.facts, keys, leftOut, bytes };
};
const exportOf = ({ store }: Context, id: string) => tasksOf({ store }).get(id, EXPORT_KIND);

const IMPORT = object({
  ...TASK_FIELDS,
  imported: integer({ description: "Keys, or commands." }),
  skipped: integer({ description: "Keys that were there already." }),
  failed: integer(),
  failures: array(object({ line: integer({ description: "The nth record of the file." }), reason: string() })),
});
export type ImportState = Typed<typeof IMPORT>;

interface Import {
  imported: number;
  skipped: number;
  failed: number;
  readonly failures: { line: number; reason: string }[];
}

const IMPORT_KIND = new TaskKind<Import>();

const MOST_FILE_BYTES = 4 * 1_073_741_824;
const MOST_RECORD_CHARS = 96 * 1_048_576;
const MOST_FAILURES = 100;
const BATCH = 200;

/** Commands that put data there, each with its key as its first word. Others of a file would reach further than its keys. */
const IMPORTED = new Set(
  "set setex psetex append del unlink rpush lpush sadd hset hmset zadd xadd expire pexpire expireat pexpireat persist restore xgroup".split(
    " ",
  ),
);

interface Entry {
  readonly key: Buffer;
  readonly commands: readonly (readonly Word[])[];
}

function recordOf(line: string): Entry | null {
  const words = splitWords(line);
  if (words === null) throw new Error("quotes do not match");
  const name = words[0]?.toLowerCase() ?? "";
  // Everything goes into the database that the console shows.
  if (name === "select" || name === "") return null;
  if (!IMPORTED.has(name)) throw new Error(`${name.toUpperCase()} is not imported: only commands that make keys are`);
  const bytes = words.map((word) => Buffer.from(word, "latin1"));
  return { key: bytes[name === "xgroup" ? 2 : 1] ?? Buffer.alloc(0), commands: [bytes] };
}

const rowRecord = (row: unknown): Entry => {
  if (!isObject(row) || typeof row.type !== "string") throw new Error("a line needs key, type and value");
  return { key: keyOf(row), commands: commandsOf(row) };
};

function csvRow([key = "", type = "", expiresAt = "", value = ""]: readonly string[]): GivenRow {
  const isOne = type === "string" || !["list", "set", "hash", "zset"].includes(type);
  return {
    key: pieceIn(key),
    type,
    value: isOne ? pieceIn(value) : JSON.parse(value),
    ...(expiresAt !== "" && { expiresAt: Number(expiresAt) }),
  };
}

/** Records of the text of a file; what is wrong with one is its own. */
async function* recordsOf(format: Format, chunks: AsyncIterable<string>): AsyncGenerator<() => Entry | null> {
  if (format === "csv") {
    const reader = new CsvReader(MOST_RECORD_CHARS);
    const made = (fields: string[]) => () => (fields.join() === COLUMNS.join() ? null : rowRecord(csvRow(fields)));
    for await (const chunk of chunks) for (const fields of reader.feed(chunk)) yield made(fields);
    for (const fields of reader.end()) yield made(fields);
    return;
  }
  const made = (line: string) => () => (format === "commands" ? recordOf(line) : rowRecord(JSON.parse(line)));
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    if (rest.length > MOST_RECORD_CHARS) throw new Error(`a line is longer than ${MOST_RECORD_CHARS} characters`);
    for (const line of lines) if (line.trim() !== "") yield made(line);
  }
  if (rest.trim() !== "") yield made(rest);
}

/** The body piece by piece until somebody stops it, also where no more comes. The connection stays, for the answer. */
async function* piecesOf(body: Readable, signal: AbortSignal): AsyncGenerator<Buffer> {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
  // Without somebody who waits for it, it would be an error that nobody handles.
  stopped.catch(() => {});
  const pieces = body.iterator({ destroyOnReturn: false });
  for (;;) {
    signal.throwIfAborted();
    const { done, value } = await Promise.race([pieces.next(), stopped]);
    if (done) return;
    yield value;
  }
}

async function* textIn(body: AsyncIterable<Buffer>, format: Format, heard: (bytes: number) => void) {
  const decoder = new StringDecoder(format === "commands" ? "latin1" : "utf8");
  let read = 0;
  for await (const chunk of body) {
    read += chunk.length;
    if (read > MOST_FILE_BYTES) throw new Error("the file is larger than 4 GB: use `cinnabar import`");
    heard(read);
    yield decoder.write(chunk);
  }
  yield decoder.end();
}

class Importer {
  readonly #store: Store;
  readonly #keeps: boolean;
  readonly #into: Import;
  #waiting: { readonly line: number; readonly record: Entry }[] = [];

  constructor(store: Store, keeps: boolean, into: Import) {
    this.#store = store;
    this.#keeps = keeps;
    this.#into = into;
  }

  async take(line: number, read: () => Entry | null): Promise<void> {
    try {
      const record = read();
      if (record !== null) this.#waiting.push({ line, record });
    } catch (error) {
      this.#fail(line, messageOf(error));
    }
    if (this.#waiting.length >= BATCH) await this.flush();
  }

  async flush(): Promise<void> {
    let batch = this.#waiting;
    this.#waiting = [];
    if (this.#keeps && batch.length > 0) {
      const present = await this.#store.pipeline(batch.map(({ record }) => ["EXISTS", record.key]));
      this.#into.skipped += present.filter((answer) => Number(answer) === 1).length;
      batch = batch.filter((_, nth) => Number(present[nth]) !== 1);
    }
    if (batch.length === 0) return;
    const answers = await this.#store.pipeline(batch.flatMap(({ record }) => record.commands));
    let at = 0;
    for (const { line, record } of batch) {
      const own = answers.slice(at, at + record.commands.length);
      at += record.commands.length;
      const failed = own.find((answer) => answer instanceof Error);
      if (failed === undefined) this.#into.imported++;
      else this.#fail(line, messageOf(failed));
    }
  }

  #fail(line: number, reason: string): void {
    this.#into.failed++;
    if (this.#into.failures.length < MOST_FAILURES) this.#into.failures.push({ line, reason });
  }
}

interface ImportQuery {
  readonly id: string;
  readonly format: Format;
  readonly existing: "replace" | "keep";
}

/** Answers when all is read: the body of the request is what is read. Others ask for the task meanwhile. */
async function take({ store }: Context, { id, format, existing }: ImportQuery, body: Readable, size: number) {
  const into: Import = { imported: 0, skipped: 0, failed: 0, failures: [] };
  const task = tasksOf({ store }).start(
    IMPORT_KIND,
    into,
    async (progress) => {
      // Of commands, one says what becomes of the key that others have made.
      const importer = new Importer(store, existing === "keep" && format !== "commands", into);
      let line = 0;
      const text = textIn(piecesOf(body, progress.signal), format, (bytes) => progress(bytes, size));
      for await (const read of recordsOf(format, text)) {
        progress.signal.throwIfAborted();
        await importer.take(++line, read);
      }
      await importer.flush();
    },
    id === "" ? randomUUID() : id,
  );
  await task.ended;
  // What was not read is dropped, so that the answer gets through.
  body.resume();
  return importState(task);
}

const importState = (task: Task<Import>): ImportState => ({
  ...task.facts,
  ...task.about,
  failures: [...task.about.failures],
});
const importOf = ({ store }: Context, id: string) => tasksOf({ store }).get(id, IMPORT_KIND);

const ID = object({ id: string({ maxLength: 40 }) });

export const TRANSFER_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/exports",
    group,
    reads: true,
    summary: "Prepares a file of keys, to be downloaded within a minute.",
    body: object({ selection: SELECTION, format: oneOf(FORMATS) }),
    answers: "The task: its id is in the address of the file.",
    answer: EXPORT,
    run: (context, { body }) => prepare(context, body),
  }),
  route({
    method: "GET",
    url: "/api/exports/:id",
    group,
    summary: "How far an export is.",
    params: ID,
    answers: "Keys and bytes until now.",
    answer: EXPORT,
    run: (context, { params }) => exportState(exportOf(context, params.id)),
  }),
  route({
    method: "GET",
    url: "/api/exports/:id/file",
    group,
    summary: "The file, written while it is downloaded. It can be downloaded once.",
    params: ID,
    answers: "JSON lines, CSV, or commands.",
    media: "application/octet-stream",
    run: (context, { params, reply: answer }) => {
      const { about } = exportOf(context, params.id);
      if (about.open === null) throw new Problem(409, "TAKEN", "this file was downloaded already; export it again");
      return answer
        .type("application/octet-stream")
        .header("content-disposition", `attachment; filename="keys.${ENDINGS[about.format]}"`)
        .send(about.open());
    },
  }),
  route({
    method: "DELETE",
    url: "/api/exports/:id",
    group,
    reads: true,
    summary: "Stops an export.",
    params: ID,
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params }) => {
      await exportOf(context, params.id).stop();
    },
  }),
  route({
    method: "POST",
    url: "/api/imports",
    group,
    summary: "Reads a file of keys, which is the body, as application/octet-stream.",
    query: object({
      id: string({ default: "", maxLength: 40, pattern: "^[\\w-]*$", description: "To ask for it meanwhile." }),
      format: oneOf(FORMATS),
      existing: oneOf(["replace", "keep"] as const, "What becomes of keys that are there already."),
    }),
    bodyMedia: "application/octet-stream",
    answers: "What became of it.",
    answer: IMPORT,
    run: (context, { query, request }) => {
      if (!(request.body instanceof Readable))
        throw new Problem(415, "MEDIA", "the body is the file, as application/octet-stream");
      return take(context, query, request.body, Number(request.headers["content-length"] ?? 0));
    },
  }),
  route({
    method: "GET",
    url: "/api/imports/:id",
    group,
    summary: "How far an import is.",
    params: ID,
    answers: "Bytes that were read, and what became of the keys until now.",
    answer: IMPORT,
    run: (context, { params }) => importState(importOf(context, params.id)),
  }),
  route({
    method: "DELETE",
    url: "/api/imports/:id",
    group,
    summary: "Stops an import; what is imported stays.",
    params: ID,
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params }) => {
      await importOf(context, params.id).stop();
    },
  }),
];
