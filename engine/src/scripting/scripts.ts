/**
 * Running scripts: the cache of compiled ones, the commands they call, and what becomes of their errors.
 *
 * A script is one command to everybody else: it runs to its end, time stands still in it, its effects are handed on
 * together. Its commands run on a client of their own, with the caller's database.
 *
 * **A script that does not end.** Compiled loops and calls count down (lua/runtime.ts); every few thousand steps `#tick`
 * looks at the clock. Past busy-reply-threshold the script is busy: from then on each tick lets the net read and answer the
 * existing clients' sockets synchronously (`onBusy`), where everything but SCRIPT KILL, FUNCTION KILL, SHUTDOWN NOSAVE
 * and a few harmless commands gets BUSY. A kill ends a script that has written nothing by throwing what no pcall catches.
 * In a process without connections, where nobody could send it, such a script is ended at the threshold. The handler of
 * signals is told (`onHeld`), since no handler runs meanwhile. script-time-limit ends scripts that have written nothing.
 * What this cannot do: accept new connections, and stop a single library call that itself runs long (those are bounded).
 */

import type { Client } from "../core/client.ts";
import type { Clock } from "../core/clock.ts";
import type { Db } from "../core/db.ts";
import type { Effects } from "../core/effects.ts";
import { OOM, ReplyError } from "../core/errors.ts";
import type { Log } from "../core/log.ts";
import type { ClusterGate } from "../core/ports.ts";
import { FOR_ALL } from "../core/propagation.ts";
import {
  BUSY_FUNCTION,
  BUSY_SCRIPT,
  compileError,
  MASTERDOWN,
  NOT_BUSY,
  READONLY_SCRIPT_WRITES,
  SCRIPT_ARITY,
  SCRIPT_KILLED,
  SCRIPT_NO_CLUSTER,
  SCRIPT_NOT_ALLOWED,
  SCRIPT_ON_STALE_REPLICA,
  SCRIPT_OUT_OF_MEMORY,
  SCRIPT_OUT_OF_TIME,
  SCRIPT_UNKNOWN_COMMAND,
  scriptError,
  UNKILLABLE,
  WRITING_SCRIPT_IN_RO,
} from "../core/rare-errors.ts";
import { NO_REPLY, type Reply } from "../core/reply.ts";
import { silentTransport, type Transport } from "../core/transport.ts";
import {
  type Command,
  type CommandTable,
  DENYOOM,
  MAY_REPLICATE,
  NOSCRIPT,
  READONLY,
  STALE,
  WRITE,
} from "../table/command-table.ts";
import { own } from "../types/packed.ts";
import { type Compiled, compileScript } from "./lua/compiler/index.ts";
import { luaToReply } from "./lua/conversion.ts";
import { openBase, protectGlobals } from "./lua/lib/base.ts";
import { openLibraries } from "./lua/lib/index.ts";
import { flat, forgetPromises, type MemorySource, promise, takeFrom } from "./lua/memory.ts";
import { type FoundCommand, openRedis, type ScriptHost, sha1 } from "./lua/redis.ts";
import { FUEL, Runtime } from "./lua/runtime.ts";
import { LuaTable } from "./lua/table.ts";
import { placeOf } from "./lua/trace.ts";
import { first, LuaAbort, LuaError, type LuaValue, type Results } from "./lua/value.ts";
import { ScriptMemory } from "./script-memory.ts";
import { parseShebang, type ScriptFlags } from "./shebang.ts";

export interface Script {
  readonly sha: string;
  readonly source: string;
  /** Null where the script has no first line with flags. */
  readonly flags: ScriptFlags | null;
  compiled: Compiled | null;
}

const UNRESTRICTED: ScriptFlags = {
  noWrites: false,
  allowOom: false,
  allowStale: false,
  noCluster: false,
  allowCrossSlotKeys: false,
};

type ScriptBody = (keys: LuaTable, args: LuaTable) => Results;

/** A call of a script, by its digest, or of a function, by its name. */
export class Running {
  readonly kind: "script" | "function";
  readonly name: string;
  readonly caller: Client;
  /** What it may do. Scripts without a first line that says so may do what they always could. */
  readonly flags: ScriptFlags;
  /** Whether it must not write: its flags say so, or it was called by EVAL_RO and its kin. */
  readonly readOnly: boolean;
  /** The words of the call: flat strings that may be kept. */
  readonly words: readonly string[];
  /** Whether memory was short when it began. */
  shortOfMemory = false;
  /** In a Cluster: the slot of its keys, or of the first key that it touched; -1 while there is none. */
  slot = -1;
  readonly memory = new ScriptMemory();
  /** When its first tick was: those that end before it never ask for the time. */
  startedAt = 0;
  wrote = false;
  busy = false;
  killed = false;

