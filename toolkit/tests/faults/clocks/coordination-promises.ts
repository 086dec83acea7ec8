/** What elections, latches, barriers, ids, the executor and topics promise when clocks are set. */
import { expect } from "vitest";
import { type ArriveOutcome, Barriers } from "../../../src/components/barriers/index.ts";
import { barrierKeys } from "../../../src/components/barriers/keys.ts";
import { arrive } from "../../../src/components/barriers/scripts.ts";
import { Elections, type Term } from "../../../src/components/elections/index.ts";
import { Executor } from "../../../src/components/executor/index.ts";
import { Ids, ulid, uuid7 } from "../../../src/components/ids/index.ts";
import { Latches } from "../../../src/components/latches/index.ts";
import { DurableTopic } from "../../../src/components/topics/index.ts";
import { durableKeys, groupKeys } from "../../../src/components/topics/keys.ts";
import { take } from "../../../src/components/topics/scripts.ts";
import { LEASE_MS, LOOK_MS, NOTICED_MS, type Promised, promised } from "./promised.ts";

const elections: Record<string, Promised> = {
  "a dead leader is replaced after its lease, and fences grow": promised(async (world, stepMs) => {
    // The lease of a process that is gone: nobody renews it.
    const dead = await world.another();
    const first = (await new Elections(dead).campaign("indexer", { leaseMs: LEASE_MS }))!;
    await dead.close();
    world.step(stepMs);
    let next: Term | null = null;
    void new Elections(world.store).campaign("indexer", { leaseMs: LEASE_MS }).then((term) => {
      next = term;
    });
    await world.pass(0);
    await world.pass(LEASE_MS + 1_000);
    expect(next).not.toBeNull();
    expect(next!.fence).toBeGreaterThan(first.fence);
  }),
  "a living leader goes on, and nobody else leads": promised(async (world, stepMs) => {
    const leaseMs = 30_000;
    const term = (await new Elections(world.store).campaign("indexer", { leaseMs }))!;
    world.step(stepMs);
    const others = new Elections(await world.another());
    for (let nth = 0; nth < 10; nth++) {
      expect(await others.campaign("indexer", { waitMs: 0 })).toBeNull();
      await world.pass(leaseMs / 4);
    }
    expect(term.lost).toBe(false);
    expect(await term.resign()).toBe(true);
  }),
};

const barriers: Record<string, Promised> = {
  "a dead party does not count after its lease": promised(async (world, stepMs) => {
    const keys = barrierKeys("barrier", "start");
    const token = `${"x".repeat(22)}:`;
    const how = { token, parties: 3, leaseMs: LEASE_MS, keepMs: 60_000, again: "", channel: "c" };
    await world.store.run(arrive, { ...keys, ...how });
    world.step(stepMs);
    const made = new Barriers(world.store, { parties: 3, leaseMs: LEASE_MS });
    const ending = new AbortController();
    // It waits, and what is further in the future than it can be was brought forward when it came.
    const waiting = made.arrive("start", { signal: ending.signal }).catch(() => null);
    await world.pass(LEASE_MS + 1_000);
    const brief = made.arrive("start", { timeoutMs: 100 });
    await world.pass(200);
    expect(await brief).toEqual({ status: "timeout" });
    ending.abort();
    expect(await waiting).toBeNull();
  }),
  "living parties meet": promised(async (world, stepMs) => {
    const outcomes: ArriveOutcome[] = [];
    const made = new Barriers(world.store, { parties: 2, leaseMs: LEASE_MS });
    void made.arrive("start").then((outcome) => outcomes.push(outcome));
    await world.pass(1_000);
    world.step(stepMs);
    await world.pass(3 * LEASE_MS);
    expect(outcomes).toEqual([]);
    void new Barriers(await world.another(), { parties: 2, leaseMs: LEASE_MS })
      .arrive("start")
      .then((outcome) => outcomes.push(outcome));
    await world.pass(6_000);
    expect(outcomes.map(({ status }) => status)).toEqual(["released", "released"]);
  }),
};

