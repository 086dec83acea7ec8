/**
 * Consumer groups: how far a group has read, what it has delivered to whom, and who its consumers are.
 */
import { narrow } from "../../lib/numbers.ts";
import { stringBytes } from "../collection.ts";
import { own } from "../packed.ts";
import type { Id } from "./ids.ts";
import { Delivery, Pending } from "./pending.ts";

/** A counter of Redis's: an int64 that wraps around. A bigint only past 2^53. */
export type Counter = number | bigint;

export function addCounters(a: Counter, b: Counter): Counter {
  if (typeof a === "number" && typeof b === "number") {
    const sum = a + b;
    if (Number.isSafeInteger(sum)) return sum;
  }
  return narrow(BigInt.asIntN(64, BigInt(a) + BigInt(b)));
}

export const subtractCounters = (a: Counter, b: Counter): Counter => addCounters(a, -b);

/** What a group's counter of entries read is when nobody can tell. */
export const UNKNOWN = -1;

const GROUP_BYTES = 320;
const CONSUMER_BYTES = 240;
/** The object, its id, and its places in two lists. */
const DELIVERY_BYTES = 120;

/** Where groups book what they take, so that the stream knows its size without asking them. */
export interface Ledger {
  bytes: number;
}

export class Consumer {
  readonly name: string;
  /** When it was last seen trying to do something. */
  seenMs: number;
  readonly pending: Pending;

  constructor(name: string, seenMs: number, pending = new Pending()) {
    this.name = name;
    this.seenMs = seenMs;
    this.pending = pending;
  }
}

export class Group {
  readonly name: string;
  /** The last entry that was delivered to any of its consumers. */
  lastId: Id;
  /** How many entries of the stream's whole life it has read; UNKNOWN when that cannot be told. */
  entriesRead: Counter;
  readonly pending: Pending;
  readonly consumers = new Map<string, Consumer>();
  readonly #ledger: Ledger;
  /** Deliveries may be a frozen copy's as well. */
  #frozen = false;

  constructor(name: string, lastId: Id, entriesRead: Counter, ledger: Ledger, pending = new Pending()) {
    this.name = name;
    this.lastId = lastId;
    this.entriesRead = entriesRead;
    this.pending = pending;
    this.#ledger = ledger;
    ledger.bytes += GROUP_BYTES + stringBytes(name.length);
  }

  /** Takes what it holds off the ledger, before it goes. */
  release(): void {
    this.#ledger.bytes -= GROUP_BYTES + stringBytes(this.name.length) + this.pending.size * DELIVERY_BYTES;
    for (const { name } of this.consumers.values()) this.#ledger.bytes -= CONSUMER_BYTES + stringBytes(name.length);
  }

  /** A consumer that exists, its time renewed; or undefined. */
  seen(name: string, nowMs: number): Consumer | undefined {
    const consumer = this.consumers.get(name);
    if (consumer !== undefined) consumer.seenMs = nowMs;
    return consumer;
  }

  /** Adds a consumer whose name is not taken. */
  addConsumer(name: string, nowMs: number): Consumer {
    const consumer = new Consumer(own(name), nowMs);
    this.consumers.set(consumer.name, consumer);
    this.#ledger.bytes += CONSUMER_BYTES + stringBytes(name.length);
    return consumer;
  }

  /** Removes a consumer and forgets what was delivered to it; returns how much that was, undefined without such a one. */
  removeConsumer(name: string): number | undefined {
    const consumer = this.consumers.get(name);
    if (consumer === undefined) return undefined;
    const { size } = consumer.pending;
    for (let at = consumer.pending.first; at !== undefined; at = consumer.pending.first) this.forget(at);
    this.consumers.delete(name);
    this.#ledger.bytes -= CONSUMER_BYTES + stringBytes(name.length);
    return size;
  }

  /** Consumers by name, as Redis lists them. */
  sortedConsumers(): Consumer[] {
    return [...this.consumers.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Notes that an entry was delivered to a consumer now, for the first time or anew to another. */
  deliver(id: Id, consumer: Consumer, nowMs: number): Delivery {
    const found = this.pending.get(id);
    if (found === undefined) return this.addDelivery(id, consumer, nowMs, 1);
    return this.redeliver(found, consumer, nowMs, 1);
  }

  /** Adds a delivery whose id is not pending. */
  addDelivery(id: Id, consumer: Consumer, timeMs: number, count: Counter): Delivery {
    const delivery = new Delivery(id, consumer, timeMs, count);
    this.pending.add(delivery);
    consumer.pending.add(delivery);
    this.#ledger.bytes += DELIVERY_BYTES;
    return delivery;
  }

  /** Notes that what is pending was delivered again, to the same consumer or another; returns the delivery as it is now. */
  redeliver(delivery: Delivery, consumer: Consumer, timeMs: number, count: Counter): Delivery {
    const { id, consumer: before } = delivery;
    let now = delivery;
    if (this.#frozen) {
      now = new Delivery(id, consumer, timeMs, count);
      this.pending.replace(now);
      if (before === consumer) consumer.pending.replace(now);
    } else {
      delivery.consumer = consumer;
      delivery.timeMs = timeMs;
      delivery.count = count;
    }
    if (before !== consumer) {
      before.pending.remove(id);
      consumer.pending.add(now);
    }
    return now;
  }

  forget(delivery: Delivery): void {
    this.pending.remove(delivery.id);
    delivery.consumer.pending.remove(delivery.id);
    this.#ledger.bytes -= DELIVERY_BYTES;
  }

  /** Acknowledges an entry; false if it was not pending. */
  acknowledge(id: Id): boolean {
    const delivery = this.pending.get(id);
    if (delivery === undefined) return false;
    this.forget(delivery);
    return true;
  }

  /** See types/value.ts. */
  freeze(): Group {
    const frozen = new Group(this.name, this.lastId, this.entriesRead, { bytes: 0 }, this.pending.freeze());
    for (const { name, seenMs, pending } of this.consumers.values()) {
      frozen.consumers.set(name, new Consumer(name, seenMs, pending.freeze()));
    }
    this.#frozen = true;
    return frozen;
  }

  thaw(): void {
    this.#frozen = false;
    this.pending.thaw();
    for (const { pending } of this.consumers.values()) pending.thaw();
  }

  clone(ledger: Ledger): Group {
    const copy = new Group(this.name, this.lastId, this.entriesRead, ledger);
    for (const { name, seenMs, pending } of this.consumers.values()) {
      const consumer = copy.addConsumer(name, seenMs);
      for (const { id, timeMs, count } of pending.from("")) copy.addDelivery(id, consumer, timeMs, count);
    }
    return copy;
  }
}
