/**
 * One client: what it has selected, watched, queued, subscribed to. The same for a socket, an embedder and a script; they
 * differ in the transport, which takes replies that come later and messages that nobody asked for.
 */

import type { Command } from "../table/command-table.ts";
import type { BlockRequest } from "./blocking.ts";
import type { Db } from "./db.ts";
import type { Host, ReplicaState, UserPort } from "./ports.ts";
import type { Propagation } from "./propagation.ts";
import { NO_REPLY, Push, Replies, type Reply } from "./reply.ts";
import type { ClientTracking } from "./tracking.ts";
import type { Transport } from "./transport.ts";
import type { Watcher } from "./watchers.ts";

export interface QueuedCommand {
  readonly command: Command;
  readonly argv: readonly string[];
}

/** What EXEC is running: CLIENT LIST shows it meanwhile. */
export interface RunningTransaction {
  readonly queue: readonly QueuedCommand[];
  /** The answers so far. */
  readonly replies: readonly Reply[];
}

/** A key that a client watches. */
export class WatchedKey implements Watcher {
  readonly db: Db;
  readonly key: string;
  stale: boolean;
  readonly #client: Client;

  constructor(client: Client, db: Db, key: string) {
    this.db = db;
    this.key = key;
    this.stale = db.isDue(key);
    this.#client = client;
  }

  get watchBroken(): boolean {
    return this.#client.watchBroken;
  }

  set watchBroken(broken: boolean) {
    this.#client.watchBroken = broken;
  }

  /** Its time has come since it was watched. */
  get hasExpired(): boolean {
    return !this.stale && this.db.isDue(this.key);
  }
}

const NOTHING_QUEUED: readonly QueuedCommand[] = [];

export type ReplyMode = "on" | "off" | "skip" | "skip-next";

export class Client {
  readonly engine: Host;
  readonly id: number;
  readonly transport: Transport;
  readonly createdAt: number;
  db: Db;
  protocol: 2 | 3 = 2;
  name = "";
  libName = "";
  libVersion = "";
  user: UserPort;
  /** The user that it began as by its transport's word; null: the default user. */
  home: UserPort | null = null;
  authenticated: boolean;
  lastActiveAt: number;
  lastCommand: Command | null = null;
  replyMode: ReplyMode = "on";
  noEvict = false;
  /** What client-memory.ts has counted for this client; 0 while it is not counted. */
  countedBytes = 0;
  countedInputBytes = 0;
  countedHeapBytes = 0;
  /** How much of the queue has been counted: what it takes, and how long Redis says that its words are. */
  readonly queueAccount: {
    queue: readonly QueuedCommand[] | null;
    commands: number;
    bytes: number;
    wordBytes: number;
  } = { queue: null, commands: 0, bytes: 0, wordBytes: 0 };
  closed = false;
  monitoring = false;
  /** The client whose script this one runs commands for. */
  behalfOf: Client | null = null;
  /** Runs inside EXEC or a script just now: must not block. */
  inTransaction = false;

  /** Commands since MULTI; null outside. */
  multi: QueuedCommand[] | null = null;
  /** While EXEC runs. */
  transaction: RunningTransaction | null = null;
  /** A command was refused while queueing: EXEC will abort. */
  multiAborted = false;
  watched: WatchedKey[] = [];
  /** A watched key was changed. */
  watchBroken = false;

  blocked: BlockRequest | null = null;
  /** The words of the call that it waits in and when that began, by the monotonic clock. */
  blockedCall: { readonly argv: readonly string[]; readonly startedAt: number } | null = null;

  /** What a client that copies our data has said of itself, and where it stands. */
  replica: ReplicaState | null = null;
  /** The primary that this server follows: obeyed whatever the state. */
  isPrimary = false;
  /** Where the replication stream stood after this client's last command: what WAIT goes by. */
  streamOffset = 0;

  /** ASKING was said: of the next command, or of the one that runs, or of the transaction that is open. */
  asking: "no" | "next" | "now" = "no";
  /** READONLY was said: a replica in a Cluster may serve its reads. */
  readsReplica = false;

  readonly channels = new Set<string>();
  readonly patterns = new Set<string>();
  readonly shardChannels = new Set<string>();
  tracking: ClientTracking | null = null;

  /** The running command as MONITOR and the slow log show it; null: as it came. For words that are secret. */
  shownArgv: readonly string[] | null = null;

  constructor(engine: Host, id: number, transport: Transport) {
    this.engine = engine;
    this.id = id;
    this.transport = transport;
    this.db = engine.databases[0]!;
    this.createdAt = engine.clock.now();
    this.lastActiveAt = this.createdAt;
    this.user = engine.acl.defaultUser;
    this.authenticated = !engine.passwordRequired;
  }

  /** Makes it a user without asking for a password; RESET leads back to it. */
  beginAs(user: UserPort): void {
    this.user = user;
    this.home = user;
    this.authenticated = true;
  }

  /** Lets it do everything: for the primary, for files, and for the program that the store is in. */
  trust(): void {
    this.beginAs(this.engine.acl.superuser);
  }

  /** What a command runs of the client's queue: everything if it is EXEC, nothing otherwise. */
  queuedFor(command: Command): readonly QueuedCommand[] {
    return command.runsQueue && this.multi !== null ? this.multi : NOTHING_QUEUED;
  }

  get subscriptions(): number {
    return this.channels.size + this.patterns.size + this.shardChannels.size;
  }

  /** Leaves the transaction and the watched keys. */
  discard(): void {
    this.multi = null;
    this.queueAccount.queue = null;
    this.queueAccount.bytes = 0;
    this.multiAborted = false;
    this.unwatch();
  }

  unwatch(): void {
    for (const watched of this.watched) watched.db.watchers.remove(watched.key, watched);
    this.watched = [];
    this.watchBroken = false;
  }

  /** Parks the client on these keys, or answers `nothing` where it may not block. See blocking.ts. */
  block(request: BlockRequest): Reply {
    return this.inTransaction ? request.nothing : this.engine.blocking.block(this, request);
  }

  /** Waits for something that is no key, and that nothing else ends. */
  get isParked(): boolean {
    return this.blocked?.stays ?? false;
  }

  /** Ends the connection if a reply of this length is over the hard limit of its class (client-output-buffer-limit). */
  cutOffAt(replyBytes: number): void {
    const client = this.behalfOf ?? this;
    const limits = this.engine.config.values["client-output-buffer-limit"];
    const { hard } = client.subscriptions > 0 ? limits.pubsub : limits.normal;
    if (hard === 0 || replyBytes <= hard || client.transport.sendBytes === undefined) return;
    this.engine.stats.outputLimitDisconnections++;
    client.transport.close(false);
  }

  /** What the file and the replicas get instead of the running command. */
  get propagate(): Propagation {
    return this.engine.effects.propagation;
  }

  /** A message outside the request–reply order. */
  push(message: Reply): void {
    if (!this.closed) this.transport.push(message);
  }

  /** What of a reply is to be sent, by CLIENT REPLY; moves `skip` on. Confirmations of subscriptions are messages: they are. */
  filterReply(reply: Reply): Reply {
    if (this.replyMode === "on") return reply;
    if (this.replyMode === "skip-next") this.replyMode = "skip";
    else if (this.replyMode === "skip") this.replyMode = "on";
    const passes = reply instanceof Replies ? reply.items.every((item) => item instanceof Push) : reply instanceof Push;
    return passes ? reply : NO_REPLY;
  }
}
