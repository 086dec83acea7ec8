/**
 * Scans of all keys in the background. The tree of the keys page, searches by time to live and size, and the analysis all read
 * from one; two pages that ask for the same share it.
 */
import type { Reply, Store } from "cinnabar";
import { parseInfo } from "../info.ts";
import { countKeys } from "../nodes.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, object, oneOf, string, type Typed } from "../schema.ts";
import { DONE } from "../shapes.ts";
import { TASK_FIELDS, type Task, TaskKind, tasksOf } from "../tasks.ts";
import { type Advice, adviceFor } from "./advice.ts";
import { FACTS_FIELDS, KEY_FACTS } from "./keys.ts";
import { reportOf } from "./report.ts";
import { type Folder, type Sum, Sums } from "./survey-sums.ts";
import { type Fact, FILTER, FILTER_NAMES, type Filter, OPTIONAL, walk } from "./walk.ts";

const group = "Keys";
/** The result of a scan is reused for this many times the time that the scan took. */
const REST = 20;
const SEPARATOR = string({
  default: ":",
  maxLength: 10,
  description: "What parts names into folders; empty: nothing.",
});

const SUM_FIELDS = { count: integer(), bytes: integer() };
const NAMED_SUM = named("NamedSum", object({ name: string(), ...SUM_FIELDS }));
const FOLDER = named(
  "KeyFolder",
  object({
    name: string(),
    ...SUM_FIELDS,
    direct: integer({ description: "Keys right in it." }),
    folders: integer({ description: "Folders in it that are listed." }),
    lasting: object(SUM_FIELDS),
  }),
);

const ADVICE = named(
  "KeyAdvice",
  object({
    level: oneOf(["warning", "hint"]),
    title: string(),
    text: string(),
    command: nullable(string({ description: "What would do it." })),
  }),
);

const PROGRESS = {
  ...TASK_FIELDS,
  matched: integer({ description: "Keys that fit." }),
  bytes: integer({ description: "What they take." }),
  exact: boolean("False where there are so many keys that some may be counted twice."),
  separator: string(),
};

const SURVEY = named("KeySurvey", object(PROGRESS));
const ANALYSIS = object({
  ...PROGRESS,
  types: array(NAMED_SUM),
  encodings: array(NAMED_SUM),
  ttls: array(NAMED_SUM),
  lasting: object(SUM_FIELDS),
  prefixes: array(FOLDER),
  biggest: array(KEY_FACTS),
  policy: nullable(string({ description: "maxmemory-policy." })),
  hottest: nullable(array(object({ ...FACTS_FIELDS, frequency: integer() }))),
  advice: array(ADVICE),
});

export type SurveyProgress = Typed<typeof SURVEY>;
export type FolderRow = Typed<typeof FOLDER>;
export type Analysis = Typed<typeof ANALYSIS>;

interface Survey {
  readonly sums: Sums;
  readonly filter: Filter;
  /** maxmemory-policy, where it may be read. */
  policy: string | null;
  /** Whether the server counts how often keys are used. */
  countsUse: boolean;
}

const KIND = new TaskKind<Survey>();

async function policyOf(store: Store): Promise<string | null> {
  const answer = await store.send(["INFO", "memory"]).catch((): Reply => null);
  return typeof answer === "string" ? (parseInfo(answer).Memory?.maxmemory_policy ?? null) : null;
}

interface Wanted extends Filter {
  readonly separator: string;
  readonly fresh?: boolean | undefined;
}

