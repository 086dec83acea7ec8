/**
 * A whole Cluster in one process, for development and tests:
 *
 *   const cluster = await EngineCluster.open({ primaries: 3, replicas: 1 });
 *   const redis = new Redis.Cluster(cluster.addresses);        // or any other Cluster client
 *   await cluster.kill(0);                                     // its replica takes over after the node timeout
 *   await cluster.close();
 *
 * Every node is a store of its own with its own port, slots, clients and replication. What nodes of a real Cluster tell each
 * other over their bus they have in common here (cluster/state.ts), and replication and MIGRATE go through streams of the
 * process (cluster-network.ts), so a node can be killed, restarted, cut off or slowed down by a call.
 *
 * It is no way to spread load: all nodes share a thread. A Cluster for production is made of Redis or Valkey nodes.
 */

import { type ClusterMember, newNodeId } from "../cluster/member.ts";
import { readNodesConf } from "../cluster/nodes-conf.ts";
import { ClusterNode, ClusterState } from "../cluster/state.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import { SLOTS } from "../lib/key-slot.ts";
import type { Address, ListenOptions } from "../net/server.ts";
import { join, resolve } from "../platform/paths.ts";
import { ClusterNetwork, type NetworkNode } from "./cluster-network.ts";
import { EmbeddedEngine, type OpenOptions } from "./embedded.ts";
import type { LocalClient, LocalClientOptions } from "./local-client.ts";
import { type MoveSlotsOptions, migrateAuth, moveSlot } from "./slot-mover.ts";

/** How a Cluster in one process is opened. */
export interface EngineClusterOptions extends Omit<OpenOptions, "dir" | "onProgress"> {
  /** How many primaries (default 3). The slots are spread over them evenly. Fewer than three cannot vote for a replica of a dead one. */
  readonly primaries?: number;
  /** How many replicas each primary has (default 1). */
  readonly replicas?: number;
  /**
   * Where the nodes listen: on consecutive ports from `port` on, or on free ones (0, the default). With `tls` they take TLS only, all with
   * the same certificate, as `Engine.listen`. False: in this process only.
   */
  readonly listen?: Pick<ListenOptions, "host" | "port" | "tls"> | false;
  /** The folder to keep the data in, with one for each node in it. None by default: data is in memory only. */
  readonly dir?: string;
  /** How long a node is silent before it has failed (default 1 000). */
  readonly nodeTimeoutMs?: number;
  /** How long what a primary writes is on its way to its replicas (default 0). `cluster.replicaLagMs` changes it. */
  readonly replicaLagMs?: number;
}

/** How a replica takes its primary's place. */
export interface FailoverOptions {
  /**
   * `force`: without asking the primary, so what the replica has not yet got is lost. `takeover`: without a majority too. By default the
   * replica waits until it has everything.
   */
  readonly mode?: "force" | "takeover";
}

/** Slots by their numbers, or from one to another. */
export type SlotSelection =
  | readonly number[]
  | {
      /** The first slot. */
      readonly from: number;
      /** The last slot, which is one of them. */
      readonly to: number;
    };

const FIRST_INNER_PORT = 7000;
const LOOK_MS = 2;

/**
 * A node of an EngineCluster. It stays the same when it is killed and restarted.
 * @example
 * const cluster = await EngineCluster.open({ listen: false });
 * const client = cluster.nodes[0]!.connect();
 * await client.call("CLUSTER", "KEYSLOT", "greeting"); // → 12714
 * await cluster.close();
 */
export class EngineClusterNode implements NetworkNode {
  /** Its number: primaries come first, from 0 on, then their replicas. */
  readonly index: number;
  /** The address where it listens. */
  host = "127.0.0.1";
  /** The port where it listens; with `listen: false` one that only nodes of this process know. */
  port = 0;
  /** The store while it runs. */
  running: EmbeddedEngine | null = null;

  #id: string;

