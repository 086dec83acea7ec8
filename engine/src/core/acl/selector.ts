/**
 * One set of permissions: which commands, on which keys, with which channels. A user has a root selector and perhaps more;
 * a call is allowed when one selector allows all of it.
 *
 * What may be called is a byte for each command, so that the check is one look-up. `+@all` sets all of them and `-x` takes
 * one away, which ends `allCommands` but not `future`: that is what tells "everything but x" (a command that a later version
 * adds is allowed) from a list of commands. Rules that are wrong throw a RuleError and may leave the selector half changed:
 * callers change a copy.
 */
import { compileGlob } from "../../lib/glob.ts";
import { type Command, NO_AUTH } from "../../table/command-table.ts";
import { type KeyWord, keyWordsOf } from "../../table/key-extraction.ts";
import {
  ACL_ALLCHANNELS_PATTERN,
  ACL_ALLKEYS_PATTERN,
  ACL_FIRST_ARGUMENT_OF_SUBCOMMAND,
  ACL_SYNTAX,
  ACL_UNKNOWN_COMMAND,
} from "../rare-errors.ts";
import type { Catalog } from "./catalog.ts";
import { describeCommands } from "./command-rules.ts";
import { accessOf, READ, WRITE } from "./key-access.ts";

/** Why a rule could not be applied. */
export class RuleError extends Error {
  override readonly name = "RuleError";
}

/** What a call is refused for. `index` is the place in argv of the key or channel. */
export class Denial {
  readonly reason: "command" | "key" | "channel";
  readonly index: number;

  constructor(reason: Denial["reason"], index: number) {
    this.reason = reason;
    this.index = index;
  }

  /** Of several selectors' reasons the one that came furthest is told. */
  get rank(): number {
    return this.reason === "command" ? 1 : this.reason === "key" ? 2 : 3;
  }
}

const DENIED_COMMAND = new Denial("command", 0);

interface KeyPattern {
  readonly pattern: string;
  access: number;
  readonly matches: (key: string) => boolean;
}

interface ChannelPattern {
  readonly pattern: string;
  readonly matches: (channel: string) => boolean;
}

/** C's spaces and the NUL, which neither names nor patterns may have. */
export const hasSpaces = (word: string) => /[ \t\n\v\f\r\0]/.test(word);

/** A pattern's text with its permissions, as rules have it. */
function keyRule({ pattern, access }: KeyPattern): string {
  return access === (READ | WRITE) ? `~${pattern}` : `${access === READ ? "%R~" : "%W~"}${pattern}`;
}

export class Selector {
  allKeys = false;
  allChannels: boolean;
  allCommands = false;
  /** Whether commands that are not known yet would be allowed. */
  future = false;
  readonly #catalog: Catalog;
  #allowed: Uint8Array;
  /** First arguments that are allowed of commands that otherwise are not, by the command's index. */
  #firstArguments = new Map<number, string[]>();
  #keys: KeyPattern[] = [];
  #channels: ChannelPattern[] = [];
  #commandRules: string | null = null;

  constructor(catalog: Catalog, allChannels: boolean) {
    this.#catalog = catalog;
    this.allChannels = allChannels;
    this.#allowed = new Uint8Array(catalog.count);
  }

