/** Changing keys. Each change is one command of the store's own or one script, so that it is atomic; most can be undone. */
import { randomUUID } from "node:crypto";
import type { Word } from "cinnabar";
import { encode, WRITTEN, type Written } from "../decode/index.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, nullable, object, oneOf, string } from "../schema.ts";
import { VALUE } from "../shapes.ts";
import { jsonOf, wordOf } from "../values.ts";
import { change, isChange, refuseUndo } from "./changes.ts";
import { keepUndo, UNDO } from "./undo.ts";

const group = "Keys";
const KEY = string({ maxLength: 1_000_000, description: "The key; `base64:…` for bytes that are no text." });
const WORD = string({ maxLength: 8_000_000 });

const ACTIONS = [
  "set",
  "append",
  "push",
  "setIndex",
  "removeIndex",
  "insertIndex",
  "addMember",
  "removeMember",
  "setField",
  "removeField",
  "setScore",
  "addEntry",
  "removeEntry",
] as const;
type Action = (typeof ACTIONS)[number];

const CREATED_TYPES = ["string", "list", "set", "hash", "zset", "stream"] as const;
type CreatedType = (typeof CREATED_TYPES)[number];

type Adding = "append" | "push" | "addMember" | "addEntry";

interface Edit {
  readonly key: string;
  readonly action: Action;
  readonly field?: string | undefined;
  readonly value?: string | undefined;
  readonly index?: number | undefined;
  readonly pairs?: string[][] | undefined;
  readonly as?: Written | undefined;
  readonly shown?: string | undefined;
  readonly digest?: string | undefined;
}

const need = <T>(what: string, value: T | undefined): T => {
  if (value === undefined) throw new Problem(400, "INPUT", `this action needs ${what}`);
  return value;
};

function score(text: string): string {
  if (!/^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+|inf)$/i.test(text)) throw new Problem(400, "INPUT", `"${text}" is no score`);
  return text;
}

/** What is stored of a value: as it was sent, or in the form that is asked for. */
async function stored(edit: Edit): Promise<Word | undefined> {
  if (edit.value === undefined) return undefined;
  return edit.as === undefined ? wordOf(edit.value) : encode(edit.value, edit.as);
}

/** The command of an action that only adds. */
function commandOf(edit: Edit, action: Adding, given: Word | undefined): Word[] {
  const key = wordOf(edit.key);
  const value = () => need("a value", given);
  const by: Record<Adding, () => Word[]> = {
    append: () => ["APPEND", key, value()],
    push: () => [edit.field === "left" ? "LPUSH" : "RPUSH", key, value()],
    addMember: () => ["SADD", key, value()],
    addEntry: () => ["XADD", key, edit.field || "*", ...need("pairs", edit.pairs).flat().map(wordOf)],
  };
  return by[action]();
}

/** The arguments of an action, in the order in which its script has them. */
function argumentsOf(edit: Edit, given: Word | undefined): Word[] {
  const field = () => wordOf(need("a field", edit.field));
  const value = () => need("a value", given);
  const expected = edit.digest ?? "";
  const by: Partial<Record<Action, () => Word[]>> = {
    set: () => [value(), expected],
    setIndex: () => [need("an index", edit.index), value(), expected],
    removeIndex: () => [
      need("an index", edit.index),
      wordOf(need("the value that is shown", edit.value)),
      `cinnabar:removed:${randomUUID()}`,
    ],
    removeMember: () => [value()],
    setField: () => [field(), value(), expected],
    removeField: () => [field()],
    setScore: () => [field(), score(need("a value", edit.value)), expected],
    removeEntry: () => [field()],
  };
  return by[edit.action]!();
}

/** Between the item of a place and the one before it; after the last, RPUSH does it. */
const INSERT_AT = `
  local old = redis.call("LINDEX", KEYS[1], ARGV[1])
  if old ~= ARGV[2] then return 0 end
  redis.call("LSET", KEYS[1], ARGV[1], ARGV[3])
  redis.call("LINSERT", KEYS[1], "BEFORE", ARGV[3], ARGV[4])
  redis.call("LSET", KEYS[1], ARGV[1] + 1, old)
  return redis.call("LLEN", KEYS[1])
`;

