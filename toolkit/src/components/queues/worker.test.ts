/** The contract of workers: retries, timeouts, cancellation, stopping, leases, schedules, flows, events; on every backend. */
import { afterEach, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { manualClock } from "../../../tests/kit/manual-clock.ts";
import { ClosedError, ConnectionError } from "../../base/errors.ts";
import { LAYOUTS_KEY, LayoutError } from "../../base/layout.ts";
import { open } from "../../connection/open.ts";
import { Sessions } from "../sessions/index.ts";
import {
  type Handler,
  type JobContext,
  Queue,
  type QueueEvent,
  RetryLaterError,
  UnrecoverableError,
  Worker,
  type WorkerOptions,
} from "./index.ts";
import { cycle } from "./scripts/cycle.ts";
import { joinSession } from "./scripts/sessions.ts";

interface Task {
  readonly n: number;
}

/** A promise and what settles it. */
function gate<V = void>() {
  let open!: (value: V) => void;
  const passed = new Promise<V>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });

describeBackends("workers", (backend) => {
  const workers: Worker<never, never>[] = [];
  const queue = <R = unknown>(name = "tasks", options = {}) => new Queue<Task, R>(backend.store, name, options);
  const work = <T, R>(on: Queue<T, R>, handler: Handler<T, R>, options: WorkerOptions<T> = {}): Worker<T, R> => {
    const worker = new Worker(on, handler, options);
    workers.push(worker as unknown as Worker<never, never>);
    return worker.start();
  };
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeoutMs: 2_000 })));
  });

  test("a worker on a closed store says so, and so does everything that works in the background", async () => {
    const store = await backend.open();
    const worker = new Worker(new Queue(store, "closed"), () => 1);
    const cleaner = new Sessions(store).cleaner();
    const running = new Worker(new Queue(store, "closed"), () => 1).start();
    await store.close();
    expect(() => worker.start()).toThrow(ClosedError);
    expect(() => worker.start()).toThrow('the store of the queue "closed" is closed');
    expect(() => cleaner.start()).toThrow(ClosedError);
    // One that was running has ended with the store.
    await running.stop();
    expect(running.start()).toBe(running);
  });

  // ---------------------------------------------------------------------------------------------- failures

  test("a job that fails is tried again with its backoff, then goes to the dead letters, and can be replayed", async () => {
    const tasks = queue<string>();
    let sound = false;
    const attempts: number[] = [];
    const failures: boolean[] = [];
    const handler: Handler<Task, string> = ({ attempt, lastError }) => {
      attempts.push(attempt);
      if (attempt > 1) expect(lastError?.message).toBe(`attempt ${attempt - 1}`);
      if (!sound) throw new Error(`attempt ${attempt}`);
      return "well";
    };
    work(tasks, handler).on("failed", (_job, _error, { willRetry }) => failures.push(willRetry));
    const { id } = await tasks.add({ n: 1 }, { attempts: 3, backoff: { type: "exponential", delayMs: 20 } });
    expect(await tasks.waitFor(id)).toMatchObject({ status: "dead", error: { name: "Error", message: "attempt 3" } });
    expect(attempts).toEqual([1, 2, 3]);
    expect(failures).toEqual([true, true, false]);
    const job = (await tasks.get(id))!;
    expect(job).toMatchObject({ state: "dead", attemptsMade: 3 });
    expect(job.finishedAt!.getTime() - job.createdAt.getTime()).toBeGreaterThanOrEqual(60);
    expect((await tasks.list("dead")).items).toMatchObject([{ id }]);
    sound = true;
    expect(await tasks.replayDead()).toBe(1);
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: "well" });
    expect(await tasks.retry(id)).toBe(true);
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: "well" });
    expect(await tasks.counts()).toMatchObject({ done: 1, dead: 0 });
  });

  test("some errors are final, some say when to come back, and a worker may work out the backoff itself", async () => {
    const tasks = queue();
    let later = 0;
    const asked: number[] = [];
    work(
      tasks,
      ({ data, attempt }) => {
        if (data.n === 1) throw new UnrecoverableError("never");
        if (data.n === 2 && ++later < 3) throw new RetryLaterError(10);
        if (data.n === 3 && attempt < 3) throw new Error("again");
        if (data.n === 4) throw new Error("given up");
        return attempt;
      },
      {
        concurrency: 4,
        backoffs: {
          own: (made, _error, job) => {
            asked.push(made);
            return job.data.n === 4 ? -1 : 5;
          },
        },
      },
    );
    const options = { attempts: 5, backoff: { type: "custom", name: "own" } as const };
    const added = await tasks.addMany([1, 2, 3, 4].map((n) => ({ data: { n }, options })));
    expect(await tasks.waitFor(added[0]!.id)).toMatchObject({ status: "dead", error: { message: "never" } });
    // Coming back later is no attempt.
    expect(await tasks.waitFor(added[1]!.id)).toEqual({ status: "done", result: 1 });
    expect(await tasks.waitFor(added[2]!.id)).toEqual({ status: "done", result: 3 });
    expect(await tasks.waitFor(added[3]!.id)).toMatchObject({ status: "dead", error: { message: "given up" } });
    expect([...asked].sort()).toEqual([1, 1, 2]);
  });

  test("an attempt that takes too long is aborted and has failed", async () => {
    const tasks = queue();
    const reasons: string[] = [];
    work(tasks, async (_job, { signal }) => {
      await untilAborted(signal).catch((error) => {
        reasons.push(error.name);
        throw error;
      });
    });
    const { id } = await tasks.add({ n: 1 }, { attempts: 2, timeoutMs: 30 });
    expect(await tasks.waitFor(id)).toMatchObject({ status: "dead", error: { name: "JobTimeoutError" } });
    expect(reasons).toEqual(["JobTimeoutError", "JobTimeoutError"]);
  });

  test("a cancelled job is aborted if it runs and not tried again, and never runs if it waited", async () => {
    const tasks = queue();
    const begun = gate();
    const ran: number[] = [];
    work(tasks, async ({ data }, { signal }) => {
      ran.push(data.n);
      begun.open();
      await untilAborted(signal);
    });
    const running = await tasks.add({ n: 1 }, { attempts: 5 });
    const waiting = await tasks.add({ n: 2 });
    await begun.passed;
    expect(await tasks.cancel(waiting.id)).toEqual({ status: "cancelled" });
    expect(await tasks.cancel(running.id)).toEqual({ status: "asked" });
    expect(await tasks.waitFor(running.id)).toMatchObject({ status: "dead", error: { name: "JobCancelledError" } });
    expect(await tasks.waitFor(waiting.id)).toMatchObject({ status: "dead", error: { name: "Cancelled" } });
    expect(await tasks.cancel(running.id)).toEqual({ status: "finished" });
    expect(await tasks.cancel("nobody")).toEqual({ status: "not-found" });
    expect(ran).toEqual([1]);
  });

  test("progress and logs can be seen while a job runs; logs are kept to a bound", async () => {
    const tasks = queue("tasks", { maxLogLines: 3 });
    const seen = gate();
    work(tasks, async (_job, { progress, log }) => {
      for (let line = 1; line <= 5; line++) expect(await log(`line\n${line}`)).toBe(true);
      expect(await progress({ percent: 50 })).toBe(true);
      await seen.passed;
    });
    const feed = await tasks.events();
    const { id } = await tasks.add({ n: 1 });
    for await (const event of feed) if (event.kind === "progress") break;
    expect(await tasks.get(id)).toMatchObject({ state: "active", progress: { percent: 50 } });
    seen.open();
    await tasks.waitFor(id);
    expect(await tasks.logs(id)).toEqual(["line\n3", "line\n4", "line\n5"]);
  });

  // ---------------------------------------------------------------------------------------------- stopping and leases

  test("a worker that stops lets its jobs end, and takes no more", async () => {
    const tasks = queue();
    const begun = gate();
    const release = gate();
    const worker = work(tasks, async () => {
      begun.open();
      await release.passed;
    });
    const added = await tasks.addMany([{ data: { n: 1 } }, { data: { n: 2 } }]);
    await begun.passed;
    const stopped = worker.stop();
    release.open();
    await stopped;
    expect(await tasks.get(added[0]!.id)).toMatchObject({ state: "done" });
    expect(await tasks.get(added[1]!.id)).toMatchObject({ state: "waiting" });
  });

  test("what has not ended in time is handed back at once, without counting as an attempt or a stall", async () => {
    const tasks = queue<number>();
    const begun = gate();
    let reason: unknown;
    const worker = work(tasks, async (_job, { signal }) => {
      begun.open();
      await untilAborted(signal).catch((error) => {
        reason = error;
      });
      return 0;
    });
    const { id } = await tasks.add({ n: 1 });
    await begun.passed;
    await worker.stop({ timeoutMs: 1 });
    expect(reason).toMatchObject({ code: "STOPPED" });
    expect(await tasks.get(id)).toMatchObject({ state: "waiting", attemptsMade: 0, stalls: 0 });
    work(tasks, ({ attempt }) => attempt);
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: 1 });
  });

  test("a paused worker takes nothing; another one does", async () => {
    const tasks = queue<string>();
    const first = work(tasks, () => "first");
    await tasks.addAndWait({ n: 0 });
    first.pause();
    const { id } = await tasks.add({ n: 1 });
    work(tasks, () => "second");
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: "second" });
  });

  test("a worker that is paused while it asks for jobs hands back what it gets", async () => {
    const tasks = queue<string>();
    const first = work(tasks, () => "first");
    await tasks.addAndWait({ n: 0 });
    // Its question is under way: the job is there before the answer is.
    const adding = tasks.add({ n: 1 });
    await backend.store.call("PING");
    first.pause();
    const { id } = await adding;
    work(tasks, () => "second");
    expect(["first", "second"]).toContain(((await tasks.waitFor(id)) as { result: string }).result);
    for (let n = 2; n < 20; n++) {
      first.resume();
      const more = tasks.add({ n });
      first.pause();
      expect(await tasks.waitFor((await more).id)).toEqual({ status: "done", result: "second" });
    }
    expect(await tasks.counts()).toMatchObject({ waiting: 0, active: 0 });
  });

  test("a job whose worker is gone runs again; the late finisher is told and changes nothing", async () => {
    const tasks = queue<string>();
    const lost = gate<string>();
    const begun = gate();
    const release = gate();
    const fences: number[] = [];
    const slow: Handler<Task, string> = async (_job, { lease }: JobContext) => {
      fences.push(lease.fence);
      begun.open();
      await release.passed;
      return "late";
    };
    work(tasks, slow, { leaseMs: 60_000 }).on("lost", lost.open);
    const { id } = await tasks.add({ n: 1 });
    await begun.passed;
    // As if no renewal had come for a lease.
    await backend.store.call("ZADD", tasks.shards[0]!.keys.timers, 1, "w1");
    work(tasks, (_job, { lease }) => {
      fences.push(lease.fence);
      return "in time";
    });
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: "in time" });
    release.open();
    expect(await lost.passed).toBe(id);
    expect(await tasks.get(id)).toMatchObject({ state: "done", result: "in time", stalls: 1, attemptsMade: 1 });
    expect(fences[1]).toBeGreaterThan(fences[0]!);
  });

  test("after too many lost workers a job is a dead letter", async () => {
    const tasks = queue();
    await tasks.configure({ stalledLimit: 1 });
    const { id } = await tasks.add({ n: 1 }, { attempts: 10 });
    const { keys } = tasks.shards[0]!;
    const states: unknown[] = [];
    for (let round = 0; round < 3; round++) {
      const { session } = await backend.store.run(joinSession, {
        ...keys,
        session: "0",
        leaseMs: 60_000,
        worker: "w",
        figures: "{}",
        held: [],
      });
      await backend.store.run(cycle, { ...keys, session, leaseMs: 60_000, look: 1, most: 1, finished: [] });
      const job = (await tasks.get(id))!;
      states.push([job.state, job.stalls, job.error?.name ?? null]);
      await backend.store.call("ZADD", keys.timers, 1, `w${session}`);
    }
    expect(states).toEqual([
      ["active", 0, null],
      ["active", 1, null],
      ["dead", 2, "Stalled"],
    ]);
  });

  test("thousands of jobs whose workers die together all run again", async () => {
    const tasks = queue();
    const { keys } = tasks.shards[0]!;
    const jobs = Array.from({ length: 6_000 }, (_, n) => ({ data: { n } }));
    await tasks.addMany(jobs);
    for (let taken = 0; taken < jobs.length; taken += 200) {
      const { session } = await backend.store.run(joinSession, {
        ...keys,
        session: "0",
        leaseMs: 60_000,
        worker: "w",
        figures: "{}",
        held: [],
      });
      const cycled = { ...keys, session, leaseMs: 60_000, look: 0, most: 200, finished: [] };
      expect((await backend.store.run(cycle, cycled)).jobs).toHaveLength(800);
      await backend.store.call("ZADD", keys.timers, 1, `w${session}`);
    }
    const ran = new Set<number>();
    const errors: unknown[] = [];
    work(tasks, ({ data }) => void ran.add(data.n), { concurrency: 500 }).on("error", (error) => errors.push(error));
    await expect.poll(() => ran.size, { timeout: 60_000 }).toBe(jobs.length);
    expect(errors).toEqual([]);
  }, 90_000);

  test("a session that is made sure of puts back what its worker never heard of", async () => {
    const tasks = queue<number>();
    const { keys } = tasks.shards[0]!;
    const { session } = await backend.store.run(joinSession, {
      ...keys,
      session: "0",
      leaseMs: 60_000,
      worker: "w",
      figures: "{}",
      held: [],
    });
    const added = await tasks.addMany([1, 2, 3].map((n) => ({ data: { n }, options: n === 3 ? { group: "g" } : {} })));
    // Three jobs are leased, and the answer is lost but for the first.
    const leased = { ...keys, session, leaseMs: 60_000, look: 1, most: 3, finished: [] };
    const jobs = (await backend.store.run(cycle, leased)).jobs as string[];
    expect(jobs.length).toBe(12);
    const mine = jobs.indexOf(added[0]!.id);
    const held = [jobs[mine]!, jobs[mine + 1]!];
    const again = await backend.store.run(joinSession, {
      ...keys,
      session,
      leaseMs: 60_000,
      worker: "w",
      figures: "{}",
      held,
    });
    expect(again).toEqual({ session, lost: [] });
    expect(await tasks.counts()).toMatchObject({ active: 1, waiting: 2 });
    work(tasks, ({ data }) => data.n);
    expect(await tasks.waitFor(added[2]!.id)).toEqual({ status: "done", result: 3 });
    // An ending whose answer was lost may be told again; a wrong one is refused.
    const finished = [held[0]!, held[1]!, "d1", "1"];
    const told = async (words: string[]) => {
      const { lost } = await backend.store.run(cycle, { ...leased, most: 0, finished: words });
      return lost;
    };
    expect(await told(finished)).toEqual([]);
    expect(await told(finished)).toEqual([]);
    expect(await told([held[0]!, "999", "d1", "1"])).toEqual([held[0]]);
  });

  test("an effect in the store happens with the end of the job, once, and not for a lost lease", async () => {
    const tasks = queue<number>();
    const total = `shop:${tasks.shards[0]!.tag}:total`;
    work(tasks, ({ data, attempt }, { effect, tag }) => {
      expect(tag).toBe("{tasks}");
      expect(() => effect(["INCR", "elsewhere"], ["elsewhere"])).toThrow("slot");
      effect(["INCRBY", total, data.n], [total]);
      if (attempt === 1) throw new Error("after the effect was asked for");
      return data.n;
    });
    const added = await tasks.addMany([5, 7].map((n) => ({ data: { n }, options: { attempts: 2 } })));
    for (const { id } of added) expect(await tasks.waitFor(id)).toMatchObject({ status: "done" });
    expect(await backend.store.call("GET", total)).toBe("12");
    // A command that fails fails the attempt.
    await backend.store.call("SET", total, "no number");
    const { id } = await tasks.add({ n: 1 }, { attempts: 2 });
    expect(await tasks.waitFor(id)).toMatchObject({ status: "dead", error: { name: "ServerError" } });
  });

  // ---------------------------------------------------------------------------------------------- schedules

  test("the end of a job that is not kept is not missed by one who loses the connection meanwhile", async () => {
    const cut = gate();
    let isFirst = true;
    const unlucky = new Proxy(backend.store, {
      get: (target, property) => {
        if (property === "blocking") {
          return (key: string) => {
            const connection = target.blocking(key);
            const call: typeof connection.call = async (words, options) => {
              if (!isFirst) return connection.call(words, options);
              isFirst = false;
              await cut.passed;
              throw new ConnectionError("cut", { maybeExecuted: false });
            };
            return { call, close: () => connection.close() };
          };
        }
        const value: unknown = Reflect.get(target, property, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const done = gate();
    work(queue(), ({ data }) => data.n).on("done", () => done.open());
    const ended = new Queue<Task, unknown>(unlucky, "tasks").addAndWait({ n: 7 }, { keep: false });
    await done.passed;
    cut.open();
    expect(await ended).toEqual({ status: "done", result: 7 });
  });

  test("a schedule makes one job for each time, however many workers look", async () => {
    const tasks = queue();
    const next = await tasks.schedule("tick", { everyMs: 40, limit: 4 }, { n: 7 }, { attempts: 2 });
    expect(await tasks.schedule("tick", { everyMs: 40, limit: 4 }, { n: 7 }, { attempts: 2 })).toEqual(next);
    expect((await tasks.listSchedules()).items).toMatchObject([
      { name: "tick", everyMs: 40, limit: 4, data: { n: 7 }, nextAt: next, options: { attempts: 2 }, lastAt: null },
    ]);
    const ids: string[] = [];
    const four = gate();
    const handler: Handler<Task, unknown> = ({ id, data }) => {
      expect(data).toEqual({ n: 7 });
      if (ids.push(id) === 4) four.open();
      return null;
    };
    for (let count = 0; count < 3; count++) work(tasks, handler, { concurrency: 2 });
    await four.passed;
    expect(new Set(ids).size).toBe(4);
    const times = ids.map((id) => Number(id.split(":")[2])).sort();
    expect(times[0]).toBe(next.getTime());
    for (const time of times) expect((time - next.getTime()) % 40).toBe(0);
    expect((await tasks.listSchedules()).items).toEqual([]);
  });

  test("a schedule by the calendar goes on from time to time, and can be changed and removed", async () => {
    const tasks = queue();
    const rome = await tasks.schedule("daily", { cron: "30 5 * * *", timeZone: "Europe/Rome" }, { n: 1 });
    const local = new Intl.DateTimeFormat("en-GB", { timeZone: "Europe/Rome", hour: "2-digit", minute: "2-digit" });
    expect(local.format(new Date(rome))).toBe("05:30");
    const utc = await tasks.schedule("daily", { cron: "30 5 * * *" }, { n: 1 });
    expect(new Date(utc).toISOString()).toMatch(/T05:30:00.000Z$/);
    expect(await tasks.unschedule("daily")).toBe(true);
    expect(await tasks.unschedule("daily")).toBe(false);
    await tasks.schedule("secondly", { cron: "* * * * * *" }, { n: 2 });
    const two = gate();
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) {
      work(tasks, ({ id }) => {
        if (ids.push(id) === 2) two.open();
        return null;
      });
    }
    await two.passed;
    const [first, second] = ids.map((id) => Number(id.split(":")[2])) as [number, number];
    expect(first % 1_000).toBe(0);
    expect((second - first) % 1_000).toBe(0);
    expect(second).toBeGreaterThan(first);
  });

  // ---------------------------------------------------------------------------------------------- flows

  test("a parent runs when its children have, with what they gave", async () => {
    const tasks = queue<number>();
    const ended: number[] = [];
    work(
      tasks,
      async ({ data }, { children }) => {
        const results = [...(await children()).values()];
        ended.push(data.n);
        return results.reduce((sum, each) => sum + (each.status === "done" ? (each.result as number) : 0), data.n);
      },
      { concurrency: 5 },
    );
    const root = await tasks.addFlow({
      data: { n: 1 },
      children: [{ data: { n: 10 }, children: [{ data: { n: 100 } }, { data: { n: 200 } }] }, { data: { n: 20 } }],
    });
    expect(await tasks.waitFor(root)).toEqual({ status: "done", result: 331 });
    expect(ended.at(-1)).toBe(1);
    expect(ended.indexOf(10)).toBeGreaterThan(Math.max(ended.indexOf(100), ended.indexOf(200)));
    expect(await tasks.counts()).toMatchObject({ waitingForChildren: 0, done: 5 });
  });

  test("a flow spans queues, which may be in different slots", async () => {
    const orders = queue<number>("orders");
    const mails = new Queue<string, string>(backend.store, "mails", { shards: 2 });
    const root = await orders.addFlow({
      data: { n: 1 },
      children: [
        { queue: mails, data: "a" },
        { queue: mails, data: "b", options: { group: "x" } },
      ],
    });
    expect(await orders.counts()).toMatchObject({ waitingForChildren: 1, waiting: 0 });
    expect(await mails.counts()).toMatchObject({ waiting: 2 });
    work(mails, ({ data }) => data.toUpperCase());
    work(orders, async (_job, { children }) => {
      const given = [...(await children()).values()].map((each) => (each.status === "done" ? each.result : null));
      expect(given.sort()).toEqual(["A", "B"]);
      return given.length;
    });
    expect(await orders.waitFor(root)).toEqual({ status: "done", result: 2 });
  });

  test("what a dead child means for its parent is chosen: wait for a replay, fail, or go on without it", async () => {
    const tasks = queue<number>();
    let broken = true;
    work(tasks, async ({ data }, { children }) => {
      if (data.n === 9 && broken) throw new Error("broken");
      return [...(await children()).values()].filter(({ status }) => status === "done").length;
    });
    const flow = (onDead?: "wait" | "fail" | "ignore") =>
      tasks.addFlow({
        data: { n: 1 },
        children: [{ data: { n: 2 } }, { data: { n: 9 }, ...(onDead ? { onDead } : {}) }],
      });
    expect(await tasks.waitFor(await flow("ignore"))).toEqual({ status: "done", result: 1 });
    expect(await tasks.waitFor(await flow("fail"))).toMatchObject({ status: "dead", error: { name: "ChildDead" } });
    const waits = await flow();
    const feed = await tasks.events({ from: "start" });
    let dead = 0;
    for await (const event of feed) if (event.kind === "dead" && ++dead === 4) break;
    expect(await tasks.get(waits)).toMatchObject({ state: "waiting-for-children" });
    broken = false;
    await tasks.replayDead();
    expect(await tasks.waitFor(waits)).toEqual({ status: "done", result: 2 });
  });

  // ---------------------------------------------------------------------------------------------- events and metrics

  test("events tell what happened in order, and can be followed from where one left off", async () => {
    const tasks = queue();
    const feed = await tasks.events();
    const added = await tasks.addMany([{ data: { n: 1 } }, { data: { n: 2 }, options: { attempts: 2 } }]);
    work(tasks, ({ data, attempt }) => {
      if (data.n === 2 && attempt === 1) throw new Error("once");
      return null;
    });
    await tasks.waitFor(added[1]!.id);
    await tasks.pause();
    const seen: QueueEvent[] = [];
    for await (const event of feed) {
      seen.push(event);
      if (event.kind === "paused") break;
    }
    const of = (id: string) => seen.flatMap((event) => ("id" in event && event.id === id ? [event.kind] : []));
    expect(of(added[0]!.id)).toEqual(["added", "active", "done"]);
    expect(of(added[1]!.id)).toEqual(["added", "active", "retry", "active", "done"]);
    // From the middle, even of one entry.
    for (const from of [1, 3]) {
      const again: QueueEvent[] = [];
      for await (const event of await tasks.events({ from: seen[from]!.cursor })) {
        again.push(event);
        if (event.kind === "paused") break;
      }
      expect(again).toEqual(seen.slice(from + 1));
    }
    const [minute] = (await tasks.stats({ minutes: 2 })).filter(({ done }) => done > 0);
    expect(minute).toMatchObject({ dead: 0 });
    const total = (await tasks.stats({ minutes: 2 })).reduce((sum, each) => sum + each.done * 10 + each.retried, 0);
    expect(total).toBe(21);
  });

  test("many jobs, several workers: each runs once", async () => {
    const tasks = queue();
    const ran = new Map<number, number>();
    const all = gate();
    const handler: Handler<Task, unknown> = async ({ data }) => {
      ran.set(data.n, (ran.get(data.n) ?? 0) + 1);
      if (ran.size === 3_000) all.open();
    };
    for (let count = 0; count < 3; count++) work(tasks, handler, { concurrency: 50 });
    await tasks.addMany(Array.from({ length: 3_000 }, (_, n) => ({ data: { n } })));
    await all.passed;
    expect([...ran.values()].every((times) => times === 1)).toBe(true);
    expect(await tasks.waitFor("nobody")).toEqual({ status: "not-found" });
  });

  test("jobs that end together, more than are kept, leave nothing of those that are not", async () => {
    const tasks = queue();
    await tasks.configure({ keepDone: 2 });
    await tasks.addMany(Array.from({ length: 50 }, (_, n) => ({ data: { n } })));
    work(tasks, () => {}, { concurrency: 50 });
    await expect.poll(async () => (await tasks.counts()).waiting + (await tasks.counts()).active).toBe(0);
    const fields = (await backend.store.call("HKEYS", tasks.shards[0]!.keys.data)) as string[];
    expect(fields.filter((field) => /^[jr]/.test(field))).toHaveLength(4);
  });

  test("a long backlog does not keep the event loop from everything else", async () => {
    // Elsewhere every round trip gives it away.
    if (backend.name !== "embedded") return;
    const tasks = queue();
    await tasks.addMany(Array.from({ length: 4_000 }, (_, n) => ({ data: { n } })));
    let ran = 0;
    const all = gate();
    const seenAt: number[] = [];
    const tick = () => {
      seenAt.push(ran);
      if (ran < 4_000) setImmediate(tick);
    };
    setImmediate(tick);
    work(tasks, async () => {
      if (++ran === 4_000) all.open();
    });
    await all.passed;
    // Others had their turn all along, not only before the first job and after the last.
    expect(seenAt.filter((count) => count > 0 && count < 4_000).length).toBeGreaterThan(5);
  });

  test("the connection is closed under a worker: it ends, and nothing hangs", async () => {
    const store = await backend.open();
    const tasks = new Queue<Task>(store, "tasks");
    const begun = gate();
    work(tasks as Queue<Task, unknown>, async (_job, { signal }) => {
      begun.open();
      await untilAborted(signal);
    });
    const { id } = await tasks.add({ n: 1 });
    await begun.passed;
    await store.close();
    expect(await queue().get(id)).toMatchObject({ state: "waiting", stalls: 0 });
  });
});

test("a worker that cannot work stops at once: there is nothing to wait for", async () => {
  // Time stands still: a caller that waits for it to pass waits for ever.
  const store = await open("memory:", { clock: manualClock() });
  await store.call("HSET", LAYOUTS_KEY, "queues", 99);
  const worker = new Worker(new Queue(store, "q"), () => 1);
  const told = new Promise((resolve) => worker.on("error", resolve));
  worker.start();
  expect(await told).toBeInstanceOf(LayoutError);
  await worker.stop({ timeoutMs: 0 });
  await store.close();
});
