/**
 * The store: databases, clients, and one way in for every command.
 *
 * `execute` is that way. A socket, an embedder, EXEC and a script all end in it or in `call` below it. It runs to the end
 * before anything else happens; only then are clients that wait for a key served and effects handed on.
 */

import type { ClusterMember, ClusterPlace } from "../cluster/member.ts";
import { Config, ConfigError } from "../config/config.ts";
import { messageOf } from "../lib/caught.ts";
import type { Migrations } from "../migration/index.ts";
import { LatencyMonitor } from "../observe/latency.ts";
import { Monitor } from "../observe/monitor.ts";
import { SlowLog } from "../observe/slow-log.ts";
import { type CommandStats, Stats } from "../observe/stats.ts";
import type { Persistence } from "../persist/persistence.ts";
import type { Snapshot } from "../persist/snapshot.ts";
import { type Timer, unheldInterval } from "../platform/timers.ts";
import type { Replication } from "../replication/index.ts";
import type { Functions } from "../scripting/functions.ts";
import type { Scripts } from "../scripting/scripts.ts";
import { Args } from "../table/args.ts";
import { ADMIN, type Command, type CommandTable, FAST, SKIP_MONITOR, SKIP_SLOWLOG } from "../table/command-table.ts";
import { TlsContexts } from "../tls/contexts.ts";
import type { Limits } from "../types/collection.ts";
import { AccessStamps } from "./access-stamps.ts";
import type { AccessControl } from "./acl/index.ts";
import { Blocking } from "./blocking.ts";
import { Client } from "./client.ts";
import { ClientMemory } from "./client-memory.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Db } from "./db.ts";
import type { Dial } from "./dial.ts";
import { Effects, type Framing } from "./effects.ts";
import {
  execAborted,
  internalError,
  RedirectError,
  ReplyError,
  unknownCommand,
  unknownSubcommand,
  wrongArity,
} from "./errors.ts";
import { Eviction } from "./eviction.ts";
import { ActiveExpiry } from "./expiry.ts";
import { bytesToBuild } from "./heap-estimate.ts";
import { HeapGuard } from "./heap-guard.ts";
import type { Log } from "./log.ts";
import { LONGEST_VALUE } from "./longest-string.ts";
import { Notifications } from "./notify.ts";
import { Parts, table, tableOf } from "./parts.ts";
import { Pause } from "./pause.ts";
import type { Host, ListenAddresses, Move, ShutdownRequest } from "./ports.ts";
import { PubSub } from "./pubsub.ts";
import { refusalOf } from "./refusal.ts";
import type { FileReplayer } from "./replayer.ts";
import { BLOCKED, POSTPONED, QUEUED, type Reply, WithMessages } from "./reply.ts";
import { PEAK_RESET_MS, type ReplyRoomSettings } from "./reply-room.ts";
import * as subsystems from "./subsystems.ts";
import { Tracking } from "./tracking.ts";
import type { Transport } from "./transport.ts";

export interface EngineOptions {
  /** Directives of redis.conf by name. */
  readonly config?: Readonly<Record<string, string>>;
  /** What rename-command says: a command and its new name, or an empty one to remove it. */
  readonly renamedCommands?: readonly (readonly [string, string])[];
  /** What `user` lines say: a name and its rules each. */
  readonly users?: readonly (readonly string[])[];
  readonly clock?: Clock;
  /** How much of V8's heap may be in use before writes are refused, as a share; false for no such limit (heap-guard.ts). */
  readonly heapGuard?: number | boolean;
  /** The place of this store among others of its process, in a Cluster (cluster-enabled); alone where it is not said. */
  readonly cluster?: ClusterPlace;
}

/**
 * Reading the clock twice costs as much as a GET. So of commands that take a microsecond or so whatever the data is, one
 * call in sixteen is timed and stands for the others; the rest are timed always. Where the slow log or the latency monitor
 * asks for shorter durations than this, everything is.
 */
const BRIEF_MICROSECONDS = 1000;
const TIMED_MASK = 15;

