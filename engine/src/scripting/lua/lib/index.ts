/**
 * The libraries that scripts find beside the base library.
 */
import type { Runtime } from "../runtime.ts";
import { bitLibrary } from "./bit.ts";
import { cjsonLibrary } from "./cjson.ts";
import { cmsgpackLibrary } from "./cmsgpack.ts";
import { mathLibrary } from "./math.ts";
import { stringLibrary } from "./string.ts";
import { structLibrary } from "./struct.ts";
import { tableLibrary } from "./table.ts";

/** Puts them all into the runtime's globals. */
export function openLibraries(rt: Runtime): void {
  const { globals } = rt;
  globals.setStr("table", tableLibrary(rt));
  globals.setStr("string", stringLibrary(rt));
  globals.setStr("math", mathLibrary(rt));
  globals.setStr("cjson", cjsonLibrary(rt));
  globals.setStr("struct", structLibrary(rt));
  globals.setStr("cmsgpack", cmsgpackLibrary(rt));
  globals.setStr("bit", bitLibrary(rt));
}
