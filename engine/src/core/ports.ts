/**
 * The store as commands and clients see it. The engine is one; nobody but who builds or embeds it has to know it, and what
 * stands here as an interface (replication, MIGRATE, MONITOR) can be built on clients and commands without a circle.
 */
import type { Describer } from "../cluster/describe.ts";
import type { FailoverMode } from "../cluster/manual-failover.ts";
import type { ClusterNode } from "../cluster/state.ts";
import type { Config } from "../config/config.ts";
import type { MigrateRequest } from "../migration/transfer.ts";
import type { LatencyMonitor } from "../observe/latency.ts";
import type { SlowLog } from "../observe/slow-log.ts";
import type { Stats } from "../observe/stats.ts";
import type { Persistence } from "../persist/persistence.ts";
import type { ResumePoint } from "../replication/handshake.ts";
import type { Functions } from "../scripting/functions.ts";
import type { Scripts } from "../scripting/scripts.ts";
import type { Command, CommandTable } from "../table/command-table.ts";
import type { Limits } from "../types/collection.ts";
import type { AccessStamps } from "./access-stamps.ts";
import type { Blocking } from "./blocking.ts";
import type { Client } from "./client.ts";
import type { Clock } from "./clock.ts";
import type { Db } from "./db.ts";
import type { EffectListener, Effects } from "./effects.ts";
import type { ReplyError } from "./errors.ts";
import type { Eviction } from "./eviction.ts";
import type { ActiveExpiry } from "./expiry.ts";
import type { HeapGuard } from "./heap-guard.ts";
import type { Log } from "./log.ts";
import type { Pause } from "./pause.ts";
import type { PubSub } from "./pubsub.ts";
import type { Reply } from "./reply.ts";
import type { ReplyRoomSettings } from "./reply-room.ts";
import type { Tracking } from "./tracking.ts";

/** What SHUTDOWN was asked for; without `save` it depends on whether save points are configured. */
export interface ShutdownRequest {
  readonly save: boolean | undefined;
  readonly now: boolean;
  readonly force: boolean;
}

/** Where to listen; port 0 means not at all. */
export interface ListenAddresses {
  readonly port: number;
  readonly tlsPort: number;
  readonly bind: readonly string[];
}

/** New addresses are open: `commit` leaves the old ones, `cancel` the new ones. */
export interface Move {
  commit(): void;
  cancel(): void;
}

