/**
 * Libraries of functions: FUNCTION LOAD and FCALL.
 *
 * A library is Lua that runs once, when it is loaded, to register functions; those stay, with all that they refer to. All
 * libraries share one Lua state, which is not that of EVAL.
 *
 * While it loads, a library's own code sees nothing but `redis.register_function`, `redis.log` and some constants. The
 * functions in it are compiled for the time when they are called, with the usual globals; one that is called while the
 * library loads has more at hand than in Redis, but `redis.call` fails in it, too.
 */
import type { Client } from "../core/client.ts";
import type { Clock } from "../core/clock.ts";
import { ReplyError } from "../core/errors.ts";
import {
  BAD_FUNCTION_NAME,
  engineNotFound,
  FUNCTION_LOAD_TIMEOUT,
  functionCompileError,
  functionExists,
  functionLoadError,
  INVALID_LIBRARY_METADATA,
  LIBRARY_NAME_MISSING,
  LIBRARY_NAMED_TWICE,
  libraryExists,
  libraryToRestoreExists,
  MISSING_LIBRARY_METADATA,
  NO_FUNCTIONS_REGISTERED,
  unknownLibraryMetadata,
} from "../core/rare-errors.ts";
import type { Reply } from "../core/reply.ts";
import { splitWords } from "../resp/split-words.ts";
import { own } from "../types/packed.ts";
import { compileLibrary } from "./lua/compiler/index.ts";
import { errorTable } from "./lua/conversion.ts";
import { protect } from "./lua/lib/base.ts";
import { type FoundCommand, openRedis, type ScriptHost } from "./lua/redis.ts";
import { type NewFunction, readRegistration, validName } from "./lua/register-function.ts";
import { FUEL, type Runtime } from "./lua/runtime.ts";
import { LuaTable } from "./lua/table.ts";
import { EMPTY, LuaAbort, LuaError, type LuaFunction } from "./lua/value.ts";
import { Running, type Scripts } from "./scripts.ts";

export interface StoredFunction extends NewFunction {
  readonly library: Library;
}

export interface Library {
  readonly name: string;
  readonly source: string;
  /** By name. */
  readonly functions: Map<string, StoredFunction>;
}

/** A library that takes longer than this to load is given up. */
const LOAD_LIMIT_MS = 500;
/** What EVAL's `redis` has and that of functions has not. */
const ONLY_IN_SCRIPTS = ["breakpoint", "debug", "replicate_commands"];
/** What of `redis` there is while a library loads. */
const WHILE_LOADING = [
  "log",
  "LOG_DEBUG",
  "LOG_VERBOSE",
  "LOG_NOTICE",
  "LOG_WARNING",
  "REDIS_VERSION",
  "REDIS_VERSION_NUM",
];

/** A library's name and Lua. The first line is left blank, so that line numbers stay. */
function readMetadata(source: string): { name: string; body: string } {
  if (!source.startsWith("#!")) throw MISSING_LIBRARY_METADATA;
  const end = source.indexOf("\n");
  const words = end < 0 ? undefined : splitWords(source.slice(0, end));
  if (words === undefined) throw INVALID_LIBRARY_METADATA;
  const [engine = "", ...options] = words;
  let name: string | undefined;
  for (const option of options) {
    if (!option.toLowerCase().startsWith("name=")) throw unknownLibraryMetadata(option);
    if (name !== undefined) throw LIBRARY_NAMED_TWICE;
    name = option.slice("name=".length);
  }
  if (name === undefined) throw LIBRARY_NAME_MISSING;
  if (!validName(name)) throw BAD_FUNCTION_NAME;
  if (engine.slice(2).toLowerCase() !== "lua") throw engineNotFound(engine.slice(2));
  return { name: own(name), body: source.slice(end) };
}

/** Libraries by name, and all their functions, whose names are the same in any case. */
class Libraries {
  readonly byName = new Map<string, Library>();
  readonly functions = new Map<string, StoredFunction>();

  find(name: string): StoredFunction | undefined {
    return this.functions.get(name) ?? this.functions.get(name.toLowerCase());
  }

  /** The first function of a library whose name is taken by another library than those that will go. */
  collision(library: Library, going: ReadonlySet<Library>): StoredFunction | undefined {
    for (const one of library.functions.values()) {
      const taken = this.functions.get(one.name.toLowerCase());
      if (taken !== undefined && !going.has(taken.library)) return one;
    }
    return undefined;
  }

  add(library: Library): void {
    this.byName.set(library.name, library);
    for (const one of library.functions.values()) {
      const name = one.name.toLowerCase();
      if (!this.functions.has(name)) this.functions.set(name, one);
    }
  }

  remove(library: Library): void {
    this.byName.delete(library.name);
    for (const one of library.functions.values()) {
      const name = one.name.toLowerCase();
      if (this.functions.get(name) === one) this.functions.delete(name);
    }
  }
}

