/** What `cinnabar cli` does: one command, a pipe of commands, a prompt, or a walk over the keys. */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../options.ts";
import { messageOf } from "../../values.ts";
import { CommandFailure, type Streams } from "../command.ts";
import type { Arguments } from "../flags.ts";
import { onePlace, type Place, placeOf } from "../link/place.ts";
import { type Reached, reach } from "../link/reach.ts";
import { tlsFrom } from "../link/tls.ts";
import { CommandDocs } from "./docs.ts";
import type { Format } from "./format.ts";
import { printHelp } from "./help.ts";
import { printBigKeys, printKeys } from "./keys.ts";
import { transfer } from "./pipe.ts";
import { isPlace } from "./place-word.ts";
import { runPrompt } from "./prompt.ts";
import { Session } from "./session.ts";
import { splitWords } from "./words.ts";

function placeFrom(args: Arguments, streams: Streams): { readonly place: Place; readonly words: readonly string[] } {
  const [first, ...rest] = args.positionals;
  const named = first !== undefined && isPlace(first) ? first : args.text("uri");
  const words = first !== undefined && isPlace(first) ? rest : args.positionals;
  const { env } = streams;
  const password = args.text("pass");
  const withFlags = {
    ...env,
    ...(password === undefined ? {} : { CINNABAR_PASSWORD: password }),
    ...(args.has("user") ? { CINNABAR_USERNAME: args.text("user") } : {}),
  };
  if (named !== undefined) return { place: placeOf(named, withFlags), words };
  const isAddressed = ["host", "port", "socket", "db", "tls"].some((flag) => args.has(flag));
  if (!isAddressed) return { place: onePlace(undefined, withFlags), words };
  const db = args.whole("db", 0, 0, 999_999);
  const host = args.text("host") ?? "127.0.0.1";
  const socket = args.text("socket");
  const url =
    socket === undefined
      ? `${args.has("tls") ? "rediss" : "redis"}://${host.includes(":") ? `[${host}]` : host}:${args.whole("port", 6_379, 1, 65_535)}/${db}`
      : `unix://${encodeURI(socket)}?db=${db}`;
  return { place: placeOf(url, withFlags), words };
}

function formatOf(args: Arguments, isTerminal: boolean): Format {
  const asked = (["json", "quoted-json", "csv"] as const).filter((each) => args.has(each));
  if (asked.length > 1) throw new UsageError(`--${asked[0]} and --${asked[1]} exclude each other`);
  if (asked[0] !== undefined) return asked[0];
  if (args.has("no-raw")) return "standard";
  return args.has("raw") || !isTerminal ? "raw" : "standard";
}

const unescaped = (text: string): string => text.replace(/\\n/g, "\n").replace(/\\t/g, "\t").replace(/\\r/g, "\r");

interface Asked {
  readonly args: Arguments;
  readonly streams: Streams;
  readonly reached: Reached;
  readonly session: Session;
  readonly format: Format;
  readonly isCluster: boolean;
  readonly print: (text: string) => void;
}

export async function runCli(args: Arguments, streams: Streams): Promise<number> {
  const { place, words } = placeFrom(args, streams);
  const format = formatOf(args, streams.stdout.isTTY === true);
  const print = (text: string): void => void streams.stdout.write(Buffer.from(text, "latin1"));
  const isJson = format === "json" || format === "quoted-json";
  const isCluster = args.has("cluster") || place.kind === "cluster";
  const tls = tlsFrom(args, [place]);
  const reached = await reach(place, { tls });
  const session = new Session(reached, {
    format,
    delimiters: {
      element: unescaped(args.text("delimiter") ?? "\n"),
      reply: unescaped(args.text("reply-delimiter") ?? "\n"),
    },
    protocol: args.has("resp3") || (isJson && !args.has("resp2")) ? 3 : 2,
    isCluster,
    showsPushes:
      args.text("show-pushes") === undefined ? streams.stdout.isTTY === true : args.text("show-pushes") === "yes",
    print,
  });
  try {
    return await runMode({ args, streams, reached, session, format, isCluster, print }, words);
  } finally {
    session.close();
    await reached.close();
  }
}

