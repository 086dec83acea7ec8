/**
 * Many servers, by component and by key, from one configuration that can be changed while everything runs.
 *
 *   const fleet = await Fleet.open(home);
 *   await fleet.define("social", { a: "redis://10.0.0.1", b: "redis://10.0.0.2" });
 *   const social = fleet.store("social");                     // a Store like any other
 *   await fleet.addShard("social", "c", "redis://10.0.0.3");  // from now on three, with a third of the keys each
 *
 * The layout (layout.ts) is kept in a home store, and every process follows it. A process may use a layout only as long as the
 * home store has confirmed that it is the present one; so a mover that has announced which slots it will move, and has waited
 * until everybody follows that announcement or has lost the right to go on, knows that nobody touches them. Then the keys are
 * copied (mover.ts), the new owner is announced, and what was left behind is deleted. A mover that dies is succeeded by any
 * process of the fleet: each step can be begun anew.
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import { aStore, word } from "../../base/checks.ts";
import { randomToken, sleep } from "../../base/clock.ts";
import { ClosedError, InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { withDefaults } from "../../base/options.ts";
import type { Driver } from "../../connection/port.ts";
import { Store } from "../../connection/store.ts";
import { Config } from "../config/index.ts";
import { Locks } from "../locks/index.ts";
import { FleetDriver } from "./driver.ts";
import { type FleetKeys, fleetKeys } from "./keys.ts";
import {
  type ComponentLayout,
  firstLayout,
  isUnfinished,
  type Layout,
  type Move,
  moved,
  NOTHING,
  nextMove,
  overlap,
  shares,
  urlOf,
  validLayout,
} from "./layout.ts";
import { findKey, Mover } from "./mover.ts";
import { ADD_SHARD_OPTIONS, DEFINE_OPTIONS, MOVE_OPTIONS, OPEN_OPTIONS } from "./options.ts";
import { checkNeighbours, checkPrefixes, type KeyOwner, type Owners, ownersFor, shown } from "./ownership.ts";
import { behind, leave, renew } from "./scripts.ts";
import type { AddShardOptions, DefineOptions, FleetOptions, MoveOptions, ShardInfo } from "./types.ts";

export { type ComponentLayout, type Layout, type Move, type Owned, type Shard, type Slots, shares } from "./layout.ts";
export type { AddShardOptions, DefineOptions, FleetOptions, MoveOptions, MoveProgress, ShardInfo } from "./types.ts";

/** What a process holds of one component. */
interface Part {
  readonly driver: FleetDriver;
  readonly store: Store;
  readonly urls: readonly string[];
}

const DEFAULTS = { name: "main", prefix: "fleet", leaseMs: 10_000, waitMs: 30_000, slotsPerStep: 1_024 };
/** A request that was sent in the last moment of a lease is over by then. */
const GRACE_MS = 1_000;
/** The local clock may run slower than the server's by this part. */
const DRIFT = 0.02;
const POLL_MS = 20;
const LOOK_MS = 5_000;

/**
 * Many servers, by component and by key, from one configuration in a home store that can be changed while everything runs.
 *
 * @example
 * await using one = await RedisMemoryServer.create();
 * await using two = await RedisMemoryServer.create();
 * await using fleet = await Fleet.open(db);
 * await fleet.define("shop", { a: `redis://127.0.0.1:${await one.getPort()}` });
 * await fleet.addShard("shop", "b", `redis://127.0.0.1:${await two.getPort()}`);
 * (await fleet.inspect("shop")).map(({ shard, slots }) => [shard, slots]); // → [["a", 8192], ["b", 8192]]
 * @example
 * await using server = await RedisMemoryServer.create();
 * const fleet = await Fleet.open(db);
 * await fleet.define("work", { only: `redis://127.0.0.1:${await server.getPort()}` }, { prefixes: ["queue:"] });
 * await fleet.store("work").set("queue:mail", "17"); // → "OK"
 * await fleet.delete("work"); // Its keys stay where they are.
 * await fleet.close();
 * @example
 * const servers = await Promise.all([RedisMemoryServer.create(), RedisMemoryServer.create()]);
 * const [a, b] = await Promise.all(servers.map(async (each) => `redis://127.0.0.1:${await each.getPort()}`));
 * await using fleet = await Fleet.open(db, { slotsPerStep: 16_384 });
 * await fleet.define("shop", { a: a!, b: b! });
 * await fleet.removeShard("shop", "a", { onProgress: ({ keys }) => console.log(keys, "keys moved") });
 * await fleet.balance("shop"); // Finishes what another process has begun; here there is nothing.
 */
