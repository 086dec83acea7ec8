/** The prompt in a terminal: editing, history that leaves secrets out, completion, and hints behind what is typed. */
import { appendFileSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createInterface, emitKeypressEvents, type Interface } from "node:readline";
import type { Streams } from "../command.ts";
import type { Environment } from "../link/place.ts";
import type { CommandDocs } from "./docs.ts";
import { splitWords } from "./words.ts";

const MOST_LINES = 1_000;

/** Passwords stand in these: they are not written down. */
const SECRET =
  /^\s*(auth\b|acl\s+(setuser|deluser|getuser)\b|hello\s.*\bauth\b|migrate\s.*\bauth2?\b|config\s+set\s.*(masterauth|requirepass|masteruser|tls-(client-)?key-file-pass|sentinel-pass))/i;

export const isSecret = (line: string): boolean => SECRET.test(line);

/** `CINNABAR_HISTORY` is another file, or empty for none. */
export function historyFile(env: Environment): string | null {
  const named = env.CINNABAR_HISTORY;
  if (named !== undefined) return named === "" ? null : named;
  return join(env.HOME ?? homedir(), ".cinnabar_history");
}

class History {
  readonly #file: string | null;

  constructor(file: string | null) {
    this.#file = file;
  }

  /** The newest first, as readline wants them. */
  read(): string[] {
    if (this.#file === null) return [];
    try {
      const lines = readFileSync(this.#file, "utf8")
        .split("\n")
        .filter((line) => line !== "");
      return lines.slice(-MOST_LINES).reverse();
    } catch {
      return [];
    }
  }

  add(line: string): void {
    if (this.#file === null || line.trim() === "" || isSecret(line)) return;
    try {
      appendFileSync(this.#file, `${line}\n`, { mode: 0o600 });
    } catch {
      // A history that cannot be written is no reason to stop.
    }
  }
}

/** Dim text behind the cursor, which stays where it is. */
class Hints {
  readonly #streams: Streams;
  readonly #lines: Interface;
  readonly #docs: Promise<CommandDocs>;
  #known: CommandDocs | null = null;
  #isShown = false;

  constructor(streams: Streams, lines: Interface, docs: Promise<CommandDocs>) {
    this.#streams = streams;
    this.#lines = lines;
    this.#docs = docs;
    void this.#docs.then((known) => {
      this.#known = known;
    });
  }

  /** Before readline sees a key: what is shown goes, so that nothing of it stays on the line that is left. */
  clear(): void {
    if (this.#isShown) this.#streams.stdout.write("\x1b[K");
    this.#isShown = false;
  }

  /** After readline has seen it. */
  show(): void {
    const { line, cursor } = this.#lines;
    if (line === "" || cursor !== line.length) return;
    const hint = hintFor(line, this.#known);
    const room = (this.#streams.stdout.columns ?? 80) - this.#lines.getCursorPos().cols - 1;
    if (hint === "" || room < 4) return;
    this.#isShown = true;
    this.#streams.stdout.write(`\x1b7\x1b[90m${hint.slice(0, room)}\x1b[0m\x1b8`);
  }
}

export function hintFor(line: string, docs: CommandDocs | null): string {
  const words = splitWords(line);
  if (docs === null || words === null || words.length === 0) return "";
  const isOpen = !/\s$/.test(line);
  // While its name is typed nobody knows which command it will be.
  const hint = docs.hint(words, isOpen);
  return hint === "" ? "" : `${isOpen ? " " : ""}${hint}`;
}

export interface PromptOptions {
  readonly docs: Promise<CommandDocs>;
  prompt(): string;
  /** Runs a line; false: the end was asked for. */
  run(line: string, signal: AbortSignal): Promise<boolean>;
}

/** Reads lines and runs them, one after the other, until the end is asked for. */
export async function runPrompt(streams: Streams, { docs, prompt, run }: PromptOptions): Promise<void> {
  const { stdin, stdout, env } = streams;
  const history = new History(historyFile(env));
  const completer = (line: string, done: (error: Error | null, found: [string[], string]) => void): void => {
    docs.then(
      (known) => done(null, [known.completions(line), line]),
      () => done(null, [[], line]),
    );
  };
  const lines = createInterface({
    input: stdin,
    output: stdout,
    terminal: true,
    historySize: MOST_LINES,
    history: history.read(),
    completer,
  });
  const hints = new Hints(streams, lines, docs);
  const onKey = (): void => {
    hints.clear();
    setImmediate(() => hints.show());
  };
  emitKeypressEvents(stdin, lines);
  stdin.prependListener("keypress", onKey);
  try {
    for (;;) {
      const line = await ask(lines, prompt());
      if (line === null) return;
      history.add(line);
      if (!(await interruptible(lines, (signal) => run(line, signal)))) return;
    }
  } finally {
    stdin.removeListener("keypress", onKey);
    lines.close();
  }
}

/** Null: the input has ended, or Ctrl-C was pressed on an empty line. */
function ask(lines: Interface, prompt: string): Promise<string | null> {
  return new Promise((resolve) => {
    const end = (line: string | null): void => {
      lines.removeListener("close", closed);
      lines.removeListener("SIGINT", interrupted);
      resolve(line);
    };
    const closed = (): void => end(null);
    const interrupted = (): void => {
      if (lines.line === "") end(null);
      else lines.write(null, { ctrl: true, name: "u" });
    };
    lines.once("close", closed);
    lines.on("SIGINT", interrupted);
    lines.question(prompt, end);
  });
}

/** Ctrl-C ends what runs, not the prompt. */
async function interruptible<T>(lines: Interface, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const interrupted = (): void => controller.abort();
  lines.on("SIGINT", interrupted);
  try {
    return await work(controller.signal);
  } finally {
    lines.removeListener("SIGINT", interrupted);
  }
}
