/**
 * What a walk over all keys adds up to: folders with counts and memory, types, encodings, times to live, the largest and the most
 * used keys. Its own memory is bounded whatever the keys are called: a folder keeps so many folders in it and the sum of the others,
 * and every folder that is kept has its true count from its first key on.
 */
import { textOf } from "../values.ts";
import type { KeyFacts } from "./keys.ts";
import { partsOf } from "./prefixes.ts";
import type { Walked } from "./walk.ts";

export interface Sum {
  count: number;
  bytes: number;
}

export interface Folder extends Sum {
  readonly folders: Map<string, Folder>;
  /** Keys right in it. */
  direct: number;
  /** Keys in folders of it that are not kept. */
  readonly others: Sum;
  readonly lasting: Sum;
}

const sum = (): Sum => ({ count: 0, bytes: 0 });
const folder = (): Folder => ({ ...sum(), folders: new Map(), direct: 0, others: sum(), lasting: sum() });

function add(to: Sum, bytes: number): void {
  to.count++;
  to.bytes += bytes;
}

/** The greatest of many, by a number. */
class Top<T> {
  readonly #most: number;
  #held: { readonly rank: number; readonly item: T }[] = [];
  #least = Number.NEGATIVE_INFINITY;

  constructor(most: number) {
    this.#most = most;
  }

  offer(rank: number, item: T): void {
    if (rank <= this.#least) return;
    this.#held.push({ rank, item });
    if (this.#held.length < 2 * this.#most) return;
    this.#trim();
    this.#least = this.#held.at(-1)!.rank;
  }

  get items(): T[] {
    this.#trim();
    return this.#held.map(({ item }) => item);
  }

  #trim(): void {
    this.#held.sort((a, b) => b.rank - a.rank);
    this.#held = this.#held.slice(0, this.#most);
  }
}

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
/** Ends of the ranges into which times to live are sorted. */
const TTL_ENDS: readonly (readonly [label: string, endMs: number])[] = [
  ["under 1 minute", MINUTE],
  ["under 1 hour", HOUR],
  ["under 1 day", DAY],
  ["under 1 week", 7 * DAY],
  ["under 30 days", 30 * DAY],
  ["30 days and more", Number.POSITIVE_INFINITY],
];

const MOST_FOLDERS = 30_000;
const MOST_IN_FOLDER = 1_000;
const MOST_DEPTH = 16;
const MOST_TOP = 50;
const MOST_KEPT = 10_000;
const MOST_NAMES = 200;

export type HotKey = KeyFacts & { readonly frequency: number };

export class Sums {
  readonly separator: string;
  readonly root = folder();
  /** The first keys that fit, for a list. */
  readonly keys: KeyFacts[] = [];
  scanned = 0;
  isExact = true;
  readonly types = new Map<string, Sum>();
  readonly encodings = new Map<string, Sum>();
  readonly ttls = TTL_ENDS.map(([label]) => ({ label, ...sum() }));
  readonly #biggest = new Top<KeyFacts>(MOST_TOP);
  readonly #hottest = new Top<HotKey>(MOST_TOP);
  #folders = 0;

  constructor(separator: string) {
    this.separator = separator;
  }

  add({ key, type, ttlMs, bytes, encoding, frequency }: Walked): void {
    const size = bytes ?? 0;
    const facts: KeyFacts = { key: textOf(key), type: type ?? "unknown", ttlMs, bytes, encoding };
    if (this.keys.length < MOST_KEPT) this.keys.push(facts);
    this.#named(this.types, facts.type, size);
    this.#named(this.encodings, `${facts.type} · ${encoding ?? "unknown"}`, size);
    if (ttlMs !== null) add(this.ttls[TTL_ENDS.findIndex(([, endMs]) => ttlMs < endMs)]!, size);
    this.#biggest.offer(size, facts);
    if (frequency !== null) this.#hottest.offer(frequency, { ...facts, frequency });
    this.#place(facts, size);
  }

  get biggest(): KeyFacts[] {
    return this.#biggest.items;
  }

  get hottest(): HotKey[] {
    return this.#hottest.items;
  }

  /** The folder at a path; undefined where none is kept. */
  at(path: readonly string[]): Folder | undefined {
    let at: Folder | undefined = this.root;
    for (const part of path) at = at?.folders.get(part);
    return at;
  }

  #named(sums: Map<string, Sum>, name: string, size: number): void {
    let found = sums.get(name);
    if (found === undefined) {
      if (sums.size >= MOST_NAMES) return;
      found = sum();
      sums.set(name, found);
    }
    add(found, size);
  }

  #place({ key, ttlMs }: KeyFacts, size: number): void {
    let at = this.root;
    const count = (into: Folder) => {
      add(into, size);
      if (ttlMs === null) add(into.lasting, size);
    };
    count(at);
    const parts = typeof key === "string" ? partsOf(key, this.separator).slice(0, -1) : [];
    for (const part of parts.slice(0, MOST_DEPTH)) {
      let next = at.folders.get(part);
      if (next === undefined) {
        if (at.folders.size >= MOST_IN_FOLDER || this.#folders >= MOST_FOLDERS) {
          add(at.others, size);
          return;
        }
        next = folder();
        at.folders.set(part, next);
        this.#folders++;
      }
      count(next);
      at = next;
    }
    at.direct++;
  }
}
