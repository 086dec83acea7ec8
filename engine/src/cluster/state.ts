/**
 * What is true of a Cluster: its nodes, their roles, who owns which slot. All nodes live in one process, so they share
 * this object; there is no gossip and nothing to agree on. A node that runs takes a *seat* here and is told what changes.
 *
 * **Epochs** are kept as Redis keeps them, since tools show them, and because they decide when two states become one: who
 * takes a slot gets an epoch higher than all before, and for each slot the claim with the highest epoch wins.
 *
 * **Partitions.** A side that is cut off from the rest gets a copy of the state (`fork`) and goes on with that. When the
 * sides meet again one state takes in the others (`absorb`). A node is reachable from a side if it has a seat in its state,
 * so a dead node and one on the other side are the same thing, as for a node of a real Cluster.
 *
 * **Failures.** `tick` notes since when a node is gone. After the node timeout it is suspected (`fail?`); where the side has
 * the majority of the primaries it has failed (`fail`), and of its replicas that are here the one with the most data takes
 * over. Redis's replicas wait a moment before they ask for votes, so that a primary which is cut off has stopped by then.
 * Here the sides know each other: before one promotes a replica, the others look who is gone, and who is alone stops.
 *
 * **Primaries without slots.** One whose last slot another took over follows that one, as in Redis.
 *
 * **Primaries without replicas.** One that had replicas and has had none for five seconds gets one from the primary that has
 * most, if that keeps enough (cluster-migration-barrier), as in Redis.
 */

import { SLOTS } from "../lib/key-slot.ts";

export type Health = "ok" | "suspected" | "failed";

export class ClusterNode {
  readonly id: string;
  ip = "";
  port = 0;
  busPort = 0;
  hostname = "";
  /** Whom it follows; null for a primary. */
  primary: ClusterNode | null = null;
  configEpoch = 0;
  slotCount = 0;
  health: Health = "ok";
  /** Since when it is not reachable, by the monotonic clock and by the wall clock; 0 while it is. */
  lostAt = 0;
  lostAtMs = 0;
  /** Whether it had replicas, and since when it has none that is there, by the monotonic clock; 0 while it has. */
  hadReplicas = false;
  orphanedAt = 0;
  /** Who took its last slot: whom it follows when it is back. */
  heir: ClusterNode | null = null;
  /** Set by CLUSTER RESET: whether the node, which has left, still answers those that it does not know any more. */
  stillAnswers: (() => boolean) | null = null;
  /** False after CLUSTER RESET HARD: where it was is a node of another id now, and nobody looks for this one. */
  hasAddress = true;

  constructor(id: string) {
    this.id = id;
  }

  get isPrimary(): boolean {
    return this.primary === null;
  }

  /** The epoch of its claims; a replica shows its primary's. */
  get shownEpoch(): number {
    return this.primary?.configEpoch ?? this.configEpoch;
  }
}

/** A node that runs in this process, as the state sees it. */
export interface Seat {
  readonly id: string;
  /** How much of its primary's stream it has, or has made. */
  readonly offset: number;
  /** Whether its copy is complete, for clients that look for replicas. */
  readonly hasData: boolean;
  /** Whether it may replace its primary by itself: its data is not too old, and its configuration allows it. */
  readonly mayTakeOver: boolean;
  /** Whether it follows another primary where it is needed, or who took its last slot (cluster-allow-replica-migration). */
  readonly mayMigrate: boolean;
  /** How many replicas a primary must keep before one goes to another (cluster-migration-barrier). */
  readonly migrationBarrier: number;
  /** Roles, owners or nodes are not what they were; these slots have another owner than the one that is named. */
  changed(slots: ReadonlyMap<number, ClusterNode | null>): void;
  /** A message that was published on another node. */
  deliver(channel: string, message: string, sharded: boolean): void;
  /** Holds back writes, so that a replica can come to have everything. */
  pauseWrites(untilMs: number): void;
  resumeWrites(): void;
}

export type Range = readonly [from: number, to: number];

type Changed = Map<number, ClusterNode | null>;

const NO_SLOTS: Changed = new Map();

/** How long a primary is without replicas before it gets one from another. */
const ORPHANED_MS = 5000;

