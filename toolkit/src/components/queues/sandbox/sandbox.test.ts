/**
 * Sandboxes: whatever a handler does in one, the worker goes on and the job has failed with the reason. In threads and in processes.
 * On two backends: a sandbox sees none of the store, and the worker's own suite runs on all.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { describeBackends } from "../../../../tests/kit/index.ts";
import { InputError } from "../../../base/errors.ts";
import { Queue, type SandboxOptions, sandboxed, Worker } from "../index.ts";
import { workersOfSuite } from "../testing/suite.ts";

const HANDLERS = new URL("../testing/handlers.ts", import.meta.url);
const KINDS = ["thread", "process"] as const;

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describeBackends("sandboxes", { backends: ["embedded", "redis"] }, (backend) => {
  const work = workersOfSuite();
  const setUp = (options: SandboxOptions, concurrency = 1) => {
    const tasks = new Queue<{ readonly key?: string } | null, unknown>(backend.store, "sandboxed");
    return { tasks, worker: work(tasks, sandboxed(HANDLERS, { killDelayMs: 0, ...options }), { concurrency }) };
  };
  /** What a job comes to. */
  const run = async (tasks: Queue<{ readonly key?: string } | null, unknown>, name: string, options = {}) =>
    tasks.addAndWait({}, { name, ...options });

  test.for(KINDS)("a %s runs handlers by name, one job after the other, with what a context has", async (kind) => {
    const { tasks } = setUp({ kind });
    const first = await run(tasks, "echo", { id: "one" });
    expect(first).toMatchObject({
      status: "done",
      result: { data: {}, id: "one", name: "echo", attempt: 1, isDate: true, jobs: 1 },
    });
    // The same one again.
    expect(await run(tasks, "echo")).toMatchObject({ status: "done", result: { jobs: 2 } });
    const pid = (first as { result: { pid: number } }).result.pid;
    expect(pid === process.pid).toBe(kind === "thread");
    const key = "counter:{sandboxed}";
    const told = await tasks.addAndWait({ key }, { name: "tell", id: "two" });
    expect(told).toEqual({
      status: "done",
      result: { isHeld: true, tag: "{sandboxed}", fence: "number", children: [] },
    });
    expect(await backend.store.call("GET", key)).toBe("5");
    expect(await tasks.logs("two")).toEqual(["half way"]);
    expect(await tasks.get("two")).toMatchObject({ progress: { percent: 50 } });
  });

  test.for(KINDS)("errors in a %s are those of the handler, and say what is to become of the job", async (kind) => {
    const { tasks } = setUp({ kind });
    const failed = await run(tasks, "fail");
    expect(failed).toMatchObject({ status: "dead", error: { name: "TypeError", message: "wrong on purpose" } });
    expect(failed.status === "dead" && failed.error.stack).toContain("handlers.ts");
    expect(await run(tasks, "never", { attempts: 5, id: "never" })).toMatchObject({ status: "dead" });
    expect(await tasks.get("never")).toMatchObject({ attemptsMade: 1 });
    expect(await run(tasks, "later")).toEqual({ status: "done", result: 1 });
    expect(await run(tasks, "nobody")).toMatchObject({ status: "dead", error: { name: "NoHandlerError" } });
    expect(await run(tasks, "strayEffect")).toMatchObject({ status: "dead", error: { name: "InputError" } });
    const unsent = await run(tasks, "function");
    expect(unsent.status === "dead" && unsent.error.message).toContain("could not be cloned");
    expect(await run(tasks, "echo")).toMatchObject({ status: "done" });
  });

  test.for(KINDS)(
    "a job that loops for ever in a %s is killed when its time is over, and the worker goes on",
    async (kind) => {
      const { tasks, worker } = setUp({ kind });
      const looped = await run(tasks, "loop", { timeoutMs: 300 });
      expect(looped).toMatchObject({ status: "dead", error: { name: "JobTimeoutError" } });
      expect(await run(tasks, "echo")).toMatchObject({ status: "done", result: { jobs: 1 } });
      expect(worker.running).toBe(0);
    },
  );

  test.for(KINDS)(
    "a job that loops for ever in a %s is killed when it is cancelled, and is not tried again",
    async (kind) => {
      const { tasks } = setUp({ kind });
      const { id } = await tasks.add({}, { name: "loop", attempts: 5 });
      await expect.poll(async () => (await tasks.get(id))?.state).toBe("active");
      expect(await tasks.cancel(id)).toEqual({ status: "asked" });
      expect(await tasks.waitFor(id)).toMatchObject({ status: "dead", error: { name: "JobCancelledError" } });
      expect(await run(tasks, "echo")).toMatchObject({ status: "done" });
    },
  );

  test.for(KINDS)("a job that exhausts its heap in a %s has failed for that reason", async (kind) => {
    const { tasks } = setUp({ kind, maxHeapBytes: 48 << 20 });
    const outcome = await run(tasks, "heap");
    expect(outcome).toMatchObject({ status: "dead", error: { name: "SandboxError", code: "SANDBOX_MEMORY" } });
    expect(outcome.status === "dead" && outcome.error.message).toContain("ran out of memory");
    expect(await run(tasks, "echo")).toMatchObject({ status: "done", result: { jobs: 1 } });
  });

  test("a process that takes more memory than it may, outside of its heap, is killed for that reason", async () => {
    const { tasks } = setUp({ kind: "process", maxResidentBytes: 400 << 20 });
    const outcome = await run(tasks, "buffers");
    expect(outcome).toMatchObject({ status: "dead", error: { name: "SandboxError", code: "SANDBOX_MEMORY" } });
    expect(outcome.status === "dead" && outcome.error.message).toMatch(/ran out of memory: its process had \d+ bytes/);
    expect(await run(tasks, "echo")).toMatchObject({ status: "done" });
  });

  test.for([
    ["thread", "exit", "ended with code 3"],
    ["process", "exit", "ended with code 3"],
    ["process", "kill", "was ended by SIGSEGV"],
    ["thread", "throwLater", "crashed: RangeError: thrown outside of the handler"],
    ["process", "throwLater", "crashed: RangeError: thrown outside of the handler"],
  ] as const)("a job that crashes its %s (%s) has failed: it %s", async ([kind, name, reason]) => {
    const { tasks } = setUp({ kind });
    const crashed = await run(tasks, name, { attempts: 2, id: "crashing" });
    expect(crashed).toMatchObject({ status: "dead", error: { name: "SandboxError", code: "SANDBOX_CRASHED" } });
    // With the stack of what was thrown.
    if (name === "throwLater") expect(crashed.status === "dead" && crashed.error.stack).toContain("handlers.ts");
    expect(crashed.status === "dead" && crashed.error.message).toContain(reason);
    expect(await tasks.get("crashing")).toMatchObject({ attemptsMade: 2 });
    expect(await run(tasks, "echo")).toMatchObject({ status: "done", result: { jobs: 1 } });
  });

  test.for(KINDS)("a handler in a %s that heeds its signal is not killed", async (kind) => {
    const { tasks } = setUp({ kind, killDelayMs: 60_000 });
    expect(await run(tasks, "echo")).toMatchObject({ result: { jobs: 1 } });
    const { id } = await tasks.add({}, { name: "heed" });
    await expect.poll(async () => (await tasks.get(id))?.state).toBe("active");
    await tasks.cancel(id);
    expect(await tasks.waitFor(id)).toMatchObject({ status: "dead", error: { name: "JobCancelledError" } });
    expect(await run(tasks, "echo")).toMatchObject({ result: { jobs: 2 } });
  });

  test.for(KINDS)("a worker that stops kills what does not end in its %s, and hands the job back", async (kind) => {
    const { tasks, worker } = setUp({ kind });
    const pid = ((await run(tasks, "echo")) as { result: { pid: number } }).result.pid;
    const { id } = await tasks.add({}, { name: "loop" });
    await expect.poll(async () => (await tasks.get(id))?.state).toBe("active");
    await worker.stop({ timeoutMs: 0 });
    expect(await tasks.get(id)).toMatchObject({ state: "waiting", attemptsMade: 0 });
    if (kind === "process") expect(isAlive(pid)).toBe(false);
  });
});

