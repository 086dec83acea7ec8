/**
 * Faults on request, for what is connected to a test store: stores of `connect()`, ioredis and node-redis clients, and what stands
 * on these. Calls of `TestStore.db` go straight to the engine and have no connection that could fail.
 */
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers";
import type { Engine, EngineImage } from "@cinnabar/engine";
import { InputError } from "../base/errors.ts";
import { defineOptions, object } from "../base/options.ts";

/** What the new primary has. */
export interface FailoverOptions {
  /** What the new primary has: the data of this image (`engine.image()`), and so not what was written since. All, by default. */
  readonly image?: EngineImage;
}

const FAILOVER_OPTIONS = defineOptions<FailoverOptions>("Faults.failover", { image: object });

/**
 * What goes wrong, on request, for what is connected to a test store.
 * @example
 * const { db: store, faults, clock } = await TestStore.open();
 * faults.outOfMemory();
 * await store.set("k", "v").catch(({ code }) => code); // → "OOM"
 * faults.outOfMemory(false);
 * faults.failover();
 * await clock.advance(0);
 */
export class Faults {
  readonly #engine: Engine;
  readonly #streams = new Set<Duplex>();
  #isStopped = false;
  #delayMs = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Every connection is cut, as by a network: what was not answered may have run. Clients connect again. */
  cut(): void {
    for (const stream of [...this.#streams]) stream.destroy();
  }

  /**
   * Every connection is cut and new ones are refused, until `start`. The data stays.
   * @example
   * const { faults } = await TestStore.open();
   * faults.cut();
   * faults.stop();
   * faults.start();
   * faults.dial().end("PING\r\n");
   */
  stop(): void {
    this.#isStopped = true;
    this.cut();
  }

  /** New connections are accepted again after `stop`. */
  start(): void {
    this.#isStopped = false;
  }

  /**
   * From now on every reply is so long on its way; 0 ends it.
   * @example
   * const store = await TestStore.open({ clock: new TestClock({ follows: "timers" }) });
   * const client = await store.connect();
   * store.faults.delay(5);
   * await client.set("k", "v"); // → "OK"
   * store.faults.clear();
   */
  delay(ms: number): void {
    if (!(ms >= 0 && ms < 2 ** 31)) throw new InputError("delay() takes milliseconds, 0 or more");
    this.#delayMs = ms;
  }

  /** Another server is the primary: connections are cut, and it knows no scripts, and perhaps not the last writes. */
  failover(options: FailoverOptions = {}): void {
    FAILOVER_OPTIONS.check(options);
    if (options.image !== undefined) this.#engine.restore(options.image);
    const client = this.#engine.connect();
    client.callSync("SCRIPT", "FLUSH");
    client.close();
    this.cut();
  }

  /** Commands that need memory are refused with OOM, until it is called with false. */
  outOfMemory(isFull = true): void {
    const client = this.#engine.connect();
    client.callSync("CONFIG", "SET", "maxmemory", isFull ? "1" : "0", "maxmemory-policy", "noeviction");
    client.close();
  }

  /** A connection to the store, which the faults concern. */
  dial(): Duplex & { readonly connecting: boolean } {
    const stream = this.#engine.stream({ lagMs: () => this.#delayMs });
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    if (this.#isStopped) {
      const error = Object.assign(new Error("connect ECONNREFUSED (the store is stopped)"), { code: "ECONNREFUSED" });
      nextTurn(() => stream.destroy(error));
    }
    return stream;
  }

  /** Everything as it was at first. */
  clear(): void {
    this.#isStopped = false;
    this.#delayMs = 0;
    this.cut();
  }
}
