/**
 * What is in a store, for operators: which components were used, with which version of their keys, and the names that each was used
 * with.
 *
 *   const registry = new Registry(db);
 *   for (const { component, version } of await registry.components()) console.log(component, version);
 *   for (const { name } of (await registry.list("queues")).items) console.log(name);
 */
import type { Store } from "../connection/store.ts";
import { aStore, word } from "./checks.ts";
import { LAYOUTS_KEY } from "./layout.ts";
import { memberOf, type NamedThing, namesKey, parseMember } from "./names.ts";
import { defineOptions } from "./options.ts";
import { type Page, type PageOptions, pageByScore, pageChecks } from "./page.ts";
import { asPairs } from "./replies.ts";

/** A component that was used in a store. */
export interface UsedComponent {
  /** Its name: `locks`, `queues` … */
  readonly component: string;
  /** Of the layout of its keys. */
  readonly version: number;
}

const LIST_OPTIONS = defineOptions<PageOptions>("Registry.list", pageChecks(10_000));

/**
 * What is in a store, for operators: the components that were used, and the names that each was used with.
 * @example
 * await new Locks(db).acquire("report");
 * const registry = new Registry(db);
 * await registry.components(); // → […{ component: "locks", version: 1 }…]
 * const { items } = await registry.list("locks");
 * for (const thing of items) await registry.delete("locks", thing);
 */
export class Registry {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = aStore("Registry", store);
  }

  /** Every component that was used in this store. */
  async components(): Promise<UsedComponent[]> {
    const noted = asPairs(await this.#store.call("HGETALL", LAYOUTS_KEY));
    const found = noted.map(([component, version]) => ({ component, version: Number(version) }));
    return found.sort((a, b) => (a.component < b.component ? -1 : 1));
  }

  /** Names of one kind, the latest used first: `queues`, `locks`, `semaphores`, `cache`, `search`, `chats`, `mailboxes` … */
  async list(kind: string, options: PageOptions = {}): Promise<Page<NamedThing>> {
    LIST_OPTIONS.check(options);
    const { limit = 100, cursor } = options;
    const { items, cursor: next } = await pageByScore(this.#store, namesKey(word("kind", kind, 100)), {
      limit,
      cursor,
    });
    return { items: items.map(parseMember).filter((thing) => thing !== null), cursor: next };
  }

  /** Takes a name out of the list. The thing itself stays, and comes back to the list when it is used. */
  async delete(kind: string, thing: NamedThing): Promise<boolean> {
    const key = namesKey(word("kind", kind, 100));
    return Number(await this.#store.send(["ZREM", key, memberOf(thing)], { repeatable: true })) === 1;
  }
}
