/** MIGRATE. How keys travel, and what happens meanwhile, is in migration/. */

import type { Client } from "../../core/client.ts";
import { NOT_AN_INTEGER, SYNTAX } from "../../core/errors.ts";
import { MIGRATE_KEYS_AND_KEY } from "../../core/rare-errors.ts";
import { type Reply, Status } from "../../core/reply.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { group, key, keysFrom } from "../../table/command.ts";
import { redact } from "../shared/redact.ts";

const NOKEY = new Status("NOKEY");
const DEFAULT_TIMEOUT_MS = 1000;
/** Words that belong to an option. */
const OPTION_WORDS: ReadonlyMap<string, number> = new Map(Object.entries({ copy: 0, replace: 0, auth: 1, auth2: 2 }));
/** Where the options begin. */
const FIRST_OPTION = 6;

interface Options {
  copy: boolean;
  replace: boolean;
  credentials: string[];
  keys: string[];
}

/** Before anything can be wrong with the other options. */
function hideCredentials(client: Client, argv: readonly string[]): void {
  for (let i = FIRST_OPTION; i < argv.length; i++) {
    const option = argv[i]!.toLowerCase();
    if (option === "keys") return;
    const words = option.startsWith("auth") ? (OPTION_WORDS.get(option) ?? 0) : 0;
    for (let end = i + words; i < end; ) redact(client, argv, ++i);
  }
}

function readOptions(client: Client, args: Args, name: string): Options {
  hideCredentials(client, args.argv);
  const options: Options = { copy: false, replace: false, credentials: [], keys: [name] };
  while (args.more) {
    const option = args.option();
    if (option === "copy") options.copy = true;
    else if (option === "replace") options.replace = true;
    else if (option === "auth" || option === "auth2") {
      options.credentials = args.take(option === "auth" ? 1 : 2);
    } else if (option === "keys") {
      if (name !== "") throw MIGRATE_KEYS_AND_KEY;
      options.keys = args.rest();
    } else throw SYNTAX;
  }
  return options;
}

/** C's atoi: what is not a number is 0. */
function portOf(word: string): number {
  const port = Number.parseInt(word, 10);
  return Number.isNaN(port) ? 0 : port;
}

function integer(word: string): number {
  const value = parseInt64(word);
  if (value === undefined) throw NOT_AN_INTEGER;
  return Number(value);
}

function migrate(client: Client, args: Args): Reply {
  const { db, engine } = client;
  const host = args.next();
  const port = portOf(args.next());
  const name = args.next();
  const [dbWord, timeoutWord] = args.take(2);
  const options = readOptions(client, args, name);
  const timeout = integer(timeoutWord);
  const target = integer(dbWord);
  const keys = options.keys.filter((word) => db.read(word) !== undefined);
  if (keys.length === 0) return NOKEY;
  const timeoutMs = timeout > 0 ? Math.min(timeout, 0x7fffffff) : DEFAULT_TIMEOUT_MS;
  return engine.migrations.run(client, {
    ...options,
    host,
    port,
    db: String(target),
    timeoutMs,
    keys,
    asking: engine.cluster !== null,
  });
}

/** The one key, or those behind KEYS. */
function keysOf(argv: readonly string[]): number[] {
  let next = FIRST_OPTION;
  for (const [i, word] of argv.entries()) {
    if (i < next) continue;
    const option = word.toLowerCase();
    if (option === "keys") return argv[3] === "" ? argv.slice(i + 1).map((_, j) => i + 1 + j) : [];
    next = i + 1 + (OPTION_WORDS.get(option) ?? 0);
  }
  return argv.length > 3 ? [3] : [];
}

export const migration = group("generic", [
  {
    name: "migrate",
    arity: -6,
    flags: ["write", "movablekeys"],
    keys: [
      key(["RW", "access", "delete"], 3),
      {
        ...keysFrom(["RW", "access", "delete", "incomplete"]),
        begin: { keyword: "KEYS", startFrom: -2 },
      },
    ],
    categories: ["dangerous"],
    tips: ["nondeterministic_output"],
    since: "2.6.0",
    summary: "Moves keys to another server in one step.",
    syntax:
      'host port <key | ""> destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 username password] [KEYS key [key ...]]',
    reply: '"OK" | "NOKEY"',
    complexity: "that of DUMP and DEL here and of RESTORE there, and O(N) to send the values",
    keysOf,
    movesKeys: true,
    run: migrate,
  },
]);
