/** The dispatcher of `cinnabar`: finds the subcommand, reads its flags, runs it, and tells what went wrong and what to do. */
import { UsageError } from "../options.ts";
import { messageOf } from "../values.ts";
import { VERSION } from "../version.ts";
import { backupCommand } from "./backup/index.ts";
import { benchCommand } from "./bench/index.ts";
import { cliCommand } from "./cli/index.ts";
import { type Command, CommandFailure, helpOf, overviewOf, type Streams } from "./command.ts";
import { completionCommand } from "./completion.ts";
import { doctorCommand } from "./doctor/index.ts";
import { readArguments } from "./flags.ts";
import { moveCommand } from "./move/index.ts";
import { didYouMean } from "./nearest.ts";
import { serverCommand } from "./server.ts";
import { startCommand } from "./start.ts";
import { exportCommand, importCommand } from "./transfer/index.ts";

export const COMMANDS: readonly Command[] = [
  startCommand,
  serverCommand,
  cliCommand,
  benchCommand,
  moveCommand,
  exportCommand,
  importCommand,
  backupCommand,
  doctorCommand,
  completionCommand(() => COMMANDS),
];

interface Chosen {
  readonly command: Command;
  readonly argv: readonly string[];
}

/** Without a name it is `start`, as is a first word that is a flag. */
function choose(argv: readonly string[]): Chosen {
  const [first] = argv;
  if (first === undefined || first.startsWith("-")) return { command: startCommand, argv };
  const command = COMMANDS.find(({ name }) => name === first);
  if (command !== undefined) return { command, argv: argv.slice(1) };
  const names = COMMANDS.map(({ name }) => name);
  throw new UsageError(`unknown command '${first}'${didYouMean(first, names)} (commands: ${names.join(", ")})`);
}

function textFor(argv: readonly string[]): string | null {
  const [first, second] = argv;
  if (first === "-h" || first === "--help") return overviewOf(COMMANDS, startCommand.flags);
  if (first === "-v" || first === "--version") return `${VERSION}\n`;
  if (first !== "help") return null;
  return second === undefined ? overviewOf(COMMANDS, startCommand.flags) : helpOf(choose([second]).command);
}

/** Resolves with the exit code: 0 done, 1 failed, 2 a finding of the command (`doctor`, a comparison); undefined: it goes on. */
export async function main(argv: readonly string[], streams: Streams): Promise<number | undefined> {
  let where = "cinnabar";
  try {
    const text = textFor(argv);
    if (text !== null) {
      streams.stdout.write(text);
      return 0;
    }
    const { command, argv: rest } = choose(argv);
    if (rest !== argv) where = `cinnabar ${command.name}`;
    if (rest.length === 1 && (rest[0] === "--help" || rest[0] === "-h")) {
      streams.stdout.write(helpOf(command));
      return 0;
    }
    const args = readArguments(command.passesOn === true ? [] : rest, command.flags, command);
    if (args.has("help")) {
      streams.stdout.write(helpOf(command));
      return 0;
    }
    return await command.run(args, command.isInterruptible === true ? interruptible(streams) : streams, rest);
  } catch (error) {
    return tell(error, where, streams);
  }
}

/** The process's own streams, with a signal that Ctrl-C and SIGTERM abort. */
function interruptible(streams: Streams): Streams {
  if (streams.stdout !== process.stdout) return streams;
  const { stdin, stdout, stderr, env } = streams;
  const controller = new AbortController();
  const interrupt = (): void => controller.abort(new Error("interrupted"));
  process.once("SIGINT", interrupt);
  process.once("SIGTERM", interrupt);
  return { stdin, stdout, stderr, env, signal: controller.signal };
}

function tell(error: unknown, where: string, { stderr }: Streams): number {
  const advice = error instanceof CommandFailure ? error.advice : undefined;
  stderr.write(`${where}: ${messageOf(error)}\n`);
  if (error instanceof UsageError) stderr.write(`Try \`${where} --help\`.\n`);
  if (advice !== undefined) stderr.write(`What to do: ${advice}\n`);
  return 1;
}
