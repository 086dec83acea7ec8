/**
 * CLUSTER FAILOVER: a replica takes its primary's place because an operator says so.
 *
 * Without an option nothing is lost: the primary holds back writes, the replica waits until it has everything, takes over,
 * and the writes that were held back are sent on to it (MOVED). FORCE does not ask the primary, and waits only for a
 * majority; TAKEOVER waits for nothing. What is not done after five seconds is given up.
 */

import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { type Timer, unheldInterval } from "../platform/timers.ts";
import type { ClusterNode, ClusterState, Seat } from "./state.ts";

const TIMEOUT_MS = 5000;
const LOOK_MS = 5;

export type FailoverMode = "wait" | "force" | "takeover";

interface FailoverHost {
  readonly clock: Clock;
  readonly log: Log;
}

export class ManualFailover {
  readonly #host: FailoverHost;
  readonly #seat: Seat;
  #timer: Timer | null = null;
  #paused: Seat | null = null;

  constructor(host: FailoverHost, seat: Seat) {
    this.#host = host;
    this.#seat = seat;
  }

  get isUnderWay(): boolean {
    return this.#timer !== null;
  }

  /** The node is a replica. Another one that is under way is given up. */
  begin(state: ClusterState, node: ClusterNode, mode: FailoverMode): void {
    this.end();
    const { clock, log } = this.#host;
    if (mode === "takeover") {
      log("notice", "Taking over the master (user request).");
      state.takeOver(node);
      return;
    }
    const until = clock.monotonic() + TIMEOUT_MS;
    log("notice", `${mode === "force" ? "Forced failover" : "Manual failover"} user request accepted.`);
    if (mode === "wait") {
      this.#paused = state.seats.get(node.primary!.id) ?? null;
      this.#paused?.pauseWrites(until);
    }
    const look = () => {
      if (clock.monotonic() >= until || node.primary === null) {
        if (node.primary !== null) log("warning", "Manual failover timed out.");
        this.end();
      } else if (state.hasMajority && this.#hasEverything()) {
        state.takeOver(node);
        this.end();
      }
    };
    this.#timer = unheldInterval(look, LOOK_MS);
  }

  #hasEverything(): boolean {
    return this.#paused === null || this.#seat.offset >= this.#paused.offset;
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#paused?.resumeWrites();
    this.#paused = null;
  }
}
