/** How far a long command is: a bar in a terminal, now and then a line elsewhere. */
import type { Streams } from "./command.ts";

const WIDTH = 30;
const TERMINAL_MS = 100;
const LINE_MS = 5_000;

export class Progress {
  readonly #out: Streams["stderr"];
  readonly #isTerminal: boolean;
  readonly #signal: AbortSignal | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #isShown = false;

  constructor({ stderr, signal }: Streams) {
    this.#out = stderr;
    this.#signal = signal;
    this.#isTerminal = stderr.isTTY === true;
  }

  /** `total` 0: nobody knows. Throws when the command was interrupted: long work shows its progress, so it ends here. */
  show(what: string, done: number, total: number, unit = ""): void {
    this.#signal?.throwIfAborted();
    const now = performance.now();
    if (now - this.#toldAt < (this.#isTerminal ? TERMINAL_MS : LINE_MS)) return;
    this.#toldAt = now;
    const share = total === 0 ? 0 : Math.min(1, done / total);
    const figures = total === 0 ? `${done}${unit}` : `${done} of ${total}${unit} (${Math.floor(share * 100)} %)`;
    if (!this.#isTerminal) {
      this.#out.write(`${what}: ${figures}\n`);
      return;
    }
    const full = Math.round(share * WIDTH);
    const bar = total === 0 ? "" : `[${"#".repeat(full)}${"-".repeat(WIDTH - full)}] `;
    this.#out.write(`\r\x1b[K${what} ${bar}${figures}`);
    this.#isShown = true;
  }

  /** Takes the bar away. */
  clear(): void {
    if (this.#isShown) this.#out.write("\r\x1b[K");
    this.#isShown = false;
  }

  /** A line that stays. */
  say(line: string): void {
    this.clear();
    this.#out.write(`${line}\n`);
  }
}
