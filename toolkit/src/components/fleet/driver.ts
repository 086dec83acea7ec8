/**
 * One component's shards as one driver: each request goes to the server that owns the slot of its key, as in a Cluster, so that
 * components that work there work here. What a Cluster's nodes refuse, this refuses before it is sent: a request for slots that
 * are being moved waits, and so does every request while the right to use the layout has run out.
 *
 * Messages are published on the shard of the script that publishes, so a subscription is one on every shard.
 */

import type { Clock, Timer } from "../../base/clock.ts";
import { ClosedError, ConnectionError, InputError } from "../../base/errors.ts";
import { HOUSE_KEYS } from "../../base/layout.ts";
import { getOrMake, zipped } from "../../base/lists.ts";
import type {
  Answer,
  ConnectionState,
  Driver,
  Reply,
  Request,
  Session,
  SessionOptions,
  Subscriber,
  SubscriberEvents,
} from "../../connection/port.ts";
import { SLOTS, slotOf } from "../../connection/slots.ts";
import { States } from "../../connection/states.ts";
import type { ComponentLayout } from "./layout.ts";

export interface FleetDriverOptions {
  readonly clock: Clock;
  /** How long a request waits for slots that are being moved, or for the right to use the layout. */
  readonly waitMs: number;
  /** What the fleet's own keys begin with. */
  readonly reserved: string;
}

type Keyed = Pick<Request, "key">;

interface Open {
  readonly session: Session;
  readonly slot: number;
}

/** A driver whose state is known. */
interface Listened {
  end: () => void;
  state: ConnectionState;
}

export class FleetDriver implements Driver {
  readonly topology = "cluster";
  /** A thread would have to follow the layout too. */
  readonly address = null;
  readonly #options: FleetDriverOptions;
  readonly #states = new States();
  #shards = new Map<string, Driver>();
  #owner: Driver[] = [];
  #prefixes: readonly string[] | undefined;
  readonly #frozen = new Uint8Array(SLOTS);
  readonly #underWay = new Uint32Array(SLOTS);
  #validUntilMs = Number.NEGATIVE_INFINITY;
  /** Called when something may go on: another layout, or more time. */
  readonly #waiting = new Set<() => void>();
  /** Called when a request is over, by movers that wait for slots to become quiet. */
  readonly #quiet = new Set<() => void>();
  readonly #sessions = new Set<Open>();
  readonly #subscribers = new Set<FleetSubscriber>();
  readonly #listening = new Map<Driver, Listened>();
  #closed = false;

  constructor(options: FleetDriverOptions) {
    this.#options = options;
  }

  // ---------------------------------------------------------------------------------------------- the layout

  /**
   * Follows a layout from now on. Resolves when nothing is under way any more that the layout does not allow, and when
   * messages of new shards are heard: only then may the others be told that it is followed.
   */
  async follow(layout: ComponentLayout, shards: ReadonlyMap<string, Driver>): Promise<void> {
    const owner: Driver[] = new Array(SLOTS);
    for (const { from, to, shard } of layout.slots) owner.fill(shards.get(shard)!, from, to + 1);
    this.#shards = new Map(shards);
    this.#owner = owner;
    this.#prefixes = layout.prefixes;
    this.#frozen.fill(0);
    const { moving } = layout;
    if (moving !== undefined) this.#frozen.fill(1, moving.from, moving.to + 1);
    for (const open of [...this.#sessions]) if (this.#frozen[open.slot] === 1) this.#end(open);
    this.#listen();
    this.#wake();
    const heard = [...this.#subscribers].map((subscriber) => subscriber.follow(this.#drivers()));
    if (moving !== undefined) await this.#quietIn(moving.from, moving.to);
    await Promise.all(heard);
  }

  /** May be used until then, by the monotonic clock. */
  allow(untilMs: number): void {
    this.#validUntilMs = untilMs;
    this.#wake();
  }

  #wake(): void {
    for (const each of [...this.#waiting]) each();
  }

  async #quietIn(from: number, to: number): Promise<void> {
    const busy = () => this.#underWay.subarray(from, to + 1).some((count) => count > 0);
    while (busy() && !this.#closed) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#quiet.delete(done);
          resolve();
        };
        this.#quiet.add(done);
      });
    }
  }

  #drivers(): Set<Driver> {
    return new Set(this.#shards.values());
  }

