import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import {
  type CandidateSpec,
  type Have,
  JobSearch,
  type JobSearchOptions,
  type JobSpec,
  type Page,
  type SearchOptions,
} from "./index.ts";

const BERLIN = { latitude: 52.52, longitude: 13.405 };
const POTSDAM = { latitude: 52.39, longitude: 13.064 };
const HAMBURG = { latitude: 53.551, longitude: 9.994 };

/** Everything of all pages. */
async function everything<M>(ask: (after: Pick<SearchOptions, "cursor">) => Promise<Page<M>>): Promise<M[]> {
  const all: M[] = [];
  let after: string | null = null;
  do {
    const page: Page<M> = await ask(after === null ? {} : { cursor: after });
    all.push(...page.items);
    after = page.cursor;
  } while (after !== null);
  return all;
}

describeBackends("job search", { audit: "tags" }, (backend) => {
  const board = (options: JobSearchOptions = {}, store: Store = backend.store) =>
    new JobSearch(store, "board", options);
  const found = async (skills: readonly Have[], options: SearchOptions = {}) =>
    (await board().search(skills, options)).items.map(({ job }) => job.id);

  test("qualified is who has every required skill, whatever else they have", async () => {
    const jobs = board();
    expect(await jobs.set("both", { requires: [{ skill: "Python" }, { skill: "Redis" }] })).toEqual({
      status: "added",
    });
    await jobs.set("one", { requires: [{ skill: "redis" }] });
    await jobs.set("none", { requires: [] });
    expect((await found([{ skill: "REDIS" }, { skill: " python " }, { skill: "lua" }])).sort()).toEqual([
      "both",
      "none",
      "one",
    ]);
    expect((await found([{ skill: "redis" }])).sort()).toEqual(["none", "one"]);
    expect(await found([{ skill: "python" }])).toEqual(["none"]);
    expect(await found([])).toEqual(["none"]);
    expect(await jobs.count()).toBe(3);
  });

  test("a level or years below what is required do not qualify, both above do", async () => {
    const jobs = board();
    await jobs.set("level", { requires: [{ skill: "go", level: 2 }] });
    await jobs.set("years", { requires: [{ skill: "go", years: 2.5 }] });
    await jobs.set("each", {
      requires: [
        { skill: "go", level: 2, years: 4 },
        { skill: "sql", level: 1 },
      ],
    });
    expect(await found([{ skill: "go" }])).toEqual([]);
    expect(await found([{ skill: "go", level: 1, years: 2 }])).toEqual([]);
    expect(await found([{ skill: "go", level: 2, years: 2 }])).toEqual(["level"]);
    expect(await found([{ skill: "go", level: 1, years: 2.5 }])).toEqual(["years"]);
    const expert = [{ skill: "go", level: 9, years: 30 }];
    expect((await found(expert)).sort()).toEqual(["level", "years"]);
    // Every level of one skill is not a second skill.
    expect(await found([...expert, { skill: "go", level: 1 }, { skill: "go", level: 3 }])).not.toContain("each");
    expect((await found([...expert, { skill: "sql", level: 1 }])).sort()).toEqual(["each", "level", "years"]);
  });

  test("what is nearly enough comes behind, with what is missing", async () => {
    const jobs = board();
    const requires = [{ skill: "a" }, { skill: "b", level: 3 }, { skill: "c", years: 2 }];
    await jobs.set("job", { requires, optional: [{ skill: "d", weight: 5 }, { skill: "e" }] });
    await jobs.set("easy", { requires: [{ skill: "a" }] });
    await jobs.set("other", { requires: [{ skill: "x" }] });
    const skills = [{ skill: "a" }, { skill: "b", level: 1 }, { skill: "d" }];
    const page = await jobs.search(skills, { missing: 2 });
    expect(page).toMatchObject({ qualified: 1, nearMisses: 1, complete: true, cursor: null });
    expect(page.items.map(({ job }) => job.id)).toEqual(["easy", "job"]);
    const [, near] = page.items;
    expect(near).toMatchObject({ qualified: false, bonus: ["d"], score: 5, met: [{ skill: "a" }] });
    const missing = [
      { skill: "b", level: 3, years: 0, has: { level: 1, years: 0 } },
      { skill: "c", level: 0, years: 2, has: null },
    ];
    expect([...near!.missing].sort((x, y) => (x.skill < y.skill ? -1 : 1))).toEqual(missing);
    expect((await jobs.explain("job", skills))!.missing.length).toBe(2);
    expect(await jobs.explain("job", [...skills, { skill: "b", level: 3 }, { skill: "c", years: 9 }])).toMatchObject({
      qualified: true,
    });
    expect(await jobs.explain("no such", skills)).toBeNull();
    expect((await jobs.search(skills, { missing: 1 })).nearMisses).toBe(0);
  });

  test("the best come first: by what is missing, then by wishes, then by time; and pages follow one another", async () => {
    const jobs = board();
    const day = (nth: number) => new Date(Date.UTC(2026, 0, nth));
    await jobs.set("old", { requires: [{ skill: "a" }], postedAt: day(1) });
    await jobs.set("new", { requires: [{ skill: "a" }], postedAt: day(3) });
    await jobs.set("new too", { requires: [{ skill: "a" }], postedAt: day(3) });
    await jobs.set("wished", { requires: [{ skill: "a" }], optional: [{ skill: "b", weight: 2 }], postedAt: day(2) });
    await jobs.set("near", {
      requires: [{ skill: "a" }, { skill: "z" }],
      optional: [{ skill: "b", weight: 9 }],
      postedAt: day(9),
    });
    const skills = [{ skill: "a" }, { skill: "b" }];
    const order = ["wished", "new", "new too", "old", "near"];
    expect(await found(skills, { missing: 1 })).toEqual(order);
    for (const limit of [1, 2, 3]) {
      const all = await everything((after) => jobs.search(skills, { missing: 1, limit, ...after }));
      expect(all.map(({ job }) => job.id)).toEqual(order);
    }
    const sharded = board({ shards: 3, prefix: "other" });
    for (const id of order) await sharded.set(id, (await jobs.get(id))!);
    const all = await everything((after) => sharded.search(skills, { missing: 1, limit: 2, ...after }));
    expect(all.map(({ job }) => job.id)).toEqual(order);
    expect(await sharded.count()).toBe(5);
  });

  test("only jobs in a place, or near a point", async () => {
    const jobs = board();
    await jobs.set("berlin", { requires: [], places: ["Berlin", "Remote"], at: BERLIN });
    await jobs.set("potsdam", { requires: [], places: ["Potsdam"], at: POTSDAM });
    await jobs.set("hamburg", { requires: [], places: ["Hamburg"], at: HAMBURG });
    await jobs.set("anywhere", { requires: [] });
    expect(await found([], { places: ["BERLIN"] })).toEqual(["berlin"]);
    expect((await found([], { places: ["remote", "hamburg"] })).sort()).toEqual(["berlin", "hamburg"]);
    expect((await found([], { near: { ...BERLIN, radiusKm: 50 } })).sort()).toEqual(["berlin", "potsdam"]);
    expect((await found([], { near: { ...BERLIN, radiusKm: 300 } })).sort()).toEqual(["berlin", "hamburg", "potsdam"]);
    expect(await found([], { near: { ...BERLIN, radiusKm: 300 }, places: ["hamburg"] })).toEqual(["hamburg"]);
    const { items: matches } = await jobs.search([], { near: { ...BERLIN, radiusKm: 300 }, places: ["hamburg"] });
    expect(matches[0]!.distanceKm).toBeCloseTo(255, -1);
  });

  test("a changed job is found by what it is now, a removed one not at all", async () => {
    const jobs = board();
    await jobs.set("job", {
      requires: [{ skill: "a" }, { skill: "b" }],
      data: { title: "first" },
      postedAt: new Date(1_000),
    });
    expect(await jobs.set("job", { requires: [{ skill: "c" }], data: { title: "second" } })).toEqual({
      status: "changed",
    });
    expect(await found([{ skill: "a" }, { skill: "b" }])).toEqual([]);
    const { items: matches } = await jobs.search([{ skill: "c" }]);
    expect(matches[0]!.job).toMatchObject({
      id: "job",
      data: { title: "second" },
      postedAt: new Date(1_000),
      places: [],
    });
    expect(await jobs.delete("job")).toBe(true);
    expect(await jobs.delete("job")).toBe(false);
    expect(await jobs.get("job")).toBeNull();
    expect(await keysIn(backend.store)).toEqual([]);
  });

  test("a job that has closed is not found, and goes", async () => {
    const jobs = board();
    await jobs.set("closed", { requires: [{ skill: "a" }], closesAt: new Date(1_000), data: 1 });
    await jobs.set("open", { requires: [{ skill: "a" }], closesAt: new Date(Date.UTC(2100, 0, 1)) });
    expect(await found([{ skill: "a" }])).toEqual(["open"]);
    expect(await jobs.get("closed")).toBeNull();
    await jobs.set("closed", { requires: [{ skill: "a" }], closesAt: new Date(1_000) });
    expect(await jobs.sweep()).toBe(1);
    await jobs.delete("open");
    expect(await keysIn(backend.store)).toEqual([]);
  });

  test("candidates are found for a job the same way, and jobs for a candidate", async () => {
    const jobs = board();
    await jobs.set("job", { requires: [{ skill: "a", level: 2 }, { skill: "b" }], optional: [{ skill: "c" }] });
    expect(
      await jobs.setCandidate("ann", { skills: [{ skill: "a", level: 2 }, { skill: "b" }], places: ["Berlin"] }),
    ).toEqual({ status: "added" });
    await jobs.setCandidate("ben", {
      skills: [{ skill: "a", level: 3 }, { skill: "b" }, { skill: "c" }],
      at: BERLIN,
      data: "Ben",
    });
    await jobs.setCandidate("cat", { skills: [{ skill: "a", level: 1 }, { skill: "b" }, { skill: "c" }] });
    await jobs.setCandidate("dan", { skills: [{ skill: "c" }] });
    const page = (await jobs.candidatesFor("job", { missing: 2 }))!;
    expect(page.items.map(({ candidate }) => candidate.id)).toEqual(["ben", "ann", "cat"]);
    expect(page).toMatchObject({ qualified: 2, nearMisses: 1, complete: true });
    expect(page.items[0]).toMatchObject({ candidate: { data: "Ben" }, score: 1, missing: [] });
    expect(page.items[2]!.missing).toEqual([{ skill: "a", level: 2, years: 0, has: { level: 1, years: 0 } }]);
    expect(
      (await jobs.candidatesFor("job", { places: ["berlin"] }))!.items.map(({ candidate }) => candidate.id),
    ).toEqual(["ann"]);
    expect((await jobs.candidates({ requires: [] })).qualified).toBe(4);
    expect((await jobs.searchFor("ann"))!.items.map(({ job }) => job.id)).toEqual(["job"]);
    expect((await jobs.searchFor("cat"))!.items).toEqual([]);
    expect([await jobs.searchFor("nobody"), await jobs.candidatesFor("nothing")]).toEqual([null, null]);
    expect(await jobs.countCandidates()).toBe(4);
    await jobs.delete("job");
    for (const name of ["ann", "ben", "cat", "dan"]) expect(await jobs.deleteCandidate(name)).toBe(true);
    expect(await keysIn(backend.store)).toEqual([]);
  });

  test("what a search looks at is bounded, and it says when that was not all", async () => {
    const jobs = board({ maxExamined: 5 });
    for (let nth = 0; nth < 12; nth++) {
      await jobs.set(`job ${nth}`, { requires: [{ skill: nth < 5 ? "a" : "b" }], postedAt: new Date(nth * 1_000) });
    }
    expect(await jobs.search([{ skill: "a" }])).toMatchObject({ complete: true, examined: 5, qualified: 5 });
    const some = await jobs.search([{ skill: "b" }]);
    expect(some).toMatchObject({ complete: false, examined: 5, qualified: 5 });
    expect(some.items.map(({ job }) => job.id)).toEqual(["job 11", "job 10", "job 9", "job 8", "job 7"]);
    const full = board({ maxEntries: 12 });
    expect(await full.set("one more", { requires: [] })).toEqual({ status: "full" });
    expect(await full.set("job 3", { requires: [] })).toEqual({ status: "changed" });
  });

  test("wrong input is refused", async () => {
    const jobs = board();
    const wrong: JobSpec<unknown>[] = [
      { requires: [{ skill: "" }] },
      { requires: [{ skill: "a\x1fb" }] },
      { requires: [{ skill: "a", level: -1 }] },
      { requires: [{ skill: "a", level: 1.5 }] },
      { requires: [{ skill: "a", years: Number.NaN }] },
      { requires: [{ skill: "x".repeat(70) }] },
      { requires: Array.from({ length: 33 }, (_, nth) => ({ skill: `s${nth}` })) },
      { requires: [], optional: [{ skill: "a", weight: 0 }] },
      { requires: [], at: { latitude: 91, longitude: 0 } },
      { requires: [], places: ["\x1e"] },
      { requires: [], closesAt: new Date("never") },
      { requires: "a" as never },
    ];
    for (const spec of wrong) await expect(jobs.set("job", spec)).rejects.toThrow(InputError);
    await expect(jobs.set("", { requires: [] })).rejects.toThrow(InputError);
    await expect(jobs.search([], { missing: 4 })).rejects.toThrow(InputError);
    await expect(jobs.search([], { cursor: "x" })).rejects.toThrow(InputError);
    await expect(jobs.search([], { near: { ...BERLIN, radiusKm: 0 } })).rejects.toThrow(InputError);
    await expect(jobs.search([{ skill: "a", years: 101 }])).rejects.toThrow(InputError);
    expect(() => board({ maxExamined: 0 })).toThrow(InputError);
    expect(await keysIn(backend.store)).toEqual([]);
  });
});

