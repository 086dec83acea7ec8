/**
 * Replication, both ends of it, as Redis 7.0 speaks it (PSYNC 2).
 *
 * **One history, one id.** A replication id names a history of the data, an offset counts the bytes of its stream. A primary
 * makes the stream (feed.ts); a replica takes over its primary's id and offset and hands the same bytes on. So two servers
 * with an id and an offset in common can go on from there, whichever of them was the primary. A replica that is promoted
 * begins a new history and remembers the old one (`secondId`, valid up to `secondOffset`): the others can follow it without
 * a full resynchronisation.
 *
 * **Where the stream comes from.** `Effects`: what commands did, as the append-only file gets it. We listen
 * only while there is a backlog, that is, once a replica has come; a store without replicas encodes nothing. While we follow
 * a primary we do not listen at all.
 *
 * **Who does what**: feed.ts the stream and the backlog (backlog.ts); replica.ts one replica as seen from here; full-sync.ts
 * snapshots for replicas; link.ts the way to a primary, with handshake.ts and payload.ts (the snapshot that comes); waits.ts
 * WAIT, with disk-marks.ts for WAITAOF; failover.ts FAILOVER; handover.ts the last moments before a shutdown; info.ts what
 * INFO and ROLE say; embedding.ts what a program in the same process may ask. This file holds the ids, the roles and the clockwork.
 *
 * **Following.** The link's commands are obeyed whatever the state (`Client.isPrimary`); everybody else may only read, unless
 * replica-read-only is off. A replica expires nothing: the primary sends DEL. Until then a key whose time has come is hidden
 * from readers (db.ts). Nor does it evict, unless replica-ignore-maxmemory is off.
 */

import type { Client, QueuedCommand } from "../core/client.ts";
import type { Effect } from "../core/effects.ts";
import { LOADING, type ReplyError } from "../core/errors.ts";
import type { ReplicationPort } from "../core/ports.ts";
import {
  MASTERDOWN,
  NO_BYTES,
  NOMASTERLINK,
  NOREPLICAS,
  PENDING_OUTPUT,
  READONLY,
  ROLE_CHANGED,
} from "../core/rare-errors.ts";
import type { Reply } from "../core/reply.ts";
import type { LoadReport } from "../persist/rdb/file.ts";
import type { Buffer } from "../platform/bytes.ts";
import { soon } from "../platform/timers.ts";
import { type Command, NO_ASYNC_LOADING, STALE, WRITE } from "../table/command-table.ts";
import { Failover } from "./failover.ts";
import { Feed } from "./feed.ts";
import { FullSync } from "./full-sync.ts";
import { Handover } from "./handover.ts";
import type { ResumePoint } from "./handshake.ts";
import type { ReplicationHost } from "./host.ts";
import { NO_ID, randomHex } from "./ids.ts";
import { Link } from "./link.ts";
import { OwnDeadlines } from "./own-deadlines.ts";
import { Replica } from "./replica.ts";
import { Waits } from "./waits.ts";

const SECOND_MS = 1000;

export interface Primary {
  readonly host: string;
  readonly port: number;
}

/** What happened, for those in the same process who want to know. */
export type ReplicationEvent =
  | {
      /** The role changed. */
      readonly type: "role";
      /** What the store is now. */
      readonly role: "primary" | "replica";
    }
  | {
      /** The link to the primary came or went. */
      readonly type: "link";
      /** Whether the link to the primary is up now. */
      readonly up: boolean;
    }
  | {
      /** The engine closes. */
      readonly type: "closed";
    }
  | {
      /** A replica came or went. */
      readonly type: "replica";
      /** The replica's host and port. */
      readonly address: string;
      /** Whether it has everything but the last moments. False: it is being sent a snapshot, or is gone. */
      readonly online: boolean;
    };

function disturbsLoading(command: Command, queued: readonly QueuedCommand[]): boolean {
  const disturbs = ({ flags }: Command) => (flags & NO_ASYNC_LOADING) !== 0;
  return disturbs(command) || queued.some((each) => disturbs(each.command));
}

