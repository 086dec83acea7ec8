/**
 * What the compiler may know about functions of the host.
 */
import type { LuaFunction } from "./value.ts";

const results = new WeakMap<LuaFunction, "any" | "number" | "string" | "boolean">();

/** Says that a function always hands back exactly one value, and perhaps of which type. */
export function single<F extends LuaFunction>(f: F, type: "any" | "number" | "string" | "boolean" = "any"): F {
  results.set(f, type);
  return f;
}

export function resultOf(f: LuaFunction): "any" | "number" | "string" | "boolean" | undefined {
  return results.get(f);
}

/** Functions that may suspend the coroutine that runs: see coroutine.ts. */
export const SUSPENDING = new WeakSet<object>();
