/** All sharded structures of a store, for operators: which there are, of what kind, and how each is doing. */
import { aStore } from "../../base/checks.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import type { Store } from "../../connection/store.ts";
import { DEFAULT_PREFIX, NAMES_MS, rootKey } from "./keys.ts";
import { KIND_LUA, type ShardedKind } from "./scripts/core.ts";
import { type ListInfo, ShardedList } from "./sharded-list.ts";
import { Shards, type ShardsInfo } from "./shards.ts";
import { Structure } from "./structure.ts";

/** A sharded structure of a store. */
export interface NamedStructure {
  /** Its name. */
  readonly name: string;
  /** What it is. */
  readonly kind: ShardedKind | "list";
}

const OPTIONS = defineOptions<{ readonly prefix?: string }>("ShardedStructures", {
  prefix,
});

const LIST_OPTIONS = defineOptions<PageOptions>("ShardedStructures.list", pageChecks(100_000));

/**
 * All sharded structures of a store, for operators.
 *
 * @example
 * const structures = new ShardedStructures(db);
 * await new ShardedSet(db, "seen").add("a");
 * await structures.list(); // → { items: […], cursor: null }
 * await (await structures.shards("seen"))?.count(); // → 1
 * @example
 * const structures = new ShardedStructures(db);
 * await new ShardedList(db, "jobs").push("right", 1);
 * await structures.inspect("none"); // → null
 * await (await structures.shardedList("jobs"))?.count(); // → 1
 */
export class ShardedStructures {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #names: NameIndex;

  constructor(store: Store, options: { readonly prefix?: string } = {}) {
    aStore("ShardedStructures", store);
    OPTIONS.check(options);
    this.#store = store;
    this.#prefix = options.prefix ?? DEFAULT_PREFIX;
    this.#names = new NameIndex(store, { kind: "sharded", prefix: this.#prefix, keepMs: NAMES_MS });
  }

  /** Those that were used within the last thirty days, the latest first. */
  async list(options: PageOptions = {}): Promise<Page<NamedStructure>> {
    LIST_OPTIONS.check(options);
    const { items: names, cursor } = await this.#names.list(options);
    const items = names.flatMap((entry) => {
      const at = entry.indexOf(" ");
      const kind = entry.slice(0, at);
      return isKind(kind) ? [{ kind, name: entry.slice(at + 1) }] : [];
    });
    return { items, cursor };
  }

  /** How a structure is doing. Null if there is none of that name. */
  async inspect(name: string): Promise<ShardsInfo | ListInfo | null> {
    const kind = await this.#kindOf(name);
    if (kind === null) return null;
    return kind === "list" ? this.#list(name).inspect() : this.#shards(kind, name).inspect();
  }

  /** To look at the shards of a structure, to change their number, to move. Null if it is a list, or there is none. */
  async shards(name: string): Promise<Shards | null> {
    const kind = await this.#kindOf(name);
    return kind === null || kind === "list" ? null : this.#shards(kind, name);
  }

  /** A list, to look into it. Null if it is something else, or there is none. */
  async shardedList(name: string): Promise<ShardedList | null> {
    return (await this.#kindOf(name)) === "list" ? this.#list(name) : null;
  }

  async #kindOf(name: string): Promise<NamedStructure["kind"] | null> {
    const kind = await this.#store.call("HGET", rootKey(this.#prefix, name), "kind");
    return typeof kind === "string" && isKind(kind) ? kind : null;
  }

  #shards(kind: ShardedKind, name: string): Shards {
    return new Shards(new Structure(this.#store, { kind }, name, { prefix: this.#prefix }));
  }

  #list(name: string): ShardedList {
    return new ShardedList(this.#store, name, { prefix: this.#prefix });
  }
}

function isKind(kind: string): kind is NamedStructure["kind"] {
  return kind === "list" || Object.hasOwn(KIND_LUA, kind);
}
