/** `cinnabar export` and `cinnabar import`. */
import type { Command } from "../command.ts";
import { TLS_FLAGS } from "../link/tls.ts";
import { FORMATS } from "./format.ts";

const format = {
  name: "format",
  value: "FORM",
  choices: FORMATS,
  summary: "rdb, aof, jsonl or commands; else by the name's end: .rdb .aof .jsonl .txt",
};
const about = `Forms: rdb is a snapshot that Redis loads; aof and commands are the commands that create the keys, in the protocol and one on a line; jsonl has a
JSON object for each key (db, key, type, value, expiresAt), bytes that are no UTF-8 as { "base64": … }, streams as DUMP has them.
Credentials: CINNABAR_USERNAME and CINNABAR_PASSWORD.`;

export const exportCommand: Command = {
  name: "export",
  summary: "writes a store to a file: RDB, AOF, JSON lines or commands",
  usage: "URL|FOLDER FILE|- [options]",
  flags: [format, { name: "pattern", value: "GLOB", summary: "only keys like this (not for rdb)" }, ...TLS_FLAGS],
  details: about,
  examples: [
    "cinnabar export redis://127.0.0.1:6379 all.rdb",
    "cinnabar export ./data - --format jsonl --pattern 'user:*' | gzip > users.gz",
  ],
  isInterruptible: true,
  async run(args, streams) {
    const { runExport } = await import("./export.ts");
    return runExport(args, streams);
  },
};

export const importCommand: Command = {
  name: "import",
  summary: "reads a file into a store: RDB, AOF, JSON lines or commands",
  usage: "FILE|- URL|FOLDER [options]",
  flags: [
    format,
    { name: "pattern", value: "GLOB", summary: "only keys like this (for rdb)" },
    {
      name: "from",
      value: "LIBRARY",
      choices: ["bullmq"],
      summary: "take the data of another library: the first word is then the store that has it",
    },
    { name: "queue", value: "NAME", summary: "with --from bullmq: the queue whose jobs are moved" },
    { name: "prefix", value: "WORD", summary: "with --from bullmq: BullMQ's prefix (default bull)" },
    { name: "into", value: "NAME", summary: "with --from bullmq: the queue that gets them (default the same name)" },
    ...TLS_FLAGS,
  ],
  details: `Keys that are there already are replaced, others stay.\n\n${about}`,
  examples: [
    "cinnabar import dump.rdb ./data",
    "cinnabar import users.jsonl redis://127.0.0.1:6379",
    "cinnabar import --from bullmq redis://127.0.0.1:6379 ./data --queue mails",
  ],
  isInterruptible: true,
  async run(args, streams) {
    const { runImport } = await import("./import.ts");
    return runImport(args, streams);
  },
};
