/** Loads of several keys, as few calls as possible: what is asked for within one turn of the event loop goes into one call. */
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import type { Loading } from "./types.ts";

/** What makes the values of several keys: one for each, in order. */
export type ManyLoader<T> = (keys: readonly string[], loadings: readonly Loading[]) => Promise<readonly T[]>;

interface Asked<T> {
  readonly key: string;
  readonly loading: Loading;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
}

export class Batch<T> {
  readonly #load: ManyLoader<T>;
  #asked: Asked<T>[] = [];

  constructor(load: ManyLoader<T>) {
    this.#load = load;
  }

  load(key: string, loading: Loading): Promise<T> {
    return new Promise((resolve, reject) => {
      // Answers that have arrived together are read in one turn.
      if (this.#asked.length === 0) setImmediate(() => void this.#send());
      this.#asked.push({ key, loading, resolve, reject });
    });
  }

  async #send(): Promise<void> {
    const asked = this.#asked;
    this.#asked = [];
    try {
      const values: readonly T[] = await this.#load(
        asked.map(({ key }) => key),
        asked.map(({ loading }) => loading),
      );
      if (!Array.isArray(values) || values.length !== asked.length) {
        throw new InputError(`a loader of ${asked.length} keys must give a list of as many values`);
      }
      for (const [{ resolve }, value] of zipped(asked, values)) resolve(value);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}
