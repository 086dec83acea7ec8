/**
 * Access control lists: who there is, what each may do, and what was refused.
 *
 * A client has a User (client.user) and asks it only where `limited` says that there is something to ask; everything else
 * costs a look at that field. Users are changed by making a copy, changing the copy, and letting the user become it, so that
 * a rule that is wrong changes nothing, and clients keep the same User. Two users are always there: `default`, which every
 * connection begins as, and a superuser that is in no list, for what the engine does itself and for the program around it.
 *
 * Who loses a permission: a deleted user's clients are disconnected, and so are subscribers who may no longer listen to one
 * of their channels. Commands that wait (BLPOP) were checked when they came, and are served, as in Redis 7.0.
 */

import type { ConfigValues } from "../../config/directives.ts";
import { codeOf, messageOf } from "../../lib/caught.ts";
import { resolve } from "../../platform/paths.ts";
import type { Command, CommandTable } from "../../table/command-table.ts";
import type { Client } from "../client.ts";
import { AUTH_WITHOUT_PASSWORD, type ReplyError, WRONGPASS } from "../errors.ts";
import type { Log } from "../log.ts";
import type { AccessPort, Denied } from "../ports.ts";
import {
  ACL_AND_FILE,
  ACL_DUPLICATE_USER,
  ACL_NO_FILE,
  ACL_NOT_SAVED,
  ACL_SYNTAX,
  aclDeclaration,
  aclFileUnreadable,
  aclModifier,
  aclUnmatched,
  BAD_USER_NAME,
  chosenError,
  DEFAULT_USER_STAYS,
  noPermission,
  noPermissionInExec,
  noPermissionInScript,
} from "../rare-errors.ts";
import { Catalog } from "./catalog.ts";
import { AclFileError, readUsers, userLines, writeUsers } from "./file.ts";
import { AclLog, type Refused } from "./log.ts";
import { joinSelectors } from "./rule-words.ts";
import { allowsChannel, hasSpaces, RuleError } from "./selector.ts";
import { digestOf, type RuleContext, User } from "./user.ts";

export const DEFAULT_USER = "default";
/** What CLIENT LIST calls the user of clients that may do everything. */
const SUPERUSER = "(superuser)";

/** What is wrong with the users of a configuration, before there is a client to tell. */
export class UsersError extends Error {
  override readonly name = "UsersError";
}

/** What users need of the store around them. */
interface AclHost {
  readonly originalCommands: CommandTable;
  readonly config: { readonly values: ConfigValues };
  readonly clients: ReadonlyMap<number, Client>;
  /** The client whose command is running. */
  readonly current: Client | null;
  readonly log: Log;
  passwordRequired: boolean;
  removeClient(client: Client): void;
}

/** Byte by byte, as Redis keeps them. */
const byName = (a: User, b: User) => (a.name < b.name ? -1 : 1);

export class AccessControl implements AccessPort {
  readonly catalog: Catalog;
  readonly log = new AclLog();
  readonly defaultUser: User;
  /** May do everything, and is in no list. */
  readonly superuser: User;
  readonly #host: AclHost;
  #users = new Map<string, User>();
  /** Somebody to compare passwords with where there is no user of the name, so that the time taken does not tell. */
  readonly #nobody: User;

  constructor(host: AclHost) {
    this.#host = host;
    this.catalog = Catalog.of(host.originalCommands);
    const context = this.#context;
    this.superuser = User.unlimited(SUPERUSER, context);
    this.defaultUser = User.unlimited(DEFAULT_USER, context);
    this.#users.set(DEFAULT_USER, this.defaultUser);
    this.#nobody = new User("", context);
  }

