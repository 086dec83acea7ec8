/** Coroutines: one function that may be suspended (suspension.ts), and where it stands. */
import { enter, leave } from "./operators.ts";
import type { Runtime } from "./runtime.ts";
import { invoke, type Steps } from "./suspension.ts";
import { all, type LuaFunction, type LuaValue, type Results } from "./value.ts";

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
const { fromNative } = {
  fromNative(steps: Steps, args: LuaValue[]): IteratorResult<LuaValue[], Results> {
    enter();
    try {
      return steps.next(args);
    } finally {
      leave();
    }
  },
};
