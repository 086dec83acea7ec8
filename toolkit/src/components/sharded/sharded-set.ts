/**
 * A set of any size, kept in shards that are small enough for the server to pack, and spread over the nodes of a Cluster.
 *
 *   const seen = new ShardedSet(store, "seen", { expected: 1_000_000 });
 *   await seen.add("10482");          // true: new
 *   await seen.has("10482");
 */
import { aStore, word } from "../../base/checks.ts";
import { only } from "../../base/lists.ts";
import { defineOptions } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import { spotOf } from "./place.ts";
import { scanAll, scanPage } from "./scan.ts";
import { add, has, remove } from "./scripts/set.ts";
import { MAX_ELEMENT_BYTES } from "./sharded-hash.ts";
import { Shards } from "./shards.ts";
import { type Item, type ShardedOptions, Structure, sharding } from "./structure.ts";

const OPTIONS = defineOptions<ShardedOptions>("ShardedSet", sharding);

const LIST_OPTIONS = defineOptions<PageOptions>("ShardedSet.list", pageChecks(100_000));

/**
 * A set of any size, in shards that the server packs, over the nodes of a Cluster.
 *
 * @example
 * const seen = new ShardedSet(db, "seen", { expected: 1_000_000 });
 * await seen.add("4711"); // → true
 * await seen.addMany(["4711", "4712"]); // → 1
 * await seen.has("4712"); // → true
 * await seen.hasMany(["4711", "4713"]); // → [true, false]
 * await seen.count(); // → 2
 * @example
 * const seen = new ShardedSet(db, "seen");
 * await seen.addMany(["a", "b"]);
 * await seen.delete("a"); // → true
 * await seen.list(); // → { cursor: null, items: ["b"] }
 * for await (const member of seen.members()) member; // → "b"
 * await seen.deleteMany(["a", "b"]); // → 1
 */
export class ShardedSet {
  /** The set's name, as given. */
  readonly name: string;
  /** Its shards, for operators. */
  readonly shards: Shards;
  readonly #structure: Structure;

  constructor(store: Store, name: string, options: ShardedOptions = {}) {
    aStore("ShardedSet", store);
    OPTIONS.check(options);
    this.#structure = new Structure(store, { kind: "set" }, name, options);
    this.name = name;
    this.shards = new Shards(this.#structure);
  }

  /** True if it is new. */
  async add(member: string): Promise<boolean> {
    return (await this.addMany([member])) === 1;
  }

  /** One round trip for all. Answers how many are new. */
  async addMany(members: readonly string[]): Promise<number> {
    const most = this.#structure.mostPerTag(await this.#structure.root());
    const answers = await this.#structure.apply(add, await this.#items(members), { most });
    return answers.filter((added) => added === 1).length;
  }

  /** Whether a member is there. */
  async has(member: string): Promise<boolean> {
    return only(await this.hasMany([member]));
  }

  /** Whether each member is there, in order. One round trip for all. */
  async hasMany(members: readonly string[]): Promise<boolean[]> {
    return (await this.#structure.apply(has, await this.#items(members))).map((found) => found === 1);
  }

  /** Deletes a member. False if it was not there. */
  async delete(member: string): Promise<boolean> {
    return (await this.deleteMany([member])) === 1;
  }

  /** Answers how many there were. */
  async deleteMany(members: readonly string[]): Promise<number> {
    const answers = await this.#structure.apply(remove, await this.#items(members));
    return answers.filter((removed) => removed === 1).length;
  }

  /** Exact for each tag at a moment; the sum is exact when nobody writes meanwhile. */
  count(): Promise<number> {
    return this.shards.count();
  }

  /** All that are there all the time, in no order; one that is moved to another shard meanwhile may come twice. */
  async *members(): AsyncGenerator<string> {
    for await (const { element } of scanAll(this.#structure, 1_000)) yield element.toString("utf8");
  }

  /** The same page by page. A page can have more than `limit` items: a shard is given whole. */
  async list(options: PageOptions = {}): Promise<Page<string>> {
    LIST_OPTIONS.check(options);
    const count = options.limit ?? 1_000;
    const { elements, next } = await scanPage(this.#structure, options.cursor, count);
    return { cursor: next, items: elements.map(({ element }) => element.toString("utf8")) };
  }

  async #items(members: readonly string[]): Promise<Item[]> {
    const root = await this.#structure.root();
    return members.map((member) => ({
      spot: spotOf(word("member", member, MAX_ELEMENT_BYTES), root),
      element: member,
    }));
  }
}
