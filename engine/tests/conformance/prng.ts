/** Chance that repeats: the same seed gives the same commands on every machine. */
export class Prng {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** `stream` tells sequences of one seed apart. */
  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0;
    this.#b = (seed / 0x100000000) >>> 0;
    this.#c = stream >>> 0;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** sfc32: 32 bits. */
  next(): number {
    const t = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + t;
    return t >>> 0;
  }

  /** From 0 to n - 1. */
  below(n: number): number {
    return Math.floor((this.next() / 0x100000000) * n);
  }

  /** From low to high, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1);
  }

  chance(probability: number): boolean {
    return this.next() / 0x100000000 < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}
