/**
 * Jobs by what somebody can do, and people by what a job asks for.
 *
 *   const board = new JobSearch(store, "board");
 *   await board.put("job 1", { requires: [{ skill: "TypeScript", level: 2 }, { skill: "Redis", years: 3 }], places: ["Berlin"] });
 *   const page = await board.search([{ skill: "typescript", level: 3 }, { skill: "redis", years: 1 }], { missing: 1 });
 *   page.matches[0].missing;                        // [{ skill: "redis", level: 0, years: 3, has: { level: 0, years: 1 } }]
 *
 * Qualified means: has every required skill at the level and years required. See scripts.ts for how jobs are found.
 */

import { aStore, integer, word } from "../../base/checks.ts";
import { type Codec, encodeWithin, json } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { hashOf } from "../../base/hash.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, listOf, object, prefix, text, whole } from "../../base/options.ts";
import type { Script } from "../../base/script.ts";
import type { Store } from "../../connection/store.ts";
import { type SideKeys, shardBase, sideKeys } from "./keys.ts";
import {
  checkedPlaces,
  checkedPoint,
  checkedSkills,
  checkedWishes,
  compare,
  distanceKm,
  packPlaces,
  packRest,
  packWishes,
  type Skill,
  unpack,
  type Weighted,
} from "./packing.ts";
import { type Found, put, RANKS, read, remove, type SEARCHED, searchCandidates, searchJobs, sweep } from "./scripts.ts";
import type {
  Candidate,
  CandidateMatch,
  CandidateSpec,
  Explanation,
  GeoPoint,
  Have,
  Job,
  JobMatch,
  JobSearchOptions,
  JobSpec,
  Page,
  Requirement,
  SearchOptions,
  SetOutcome,
  Wish,
} from "./types.ts";

export type {
  Candidate,
  CandidateMatch,
  CandidateSpec,
  Explanation,
  GeoPoint,
  Have,
  Job,
  JobMatch,
  JobSearchOptions,
  JobSpec,
  Lacking,
  Page,
  Requirement,
  SearchOptions,
  SetOutcome,
  Wish,
} from "./types.ts";

const MAX_REQUIRED = 32;
const MAX_HAD = 128;
const MAX_PLACES = 32;
const MAX_DATA_BYTES = 16_384;
const SWEPT_AT_ONCE = 100;
const MAX_RADIUS_KM = 20_100;

type Side = "job" | "candidate";

/** A search as the scripts take it. */
interface Asked {
  readonly limit: number;
  readonly near: GeoPoint | null;
  readonly args: Readonly<Record<(typeof SEARCHED)[number], string | number>>;
}

const OPTIONS = defineOptions<JobSearchOptions>("JobSearch", {
  prefix,
  shards: whole(1, 256),
  maxEntries: whole(1),
  maxExamined: whole(1, 1_000_000),
});

const SEARCH_OPTIONS = defineOptions<SearchOptions>("JobSearch.search", {
  missing: whole(0, RANKS - 1),
  places: listOf(text),
  near: object,
  limit: whole(1, 1_000),
  cursor: text,
});

/**
 * The jobs that somebody is qualified for by skills, levels and years, those that they nearly are, and the people for a job.
 *
 * @example
 * const board = new JobSearch(db, "board");
 * await board.set("backend", { requires: [{ skill: "Redis", years: 3 }], optional: [{ skill: "Lua" }] }); // → { status: "added" }
 * const found = await board.search([{ skill: "redis", years: 4 }, { skill: "lua" }]);
 * found.items.map(({ job, score }) => `${job.id} ${score}`); // → ["backend 1"]
 * (await board.explain("backend", []))?.missing; // → [{ skill: "redis", level: 0, years: 3, has: null }]
 * @example
 * const board = new JobSearch(db, "board");
 * await board.set("backend", { requires: [{ skill: "Redis" }] });
 * await board.setCandidate("ann", { skills: [{ skill: "Redis" }] }); // → { status: "added" }
 * (await board.searchFor("ann"))?.qualified; // → 1
 * (await board.candidatesFor("backend"))?.items[0]?.candidate.id; // → "ann"
 * (await board.candidates({ requires: [{ skill: "Go" }] })).items; // → []
 * @example
 * const board = new JobSearch(db, "board");
 * await board.set("backend", { requires: [{ skill: "Redis" }], closesAt: new Date("2099-01-01") });
 * (await board.get("backend"))?.requires; // → [{ skill: "redis", level: 0, years: 0 }]
 * await board.count(); // → 1
 * await board.sweep(); // → 0
 * await board.delete("backend"); // → true
 * @example
 * const board = new JobSearch(db, "board");
 * await board.setCandidate("ann", { skills: [{ skill: "Redis" }] });
 * await board.countCandidates(); // → 1
 * (await board.getCandidate("ann"))?.skills; // → [{ skill: "redis", level: 0, years: 0 }]
 * await board.deleteCandidate("ann"); // → true
 */