  constructor(index: number, id: string) {
    this.index = index;
    this.#id = id;
  }

  /** Its name in the Cluster, as CLUSTER MYID has it. CLUSTER RESET HARD gives it another one. */
  get id(): string {
    this.#id = this.running?.core.cluster?.id ?? this.#id;
    return this.#id;
  }

  /** False while it is killed. */
  get isRunning(): boolean {
    return this.running !== null;
  }

  /** Its store. */
  get engine(): EmbeddedEngine {
    if (this.running === null) throw new Error(`node ${this.index} does not run`);
    return this.running;
  }

  /** Its place in the Cluster; its parts are not part of the public interface. Throws while the node does not run. */
  get member(): ClusterMember {
    return this.engine.core.cluster!;
  }

  /** What it is now. Throws while the node does not run. */
  get role(): "primary" | "replica" {
    return this.member.self.isPrimary ? "primary" : "replica";
  }

  /** A client of this node in this process. It gets MOVED and ASK as errors. */
  connect(options?: LocalClientOptions): LocalClient {
    return this.engine.connect(options);
  }
}

/**
 * A whole Cluster in one process, for development and tests. Every node is a store of its own with its own slots, clients and replication.
 * @example
 * const cluster = await EngineCluster.open({ primaries: 3, replicas: 1, nodeTimeoutMs: 500 });
 * const store = await open(cluster.url);
 * await store.set("greeting", "hello"); // → "OK"
 * await store.close();
 * await cluster.close();
 */
export class EngineCluster {
  /** All nodes, those included that do not run: primaries first, then replicas. */
  readonly nodes: readonly EngineClusterNode[];
  readonly #options: EngineClusterOptions;
  readonly #clock: Clock;
  readonly #network: ClusterNetwork;
  /** What all nodes share; while the network is cut, each part has its own. */
  #state: ClusterState;
  readonly #cutOff = new Map<EngineClusterNode, ClusterState>();
  #closed: Promise<void> | null = null;

