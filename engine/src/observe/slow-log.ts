/**
 * The slow log: the last commands that took longer than slowlog-log-slower-than, the newest first.
 */

import type { Config } from "../config/config.ts";

const MAX_ARGUMENTS = 32;
const MAX_ARGUMENT_LENGTH = 128;

export interface SlowCommand {
  readonly id: number;
  /** Seconds since 1970. */
  readonly at: number;
  readonly microseconds: number;
  readonly argv: readonly string[];
  readonly address: string;
  readonly name: string;
}

/** What the log needs of the store around it. */
interface SlowLogHost {
  readonly now: number;
  readonly config: Pick<Config, "values">;
}

/** Who has called. */
interface Caller {
  readonly name: string;
  readonly transport: { readonly address: string };
}

export class SlowLog {
  /** Microseconds; negative switches it off. */
  threshold = 10_000;
  readonly entries: SlowCommand[] = [];
  readonly #host: SlowLogHost;
  #nextId = 0;

  constructor(host: SlowLogHost) {
    this.#host = host;
  }

  add(client: Caller, argv: readonly string[], microseconds: number): void {
    this.entries.unshift({
      id: this.#nextId++,
      at: Math.floor(this.#host.now / 1000),
      microseconds: Math.floor(microseconds),
      argv: shortened(argv),
      address: client.transport.address,
      name: client.name,
    });
    this.trim();
  }

  /** Drops what is beyond slowlog-max-len. */
  trim(): void {
    const most = this.#host.config.values["slowlog-max-len"];
    if (this.entries.length > most) this.entries.length = most;
  }

  reset(): void {
    this.entries.length = 0;
  }
}

/** Long commands are kept in part, and say so. */
function shortened(argv: readonly string[]): string[] {
  const kept = argv.length > MAX_ARGUMENTS ? MAX_ARGUMENTS - 1 : argv.length;
  const words = argv.slice(0, kept).map((word) => {
    if (word.length <= MAX_ARGUMENT_LENGTH) return word;
    return `${word.slice(0, MAX_ARGUMENT_LENGTH)}... (${word.length - MAX_ARGUMENT_LENGTH} more bytes)`;
  });
  if (kept < argv.length) words.push(`... (${argv.length - kept} more arguments)`);
  return words;
}
