/** What queues promise when clocks are set. */
import { expect } from "vitest";
import { type JobOptions, Queue, Worker } from "../../../src/components/queues/index.ts";
import { cycle } from "../../../src/components/queues/scripts/cycle.ts";
import { joinSession } from "../../../src/components/queues/scripts/sessions.ts";
import type { ClockedStore } from "../../kit/clocked-store.ts";
import { LEASE_MS, LOOK_MS, NOTICED_MS, type Promised, promised } from "./promised.ts";

/** A queue, and the numbers of the jobs that a worker of it has run. */
async function working(world: ClockedStore): Promise<{ tasks: Queue<number>; ran: number[]; end(): Promise<void> }> {
  const tasks = new Queue<number>(world.store, "tasks");
  const ran: number[] = [];
  const worker = new Worker<number>(tasks, ({ data }) => void ran.push(data), { leaseMs: LEASE_MS }).start();
  await world.pass(NOTICED_MS);
  return { tasks, ran, end: () => worker.stop() };
}

function delayed(options: (world: ClockedStore) => JobOptions, runsAfterMs: (stepMs: number) => number): Promised {
  return promised(async (world, stepMs) => {
    const { tasks, ran, end } = await working(world);
    await tasks.add(1, options(world));
    world.step(stepMs);
    await world.pass(runsAfterMs(stepMs) - 1_000);
    expect(ran).toEqual([]);
    await world.pass(1_000 + LOOK_MS);
    expect(ran).toEqual([1]);
    await end();
  });
}

export const queues: Record<string, Promised> = {
  "a delayed job runs after its delay, or early by a step forwards": delayed(
    () => ({ delayMs: 20_000 }),
    (stepMs) => 20_000 - Math.max(stepMs, 0),
  ),
  "a job with a date runs when the clock says so": delayed(
    ({ nowMs }) => ({ at: nowMs + 20_000 }),
    (stepMs) => 20_000 - stepMs,
  ),
  "a job that failed is tried again after its backoff": promised(async (world, stepMs) => {
    const tasks = new Queue<number>(world.store, "tasks");
    let tries = 0;
    const handler = (): void => {
      if (++tries === 1) throw new Error("the first attempt fails");
    };
    const worker = new Worker<number>(tasks, handler, { leaseMs: LEASE_MS }).start();
    await tasks.add(1, { attempts: 2, backoff: 15_000 });
    await world.pass(NOTICED_MS);
    expect(tries).toBe(1);
    world.step(stepMs);
    await world.pass(15_000 + LOOK_MS);
    expect(tries).toBe(2);
    await worker.stop();
  }),
  "a schedule by interval goes on": promised(async (world, stepMs) => {
    const { tasks, ran, end } = await working(world);
    await tasks.schedule("tick", { everyMs: 10_000 }, 7);
    await world.pass(25_000);
    expect(ran).toHaveLength(2);
    world.step(stepMs);
    await world.pass(50_000 + LOOK_MS);
    expect(ran.length).toBeGreaterThanOrEqual(7);
    expect(ran.length).toBeLessThanOrEqual(9);
    await end();
  }),
  "a schedule by a calendar goes on": promised(async (world, stepMs) => {
    const { tasks, ran, end } = await working(world);
    await tasks.schedule("tick", { cron: "* * * * *" }, 7);
    await world.pass(130_000);
    expect(ran).toHaveLength(2);
    world.step(stepMs);
    await world.pass(180_000 + LOOK_MS);
    expect(ran.length).toBeGreaterThanOrEqual(5);
    expect(ran.length).toBeLessThanOrEqual(6);
    await end();
  }),
  "a dead worker's job runs again after its lease": promised(async (world, stepMs) => {
    const tasks = new Queue<number>(world.store, "tasks");
    await tasks.add(1);
    const { keys } = tasks.shards[0]!;
    const { session } = await world.store.run(joinSession, {
      ...keys,
      session: "",
      leaseMs: LEASE_MS,
      worker: "w",
      figures: "{}",
      held: [],
    });
    const params = { session, leaseMs: LEASE_MS, look: 1, most: 1, finished: [] };
    expect((await world.store.run(cycle, { ...keys, ...params })).jobs).toHaveLength(4);
    const { ran, end } = await working(world);
    world.step(stepMs);
    await world.pass(LEASE_MS + LOOK_MS);
    expect(ran).toEqual([1]);
    await end();
  }),
  "a living worker keeps its jobs": promised(async (world, stepMs) => {
    const tasks = new Queue<number>(world.store, "tasks");
    const lost: string[] = [];
    let runs = 0;
    let finish = (): void => {};
    const handler = (): Promise<void> => {
      runs += 1;
      return new Promise((resolve) => {
        finish = resolve;
      });
    };
    const worker = new Worker<number>(tasks, handler, { leaseMs: 30_000 }).start();
    worker.on("lost", (id) => void lost.push(id));
    const other = new Worker<number>(new Queue(await world.another(), "tasks"), handler, { leaseMs: 30_000 }).start();
    const { id } = await tasks.add(1);
    await world.until(() => runs === 1);
    world.step(stepMs);
    await world.pass(60_000);
    finish();
    await world.until(async () => (await tasks.get(id))?.state === "done");
    expect([runs, lost]).toEqual([1, []]);
    await Promise.all([worker.stop(), other.stop()]);
  }),
  "rate limits, of the queue and of groups, hold and refuse for a window at most": promised(async (world, stepMs) => {
    const { tasks, ran, end } = await working(world);
    await tasks.configure({ rate: { limit: 4, windowMs: 5_000 }, groupRate: { limit: 2, windowMs: 5_000 } });
    for (let n = 0; n < 12; n++) await tasks.add(n, { group: n % 2 === 0 ? "a" : "b" });
    await world.pass(100);
    expect(ran).toHaveLength(4);
    world.step(stepMs);
    await world.pass(100);
    if (stepMs < 0) expect(ran).toHaveLength(4);
    await world.pass(5_000 + LOOK_MS);
    expect(ran.length).toBeGreaterThanOrEqual(8);
    await world.pass(5_000 + LOOK_MS);
    expect(ran).toHaveLength(12);
    await end();
  }),
  "a deduplication window ends after its length": promised(async (world, stepMs) => {
    const { tasks, end } = await working(world);
    const once = { dedup: { id: "welcome", windowMs: 15_000 } };
    expect((await tasks.add(1, once)).status).toBe("added");
    world.step(stepMs);
    expect((await tasks.add(2, once)).status).toBe("duplicate");
    await world.pass(15_000 + LOOK_MS);
    expect((await tasks.add(3, once)).status).toBe("added");
    await end();
  }),
};