async function insertIndex({ store }: Context, edit: Edit): Promise<number> {
  const index = need("an index", edit.index);
  if (index < 0) throw new Problem(400, "INPUT", "an index counts from the beginning");
  const shown = wordOf(need("the value that is shown there", edit.shown));
  const mark = `cinnabar:inserted:${randomUUID()}`;
  const words = ["EVAL", INSERT_AT, 1, wordOf(edit.key), index, shown, mark, need("a value", await stored(edit))];
  const length = Number(await store.send(words));
  if (length === 0) throw new Problem(409, "CHANGED", "the list has changed meanwhile; look again");
  return length;
}

async function edit(context: Context, body: Edit) {
  const { key, action, field } = body;
  if (action === "insertIndex") {
    return { answer: await insertIndex(context, body), undo: null, gone: false };
  }
  const given = await stored(body);
  if (!isChange(action)) {
    const answer = await context.store.send(commandOf(body, action, given), { buffers: true });
    return { answer: jsonOf(answer), undo: null, gone: false };
  }
  const done = await change(context, action, wordOf(key), argumentsOf(body, given), {
    key,
    ...(field !== undefined && { field }),
  });
  if (action === "removeIndex" && done.answer === 0)
    throw new Problem(409, "CHANGED", "the list has changed meanwhile; look again");
  return { ...done, answer: jsonOf(done.answer) };
}

const GROUP_ACTIONS = ["acknowledge", "claim", "create", "destroy", "removeConsumer"] as const;

interface GroupAct {
  readonly key: string;
  readonly group: string;
  readonly action: (typeof GROUP_ACTIONS)[number];
  readonly ids?: readonly string[] | undefined;
  readonly consumer?: string | undefined;
  readonly minIdleMs?: number | undefined;
  readonly from?: string | undefined;
}

/** What can be done to a group of a stream. Claiming answers the ids that were claimed. */
async function groupAct({ store }: Context, act: GroupAct) {
  const [key, group] = [wordOf(act.key), wordOf(act.group)];
  const ids = () => need("ids", act.ids);
  const consumer = () => wordOf(need("a consumer", act.consumer));
  const by: Record<GroupAct["action"], () => Word[]> = {
    acknowledge: () => ["XACK", key, group, ...ids()],
    claim: () => ["XCLAIM", key, group, consumer(), act.minIdleMs ?? 0, ...ids(), "JUSTID"],
    create: () => ["XGROUP", "CREATE", key, group, act.from ?? "$"],
    destroy: () => ["XGROUP", "DESTROY", key, group],
    removeConsumer: () => ["XGROUP", "DELCONSUMER", key, group, consumer()],
  };
  return { answer: jsonOf(await store.send(by[act.action](), { buffers: true })) };
}

async function create(context: Context, body: { key: string; type: CreatedType; field: string; value: string }) {
  const key = wordOf(body.key);
  if (body.key === "") throw new Problem(400, "INPUT", "a key needs a name");
  if (Number(await context.store.call("EXISTS", key)) !== 0)
    throw new Problem(409, "EXISTS", "there is such a key already");
  const [value, field] = [wordOf(body.value), wordOf(body.field)];
  const by: Record<CreatedType, () => Word[]> = {
    string: () => ["SET", key, value, "NX"],
    list: () => ["RPUSH", key, value],
    set: () => ["SADD", key, value],
    hash: () => ["HSET", key, field, value],
    zset: () => ["ZADD", key, score(body.value), field],
    stream: () => ["XADD", key, "*", field, value],
  };
  return { answer: jsonOf(await context.store.send(by[body.type](), { buffers: true })) };
}

async function rename(context: Context, from: string, to: string, replace: boolean) {
  const words = [wordOf(from), wordOf(to)] as const;
  const done = await context.store.send([replace ? "RENAME" : "RENAMENX", ...words]);
  if (done === 0) throw new Problem(409, "EXISTS", "there is such a key already");
  if (replace || from === to) return { undo: null };
  const back = async ({ store }: Context) => {
    if (Number(await store.call("EXISTS", words[1])) === 0) refuseUndo("GONE");
    if ((await store.send(["RENAMENX", words[1], words[0]])) === 0) refuseUndo("MADE");
  };
  return { undo: keepUndo(context, { about: { action: "undo rename", key: from, to }, bytes: 0, back }) };
}

async function expire(context: Context, key: string, ttlMs: number | null) {
  const word = wordOf(key);
  const { answer, undo } = await change(context, "ttl", word, [ttlMs ?? ""], { key });
  if (answer === 0 && Number(await context.store.call("EXISTS", word)) === 0)
    throw new Problem(404, "NO_KEY", "there is no such key");
  return { undo };
}