async function runMode(asked: Asked, words: readonly string[]): Promise<number> {
  const { args, streams, reached, format, isCluster, print, session } = asked;
  const walk = {
    pattern: args.text("pattern"),
    count: args.has("count") ? args.whole("count", 10, 1) : undefined,
    isCluster,
    pauseMs: args.duration("interval", 0),
  };
  if (args.has("scan")) await printKeys(reached, walk, format === "standard", print);
  else if (args.has("bigkeys") || args.has("memkeys")) {
    await printBigKeys(reached, { ...walk, byMemory: args.has("memkeys") }, print);
  } else if (args.has("pipe")) return transfer(await session.connect(), streams);
  else if (words.length > 0) return runOne(asked, words);
  else if (streams.stdin.isTTY === true) return prompt(asked);
  else return runLines(asked);
  return 0;
}

/** The words of the command line; `-x` adds what is on the input as the last one. */
async function runOne({ args, streams, session }: Asked, given: readonly string[]): Promise<number> {
  const words = given.map((word) => Buffer.from(word).toString("latin1"));
  if (args.has("last-word")) words.push((await wholeInput(streams)).toString("latin1"));
  const times = args.whole("repeat", 1, 1);
  let failed = false;
  for (let count = 0; count < times; count++) {
    if (count > 0) await sleep(args.duration("interval", 0));
    failed = await session.run(words, streams.signal);
  }
  return failed && args.has("exit-code") ? 1 : 0;
}

async function wholeInput({ stdin }: Streams): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/** Commands from a pipe, a line each. */
async function runLines(asked: Asked): Promise<number> {
  const { streams, args } = asked;
  let failed = false;
  streams.stdin.setEncoding("latin1");
  const lines = createInterface({ input: streams.stdin, crlfDelay: Number.POSITIVE_INFINITY, terminal: false });
  try {
    for await (const line of lines) {
      const outcome = await runLine(asked, line, null);
      if (outcome === "end") break;
      failed ||= outcome === "failed";
    }
  } finally {
    lines.close();
  }
  return failed && args.has("exit-code") ? 1 : 0;
}

/** A command that takes longer is followed by its time. */
const SLOW_MS = 500;

type Outcome = "done" | "failed" | "end";

/** A line of a pipe or of the prompt, latin1. */
async function runLine(
  asked: Asked,
  line: string,
  docs: Promise<CommandDocs> | null,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { session, print, streams } = asked;
  const words = splitWords(line);
  if (words === null) {
    print("Invalid argument(s)\n");
    return "failed";
  }
  const isRepeated = words.length > 1 && /^\d{1,9}$/.test(words[0]!) && Number(words[0]) > 0;
  const times = isRepeated ? Number(words.shift()) : 1;
  const [name] = words;
  if (name === undefined) return "done";
  const lower = name.toLowerCase();
  if (lower === "quit" || lower === "exit") return "end";
  if (lower === "clear" && words.length === 1) print("\x1b[H\x1b[2J");
  else if (lower === "help" || lower === "?") print(await printHelp(words.slice(1), docs ?? CommandDocs.load()));
  else if (lower === "connect" && words.length === 3) await session.moveTo({ host: words[1]!, port: Number(words[2]) });
  else {
    let failed = false;
    const began = performance.now();
    try {
      for (let count = 0; count < times && signal?.aborted !== true; count++) failed = await session.run(words, signal);
      const tookMs = performance.now() - began;
      if (tookMs >= SLOW_MS && asked.format === "standard") print(`(${(tookMs / 1_000).toFixed(2)}s)\n`);
    } catch (error) {
      if (docs === null && !(error instanceof CommandFailure)) throw error;
      streams.stderr.write(`Error: ${messageOf(error)}\n`);
      failed = true;
    }
    return failed ? "failed" : "done";
  }
  return "done";
}

async function prompt(asked: Asked): Promise<number> {
  const { session, streams } = asked;
  // A table that cannot be read costs the hints alone.
  const docs = CommandDocs.load().catch(() => new CommandDocs(new Map()));
  const connect = async (): Promise<void> => {
    try {
      await session.connect();
    } catch (error) {
      streams.stderr.write(`${messageOf(error)}\n`);
      if (error instanceof CommandFailure && error.advice !== undefined)
        streams.stderr.write(`What to do: ${error.advice}\n`);
    }
  };
  await connect();
  await runPrompt(streams, {
    docs,
    prompt: () => session.prompt,
    async run(line, signal) {
      const outcome = await runLine(asked, Buffer.from(line).toString("latin1"), docs, signal);
      if (outcome !== "end" && !session.isConnected) await connect();
      return outcome !== "end";
    },
  });
  return 0;
}