  /** `flags` are null where the script has no first line with flags. */
  constructor(
    kind: Running["kind"],
    name: string,
    caller: Client,
    flags: ScriptFlags | null,
    readOnly: boolean,
    words: readonly string[],
  ) {
    this.kind = kind;
    this.name = name;
    this.caller = caller;
    this.flags = flags ?? UNRESTRICTED;
    this.readOnly = readOnly || this.flags.noWrites;
    this.words = words;
  }

  /** Whether its commands may touch keys of different slots of a Cluster. */
  get mayCrossSlots(): boolean {
    return this.flags === UNRESTRICTED || this.flags.allowCrossSlotKeys;
  }

  /** Scripts that say what they do are refused before they begin where that cannot be. */
  refuseBeforehand(): void {
    const { flags } = this;
    if (flags === UNRESTRICTED) return;
    if (this.readOnly && !flags.noWrites) throw WRITING_SCRIPT_IN_RO;
    if (this.shortOfMemory && !flags.allowOom && !flags.noWrites) throw OOM;
  }
}

/** Compiled scripts beyond this many are compiled again when they are next called. */
const MOST_COMPILED = 1000;
/** Sources by which EVAL finds a script without computing its digest. */
const MOST_SOURCES = 200;

const LOG_LEVELS = ["debug", "verbose", "notice", "warning"] as const;

const NOWHERE = silentTransport("lua");

/** What running scripts needs of the store around it. */
interface ScriptsHost {
  readonly clock: Clock;
  readonly config: {
    readonly values: { readonly "busy-reply-threshold": number; readonly "script-time-limit": number };
  };
  readonly log: Log;
  readonly commands: CommandTable;
  readonly acl: { scriptRefusal(caller: Client, command: Command, argv: readonly string[]): ReplyError | null };
  readonly effects: Effects;
  readonly stats: { of(command: number): { rejected: number } };
  readonly eviction: { readonly limit: number; makeRoom(): boolean };
  readonly heapGuard: { isShort(db: Db): boolean; isExhausted(db: Db): boolean };
  readonly tracking: { remember(client: Client, command: Command, argv: readonly string[]): void };
  readonly persistence: { readonly troubled: boolean; refusal(): ReplyError | null; flush(force: boolean): boolean };
  readonly replication: { readonly guarded: boolean; readonly isStale: boolean; writeRefusal(): ReplyError | null };
  readonly cluster: { readonly gate: ClusterGate } | null;
  /** Commands that are not allowed in scripts are. */
  readonly allowDeniedInScripts: boolean;
  /** A client that is in no list. */
  makeClient(transport: Transport): Client;
  /** Runs a command that has been checked. */
  call(client: Client, command: Command, argv: readonly string[]): Reply;
  /** Runs something at the time that it is now, also inside a transaction, where time stands still. */
  atPresent<T>(run: () => T): T;
  /** Called again and again while a script runs too long: lets existing clients be read and answered; says how many. */
  readonly onBusy: (() => number) | null;
  /** Told when a script begins to hold the thread for longer than busy-reply-threshold, and when it is over. */
  readonly onHeld: ((held: boolean) => void) | null;
}

