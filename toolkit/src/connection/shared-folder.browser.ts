/**
 * A folder of the origin's private file system. One worker has it at a time; another is refused (EBUSY), as tabs have no sockets to
 * join the first by.
 */
import { Engine } from "@cinnabar/engine/browser";
import type { OpenOptions } from "./open.ts";
import type { Driver } from "./port.ts";

export class SharedFolder {
  readonly #dir: string;
  readonly #options: OpenOptions;

  constructor(dir: string, options: OpenOptions) {
    this.#dir = dir;
    this.#options = options;
  }

  own(): Promise<Engine> {
    const { config } = this.#options;
    return Engine.open({ dir: this.#dir, ...(config === undefined ? {} : { config }) });
  }

  leave(): void {}

  /** Never asked for: nothing is joinable. */
  async join(): Promise<Driver> {
    throw new Error(`"${this.#dir}" cannot be joined in a browser`);
  }
}

export const isJoinable = (_error: unknown): boolean => false;