export class Replication implements ReplicationPort {
  secondId = NO_ID;
  /** The first offset that is not part of the second history; -1 without one. */
  secondOffset = -1;
  readonly replicas = new Set<Replica>();
  readonly feed: Feed;
  readonly waits: Waits;
  readonly failover: Failover;
  readonly fullSync: FullSync;
  readonly handover: Handover;
  readonly listeners = new Set<(event: ReplicationEvent) => void>();
  /** The primary that this server follows; null where it is one itself. */
  following: Primary | null = null;
  link: Link | null = null;
  /** The database that the stream stood in when the link was cut. */
  streamDb = 0;
  /** Whether commands must be looked at before they run (`refusal`). */
  guarded = false;
  /** Whether the stream is being made here. */
  feeding = false;
  readonly ownDeadlines = new OwnDeadlines();
  /** Replicas that have been heard of lately, for min-replicas-to-write. */
  goodReplicas = 0;

  readonly #store: ReplicationHost;
  #id: string | null = null;
  /** Whether id and offset name what the data is: the stream can be taken up from there. */
  #resumable = false;
  /** The last snapshot has been taken. */
  #resting = false;
  #nextSecond = 0;
  #lastPing = 0;
  #noReplicasSince: number;

  constructor(store: ReplicationHost) {
    this.#store = store;
    this.feed = new Feed(store, this.replicas);
    this.waits = new Waits(this);
    this.failover = new Failover(store, this);
    this.fullSync = new FullSync(store, this);
    this.handover = new Handover(store, this);
    this.#noReplicasSince = store.clock.monotonic();
    const { values } = store.config;
    const [host, port] = values.replicaof;
    if (host !== undefined) this.#turnTo({ host, port: Number(port) });
    store.persistence.aof.appender.onSynced = () => {
      this.waits.check();
      this.link?.synced();
    };
    store.config.onChange(["repl-backlog-size"], () => this.feed.backlog?.resize(values["repl-backlog-size"]));
    store.config.onChange(["min-replicas-to-write", "min-replicas-max-lag", "replica-read-only"], () => this.#update());
    this.#update();
  }

  /** Names the history of the data. Made when it is first asked for: most stores have no replica. */
  get id(): string {
    this.#id ??= randomHex(this.#store.clock);
    return this.#id;
  }

  /** Whether the data is a primary's, here or elsewhere, to expire and evict. */
  get isReplica(): boolean {
    return this.following !== null;
  }

  get linkIsUp(): boolean {
    return this.link?.isUp ?? false;
  }

  /** Whether clients of this replica may write. */
  get isWritableReplica(): boolean {
    return this.following !== null && !this.#store.config.values["replica-read-only"];
  }

  #emit(event: ReplicationEvent): void {
    for (const listener of this.listeners) listener(event);
  }