  copy(): Selector {
    const copy = new Selector(this.#catalog, this.allChannels);
    copy.allKeys = this.allKeys;
    copy.allCommands = this.allCommands;
    copy.future = this.future;
    copy.#allowed = this.#allowed.slice();
    for (const [index, words] of this.#firstArguments) copy.#firstArguments.set(index, [...words]);
    copy.#keys = this.#keys.map((key) => ({ ...key }));
    copy.#channels = [...this.#channels];
    copy.#commandRules = this.#commandRules;
    return copy;
  }

  get allowsEverything(): boolean {
    return this.allCommands && this.allKeys && this.allChannels;
  }

  get channels(): readonly ChannelPattern[] {
    return this.#channels;
  }

  allows(command: Command): boolean {
    return this.#allowed[command.index] === 1;
  }

  firstArguments(command: Command): readonly string[] {
    return this.#firstArguments.get(command.index) ?? [];
  }

  // ---------------------------------------------------------------------------------------------- rules

  /** Applies one rule. */
  apply(rule: string): void {
    const word = rule.toLowerCase();
    if (word === "allkeys" || word === "~*") this.#resetKeys(true);
    else if (word === "resetkeys") this.#resetKeys(false);
    else if (word === "allchannels" || word === "&*") this.#resetChannels(true);
    else if (word === "resetchannels") this.#resetChannels(false);
    else if (word === "allcommands" || word === "+@all") this.allowAll(true);
    else if (word === "nocommands" || word === "-@all") this.allowAll(false);
    else if (rule[0] === "~" || rule[0] === "%") this.#addKeys(rule);
    else if (rule[0] === "&") this.#addChannels(rule.slice(1));
    else if (rule[0] !== "+" && rule[0] !== "-") throw new RuleError(ACL_SYNTAX);
    else if (rule[1] === "@") this.allowCategory(rule.slice(2), rule[0] === "+");
    else if (rule[0] === "+" && rule.includes("|")) this.#allowPart(rule.slice(1));
    else this.allow(this.#command(rule.slice(1)), rule[0] === "+");
  }

  #resetKeys(all: boolean): void {
    this.allKeys = all;
    this.#keys = [];
  }

  #resetChannels(all: boolean): void {
    this.allChannels = all;
    this.#channels = [];
  }

  allowAll(all: boolean): void {
    this.#allowed.fill(all ? 1 : 0);
    this.allCommands = all;
    this.future = all;
    this.#firstArguments.clear();
    this.#commandRules = null;
  }

  #addKeys(rule: string): void {
    if (this.allKeys) throw new RuleError(ACL_ALLKEYS_PATTERN);
    let access = READ | WRITE;
    let pattern = rule.slice(1);
    if (rule[0] === "%") {
      // As Redis reads it, the tilde may be missing, and the pattern is empty then.
      const given = /^%(r|w|rw|wr)(?:~([\s\S]*))?$/i.exec(rule);
      if (given === null) throw new RuleError(ACL_SYNTAX);
      const letters = given[1]!.toLowerCase();
      access = (letters.includes("r") ? READ : 0) | (letters.includes("w") ? WRITE : 0);
      pattern = given[2] ?? "";
    }
    if (hasSpaces(pattern)) throw new RuleError(ACL_SYNTAX);
    const known = this.#keys.find((key) => key.pattern === pattern);
    if (known !== undefined) known.access |= access;
    else this.#keys.push({ pattern, access, matches: compileGlob(pattern) });
  }

  #addChannels(pattern: string): void {
    if (this.allChannels) throw new RuleError(ACL_ALLCHANNELS_PATTERN);
    if (hasSpaces(pattern)) throw new RuleError(ACL_SYNTAX);
    if (this.#channels.some((channel) => channel.pattern === pattern)) return;
    this.#channels.push({ pattern, matches: compileGlob(pattern) });
  }

