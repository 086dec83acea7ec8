/** What a subcommand of `cinnabar` is: a row that the dispatcher, the help and the shells' completion read. */
import type { Readable, Writable } from "node:stream";
import { VERSION } from "../version.ts";
import { type Arguments, type Flag, flagLines, type ReadOptions, withHelp } from "./flags.ts";

/** What a command reads and writes; tests give their own. */
export interface Streams {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C: what runs puts back what it has begun, and ends. */
  readonly signal?: AbortSignal;
}

export interface Command extends ReadOptions {
  readonly name: string;
  readonly summary: string;
  /** What follows the name: `FROM TO [options]`. */
  readonly usage: string;
  readonly flags: readonly Flag[];
  /** Words that may follow, for completion. */
  readonly words?: readonly string[];
  /** Paragraphs of the help, below the flags. */
  readonly details?: string;
  readonly examples?: readonly string[];
  /** Ctrl-C aborts its `signal`, and it puts back what it has begun; a second one ends it at once. */
  readonly isInterruptible?: boolean;
  /** It reads its own command line: nothing but --help is looked at here. */
  readonly passesOn?: boolean;
  /** Resolves with the exit code; undefined while it goes on, as a server does. */
  run(args: Arguments, streams: Streams, argv: readonly string[]): Promise<number | undefined>;
}

/** Told to the user as one line, and what to do about it as another. */
export class CommandFailure extends Error {
  readonly advice: string | undefined;

  constructor(message: string, advice?: string, options?: ErrorOptions) {
    super(message, options);
    this.advice = advice;
  }
}

export function helpOf(command: Command): string {
  const { name, summary, usage, flags, details, examples = [] } = command;
  const parts = [
    `cinnabar ${name}: ${summary}`,
    `Usage: cinnabar ${name}${usage === "" ? "" : ` ${usage}`}`,
    flagLines(withHelp(flags)).join("\n"),
  ];
  if (details !== undefined) parts.push(details.trim());
  if (examples.length > 0) parts.push(["Examples:", ...examples.map((each) => `  ${each}`)].join("\n"));
  return `${parts.join("\n\n")}\n`;
}

export function overviewOf(commands: readonly Command[], startFlags: readonly Flag[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`);
  return `cinnabar ${VERSION}: a store with Redis's data types and commands, and a console to see and run it

Usage: cinnabar [command] [options]

${lines.join("\n")}

\`cinnabar COMMAND --help\` explains a command. Without a command it is \`cinnabar start\`:

${flagLines([...startFlags, { name: "help", short: "h", summary: "this text" }, { name: "version", short: "v", summary: "the version" }]).join("\n")}
`;
}
