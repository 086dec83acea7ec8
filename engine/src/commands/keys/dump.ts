/** DUMP and RESTORE: a value as bytes that any Redis understands, and back. */

import type { Client } from "../../core/client.ts";
import { NOT_AN_INTEGER, SYNTAX } from "../../core/errors.ts";
import { GENERIC_EVENT } from "../../core/notify.ts";
import {
  BAD_DUMP_FORMAT,
  BAD_DUMP_PAYLOAD,
  BAD_RESTORE_FREQUENCY,
  BAD_RESTORE_IDLE_TIME,
  BAD_RESTORE_TTL,
  BUSYKEY,
} from "../../core/rare-errors.ts";
import { OK, type Reply } from "../../core/reply.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import { RdbError } from "../../persist/rdb/errors.ts";
import { dumpValue, isIntact, restoreValue } from "../../persist/rdb/payload.ts";
import { reportedAs } from "../../persist/rdb/types.ts";
import { Buffer } from "../../platform/bytes.ts";
import type { Args } from "../../table/args.ts";
import { group, key, READ_KEY, type Row } from "../../table/command.ts";
import { whole } from "../../table/shares.ts";
import type { Value } from "../../types/value.ts";

interface Options {
  replace: boolean;
  absolute: boolean;
  idleSeconds: number | undefined;
  frequency: number | undefined;
}

function readOptions(args: Args): Options {
  const options: Options = { replace: false, absolute: false, idleSeconds: undefined, frequency: undefined };
  while (args.more) {
    const option = args.option();
    if (option === "replace") options.replace = true;
    else if (option === "absttl") options.absolute = true;
    else if (option === "idletime" && args.more && options.frequency === undefined) {
      options.idleSeconds = args.int();
      if (options.idleSeconds < 0) throw BAD_RESTORE_IDLE_TIME;
    } else if (option === "freq" && args.more && options.idleSeconds === undefined) {
      options.frequency = args.int();
      if (options.frequency < 0 || options.frequency > 255) throw BAD_RESTORE_FREQUENCY;
    } else throw SYNTAX;
  }
  return options;
}

function readTtl(word: string): number {
  const ttl = parseInt64(word);
  if (ttl === undefined) throw NOT_AN_INTEGER;
  if (ttl < 0) throw BAD_RESTORE_TTL;
  return Number(ttl);
}

function readPayload(client: Client, word: string): Value {
  const payload = Buffer.from(word, "latin1");
  if (!isIntact(payload, !client.engine.skipsChecksums)) throw BAD_DUMP_PAYLOAD;
  try {
    return restoreValue(payload, client.db.limits);
  } catch (error) {
    if (!(error instanceof RdbError)) throw error;
    const what = `${reportedAs(payload[0]!)} integrity check failed`;
    client.engine.log("warning", `RESTORE of a bad payload: ${what}: ${error.message} at byte ${error.offset}`);
    throw BAD_DUMP_FORMAT;
  }
}

function restore(client: Client, args: Args): Reply {
  const { db, engine } = client;
  const name = args.next();
  const ttlWord = args.next();
  const payload = args.next();
  const options = readOptions(args);
  if (!options.replace && db.exists(name)) throw BUSYKEY;
  const ttl = readTtl(ttlWord);
  const value = readPayload(client, payload);
  const deadline = ttl === 0 ? undefined : options.absolute ? ttl : ttl + engine.now;
  if (deadline !== undefined && deadline <= engine.now && !engine.loading) {
    if (db.delete(name)) client.propagate.asDel(name);
    return OK;
  }
  // The access time or frequency that it had where it came from, if the policy knows such a thing.
  const stamp = engine.stamps.of(options.idleSeconds, options.frequency);
  db.put(name, value, { event: "restore", eventClass: GENERIC_EVENT, deadline, stamp, asNew: options.replace });
  if (deadline !== undefined && !options.absolute) client.propagate.asRestoreUntil(args.argv, deadline);
  return OK;
}

const restoreRow = (name: string, since: string, summary: string, flags: Row["flags"]): Row => ({
  name,
  arity: -4,
  flags,
  keys: [key(["OW", "update"])],
  categories: ["dangerous"],
  since,
  summary,
  syntax: "key ttl serialized-value [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency]",
  reply: '"OK"',
  complexity: "O(N) in the size of the value",
  run: restore,
});

export const dumping = group("generic", [
  {
    name: "dump",
    arity: 2,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    builds: whole,
    since: "2.6.0",
    summary: "Returns a value as bytes from which RESTORE makes it again, on any server.",
    syntax: "key",
    reply: "string | null",
    complexity: "O(N) in the size of the value",
    run({ db, engine }, args) {
      const value = db.read(args.next());
      if (value === undefined) return null;
      return dumpValue(value, engine.config.values.rdbcompression).latin1Slice();
    },
  },
  restoreRow("restore", "2.6.0", "Makes a key from what DUMP returned.", ["write", "denyoom"]),
  restoreRow("restore-asking", "3.0.0", "RESTORE between the nodes of a cluster.", ["write", "denyoom", "asking"]),
]);
