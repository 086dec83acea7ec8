/**
 * What goes to the append-only file and the replicas instead of the command that runs: every form that there is.
 *
 * A command stands for itself where the same words have the same outcome everywhere and at any time. Where chance, the clock
 * or the other keys decide, it must say what came of it: SPOP as SREM, EXPIRE as PEXPIREAT, BLPOP as LPOP. Deadlines say it
 * themselves when they are set (db.ts); everything else is said by the handler, with one of these methods. The last one
 * counts. While nobody listens they do nothing.
 */

/** Who an effect is for, as bits; `redis.set_repl` gives the same numbers to scripts. */
export const FOR_FILE = 1;
export const FOR_REPLICAS = 2;
export const FOR_ALL = FOR_FILE | FOR_REPLICAS;

type Words = readonly string[];

/** Commands that take elements off an end. */
type Pop = "LPOP" | "RPOP" | "ZPOPMIN" | "ZPOPMAX";

export class Propagation {
  /** Whether anybody listens. */
  heard = false;
  /** What goes out instead of the running command; null: the command itself. */
  instead: readonly Words[] | null = null;
  /** Who is to hear of the running command. */
  audience = FOR_ALL;

  // ---------------------------------------------------------------------------------------------- the command itself

  /** Nothing at all: what it runs speaks for itself, or nobody else is concerned. */
  asNothing(): void {
    this.instead = [];
  }

  /** Itself, whether it has changed anything or not: others may differ. */
  asItself(argv: Words): void {
    if (this.heard) this.instead = [[...argv]];
  }

  /** Itself, to the replicas and not to the file, whether it has changed anything or not. */
  asItselfToReplicas(argv: Words): void {
    if (!this.heard) return;
    this.instead = [[...argv]];
    this.audience = FOR_REPLICAS;
  }

  // ---------------------------------------------------------------------------------------------- keys and deadlines

  asDel(key: string): void {
    this.#as("DEL", key);
  }

  asDelOf(keys: Words): void {
    if (this.heard) this.instead = [["DEL", ...keys]];
  }

  asPexpireat(key: string, deadline: number): void {
    if (this.heard) this.instead = [["PEXPIREAT", key, String(deadline)]];
  }

  asPersist(key: string): void {
    this.#as("PERSIST", key);
  }

  /** RESTORE or its kin, with a deadline in place of the time to live that it was given. */
  asRestoreUntil(argv: Words, deadline: number): void {
    this.#as(...argv.with(2, String(deadline)), "ABSTTL");
  }

  // ---------------------------------------------------------------------------------------------- strings

  asSet(key: string, word: string): void {
    this.#as("SET", key, word);
  }

  asSetKeepingTtl(key: string, word: string): void {
    this.#as("SET", key, word, "KEEPTTL");
  }

  asSetUntil(key: string, word: string, deadline: number): void {
    if (this.heard) this.instead = [["SET", key, word, "PXAT", String(deadline)]];
  }

  // ---------------------------------------------------------------------------------------------- collections

  asHset(key: string, field: string, value: string): void {
    this.#as("HSET", key, field, value);
  }

  asSrem(key: string, members: Words): void {
    if (this.heard) this.instead = [["SREM", key, ...members]];
  }

  /** `words`: options, scores and members. */
  asZadd(key: string, words: Words): void {
    if (this.heard) this.instead = [["zadd", key, ...words]];
  }

  /** Without a count: one. */
  asPop(command: Pop, key: string, count?: number): void {
    if (!this.heard) return;
    this.instead = [count === undefined ? [command, key] : [command, key, String(count)]];
  }

  asRpoplpush(source: string, target: string): void {
    this.#as("RPOPLPUSH", source, target);
  }

  asLmove(source: string, target: string, from: string, to: string): void {
    this.#as("LMOVE", source, target, from, to);
  }

  // ---------------------------------------------------------------------------------------------- streams

  /** With the id that was chosen; `options`: how it trims, without a choice. */
  asXadd(key: string, options: Words, id: string, fields: Words): void {
    if (this.heard) this.instead = [["XADD", key, ...options, id, ...fields]];
  }

  /** `words`: how it trims, without a choice. */
  asXtrim(key: string, words: Words): void {
    this.#as("XTRIM", key, ...words);
  }

  /** What happened in groups, one after the other; see stream-effects.ts. */
  asGroupChanges(commands: readonly Words[]): void {
    this.instead = commands;
  }

  #as(...words: Words): void {
    if (this.heard) this.instead = [words];
  }
}