/** The library that is being loaded. */
interface Loading {
  readonly functions: Map<string, NewFunction>;
  /** When it must be done; Infinity where it may take as long as it likes. */
  readonly deadline: number;
}

/** What all libraries run in. */
interface State {
  readonly rt: Runtime;
  /** The globals of a library that loads. */
  readonly loadGlobals: LuaTable;
}

/** The table `redis` of a state. */
function redisOf(rt: Runtime): LuaTable {
  const redis = rt.globals.getStr("redis");
  if (!(redis instanceof LuaTable)) throw new Error("this state has no table `redis`");
  return redis;
}

export class Functions {
  readonly #clock: Clock;
  readonly #scripts: Scripts;
  #libraries = new Libraries();
  #made: State | null = null;
  #loading: Loading | null = null;
  #registerFunction: LuaFunction;
  /** The words of the FCALL that runs. */
  runningArgv: readonly string[] = [];

  constructor(clock: Clock, scripts: Scripts) {
    this.#clock = clock;
    this.#scripts = scripts;
    this.#registerFunction = (...args) => this.#register(args);
  }

  // ---------------------------------------------------------------------------------------------- what there is

  get libraries(): Iterable<Library> {
    return this.#libraries.byName.values();
  }

  get libraryCount(): number {
    return this.#libraries.byName.size;
  }

  get count(): number {
    return this.#libraries.functions.size;
  }

  /** What sources and functions take, about. */
  get sizeBytes(): number {
    let bytes = 0;
    for (const { name, source, functions } of this.libraries) {
      bytes += name.length + source.length * 8 + functions.size * 300;
    }
    return bytes;
  }

  find(name: string): StoredFunction | undefined {
    return this.#libraries.find(name);
  }

  /** The sources of all libraries: what a file keeps of them. */
  sources(): string[] {
    return Array.from(this.libraries, (library) => library.source);
  }

  // ---------------------------------------------------------------------------------------------- changing it

  /** Loads a library as FUNCTION LOAD does; returns its name. Throws the ReplyError that says why not. */
  load(source: string, replace: boolean): string {
    return this.#add(source, replace, LOAD_LIMIT_MS);
  }

  /** Loads a library from a file or a primary, however long that takes. */
  loadSource(source: string): string {
    return this.#add(source, false, Infinity);
  }

