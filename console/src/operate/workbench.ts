/**
 * The workbench: several commands at once, in one round trip, and what they would cost before they run. Costs come from what each
 * command looks at (the length of its key, the number of keys), asked with commands that take no time themselves.
 */
import { ServerError, type Store } from "cinnabar";
import { refuseBelow, roleOfCommand } from "../access/roles.ts";
import { type Context, Problem, type Route, route } from "../route.ts";
import { array, boolean, integer, named, nullable, object, oneOf, string } from "../schema.ts";
import { VALUE } from "../shapes.ts";
import { shaped, type Value, wordOf } from "../values.ts";
import { checkCommand, maskedFor } from "./command.ts";

const group = "Command line";
const MOST_COMMANDS = 1_000;
const COMMANDS = array(array(string({ maxLength: 8_000_000 }), { minItems: 1, maxItems: 100_000 }), {
  minItems: 1,
  maxItems: MOST_COMMANDS,
});

/** From here on a command is worth a word, and from there a warning. */
const NOTABLE = 10_000;
const LARGE = 100_000;

export interface Cost {
  readonly level: "cheap" | "notable" | "heavy";
  /** Elements that it looks at; null where nobody knows. */
  readonly elements: number | null;
  readonly text: string;
}

const CHEAP: Cost = { level: "cheap", elements: null, text: "" };

/** Commands that look at all of a key, and what tells its length. */
const WHOLE: Readonly<Record<string, string>> = {
  ...Object.fromEntries("SMEMBERS SUNION SINTER SDIFF SUNIONSTORE SINTERSTORE SDIFFSTORE".split(" ").map(by("SCARD"))),
  ...Object.fromEntries("HGETALL HKEYS HVALS".split(" ").map(by("HLEN"))),
  ...Object.fromEntries("SORT SORT_RO LREM LINSERT LPOS".split(" ").map(by("LLEN"))),
};

function by(length: string): (name: string) => [string, string] {
  return (name) => [name, length];
}

/** Commands that look at a range of a key: from its ends to what they answer. */
const RANGES: Readonly<Record<string, string>> = {
  LRANGE: "LLEN",
  ZRANGE: "ZCARD",
  ZREVRANGE: "ZCARD",
  GETRANGE: "STRLEN",
  LTRIM: "LLEN",
};

const SCORES: Readonly<Record<string, string>> = {
  ZRANGEBYSCORE: "ZCARD",
  ZREVRANGEBYSCORE: "ZCARD",
  XRANGE: "XLEN",
  XREVRANGE: "XLEN",
};

async function lengthOf(store: Store, command: string, key: string): Promise<number | null> {
  const answer = await store.send([command, wordOf(key)]).catch(() => null);
  return typeof answer === "number" ? answer : null;
}

function costOf(elements: number | null, what: string, instead?: string): Cost {
  if (elements === null) return { level: "notable", elements, text: `looks at ${what}` };
  if (elements < NOTABLE) return { level: "cheap", elements, text: "" };
  const level = elements < LARGE ? "notable" : "heavy";
  const advice = instead === undefined ? "" : `; ${instead}`;
  return { level, elements, text: `looks at ${elements.toLocaleString("en")} ${what}${advice}` };
}

/** How much of something long a range takes. */
function spanOf(length: number, from: string | undefined, to: string | undefined): number {
  const index = (text: string | undefined): number => {
    const number = Number(text);
    return number < 0 ? Math.max(0, length + number) : Math.min(length - 1, number);
  };
  const span = index(to) - index(from) + 1;
  return Number.isFinite(span) ? Math.max(0, span) : length;
}

