/** Everything that a script finds in its globals, opened in Redis's order and protected. */
import type { Clock } from "../../clock.ts";
import type { Runtime } from "../runtime.ts";
import { openBase, protectGlobals } from "./base.ts";

/** Opens all libraries; `open` adds what belongs to the host. */
export function openLibraries(rt: Runtime, open: (rt: Runtime) => void, _clock: Clock): void {
  openBase(rt);
  open(rt);
  protectGlobals(rt);
}
