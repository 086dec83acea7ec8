/**
 * The end of a primary: before it stops, its replicas get what they have yet to get, so that one of them can take its place
 * with nothing missing. Writers are put off meanwhile, for shutdown-timeout at most. SHUTDOWN NOW does not wait, and SHUTDOWN
 * ABORT calls it off.
 */
import type { ReplicationHost } from "./host.ts";
import type { Replication } from "./index.ts";
import { STATE_NAMES } from "./replica.ts";

export type HandoverOutcome = "done" | "late" | "aborted";

interface Waiting {
  /** What they must have. */
  readonly offset: number;
  readonly until: number;
  readonly promise: Promise<HandoverOutcome>;
  readonly resolve: (outcome: HandoverOutcome) => void;
}

type HandoverHost = Pick<ReplicationHost, "clock" | "config" | "log" | "pause">;

export class Handover {
  readonly #store: HandoverHost;
  readonly #replication: Replication;
  #waiting: Waiting | null = null;
  /** What replicas should have at the end: the question for their acknowledgements comes behind it. */
  #wanted = 0;
  /** Writers are put off, because of us. */
  #paused = false;

  constructor(store: HandoverHost, replication: Replication) {
    this.#store = store;
    this.#replication = replication;
  }

  /** Waits until all replicas have everything; null if they have, there is none, or they are not waited for (`now`). */
  begin(now = false): Promise<HandoverOutcome> | null {
    if (this.#waiting !== null) return this.#waiting.promise;
    const { clock, config, pause, log } = this.#store;
    const { feed } = this.#replication;
    const timeoutMs = config.values["shutdown-timeout"] * 1000;
    this.#wanted = feed.offset;
    const lagging = this.#lagging(feed.offset);
    if (now || timeoutMs === 0 || lagging === 0) return null;
    log("notice", "Waiting for replicas before shutting down.");
    let resolve!: (outcome: HandoverOutcome) => void;
    const promise = new Promise<HandoverOutcome>((settle) => {
      resolve = settle;
    });
    this.#waiting = { offset: feed.offset, until: clock.monotonic() + timeoutMs, promise, resolve };
    pause.begin(Number.POSITIVE_INFINITY, "write");
    this.#paused = true;
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
    const waiting = this.#waiting;
    if (waiting === null) return;
    if (this.#lagging(waiting.offset) === 0) this.#end(waiting, "done");
    else if (this.#store.clock.monotonic() >= waiting.until) this.#end(waiting, "late");
  }

  /** How long replicas are waited for yet, for INFO; undefined if they are not. */
  get remainingMs(): number | undefined {
    if (this.#waiting === null) return undefined;
    return Math.max(0, Math.ceil(this.#waiting.until - this.#store.clock.monotonic()));
  }

  /** Logs who has everything that there was when the end began, and who has not. */
  report(): void {
    const { replicas } = this.#replication;
    const { log } = this.#store;
    let inSync = 0;
    for (const { host, port, state, ackOffset, lagSeconds } of replicas) {
      const behind = this.#wanted - ackOffset;
      if (behind <= 0) inSync++;
      else {
        const lag = state === "online" ? lagSeconds : 0;
        log(
          "warning",
          `Lagging replica ${host}:${port} reported offset ${behind} behind master, lag=${lag}, state=${STATE_NAMES[state]}.`,
        );
      }
    }
    if (replicas.size > 0) log("notice", `${inSync} of ${replicas.size} replicas are in sync when shutting down.`);
  }

  /** Lets writers go on after an end that did not come about. */
  resume(): void {
    if (this.#paused) this.#store.pause.end();
    this.#paused = false;
  }

  /** False if there is nothing to call off. */
  abort(): boolean {
    if (this.#waiting === null) return false;
    this.#store.log("notice", "Shutdown manually aborted.");
    this.#end(this.#waiting, "aborted");
    this.resume();
    return true;
  }

  #end({ resolve }: Waiting, outcome: HandoverOutcome): void {
    this.#waiting = null;
    resolve(outcome);
  }
}
