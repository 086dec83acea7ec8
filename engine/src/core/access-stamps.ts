/**
 * When keys were used last, or how often.
 *
 * Every key carries a stamp of 24 bits beside its entry in the keyspace (dict.ts). Under most policies it is the time of the
 * last access in seconds; under the LFU policies it is the minute of the last decay (16 bits) and a counter (8 bits) that
 * grows ever more slowly with use and shrinks with time. Eviction chooses by it, and OBJECT and files tell it.
 */

/** A key's counter when it is new: above zero, so that it is not the first to go before it was ever used. */
const LFU_FIRST = 5;
const STAMP_BITS = 0xffffff;

interface StampSettings {
  readonly lfu: boolean;
  readonly logFactor: number;
  readonly decayMinutes: number;
}

export class AccessStamps {
  /** Whether stamps count uses rather than tell the time. */
  lfu = false;
  /** Now, as a stamp: seconds in 24 bits. */
  clock = 0;
  /** The stamp of a key that is made now. */
  fresh = 0;
  readonly #chance: () => number;
  #logFactor = 10;
  #decayMinutes = 1;
  #minute = 0;

  constructor(chance: () => number) {
    this.#chance = chance;
  }

  configure({ lfu, logFactor, decayMinutes }: StampSettings): void {
    this.lfu = lfu;
    this.#logFactor = logFactor;
    this.#decayMinutes = decayMinutes;
  }

  /** Lets the stamps' clock go on. */
  renewClock(nowMs: number): void {
    this.clock = Math.floor(nowMs / 1000) & STAMP_BITS;
    this.#minute = Math.floor(nowMs / 60_000) & 0xffff;
    this.fresh = this.lfu ? (this.#minute << 8) | LFU_FIRST : this.clock;
  }

  /** Renews the stamp of a key that is used. */
  touch(stamps: Uint32Array, place: number): void {
    if (this.lfu) this.#count(stamps, place);
    else stamps[place] = this.clock;
  }

  /** Counts a use: first the decay that is due, then one more with a probability that falls as the counter grows. */
  #count(stamps: Uint32Array, place: number): void {
    let counter = this.frequency(stamps[place]!);
    if (counter < 255) {
      const base = Math.max(0, counter - LFU_FIRST);
      if (this.#chance() * (base * this.#logFactor + 1) < 1) counter++;
    }
    stamps[place] = (this.#minute << 8) | counter;
  }

  /** The use counter of a stamp as it is now, decayed (LFU policies). */
  frequency(stamp: number): number {
    const counter = stamp & 0xff;
    if (this.#decayMinutes === 0) return counter;
    const minutes = (this.#minute - (stamp >>> 8)) & 0xffff;
    return Math.max(0, counter - Math.floor(minutes / this.#decayMinutes));
  }

  /** Seconds since a key's last access (policies other than LFU). */
  idleSeconds(stamp: number): number {
    return (this.clock - stamp) & STAMP_BITS;
  }

  /** The stamp of a key that was used as this says; undefined where the policy asks for what is not given. */
  of(idleSeconds: number | undefined, frequency: number | undefined): number | undefined {
    if (this.lfu) return frequency === undefined ? undefined : (this.fresh & ~0xff) | frequency;
    return idleSeconds === undefined ? undefined : (this.clock - Math.min(idleSeconds, STAMP_BITS)) & STAMP_BITS;
  }
}
