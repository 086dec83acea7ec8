/**
 * Two servers hold the same: every key of all databases, its deadline to the millisecond, and its DUMP; and the function
 * libraries.
 *
 * Equal values need not have equal DUMPs, not even on two real servers: a hash table is written in its own order, a list or
 * stream is cut into nodes by its history, a hash that shrank is small again after a full resync, and a consumer's seen-time
 * and a group's entries-read are each server's own. Where the bytes differ, the contents are compared by type (order where
 * the type keeps one; of streams also ids, groups, consumers and what is pending), and the replica's encoding must be the
 * primary's or a more compact one, which is what loading a snapshot may make of it. How many keys were equal by bytes is
 * reported.
 */
import { type Answer, aggregate, scalar } from "../conformance/answer.ts";
import { yardstickMissing } from "../conformance/redis-server.ts";
import { EXACT, type Rule, SORTED, SORTED_PAIRS, same } from "../conformance/rules.ts";
import type { Wire } from "../conformance/wire.ts";
import { type Server, until } from "./servers.ts";

const DATABASES = Array.from({ length: 16 }, (_, db) => String(db));
/** Keys under this name may expire while a test runs; all others are there until somebody removes them. */
export const SHORT_LIVED = "short:";
const BATCH = 200;

export interface Comparison {
  readonly keys: number;
  /** Of these, the number whose DUMPs were the same bytes. */
  readonly identical: number;
  readonly withDeadline: number;
  readonly types: Readonly<Record<string, number>>;
  readonly differences: readonly string[];
}

/** From the most compact on. */
const ENCODINGS: Record<string, readonly string[]> = {
  string: ["int", "embstr", "raw"],
  list: ["listpack", "quicklist"],
  set: ["intset", "listpack", "hashtable"],
  hash: ["listpack", "hashtable"],
  zset: ["listpack", "skiplist"],
  stream: ["stream"],
};

const CONTENT: Record<string, (key: string, encoding: string) => { words: string[]; rule: Rule }> = {
  string: (key) => ({ words: ["GET", key], rule: EXACT }),
  list: (key) => ({ words: ["LRANGE", key, "0", "-1"], rule: EXACT }),
  set: (key) => ({ words: ["SMEMBERS", key], rule: SORTED }),
  hash: (key) => ({ words: ["HGETALL", key], rule: SORTED_PAIRS }),
  zset: (key) => ({ words: ["ZRANGE", key, "0", "-1", "WITHSCORES"], rule: EXACT }),
  stream: (key) => ({ words: ["XINFO", "STREAM", key, "FULL", "COUNT", "0"], rule: EXACT }),
};

/**
 * Layout in memory; the time at which each server itself last saw a consumer; and how much a group has read, which 7.0 does
 * not tell its replicas when entries are delivered (XREADGROUP is propagated as XCLAIM … LASTID).
 */
const OWN = new Set(["radix-tree-keys", "radix-tree-nodes", "seen-time", "entries-read", "lag"]);

/** Where the real server is no 7.0 (SERVER_BIN), it names other encodings, writes scores otherwise, and tells more of consumers. */
const SAME_WORDS = yardstickMissing() === undefined;
const LATER_FIELD = "active-time";

/** Scores by what they are, not by how they are written. */
const asNumbers = (answer: Answer): Answer =>
  aggregate(
    answer.tag,
    answer.items.map((item, i) => (i % 2 === 1 ? scalar(item.tag, String(Number(item.text))) : item)),
  );

/** A later primary does not tell its replicas of a consumer that it made while there was nothing to deliver. */
const holdsNothing = (consumer: Answer): boolean => {
  const at = consumer.items.findIndex(({ text }) => text === "pel-count");
  return at >= 0 && consumer.items[at + 1]!.text === "0";
};

function withoutIdle(answer: Answer): Answer {
  const kept = answer.items.filter((item) => !holdsNothing(item)).map(withoutIdle);
  return answer.items.length === 0 ? answer : aggregate(answer.tag, kept);
}

function comparable(answer: Answer, type: string): Answer {
  if (SAME_WORDS) return withoutOwn(answer);
  return type === "zset" ? asNumbers(answer) : withoutOwn(withoutIdle(answer));
}

function withoutOwn(whole: Answer): Answer {
  const later = whole.items.findIndex(({ tag, text }) => tag === "$" && text === LATER_FIELD);
  const kept = later < 0 ? whole.items : whole.items.filter((_, i) => i !== later && i !== later + 1);
  const answer = later < 0 ? whole : aggregate(whole.tag, kept);
  const items = answer.items.map((item, i) => {
    const name = answer.items[i - 1];
    return name !== undefined && name.tag === "$" && OWN.has(name.text) ? scalar("$", "own") : withoutOwn(item);
  });
  return answer.items.length === 0 ? answer : aggregate(answer.tag, items);
}

const brief = (answer: Answer): string =>
  answer.items.length > 0 ? `${answer.items.length} items` : `${answer.tag}${JSON.stringify(answer.text.slice(0, 40))}`;

/** Where two answers part, by positions and by the names before them. */
function firstDifference(a: Answer, b: Answer, path = ""): string {
  if (a.items.length > 0 && a.items.length === b.items.length) {
    for (const [i, item] of a.items.entries()) {
      const other = b.items[i]!;
      const name = i > 0 && a.items[i - 1]!.tag === "$" ? a.items[i - 1]!.text.slice(0, 20) : String(i);
      if (!same(withoutOwn(item), withoutOwn(other), EXACT)) return firstDifference(item, other, `${path}/${name}`);
    }
  }
  return `${path} is ${brief(a)}, in the replica ${brief(b)}`;
}

