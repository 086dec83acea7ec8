/**
 * Circuit breakers: one for each server that a store leads to, so that nothing is written to a server that is gone, and
 * calls that can do without it fail at once.
 *
 * The breaker stands in `Store`, above the link to a server. It knows servers by the names that the driver gives them
 * (`serverOf`), and asks the driver for a sign of life (`probe`); sockets, libraries and topologies are below.
 *
 * - **A failure** is an attempt that got no answer: nobody could be reached, the connection was lost while waiting, or the
 *   command or the call ran past its deadline. A server's error is an answer, and so is a redirection.
 * - **Closed**: calls go through. Any answer forgets the failures before it. After `failures` of them in a row, with at least
 *   `openAfterMs` between the start of the first and the end of the last, the circuit opens. So a restart or a short cut is
 *   waited out by the store's retries, as long as it is shorter than that.
 * - **Open**: nothing is written. By default a call waits for the circuit to close, as long as the store's `retryMs` and its
 *   own deadline allow: a failover takes some seconds, and what is not written can wait. A call with `whenOpen: "fail"`
 *   fails at once with code CIRCUIT_OPEN, also when it waits for its next attempt: that is for callers who know what to do
 *   without the server. `maybeExecuted` is false unless an earlier attempt of the same call may have run. What was written
 *   before keeps waiting for its answer until its own deadline.
 * - **Half-open**: every `probeEveryMs` the store itself asks the server for a sign of life. Calls wait or fail as before: none of
 *   them has to pay for the attempt. An answer closes the circuit, silence for `probeEveryMs` or an error opens it again. A driver that
 *   reports `ready` closes all circuits at once.
 * - **Sentinel**: the primary is one server whatever its address, and the connection to the next primary closes the circuit.
 *   **Cluster** and fleets: each node has its own, so a dead node stops only calls for its slots; when another node has taken
 *   over a slot, calls go there. A pipeline for several nodes is refused whole if one of its circuits is open.
 * - **Blocking connections and subscriptions** have guards, heartbeats and pauses of their own. They neither ask the breaker
 *   nor count for it. The store in this process has no breaker.
 *
 * While no server has failed nothing is looked up: the cost of a call is one comparison.
 */
import type { Clock, Timer } from "../base/clock.ts";
import { ConnectionError } from "../base/errors.ts";

/** When the circuit of a server opens, and when the server is tried again. */
export interface BreakerOptions {
  /** So many attempts in a row without an answer open the circuit; 3 by default. */
  readonly failures?: number;
  /** And no sooner than this after the first of them began; 1 000 by default. */
  readonly openAfterMs?: number;
  /** How long after opening, and after each probe, the server is asked for a sign of life; 500 by default. */
  readonly probeEveryMs?: number;
  /** What calls do while the circuit is open, unless they say: wait within `retryMs` (the default), or fail at once. */
  readonly whenOpen?: WhenOpen;
}

/** What a call does while the circuit of its server is open. */
export type WhenOpen = "wait" | "fail";

/**
 * `closed`: calls go to the server. `open`: nothing is sent to it. `half-open`: nothing but a sign of life, which it is being asked for.
 */
export type CircuitState = "closed" | "open" | "half-open";

/** What is known of one server. */
export interface Circuit {
  /** The driver's name for it; "" where there is only one. */
  readonly server: string;
  /** Whether calls go to the server. */
  readonly state: CircuitState;
  /** In a row, up to now. */
  readonly failures: number;
  /** How long it has been open or half-open; 0 while it is closed. */
  readonly openForMs: number;
  /** What the last failure said. */
  readonly error: string | null;
}

interface Tracked {
  state: CircuitState;
  failures: number;
  /** When the first of them began. */
  failingSince: number;
  openedAt: number;
  error: string | null;
  timer: Timer | undefined;
  /** Called when it opens: calls that pause before their next attempt. */
  readonly waiting: Set<() => void>;
}

export class Breaker {
  readonly #clock: Clock;
  readonly #options: Required<Omit<BreakerOptions, "whenOpen">>;
  readonly #probe: (server: string) => Promise<unknown>;
  readonly #onChange: (circuit: Circuit) => void;
  /** Servers that have failed since their last answer. */
  readonly #circuits = new Map<string, Tracked>();
  #stopped = false;

