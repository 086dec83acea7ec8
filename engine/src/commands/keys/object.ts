/** OBJECT: how a key is kept. */

import type { Client } from "../../core/client.ts";
import { FREQUENCY_NOT_TRACKED, IDLE_TIME_NOT_TRACKED } from "../../core/rare-errors.ts";
import { type Reply, Status } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { group, type KeySpec, key, type Row } from "../../table/command.ts";
import { encodingOf } from "../../types/bytes.ts";
import { isCollection } from "../../types/kind.ts";
import type { Value } from "../../types/value.ts";

const SUBJECT: KeySpec[] = [key(["RO"], 2)];

/** Redis shares the objects of small integers among all keys and says so here. */
const SHARED_INTEGERS = 10_000;
const SHARED_REFCOUNT = 2147483647;

const HELP = [
  "OBJECT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
  "ENCODING <key>",
  "    The form in which the key's value is kept.",
  "FREQ <key>",
  "    How often the key is used, on a logarithmic scale (LFU policies only).",
  "IDLETIME <key>",
  "    Seconds since the key was last used.",
  "REFCOUNT <key>",
  "    How many references the value has.",
  "HELP",
  "    Prints this help.",
];

/** A row whose handler answers for a key that exists; null for one that does not. */
function about(
  name: string,
  summary: string,
  since: string,
  answer: (client: Client, value: Value, key: string) => Reply,
): Row {
  return {
    name,
    arity: 3,
    flags: ["readonly"],
    keys: SUBJECT,
    categories: ["keyspace"],
    tips: ["nondeterministic_output"],
    since,
    summary,
    syntax: "key",
    reply: name === "encoding" ? "string | null" : "number | null",
    complexity: "O(1)",
    run(client: Client, args: Args) {
      const subject = args.next();
      const value = client.db.look(subject);
      return value === undefined ? null : answer(client, value, subject);
    },
  };
}

export const inspection = group("generic", [
  {
    name: "object",
    arity: -2,
    flags: [],
    noGroupCategory: true,
    since: "2.2.3",
    summary: "Tells how a key is kept.",
    syntax: "subcommand",
    complexity: "depends on the subcommand",
    subcommands: [
      about("encoding", "Tells the form in which a value is kept.", "2.2.3", (_client, value) =>
        isCollection(value) ? value.encoding : encodingOf(value),
      ),
      about(
        "freq",
        "Tells how often a key is used, on a logarithmic scale.",
        "4.0.0",
        ({ db, engine }, _value, name) => {
          if (!engine.stamps.lfu) throw FREQUENCY_NOT_TRACKED;
          const stamp = db.stampOf(name);
          return stamp === undefined ? null : engine.stamps.frequency(stamp);
        },
      ),
      about("idletime", "Tells how many seconds ago a key was last used.", "2.2.3", ({ db, engine }, _value, name) => {
        if (engine.stamps.lfu) throw IDLE_TIME_NOT_TRACKED;
        const stamp = db.stampOf(name);
        return stamp === undefined ? null : engine.stamps.idleSeconds(stamp);
      }),
      about("refcount", "Tells how many references a value has.", "2.2.3", ({ engine }, value) => {
        const shared =
          typeof value === "number" && value >= 0 && value < SHARED_INTEGERS && engine.eviction.sharesIntegers;
        return shared ? SHARED_REFCOUNT : 1;
      }),
      {
        name: "help",
        arity: 2,
        flags: ["loading", "stale"],
        categories: ["keyspace"],
        undocumented: true,
        since: "6.2.0",
        summary: "Lists the subcommands.",
        syntax: "",
        reply: "string[]",
        complexity: "O(1)",
        run: () => HELP.map((text) => new Status(text)),
      },
    ],
  },
]);