  #listen(): void {
    const drivers = this.#drivers();
    for (const [driver, { end }] of [...this.#listening]) {
      if (drivers.has(driver)) continue;
      end();
      this.#listening.delete(driver);
    }
    for (const driver of drivers) {
      if (this.#listening.has(driver)) continue;
      const entry: Listened = { end: () => {}, state: "connecting" };
      this.#listening.set(driver, entry);
      entry.end = driver.onState((state) => {
        entry.state = state;
        const all = [...this.#listening.values()].map((each) => each.state);
        if (all.includes("lost")) this.#states.set("lost");
        else if (all.every((each) => each === "ready")) this.#states.set("ready");
      });
    }
  }

  // ---------------------------------------------------------------------------------------------- requests

  send(each: Request): Promise<Reply> {
    return this.#admitted([each], () => this.#driverFor(each).send(each));
  }

  sendMany(requests: readonly Request[]): Promise<Answer[]> {
    return this.#admitted(requests, async () => {
      const groups = new Map<Driver, { readonly at: number; readonly request: Request }[]>();
      for (const [at, request] of requests.entries()) {
        getOrMake(groups, this.#driverFor(request), () => []).push({ at, request });
      }
      const answers: Answer[] = new Array(requests.length).fill(null);
      const sending = [...groups].map(async ([driver, group]) => {
        const got = await driver.sendMany(group.map(({ request }) => request));
        for (const [{ at }, answer] of zipped(group, got)) answers[at] = answer;
      });
      await everyOne(sending);
      return answers;
    });
  }

  transact(requests: readonly Request[]): Promise<Answer[]> {
    const first = requests.find(({ key }) => key !== undefined) ?? requests[0]!;
    return this.#admitted(requests, () => this.#driverFor(first).transact(requests));
  }

  sendToAll(each: Request): Promise<Answer[]> {
    return this.#admitted([], async () => {
      const answers: Answer[][] = [];
      const sending = [...this.#drivers()].map(async (driver, at) => {
        answers[at] = await driver.sendToAll(each);
      });
      await everyOne(sending);
      return answers.flat();
    });
  }

  /** The shard's name, and the server's in it. */
  serverOf(key: string | undefined): string {
    const driver = key === undefined ? this.#owner[0] : this.#owner[slotOf(key)];
    for (const [name, each] of this.#shards) if (each === driver) return `${name}/${each.serverOf?.(key) ?? ""}`;
    return "";
  }

  servers(): readonly string[] {
    return [...this.#shards].flatMap(([name, each]) => (each.servers?.() ?? [""]).map((server) => `${name}/${server}`));
  }

  async probe(server: string): Promise<unknown> {
    const slash = server.indexOf("/");
    return this.#shards.get(server.slice(0, slash))?.probe?.(server.slice(slash + 1));
  }

  /** Refuses a key that a move would not take along. */
  #slotFor({ key }: Keyed): number {
    if (key === undefined) return ANY;
    const { reserved } = this.#options;
    if (key.startsWith(reserved)) throw new InputError(`keys that begin with "${reserved}" belong to the fleet itself`);
    const prefixes = this.#prefixes;
    const isOwn =
      prefixes === undefined || key.startsWith(HOUSE_KEYS) || prefixes.some((prefix) => key.startsWith(prefix));
    if (!isOwn) {
      throw new InputError(
        `this component owns keys that begin with ${prefixes.map((each) => JSON.stringify(each)).join(" or ")}, ` +
          `and ${JSON.stringify(key)} does not`,
      );
    }
    return slotOf(key);
  }

  #driverFor({ key }: Request): Driver {
    return key === undefined ? this.#anyDriver() : this.#owner[slotOf(key)]!;
  }

  #anyDriver(): Driver {
    return this.#owner[0]!;
  }

  /** Runs when the slots of all requests may be used, and counts as under way in them until it is over. */
  async #admitted<T>(requests: readonly Keyed[], run: () => Promise<T>): Promise<T> {
    const slots = requests.map((each) => this.#slotFor(each));
    if (!this.#isOpen(slots)) await this.#opened(slots);
    for (const slot of slots) if (slot !== ANY) this.#underWay[slot]!++;
    try {
      return await run();
    } finally {
      for (const slot of slots) if (slot !== ANY) this.#underWay[slot]!--;
      for (const each of this.#quiet) each();
    }
  }

  #isOpen(slots: readonly number[]): boolean {
    if (this.#closed) throw new ClosedError();
    if (this.#options.clock.monotonicMs() >= this.#validUntilMs) return false;
    for (const slot of slots) if (slot !== ANY && this.#frozen[slot] === 1) return false;
    return true;
  }

  #opened(slots: readonly number[]): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: Timer | undefined;
      const over = (end: () => void) => {
        this.#waiting.delete(look);
        timer?.cancel();
        end();
      };
      const look = () => {
        try {
          if (this.#isOpen(slots)) over(resolve);
        } catch (error) {
          over(() => reject(error));
        }
      };
      this.#waiting.add(look);
      timer = this.#options.clock.after(this.#options.waitMs, () => over(() => reject(this.#late())), {
        keepAlive: true,
      });
    });
  }

  #late(): ConnectionError {
    const isValid = this.#options.clock.monotonicMs() < this.#validUntilMs;
    const why = isValid
      ? "the slots are being moved to another shard"
      : "the fleet's home store has not confirmed the layout for too long";
    return new ConnectionError(`${why}; waited for ${this.#options.waitMs} ms`, {
      maybeExecuted: false,
      code: "MOVING",
    });
  }

  // ---------------------------------------------------------------------------------------------- connections

  async session(key: string | undefined, options?: SessionOptions): Promise<Session> {
    const slot = this.#slotFor({ key });
    const session = await this.#admitted([{ key }], () =>
      (slot === ANY ? this.#anyDriver() : this.#owner[slot]!).session(key, options),
    );
    const open: Open = { session, slot };
    this.#sessions.add(open);
    // The slot may have been frozen while the connection was made.
    if (this.#closed || this.#frozen[slot] === 1) this.#end(open);
    return {
      send: (each) => this.#inSession(open, () => session.send(each)),
      sendMany: (requests) => this.#inSession(open, () => session.sendMany(requests)),
      destroy: () => this.#end(open),
    };
  }

  async #inSession<T>(open: Open, send: () => Promise<T>): Promise<T> {
    if (!this.#sessions.has(open) || !this.#isOpen([open.slot])) {
      this.#end(open);
      throw new ConnectionError("the slots of this connection have moved", { maybeExecuted: false, code: "MOVING" });
    }
    return send();
  }

  #end(open: Open): void {
    if (this.#sessions.delete(open)) open.session.destroy();
  }

  async subscriber(events: SubscriberEvents): Promise<Subscriber> {
    if (this.#closed) throw new ClosedError();
    const subscriber = new FleetSubscriber(events, () => this.#subscribers.delete(subscriber));
    this.#subscribers.add(subscriber);
    await subscriber.follow(this.#drivers());
    return subscriber;
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#states.add(listener);
  }

  /** The shards' own drivers belong to the fleet. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    for (const open of [...this.#sessions]) this.#end(open);
    for (const subscriber of [...this.#subscribers]) subscriber.destroy();
    for (const { end } of this.#listening.values()) end();
    this.#wake();
    for (const each of [...this.#quiet]) each();
    this.#states.set("closed");
  }
}

/** No slot: a request without a key. */
const ANY = -1;

/** Waits for all. If one failed and another may have run, the whole may have. */
async function everyOne(sending: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(sending);
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return;
  const error: unknown = failed.reason;
  if (!(error instanceof ConnectionError) || error.maybeExecuted || sending.length === 1) throw error;
  throw new ConnectionError(error.message, { maybeExecuted: true, code: error.code, cause: error });
}

class FleetSubscriber implements Subscriber {
  readonly #events: SubscriberEvents;
  readonly #onEnd: () => void;
  readonly #channels = new Set<string>();
  readonly #parts = new Map<Driver, Promise<Subscriber>>();
  #closed = false;

  constructor(events: SubscriberEvents, onEnd: () => void) {
    this.#events = events;
    this.#onEnd = onEnd;
  }

  /** Listens on these shards and on no others. */
  async follow(drivers: ReadonlySet<Driver>): Promise<void> {
    for (const [driver, part] of [...this.#parts]) {
      if (drivers.has(driver)) continue;
      this.#parts.delete(driver);
      void part.then(
        (subscriber) => subscriber.destroy(),
        () => {},
      );
    }
    await Promise.all([...drivers].map((driver) => this.#part(driver)));
  }

  #part(driver: Driver): Promise<Subscriber> {
    let part = this.#parts.get(driver);
    if (part === undefined) {
      part = this.#begin(driver).catch((error) => {
        this.#parts.delete(driver);
        throw error;
      });
      this.#parts.set(driver, part);
    }
    return part;
  }

  async #begin(driver: Driver): Promise<Subscriber> {
    const subscriber = await driver.subscriber(this.#events);
    if (this.#closed) subscriber.destroy();
    await Promise.all([...this.#channels].map((channel) => subscriber.subscribe(channel)));
    return subscriber;
  }

  async subscribe(channel: string): Promise<void> {
    this.#channels.add(channel);
    const parts = await Promise.all(this.#parts.values());
    await Promise.all(parts.map((part) => part.subscribe(channel)));
  }

  async unsubscribe(channel: string): Promise<void> {
    this.#channels.delete(channel);
    const parts = await Promise.all(this.#parts.values());
    await Promise.all(parts.map((part) => part.unsubscribe(channel)));
  }

  destroy(): void {
    this.#closed = true;
    this.#onEnd();
    for (const part of this.#parts.values()) {
      void part.then(
        (subscriber) => subscriber.destroy(),
        () => {},
      );
    }
    this.#parts.clear();
  }
}
