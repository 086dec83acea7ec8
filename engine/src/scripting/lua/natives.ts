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

/** Makes a form of a function for a constant first argument; `unused`: nobody looks at what it hands back. */
export type FormMaker = (first: string, unused: boolean) => LuaFunction | undefined;

const forms = new WeakMap<LuaFunction, FormMaker>();

/**
 * Says that for some constant first arguments there is a leaner form of a function: it takes the same arguments, that one
 * included, and does the same. `redis.call("GET", …)` need not look for GET each time.
 */
export function withForms<F extends LuaFunction>(f: F, make: FormMaker): F {
  forms.set(f, make);
  return f;
}

export function formFor(f: LuaFunction, first: string, unused: boolean): LuaFunction {
  return forms.get(f)?.(first, unused) ?? f;
}

/** Functions that may suspend the coroutine that runs: see suspension.ts. */
export const SUSPENDING = new WeakSet<object>();