/** How often housekeeping runs. */
const TICK_MS = 100;

/** The command table with what rename-command says. */
function tableWith(renames: readonly (readonly [string, string])[]): CommandTable {
  if (renames.length === 0) return table;
  try {
    return tableOf(renames);
  } catch (error) {
    throw new ConfigError(`rename-command: ${messageOf(error)}`);
  }
}

export class Engine implements Host {
  readonly clock: Clock;
  readonly config: Config;
  readonly commands: CommandTable;
  /** The same under their own names, which primaries and files use whatever commands are called here. */
  readonly originalCommands = table;
  readonly databases: Db[];
  acl: AccessControl;
  readonly clients = new Map<number, Client>();
  readonly stats = new Stats(table.count);
  readonly blocking: Blocking;
  readonly pubsub = new PubSub();
  readonly notifications = new Notifications((channel, message) => this.pubsub.publish(channel, message));
  readonly stamps = new AccessStamps(() => this.clock.random());
  readonly tracking: Tracking;
  readonly monitor: Monitor;
  readonly pause: Pause;
  readonly slowLog: SlowLog;
  readonly latency: LatencyMonitor;
  readonly heapGuard: HeapGuard;
  readonly clientMemory: ClientMemory;
  readonly eviction: Eviction;
  readonly expiry: ActiveExpiry;
  // What is not loaded yet in a browser has a stand-in until then (subsystems.browser.ts).
  scripts: Scripts;
  persistence: Persistence;
  functions: Functions;
  migrations: Migrations;
  readonly tls: TlsContexts;
  replication: Replication;
  /** What of the engine is loaded when it is first used. */
  readonly parts: Parts;
  /** What makes this store a node of a Cluster; null where cluster-enabled is off. */
  readonly cluster: ClusterMember | null;
  readonly startedAt: number;
  /** The client whose command is running. */
  current: Client | null = null;
  /** Set while the default user needs a password, or is off; clients begin unauthenticated. */
  passwordRequired = false;
  /** Stops the process that this engine serves, or says that it cannot; null where there is nothing to stop (in process). */
  onShutdown: ((request: ShutdownRequest) => boolean | Promise<boolean>) | null = null;
  /** Calls a shutdown off that a signal or a command has asked for; false if there is none. */
  onShutdownAbort: (() => boolean) | null = null;
  /**
   * Listens on these addresses beside the ones before, for CONFIG SET; null if it cannot. Null where a program of somebody
   * else's decides (in process).
   */
  onListen: ((wanted: ListenAddresses) => Promise<Move | null>) | null = null;
  /** The way to other stores of this process; null where there are none. */
  dial: Dial | null = null;
  /** Called with the housekeeping. */
  onTick: (() => void) | null = null;
  /** Where messages for the operator go; nowhere unless it is set. */
  log: Log = () => {};
  /** DEBUG PAUSE-CRON. */
  cronPaused = false;
  /** DEBUG SET-SKIP-CHECKSUM-VALIDATION. */
  skipsChecksums = false;
  /** DEBUG REPLYBUFFER. */
  readonly replyRooms: ReplyRoomSettings = { resizing: true, peakResetMs: PEAK_RESET_MS };
  /** DEBUG SET-DISABLE-DENY-SCRIPTS. */
  allowDeniedInScripts = false;
  /** The snapshot that is being taken, which must see keys before they change. */
  snapshot: Snapshot | null = null;
  /** Data is being read from files: nothing expires meanwhile, and few commands are answered. */
  loading = false;
  /** The first port that was listened on; 0 if there is none. Replicas tell their primary. */
  listeningPort = 0;
  /** The same of those with TLS. */
  tlsListeningPort = 0;
  /** Names this run, for INFO: 40 hexadecimal digits. */
  readonly runId: string;
  readonly effects = new Effects();
  /** Called again and again while a script runs too long: lets existing clients be read and answered; says how many. */
  onBusy: (() => number) | null = null;
  /** Told when a script begins to hold the thread for longer than busy-reply-threshold, and when it is over. */
  onHeld: ((held: boolean) => void) | null = null;
  /** Called with every fault inside a handler; prints it unless replaced. */
  onError: (error: unknown, command: string) => void = (error, command) => {
    console.error(`cinnabar: fault in ${command}:`, error);
  };