  private constructor(options: EngineClusterOptions, state: ClusterState, ids: readonly string[]) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#state = state;
    this.nodes = ids.map((id, index) => new EngineClusterNode(index, id));
    this.#network = new ClusterNetwork(this.nodes, options.replicaLagMs ?? 0);
  }

  /** Opens all nodes; settles when all slots are served and every replica has its primary's data. */
  static async open(options: EngineClusterOptions = {}): Promise<EngineCluster> {
    const { primaries = 3, replicas = 1 } = options;
    if (!(Number.isInteger(primaries) && primaries >= 1 && Number.isInteger(replicas) && replicas >= 0)) {
      throw new RangeError("primaries must be a number from 1 on, replicas one from 0 on");
    }
    refuseTls(options.config ?? {});
    const dir = options.dir === undefined ? undefined : resolve(options.dir);
    // Nodes come in at each other with the password that everybody needs, unless they have one of their own.
    const { requirepass } = options.config ?? {};
    const config = requirepass === undefined ? options.config : { masterauth: requirepass, ...options.config };
    const fixed = { ...options, ...(dir === undefined ? {} : { dir }), ...(config === undefined ? {} : { config }) };
    const clock = options.clock ?? systemClock;
    const file = options.config?.["cluster-config-file"] ?? "nodes.conf";
    const count = primaries * (1 + replicas);
    const kept =
      dir === undefined ? null : restore(Array.from({ length: count }, (_, i) => join(folderOf(dir, i), file)));
    const ids = kept?.ids ?? Array.from({ length: count }, () => newNodeId(clock));
    const cluster = new EngineCluster(fixed, kept?.state ?? newState(ids, primaries), ids);
    try {
      for (const node of cluster.nodes) await cluster.#start(node);
      for (const node of cluster.nodes) node.member.start();
      await cluster.synced();
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Opens a node's store and its port. It takes its place in the Cluster when its member starts. */
  async #start(node: EngineClusterNode): Promise<void> {
    const {
      dir,
      nodeTimeoutMs = 1000,
      listen = {},
      config,
      replicaLagMs,
      primaries,
      replicas,
      ...rest
    } = this.#options;
    const engine = await EmbeddedEngine.open(
      {
        ...rest,
        ...(dir === undefined ? {} : { dir: folderOf(dir, node.index) }),
        config: {
          "cluster-node-timeout": String(nodeTimeoutMs),
          "repl-diskless-sync-delay": "0",
          ...config,
          "cluster-enabled": "yes",
        },
      },
      { state: this.#cutOff.get(node) ?? this.#state, id: node.id, directory: this },
    );
    engine.core.dial = this.#network.dialFrom(node);
    try {
      if (listen === false) node.port = FIRST_INNER_PORT + node.index;
      else await listenFor(node, engine, listen);
    } catch (error) {
      await engine.close();
      throw error;
    }
    // Without a socket the port is one that only the network in this process knows; replicas name it to their primary.
    engine.core.listeningPort = node.port;
    node.running = engine;
    const { self } = node.member;
    self.port = node.port;
    node.member.announce(node.host);
  }

  // ---------------------------------------------------------------------------------------------- as clients see it

  /** Where the nodes are, for Cluster clients. */
  get addresses(): Pick<Address, "host" | "port">[] {
    return this.nodes.map(({ host, port }) => ({ host, port }));
  }

  /** The same as the toolkit's `open` takes it. */
  get url(): string {
    const { listen } = this.#options;
    const scheme = listen !== false && listen?.tls !== undefined ? "rediss" : "redis";
    return `${scheme}+cluster://${this.addresses.map(({ host, port }) => `${host}:${port}`).join(",")}`;
  }

  #at(index: number): EngineClusterNode {
    const node = this.nodes[index];
    if (node === undefined) throw new RangeError(`there is no node ${index}: they are 0 to ${this.nodes.length - 1}`);
    return node;
  }

  /** The node that owns a slot; undefined where none does, or where it does not run. */
  ownerOf(slot: number): EngineClusterNode | undefined {
    const id = this.#state.ownerOf(slot)?.id;
    return this.nodes.find((node) => node.id === id && node.isRunning);
  }

  /**
   * The replicas of a primary that run and are on its side.
   * @example
   * const cluster = await EngineCluster.open({ listen: false });
   * cluster.ownerOf(0)?.index; // → 0
   * cluster.replicasOf(0).map(({ index }) => index); // → [3]
   * const [node] = cluster.nodes;
   * cluster.find(node!.host, node!.port) === node!.member; // → true
   */
  replicasOf(index: number): EngineClusterNode[] {
    const { state, self } = this.#at(index).member;
    return this.nodes.filter(({ id }) => state.seats.has(id) && state.nodes.get(id)?.primary === self);
  }

  /** For CLUSTER MEET. */
  find(ip: string, port: number): ClusterMember | undefined {
    const node = this.nodes.find((each) => each.host === ip && each.port === port);
    return node?.isRunning ? node.member : undefined;
  }

  /** How long what a primary writes is on its way to its replicas. */
  get replicaLagMs(): number {
    return this.#network.replicaLagMs;
  }

  set replicaLagMs(ms: number) {
    this.#network.replicaLagMs = ms;
  }

  // ---------------------------------------------------------------------------------------------- waiting

  async #until(come: () => boolean, what: string, timeoutMs: number): Promise<void> {
    const until = this.#clock.monotonic() + timeoutMs;
    while (!come()) {
      if (this.#clock.monotonic() >= until) throw new Error(`${what} after ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /** Settles when every replica that runs and reaches its primary has all of its data. */
  async synced(timeoutMs = 30_000): Promise<void> {
    const isBehind = ({ running }: EngineClusterNode) => {
      const member = running?.core.cluster;
      const primary = member?.self.primary;
      if (member == null || primary == null) return false;
      const seat = member.state.seats.get(primary.id);
      return seat !== undefined && (!running!.core.replication.linkIsUp || member.offset < seat.offset);
    };
    await this.#until(() => !this.nodes.some(isBehind), "not every replica has its primary's data", timeoutMs);
  }

  // ---------------------------------------------------------------------------------------------- what happens to it

  /**
   * A replica takes its primary's place; with a primary's number, its replica with the most data does. Nothing is lost, unless
   * `mode` asks for it. Settles with the new primary's number.
   * @example
   * const cluster = await EngineCluster.open({ listen: false });
   * await cluster.failover(0); // → 3
   */
  async failover(index: number, { mode }: FailoverOptions = {}): Promise<number> {
    const named = this.#at(index);
    const offset = (node: EngineClusterNode) => node.member.offset;
    const [best = named] =
      named.role === "replica" ? [named] : this.replicasOf(index).sort((a, b) => offset(b) - offset(a));
    const node = best;
    if (node.role !== "replica") throw new Error(`node ${index} has no replica that could take its place`);
    node.member.failover(mode ?? "wait");
    await this.#until(() => node.role === "primary", `node ${node.index} has not become a primary`, 6000);
    return node.index;
  }

  /**
   * Moves slots to a node, key by key, while clients go on. Settles with the number of keys that went over.
   * @example
   * const cluster = await EngineCluster.open({ listen: false });
   * await cluster.nodes[0]!.connect().call("SET", "{06S}k", "v"); // → "OK"
   * await cluster.moveSlots({ from: 0, to: 9 }, 2); // → 1
   */
  async moveSlots(slots: SlotSelection, target: number, options: MoveSlotsOptions = {}): Promise<number> {
    const to = this.#at(target);
    if (to.role !== "primary") throw new Error(`node ${target} is a replica: slots go to primaries`);
    let moved = 0;
    for (const slot of numbersOf(slots)) {
      const from = this.ownerOf(slot);
      if (from === undefined) throw new Error(`slot ${slot} has no owner that runs`);
      const { masteruser, masterauth } = from.engine.core.config.values;
      const auth = migrateAuth({ masteruser, masterauth });
      if (from !== to) moved += await moveSlot(slot, from, to, { ...options, auth });
    }
    return moved;
  }

  /**
   * Ends a node as a crash does. What it has not sent to its replicas is lost to them; what its files have is not.
   * @example
   * const cluster = await EngineCluster.open({ listen: false });
   * await cluster.kill(0);
   * await cluster.restart(0);
   * await cluster.synced();
   */
  async kill(index: number): Promise<void> {
    const node = this.#at(index);
    const { engine } = node;
    node.running = null;
    this.#network.drop(node);
    await engine.kill();
  }

  /** Starts a node that was killed, with what its folder has; without a folder, empty. */
  async restart(index: number): Promise<void> {
    const node = this.#at(index);
    if (node.isRunning) throw new Error(`node ${index} runs`);
    await this.#start(node);
    node.member.start();
  }

  /**
   * Cuts the network into parts: nodes reach those of their own part only. Nodes that are not named are a part too. Clients
   * still reach all of them.
   * @example
   * const cluster = await EngineCluster.open({ listen: false });
   * cluster.partition([0], [1, 2]);
   * cluster.heal();
   */
  partition(...parts: readonly (readonly number[])[]): void {
    if (this.#cutOff.size > 0) throw new Error("the network is cut already: heal it first");
    const named = parts.map((part) => part.map((index) => this.#at(index)));
    const rest = this.nodes.filter((node) => !named.some((part) => part.includes(node)));
    const all = [rest, ...named].filter((part) => part.length > 0);
    this.#network.cut(all);
    for (const part of all.slice(1)) {
      const state = this.#state.fork();
      for (const node of part) this.#cutOff.set(node, state);
    }
    for (const [node, state] of this.#cutOff) if (node.isRunning) node.member.enter(state);
    for (const state of [this.#state, ...this.#cutOff.values()]) state.lose(this.#clock.monotonic(), this.#clock.now());
  }

  /** Ends a partition. Where both parts claim a slot, the later claim counts; who lost all its slots follows who has them. */
  heal(): void {
    this.#network.heal();
    const states = new Set([this.#state, ...this.#cutOff.values()]);
    const [into, ...others] = [...states].sort((a, b) => b.currentEpoch - a.currentEpoch);
    for (const other of others) into!.absorb(other);
    this.#cutOff.clear();
    this.#state = into!;
    for (const node of this.nodes) if (node.isRunning && node.member.state !== into) node.member.enter(into!);
  }

  /** Ends all nodes. Safe to call twice. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const running = this.nodes.flatMap((node) => node.running ?? []);
    // A replica whose primary ends before it connects anew: to an address where nobody is by then.
    for (const node of this.nodes) node.running = null;
    const ended = await Promise.allSettled(running.map((engine) => engine.close()));
    for (const outcome of ended) if (outcome.status === "rejected") throw outcome.reason;
  }
}

// ------------------------------------------------------------------------------------------------ beginning

/** Slots spread evenly over the primaries, which come first; replicas in turn. */
function newState(ids: readonly string[], primaries: number): ClusterState {
  const state = new ClusterState();
  const nodes = ids.map((id) => state.add(new ClusterNode(id)));
  nodes.forEach((node, i) => {
    if (i >= primaries) {
      node.primary = nodes[i % primaries]!;
      return;
    }
    const from = Math.round((i * SLOTS) / primaries);
    const to = Math.round(((i + 1) * SLOTS) / primaries);
    state.setEpoch(node, i + 1);
    state.assign(numbersOf({ from, to: to - 1 }), node);
  });
  return state;
}

const folderOf = (dir: string, index: number): string => join(dir, `node-${index}`);

/** What the nodes' files say; null where there is none. The one with the highest epoch knows most. */
function restore(files: readonly string[]): { state: ClusterState; ids: string[] } | null {
  const found = files.map(readNodesConf).filter((file) => file !== null);
  if (found.length === 0) return null;
  const [newest] = [...found].sort((a, b) => b.state.currentEpoch - a.state.currentEpoch);
  const { state } = newest!;
  if (found.length < files.length || state.nodes.size !== files.length) {
    throw new Error(`${files[0]} is of a Cluster of ${state.nodes.size} nodes, not of ${files.length}`);
  }
  return { state, ids: found.map(({ self }) => self) };
}

/** What these settings ask for, a second port and TLS between the nodes, is not there: it must not be taken for granted. */
function refuseTls(config: Readonly<Record<string, string>>): void {
  for (const name of ["tls-port", "tls-cluster", "tls-replication"]) {
    const value = config[name];
    if (value === undefined || value === "0" || value.toLowerCase() === "no") continue;
    throw new TypeError(
      `'${name}' cannot be put into force: nodes of a Cluster in one process have one port each and no connections between them. For TLS on those ports give EngineCluster.open({ listen: { tls } })`,
    );
  }
}

async function listenFor(
  node: EngineClusterNode,
  engine: EmbeddedEngine,
  { host = "127.0.0.1", port = 0, tls }: Pick<ListenOptions, "host" | "port" | "tls">,
): Promise<void> {
  // After a restart the node is where it was.
  const wanted = node.port || (port === 0 ? 0 : port + node.index);
  const address = await engine.listen({ host, port: wanted, ...(tls === undefined ? {} : { tls }) });
  node.port = address.port;
  node.host = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : address.host;
}

function numbersOf(slots: SlotSelection): readonly number[] {
  if (!("from" in slots)) return slots;
  const { from, to } = slots;
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
