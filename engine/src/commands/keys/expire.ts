/** Times to live. */

import type { Client } from "../../core/client.ts";
import { EXPIRE_GT_AND_LT, EXPIRE_NX_AND_OTHERS, unsupportedOption } from "../../core/errors.ts";
import type { Reply } from "../../core/reply.ts";
import type { Args } from "../../table/args.ts";
import { type Handler, key, READ_KEY, type Row } from "../../table/command.ts";
import { deadlineOf, type TimeForm } from "./expire-time.ts";

interface Conditions {
  nx: boolean;
  xx: boolean;
  gt: boolean;
  lt: boolean;
}

function readConditions(words: readonly string[]): Conditions {
  const conditions: Conditions = { nx: false, xx: false, gt: false, lt: false };
  for (const word of words) {
    const option = word.toLowerCase();
    if (option !== "nx" && option !== "xx" && option !== "gt" && option !== "lt") throw unsupportedOption(word);
    conditions[option] = true;
  }
  const { nx, xx, gt, lt } = conditions;
  if (nx && (xx || gt || lt)) throw EXPIRE_NX_AND_OTHERS;
  if (gt && lt) throw EXPIRE_GT_AND_LT;
  return conditions;
}

/** Whether a new deadline may take the place of the current one; none counts as infinitely far away. */
function allowed({ nx, xx, gt, lt }: Conditions, current: number | undefined, deadline: number): boolean {
  if (nx && current !== undefined) return false;
  if (xx && current === undefined) return false;
  if (gt && (current === undefined || deadline <= current)) return false;
  return !(lt && current !== undefined && deadline >= current);
}

function expire(form: TimeForm, command: string): (client: Client, args: Args) => Reply {
  return (client, args) => {
    const { db, engine } = client;
    const name = args.next();
    const time = args.next();
    const conditions = readConditions(args.rest());
    const deadline = deadlineOf(time, form, engine.now, command);
    if (!db.exists(name) || !allowed(conditions, db.deadline(name), deadline)) return 0;
    db.setDeadline(name, deadline);
    return 1;
  };
}

/** -2 for no key, -1 for no deadline, else what `answer` makes of the deadline and now. */
function timeLeft(answer: (deadline: number, now: number) => number): (client: Client, args: Args) => Reply {
  return ({ db, engine }, args) => {
    const name = args.next();
    if (db.look(name) === undefined) return -2;
    const deadline = db.deadline(name);
    return deadline === undefined ? -1 : answer(deadline, engine.now);
  };
}

const seconds = (ms: number) => Math.floor((ms + 500) / 1000);

const writeRow = (name: string, since: string, summary: string, unit: string, form: TimeForm): Row => ({
  name,
  arity: -3,
  flags: ["write", "fast"],
  keys: [key(["RW", "update"])],
  since,
  summary,
  syntax: `key ${unit} [NX | XX | GT | LT]`,
  reply: "number",
  complexity: "O(1)",
  run: expire(form, name),
});

const readRow = (name: string, since: string, summary: string, run: Handler, tips: string[] = []): Row => ({
  name,
  arity: 2,
  flags: ["readonly", "fast"],
  keys: READ_KEY,
  tips,
  since,
  summary,
  syntax: "key",
  reply: "number",
  complexity: "O(1)",
  run,
});

const CHANGING = ["nondeterministic_output"];

export const expireCommands: Row[] = [
  writeRow("expire", "1.0.0", "Makes a key expire after some seconds.", "seconds", { seconds: true, absolute: false }),
  writeRow("pexpire", "2.6.0", "Makes a key expire after some milliseconds.", "milliseconds", {
    seconds: false,
    absolute: false,
  }),
  writeRow("expireat", "1.2.0", "Makes a key expire at a Unix time in seconds.", "unix-time-seconds", {
    seconds: true,
    absolute: true,
  }),
  writeRow("pexpireat", "2.6.0", "Makes a key expire at a Unix time in milliseconds.", "unix-time-milliseconds", {
    seconds: false,
    absolute: true,
  }),
  readRow(
    "ttl",
    "1.0.0",
    "Tells how many seconds a key has left.",
    timeLeft((deadline, now) => seconds(Math.max(0, deadline - now))),
    CHANGING,
  ),
  readRow(
    "pttl",
    "2.6.0",
    "Tells how many milliseconds a key has left.",
    timeLeft((deadline, now) => Math.max(0, deadline - now)),
    CHANGING,
  ),
  readRow("expiretime", "7.0.0", "Tells at which Unix time in seconds a key expires.", timeLeft(seconds)),
  readRow(
    "pexpiretime",
    "7.0.0",
    "Tells at which Unix time in milliseconds a key expires.",
    timeLeft((deadline) => deadline),
  ),
  {
    name: "persist",
    arity: 2,
    flags: ["write", "fast"],
    keys: [key(["RW", "update"])],
    since: "2.2.0",
    summary: "Takes a key's time to live away.",
    syntax: "key",
    reply: "number",
    complexity: "O(1)",
    run: ({ db }, args) => (db.persist(args.next()) ? 1 : 0),
  },
];