  #add(source: string, replace: boolean, limitMs: number): string {
    const { name, body } = readMetadata(source);
    const old = this.#libraries.byName.get(name);
    if (old !== undefined && !replace) throw libraryExists(name);
    const library = this.#make(source, name, body, limitMs);
    const taken = this.#libraries.collision(library, new Set(old === undefined ? [] : [old]));
    if (taken !== undefined) throw functionExists(taken.name);
    if (old !== undefined) this.#libraries.remove(old);
    this.#libraries.add(library);
    return name;
  }

  /** Adds all these libraries, or none. */
  restore(sources: readonly string[], policy: "flush" | "append" | "replace"): void {
    const fresh = new Libraries();
    for (const source of sources) {
      const { name, body } = readMetadata(source);
      if (fresh.byName.has(name)) throw libraryExists(name);
      const library = this.#make(source, name, body, Infinity);
      const taken = fresh.collision(library, new Set());
      if (taken !== undefined) throw functionExists(taken.name);
      fresh.add(library);
    }
    if (policy === "flush") this.#libraries = fresh;
    else this.#join(fresh, policy === "replace");
  }

  #join(fresh: Libraries, replace: boolean): void {
    const going = new Set<Library>();
    for (const name of fresh.byName.keys()) {
      const old = this.#libraries.byName.get(name);
      if (old === undefined) continue;
      if (!replace) throw libraryToRestoreExists(name);
      going.add(old);
    }
    for (const library of fresh.byName.values()) {
      const taken = this.#libraries.collision(library, going);
      if (taken !== undefined) throw functionExists(taken.name);
    }
    for (const old of going) this.#libraries.remove(old);
    for (const library of fresh.byName.values()) this.#libraries.add(library);
  }

  /** Whether there was such a library. */
  delete(name: string): boolean {
    const library = this.#libraries.byName.get(name);
    if (library === undefined) return false;
    this.#libraries.remove(library);
    return true;
  }

  /** Forgets every library, and the state they ran in. */
  flush(): void {
    this.#libraries = new Libraries();
    this.#made = null;
  }

  // ---------------------------------------------------------------------------------------------- loading

  #make(source: string, name: string, body: string, limitMs: number): Library {
    const main = this.#compile(body);
    const loading: Loading = { functions: new Map(), deadline: this.#clock.monotonic() + limitMs };
    this.#loading = loading;
    try {
      this.#run(main);
    } finally {
      this.#loading = null;
    }
    if (loading.functions.size === 0) throw NO_FUNCTIONS_REGISTERED;
    const library: Library = { name, source: own(source), functions: new Map() };
    for (const one of loading.functions.values()) library.functions.set(one.name, { ...one, library });
    return library;
  }

  #compile(body: string): LuaFunction {
    try {
      const { rt, loadGlobals } = this.#state;
      return compileLibrary(rt, body, "@user_function", loadGlobals);
    } catch (error) {
      if (!(error instanceof LuaError)) throw error;
      throw functionCompileError(error.message);
    }
  }

  /** Runs a library's own code. `register_function` is also where the functions in it look for it, for that time only. */
  #run(main: LuaFunction): void {
    const { rt } = this.#state;
    const redis = redisOf(rt);
    rt.fuel = FUEL;
    setProtected(redis, "register_function", this.#registerFunction);
    try {
      main();
    } catch (error) {
      if (error instanceof LuaAbort && error.reason instanceof ReplyError) throw error.reason;
      const { value } = rt.asError(error);
      const text = value instanceof LuaTable ? value.getStr("err") : `ERR ${rt.tostring(value)}`;
      throw functionLoadError(typeof text === "string" ? text : "ERR unknown error");
    } finally {
      setProtected(redis, "register_function", undefined);
    }
  }

  #register(args: Parameters<LuaFunction>): typeof EMPTY {
    const loading = this.#loading;
    if (loading === null) {
      throw new LuaError(errorTable("ERR redis.register_function can only be called on FUNCTION LOAD command"));
    }
    const registration = readRegistration(args);
    if (loading.functions.has(registration.name)) {
      throw new LuaError(errorTable("ERR Function already exists in the library"));
    }
    loading.functions.set(registration.name, registration);
    return EMPTY;
  }

  /** The Lua state that all libraries share; made when it is first needed. */
  get #state(): State {
    if (this.#made === null) {
      const rt = this.#scripts.makeRuntime((made) => this.#open(made));
      const watch = rt.onTick;
      rt.onTick = () => (this.#loading === null ? watch?.() : this.#checkDeadline(this.#loading));
      this.#made = { rt, loadGlobals: this.#makeLoadGlobals(rt) };
    }
    return this.#made;
  }

  #open(rt: Runtime): void {
    openRedis(rt, new Host(this.#scripts, rt, () => this.#loading !== null));
    const redis = redisOf(rt);
    for (const name of ONLY_IN_SCRIPTS) redis.setStr(name, undefined);
  }

  #makeLoadGlobals(rt: Runtime): LuaTable {
    const whole = redisOf(rt);
    const redis = new LuaTable();
    for (const name of WHILE_LOADING) redis.setStr(name, whole.getStr(name));
    redis.setStr("register_function", this.#registerFunction);
    redis.metatable = rt.globals.metatable;
    const globals = new LuaTable();
    globals.setStr("redis", redis);
    globals.metatable = rt.globals.metatable;
    protect(rt, globals);
    return globals;
  }

  #checkDeadline({ deadline }: Loading): void {
    if (this.#clock.monotonic() > deadline) throw new LuaAbort(FUNCTION_LOAD_TIMEOUT);
  }

  // ---------------------------------------------------------------------------------------------- calling

  /** Runs a function for a client; `argv` are the words of its FCALL. */
  call(
    caller: Client,
    { name, flags, callback }: StoredFunction,
    keys: LuaTable,
    args: LuaTable,
    argv: readonly string[],
    readOnly: boolean,
  ): Reply {
    const call = new Running("function", name, caller, flags, readOnly, argv);
    this.runningArgv = argv;
    try {
      return this.#scripts.run(call, this.#state.rt, callback, keys, args);
    } finally {
      this.runningArgv = [];
    }
  }
}

function setProtected(table: LuaTable, name: string, value: LuaFunction | undefined): void {
  table.readonly = false;
  table.setStr(name, value);
  table.readonly = true;
}

/** What functions ask for is done as for scripts, but not while their library loads. */
class Host implements ScriptHost {
  readonly #scripts: Scripts;
  readonly #rt: Runtime;
  readonly #loading: () => boolean;

  constructor(scripts: Scripts, rt: Runtime, loading: () => boolean) {
    this.#scripts = scripts;
    this.#rt = rt;
    this.#loading = loading;
  }

  get protocol(): 2 | 3 {
    return this.#scripts.protocol;
  }

  set protocol(protocol: 2 | 3) {
    this.#scripts.protocol = protocol;
  }

  find(name: string): FoundCommand | undefined {
    return this.#scripts.find(name);
  }

  call(argv: string[], found?: FoundCommand): Reply {
    if (this.#loading()) throw this.#rt.error("Script attempted to access nonexistent global variable 'call'");
    return this.#scripts.call(argv, found);
  }

  mayCall(argv: string[]): boolean | undefined {
    return this.#scripts.mayCall(argv);
  }

  log(level: number, message: string): void {
    this.#scripts.log(level, message);
  }

  setReplication(flags: number): void {
    if (!this.#loading()) this.#scripts.setReplication(flags);
  }
}
