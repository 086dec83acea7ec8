/** Many keys at once: delete, expire, persist, rename. In the background, in batches, with progress, stopped at any time. */
import type { Answer, Store, Word } from "cinnabar";
import { globOf, latin1 } from "../glob.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, object, oneOf, string, type Typed } from "../schema.ts";
import { DONE, TEXT } from "../shapes.ts";
import { type Progress, TASK_FIELDS, type Task, TaskKind, tasksOf } from "../tasks.ts";
import { messageOf, type Text, textOf } from "../values.ts";
import { checkSelection, SELECTION, type Selection, selected } from "./selection.ts";

const group = "Keys";
const ACTIONS = ["delete", "expire", "persist", "rename"] as const;

const CHANGE = {
  selection: SELECTION,
  action: oneOf(ACTIONS),
  ttlMs: integer({ minimum: 1, description: "To expire: the time to live." }),
  from: string({ maxLength: 1_000, description: "To rename: a pattern whose stars take parts of the name." }),
  to: string({ maxLength: 1_000, description: "To rename: the new name; its stars are those parts." }),
  replace: boolean("To rename: whether keys of the new names are replaced."),
};
const OF_CHANGE = ["ttlMs", "from", "to", "replace"] as const;

const FAILURE = object({ key: TEXT, reason: string() });
const BULK = object({
  ...TASK_FIELDS,
  action: oneOf(ACTIONS),
  changed: integer(),
  skipped: integer({ description: "Keys that were gone, had it already, or whose new name is taken." }),
  failed: integer(),
  failures: array(FAILURE),
});
export type BulkState = Typed<typeof BULK>;

interface Change {
  readonly selection: Selection;
  readonly action: (typeof ACTIONS)[number];
  readonly ttlMs?: number | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly replace?: boolean | undefined;
}

interface Outcome {
  readonly action: Change["action"];
  changed: number;
  skipped: number;
  failed: number;
  readonly failures: { key: Text; reason: string }[];
}

const KIND = new TaskKind<Outcome>();

const MOST_FAILURES = 100;
/** Renamed keys may fit the filter again: their names are gathered before the first is changed. */
const MOST_RENAMED = 200_000;

