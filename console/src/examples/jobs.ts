/**
 * A job board (`cinnabar/job-search`): say what you can, see what you are qualified for and what you lack for the rest, by place or
 * distance; post a job, and see who fits. Who saves their skills is a candidate for everybody else.
 */
import { randomBytes } from "node:crypto";
import { type Have, JobSearch, type SearchOptions } from "cinnabar/job-search";
import { announce, eventsRoute } from "../events.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, integer, object, oneOf, type Schema, string } from "../schema.ts";
import { forEachOf, perStore } from "../work.ts";
import { type Example, type Progress, prefixOf } from "./example.ts";
import { CITIES, type JobData, SAMPLE_CANDIDATES, SAMPLE_JOBS } from "./jobs-sample.ts";
import { needVisitor } from "./visitor.ts";

const group = "Examples";
const NAME = "jobs";
const PREFIX = prefixOf(NAME, "board");
const PAGE = 12;
const MOST_JOBS = 2_000;

const boards = perStore(
  (store) => new JobSearch<JobData, null>(store, "board", { prefix: PREFIX, maxEntries: MOST_JOBS }),
);

interface Wanted {
  readonly skills: readonly Have[];
  readonly missing: number;
  readonly place?: string;
  readonly city?: string;
  readonly radiusKm?: number;
  readonly after?: string;
}

function optionsOf({ missing, place, city, radiusKm, after }: Wanted): SearchOptions {
  const at = city === undefined ? undefined : CITIES[city];
  if (city !== undefined && at === undefined) throw new Problem(400, "CITY", `nobody knows where “${city}” is`);
  return {
    missing,
    limit: PAGE,
    ...(place !== undefined && place.trim() !== "" && { places: [place] }),
    ...(at !== undefined && { near: { ...at, radiusKm: radiusKm ?? 50 } }),
    ...(after !== undefined && { cursor: after }),
  };
}

async function mine(context: Context, visitor: string) {
  const board = boards(context);
  const [me, jobs, candidates] = await Promise.all([
    board.getCandidate(visitor),
    board.count(),
    board.countCandidates(),
  ]);
  return { skills: me?.skills ?? [], isCandidate: me !== null, jobs, candidates, cities: Object.keys(CITIES) };
}

async function save(context: Context, visitor: string, skills: readonly Have[]): Promise<void> {
  const board = boards(context);
  if (skills.length === 0) await board.deleteCandidate(visitor);
  else if ((await board.setCandidate(visitor, { skills })).status === "full")
    throw new Problem(409, "FULL", "there are too many candidates");
  await announce(context.store, NAME, { type: "candidate", id: visitor });
}

interface NewJob {
  readonly title: string;
  readonly company: string;
  readonly city: string;
  readonly requires: readonly Have[];
  readonly optional: readonly string[];
}

async function post(context: Context, by: string, { title, company, city, requires, optional }: NewJob) {
  const at = CITIES[city];
  const id = randomBytes(6).toString("base64url");
  const { status } = await boards(context).set(id, {
    requires,
    optional: optional.map((skill) => ({ skill })),
    places: [city],
    ...(at !== undefined && { at }),
    data: { title, company, by },
  });
  if (status === "full") throw new Problem(409, "FULL", "there are too many jobs");
  await announce(context.store, NAME, { type: "job", id });
  return { id };
}

async function take(context: Context, visitor: string, id: string): Promise<void> {
  const board = boards(context);
  const job = await board.get(id);
  if (job === null) throw new Problem(404, "NO_JOB", "there is no such job");
  if (job.data?.by !== visitor) throw new Problem(403, "NOT_YOURS", "only who posted a job can take it down");
  await board.delete(id);
  await announce(context.store, NAME, { type: "job", id });
}

async function candidates(context: Context, id: string, missing: number) {
  const page = await boards(context).candidatesFor(id, { missing, limit: 20 });
  if (page === null) throw new Problem(404, "NO_JOB", "there is no such job");
  return page;
}