export class Scripts implements ScriptHost {
  protocol: 2 | 3 = 2;
  running: Running | null = null;
  readonly #host: ScriptsHost;
  readonly #scripts = new Map<string, Script>();
  readonly #bySource = new Map<string, Script>();
  readonly #compiled = new Set<Script>();
  #runtime: Runtime | null = null;
  #client: Client | null = null;
  readonly #memory: MemorySource = {
    room: (neededBytes) => (this.running?.memory ?? new ScriptMemory()).room(neededBytes),
    exhausted: () => this.#ended(SCRIPT_OUT_OF_MEMORY),
  };
  /** What `get` found last, and by which word. */
  #lastSha = "";
  #last: Script | null = null;

  constructor(host: ScriptsHost) {
    this.#host = host;
  }

  /** The state that EVAL's scripts share; made when it is first needed. */
  get runtime(): Runtime {
    this.#runtime ??= this.makeRuntime();
    return this.#runtime;
  }

  /** A protected Lua state with all libraries whose ticks are watched. */
  makeRuntime(open: (rt: Runtime) => void = (rt) => openRedis(rt, this)): Runtime {
    const rt = new Runtime();
    openBase(rt);
    openLibraries(rt);
    openClock(rt, this.#host.clock);
    open(rt);
    protectGlobals(rt);
    rt.onTick = () => this.#tick();
    return rt;
  }

  // ---------------------------------------------------------------------------------------------- the cache

  get count(): number {
    return this.#scripts.size;
  }

  /** What the sources and compiled scripts take, about. */
  get sizeBytes(): number {
    let bytes = 0;
    for (const { source, compiled } of this.#scripts.values())
      bytes += source.length * (compiled === null ? 1 : 8) + 200;
    return bytes;
  }

  has(sha: string): boolean {
    return this.#scripts.has(sha.toLowerCase());
  }

  get(sha: string): Script | undefined {
    // The word of an EVALSHA that comes again is the same string.
    if (this.#last !== null && sha === this.#lastSha) return this.#last;
    const script = this.#scripts.get(sha) ?? this.#scripts.get(sha.toLowerCase());
    if (script === undefined) return undefined;
    this.#lastSha = sha;
    this.#last = script;
    return script;
  }

  /** The flags of a script that was not loaded yet, perhaps: null where it has none, or where they are wrong. */
  flagsOfSource(source: string): ScriptFlags | null {
    const known = this.#bySource.get(source);
    if (known !== undefined) return known.flags;
    try {
      return parseShebang(source).flags;
    } catch (error) {
      if (error instanceof ReplyError) return null;
      throw error;
    }
  }

  /** The script with this source, compiled and kept. Throws a ReplyError where it does not compile. */
  load(source: string): Script {
    const known = this.#bySource.get(source);
    if (known !== undefined) return known;
    const sha = sha1(source);
    let script = this.#scripts.get(sha);
    if (script === undefined) {
      const { flags, body } = parseShebang(source);
      script = { sha, source: own(source), flags, compiled: null };
      this.#compile(script, body);
      this.#scripts.set(sha, script);
    }
    if (this.#bySource.size >= MOST_SOURCES) this.#bySource.delete(this.#bySource.keys().next().value!);
    this.#bySource.set(script.source, script);
    return script;
  }

  #compile(script: Script, body: string): Compiled {
    takeFrom(this.#memory);
    try {
      script.compiled = compileScript(this.runtime, body, "@user_script");
    } catch (error) {
      if (!(error instanceof LuaError)) throw error;
      throw compileError(error.message);
    }
    this.#compiled.add(script);
    if (this.#compiled.size > MOST_COMPILED) {
      const oldest = this.#compiled.values().next().value!;
      oldest.compiled = null;
      this.#compiled.delete(oldest);
    }
    return script.compiled;
  }

  /** Forgets every script, and the state they ran in. */
  flush(): void {
    this.#scripts.clear();
    this.#lastSha = "";
    this.#last = null;
    this.#bySource.clear();
    this.#compiled.clear();
    this.#runtime = null;
  }

  // ---------------------------------------------------------------------------------------------- running

  /** Runs a script of EVAL, whose words are `words`. */
  eval(
    caller: Client,
    script: Script,
    keys: LuaTable,
    args: LuaTable,
    words: readonly string[],
    readOnly: boolean,
  ): Reply {
    const compiled = script.compiled ?? this.#compile(script, parseShebang(script.source).body);
    const call = new Running("script", script.sha, caller, script.flags, readOnly, words);
    return this.run(call, this.runtime, compiled.run, keys, args);
  }

  /** Runs Lua as a command of its caller: for scripts and functions. */
  run(call: Running, rt: Runtime, body: ScriptBody, keys: LuaTable, args: LuaTable): Reply {
    const host = this.#host;
    const mayLackRoom = host.eviction.limit > 0 || host.heapGuard.isShort(call.caller.db);
    call.shortOfMemory = mayLackRoom && !host.eviction.makeRoom();
    if (host.cluster !== null) this.#prepareInCluster(call, host.cluster.gate);
    if (host.replication.guarded) this.#refuseAsReplica(call);
    call.refuseBeforehand();
    this.#prepare(call.caller);
    this.running = call;
    this.protocol = 2;
    rt.fuel = FUEL;
    takeFrom(this.#memory);
    try {
      // As in Redis, a script goes by the moment at which it begins, not by that of the transaction around it.
      const result = call.caller.inTransaction ? host.atPresent(() => body(keys, args)) : body(keys, args);
      return typeof result === "string" ? promise(result) : luaToReply(first(result), this.protocol);
    } catch (error) {
      return this.#failed(error, call, rt);
    } finally {
      this.running = null;
      forgetPromises();
      host.effects.audience = FOR_ALL;
      if (call.busy) host.onHeld?.(false);
    }
  }

  /** Scripts that say what they do are refused where a replica, or the want of replicas, forbids it. */
  #refuseAsReplica({ caller, flags }: Running): void {
    const { replication } = this.#host;
    if (caller.isPrimary) return;
    const refusal = flags === UNRESTRICTED || flags.noWrites ? null : replication.writeRefusal();
    if (refusal !== null) throw refusal;
    if (replication.isStale && !flags.allowStale) throw MASTERDOWN;
  }

  #prepareInCluster(call: Running, gate: ClusterGate): void {
    if (call.flags.noCluster) throw SCRIPT_NO_CLUSTER;
    const called = this.#host.commands.find(call.words);
    if (called !== undefined) call.slot = gate.slotOf(called, call.words);
  }

  /** The client whose commands a script's commands are, set up like its caller. */
  #prepare(caller: Client): void {
    this.#client ??= this.#host.makeClient(NOWHERE);
    const client = this.#client;
    client.db = caller.db;
    client.user = caller.user;
    client.authenticated = true;
    client.inTransaction = true;
    client.protocol = 2;
    client.behalfOf = caller;
  }

  /** The reply for an error that no pcall caught. */
  #failed(error: unknown, running: Running, rt: Runtime): ReplyError {
    if (error instanceof LuaAbort) {
      if (error.reason instanceof ReplyError) return error.reason;
      throw error.reason;
    }
    const failure = rt.asError(error);
    const { value } = failure;
    const text = value instanceof LuaTable ? value.getStr("err") : `ERR ${describe(rt, value)}`;
    const place = placeOf(failure);
    return scriptError(typeof text === "string" ? text : "ERR unknown error", running.name, place);
  }

  // ---------------------------------------------------------------------------------------------- what scripts ask for

  find(name: string): FoundCommand | undefined {
    const command = this.#host.commands.get(name);
    return command === undefined || command.run === undefined || command.subcommands !== null ? undefined : command;
  }

  call(argv: string[], found?: FoundCommand): Reply {
    const running = this.running!;
    const client = this.#client!;
    const host = this.#host;
    const command = (found as Command | undefined) ?? host.commands.find(argv);
    if (command === undefined || command.run === undefined) return SCRIPT_UNKNOWN_COMMAND;
    const refusal = command.accepts(argv.length)
      ? (this.#refusal(running, command, argv) ?? host.cluster?.gate.scriptRefusal(running, command, argv) ?? null)
      : SCRIPT_ARITY;
    if (refusal !== null) {
      host.stats.of(command.index).rejected++;
      return refusal;
    }
    if (command.keepsWords) keepable(argv, running.words);
    client.protocol = this.protocol;
    client.lastCommand = command;
    if ((command.flags & WRITE) !== 0) running.wrote = true;
    const reply = host.call(client, command, argv);
    if (running.caller.tracking !== null && (command.flags & READONLY) !== 0) this.#track(running);
    return reply === NO_REPLY ? null : reply;
  }

  /** A script that reads anything has read the keys that it was called with, as far as its caller is concerned. */
  #track({ caller, words }: Running): void {
    const { commands, tracking } = this.#host;
    const called = commands.find(words);
    if (called !== undefined) tracking.remember(caller, called, words);
  }

  #refusal(running: Running, command: Command, argv: readonly string[]): ReplyError | null {
    const { flags } = command;
    if ((flags & NOSCRIPT) !== 0 && !this.#host.allowDeniedInScripts) return SCRIPT_NOT_ALLOWED;
    if (running.caller.user.limited) {
      const refusal = this.#host.acl.scriptRefusal(running.caller, command, argv);
      if (refusal !== null) return refusal;
    }
    if (running.readOnly && (flags & (WRITE | MAY_REPLICATE)) !== 0) return READONLY_SCRIPT_WRITES;
    const { persistence, replication } = this.#host;
    if (replication.guarded && !running.caller.isPrimary) {
      const refusal = (flags & WRITE) !== 0 && !running.wrote ? replication.writeRefusal() : null;
      if (refusal !== null) return refusal;
      if ((flags & STALE) === 0 && replication.isStale) return SCRIPT_ON_STALE_REPLICA;
    }
    if ((flags & WRITE) !== 0 && !running.wrote && persistence.troubled) {
      const refusal = persistence.refusal();
      if (refusal !== null) return refusal;
    }
    if ((flags & DENYOOM) === 0) return null;
    if (running.shortOfMemory && !running.wrote && !running.flags.allowOom) return OOM;
    // What has written may go on past maxmemory, but not until V8 ends the process.
    return this.#host.heapGuard.isExhausted(this.#client!.db) ? OOM : null;
  }

  mayCall(argv: string[]): boolean | undefined {
    const command = this.#host.commands.find(argv);
    if (command === undefined || (command.subcommands !== null && argv.length > 1)) return undefined;
    return this.running!.caller.user.denial(command, argv) === null;
  }

  log(level: number, message: string): void {
    this.#host.log(LOG_LEVELS[level]!, message);
  }

  setReplication(flags: number): void {
    this.#host.effects.audience = flags;
  }

  // ---------------------------------------------------------------------------------------------- long running ones

  #tick(): void {
    const running = this.running;
    if (running === null) return;
    const host = this.#host;
    const now = host.clock.monotonic();
    if (running.startedAt === 0) running.startedAt = now;
    const { "busy-reply-threshold": threshold, "script-time-limit": limit } = host.config.values;
    if (limit > 0 && now - running.startedAt >= limit && !running.wrote) throw this.#ended(SCRIPT_OUT_OF_TIME);
    if (threshold <= 0 || now - running.startedAt < threshold) return;
    if (!running.busy) {
      running.busy = true;
      // From here on a signal ends the process: what was acknowledged before must not be lost by it.
      host.persistence.flush(true);
      host.onHeld?.(true);
      host.log("warning", `Slow ${running.kind} detected: still in execution after ${threshold} milliseconds.`);
    }
    const listening = host.onBusy?.() ?? 0;
    // Where no client is connected that could end it, nobody ever will.
    if (listening === 0 && !running.wrote) running.killed = true;
    if (running.killed) throw this.#ended(SCRIPT_KILLED);
  }

  /** What ends the running script here, whatever it has to catch errors with. */
  #ended(text: string): unknown {
    const { running } = this;
    // Compiling happens while nothing runs.
    if (running === null) return new LuaError("not enough memory");
    return new LuaAbort(scriptError(text, running.name, placeOf(new LuaError(undefined))));
  }

  /** The answer to clients that send commands while a script runs too long. */
  get busyError(): ReplyError {
    return this.running?.kind === "function" ? BUSY_FUNCTION : BUSY_SCRIPT;
  }

  /** SCRIPT KILL and FUNCTION KILL. Throws the error that says why not. */
  kill(kind: Running["kind"]): void {
    const { running } = this;
    if (running === null) throw NOT_BUSY;
    if (running.kind !== kind) throw this.busyError;
    if (running.wrote) throw UNKILLABLE;
    running.killed = true;
  }

  /** How long the running script has been running, in milliseconds. */
  get runningMs(): number {
    const startedAt = this.running?.startedAt ?? 0;
    return startedAt === 0 ? 0 : Math.round(this.#host.clock.monotonic() - startedAt);
  }
}

/** `os`, of which scripts get the one function that can do no harm: what later versions of Redis give them. */
function openClock(rt: Runtime, clock: Clock): void {
  const os = new LuaTable(0, 1);
  os.setStr("clock", () => clock.monotonic() / 1000);
  rt.globals.setStr("os", os);
}

/** From this length on, a string may share memory with others. */
const MAY_SHARE = 13;

const MOST_SEARCHED = 40;

/**
 * Makes words that may be kept strings of their own: a script's strings are often slices and concatenations. Words of the
 * call itself are whole already, and most of a script's words are among them.
 */
function keepable(argv: string[], whole: readonly string[]): void {
  for (let i = 1; i < argv.length; i++) {
    const word = argv[i]!;
    if (word.length < MAY_SHARE) continue;
    // In a call of many words the search would cost more than the copy.
    const at = whole.length <= MOST_SEARCHED ? whole.indexOf(word) : -1;
    argv[i] = at < 0 ? own(flat(word)) : whole[at]!;
  }
}

function describe(rt: Runtime, value: LuaValue): string {
  try {
    return rt.tostring(value);
  } catch {
    return "unknown error";
  }
}