async function remove(context: Context, keys: readonly string[]) {
  if (keys.length === 1) {
    const { answer, undo } = await change(context, "delete", wordOf(keys[0]!), [], { keys });
    return { removed: Number(answer), undo };
  }
  const answers = await context.store.pipeline(keys.map((key) => ["UNLINK", wordOf(key)]));
  const failed = answers.find((answer) => answer instanceof Error);
  if (failed !== undefined) throw failed;
  return { removed: answers.filter((answer) => answer === 1).length, undo: null };
}

export const EDIT_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/key",
    group,
    summary: "Makes a key; refused where there is one.",
    body: object(
      {
        key: KEY,
        type: oneOf(CREATED_TYPES),
        field: string({ maxLength: 8_000_000, default: "" }),
        value: string({ maxLength: 8_000_000, default: "", description: "Of a sorted set the score." }),
      },
      [],
    ),
    answers: "The store's answer.",
    answer: object({ answer: VALUE }),
    run: (context, { body }) => create(context, body),
  }),
  route({
    method: "PUT",
    url: "/api/key",
    group,
    summary: "Changes a value: sets, adds or removes a field, a member, an item, an entry.",
    body: object(
      {
        key: KEY,
        action: oneOf(ACTIONS),
        field: WORD,
        value: WORD,
        index: integer(),
        pairs: array(array(WORD, { minItems: 2, maxItems: 2 }), { minItems: 1 }),
        as: oneOf(
          WRITTEN,
          "The form in which `value` was typed, or into which it is compressed; else it is as names are.",
        ),
        shown: WORD,
        digest: string({
          pattern: "^[0-9a-f]{40}$",
          description:
            "SHA-1 of what is replaced, of a score of its text: it is refused where something else is there.",
        }),
      },
      ["field", "value", "index", "pairs", "as", "shown", "digest"],
    ),
    answers: "The store's answer, and what undoes it.",
    answer: object({ answer: VALUE, undo: UNDO, gone: boolean("Whether the key went with its last element.") }),
    run: (context, { body }) => edit(context, body),
  }),
  route({
    method: "POST",
    url: "/api/key/groups",
    group,
    summary: "Acknowledges or claims entries of a stream's group; creates and destroys groups.",
    body: object(
      {
        key: KEY,
        group: string({ minLength: 1, maxLength: 10_000 }),
        action: oneOf(GROUP_ACTIONS),
        ids: array(string({ maxLength: 42, pattern: "^\\d+-\\d+$" }), { minItems: 1, maxItems: 1_000 }),
        consumer: string({ minLength: 1, maxLength: 10_000 }),
        minIdleMs: integer({ minimum: 0 }),
        from: string({
          maxLength: 42,
          pattern: "^(\\$|\\d+(-\\d+)?)$",
          description: "Of a new group: `$`, `0`, or an id.",
        }),
      },
      ["ids", "consumer", "minIdleMs", "from"],
    ),
    answers: "The store's answer.",
    answer: object({ answer: VALUE }),
    run: (context, { body }) => groupAct(context, body),
  }),
  route({
    method: "POST",
    url: "/api/key/rename",
    group,
    summary: "Renames a key.",
    body: object(
      {
        key: KEY,
        to: string({ minLength: 1, maxLength: 1_000_000 }),
        replace: boolean("Whether a key of the new name is replaced."),
      },
      ["replace"],
    ),
    answers: "What undoes it.",
    answer: object({ undo: UNDO }),
    run: (context, { body }) => rename(context, body.key, body.to, body.replace ?? false),
  }),
  route({
    method: "POST",
    url: "/api/key/ttl",
    group,
    summary: "Sets how long a key lives; null: for good.",
    body: object({ key: KEY, ttlMs: nullable(integer({ minimum: 1 })) }),
    answers: "What undoes it.",
    answer: object({ undo: UNDO }),
    run: (context, { body }) => expire(context, body.key, body.ttlMs),
  }),
  route({
    method: "POST",
    url: "/api/keys/delete",
    group,
    summary: "Deletes keys.",
    body: object({ keys: array(KEY, { minItems: 1, maxItems: 10_000 }) }),
    answers: "How many there were, and of a single one what undoes it.",
    answer: object({ removed: integer(), undo: UNDO }),
    run: (context, { body }) => remove(context, body.keys),
  }),
];
