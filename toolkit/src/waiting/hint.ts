/**
 * "Tell me when it changes." A hint looks at the store when a message says that there is something new, when messages may be
 * missing (the subscription has just begun, or its connection was lost and is back), and every `pollMs` whatever happens. Messages
 * decide only when to look: what is true is what the look finds. So a lost message costs a poll at most, and never a change.
 *
 * Looks are coalesced. One is under way at a time; whatever happens meanwhile is seen to by one more. Where messages carry the
 * version that they tell of (`versions`), a message about what has been seen already is not worth a look. After a look that failed
 * the next comes with the poll, or with the next message.
 *
 * The poll subscribes again where that has failed. Its timer does not keep the process alive.
 */
import type { Timer } from "../base/clock.ts";
import { Channel, type ChannelStore } from "./channel.ts";

export interface HintOptions {
  readonly channel: string;
  /** How long a lost message can go unnoticed. */
  readonly pollMs: number;
  /** Looks at the store, and does what follows from what it finds. */
  readonly look: () => Promise<void>;
  /** Without it, every message is worth a look. */
  readonly versions?: {
    /** The version that a message tells of; Infinity: to be looked at in any case. */
    readonly of: (message: Buffer) => number;
    /** The newest version that a look has found. */
    readonly seen: () => number;
  };
  /** Asked before each poll; false ends the following. */
  readonly isNeeded?: () => boolean;
  /** A look that failed while following. */
  readonly onError?: (error: unknown) => void;
}

const NOTHING = Number.NEGATIVE_INFINITY;
const ANYTHING = Number.POSITIVE_INFINITY;

export class Hint {
  readonly #store: ChannelStore;
  readonly #options: HintOptions;
  readonly #channel: Channel;
  /** The newest version that was announced since the last look began. */
  #told = NOTHING;
  #looking: Promise<void> | null = null;
  /** The look after the one that is under way, if somebody has asked for it. */
  #next: Promise<void> | null = null;
  #isFollowing = false;
  /** How often it was stopped. */
  #stops = 0;
  #timer: Timer | null = null;

  constructor(store: ChannelStore, options: HintOptions) {
    this.#store = store;
    this.#options = options;
    const { versions } = options;
    this.#channel = new Channel(store, options.channel, {
      message: (message) => this.#heard(versions === undefined ? ANYTHING : versions.of(message)),
      begun: () => this.#heard(ANYTHING),
      resumed: () => this.#heard(ANYTHING),
    });
  }

  /** The look that is under way. */
  get looking(): Promise<void> | null {
    return this.#looking;
  }

  /**
   * Subscribes, then looks, so that no change falls between; then follows. Rejects if either fails: what was subscribed to stays so
   * until `stop`, and `follow` goes on without what has failed. Stopped meanwhile, it does not follow.
   */
  async start(): Promise<void> {
    const stops = this.#stops;
    await this.#channel.open();
    await this.look();
    if (stops === this.#stops) this.follow();
  }

  /** Looks from now on whenever there may be something new; the first time when the subscription has begun. */
  follow(): void {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    this.#listen();
    this.#schedule();
    this.#lookIfNews();
  }

  /** Ends the following; a look that is under way goes on. */
  async stop(): Promise<void> {
    this.#stops++;
    this.#isFollowing = false;
    this.#told = NOTHING;
    this.#timer?.cancel();
    await this.#channel.close();
  }

  /**
   * A look that begins now or, while one is under way, right after that: it finds whatever was there before the call. All who ask
   * while one is under way share the next. Rejects if it fails.
   */
  look(): Promise<void> {
    if (this.#looking === null) return this.#begin();
    const next = (): Promise<void> => {
      this.#next = null;
      return this.#looking ?? this.#begin();
    };
    this.#next ??= this.#looking.then(next, next);
    return this.#next;
  }

  #begin(): Promise<void> {
    this.#told = NOTHING;
    this.#looking = this.#options.look().then(
      () => {
        this.#looking = null;
        this.#lookIfNews();
      },
      (error) => {
        this.#looking = null;
        if (this.#isFollowing && !this.#store.closed) this.#options.onError?.(error);
        throw error;
      },
    );
    return this.#looking;
  }

  #heard(version: number): void {
    if (version > this.#told) this.#told = version;
    this.#lookIfNews();
  }

  #lookIfNews(): void {
    if (!this.#isFollowing || this.#looking !== null) return;
    if (this.#told === NOTHING || this.#told <= (this.#options.versions?.seen() ?? NOTHING)) return;
    this.#begin().catch(() => {});
  }

  #schedule(): void {
    this.#timer = this.#store.clock.after(this.#options.pollMs, () => this.#poll());
  }

  #poll(): void {
    if (this.#store.closed || this.#options.isNeeded?.() === false) {
      void this.stop();
      return;
    }
    this.#schedule();
    this.#listen();
    this.#heard(ANYTHING);
  }

  #listen(): void {
    this.#channel.open().catch(() => {});
  }
}
