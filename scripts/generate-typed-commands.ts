/**
 * Writes toolkit/src/connection/commands.ts from the engine's command table: `npm run docs`. The toolkit does not import the table;
 * a test sees that the two agree.
 *
 * A method has the arguments of the command in their order. Required ones are parameters, optional ones a tuple behind them, in
 * the order of the syntax: `set(key, value, "NX", "EX", 10)`. What may be repeated is one value or a list, pairs of field and value
 * are an object or a Map. Where an option changes the reply, there is a signature for each.
 */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { groups } from "../engine/src/commands/index.ts";
import type { Row } from "../engine/src/table/command.ts";
import { type Argument, parseSyntax } from "../engine/src/table/syntax.ts";
import { BLOCKING_EXAMPLES, COMMAND_EXAMPLES } from "./api/command-examples.ts";
import { sampleCall } from "./sample-call.ts";

const file = fileURLToPath(new URL("../toolkit/src/connection/commands.ts", import.meta.url));

const biome = fileURLToPath(new URL("../node_modules/.bin/biome", import.meta.url));

export interface Typed {
  readonly method: string;
  readonly words: readonly string[];
  readonly row: Row;
}

/** They wait on the server, or end it: not on a connection that others share. */
const NOT_SHARED = new Set(["WAIT", "WAITAOF", "SHUTDOWN", "DEBUG", "SCRIPT DEBUG", "RESTORE-ASKING"]);
/** They wait only with an option, which only a connection of its own has. */
const WITHOUT_BLOCK = new Set(["XREAD", "XREADGROUP"]);

/** Every command that is a method of a store, by method. */
export function typedCommands(): Typed[] {
  return commandsThat(isShared);
}

/** Every command that is a method of a blocking connection. */
export function blockingCommands(): Typed[] {
  return commandsThat((row, name) => row.flags.includes("blocking") && !NOT_SHARED.has(name));
}

function commandsThat(isMeant: (row: Row, name: string) => boolean): Typed[] {
  const found: Typed[] = [];
  for (const { rows } of groups) {
    for (const row of rows) {
      const name = row.name.toUpperCase();
      if (row.run !== undefined && isMeant(row, name)) found.push({ method: methodOf([name]), words: [name], row });
      for (const each of row.subcommands ?? []) {
        const words = [name, each.name.toUpperCase()];
        if (each.run !== undefined && isMeant(each, words.join(" "))) {
          found.push({ method: methodOf(words), words, row: each });
        }
      }
    }
  }
  return found.sort((a, b) => (a.method < b.method ? -1 : 1));
}

function isShared(row: Row, name: string): boolean {
  if (row.ownConnection === true || row.undocumented === true || NOT_SHARED.has(name)) return false;
  return !row.flags.includes("blocking") || WITHOUT_BLOCK.has(name);
}

const camel = (text: string): string =>
  text.toLowerCase().replace(/[-_ ](\w)/g, (_all, letter: string) => letter.toUpperCase());
const methodOf = (words: readonly string[]): string => camel(words.join(" "));

// -------------------------------------------------------------------------------------------------- arguments

/** The alternatives of an argument, each a list of elements of a tuple; whether it may be left out or repeated is not seen here. */
function alternatives(argument: Argument): string[][] {
  const token = argument.token === undefined ? [] : [JSON.stringify(argument.token)];
  switch (argument.type) {
    case "pure-token":
      return [token];
    case "oneof":
      return (argument.arguments ?? []).flatMap(alternatives).map((each) => [...token, ...each]);
    case "block":
      return [[...token, ...sequence(argument.arguments ?? [])]];
    case "integer":
    case "unix-time":
      return [[...token, "Integer"]];
    case "double":
      return [[...token, "Double"]];
    default:
      return [[...token, "Word"]];
  }
}

const tuple = (elements: readonly string[]): string => `[${elements.join(", ")}]`;

/** What may come again, as one value. */
function repeated(argument: Argument): string {
  const found = alternatives(argument);
  const [first = []] = found;
  if (found.length > 1) return `readonly (${found.map(tuple).join(" | ")})[]`;
  if (first.length === 1) return `Many<${first[0]}>`;
  const text = first.join(" ");
  return text === "Word Word" ? "Pairs" : text === "Double Word" ? "Scores" : `readonly ${tuple(first)}[]`;
}