  /** What depends on role and directives, kept where it is asked for often. */
  #update(): void {
    const { values } = this.#store.config;
    this.#countGood();
    this.guarded = this.isReplica || (values["min-replicas-to-write"] > 0 && values["min-replicas-max-lag"] > 0);
    this.feeding = !this.isReplica && this.feed.backlog !== null && !this.#resting;
    const { effects } = this.#store;
    if (this.feeding) effects.listen(this.feed.append);
    else effects.unlisten(this.feed.append);
  }

  // ---------------------------------------------------------------------------------------------- commands

  /** What ROLE answers. */
  role(): Reply {
    const { following, link, feed, replicas } = this;
    if (following !== null && link !== null) {
      return ["slave", following.host, following.port, link.state, link.isUp ? feed.offset : -1];
    }
    const online = [...replicas].filter(({ state }) => state === "online");
    return ["master", feed.offset, online.map(({ host, port, ackOffset }) => [host, String(port), String(ackOffset)])];
  }

  /** What the stream's memory takes: the backlog, and what is held or queued for replicas. */
  bytes(): { readonly backlog: number; readonly replicas: number } {
    const { feed, replicas } = this;
    let queued = feed.buffer.sizeBytes;
    for (const { client } of replicas) queued += client.transport.outputBytes;
    return { backlog: feed.backlog?.sizeBytes ?? 0, replicas: queued };
  }

  /** Why a command is not run; null if it is. */
  refusal(client: Client, command: Command): ReplyError | null {
    const { flags } = command;
    const queued = client.queuedFor(command);
    if ((flags & WRITE) !== 0 || queued.some((each) => (each.command.flags & WRITE) !== 0)) {
      const refusal = this.writeRefusal();
      if (refusal !== null) return refusal;
    }
    if (this.asyncLoading && disturbsLoading(command, queued)) return LOADING;
    const needsFresh = (flags & STALE) === 0 || queued.some((each) => (each.command.flags & STALE) === 0);
    return needsFresh && this.isStale ? MASTERDOWN : null;
  }

  /** Why nobody may write now; null if they may. */
  writeRefusal(): ReplyError | null {
    if (!this.isReplica) return this.hasGoodReplicas ? null : NOREPLICAS;
    return this.isWritableReplica ? null : READONLY;
  }

  get hasGoodReplicas(): boolean {
    const { values } = this.#store.config;
    const wanted = values["min-replicas-to-write"];
    return wanted === 0 || values["min-replicas-max-lag"] === 0 || this.goodReplicas >= wanted;
  }

  /** A snapshot is being loaded while the data that it continues is served. */
  get asyncLoading(): boolean {
    return this.link?.payload?.mode === "async";
  }

  /** Whether what we have is old and must not be shown. */
  get isStale(): boolean {
    return this.isReplica && !this.linkIsUp && !this.#store.config.values["replica-serve-stale-data"];
  }

  #countGood(): void {
    const most = this.#store.config.values["min-replicas-max-lag"];
    let good = 0;
    for (const replica of this.replicas) if (replica.state === "online" && replica.lagSeconds <= most) good++;
    this.goodReplicas = good;
  }

  // ---------------------------------------------------------------------------------------------- roles

  /** REPLICAOF host port. */
  follow(host: string, port: number): void {
    const store = this.#store;
    const wasPrimary = !this.isReplica;
    this.link?.stop();
    if (wasPrimary) {
      // Our own history goes on as the other's, if it knows it.
      this.feed.flush();
      this.feed.openBacklog();
      this.#resumable = true;
      this.streamDb = 0;
    }
    const link = this.#turnTo({ host, port });
    store.config.values.replicaof = [host, String(port)];
    store.blocking.releaseAll(ROLE_CHANGED);
    link.start();
    this.#emit({ type: "role", role: "replica" });
  }

  #turnTo(primary: Primary): Link {
    this.following = primary;
    const link = new Link(this.#store, this, primary.host, primary.port);
    this.link = link;
    this.#update();
    return link;
  }

  /** REPLICAOF NO ONE: the data is ours from here on, and a new history begins. */
  promote(): void {
    if (!this.isReplica) return;
    const store = this.#store;
    this.link?.stop();
    this.link = null;
    this.following = null;
    this.ownDeadlines.clear();
    store.config.values.replicaof = [];
    this.secondId = this.id;
    this.secondOffset = this.feed.offset + 1;
    this.#id = randomHex(store.clock);
    store.log(
      "notice",
      `Setting secondary replication ID to ${this.secondId}, valid up to offset: ${this.secondOffset}. New replication ID is ${this.#id}`,
    );
    // They come back, hear the new id, and go on.
    this.#dropReplicas("the history has a new id");
    this.feed.openBacklog();
    this.feed.forgetDb();
    this.#noReplicasSince = store.clock.monotonic();
    this.#update();
    this.#emit({ type: "role", role: "primary" });
  }

  /** A new history that nobody else knows. */
  #beginHistory(): void {
    this.#id = randomHex(this.#store.clock);
    this.secondId = NO_ID;
    this.secondOffset = -1;
  }

  /** The id that was told before there was anything to replicate. */
  takeId(id: string): void {
    this.#id = id;
  }

  /** DEBUG CHANGE-REPL-ID. */
  changeId(): void {
    this.#beginHistory();
  }

  // ---------------------------------------------------------------------------------------------- the primary's end

  /** SYNC and PSYNC. Answers with bytes, so there is no reply. */
  attach(client: Client, resume: ResumePoint | null): void {
    const replica = this.replicaOf(client);
    if (replica.attached) return;
    if (client.transport.sendBytes === undefined) throw NO_BYTES;
    if (this.isReplica && !this.linkIsUp) throw NOMASTERLINK;
    if (client.transport.outputBytes > 0) throw PENDING_OUTPUT;
    const { stats, clock, log } = this.#store;
    replica.old = resume === null;
    log("notice", `Replica ${replica.name} asks for synchronization`);
    this.feed.flush();
    const missed = resume === null ? undefined : this.#missedSince(resume);
    if (resume !== null && missed !== undefined) {
      stats.partialSyncs++;
      this.#continue(replica, resume.offset, missed);
      return;
    }
    log("notice", this.#whyFull(replica, resume));
    if (resume !== null && resume.id !== "?") stats.refusedPartialSyncs++;
    stats.fullSyncs++;
    replica.state = "waiting";
    replica.waitingSince = clock.monotonic();
    this.#add(replica);
    if (this.feed.backlog === null) {
      // There is no past that somebody could know.
      this.#beginHistory();
      this.feed.openBacklog();
      this.#update();
      log("notice", `Replication backlog created, my new replication IDs are '${this.id}' and '${this.secondId}'`);
    }
    soon(() => this.fullSync.consider());
  }

  /** Why a replica does not get the part of the stream that it asked for. */
  #whyFull(replica: Replica, resume: ResumePoint | null): string {
    if (resume === null || resume.id === "?") return `Full resync requested by replica ${replica.name}`;
    const { id, offset } = resume;
    const refused = "Partial resynchronization not accepted:";
    if (id !== this.id && id !== this.secondId) {
      return `${refused} Replication ID mismatch (Replica asked for '${id}', my replication IDs are '${this.id}' and '${this.secondId}')`;
    }
    if (id !== this.id && offset > this.secondOffset) {
      return `${refused} Requested offset for second ID was ${offset}, but I can reply up to ${this.secondOffset}`;
    }
    return `Unable to partial resync with replica ${replica.name} for lack of backlog (Replica request was: ${offset}).`;
  }

  /** What the backlog has from a point on; undefined where it does not reach so far, or the point is of another history. */
  #missedSince({ id, offset }: ResumePoint): Buffer | undefined {
    const wanted = id.toLowerCase();
    if (wanted !== this.id && (wanted !== this.secondId || offset > this.secondOffset)) return undefined;
    const { backlog } = this.feed;
    return backlog?.reaches(offset) ? backlog.from(offset) : undefined;
  }

  #continue(replica: Replica, offset: number, missed: Buffer): void {
    replica.state = "online";
    replica.client.lastActiveAt = this.#store.clock.now();
    this.#add(replica);
    replica.line(replica.capaPsync2 ? `+CONTINUE ${this.id}\r\n` : "+CONTINUE\r\n");
    if (missed.length > 0) replica.send(missed);
    replica.cursor = this.feed.handedOn;
    replica.release();
    this.#store.log(
      "notice",
      `Partial resynchronization request from ${replica.name} accepted. Sending ${missed.length} bytes of backlog starting from offset ${offset}.`,
    );
    this.replicaChanged(replica);
  }

  #add(replica: Replica): void {
    if (this.replicas.size === 0) this.#lastPing = this.#store.clock.monotonic();
    this.replicas.add(replica);
    // It gets the stream now, not messages or other clients' replies.
    this.#store.pubsub.unsubscribeAll(replica.client);
  }

  /** What a client has said of itself as a replica. */
  replicaOf(client: Client): Replica {
    const known = client.replica;
    if (known instanceof Replica) return known;
    const replica = new Replica(client, this.#store, this.feed);
    client.replica = replica;
    return replica;
  }

  findReplica({ host, port }: Primary): Replica | undefined {
    return [...this.replicas].find((replica) => replica.host === host && replica.port === port);
  }

  /** REPLCONF ACK. */
  acknowledged(client: Client, offset: number, diskOffset: number | undefined): void {
    const { replica } = client;
    if (!(replica instanceof Replica) || !replica.attached) return;
    replica.acknowledge(offset, diskOffset);
    this.waits.check();
    this.failover.check();
    this.handover.check();
  }

  /** A replica has come to be online. */
  replicaChanged(replica: Replica): void {
    this.#countGood();
    this.#emit({ type: "replica", address: replica.name, online: replica.state === "online" });
  }

  /** A client is gone that was a replica. */
  detach(client: Client): void {
    const { replica } = client;
    if (!(replica instanceof Replica) || !this.replicas.delete(replica)) return;
    this.fullSync.forget(replica);
    if (this.replicas.size === 0) this.feed.buffer.clear();
    else this.feed.trim();
    this.#store.log("notice", `Connection with replica ${replica.name} lost.`);
    if (this.replicas.size === 0) this.#noReplicasSince = this.#store.clock.monotonic();
    const wasOnline = replica.state === "online";
    replica.state = "handshake";
    if (wasOnline) this.replicaChanged(replica);
  }

  #dropReplicas(reason: string): void {
    for (const replica of [...this.replicas]) replica.drop(reason);
  }

  // ---------------------------------------------------------------------------------------------- the replica's end

  /** What the link asks its primary for. */
  resumeFrom(): ResumePoint {
    const failover = this.failover.state === "in progress";
    if (!this.#resumable) return { id: "?", offset: -1, failover };
    return { id: this.id, offset: this.feed.offset + 1, failover };
  }

  /** The primary goes on where we were; perhaps under a new id. */
  continued(id: string | undefined): void {
    if (id !== undefined && id !== this.id) {
      this.secondId = this.id;
      this.secondOffset = this.feed.offset + 1;
      this.#id = id;
      this.#store.log("notice", `Master replication ID changed to ${id}`);
      this.#dropReplicas("the history has a new id");
    }
    this.feed.openBacklog();
    this.failover.complete();
  }

  fullSyncBegins(): void {
    this.failover.complete();
  }

  /** Asked to take over, or to serve a replica, the other has refused. */
  syncRefused(): void {
    if (this.failover.state === "in progress") this.failover.abort("Failover target rejected psync request");
  }

  /** Our data is about to be replaced: replicas of the old data need a full synchronisation. */
  replacingData(): void {
    this.#resumable = false;
    this.#dropReplicas("a full resynchronization with the primary");
    this.feed.closeBacklog();
    this.ownDeadlines.clear();
    this.#store.persistence.dataReplaced();
  }

  /** Our data is the primary's as of this offset. */
  fullSyncDone(id: string, offset: number): void {
    this.#id = id;
    this.secondId = NO_ID;
    this.secondOffset = -1;
    this.feed.startAt(offset);
    this.feed.openBacklog();
    this.#resumable = id !== NO_ID;
    this.#store.persistence.dataLoaded();
  }

  linkChanged(): void {
    this.#emit({ type: "link", up: this.linkIsUp });
  }

  // ---------------------------------------------------------------------------------------------- files

  /** Where in which history the data stands, for a snapshot; undefined where there is nothing to say. */
  position(): { streamDb: number; id: string; offset: number } | undefined {
    const { id, feed } = this;
    if (!this.isReplica) {
      return feed.backlog === null ? undefined : { streamDb: Math.max(0, feed.db), id, offset: feed.offset };
    }
    const client = this.link?.client;
    if (client != null) return { streamDb: client.db.index, id, offset: feed.offset };
    return this.#resumable ? { streamDb: this.streamDb, id, offset: feed.offset } : undefined;
  }

  /**
   * Data was loaded from a snapshot: takes up the history that it belongs to. A primary has dropped keys meanwhile;
   * the replicas that followed it before must hear of that.
   */
  restore({ aux }: LoadReport, expired: readonly Effect[]): void {
    const id = aux.get("repl-id");
    const offset = Number(aux.get("repl-offset") ?? Number.NaN);
    if (id?.length !== 40 || !Number.isSafeInteger(offset)) return;
    this.feed.startAt(offset);
    if (this.isReplica) {
      this.#id = id;
      this.streamDb = Number(aux.get("repl-stream-db") ?? 0);
      this.#resumable = true;
      this.feed.openBacklog();
    } else {
      // A replica that followed us before has this history and may go on.
      this.secondId = id;
      this.secondOffset = offset + 1;
      this.feed.openBacklog();
      this.#noReplicasSince = this.#store.clock.monotonic();
      this.feed.append(expired, "batch");
      this.feed.flush();
    }
    this.#update();
  }

  /**
   * The last snapshot is about to be taken: what is due to replicas goes out before it, the question for acknowledgements too. Behind
   * it, it would put replicas ahead of what the next start finds.
   */
  settle(): void {
    this.feed.flush();
  }

  /**
   * The server is about to end, and what is to be found at the next start has been saved with its offset. What happens from
   * here on, a ping or a key that expires, is not part of that: a replica that heard of it would be ahead of its primary
   * then, and would have to be copied anew.
   */
  rest(): void {
    this.feed.flush();
    this.#resting = true;
    this.link?.stop();
    this.#update();
  }

  // ---------------------------------------------------------------------------------------------- time

  /** Ten times a second. */
  cron(): void {
    if (this.#resting || this.#store.persistence.savesLast) return;
    const now = this.#store.clock.monotonic();
    this.failover.check();
    this.handover.check();
    this.fullSync.consider();
    if (now < this.#nextSecond) return;
    this.#nextSecond = now + SECOND_MS;
    this.link?.cron();
    this.#checkReplicas();
    this.fullSync.cron();
    this.#countGood();
    if (!this.isReplica) this.#cronAsPrimary(now);
  }

  #checkReplicas(): void {
    const timeout = this.#store.config.values["repl-timeout"];
    for (const replica of [...this.replicas]) {
      if (replica.state !== "online") continue;
      replica.checkLimit();
      if (!replica.old && replica.lagSeconds > timeout) this.#giveUp(replica);
    }
  }

  #giveUp(replica: Replica): void {
    this.#store.log("warning", `Disconnecting timedout replica (streaming sync): ${replica.name}`);
    replica.drop("nothing was heard of it for too long");
  }

  #cronAsPrimary(now: number): void {
    const { values } = this.#store.config;
    if (this.replicas.size > 0) {
      // By the period as it is now: who makes it longer wants no more pings.
      if (now - this.#lastPing < values["repl-ping-replica-period"] * SECOND_MS) return;
      this.#lastPing = now;
      // While a replica is to catch up for good, the stream stands still.
      if (this.failover.state === "none") this.feed.ping();
      return;
    }
    const ttl = values["repl-backlog-ttl"];
    if (ttl === 0 || this.feed.backlog === null || now - this.#noReplicasSince <= ttl * SECOND_MS) return;
    // Without a backlog the stream is not counted any more, so the id would not name what the data is.
    this.#beginHistory();
    this.feed.closeBacklog();
    this.#update();
    this.#store.log("notice", `Replication backlog freed after ${ttl} seconds without connected replicas.`);
  }

  /** Lets go of the link: the engine is closing. */
  stop(): void {
    this.link?.stop();
    this.following = null;
    this.link = null;
    this.#emit({ type: "closed" });
    this.listeners.clear();
  }
}
