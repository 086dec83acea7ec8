/**
 * The command table: rows joined with what is derived from them once, and looked up by name.
 */

import type { Host } from "../core/ports.ts";
import type { Flag, Group, GroupName, Handler, Row } from "./command.ts";

/** Flags as bits, for the checks that every call passes. */
export const WRITE = 1;
export const DENYOOM = 2;
export const NO_AUTH = 4;
export const NO_MULTI = 8;
export const READONLY = 16;
export const SKIP_MONITOR = 32;
export const SKIP_SLOWLOG = 64;
export const ALLOW_BUSY = 128;
export const NOSCRIPT = 256;
export const MAY_REPLICATE = 512;
export const ADMIN = 2048;
export const FAST = 4096;
/** May be called while data is loaded. */
export const WHILE_LOADING = 8192;
/** May be called on a replica whose link is down, though it must not show old data. */
export const STALE = 16384;
/** Must not be called while a replica loads beside the data that it serves. */
export const NO_ASYNC_LOADING = 32768;
/** Comes from another node of a Cluster: a slot that is being imported takes it without ASKING. */
export const ASKING = 65536;
/** May be called while subscribed in RESP2. */
export const WHILE_SUBSCRIBED = 1024;

const BITS: Partial<Record<Flag, number>> = {
  write: WRITE,
  denyoom: DENYOOM,
  no_auth: NO_AUTH,
  no_multi: NO_MULTI,
  readonly: READONLY,
  skip_monitor: SKIP_MONITOR,
  skip_slowlog: SKIP_SLOWLOG,
  allow_busy: ALLOW_BUSY,
  noscript: NOSCRIPT,
  may_replicate: MAY_REPLICATE,
  admin: ADMIN,
  fast: FAST,
  loading: WHILE_LOADING,
  stale: STALE,
  no_async_loading: NO_ASYNC_LOADING,
  asking: ASKING,
};

/** Fast commands take their time for each word. */
const MOST_BRIEF_WORDS = 24;

export class Command {
  readonly row: Row;
  readonly group: GroupName;
  /** `get`, or `config|get` for a subcommand. */
  readonly name: string;
  readonly parent: Command | null;
  readonly arity: number;
  readonly flags: number;
  readonly run: Handler | undefined;
  readonly subcommands: ReadonlyMap<string, Command> | null;
  /** Where its own arguments begin in argv. */
  readonly firstArgument: number;
  readonly runsInsideMulti: boolean;
  readonly runsQueue: boolean;
  readonly touchesAnyKey: boolean;
  /** Whether words of a call may outlive it, in the data or in a list of keys that somebody watches or waits for. */
  readonly keepsWords: boolean;
  /** Whether the words of a call may decide which node of a Cluster runs it. */
  readonly isRouted: boolean;
  /** Whether those words are shard channels, not keys. */
  readonly namesShardChannels: boolean;
  /** Whether its flags depend on the call. */
  readonly varies: boolean;
  readonly #brief: boolean;
  /** With more words than these a call may take longer. */
  readonly #mostWords: number;
  /** A number of its own, for statistics kept in arrays. */
  readonly index: number;

  /** The same command with the flags that some of its calls have. */
  readonly #variants = new Map<number, Command>();

  /** `otherFlags`: instead of the row's. */
  constructor(row: Row, group: GroupName, parent: Command | null, nextIndex: () => number, otherFlags?: number) {
    this.row = row;
    this.group = group;
    this.parent = parent;
    this.name = parent === null ? row.name : `${parent.name}|${row.name}`;
    this.arity = row.arity;
    this.index = nextIndex();
    this.run = row.run;
    this.firstArgument = parent === null ? 1 : 2;
    this.runsInsideMulti = row.runsInsideMulti ?? false;
    this.runsQueue = row.runsQueue ?? false;
    this.touchesAnyKey = row.touchesAnyKey ?? false;
    this.isRouted = this.runsQueue || row.keysOf !== undefined || (row.keys ?? []).length > 0;
    this.namesShardChannels = row.keys?.some((spec) => spec.flags.includes("not_key")) ?? false;
    let flags = row.whileSubscribed ? WHILE_SUBSCRIBED : 0;
    for (const flag of row.flags) flags |= BITS[flag] ?? 0;
    this.flags = otherFlags ?? flags;
    this.varies = (row.flagsOf !== undefined || row.part !== undefined) && otherFlags === undefined;
    this.keepsWords = !row.flags.includes("readonly") || row.flags.includes("blocking");
    this.#brief = (flags & FAST) !== 0 || (row.brief ?? false);
    const least = Math.abs(row.arity);
    this.#mostWords = row.takesCount ? least : Math.max(least, MOST_BRIEF_WORDS);
    this.subcommands =
      row.subcommands === undefined
        ? null
        : new Map(row.subcommands.map((sub) => [sub.name, new Command(sub, group, this, nextIndex)]));
  }

