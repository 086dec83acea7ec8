/**
 * CLIENT PAUSE: for a while commands, or only those that write, are put off.
 *
 * What a connection does with it: `engine.execute` answers POSTPONED and has run nothing. The connection keeps the words,
 * runs nothing else that this client has sent, and calls `engine.pause.whenResumed(client, retry)`. When the pause is over,
 * the retries are called in the order in which they came; each runs `engine.execute` with the kept words, and, unless it
 * is put off again, goes on with what the client has sent meanwhile.
 *
 * The same way leads commands past keys that MIGRATE has sent and that nobody may touch until the answer is there: `hold`.
 */

import { type Timer, unheldTimeout } from "../platform/timers.ts";
import { type Command, MAY_REPLICATE, WRITE } from "../table/command-table.ts";
import type { Client } from "./client.ts";
import type { Clock } from "./clock.ts";

export type PauseMode = "write" | "all";

export class Pause {
  /** Whether anything may have to be put off now. */
  active = false;
  /** CLIENT PAUSE is on. */
  paused = false;

  readonly #clock: Clock;
  readonly #postponed = new Map<Client, () => void>();
  #mode: PauseMode = "write";
  #until = 0;
  #hold: ((client: Client, command: Command, argv: readonly string[]) => boolean) | null = null;
  #timer: Timer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many clients have a command put off. */
  get size(): number {
    return this.#postponed.size;
  }

  /** Puts off commands for which this is true, beside the pause. */
  set hold(holds: ((client: Client, command: Command, argv: readonly string[]) => boolean) | null) {
    this.#hold = holds;
    this.active = this.paused || holds !== null;
  }

  /** Begins a pause. One that is on already only becomes longer and stricter. */
  begin(untilMs: number, mode: PauseMode): void {
    const until = this.paused ? Math.max(untilMs, this.#until) : untilMs;
    if (until <= this.#clock.monotonic()) return;
    if (!this.paused || mode === "all") this.#mode = mode;
    this.active = true;
    this.paused = true;
    this.#until = until;
    this.#arm();
  }

  #arm(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    const wait = Math.min(Math.max(1, this.#until - this.#clock.monotonic()), 0x7fffffff);
    this.#timer = unheldTimeout(() => this.check(), wait);
  }

  /** Ends the pause if its time is over. */
  check(): void {
    if (!this.paused) return;
    if (this.#until <= this.#clock.monotonic()) this.end();
    else this.#arm();
  }

  /** Ends the pause. The postponed commands run once the running one is over. */
  end(): void {
    this.paused = false;
    this.active = this.#hold !== null;
    this.close();
    this.lookAgain();
  }

  /** Has the postponed commands tried again, once the running one is over. */
  lookAgain(): void {
    if (this.#postponed.size > 0) queueMicrotask(() => this.#resume());
  }

  #resume(): void {
    const retries = [...this.#postponed];
    for (const [client, retry] of retries) {
      // One that a resumed command has closed is not in the map any more.
      if (!this.#postponed.delete(client)) continue;
      retry();
    }
  }

  /** Whether a command has to wait. */
  blocks(client: Client, command: Command, argv: readonly string[]): boolean {
    if (client.monitoring) return false;
    if (this.#hold?.(client, command, argv)) return true;
    if (!this.paused) return false;
    if (this.#mode === "all" || (command.flags & (WRITE | MAY_REPLICATE)) !== 0) return true;
    return client.queuedFor(command).some((queued) => (queued.command.flags & (WRITE | MAY_REPLICATE)) !== 0);
  }

  /** Has a client's connection called back when the pause is over. */
  whenResumed(client: Client, retry: () => void): void {
    this.#postponed.set(client, retry);
  }

  isPostponed(client: Client): boolean {
    return this.#postponed.has(client);
  }

  forget(client: Client): void {
    this.#postponed.delete(client);
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
