/** What COMMAND says about a command, derived from its row. */

import { MapReply, type Reply, SetReply, Status } from "../core/reply.ts";
import type { Flag, KeyFlag, KeySpec } from "./command.ts";
import type { Command } from "./command-table.ts";
import { type Argument, parseSyntax } from "./syntax.ts";

/** In the order in which Redis lists them. `may_replicate` is not among them: it is never shown. */
const FLAGS: readonly Flag[] = [
  "write",
  "readonly",
  "denyoom",
  "admin",
  "pubsub",
  "noscript",
  "blocking",
  "loading",
  "stale",
  "skip_monitor",
  "skip_slowlog",
  "asking",
  "fast",
  "no_auth",
  "no_mandatory_keys",
  "no_async_loading",
  "no_multi",
  "movablekeys",
  "allow_busy",
];

/** In Redis's order. */
export const CATEGORIES = [
  "keyspace",
  "read",
  "write",
  "set",
  "sortedset",
  "list",
  "hash",
  "string",
  "bitmap",
  "hyperloglog",
  "geo",
  "stream",
  "pubsub",
  "admin",
  "fast",
  "slow",
  "blocking",
  "dangerous",
  "connection",
  "transaction",
  "scripting",
] as const;

/** Groups that are a category under another name, or (null) under none. */
const GROUP_CATEGORY: Readonly<Record<string, string | null>> = {
  "sorted-set": "sortedset",
  generic: "keyspace",
  transactions: "transaction",
  server: null,
  cluster: null,
};

const FLAG_CATEGORIES: Partial<Record<Flag, readonly string[]>> = {
  write: ["write"],
  readonly: ["read"],
  admin: ["admin", "dangerous"],
  pubsub: ["pubsub"],
  blocking: ["blocking"],
  fast: ["fast"],
};

const status = (text: string) => new Status(text);
const statuses = (words: readonly string[]) => new SetReply(words.map(status));

/** A command's access categories, without the `@`, in Redis's order. */
export function categoriesOf({ row, group }: Command): readonly string[] {
  const found = new Set(row.categories?.map((name) => name.replace(/^@/, "")));
  const own = GROUP_CATEGORY[group] === undefined ? group : GROUP_CATEGORY[group];
  // A container that cannot be called by itself belongs to no group.
  if (own !== null && !row.noGroupCategory && row.run !== undefined) found.add(own);
  for (const flag of row.flags) {
    for (const category of FLAG_CATEGORIES[flag] ?? []) {
      // Scripts only may read; what they do is not known beforehand.
      if (category !== "read" || group !== "scripting") found.add(category);
    }
  }
  if (!found.has("fast")) found.add("slow");
  return CATEGORIES.filter((category) => found.has(category));
}

/**
 * First key, last key and step, as clients before Redis 7 want them: the key specifications as one range, as far as they
 * follow each other.
 */
export function legacyRange(specs: readonly KeySpec[] = []): readonly [number, number, number] {
  let first = 0;
  let last = 0;
  for (const { begin, find } of specs) {
    if (find === null || !("index" in begin) || !("last" in find)) continue;
    if (specs.length === 1) return [begin.index, find.last < 0 ? find.last : begin.index + find.last, find.step];
    if (find.step !== 1 || (last !== 0 && last !== begin.index - 1)) continue;
    if (first === 0) first = begin.index;
    last = find.last < 0 ? find.last : begin.index + find.last;
  }
  return first === 0 ? [0, 0, 0] : [first, last, 1];
}

// ------------------------------------------------------------------------------------------------ COMMAND INFO

const part = (type: string, spec: readonly Reply[]) => new MapReply(["type", type, "spec", new MapReply(spec)]);

function beginReply({ begin, find }: KeySpec): Reply {
  if (find === null) return part("unknown", []);
  if ("index" in begin) return part("index", ["index", begin.index]);
  return part("keyword", ["keyword", begin.keyword, "startfrom", begin.startFrom]);
}

function findReply({ find }: KeySpec): Reply {
  if (find === null) return part("unknown", []);
  if ("keynum" in find) return part("keynum", ["keynumidx", find.keynum, "firstkey", find.first, "keystep", find.step]);
  return part("range", ["lastkey", find.last, "keystep", find.step, "limit", find.limit]);
}

const KEY_FLAGS: readonly KeyFlag[] = [
  "RO",
  "RW",
  "OW",
  "RM",
  "access",
  "update",
  "insert",
  "delete",
  "not_key",
  "incomplete",
  "variable_flags",
];

export const keyFlagsReply = (flags: readonly KeyFlag[]) => statuses(KEY_FLAGS.filter((flag) => flags.includes(flag)));

function keySpecReply(spec: KeySpec): Reply {
  const notes = spec.notes === undefined ? [] : ["notes", spec.notes];
  return new MapReply([
    ...notes,
    "flags",
    keyFlagsReply(spec.flags),
    "begin_search",
    beginReply(spec),
    "find_keys",
    findReply(spec),
  ]);
}

const subcommandsOf = (command: Command) => [...(command.subcommands?.values() ?? [])];

export function infoReply(command: Command): Reply {
  const { row } = command;
  return [
    command.name,
    command.arity,
    statuses(FLAGS.filter((flag) => row.flags.includes(flag))),
    ...legacyRange(row.keys),
    statuses(categoriesOf(command).map((category) => `@${category}`)),
    new SetReply(row.tips ?? []),
    new SetReply((row.keys ?? []).map(keySpecReply)),
    new SetReply(subcommandsOf(command).map(infoReply)),
  ];
}

// ------------------------------------------------------------------------------------------------ COMMAND DOCS

function argumentReply(arg: Argument): Reply {
  const fields: Reply[] = ["name", arg.name, "type", arg.type];
  if (arg.keySpecIndex !== undefined) fields.push("key_spec_index", arg.keySpecIndex);
  if (arg.token !== undefined) fields.push("token", arg.token);
  const flags: string[] = [];
  if (arg.optional) flags.push("optional");
  if (arg.multiple) flags.push("multiple");
  if (arg.multipleToken) flags.push("multiple_token");
  if (flags.length > 0) fields.push("flags", statuses(flags));
  if (arg.arguments !== undefined) fields.push("arguments", arg.arguments.map(argumentReply));
  return new MapReply(fields);
}

export function docsReply(command: Command): Reply {
  const { row } = command;
  const fields: Reply[] = ["summary", row.summary, "since", row.since, "group", command.group];
  if (row.complexity !== "") fields.push("complexity", row.complexity);
  if (row.deprecated !== undefined) {
    fields.push("doc_flags", statuses(["deprecated"]), "deprecated_since", row.deprecated.since);
    fields.push("replaced_by", row.deprecated.use);
  }
  const args = row.subcommands === undefined ? parseSyntax(row.syntax, row.keys) : [];
  if (args.length > 0) fields.push("arguments", args.map(argumentReply));
  const subcommands = subcommandsOf(command);
  if (subcommands.length > 0) {
    fields.push("subcommands", new MapReply(subcommands.flatMap((sub): Reply[] => [sub.name, docsReply(sub)])));
  }
  return new MapReply(fields);
}
