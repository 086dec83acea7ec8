/**
 * The part of a cache that is in this process: bounded by number, each value believed for a moment only and never past its
 * freshness.
 *
 * An answer of the store can be older than a change that this process has made or heard of since it asked. So a caller says
 * so first (`begin`); what happens to the key until the answer is there keeps that answer from being remembered.
 */
import type { Clock } from "../../base/clock.ts";
import { dropOldest } from "../../base/lists.ts";

export interface Held<T> {
  readonly value: T;
  /** When its making began, by this process's clock: not later than it did. */
  readonly bornMs: number;
  /** Until when it is believed. */
  readonly untilMs: number;
  readonly tags: readonly string[];
}

/** What has happened since the store was asked for a key. */
export interface Question {
  readonly key: string;
  isOutdated: boolean;
  readonly invalidated: Set<string>;
}

export class MemoryCache<T> {
  readonly #clock: Clock;
  readonly #max: number;
  /** In the order of last use. */
  readonly #held = new Map<string, Held<T>>();
  readonly #questions = new Set<Question>();

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
  }

  get(key: string): Held<T> | undefined {
    const held = this.#held.get(key);
    if (held === undefined) return undefined;
    this.#held.delete(key);
    if (held.untilMs <= this.#clock.monotonicMs()) return undefined;
    this.#held.set(key, held);
    return held;
  }

  /** Before the store is asked. Every question is ended. */
  begin(key: string): Question {
    const question = { key, isOutdated: false, invalidated: new Set<string>() };
    this.#questions.add(question);
    return question;
  }

  end(question: Question): void {
    this.#questions.delete(question);
  }

  /** Remembers the answer, unless it is outdated. */
  keep({ key, isOutdated, invalidated }: Question, held: Held<T>): void {
    if (isOutdated || held.tags.some((tag) => invalidated.has(tag))) return;
    this.#held.delete(key);
    if (this.#held.size >= this.#max) dropOldest(this.#held);
    this.#held.set(key, held);
  }

  delete(key: string): void {
    this.#held.delete(key);
    for (const question of this.#questions) if (question.key === key) question.isOutdated = true;
  }

  deleteTagged(tags: ReadonlySet<string>): void {
    for (const [key, held] of this.#held) if (held.tags.some((tag) => tags.has(tag))) this.#held.delete(key);
    for (const { invalidated } of this.#questions) for (const tag of tags) invalidated.add(tag);
  }

  clear(): void {
    this.#held.clear();
    for (const question of this.#questions) question.isOutdated = true;
  }
}