/** A client that copies our data, as commands and connections see it. */
export interface ReplicaState {
  /** It gets the stream, or waits for a snapshot. */
  readonly attached: boolean;
  readonly state: string;
  port: number;
  ip: string;
  capaEof: boolean;
  capaPsync2: boolean;
  rdbOnly: boolean;
  /** REPLCONF rdb-filter-only: the snapshot has only what is named. */
  filter(text: string): void;
  /** Whether a reply must not reach it: the stream is all that it is sent. */
  mayNotHear(reply: Reply): boolean;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What WAIT and WAITAOF ask for. */
export interface ReplicationWait {
  readonly replicas: number;
  /** Whether they must have it on disk. */
  readonly onDisk: boolean;
  /** Whether it must be on our own disk too. */
  readonly localDisk?: boolean;
}

/** What there is of it. */
export interface ReplicationReached {
  readonly replicas: number;
  readonly localDisk: boolean;
}

export interface FailoverRequest {
  readonly target: Address | undefined;
  readonly force: boolean;
  /** 0: as long as it takes. */
  readonly timeoutMs: number;
}

/** Replication as commands see it. */
export interface ReplicationPort {
  readonly id: string;
  readonly isReplica: boolean;
  readonly feeding: boolean;
  readonly following: Address | null;
  readonly replicas: { readonly size: number };
  readonly link: { acknowledge(): void } | null;
  readonly feed: { readonly append: EffectListener; say(argv: readonly string[]): void };
  readonly handover: { abort(): boolean };
  readonly failover: { readonly state: string; begin(request: FailoverRequest): void; abort(reason: string): void };
  readonly waits: {
    block(
      client: Client,
      wanted: ReplicationWait & { readonly timeoutMs: number },
      reply: (reached: ReplicationReached) => Reply,
    ): Reply;
  };
  /** What ROLE answers. */
  role(): Reply;
  /** What the stream's memory takes: the backlog, and what is held or queued for replicas. */
  bytes(): { readonly backlog: number; readonly replicas: number };
  follow(host: string, port: number): void;
  promote(): void;
  changeId(): void;
  /** Begins to send to a client: from a point that it names, or everything. */
  attach(client: Client, resume: ResumePoint | null): void;
  replicaOf(client: Client): ReplicaState;
  findReplica(address: Address): ReplicaState | undefined;
  acknowledged(client: Client, offset: number, diskOffset: number | undefined): void;
}

/** MIGRATE as commands see it. */
export interface MigrationPort {
  run(client: Client, request: MigrateRequest): Reply;
}

/** A script that runs, as far as it matters which slots it touches. */
export interface RunningScript {
  readonly caller: Client;
  /** Whether its commands may touch keys of different slots. */
  readonly mayCrossSlots: boolean;
  /** The slot of its keys, or of the first key that it touched; -1 while there is none. */
  slot: number;
}

/** What says where commands run in a Cluster. */
export interface ClusterGate {
  /** What a client gets instead of its command's reply; null if the command runs here. */
  refusal(client: Client, command: Command, argv: readonly string[]): ReplyError | null;
  /** Why a script may not call a command; null if it may. */
  scriptRefusal(script: RunningScript, command: Command, argv: readonly string[]): ReplyError | null;
  /** The slot of a call's first key; -1 without one. */
  slotOf(command: Command, argv: readonly string[]): number;
}

/** A node of a Cluster, as commands see it. Each of these throws why it cannot be done. */
export interface ClusterPort extends Describer {
  readonly id: string;
  readonly gate: ClusterGate;
  /** Hands what was published here to the other nodes. */
  spread(channel: string, message: string, sharded: boolean): void;
  /** The node with this id. */
  nodeOf(id: string): ClusterNode;
  addSlots(slots: readonly number[]): void;
  deleteSlots(slots: readonly number[]): void;
  flushSlots(): void;
  migrateSlot(slot: number, id: string): void;
  importSlot(slot: number, id: string): void;
  closeSlot(slot: number): void;
  giveSlot(slot: number, id: string): void;
  forget(id: string): void;
  replicate(id: string): void;
  failover(mode: FailoverMode): void;
  bumpEpoch(): boolean;
  setEpoch(epoch: number): void;
  reset(hard: boolean): void;
  meet(ip: string, port: number): void;
  /** Writes nodes.conf. */
  saveNow(): void;
}

/** MONITOR as commands see it. */
export interface MonitorPort {
  readonly active: boolean;
  add(client: Client): void;
  remove(client: Client): void;
  feed(client: Client, argv: readonly string[]): void;
}

/** What a user may not do. `index` is the place in argv of the key or the channel. */
export interface Denied {
  readonly reason: "command" | "key" | "channel";
  readonly index: number;
}

/** A user as clients and commands see it. */
export interface UserPort {
  readonly name: string;
  /** Whether there is anything that it may not do. */
  readonly limited: boolean;
  readonly flags: readonly string[];
  /** Digests. */
  readonly passwords: readonly string[];
  /** The rules of each selector, the root's first. */
  readonly selectors: readonly {
    readonly commandRules: string;
    readonly keyRules: string;
    readonly channelRules: string;
  }[];
  /** Why it may not make a call; null if it may. */
  denial(command: Command, argv: readonly string[]): Denied | null;
  /** Whether a call may read keys that its words do not name. */
  mayReadEveryKey(command: Command, argv: readonly string[]): boolean;
}

/** An entry of ACL LOG. */
export interface RefusedEntry {
  readonly reason: "auth" | "command" | "key" | "channel";
  readonly context: "toplevel" | "multi" | "lua";
  /** The command, the key, the channel, or the word by which somebody wanted to come in. */
  readonly object: string;
  readonly user: string;
  readonly count: number;
  readonly at: number;
  readonly clientInfo: string;
}

/** Access control lists as clients and commands see them. */
export interface AccessPort {
  readonly defaultUser: UserPort;
  /** May do everything, and is in no list. */
  readonly superuser: UserPort;
  readonly users: readonly UserPort[];
  readonly log: { readonly entries: readonly RefusedEntry[]; clear(): void };
  readonly catalog: { inCategory(name: string): readonly { readonly name: string }[] | undefined };
  find(name: string): UserPort | undefined;
  set(name: string, words: readonly string[]): void;
  delete(names: readonly string[]): number;
  /** Lets a client in, or throws; `by` is the word by which it asked. */
  authenticate(client: Client, name: string, password: string, by: string): void;
  authenticateDefault(client: Client, password: string, by: string): void;
  /** Makes a client what it was when it connected. */
  forget(client: Client): void;
  /** Why a queued call is refused now that its turn has come. */
  execRefusal(client: Client, command: Command, argv: readonly string[]): ReplyError | null;
  load(): void;
  save(): void;
  /** A line for each user, as a file has it. */
  lines(): string[];
  /** The same for a configuration file: none where users have a file of their own. */
  configLines(): string[];
}

export interface Host {
  // Time and chance
  readonly clock: Clock;
  /** Milliseconds since 1970, fixed while a command, transaction or script runs. */
  readonly now: number;
  /** Microseconds since 1970: what TIME says. */
  readonly nowMicros: number;

