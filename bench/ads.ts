/**
 * Ads and jobs: 10 000 ads of 50 locations, targeted by location and page and then viewed and clicked; 100 000 jobs of 1 000 skills,
 * searched for candidates of ten and twenty. On Redis and on the embedded store; beside them, on the same Redis, the plain way:
 * temporary sets and sorted sets that are intersected and united for every request, of all ads of the place, of all jobs.
 */
import { type Item, open, type Store } from "cinnabar";
import { Ads } from "cinnabar/ads";
import { type Have, JobSearch } from "cinnabar/job-search";
import { median, startServer } from "./servers.ts";
import { type Op, rateOf } from "./web.ts";

export interface AdsRow {
  readonly what: string;
  /** Calls a second. */
  readonly redis: number;
  readonly embedded: number;
  /** With temporary sets, on the same Redis. */
  readonly notes: number | null;
}

const LOCATIONS = 50;
const PAGES = 200;
const IN_FLIGHT = 20;

function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
}

/** Runs in batches, so that loading is not a matter of round trips. */
async function batches(count: number, run: (nth: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - from) }, (_, at) => run(from + at)));
  }
}

// ------------------------------------------------------------------------------------------------ ads

interface SampleAd {
  readonly id: string;
  readonly model: "cpm" | "cpc" | "cpa";
  readonly bidMicros: number;
  readonly locations: readonly string[];
  readonly words: readonly string[];
}

function sampleAds(count: number) {
  const random = randomFrom(1);
  const word = (): string => `word${Math.floor(500 * random() ** 2)}`;
  const place = (): string => `place ${Math.floor(random() * LOCATIONS)}`;
  const ads: SampleAd[] = Array.from({ length: count }, (_, nth) => ({
    id: `ad ${nth}`,
    model: (["cpm", "cpc", "cpa"] as const)[nth % 3]!,
    bidMicros: 2_000_000 + 1_000 * Math.floor(random() * 1_000),
    locations: [place(), place()],
    words: Array.from({ length: 8 }, word),
  }));
  const pages = Array.from({ length: PAGES }, () =>
    Array.from({ length: 200 }, () => (random() < 0.2 ? word() : `other${Math.floor(random() * 2_000)}`)).join(" "),
  );
  return { ads, pages };
}

type Sample = ReturnType<typeof sampleAds>;

async function adCases(store: Store, { ads: sample, pages }: Sample): Promise<Record<string, Op>> {
  const ads = new Ads(store, "bench", { minClickDelayMs: 0 });
  await batches(sample.length, (nth) => {
    const { id, ...spec } = sample[nth]!;
    const budget = nth % 2 === 0 ? { dailyMicros: 1_000_000_000 } : {};
    return ads.set(id, { ...spec, budget, ...(nth % 5 === 0 ? { cap: { views: 3, everyMs: 86_400_000 } } : {}) });
  });
  const request = (nth: number) => ({ locations: [`place ${nth % LOCATIONS}`], user: `user ${nth % 10_000}` });
  const withPage = (nth: number) => ({ ...request(nth), content: pages[nth % PAGES]! });
  return {
    "targetings by location": (nth) => ads.target(request(nth)),
    "targetings by location and page": (nth) => ads.target(withPage(nth)),
    "targetings by location and page, with the view": (nth) => ads.target({ ...withPage(nth), viewed: true }),
    "targeted, viewed and clicked: three calls": async (nth) => {
      const impression = await ads.target(request(nth));
      if (impression === null) return;
      await ads.view(impression.id);
      await ads.click(impression.id);
    },
  };
}

/** With temporary sets: everything of the place is intersected with the values and with every word of the page. */
async function notesAds(store: Store, { ads: sample, pages }: Sample): Promise<Op> {
  await batches(sample.length, (nth) => {
    const { id, locations, words, bidMicros } = sample[nth]!;
    return store.pipeline([
      ...locations.map((place) => ["SADD", `notes:req:${place}`, id]),
      ...words.map((word) => ["ZADD", `notes:idx:${word}`, 0, id]),
      ["ZADD", "notes:value", bidMicros, id],
    ]);
  });
  const words = pages.map((page) => [...new Set(page.split(" "))].slice(0, 64));
  let numbers = 0;
  return (nth) => {
    const name = (what: string | number): string => `notes:tmp:${numbers}:${what}`;
    numbers++;
    const page = words[nth % PAGES]!;
    const bonuses = page.map((_, at) => name(at));
    const commands: Item[] = [
      ["SUNIONSTORE", name("places"), `notes:req:place ${nth % LOCATIONS}`],
      ["ZINTERSTORE", name("base"), 2, name("places"), "notes:value", "WEIGHTS", 0, 1],
      ...page.map((word, at) => ["ZINTERSTORE", name(at), 2, name("places"), `notes:idx:${word}`, "WEIGHTS", 0, 1]),
      ["ZUNIONSTORE", name("min"), bonuses.length, ...bonuses, "AGGREGATE", "MIN"],
      ["ZUNIONSTORE", name("max"), bonuses.length, ...bonuses, "AGGREGATE", "MAX"],
      ["ZUNIONSTORE", name("all"), 3, name("base"), name("min"), name("max"), "WEIGHTS", 1, 0.5, 0.5],
      ["ZREVRANGE", name("all"), 0, 0],
      ["UNLINK", name("places"), name("base"), ...bonuses, name("min"), name("max"), name("all")],
    ];
    return store.multi(commands);
  };
}