export class JobSearch<J = unknown, C = unknown> {
  /** The board's name, as given. */
  readonly name: string;
  readonly #store: Store;
  readonly #sides: Readonly<Record<Side, readonly SideKeys[]>>;
  readonly #maxEntries: number;
  readonly #maxExamined: number;
  readonly #jobData: Codec<J> = json<J>();
  readonly #candidateData: Codec<C> = json<C>();
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: JobSearchOptions = {}) {
    aStore("JobSearch", store);
    OPTIONS.check(options);
    this.name = name;
    this.#store = store;
    const { prefix = "jobs" } = options;
    this.#names = new NameIndex(store, { kind: "job-search", prefix: prefix });
    const shards = options.shards ?? 1;
    const bases = Array.from({ length: shards }, (_, shard) => shardBase(prefix, name, shard, shards));
    this.#sides = {
      job: bases.map((base) => sideKeys(base, "job")),
      candidate: bases.map((base) => sideKeys(base, "candidate")),
    };
    this.#maxEntries = options.maxEntries ?? 1_000_000;
    this.#maxExamined = options.maxExamined ?? 10_000;
  }

  // ---------------------------------------------------------------------------------------------- jobs

  /** Adds a job, or changes it. "full": there are `maxEntries`. */
  async set(id: string, job: JobSpec<J>): Promise<SetOutcome> {
    const { postedAt, closesAt = null, places = [], at = null, optional = [], data } = job;
    return this.#put("job", id, {
      skills: checkedSkills("requires", job.requires, MAX_REQUIRED),
      posted: postedAt === undefined ? "" : moment("postedAt", postedAt),
      closes: closesAt === null ? null : moment("closesAt", closesAt),
      places,
      at,
      optional: checkedWishes(optional, MAX_REQUIRED),
      value: data === undefined ? "" : encodeWithin(this.#jobData, data, MAX_DATA_BYTES, "the data of a job"),
    });
  }

  /** Deletes a job. False if there was none. */
  delete(id: string): Promise<boolean> {
    return this.#remove("job", id);
  }

  /** A job, or null; also if it has closed. */
  async get(id: string): Promise<Job<J> | null> {
    const found = await this.#read("job", id);
    return found === null ? null : this.#toJob(id, ...found);
  }

  /** How many there are, of which some may have closed. */
  count(): Promise<number> {
    return this.#size("job");
  }

  /** Drops jobs that have closed; every `set` drops some as well. Answers how many. */
  async sweep(): Promise<number> {
    let dropped = 0;
    for (const keys of this.#sides.job) {
      let now: number;
      do {
        now = await this.#store.run(sweep, { ...keys, byRank: 1, most: SWEPT_AT_ONCE });
        dropped += now;
      } while (now === SWEPT_AT_ONCE);
    }
    return dropped;
  }

  /** Jobs that somebody with these skills is qualified for, and with `missing` those that they nearly are. */
  async search(skills: readonly Have[], options: SearchOptions = {}): Promise<Page<JobMatch<J>>> {
    const has = checkedSkills("skills", skills, MAX_HAD);
    const { limit, near, args } = this.#asked(options);
    const words = flat(has);
    const asked = this.#sides.job.map(({ packed, data, closing, lists }) => {
      return { packed, data, closing, lists, ...args, words };
    });
    return merged(await this.#fromAll(searchJobs, asked), limit, ([id, , , , line, data]) => {
      const job = this.#toJob(id, line, data);
      return { job, ...explained(unpack(line), has), distanceKm: distance(near, job.at) };
    });
  }

  /** Jobs for a candidate who is stored here; null if there is none of that name. */
  async searchFor(candidate: string, options: SearchOptions = {}): Promise<Page<JobMatch<J>> | null> {
    const found = await this.getCandidate(candidate);
    return found === null ? null : this.search(found.skills, options);
  }

  /** Whether these skills are enough for a job, and what is missing; null if there is no such job. */
  async explain(id: string, skills: readonly Have[]): Promise<Explanation | null> {
    const has = checkedSkills("skills", skills, MAX_HAD);
    const found = await this.#read("job", id);
    return found === null ? null : explained(unpack(found[0]), has);
  }

  // ---------------------------------------------------------------------------------------------- candidates

  /** Adds a candidate, or changes them. "full": there are `maxEntries`. */
  async setCandidate(id: string, candidate: CandidateSpec<C>): Promise<SetOutcome> {
    const { skills, places = [], at = null, data } = candidate;
    return this.#put("candidate", id, {
      skills: checkedSkills("skills", skills, MAX_HAD),
      posted: "now",
      closes: null,
      places,
      at,
      optional: [],
      value:
        data === undefined ? "" : encodeWithin(this.#candidateData, data, MAX_DATA_BYTES, "the data of a candidate"),
    });
  }

  /** Deletes a candidate. False if there was none. */
  deleteCandidate(id: string): Promise<boolean> {
    return this.#remove("candidate", id);
  }

  /** A candidate, or null. */
  async getCandidate(id: string): Promise<Candidate<C> | null> {
    const found = await this.#read("candidate", id);
    return found === null ? null : this.#toCandidate(id, ...found);
  }

  /** How many candidates there are. */
  countCandidates(): Promise<number> {
    return this.#size("candidate");
  }

  /** Candidates who are qualified, and with `missing` candidates who nearly are. */
  async candidates(
    job: { readonly requires: readonly Requirement[]; readonly optional?: readonly Wish[] },
    options: SearchOptions = {},
  ): Promise<Page<CandidateMatch<C>>> {
    const required = checkedSkills("requires", job.requires, MAX_REQUIRED);
    const optional = checkedWishes(job.optional ?? [], MAX_REQUIRED);
    const { limit, near, args } = this.#asked(options);
    const [words, wishes] = [flat(required), packWishes(optional)];
    const asked = this.#sides.candidate.map(({ packed, data, skills, all, lists }) => {
      return { packed, data, skills, all, lists, ...args, wishes, words };
    });
    return merged(await this.#fromAll(searchCandidates, asked), limit, ([id, , , , line, data]) => {
      const candidate = this.#toCandidate(id, line, data);
      const has = unpack(line).skills;
      return { candidate, ...explained({ skills: required, optional }, has), distanceKm: distance(near, candidate.at) };
    });
  }

  /** Candidates for a job that is stored here; null if there is none of that name. */
  async candidatesFor(job: string, options: SearchOptions = {}): Promise<Page<CandidateMatch<C>> | null> {
    const found = await this.get(job);
    return found === null ? null : this.candidates(found, options);
  }

  // ---------------------------------------------------------------------------------------------- both

  async #put(
    side: Side,
    id: string,
    entry: {
      readonly skills: readonly Skill[];
      readonly posted: number | "" | "now";
      readonly closes: number | null;
      readonly places: readonly string[];
      readonly at: GeoPoint | null;
      readonly optional: readonly Weighted[];
      readonly value: string | Uint8Array;
    },
  ): Promise<SetOutcome> {
    const keys = this.#keysOf(side, id);
    const rest = packRest({
      closesMs: entry.closes,
      places: checkedPlaces(entry.places, MAX_PLACES),
      at: entry.at === null ? null : checkedPoint(entry.at),
      optional: entry.optional,
    });
    const { posted, closes, value } = entry;
    const words = flat(entry.skills);
    const params = {
      ...keys,
      byRank: byRank(side),
      id,
      posted,
      closes: closes ?? "",
      rest,
      value,
      max: this.#maxEntries,
    };
    const outcome = await this.#store.run(put, { ...params, words });
    this.#names.announce(this.name);
    return { status: outcome === 1 ? "added" : outcome === 0 ? "changed" : "full" };
  }

  async #remove(side: Side, id: string): Promise<boolean> {
    return this.#store.run(remove, { ...this.#keysOf(side, id), byRank: byRank(side), id });
  }

  async #read(side: Side, id: string): Promise<[packed: string, data: string] | null> {
    const { packed, data } = this.#keysOf(side, id);
    return this.#store.run(read, { packed, data, id });
  }

  async #size(side: Side): Promise<number> {
    const sizes = await this.#store.pipeline(this.#sides[side].map(({ all }) => ["ZCARD", all]));
    return sizes.reduce<number>((sum, size) => {
      if (size instanceof Error) throw size;
      return sum + Number(size);
    }, 0);
  }

  /** From every shard, in one round trip. */
  async #fromAll<P>(script: Script<P, Found>, asked: readonly P[]): Promise<Found[]> {
    const [first] = asked;
    if (first !== undefined && asked.length === 1) return [await this.#store.run(script, first)];
    const answers = await this.#store.pipeline(asked.map((each) => script.with(each)));
    return answers.map((answer) => {
      if (answer instanceof Error) throw answer;
      return answer;
    });
  }

  #asked(options: SearchOptions): Asked {
    SEARCH_OPTIONS.check(options);
    const { missing = 0, places = [], near, cursor: after } = options;
    const limit = options.limit ?? 25;
    const point = near === undefined ? null : checkedPoint(near);
    const radiusKm = near?.radiusKm ?? 0;
    if (near !== undefined && !(radiusKm > 0 && radiusKm <= MAX_RADIUS_KM)) {
      throw new InputError(`radiusKm must be a number above 0 and at most ${MAX_RADIUS_KM}`);
    }
    return {
      limit,
      near: point,
      args: {
        missing: missing,
        limit,
        ...parseCursor(after),
        places: packPlaces(checkedPlaces(places, MAX_PLACES)),
        latitude: point?.latitude ?? "",
        longitude: point?.longitude ?? "",
        radiusKm: point === null ? "" : radiusKm,
        maxExamined: this.#maxExamined,
      },
    };
  }

  #keysOf(side: Side, id: string): SideKeys {
    word("id", id, 256);
    const keys = this.#sides[side];
    if (keys.length === 1) return keys[0]!;
    return keys[hashOf(id) % keys.length]!;
  }

  #toJob(id: string, line: string, data: string): Job<J> {
    const { skills, optional, places, at, postedMs, closesMs } = unpack(line);
    return {
      id,
      requires: skills,
      optional,
      places,
      at,
      postedAt: new Date(postedMs),
      closesAt: closesMs === null ? null : new Date(closesMs),
      data: data === "" ? undefined : this.#jobData.decode(data),
    };
  }

  #toCandidate(id: string, line: string, data: string): Candidate<C> {
    const { skills, places, at, postedMs } = unpack(line);
    const decoded = data === "" ? undefined : this.#candidateData.decode(data);
    return { id, skills, places, at, updatedAt: new Date(postedMs), data: decoded };
  }
}

