/**
 * Configuration files and command lines as redis-server takes them:
 *
 *   cinnabar-server [FILE] [--directive value ...] [-]
 *
 * Flags count as lines behind the file's; `-` adds what standard input says. A directive that is wrong ends everything, with
 * the line it stands in, in Redis's words.
 */

import { REDIS_VERSION } from "../core/version.ts";
import { codeOf } from "../lib/caught.ts";
import { compileGlob } from "../lib/glob.ts";
import { quoteWord } from "../lib/quote.ts";
import { readdirSync, readFileSync } from "../platform/files.ts";
import { basename, dirname, join, resolve } from "../platform/paths.ts";
import { workingFolder } from "../platform/process.ts";
import { splitWords } from "../resp/split-words.ts";
import { type DirectiveName, NAMES, rowOf } from "./directives.ts";
import { parseInForce } from "./in-force.ts";
import { BadValue } from "./kinds.ts";

/** What stops a server before it starts: the whole message, ready to be printed. */
export class ConfigFileError extends Error {
  override readonly name = "ConfigFileError";
}

export interface ServerArguments {
  /** The file's absolute path, if one was named. */
  readonly file: string | undefined;
  /** Values by directive name, for the engine's options. */
  readonly directives: Record<string, string>;
  /** What rename-command says, line by line. */
  readonly renamedCommands: (readonly [string, string])[];
  /** What `user` lines say: a name and its rules each. */
  readonly users: (readonly string[])[];
}

/** What is wrong with the words of a `user` line, behind the lines before it; undefined if nothing is. */
export type UserCheck = (words: readonly string[]) => string | undefined;

/** Known to older versions and without effect since. */
const DEPRECATED = new Set(["list-max-ziplist-entries", "list-max-ziplist-value", "lua-replicate-commands"]);

/** Directives of which every line adds to the ones before. */
const CUMULATIVE: ReadonlySet<DirectiveName> = new Set<DirectiveName>(["save", "client-output-buffer-limit"]);

/** A rule of a `user` line that has a password or its digest, with and without quotes. */
const PASSWORD_RULE = /(?<=\s)(?:"([<>#!])(?:[^"\\]|\\.)*"?|'([<>#!])(?:[^'\\]|\\.)*'?|([<>#!])\S*)/g;

/** A line as it may be printed. */
function withoutSecrets(line: string): string {
  const [given = ""] = line.split(/\s/, 1);
  const name = NAMES.get(given.toLowerCase());
  if (name !== undefined && rowOf(name).secret) return `${given} (redacted)`;
  if (given.toLowerCase() !== "user") return line;
  return line.replace(
    PASSWORD_RULE,
    (_, double = "", single = "", plain = "") => `${double + single + plain}(redacted)`,
  );
}

class Lines {
  readonly directives: Record<string, string> = {};
  readonly renamedCommands: (readonly [string, string])[] = [];
  readonly users: (readonly string[])[] = [];
  readonly #checkUser: UserCheck;

  constructor(checkUser: UserCheck) {
    this.#checkUser = checkUser;
  }

  /** Reads a text line by line; `include` reads another file in between. */
  read(text: string, folder: string): void {
    const lines = text.split("\n");
    lines.forEach((raw, i) => {
      const line = raw.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
      if (line === "" || line.startsWith("#")) return;
      try {
        this.#line(line, folder);
      } catch (error) {
        if (!(error instanceof BadValue)) throw error;
        throw new ConfigFileError(
          fatal(`Reading the configuration file, at line ${i + 1}\n>>> '${withoutSecrets(line)}'\n${error.text}`),
        );
      }
    });
  }

