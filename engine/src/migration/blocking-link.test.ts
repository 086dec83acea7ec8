import { Worker } from "node:worker_threads";
import { afterEach, expect, test } from "vitest";
import { BlockingLink } from "./blocking-link.ts";
import type { MigrateRequest, Outcome, Step, StepResult } from "./transfer.ts";

const link = new BlockingLink();
const others: Worker[] = [];

afterEach(async () => {
  link.close();
  for (const other of others.splice(0)) await other.terminate();
});

test("an answer is waited for, however often the thread is woken without one", { timeout: 60_000 }, async () => {
  const waker = `
    const { workerData: signal, parentPort } = require("node:worker_threads");
    parentPort.postMessage("ready");
    for (;;) Atomics.notify(signal, 0);
  `;
  const other = new Worker(waker, { eval: true, workerData: link.signal, execArgv: [] });
  others.push(other);
  await new Promise((resolve) => other.once("message", resolve));
  // Nobody listens there.
  const request = { host: "127.0.0.1", port: 1, timeoutMs: 60_000, tls: null } as unknown as MigrateRequest & {
    tls: null;
  };
  const failures: unknown[] = [];
  function* steps(): Generator<Step, Outcome, StepResult> {
    const { failure } = yield { reuse: false };
    failures.push(failure);
    return null as unknown as Outcome;
  }
  for (let i = 0; i < 200; i++) link.run(request, steps());
  expect(failures).toEqual(Array.from({ length: 200 }, () => ({ stage: "writing", timedOut: false })));
});