// ------------------------------------------------------------------------------------------------ jobs

function sampleJobs(count: number) {
  const random = randomFrom(2);
  const skill = (): string => `skill ${Math.floor(1_000 * random() ** 2.5)}`;
  const below = (most: number): number => Math.floor(random() * most);
  const jobs = Array.from({ length: count }, () =>
    Array.from({ length: 2 + below(6) }, () => ({ skill: skill(), level: below(4), years: below(6) })),
  );
  const people = (skills: number): Have[][] =>
    Array.from({ length: 100 }, () =>
      Array.from({ length: skills }, () => ({ skill: skill(), level: 1 + below(3), years: 1 + below(7) })),
    );
  return { jobs, ten: people(10), twenty: people(20) };
}

type Jobs = ReturnType<typeof sampleJobs>;

async function jobCases(store: Store, { jobs, ten, twenty }: Jobs): Promise<Record<string, Op>> {
  const board = new JobSearch(store, "bench");
  await batches(jobs.length, (nth) => board.set(`job ${nth}`, { requires: jobs[nth]! }));
  return {
    "job searches, 10 skills": (nth) => board.search(ten[nth % 100]!),
    "job searches, 20 skills": (nth) => board.search(twenty[nth % 100]!),
    "job searches, 10 skills, one may be missing": (nth) => board.search(ten[nth % 100]!, { missing: 1 }),
    "jobs changed": (nth) => board.set(`job ${nth % jobs.length}`, { requires: jobs[(nth * 7) % jobs.length]! }),
  };
}

/** With temporary sets, without levels or years: the jobs of each skill united, and the counts taken from what each requires. */
async function notesJobs(store: Store, { jobs, ten, twenty }: Jobs): Promise<Record<string, Op>> {
  await batches(jobs.length, (nth) => {
    const skills = [...new Set(jobs[nth]!.map(({ skill }) => skill))];
    return store.pipeline([
      ...skills.map((skill) => ["SADD", `notes:skill:${skill}`, `job ${nth}`]),
      ["ZADD", "notes:required", skills.length, `job ${nth}`],
    ]);
  });
  const search = (people: readonly Have[][]): Op => {
    return (nth) => {
      const skills = [...new Set(people[nth % 100]!.map(({ skill }) => `notes:skill:${skill}`))];
      const commands: Item[] = [
        ["ZUNIONSTORE", "notes:scores", skills.length, ...skills],
        ["ZINTERSTORE", "notes:result", 2, "notes:scores", "notes:required", "WEIGHTS", -1, 1],
        ["ZRANGEBYSCORE", "notes:result", 0, 0],
      ];
      return store.multi(commands);
    };
  };
  return { "job searches, 10 skills": search(ten), "job searches, 20 skills": search(twenty) };
}

// ------------------------------------------------------------------------------------------------ both

export async function compareAds(quick: boolean): Promise<AdsRow[]> {
  const server = await startServer("redis");
  const [redis, embedded] = [await open(`redis://127.0.0.1:${server.port}`), await open()];
  const ads = sampleAds(quick ? 1_000 : 10_000);
  const jobs = sampleJobs(quick ? 5_000 : 100_000);
  const subjects: [keyof AdsRow & ("redis" | "embedded" | "notes"), Record<string, Op>][] = [];
  for (const [name, store] of [
    ["redis", redis],
    ["embedded", embedded],
  ] as const) {
    subjects.push([name, { ...(await adCases(store, ads)), ...(await jobCases(store, jobs)) }]);
    process.stderr.write(".");
  }
  const notes = { "targetings by location and page": await notesAds(redis, ads), ...(await notesJobs(redis, jobs)) };
  subjects.push(["notes", notes]);
  const rows: AdsRow[] = [];
  for (const what of Object.keys(subjects[0]![1])) {
    const figures = { redis: [] as number[], embedded: [] as number[], notes: [] as number[] };
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      for (const [name, cases] of subjects) {
        const op = cases[what];
        if (op === undefined) continue;
        if (round === 0) await rateOf(op, IN_FLIGHT, quick ? 50 : 300);
        figures[name].push(await rateOf(op, IN_FLIGHT, quick ? 100 : 1_000));
      }
    }
    process.stderr.write(".");
    rows.push({
      what,
      redis: median(figures.redis),
      embedded: median(figures.embedded),
      notes: figures.notes.length === 0 ? null : median(figures.notes),
    });
  }
  process.stderr.write("\n");
  await redis.close();
  await embedded.close();
  await server.stop();
  return rows;
}

const whole = (value: number | null): string =>
  value === null ? "" : Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

export function adsTable(rows: readonly AdsRow[]): string {
  return [
    `**Ads and jobs**: 10 000 ads, 100 000 jobs, ${IN_FLIGHT} in flight, calls a second; beside them temporary sets, intersected for every request, on the same Redis`,
    "",
    "| what | on Redis | embedded | temporary sets, on Redis |",
    "| --- | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, redis, embedded, notes }) => `| ${what} | ${whole(redis)} | ${whole(embedded)} | ${whole(notes)} |`,
    ),
  ].join("\n");
}