  #line(line: string, folder: string): void {
    const words = splitWords(line);
    if (words === undefined) throw new BadValue("Unbalanced quotes in configuration line");
    if (words.length === 0) return;
    const given = words[0]!.toLowerCase();
    const values = words.slice(1);
    const name = NAMES.get(given);
    if (name !== undefined) this.#directive(name, values);
    else if (DEPRECATED.has(given) && values.length === 1) return;
    else if (given === "include" && values.length === 1) this.#include(values[0]!, folder);
    else if (given === "rename-command" && values.length === 2) this.renamedCommands.push([values[0]!, values[1]!]);
    else if (given === "user" && values.length > 0) this.#user(values);
    else if (given === "loadmodule") throw new BadValue("modules are not available in this server. Remove the line");
    else throw new BadValue("Bad directive or wrong number of arguments");
  }

  #user(words: readonly string[]): void {
    const fault = this.#checkUser(words);
    if (fault !== undefined) throw new BadValue(fault);
    this.users.push(words);
  }

  #directive(name: DirectiveName, given: readonly string[]): void {
    const row = rowOf(name);
    if (!row.manyWords && given.length !== 1) throw new BadValue("wrong number of arguments");
    // `save "900 1"` is as good as `save 900 1`.
    const values = row.manyWords && given.length === 1 ? given[0]!.split(" ") : given;
    parseInForce(name, values, row.initial);
    const before = this.directives[name];
    const joined = values.join(" ");
    const adds = CUMULATIVE.has(name) && before !== undefined && before !== "" && joined !== "";
    this.directives[name] = adds ? `${before} ${joined}` : joined;
  }

  #include(pattern: string, folder: string): void {
    for (const path of matchingFiles(resolve(folder, pattern))) this.read(readConfig(path), dirname(path));
  }
}

/** The files that a path with wildcards in its last part stands for; a path without them stands for itself. */
function matchingFiles(path: string): string[] {
  if (!/[*?[]/.test(path)) return [path];
  const folder = dirname(path);
  const matches = compileGlob(basename(path));
  try {
    return readdirSync(folder)
      .filter(matches)
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

const fatal = (details: string) => `\n*** FATAL CONFIG FILE ERROR (Redis ${REDIS_VERSION}) ***\n${details}\n`;

function readConfig(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    const why = codeOf(error) === "ENOENT" ? "No such file or directory" : String(error);
    throw new ConfigFileError(`Fatal error, can't open config file '${path}': ${why}`);
  }
}

/** Flags as lines of a configuration file. Words before the first flag belong to none and make a line of their own. */
function linesOfFlags(flags: readonly string[]): string {
  const lines: string[] = [];
  let expectsValue = false;
  flags.forEach((word, i) => {
    if (!word.startsWith("--") || expectsValue) {
      if (lines.length === 0) lines.push("");
      lines[lines.length - 1] += ` ${quoteWord(word)}`;
      expectsValue = false;
      return;
    }
    lines.push(word.slice(2));
    // `--port 7777` in one word brings its value along.
    if (splitWords(word)?.length !== 1) return;
    const next = flags[i + 1];
    const emptySave = word.toLowerCase() === "--save" && (next === undefined || next.startsWith("--"));
    if (emptySave) lines[lines.length - 1] += ' ""';
    else expectsValue = true;
  });
  return lines.join("\n");
}

/** Reads a configuration text that is not in a file. */
export function parseConfigText(text: string, folder = workingFolder()): Record<string, string> {
  return readLines(text, folder).directives;
}

function readLines(text: string, folder = workingFolder(), checkUser: UserCheck = () => undefined): Lines {
  const lines = new Lines(checkUser);
  lines.read(text, folder);
  return lines;
}

/** What the words behind the program's name ask for. Throws a ConfigFileError where something is wrong. */
export function parseServerArguments(
  argv: readonly string[],
  readStdin: () => string = () => readFileSync(0, "latin1"),
  checkUser: UserCheck = () => undefined,
): ServerArguments {
  const words = [...argv];
  const fromStdin = words[0] === "-" || words.at(-1) === "-";
  if (words[0] === "-") words.shift();
  else if (fromStdin) words.pop();
  const named = words[0] !== undefined && !words[0].startsWith("-") ? words.shift() : undefined;
  const file = named === undefined ? undefined : resolve(named);
  let text = file === undefined ? "" : readConfig(file);
  if (fromStdin) text += readStdin();
  if (words.length > 0) text += `\n${linesOfFlags(words)}`;
  const { directives, renamedCommands, users } = readLines(text, workingFolder(), checkUser);
  return { file, directives, renamedCommands, users };
}
