/**
 * A cursor over a command's words. Handlers read all their arguments with it, then change; every reader throws the error
 * that Redis would answer.
 */
import {
  NOT_A_FLOAT,
  NOT_AN_INTEGER,
  NOT_POSITIVE,
  type ReplyError,
  SYNTAX,
  TIMEOUT_NEGATIVE,
  TIMEOUT_NOT_FLOAT,
} from "../core/errors.ts";
import { parseFloat64, parseInt64 } from "../lib/numbers.ts";

export class Args {
  /** The whole command, its name first (for a subcommand: the container's name, then its own). */
  readonly argv: readonly string[];
  #at: number;

  constructor(argv: readonly string[], start = 1) {
    this.argv = argv;
    this.#at = start;
  }

  get more(): boolean {
    return this.#at < this.argv.length;
  }

  /** How many words are left. */
  get left(): number {
    return this.argv.length - this.#at;
  }

  /** The next word; a syntax error where there is none. */
  next(): string {
    const word = this.argv[this.#at++];
    if (word === undefined) throw SYNTAX;
    return word;
  }

  /** The word at a place of the whole command, 0 for its name; a syntax error where there is none. */
  at(place: number): string {
    const word = this.argv[place];
    if (word === undefined) throw SYNTAX;
    return word;
  }

  /** The next word without moving on. */
  peek(): string | undefined {
    return this.argv[this.#at];
  }

  /** All words that are left. */
  rest(): string[] {
    const words = this.argv.slice(this.#at);
    this.#at = this.argv.length;
    return words;
  }

  /** The next `count` words; a syntax error where there are fewer. */
  take(count: 1): [string];
  take(count: 2): [string, string];
  take(count: 3): [string, string, string];
  take(count: number): string[];
  take(count: number): string[] {
    if (count > this.left) throw SYNTAX;
    const words = this.argv.slice(this.#at, this.#at + count);
    this.#at += count;
    return words;
  }

  /** Moves past the next word if it is this one in any case (give it in lower case). */
  accept(token: string): boolean {
    const word = this.argv[this.#at];
    if (word === undefined || !sameToken(word, token)) return false;
    this.#at++;
    return true;
  }

  /** The next word in lower case, for switch statements over options. */
  option(): string {
    return this.next().toLowerCase();
  }

  /** Throws a syntax error if words are left. */
  end(): void {
    if (this.#at < this.argv.length) throw SYNTAX;
  }

  /**
   * An int64 as a number: exact within 2^53, nearest double beyond. For counts, offsets and indexes, where only the
   * order of magnitude matters out there.
   */
  int(error: ReplyError = NOT_AN_INTEGER): number {
    const value = parseInt64(this.next());
    if (value === undefined) throw error;
    return Number(value);
  }

  /** An int64, exact: bigint past 2^53. */
  int64(error: ReplyError = NOT_AN_INTEGER): number | bigint {
    const value = parseInt64(this.next());
    if (value === undefined) throw error;
    return value;
  }

  /** An int within bounds, both inclusive. */
  intBetween(min: number, max: number, error: ReplyError = NOT_AN_INTEGER): number {
    const value = this.int(error);
    if (value < min || value > max) throw error;
    return value;
  }

  /** A count that must not be negative. */
  count(error: ReplyError = NOT_POSITIVE): number {
    return this.intBetween(0, Number.MAX_SAFE_INTEGER, error);
  }

  float(error: ReplyError = NOT_A_FLOAT): number {
    const value = parseFloat64(this.next());
    if (value === undefined) throw error;
    return value;
  }

  /** A blocking command's timeout in seconds, as milliseconds; 0 means for ever. */
  timeoutMs(): number {
    const seconds = parseFloat64(this.next());
    if (seconds === undefined) throw TIMEOUT_NOT_FLOAT;
    if (seconds < 0) throw TIMEOUT_NEGATIVE;
    const ms = Math.ceil(seconds * 1000);
    // Past int64 the milliseconds wrap around in Redis.
    if (ms >= 2 ** 63) throw TIMEOUT_NEGATIVE;
    return ms;
  }
}

/** Whether a word is this lower-case token in any case. */
export function sameToken(word: string, token: string): boolean {
  if (word === token) return true;
  return word.length === token.length && word.toLowerCase() === token;
}
