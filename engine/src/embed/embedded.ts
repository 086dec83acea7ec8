/**
 * The store in your own process: `Engine.open()`, as index.ts names it.
 *
 *   const engine = await Engine.open();
 *   const client = engine.connect();
 *   await client.call("SET", "greeting", "hello");
 *   const { port } = await engine.listen({ port: 6379 });    // and any Redis client can join
 *   await engine.close();
 *
 *   const engine = await Engine.open({ dir: "./data" });      // kept on disk, in Redis's files
 *
 * With a folder, everything is in it: what was there is loaded, every change goes to the append-only file (synced once a
 * second, unless `appendfsync` says otherwise), and no second process can open it meanwhile. `close` brings everything to
 * disk; so does the end of the process, if it is not killed.
 *
 * An engine does not keep the process alive: its timers are unref'd, so a program that never calls `close` ends when it has
 * nothing else to do. Two things do hold it, as one would expect: `listen`, and a blocking call with a timeout, which will
 * be answered.
 */

import type { ClusterPlace } from "../cluster/member.ts";
import type { Clock } from "../core/clock.ts";
import { Engine } from "../core/engine.ts";
import { isWhole, loadAll, loadFor, type Part } from "../core/parts.ts";
import { type LocalStream, openStream, type StreamOptions } from "../net/local-stream.ts";
import { type Address, type ListenOptions, NetServer, type ServeOptions } from "../net/server.ts";
import { openFolder } from "../platform/folders.ts";
import { resolve } from "../platform/paths.ts";
import type { Port } from "../platform/port-stream.ts";
import {
  type FollowOptions,
  follow,
  type ReplicationStatus,
  statusOf,
  type WaitForReplicasOptions,
  waitForReplicas,
} from "../replication/embedding.ts";
import type { ReplicationEvent } from "../replication/index.ts";
import { type EngineImage, imageOf, restoreTo } from "./image.ts";
import { LocalClient, type LocalClientOptions } from "./local-client.ts";

/** How an engine is opened. */
export interface OpenOptions {
  /** The folder to keep the data in; made if it does not exist. None by default: data is in memory only. */
  readonly dir?: string;
  /**
   * Says in the folder's lock that other processes may join (false by default): a toolkit that finds the folder taken then waits for this
   * process to `listen` with `peers`. Otherwise the folder is refused to others at once.
   */
  readonly shared?: boolean;
  /** Told how a long load gets on. None by default. */
  readonly onProgress?: (loadedBytes: number, totalBytes: number) => void;
  /**
   * Directives of redis.conf by name: `{ maxmemory: "100mb", "maxmemory-policy": "allkeys-lru" }`. By default Redis's own defaults, and
   * with a folder `appendonly yes` without snapshots.
   */
  readonly config?: Readonly<Record<string, string>>;
  /** Commands to call by another name, or not at all where it is empty: `[["FLUSHALL", ""]]`. None by default. */
  readonly renamedCommands?: readonly (readonly [string, string])[];
  /**
   * Users as redis.conf's `user` lines have them: `[["worker", "on", "nopass", "~jobs:*", "+@all"]]`. By default there is the user
   * `default`, who needs no password and may do everything.
   */
  readonly users?: readonly (readonly string[])[];
  /**
   * What of V8's heap may be in use before commands that need memory evict or are refused, as a share of its old generation
   * (0.7 by default). The heap is shared with the rest of the program, and what that takes counts. False: no such limit;
   * V8 then ends the process when the heap is full.
   */
  readonly heapGuard?: number | false;
  /**
   * Parts to load before this settles, in a browser: other commands than the common ones are loaded when they are first called, which
   * `callSync` cannot wait for. "scripts" has everything. None by default; a store with a folder, users or settings has everything.
   */
  readonly parts?: readonly Part[];
  /** Where time and chance come from; the system's by default. */
  readonly clock?: Clock;
}

/**
 * A store in this process. It does not keep the process alive, unless it listens or a call with a timeout is blocked.
 * @example
 * const engine = await Engine.open();
 * const client = engine.connect();
 * await client.call("SET", "greeting", "hello"); // → "OK"
 * const { port } = await engine.listen({ port: 0 });
 * await open(`redis://127.0.0.1:${port}`).then((store) => store.close());
 * await engine.close();
 */