const shown = (key: string): string => JSON.stringify(key.slice(0, 60));
const textsOf = (answer: Answer): string[] => answer.items.map((item) => item.text).sort();

class Comparer {
  keys = 0;
  identical = 0;
  withDeadline = 0;
  readonly types: Record<string, number> = {};
  readonly differences: string[] = [];
  readonly #primary: Wire;
  readonly #replica: Wire;

  constructor(primary: Wire, replica: Wire) {
    this.#primary = primary;
    this.#replica = replica;
  }

  #both(commands: string[][]): Promise<[Answer[], Answer[]]> {
    return Promise.all([this.#primary.pipeline(commands, 60_000), this.#replica.pipeline(commands, 60_000)]);
  }

  async functions(): Promise<void> {
    const [[theirs], [own]] = await this.#both([["FUNCTION", "LIST", "WITHCODE"]]);
    if (!same(theirs!, own!, SORTED)) this.differences.push("the function libraries differ");
  }

  async database(db: string): Promise<void> {
    const [theirs, own] = await this.#both([["SELECT", db], ["KEYS", "*"], ["DBSIZE"]]);
    const [names, replicated] = [textsOf(theirs[1]!), textsOf(own[1]!)];
    this.#names(db, names, replicated);
    // Expired keys that KEYS no longer shows would still be counted here.
    if (theirs[2]!.text !== own[2]!.text) {
      this.differences.push(`db ${db}: ${theirs[2]!.text} keys in the primary, ${own[2]!.text} in the replica`);
    }
    const there = new Set(replicated);
    const shared = names.filter((name) => there.has(name));
    for (let at = 0; at < shared.length; at += BATCH) await this.#values(db, shared.slice(at, at + BATCH));
  }

  #names(db: string, names: readonly string[], replicated: readonly string[]): void {
    const [here, there] = [new Set(names), new Set(replicated)];
    for (const name of names) if (!there.has(name)) this.differences.push(`db ${db}: ${shown(name)} is missing`);
    for (const name of replicated) if (!here.has(name)) this.differences.push(`db ${db}: ${shown(name)} is too many`);
  }

  async #values(db: string, keys: readonly string[]): Promise<void> {
    const questions = keys.flatMap((key) => [
      ["DUMP", key],
      ["PEXPIRETIME", key],
      ["TYPE", key],
    ]);
    const [theirs, own] = await this.#both(questions);
    const unlike: { key: string; type: string }[] = [];
    for (const [i, key] of keys.entries()) {
      const [dump, deadline, type] = [theirs[i * 3]!, theirs[i * 3 + 1]!.text, theirs[i * 3 + 2]!.text];
      this.keys++;
      this.types[type] = (this.types[type] ?? 0) + 1;
      if (Number(deadline) > 0) this.withDeadline++;
      const [ownDump, ownDeadline, ownType] = [own[i * 3]!, own[i * 3 + 1]!.text, own[i * 3 + 2]!.text];
      if (deadline !== ownDeadline)
        this.differences.push(`db ${db}: ${shown(key)} expires at ${deadline}, in the replica at ${ownDeadline}`);
      if (type !== ownType) this.differences.push(`db ${db}: ${shown(key)} is a ${type}, in the replica a ${ownType}`);
      else if (same(dump, ownDump, EXACT)) this.identical++;
      else unlike.push({ key, type });
    }
    if (unlike.length > 0) await this.#contents(db, unlike);
  }

  async #contents(db: string, keys: readonly { key: string; type: string }[]): Promise<void> {
    const content = keys.map(({ key, type }) => CONTENT[type]!(key, ""));
    const encodings = keys.map(({ key }) => ["OBJECT", "ENCODING", key]);
    const [theirs, own] = await this.#both([...content.map(({ words }) => words), ...encodings]);
    for (const [i, { key, type }] of keys.entries()) {
      if (!same(comparable(theirs[i]!, type), comparable(own[i]!, type), content[i]!.rule)) {
        this.differences.push(`db ${db}: ${shown(key)}, a ${type}: ${firstDifference(theirs[i]!, own[i]!)}`);
      }
      const [wide, narrow] = [theirs[keys.length + i]!.text, own[keys.length + i]!.text];
      const order = ENCODINGS[type]!;
      if (SAME_WORDS && order.indexOf(narrow) > order.indexOf(wide))
        this.differences.push(`db ${db}: ${shown(key)} is ${wide}, in the replica ${narrow}`);
    }
  }
}

/** Compares everything. Nobody may write meanwhile. */
export async function compare(primary: Server, replica: Server): Promise<Comparison> {
  const wires = await Promise.all([primary.wire(), replica.wire()]);
  try {
    const comparer = new Comparer(...wires);
    await comparer.functions();
    for (const db of DATABASES) await comparer.database(db);
    return comparer;
  } finally {
    await Promise.all(wires.map((wire) => wire.close()));
  }
}

/** Returns when the primary has removed every key that was to expire soon. */
export async function shortLivedGone(primary: Server): Promise<void> {
  const wire = await primary.wire();
  try {
    const questions = DATABASES.flatMap((db) => [
      ["SELECT", db],
      ["KEYS", `${SHORT_LIVED}*`],
      ["DBSIZE"],
      ["KEYS", "*"],
    ]);
    await until("no key is left that expires soon", async () => {
      const answers = await wire.pipeline(questions);
      return DATABASES.every((_, i) => {
        const [listed, size, all] = [answers[i * 4 + 1]!, answers[i * 4 + 2]!, answers[i * 4 + 3]!];
        return listed.items.length === 0 && Number(size.text) === all.items.length;
      });
    });
  } finally {
    await wire.close();
  }
}
