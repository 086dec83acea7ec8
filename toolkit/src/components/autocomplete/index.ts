/**
 * Completion of what somebody begins to type.
 *
 *   const contacts = new RecentContacts(store);
 *   await contacts.touch("ann", "Zoë");
 *   await contacts.complete("ann", "zo");                 // ["Zoë"], most recent first
 *
 *   const members = new PrefixIndex(store, "guild");
 *   await members.addMany(["Jürgen", "jup"]);
 *   await members.complete("JÜ");                          // ["Jürgen"]
 *
 * Names are compared without regard to case and Unicode form, and given back as they were written.
 */
import { aStore, word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, whole } from "../../base/options.ts";
import { asTexts } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { fold } from "./fold.ts";
import { groupKeys, recentKeys } from "./keys.ts";
import { add, forget, heaviest, recentMatches, removeName, touch } from "./scripts.ts";

const MAX_NAME_BYTES = 1_024;
const ADD_AT_ONCE = 500;

/** What a `RecentContacts` may be given. */
export interface RecentContactsOptions {
  /** How all keys begin (default "contacts"). */
  readonly prefix?: string;
  /** How many contacts a user keeps; the ones touched longest ago go (default 100). */
  readonly maxContacts?: number;
}

const CONTACTS_OPTIONS = defineOptions<RecentContactsOptions>("RecentContacts", {
  prefix,
  maxContacts: whole(1, 10_000),
});

const CONTACTS_COMPLETE_OPTIONS = defineOptions<{ readonly limit?: number }>("RecentContacts.complete", {
  limit: whole(1, 10_000),
});

/**
 * The people that a user was in touch with lately, completed by how their names begin, without regard to case and Unicode form.
 *
 * @example
 * const contacts = new RecentContacts(db, { maxContacts: 50 });
 * for (const name of ["Zachary", "Zoë", "ann"]) await contacts.touch("me", name);
 * await contacts.complete("me", "zo"); // → ["Zoë"]
 * await contacts.complete("me", ""); // → ["ann", "Zoë", "Zachary"]
 * await contacts.delete("me", "ann"); // → true
 * await contacts.clear("me");
 */
export class RecentContacts {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #max: number;

  constructor(store: Store, options: RecentContactsOptions = {}) {
    aStore("RecentContacts", store);
    CONTACTS_OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? "contacts";
    this.#max = options.maxContacts ?? 100;
  }

  /** Puts a contact to the front of the user's list. */
  async touch(user: string, contact: string): Promise<void> {
    const { folded, name } = checkedName(contact);
    await this.#store.run(touch, { ...recentKeys(this.#prefix, user), folded, name, max: this.#max });
  }

  /** Whether the contact was there. */
  async delete(user: string, contact: string): Promise<boolean> {
    return this.#store.run(forget, { ...recentKeys(this.#prefix, user), folded: checkedName(contact).folded });
  }

  /** Contacts with a beginning, the most recent first; all of them for an empty one. At most `limit` (default 10). */
  async complete(user: string, beginning: string, options: { readonly limit?: number } = {}): Promise<string[]> {
    CONTACTS_COMPLETE_OPTIONS.check(options);
    const limit = options.limit ?? 10;
    return this.#store.run(recentMatches, { ...recentKeys(this.#prefix, user), beginning: fold(beginning), limit });
  }

  /** Deletes a user's whole list. */
  async clear(user: string): Promise<void> {
    const { recent, names } = recentKeys(this.#prefix, user);
    await this.#store.send(["DEL", recent, names], { repeatable: true });
  }
}

/** What a `PrefixIndex` may be given. */
export interface PrefixIndexOptions {
  /** How all keys begin (default "complete"). */
  readonly prefix?: string;
  /**
   * Beginnings of up to this many characters keep their names by weight, so that the heaviest are found at once. 0: none. From 0 to 8
   * (default 0).
   */
  readonly rankedBeginnings?: number;
  /** How many names with a longer beginning are looked at to find the heaviest. By default 1 000. */
  readonly maxScan?: number;
}

/** A name to add, with its weight. */
export interface NameWithWeight {
  /** As it is shown; names that differ only in case or Unicode form are one. */
  readonly name: string;
  /** Heavier names are suggested first. A name that is added without a weight has 0. */
  readonly weight: number;
}

const OPTIONS = defineOptions<PrefixIndexOptions>("PrefixIndex", {
  prefix,
  rankedBeginnings: whole(0, 8),
  maxScan: whole(1, 100_000),
});

const COMPLETE_OPTIONS = defineOptions<{ readonly limit?: number }>("PrefixIndex.complete", {
  limit: whole(1, 10_000),
});

/**
 * The names of a large group, found by how they begin, in order or the heaviest first.
 *
 * @example
 * const members = new PrefixIndex(db, "guild", { rankedBeginnings: 3 });
 * await members.addMany(["Jürgen", "Jupp", { name: "Юлия", weight: 5 }]); // → 3
 * await members.complete("JÜ"); // → ["Jürgen"]
 * await members.bump("Jürgen", 2); // Somebody chose it.
 * await members.suggest("j"); // → { names: ["Jürgen", "Jupp"], exact: true }
 * @example
 * const members = new PrefixIndex(db, "guild");
 * await members.addMany(["Jürgen", "Jupp"]);
 * await members.delete("jupp"); // → true
 * await members.count(); // → 1
 */
export class PrefixIndex {
  /** The name of the group, as it was given. */
  readonly group: string;
  readonly #store: Store;
  readonly #keys: { readonly lex: string; readonly weights: string; readonly top: string };
  readonly #beginnings: number;
  readonly #maxScan: number;

