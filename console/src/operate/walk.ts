/**
 * One walk over all keys, for everything that has to see each of them: the tree with its counts, searches by type, time to live and
 * size, bulk actions, exports, the analysis.
 *
 * It goes in steps that take a few milliseconds, and lets others in after each: an embedded store serves its other clients in the
 * same process. How many keys a step takes follows from how long the last one took. Nothing is kept but what tells a key that SCAN
 * gives twice, which is bounded.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Store, Word } from "cinnabar";
import { globOf } from "../glob.ts";
import { scan } from "../nodes.ts";
import { integer, oneOf, string, type Typed } from "../schema.ts";

/** Which keys. As fields of a query or a body. */
export const FILTER = {
  match: string({ default: "", maxLength: 1_000, description: "A pattern, as for SCAN; empty: all." }),
  type: string({ default: "", maxLength: 20, pattern: "^[a-z]*$" }),
  ttl: oneOf(["any", "none", "some"] as const, "Whether they expire."),
  minTtlMs: integer({ minimum: 0 }),
  maxTtlMs: integer({ minimum: 0 }),
  minBytes: integer({ minimum: 0 }),
  maxBytes: integer({ minimum: 0 }),
};
export const OPTIONAL = ["ttl", "minTtlMs", "maxTtlMs", "minBytes", "maxBytes"] as const;

export const FILTER_NAMES = ["match", "type", ...OPTIONAL] as const;

type Fields = { readonly [name in keyof typeof FILTER]: Typed<(typeof FILTER)[name]> };
export type Filter = Pick<Fields, "match" | "type"> & { readonly [name in (typeof OPTIONAL)[number]]?: Fields[name] };

/** What is known of a key on the walk: what was asked for, null for the rest and for what the server does not tell. */
export interface Walked {
  readonly key: Buffer;
  readonly type: string | null;
  readonly ttlMs: number | null;
  readonly bytes: number | null;
  readonly encoding: string | null;
  /** How often it is used, by the server's LFU counter. */
  readonly frequency: number | null;
}

export type Fact = "type" | "ttl" | "bytes" | "encoding" | "frequency";

export interface Step {
  readonly keys: readonly Walked[];
  /** Keys that were looked at until now, whether they match or not. */
  readonly scanned: number;
  /** False once there are so many keys that one which SCAN gives twice is counted twice. */
  readonly isExact: boolean;
}

export interface WalkOptions {
  readonly filter: Filter;
  readonly facts?: readonly Fact[];
  readonly signal: AbortSignal;
}

const QUESTIONS: Readonly<Record<Fact, (key: Buffer) => Word[]>> = {
  type: (key) => ["TYPE", key],
  ttl: (key) => ["PTTL", key],
  bytes: (key) => ["MEMORY", "USAGE", key],
  encoding: (key) => ["OBJECT", "ENCODING", key],
  frequency: (key) => ["OBJECT", "FREQ", key],
};

/** What a filter needs to know besides the name. */
function neededBy(filter: Filter): Fact[] {
  const facts: Fact[] = [];
  if (filter.type !== "") facts.push("type");
  if ((filter.ttl ?? "any") !== "any" || filter.minTtlMs !== undefined || filter.maxTtlMs !== undefined)
    facts.push("ttl");
  if (filter.minBytes !== undefined || filter.maxBytes !== undefined) facts.push("bytes");
  return facts;
}

const within = (value: number | null, least: number | undefined, most: number | undefined): boolean =>
  (least === undefined && most === undefined) ||
  (value !== null && value >= (least ?? 0) && value <= (most ?? Number.POSITIVE_INFINITY));

function fits(filter: Filter, { type, ttlMs, bytes }: Walked): boolean {
  if (filter.type !== "" && type !== filter.type) return false;
  if (filter.ttl === "none" && ttlMs !== null) return false;
  if (filter.ttl === "some" && ttlMs === null) return false;
  return within(ttlMs, filter.minTtlMs, filter.maxTtlMs) && within(bytes, filter.minBytes, filter.maxBytes);
}

const text = (answer: Answer | undefined): string | null => (typeof answer === "string" ? answer : null);
const amount = (answer: Answer | undefined): number | null =>
  typeof answer === "number" && answer >= 0 ? answer : null;