/** The new name of a key, as `from` and `to` say; null where it does not match. */
export function renamer(from: string, to: string): (key: Buffer) => Buffer | null {
  if (/[?[\\]/.test(from)) throw new Problem(400, "INPUT", "a pattern to rename by has only stars: user:*");
  const pieces = latin1(from).split("*");
  const made = latin1(to).split("*");
  if (made.length > pieces.length)
    throw new Problem(400, "INPUT", "the new name has more stars than the pattern: there is nothing for the last");
  if (to === "") throw new Problem(400, "INPUT", "the new name is empty");
  const fits = globOf(from);
  return (key) => {
    const name = key.toString("latin1");
    if (!fits(name)) return null;
    const parts: string[] = [];
    let at = pieces[0]!.length;
    for (let nth = 1; nth < pieces.length; nth++) {
      const isLast = nth === pieces.length - 1;
      const end = isLast ? name.length - pieces[nth]!.length : name.indexOf(pieces[nth]!, at);
      parts.push(name.slice(at, end));
      at = end + pieces[nth]!.length;
    }
    return Buffer.from(made.map((piece, nth) => piece + (nth < made.length - 1 ? parts[nth] : "")).join(""), "latin1");
  };
}

function commandOf(change: Change): (key: Buffer) => Word[] | null {
  if (change.action === "delete") return (key) => ["UNLINK", key];
  if (change.action === "persist") return (key) => ["PERSIST", key];
  if (change.action === "expire") {
    const { ttlMs } = change;
    if (ttlMs === undefined) throw new Problem(400, "INPUT", "to expire needs ttlMs");
    return (key) => ["PEXPIRE", key, ttlMs];
  }
  const newName = renamer(change.from ?? "", change.to ?? "");
  return (key) => {
    const name = newName(key);
    return name === null || name.equals(key) ? null : [change.replace ? "RENAME" : "RENAMENX", key, name];
  };
}

async function gathered(store: Store, selection: Selection, progress: Progress): Promise<Buffer[][]> {
  const batches: Buffer[][] = [];
  let count = 0;
  for await (const batch of selected(store, selection, progress)) {
    count += batch.length;
    if (count > MOST_RENAMED)
      throw new Error(`more than ${MOST_RENAMED} keys fit: choose a narrower pattern; nothing was renamed`);
    batches.push([...batch]);
  }
  return batches;
}

async function apply(store: Store, keys: readonly Buffer[], change: (key: Buffer) => Word[] | null, into: Outcome) {
  const commands = keys.map(change);
  const sent = commands.filter((words) => words !== null);
  const answers: readonly Answer[] = sent.length === 0 ? [] : await store.pipeline(sent);
  let nth = 0;
  for (const [at, words] of commands.entries()) {
    const answer = words === null ? 0 : answers[nth++]!;
    if (answer === 1 || answer === "OK") into.changed++;
    else if (answer === 0 || (answer instanceof Error && /no such key/i.test(answer.message))) into.skipped++;
    else {
      into.failed++;
      if (into.failures.length < MOST_FAILURES)
        into.failures.push({
          key: textOf(keys[at]!),
          reason: answer instanceof Error ? messageOf(answer) : String(answer),
        });
    }
  }
}

function begin({ store }: Context, change: Change): BulkState {
  checkSelection(change.selection);
  const command = commandOf(change);
  const outcome: Outcome = { action: change.action, changed: 0, skipped: 0, failed: 0, failures: [] };
  const task = tasksOf({ store }).start(KIND, outcome, async (progress) => {
    if (change.action !== "rename") {
      for await (const keys of selected(store, change.selection, progress)) await apply(store, keys, command, outcome);
      return;
    }
    const batches = await gathered(store, change.selection, progress);
    for (const [nth, keys] of batches.entries()) {
      progress.signal.throwIfAborted();
      progress(nth, batches.length);
      await apply(store, keys, command, outcome);
    }
    progress(batches.length, batches.length);
  });
  return stateOf(task);
}

const stateOf = (task: Task<Outcome>): BulkState => ({
  ...task.facts,
  ...task.about,
  failures: [...task.about.failures],
});
const bulkOf = ({ store }: Context, id: string): Task<Outcome> => tasksOf({ store }).get(id, KIND);

const MOST_LOOKED_AT = 2_000;
const MOST_SHOWN = 200;

const PAIR = object({ from: TEXT, to: TEXT, conflict: boolean("A key of the new name exists, or two get the same.") });
const PREVIEW = object({
  pairs: array(PAIR),
  renamed: integer(),
  conflicts: integer(),
  complete: boolean("False where more keys are selected than were looked at."),
});
export type RenamePreview = Typed<typeof PREVIEW>;

/** Without a task: looks at the first of the keys only. */
async function preview(
  { store }: Context,
  { selection, from, to }: { selection: Selection; from: string; to: string },
) {
  checkSelection(selection);
  const newName = renamer(from, to);
  const stopping = new AbortController();
  const progress: Progress = Object.assign(() => {}, { signal: stopping.signal });
  const pairs: { from: Buffer; to: Buffer }[] = [];
  let [lookedAt, complete] = [0, true];
  for await (const keys of selected(store, selection, progress)) {
    for (const key of keys) {
      const name = newName(key);
      if (name !== null && !name.equals(key)) pairs.push({ from: key, to: name });
    }
    lookedAt += keys.length;
    if (lookedAt < MOST_LOOKED_AT) continue;
    complete = false;
    break;
  }
  const present = await store.pipeline(pairs.map((pair) => ["EXISTS", pair.to]));
  const seen = new Set<string>();
  const judged = pairs.map((pair, nth) => {
    const name = pair.to.toString("latin1");
    const conflict = Number(present[nth]) !== 0 || seen.has(name);
    seen.add(name);
    return { from: textOf(pair.from), to: textOf(pair.to), conflict };
  });
  // Conflicts first: they are what a preview is for.
  judged.sort((a, b) => Number(b.conflict) - Number(a.conflict));
  return {
    pairs: judged.slice(0, MOST_SHOWN),
    renamed: judged.length,
    conflicts: judged.filter(({ conflict }) => conflict).length,
    complete,
  };
}

const ID = object({ id: string({ maxLength: 40 }) });

export const BULK_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/keys/bulk",
    group,
    summary: "Deletes, expires, persists or renames many keys, in the background.",
    body: object(CHANGE, OF_CHANGE),
    answers: "The task.",
    answer: BULK,
    run: (context, { body }) => begin(context, body),
  }),
  route({
    method: "GET",
    url: "/api/keys/bulk/:id",
    group,
    summary: "How far a bulk action is.",
    params: ID,
    answers: "Keys that were changed, skipped and failed.",
    answer: BULK,
    run: (context, { params }) => stateOf(bulkOf(context, params.id)),
  }),
  route({
    method: "DELETE",
    url: "/api/keys/bulk/:id",
    group,
    summary: "Stops a bulk action; what is done stays done.",
    params: ID,
    answers: "Nothing.",
    answer: DONE,
    run: async (context, { params }) => {
      await bulkOf(context, params.id).stop();
    },
  }),
  route({
    method: "POST",
    url: "/api/keys/rename-preview",
    group,
    reads: true,
    summary: "What renaming by a pattern would do.",
    body: object({ selection: SELECTION, from: CHANGE.from, to: CHANGE.to }),
    answers: "Old and new names of the first keys, those that are taken already first.",
    answer: PREVIEW,
    run: (context, { body }) => preview(context, body),
  }),
];
