/** Which handler a job is for: one for all, one for each name, here or in a sandbox. */
import type { Clock } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import { NoHandlerError } from "./errors.ts";
import { Sandboxed } from "./sandbox/index.ts";
import { SandboxPool } from "./sandbox/pool.ts";
import type { Handler, Handlers } from "./worker.ts";

/** For all names that have no handler of their own. */
const OTHERS = "*";

export interface Dispatching<T, R> {
  readonly handle: Handler<T, R>;
  /** To be closed with the worker. */
  readonly sandboxes: readonly SandboxPool[];
}

export function dispatching<T, R>(given: Handler<T, R> | Sandboxed | Handlers<T, R>, clock: Clock): Dispatching<T, R> {
  if (typeof given === "function") return { handle: given, sandboxes: [] };
  const sandboxes: SandboxPool[] = [];
  const handlerOf = (each: Handlers<T, R>[string], name: string): Handler<T, R> => {
    if (typeof each === "function") return each;
    if (!(each instanceof Sandboxed)) throw new InputError(`the handler "${name}" must be a function or sandboxed(…)`);
    const pool = new SandboxPool(each, clock);
    sandboxes.push(pool);
    return (job, context) => pool.run<T, R>(job, context);
  };
  if (given instanceof Sandboxed) return { handle: handlerOf(given, OTHERS), sandboxes };
  if (typeof given !== "object" || given === null || Object.keys(given).length === 0) {
    throw new InputError("a worker needs a handler: a function, sandboxed(…), or an object with one for each name");
  }
  const handlers = new Map(Object.entries(given).map(([name, each]) => [name, handlerOf(each, name)]));
  const others = handlers.get(OTHERS);
  const handle: Handler<T, R> = (job, context) => {
    const handler = (job.name === null ? undefined : handlers.get(job.name)) ?? others;
    if (handler === undefined) throw new NoHandlerError(job.name, [...handlers.keys()]);
    return handler(job, context);
  };
  return { handle, sandboxes };
}
