/**
 * A store for tests, in process: `TestStore`.
 *
 *   const seeded = await TestStore.open({ fill: (db) => db.set("greeting", "hello") });   // once for a file
 *   const store = await seeded.fork();                                                     // for each test: microseconds
 *   await new Locks(store.db).acquire("door", { leaseMs: 10_000 });
 *   await store.clock.advance(10_001);                                                     // the lease is over
 *   await store.close();
 *
 * A fork begins with what the store was filled with. Nothing is copied for it but the table of keys; a value is copied when one of
 * the two changes it (engine, embed/image.ts). Engines of forks that were closed are used again, unless their settings or users
 * were changed.
 */
import { type ConnectorConstructor, connectorFor, Engine, type EngineImage } from "@cinnabar/engine";
import { ClosedError } from "../base/errors.ts";
import { type Checks, callback, defineOptions, recordOf, text } from "../base/options.ts";
import { EmbeddedDriver } from "../connection/embedded.ts";
import type { OpenOptions } from "../connection/open.ts";
import { Store } from "../connection/store.ts";
import { openTarget } from "../connection/url.ts";
import { TestClock } from "./clock.ts";
import { Faults } from "./faults.ts";
import { type NodeRedisOptions, nodeRedisOptions } from "./node-redis.ts";

/** What a test store begins with. */
export interface TestStoreOptions {
  /** Fills the store; forks and `reset` begin with what it leaves. Empty by default. */
  readonly fill?: (db: Store) => unknown;
  /** The time of the store and of what uses it; one that stands still until it is advanced, by default. */
  readonly clock?: TestClock;
  /** Directives of redis.conf. None by default. */
  readonly config?: Readonly<Record<string, string>>;
}

/** What `new Redis(…)` of ioredis takes. */
export interface IoredisOptions {
  /** Leads to the test store. */
  readonly Connector: ConnectorConstructor;
  /** Reconnects at once. */
  readonly retryStrategy: () => number;
}

const OPTIONS = defineOptions<TestStoreOptions>("TestStore.open", {
  fill: callback,
  clock: { expected: "a TestClock", accepts: (value) => value instanceof TestClock },
  config: recordOf(text),
} satisfies Checks<TestStoreOptions>);

const FORK_OPTIONS = defineOptions<{ readonly clock?: TestClock }>("TestStore.fork", {
  clock: { expected: "a TestClock", accepts: (value) => value instanceof TestClock },
});

/** An engine that was used and has nothing in it, with the clock that it goes by. */
interface Rested {
  readonly engine: Engine;
  readonly clock: TestClock;
}

/** What all forks of a store share. */
interface Family {
  readonly rested: Rested[];
  /** What the engines' settings and users are as long as nobody changes them. */
  settings: string | null;
}

/** So many engines are kept: as many tests as may run at once. */
const MOST_RESTED = 16;

interface Parts {
  readonly engine: Engine;
  readonly clock: TestClock;
  readonly options: TestStoreOptions;
  readonly image: EngineImage | null;
  readonly family: Family;
  /** The engine goes by a clock of ours, and may be used again. */
  readonly isFork: boolean;
}

/**
 * A store for tests, in this process. A fork of it begins with what it was filled with, and takes microseconds.
 * @example
 * const seeded = await TestStore.open({ fill: (store) => store.set("greeting", "hello") });
 * const store = await seeded.fork();
 * await store.db.set("greeting", "bye"); // → "OK"
 * await store.reset();
 * await store.db.get("greeting"); // → "hello"
 * await store.close();
 */
export class TestStore {
  /** The store that components take. Calls go straight to the engine. */
  readonly db: Store;
  /** Moves expiry, leases, delays and schedules. */
  readonly clock: TestClock;
  /** The engine beneath: what is done through it goes around `db`. */
  readonly engine: Engine;
  /** What goes wrong, for `connect()` and clients of other libraries. */
  readonly faults: Faults;
  readonly #options: TestStoreOptions;
  readonly #family: Family;
  readonly #isFork: boolean;
  readonly #stores: Store[];
  readonly #stopFollowing: () => void;
  #image: EngineImage | null;
  #isClosed = false;

  private constructor({ engine, clock, options, image, family, isFork }: Parts) {
    this.engine = engine;
    this.clock = clock;
    this.faults = new Faults(engine);
    this.db = new Store(new EmbeddedDriver(engine, false), { clock });
    this.#options = options;
    this.#image = image;
    this.#family = family;
    this.#isFork = isFork;
    this.#stores = [this.db];
    this.#stopFollowing = clock.on("advance", () => engine.elapse());
  }

