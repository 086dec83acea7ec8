/**
 * The command line: any command, except those that would take the console's own connection away from it or never answer; and
 * the command table, for completion and help.
 */
import { type Reply, ServerError, type Store } from "cinnabar";
import { refuseBelow, roleOfCommand } from "../access/roles.ts";
import type { User } from "../access/user.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, object, string } from "../schema.ts";
import { VALUE } from "../shapes.ts";
import { fieldsOf, listOf, pairs, shaped, textsOf, type Value, wordOf } from "../values.ts";

const group = "Command line";

const HELP = named(
  "CommandHelp",
  object({
    name: string(),
    summary: string(),
    syntax: string(),
    group: string(),
    since: string(),
    complexity: string(),
  }),
);

const STREAMING = "it sends messages without end; use a client for that";
const STATEFUL = "it would change the connection that the whole console shares; use a client for that";
const BLOCKING = "it waits on the server, and a page must not; use its form that does not wait";

const REFUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    "SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE MONITOR SYNC PSYNC"
      .split(" ")
      .map((name) => [name, STREAMING]),
  ),
  ...Object.fromEntries(
    "SELECT MULTI EXEC DISCARD WATCH UNWATCH HELLO AUTH RESET QUIT READONLY READWRITE ASKING"
      .split(" ")
      .map((name) => [name, STATEFUL]),
  ),
  ...Object.fromEntries(
    ["CLIENT REPLY", "CLIENT TRACKING", "CLIENT CACHING", "CLIENT SETNAME", "CLIENT NO-EVICT"].map((name) => [
      name,
      STATEFUL,
    ]),
  ),
  ...Object.fromEntries(
    "BLPOP BRPOP BLMOVE BRPOPLPUSH BLMPOP BZPOPMIN BZPOPMAX BZMPOP WAIT WAITAOF"
      .split(" ")
      .map((name) => [name, BLOCKING]),
  ),
};

const DANGEROUS: Readonly<Record<string, string>> = {
  FLUSHALL: "deletes everything in all databases",
  FLUSHDB: "deletes everything in this database",
  SHUTDOWN: "stops the server",
  KEYS: "holds the server up while it walks all keys; SCAN does not",
  SAVE: "holds the server up until the snapshot is written; BGSAVE does not",
  DEBUG: "can stop or crash the server",
  REPLICAOF: "replaces this server's data by another's",
  SLAVEOF: "replaces this server's data by another's",
  FAILOVER: "makes another server the primary",
  SWAPDB: "exchanges two databases for all clients",
  MIGRATE: "moves keys to another server",
  "CONFIG SET": "changes how the server runs",
  "CONFIG REWRITE": "overwrites the configuration file",
  "CONFIG RESETSTAT": "forgets the statistics",
  "SCRIPT FLUSH": "forgets all scripts",
  "SCRIPT KILL": "ends the script that runs",
  "FUNCTION FLUSH": "deletes all functions",
  "FUNCTION RESTORE": "may replace functions",
  "FUNCTION DELETE": "deletes functions",
  "CLIENT KILL": "ends connections",
  "CLIENT PAUSE": "makes all clients wait",
  "ACL SETUSER": "changes who may do what",
  "ACL DELUSER": "removes a user",
  "ACL LOAD": "replaces all users",
  "MODULE LOAD": "loads foreign code",
  "MODULE UNLOAD": "removes a module",
  "CLUSTER RESET": "takes the node out of its Cluster",
  "CLUSTER FAILOVER": "makes another node the primary",
  "CLUSTER FLUSHSLOTS": "takes all slots from the node",
  "CLUSTER FORGET": "removes a node",
};

/** A name, and what follows it. */
type Command = readonly [name: string, ...words: string[]];

function entryOf(table: Readonly<Record<string, string>>, [name, more = ""]: Command): string | undefined {
  const command = name.toUpperCase();
  return table[command] ?? table[`${command} ${more.toUpperCase()}`];
}

/** Why a command is not run from here. */
function refusal(words: Command): string | undefined {
  const name = words[0].toUpperCase();
  if (name === "XREAD" || name === "XREADGROUP") {
    // Options end where the keys begin: a stream may be called "block".
    const options = words.slice(1, words.findIndex((word) => word.toUpperCase() === "STREAMS") + 1 || undefined);
    return options.some((word) => word.toUpperCase() === "BLOCK") ? BLOCKING : undefined;
  }
  return entryOf(REFUSED, words);
}

/** Directives whose values are secrets, which only admins are told. */
const SECRET = /^(?:requirepass|masterauth|masteruser|tls-(?:client-)?key-file-pass)$/i;

function masked([name, about]: readonly string[], value: Value): Value {
  const isConfig = name?.toUpperCase() === "CONFIG" && about?.toUpperCase() === "GET";
  if (!isConfig || typeof value !== "object" || value === null || Array.isArray(value) || !("map" in value))
    return value;
  return { map: value.map.map(([name, of]) => [name, SECRET.test(String(name)) && of !== "" ? "••••••" : of]) };
}

export const maskedFor = (user: User, words: readonly string[], value: Value): Value =>
  user.role === "admin" ? value : masked(words, value);

/** Refuses what is not run from here, and what is dangerous without a word of confirmation. */
export function checkCommand(given: readonly string[], confirm: boolean): void {
  const [first = "", ...others] = given;
  const words: Command = [first, ...others];
  const name = first.toUpperCase();
  const refused = refusal(words);
  if (refused !== undefined) throw new Problem(422, "NOT_HERE", `${name} cannot be run here: ${refused}`);
  const danger = entryOf(DANGEROUS, words);
  if (danger !== undefined && !confirm) throw new Problem(409, "CONFIRM", `${name} ${danger}`);
}

