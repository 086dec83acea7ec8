/** What consumer groups have delivered and nobody has acknowledged: XACK, XPENDING, XCLAIM, XAUTOCLAIM. */

import type { Client } from "../../core/client.ts";
import { SYNTAX } from "../../core/errors.ts";
import {
  badClaimOption,
  badMinIdle,
  CLAIM_COUNT_NOT_POSITIVE,
  CLAIM_COUNT_TOO_HIGH,
  noKeyOrGroup,
  unknownClaimOption,
} from "../../core/rare-errors.ts";
import { EMPTY, NIL_ARRAY, type Reply } from "../../core/reply.ts";
import { parseInt64 } from "../../lib/numbers.ts";
import type { Args } from "../../table/args.ts";
import { key, READ_KEY, type Row } from "../../table/command.ts";
import {
  addCounters,
  type Consumer,
  type Counter,
  type Delivery,
  formatId,
  type Group,
  type Id,
  idAfter,
  MIN_ID,
  parseId,
  StreamValue,
} from "../../types/stream/index.ts";
import { readEnd, readId, readInt, readStart } from "./stream-args.ts";
import { GroupEffects } from "./stream-effects.ts";

function findGroup({ db }: Client, name: string, groupName: string): { stream: StreamValue; group: Group } {
  const stream = db.get(name, StreamValue);
  const group = stream?.groups.get(groupName);
  if (stream === undefined || group === undefined) throw noKeyOrGroup(name, groupName);
  return { stream, group };
}

// ------------------------------------------------------------------------------------------------ XACK

function xack({ db }: Client, args: Args): Reply {
  const name = args.next();
  const groupName = args.next();
  const group = db.get(name, StreamValue)?.groups.get(groupName);
  if (group === undefined) return 0;
  const ids = args.rest().map(readId);
  return db.tend(name, StreamValue, undefined, () => {
    let acknowledged = 0;
    for (const id of ids) if (group.acknowledge(id)) acknowledged++;
    return acknowledged;
  });
}

// ------------------------------------------------------------------------------------------------ XPENDING

/** How many there are, the first, the last, and how many each consumer has. */
function summary(group: Group): Reply {
  const { first, last, size } = group.pending;
  if (first === undefined || last === undefined) return [0, null, null, NIL_ARRAY];
  const consumers: Reply[] = [];
  for (const { name, pending } of group.sortedConsumers()) {
    if (pending.size > 0) consumers.push([name, String(pending.size)]);
  }
  return [size, formatId(first.id), formatId(last.id), consumers];
}

function xpending(client: Client, args: Args): Reply {
  const words = args.argv.length;
  const [name, groupName] = args.take(2);
  if (words === 3) return summary(findGroup(client, name, groupName).group);
  if (words < 6 || words > 9) throw SYNTAX;
  let minIdle = 0;
  if (args.accept("idle")) {
    minIdle = args.int();
    if (words < 8) throw SYNTAX;
  }
  const [startWord, endWord, countWord] = args.take(3);
  const count = Math.max(0, readInt(countWord));
  const start = readStart(startWord);
  const end = readEnd(endWord);
  const consumerName = args.peek();
  const { group } = findGroup(client, name, groupName);
  const holder = consumerName === undefined ? group : group.consumers.get(consumerName);
  if (holder === undefined || count === 0) return EMPTY;
  const now = client.engine.clock.now();
  const found: Reply[] = [];
  for (const { id, consumer, timeMs, count: times } of holder.pending.from(start)) {
    if (id > end) break;
    const idle = now - timeMs;
    if (minIdle !== 0 && idle < minIdle) continue;
    found.push([formatId(id), consumer.name, Math.max(0, idle), times]);
    if (found.length === count) break;
  }
  return found;
}

// ------------------------------------------------------------------------------------------------ claiming

/** One claim: entries of a group that change hands. */
class Claim {
  readonly client: Client;
  readonly name: string;
  readonly stream: StreamValue;
  readonly group: Group;
  readonly consumerName: string;
  readonly justId: boolean;
  readonly now: number;
  readonly claimed: Reply[] = [];
  readonly effects: GroupEffects;
  /** Whether the effects tell of a delivery, and so of how far the group has read. */
  reported = false;
  changes = 0;
  #consumer: Consumer | undefined;

  constructor(client: Client, name: string, stream: StreamValue, group: Group, consumer: string, justId: boolean) {
    this.client = client;
    this.name = name;
    this.stream = stream;
    this.group = group;
    this.consumerName = consumer;
    this.justId = justId;
    this.now = client.engine.clock.now();
    this.effects = new GroupEffects(client);
  }