  get #context(): RuleContext {
    const { values } = this.#host.config;
    return { catalog: this.catalog, allChannels: values["acl-pubsub-default"] === "allchannels" };
  }

  // ---------------------------------------------------------------------------------------------- users

  /** All users, in the order of their names. */
  get users(): User[] {
    return [...this.#users.values()].sort(byName);
  }

  find(name: string): User | undefined {
    return this.#users.get(name);
  }

  /** Makes or changes a user: all rules or none. Throws the error that says what is wrong. */
  set(name: string, words: readonly string[]): void {
    if (hasSpaces(name)) throw BAD_USER_NAME;
    const rules = joinSelectors(words);
    if (typeof rules === "number") throw aclUnmatched(words[rules]!);
    const context = this.#context;
    const user = this.#users.get(name);
    const staged = new User(name, context);
    if (user !== undefined) staged.become(user);
    for (const rule of rules) {
      try {
        staged.apply(rule, context);
      } catch (error) {
        if (error instanceof RuleError) throw aclModifier(rule, error.message);
        throw error;
      }
      this.#warnOfFirstArgument(rule);
    }
    if (user === undefined) this.#users.set(name, staged);
    else this.#replace(user, staged);
  }

  #warnOfFirstArgument(rule: string): void {
    if (!/^\+[^@].*\|/s.test(rule) || this.catalog.find(rule.slice(1)) !== undefined) return;
    this.#host.log(
      "warning",
      `Allowing a first argument of a command that is otherwise forbidden is easily got around (${rule})`,
    );
  }

  #replace(user: User, staged: User): void {
    const lost = this.#losingSubscribers(user, staged);
    user.become(staged);
    if (user === this.defaultUser) this.#defaultChanged();
    for (const client of lost) this.#disconnect(client);
  }

  /** The password of the user that everybody begins as; without one (empty), none is needed. */
  setDefaultPassword(password: string): void {
    const context = this.#context;
    this.defaultUser.apply("resetpass", context);
    this.defaultUser.apply(password === "" ? "nopass" : `>${password}`, context);
    this.#defaultChanged();
  }

  #defaultChanged(): void {
    const { defaultUser } = this;
    const host = this.#host;
    host.passwordRequired = !defaultUser.noPassword || !defaultUser.enabled;
    if (host.passwordRequired) return;
    // Without a password no client is locked out, not even one that connected while there was one.
    for (const client of host.clients.values()) if (client.user === defaultUser) client.authenticated = true;
  }

  /** Removes users and disconnects their clients; returns how many there were. */
  delete(names: readonly string[]): number {
    if (names.includes(DEFAULT_USER)) throw DEFAULT_USER_STAYS;
    let deleted = 0;
    for (const name of names) {
      const user = this.#users.get(name);
      if (user === undefined) continue;
      this.#users.delete(name);
      this.#disconnectAll(user);
      deleted++;
    }
    return deleted;
  }

  // ---------------------------------------------------------------------------------------------- connections

  #disconnectAll(user: User): void {
    for (const client of [...this.#host.clients.values()]) if (client.user === user) this.#disconnect(client);
  }

  /** Ends a client's connection. The one whose command this is gets its answer first, and may do nothing more. */
  #disconnect(client: Client): void {
    client.user = this.defaultUser;
    client.authenticated = false;
    if (client === this.#host.current) {
      client.transport.close(true);
      return;
    }
    this.#host.removeClient(client);
    client.transport.close(false);
  }

  /** The clients of a user that listen to something they may no longer listen to. */
  #losingSubscribers(user: User, staged: User): Client[] {
    if (staged.selectors.some(({ allChannels }) => allChannels)) return [];
    const allowed = staged.selectors.flatMap(({ channels }) => channels);
    const loses = (client: Client) =>
      [...client.patterns].some((pattern) => !allowsChannel(allowed, pattern, true)) ||
      [...client.channels].some((channel) => !allowsChannel(allowed, channel, false)) ||
      [...client.shardChannels].some((channel) => !allowsChannel(allowed, channel, false));
    const keepsAll = user.selectors.every(
      (selector) =>
        !selector.allChannels &&
        selector.channels.every(({ pattern }) => allowed.some((channel) => channel.pattern === pattern)),
    );
    if (keepsAll) return [];
    return [...this.#host.clients.values()].filter(
      (client) => client.user === user && client.subscriptions > 0 && loses(client),
    );
  }

  // ---------------------------------------------------------------------------------------------- coming in

  /** Lets a client in as a user, or notes that somebody tried, and throws. */
  authenticate(client: Client, name: string, password: string, by: string): void {
    const user = this.#users.get(name);
    const right = (user ?? this.#nobody).hasPassword(digestOf(password));
    if (user === undefined || !user.enabled || !(right || user.noPassword)) {
      this.#note(client, { reason: "auth", context: contextOf(client), object: by, user: name });
      throw WRONGPASS;
    }
    client.user = user;
    client.authenticated = true;
  }

  /** AUTH with a password only. */
  authenticateDefault(client: Client, password: string, by: string): void {
    if (this.defaultUser.noPassword) throw AUTH_WITHOUT_PASSWORD;
    this.authenticate(client, DEFAULT_USER, password, by);
  }

  /** What a connection begins as. */
  forget(client: Client): void {
    const { home } = client;
    // A user that was deleted, and perhaps made again, is nobody's any more.
    if (home !== null && (home === this.superuser || this.#users.get(home.name) === home)) {
      client.beginAs(home);
      return;
    }
    client.user = this.defaultUser;
    client.authenticated = !this.#host.passwordRequired;
  }

  // ---------------------------------------------------------------------------------------------- refusing

  /** Why a client's call is refused, which is noted; null if it is not. To be asked of limited users. */
  refusal(client: Client, command: Command, argv: readonly string[]): ReplyError | null {
    const denial = client.user.denial(command, argv);
    if (denial === null) return null;
    this.#noteDenial(client, command, argv, { denial, context: contextOf(client) });
    return noPermission(denial.reason, command.name);
  }

  /** The same for a queued call whose turn has come: permissions may have changed since. */
  execRefusal(client: Client, command: Command, argv: readonly string[]): ReplyError | null {
    const denial = client.user.denial(command, argv);
    if (denial === null) return null;
    this.#noteDenial(client, command, argv, { denial, context: "multi" });
    return noPermissionInExec(denial.reason);
  }

  /** The same for a call of a script that a client runs. */
  scriptRefusal(caller: Client, command: Command, argv: readonly string[]): ReplyError | null {
    const denial = caller.user.denial(command, argv);
    if (denial === null) return null;
    this.#noteDenial(caller, command, argv, { denial, context: "lua" });
    return noPermissionInScript(denial.reason);
  }

  #noteDenial(
    client: Client,
    command: Command,
    argv: readonly string[],
    { denial: { reason, index }, context }: { readonly denial: Denied; readonly context: Refused["context"] },
  ): void {
    const object = reason === "command" ? command.name : argv[index]!;
    this.#note(client, { reason, context, object, user: client.user.name });
  }

  #note(client: Client, refused: Refused): void {
    this.log.add(refused, client, this.#host.config.values["acllog-max-len"]);
  }

  // ---------------------------------------------------------------------------------------------- files

  get #file(): string {
    const { aclfile, dir } = this.#host.config.values;
    return aclfile === "" ? "" : resolve(dir, aclfile);
  }

  /** A line for each user, as ACL LIST has it. */
  lines(): string[] {
    return userLines(this.users);
  }

  /** The `user` lines of a configuration file; none where the users have a file of their own. */
  configLines(): string[] {
    return this.#file === "" ? this.lines() : [];
  }

  /** Takes the users of `user` lines or of the file, when the store starts. Throws a UsersError. */
  start(lines: readonly (readonly string[])[]): void {
    if (this.#file !== "" && lines.length > 0) throw new UsersError(ACL_AND_FILE);
    const seen = new Set<string>();
    for (const words of lines) {
      const fault = lineFault(this.#context, words, seen);
      if (fault !== undefined) throw new UsersError(fault);
      const [name, ...rules] = words;
      this.set(name!, name === DEFAULT_USER ? ["reset", ...rules] : rules);
    }
    if (this.#file === "") return;
    try {
      this.#load();
    } catch (error) {
      if (error instanceof AclFileError) throw new UsersError(error.message);
      throw error;
    }
  }

  /** ACL LOAD: takes the file's users in place of those that are there, all or none, and disconnects who is no longer. */
  load(): void {
    if (this.#file === "") throw ACL_NO_FILE;
    try {
      this.#load();
    } catch (error) {
      if (error instanceof AclFileError) throw chosenError(`ERR ${error.message}`);
      throw error;
    }
  }

  #load(): void {
    const path = this.#file;
    let users: Map<string, User>;
    try {
      users = readUsers(path, this.#context);
    } catch (error) {
      if (error instanceof AclFileError) throw error;
      const why = codeOf(error) === "ENOENT" ? "No such file or directory" : messageOf(error);
      throw new AclFileError(aclFileUnreadable(path, why));
    }
    const before = this.#users;
    const given = users.get(DEFAULT_USER) ?? User.unlimited(DEFAULT_USER, this.#context);
    this.defaultUser.become(given);
    users.set(DEFAULT_USER, this.defaultUser);
    this.#users = users;
    this.#defaultChanged();
    // As in Redis 7.0: a user that the file has again is another user, and its clients come in anew.
    for (const user of before.values()) if (user !== this.defaultUser) this.#disconnectAll(user);
  }

  /** ACL SAVE. */
  save(): void {
    if (this.#file === "") throw ACL_NO_FILE;
    try {
      writeUsers(this.#file, this.users);
    } catch (error) {
      this.#host.log("warning", `Saving the users to ${this.#file} failed: ${messageOf(error)}`);
      throw ACL_NOT_SAVED;
    }
  }
}

/** Where a client's command runs. */
function contextOf(client: Client): Refused["context"] {
  return client.multi !== null || client.inTransaction ? "multi" : "toplevel";
}

/** A rule as the log may have it. */
const withoutPassword = (rule: string) => (/^[<>#!]/.test(rule) ? `${rule[0]}(redacted)` : rule);

/** What is wrong with the words of a `user` line; `seen` has the names of those before and gets this one. */
export function lineFault(context: RuleContext, words: readonly string[], seen: Set<string>): string | undefined {
  const [name = "", ...rules] = words;
  if (seen.has(name)) return aclDeclaration(name, ACL_DUPLICATE_USER);
  if (hasSpaces(name)) return aclDeclaration(name, ACL_SYNTAX);
  seen.add(name);
  const joined = joinSelectors(rules);
  if (typeof joined === "number") return aclDeclaration(withoutPassword(rules[joined]!), ACL_SYNTAX);
  const user = new User(name, context);
  for (const rule of joined) {
    try {
      user.apply(rule, context);
    } catch (error) {
      if (error instanceof RuleError) return aclDeclaration(withoutPassword(rule), error.message);
      throw error;
    }
  }
  return undefined;
}