export class ClusterState {
  readonly nodes = new Map<string, ClusterNode>();
  readonly seats = new Map<string, Seat>();
  currentEpoch = 0;
  /** Ids that CLUSTER FORGET removed: every node is told to, and only the first has to do it. */
  readonly forgotten = new Set<string>();
  readonly #owners: (ClusterNode | null)[] = new Array(SLOTS).fill(null);
  /** All states that were one before the network was cut. */
  #sides = new Set<ClusterState>([this]);
  /** What `isCovered` and `hasMajority` found; null after a change. */
  #standing: { readonly covered: boolean; readonly majority: boolean } | null = null;

  // ---------------------------------------------------------------------------------------------- reading

  ownerOf(slot: number): ClusterNode | null {
    return this.#owners[slot]!;
  }

  isReachable(node: ClusterNode): boolean {
    return this.seats.has(node.id) || (node.stillAnswers?.() ?? false);
  }

  /** The slots of a node, joined where they are neighbours. */
  rangesOf(node: ClusterNode): Range[] {
    const ranges: [number, number][] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      if (this.#owners[slot] !== node) continue;
      const last = ranges.at(-1);
      if (last !== undefined && last[1] === slot - 1) last[1] = slot;
      else ranges.push([slot, slot]);
    }
    return ranges;
  }

