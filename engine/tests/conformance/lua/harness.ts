/**
 * The same Lua on a real server and on our runtime, compared as text.
 *
 * A result is written out value by value: numbers with all digits, tables in the order of `next` with their length, so that
 * layouts are compared, too. On the real server this is done by a script around the script; it gets the source as an
 * argument and compiles it under the name that scripts have, so that errors read alike.
 */
import { readdirSync, readFileSync } from "node:fs";
import { formatG } from "../../../src/lib/numbers.ts";
import { compileChunk, compileScript } from "../../../src/scripting/lua/compiler/index.ts";
import { openBase, protectGlobals } from "../../../src/scripting/lua/lib/base.ts";
import { openLibraries } from "../../../src/scripting/lua/lib/index.ts";
import { Runtime } from "../../../src/scripting/lua/runtime.ts";
import { LuaTable } from "../../../src/scripting/lua/table.ts";
import {
  all,
  LuaAbort,
  LuaError,
  type LuaFunction,
  type LuaValue,
  type Results,
  typeName,
} from "../../../src/scripting/lua/value.ts";
import type { Wire } from "../wire.ts";

const DEPTH = 5;

/** Runs the source in ARGV[1] and writes out what it returned or raised. */
const WRAPPER = `
local function show(v, depth)
  local t = type(v)
  if t == "number" then
    if v ~= v then return "nan" end
    return string.format("%.17g", v)
  elseif t == "string" then return '"' .. v .. '"'
  elseif t == "table" then
    if depth == 0 then return "{...}" end
    local out = {}
    for k, e in next, v do out[#out + 1] = "[" .. show(k, depth - 1) .. "]=" .. show(e, depth - 1) end
    return "{#" .. #v .. " " .. table.concat(out, ", ") .. "}"
  elseif t == "boolean" or t == "nil" then return tostring(v)
  end
  return t
end
local f, problem = loadstring(ARGV[1], "@user_script")
if not f then return "COMPILE " .. problem end
local function collect(ok, ...)
  local out = {}
  for i = 1, select("#", ...) do out[i] = show((select(i, ...)), ${DEPTH}) end
  return (ok and "OK " or "ERR ") .. table.concat(out, ", ")
end
return collect(pcall(f))
`;

export async function runReal(wire: Wire, sources: readonly string[]): Promise<string[]> {
  const answers = await wire.pipeline(sources.map((source) => ["EVAL", WRAPPER, "0", source]));
  return answers.map((answer) => answer.text);
}

const COMPILE_ONLY = 'local f, e = loadstring(ARGV[1], "@user_script") return f and "OK" or e';

/** What the real one says to a source, without running it: OK, or what is wrong. */
export async function compileReal(wire: Wire, sources: readonly string[]): Promise<string[]> {
  const answers = await wire.pipeline(sources.map((source) => ["EVAL", COMPILE_ONLY, "0", source]));
  return answers.map((answer) => answer.text);
}

export function compileOurs(rt: Runtime, source: string): string {
  try {
    compileChunk(rt, source, "@user_script");
    return "OK";
  } catch (thrown) {
    if (thrown instanceof LuaError) return thrown.message;
    throw thrown;
  }
}

/** A runtime with the libraries that the scripts here use, protected as a script finds it. */
export function makeRuntime(): Runtime {
  const rt = new Runtime();
  openBase(rt);
  openLibraries(rt);
  rt.globals.setStr("KEYS", new LuaTable());
  rt.globals.setStr("ARGV", new LuaTable());
  protectGlobals(rt);
  let ticks = 0;
  rt.onTick = () => {
    if (++ticks > 20_000) throw new LuaAbort("too long");
  };
  return rt;
}

/** The same on our runtime: compiled as a script, or as a chunk whose functions can be suspended. */
export function runOurs(rt: Runtime, source: string, mode: "script" | "chunk"): string {
  let run: () => Results;
  try {
    if (mode === "script") {
      const script = compileScript(rt, source, "@user_script");
      run = () => script.run(new LuaTable(), LuaTable.fromArray([source]));
    } else {
      const chunk = compileChunk(rt, source, "@user_script", { resumable: true });
      run = () => chunk();
    }
  } catch (thrown) {
    if (thrown instanceof LuaError) return `COMPILE ${thrown.message}`;
    throw thrown;
  }
  const [ok, ...values] = all((rt.globals.getStr("pcall") as LuaFunction)(run));
  return `${ok ? "OK" : "ERR"} ${values.map((value) => show(value, DEPTH)).join(", ")}`;
}

function show(value: LuaValue, depth: number): string {
  if (typeof value === "number") return formatG(value, 17);
  if (typeof value === "string") return `"${value}"`;
  if (value === undefined || typeof value === "boolean") return String(value ?? "nil");
  if (!(value instanceof LuaTable)) return typeName(value);
  if (depth === 0) return "{...}";
  const entries = [...value.entries()].map(([k, v]) => `[${show(k, depth - 1)}]=${show(v, depth - 1)}`);
  return `{#${value.length()} ${entries.join(", ")}}`;
}

/** The scripts of a file: paragraphs, of which leading comment lines are for people. */
export function scriptsOf(file: string): string[] {
  const text = readFileSync(new URL(file, import.meta.url), "latin1");
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.replace(/^(?:\s*--[^\n[]*\n)+/, "").trim())
    .filter((script) => script !== "" && !/^--[^\n]*$/.test(script));
}

export const scriptFiles = (): string[] =>
  readdirSync(new URL(".", import.meta.url)).filter((name) => name.endsWith(".lua"));
