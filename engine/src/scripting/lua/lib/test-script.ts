/** Runs Lua source with all libraries, for tests. */
import { compileScript } from "../compiler/index.ts";
import { Runtime } from "../runtime.ts";
import { LuaTable } from "../table.ts";
import { all, LuaAbort, type LuaValue } from "../value.ts";
import { openBase, protectGlobals } from "./base.ts";
import { openLibraries } from "./index.ts";

export function makeRuntime(): Runtime {
  const rt = new Runtime();
  openBase(rt);
  openLibraries(rt);
  protectGlobals(rt);
  return rt;
}

/** What a script returns; a script that burns more than so many ticks is ended. */
export function run(source: string, ticks = Infinity, rt = makeRuntime()): LuaValue[] {
  let left = ticks;
  rt.onTick = () => {
    if (--left < 0) throw new LuaAbort("too long");
  };
  return all(compileScript(rt, source, "@user_script").run(new LuaTable(), new LuaTable()));
}