  slotsOf(node: ClusterNode): number[] {
    const slots: number[] = [];
    for (let slot = 0; slot < SLOTS; slot++) if (this.#owners[slot] === node) slots.push(slot);
    return slots;
  }

  replicasOf(node: ClusterNode): ClusterNode[] {
    return [...this.nodes.values()].filter(({ primary }) => primary === node);
  }

  /** The primaries that have slots: those that vote. */
  get voters(): ClusterNode[] {
    return [...this.nodes.values()].filter((node) => node.isPrimary && node.slotCount > 0);
  }

  /** How many slots have an owner, and of how many owners something is wrong. */
  countSlots(): { assigned: number; suspected: number; failed: number } {
    const count = { assigned: 0, suspected: 0, failed: 0 };
    for (const { slotCount, health } of this.nodes.values()) {
      count.assigned += slotCount;
      if (health !== "ok") count[health] += slotCount;
    }
    return count;
  }

  /** Every slot has an owner that has not failed. */
  get isCovered(): boolean {
    return this.#stand().covered;
  }

  /** Most primaries can be reached from here. */
  get hasMajority(): boolean {
    return this.#stand().majority;
  }

  #stand() {
    this.#standing ??= {
      covered: this.#owners.every((owner) => owner !== null && owner.health !== "failed"),
      majority: this.#count(({ health }) => health === "ok") >= this.quorum,
    };
    return this.#standing;
  }

  #count(counts: (voter: ClusterNode) => boolean): number {
    return this.voters.filter(counts).length;
  }

  get quorum(): number {
    return Math.floor(this.voters.length / 2) + 1;
  }

  // ---------------------------------------------------------------------------------------------- nodes and seats

  add(node: ClusterNode): ClusterNode {
    this.nodes.set(node.id, node);
    this.forgotten.delete(node.id);
    this.#changed(NO_SLOTS);
    return node;
  }

  /** Removes a node; its slots have no owner then. */
  forget(node: ClusterNode): void {
    const changed: Changed = new Map();
    for (const slot of this.slotsOf(node)) this.#own(slot, null, changed);
    for (const replica of this.replicasOf(node)) replica.primary = null;
    for (const other of this.nodes.values()) if (other.heir === node) other.heir = null;
    this.nodes.delete(node.id);
    this.forgotten.add(node.id);
    this.#changed(changed);
  }

  /** A node begins to run, or comes over from another side. */
  take(seat: Seat): void {
    const node = this.nodes.get(seat.id)!;
    this.seats.set(seat.id, seat);
    node.health = "ok";
    node.lostAt = 0;
    node.stillAnswers = null;
    this.#followHeirs();
    this.#changed(NO_SLOTS);
  }

  /** A node is gone, or on another side. Nobody knows yet: the next tick sees it. */
  leave(seat: Seat): void {
    this.seats.delete(seat.id);
  }

  /**
   * A node leaves by CLUSTER RESET. To the others it is a primary from now on, since it says so when it is asked; with another id
   * (`hard`) it is somebody else, and the one that they know has no address. Its slots stay its own, as in Redis.
   */
  leaveByReset(seat: Seat, hard: boolean, stillAnswers: () => boolean): void {
    const node = this.nodes.get(seat.id);
    this.leave(seat);
    // The others may have forgotten it before.
    if (node === undefined) return;
    if (hard) {
      Object.assign(node, { ip: "", port: 0, busPort: 0, hasAddress: false });
    } else {
      node.stillAnswers = stillAnswers;
      node.primary = null;
    }
    this.#changed(NO_SLOTS);
  }

  // ---------------------------------------------------------------------------------------------- changes

  #own(slot: number, node: ClusterNode | null, changed: Changed): void {
    const before = this.#owners[slot]!;
    changed.set(slot, before);
    if (before !== null) before.slotCount--;
    if (node !== null) {
      node.slotCount++;
      node.heir = null;
    }
    this.#owners[slot] = node;
    if (before !== null && before.slotCount === 0 && node !== null) before.heir = node;
  }

  /** Gives slots to a node, or to nobody. */
  assign(slots: Iterable<number>, node: ClusterNode | null): void {
    const changed: Changed = new Map();
    for (const slot of slots) if (this.#owners[slot] !== node) this.#own(slot, node, changed);
    this.#followHeirs();
    this.#changed(changed);
  }

  /** Makes a node follow another, or nobody. */
  setPrimary(node: ClusterNode, primary: ClusterNode | null): void {
    node.primary = primary;
    node.heir = null;
    this.#changed(NO_SLOTS);
  }

  /** Puts a node's epoch above all others; false if it is already. */
  bumpEpoch(node: ClusterNode): boolean {
    let highest = this.currentEpoch;
    for (const { configEpoch } of this.nodes.values()) highest = Math.max(highest, configEpoch);
    if (node.configEpoch !== 0 && node.configEpoch === highest) return false;
    this.currentEpoch = highest + 1;
    node.configEpoch = this.currentEpoch;
    this.#changed(NO_SLOTS);
    return true;
  }

  setEpoch(node: ClusterNode, epoch: number): void {
    node.configEpoch = epoch;
    this.currentEpoch = Math.max(this.currentEpoch, epoch);
    this.#changed(NO_SLOTS);
  }

  /** A replica takes its primary's place: its slots, and its replicas; the old primary follows it, if it is there. */
  takeOver(node: ClusterNode): void {
    const old = node.primary;
    if (old === null) return;
    const changed: Changed = new Map();
    node.primary = null;
    node.hadReplicas = true;
    this.currentEpoch++;
    node.configEpoch = this.currentEpoch;
    for (const slot of this.slotsOf(old)) this.#own(slot, node, changed);
    for (const replica of this.replicasOf(old)) replica.primary = node;
    old.heir = node;
    if (this.isReachable(old)) {
      old.primary = node;
      old.heir = null;
    }
    this.#changed(changed);
  }

  /** Primaries here that have lost their last slot follow who took it, and their replicas do too. */
  #followHeirs(): void {
    for (const node of this.nodes.values()) {
      const { heir } = node;
      const seat = this.seats.get(node.id);
      if (heir === null || node.slotCount > 0 || !node.isPrimary || seat === undefined || !seat.mayMigrate) continue;
      const primary = heir.primary ?? heir;
      node.heir = null;
      if (primary === node) continue;
      node.primary = primary;
      for (const replica of this.replicasOf(node)) replica.primary = primary;
    }
  }

  #changed(slots: Changed): void {
    this.#standing = null;
    for (const seat of [...this.seats.values()]) seat.changed(slots);
  }

  // ---------------------------------------------------------------------------------------------- failures

  /** Looks who is gone, and for how long; where this side has the majority, replicas of failed primaries take over. */
  tick(now: number, wallMs: number, timeoutMs: number): void {
    this.#notice(now, wallMs, timeoutMs);
    if (!this.#votes) return;
    this.#helpOrphans(now);
    if (!this.voters.some(({ health }) => health === "failed")) return;
    for (const side of this.#sides) if (side !== this) side.#notice(now, wallMs, timeoutMs);
    this.#elect();
  }

  /** Most primaries are on this side. */
  get #votes(): boolean {
    return this.#count((voter) => this.isReachable(voter)) >= this.quorum;
  }

  /** Nodes on the other side of a partition count as gone from now on. */
  lose(now: number, wallMs: number): void {
    for (const node of this.nodes.values()) {
      if (this.isReachable(node) || node.lostAt !== 0) continue;
      node.lostAt = now;
      node.lostAtMs = wallMs;
    }
  }

  #notice(now: number, wallMs: number, timeoutMs: number): void {
    this.lose(now, wallMs);
    const votes = this.#votes;
    let noticed = false;
    for (const node of this.nodes.values()) {
      if (this.isReachable(node) || !node.hasAddress) continue;
      if (node.health === "failed" || now - node.lostAt <= timeoutMs) continue;
      noticed ||= votes || node.health === "ok";
      node.health = votes ? "failed" : "suspected";
    }
    if (noticed) this.#changed(NO_SLOTS);
  }

  #elect(): void {
    for (const primary of this.voters) {
      if (primary.health !== "failed") continue;
      let best: Seat | undefined;
      for (const { id } of this.replicasOf(primary)) {
        const seat = this.seats.get(id);
        if (seat?.mayTakeOver && (best === undefined || seat.offset > best.offset)) best = seat;
      }
      if (best !== undefined) this.takeOver(this.nodes.get(best.id)!);
    }
  }

  #helpOrphans(now: number): void {
    const present = (node: ClusterNode) => this.replicasOf(node).filter((replica) => this.isReachable(replica));
    for (const orphan of this.voters) {
      if (!this.isReachable(orphan)) continue;
      if (present(orphan).length > 0) {
        orphan.hadReplicas = true;
        orphan.orphanedAt = 0;
      } else if (orphan.orphanedAt === 0) orphan.orphanedAt = now;
      else if (orphan.hadReplicas && now - orphan.orphanedAt > ORPHANED_MS) {
        const [most = []] = this.voters.map(present).sort((a, b) => b.length - a.length);
        const [replica] = most.sort((a, b) => (a.id < b.id ? -1 : 1));
        const seat = replica === undefined ? undefined : this.seats.get(replica.id);
        if (seat?.mayMigrate && most.length > seat.migrationBarrier) this.setPrimary(replica!, orphan);
      }
    }
  }

  // ---------------------------------------------------------------------------------------------- partitions

  /** A copy without anybody in it, for a side that is cut off. */
  fork(): ClusterState {
    const copy = new ClusterState();
    copy.#sides = this.#sides.add(copy);
    copy.currentEpoch = this.currentEpoch;
    for (const id of this.forgotten) copy.forgotten.add(id);
    copy.#copyNodes(this.nodes.values());
    for (let slot = 0; slot < SLOTS; slot++) {
      const owner = this.#owners[slot]!;
      if (owner !== null) copy.#own(slot, copy.nodes.get(owner.id)!, new Map());
    }
    return copy;
  }

  #copyNodes(nodes: Iterable<ClusterNode>): void {
    const originals = [...nodes];
    for (const { id, ip, port, busPort, hostname, hasAddress, configEpoch, health, lostAt, lostAtMs } of originals) {
      const node = new ClusterNode(id);
      Object.assign(node, { ip, port, busPort, hostname, hasAddress, configEpoch, health, lostAt, lostAtMs });
      this.nodes.set(id, node);
    }
    const mine = (node: ClusterNode | null) => (node === null ? null : (this.nodes.get(node.id) ?? null));
    for (const original of originals) {
      const node = this.nodes.get(original.id)!;
      node.primary = mine(original.primary);
      node.heir = mine(original.heir);
    }
  }

  /** Takes in what another state knows, and for each slot the claim with the higher epoch. Seats come over one by one. */
  absorb(other: ClusterState): void {
    this.#sides.delete(other);
    const known = (id: string) => this.nodes.has(id);
    const unknown = [...other.nodes.values()].filter(({ id }) => !known(id));
    const newer = [...other.nodes.values()].filter(
      ({ id, configEpoch }) => known(id) && configEpoch > this.nodes.get(id)!.configEpoch,
    );
    this.#copyNodes(unknown);
    for (const theirs of newer) {
      const node = this.nodes.get(theirs.id)!;
      node.configEpoch = theirs.configEpoch;
      node.primary = theirs.primary === null ? null : this.nodes.get(theirs.primary.id)!;
    }
    const changed: Changed = new Map();
    for (let slot = 0; slot < SLOTS; slot++) {
      const theirs = other.#owners[slot]!;
      const mine = this.#owners[slot]!;
      if (theirs === null || theirs.id === mine?.id) continue;
      if (mine !== null && theirs.configEpoch <= mine.configEpoch) continue;
      this.#own(slot, this.nodes.get(theirs.id)!, changed);
    }
    this.currentEpoch = Math.max(this.currentEpoch, other.currentEpoch);
    this.#followHeirs();
    this.#changed(changed);
  }
}