test("a sandbox is for a file: others are refused, and a file that cannot be loaded fails the job", async () => {
  const { open } = await import("../../../connection/open.ts");
  await using db = await open();
  expect(() => sandboxed(new URL("https://example.org/x.js"))).toThrow(InputError);
  expect(() => sandboxed("")).toThrow(InputError);
  expect(() => sandboxed("./x.js", { maxResidentBytes: 100 << 20 })).toThrow("a thread has no memory of its own");
  const tasks = new Queue<number, unknown>(db, "files");
  await using worker = new Worker(tasks, {
    missing: sandboxed("/nowhere/handler.js"),
    empty: sandboxed("data:text/javascript,export const x = 1"),
    inline: sandboxed("data:text/javascript,export default ({ data }) => data * 2", { kind: "process", maxJobs: 1 }),
    here: ({ data }) => data + 1,
    named: sandboxed("data:text/javascript,export const handler = ({ data }) => data * 3"),
    several: sandboxed("data:text/javascript,export default { several: ({ data }) => data * 4 }"),
  });
  worker.start();
  const missing = await tasks.addAndWait(1, { name: "missing" });
  expect(missing).toMatchObject({ status: "dead", error: { name: "SandboxError", code: "SANDBOX_NOT_STARTED" } });
  expect(missing.status === "dead" && missing.error.message).toContain("could not load file:///nowhere/handler.js");
  expect(await tasks.addAndWait(1, { name: "empty" })).toMatchObject({ error: { name: "SandboxError" } });
  expect(await tasks.addAndWait(4, { name: "inline" })).toEqual({ status: "done", result: 8 });
  expect(await tasks.addAndWait(5, { name: "inline" })).toEqual({ status: "done", result: 10 });
  expect(await tasks.addAndWait(4, { name: "named" })).toEqual({ status: "done", result: 12 });
  expect(await tasks.addAndWait(4, { name: "several" })).toEqual({ status: "done", result: 16 });
  expect(await tasks.addAndWait(4, { name: "here" })).toEqual({ status: "done", result: 5 });
});

test("a process whose worker was killed ends, even in the middle of a loop", { timeout: 60_000 }, async () => {
  const program = `
    import { open } from ${JSON.stringify(new URL("../../../connection/open.ts", import.meta.url).href)};
    import { Queue, Worker, sandboxed } from ${JSON.stringify(new URL("../index.ts", import.meta.url).href)};
    const tasks = new Queue(await open(), "orphans");
    const code = "export default async (_, { progress }) => { await progress(process.pid); for (;;); }";
    new Worker(tasks, sandboxed("data:text/javascript," + code, { kind: "process" })).start();
    const { id } = await tasks.add(1);
    for await (const event of await tasks.events({ from: "start", kinds: ["progress"] })) console.log(event.progress);
  `;
  const child = spawn(
    process.execPath,
    ["--conditions=source", "--import", "tsx", "--input-type=module", "-e", program],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let pid: number;
  try {
    const [data] = (await once(child.stdout, "data")) as [Buffer];
    pid = Number(data.toString());
    expect(isAlive(pid)).toBe(true);
  } finally {
    child.kill("SIGKILL");
  }
  await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false);
});
