/**
 * What the cases of bench/structures.ts are made with: ours on Redis and on the embedded store, beside others that do the same
 * on the same Redis, or in this process.
 */
import { open, type Store } from "cinnabar";
import { Redis } from "ioredis";
import type { Op } from "./web.ts";

export interface StructureCase {
  readonly test: string;
  readonly inFlight: number;
  /** Undefined where nothing of ours goes to a server. */
  readonly ours: Op | undefined;
  readonly embedded: Op;
  /** On the same Redis, by the name that the table shows. */
  readonly others: Readonly<Record<string, Op>>;
  /** In this process: ours on the embedded store stands beside them. */
  readonly inProcess: Readonly<Record<string, Op>>;
  /** How many things one call of these makes. */
  readonly each: number;
}

/** Cases that are measured one after the other, on stores of their own: what works in the background for them ends with them. */
export type CaseMaker = (sides: Sides) => Promise<StructureCase[]>;

export interface Peers {
  readonly others?: Readonly<Record<string, Op>>;
  readonly inProcess?: Readonly<Record<string, Op>>;
  readonly each?: number;
  /** 1 and 50 by default. */
  readonly inFlight?: readonly number[];
}

/** The two stores of ours, a connection of ioredis for what people write by hand, and what has to be closed at the end. */
export class Sides {
  readonly byHand: Redis;
  readonly port: number;
  readonly #stores: readonly [remote: Store, embedded: Store];
  readonly #closers: (() => unknown)[] = [];

  private constructor(port: number, stores: readonly [Store, Store]) {
    this.port = port;
    this.byHand = this.connect();
    this.#stores = stores;
  }

  static async open(port: number): Promise<Sides> {
    return new Sides(port, [await open(`redis://127.0.0.1:${port}`), await open()]);
  }

  /** Another connection, closed with the rest. Commands that block do not end by an error when it is. */
  connect(): Redis {
    const redis = new Redis({ port: this.port, host: "127.0.0.1", maxRetriesPerRequest: null });
    this.onClose(() => redis.disconnect());
    return redis;
  }

  /** What was opened last is closed first. */
  onClose(close: () => unknown): void {
    this.#closers.unshift(close);
  }

  /** The same call of a component on both stores, beside its peers, with 1 and with 50 in flight. */
  async cases<S>(
    test: string,
    make: (store: Store) => S | Promise<S>,
    call: (subject: S, nth: number) => Promise<unknown>,
    peers: Peers,
  ): Promise<StructureCase[]> {
    const [ours, embedded] = [await make(this.#stores[0]), await make(this.#stores[1])];
    return casesOf(
      test,
      (nth) => call(ours, nth),
      (nth) => call(embedded, nth),
      peers,
    );
  }

  async close(): Promise<void> {
    for (const close of this.#closers) await close();
    for (const store of this.#stores) await store.close();
  }
}

/** What needs no store at all. */
export function withoutStore(test: string, make: Op, peers: Peers): StructureCase[] {
  return casesOf(test, undefined, make, { inFlight: [1], ...peers });
}

function casesOf(test: string, ours: Op | undefined, embedded: Op, peers: Peers): StructureCase[] {
  const { others = {}, inProcess = {}, each = 1, inFlight = [1, 50] } = peers;
  return inFlight.map((count) => ({ test, inFlight: count, ours, embedded, others, inProcess, each }));
}

/** Callers that wait until what they sent has arrived on the other side, in whatever order. */
export class Arrivals {
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  /** Sends under a number, and ends when that number has arrived. */
  async send(how: (nth: number) => Promise<unknown>): Promise<void> {
    const nth = ++this.#last;
    const arrived = new Promise<void>((resolve) => {
      this.#waiting.set(nth, resolve);
    });
    await how(nth);
    await arrived;
  }

  arrived(nth: number): void {
    this.#waiting.get(nth)?.();
    this.#waiting.delete(nth);
  }
}