/** The same with its token before it, where that is said once: `WEIGHTS 1 2`. */
function repeatedBehindToken(argument: Argument): string[] {
  const { token, ...bare } = argument;
  if (token === undefined || argument.multipleToken === true || argument.type === "pure-token")
    return [repeated(argument)];
  return [JSON.stringify(token), repeated(bare)];
}

/** The elements of arguments in a row; options are spread. */
function sequence(list: readonly Argument[], isEnd = false): string[] {
  return list.flatMap((argument, at) => {
    // The last one may be given as words instead of a list.
    if (isEnd && at === list.length - 1 && argument.optional === true && argument.multiple === true) {
      const elements = repeatedBehindToken(argument);
      if (elements.length === 1 && elements[0]!.startsWith("Many<")) return [`...${elements[0]}[]`];
    }
    const found = argument.multiple === true ? [repeatedBehindToken(argument)] : alternatives(argument);
    if (argument.optional === true) return [`...([] | ${found.map(tuple).join(" | ")})`];
    if (found.length === 1) return found[0]!;
    if (found.every((each) => each.length === 1)) return [found.map(([only]) => only).join(" | ")];
    return [`...(${found.map(tuple).join(" | ")})`];
  });
}

const RESERVED = new Set(["function", "default", "arguments", "module"]);

function nameOf({ name }: Argument, type: string): string {
  if (type === "Pairs" || type === "Scores") return type.toLowerCase();
  return type.startsWith("Many<") ? `${camel(name)}s` : camel(name);
}

/** `key: Word, ...options: […]` */
function parameters(list: readonly Argument[]): string {
  const params: string[] = [];
  const taken = new Map<string, number>();
  let at = 0;
  for (; at < list.length; at++) {
    const argument = list[at]!;
    const elements = sequence([argument]);
    const isLast = at === list.length - 1;
    if (elements.length !== 1 || elements[0]!.startsWith("...")) break;
    const base = nameOf(argument, elements[0]!);
    const count = (taken.get(base) ?? 0) + 1;
    taken.set(base, count);
    const name = `${RESERVED.has(base) ? `${base}Name` : base}${count === 1 ? "" : count}`;
    const [type] = elements;
    if (isLast && type!.startsWith("Many<")) params.push(`...${name}: [${type}, ...${type}[]]`);
    else params.push(`${name}: ${type}`);
  }
  if (at < list.length) params.push(`...options: ${tuple(sequence(list.slice(at), true))}`);
  return params.join(", ");
}

// -------------------------------------------------------------------------------------------------- replies

/** As methods give it. */
const friendly = (reply: string): string =>
  reply.replaceAll("Map<string, ", "Record<string, ").replaceAll("Entry", "StreamEntry");
/** As the connection gives it: maps are flat. */
const raw = (reply: string): string =>
  reply
    .replace(/Map<string, (\w+)>/g, (_all, value: string) =>
      value === "string" ? "string[]" : `(string | ${value})[]`,
    )
    .replaceAll("Entry", "StreamEntry");

function mentions(argument: Argument, option: string): boolean {
  return (
    argument.token === option ||
    argument.name === option ||
    (argument.arguments ?? []).some((each) => mentions(each, option))
  );
}

/** The arguments with those that mention an option there, or none of those that mention any. */
function signatures(
  list: readonly Argument[],
  reply: NonNullable<Row["reply"]>,
): { list: Argument[]; reply: string }[] {
  if (typeof reply === "string") return [{ list: [...list], reply }];
  const options = Object.keys(reply).filter((option) => option !== "otherwise");
  const isOption = (argument: Argument) =>
    argument.optional === true && options.some((option) => mentions(argument, option));
  return [
    { list: list.filter((argument) => !isOption(argument)), reply: reply.otherwise },
    ...options.map((option) => ({
      list: list.map((argument) =>
        argument.optional === true && mentions(argument, option) ? { ...argument, optional: false } : argument,
      ),
      reply: reply[option]!,
    })),
  ];
}

/** Where api/command-examples.ts has none. */
function madeExample(method: string, list: readonly Argument[], blocks: boolean): string {
  const { code } = sampleCall(list);
  return blocks ? `const waiting = db.blocking();\nawait waiting.${method}(${code});` : `await db.${method}(${code});`;
}

