/**
 * The end of a primary: before it stops, its replicas get what they have yet to get, so that one of them can take its place
 * with nothing missing. Writers are put off meanwhile, for shutdown-timeout at most. SHUTDOWN NOW does not wait, and SHUTDOWN
 * ABORT calls it off.
 */
import type { Engine } from "../engine.ts";
import type { Replication } from "./index.ts";

export type HandoverOutcome = "done" | "late" | "aborted";

interface Waiting {
  /** What they must have. */
  readonly offset: number;
  readonly until: number;
  readonly promise: Promise<HandoverOutcome>;
  readonly resolve: (outcome: HandoverOutcome) => void;
}

export class Handover {
  readonly #engine: Engine;
  readonly #replication: Replication;
  #waiting: Waiting | null = null;

  constructor(engine: Engine, replication: Replication) {
    this.#engine = engine;
    this.#replication = replication;
  }

  /** Waits until all replicas have everything; null if they have, or there is none. */
  begin(): Promise<HandoverOutcome> | null {
    if (this.#waiting !== null) return this.#waiting.promise;
    const { clock, config, pause, log } = this.#engine;
    const { feed } = this.#replication;
    const timeoutMs = config.values["shutdown-timeout"] * 1000;
    const lagging = this.#lagging(feed.offset);
    if (timeoutMs === 0 || lagging === 0) return null;
    log("notice", `Waiting for ${lagging} replicas before shutting down.`);
    let resolve!: (outcome: HandoverOutcome) => void;
    const promise = new Promise<HandoverOutcome>((settle) => {
      resolve = settle;
    });
    this.#waiting = { offset: feed.offset, until: clock.monotonic() + timeoutMs, promise, resolve };
    pause.begin(Number.POSITIVE_INFINITY, "write");
    feed.requestAcks();
    return promise;
  }

  /** How many replicas lack something up to this offset. Those that are not online yet could not be helped by waiting. */
  #lagging(offset: number): number {
    let count = 0;
    for (const { state, old, ackOffset } of this.#replication.replicas) {
      if (state === "online" && !old && ackOffset < offset) count++;
    }
    return count;
  }

  /** Looks whether the wait is over: when a replica acknowledges or goes, and ten times a second. */
  check(): void {
    if (this.#waiting === null) return;
    const { offset, until } = this.#waiting;
    const lagging = this.#lagging(offset);
    if (lagging === 0) this.#end("done");
    else if (this.#engine.clock.monotonic() >= until) {
      this.#engine.log("warning", `${lagging} replicas have not got everything. Shutting down without waiting longer.`);
      this.#end("late");
    }
  }

  /** False if there is nothing to call off. */
  abort(): boolean {
    if (this.#waiting === null) return false;
    this.#engine.log("notice", "Shutdown manually aborted.");
    this.#end("aborted");
    this.#engine.pause.end();
    return true;
  }

  #end(outcome: HandoverOutcome): void {
    const { resolve } = this.#waiting!;
    this.#waiting = null;
    resolve(outcome);
  }
}
