/**
 * Values by name for adapters whose frameworks know no more than that: each value a string with a lifetime of its own, all of one adapter
 * under one prefix, spread over a few slots so that a Cluster shares the load and all of them can still be found.
 */
import { word } from "../../base/checks.ts";
import { hashOf } from "../../base/hash.ts";
import { asText, asTextOrBytes, asTexts, asTuple } from "../../base/replies.ts";
import type { Word } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";

/** How many slots the values of one prefix are spread over. All processes must agree on it. */
const SHARDS = 16;
/** Keys in one step of a walk, and in one deletion. */
const AT_ONCE = 500;
const MAX_NAME_BYTES = 4_096;

export class Values {
  readonly #store: Store;
  readonly #prefix: string;

  constructor(store: Store, prefix: string) {
    this.#store = store;
    this.#prefix = prefix;
  }

  keyOf(name: string): string {
    word("the key", name, MAX_NAME_BYTES);
    return `${this.#base(hashOf(name) % SHARDS)}${name}`;
  }

  async get(name: string): Promise<string | null> {
    const stored = await this.#store.call("GET", this.keyOf(name));
    return stored === null ? null : asText(stored);
  }

  async getBytes(name: string): Promise<Buffer | null> {
    const stored = await this.#store.callBuffer("GET", this.keyOf(name));
    if (stored === null) return null;
    const value = asTextOrBytes(stored);
    return typeof value === "string" ? Buffer.from(value, "latin1") : value;
  }

  /** In order; null for those that are not there. One round trip for each server. */
  async getMany(names: readonly string[]): Promise<(string | null)[]> {
    const found = await this.#store.pipeline(names.map((name) => ["GET", this.keyOf(name)] as const));
    return found.map((each) => {
      if (each instanceof Error) throw each;
      return each === null ? null : asText(each);
    });
  }

  /** Without `ttlMs` it stays until it is deleted. */
  async set(name: string, value: string | Uint8Array, ttlMs?: number): Promise<void> {
    await this.#write(this.#setting(name, value, ttlMs));
  }

  async setMany(
    entries: readonly {
      readonly name: string;
      readonly value: string | Uint8Array;
      readonly ttlMs: number | undefined;
    }[],
  ): Promise<void> {
    const writes = entries.map(({ name, value, ttlMs }) => this.#setting(name, value, ttlMs));
    for (const each of await this.#store.pipeline(writes)) if (each instanceof Error) throw each;
  }

  #setting(name: string, value: string | Uint8Array, ttlMs: number | undefined): readonly Word[] {
    const key = this.keyOf(name);
    return ttlMs === undefined ? ["SET", key, value] : ["SET", key, value, "PX", Math.max(1, Math.ceil(ttlMs))];
  }

  /** Lets it live for so long from now. False when it is not there. */
  async touch(name: string, ttlMs: number): Promise<boolean> {
    return Number(await this.#write(["PEXPIRE", this.keyOf(name), Math.max(1, Math.ceil(ttlMs))])) === 1;
  }

  async has(name: string): Promise<boolean> {
    return Number(await this.#store.call("EXISTS", this.keyOf(name))) === 1;
  }

  async hasMany(names: readonly string[]): Promise<boolean[]> {
    const found = await this.#store.pipeline(names.map((name) => ["EXISTS", this.keyOf(name)] as const));
    return found.map((each) => {
      if (each instanceof Error) throw each;
      return Number(each) === 1;
    });
  }

  async delete(name: string): Promise<boolean> {
    return Number(await this.#write(["DEL", this.keyOf(name)])) === 1;
  }

  /** How many there were. */
  async deleteMany(names: readonly string[]): Promise<number> {
    const done = await this.#store.pipeline(names.map((name) => ["DEL", this.keyOf(name)] as const));
    let count = 0;
    for (const each of done) {
      if (each instanceof Error) throw each;
      count += Number(each);
    }
    return count;
  }

  /** When it ends: milliseconds from now, null for one that stays or is not there. */
  async remainingMs(name: string): Promise<number | null> {
    const left = Number(await this.#store.call("PTTL", this.keyOf(name)));
    return left < 0 ? null : left;
  }

  /**
   * The names that begin so, some at a time, in no order. It walks over all keys of the store, in steps that hold up nobody; what is
   * added or deleted meanwhile may be there or not.
   */
  async *names(beginning = ""): AsyncGenerator<string[], void, void> {
    const isSpread = this.#store.topology === "cluster";
    const seen = new Set<string>();
    for (let shard = 0; shard < (isSpread ? SHARDS : 1); shard++) {
      const base = isSpread ? this.#base(shard) : `${this.#prefix}:{${this.#prefix}:`;
      const pattern = isSpread ? `${escaped(base + beginning)}*` : `${escaped(base)}*`;
      let cursor = "0";
      do {
        const step = ["SCAN", cursor, "MATCH", pattern, "COUNT", AT_ONCE];
        const [next, keys] = asTuple(asText, asTexts)(await this.#store.send(step, { key: this.#base(shard) }));
        const names = keys.flatMap((key) => this.#nameOf(key, beginning));
        // SCAN may tell a key twice.
        const fresh = names.filter((name) => !seen.has(name));
        for (const name of fresh) seen.add(name);
        if (fresh.length > 0) yield fresh;
        cursor = next;
      } while (cursor !== "0");
    }
  }

  /** Deletes all that begin so; how many. No single step. */
  async clear(beginning = ""): Promise<number> {
    let count = 0;
    for await (const names of this.names(beginning)) count += await this.deleteMany(names);
    return count;
  }

  #nameOf(key: string, beginning: string): string[] {
    const start = `${this.#prefix}:{${this.#prefix}:`;
    if (!key.startsWith(start)) return [];
    const rest = /^\d+\}:([\s\S]*)$/.exec(key.slice(start.length))?.[1];
    return rest?.startsWith(beginning) === true ? [rest] : [];
  }

  #base(shard: number): string {
    return `${this.#prefix}:{${this.#prefix}:${shard}}:`;
  }

  #write(words: readonly Word[]): Promise<unknown> {
    return this.#store.send(words, { repeatable: true });
  }
}

/** What has a meaning in a pattern of SCAN, without it. */
const escaped = (text: string): string => text.replace(/[\\*?[\]^]/g, "\\$&");
