/** Unchanged BullMQ, whose every step is a Lua script, on ioredis 5 and 6, over TCP and without a socket. */
import { FlowProducer, type Job, Queue, QueueEvents, RateLimitError, UnrecoverableError, Worker } from "bullmq";
import { Redis as Redis5 } from "ioredis5";
import { Redis as Redis6 } from "ioredis6";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectorFor, Engine } from "../../src/index.ts";

let engine: Engine;
let closing: (() => unknown)[];

beforeEach(async () => {
  engine = await Engine.open();
  closing = [];
});

afterEach(async () => {
  for (const close of closing.reverse()) await close();
  await engine.close();
});

const WAYS = {
  "over TCP": async () => ({ host: "127.0.0.1", port: (await engine.listen({ port: 0 })).port }),
  "without a socket": async () => ({ Connector: connectorFor(engine) }),
};

type Process = (job: Job, token?: string) => Promise<unknown>;

/** The two versions have the same interface as far as it is used here. */
const VERSIONS = { "ioredis 5": Redis5, "ioredis 6": Redis6 as unknown as typeof Redis5 };

const CASES = Object.entries(VERSIONS).flatMap(([version, Redis]) =>
  Object.entries(WAYS).map(([way, options]) => ({ name: `${version} ${way}`, Redis, options })),
);

