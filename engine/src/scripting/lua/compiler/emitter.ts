/**
 * What emitting needs to know: of the chunk (constants, places, options) and of the function at hand (temporaries).
 */
import type { Block, Expression, FunctionBody } from "../ast.ts";
import type { Runtime } from "../runtime.ts";
import type { Local } from "../scope.ts";
import { LuaTable } from "../table.ts";
import type { LuaValue } from "../value.ts";
import { Sites } from "./layout.ts";

/** What is known of an expression's value before it is computed. */
export type Type = "any" | "nil" | "boolean" | "number" | "string" | "table" | "function";

/** A JavaScript expression. `simple`: costs nothing and may be repeated. */
export interface Code {
  text: string;
  type: Type;
  simple: boolean;
}

export interface ChunkOptions {
  /** KEYS and ARGV are parameters of the chunk. */
  script: boolean;
  /** Functions may be run by coroutines. */
  resumable: boolean;
  /** The main function's own code sees these globals; the functions in it see the runtime's. */
  mainGlobals?: LuaTable | undefined;
}

/** What parts of the translation need of others that stand on them: calls of expressions, functions of statements. */
export interface Parts {
  value(fn: FunctionEmitter, e: Expression): Code;
  listText(fn: FunctionEmitter, list: Expression[]): string;
  blockText(fn: FunctionEmitter, block: Block): string;
}

/** A global table's entries that are constants for the script. */
const NOT_CONSTANT = new Set(["KEYS", "ARGV"]);

export class ChunkEmitter {
  readonly rt: Runtime;
  readonly options: ChunkOptions;
  readonly parts: Parts;
  readonly sites = new Sites();
  /** Values of the host that the code refers to as K0, K1 … */
  readonly constants: LuaValue[] = [];
  /** Functions that are made once for all runs of the chunk, in order. */
  hoisted = "";
  readonly #hoistedLocals = new Set<Local>();
  /** How many functions the one that is being emitted is inside of, itself included. */
  depth = 0;
  readonly #numbers = new Map<LuaValue, number>();

  constructor(rt: Runtime, options: ChunkOptions, parts: Parts) {
    this.rt = rt;
    this.options = options;
    this.parts = parts;
  }

  /** The functions that make a loop over a table, by which of them it is. */
  get walkers(): ReadonlyMap<LuaValue, "pairs" | "ipairs"> {
    return this.rt.walkers;
  }

  /** The name of the globals that the function at hand sees. */
  get globals(): "G" | "M" {
    return this.depth === 1 && this.options.mainGlobals !== undefined ? "M" : "G";
  }

  constant(value: LuaValue): string {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = this.constants.push(value) - 1;
      this.#numbers.set(value, number);
    }
    return `K${number}`;
  }

  /** The value of a global, or of a field of one, that no script can change; undefined if there is none such. */
  known(expression: Expression): LuaValue {
    if (expression.kind === "single") return this.known(expression.operand);
    if (expression.kind === "local") return this.#knownLocal(expression.local);
    if (expression.kind === "global") {
      const { globals } = this.rt;
      const { name } = expression;
      if (!globals.readonly || NOT_CONSTANT.has(name) || this.globals !== "G") return undefined;
      return globals.getStr(name);
    }
    if (expression.kind === "index" && expression.key.kind === "string") {
      const table = this.known(expression.object);
      if (table instanceof LuaTable && table.readonly) return table.getStr(expression.key.value);
    }
    return undefined;
  }

  /**
   * Makes a local function of the main code outside of it, if it refers to nothing that a run makes: then its calls are
   * calls of one and the same function for V8. False if it does. The text has the names of all that it refers to.
   */
  hoist(local: Local, body: FunctionBody, text: string): boolean {
    if (this.depth !== 1 || !this.options.script || this.options.resumable || local.assigned) return false;
    for (const upvalue of body.scope.upvalues) {
      if (upvalue === local || this.#hoistedLocals.has(upvalue)) continue;
      if (this.#knownLocal(upvalue) === undefined || mentions(text, nameOf(upvalue))) return false;
    }
    if (mentions(text, "KEYS") || mentions(text, "ARGV")) return false;
    this.hoisted += `const ${nameOf(local)} = ${text};`;
    this.#hoistedLocals.add(local);
    return true;
  }

  /** `local call = redis.call`: as good as what it stands for. Not where the main code sees other globals than the rest. */
  #knownLocal(local: Local): LuaValue {
    const stored = local.stored[0];
    if (local.assigned || stored === undefined || this.options.mainGlobals !== undefined) return undefined;
    return this.known(stored);
  }
}

export class FunctionEmitter {
  readonly chunk: ChunkEmitter;
  readonly body: FunctionBody;
  /** Emitted as a generator: calls may suspend. */
  readonly suspends: boolean;
  #inUse = 0;
  #most = 0;
  #names = 0;
  /** Set when a call of the function by itself, in a tail position, became a jump to its start. */
  jumpsToStart = false;
  /** Lua keeps one constant for 0 and -0 in each function: whichever came first. */
  zero: number | undefined = undefined;

  constructor(chunk: ChunkEmitter, body: FunctionBody, suspends: boolean) {
    this.chunk = chunk;
    this.body = body;
    this.suspends = suspends;
  }

  /** A variable of the function for use within one expression; given back by releasing a mark taken before. */
  temporary(): string {
    const name = `t${this.#inUse++}`;
    if (this.#inUse > this.#most) this.#most = this.#inUse;
    return name;
  }

  mark(): number {
    return this.#inUse;
  }

  release(mark: number): void {
    this.#inUse = mark;
  }

  /** A name for a variable that the emitted code declares itself. */
  fresh(letter: string): string {
    return `${letter}${this.#names++}_`;
  }

  declarations(): string {
    if (this.#most === 0) return "";
    return `let ${Array.from({ length: this.#most }, (_, i) => `t${i}`).join(", ")};`;
  }
}

const mentions = (text: string, name: string) => new RegExp(`\\b${name}\\b`).test(text);

export const nameOf = (local: Local) => `L${local.id}`;

/** A string as a JavaScript literal. Nothing but printable ASCII, and nothing that could end a script element. */
export function quote(text: string): string {
  let out = '"';
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c >= 0x20 && c < 0x7f && c !== 0x22 && c !== 0x5c && c !== 0x3c) continue;
    out += `${text.slice(from, i)}\\x${c.toString(16).padStart(2, "0")}`;
    from = i + 1;
  }
  return `${out}${text.slice(from)}"`;
}

export function numberLiteral(value: number): string {
  if (Number.isNaN(value)) return "(0/0)";
  if (value === Infinity) return "(1/0)";
  if (value === -Infinity) return "(-1/0)";
  if (Object.is(value, -0)) return "(-0)";
  return value < 0 ? `(${value})` : String(value);
}