  /** When housekeeping last ran: the time to a tenth of a second, for nothing. */
  tickedAt: number;
  #now = 0;
  #nextClientId = 1;
  /** The client whose command is running at the outermost level, while `tell` may have to wait for its reply. */
  #executing: Client | null = null;
  #messages: Reply[] = [];
  /** The blocked client that is being served, while `tell` has to wait for its reply. */
  #served: Client | null = null;
  #servedMessages: Reply[] = [];
  #depth = 0;
  #tick: Timer;

  constructor(options: EngineOptions = {}) {
    this.clock = options.clock ?? systemClock;
    this.startedAt = this.now;
    this.tickedAt = this.now;
    this.runId = Array.from({ length: 40 }, () => Math.floor(this.clock.random() * 16).toString(16)).join("");
    this.commands = tableWith(options.renamedCommands ?? []);
    this.config = new Config(options.config ?? {});
    this.tls = new TlsContexts(this);
    this.acl = subsystems.makeAcl(this);
    this.databases = Array.from({ length: this.config.values.databases }, (_, i) => new Db(this, i));
    this.blocking = new Blocking(this);
    this.tracking = new Tracking(this);
    this.monitor = new Monitor(this);
    this.pause = new Pause(this.clock);
    this.slowLog = new SlowLog(this);
    this.latency = new LatencyMonitor(this.clock);
    this.heapGuard = new HeapGuard(this, options.heapGuard);
    this.clientMemory = new ClientMemory(this);
    this.eviction = new Eviction(this);
    this.expiry = new ActiveExpiry(this);
    this.scripts = subsystems.makeScripts(this);
    this.persistence = subsystems.makePersistence(this);
    this.functions = subsystems.makeFunctions(this);
    this.migrations = subsystems.makeMigrations(this);
    this.replication = subsystems.makeReplication(this);
    this.config.attach(this);
    this.#takeUsers(options.users ?? []);
    const { "cluster-enabled": inCluster, replicaof } = this.config.values;
    if (inCluster && replicaof.length > 0) throw new ConfigError("replicaof directive not allowed in cluster mode");
    this.cluster = inCluster ? subsystems.makeMember(this, options.cluster) : null;
    // Who prepares a place says when it is taken.
    if (options.cluster === undefined) this.cluster?.start();
    this.parts = new Parts(this);
    this.#tick = unheldInterval(() => this.tick(), TICK_MS);
  }