  constructor(
    clock: Clock,
    options: BreakerOptions,
    probe: (server: string) => Promise<unknown>,
    onChange: (circuit: Circuit) => void,
  ) {
    this.#clock = clock;
    this.#options = {
      failures: options.failures ?? 3,
      openAfterMs: options.openAfterMs ?? 1_000,
      probeEveryMs: options.probeEveryMs ?? 500,
    };
    this.#probe = probe;
    this.#onChange = onChange;
  }

  /** No server has failed since its last answer. */
  get isCalm(): boolean {
    return this.#circuits.size === 0;
  }

  list(): Circuit[] {
    return [...this.#circuits].map(([server, circuit]) => this.#seen(server, circuit));
  }

  /** Why a call to this server must not be sent; null if it may be. */
  refusal(server: string): ConnectionError | null {
    const circuit = this.#circuits.get(server);
    if (circuit === undefined || circuit.state === "closed") return null;
    const forMs = Math.round(this.#clock.monotonicMs() - circuit.openedAt);
    const name = server === "" ? "the server" : server;
    const message = `${name} does not answer; nothing is sent to it (circuit open for ${forMs} ms): ${circuit.error}`;
    return new ConnectionError(message, { maybeExecuted: false, code: "CIRCUIT_OPEN" });
  }

  answered(server: string): void {
    const circuit = this.#circuits.get(server);
    if (circuit === undefined) return;
    circuit.timer?.cancel();
    this.#circuits.delete(server);
    if (circuit.state !== "closed") this.#onChange(this.#seen(server, { ...circuit, state: "closed", failures: 0 }));
  }

  /** All servers can be reached, as the driver says. */
  healed(): void {
    for (const server of [...this.#circuits.keys()]) this.answered(server);
  }

  failed(server: string, error: Error, begunAt: number): void {
    if (this.#stopped) return;
    let circuit = this.#circuits.get(server);
    if (circuit === undefined) {
      circuit = {
        state: "closed",
        failures: 0,
        failingSince: begunAt,
        openedAt: 0,
        error: null,
        timer: undefined,
        waiting: new Set(),
      };
      this.#circuits.set(server, circuit);
    }
    circuit.failures++;
    circuit.error = error.message;
    const now = this.#clock.monotonicMs();
    const { failures, openAfterMs } = this.#options;
    if (circuit.state !== "closed" || circuit.failures < failures || now - circuit.failingSince < openAfterMs) return;
    circuit.openedAt = now;
    this.#open(server, circuit);
    for (const wake of [...circuit.waiting]) wake();
  }

  /** Calls back when the circuit opens, at once if it is open. Returns what takes it back. */
  whenOpen(server: string, wake: () => void): () => void {
    const circuit = this.#circuits.get(server);
    circuit?.waiting.add(wake);
    if (circuit !== undefined && circuit.state !== "closed") wake();
    return () => circuit?.waiting.delete(wake);
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#circuits.values()) timer?.cancel();
  }

  #open(server: string, circuit: Tracked): void {
    this.#change(server, circuit, "open");
    circuit.timer = this.#clock.after(this.#options.probeEveryMs, () => this.#halfOpen(server, circuit));
  }

  #halfOpen(server: string, circuit: Tracked): void {
    this.#change(server, circuit, "half-open");
    const isCurrent = () => this.#circuits.get(server) === circuit && circuit.state === "half-open" && !this.#stopped;
    const silent = () => {
      circuit.timer?.cancel();
      if (isCurrent()) this.#open(server, circuit);
    };
    circuit.timer = this.#clock.after(this.#options.probeEveryMs, silent);
    // An answer that comes late is an answer.
    this.#probe(server).then(
      () => this.#circuits.get(server) === circuit && this.answered(server),
      () => silent(),
    );
  }

  #change(server: string, circuit: Tracked, state: CircuitState): void {
    circuit.state = state;
    this.#onChange(this.#seen(server, circuit));
  }

  #seen(server: string, { state, failures, openedAt, error }: Tracked): Circuit {
    const openForMs = state === "closed" ? 0 : this.#clock.monotonicMs() - openedAt;
    return { server, state, failures, openForMs, error };
  }
}
