/** A redis-cli: takes lines, gives lines. */
import { Connection } from "./client.ts";
import { formatted, isReport, type Line } from "./format.ts";
import { textOf, wordsOf } from "./words.ts";

export interface Entry {
  readonly prompt: string;
  readonly line: string;
  readonly output: readonly Line[];
}

const MOST_LINES = 200;

const limited = (lines: readonly Line[]): readonly Line[] =>
  lines.length <= MOST_LINES
    ? lines
    : [...lines.slice(0, MOST_LINES), { text: `… ${lines.length - MOST_LINES} more lines`, tone: "nil" }];

export class Cli {
  readonly onPush: (lines: readonly Line[]) => void;
  #connection: Connection | undefined;
  #db = 0;
  #inMulti = false;

  /** Called with messages that come by themselves. */
  constructor(onPush: (lines: readonly Line[]) => void = () => {}) {
    this.onPush = onPush;
  }

  get prompt(): string {
    return `page${this.#db === 0 ? "" : `[${this.#db}]`}${this.#inMulti ? "(TX)" : ""}>`;
  }

  /** The database that is selected. */
  get db(): number {
    return this.#db;
  }

  /** Whether commands only queue up now. */
  get isQueuing(): boolean {
    return this.#inMulti;
  }

  get connection(): Connection {
    if (this.#connection === undefined) {
      this.#connection = new Connection();
      this.#connection.onPush = (reply) => this.onPush(formatted(reply));
    }
    return this.#connection;
  }

  async run(line: string): Promise<Entry> {
    const { prompt } = this;
    const words = wordsOf(line);
    if (words === null) return { prompt, line, output: [{ text: "Invalid argument(s)", tone: "error" }] };
    if (words.length === 0) return { prompt, line, output: [] };
    const texts = words.map(textOf);
    const reply = await this.connection.call(words);
    this.#follow(texts, reply.kind === "error");
    return { prompt, line, output: limited(formatted(reply, isReport(texts.slice(0, 2).join(" ")))) };
  }

  /** An empty store again, on a connection of its own. */
  reset(): void {
    this.#connection?.close();
    this.#connection = undefined;
    this.#db = 0;
    this.#inMulti = false;
  }

  #follow([name = "", first = ""]: readonly string[], failed: boolean): void {
    if (/^(?:exec|discard)$/i.test(name) || (/^reset$/i.test(name) && !failed)) this.#inMulti = false;
    if (failed) return;
    if (/^multi$/i.test(name)) this.#inMulti = true;
    if (/^select$/i.test(name)) this.#db = Number(first);
    if (/^reset$/i.test(name)) this.#db = 0;
  }
}
