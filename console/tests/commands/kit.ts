/** Subcommands as a user types them: in this process with captured streams, or in a process of their own. */
import { type ChildProcess, spawn } from "node:child_process";
import { PassThrough, Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { nodeWords } from "../../../scripts/program.ts";
import { main } from "../../src/commands/index.ts";

export interface Outcome {
  readonly code: number | null | undefined;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly stdin?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Runs a subcommand in this process. */
export async function cinnabar(argv: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  stdout.on("data", (chunk: Buffer) => out.push(chunk));
  stderr.on("data", (chunk: Buffer) => err.push(chunk));
  const stdin = Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]);
  const signal = options.signal === undefined ? {} : { signal: options.signal };
  const code = await main(argv, { stdin, stdout, stderr, env: options.env ?? {}, ...signal });
  return { code, out: Buffer.concat(out).toString("latin1"), err: Buffer.concat(err).toString("latin1") };
}

const BIN = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

/** What starts the command in a process of its own. */
export const PROGRAM: readonly string[] = [process.execPath, ...nodeWords(BIN)];

export function startCinnabar(argv: readonly string[], options: RunOptions = {}): ChildProcess {
  const [program, ...first] = PROGRAM;
  const child = spawn(program!, [...first, ...argv], { env: { ...process.env, ...options.env } });
  child.stdin!.end(options.stdin ?? "");
  return child;
}
