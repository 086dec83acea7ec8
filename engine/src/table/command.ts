/**
 * A command is one row: its name, its shape, what it does to keys, a line for people, and its handler. COMMAND and all its
 * forms, permissions, key extraction, `docs/commands.md` and the console's help are derived from the row.
 */

import type { Client } from "../core/client.ts";
import type { Host } from "../core/ports.ts";
import type { Reply } from "../core/reply.ts";
import type { Args } from "./args.ts";
import type { Share } from "./shares.ts";

export type Flag =
  | "write"
  | "readonly"
  | "denyoom"
  | "admin"
  | "pubsub"
  | "noscript"
  | "blocking"
  | "loading"
  | "stale"
  | "skip_monitor"
  | "skip_slowlog"
  | "asking"
  | "fast"
  | "no_auth"
  | "may_replicate"
  | "no_mandatory_keys"
  | "movablekeys"
  | "allow_busy"
  | "no_async_loading"
  | "no_multi";

export type KeyFlag =
  | "RO"
  | "RW"
  | "OW"
  | "RM"
  | "access"
  | "update"
  | "insert"
  | "delete"
  | "not_key"
  | "incomplete"
  | "variable_flags";

/** Where keys stand among a command's words, in the terms of COMMAND's key specifications. */
export interface KeySpec {
  readonly flags: readonly KeyFlag[];
  readonly begin: { readonly index: number } | { readonly keyword: string; readonly startFrom: number };
  /**
   * A range (`last` counts from the first key; negative, from the end of the words) or a number of keys given by a word
   * (`keynum` and `first` count from where `begin` points); neither means that only the handler's own `keysOf` can tell.
   */
  readonly find:
    | { readonly last: number; readonly step: number; readonly limit: number }
    | { readonly keynum: number; readonly first: number; readonly step: number }
    | null;
  readonly notes?: string;
}

export type Handler = (client: Client, args: Args) => Reply;

/** A reply that depends on which optional arguments are there; `otherwise` when none of them is. */
export interface ReplyByOption {
  readonly otherwise: string;
  readonly [option: string]: string;
}

export interface Row {
  /** Lower case; of a subcommand, its own word only (`get` of CONFIG GET). */
  readonly name: string;
  readonly arity: number;
  readonly flags: readonly Flag[];
  readonly keys?: readonly KeySpec[];
  /** Access categories beyond the group's own and those that the flags imply. */
  readonly categories?: readonly string[];
  /** Leaves out the group's own category. */
  readonly noGroupCategory?: boolean;
  /** Redis's request/response tips for clients (`nondeterministic_output` …). */
  readonly tips?: readonly string[];
  /** The version of Redis that it came with. One later than `REDIS_VERSION` has no real server to compare with. */
  readonly since: string;
  /** One sentence, ours. */
  readonly summary: string;
  /** Arguments in the notation of Redis's manual: `key [NX | XX] score member [score member ...]`. Empty for none. */
  readonly syntax: string;
  /**
   * What it answers, as a type in RESP2's form: `string | null`, `[string, string[]]`; `Map<string, T>` is a flat list of fields
   * and values there, `Entry` one of a stream, `Reply` anything. Where an optional argument or token changes it, by their names.
   * Every row that runs has one; typed commands are made from it.
   */
  readonly reply?: string | ReplyByOption;
  /** Changes or takes over the connection that it is sent on: not for one that others share. */
  readonly ownConnection?: true;
  readonly complexity: string;
  readonly deprecated?: { readonly since: string; readonly use: string };
  readonly subcommands?: readonly Row[];
  /** May be called while subscribed in RESP2. */
  readonly whileSubscribed?: true;
  /** Runs at once although a transaction is open. */
  readonly runsInsideMulti?: true;
  /** Runs what the client has queued (EXEC): what is refused of the queue is refused of it. */
  readonly runsQueue?: true;
  /** Looks at keys which nobody named, and may find that their time has come. */
  readonly touchesAnyKey?: true;
  /** As brief as Redis's fast commands, though it is not among them. */
  readonly brief?: true;
  /** Takes as many elements as a word behind the needed ones says: fast only without it. */
  readonly takesCount?: true;
  /** Refused while files cannot be written, although it writes nothing: so monitoring notices. */
  readonly refusedWithoutFiles?: true;
  /** Concerns whole databases, so it waits for every key that MIGRATE has on its way. */
  readonly wholeDatabases?: true;
  /** May leave the client's database, or does not say which one it is in. */
  readonly otherDatabases?: true;
  /** Moves keys between nodes of a Cluster: runs where a slot is open, on whichever node its keys are. */
  readonly movesKeys?: true;
  /** Lets what CLIENT CACHING said stay in force for the next command. Holds for all subcommands. */
  readonly keepsCaching?: true;
  /** Has no entry of its own in documents. */
  readonly undocumented?: true;
  /** Which part of the values at its keys a call copies or turns into a reply; without keys, of all keys. See shares.ts. */
  readonly builds?: Share;
  /** Which words are channels that a user must be allowed to use: the first, or all; names, or patterns of names. */
  readonly channels?: { readonly many: boolean; readonly patterns: boolean };
  /** For commands whose words decide what they do to their keys. */
  readonly keyFlagsOf?: (argv: readonly string[]) => readonly KeyFlag[];
  /** For commands whose keys the specifications cannot find; indexes into argv. */
  readonly keysOf?: (argv: readonly string[]) => number[];
  /** For commands whose flags depend on the call, such as a script that says what it does; see `Command.asCalled`. */
  readonly flagsOf?: (engine: Host, argv: readonly string[], flags: number) => number;
  /** The part of the engine that has the command, where that is not loaded yet: everything but the name is unknown then. */
  readonly part?: string;
  /** Absent only on containers that cannot be called without a subcommand. */
  readonly run?: Handler;
}

export type GroupName =
  | "bitmap"
  | "cluster"
  | "connection"
  | "generic"
  | "geo"
  | "hash"
  | "hyperloglog"
  | "list"
  | "pubsub"
  | "scripting"
  | "server"
  | "set"
  | "sorted-set"
  | "stream"
  | "string"
  | "transactions";

export interface Group {
  readonly name: GroupName;
  readonly rows: readonly Row[];
}

/** A file of commands: `export const sets = group("set", [ … ])`, listed once in commands/index.ts. */
export function group(name: GroupName, rows: readonly Row[]): Group {
  return { name, rows };
}

// The usual key specifications. `spec(flags)` is one key at position 1; the others say how they differ.

type Flags = readonly KeyFlag[];

/** One key, at word `index`. */
export const key = (flags: Flags, index = 1): KeySpec => ({
  flags,
  begin: { index },
  find: { last: 0, step: 1, limit: 0 },
});

/** Keys from word `index` to the end, `step` apart; `last` -2 leaves out the last word. */
export const keysFrom = (flags: Flags, index = 1, step = 1, last = -1): KeySpec => ({
  flags,
  begin: { index },
  find: { last, step, limit: 0 },
});

/** As many keys as word `index` says, right behind it. */
export const countedKeys = (flags: Flags, index: number): KeySpec => ({
  flags,
  begin: { index },
  find: { keynum: 0, first: 1, step: 1 },
});

export const READ_KEY = [key(["RO", "access"])];