export class Fleet {
  readonly #home: Store;
  readonly #options: FleetOptions;
  readonly #keys: FleetKeys;
  readonly #announce: () => void;
  readonly #config: Config<Layout>;
  readonly #locks: Locks;
  readonly #member = randomToken();
  readonly #leaseMs: number;
  readonly #waitMs: number;
  readonly #slotsPerStep: number;
  readonly #parts = new Map<string, Part>();
  readonly #drivers = new Map<string, Promise<Driver>>();
  readonly #loops: BackgroundLoop[];
  /** The version that all parts follow. */
  #followed = -1;
  #following: Promise<void> = Promise.resolve();
  #removeFromHome = (): void => {};
  #closed = false;

  private constructor(home: Store, options: FleetOptions) {
    const { name, prefix, leaseMs, waitMs, slotsPerStep } = withDefaults(DEFAULTS, options);
    this.#home = home;
    this.#options = options;
    this.#keys = fleetKeys(prefix, word("name", name, 256));
    this.#announce = () => new NameIndex(home, { kind: "fleet", prefix }).announce(name);
    this.#leaseMs = leaseMs;
    this.#waitMs = waitMs;
    this.#slotsPerStep = slotsPerStep;
    this.#config = new Config<Layout>(home, name, {
      prefix,
      defaults: NOTHING,
      validate: validLayout,
      pollMs: 1_000,
      onError: (error) => this.#failed(error),
    });
    this.#locks = new Locks(home, { prefix: `${prefix}:lock` });
    const loop = (everyMs: number, round: (signal: AbortSignal) => Promise<number>) =>
      new BackgroundLoop(home, { everyMs, round, onError: (error) => this.#failed(error) });
    // As often while the home store does not answer: once it does, everybody waits for this.
    const renewing = () => this.#renew().catch((error) => this.#failed(error));
    this.#loops = [loop(Math.floor(this.#leaseMs / 4), () => renewing().then(() => 0))];
    if (options.takesOver !== false) this.#loops.push(loop(LOOK_MS, (signal) => this.#takeOver(signal)));
  }

  /** Reads the layout from the home store, connects to the shards, and follows every change. */
  static async open(home: Store, options: FleetOptions = {}): Promise<Fleet> {
    aStore("Fleet", home);
    OPEN_OPTIONS.check(options);
    const fleet = new Fleet(home, options);
    try {
      await fleet.#open();
      return fleet;
    } catch (error) {
      await fleet.close();
      throw error;
    }
  }

  async #open(): Promise<void> {
    this.#removeFromHome = this.#home.on("close", () => this.close());
    this.#config.on("change", () => void this.#follow().catch((error) => this.#failed(error)));
    await this.#config.start();
    if (this.#config.inspect().state !== "live") throw this.#config.inspect().error;
    await this.#follow();
    for (const loop of this.#loops) loop.start();
  }

  #failed(error: unknown): void {
    if (!this.#closed) this.#options.onError?.(error);
  }

  /** The layout that this process follows. */
  get layout(): Layout {
    return this.#config.value;
  }

  /** The store of a component. It is the same from call to call, and follows the layout by itself. */
  store(component: string): Store {
    if (this.#closed) throw new ClosedError("the fleet is closed");
    const part = this.#parts.get(component);
    if (part === undefined) throw new InputError(`the fleet has no component "${component}"; define() makes one`);
    return part.store;
  }

  // ---------------------------------------------------------------------------------------------- following

  /** Follows the newest layout; one change after the other. */
  #follow(): Promise<void> {
    const next = this.#following.catch(() => {}).then(() => this.#followNow());
    this.#following = next;
    return next;
  }

  async #followNow(): Promise<void> {
    const { value, version } = this.#config.current;
    if (this.#closed || version === this.#followed) return;
    await Promise.all(
      Object.entries(value.components).map(([name, component]) => this.#followComponent(name, component)),
    );
    for (const [name, part] of [...this.#parts]) {
      if (name in value.components) continue;
      this.#parts.delete(name);
      await part.store.close();
    }
    this.#followed = version;
    await this.#renew();
    await this.#dropUnused(value);
  }

  async #followComponent(name: string, component: ComponentLayout): Promise<void> {
    const entries = Object.entries(component.shards);
    const drivers = await Promise.all(entries.map(([, { url }]) => this.#driver(url)));
    let part = this.#parts.get(name);
    if (part === undefined) {
      const { reserved } = this.#keys;
      const driver = new FleetDriver({ clock: this.#home.clock, waitMs: this.#waitMs, reserved });
      part = { driver, store: new Store(driver, this.#options.open ?? {}), urls: [] };
    }
    // Before it is waited for: requests must not go the old way meanwhile.
    this.#parts.set(name, { ...part, urls: entries.map(([, { url }]) => url) });
    await part.driver.follow(component, new Map(zipped(entries, drivers).map(([[shard], driver]) => [shard, driver])));
  }

  /** Components that name the same server share the connection. */
  #driver(url: string): Promise<Driver> {
    let driver = this.#drivers.get(url);
    if (driver === undefined) {
      driver = import("../../connection/url.ts").then(({ openUrl }) => openUrl(url, this.#options.open ?? {}));
      this.#drivers.set(url, driver);
      driver.catch(() => this.#drivers.delete(url));
    }
    return driver;
  }

  async #dropUnused({ components }: Layout): Promise<void> {
    const used = new Set(
      Object.values(components).flatMap(({ shards }) => Object.values(shards).map(({ url }) => url)),
    );
    for (const [url, driver] of [...this.#drivers]) {
      if (used.has(url)) continue;
      this.#drivers.delete(url);
      await driver.then((each) => each.close()).catch(() => {});
    }
  }

  /** Tells the home store which layout is followed, and gets time for it. */
  async #renew(): Promise<void> {
    const version = this.#followed;
    const askedAt = this.#home.clock.monotonicMs();
    const present = await this.#home.run(renew, {
      current: this.#keys.current,
      members: this.#keys.members,
      seen: this.#keys.seen,
      member: this.#member,
      version,
      untilMs: this.#leaseMs + GRACE_MS,
    });
    if (present === version) {
      for (const { driver } of this.#parts.values()) driver.allow(askedAt + this.#leaseMs * (1 - DRIFT));
    } else {
      // Behind, or a shard of the new layout could not be reached: again, and not in the way of who asked.
      void this.#config
        .refresh()
        .then(() => this.#follow())
        .catch((error) => this.#failed(error));
    }
  }

  // ---------------------------------------------------------------------------------------------- changing

  /**
   * Makes a component on these shards. Once it is there, its shards are changed by adding and removing them. The servers may
   * already hold the component's keys, each in the slots that it is given.
   */
  async define(
    component: string,
    shards: Readonly<Record<string, string>>,
    options: DefineOptions = {},
  ): Promise<void> {
    DEFINE_OPTIONS.check(options);
    word("component", component, 256);
    this.#announce();
    const prefixes = options.prefixes === undefined ? undefined : checkPrefixes(options.prefixes, this.#keys.reserved);
    const shared = checkShared(options.shared, prefixes);
    const made = firstLayout(shards, prefixes);
    const isNew = this.layout.components[component] === undefined;
    if (isNew)
      for (const [shard, { url }] of Object.entries(made.shards))
        await this.#admit(component, made, { shard, url, isShared: shared });
    const neighbours = await this.#neighbours(component, made);
    await this.#change(`define ${component}`, (layout) => {
      const before = layout.components[component];
      if (before !== undefined && JSON.stringify(urlsOf(before)) !== JSON.stringify(urlsOf(made))) {
        throw new InputError(`"${component}" is there already, on other shards; use addShard and removeShard`);
      }
      if (before !== undefined && JSON.stringify(before.prefixes) === JSON.stringify(made.prefixes)) return null;
      checkNeighbours(component, made, neighbours(layout));
      const { prefixes: _, ...rest } = before ?? made;
      const after = { ...rest, ...(made.prefixes === undefined ? {} : { prefixes: made.prefixes }) };
      return { components: { ...layout.components, [component]: after } };
    });
  }

  /** Adds a server and gives it its share of the keys. Resolves when it has it. */
  async addShard(component: string, shard: string, url: string, options: AddShardOptions = {}): Promise<void> {
    ADD_SHARD_OPTIONS.check(options);
    word("shard", shard, 256);
    const present = this.#layoutOf(component);
    const { shared: mayShare, ...moving } = options;
    const shared = checkShared(mayShare, present.prefixes);
    if (present.shards[shard] === undefined) await this.#admit(component, present, { shard, url, isShared: shared });
    const neighbours = await this.#neighbours(component, { ...present, shards: { [shard]: { url } } });
    await this.#changeComponent(component, `add shard ${shard}`, (before, layout) => {
      const there = before.shards[shard];
      if (there?.url === url && there.leaving !== true) return null;
      if (there !== undefined && there.url !== url) throw new InputError(`"${component}" has another shard "${shard}"`);
      checkNeighbours(component, before, neighbours(layout));
      return { ...before, shards: { ...before.shards, [shard]: { url } } };
    });
    await this.balance(component, moving);
  }

  /**
   * Looks at the keys of a server that is about to become a shard: a move would delete what it takes for its own, and would
   * leave behind what it does not know.
   */
  async #admit(
    component: string,
    layout: ComponentLayout,
    { shard, url, isShared }: { readonly shard: string; readonly url: string; readonly isShared: boolean },
  ): Promise<void> {
    const driver = await this.#driver(url);
    const components = { ...this.layout.components, [component]: layout };
    const owners = ownersFor({ components }, component, this.#keys.reserved);
    const slots = layout.slots.filter((owned) => owned.shard === shard);
    const isGiven = (slot: number) => slots.some(({ from, to }) => slot >= from && slot <= to);
    const isRefused = (owner: KeyOwner, slot: number) =>
      owner === "own" ? !isGiven(slot) : owner === "none" && !isShared;
    const found = await findKey(driver, owners, isRefused);
    if (found === null) return;
    throw new InputError(
      owners(found) === "own"
        ? `the server of shard "${shard}" already holds keys that "${component}" would delete, such as ${shown(found)}: ` +
            "use an empty server, or define prefixes that tell the component's keys from others"
        : `the server of shard "${shard}" holds keys that belong to no component of the fleet, such as ${shown(found)}: ` +
            "use another server, or say shared: true to leave such keys alone",
    );
  }

  /** Finds the components of a layout that use one of these servers, by whatever URL. */
  async #neighbours(
    component: string,
    { shards }: ComponentLayout,
  ): Promise<(layout: Layout) => [string, ComponentLayout][]> {
    const identities = new Map<string, string>();
    const identify = async (url: string) => {
      const driver = await this.#driver(url).catch(() => null);
      // A server that does not answer is known by its URL only.
      const identity = driver === null ? url : await identityOf(driver, url).catch(() => url);
      identities.set(url, identity);
    };
    const urls = Object.values(this.layout.components).flatMap((each) => Object.values(each.shards));
    await Promise.all([...Object.values(shards), ...urls].map(({ url }) => identify(url)));
    const identity = (url: string) => identities.get(url) ?? url;
    const used = new Set(Object.values(shards).map(({ url }) => identity(url)));
    return (layout) =>
      Object.entries(layout.components).filter(
        ([name, each]) => name !== component && Object.values(each.shards).some(({ url }) => used.has(identity(url))),
      );
  }

  #layoutOf(component: string): ComponentLayout {
    const layout = this.layout.components[component];
    if (layout === undefined) throw new InputError(`the fleet has no component "${component}"`);
    return layout;
  }

  /** Gives a server's keys to the others and forgets it. Resolves when it has none. */
  async removeShard(component: string, shard: string, options: MoveOptions = {}): Promise<void> {
    MOVE_OPTIONS.check(options);
    await this.#changeComponent(component, `remove shard ${shard}`, (before) => {
      const there = before.shards[shard];
      if (there === undefined || there.leaving === true) return null;
      const staying = Object.entries(before.shards).filter(([name, each]) => name !== shard && each.leaving !== true);
      if (staying.length === 0) throw new InputError(`"${shard}" is the last shard of "${component}"`);
      return { ...before, shards: { ...before.shards, [shard]: { ...there, leaving: true } } };
    });
    await this.balance(component, options);
  }

  /** Forgets a component; its keys stay where they are. */
  async delete(component: string): Promise<void> {
    await this.#change(`forget ${component}`, (layout) => {
      if (!(component in layout.components)) return null;
      const { [component]: _, ...components } = layout.components;
      return { components };
    });
  }

  #changeComponent(
    component: string,
    note: string,
    make: (before: ComponentLayout, layout: Layout) => ComponentLayout | null,
  ): Promise<ComponentLayout> {
    return this.#change(`${component}: ${note}`, (layout) => {
      const before = layout.components[component];
      if (before === undefined) throw new InputError(`the fleet has no component "${component}"`);
      const after = make(before, layout);
      return after === null ? null : { components: { ...layout.components, [component]: after } };
    }).then(() => this.#layoutOf(component));
  }

  /** Resolves when this process follows the change. */
  async #change(note: string, make: (layout: Layout) => Layout | null): Promise<void> {
    if (this.#closed) throw new ClosedError("the fleet is closed");
    await this.#config.update(make, { by: this.#member, note });
    await this.#follow();
  }

  // ---------------------------------------------------------------------------------------------- moving

  /** Moves slots until every shard has its share, and finishes what others have left. One at a time in the whole fleet. */
  async balance(component: string, options: MoveOptions = {}): Promise<void> {
    MOVE_OPTIONS.check(options);
    this.#layoutOf(component);
    const { signal } = options;
    for (;;) {
      const lock = { waitMs: 60_000, ...(signal === undefined ? {} : { signal }) };
      const done = await this.#locks.using(`move:${component}`, lock, async (lease, until) => {
        await this.#balance(component, lease.fence, until, options);
        return true;
      });
      if (done === true) return;
    }
  }

  async #balance(component: string, fence: number, signal: AbortSignal, options: MoveOptions): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      await this.#config.refresh();
      await this.#follow();
      const layout = this.layout.components[component];
      if (layout === undefined) return;
      const owners = ownersFor(this.layout, component, this.#keys.reserved);
      const mover = new Mover({ fenceKey: this.#keys.fence(component), fence, owners, signal });
      if (layout.left !== undefined && layout.left.length > 0) await this.#cleanUp(component, layout, mover);
      else if (layout.moving !== undefined) await this.#step(component, layout.moving, mover, { ...options, signal });
      else if (!(await this.#begin(component, layout, owners))) return;
    }
  }

  /** Announces the next step; false when there is none. */
  async #begin(component: string, layout: ComponentLayout, owners: Owners): Promise<boolean> {
    const move = nextMove(layout, this.#slotsPerStep);
    if (move === null) {
      const counts = shares(layout);
      const empty = Object.entries(layout.shards)
        .filter(([name, { leaving }]) => leaving && counts.get(name) === 0)
        .map(([name]) => name);
      if (empty.length === 0) return false;
      await this.#changeComponent(component, `forget shards ${empty.join(", ")}`, (before) => ({
        ...before,
        shards: Object.fromEntries(Object.entries(before.shards).filter(([name]) => !empty.includes(name))),
      }));
      return true;
    }
    await this.#checkTarget(component, layout, move, owners);
    await this.#changeComponent(
      component,
      `move ${move.from}–${move.to} from ${move.source} to ${move.target}`,
      (before) => (before.moving === undefined ? { ...before, moving: move } : null),
    );
    return true;
  }

  /**
   * A component without prefixes takes every key of its servers for its own. Before a move is announced the target has no key
   * in its slots; if it has, something else writes there, and deleting that is not ours to decide.
   */
  async #checkTarget(component: string, layout: ComponentLayout, move: Move, owners: Owners): Promise<void> {
    if (layout.prefixes !== undefined) return;
    const driver = await this.#driver(urlOf(layout, move.target));
    const isInTheWay = (owner: KeyOwner, slot: number) => owner === "own" && slot >= move.from && slot <= move.to;
    const found = await findKey(driver, owners, isInTheWay);
    if (found === null) return;
    throw new InputError(
      `shard "${move.target}" of "${component}" holds keys in slots that it does not own, such as ${shown(found)}: ` +
        "delete them, or define prefixes that tell the component's keys from others",
    );
  }

  async #step(
    component: string,
    move: Move,
    mover: Mover,
    { onProgress, signal }: MoveOptions & { readonly signal: AbortSignal },
  ): Promise<void> {
    const { version } = this.#config.current;
    const { members, seen } = this.#keys;
    const { clock } = this.#home;
    const sinceMs = clock.monotonicMs();
    for (;;) {
      const waitedMs = Math.floor((clock.monotonicMs() - sinceMs) * (1 - DRIFT));
      if ((await this.#home.run(behind, { members, seen, version, waitedMs })) === 0) break;
      await sleep(this.#home.clock, POLL_MS, signal);
    }
    const layout = this.#layoutOf(component);
    const [source, target] = await Promise.all([
      this.#driver(urlOf(layout, move.source)),
      this.#driver(urlOf(layout, move.target)),
    ]);
    await mover.claim(source);
    await mover.claim(target);
    let keys = 0;
    await mover.copy(source, target, move, (count) => {
      keys += count;
      onProgress?.({ component, move, keys });
    });
    signal.throwIfAborted();
    await this.#changeComponent(component, `${move.from}–${move.to} are at ${move.target}`, (before) => {
      if (JSON.stringify(before.moving) !== JSON.stringify(move)) return null;
      const { moving: _, ...rest } = before;
      const left = [...(before.left ?? []), { from: move.from, to: move.to, shard: move.source }];
      return { ...rest, slots: moved(before.slots, move), left };
    });
  }

  /** What a source still has of slots that it gave away. */
  async #cleanUp(component: string, layout: ComponentLayout, mover: Mover): Promise<void> {
    const { left: [first] = [], slots } = layout;
    if (first === undefined) return;
    const driver = await this.#driver(urlOf(layout, first.shard));
    await mover.claim(driver);
    // It must never be what the shard owns.
    if (slots.some((owned) => owned.shard === first.shard && overlap(owned, first))) {
      throw new InputError(`the layout of "${component}" would delete slots ${first.from}–${first.to} at their owner`);
    }
    await mover.remove(driver, first);
    await this.#changeComponent(component, `${first.shard} has nothing left of ${first.from}–${first.to}`, (before) => {
      const rest = (before.left ?? []).filter((each) => JSON.stringify(each) !== JSON.stringify(first));
      return { ...before, left: rest };
    });
  }

  /** Finishes what a process has begun that is no more. */
  async #takeOver(signal: AbortSignal): Promise<number> {
    for (const [component, layout] of Object.entries(this.layout.components)) {
      if (!isUnfinished(layout)) continue;
      await this.#locks.using(`move:${component}`, { waitMs: 0, signal }, (lease, until) =>
        this.#balance(component, lease.fence, until, {}),
      );
    }
    return 0;
  }

  // ---------------------------------------------------------------------------------------------- looking

  /** The shards of a component, with what they hold. */
  async inspect(component: string): Promise<ShardInfo[]> {
    const layout = this.#layoutOf(component);
    const counts = shares(layout);
    return Promise.all(
      Object.entries(layout.shards).map(async ([shard, { url, leaving = false }]) => {
        const facts = await this.#facts(url).catch(() => ({ keys: null, bytes: null }));
        return { shard, slots: counts.get(shard) ?? 0, leaving, ...facts };
      }),
    );
  }

  async #facts(url: string): Promise<{ keys: number; bytes: number }> {
    const driver = await this.#driver(url);
    const [keys, memory] = await driver.sendMany([
      { words: ["DBSIZE"], key: undefined, buffers: false },
      { words: ["INFO", "memory"], key: undefined, buffers: false },
    ]);
    return { keys: Number(keys), bytes: Number(/used_memory:(\d+)/.exec(String(memory))?.[1]) };
  }

  /** Ends following and closes every store of the fleet; the home store stays open. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#removeFromHome();
    await Promise.all(this.#loops.map((loop) => loop.stop()));
    await this.#config.stop();
    await Promise.all([...this.#parts.values()].map(({ store }) => store.close()));
    await this.#following.catch(() => {});
    await Promise.all([...this.#drivers.values()].map((driver) => driver.then((each) => each.close()).catch(() => {})));
    const { members, seen } = this.#keys;
    await this.#home.run(leave, { members, seen, member: this.#member }).catch(() => {});
  }

  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Without prefixes there is no way to tell the component's keys from those of others. */
function checkShared(shared: boolean | undefined, prefixes: readonly string[] | undefined): boolean {
  if (shared === true && prefixes === undefined) throw new InputError("shared: true needs prefixes");
  return shared ?? false;
}

/** The same for two URLs of one database of one server. */
async function identityOf(driver: Driver, url: string): Promise<string> {
  const info = String(await driver.send({ words: ["INFO", "server"], key: undefined, buffers: false }));
  const runId = /run_id:(\w+)/.exec(info)?.[1];
  const db = /\/(\d+)(?:\?|$)/.exec(url)?.[1] ?? "0";
  return runId === undefined ? url : `${runId}/${db}`;
}

function urlsOf({ shards }: ComponentLayout): [string, string][] {
  return Object.entries(shards)
    .map(([name, { url }]): [string, string] => [name, url])
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
