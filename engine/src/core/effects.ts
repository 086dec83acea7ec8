/**
 * What commands did, as the append-only file and the replicas get it.
 *
 * A unit is what happened in one step: a command with the keys that expired under it, a transaction, a script, or one
 * blocked client that was served. A unit of several effects stands between MULTI and EXEC, so that a reader never stops
 * halfway. Keys that expired or were evicted by themselves, or that SCAN and RANDOMKEY came across, have nothing to do with
 * each other: they are a `batch`, which is not framed (effect-encoder.ts).
 *
 * A command that changed something is its own effect, unless it says otherwise (propagation.ts).
 */
import { FOR_ALL, Propagation } from "./propagation.ts";

/** A write as the append-only file and the replicas see it. */
export interface Effect {
  readonly db: number;
  readonly argv: readonly string[];
  readonly audience: number;
}

export type Framing = "unit" | "batch";

export type EffectListener = (effects: readonly Effect[], framing: Framing) => void;

export class Effects {
  /** The append-only file, replicas, tests. While there are none, nothing is gathered. */
  readonly #listeners = new Set<EffectListener>();
  /** What the running command says instead of itself. */
  readonly propagation = new Propagation();
  /** Changes since the start. */
  dirty = 0;
  /** Who gets the effects of what is running; a script may ask for less than all. */
  audience = FOR_ALL;
  /** Whether there are effects that were not handed on yet. */
  hasPending = false;
  #pending: Effect[] = [];

  /** Has effects handed to a listener from now on; once, however often it is said. */
  listen(listener: EffectListener): void {
    this.#listeners.add(listener);
    this.propagation.heard = true;
  }

  unlisten(listener: EffectListener): void {
    this.#listeners.delete(listener);
    this.propagation.heard = this.#listeners.size > 0;
  }

  /** A command is over: what it said instead of itself, or else itself if it has changed something, is an effect. */
  collect(db: number, argv: readonly string[], dirtyBefore: number): void {
    const { instead } = this.propagation;
    const audience = this.audience & this.propagation.audience;
    this.propagation.audience = FOR_ALL;
    if (audience === 0) return;
    if (instead !== null) for (const words of instead) this.#add(db, words, audience);
    else if (this.dirty !== dirtyBefore) this.#add(db, argv, audience);
  }

  /** Adds the removal of a key that no command stands for: it has expired or was evicted. */
  addRemoval(db: number, key: string): void {
    if (this.propagation.heard) this.#add(db, ["DEL", key], FOR_ALL);
  }

  #add(db: number, argv: readonly string[], audience: number): void {
    this.#pending.push({ db, argv, audience });
    this.hasPending = true;
  }

  /** Hands on what has been done since the last time. */
  handOn(framing: Framing): void {
    const effects = this.#pending;
    this.#pending = [];
    this.hasPending = false;
    for (const listener of this.#listeners) listener(effects, framing);
  }
}
