/** One server, or the primary that Sentinel names: a line for commands, and connections of their own for callers that ask. */
import { ClosedError } from "../base/errors.ts";
import { request, type Settings } from "./dial.ts";
import { Invalidations } from "./invalidations.ts";
import { DRAIN_MS, Line } from "./line.ts";
import type {
  Answer,
  ConnectionState,
  Reply,
  Request,
  Session,
  SessionOptions,
  Subscriber,
  SubscriberEvents,
  WorkerAddress,
} from "./port.ts";
import type { Group, Grouped } from "./replicas.ts";
import { asBuffers, EXEC, executed, sessionOver } from "./sessions.ts";
import { States } from "./states.ts";
import { WireSubscriber } from "./subscriber.ts";
import type { Wire } from "./wire.ts";

export interface RemoteOptions {
  readonly topology: "single" | "sentinel";
  readonly settings: Settings;
  /** A connection to the server that is the primary now. */
  readonly dial: () => Promise<Wire>;
  readonly address: WorkerAddress | null;
  /** Run once, when the driver is closed. */
  readonly onClose?: () => void;
  /** Run once, when its connections are over. */
  readonly onClosed?: (() => Promise<void>) | undefined;
}

export class RemoteDriver implements Grouped {
  readonly topology: "single" | "sentinel";
  readonly address: WorkerAddress | null;
  readonly #settings: Settings;
  readonly #dial: () => Promise<Wire>;
  readonly #line: Line;
  readonly #states = new States();
  readonly #sessions = new Set<Wire>();
  readonly #subscribers = new Set<WireSubscriber>();
  readonly #invalidations: Invalidations | null;
  readonly #onClose: (() => void) | undefined;
  readonly #onClosed: (() => Promise<void>) | undefined;
  readonly #group: Group = { label: "", ask: (each) => this.#line.ask(each) };
  #closed = false;

  private constructor(options: RemoteOptions) {
    this.topology = options.topology;
    this.address = options.address;
    this.#settings = options.settings;
    this.#dial = options.dial;
    this.#onClose = options.onClose;
    this.#onClosed = options.onClosed;
    this.#line = new Line({
      settings: options.settings,
      dial: options.dial,
      onState: (state) => this.#states.set(state),
    });
    const { tracking } = options.settings;
    this.#invalidations = tracking === undefined ? null : new Invalidations(options.settings, tracking, options.dial);
  }

  static async open(options: RemoteOptions): Promise<RemoteDriver> {
    const driver = new RemoteDriver(options);
    try {
      await driver.#line.open();
      await driver.#invalidations?.open();
    } catch (error) {
      await driver.close();
      throw error;
    }
    return driver;
  }

  send(each: Request): Promise<Reply> {
    return this.#line.send(each);
  }

  post(each: Request, resolve: (reply: Reply) => void, reject: (error: Error) => void): number {
    return this.#line.post(each, resolve, reject);
  }

  sendMany(requests: readonly Request[]): Promise<Answer[]> {
    return this.#line.askAll(requests);
  }

  async transact(requests: readonly Request[]): Promise<Answer[]> {
    return executed(requests, await this.#line.askAll([request("MULTI"), ...asBuffers(requests), EXEC]));
  }

  async session(_key: string | undefined, options: SessionOptions = {}): Promise<Session> {
    if (this.#closed) throw new ClosedError();
    const wire = await this.#dial();
    if (this.#closed) {
      wire.destroy();
      throw new ClosedError();
    }
    this.#sessions.add(wire);
    wire.onClose(() => this.#sessions.delete(wire));
    return sessionOver(wire, options.blocking === true ? undefined : this.#settings.commandTimeoutMs);
  }

  async subscriber(events: SubscriberEvents): Promise<Subscriber> {
    if (this.#closed) throw new ClosedError();
    const onEnd = (): void => void this.#subscribers.delete(subscriber);
    const subscriber = new WireSubscriber(this.#settings, this.#dial, events, onEnd);
    // Known before it is there, so that closing ends it in any case.
    this.#subscribers.add(subscriber);
    return subscriber.open();
  }

  sendToAll(each: Request): Promise<Answer[]> {
    return this.#line.askAll([each]);
  }

  get soundUntil(): number {
    return this.#invalidations?.soundUntil ?? Number.NEGATIVE_INFINITY;
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    return this.#states.add(listener);
  }

  probe(): Promise<Answer> {
    return this.#line.ask(request("PING"));
  }

  /** There is one primary. */
  groupOf(): Group {
    return this.#group;
  }

  /**
   * Gives up every connection that leads elsewhere than to this server: to a primary that has been replaced. What is under way on
   * them has a moment to be answered, then it is rejected: a caller would wait for ever for a message or an element that goes to
   * the new primary.
   */
  leaveUnless(label: string, reason: string): void {
    this.#line.leaveUnless(label, reason);
    this.#invalidations?.leaveUnless(label, reason);
    for (const subscriber of this.#subscribers) subscriber.leaveUnless(label, reason);
    for (const wire of this.#sessions) if (wire.label !== label) void wire.drain(DRAIN_MS, reason);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose?.();
    this.#invalidations?.close();
    for (const each of [...this.#sessions, ...this.#subscribers]) each.destroy();
    await this.#line.close();
    await this.#onClosed?.();
    this.#states.set("closed");
  }
}
