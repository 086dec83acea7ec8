/** `cinnabar cli`: a command line to any store, with the flags and the output of redis-cli. */
import type { Command } from "../command.ts";
import { TLS_FLAGS } from "../link/tls.ts";
import { isPlace } from "./place-word.ts";

export const cliCommand: Command = {
  name: "cli",
  summary: "runs commands on a store: one, a pipe of them, or a prompt",
  usage: "[URL|FOLDER] [options] [COMMAND [ARGUMENT …]]",
  flags: [
    { name: "host", short: "h", value: "HOST", summary: "host of the server (default 127.0.0.1)" },
    { name: "port", short: "p", value: "N", summary: "port of the server (default 6379)" },
    { name: "socket", short: "s", value: "PATH", isPath: true, summary: "unix socket of the server" },
    { name: "uri", short: "u", value: "URL", summary: "URL of the store, in place of the first word" },
    { name: "db", short: "n", value: "N", summary: "number of the database" },
    { name: "user", value: "NAME", summary: "user; or CINNABAR_USERNAME in the environment" },
    {
      name: "pass",
      short: "a",
      value: "P",
      summary: "password; better CINNABAR_PASSWORD or REDISCLI_AUTH in the environment",
    },
    { name: "cluster", short: "c", summary: "follow the redirections of a Cluster" },
    { name: "resp3", short: "3", summary: "speak RESP3" },
    { name: "resp2", short: "2", summary: "speak RESP2" },
    { name: "raw", summary: "print replies raw (default when the output is no terminal)" },
    { name: "no-raw", summary: "print replies with their types (default in a terminal)" },
    { name: "json", summary: "print replies as JSON (speaks RESP3 unless -2 is given)" },
    { name: "quoted-json", summary: "the same with every byte that is not ASCII escaped" },
    { name: "csv", summary: "print replies as CSV" },
    { name: "delimiter", short: "d", value: "TEXT", summary: "between the elements of a raw reply (default \\n)" },
    { name: "reply-delimiter", short: "D", value: "TEXT", summary: "behind a raw reply (default \\n)" },
    {
      name: "show-pushes",
      value: "yes|no",
      choices: ["yes", "no"],
      summary: "print what a server sends unasked (default in a terminal)",
    },
    { name: "last-word", short: "x", summary: "read the last argument from the input" },
    { name: "repeat", short: "r", value: "N", summary: "run the command N times" },
    {
      name: "interval",
      short: "i",
      value: "TIME",
      summary: "wait between repetitions, and between steps of --scan and --bigkeys",
    },
    { name: "exit-code", short: "e", summary: "end with 1 when a command answers with an error" },
    { name: "scan", summary: "print the keys; of a Cluster those of every primary" },
    { name: "pattern", value: "GLOB", summary: "only keys like this, for --scan and --bigkeys" },
    { name: "count", value: "N", summary: "COUNT of each SCAN" },
    { name: "bigkeys", summary: "find the biggest key of each type, by elements" },
    { name: "memkeys", summary: "find the biggest key of each type, by memory" },
    { name: "pipe", summary: "send the input to the server as it is: commands in the protocol, or a line each" },
    { name: "tls", summary: "use TLS; as rediss:// does" },
    ...TLS_FLAGS,
  ],
  details: `Without a place it is the one in CINNABAR_URL, or redis://127.0.0.1:6379. A folder is opened in this process.
Without a command, lines of the input are commands; in a terminal there is a prompt with history (~/.cinnabar_history, or the
file in CINNABAR_HISTORY), completion (Tab) and hints from the command table. Lines with passwords are not kept.`,
  examples: [
    "cinnabar cli",
    "cinnabar cli redis+cluster://10.0.0.1,10.0.0.2 GET user:17",
    "cinnabar cli ./data --json HGETALL user:17",
    "cinnabar cli --scan --pattern 'session:*' | head",
    "cat commands.txt | cinnabar cli -h db.internal",
  ],
  stopsAtWord: (word) => !isPlace(word),
  async run(args, streams) {
    const { runCli } = await import("./run.ts");
    return runCli(args, streams);
  },
};