  readonly #names: NameIndex;

  constructor(store: Store, group: string, options: PrefixIndexOptions = {}) {
    aStore("PrefixIndex", store);
    OPTIONS.check(options);
    this.group = group;
    this.#store = store;
    this.#keys = groupKeys(options.prefix ?? "complete", group);
    this.#names = new NameIndex(store, { kind: "autocomplete", prefix: options.prefix ?? "complete" });
    this.#beginnings = options.rankedBeginnings ?? 0;
    this.#maxScan = options.maxScan ?? 1_000;
  }

  /** Adds names, or sets the weight and spelling of those that are there. Answers how many are new. */
  async addMany(names: readonly (string | NameWithWeight)[]): Promise<number> {
    this.#names.announce(this.group);
    return this.#change(names, "set");
  }

  /** Adds to a name's weight: it was chosen, say. A name that is not there is added. */
  async bump(name: string, by = 1): Promise<void> {
    await this.#change([{ name, weight: by }], "bump");
  }

  async #change(names: readonly (string | NameWithWeight)[], mode: "set" | "bump"): Promise<number> {
    const entries = names.map((entry) => {
      const { name, weight } = typeof entry === "string" ? { name: entry, weight: 0 } : entry;
      if (!Number.isFinite(weight)) throw new InputError("weight must be a finite number");
      return { ...checkedName(name), weight };
    });
    let added = 0;
    for (let at = 0; at < entries.length; at += ADD_AT_ONCE) {
      added += await this.#store.run(add, {
        ...this.#keys,
        beginnings: this.#beginnings,
        mode,
        names: entries.slice(at, at + ADD_AT_ONCE).flatMap(({ folded, name, weight }) => [folded, name, weight]),
      });
    }
    return added;
  }

  /** Whether the name was there. */
  async delete(name: string): Promise<boolean> {
    const { folded } = checkedName(name);
    const characters = [...folded].slice(0, this.#beginnings);
    return this.#store.run(removeName, {
      ...this.#keys,
      folded,
      prefixes: characters.map((_, at) => characters.slice(0, at + 1).join("")),
    });
  }

  /** Names with a beginning, in the order of their folded form. At most `limit` (default 10). */
  async complete(beginning: string, options: { readonly limit?: number } = {}): Promise<string[]> {
    COMPLETE_OPTIONS.check(options);
    const limit = options.limit ?? 10;
    const [from, to] = range(fold(beginning));
    const entries = await this.#store.call("ZRANGEBYLEX", this.#keys.lex, from, to, "LIMIT", 0, limit);
    return asTexts(entries).map(nameOf);
  }

  /**
   * Names with a beginning, the heaviest first. `exact` is false when there were more than `maxScan` of them and the beginning is too long
   * for an index of its own: then some heavier ones may be missing. At most `limit` names (default 10).
   */
  async suggest(
    beginning: string,
    options: { readonly limit?: number } = {},
  ): Promise<{ readonly names: string[]; readonly exact: boolean }> {
    COMPLETE_OPTIONS.check(options);
    const limit = options.limit ?? 10;
    const folded = fold(beginning);
    const length = [...folded].length;
    if (length > 0 && length <= this.#beginnings) {
      const entries = await this.#store.call("ZREVRANGE", this.#keys.top + folded, 0, limit - 1);
      return { names: asTexts(entries).map(nameOf), exact: true };
    }
    const [from, to] = range(folded);
    const [all, names] = await this.#store.run(heaviest, { ...this.#keys, from, to, limit, scan: this.#maxScan });
    return { names, exact: all === 1 };
  }

  /** How many names the group has. */
  async count(): Promise<number> {
    return Number(await this.#store.call("ZCARD", this.#keys.lex));
  }
}

/** From the beginning itself to what is past all that begin with it: 0xFF is in no UTF-8 text. */
function range(folded: string): [string, Buffer | string] {
  if (folded === "") return ["-", "+"];
  return [`[${folded}`, Buffer.concat([Buffer.from(`(${folded}`, "utf8"), Buffer.of(0xff)])];
}

const nameOf = (entry: string): string => entry.slice(entry.indexOf("\0") + 1);

function checkedName(name: string): { folded: string; name: string } {
  word("name", name, MAX_NAME_BYTES);
  if (name.includes("\0")) throw new InputError("a name must not contain the character NUL");
  return { folded: fold(name), name };
}