async function run(
  { store, user }: Context,
  given: readonly string[],
  confirm: boolean,
): Promise<{ value: Value; micros: number }> {
  const [first = "", ...others] = given;
  if (first === "") throw new Problem(400, "INPUT", "a command needs a name");
  const words: Command = [first, ...others];
  const name = first.toUpperCase();
  refuseBelow(user, await roleOfCommand(store, words), name);
  checkCommand(words, confirm);
  const begin = performance.now();
  const reply = await store.send(words.map(wordOf), { buffers: true, repeatable: false });
  const micros = Math.round((performance.now() - begin) * 1_000);
  const value = shaped(words, reply);
  return { value: maskedFor(user, words, value), micros };
}

export interface CommandHelp {
  readonly name: string;
  readonly summary: string;
  readonly syntax: string;
  readonly group: string;
  readonly since: string;
  readonly complexity: string;
}

type Fields = Record<string, Reply>;

const helpFields = (flat: Reply | undefined): Fields => Object.fromEntries(fieldsOf(flat));

/** An argument as manuals write it: `[NX | XX]`, `key [key …]`. */
function syntaxOf(argument: Fields): string {
  const flags = textsOf(argument.flags);
  const inner = listOf(argument.arguments).map((each) => syntaxOf(helpFields(each)));
  const token = argument.token === undefined || argument.token === "" ? "" : String(argument.token);
  let text = String(argument.display_text ?? argument.name ?? "");
  if (argument.type === "oneof") text = inner.join(" | ");
  else if (argument.type === "block") text = inner.join(" ");
  else if (argument.type === "pure-token") text = "";
  const choice = argument.type === "oneof" && !flags.includes("optional");
  let whole = [token, choice ? `<${text}>` : text].filter((part) => part !== "").join(" ");
  if (flags.includes("multiple")) whole = `${whole} [${flags.includes("multiple_token") ? whole : text} …]`;
  return flags.includes("optional") ? `[${whole}]` : whole;
}

function helpOf(name: string, fields: Fields): CommandHelp[] {
  const subcommands = [...fieldsOf(fields.subcommands)].flatMap(([sub, flat]) => helpOf(sub, helpFields(flat)));
  const upper = name.replace("|", " ").toUpperCase();
  const words = listOf(fields.arguments).map((argument) => syntaxOf(helpFields(argument)));
  const own: CommandHelp = {
    name: upper,
    summary: String(fields.summary ?? ""),
    syntax: [upper, ...words].join(" "),
    group: String(fields.group ?? ""),
    since: String(fields.since ?? ""),
    complexity: String(fields.complexity ?? ""),
  };
  return subcommands.length > 0 && words.length === 0 ? subcommands : [own, ...subcommands];
}

/** The table changes with the server's version only: asked once for each store. */
const tables = new WeakMap<Store, Promise<CommandHelp[]>>();

/** Commands whose documentation is asked for at once: a store in this process has a turn for its other clients after each part. */
const DOCS_AT_ONCE = 12;

/** COMMAND DOCS came with Redis 7; before it there are only names. */
async function readTable(store: Store): Promise<CommandHelp[]> {
  const names = await namesOf(store);
  const all: CommandHelp[] = [];
  for (let at = 0; at < names.length; at += DOCS_AT_ONCE) {
    const some = names.slice(at, at + DOCS_AT_ONCE);
    const flat = await docsOf(store, some);
    for (const [name, fields] of pairs(flat)) all.push(...helpOf(String(name), helpFields(fields)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** COMMAND LIST is newer than COMMAND, and much shorter. */
async function namesOf(store: Store): Promise<string[]> {
  try {
    return await store.commandList();
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return (await store.command()).map((row) => String(listOf(row)[0]));
  }
}

async function docsOf(store: Store, names: readonly string[]): Promise<Reply[]> {
  try {
    return await store.call("COMMAND", "DOCS", ...names);
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return names.flatMap((name) => [name, []]);
  }
}

function tableOf(store: Store): Promise<CommandHelp[]> {
  let table = tables.get(store);
  if (table === undefined) {
    table = readTable(store);
    tables.set(store, table);
    table.catch(() => tables.delete(store));
  }
  return table;
}

export const COMMAND_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/command",
    group,
    // What a command asks for depends on the command.
    role: "viewer",
    commandsOf: (body) => [body.words],
    summary:
      "Runs a command. Dangerous ones need `confirm`; those that wait, stream or belong to a connection are refused.",
    body: object(
      { words: array(string({ maxLength: 8_000_000 }), { minItems: 1, maxItems: 100_000 }), confirm: boolean() },
      ["confirm"],
    ),
    answers:
      "The value: strings, numbers, null, arrays, `{map: [[…]]}`, `{bytes: base64}`, `{error}`; and how long it took.",
    answer: object({ value: VALUE, micros: integer() }),
    run: (context, { body }) => run(context, body.words, body.confirm ?? false),
  }),
  route({
    method: "GET",
    url: "/api/commands",
    group,
    summary: "The server's command table, for completion and help.",
    answers: "Commands with summary and syntax, by name.",
    answer: object({ commands: array(HELP) }),
    run: async ({ store }) => ({ commands: await tableOf(store) }),
  }),
];
