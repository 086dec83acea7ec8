/**
 * One process of a consumer group: it takes messages, runs its body on each, and acknowledges those that ended well. Any number of
 * processes may serve a group; each message goes to one of them.
 *
 * It looks when a message says that there is something new, when a body has ended and made room, when a delivery that waits is due,
 * and every few seconds. A delivery is a lease that a thread renews (../../leases) while the body runs.
 */
import { sleep, type Timer } from "../../base/clock.ts";
import { ClosedError, errorOf, messageOf as textOf } from "../../base/errors.ts";
import { Listeners } from "../../base/listeners.ts";
import { defineOptions, whole } from "../../base/options.ts";
import { Together } from "../../base/together.ts";
import type { Store } from "../../connection/store.ts";
import { DRIFT, type KeptLease, Renewal, renewDueFirst } from "../../leases/renewal.ts";
import { Hint } from "../../waiting/hint.ts";
import { type StopOptions, UnrecoverableError } from "../queues/index.ts";
import type { Message } from "./message.ts";
import type { Delivery, Taken } from "./scripts.ts";

/** A message, as a subscriber's body gets it. */
export interface Delivered<T> extends Message<T> {
  /** The consumer group that it is delivered to. */
  readonly group: string;
  /** 1 for the first. */
  readonly attempt: number;
  /** How often it is tried at most. */
  readonly attempts: number;
}

/** What a `Subscriber` tells, by `on`. */
export interface SubscriberEvents<T> {
  /** The body ended well, and the message is acknowledged. */
  done(message: Delivered<T>): void;
  /** The body threw. The message comes again if `willRetry`; otherwise it is a dead letter. */
  failed(message: Delivered<T>, error: unknown, outcome: { readonly willRetry: boolean }): void;
  /** The body ended after its lease was lost: the message is, or was, delivered to another. */
  lost(message: Delivered<T>): void;
  /** Something went wrong that is not the body's fault; the subscriber goes on. */
  error(error: Error): void;
}

export interface SubscriberTask<T> {
  readonly channel: string;
  readonly group: string;
  readonly concurrency: number;
  readonly leaseMs: number;
  readonly attempts: number;
  readonly backoffMs: number;
  readonly pollMs: number;
  take(most: number, token: string, lost: string): Promise<Taken>;
  acknowledge(token: string, deliveries: readonly Delivery[]): Promise<boolean[]>;
  fail(token: string, delivery: Delivery, how: Failure): Promise<string>;
  renewal(token: string, delivery: Delivery): ReturnType<Parameters<Renewal["keep"]>[0]["call"]>;
  decode(delivery: Delivery): Message<T>;
  newToken(): string;
  body(message: Delivered<T>, signal: AbortSignal): Promise<unknown> | unknown;
}

export interface Failure {
  /** Below 0: no further attempt. */
  readonly delayMs: number;
  readonly isAttempt: boolean;
  readonly error: string;
}

/** A delivery that this process has. */
interface InHand {
  readonly delivery: Delivery;
  readonly token: string;
  readonly controller: AbortController;
  kept: KeptLease | null;
  isOver: boolean;
}

const STOP_OPTIONS = defineOptions<StopOptions>("Subscriber.stop", { timeoutMs: whole(0) });

const LONGEST_BACKOFF_MS = 60_000;
const LONGEST_ERROR = 1_000;
const HANDED_BACK: Failure = { delayMs: 0, isAttempt: false, error: "" };

/**
 * A process of a consumer group, from `DurableTopic.subscriber`. It begins with `start()`.
 *
 * @example
 * const orders = new DurableTopic<{ n: number }>(db, "orders");
 * await orders.publish({ n: 1 });
 * const billing = orders.subscriber("billing", { from: "start" }, ({ data }) => console.log(data.n));
 * const message = await new Promise((resolve) => billing.start().on("done", resolve));
 * message; // → { id: "…", data: { n: 1 }, publishedAt: …, group: "billing", attempt: 1, attempts: 5 }
 * await billing.stop();
 */
export class Subscriber<T> {
  /** The consumer group that it works for. */
  readonly group: string;
  readonly #store: Store;
  readonly #task: SubscriberTask<T>;
  readonly #hint: Hint;
  readonly #listeners = new Listeners<SubscriberEvents<T>>("done", "failed", "lost", "error");
  readonly #inHand = new Set<InHand>();
  readonly #acknowledging: Together<InHand, boolean>;
  #state: "new" | "running" | "stopping" | "stopped" = "new";
  #stopping: Promise<void> | null = null;
  #isLookingSoon = false;
  #lostToken = "";
  #seen = 0;
  #timer: Timer | null = null;
  #onIdle: (() => void) | null = null;
  #forgetClose = (): void => {};