  #takeUsers(lines: readonly (readonly string[])[]): void {
    try {
      this.acl.start(lines);
    } catch (error) {
      throw subsystems.isUsersError(error) ? new ConfigError(error.message) : error;
    }
  }

  get limits(): Limits {
    return this.config.limits;
  }

  // ---------------------------------------------------------------------------------------------- clients

  addClient(transport: Transport): Client {
    const client = new Client(this, this.#nextClientId++, transport);
    this.clients.set(client.id, client);
    this.stats.connections++;
    return client;
  }

  /** An empty database that nobody sees. */
  makeDatabase(index: number): Db {
    return new Db(this, index);
  }

  /** A client that is in no list: for what runs commands of its own. */
  makeClient(transport: Transport): Client {
    return new Client(this, 0, transport);
  }

  /** Runs the commands of a file. */
  replayer(): FileReplayer {
    return subsystems.makeReplayer(this);
  }

  /** Lets go of everything that a client held. The caller closes its transport. */
  removeClient(client: Client): void {
    if (client.closed) return;
    client.closed = true;
    this.clientMemory.forget(client);
    this.clients.delete(client.id);
    this.blocking.forget(client);
    client.unwatch();
    this.pubsub.unsubscribeAll(client);
    this.tracking.disable(client);
    this.monitor.remove(client);
    this.pause.forget(client);
    this.parts.forget(client);
    this.replication.detach(client);
  }

  // ---------------------------------------------------------------------------------------------- commands

  /** Milliseconds since 1970, fixed while a command, transaction or script runs. Read when it is first asked for. */
  get now(): number {
    if (this.#now === 0) this.#now = this.clock.now();
    return this.#now;
  }

  /** Microseconds since 1970: what TIME says. It goes on while a script runs, and is never behind `now`. */
  get nowMicros(): number {
    return Math.max(this.now * 1000, this.clock.nowMicros());
  }

  /** Runs something at the time that it is now, also inside a transaction, where time stands still. */
  atPresent<T>(run: () => T): T {
    const outer = this.#now;
    this.#now = 0;
    try {
      return run();
    } finally {
      this.#now = outer;
    }
  }

  /** Lets time go on: before every batch of commands, as nothing expires while they run. */
  renewClock(): void {
    if (this.#depth === 0) this.#now = 0;
  }

  /** Runs one command of a client, or queues it in the client's transaction, or refuses it. */
  execute(client: Client, argv: readonly string[]): Reply {
    let command = this.commands.get(argv[0]!);
    if (command === undefined && client.isPrimary) command = this.originalCommands.get(argv[0]!);
    if (command === undefined) return this.#refuse(client, null, unknownCommand(argv));
    if (command.subcommands !== null && argv.length > 1) {
      const sub = command.subcommands.get(argv[1]!.toLowerCase());
      if (sub !== undefined) command = sub;
      else return this.#refuse(client, null, unknownSubcommand(argv[1]!, command.name));
    }
    if (command.varies && command.accepts(argv.length)) {
      if (command.row.part !== undefined) return this.#load(client, command);
      command = command.asCalled(this, argv);
    }
    client.lastCommand = command;
    if (!command.accepts(argv.length)) return this.#refuse(client, command, wrongArity(command.name));
    const refusal = refusalOf(this, client, command, argv);
    // Keys that were evicted to make room are not part of what the command does.
    if (this.effects.hasPending && this.#depth === 0) this.effects.handOn("batch");
    if (refusal !== null) return this.#refuse(client, command, refusal);
    if (this.tracking.active) this.tracking.shrink();
    if (this.pause.active && this.#depth === 0 && this.pause.blocks(client, command, argv)) return POSTPONED;
    if (client.multi !== null && !command.runsInsideMulti) {
      client.multi.push({ command, argv });
      return QUEUED;
    }
    if (this.#depth > 0) return this.call(client, command, argv);
    if (this.tracking.active || this.monitor.active) this.#executing = client;
    const reply = this.call(client, command, argv);
    this.#settle(command.touchesAnyKey ? "batch" : "unit");
    if (this.replication.feeding) client.streamOffset = this.replication.feed.offset;
    return this.#executing === null ? reply : this.#withMessages(client, reply);
  }

  /** Has a part of the engine loaded. The command is put off meanwhile, as in a pause, or refused if that has failed. */
  #load(client: Client, command: Command): Reply {
    const failure = this.parts.load(client, command);
    return failure === null ? POSTPONED : this.#refuse(client, null, failure);
  }

  /** A reply with the messages behind it that the command itself has caused for its client. */
  #withMessages(client: Client, reply: Reply): Reply {
    this.#executing = null;
    if (this.#messages.length === 0) return reply;
    const messages = this.#messages;
    this.#messages = [];
    if (reply !== BLOCKED && client.replyMode === "on") return new WithMessages(reply, messages);
    for (const message of messages) client.push(message);
    return reply;
  }

  /** Sends a message that must not come between a client's own command and its reply. */
  tell(client: Client, message: Reply): void {
    if (client === this.#executing) this.#messages.push(message);
    else if (client === this.#served) this.#servedMessages.push(message);
    else client.push(message);
  }

  /** Serves a client that was blocked: what that causes for itself comes behind its reply. */
  serving(client: Client, serve: () => void): void {
    this.#served = client;
    try {
      serve();
    } finally {
      this.#served = null;
    }
    if (this.#servedMessages.length === 0) return;
    const messages = this.#servedMessages;
    this.#servedMessages = [];
    for (const message of messages) client.push(message);
  }

  #refuse(client: Client, command: Command | null, reason: ReplyError): ReplyError {
    let error = reason;
    if (client.multi !== null) client.multiAborted = true;
    if (command?.runsQueue) {
      client.discard();
      if (!(error instanceof RedirectError)) error = execAborted(error);
    }
    if (command !== null) this.stats.of(command.index).rejected++;
    this.stats.countError(error.code);
    return error;
  }

  /**
   * Runs a command's handler: for execute, and for EXEC and scripts, which have made the checks themselves. Counts it, logs
   * it when slow, and hands on its effects.
   */
  call(client: Client, command: Command, argv: readonly string[]): Reply {
    const stats = this.stats.of(command.index);
    const outer = this.current;
    const db = client.db.index;
    const { effects } = this;
    const { dirty, propagation } = effects;
    const { instead } = propagation;
    const brief = command.isBrief(argv.length);
    const timed = (stats.calls & TIMED_MASK) === 0 || !brief || this.#timesAll();
    const started = timed ? this.clock.monotonic() : 0;
    this.current = client.behalfOf ?? client;
    this.#depth++;
    propagation.instead = null;
    let reply: Reply;
    try {
      if (this.heapGuard.tight && !brief) this.heapGuard.require(bytesToBuild(client.db, command, argv));
      reply = command.run!(client, new Args(argv, command.firstArgument));
    } catch (error) {
      reply = error instanceof ReplyError ? error : this.#internalError(command, error);
    } finally {
      this.#depth--;
      this.current = outer;
    }
    stats.calls++;
    this.stats.commands++;
    if (timed) {
      const microseconds = (this.clock.monotonic() - started) * 1000;
      if (reply !== BLOCKED || client.isParked) this.#took(microseconds, stats, client, command, argv);
      else {
        // How long a wait takes is known when it is over.
        stats.took(microseconds, false);
        client.blockedCall = { argv, startedAt: started };
      }
    }
    if (reply instanceof ReplyError) {
      stats.failed++;
      this.stats.countError(reply.code);
    }
    if (this.monitor.active && (command.flags & (SKIP_MONITOR | ADMIN)) === 0) {
      this.monitor.feed(client, client.shownArgv ?? argv);
    }
    client.shownArgv = null;
    if (propagation.heard && !command.runsInsideMulti) effects.collect(db, argv, dirty);
    propagation.instead = instead;
    if (client.tracking !== null) this.tracking.afterCommand(client, command, argv);
    return reply;
  }

  /** Whether somebody wants to know of durations so short that brief commands matter. */
  #timesAll(): boolean {
    const { threshold } = this.slowLog;
    return (threshold >= 0 && threshold < BRIEF_MICROSECONDS) || this.latency.threshold > 0;
  }

  #took(microseconds: number, stats: CommandStats, client: Client, command: Command, argv: readonly string[]): void {
    stats.took(microseconds, this.latency.tracking);
    this.#logSlow(client, command, argv, microseconds);
    if (this.latency.threshold > 0) {
      this.latency.add((command.flags & FAST) === 0 ? "command" : "fast-command", microseconds / 1000);
    }
  }

  #logSlow(client: Client, command: Command, argv: readonly string[], microseconds: number): void {
    const { threshold } = this.slowLog;
    if (threshold < 0 || microseconds < threshold || (command.flags & SKIP_SLOWLOG) !== 0) return;
    this.slowLog.add(client, client.shownArgv ?? argv, microseconds);
  }

  /** A call that has waited has been answered: it took as long as the wait, in the statistics and the slow log. */
  waited(client: Client): void {
    const { blockedCall: call, lastCommand: command } = client;
    client.blockedCall = null;
    if (call === null || command === null) return;
    const microseconds = (this.clock.monotonic() - call.startedAt) * 1000;
    this.stats.of(command.index).waited(microseconds, this.latency.tracking);
    this.#logSlow(client, command, call.argv, microseconds);
  }

  /** A fault of ours, or a value too large for V8: the caller gets an error, everybody else goes on. */
  #internalError(command: Command, error: unknown): ReplyError {
    this.onError(error, command.name);
    return internalError(command.name);
  }

  /** Runs part of a command on behalf of a client that was blocked in it. */
  runFor<T>(client: Client, run: () => T): T {
    const outer = this.current;
    const { effects } = this;
    const { dirty, propagation } = effects;
    const { instead } = propagation;
    this.current = client;
    this.#depth++;
    propagation.asNothing();
    try {
      return run();
    } finally {
      this.#depth--;
      this.current = outer;
      if (propagation.heard) effects.collect(client.db.index, [], dirty);
      propagation.instead = instead;
      if (this.#depth === 0 && effects.hasPending) effects.handOn("unit");
    }
  }

  /** Runs the rest of a command whose client was parked, now that what it waited for has come. */
  runAfterwards(client: Client, run: () => Reply): Reply {
    this.renewClock();
    const reply = this.runFor(client, run);
    this.#settle();
    return reply;
  }

  /** What has to wait until a command is over. */
  #settle(framing: Framing = "unit"): void {
    if (this.effects.hasPending) this.effects.handOn(framing);
    if (this.blocking.hasReady) this.blocking.serveReady();
    if (this.tracking.hasPending) this.tracking.flush();
  }

  /** Hands on an eviction by itself, where no command runs that it would be a part of. */
  handOnRemoval(): void {
    if (this.#depth === 0 && this.effects.hasPending) this.effects.handOn("batch");
  }

  // ---------------------------------------------------------------------------------------------- keys

  /** The longest string that a command may make. */
  get maxStringBytes(): number {
    return Math.min(this.config.values["proto-max-bulk-len"], LONGEST_VALUE);
  }

  /** What the replication backlog takes, and scripts and functions that are kept. */
  get keptBytes(): number {
    return (this.replication?.feed.backlog?.sizeBytes ?? 0) + (this.scripts?.sizeBytes ?? 0);
  }

  /** What replicas and the append-only file have yet to take. */
  get unsentBytes(): number {
    return this.replication.bytes().replicas + this.persistence.aof.appender.bufferedBytes;
  }

  /** What keys and values take, about. */
  get dataBytes(): number {
    let bytes = 0;
    for (const db of this.databases) bytes += db.sizeBytes;
    return bytes;
  }

  /** INFO, or the named sections of it. */
  info(names: readonly string[]): string {
    return subsystems.infoText(this, names);
  }

  // ---------------------------------------------------------------------------------------------- housekeeping

  /** Housekeeping, ten times a second; tests with a clock of their own call it themselves. */
  tick(): void {
    if (this.cronPaused) return;
    this.renewClock();
    this.heapGuard.look();
    this.eviction.renewClock();
    this.stats.sample(this.clock.monotonic(), this.eviction.usedBytes);
    this.pause.check();
    if (this.replication.isReplica) this.replication.ownDeadlines.expire();
    else if (!this.pause.paused && !this.loading) this.expiry.cycle();
    this.blocking.expire();
    this.#settle("batch");
    this.persistence.cron();
    this.migrations.cron();
    this.replication.cron();
    this.cluster?.cron();
    this.onTick?.();
    this.clientMemory.cron();
    if (this.tracking.active) this.tracking.shrink();
  }

  /** Stops the timers. Sockets and files are closed by their owners before. */
  stop(): void {
    clearInterval(this.#tick);
    this.parts.stop();
    this.cluster?.stop();
    this.replication.stop();
    this.blocking.close();
    this.migrations.close();
    this.pause.close();
  }
}