  #command(name: string): Command {
    const command = this.#catalog.find(name);
    if (command === undefined) throw new RuleError(ACL_UNKNOWN_COMMAND);
    return command;
  }

  /** `config|get` is a subcommand; of a command without subcommands, it is a first argument. */
  #allowPart(name: string): void {
    const bar = name.lastIndexOf("|");
    const command = this.#command(name.slice(0, bar));
    if (command.parent !== null) throw new RuleError(ACL_FIRST_ARGUMENT_OF_SUBCOMMAND);
    const part = name.slice(bar + 1);
    if (part === "") throw new RuleError(ACL_SYNTAX);
    if (command.subcommands !== null) {
      this.allow(this.#command(name), true);
      return;
    }
    const known = this.#firstArguments.get(command.index) ?? [];
    if (known.some((word) => word.toLowerCase() === part.toLowerCase())) return;
    this.#firstArguments.set(command.index, [...known, part]);
    this.#commandRules = null;
  }

  /** Allows a command and its subcommands, or forbids them. */
  allow(command: Command, allowed: boolean): void {
    this.#set(command, allowed);
    this.#firstArguments.delete(command.index);
    for (const subcommand of command.subcommands?.values() ?? []) this.#set(subcommand, allowed);
    this.#commandRules = null;
  }

  #set({ index }: Command, allowed: boolean): void {
    this.#allowed[index] = allowed ? 1 : 0;
    if (!allowed) this.allCommands = false;
  }

  allowCategory(name: string, allowed: boolean): void {
    const commands = this.#catalog.inCategory(name);
    if (commands === undefined) throw new RuleError(ACL_UNKNOWN_COMMAND);
    for (const command of commands) this.allow(command, allowed);
  }

  // ---------------------------------------------------------------------------------------------- descriptions

  get keyRules(): string {
    return this.allKeys ? "~*" : this.#keys.map(keyRule).join(" ");
  }

  get channelRules(): string {
    return this.allChannels ? "&*" : this.#channels.map(({ pattern }) => `&${pattern}`).join(" ");
  }

  /** The rules that make these commands allowed, from none or from all. */
  get commandRules(): string {
    this.#commandRules ??= describeCommands(this, this.#catalog);
    return this.#commandRules;
  }

  /** All rules, in the order in which ACL LIST has them. */
  describe(): string {
    const channels = this.allChannels ? "&*" : `resetchannels ${this.channelRules}`;
    return [this.keyRules, channels.trimEnd(), this.commandRules].filter((rules) => rules !== "").join(" ");
  }

  // ---------------------------------------------------------------------------------------------- checks

  /** Why a call is not allowed; null if it is. `keysOf` finds the call's keys, once for all selectors. */
  denial(command: Command, argv: readonly string[], keysOf: () => readonly KeyWord[]): Denial | null {
    if (!this.allCommands && (command.flags & NO_AUTH) === 0 && !this.#allowsCall(command, argv)) return DENIED_COMMAND;
    const denied = this.allKeys ? null : this.#deniedKey(command, argv, keysOf);
    if (denied !== null) return denied;
    const { channels } = command.row;
    if (this.allChannels || channels === undefined) return null;
    const last = channels.many ? argv.length - 1 : 1;
    for (let i = 1; i <= last; i++) {
      if (!allowsChannel(this.#channels, argv[i]!, channels.patterns)) return new Denial("channel", i);
    }
    return null;
  }

  #allowsCall(command: Command, argv: readonly string[]): boolean {
    if (this.#allowed[command.index] === 1) return true;
    const words = this.#firstArguments.get(command.index);
    const first = argv[command.firstArgument]?.toLowerCase();
    return words !== undefined && first !== undefined && words.some((word) => word.toLowerCase() === first);
  }

  #deniedKey(command: Command, argv: readonly string[], keysOf: () => readonly KeyWord[]): Denial | null {
    const plan = this.#catalog.keyPlan(command);
    if (plan === "none") return null;
    if (plan !== "varies") {
      const key = argv[plan.index];
      const access = plan.access ?? accessOf(command.row.keyFlagsOf!(argv));
      return key === undefined || this.#allowsKey(key, access) ? null : new Denial("key", plan.index);
    }
    for (const { index, flags } of keysOf()) {
      if (!this.#allowsKey(argv[index]!, accessOf(flags))) return new Denial("key", index);
    }
    return null;
  }

  #allowsKey(key: string, access: number): boolean {
    for (const pattern of this.#keys) if ((pattern.access & access) === access && pattern.matches(key)) return true;
    return false;
  }

  /** Whether keys that nobody names may be read as well: all of them. */
  get readsEveryKey(): boolean {
    return this.allKeys || this.#keys.some(({ pattern, access }) => pattern === "*" && (access & READ) !== 0);
  }
}

const untilNul = (word: string) => word.split("\0", 1)[0];

/** Whether a channel is allowed by one of these; a pattern to subscribe by must be among them word for word. */
export function allowsChannel(allowed: readonly ChannelPattern[], channel: string, isPattern: boolean): boolean {
  return allowed.some(({ pattern, matches }) => (isPattern ? pattern === untilNul(channel) : matches(channel)));
}

/** A call's keys, found when they are first asked for. */
export function lazyKeys(command: Command, argv: readonly string[]): () => readonly KeyWord[] {
  let found: readonly KeyWord[] | null = null;
  return () => {
    found ??= keyWordsOf(command, argv) ?? [];
    return found;
  };
}
