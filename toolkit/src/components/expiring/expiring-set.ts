/** A set in which each member has a lifetime of its own. */
import { aStore } from "../../base/checks.ts";
import { inPairs, inSteps, only } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, required, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import { type SetKeys, setKeys } from "./keys.ts";
import {
  AT_ONCE,
  asked,
  checkItem,
  cursorOf,
  endAt,
  MOST_LISTED,
  type RequiredTtl,
  type TtlOptions,
  ttlChecks,
} from "./options.ts";
import { addMembers, countLive, deleteElements, endsOf, pageOfMembers, touch } from "./scripts.ts";

/** What an `ExpiringSet` may be given. */
export interface ExpiringSetOptions {
  /** How all keys begin (default "expiring-set"). */
  readonly prefix?: string;
  /** How long a member lives, unless `add` says otherwise; for ever by default. */
  readonly ttlMs?: number;
  /** How many members it has at most (default 100 000). */
  readonly maxItems?: number;
}

/** A member with its end. */
export interface ExpiringMember {
  /** The member. */
  readonly member: string;
  /** Null: it does not end. */
  readonly expiresAt: Date | null;
}

/** What became of a member to add. */
export interface MemberAddOutcome {
  /** "exists": it was there, and lives from now on as long as was said. "full": it was not added. */
  readonly status: "added" | "exists" | "full";
}

const OPTIONS = defineOptions<ExpiringSetOptions>("ExpiringSet", {
  prefix,
  ttlMs: whole(1),
  maxItems: whole(1, 10_000_000),
});
const ADD_OPTIONS = defineOptions<TtlOptions>("ExpiringSet.add", ttlChecks);
const TOUCH_OPTIONS = defineOptions<RequiredTtl>("ExpiringSet.touch", { ttlMs: required(whole(1)) });
const LIST_OPTIONS = defineOptions<PageOptions>("ExpiringSet.list", pageChecks(MOST_LISTED));

const STATUSES = ["exists", "added", "full"] as const;

/**
 * A set whose members end, each at its own time.
 *
 * @example
 * const online = new ExpiringSet(db, "online", { ttlMs: 60_000 });
 * await online.add("ann"); // → { status: "added" }
 * await online.addMany(["ann", "ben"]); // → [{ status: "exists" }, { status: "added" }]
 * await online.hasMany(["ann", "zoe"]); // → [true, false]
 * await online.touch("ben", { ttlMs: 120_000 }); // → true
 * (await online.list()).items.map(({ member }) => member); // → ["ann", "ben"]
 * @example
 * const seen = new ExpiringSet(db, "seen");
 * await seen.addMany(["17", "18", "19"]);
 * await seen.get("17"); // → { member: "17", expiresAt: null }
 * await seen.delete("17"); // → true
 * await seen.deleteMany(["17", "18"]); // → [false, true]
 * [await seen.has("19"), await seen.count()]; // → [true, 1]
 * @example
 * const recent = new ExpiringSet(db, "recent", { ttlMs: 1_000 });
 * await recent.add("17");
 * await recent.clear();
 */
export class ExpiringSet {
  /** The name of the set, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: SetKeys;
  readonly #ttlMs: number;
  readonly #maxItems: number;
  readonly #names: NameIndex;

  constructor(store: Store, name: string, options: ExpiringSetOptions = {}) {
    this.#store = aStore("ExpiringSet", store);
    OPTIONS.check(options);
    this.name = name;
    const first = options.prefix ?? "expiring-set";
    this.#keys = setKeys(first, name);
    this.#ttlMs = options.ttlMs ?? 0;
    this.#maxItems = options.maxItems ?? 100_000;
    this.#names = new NameIndex(store, { kind: "expiring-sets", prefix: first, details: { maxItems: this.#maxItems } });
  }

  /** Adds a member, or sets how long one that is there lives from now on. */
  async add(member: string, options: TtlOptions = {}): Promise<MemberAddOutcome> {
    ADD_OPTIONS.check(options);
    return only(await this.addMany([member], options));
  }

  /** Adds members in steps of a thousand; each step is atomic. */
  async addMany(members: readonly string[], options: TtlOptions = {}): Promise<MemberAddOutcome[]> {
    ADD_OPTIONS.check(options);
    this.#names.announce(this.name);
    const ttlMs = options.ttlMs ?? this.#ttlMs;
    const answers = await this.#each(members, (some) =>
      this.#store.run(addMembers, { ...this.#keys, ttlMs, maxItems: this.#maxItems, members: some }),
    );
    return answers.map((answer) => ({ status: STATUSES[answer] ?? "full" }));
  }

  /** Whether it has this member. */
  async has(member: string): Promise<boolean> {
    return only(await this.hasMany([member]));
  }

  /** Answers for each whether the set has it. */
  async hasMany(members: readonly string[]): Promise<boolean[]> {
    return (await this.#ends(members)).map((ending) => ending !== null);
  }

  /** A member, and when it ends; null if it is not there. */
  async get(member: string): Promise<ExpiringMember | null> {
    const ending = only(await this.#ends([member]));
    return ending === null ? null : { member, expiresAt: endAt(ending) };
  }

  /** Sets how long a member lives from now on. False: it is not there. */
  async touch(member: string, options: RequiredTtl): Promise<boolean> {
    TOUCH_OPTIONS.check(options);
    const members = [checkItem("member", member)];
    return only(await this.#store.run(touch, { ...this.#keys, others: [], ttlMs: options.ttlMs, members })) === 1;
  }

  /** False: it was not there. */
  async delete(member: string): Promise<boolean> {
    return only(await this.deleteMany([member]));
  }

  /** Deletes members, and answers for each whether it was there. */
  async deleteMany(members: readonly string[]): Promise<boolean[]> {
    const answers = await this.#each(members, (some) =>
      this.#store.run(deleteElements, { ...this.#keys, others: [], members: some }),
    );
    return answers.map((answer) => answer === 1);
  }

  /** How many are there. */
  count(): Promise<number> {
    return this.#store.run(countLive, { ends: this.#keys.ends });
  }

  /** Members in the order in which they end. */
  async list(options: PageOptions = {}): Promise<Page<ExpiringMember>> {
    LIST_OPTIONS.check(options);
    const asking = asked(options);
    const found = inPairs(await this.#store.run(pageOfMembers, { ...this.#keys, ...asking }));
    return {
      items: found.slice(0, asking.limit).map(([member, ending]) => ({ member, expiresAt: endAt(ending) })),
      cursor: cursorOf(found, asking.limit),
    };
  }

  /** Deletes all members. */
  async clear(): Promise<void> {
    await this.#store.send(["UNLINK", this.#keys.ends], { repeatable: true });
    await this.#names.remove(this.name);
  }

  #ends(members: readonly string[]): Promise<(string | null)[]> {
    return this.#each(members, (some) => this.#store.run(endsOf, { ...this.#keys, members: some }));
  }

  #each<O>(members: readonly string[], ask: (some: readonly string[]) => Promise<readonly O[]>): Promise<O[]> {
    for (const member of members) checkItem("member", member);
    return inSteps(members, AT_ONCE, ask);
  }
}