const SKILL = string({ minLength: 1, maxLength: 40 });
const YEARS: Schema<number> = { type: "number", minimum: 0, maximum: 60 };
const HAVE = object({ skill: SKILL, level: integer({ minimum: 0, maximum: 5 }), years: YEARS }, ["level", "years"]);
const HAVES = array(HAVE, { maxItems: 30 });
const MISSING = integer({ minimum: 0, maximum: 3, default: 1, description: "Requirements that may be unmet." });
const ID = object({ id: string({ minLength: 1, maxLength: 60 }) });

const ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/examples/jobs/me",
    group,
    summary: "Your skills as you have saved them, and how many jobs and candidates there are.",
    answers: "Those.",
    run: (context, { request }) => mine(context, needVisitor(request)),
  }),
  route({
    method: "POST",
    url: "/api/examples/jobs/me",
    group,
    summary: "Saves your skills, so that who posts a job finds you; none takes you out.",
    body: object({ skills: HAVES }),
    answers: "Nothing.",
    run: (context, { body, request }) => save(context, needVisitor(request), body.skills),
  }),
  route({
    method: "POST",
    url: "/api/examples/jobs/search",
    group,
    summary: "Jobs that somebody with these skills is qualified for, and nearly is.",
    body: object(
      {
        skills: HAVES,
        missing: MISSING,
        place: string({ maxLength: 60 }),
        city: string({ maxLength: 60, description: "Only near it." }),
        radiusKm: integer({ minimum: 1, maximum: 5_000 }),
        after: string({ maxLength: 200, description: "`cursor` of the page before." }),
      },
      ["place", "city", "radiusKm", "after"],
    ),
    answers: "A page of jobs, each with what is missing.",
    run: (context, { body }) => boards(context).search(body.skills, optionsOf(body)),
  }),
  route({
    method: "POST",
    url: "/api/examples/jobs/jobs",
    group,
    summary: "Posts a job.",
    body: object({
      title: string({ minLength: 1, maxLength: 80 }),
      company: string({ minLength: 1, maxLength: 40 }),
      city: oneOf(Object.keys(CITIES)),
      requires: HAVES,
      optional: array(SKILL, { maxItems: 10 }),
    }),
    answers: "Its id.",
    run: (context, { body, request }) => post(context, needVisitor(request), body),
  }),
  route({
    method: "DELETE",
    url: "/api/examples/jobs/jobs/:id",
    group,
    summary: "Takes a job of yours down.",
    params: ID,
    answers: "Nothing.",
    run: (context, { params, request }) => take(context, needVisitor(request), params.id),
  }),
  route({
    method: "GET",
    url: "/api/examples/jobs/jobs/:id/candidates",
    group,
    summary: "Who fits a job, and who nearly does.",
    params: ID,
    query: object({ missing: MISSING }),
    answers: "Candidates, each with what is missing.",
    run: (context, { params, query }) => candidates(context, params.id, query.missing),
  }),
  eventsRoute(NAME, "What is posted and taken down, as server-sent events."),
];

async function make(context: Context, progress: Progress): Promise<void> {
  const board = boards(context);
  const total = SAMPLE_JOBS.length + SAMPLE_CANDIDATES.length;
  await forEachOf(
    SAMPLE_JOBS,
    ({ id, spec }) => board.set(id, spec),
    (done) => progress(done, total),
  );
  await forEachOf(
    SAMPLE_CANDIDATES,
    async ({ id, spec }) => {
      // Somebody may have taken the name of one of them.
      if ((await board.getCandidate(id)) === null) await board.setCandidate(id, spec);
    },
    (done) => progress(SAMPLE_JOBS.length + done, total),
  );
}

export const jobs: Example = {
  name: NAME,
  title: "Jobs",
  about:
    "Say what you can and see what you are qualified for, with what is missing for the rest; post a job and see who fits.",
  components: ["job-search"],
  routes: ROUTES,
  make,
};