/** Facts of keys, in one pipeline; keys that are gone meanwhile are left out where a fact tells it. */
async function factsOf(store: Store, keys: readonly Buffer[], facts: readonly Fact[]): Promise<Walked[]> {
  const answers = await store.pipeline(keys.flatMap((key) => facts.map((fact) => QUESTIONS[fact](key))));
  return keys.flatMap((key, nth): Walked[] => {
    const told = (fact: Fact): Answer | undefined => {
      const at = facts.indexOf(fact);
      return at === -1 ? undefined : answers[nth * facts.length + at];
    };
    if (told("type") === "none" || told("ttl") === -2) return [];
    return [
      {
        key,
        type: text(told("type")),
        ttlMs: amount(told("ttl")),
        bytes: amount(told("bytes")),
        encoding: text(told("encoding")),
        frequency: amount(told("frequency")),
      },
    ];
  });
}

const MOST_REMEMBERED = 2_000_000;

const SHARDS = 256;

/**
 * Names that came already, each as 64 bits: two different names are taken for one in about one of 10⁷ walks over a million keys.
 * They are in many small tables, so that the growth of one takes a fraction of a millisecond.
 */
export class Seen {
  readonly #tables = Array.from({ length: SHARDS }, () => ({ slots: new Uint32Array(2 * 16), count: 0 }));
  #count = 0;

  get isExact(): boolean {
    return this.#count <= MOST_REMEMBERED;
  }

  /** False where the name came before. */
  add(name: Buffer): boolean {
    if (!this.isExact) return true;
    let [one, two] = [0x811c9dc5, 0x9e3779b9];
    for (const byte of name) {
      one = Math.imul(one ^ byte, 0x01000193);
      two = Math.imul(two ^ byte, 0x85ebca6b) ^ (two >>> 13);
    }
    const table = this.#tables[(two >>> 24) % SHARDS]!;
    if (!put(table.slots, one >>> 0, two >>> 0 || 1)) return false;
    if (++this.#count > MOST_REMEMBERED) this.#tables.length = 0;
    else if (++table.count * 4 > table.slots.length) table.slots = grown(table.slots);
    return true;
  }
}

function put(slots: Uint32Array, one: number, two: number): boolean {
  const mask = slots.length / 2 - 1;
  for (let at = (one ^ two) & mask; ; at = (at + 1) & mask) {
    if (slots[2 * at] === one && slots[2 * at + 1] === two) return false;
    // The second half of a name that is there is never 0.
    if (slots[2 * at + 1] !== 0) continue;
    slots[2 * at] = one;
    slots[2 * at + 1] = two;
    return true;
  }
}

function grown(old: Uint32Array): Uint32Array<ArrayBuffer> {
  const slots = new Uint32Array(old.length * 2);
  for (let at = 0; at < old.length; at += 2) if (old[at + 1] !== 0) put(slots, old[at]!, old[at + 1]!);
  return slots;
}

/** What a step is to take on a store in this process, and with one elsewhere, where the way there is part of it. */
const STEP_MS = { embedded: 2, remote: 25 } as const;
const [LEAST_STEP, MOST_STEP] = [16, 1_000];
const REST_MS = 1;

export async function* walk(
  store: Store,
  { filter, facts = [], signal }: WalkOptions,
): AsyncGenerator<Step, void, undefined> {
  const wanted = [...new Set([...neededBy(filter), ...facts])];
  const isNamed = globOf(filter.match);
  const isEmbedded = store.topology === "embedded";
  const limitMs = isEmbedded ? STEP_MS.embedded : STEP_MS.remote;
  const seen = new Seen();
  let [cursor, scanned, count] = ["0", 0, 64];
  do {
    signal.throwIfAborted();
    const began = performance.now();
    const found = await scan(store, cursor, { count });
    cursor = found.cursor;
    const fresh = found.keys.filter((key) => seen.add(key));
    scanned += fresh.length;
    const named = fresh.filter((key) => isNamed(key.toString("latin1")));
    // One bucket may hold more than was asked for.
    const keys: Walked[] = [];
    for (let at = 0; at < named.length; at += count)
      keys.push(...(await factsOf(store, named.slice(at, at + count), wanted)));
    yield { keys: keys.filter((each) => fits(filter, each)), scanned, isExact: seen.isExact };
    // With what was done about the keys: on a store in this process, others wait for that too.
    const tookMs = performance.now() - began;
    if (tookMs > limitMs) count = Math.max(LEAST_STEP, Math.floor(count / 2));
    else if (tookMs < limitMs / 2) count = Math.min(MOST_STEP, Math.ceil(count * 1.5));
    if (isEmbedded) await sleep(REST_MS);
  } while (cursor !== "0");
}
