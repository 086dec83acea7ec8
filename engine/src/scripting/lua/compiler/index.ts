/**
 * Lua source to JavaScript functions.
 *
 * The generated text is one function that takes everything it may refer to and returns the chunk's main function. No name
 * of the script occurs in it: variables are numbered, strings are escaped to printable ASCII, and what it can reach is the
 * list of helpers below, the constants that the compiler chose, and Math.
 */
import { compile as compileCode } from "../../../platform/compile.ts";
import { take } from "../memory.ts";
import { numberToString } from "../number.ts";
import {
  arithmetic,
  callable,
  concat,
  equals,
  forNumber,
  index,
  indexElement,
  indexField,
  length,
  lessEqual,
  lessThan,
  negate,
  power,
  setElement,
  setField,
  setIndex,
} from "../operators.ts";
import { MAX_LEVELS, parse } from "../parser.ts";
import type { Runtime } from "../runtime.ts";
import { isSteps, resumable, start } from "../suspension.ts";
import { LuaTable } from "../table.ts";
import { type Chunk, registerChunk, shortName } from "../trace.ts";
import { all, EMPTY, first, LuaError, type LuaFunction, type LuaValue, pack, type Results } from "../value.ts";
import { ChunkEmitter, type ChunkOptions, type Parts } from "./emitter.ts";
import { listText, value } from "./expressions.ts";
import { emitFunction } from "./functions.ts";
import { inferNumbers } from "./inference.ts";
import { blockText } from "./statements.ts";

const PARTS: Parts = { value, listText, blockText };

/** A script, ready to run any number of times. */
export interface Compiled {
  run(keys: LuaTable, argv: LuaTable): Results;
}

/** What may lead to coroutines, or to reading KEYS and ARGV by other ways than their names. */
const REFLECTIVE = /\b(?:coroutine|_G|load|loadstring)\b/;

/** Compiles a script that sees KEYS and ARGV. `chunkName` is Lua's: "@user_script". Throws Lua's error for bad syntax. */
export function compileScript(rt: Runtime, source: string, chunkName: string): Compiled {
  const reflective = REFLECTIVE.test(source);
  const main = compile(rt, source, chunkName, { script: true, resumable: reflective });
  if (!reflective) return { run: main };
  const { globals } = rt;
  return {
    run(keys, argv) {
      const { readonly } = globals;
      globals.readonly = false;
      globals.setStr("KEYS", keys);
      globals.setStr("ARGV", argv);
      globals.readonly = readonly;
      return main(keys, argv);
    },
  };
}

/**
 * Compiles a chunk whose only arguments are `...`: what loadstring makes. `resumable`: its functions may be called by
 * coroutines of somebody else's code; otherwise its own text decides.
 */
export function compileChunk(
  rt: Runtime,
  source: string,
  chunkName: string,
  options: { resumable?: boolean } = {},
): LuaFunction {
  const resumable = options.resumable ?? REFLECTIVE.test(source);
  return compile(rt, source, chunkName, { script: false, resumable });
}

/**
 * Compiles a library of functions. The code that is run once, when the library is loaded, sees `mainGlobals`; the functions
 * that it makes see the runtime's globals.
 */
export function compileLibrary(rt: Runtime, source: string, chunkName: string, mainGlobals: LuaTable): LuaFunction {
  return compile(rt, source, chunkName, { script: false, resumable: REFLECTIVE.test(source), mainGlobals });
}

/** What a character of source takes while it is compiled, at most. */
const COMPILING_BYTES = 200;

function compile(rt: Runtime, source: string, chunkName: string, options: ChunkOptions): LuaFunction {
  take(source.length * COMPILING_BYTES);
  const { text, chunk, constants } = translate(rt, source, chunkName, options);
  const names = constants.map((_, i) => `K${i}`);
  const filename = registerChunk(chunk);
  const code = `"use strict";${PREAMBLE}${names.length > 0 ? `const [${names}] = constants;` : ""}${text};`;
  let factory: (...args: unknown[]) => LuaFunction;
  try {
    factory = compileCode(code, ["rt", "G", "M", "helpers", "constants", "chunk"], filename) as typeof factory;
  } catch (error) {
    // Nested deeper than V8's own parser goes.
    if (error instanceof RangeError || error instanceof SyntaxError) throw tooComplex(chunkName);
    throw error;
  }
  return factory(rt, rt.globals, options.mainGlobals, helpers, constants, chunk);
}

/** The generated code of a chunk; also for people who want to read it. */
export function translate(
  rt: Runtime,
  source: string,
  chunkName: string,
  options: ChunkOptions,
): { text: string; chunk: Chunk; constants: LuaValue[] } {
  try {
    const { main, locals } = parse(source, chunkName, options.script ? MAX_LEVELS : MAX_LEVELS - 1);
    inferNumbers(locals);
    const emitter = new ChunkEmitter(rt, options, PARTS);
    const raw = emitFunction(emitter, main, options.script ? ["KEYS", "ARGV"] : []);
    const { text, sites } = emitter.sites.lay(`${emitter.hoisted}return ${raw}`, main.endLine);
    return { text, chunk: { source: chunkName, shortName: shortName(chunkName), sites }, constants: emitter.constants };
  } catch (error) {
    if (error instanceof RangeError) throw tooComplex(chunkName);
    throw error;
  }
}

function tooComplex(chunkName: string): LuaError {
  return new LuaError(`${shortName(chunkName)}:1: function or expression too complex near '<eof>'`);
}

/** a .. b .. c, from the right. */
function concatAll(values: LuaValue[], names: (string | undefined)[]): LuaValue {
  let result = values.at(-1);
  let name = names.at(-1);
  for (let i = values.length - 2; i >= 0; i--) {
    result = concat(values[i], result, names[i], name);
    name = undefined;
  }
  return result;
}

/** A constructor with elements only. */
function list(elements: number, fields: number, values: LuaValue[]): LuaTable {
  const table = new LuaTable(elements, fields);
  table.append(0, values);
  return table;
}

/** A constructor with fields only, some of them nil. */
function record(room: number, pairs: LuaValue[]): LuaTable {
  const table = new LuaTable(0, room);
  for (let i = 0; i < pairs.length; i += 2) table.set(pairs[i], pairs[i + 1]);
  return table;
}

/** The table `arg` of a function with `...` that does not use it. */
function argTable(values: LuaValue[]): LuaTable {
  const table = new LuaTable(values.length, 1);
  table.append(0, values);
  table.setStr("n", values.length);
  return table;
}

const helpers = {
  EMPTY,
  LuaTable,
  all,
  argTable,
  arithmetic,
  callable,
  concatAll,
  equals,
  first,
  forNumber,
  index,
  indexElement,
  indexField,
  isSteps,
  length,
  lessEqual,
  lessThan,
  list,
  negate,
  numberToString,
  pack,
  power,
  record,
  resumable,
  setElement,
  setField,
  setIndex,
  start,
};

const PREAMBLE = `const {${Object.keys(helpers).join(",")}} = helpers;`;