  /** The command with the flags of this call. Everything else, its statistics too, is the same. */
  asCalled(engine: Host, argv: readonly string[]): Command {
    const flags = this.row.flagsOf!(engine, argv, this.flags);
    if (flags === this.flags) return this;
    let variant = this.#variants.get(flags);
    if (variant === undefined) {
      variant = new Command(this.row, this.group, this.parent, () => this.index, flags);
      this.#variants.set(flags, variant);
    }
    return variant;
  }

  /** Whether a call of this many words takes some microseconds at most, whatever the data: Redis's fast ones without counts. */
  isBrief(words: number): boolean {
    return this.#brief && words <= this.#mostWords;
  }

  /** Whether this many words, the name included, are right for it. */
  accepts(words: number): boolean {
    return this.arity > 0 ? words === this.arity : words >= -this.arity;
  }
}

function rename(commands: Map<string, Command>, from: string, to: string): void {
  const command = commands.get(from);
  if (command === undefined) throw new Error("No such command in rename-command");
  commands.delete(from);
  if (to === "") return;
  if (commands.has(to)) throw new Error("Target command name already exists");
  commands.set(to, command);
}

export class CommandTable {
  /** Top-level commands by lower-case name. */
  readonly commands: ReadonlyMap<string, Command>;
  readonly #commands: Map<string, Command>;
  /** How many numbers commands and subcommands have: the size for statistics kept in arrays. */
  count = 0;
  readonly #lookup = new Map<string, Command>();
  #lastName = "";
  #lastFound: Command | undefined = undefined;

  /** Some of them under another name, or under none if it is empty (rename-command). Throws a text for people. */
  constructor(groups: readonly Group[], renames: readonly (readonly [string, string])[] = []) {
    const commands = new Map<string, Command>();
    for (const { name, rows } of groups) {
      for (const row of rows) {
        if (commands.has(row.name)) throw new Error(`command ${row.name} is listed twice`);
        commands.set(row.name, new Command(row, name, null, () => this.count++));
      }
    }
    for (const [from, to] of renames) rename(commands, from.toLowerCase(), to.toLowerCase());
    this.commands = commands;
    this.#commands = commands;
    for (const [name, command] of commands) this.#enter(name, command);
  }

  #enter(name: string, command: Command): void {
    this.#lookup.set(name, command);
    this.#lookup.set(name.toUpperCase(), command);
  }

  /** Puts commands in the place of the rows that stood for them. */
  complete({ name: group, rows }: Group): void {
    for (const row of rows) {
      if (this.#commands.get(row.name)?.row.part === undefined) throw new Error(`command ${row.name} is listed twice`);
      const command = new Command(row, group, null, () => this.count++);
      this.#commands.set(row.name, command);
      this.#enter(row.name, command);
    }
    this.#lastName = "";
    this.#lastFound = undefined;
  }

  /** The top-level command of this name, in any case. */
  get(name: string): Command | undefined {
    // Pipelines are often the same command again, and its name the same string.
    if (name === this.#lastName) return this.#lastFound;
    const found = this.#lookup.get(name) ?? this.#lookup.get(name.toLowerCase());
    if (found === undefined) return undefined;
    this.#lastName = name;
    this.#lastFound = found;
    return found;
  }

  /** The command that these words call: a subcommand where the container has one of that name. */
  find(argv: readonly string[]): Command | undefined {
    const command = this.get(argv[0]!);
    if (command === undefined || command.subcommands === null || argv.length < 2) return command;
    return command.subcommands.get(argv[1]!.toLowerCase()) ?? command;
  }
}
