/**
 * A connection on which a server tells of every change to keys with certain prefixes (CLIENT TRACKING, broadcasting, RESP3): what
 * a client cache lives by. The server remembers nothing for it, so it costs the server no memory for each key.
 *
 * A connection that only listens cannot tell silence from death, so it asks for a sign of life every second. `soundUntil` is the
 * moment until which the server is known to have told everything, but for what is on its way.
 */
import type { Timer } from "../base/clock.ts";
import { InputError, ServerError } from "../base/errors.ts";
import { mayPass, request, type Settings } from "./dial.ts";
import { Line, preparedBy } from "./line.ts";
import type { Reply } from "./port.ts";
import type { Wire } from "./wire.ts";

const HEARTBEAT_MS = 1_000;
/** How long after its last sign of life a server is believed to be there. */
export const SOUND_MS = 3_000;

/** What is to be told, and to whom. */
export interface Tracking {
  readonly prefixes: readonly string[];
  /** These keys have changed; null: all of them may have. */
  changed(keys: readonly string[] | null): void;
}

export class Invalidations {
  readonly #settings: Settings;
  readonly #tracking: Tracking;
  readonly #line: Line;
  #soundUntil = Number.NEGATIVE_INFINITY;
  #heartbeat: Timer | undefined;

  constructor(settings: Settings, tracking: Tracking, dial: () => Promise<Wire>) {
    this.#settings = settings;
    this.#tracking = tracking;
    // A wire is given out only when the server tells of changes on it.
    const prepared = preparedBy((wire) => this.#prepare(wire), dial);
    this.#line = new Line({ settings, dial: prepared, onState: (state) => this.#onState(state) });
  }

  /** The first connection. Rejects where the server cannot do it or this user may not. */
  async open(): Promise<void> {
    if (!this.#line.ready) await this.#line.open();
  }

  /** The same for a server that has joined: it is tried until it succeeds or `close` is called. */
  begin(): void {
    Promise.resolve(this.#line.wire()).catch(() => {});
  }

  get soundUntil(): number {
    return this.#soundUntil;
  }

  async #prepare(wire: Wire): Promise<void> {
    const prefixes = this.#tracking.prefixes.flatMap((prefix) => ["PREFIX", prefix]);
    wire.onPush((kind, items) => {
      if (kind === "invalidate") this.#tracking.changed(keysIn(items[1]));
    });
    const limits = { timeoutMs: this.#settings.connectTimeoutMs };
    const [hello, tracking] = await wire.askAll(
      [request("HELLO", "3"), request("CLIENT", "TRACKING", "ON", "BCAST", ...prefixes)],
      limits,
    );
    for (const answer of [hello, tracking]) {
      if (!(answer instanceof ServerError)) continue;
      if (answer.code === "NOPERM" || mayPass(answer)) throw answer;
      throw new InputError(
        `clientCache needs a server with CLIENT TRACKING (Redis 6); ${wire.label} answers: ${answer.message}`,
      );
    }
    this.#heard();
  }

  #heard(): void {
    this.#soundUntil = this.#settings.clock.monotonicMs() + SOUND_MS;
  }

  #onState(state: string): void {
    if (state === "ready") this.#beat();
    if (state !== "lost") return;
    this.#soundUntil = Number.NEGATIVE_INFINITY;
    this.#heartbeat?.cancel();
    // What happens until the next connection is there is told to nobody.
    this.#tracking.changed(null);
  }

  #beat(): void {
    this.#heartbeat?.cancel();
    const { clock } = this.#settings;
    this.#heartbeat = clock.after(HEARTBEAT_MS, () => {
      const askedAt = clock.monotonicMs();
      // Silence past the deadline ends the connection, and with that everything starts anew.
      this.#line.ask(request("PING")).then(
        () => {
          // What the server said before it answered has been read.
          if (this.#line.ready) this.#soundUntil = Math.max(this.#soundUntil, askedAt + SOUND_MS);
          this.#beat();
        },
        () => {},
      );
    });
  }

  /** Leaves a server that is not this one. */
  leaveUnless(label: string, reason: string): void {
    this.#line.leaveUnless(label, reason);
  }

  close(): void {
    this.#onState("lost");
    void this.#line.close();
  }
}

function keysIn(reply: Reply | undefined): string[] | null {
  return Array.isArray(reply) ? reply.map(String) : null;
}