describe.each(CASES)("BullMQ on $name", ({ Redis, options }) => {
  let connection: Redis5;

  beforeEach(async () => {
    connection = new Redis({ ...(await options()), maxRetriesPerRequest: null } as never);
    closing.push(() => connection.disconnect());
  });

  function kept<T extends { close(): Promise<unknown>; on(event: "error", listener: () => void): unknown }>(one: T): T {
    one.on("error", () => {});
    closing.push(() => one.close());
    return one;
  }

  const queue = (name = "q") => kept(new Queue(name, { connection }));
  const worker = (process: Process, more: object = {}, name = "q") =>
    kept(new Worker(name, process, { connection, ...more }));

  /** From the first event on, so that none is missed. */
  async function events(name = "q"): Promise<QueueEvents> {
    const made = kept(new QueueEvents(name, { connection, lastEventId: "0" }));
    await made.waitUntilReady();
    return made;
  }

  /** Resolves when a worker has finished so many jobs, well or not. */
  function finished(one: Worker, count: number): Promise<void> {
    return new Promise((resolve) => {
      let left = count;
      const done = () => {
        if (--left === 0) resolve();
      };
      one.on("completed", done);
      one.on("failed", (job) => {
        if (job?.finishedOn !== undefined) done();
      });
    });
  }

  it("runs a job and hands back what it returned", async () => {
    const q = queue();
    const seen = await events();
    const job = await q.add("sum", { a: 1, b: [2, 3] });
    expect(await job.getState()).toBe("waiting");
    worker(async ({ name, data }) => ({ name, sum: data.a + data.b[0] + data.b[1] }));
    expect(await job.waitUntilFinished(seen)).toEqual({ name: "sum", sum: 6 });
    expect(await job.getState()).toBe("completed");
    expect(await q.getJobCounts()).toMatchObject({ completed: 1, waiting: 0, active: 0, failed: 0 });
  });

  it("runs jobs added in bulk in order, several at a time if told to", async () => {
    const q = queue();
    const jobs = await q.addBulk(Array.from({ length: 50 }, (_, i) => ({ name: "n", data: { i } })));
    expect(jobs.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, i) => String(i + 1)));
    const order: number[] = [];
    const first = worker(async ({ data }) => void order.push(data.i), { autorun: false });
    const done = finished(first, 50);
    void first.run();
    await done;
    expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
    await first.close();

    await q.addBulk(Array.from({ length: 40 }, (_, i) => ({ name: "n", data: { i } })));
    let inside = 0;
    let most = 0;
    const second = worker(
      async () => {
        most = Math.max(most, ++inside);
        await connection.ping();
        inside--;
      },
      { concurrency: 8, autorun: false },
    );
    const doneToo = finished(second, 40);
    void second.run();
    await doneToo;
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
    expect(await q.getCompletedCount()).toBe(90);
  });

  it("holds a delayed job back until its time, or until it is promoted", async () => {
    const q = queue();
    const seen = await events();
    const soon = await q.add("soon", {}, { delay: 150 });
    const late = await q.add("late", {}, { delay: 3_600_000 });
    const later = await q.add("later", {}, { delay: 7_200_000 });
    expect(await q.getDelayedCount()).toBe(3);
    const startedAt: Record<string, number> = {};
    worker(async ({ name, timestamp, processedOn }) => {
      startedAt[name] = processedOn! - timestamp;
    });
    await soon.waitUntilFinished(seen);
    expect(startedAt.soon).toBeGreaterThanOrEqual(150);
    await late.promote();
    await late.waitUntilFinished(seen);
    await later.changeDelay(10);
    await later.waitUntilFinished(seen);
    expect(Object.keys(startedAt)).toEqual(["soon", "late", "later"]);
  });

  it("tries a failing job again, with a pause, and gives up in the end", async () => {
    const q = queue();
    const seen = await events();
    worker(async (job) => {
      if (job.name === "never") throw new UnrecoverableError("not this one");
      if (job.attemptsMade < job.data.fails) throw new Error(`attempt ${job.attemptsMade}`);
      return job.attemptsMade;
    });
    const options = { attempts: 3, backoff: { type: "exponential", delay: 10 } };
    const recovers = await q.add("job", { fails: 2 }, options);
    expect(await recovers.waitUntilFinished(seen)).toBe(2);
    const gives = await q.add("job", { fails: 9 }, options);
    await expect(gives.waitUntilFinished(seen)).rejects.toThrow("attempt 2");
    const never = await q.add("never", {}, options);
    await expect(never.waitUntilFinished(seen)).rejects.toThrow("not this one");
    const failed = await q.getFailed();
    expect(failed.map(({ id, attemptsMade }) => [id, attemptsMade])).toEqual([
      [never.id, 1],
      [gives.id, 3],
    ]);
    expect(failed[1]!.stacktrace).toHaveLength(3);
    const again = (await q.getJob(gives.id!))!;
    await again.updateData({ fails: 0 });
    await again.retry("failed");
    expect(await again.waitUntilFinished(seen)).toBeGreaterThanOrEqual(0);
  });

  it("goes by priority, and by age within one", async () => {
    const q = queue();
    await q.addBulk([
      { name: "c", data: {}, opts: { priority: 10 } },
      { name: "b1", data: {}, opts: { priority: 2 } },
      { name: "b2", data: {}, opts: { priority: 2 } },
      { name: "a", data: {} },
      { name: "b3", data: {}, opts: { priority: 2, lifo: true } },
      { name: "last", data: {}, opts: { priority: 5 } },
    ]);
    expect(await q.getCountsPerPriority([0, 2, 5, 10])).toEqual({ 0: 1, 2: 3, 5: 1, 10: 1 });
    const [last] = (await q.getJobs(["prioritized"])).filter(({ name }) => name === "last");
    await last!.changePriority({ priority: 2_000_000 });
    const order: string[] = [];
    const one = worker(async ({ name }) => void order.push(name), { autorun: false });
    const done = finished(one, 6);
    void one.run();
    await done;
    expect(order).toHaveLength(6);
    expect([order[0], order.at(-2), order.at(-1)]).toEqual(["a", "c", "last"]);
    expect(order.indexOf("b1")).toBeLessThan(order.indexOf("b2"));
  });

  it("runs a parent when its children are done, across queues", async () => {
    const flow = kept(new FlowProducer({ connection }));
    const seen = await events("parents");
    const tree = await flow.add({
      name: "root",
      queueName: "parents",
      children: [
        { name: "left", queueName: "children", data: { n: 1 } },
        {
          name: "right",
          queueName: "children",
          data: { n: 2 },
          children: [{ name: "deep", queueName: "children", data: { n: 3 } }],
        },
      ],
    });
    expect(await tree.job.getState()).toBe("waiting-children");
    const order: string[] = [];
    worker(
      async (job) => {
        order.push(job.name);
        const below = Object.values(await job.getChildrenValues<number>());
        return below.reduce((sum, n) => sum + n, job.data.n);
      },
      {},
      "children",
    );
    worker(async (job) => Object.values(await job.getChildrenValues<number>()).sort(), {}, "parents");
    expect(await tree.job.waitUntilFinished(seen)).toEqual([1, 5]);
    expect(order.indexOf("deep")).toBeLessThan(order.indexOf("right"));
    expect(await tree.job.getDependenciesCount()).toMatchObject({ processed: 2, unprocessed: 0 });

    const doomed = await flow.add({
      name: "doomed",
      queueName: "parents",
      children: [{ name: "child", queueName: "broken", opts: { failParentOnFailure: true } }],
    });
    worker(() => Promise.reject(new Error("broken child")), {}, "broken");
    await expect(doomed.job.waitUntilFinished(seen)).rejects.toThrow(/child .* failed/);
  });

  it("keeps to a rate limit", async () => {
    const q = queue();
    await q.addBulk(Array.from({ length: 6 }, (_, i) => ({ name: "n", data: { i } })));
    const at: number[] = [];
    const one = worker(async () => void at.push(performance.now()), {
      limiter: { max: 2, duration: 200 },
      autorun: false,
    });
    const done = finished(one, 6);
    void one.run();
    await done;
    expect(at[5]! - at[0]!).toBeGreaterThan(300);
    await one.close();

    const job = await q.add("limited", {});
    let calls = 0;
    const other = worker(
      async () => {
        if (++calls > 1) return;
        await other.rateLimit(50);
        throw new RateLimitError();
      },
      { limiter: { max: 100, duration: 100 }, autorun: false },
    );
    const doneToo = finished(other, 1);
    void other.run();
    await doneToo;
    expect(calls).toBe(2);
    expect(await job.getState()).toBe("completed");
  });

  it("repeats what a scheduler says", async () => {
    const q = queue();
    await q.upsertJobScheduler("tick", { every: 40 }, { name: "tick", data: { n: 1 } });
    await q.upsertJobScheduler("yearly", { pattern: "0 0 1 1 *" }, { name: "yearly" });
    expect((await q.getJobSchedulers()).map(({ key }) => key).sort()).toEqual(["tick", "yearly"]);
    let ticks = 0;
    const enough = new Promise<void>((resolve) => {
      worker(async ({ name, data }) => {
        if (name === "tick" && data.n === 1 && ++ticks === 3) resolve();
      });
    });
    await enough;
    expect(await q.removeJobScheduler("tick")).toBe(true);
    expect(await q.removeJobScheduler("tick")).toBe(false);
    expect(await q.getJobSchedulersCount()).toBe(1);
    expect(await q.getDelayedCount()).toBeGreaterThanOrEqual(1);
  });

  it("tells what happens, in order", async () => {
    const q = queue();
    const seen = await events();
    const log: string[] = [];
    for (const name of ["added", "waiting", "active", "progress", "completed", "failed", "drained"] as const) {
      seen.on(name, ((event: { jobId?: string; data?: unknown }) => {
        log.push(name === "progress" ? `progress ${JSON.stringify(event.data)}` : name);
      }) as never);
    }
    const drained = new Promise<void>((resolve) => seen.once("drained", () => resolve()));
    worker(async (job) => {
      await job.updateProgress(50);
      await job.updateProgress({ step: "last" });
      await job.log("first line");
      await job.log("second line");
    });
    const job = await q.add("job", { some: "data" });
    await job.waitUntilFinished(seen);
    await drained;
    expect(log).toEqual([
      "added",
      "waiting",
      "active",
      "progress 50",
      'progress {"step":"last"}',
      "completed",
      "drained",
    ]);
    expect((await q.getJobLogs(job.id!)).logs).toEqual(["first line", "second line"]);
    expect((await q.getJob(job.id!))?.progress).toEqual({ step: "last" });
  });

  it("stops while it is paused", async () => {
    const q = queue();
    const seen = await events();
    await q.pause();
    const ran: string[] = [];
    worker(async ({ name }) => void ran.push(name));
    const job = await q.add("job", {});
    await q.add("urgent", {}, { priority: 1 });
    expect(await q.isPaused()).toBe(true);
    expect(ran).toEqual([]);
    await q.resume();
    await job.waitUntilFinished(seen);
    expect(ran).toContain("job");
    expect(await q.isPaused()).toBe(false);
  });

  it("drops what is asked for twice, and what is old", async () => {
    const q = queue();
    const first = await q.add("job", { n: 1 }, { jobId: "one" });
    const second = await q.add("job", { n: 2 }, { jobId: "one" });
    expect([first.id, second.id, await q.getWaitingCount()]).toEqual(["one", "one", 1]);
    const debounced = await q.add("job", {}, { deduplication: { id: "d", ttl: 60_000 } });
    const dropped = await q.add("job", {}, { deduplication: { id: "d", ttl: 60_000 } });
    expect(dropped.id).toBe(debounced.id);
    await q.addBulk(Array.from({ length: 10 }, () => ({ name: "n", data: {}, opts: { removeOnComplete: 3 } })));
    const one = worker(async () => {}, { autorun: false });
    const done = finished(one, 12);
    void one.run();
    await done;
    await one.close();
    expect(await q.getCompletedCount()).toBe(3);
    expect(await q.clean(0, 100, "completed")).toHaveLength(3);
    await q.addBulk(Array.from({ length: 5 }, () => ({ name: "n", data: {} })));
    await q.add("late", {}, { delay: 100_000 });
    const [job] = await q.getWaiting();
    await job!.remove();
    await q.drain(true);
    expect(await q.getJobCountByTypes("waiting", "delayed")).toBe(0);
    await q.add("last", {});
    await q.obliterate({ force: true });
    expect(await connection.keys("bull:q:*")).toEqual(["bull:q:de:d"]);
  });

  it("gives the job of a worker that went silent to another one", async () => {
    const q = queue();
    const job = await q.add("job", {});
    const silent = worker(() => new Promise(() => {}), {
      lockDuration: 50,
      skipLockRenewal: true,
      skipStalledCheck: true,
    });
    await new Promise((resolve) => silent.once("active", resolve));
    const heir = worker(async () => "done by the other", { stalledInterval: 60, autorun: false });
    const stalled = new Promise((resolve) => heir.once("stalled", resolve));
    const done = finished(heir, 1);
    void heir.run();
    expect(await stalled).toBe(job.id);
    await done;
    expect((await q.getJob(job.id!))?.returnvalue).toBe("done by the other");
    await silent.close(true);
  });

  it("counts what was done, minute by minute", async () => {
    const q = queue();
    await q.addBulk(Array.from({ length: 5 }, () => ({ name: "n", data: {} })));
    const one = worker(async () => {}, { metrics: { maxDataPoints: 60 }, autorun: false });
    const done = finished(one, 5);
    void one.run();
    await done;
    expect((await q.getMetrics("completed")).meta.count).toBe(5);
    expect(await q.getWorkersCount()).toBe(1);
  });
});