const byRank = (side: Side): number => (side === "job" ? 1 : 0);

function flat(skills: readonly Skill[]): (string | number)[] {
  return skills.flatMap(({ skill, level, years }) => [skill, level, years]);
}

function moment(what: string, date: Date): number {
  return integer(what, date instanceof Date ? date.getTime() : Number.NaN, 0);
}

function distance(from: GeoPoint | null, to: GeoPoint | null): number | null {
  return from === null || to === null ? null : distanceKm(from, to);
}

function explained(
  { skills, optional }: { readonly skills: readonly Skill[]; readonly optional: readonly Weighted[] },
  has: readonly Skill[],
): Explanation {
  const { met, missing, bonus, score } = compare(skills, optional, has);
  return { qualified: missing.length === 0, met, missing, bonus: bonus.map(({ skill }) => skill), score };
}

type Row = Found["rows"][number];

/** The order of the scripts: the least missing, the highest score, the newest; names as bytes. */
function inOrder(a: Row, b: Row): number {
  return (
    a[1] - b[1] || b[2] - a[2] || Number(b[3]) - Number(a[3]) || Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0]))
  );
}

/** Each shard gave its best; the best of those are the page. */
function merged<M>(found: readonly Found[], limit: number, toMatch: (row: Row) => M): Page<M> {
  const [first] = found;
  const rows =
    first !== undefined && found.length === 1 ? first.rows : found.flatMap(({ rows: each }) => each).sort(inOrder);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const sum = (of: (each: Found) => number): number => found.reduce((all, each) => all + of(each), 0);
  return {
    items: page.map(toMatch),
    cursor: last === undefined || page.length < limit ? null : `${last[1]}~${last[2]}~${last[3]}~${last[0]}`,
    qualified: sum(({ qualified }) => qualified),
    nearMisses: sum(({ nearMisses }) => nearMisses),
    examined: sum(({ examined }) => examined),
    complete: found.every(({ isComplete }) => isComplete),
  };
}

function parseCursor(cursor: string | undefined) {
  if (cursor === undefined) return { afterMissing: 0, afterScore: 0, afterPosted: 0, afterId: "" };
  const [, missing, score, posted, id] = /^(\d+)~(\d+)~(\d+)~(.+)$/s.exec(cursor) ?? [];
  if (missing === undefined || score === undefined || posted === undefined || id === undefined) {
    throw new InputError("after is not a cursor that a search gave");
  }
  return { afterMissing: missing, afterScore: score, afterPosted: posted, afterId: id };
}