  /** Opens a store and fills it. Rejects with what `fill` throws. */
  static async open(options: TestStoreOptions = {}): Promise<TestStore> {
    OPTIONS.check(options);
    const clock = options.clock ?? new TestClock();
    const engine = await openEngine(clock, options);
    const family = { rested: [], settings: null };
    const store = new TestStore({ engine, clock, options, image: null, family, isFork: false });
    if (options.fill === undefined) return store;
    try {
      await options.fill(store.db);
    } catch (error) {
      await store.close();
      throw error;
    }
    store.#image = engine.image();
    return store;
  }

  /**
   * Another store, which begins with what this one was filled with. It has a clock of its own at the time of this one, unless the
   * clock follows the timers of the program, or one is given.
   */
  async fork(options: { readonly clock?: TestClock } = {}): Promise<TestStore> {
    if (this.#isClosed) throw new ClosedError("the test store is closed");
    FORK_OPTIONS.check(options);
    const isFork = options.clock === undefined;
    const { engine, clock } = (isFork ? this.#family.rested.pop() : undefined) ?? (await this.#another(options.clock));
    if (isFork && clock.isManual) clock.set(this.clock.now());
    engine.restore(this.#image);
    this.#family.settings ??= settingsOf(engine);
    const parts = { options: this.#options, image: this.#image, family: this.#family };
    return new TestStore({ ...parts, engine, clock, isFork });
  }

  async #another(given: TestClock | undefined): Promise<Rested> {
    const clock = given ?? (this.clock.isManual ? new TestClock() : this.clock);
    return { engine: await openEngine(clock, this.#options), clock };
  }

  /** Goes back to what it was filled with; with nothing, to an empty store. Connections stay. */
  async reset(): Promise<void> {
    if (this.#isClosed) throw new ClosedError("the test store is closed");
    this.engine.restore(this.#image);
  }

  /**
   * A store over a connection in process, as to a server: the faults concern it. Closed with the test store.
   * @example
   * const store = await TestStore.open({ clock: new TestClock({ follows: "timers" }) });
   * const client = await store.connect();
   * store.faults.cut();
   * await client.get("k"); // → null
   * await store.close();
   */
  async connect(options: OpenOptions = {}): Promise<Store> {
    const target = { kind: "single", tls: false, endpoints: [], db: 0 } as const;
    const clock = options.clock ?? this.clock;
    const means = { dial: async () => this.faults.dial(), address: null };
    const store = new Store(await openTarget(target, { ...options, clock }, means), { ...options, clock });
    this.#stores.push(store);
    return store;
  }

  /**
   * For an unchanged ioredis, and what is built on it: `new Redis(store.ioredis())`.
   * @example
   * import { Redis } from "ioredis";
   * const store = await TestStore.open();
   * const redis = new Redis(store.ioredis());
   * await redis.set("k", "v"); // → "OK"
   * redis.disconnect();
   */
  ioredis(): IoredisOptions {
    const Connector = connectorFor({ stream: () => this.faults.dial() as ReturnType<Engine["stream"]> });
    return { Connector, retryStrategy: () => 0 };
  }

  /**
   * For an unchanged node-redis: `createClient(store.nodeRedis())`.
   * @example
   * import { createClient } from "redis";
   * const store = await TestStore.open();
   * const client = await createClient(store.nodeRedis()).connect();
   * await client.set("k", "v"); // → "OK"
   * client.destroy();
   */
  nodeRedis(): NodeRedisOptions {
    return nodeRedisOptions(() => this.faults.dial());
  }

  /** Ends its stores and connections, and lets go of the data. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stopFollowing();
    await Promise.all(this.#stores.map((store) => store.close()));
    this.faults.clear();
    if (this.#isFork && this.#rest()) return;
    await this.engine.close();
    if (!this.#isFork) await Promise.all(this.#family.rested.splice(0).map(({ engine }) => engine.close()));
  }

  /** Keeps the engine for the next fork, if nobody has changed what an image does not hold. */
  #rest(): boolean {
    const { rested, settings } = this.#family;
    if (rested.length >= MOST_RESTED || settingsOf(this.engine) !== settings) return false;
    this.engine.restore(null);
    if (this.clock.isManual) this.clock.clear();
    rested.push({ engine: this.engine, clock: this.clock });
    return true;
  }

  /** The same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** The settings and users of an engine, as one text. */
function settingsOf(engine: Engine): string {
  const client = engine.connect();
  const settings = JSON.stringify([client.callSync("CONFIG", "GET", "*"), client.callSync("ACL", "LIST")]);
  client.close();
  return settings;
}

function openEngine(clock: TestClock, { config }: TestStoreOptions): Promise<Engine> {
  return Engine.open({ clock, ...(config === undefined ? {} : { config }) });
}