  /** Who claims; made when the first entry is claimed. */
  get consumer(): Consumer {
    if (this.#consumer !== undefined) return this.#consumer;
    let consumer = this.group.seen(this.consumerName, this.now);
    if (consumer === undefined) {
      consumer = this.group.addConsumer(this.consumerName, this.now);
      this.client.db.notify("xgroup-createconsumer", this.name, "t");
      this.changes++;
    }
    this.#consumer = consumer;
    return consumer;
  }

  /** Forgets a delivery whose entry was deleted. */
  drop(delivery: Delivery): void {
    this.#report(delivery);
    this.group.forget(delivery);
  }

  /** Takes a delivery over. Without a count, it is one more, unless only ids are asked for. */
  take(delivery: Delivery, timeMs: number, count: Counter | undefined): void {
    const times = count ?? (this.justId ? delivery.count : addCounters(delivery.count, 1));
    const taken = this.group.redeliver(delivery, this.consumer, timeMs, times);
    const id = formatId(taken.id);
    this.claimed.push(this.justId ? id : [id, this.stream.wordsOf(taken.id)!]);
    this.#report(taken);
  }

  #report(delivery: Delivery): void {
    this.changes++;
    this.reported = true;
    this.effects.delivered(this.name, this.group, delivery);
  }
}

interface ClaimOptions {
  /** When the entries count as delivered; undefined: now. */
  timeMs: number | undefined;
  retryCount: Counter | undefined;
  force: boolean;
  justId: boolean;
  lastId: Id;
}

function readClaimOptions(args: Args, now: number): ClaimOptions {
  const options: ClaimOptions = {
    timeMs: undefined,
    retryCount: undefined,
    force: false,
    justId: false,
    lastId: MIN_ID,
  };
  while (args.more) {
    const word = args.next();
    const option = word.toLowerCase();
    if (option === "force") options.force = true;
    else if (option === "justid") options.justId = true;
    else if (option === "idle" && args.more) options.timeMs = now - args.int(badClaimOption("IDLE"));
    else if (option === "time" && args.more) options.timeMs = args.int(badClaimOption("TIME"));
    else if (option === "retrycount" && args.more) {
      const count = args.int64(badClaimOption("RETRYCOUNT"));
      options.retryCount = count < 0 ? undefined : count;
    } else if (option === "lastid" && args.more) options.lastId = readId(args.next());
    else throw unknownClaimOption(word);
  }
  const { timeMs } = options;
  // A time that cannot be is taken for now: clients compute it by clocks of their own.
  if (timeMs !== undefined && (timeMs < 0 || timeMs > now)) options.timeMs = now;
  return options;
}

function xclaim(client: Client, args: Args): Reply {
  const { db, engine } = client;
  const [name, groupName, consumer] = args.take(3);
  const { stream, group } = findGroup(client, name, groupName);
  const minIdle = args.int(badMinIdle("XCLAIM"));
  const ids: Id[] = [];
  for (let word = args.peek(); word !== undefined; word = args.peek()) {
    const id = parseId(word);
    if (id === undefined) break;
    ids.push(id);
    args.next();
  }
  const now = engine.clock.now();
  const { force, justId, lastId, retryCount, timeMs = now } = readClaimOptions(args, now);
  const claim = new Claim(client, name, stream, group, consumer, justId);
  db.tend(name, StreamValue, undefined, () => {
    const moved = lastId > group.lastId;
    if (moved) group.lastId = lastId;
    for (const id of ids) claimOne(claim, id, minIdle, timeMs, retryCount, force);
    if (moved && !claim.reported) {
      claim.effects.read(name, group);
      claim.changes++;
    }
    return claim.changes;
  });
  claim.effects.say();
  return claim.claimed;
}

function claimOne(
  claim: Claim,
  id: Id,
  minIdle: number,
  timeMs: number,
  retryCount: Counter | undefined,
  force: boolean,
): void {
  const { group, now } = claim;
  let delivery = group.pending.get(id);
  if (!claim.stream.has(id)) {
    if (delivery !== undefined) claim.drop(delivery);
    return;
  }
  if (delivery === undefined) {
    if (!force) return;
    delivery = group.addDelivery(id, claim.consumer, now, 1);
  } else if (minIdle > 0 && now - delivery.timeMs < minIdle) return;
  claim.take(delivery, timeMs, retryCount);
}