function begin({ store }: Context, { separator, fresh, ...filter }: Wanted): SurveyProgress {
  const tasks = tasksOf({ store });
  const same = tasks
    .of(KIND)
    .findLast(({ about }) => about.sums.separator === separator && isSame(about.filter, filter));
  if (same !== undefined && (same.isRunning || (!fresh && isFresh(same)))) return progressOf(same);
  const survey: Survey = { sums: new Sums(separator), filter, policy: null, countsUse: false };
  const { sums } = survey;
  const task = tasks.start(KIND, survey, async (progress) => {
    progress(0, await countKeys(store));
    survey.policy = await policyOf(store);
    survey.countsUse = survey.policy?.includes("lfu") ?? false;
    const facts: Fact[] = ["type", "ttl", "bytes", "encoding"];
    if (survey.countsUse) facts.push("frequency");
    for await (const step of walk(store, { filter, facts, signal: progress.signal })) {
      for (const key of step.keys) sums.add(key);
      sums.scanned = step.scanned;
      sums.isExact = step.isExact;
      progress(step.scanned, task.facts.total);
    }
    // Keys that were deleted meanwhile were counted at the beginning.
    progress(sums.scanned, sums.scanned);
  });
  return progressOf(task);
}

const isSame = (a: Filter, b: Filter): boolean => FILTER_NAMES.every((name) => a[name] === b[name]);

function isFresh(task: Task<Survey>): boolean {
  const { state, startedAt, endedAt } = task.facts;
  return state === "done" && endedAt !== null && Date.now() - endedAt < REST * (endedAt - startedAt);
}

function progressOf(task: Task<Survey>): SurveyProgress {
  const { root, isExact, separator } = task.about.sums;
  return { ...task.facts, matched: root.count, bytes: root.bytes, exact: isExact, separator };
}

const bySize = <T extends Sum>(a: T, b: T): number => b.bytes - a.bytes || b.count - a.count;
const listOf = (sums: ReadonlyMap<string, Sum>) => [...sums].map(([name, sum]) => ({ name, ...sum })).sort(bySize);

const rowOf = (name: string, { count, bytes, direct, folders, lasting }: Folder): FolderRow => ({
  name,
  count,
  bytes,
  direct,
  folders: folders.size,
  lasting: { ...lasting },
});

const MOST_PREFIXES = 50;
const ENOUGH_PREFIXES = 8;

/** Folders of the whole tree by what they take; those that hold nothing but one folder are given as that. */
function prefixesOf({ root, separator }: Sums): FolderRow[] {
  const rows: FolderRow[] = [];
  const level = (at: Folder, path: string) => {
    for (const [first, child] of at.folders) {
      let [name, inner] = [`${path}${first}${separator}`, child];
      for (let only = onlyIn(inner); only !== undefined; only = onlyIn(inner)) {
        name += `${only[0]}${separator}`;
        inner = only[1];
      }
      rows.push(rowOf(name, inner));
      if (path === "" && root.folders.size < ENOUGH_PREFIXES && inner.folders.size < MOST_PREFIXES) level(inner, name);
    }
  };
  level(root, "");
  return rows.sort(bySize).slice(0, MOST_PREFIXES);
}

const onlyIn = ({ folders, direct, others }: Folder): [string, Folder] | undefined =>
  folders.size === 1 && direct === 0 && others.count === 0 ? [...folders][0] : undefined;

function analysisOf(task: Task<Survey>): Analysis {
  const { sums, policy, countsUse } = task.about;
  const found = {
    ...progressOf(task),
    types: listOf(sums.types),
    encodings: listOf(sums.encodings),
    ttls: sums.ttls.map(({ label, count, bytes }) => ({ name: label, count, bytes })),
    lasting: { ...sums.root.lasting },
    prefixes: prefixesOf(sums),
    biggest: sums.biggest,
    policy,
    hottest: countsUse ? sums.hottest : null,
  };
  return { ...found, advice: adviceFor(found) satisfies Advice[] };
}

const MOST_LISTED = 1_000;

function foldersAt(task: Task<Survey>, path: readonly string[]) {
  const at = task.about.sums.at(path);
  if (at === undefined) throw new Problem(404, "NO_FOLDER", "the scan has kept no such folder");
  const folders = [...at.folders].map(([name, each]) => rowOf(name, each)).sort((a, b) => (a.name < b.name ? -1 : 1));
  return { folders: folders.slice(0, MOST_LISTED), direct: at.direct, others: { ...at.others } };
}

