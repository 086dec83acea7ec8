/**
 * Which counters, logs or contexts there are: a list for people, beside the data and not part of it. A process announces a name
 * when it first uses it and every now and then after; names that nobody announces fall out. Losing an announcement costs nothing.
 */

import type { Store } from "../connection/store.ts";
import { integer } from "./checks.ts";
import { type Page, type PageOptions, pageByScore } from "./page.ts";

const MAX_KNOWN = 100_000;

export class NameIndex {
  readonly #store: Store;
  readonly #key: string;
  readonly #keepMs: number;
  readonly #announceMs: number;
  readonly #announced = new Map<string, number>();

  /** `key` is a sorted set: name by when it was last announced. Names stay for `keepMs` after that. */
  constructor(store: Store, key: string, keepMs: number) {
    this.#store = store;
    this.#key = key;
    this.#keepMs = keepMs;
    this.#announceMs = Math.min(3_600_000, keepMs / 2);
  }

  /** Does not wait, and does not fail. */
  announce(name: string): void {
    const { clock } = this.#store;
    const now = clock.monotonicMs();
    const before = this.#announced.get(name);
    if ((before !== undefined && now - before < this.#announceMs) || this.#store.closed) return;
    if (this.#announced.size >= MAX_KNOWN) this.#announced.clear();
    this.#announced.set(name, now);
    const wall = clock.wallMs();
    this.#store
      .pipeline([
        ["ZADD", this.#key, wall, name],
        ["ZREMRANGEBYSCORE", this.#key, "-inf", wall - this.#keepMs],
        ["PEXPIRE", this.#key, Math.ceil(this.#keepMs)],
      ])
      .catch(() => this.#announced.delete(name));
  }

  /** The latest announced first. */
  list({ limit = 100, cursor }: PageOptions = {}): Promise<Page<string>> {
    return pageByScore(this.#store, this.#key, { limit: integer("limit", limit, 1, MAX_KNOWN), cursor });
  }

  async remove(name: string): Promise<void> {
    this.#announced.delete(name);
    await this.#store.send(["ZREM", this.#key, name], { repeatable: true });
  }
}