  // Settings
  readonly config: Config;
  readonly limits: Limits;
  /** The longest string that a command may make. */
  readonly maxStringBytes: number;
  readonly passwordRequired: boolean;
  readonly replyRooms: ReplyRoomSettings;
  readonly log: Log;
  cronPaused: boolean;
  skipsChecksums: boolean;
  allowDeniedInScripts: boolean;

  // Data
  readonly databases: readonly Db[];
  readonly effects: Effects;
  readonly stamps: AccessStamps;
  readonly eviction: Eviction;
  readonly expiry: ActiveExpiry;
  readonly heapGuard: HeapGuard;
  /** What all clients but replicas take. */
  readonly clientMemory: { sum(): number };
  /** What replicas and the append-only file have yet to take. */
  readonly unsentBytes: number;
  /** Data is being read from files. */
  loading: boolean;

  // Clients and commands
  readonly clients: ReadonlyMap<number, Client>;
  readonly commands: CommandTable;
  readonly acl: AccessPort;
  readonly blocking: Blocking;
  readonly pause: Pause;
  readonly pubsub: PubSub;
  readonly tracking: Tracking;
  removeClient(client: Client): void;
  /** Runs a command that has been checked. */
  call(client: Client, command: Command, argv: readonly string[]): Reply;
  /** Runs the rest of a command whose client was parked, now that what it waited for has come. */
  runAfterwards(client: Client, run: () => Reply): Reply;

  // What happened
  readonly stats: Stats;
  readonly slowLog: SlowLog;
  readonly latency: LatencyMonitor;
  readonly monitor: MonitorPort;
  /** INFO, or the named sections of it. */
  info(names: readonly string[]): string;

  // Scripts, files, other servers
  readonly scripts: Scripts;
  readonly functions: Functions;
  readonly persistence: Persistence;
  readonly replication: ReplicationPort;
  readonly migrations: MigrationPort;
  /** Null where cluster-enabled is off. */
  readonly cluster: ClusterPort | null;

  // The operator
  readonly onShutdown: ((request: ShutdownRequest) => boolean | Promise<boolean>) | null;
  readonly onShutdownAbort: (() => boolean) | null;
  readonly onListen: ((wanted: ListenAddresses) => Promise<Move | null>) | null;
}
