/** The contract of executors. Queues themselves are tested in ../queues. */
import { describe, expect, test } from "vitest";
import { ClockedStore } from "../../../tests/kit/clocked-store.ts";
import { describeBackends } from "../../../tests/kit/index.ts";
import { Executor, RetryLaterError, UnrecoverableError } from "./index.ts";
import { hasComeAgain, nextTime } from "./late.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await turn();
};
const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve()));

describeBackends("an executor", { audit: "tags" }, (backend) => {
  test("runs a named task once, in one of the processes, and gives its result", async () => {
    const ran: string[] = [];
    const made = (who: string, store = backend.store) =>
      new Executor(store, "main", {
        tasks: {
          greet: ({ name }: { name: string }) => {
            ran.push(who);
            return `hello ${name}`;
          },
        },
      });
    const [mine, theirs] = [made("mine"), made("theirs", await backend.open())];
    await using _a = mine.start();
    await using _b = theirs.start();
    const { id, status } = await mine.run("greet", { name: "ann" });
    expect(status).toBe("added");
    expect(await theirs.waitFor(id)).toEqual({ status: "done", result: "hello ann" });
    expect(ran).toHaveLength(1);
    expect(await mine.get(id)).toMatchObject({ task: "greet", data: { name: "ann" }, state: "done", schedule: null });
  });

  test("adds a run of one id once, however many processes ask for it", async () => {
    let runs = 0;
    const tasks = {
      daily: () => {
        runs += 1;
      },
    };
    const executor = new Executor(backend.store, "main", { tasks });
    const asked = await Promise.all([1, 2, 3].map(() => executor.run("daily", undefined, { id: "2026-11-17" })));
    expect(asked.map(({ status }) => status).sort()).toEqual(["added", "exists", "exists"]);
    await using _running = executor.start();
    await executor.waitFor("2026-11-17");
    expect(runs).toBe(1);
  });

  test("waits for the delay, lists what waits, and cancels it", async () => {
    const executor = new Executor(backend.store, "main", { tasks: { note: (text: string) => text } });
    await using _running = executor.start();
    const { id } = await executor.run("note", "later", { delayMs: 3_600_000 });
    const { items, cursor } = await executor.list("delayed");
    expect(items).toMatchObject([{ id, task: "note", data: "later", state: "delayed" }]);
    expect(cursor).toBeNull();
    expect(items[0]!.dueAt!.getTime() - items[0]!.createdAt.getTime()).toBe(3_600_000);
    expect(await executor.cancel(id)).toEqual({ status: "cancelled" });
    expect(await executor.cancel(id)).toEqual({ status: "finished" });
    expect(await executor.cancel("nobody")).toEqual({ status: "not-found" });
    expect((await executor.list("delayed")).items).toEqual([]);
    const soon = await executor.run("note", "soon", { delayMs: 5 });
    expect(await executor.waitFor(soon.id)).toEqual({ status: "done", result: "soon" });
  });

  test("aborts the signal of a run that is cancelled", async () => {
    let isRunning = false;
    const tasks = {
      long: async (_: undefined, { signal }: { signal: AbortSignal }) => {
        isRunning = true;
        await aborted(signal);
        throw signal.reason;
      },
    };
    const executor = new Executor(backend.store, "main", { tasks });
    await using _running = executor.start();
    const { id } = await executor.run("long", undefined);
    await until(() => isRunning);
    expect(await executor.cancel(id)).toEqual({ status: "asked" });
    expect(await executor.waitFor(id)).toMatchObject({ status: "dead" });
  });

  test("tries again what fails, as often as it may, and says so", async () => {
    const attempts: number[] = [];
    const failures: string[] = [];
    const executor = new Executor(backend.store, "main", {
      attempts: 3,
      tasks: {
        shaky: (_: null, { attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error(`attempt ${attempt}`);
          return "well";
        },
        hopeless: () => {
          throw new UnrecoverableError("never");
        },
      },
    });
    executor.on("failed", (_run, error) => failures.push((error as Error).message));
    await using _running = executor.start();
    const { id } = await executor.run("shaky", null);
    expect(await executor.waitFor(id)).toEqual({ status: "done", result: "well" });
    expect(attempts).toEqual([1, 2, 3]);
    const hopeless = await executor.run("hopeless", undefined);
    expect(await executor.waitFor(hopeless.id)).toMatchObject({ status: "dead", error: { message: "never" } });
    await until(() => failures.length === 3);
    expect(failures).toEqual(["attempt 1", "attempt 2", "never"]);
  });

  test("leaves a task that this process does not know to one that does", async () => {
    const { store } = backend;
    const asking = new Executor<{ fresh: (n: number) => number }>(store, "main");
    const old = new Executor(store, "main", { tasks: { stale: () => 0 } }).start();
    const { id } = await asking.run("fresh", 2);
    await until(async () => (await asking.list("delayed")).items.length === 1);
    await old.stop();
    await using _fresh = new Executor(await backend.open(), "main", { tasks: { fresh: (n: number) => n * 2 } }).start();
    expect(await asking.waitFor(id)).toEqual({ status: "done", result: 4 });
  });

  test("runs a schedule once for each of its times over all processes, and never two of them at a time", async () => {
    let running = 0;
    const seen: { id: string; schedule: string | null }[] = [];
    const tasks = {
      tick: async (_: unknown, { id, schedule }: { id: string; schedule: string | null }) => {
        running += 1;
        expect(running).toBe(1);
        await turn();
        seen.push({ id, schedule });
        running -= 1;
      },
    };
    const executors = await Promise.all(
      [0, 1, 2].map(async () => new Executor(await backend.open(), "main", { tasks }).start()),
    );
    for (const executor of executors)
      await executor.schedule("pulse", { task: "tick", everyMs: 20, limit: 5, whenLate: "run" });
    await until(() => seen.length >= 5);
    for (const executor of executors) await executor.stop();
    expect(new Set(seen.map(({ id }) => id)).size).toBe(5);
    expect(seen.map(({ schedule }) => schedule)).toEqual(Array(5).fill("pulse"));
    expect(await executors[0]!.listSchedules()).toEqual({ items: [], cursor: null });
  });

  test("lists schedules with their next times, changes them and takes them away", async () => {
    const executor = new Executor(backend.store, "main", { tasks: { report: (_: { to: string }) => {} } });
    const weekly = { task: "report", cron: "0 7 * * 1", timeZone: "Europe/Rome", data: { to: "ann" } } as const;
    const next = await executor.schedule("weekly", weekly);
    expect(await executor.schedule("weekly", weekly)).toEqual(next);
    await executor.schedule("often", { task: "report", everyMs: 60_000, data: { to: "bob" } });
    const all = (await executor.listSchedules()).items;
    expect(all.map(({ name }) => name)).toEqual(["often", "weekly"]);
    expect(all[1]).toMatchObject({ task: "report", data: { to: "ann" }, cron: "0 7 * * 1", nextAt: next, count: 0 });
    expect(await executor.unschedule("often")).toBe(true);
    expect(await executor.unschedule("often")).toBe(false);
    expect((await executor.listSchedules()).items.map(({ name }) => name)).toEqual(["weekly"]);
  });

  test("refuses what makes no sense", async () => {
    const executor = new Executor(backend.store, "main", { tasks: { a: () => {} } });
    await expect(executor.run("" as "a", undefined)).rejects.toThrow("task must be");
    await expect(executor.schedule("x", { task: "a" })).rejects.toThrow("either cron or everyMs");
    await expect(executor.schedule("", { task: "a", everyMs: 1 })).rejects.toThrow("name of a schedule");
    await expect(executor.schedule("x", { task: "a", cron: "not a cron" })).rejects.toThrow("no schedule");
    expect(() => new Executor(backend.store, "main").start()).toThrow("has no tasks");
    expect(new RetryLaterError(5).delayMs).toBe(5);
  });
});

describe("a run that comes late", () => {
  /** A task that takes longer than its period, and the runs that it had. */
  async function played(whenLate: "skip" | "run"): Promise<{ ran: number; skipped: number }> {
    const world = await ClockedStore.open();
    let release = (): void => {};
    let ran = 0;
    let skipped = 0;
    const executor = new Executor(world.store, "main", {
      tasks: {
        slow: () => {
          ran += 1;
          if (ran > 1) return undefined;
          return new Promise<void>((resolve) => {
            release = resolve;
          });
        },
      },
    });
    executor.on("skipped", () => void skipped++);
    executor.start();
    await executor.schedule("slow", { task: "slow", everyMs: 1_000, whenLate });
    await world.pass(1_500);
    expect(ran).toBe(1);
    // Five more times come while the first one runs.
    await world.pass(5_000);
    expect(ran).toBe(1);
    release();
    await world.pass(100);
    await executor.stop({ timeoutMs: 0 });
    await world.close();
    return { ran, skipped };
  }

  test("is left out when the next one is there, so that a slow task does not pile up", async () => {
    const { ran, skipped } = await played("skip");
    expect(ran).toBe(2);
    expect(skipped).toBe(4);
  });

  test("runs where that is wanted", async () => {
    expect(await played("run")).toEqual({ ran: 6, skipped: 0 });
  });

  test("is one whose schedule has come again since", () => {
    expect(hasComeAgain({ everyMs: 1_000 }, 0, 999)).toBe(false);
    expect(hasComeAgain({ everyMs: 1_000 }, 0, 1_000)).toBe(true);
    const noon = Date.UTC(2026, 10, 17, 12);
    expect(hasComeAgain({ cron: "0 * * * *" }, noon, noon + 3_599_999)).toBe(false);
    expect(hasComeAgain({ cron: "0 * * * *" }, noon, noon + 3_600_000)).toBe(true);
    expect(nextTime({}, noon)).toBeNull();
  });
});
