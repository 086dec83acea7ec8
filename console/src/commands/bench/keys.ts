/** The keys that a benchmark makes: all under a prefix of its own, each noted in one bit, so that they can be deleted by name. */
import type { Chance } from "./chance.ts";

export class BenchKeys {
  readonly prefix: string;
  readonly count: number;
  readonly #chance: Chance;
  readonly #used: Uint8Array;
  /** What follows the number in the names of keys: each kind of value has its own. */
  readonly #endings = new Set<string>();
  #last = 0;

  constructor(prefix: string, count: number, chance: Chance) {
    this.prefix = prefix;
    this.count = count;
    this.#chance = chance;
    this.#used = new Uint8Array(Math.ceil(count / 8));
  }

  /** From now on a used number means the key with this ending too. */
  addEnding(ending: string): void {
    this.#endings.add(ending);
  }

  /** The prefix with a number, a random one or the one before. */
  draw(isSame: boolean): string {
    if (!isSame) this.#last = this.#chance.below(this.count);
    return this.take(this.#last);
  }

  take(number: number): string {
    this.#used[number >> 3]! |= 1 << (number & 7);
    return `${this.prefix}${number}`;
  }

  /** Every key that may have been made. */
  *names(): Generator<string> {
    for (let number = 0; number < this.count; number++) {
      if ((this.#used[number >> 3]! & (1 << (number & 7))) === 0) continue;
      for (const ending of this.#endings) yield `${this.prefix}${number}${ending}`;
    }
  }
}
