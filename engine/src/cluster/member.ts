/**
 * A store as a node of a Cluster: its place in the state that all nodes share (state.ts), and what it does about what that
 * says. It follows the primary that the state names, ends subscriptions to shard channels of slots that went elsewhere, sends
 * commands to where their keys are (gate.ts), and keeps nodes.conf.
 *
 * A server with cluster-enabled alone has a state of its own with itself in it. `EngineCluster` (embed/engine-cluster.ts) gives
 * several stores one state, and a directory in which CLUSTER MEET finds them.
 */

import type { Config } from "../config/config.ts";
import type { Client } from "../core/client.ts";
import type { Clock } from "../core/clock.ts";
import type { Db } from "../core/db.ts";
import type { ReplyError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { Pause } from "../core/pause.ts";
import type { ClusterPort } from "../core/ports.ts";
import type { PubSub, Subscriber } from "../core/pubsub.ts";
import {
  alreadySlotOwner,
  CLUSTER_FAILOVER_DOWN,
  CLUSTER_FAILOVER_ON_PRIMARY,
  EPOCH_SET,
  EPOCH_WITH_NODES,
  FORGET_MYSELF,
  FORGET_PRIMARY,
  meetElsewhere,
  notSlotOwner,
  REPLICATE_MYSELF,
  REPLICATE_REPLICA,
  REPLICATE_WITH_DATA,
  RESET_WITH_KEYS,
  SETSLOT_ON_REPLICA,
  slotBusy,
  slotHasKeys,
  slotTwice,
  slotUnassigned,
  strangeNode,
  TARGET_NOT_PRIMARY,
  unknownNode,
} from "../core/rare-errors.ts";
import { Push, type Reply } from "../core/reply.ts";
import { silentTransport, type Transport } from "../core/transport.ts";
import { messageOf } from "../lib/caught.ts";
import { keySlot } from "../lib/key-slot.ts";
import { join } from "../platform/paths.ts";
import { soon } from "../platform/timers.ts";
import { type Describer, endpointOf } from "./describe.ts";
import { Gate } from "./gate.ts";
import { type FailoverMode, ManualFailover } from "./manual-failover.ts";
import { readNodesConf, writeNodesConf } from "./nodes-conf.ts";
import type { Router } from "./redirection.ts";
import { ClusterNode, ClusterState, type Seat } from "./state.ts";

/** What a node needs of the store around it. */
export interface ClusterHost {
  readonly clock: Clock;
  readonly config: Config;
  readonly log: Log;
  readonly databases: readonly Db[];
  readonly clients: ReadonlyMap<number, Client>;
  readonly startedAt: number;
  /** The first port that was listened on; 0 if there is none. */
  readonly listeningPort: number;
  readonly pubsub: PubSub;
  readonly pause: Pause;
  readonly blocking: { release(client: Client, reply: Reply): void };
  readonly replication: {
    readonly isReplica: boolean;
    readonly following: { readonly host: string; readonly port: number } | null;
    readonly link: { readonly isUp: boolean; readonly downSince: number } | null;
    readonly feed: { readonly offset: number; flush(): void };
    follow(host: string, port: number): void;
    promote(): void;
  };
  makeClient(transport: Transport): Client;
  execute(client: Client, argv: readonly string[]): Reply;
}

/** Where a node finds others of its process. */
export interface Directory {
  find(ip: string, port: number): ClusterMember | undefined;
}

/** A place that others have prepared: the state, the node's id in it, and where the others are. */
export interface ClusterPlace {
  readonly state: ClusterState;
  readonly id: string;
  readonly directory: Directory;
}

const ID_LENGTH = 40;
const BUS_OFFSET = 10_000;
const LAST_PORT = 65_535;
const ANNOUNCED = [
  "cluster-announce-ip",
  "cluster-announce-hostname",
  "cluster-announce-port",
  "cluster-announce-bus-port",
] as const;
const NOWHERE = silentTransport("cluster");

export function newNodeId(clock: Clock): string {
  let id = "";
  while (id.length < ID_LENGTH) id += Math.floor(clock.random() * 16).toString(16);
  return id;
}

export class ClusterMember implements ClusterPort, Seat, Router, Describer {
  id: string;
  state: ClusterState;
  self: ClusterNode;
  readonly migrating = new Map<number, string>();
  readonly importing = new Map<number, string>();
  readonly gate = new Gate(this);
  readonly #host: ClusterHost;
  readonly #directory: Directory | null;
  readonly #failover: ManualFailover;
  /** The path of nodes.conf; null where nothing is kept. */
  #file: string | null = null;
  #unsaved = false;
  /** Runs what the node itself decides. */
  #client: Client | null = null;
  #running = false;

  constructor(host: ClusterHost, place?: ClusterPlace) {
    this.#host = host;
    this.#directory = place?.directory ?? null;
    this.id = place?.id ?? newNodeId(host.clock);
    this.state = place?.state ?? new ClusterState();
    this.self = this.state.nodes.get(this.id) ?? this.state.add(new ClusterNode(this.id));
    this.#failover = new ManualFailover(host, this);
    host.config.onChange(ANNOUNCED, () => this.announce());
  }

  /** Takes its place: from here on the node is there for the others. */
  start(): void {
    this.#running = true;
    this.announce();
    this.state.take(this);
  }

  /** Is gone from one moment to the next. */
  stop(): void {
    this.#running = false;
    this.#failover.end();
    this.state.leave(this);
  }

  /** Goes over to another state, in which the node is known: its side was cut off, or is not any more. */
  enter(state: ClusterState): void {
    this.#failover.end();
    this.state.leave(this);
    this.state = state;
    this.self = state.nodes.get(this.id)!;
    if (this.#running) state.take(this);
  }

  // ---------------------------------------------------------------------------------------------- as others see it

  get db(): Db {
    return this.#host.databases[0]!;
  }

  get clock(): Clock {
    return this.#host.clock;
  }

  get startedAt(): number {
    return this.#host.startedAt;
  }

  get #values() {
    return this.#host.config.values;
  }

  get isUp(): boolean {
    const { state } = this;
    return state.hasMajority && (!this.#values["cluster-require-full-coverage"] || state.isCovered);
  }

  get allowsReadsWhenDown(): boolean {
    return this.#values["cluster-allow-reads-when-down"];
  }

  get allowsShardChannelsWhenDown(): boolean {
    return this.#values["cluster-allow-pubsubshard-when-down"];
  }

  get endpointType() {
    return this.#values["cluster-preferred-endpoint-type"];
  }

  get refusesFailover(): boolean {
    return this.#values["cluster-replica-no-failover"];
  }

  get mayMigrate(): boolean {
    return this.#values["cluster-allow-replica-migration"];
  }

  get migrationBarrier(): number {
    return this.#values["cluster-migration-barrier"];
  }

  get offset(): number {
    const { feed } = this.#host.replication;
    feed.flush();
    return feed.offset;
  }

  get hasData(): boolean {
    const { link } = this.#host.replication;
    return link === null || link.isUp || link.downSince > 0;
  }

  get mayTakeOver(): boolean {
    if (this.refusesFailover) return false;
    const { link } = this.#host.replication;
    const factor = this.#values["cluster-replica-validity-factor"];
    if (link === null || link.isUp || factor === 0) return true;
    if (link.downSince === 0) return false;
    const ageMs = this.clock.now() - link.downSince - this.#values["cluster-node-timeout"];
    return ageMs <= this.#values["repl-ping-replica-period"] * 1000 + this.#values["cluster-node-timeout"] * factor;
  }

  addressOf(node: ClusterNode): string {
    return `${endpointOf(this.endpointType, node) ?? ""}:${node.port}`;
  }

  /** Says where clients find this node, as it is configured now. */
  announce(ip = ""): void {
    const values = this.#values;
    const { self } = this;
    const port = values["cluster-announce-port"] || this.#host.listeningPort || self.port || values.port;
    self.ip = values["cluster-announce-ip"] || ip || self.ip;
    self.port = port;
    // Nobody listens there; but clients read it, and it must be a port.
    const busPort = port + BUS_OFFSET <= LAST_PORT ? port + BUS_OFFSET : port - BUS_OFFSET;
    self.busPort = values["cluster-announce-bus-port"] || values["cluster-port"] || busPort;
    self.hostname = values["cluster-announce-hostname"];
  }

  pauseWrites(untilMs: number): void {
    this.#host.pause.begin(untilMs, "write");
  }

  resumeWrites(): void {
    this.#host.pause.end();
  }

  // ---------------------------------------------------------------------------------------------- what the state says

  changed(slots: ReadonlyMap<number, ClusterNode | null>): void {
    this.#playRole();
    if (slots.size > 0) {
      this.#endShardChannels((slot) => slots.has(slot));
      if (this.self.isPrimary) this.#dropKeys(slots);
    }
    this.#save();
  }

  /** Follows whom the state says, or nobody. */
  #playRole(): void {
    const { replication } = this.#host;
    const { primary } = this.self;
    const { following } = replication;
    if (primary === null) {
      if (following !== null) replication.promote();
      return;
    }
    if (following?.host === primary.ip && following.port === primary.port) return;
    this.migrating.clear();
    this.importing.clear();
    replication.follow(primary.ip, primary.port);
  }

  /** Drops the keys of slots that other nodes have taken: the keys of the slot's owner are the ones that count. */
  #dropKeys(slots: ReadonlyMap<number, ClusterNode | null>): void {
    for (const [slot, before] of slots) {
      const owner = this.state.ownerOf(slot);
      if (before !== this.self || owner === null || this.importing.has(slot)) continue;
      const keys = this.db.slots!.keysOf(slot, Number.POSITIVE_INFINITY);
      if (keys.length === 0) continue;
      this.#client ??= this.#host.makeClient(NOWHERE);
      this.#client.isPrimary = true;
      this.#host.execute(this.#client, ["DEL", ...keys]);
    }
  }

  #endShardChannels(concerns: (slot: number) => boolean): void {
    const { pubsub } = this.#host;
    for (const [channel, subscribers] of [...pubsub.shardChannels]) {
      if (!concerns(keySlot(channel))) continue;
      for (const client of [...subscribers]) {
        pubsub.unsubscribeShard(client, channel);
        tellOfEnd(client, channel);
      }
    }
  }

  // ---------------------------------------------------------------------------------------------- messages

  /** Hands what was published here to the other nodes: all of them, or those that have the shard channel. */
  spread(channel: string, message: string, sharded: boolean): void {
    const { seats, nodes } = this.state;
    if (seats.size === 1) return;
    const shard = this.self.primary ?? this.self;
    for (const seat of seats.values()) {
      if (seat === this) continue;
      const node = nodes.get(seat.id)!;
      if (!sharded || (node.primary ?? node) === shard) seat.deliver(channel, message, sharded);
    }
  }

  /** In a turn of its own, as what comes over a network. */
  deliver(channel: string, message: string, sharded: boolean): void {
    const { pubsub } = this.#host;
    soon(() => {
      if (sharded) pubsub.publishShard(channel, message);
      else pubsub.publish(channel, message);
    });
  }

  // ---------------------------------------------------------------------------------------------- CLUSTER

  #node(id: string, unknown: (id: string) => ReplyError = unknownNode): ClusterNode {
    const node = this.state.nodes.get(id);
    if (node === undefined) throw unknown(id);
    return node;
  }

  nodeOf(id: string): ClusterNode {
    return this.#node(id);
  }

  /** Each slot must fit, and be named once. */
  #check(slots: readonly number[], fits: (slot: number) => boolean, misfit: (slot: number) => ReplyError): void {
    const seen = new Set<number>();
    for (const slot of slots) {
      if (!fits(slot)) throw misfit(slot);
      if (seen.has(slot)) throw slotTwice(slot);
      seen.add(slot);
    }
  }

  addSlots(slots: readonly number[]): void {
    this.#check(slots, (slot) => this.state.ownerOf(slot) === null, slotBusy);
    for (const slot of slots) this.importing.delete(slot);
    this.state.assign(slots, this.self);
  }

  deleteSlots(slots: readonly number[]): void {
    this.#check(slots, (slot) => this.state.ownerOf(slot) !== null, slotUnassigned);
    this.state.assign(slots, null);
  }

  flushSlots(): void {
    this.state.assign(this.state.slotsOf(this.self), null);
  }

  #mustBePrimary(): void {
    if (!this.self.isPrimary) throw SETSLOT_ON_REPLICA;
  }

  migrateSlot(slot: number, id: string): void {
    this.#mustBePrimary();
    if (this.state.ownerOf(slot) !== this.self) throw notSlotOwner(slot);
    if (!this.#node(id, strangeNode).isPrimary) throw TARGET_NOT_PRIMARY;
    this.migrating.set(slot, id);
    this.#save();
  }

  importSlot(slot: number, id: string): void {
    this.#mustBePrimary();
    if (this.state.ownerOf(slot) === this.self) throw alreadySlotOwner(slot);
    if (!this.#node(id, strangeNode).isPrimary) throw TARGET_NOT_PRIMARY;
    this.importing.set(slot, id);
    this.#save();
  }

  closeSlot(slot: number): void {
    this.#mustBePrimary();
    this.migrating.delete(slot);
    this.importing.delete(slot);
    this.#save();
  }

  /** CLUSTER SETSLOT NODE. The first of the nodes that is told ends the move for all of them. */
  giveSlot(slot: number, id: string): void {
    this.#mustBePrimary();
    const node = this.#node(id);
    if (!node.isPrimary) throw TARGET_NOT_PRIMARY;
    const { self, state } = this;
    const keys = this.db.slots!.count(slot);
    if (state.ownerOf(slot) === self && node !== self && keys > 0) throw slotHasKeys(slot);
    if (keys === 0) this.migrating.delete(slot);
    if (node === self && this.importing.delete(slot)) state.bumpEpoch(self);
    state.assign([slot], node);
    this.#save();
  }

  forget(id: string): void {
    if (this.state.forgotten.has(id)) return;
    const node = this.#node(id);
    if (node === this.self) throw FORGET_MYSELF;
    if (node === this.self.primary) throw FORGET_PRIMARY;
    this.state.forget(node);
  }

  replicate(id: string): void {
    const node = this.#node(id);
    const { self } = this;
    if (node === self) throw REPLICATE_MYSELF;
    if (!node.isPrimary) throw REPLICATE_REPLICA;
    if (self.isPrimary && (self.slotCount > 0 || this.db.size > 0)) throw REPLICATE_WITH_DATA;
    this.state.setPrimary(self, node);
  }

  failover(mode: FailoverMode): void {
    const { self, state } = this;
    if (self.primary === null) throw CLUSTER_FAILOVER_ON_PRIMARY;
    const isDown = self.primary.health === "failed" || !state.isReachable(self.primary);
    if (isDown && mode === "wait") throw CLUSTER_FAILOVER_DOWN;
    this.#failover.begin(state, self, mode);
  }

  bumpEpoch(): boolean {
    return this.state.bumpEpoch(this.self);
  }

  setEpoch(epoch: number): void {
    if (this.state.nodes.size > 1) throw EPOCH_WITH_NODES;
    if (this.self.configEpoch !== 0) throw EPOCH_SET;
    this.state.setEpoch(this.self, epoch);
  }

  /** CLUSTER RESET: alone again; `hard`: with another id too. */
  reset(hard: boolean): void {
    const { self, state } = this;
    if (self.isPrimary && this.db.size > 0) throw RESET_WITH_KEYS;
    const wasReplica = !self.isPrimary;
    const { ip, port } = self;
    const own = new ClusterState();
    const isSameNode = () => this.#running && this.id === self.id;
    state.leaveByReset(this, hard, isSameNode);
    if (hard) this.id = newNodeId(this.clock);
    const node = own.add(new ClusterNode(this.id));
    Object.assign(node, { ip, port });
    if (!hard) {
      node.configEpoch = self.configEpoch;
      own.currentEpoch = state.currentEpoch;
    }
    this.migrating.clear();
    this.importing.clear();
    this.state = own;
    this.self = node;
    this.announce();
    own.take(this);
    if (wasReplica) this.db.clear();
    this.#endShardChannels(() => true);
  }

  /** CLUSTER MEET: another node of this process. */
  meet(ip: string, port: number): void {
    const other = this.#directory?.find(ip, port);
    if (other === undefined) throw meetElsewhere(ip, port);
    if (other.state === this.state) return;
    const [into, from] =
      other.state.nodes.size > this.state.nodes.size ? [other.state, this.state] : [this.state, other.state];
    into.absorb(from);
    for (const seat of [...from.seats.values()]) if (seat instanceof ClusterMember) seat.enter(into);
  }

  // ---------------------------------------------------------------------------------------------- nodes.conf

  /** Takes up what nodes.conf says, and keeps it from here on. Throws where it names nodes that cannot be here. */
  open(): void {
    const file = join(this.#values.dir, this.#values["cluster-config-file"]);
    const conf = this.#directory === null ? readNodesConf(file) : null;
    if (conf !== null) {
      const others = conf.state.nodes.size - 1;
      if (others > 0) {
        throw new Error(
          `${file} names ${others} other nodes. A Cluster of this server lives in one process; one of several processes is made of Redis or Valkey nodes. Remove the file to start a node without others`,
        );
      }
      this.state.leave(this);
      this.id = conf.self;
      for (const [slot, id] of conf.migrating) this.migrating.set(slot, id);
      for (const [slot, id] of conf.importing) this.importing.set(slot, id);
      this.enter(conf.state);
    }
    this.#file = file;
    this.announce();
    this.saveNow();
  }

  #save(): void {
    if (this.#file === null || this.#unsaved) return;
    this.#unsaved = true;
    // Before the reply goes out, and once for all that one command changes.
    queueMicrotask(() => {
      this.#unsaved = false;
      try {
        this.saveNow();
      } catch (error) {
        this.#host.log("warning", `The cluster node config could not be saved: ${messageOf(error)}`);
      }
    });
  }

  saveNow(): void {
    if (this.#file === null) return;
    writeNodesConf(this.#file, this);
  }

  // ---------------------------------------------------------------------------------------------- time

  /** Ten times a second. */
  cron(): void {
    if (!this.#running) return;
    this.announce();
    this.state.tick(this.clock.monotonic(), this.clock.now(), this.#values["cluster-node-timeout"]);
    this.gate.redirectBlocked(this.#host);
  }
}

function tellOfEnd(client: Subscriber, channel: string): void {
  client.push(new Push(["sunsubscribe", channel, client.shardChannels.size]));
}
