/**
 * Keys to which writers on a writable replica gave a deadline. Their primary does not know of them and will never remove
 * them, so the replica does; every other key is the primary's to expire.
 */
import type { Db } from "../core/db.ts";

export class OwnDeadlines {
  readonly #keys = new Map<Db, Set<string>>();

  get count(): number {
    let count = 0;
    for (const keys of this.#keys.values()) count += keys.size;
    return count;
  }

  remember(db: Db, key: string): void {
    const keys = this.#keys.get(db);
    if (keys === undefined) this.#keys.set(db, new Set([key]));
    else keys.add(key);
  }

  /** Removes those whose time has come, and forgets those that have no deadline any more. */
  expire(): void {
    for (const [db, keys] of this.#keys) {
      for (const key of keys) if (db.expireIfDue(key) || db.deadline(key) === undefined) keys.delete(key);
      if (keys.size === 0) this.#keys.delete(db);
    }
  }

  clear(): void {
    this.#keys.clear();
  }
}
