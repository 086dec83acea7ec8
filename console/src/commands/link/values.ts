/** Keys with their values as bytes (DUMP) and their deadlines: read, written and compared, in batches. */
import type { Link } from "./link.ts";
import { checked } from "./link.ts";
import { itemsIn, type Reply, textIn, type Word } from "./reply.ts";
import { type Keyed, noErrors, type WholeStore } from "./stores.ts";

export interface Dumped {
  readonly key: Buffer;
  /** Null: there is no such key. */
  readonly payload: Buffer | null;
  /** When it ends, as the server's clock has it; 0: never. */
  readonly deadline: number;
}

const bytesIn = (reply: Reply): Buffer | null => ("bytes" in reply ? reply.bytes : null);

const reading = (keys: readonly Buffer[]): Keyed[] =>
  keys.flatMap((key) => [
    { key, words: ["DUMP", key] },
    { key, words: ["PTTL", key] },
  ]);

/** Moments are made of what is left of a life, so that they do not depend on two clocks agreeing. */
function dumpedIn(keys: readonly Buffer[], replies: readonly Reply[], now: number): Dumped[] {
  return keys.map((key, at) => {
    const left = Number(textIn(replies[at * 2 + 1]));
    return { key, payload: bytesIn(replies[at * 2]!), deadline: left > 0 ? now + left : 0 };
  });
}

export async function readValues(link: Link, keys: readonly Buffer[]): Promise<Dumped[]> {
  const replies = await link.callMany(reading(keys).map(({ words }) => words));
  return dumpedIn(keys, replies, Date.now());
}

export async function readValuesOf(store: WholeStore, db: number, keys: readonly Buffer[]): Promise<Dumped[]> {
  return dumpedIn(keys, noErrors(await store.run(db, reading(keys))), Date.now());
}

/** Writes keys as they were read; those that are not there are deleted. */
export async function writeValues(store: WholeStore, db: number, values: readonly Dumped[]): Promise<void> {
  const now = Date.now();
  const commands = values.map(({ key, payload, deadline }): Keyed => {
    if (payload === null) return { key, words: ["DEL", key] };
    const left = deadline === 0 ? "0" : String(Math.max(1, deadline - now));
    return { key, words: ["RESTORE", key, left, payload, "REPLACE"] };
  });
  noErrors(await store.run(db, commands));
}

/** Without the version and the checksum at its end, which differ from server to server. */
const bodyOf = (payload: Buffer): Buffer => payload.subarray(0, -10);
/** Deadlines are made of times left, which are read one after the other. */
const SAME_MS = 2_000;

/** Whether two have the same value and deadline as far as their bytes tell; a value may have several forms. */
export function looksEqual(a: Dumped, b: Dumped): boolean {
  if (a.payload === null || b.payload === null) return a.payload === b.payload;
  if ((a.deadline === 0) !== (b.deadline === 0)) return false;
  return Math.abs(a.deadline - b.deadline) <= SAME_MS && bodyOf(a.payload).equals(bodyOf(b.payload));
}

const READERS: Readonly<Record<string, (key: Buffer) => Word[]>> = {
  string: (key) => ["GET", key],
  list: (key) => ["LRANGE", key, "0", "-1"],
  set: (key) => ["SMEMBERS", key],
  hash: (key) => ["HGETALL", key],
  zset: (key) => ["ZRANGE", key, "0", "-1", "WITHSCORES"],
  stream: (key) => ["XRANGE", key, "-", "+"],
};

/** One text for a value whatever its form: elements without an order are sorted. */
async function meaningOf(ask: (words: Word[]) => Promise<Reply>, key: Buffer): Promise<string> {
  const type = textIn(checked(await ask(["TYPE", key])));
  const reader = READERS[type];
  if (reader === undefined) return type;
  const value = checked(await ask(reader(key)));
  const groups = type === "stream" ? shortOf(checked(await ask(["XINFO", "GROUPS", key]))) : "";
  const items = itemsIn(value).map(shortOf);
  if (type === "hash") {
    const pairs = items.flatMap((each, at) => (at % 2 === 0 ? [`${each}\n${items[at + 1]}`] : []));
    return `hash ${pairs.sort().join("\n")}`;
  }
  if (type === "set") items.sort();
  return `${type} ${"items" in value ? items.join("\n") : shortOf(value)} ${groups}`;
}

function shortOf(reply: Reply): string {
  if ("items" in reply) return `[${reply.items.map(shortOf).join(",")}]`;
  return "bytes" in reply ? reply.bytes.toString("latin1") : textIn(reply);
}

/** A database of a store. */
export interface InDb {
  readonly store: WholeStore;
  readonly db: number;
}

/** The keys among these whose values or deadlines differ. */
export async function differing(from: InDb, to: InDb, keys: readonly Buffer[]): Promise<Buffer[]> {
  const [theirs, ours] = await Promise.all([
    readValuesOf(from.store, from.db, keys),
    readValuesOf(to.store, to.db, keys),
  ]);
  const found: Buffer[] = [];
  for (const [at, key] of keys.entries()) {
    const [a, b] = [theirs[at]!, ours[at]!];
    if (looksEqual(a, b)) continue;
    const isOneMissing = a.payload === null || b.payload === null;
    const isTimeOff = (a.deadline === 0) !== (b.deadline === 0) || Math.abs(a.deadline - b.deadline) > SAME_MS;
    if (isOneMissing || isTimeOff || !(await isSameMeaning(from, to, key))) found.push(key);
  }
  return found;
}

async function isSameMeaning(from: InDb, to: InDb, key: Buffer): Promise<boolean> {
  const asking =
    ({ store, db }: InDb) =>
    async (words: Word[]) =>
      (await store.run(db, [{ key, words }]))[0]!;
  const [a, b] = await Promise.all([meaningOf(asking(from), key), meaningOf(asking(to), key)]);
  return a === b;
}
