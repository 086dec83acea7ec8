/** What the four structures have in common: items as hashes, work in steps, and a plan that must be the stored one. */
import { word } from "../../base/checks.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { type Lanes, lanesOf } from "../../base/hash.ts";
import { inSteps } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import type { Script } from "../../base/script.ts";
import type { Store } from "../../connection/store.ts";

/** So many items go into one script: a server does nothing else meanwhile. */
const AT_ONCE = 1_000;
/** A string of Redis is no longer. */
export const MOST_BYTES = 512 * 1024 * 1024;

export interface SketchOptions {
  /** How all keys begin (default `"bloom"`, `"cuckoo"`, `"count-min"` or `"top-k"`, by the kind). */
  readonly prefix?: string;
  /** How long it lives, from the first item on; for ever by default. */
  readonly ttlMs?: number;
}

interface Making {
  readonly kind: string;
  readonly what: string;
  readonly prefix: string;
  readonly name: string;
  readonly plan: string;
  /** What it takes to open it. */
  readonly details: Readonly<Record<string, number>>;
}

export class Sketch {
  readonly #store: Store;
  readonly #making: Making;
  readonly #names: NameIndex;

  constructor(store: Store, making: Making) {
    this.#store = store;
    this.#making = making;
    this.#names = new NameIndex(store, { kind: making.kind, prefix: making.prefix, details: making.details });
  }

  announce(): void {
    this.#names.announce(this.#making.name);
  }

  async delete(keys: readonly string[]): Promise<void> {
    await this.#store.send(["DEL", ...keys], { repeatable: true });
    await this.#names.remove(this.#making.name);
  }

  /** Runs a script, and says what is wrong where another plan is stored. */
  async run<P, T>(script: Script<P, T>, params: P): Promise<T> {
    try {
      return await this.#store.run(script, params);
    } catch (error) {
      throw error instanceof ServerError ? this.#explained(error) : error;
    }
  }

  #explained(error: ServerError): Error {
    const { what, name, plan } = this.#making;
    if (error.code === "TOTAL") return new InputError(`the ${what} "${name}" ${error.message.slice("TOTAL ".length)}`);
    if (error.code !== "PLAN") return error;
    const stored = error.message.slice("PLAN ".length);
    return new InputError(
      `the ${what} "${name}" was made with other options (${stored}, not ${plan}); clear it first, or use another name`,
      { cause: error },
    );
  }

  /** For each thousand items in turn: the answers of all. */
  inSteps<I, O>(items: readonly I[], ask: (some: readonly I[]) => Promise<readonly O[]>): Promise<O[]> {
    return inSteps(items, AT_ONCE, ask);
  }
}

/** Bits of an item that are as good as random: what bits, fingerprints and cells are chosen by. */
export function hashed(item: string): Lanes {
  return lanesOf(word("item", item));
}