export class EmbeddedEngine {
  /** The store itself; its parts are not part of the public interface. */
  readonly core: Engine;
  readonly #net: NetServer;
  readonly #clients = new Set<LocalClient>();
  readonly #streams = new Set<LocalStream>();
  #closed: Promise<void> | null = null;

  /** Lets go of the folder. */
  readonly #leave: () => void;

  private constructor(core: Engine, leave: () => void) {
    this.core = core;
    this.#leave = leave;
    this.#net = new NetServer(core);
  }

  /** `place`: among the nodes of a Cluster in this process; `EngineCluster` prepares it. */
  static async open(options: OpenOptions = {}, place?: ClusterPlace): Promise<EmbeddedEngine> {
    const { clock, onProgress, heapGuard, shared = false } = options;
    if (!isWhole()) await loadFor(options);
    // Where the program is now: the configuration resolves names where it was when the engine was loaded.
    const dir = options.dir === undefined ? undefined : resolve(options.dir);
    const leave = dir === undefined ? () => {} : await openFolder(dir);
    // The append-only file has everything: snapshots beside it are made on request.
    const config = dir === undefined ? {} : { dir, appendonly: "yes", save: "" };
    const core = makeCore(leave, {
      config: { ...config, ...options.config },
      renamedCommands: options.renamedCommands ?? [],
      users: options.users ?? [],
      ...(clock === undefined ? {} : { clock }),
      ...(heapGuard === undefined ? {} : { heapGuard }),
      ...(place === undefined ? {} : { cluster: place }),
    });
    if (dir !== undefined) {
      try {
        await core.persistence.open({ lock: true, shared, ...(onProgress === undefined ? {} : { onProgress }) });
        core.cluster?.open();
      } catch (error) {
        core.stop();
        leave();
        throw error;
      }
    }
    return new EmbeddedEngine(core, leave);
  }