// ------------------------------------------------------------------------------------------------ against a naive check

const ROUNDS = Number(process.env.JOB_SEARCH_ROUNDS ?? 1);

function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

/** Whether and how somebody fits, by nothing but the definition. */
function naive(requires: JobSpec<unknown>["requires"], optional: JobSpec<unknown>["optional"], has: readonly Have[]) {
  const enough = ({ skill, level = 0, years = 0 }: Have): boolean =>
    has.some((mine) => mine.skill === skill && (mine.level ?? 0) >= level && (mine.years ?? 0) >= years);
  const missing = requires.filter((need) => !enough(need)).map(({ skill }) => skill);
  const score = (optional ?? []).filter(enough).reduce((sum, { weight = 1 }) => sum + weight, 0);
  return { missing: missing.sort(), score, hasSome: missing.length < requires.length };
}

interface Line {
  readonly id: string;
  readonly missing: readonly string[];
  readonly score: number;
  readonly postedMs: number;
}

const inOrder = (a: Line, b: Line): number =>
  a.missing.length - b.missing.length || b.score - a.score || b.postedMs - a.postedMs || (a.id < b.id ? -1 : 1);

/** Skills are not all as frequent, names of one may begin another's. */
function maker(random: (below: number) => number) {
  const skill = (): string => `s${Math.floor((random(40) * random(40)) / 40)}`;
  const skills = (most: number): Have[] => {
    const names = new Set(Array.from({ length: random(most + 1) }, skill));
    return [...names].map((name) => ({ skill: name, level: random(3), years: random(4) / 2 }));
  };
  const places = (): string[] => ["north", "south", "remote"].filter(() => random(2) === 0);
  const at = () => ({ latitude: 50 + random(100) / 50, longitude: 10 + random(100) / 50 });
  const job = (nth: number): JobSpec<number> => ({
    requires: skills(5),
    optional: skills(3).map((each) => ({ ...each, weight: 1 + random(3) })),
    places: places(),
    ...(random(4) === 0 ? {} : { at: at() }),
    postedAt: new Date(1_000 * random(20)),
    data: nth,
  });
  const candidate = (): CandidateSpec<null> => ({ skills: skills(12), places: places() });
  return { skills, places, at, job, candidate };
}

