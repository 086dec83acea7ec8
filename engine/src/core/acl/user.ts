/**
 * A user: whether it may come in, by which passwords, and what it may do then.
 *
 * Passwords are kept as SHA-256 digests in hexadecimal, as the files have them. `limited` is all that a command's dispatch
 * looks at where a user may do everything.
 */

import { Buffer } from "../../platform/bytes.ts";
import { isSame, sha256Hex } from "../../platform/digest.ts";
import { splitWords } from "../../resp/split-words.ts";
import type { Command } from "../../table/command-table.ts";
import { ACL_BAD_HASH, ACL_NO_SUCH_PASSWORD } from "../rare-errors.ts";
import type { Catalog } from "./catalog.ts";
import { type Denial, lazyKeys, RuleError, Selector } from "./selector.ts";

export const digestOf = (password: string) => sha256Hex(password);

/** Every attempt to come in compares so many digests, or as many as the user has passwords if those are more. */
export const LEAST_COMPARISONS = 8;

/** Stands for the passwords that a user does not have. */
const NO_PASSWORD = "0".repeat(64);

const HASH = /^[\da-f]{64}$/;

function checkedHash(hash: string): string {
  if (!HASH.test(hash)) throw new RuleError(ACL_BAD_HASH);
  return hash;
}

/** What rules depend on: the commands there are, and whether new users have all channels (acl-pubsub-default). */
export interface RuleContext {
  readonly catalog: Catalog;
  readonly allChannels: boolean;
}

export class User {
  readonly name: string;
  enabled = false;
  noPassword = false;
  /** What is said about payloads of RESTORE, which are checked in full whatever it is; null: nothing. */
  payloads: "sanitize-payload" | "skip-sanitize-payload" | null = null;
  /** Whether there is anything that it may not do. */
  limited = true;
  #passwords: string[] = [];
  /** The root selector first. */
  #selectors: Selector[];

  constructor(name: string, { catalog, allChannels }: RuleContext) {
    this.name = name;
    this.#selectors = [new Selector(catalog, allChannels)];
  }

  /** One that may do everything and needs no password. */
  static unlimited(name: string, context: RuleContext): User {
    const user = new User(name, context);
    for (const rule of ["+@all", "~*", "&*", "on", "nopass"]) user.apply(rule, context);
    return user;
  }

  /** Becomes what another is, the name excepted. */
  become(other: User): void {
    this.enabled = other.enabled;
    this.noPassword = other.noPassword;
    this.payloads = other.payloads;
    this.#passwords = [...other.#passwords];
    this.#selectors = other.#selectors.map((selector) => selector.copy());
    this.limited = other.limited;
  }

  get passwords(): readonly string[] {
    return this.#passwords;
  }

  get root(): Selector {
    return this.#selectors[0]!;
  }

  get selectors(): readonly Selector[] {
    return this.#selectors;
  }

  // ---------------------------------------------------------------------------------------------- rules

  /** Applies one rule, a selector in parentheses included. Throws a RuleError. */
  apply(rule: string, context: RuleContext): void {
    if (rule === "") return;
    if (!this.#applyToUser(rule, context)) this.root.apply(rule);
    this.limited = !this.#selectors.some((selector) => selector.allowsEverything);
  }

  /** What concerns more than the root selector. Returns false for other rules. */
  #applyToUser(rule: string, context: RuleContext): boolean {
    const word = rule.toLowerCase();
    if (word === "on" || word === "off") this.enabled = word === "on";
    else if (word === "sanitize-payload" || word === "skip-sanitize-payload") this.payloads = word;
    else if (word === "nopass" || word === "resetpass") {
      this.noPassword = word === "nopass";
      this.#passwords = [];
    } else if (rule[0] === ">") this.#addPassword(digestOf(rule.slice(1)));
    else if (rule[0] === "#") this.#addPassword(checkedHash(rule.slice(1)));
    else if (rule[0] === "<") this.#removePassword(digestOf(rule.slice(1)));
    else if (rule[0] === "!") this.#removePassword(checkedHash(rule.slice(1)));
    else if (rule[0] === "(" && rule.endsWith(")")) this.#addSelector(rule.slice(1, -1), context);
    else if (word === "clearselectors") this.#selectors.length = 1;
    else if (word === "reset") this.#reset(context);
    else return false;
    return true;
  }

  #addPassword(hash: string): void {
    if (!this.#passwords.includes(hash)) this.#passwords.push(hash);
    this.noPassword = false;
  }

  #removePassword(hash: string): void {
    const at = this.#passwords.indexOf(hash);
    if (at < 0) throw new RuleError(ACL_NO_SUCH_PASSWORD);
    this.#passwords.splice(at, 1);
  }

  #addSelector(rules: string, { catalog, allChannels }: RuleContext): void {
    const selector = new Selector(catalog, allChannels);
    // As in Redis, a quote that is not closed leaves nothing of the rules.
    for (const rule of splitWords(rules) ?? []) selector.apply(rule);
    this.#selectors.push(selector);
  }

  #reset({ catalog, allChannels }: RuleContext): void {
    this.enabled = false;
    this.noPassword = false;
    this.payloads = "sanitize-payload";
    this.#passwords = [];
    this.#selectors = [new Selector(catalog, allChannels)];
  }

  // ---------------------------------------------------------------------------------------------- descriptions

  get flags(): string[] {
    const flags = [this.enabled ? "on" : "off"];
    if (this.noPassword) flags.push("nopass");
    if (this.payloads !== null) flags.push(this.payloads);
    return flags;
  }

  /** Its rules as ACL LIST, ACL SAVE and CONFIG REWRITE write them. */
  describe(): string {
    const [root, ...others] = this.#selectors;
    const parts = [...this.flags, ...this.#passwords.map((hash) => `#${hash}`), root!.describe()];
    for (const selector of others) parts.push(`(${selector.describe()})`);
    return parts.join(" ");
  }

  // ---------------------------------------------------------------------------------------------- checks

  /**
   * Whether this digest is one of its passwords. The time does not tell which one it is, how much of one agrees, and whether the
   * user has none, one or up to `LEAST_COMPARISONS` of them.
   */
  hasPassword(digest: string): boolean {
    const given = Buffer.from(digest, "hex");
    const passwords = this.#passwords;
    const comparisons = Math.max(LEAST_COMPARISONS, passwords.length);
    let found = false;
    for (let i = 0; i < comparisons; i++) {
      const same = User.isSameDigest(Buffer.from(passwords[i] ?? NO_PASSWORD, "hex"), given);
      found = found || (same && i < passwords.length);
    }
    return found;
  }

  /** One comparison; tests count them. */
  static isSameDigest(one: Uint8Array, other: Uint8Array): boolean {
    return isSame(one, other);
  }

  /** Why it may not make a call; null if it may. */
  denial(command: Command, argv: readonly string[]): Denial | null {
    const keysOf = lazyKeys(command, argv);
    let told: Denial | null = null;
    for (const selector of this.#selectors) {
      const denial = selector.denial(command, argv, keysOf);
      if (denial === null) return null;
      if (told === null || denial.rank > told.rank || (denial.rank === told.rank && denial.index > told.index)) {
        told = denial;
      }
    }
    return told;
  }

  /** Whether a call may read keys that its words do not name: some selector allows it, with every key there is. */
  mayReadEveryKey(command: Command, argv: readonly string[]): boolean {
    if (!this.limited) return true;
    const keysOf = lazyKeys(command, argv);
    return this.#selectors.some(
      (selector) => selector.readsEveryKey && selector.denial(command, argv, keysOf) === null,
    );
  }
}
