/**
 * rdb-key-save-delay and key-load-delay: so many microseconds for every key that is written or loaded, so that tests find a
 * save or a load under way. They are off otherwise. Waits shorter than a millisecond add up until they are one.
 */
export class KeyDelay {
  readonly #msPerKey: number;
  #dueMs = 0;

  /** A negative number is one microsecond for so many keys. */
  constructor(microseconds: number) {
    this.#msPerKey = (microseconds < 0 ? 1 / -microseconds : microseconds) / 1000;
  }

  get isOn(): boolean {
    return this.#msPerKey > 0;
  }

  count(keys = 1): void {
    this.#dueMs += this.#msPerKey * keys;
  }

  /** How long to wait now, in milliseconds; 0 for not yet. */
  take(): number {
    const due = Math.floor(this.#dueMs);
    this.#dueMs -= due;
    return due;
  }
}