function kilometres(a: { latitude: number; longitude: number }, b: { latitude: number; longitude: number }): number {
  const vector = ({ latitude, longitude }: typeof a): [number, number, number] => {
    const [lat, lon] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
    return [Math.cos(lat) * Math.cos(lon), Math.cos(lat) * Math.sin(lon), Math.sin(lat)];
  };
  const [p, q] = [vector(a), vector(b)];
  return 6_371.0088 * 2 * Math.asin(Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) / 2);
}

describeBackends("job search at random", { audit: false }, (backend) => {
  test.each([1, 3])(
    "finds what a naive check finds, in the same order, while jobs change; in %i shards",
    async (shards) => {
      for (let round = 0; round < ROUNDS; round++) {
        const random = randomFrom(1_000 * round + shards);
        const make = maker(random);
        const jobs = new JobSearch<number, null>(backend.store, `board ${round}`, { shards });
        const all = new Map<string, JobSpec<number>>();
        for (let nth = 0; nth < 160; nth++) {
          const id = `job ${random(120)}`;
          if (random(5) === 0) {
            expect(await jobs.delete(id)).toBe(all.delete(id));
          } else {
            const spec = make.job(nth);
            expect(await jobs.set(id, spec)).toEqual({ status: all.has(id) ? "changed" : "added" });
            all.set(id, spec);
          }
          if (nth % 6 !== 0) continue;
          const has = make.skills(15);
          const missing = random(4);
          const places = random(2) === 0 ? make.places() : [];
          const near = random(3) === 0 ? { ...make.at(), radiusKm: 20 + random(100) } : undefined;
          const expected = [...all]
            .map(([id, spec]) => ({
              id,
              spec,
              postedMs: spec.postedAt!.getTime(),
              ...naive(spec.requires, spec.optional, has),
            }))
            .filter(({ missing: lacks, hasSome }) => lacks.length === 0 || (lacks.length <= missing && hasSome))
            .filter(({ spec }) => places.length === 0 || spec.places!.some((place) => places.includes(place)))
            .filter(({ spec }) => near === undefined || (spec.at != null && kilometres(spec.at, near) <= near.radiusKm))
            .sort(inOrder);
          const options = { missing, places, limit: 20, ...(near === undefined ? {} : { near }) };
          const matches = await everything((after) => jobs.search(has, { ...options, ...after }));
          const told = matches.map(({ job, missing: lacks, score }) => [
            job.id,
            lacks.map(({ skill }) => skill).sort(),
            score,
          ]);
          expect(told).toEqual(expected.map(({ id, missing: lacks, score }) => [id, lacks, score]));
          const page = await jobs.search(has, options);
          expect(page.qualified).toBe(expected.filter(({ missing: lacks }) => lacks.length === 0).length);
          expect([page.qualified + page.nearMisses, page.complete]).toEqual([expected.length, true]);
        }
      }
    },
  );

  test("finds the candidates that a naive check finds", async () => {
    const random = randomFrom(5);
    const make = maker(random);
    const jobs = new JobSearch<number, null>(backend.store, "board", { shards: 2 });
    const all = new Map<string, CandidateSpec<null>>();
    for (let nth = 0; nth < 120; nth++) {
      const id = `candidate ${random(60)}`;
      if (random(6) === 0) {
        expect(await jobs.deleteCandidate(id)).toBe(all.delete(id));
      } else {
        all.set(id, make.candidate());
        await jobs.setCandidate(id, all.get(id)!);
      }
      if (nth % 4 !== 0) continue;
      const { requires, optional = [] } = make.job(0);
      const missing = random(4);
      const expected = [...all]
        .map(([name, { skills }]) => ({ id: name, ...naive(requires, optional, skills) }))
        .filter(({ missing: lacks, hasSome }) => lacks.length === 0 || (lacks.length <= missing && hasSome));
      const ask = (after: Pick<SearchOptions, "cursor">) =>
        jobs.candidates({ requires, optional }, { missing, limit: 9, ...after });
      const matches = await everything(ask);
      const byName = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
      const told = matches.map(({ candidate, missing: lacks, score }) => ({
        id: candidate.id,
        missing: lacks.map(({ skill }) => skill).sort(),
        score,
      }));
      expect([...told].sort(byName)).toEqual(
        expected.map(({ id: name, missing: lacks, score }) => ({ id: name, missing: lacks, score })).sort(byName),
      );
      const keys = told.map(({ missing: lacks, score }) => lacks.length * 1_000 - score);
      expect(keys).toEqual([...keys].sort((a, b) => a - b));
    }
  });

  test("a job is found by every search while others change, as it was or as it is", async () => {
    const writer = new JobSearch<number>(await backend.open(), "board");
    const reader = new JobSearch<number>(await backend.open(), "board");
    const random = randomFrom(3);
    const make = maker(random);
    // Its rarest skill changes all the time; the candidate has all that it ever asks for.
    const has = ["p", "q", "r", "s1", "s2"].map((skill) => ({ skill, level: 2, years: 2 }));
    const shapes = [["p"], ["p", "q"], ["q", "s1"], ["r"], [], ["s2", "p", "r"]];
    const write = (nth: number) =>
      writer.set("steady", { requires: shapes[nth % shapes.length]!.map((skill) => ({ skill })) });
    await write(0);
    let isOver = false;
    const writing = (async () => {
      for (let nth = 0; !isOver; nth++) {
        await write(nth);
        await writer.set(`job ${random(30)}`, make.job(nth));
      }
    })();
    try {
      for (let nth = 0; nth < 60; nth++) {
        const { items: matches } = await reader.search(has, { missing: nth % 3, limit: 100 });
        for (const { job, missing } of matches) {
          expect(missing.map(({ skill }) => skill).sort()).toEqual(naive(job.requires, [], has).missing);
        }
        const steady = matches.filter(({ job }) => job.id === "steady");
        expect(steady.map(({ qualified }) => qualified)).toEqual([true]);
      }
    } finally {
      isOver = true;
      await writing;
    }
  });
});
