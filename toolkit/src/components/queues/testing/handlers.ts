/** Handlers that run in the sandboxes of the suites: well-behaved ones, and every way to go wrong. */
import type { Handlers, JobContext, RunningJob } from "../index.ts";

type Input = { readonly key?: string; readonly n?: number } | null;

/** Kept, so that the collector cannot take it. */
const hoard: unknown[] = [];
let jobs = 0;

export const handlers: Handlers<Input, unknown> = {
  echo: ({ data, id, name, attempt, createdAt }: RunningJob<Input>) => {
    jobs++;
    return { data, id, name, attempt, isDate: createdAt instanceof Date, pid: process.pid, jobs };
  },
  loop: () => {
    for (;;);
  },
  heap: () => {
    for (;;) hoard.push(Array.from({ length: 10_000 }, (_, at) => ({ at })));
  },
  buffers: async () => {
    // Outside of the heap, and touched, so that it is really there.
    for (;;) {
      hoard.push(Buffer.alloc(8 << 20, 1));
      await new Promise(setImmediate);
    }
  },
  exit: () => process.exit(3),
  kill: () => {
    process.kill(process.pid, "SIGSEGV");
    return new Promise(() => {});
  },
  throwLater: () => {
    setImmediate(() => {
      throw new RangeError("thrown outside of the handler");
    });
    return new Promise(() => {});
  },
  fail: () => {
    throw new TypeError("wrong on purpose");
  },
  never: () => {
    throw Object.assign(new Error("never again"), { name: "UnrecoverableError", code: "UNRECOVERABLE" });
  },
  later: ({ attempt }: RunningJob<Input>) => {
    if (++jobs % 2 === 1) throw Object.assign(new Error("not now"), { code: "RETRY_LATER", delayMs: 5 });
    return attempt;
  },
  heed: (_job: RunningJob<Input>, { signal }: JobContext) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  tell: async ({ data }: RunningJob<Input>, { progress, log, effect, children, tag, lease }: JobContext) => {
    const isHeld = await progress({ percent: 50 });
    await log("half way");
    if (data?.key !== undefined) effect(["INCRBY", data.key, 5], [data.key]);
    return { isHeld, tag, fence: typeof lease.fence, children: [...(await children()).values()] };
  },
  strayEffect: (_job: RunningJob<Input>, { effect }: JobContext) => {
    effect(["INCR", "elsewhere"], ["elsewhere"]);
  },
  function: () => () => 1,
};
