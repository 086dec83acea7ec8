/**
 * What this process holds of a map, and how long it may be believed.
 *
 * Changes are told by pub/sub, which loses messages. So each says which version it makes of which, and from time to time the store is
 * asked for its version. While the version that was heard of last is the stored one, nothing has been missed, and what is held is
 * right as of that moment. A gap in the messages, a version without a message until the next question, a lost
 * connection: everything held is forgotten.
 */
import type { Timer } from "../../base/clock.ts";
import { dropOldest } from "../../base/lists.ts";
import type { Store } from "../../connection/store.ts";
import { Channel } from "../../waiting/channel.ts";

const RETRY_MS = 1_000;
/** After so many questions without a read in between, nobody uses the map here. */
const IDLE_BEATS = 60;

/** A read that is under way. What happens to a key meanwhile keeps its value from being held. */
export interface Question {
  readonly keys: ReadonlySet<string>;
  readonly outdated: Set<string>;
  isOutdated: boolean;
}

export interface MemoryOptions {
  readonly channel: string;
  readonly memoryItems: number;
  readonly maxLagMs: number;
  /** The stored version. */
  readonly version: () => Promise<number>;
}

export class Memory<V> {
  readonly #store: Store;
  readonly #options: MemoryOptions;
  readonly #channel: Channel;
  /** In the order of last use. */
  readonly #held = new Map<string, V>();
  readonly #questions = new Set<Question>();
  #isFollowing = false;
  #timer: Timer | null = null;
  /** The version that was heard of last; null where that is not known. */
  #heard: number | null = null;
  /** The stored version when it was last asked for, of which nobody has told yet. */
  #awaited: { readonly version: number; readonly soundUntil: number } | null = null;
  #soundUntil = Number.NEGATIVE_INFINITY;
  #idleBeats = 0;
  invalidated = 0;

  constructor(store: Store, options: MemoryOptions) {
    this.#store = store;
    this.#options = options;
    this.#channel = new Channel(store, options.channel, {
      message: (message) => this.#told(message),
      begun: () => this.#restart(),
      resumed: () => this.#restart(),
    });
  }

  get count(): number {
    return this.#held.size;
  }

  /** Undefined: not held. */
  get(key: string): V | undefined {
    this.#idleBeats = 0;
    if (this.#store.clock.monotonicMs() > this.#soundUntil) return undefined;
    const value = this.#held.get(key);
    if (value === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, value);
    return value;
  }

  /** Before the store is asked. Every question is ended. */
  begin(keys: readonly string[]): Question {
    this.#follow();
    const question = { keys: new Set(keys), outdated: new Set<string>(), isOutdated: !this.#channel.isOpen };
    this.#questions.add(question);
    return question;
  }

  keep(question: Question, key: string, value: V): void {
    if (question.isOutdated || question.outdated.has(key)) return;
    this.#held.delete(key);
    if (this.#held.size >= this.#options.memoryItems) dropOldest(this.#held);
    this.#held.set(key, value);
  }

  end(question: Question): void {
    this.#questions.delete(question);
  }

  /** These keys have changed, or are about to. */
  forget(keys: readonly string[]): void {
    for (const key of keys) if (this.#held.delete(key)) this.invalidated++;
    for (const question of this.#questions) {
      for (const key of keys) if (question.keys.has(key)) question.outdated.add(key);
    }
  }

  forgetAll(): void {
    this.invalidated += this.#held.size;
    this.#held.clear();
    for (const question of this.#questions) question.isOutdated = true;
  }

  async stop(): Promise<void> {
    this.#isFollowing = false;
    this.#timer?.cancel();
    this.#soundUntil = Number.NEGATIVE_INFINITY;
    this.forgetAll();
    await this.#channel.close();
  }

  // ---------------------------------------------------------------------------------------------- following

  #follow(): void {
    if (this.#isFollowing || this.#store.closed) return;
    this.#isFollowing = true;
    this.#idleBeats = 0;
    this.#channel.openEventually(RETRY_MS);
  }

  /** Messages arrive from now on; of what was before, some may be missing. */
  #restart(): void {
    this.#soundUntil = Number.NEGATIVE_INFINITY;
    this.#heard = null;
    this.#awaited = null;
    this.forgetAll();
    void this.#beat();
  }

  #told(message: Buffer): void {
    const [before, version, ...keys]: string[] = JSON.parse(message.toString("utf8"));
    if (keys.length === 0) this.forgetAll();
    else this.forget(keys);
    if (this.#heard === null) return;
    // It was heard of by asking, before the message came.
    if (Number(version) <= this.#heard) return;
    if (Number(before) !== this.#heard) this.forgetAll();
    this.#heard = Number(version);
    if (this.#awaited !== null && this.#awaited.version === this.#heard) {
      this.#soundUntil = Math.max(this.#soundUntil, this.#awaited.soundUntil);
      this.#awaited = null;
    }
  }

  /** Asks for the stored version, and again after a third of the time for which an answer counts. */
  async #beat(): Promise<void> {
    this.#timer?.cancel();
    if (!this.#isFollowing || this.#store.closed) return;
    if (this.#idleBeats++ > IDLE_BEATS) return this.stop();
    const { clock } = this.#store;
    const soundUntil = clock.monotonicMs() + this.#options.maxLagMs;
    this.#timer = clock.after(this.#options.maxLagMs / 3, () => void this.#beat());
    try {
      this.#compare(await this.#options.version(), soundUntil);
    } catch {
      // What is held is not believed for longer than the last answer allows.
    }
  }

  #compare(version: number, soundUntil: number): void {
    const isMissed = this.#awaited !== null && this.#heard !== this.#awaited.version;
    if (this.#heard === null || isMissed) {
      // Of changes until now nobody needs to hear any more.
      if (isMissed) this.forgetAll();
      this.#heard = version;
      this.#awaited = null;
    }
    if (this.#heard === version) this.#soundUntil = soundUntil;
    else this.#awaited = { version, soundUntil };
  }
}
