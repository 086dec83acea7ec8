/**
 * Coroutines, on JavaScript's generators.
 *
 * A function that may be suspended is a generator, wrapped by `resumable` into a plain function for everybody who calls it
 * in the plain way: native functions and metamethods, across which Lua 5.1 cannot suspend either. Such a call gets Lua's
 * error where it tries. Code that itself may be suspended calls through `invoke`, which delegates to the generator inside.
 */
import { SUSPENDING } from "./natives.ts";
import { enter, leave } from "./operators.ts";
import type { Runtime } from "./runtime.ts";
import { all, LuaError, type LuaFunction, type LuaValue, pack, type Results } from "./value.ts";

export type Steps = Generator<LuaValue[], Results, LuaValue[]>;
export type Suspendable = (...args: LuaValue[]) => Steps;

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

function* invoke(f: LuaFunction, args: LuaValue[]): Steps {
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

export class Coroutine {
  declare readonly luaType: "thread";
  status: "suspended" | "running" | "normal" | "dead";
  readonly #body: LuaFunction;
  #steps: Steps | undefined;

  constructor(body: LuaFunction) {
    this.status = "suspended";
    this.#body = body;
    this.#steps = undefined;
  }

  /** Runs it until it yields, returns or fails. The caller has seen to it that it is suspended. */
  resume(rt: Runtime, args: LuaValue[]): LuaValue[] {
    const before = rt.running;
    if (before !== undefined) before.status = "normal";
    this.status = "running";
    rt.running = this;
    try {
      const step = fromNative(this.#begin(args), args);
      this.status = step.done ? "dead" : "suspended";
      return step.done ? all(step.value) : step.value;
    } catch (thrown) {
      this.status = "dead";
      throw thrown;
    } finally {
      rt.running = before;
      if (before !== undefined) before.status = "running";
    }
  }

  #begin(args: LuaValue[]): Steps {
    this.#steps ??= invoke(this.#body, args);
    return this.#steps;
  }
}
Object.defineProperty(Coroutine.prototype, "luaType", { value: "thread" });

/** The bottom of a coroutine's stack is a native function's call: see trace.ts. */
function fromNative(steps: Steps, args: LuaValue[]): IteratorResult<LuaValue[], Results> {
  enter();
  try {
    return steps.next(args);
  } finally {
    leave();
  }
}
