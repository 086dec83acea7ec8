/**
 * How many different visitors there were on a day, or over several.
 *
 *   const visitors = new UniqueVisitors(store, "site");
 *   await visitors.visit(sessionId);                    // true: for the first time today
 *   await visitors.count("2026-11-15");                 // { visitors: 10_482, isExact: true, standardError: 0 }
 *   await visitors.countDays("2026-11-09", "2026-11-15");
 *
 * Exact as long as a day has no more than `maxExact`, in sets of integers that the server packs into 8 bytes each; past that by
 * HyperLogLog, in a few kilobytes whatever comes. The number of sets follows from the day before.
 */
import { createHash } from "node:crypto";
import { aStore, word } from "../../base/checks.ts";
import { CinnabarError, InputError, ServerError } from "../../base/errors.ts";
import { tagged } from "../../base/keys.ts";
import { getOrMake, only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, time, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asList, asText, asTuple } from "../../base/replies.ts";
import type { Reply, Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { checkedName, rootKey } from "./keys.ts";
import { averageFill, packedLimits } from "./packing.ts";
import { define } from "./scripts/core.ts";
import { promote, tally, visit } from "./scripts/visitors.ts";

const DAY_MS = 86_400_000;
/** Of a HyperLogLog with 2^14 registers. */
const STANDARD_ERROR = 1.04 / Math.sqrt(2 ** 14);
const MOST_SHARDS_PER_TAG = 8_192;
const ITEMS_PER_CALL = 500;
const ATTEMPTS = 10;

/** Settings of `UniqueVisitors`. */
export interface UniqueVisitorsOptions {
  /** How all keys begin (default `"visitors"`). */
  readonly prefix?: string;
  /** Tags that visitors are divided among, for good. 16 by default. */
  readonly tags?: number;
  /** Visitors a day that are counted exactly. 1 000 000 by default. */
  readonly maxExact?: number;
  /** Visitors that are expected on a day before which there is none. 1 000 000 by default. */
  readonly expected?: number;
  /** How long a day is kept. 62 days by default. */
  readonly keepMs?: number;
  /** When days begin: milliseconds east of UTC. 0 by default. */
  readonly utcOffsetMs?: number;
}

/** How many different visitors there were. */
export interface VisitorCount {
  /** How many. */
  readonly visitors: number;
  /** Whether that is exact; otherwise it is an estimate. */
  readonly isExact: boolean;
  /** How far off it is likely to be, as a part of it: two out of three counts are within this. */
  readonly standardError: number;
}

interface Visitor {
  /** 64 bits of the id's hash, as a signed number: what a packed set of integers holds in 8 bytes. */
  readonly number: bigint;
  readonly tag: number;
  readonly code: number;
}

const OPTIONS = defineOptions<UniqueVisitorsOptions>("UniqueVisitors", {
  prefix,
  tags: whole(1, 4_096),
  maxExact: whole(0, 1_000_000_000),
  expected: whole(1, 1_000_000_000),
  keepMs: whole(1, 3_660 * DAY_MS),
  utcOffsetMs: whole(-DAY_MS, DAY_MS),
});

const LIST_OPTIONS = defineOptions<PageOptions>("UniqueVisitors.list", pageChecks(100_000));

const VISIT_OPTIONS = defineOptions<{ readonly at?: Date }>("UniqueVisitors.visitMany", {
  at: time,
});

/**
 * How many different visitors there were on a day or over several: exact up to `maxExact` a day, an estimate beyond.
 *
 * @example
 * const visitors = new UniqueVisitors(db, "site");
 * await visitors.visit("session-1"); // → true
 * await visitors.visitMany(["session-1", "session-2"]); // → [false, true]
 * await visitors.count(); // → { visitors: 2, isExact: true, standardError: 0 }
 * const today = await visitors.today();
 * (await visitors.countDays(today, today)).visitors; // → 2
 * @example
 * const visitors = new UniqueVisitors(db, "site");
 * const day = await visitors.today();
 * await visitors.visit("session-1", { at: new Date(day) });
 * await visitors.delete(day);
 * await visitors.list(); // → { items: […], cursor: null }
 */
export class UniqueVisitors {
  /** What is counted, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #prefix: string;
  readonly #options: Required<Omit<UniqueVisitorsOptions, "prefix">>;
  readonly #names: NameIndex;
  /** Sets behind each tag, of days that this process has to do with. */
  readonly #shards = new Map<string, Promise<number>>();
  #tags: Promise<number> | null = null;
  /** The server's clock less this machine's. */
  #skewMs = 0;

  constructor(store: Store, name: string, options: UniqueVisitorsOptions = {}) {
    aStore("UniqueVisitors", store);
    OPTIONS.check(options);
    const { tags = 16, maxExact = 1_000_000, expected = 1_000_000, keepMs = 62 * DAY_MS, utcOffsetMs = 0 } = options;
    this.#store = store;
    this.name = checkedName(name);
    this.#prefix = options.prefix ?? "visitors";
    this.#options = {
      tags: tags,
      maxExact: maxExact,
      expected: expected,
      keepMs,
      utcOffsetMs,
    };
    this.#names = new NameIndex(store, { kind: "visitors", prefix: this.#prefix, keepMs });
  }

  /** Notes a visit, today or at a time. True: the first of that day; false: not the first; null: no longer known. */
  async visit(id: string, options: { readonly at?: Date } = {}): Promise<boolean | null> {
    return only(await this.visitMany([id], options));
  }

  /** One round trip for all. */
  async visitMany(ids: readonly string[], options: { readonly at?: Date } = {}): Promise<(boolean | null)[]> {
    VISIT_OPTIONS.check(options);
    const tags = await this.#root();
    const visitors = ids.map((id) => visitorOf(word("id", id), tags));
    const answers: (boolean | null)[] = new Array(ids.length).fill(null);
    let pending = batchesOf(visitors);
    for (let attempt = 0; pending.length > 0; attempt++) {
      if (attempt === ATTEMPTS) throw new CinnabarError("LAYOUT", `${this.name} cannot agree on the day`);
      const day = this.#dayOf(options.at?.getTime() ?? this.#store.clock.wallMs() + this.#skewMs);
      const shards = await this.#shardsOf(day);
      const missed: Batch[] = [];
      for (let from = 0; from < pending.length; from += 128) {
        const part = pending.slice(from, from + 128);
        const calls = part.map((batch) =>
          visit.with(this.#params(batch, visitors, { day, shards, tags, isToday: options.at === undefined })),
        );
        for (const [batch, reply] of zipped(part, await this.#store.pipeline(calls))) {
          if (!(await this.#settled(batch, reply, { day, shards }, answers))) missed.push(batch);
        }
      }
      pending = missed;
    }
    return answers;
  }

  #params({ tag, places }: Batch, visitors: readonly Visitor[], of: Day) {
    const { day, shards, tags, isToday } = of;
    const keys = this.#keys(tag, day);
    const named: string[] = [];
    const placed = new Map<number, number>();
    const items: Word[] = [];
    for (const place of places) {
      const { number, code } = visitors[place]!;
      const shard = code % shards;
      const nth = getOrMake(placed, shard, () => named.push(keys.shard(shard)));
      items.push(nth, number);
    }
    const from = this.#startOf(day);
    return {
      gate: keys.gate,
      sketch: keys.sketch,
      dayFrom: isToday ? from : "",
      dayTo: isToday ? from + DAY_MS : "",
      shardCount: shards,
      expireAt: from + DAY_MS + this.#options.keepMs,
      most: this.#mostPerTag(tags),
      shards: named,
      items,
    };
  }

  async #settled(
    { tag, places }: Batch,
    reply: Reply | ServerError,
    { day, shards }: Pick<Day, "day" | "shards">,
    into: (boolean | null)[],
  ): Promise<boolean> {
    const [isDone, first, second, isDue] = asList(reply);
    if (isDone === 0) {
      if (first === "old") throw new InputError(`${day} is not kept any more`);
      if (first === "day") this.#skewMs = Number(second) - this.#store.clock.wallMs();
      else this.#shards.set(day, Promise.resolve(Number(second)));
      return false;
    }
    for (const [nth, place] of places.entries()) into[place] = second === 1 ? asList(first)[nth] === 1 : null;
    if (isDue === 1) await this.#promote(tag, day, shards);
    return true;
  }

  async #promote(tag: number, day: string, shardCount: number): Promise<void> {
    const { gate, shard } = this.#keys(tag, day);
    const shards = Array.from({ length: shardCount }, (_, nth) => shard(nth));
    await this.#store.run(promote, { gate, shardCount, most: this.#mostPerTag(await this.#root()), shards });
  }

  /** Today by the server's clock, or another day: "2026-11-15". */
  async count(day?: string): Promise<VisitorCount> {
    const tallies = await this.#tallies(day === undefined ? await this.today() : checkedDay(day));
    const visitors = tallies.reduce((sum, [, each]) => sum + each, 0);
    // Tags are counted apart, so their errors partly make up for each other.
    const variance = tallies.reduce((sum, [exact, each]) => sum + (exact === 1 ? 0 : (STANDARD_ERROR * each) ** 2), 0);
    return {
      visitors,
      isExact: tallies.every(([exact]) => exact === 1),
      standardError: visitors === 0 ? 0 : Math.sqrt(variance) / visitors,
    };
  }

  /** Different visitors from one day to another, both included: who came on several days counts once. Estimated. */
  async countDays(first: string, last: string): Promise<VisitorCount> {
    const tags = await this.#root();
    const days: string[] = [];
    for (let at = Date.parse(checkedDay(first)); at <= Date.parse(checkedDay(last)); at += DAY_MS) {
      days.push(new Date(at).toISOString().slice(0, 10));
      if (days.length > 366) throw new InputError("at most 366 days can be counted together");
    }
    if (days.length === 0) throw new InputError("the first day must not be later than the last");
    if (days.length === 1) return this.count(first);
    const calls = Array.from({ length: tags }, (_, tag) => [
      "PFCOUNT",
      ...days.map((day) => this.#keys(tag, day).sketch),
    ]);
    const counts = (await this.#store.pipeline(calls)).map((answer) => {
      if (answer instanceof ServerError) throw answer;
      return Number(answer);
    });
    const visitors = counts.reduce((sum, each) => sum + each, 0);
    const variance = counts.reduce((sum, each) => sum + (STANDARD_ERROR * each) ** 2, 0);
    return { visitors, isExact: visitors === 0, standardError: visitors === 0 ? 0 : Math.sqrt(variance) / visitors };
  }

  /** Which day it is, by the server's clock. */
  async today(): Promise<string> {
    const [seconds] = asTuple(asText)(await this.#store.send(["TIME"], { repeatable: true }));
    return this.#dayOf(Number(seconds) * 1_000);
  }

  /** Forgets a day. */
  async delete(day: string): Promise<void> {
    const tallies = await this.#tallies(checkedDay(day));
    for (const [tag, [, , shards]] of tallies.entries()) {
      const { gate, sketch, shard } = this.#keys(tag, day);
      const sets = Array.from({ length: shards }, (_, nth) => shard(nth));
      await this.#store.send(["DEL", gate, sketch, ...sets], { key: gate, repeatable: true });
    }
    this.#shards.delete(day);
  }

  /** The names that are counted with this prefix, the latest used first. */
  list(options: PageOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    return this.#names.list(options);
  }

  // ---------------------------------------------------------------------------------------------- days and their sets

  /** How many tags there are: what the first process that counted has chosen. */
  #root(): Promise<number> {
    this.#names.announce(this.name);
    this.#tags ??= this.#store
      .run(define, { root: rootKey(this.#prefix, this.name), fields: ["tags", this.#options.tags] })
      .then((fields) => Number(fields.get("tags")))
      .catch((error) => {
        this.#tags = null;
        throw error;
      });
    return this.#tags;
  }

  #keys(tag: number, day: string) {
    const base = `${tagged(this.#prefix, `${this.name}/${tag}`, "visitor count")}:${day}`;
    return { gate: `${base}:gate`, sketch: `${base}:sketch`, shard: (nth: number): string => `${base}:${nth}` };
  }

  #mostPerTag(tags: number): number {
    return Math.ceil(this.#options.maxExact / tags);
  }

  async #tallies(day: string): Promise<[exact: number, visitors: number, shards: number][]> {
    const tags = await this.#root();
    const calls = Array.from({ length: tags }, (_, tag) => {
      const { gate, sketch } = this.#keys(tag, day);
      return tally.with({ gate, sketch });
    });
    return (await this.#store.pipeline(calls)).map((answer) => {
      if (answer instanceof ServerError) throw answer;
      return answer;
    });
  }

  /** Sets behind each tag on a day: as many as half again as many visitors as the day before would fill. */
  #shardsOf(day: string): Promise<number> {
    const known = this.#shards.get(day);
    if (known !== undefined) return known;
    if (this.#shards.size > 1_000) this.#shards.clear();
    const sized = this.#size(day).catch((error) => {
      this.#shards.delete(day);
      throw error;
    });
    this.#shards.set(day, sized);
    return sized;
  }

  async #size(day: string): Promise<number> {
    const tags = await this.#root();
    const { maxExact, expected } = this.#options;
    const before = await this.#tallies(new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10));
    const yesterday = before.reduce((sum, [, visitors]) => sum + visitors, 0);
    // A power of two, so that all days with about as many visitors are alike.
    const likely = 2 ** Math.ceil(Math.log2((yesterday || expected) * 1.5));
    const { ranged } = await packedLimits(this.#store, "set");
    const sets = Math.ceil(Math.min(likely, Math.max(1, maxExact)) / tags / averageFill(ranged));
    return Math.min(MOST_SHARDS_PER_TAG, Math.max(1, sets));
  }

  #dayOf(ms: number): string {
    if (!Number.isFinite(ms)) throw new InputError("at must be a valid date");
    return new Date(ms + this.#options.utcOffsetMs).toISOString().slice(0, 10);
  }

  #startOf(day: string): number {
    return Date.parse(day) - this.#options.utcOffsetMs;
  }
}

interface Day {
  readonly day: string;
  readonly shards: number;
  readonly tags: number;
  /** Whether it must be that day by the server's clock. */
  readonly isToday: boolean;
}

interface Batch {
  readonly tag: number;
  readonly places: number[];
}

function batchesOf(visitors: readonly Visitor[]): Batch[] {
  const open = new Map<number, Batch>();
  const all: Batch[] = [];
  for (const [place, { tag }] of visitors.entries()) {
    let batch = open.get(tag);
    if (batch === undefined || batch.places.length >= ITEMS_PER_CALL) {
      batch = { tag, places: [] };
      open.set(tag, batch);
      all.push(batch);
    }
    batch.places.push(place);
  }
  return all;
}

function visitorOf(id: string, tags: number): Visitor {
  const digest = createHash("sha1").update(id).digest();
  const place = digest.readUInt32BE(8);
  return { number: digest.readBigInt64BE(0), tag: place % tags, code: Math.floor(place / tags) };
}

function checkedDay(day: string): string {
  const at = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(day) : Number.NaN;
  if (Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day)
    throw new InputError("a day is written as 2026-11-15");
  return day;
}