const topics: Record<string, Promised> = {
  "ids grow, and messages keep their order": promised(async (world, stepMs) => {
    const topic = new DurableTopic<number>(world.store, "orders");
    const before = await topic.publish(1);
    world.step(stepMs);
    const after = await topic.publish(2);
    const [ms, number] = after.id.split("-").map(Number);
    expect(ms).toBeGreaterThanOrEqual(Number(before.id.split("-")[0]));
    expect(number).toBe(2);
    expect((await topic.list()).items.map(({ data }) => data)).toEqual([1, 2]);
  }),
  "a dead consumer's messages are delivered after its lease": promised(async (world, stepMs) => {
    const topic = new DurableTopic<number>(world.store, "orders", { pollMs: 1_000 });
    await topic.publish(1);
    const lives = { idleMs: 3_600_000, metaMs: 3_600_000 };
    const limits = { leaseMs: LEASE_MS, attempts: 5, maxPending: 10, keepDead: 10 };
    const keys = { ...durableKeys("topic", "orders"), ...groupKeys("topic", "orders", "g") };
    const dead = { name: "g", from: "start", most: 1, token: "dead", lost: "" };
    await world.store.run(take, { ...keys, ...dead, ...lives, ...limits });
    world.step(stepMs);
    const got: number[] = [];
    const subscriber = topic.subscriber("g", { leaseMs: LEASE_MS }, ({ attempt }) => void got.push(attempt)).start();
    await world.pass(LEASE_MS + 2_000);
    expect(got).toEqual([2]);
    await subscriber.stop();
  }),
  "what failed is tried again after its pause": promised(async (world, stepMs) => {
    const topic = new DurableTopic<number>(world.store, "orders", { pollMs: 1_000 });
    await topic.publish(1);
    let tries = 0;
    const subscriber = topic.subscriber("g", { from: "start", leaseMs: 60_000, backoffMs: 15_000 }, () => {
      if (++tries === 1) throw new Error("the first attempt fails");
    });
    subscriber.start();
    await world.pass(NOTICED_MS);
    expect(tries).toBe(1);
    world.step(stepMs);
    await world.pass(17_000);
    expect(tries).toBe(2);
    await subscriber.stop();
  }),
};

export const coordination: Record<string, Record<string, Promised>> = {
  elections,
  barriers,
  topics,
  latches: {
    "opens when so many have counted": promised(async (world, stepMs) => {
      const latches = new Latches(world.store);
      await latches.create("ready", { count: 2 });
      let status = "";
      void latches.waitFor("ready").then((outcome) => {
        status = outcome.status;
      });
      await latches.countDown("ready", { id: "a" });
      world.step(stepMs);
      await latches.countDown("ready", { id: "a" });
      await world.pass(10);
      expect(status).toBe("");
      await latches.countDown("ready", { id: "b" });
      await world.pass(10);
      expect(status).toBe("open");
    }),
  },
  ids: {
    grow: promised(async (world, stepMs) => {
      const ids = new Ids(world.store);
      const before = [await ids.next("orders"), ulid(world.store.clock), uuid7(world.store.clock)] as const;
      world.step(stepMs);
      expect(await ids.next("orders")).toBeGreaterThan(before[0]);
      expect(ulid(world.store.clock) > before[1]).toBe(true);
      expect(uuid7(world.store.clock) > before[2]).toBe(true);
    }),
  },
  executor: {
    "a delayed task runs after its delay, or early by a step forwards": promised(async (world, stepMs) => {
      let runs = 0;
      const executor = new Executor(world.store, "main", {
        tasks: { work: () => void runs++ },
        leaseMs: LEASE_MS,
      }).start();
      await world.pass(NOTICED_MS);
      await executor.run("work", undefined, { delayMs: 20_000 });
      world.step(stepMs);
      await world.pass(19_000 - Math.max(stepMs, 0));
      expect(runs).toBe(0);
      await world.pass(1_000 + LOOK_MS);
      expect(runs).toBe(1);
      await executor.stop();
    }),
  },
};
