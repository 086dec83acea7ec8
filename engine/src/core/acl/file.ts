/**
 * The file that aclfile names: a line `user NAME RULE …` for each user, words separated by single spaces, nothing else. It is
 * read as a whole or not at all.
 */
import { readFileSync } from "../../platform/files.ts";
import {
  ACL_FILE_UNCHANGED,
  ACL_UNKNOWN_COMMAND,
  aclDuplicateUser,
  aclFileOperation,
  aclFileParenthesis,
  aclFileRule,
  aclFileUserKeyword,
  aclFileUserName,
} from "../rare-errors.ts";
import { replaceFile } from "../replace-file.ts";
import { joinSelectors } from "./rule-words.ts";
import { hasSpaces, RuleError } from "./selector.ts";
import { type RuleContext, User } from "./user.ts";

/** What is wrong with the file: the whole text. */
export class AclFileError extends Error {
  override readonly name = "AclFileError";
}

/** The users of a file's text; `path` is for messages. Throws an AclFileError that names everything that is wrong. */
export function parseUsers(text: string, path: string, context: RuleContext): Map<string, User> {
  const users = new Map<string, User>();
  const faults: string[] = [];
  text.split("\n").forEach((raw, i) => {
    const line = raw.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, "");
    if (line === "") return;
    const where = `${path}:${i + 1}`;
    const [keyword, name, ...words] = line.split(" ");
    if (keyword !== "user" || name === undefined) faults.push(aclFileUserKeyword(where));
    else if (hasSpaces(name)) faults.push(aclFileUserName(where, name));
    else if (users.has(name)) faults.push(aclDuplicateUser(name, i + 1));
    else {
      const user = new User(name, context);
      users.set(name, user);
      applyLine(user, words, where, { context, faults });
    }
  });
  if (faults.length > 0) throw new AclFileError(faults.join("") + ACL_FILE_UNCHANGED);
  return users;
}

interface Reading {
  readonly context: RuleContext;
  readonly faults: string[];
}

/** Applies a line's rules. Of faults that may cause others, the line's first is told; names that do not exist all are. */
function applyLine(user: User, words: readonly string[], where: string, { context, faults }: Reading): void {
  const rules = joinSelectors(words);
  if (typeof rules === "number") {
    faults.push(aclFileParenthesis(where));
    return;
  }
  let told = false;
  for (const raw of rules) {
    const rule = raw.replace(/^[\t\r\n]+|[\t\r\n]+$/g, "");
    try {
      user.apply(rule, context);
    } catch (error) {
      if (!(error instanceof RuleError)) throw error;
      if (error.message === ACL_UNKNOWN_COMMAND) faults.push(aclFileOperation(where, rule, error.message));
      else if (!told) {
        faults.push(aclFileRule(where, error.message));
        told = true;
      }
    }
  }
}

export function readUsers(path: string, context: RuleContext): Map<string, User> {
  return parseUsers(readFileSync(path, "latin1"), path, context);
}

/** One line for each user, as the file and redis.conf have it. */
export const userLines = (users: Iterable<User>): string[] =>
  Array.from(users, (user) => `user ${user.name} ${user.describe()}`);

export function writeUsers(path: string, users: Iterable<User>): void {
  const lines = userLines(users).map((line) => `${line}\n`);
  replaceFile(path, lines.join(""));
}