  /** A client of its own, with its own database, transaction and subscriptions. */
  connect(options: LocalClientOptions = {}): LocalClient {
    if (this.#closed !== null) throw new Error("the engine is closed");
    const client = new LocalClient(this.core, options, () => this.#clients.delete(client));
    this.#clients.add(client);
    return client;
  }

  /**
   * The data as it is now, for `restore`. It takes a copy of the tables of keys and none of the values: those are copied when they
   * are changed, here or where the image was restored.
   * @example
   * const engine = await Engine.open();
   * const client = engine.connect();
   * client.callSync("SET", "stock", 5);
   * const image = engine.image();
   * client.callSync("DECR", "stock");
   * engine.restore(image);
   * client.callSync("GET", "stock"); // → "5"
   */
  image(): EngineImage {
    return imageOf(this.core);
  }

  /**
   * Puts the data of an image in the place of what is here; of none: nothing at all. For stores in memory that nobody follows:
   * files and replicas do not hear of it.
   */
  restore(image: EngineImage | null): void {
    restoreTo(this.core, image);
  }

  /**
   * Does what is due by the engine's clock: expires keys, answers blocked clients whose time is over, ends pauses. For tests that
   * move the clock; timers of the system do it otherwise.
   * @example
   * const clock = new ManualClock();
   * const engine = await Engine.open({ clock });
   * const popped = engine.connect().call("BLPOP", "jobs", 5);
   * clock.advance(5_000);
   * engine.elapse();
   * await popped; // → null
   */
  elapse(): void {
    this.core.tick();
    this.core.blocking.expire();
    this.core.pause.check();
  }

  /**
   * A stream that speaks RESP with the store, for clients that expect a socket (see ioredis.ts).
   * @example
   * import { once } from "node:events";
   * const engine = await Engine.open();
   * const stream = engine.stream();
   * stream.write("PING\r\n");
   * String((await once(stream, "data"))[0]); // → "+PONG\r\n"
   */
  stream(options?: StreamOptions): LocalStream {
    if (this.#closed !== null) throw new Error("the engine is closed");
    const stream = openStream(this.core, this.#net.flusher, options);
    this.#streams.add(stream);
    stream.once("close", () => this.#streams.delete(stream));
    return stream;
  }

  /** Opens the store to Redis clients on a port or a unix socket. May be called more than once. */
  async listen(options: ListenOptions = {}): Promise<Address> {
    if (this.#closed !== null) throw new Error("the engine is closed");
    return this.#net.listen(options);
  }

  /**
   * Serves the other end of a channel: another thread, or in a browser a worker, a page or a frame. It speaks RESP.
   * @example
   * const engine = await Engine.open();
   * const { port1, port2 } = new MessageChannel();
   * engine.serve(port1);
   * port2.close(); // a program hands it to a worker: worker.postMessage({ port2 }, [port2])
   */
  serve(port: Port, options?: ServeOptions): void {
    if (this.#closed !== null) throw new Error("the engine is closed");
    this.#net.serve(port, options);
  }

  /**
   * Stops listening on an address that `listen` has answered. Connections that were made there stay.
   * @example
   * const engine = await Engine.open();
   * const address = await engine.listen({ port: 0 });
   * engine.stopListening(address);
   */
  stopListening(address: Address): void {
    this.#net.stopListening(address);
  }

  /** Where replication stands. */
  get replication(): ReplicationStatus {
    return statusOf(this.core.replication);
  }

  /**
   * Follows a primary, a Redis or another store: its data takes the place of what is here, and changes follow. Settles when
   * the link is up. Until `promote` the store may only be read.
   * @example
   * const primary = await Engine.open({ config: { "repl-diskless-sync-delay": "0" } });
   * const { host, port } = await primary.listen({ port: 0 });
   * const replica = await Engine.open();
   * await replica.replicaOf(host, port);
   * await primary.waitForReplicas(1); // → 1
   * replica.promote();
   */
  async replicaOf(host: string, port: number, options?: FollowOptions): Promise<void> {
    if (this.#closed !== null) throw new Error("the engine is closed");
    if (!isWhole()) await loadAll();
    await follow(this.core.replication, host, port, options);
  }

  /** Stops following: the data stays as it is and may be changed here. */
  promote(): void {
    this.core.replication.promote();
  }

  /** Settles when so many replicas have everything that was written so far, with their number. */
  async waitForReplicas(count: number, options?: WaitForReplicasOptions): Promise<number> {
    if (!isWhole()) await loadAll();
    return waitForReplicas(this.core.replication, count, options);
  }

  /**
   * Calls back when the role changes, the link to the primary or a replica comes or goes. Returns what ends it.
   * @example
   * const engine = await Engine.open();
   * const roles: string[] = [];
   * const end = engine.onReplication((event) => event.type === "role" && roles.push(event.role));
   * end();
   */
  onReplication(listener: (event: ReplicationEvent) => void): () => void {
    this.core.replication.listeners.add(listener);
    return () => this.core.replication.listeners.delete(listener);
  }

  /** Ends all clients, stops listening, and brings everything to disk. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /**
   * The same without a word to replicas: they have what they have. For tests that let a node of a Cluster die.
   * @example
   * const engine = await Engine.open();
   * await engine.kill();
   */
  kill(): Promise<void> {
    for (const stream of this.#streams) stream.destroy();
    return this.close();
  }

  async #close(): Promise<void> {
    this.core.cluster?.stop();
    for (const client of this.#clients) client.close();
    this.core.replication.feed.flush();
    for (const stream of this.#streams) stream.destroy();
    await this.#net.close();
    this.core.persistence.shutdown(undefined, true);
    await this.core.persistence.idle();
    this.core.stop();
    this.#leave();
    const { lost } = this.core.persistence;
    if (lost !== null) throw new Error(`not everything could be brought to disk: ${lost.message}`, { cause: lost });
  }
}

/** An engine; settings that it refuses leave the folder to others. */
function makeCore(leave: () => void, options: ConstructorParameters<typeof Engine>[0]): Engine {
  try {
    return new Engine(options);
  } catch (error) {
    leave();
    throw error;
  }
}
