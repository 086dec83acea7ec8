/**
 * Functions that may be suspended, on JavaScript's generators.
 *
 * A function that may be suspended is a generator, wrapped by `resumable` into a plain function for everybody who calls it
 * in the plain way: native functions and metamethods, across which Lua 5.1 cannot suspend either. Such a call gets Lua's
 * error where it tries. Code that itself may be suspended calls through `invoke`, which delegates to the generator inside.
 */
import { SUSPENDING } from "./natives.ts";
import { LuaError, type LuaFunction, type LuaValue, pack, type Results } from "./value.ts";

export type Steps = Generator<LuaValue[], Results, LuaValue[]>;
type Suspendable = (...args: LuaValue[]) => Steps;

/** The generators inside plain functions. */
const inside = new WeakMap<LuaFunction, Suspendable>();

export function resumable(body: Suspendable): LuaFunction {
  const plain: LuaFunction = (...args) => {
    const steps = body(...args);
    let step = steps.next(NOTHING);
    while (!step.done) step = steps.throw(new LuaError("attempt to yield across metamethod/C-call boundary"));
    return step.value;
  };
  inside.set(plain, body);
  return plain;
}

const NOTHING: LuaValue[] = [];

/** Makes a function that calls another one with an object before its arguments. */
export function bound(method: LuaFunction, object: LuaValue): LuaFunction {
  const body = inside.get(method);
  const plain: LuaFunction = (...args) => method(object, ...args);
  if (body !== undefined) inside.set(plain, (...args) => body(object, ...args));
  return plain;
}

/**
 * A call from code that may be suspended: `isSteps(t = start(f, …)) ? yield* t : t`. In two parts, since another generator in
 * between would cost as much stack again.
 */
export function start(f: LuaFunction, ...args: LuaValue[]): Results | Steps {
  const body = inside.get(f);
  return body === undefined ? f(...args) : body(...args);
}

const generator = Object.getPrototypeOf(function* () {}).prototype;

export function isSteps(value: Results | Steps): value is Steps {
  return typeof value === "object" && Object.prototype.isPrototypeOf.call(generator, value);
}

export function* invoke(f: LuaFunction, args: LuaValue[]): Steps {
  const started = start(f, ...args);
  return isSteps(started) ? yield* started : started;
}

/** `coroutine.yield`. */
export function makeYield(): LuaFunction {
  const f = resumable(function* (...args) {
    return pack(yield args);
  });
  SUSPENDING.add(f);
  return f;
}