  constructor(store: Store, task: SubscriberTask<T>) {
    this.group = task.group;
    this.#store = store;
    this.#task = task;
    this.#hint = new Hint(store, {
      channel: task.channel,
      pollMs: task.pollMs,
      look: () => this.#look(),
      versions: { of: (message) => versionIn(message), seen: () => this.#seen },
      onError: (error) => this.#listeners.tell("error", errorOf(error)),
    });
    this.#acknowledging = new Together((ended) => this.#acknowledge(ended));
  }

  /** Messages that are being worked on here. */
  get running(): number {
    return this.#inHand.size;
  }

  /**
   * Begins to take messages. Throws a `ClosedError` when the store is closed. A second call, or one after `stop()`, does nothing.
   */
  start(): this {
    if (this.#state !== "new") return this;
    if (this.#store.closed) throw new ClosedError("the store is closed; a subscriber on it cannot start");
    this.#state = "running";
    this.#forgetClose = this.#store.on("close", () => this.stop({ timeoutMs: 0 }));
    this.#hint.follow();
    this.#lookSoon();
    return this;
  }

  /** Calls the listener at each event of a kind. Returns what takes the listener off. */
  on<E extends keyof SubscriberEvents<T>>(event: E, listener: SubscriberEvents<T>[E]): () => void {
    return this.#listeners.add(event, listener);
  }

  /** Takes nothing more, lets bodies end, and hands back what has not ended in time. Safe to call twice. */
  async stop(options: StopOptions = {}): Promise<void> {
    STOP_OPTIONS.check(options);
    this.#stopping ??= this.#stop(options.timeoutMs ?? 30_000);
    return this.#stopping;
  }

  /** The same as `stop()`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(timeoutMs: number): Promise<void> {
    const wasRunning = this.#state === "running";
    this.#state = "stopping";
    this.#timer?.cancel();
    if (wasRunning) await this.#hint.stop();
    await this.#hint.looking?.catch(() => {});
    if (this.#inHand.size > 0 && timeoutMs > 0) {
      const idle = new AbortController();
      this.#onIdle = () => idle.abort();
      await sleep(this.#store.clock, timeoutMs, idle.signal).catch(() => {});
    }
    await Promise.all([...this.#inHand].map((each) => this.#handBack(each)));
    this.#state = "stopped";
    this.#forgetClose();
  }

  async #handBack(each: InHand): Promise<void> {
    this.#end(each);
    each.controller.abort(new ClosedError("the subscriber is stopped"));
    await this.#task.fail(each.token, each.delivery, HANDED_BACK).catch(() => {});
  }

  // ---------------------------------------------------------------------------------------------- taking

  async #look(): Promise<void> {
    let nextMs: number | null = null;
    try {
      nextMs = await this.#takeAll();
    } finally {
      this.#wakeIn(nextMs);
    }
  }

  /** Takes as many as there is room for, until there are none. In how long the first that waits is due; null if none does. */
  async #takeAll(): Promise<number | null> {
    while (this.#state === "running") {
      const free = this.#task.concurrency - this.#inHand.size;
      if (free <= 0) return null;
      const token = this.#task.newToken();
      const sentMs = this.#store.clock.monotonicMs();
      renewDueFirst(this.#store);
      let taken: Taken;
      try {
        taken = await this.#task.take(free, token, this.#lostToken);
        this.#lostToken = "";
      } catch (error) {
        // It may have been given messages: the next look gives them back.
        if (this.#lostToken === "") this.#lostToken = token;
        throw error;
      }
      this.#seen = taken.seq;
      for (const delivery of taken.deliveries) this.#begin(delivery, token, sentMs);
      if (taken.deliveries.length < free) return taken.nextMs;
    }
    return null;
  }

  /** When the first of those that wait is due. The timer keeps the process alive, as long as the subscriber runs. */
  #wakeIn(ms: number | null): void {
    this.#timer?.cancel();
    if (this.#state !== "running") return;
    const afterMs = Math.min((ms ?? this.#task.pollMs) + 1, this.#task.pollMs);
    this.#timer = this.#store.clock.after(afterMs, () => this.#lookSoon(), { keepAlive: true });
  }

  /** Once for all that end together: one question then asks for as many. */
  #lookSoon(): void {
    if (this.#isLookingSoon) return;
    this.#isLookingSoon = true;
    queueMicrotask(() => {
      this.#isLookingSoon = false;
      if (this.#state === "running") this.#hint.look().catch(() => {});
    });
  }

  // ---------------------------------------------------------------------------------------------- running

  #begin(delivery: Delivery, token: string, sentMs: number): void {
    const { leaseMs } = this.#task;
    const each: InHand = { delivery, token, controller: new AbortController(), kept: null, isOver: false };
    this.#inHand.add(each);
    each.kept = Renewal.of(this.#store).keep({
      call: () => this.#task.renewal(token, delivery),
      leaseMs,
      validUntilMs: sentMs + leaseMs * (1 - DRIFT),
      renew: true,
      onLost: (reason) => each.controller.abort(reason),
    });
    void this.#run(each);
  }

  async #run(each: InHand): Promise<void> {
    const { delivery } = each;
    let message: Delivered<T>;
    try {
      const { group, attempts } = this.#task;
      message = { ...this.#task.decode(delivery), group, attempt: delivery.attempt, attempts };
    } catch (error) {
      await this.#failed(each, null, new UnrecoverableError(`it cannot be decoded: ${textOf(error)}`));
      return;
    }
    try {
      await this.#task.body(message, each.controller.signal);
    } catch (error) {
      await this.#failed(each, message, error);
      return;
    }
    await this.#succeeded(each, message);
  }

  async #succeeded(each: InHand, message: Delivered<T>): Promise<void> {
    if (each.isOver) return;
    try {
      const isTaken = await this.#acknowledging.ask(each);
      this.#listeners.tell(isTaken ? "done" : "lost", message);
    } catch (error) {
      // It comes again after its lease.
      this.#listeners.tell("error", errorOf(error));
    } finally {
      this.#end(each);
    }
  }

  async #failed(each: InHand, message: Delivered<T> | null, thrown: unknown): Promise<void> {
    if (each.isOver) return;
    const { attempt } = each.delivery;
    const isHopeless = thrown instanceof UnrecoverableError;
    const delayMs = isHopeless
      ? -1
      : Math.min(this.#task.backoffMs * 2 ** Math.min(attempt - 1, 30), LONGEST_BACKOFF_MS);
    try {
      const error = storable(thrown);
      const outcome = await this.#task.fail(each.token, each.delivery, { delayMs, isAttempt: true, error });
      if (message === null) this.#listeners.tell("error", errorOf(thrown));
      else if (outcome === "lost") this.#listeners.tell("lost", message);
      else this.#listeners.tell("failed", message, thrown, { willRetry: outcome === "retry" });
    } catch (error) {
      this.#listeners.tell("error", errorOf(error));
    } finally {
      this.#end(each);
    }
  }

  #end(each: InHand): void {
    if (each.isOver) return;
    each.isOver = true;
    each.kept?.end();
    this.#inHand.delete(each);
    if (this.#inHand.size === 0) this.#onIdle?.();
    this.#lookSoon();
  }

  /** Those that ended in one turn of the event loop, in one call for each token. */
  async #acknowledge(ended: readonly InHand[]): Promise<(boolean | Error)[]> {
    const byToken = new Map<string, InHand[]>();
    for (const each of ended) byToken.set(each.token, [...(byToken.get(each.token) ?? []), each]);
    const answers = new Map<InHand, boolean | Error>();
    await Promise.all(
      [...byToken].map(async ([token, own]) => {
        try {
          const taken = await this.#task.acknowledge(
            token,
            own.map(({ delivery }) => delivery),
          );
          own.forEach((each, at) => void answers.set(each, taken[at] ?? false));
        } catch (error) {
          for (const each of own) answers.set(each, errorOf(error));
        }
      }),
    );
    return ended.map((each) => answers.get(each) ?? false);
  }
}

/** The text of an error in one line, of a bounded length and without halves of characters. */
function storable(thrown: unknown): string {
  const line = textOf(thrown).replaceAll("\n", " ").slice(0, LONGEST_ERROR);
  return Buffer.from(line, "utf8").toString("utf8");
}

/** The number of the message that was published; a hint without one is always worth a look. */
function versionIn(message: Buffer): number {
  const number = Number(message.toString("latin1"));
  return Number.isNaN(number) ? Number.POSITIVE_INFINITY : number;
}