const ID = object({ id: string({ maxLength: 40 }) });
const surveyOf = ({ store }: Context, id: string): Task<Survey> => tasksOf({ store }).get(id, KIND);

const MEDIA = { markdown: "text/markdown", html: "text/html", json: "application/json" } as const;
const ENDINGS = { markdown: "md", html: "html", json: "json" } as const;

export const SURVEY_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/surveys",
    group,
    reads: true,
    summary:
      "Begins a scan of all keys in the background, or answers one of the same keys that is under way or just over.",
    body: object({ ...FILTER, separator: SEPARATOR, fresh: boolean("Not one that is over.") }, [...OPTIONAL, "fresh"]),
    answers: "How far it is.",
    answer: SURVEY,
    run: (context, { body }) => begin(context, body),
  }),
  route({
    method: "GET",
    url: "/api/surveys/:id",
    group,
    summary:
      "How far a scan is, and what it has found until now: memory by prefix, type and encoding, the largest keys, advice.",
    params: ID,
    answers: "Figures of the keys that fit.",
    answer: ANALYSIS,
    run: (context, { params }) => analysisOf(surveyOf(context, params.id)),
  }),
  route({
    method: "GET",
    url: "/api/surveys/:id/progress",
    group,
    summary: "How far a scan is.",
    params: ID,
    answers: "Keys that were looked at, keys in all, and keys that fit.",
    answer: SURVEY,
    run: (context, { params }) => progressOf(surveyOf(context, params.id)),
  }),
  route({
    method: "GET",
    url: "/api/surveys/:id/folders",
    group,
    summary: "Folders of the tree of names, with true counts and memory.",
    params: ID,
    query: object({ path: string({ default: "[]", maxLength: 10_000, description: "Names of folders, as JSON." }) }),
    answers: "The folders in one; `others` is the sum of those that are not listed.",
    answer: object({ folders: array(FOLDER), direct: integer(), others: object(SUM_FIELDS) }),
    run: (context, { params, query }) => foldersAt(surveyOf(context, params.id), pathOf(query.path)),
  }),
  route({
    method: "GET",
    url: "/api/surveys/:id/keys",
    group,
    summary: "Keys that fit: the first ten thousand.",
    params: ID,
    query: object({
      from: integer({ default: 0, minimum: 0 }),
      count: integer({ default: 1_000, minimum: 1, maximum: 10_000 }),
    }),
    answers: "Keys with their facts, in the order in which they were found.",
    answer: object({ keys: array(KEY_FACTS), kept: integer() }),
    run: (context, { params, query }) => {
      const { keys } = surveyOf(context, params.id).about.sums;
      return { keys: keys.slice(query.from, query.from + query.count), kept: keys.length };
    },
  }),
  route({
    method: "GET",
    url: "/api/surveys/:id/report",
    group,
    summary: "The analysis as a file.",
    params: ID,
    query: object({ format: oneOf(["markdown", "html", "json"] as const) }),
    answers: "A report to keep or to send.",
    media: "application/octet-stream",
    run: (context, { params, query: { format }, reply }) => {
      const analysis = analysisOf(surveyOf(context, params.id));
      return reply
        .type(`${MEDIA[format]}; charset=utf-8`)
        .header("content-disposition", `attachment; filename="cinnabar-analysis.${ENDINGS[format]}"`)
        .send(reportOf(analysis, context.backend, format));
    },
  }),
  route({
    method: "DELETE",
    url: "/api/surveys/:id",
    group,
    reads: true,
    summary: "Stops a scan; what it has found stays.",
    params: ID,
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params }) => {
      await surveyOf(context, params.id).stop();
    },
  }),
];

function pathOf(json: string): string[] {
  try {
    const path: unknown = JSON.parse(json);
    if (Array.isArray(path) && path.every((part) => typeof part === "string")) return path;
  } catch {
    // Told below.
  }
  throw new Problem(400, "INPUT", "a path is a list of names, as JSON");
}