function methodText({ method, words, row }: Typed, blocks = false): string {
  const syntax = parseSyntax(row.syntax, row.keys ?? []);
  const list = !blocks && WITHOUT_BLOCK.has(words[0]!) ? syntax.filter(({ token }) => token !== "BLOCK") : syntax;
  const example = (blocks ? BLOCKING_EXAMPLES : COMMAND_EXAMPLES)[method] ?? madeExample(method, list, blocks);
  const lines = [
    `   * ${row.summary}`,
    "   *",
    `   * \`${[...words, row.syntax].join(" ").trimEnd()}\` · ${row.complexity} · since ${row.since}`,
    ...(row.deprecated === undefined ? [] : [`   * @deprecated Use ${row.deprecated.use}.`]),
    "   *",
    "   * @example",
    ...example.split("\n").map((line) => `   * ${line}`),
  ];
  const texts = signatures(list, row.reply ?? "Reply").map(
    ({ list: own, reply }) => `  ${method}(${parameters(own)}): Promise<${friendly(reply)}>;`,
  );
  return [`  /**`, ...lines, "   */", ...texts].join("\n");
}

const formOf = ({ method, row: { reply = "Reply" } }: Typed): string =>
  method === "zadd"
    ? ", SCORES"
    : typeof reply !== "string" || !reply.startsWith("Map<")
      ? ""
      : reply.endsWith("[]")
        ? ", MAPS"
        : ", MAP";

/** Where a command's timeout stands. */
function timeoutOf({ row }: Typed): string {
  const list = parseSyntax(row.syntax, row.keys ?? []);
  if (list[0]?.name === "timeout") return "FIRST";
  return list.at(-1)?.name === "timeout" ? "LAST" : "BLOCK";
}

export function commandsFile(): string {
  const all = typedCommands();
  const blocking = blockingCommands();
  const named = all.filter(({ words }) => words.length === 1);
  const types = (reply: NonNullable<Row["reply"]>): string =>
    typeof reply === "string" ? raw(reply) : [...new Set(Object.values(reply).map(raw))].join(" | ");
  const text = `/**
 * Every command as a method, made from the engine's command table by \`npm run docs\`: do not change it here.
 *
 * Commands that block are methods of \`store.blocking()\`. Those that change the connection that they are sent on are no methods:
 * \`store.transaction()\` and \`store.subscribe()\` have connections of their own.
 */
import type { Reply, Word } from "./port.ts";

/** Text where it does not fit 2^53. */
export type Integer = number | bigint | string;
/** Text where a number would lose digits, and for \`+inf\`, \`-inf\` and \`nan\`. */
export type Double = number | string;
/** One, or a list of them. */
export type Many<T> = T | readonly T[];
/** Fields and their values. */
export type Pairs = Readonly<Record<string, Word>> | ReadonlyMap<Word, Word>;
/** Members and their scores. */
export type Scores = Readonly<Record<string, Double>> | ReadonlyMap<Word, Double>;
/** An entry of a stream: fields and values in turn. */
export type StreamEntry = [id: string, fields: string[]];

/** Every command that a shared connection may send, as a method. */
export interface Commands {
${all.map((each) => methodText(each)).join("\n\n")}
}

/** Commands that wait on the server. */
export interface BlockingCommands {
${blocking.map((each) => methodText(each, true)).join("\n\n")}
}

/** What a command answers, by its name: for \`call\`, pipelines and transactions. */
export interface Replies {
${named.map(({ words, row }) => `  ${/^\w+$/.test(words[0]!) ? words[0] : JSON.stringify(words[0])}: ${types(row.reply ?? "Reply")};`).join("\n")}
}

export const MAP = "map";
export const MAPS = "maps";
export const SCORES = "scores";

export type Form = typeof MAP | typeof MAPS | typeof SCORES;

/** The words of a method's command; where its reply is a map or a list of maps, or its pairs have their values first, that. */
export const COMMANDS: Readonly<Record<keyof Commands, readonly [words: string, form?: Form]>> = {
${all.map((each) => `  ${each.method}: [${JSON.stringify(each.words.join(" "))}${formOf(each)}],`).join("\n")}
};

export const FIRST = "first";
export const LAST = "last";
export const BLOCK = "block";

/** The word of a method's command, and where it says how long it waits: in seconds, or in milliseconds behind BLOCK. */
export const BLOCKING: Readonly<
  Record<keyof BlockingCommands, readonly [word: string, timeout: typeof FIRST | typeof LAST | typeof BLOCK]>
> = {
${blocking.map((each) => `  ${each.method}: [${JSON.stringify(each.words[0])}, ${timeoutOf(each)}],`).join("\n")}
};
`;
  return execFileSync(biome, ["format", `--stdin-file-path=${file}`], { input: text, encoding: "utf8" });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, commandsFile());
