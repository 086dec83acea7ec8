/**
 * One connection for all subscriptions, over any wire. When it is lost another is dialled, everything is subscribed again, and
 * then `resumed` says that messages may be missing. A connection that only listens cannot tell silence from death, so it asks
 * for a sign of life now and then.
 */
import type { Timer } from "../base/clock.ts";
import { ClosedError, ConnectionError, ServerError } from "../base/errors.ts";
import { request, type Settings } from "./dial.ts";
import { Line, preparedBy } from "./line.ts";
import type { Subscriber, SubscriberEvents } from "./port.ts";
import type { Wire } from "./wire.ts";

export const HEARTBEAT_MS = 5_000;

export class WireSubscriber implements Subscriber {
  readonly #settings: Settings;
  readonly #events: SubscriberEvents;
  readonly #line: Line;
  readonly #onEnd: () => void;
  readonly #channels = new Set<string>();
  readonly #confirmed = new Set<string>();
  #lost = false;
  #heartbeat: Timer | undefined;
  #destroyed = false;

  constructor(settings: Settings, dial: () => Promise<Wire>, events: SubscriberEvents, onEnd: () => void) {
    this.#settings = settings;
    this.#events = events;
    this.#onEnd = onEnd;
    // A wire is given out only with its subscriptions on it.
    const prepared = preparedBy((wire) => this.#prepare(wire), dial);
    this.#line = new Line({ settings, dial: prepared, onState: (state) => this.#onState(state) });
  }

  /** Resolves when the first connection is there. */
  async open(): Promise<this> {
    try {
      await this.#line.open();
    } catch (error) {
      this.destroy();
      throw error;
    }
    return this;
  }

  async #prepare(wire: Wire): Promise<void> {
    this.#confirmed.clear();
    // Also those that come while others are being confirmed.
    for (let missing = [...this.#channels]; missing.length > 0; ) {
      await Promise.all(missing.map((channel) => this.#listen(wire, channel)));
      missing = [...this.#channels].filter((channel) => !this.#confirmed.has(channel));
    }
  }

  async #listen(wire: Wire, channel: string): Promise<void> {
    await wire.subscribe(channel, (message) => this.#events.message(channel, message));
    this.#confirmed.add(channel);
  }

  #onState(state: string): void {
    if (state === "lost") {
      this.#lost = true;
      this.#heartbeat?.cancel();
      this.#confirmed.clear();
    } else if (state === "ready") {
      this.#beat();
      if (!this.#lost) return;
      this.#lost = false;
      this.#events.resumed();
    }
  }

  #beat(): void {
    this.#heartbeat?.cancel();
    this.#heartbeat = this.#settings.clock.after(HEARTBEAT_MS, () => {
      // Silence past the deadline ends the connection, and with that everything starts anew.
      this.#line.ask(request("PING")).then(
        () => this.#beat(),
        () => {},
      );
    });
  }

  async subscribe(channel: string): Promise<void> {
    if (this.#destroyed) throw new ClosedError();
    this.#channels.add(channel);
    const { clock, commandTimeoutMs } = this.#settings;
    const until = clock.monotonicMs() + commandTimeoutMs;
    while (!this.#confirmed.has(channel)) {
      try {
        const wire = await this.#line.wire();
        if (!this.#confirmed.has(channel)) await this.#within(until, wire, this.#listen(wire, channel));
      } catch (error) {
        if (this.#destroyed) throw new ClosedError();
        if (error instanceof ServerError || clock.monotonicMs() >= until) {
          this.#channels.delete(channel);
          throw error;
        }
        await new Promise<void>((resolve) => clock.after(50, resolve, { keepAlive: true }));
      }
    }
  }

  async #within(until: number, wire: Wire, confirmed: Promise<void>): Promise<void> {
    const { clock } = this.#settings;
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = clock.after(Math.max(until - clock.monotonicMs(), 0), () => {
        reject(new ConnectionError(`${wire.label} did not confirm a subscription`, { maybeExecuted: true }));
        wire.destroy(`${wire.label} did not confirm a subscription`);
      });
    });
    try {
      await Promise.race([confirmed, late]);
    } finally {
      timer?.cancel();
    }
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#channels.delete(channel);
    if (!this.#confirmed.delete(channel) || !this.#line.ready) return;
    const wire = await this.#line.wire();
    await wire.unsubscribe(channel);
  }

  /** Listens elsewhere, if it does not listen to this server. */
  leaveUnless(label: string, reason: string): void {
    this.#line.leaveUnless(label, reason);
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#heartbeat?.cancel();
    void this.#line.close();
    this.#onEnd();
  }
}
