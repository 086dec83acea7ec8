/** Jobs of a real BullMQ, moved and worked off: each once, whatever happens to the move. */
import { Queue as BullQueue, Worker as BullWorker, FlowProducer } from "bullmq";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, type ServerProcess, startRedis } from "../../../../tests/kit/servers.ts";
import { InputError, open, type Store } from "../../../index.ts";
import { Queue, Worker } from "../index.ts";
import { importFromBullMq } from "./index.ts";

describe.runIf(installed("redis-server"))("a move from BullMQ", () => {
  let redis: ServerProcess;
  let from: Store;
  let store: Store;
  const bulls: BullQueue[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    from = await open(redis.url);
    store = await open();
  });

  afterAll(async () => {
    await Promise.all(bulls.map((bull) => bull.close()));
    await from?.close();
    await store?.close();
    await redis?.stop();
  });

  const connection = () => ({ host: "127.0.0.1", port: redis.port });

  function bullQueue(name: string): BullQueue {
    const bull = new BullQueue(name, { connection: connection() });
    bulls.push(bull);
    return bull;
  }

  test("10 000 jobs are worked off, each once, while the move is cut off again and again", async () => {
    const bull = bullQueue("many");
    const count = 10_000;
    for (let at = 0; at < count; at += 1_000) {
      await bull.addBulk(
        Array.from({ length: 1_000 }, (_, nth) => ({
          name: "job",
          data: { n: at + nth },
          opts: nth % 10 === 0 ? { delay: 1 } : nth % 10 === 1 ? { priority: 3 } : { removeOnComplete: true },
        })),
      );
    }
    const runs = new Map<number, number>();
    const ran = ({ n }: { n: number }): null => {
      runs.set(n, (runs.get(n) ?? 0) + 1);
      return null;
    };
    const queue = new Queue<{ n: number }, null>(store, "many", { defaults: { keep: false } });
    const worker = new Worker(queue, ({ data }) => ran(data), { concurrency: 100 });
    worker.start();
    // After each part the answer to its last step is lost, as in a crash: the same part is found again by the next move.
    let isOver = false;
    for (let parts = 0; !isOver; parts++) {
      const cut = cutBeforeForgetting(from, parts % 3 === 2 ? 0 : 1 + (parts % 2));
      isOver = await importFromBullMq(store, { from: cut, queue: "many" }).then(
        () => true,
        (error: Error) => {
          expect(error.message).toBe("cut");
          return false;
        },
      );
    }
    await expect.poll(() => runs.size).toBe(count);
    await expect.poll(async () => (await queue.counts()).waiting + (await queue.counts()).active).toBe(0);
    await worker.stop();
    expect([...runs.values()].every((times) => times === 1)).toBe(true);
    expect(await bull.getJobCounts("wait", "delayed", "prioritized")).toEqual({ wait: 0, delayed: 0, prioritized: 0 });
    const left = (await from.keys("bull:many:*")).sort();
    expect(left).not.toContain("bull:many:cinnabar-moving");
    expect(left.filter((key) => /:\d+$/.test(key))).toEqual([]);
  });

  test("order, options, delays and deduplication go along", async () => {
    const bull = bullQueue("kinds");
    await bull.add("second", { n: 2 });
    await bull.add(
      "first",
      { n: 1 },
      { lifo: true, attempts: 4, backoff: { type: "exponential", delay: 500, jitter: 0.5 } },
    );
    await bull.add("last", { n: 5 }, { priority: 7 });
    await bull.add("fourth", { n: 4 }, { priority: 2, jobId: "chosen" });
    await bull.add("third", { n: 3 }, { deduplication: { id: "one" } });
    const dueMs = Date.parse("2100-01-01");
    await bull.add(
      "later",
      { n: 6 },
      { delay: dueMs - Date.now(), backoff: { type: "fixed", delay: 70 }, attempts: 2 },
    );
    const progress: number[] = [];
    const moved = await importFromBullMq(store, {
      from: redis.url,
      queue: "kinds",
      onProgress: ({ waiting, delayed }) => progress.push(waiting + delayed),
    });
    expect(moved).toEqual({ waiting: 5, delayed: 1, schedules: 0, skipped: [] });
    expect(progress).toEqual([6]);
    const queue = new Queue<{ n: number }, number>(store, "kinds");
    expect((await queue.add({ n: 0 }, { dedup: { id: "one" } })).status).toBe("duplicate");
    expect((await queue.add({ n: 0 }, { id: "chosen" })).status).toBe("exists");
    const [later] = (await queue.list("delayed")).items;
    expect(later).toMatchObject({ name: "later", data: { n: 6 }, attempts: 2 });
    expect(Math.abs((later?.dueAt?.getTime() ?? 0) - dueMs)).toBeLessThan(60_000);
    const order: number[] = [];
    const names: (string | null)[] = [];
    const worker = new Worker(queue, ({ data, name, attempts }) => {
      order.push(data.n);
      names.push(name);
      return attempts;
    });
    worker.start();
    await expect.poll(() => order).toEqual([1, 2, 3, 4, 5]);
    expect(names).toEqual(["first", "second", "third", "fourth", "last"]);
    await worker.stop();
    expect((await queue.get("2"))?.attempts).toBe(4);
  });

  test("job schedulers go on in their rhythm, and nothing that they made ahead of time runs twice", async () => {
    const bull = bullQueue("rhythm");
    await bull.upsertJobScheduler(
      "tick",
      { every: 3_600_000, limit: 10 },
      { name: "tick", data: { x: 1 }, opts: { attempts: 2 } },
    );
    await bull.upsertJobScheduler(
      "night",
      { pattern: "0 3 * * *", tz: "Europe/Rome" },
      { name: "night", data: { y: 1 } },
    );
    const [night] = (await bull.getJobSchedulers()).filter(({ key }) => key === "night");
    expect(await importFromBullMq(store, { from, queue: "rhythm" })).toMatchObject({
      waiting: 1,
      delayed: 0,
      schedules: 2,
    });
    expect(await importFromBullMq(store, { from, queue: "rhythm" })).toMatchObject({ waiting: 0, schedules: 0 });
    const queue = new Queue<unknown, number>(store, "rhythm");
    const moved = await queue.getSchedule("night");
    expect(moved).toMatchObject({
      cron: "0 3 * * *",
      timeZone: "Europe/Rome",
      data: { y: 1 },
      options: { name: "night" },
    });
    expect(moved?.nextAt.getTime()).toBe(night?.next);
    const tick = await queue.getSchedule("tick");
    expect(tick).toMatchObject({ everyMs: 3_600_000, limit: 9, options: { name: "tick", attempts: 2 } });
    // The job that is due now was moved as a job; the next one is an hour later.
    expect(tick!.nextAt.getTime()).toBeGreaterThan(Date.now());
    const ran: unknown[] = [];
    const worker = new Worker(queue, ({ data }) => ran.push(data)).start();
    await expect.poll(() => ran).toEqual([{ x: 1 }]);
    await worker.stop();
    expect(await bull.getJobSchedulersCount()).toBe(0);
  });

  test("jobs of flows stay, active ones are finished by BullMQ, and a paused queue stays paused", async () => {
    const flows = new FlowProducer({ connection: connection() });
    await flows.add({
      name: "parent",
      queueName: "flows",
      children: [{ name: "child", queueName: "flows", data: {} }],
    });
    const bull = bullQueue("flows");
    let finish = (): void => {};
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const busy = bullQueue("busy");
    await busy.add("active", {});
    const begun = new Promise<void>((resolve) => {
      const worker = new BullWorker(
        "busy",
        async () => {
          resolve();
          await held;
        },
        { connection: connection() },
      );
      worker.on("completed", () => void worker.close());
    });
    await begun;
    await busy.pause();
    await busy.add("waiting", {});
    const moved = await importFromBullMq(store, { from, queue: "flows" });
    expect(moved).toMatchObject({ waiting: 0, skipped: [{ reason: expect.stringContaining("flow") }] });
    expect(await bull.getWaitingCount()).toBe(1);
    expect(await importFromBullMq(store, { from, queue: "busy" })).toMatchObject({ waiting: 1 });
    expect(await busy.getActiveCount()).toBe(1);
    expect((await new Queue(store, "busy").counts()).waiting).toBe(1);
    expect((await new Queue(store, "busy").counts()).paused).toBe(true);
    finish();
    await expect.poll(() => busy.getCompletedCount()).toBe(1);
    await flows.close();
  });

  test("a queue that is full keeps what does not fit in BullMQ, and mistakes are told", async () => {
    const bull = bullQueue("small");
    await bull.addBulk([1, 2, 3].map((n) => ({ name: "x", data: { n } })));
    const queue = new Queue<{ n: number }, null>(store, "small");
    await queue.configure({ maxWaiting: 2 });
    await expect(importFromBullMq(store, { from, queue: "small" })).rejects.toMatchObject({ name: "QueueFullError" });
    expect((await queue.counts()).waiting).toBe(0);
    await queue.configure({ maxWaiting: 10 });
    expect(await importFromBullMq(store, { from, queue: "small" })).toMatchObject({ waiting: 3 });
    expect((await queue.counts()).waiting).toBe(3);
    await expect(importFromBullMq(store, { from, queue: "small", name: "x" } as never)).rejects.toThrow(InputError);
  });
});

/** A store whose script that forgets jobs fails before it runs, once so many have run. */
function cutBeforeForgetting(store: Store, after: number): Store {
  let left = after;
  return new Proxy(store, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name !== "run" || typeof value !== "function")
        return typeof value === "function" ? value.bind(target) : value;
      return (script: { readonly name: string }, ...rest: unknown[]) => {
        if (script.name === "bullmq.forget" && left-- === 0) return Promise.reject(new Error("cut"));
        return value.call(target, script, ...rest);
      };
    },
  });
}
