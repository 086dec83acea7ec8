/**
 * Coroutines.
 */
import type { LuaFunction, LuaValue } from "./value.ts";

export type Step = Generator<LuaValue[], LuaValue | LuaValue[], LuaValue[]>;

export class Coroutine {
  declare readonly luaType: "thread";
  status: "suspended" | "running" | "normal" | "dead";
  readonly body: LuaFunction;
  constructor(body: LuaFunction) {
    this.status = "suspended";
    this.body = body;
  }
}
Object.defineProperty(Coroutine.prototype, "luaType", { value: "thread" });