/** How many entries XAUTOCLAIM looks at for each that it may claim. */
const ATTEMPTS = 10;
const MAX_CLAIM_COUNT = (1n << 63n) / 16n - 1n;
/** More ids than any machine can note down. */
const UNTHINKABLE_COUNT = 2 ** 43;

function readAutoClaimOptions(args: Args): { count: number; justId: boolean } {
  let count = 100;
  let justId = false;
  while (args.more) {
    if (args.accept("justid")) justId = true;
    else if (args.left >= 2 && args.accept("count")) {
      const given = parseInt64(args.next());
      if (given === undefined || given < 1 || given > MAX_CLAIM_COUNT) throw CLAIM_COUNT_NOT_POSITIVE;
      count = Number(given);
    } else throw SYNTAX;
  }
  return { count, justId };
}

function xautoclaim(client: Client, args: Args): Reply {
  const { db } = client;
  const [name, groupName, consumer] = args.take(3);
  const minIdle = args.int(badMinIdle("XAUTOCLAIM"));
  const start = readStart(args.next());
  const { count, justId } = readAutoClaimOptions(args);
  const { stream, group } = findGroup(client, name, groupName);
  if (count >= UNTHINKABLE_COUNT) throw CLAIM_COUNT_TOO_HIGH;
  const claim = new Claim(client, name, stream, group, consumer, justId);
  const deleted: Reply[] = [];
  let next = group.pending.atOrAfter(start);
  db.tend(name, StreamValue, undefined, () => {
    let left = count;
    for (let attempts = count * ATTEMPTS; attempts > 0 && left > 0 && next !== undefined; attempts--) {
      const delivery = next;
      const after = idAfter(delivery.id);
      if (!claim.stream.has(delivery.id)) {
        claim.drop(delivery);
        deleted.push(formatId(delivery.id));
        left--;
      } else if (minIdle <= 0 || claim.now - delivery.timeMs >= minIdle) {
        claim.take(delivery, claim.now, undefined);
        left--;
      }
      next = after === undefined ? undefined : group.pending.atOrAfter(after);
    }
    return claim.changes;
  });
  claim.effects.say();
  return [formatId(next?.id ?? MIN_ID), claim.claimed, deleted];
}

// ------------------------------------------------------------------------------------------------ rows

export const pendingRows: readonly Row[] = [
  {
    name: "xack",
    arity: -4,
    flags: ["write", "fast"],
    keys: [key(["RW", "update"])],
    since: "5.0.0",
    summary: "Acknowledges entries, so that their group holds them as pending no longer.",
    syntax: "key group id [id ...]",
    reply: "number",
    complexity: "O(log(P)) per id with P entries pending",
    run: xack,
  },
  {
    name: "xpending",
    arity: -3,
    flags: ["readonly"],
    keys: READ_KEY,
    tips: ["nondeterministic_output"],
    since: "5.0.0",
    summary: "Shows what a group has delivered and nobody has acknowledged, as a summary or entry by entry.",
    syntax: "key group [[IDLE min-idle-time] start end count [consumer]]",
    reply: {
      otherwise: "[number, string | null, string | null, [string, string][] | null]",
      start: "[string, string, number, number][]",
    },
    complexity: "O(C) for the summary of C consumers; O(log(P) + M) for M of P pending entries",
    run: xpending,
  },
  {
    name: "xclaim",
    arity: -6,
    flags: ["write", "fast"],
    keys: [key(["RW", "update"])],
    tips: ["nondeterministic_output"],
    since: "5.0.0",
    summary: "Gives pending entries to another consumer as if they had been delivered to it.",
    syntax:
      "key group consumer min-idle-time id [id ...] [IDLE ms] [TIME unix-time-milliseconds] [RETRYCOUNT count] [FORCE] [JUSTID] [LASTID last-id]",
    reply: { otherwise: "(Entry | null)[]", JUSTID: "string[]" },
    complexity: "O(log(P)) per id with P entries pending",
    run: xclaim,
  },
  {
    name: "xautoclaim",
    arity: -6,
    flags: ["write", "fast"],
    keys: [key(["RW", "delete"])],
    tips: ["nondeterministic_output"],
    since: "6.2.0",
    summary: "Claims the next entries that have been pending for some time, from any consumer.",
    syntax: "key group consumer min-idle-time start [COUNT count] [JUSTID]",
    reply: { otherwise: "[string, (Entry | null)[], string[]]", JUSTID: "[string, string[], string[]]" },
    complexity: "O(M log(P)) for M entries looked at with P pending",
    run: xautoclaim,
  },
];