async function costOfCommand(store: Store, words: readonly string[]): Promise<Cost> {
  const [name = "", key = "", from, to] = words;
  const command = name.toUpperCase();
  if (command === "KEYS") {
    const keys = (await store.sendToAll(["DBSIZE"])).reduce<number>((sum, size) => sum + (Number(size) || 0), 0);
    return costOf(keys, "keys while all other clients wait", "SCAN goes step by step");
  }
  if (command === "FLUSHALL" || command === "FLUSHDB")
    return { level: "heavy", elements: null, text: "deletes every key" };
  if (key === "") return CHEAP;
  const whole = WHOLE[command];
  if (whole !== undefined) {
    const scan = { SCARD: "SSCAN goes step by step", HLEN: "HSCAN goes step by step", LLEN: "" }[whole] || undefined;
    return costOf(await lengthOf(store, whole, key), "elements", scan);
  }
  const range = RANGES[command] ?? SCORES[command];
  if (range !== undefined) {
    const length = await lengthOf(store, range, key);
    if (length === null) return CHEAP;
    const isLimited = words.some((word) => /^(?:LIMIT|COUNT)$/i.test(word));
    const span = SCORES[command] === undefined ? spanOf(length, from, to) : isLimited ? 0 : length;
    return costOf(span, range === "STRLEN" ? "bytes" : "elements", "a smaller range answers sooner");
  }
  if (command === "DEL") {
    const memory = await store.send(["MEMORY", "USAGE", wordOf(key)]).catch(() => null);
    const isLarge = typeof memory === "number" && memory > 10_000_000;
    return isLarge
      ? { level: "notable", elements: null, text: "frees a large key at once; UNLINK does it later" }
      : CHEAP;
  }
  return CHEAP;
}

async function costs({ store }: Context, commands: readonly (readonly string[])[]): Promise<{ costs: Cost[] }> {
  const found: Cost[] = [];
  for (const words of commands.slice(0, 100)) found.push(await costOfCommand(store, words));
  return { costs: found };
}

export interface Outcome {
  readonly value?: Value;
  readonly error?: string;
}

async function pipeline(
  { store, user }: Context,
  commands: readonly (readonly string[])[],
  confirm: boolean,
): Promise<{ outcomes: Outcome[]; micros: number }> {
  for (const [nth, words] of commands.entries()) {
    if (words[0] === "") throw new Problem(400, "INPUT", `command ${nth + 1} needs a name`);
    refuseBelow(user, await roleOfCommand(store, words), words[0]!.toUpperCase());
    checkCommand(words, confirm);
  }
  const begin = performance.now();
  // Sent in one turn of the event loop, they leave in one write, and a server runs them in this order.
  const answers = await Promise.allSettled(
    commands.map((words) => store.send(words.map(wordOf), { buffers: true, repeatable: false })),
  );
  const micros = Math.round((performance.now() - begin) * 1_000);
  const outcomes = answers.map((answer, nth): Outcome => {
    const words = commands[nth]!;
    if (answer.status === "fulfilled") return { value: maskedFor(user, words, shaped(words, answer.value)) };
    if (answer.reason instanceof ServerError) return { error: answer.reason.message };
    throw answer.reason;
  });
  return { outcomes, micros };
}

const COST = named(
  "CommandCost",
  object({
    level: oneOf(["cheap", "notable", "heavy"]),
    elements: nullable(integer({ description: "Elements that it looks at." })),
    text: string({ description: "What it does to the server, and what to do instead." }),
  }),
);

export const WORKBENCH_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    url: "/api/workbench/cost",
    group,
    role: "viewer",
    reads: true,
    summary: "What commands would cost, before they run: how much each looks at. Of the first hundred.",
    body: object({ commands: COMMANDS }),
    answers: "One cost for each command.",
    answer: object({ costs: array(COST) }),
    run: (context, { body }) => costs(context, body.commands),
  }),
  route({
    method: "POST",
    url: "/api/workbench/pipeline",
    group,
    role: "viewer",
    commandsOf: (body) => body.commands,
    summary: "Runs several commands in one round trip; one that fails does not keep the others from running.",
    body: object({ commands: COMMANDS, confirm: boolean() }, ["confirm"]),
    answers: "A value or an error for each, and how long all of them took.",
    answer: object({
      outcomes: array(object({ value: VALUE, error: string() }, ["value", "error"])),
      micros: integer(),
    }),
    run: (context, { body }) => pipeline(context, body.commands, body.confirm ?? false),
  }),
];
