/** The contract of queues: adding, ordering, limits, and what is done to jobs from outside; on every backend. */
import { afterEach, expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { type Handler, type JobState, Queue, QueueFullError, Worker, type WorkerOptions } from "./index.ts";

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

describeBackends("queues", (backend) => {
  const workers: Worker<never, never>[] = [];
  const queue = (name = "tasks", options = {}) => new Queue<Task, unknown>(backend.store, name, options);
  const work = <T, R>(on: Queue<T, R>, handler: Handler<T, R>, options: WorkerOptions<T> = {}): Worker<T, R> => {
    const worker = new Worker(on, handler, options);
    workers.push(worker as unknown as Worker<never, never>);
    return worker.start();
  };
  /** Runs what waits, one after the other, until `count` jobs have run; their numbers in order. */
  const order = async (on: Queue<Task, unknown>, count: number, options = {}): Promise<number[]> => {
    const seen: number[] = [];
    await new Promise<void>((resolve) => {
      work<Task, unknown>(
        on,
        ({ data }) => {
          seen.push(data.n);
          if (seen.length === count) resolve();
          return null;
        },
        options,
      );
    });
    return seen;
  };
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeoutMs: 2_000 })));
  });

  // ---------------------------------------------------------------------------------------------- adding

  test("a job is added, run once, and its result can be waited for", async () => {
    const tasks = queue();
    const { id, status } = await tasks.add({ n: 20 });
    expect(status).toBe("added");
    expect(await tasks.get(id)).toMatchObject({ id, state: "waiting", data: { n: 20 }, attemptsMade: 0 });
    work(tasks, ({ data }) => data.n + 1);
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: 21 });
    expect(await tasks.get(id)).toMatchObject({ state: "done", result: 21, attemptsMade: 1, error: null });
    expect(await tasks.counts()).toMatchObject({ waiting: 0, active: 0, done: 1, dead: 0 });
  });

  test("jobs run in the order in which they were added", async () => {
    const tasks = queue();
    await tasks.addMany(Array.from({ length: 60 }, (_, n) => ({ data: { n } })));
    await tasks.add({ n: 60 });
    expect(await order(tasks, 61)).toEqual(Array.from({ length: 61 }, (_, n) => n));
  });

  test("larger priorities run sooner, equal ones in order, negative ones last, and last in first out on request", async () => {
    const tasks = queue();
    for (const [n, priority] of [
      [1, 0],
      [2, -5],
      [3, 10],
      [4, 1],
      [5, 10],
      [6, 0],
    ] as const) {
      await tasks.add({ n }, { priority });
    }
    await tasks.add({ n: 7 }, { lifo: true });
    expect(await order(tasks, 7)).toEqual([3, 5, 4, 7, 1, 6, 2]);
  });

  test("a bulk is added whole, in chunks, and says which ids were there before", async () => {
    const tasks = queue();
    await tasks.add({ n: 0 }, { id: "taken" });
    const added = await tasks.addMany([
      ...Array.from({ length: 1_200 }, (_, n) => ({ data: { n } })),
      { data: { n: 1 }, options: { id: "taken" } },
      { data: { n: 2 }, options: { id: "new" } },
      { data: { n: 3 }, options: { id: "new" } },
    ]);
    expect(added.slice(0, 1_200).every(({ status }) => status === "added")).toBe(true);
    expect(added.slice(1_200)).toEqual([
      { id: "taken", status: "exists" },
      { id: "new", status: "added" },
      { id: "new", status: "exists" },
    ]);
    expect(await tasks.counts()).toMatchObject({ waiting: 1_202 });
  });

  test("a delayed job waits for its time by the server's clock, and can be promoted", async () => {
    const tasks = queue();
    const soon = await tasks.add({ n: 1 }, { delayMs: 150 });
    const late = await tasks.add({ n: 2 }, { at: new Date("2100-01-01T00:00:00Z") });
    const past = await tasks.add({ n: 3 }, { at: 1_000 });
    expect(await tasks.get(soon.id)).toMatchObject({ state: "delayed" });
    expect((await tasks.get(late.id))?.dueAt).toEqual(new Date("2100-01-01T00:00:00Z"));
    const created = (await tasks.get(soon.id))!.createdAt;
    work(tasks, () => 1);
    expect(await tasks.waitFor(past.id)).toMatchObject({ status: "done" });
    expect(await tasks.waitFor(soon.id)).toMatchObject({ status: "done" });
    expect((await tasks.get(soon.id))!.finishedAt!.getTime() - created.getTime()).toBeGreaterThanOrEqual(150);
    expect(await tasks.promote(late.id)).toBe(true);
    expect(await tasks.waitFor(late.id)).toMatchObject({ status: "done" });
    expect(await tasks.promote(late.id)).toBe(false);
  });

  test("deduplication until the end, for a window, and with the last one winning", async () => {
    const tasks = queue();
    const first = await tasks.add({ n: 1 }, { dedup: { id: "a" } });
    expect(await tasks.add({ n: 2 }, { dedup: { id: "a" } })).toEqual({ id: first.id, status: "duplicate" });
    const throttled = await tasks.add({ n: 3 }, { dedup: { id: "b", windowMs: 60_000 } });
    const debounced = await tasks.add({ n: 4 }, { dedup: { id: "c", mode: "debounce", windowMs: 60_000 } });
    expect(await tasks.add({ n: 5 }, { dedup: { id: "c", mode: "debounce", windowMs: 1 } })).toEqual({
      id: debounced.id,
      status: "replaced",
    });
    work(tasks, ({ data }) => data.n);
    expect(await tasks.waitFor(first.id)).toEqual({ status: "done", result: 1 });
    expect(await tasks.waitFor(debounced.id)).toEqual({ status: "done", result: 5 });
    expect(await tasks.waitFor(throttled.id)).toEqual({ status: "done", result: 3 });
    // The window does not depend on what became of the job, nor on whether it is still kept.
    expect(await tasks.delete(throttled.id)).toEqual({ status: "deleted" });
    expect(await tasks.add({ n: 6 }, { dedup: { id: "b", windowMs: 60_000 } })).toMatchObject({ status: "duplicate" });
    expect(await tasks.add({ n: 7 }, { dedup: { id: "a" } })).toMatchObject({ status: "added" });
  });

  test("bad input is refused before anything is written", async () => {
    const tasks = queue("tasks", { maxPayloadBytes: 100 });
    const bad: [object, object][] = [
      [{ n: "x".repeat(200) }, {}],
      [{ n: 1 }, { priority: 1.5 }],
      [{ n: 1 }, { priority: 1_001 }],
      [{ n: 1 }, { delayMs: -1 }],
      [{ n: 1 }, { delayMs: 5, at: 5 }],
      [{ n: 1 }, { attempts: 0 }],
      [{ n: 1 }, { id: "" }],
      [{ n: 1 }, { id: "a\nb" }],
      [{ n: 1 }, { group: "" }],
      [{ n: 1 }, { dedup: { id: "a", mode: "debounce" } }],
      [{ n: 1 }, { backoff: { type: "fixed", delayMs: -1 } }],
    ];
    for (const [data, options] of bad) await expect(tasks.add(data as Task, options)).rejects.toThrow(InputError);
    await expect(tasks.configure({ keepDone: -1 })).rejects.toThrow(InputError);
    await expect(tasks.schedule("s", { cron: "not a cron" }, { n: 1 })).rejects.toThrow(InputError);
    await expect(tasks.schedule("s", { cron: "* * * * *", timeZone: "Mars/Base" }, { n: 1 })).rejects.toThrow(
      InputError,
    );
    await expect(tasks.list("waitingForChildren" as JobState)).rejects.toThrow('state must be "waiting" or "delayed"');
    await expect(tasks.clean("active" as "done")).rejects.toThrow(InputError);
    await expect(tasks.clean("done", { keepMs: -1 })).rejects.toThrow(InputError);
    expect(() => queue("")).toThrow(InputError);
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 0 });
    expect(await tasks.listSchedules()).toEqual({ items: [], cursor: null });
  });

  test("payloads and results may be bytes", async () => {
    const images = new Queue<Uint8Array, Uint8Array>(backend.store, "images", { codec: bytes, resultCodec: bytes });
    const data = Uint8Array.from({ length: 256 }, (_, at) => 255 - at);
    const { id } = await images.add(data, { attempts: 2 });
    expect(Buffer.from((await images.get(id))!.data).equals(data)).toBe(true);
    work(images, (job) => Uint8Array.from(job.data, (byte) => byte ^ 0xff));
    const outcome = await images.waitFor(id);
    expect(outcome.status === "done" && [...outcome.result!]).toEqual(Array.from({ length: 256 }, (_, at) => at));
  });

  test("text of any script survives in payloads, ids and groups", async () => {
    const texts = new Queue<string, string>(backend.store, "ünï:tasks");
    const { id } = await texts.add('日本 ✓\n"\\', { id: "früh/1", group: "Ω" });
    work(texts, ({ data }) => `${data}!`);
    expect(await texts.waitFor(id)).toEqual({ status: "done", result: '日本 ✓\n"\\!' });
    expect(await texts.get(id)).toMatchObject({ id: "früh/1", group: "Ω", data: '日本 ✓\n"\\' });
  });

  // ---------------------------------------------------------------------------------------------- managing

  test("jobs are listed by state, page by page", async () => {
    const tasks = queue();
    await tasks.addMany(Array.from({ length: 25 }, (_, n) => ({ data: { n } })));
    await tasks.add({ n: 100 }, { priority: 1 });
    await tasks.add({ n: 101 }, { group: "g" });
    await tasks.add({ n: 102 }, { priority: -1 });
    const seen: number[] = [];
    let cursor: string | null = "0.0";
    while (cursor !== null) {
      const page = await tasks.list("waiting", { limit: 10, cursor });
      expect(page.items.length).toBeLessThanOrEqual(10);
      seen.push(...page.items.map(({ data }) => data.n));
      ({ cursor } = page);
    }
    expect(seen).toEqual([100, ...Array.from({ length: 25 }, (_, n) => n), 101, 102]);
    await tasks.add({ n: 1 }, { delayMs: 60_000 });
    expect((await tasks.list("delayed")).items).toMatchObject([{ data: { n: 1 }, state: "delayed" }]);
    expect((await tasks.list("dead")).items).toEqual([]);
  });

  test("waiting jobs are removed wherever they stand; running ones are not", async () => {
    const tasks = queue();
    const ids: string[] = [];
    for (const options of [{}, { priority: 3 }, { group: "g" }, { delayMs: 60_000 }, { dedup: { id: "d" } }]) {
      ids.push((await tasks.add({ n: 1 }, options)).id);
    }
    for (const id of ids) expect(await tasks.delete(id)).toEqual({ status: "deleted" });
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 0 });
    expect(await tasks.get(ids[0]!)).toBeNull();
    expect(await tasks.delete(ids[0]!)).toEqual({ status: "not-found" });
    expect(await tasks.add({ n: 1 }, { dedup: { id: "d" } })).toMatchObject({ status: "added" });
    const { id } = await tasks.add({ n: 2 });
    const begun = gate();
    const release = gate<number>();
    work(tasks, ({ data }) => {
      if (data.n !== 2) return 1;
      begun.open();
      return release.passed;
    });
    await begun.passed;
    expect(await tasks.delete(id)).toEqual({ status: "active" });
    release.open(1);
    expect(await tasks.waitFor(id)).toMatchObject({ status: "done" });
  });

  test("a paused queue starts nothing until it is resumed", async () => {
    const tasks = queue();
    await tasks.pause();
    const { id } = await tasks.add({ n: 1 });
    work(tasks, () => 1);
    expect(await tasks.waitFor(id, { timeoutMs: 100 })).toEqual({ status: "timeout" });
    expect(await tasks.counts()).toMatchObject({ paused: true, waiting: 1 });
    await tasks.resume();
    expect(await tasks.waitFor(id)).toMatchObject({ status: "done" });
  });

  test("a queue can be drained, cleaned and obliterated", async () => {
    const tasks = queue();
    await tasks.addMany(Array.from({ length: 30 }, (_, n) => ({ data: { n }, options: { group: `g${n % 3}` } })));
    await tasks.addMany(Array.from({ length: 600 }, (_, n) => ({ data: { n } })));
    await tasks.add({ n: 1 }, { delayMs: 60_000 });
    expect(await tasks.drain()).toBe(630);
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 1 });
    expect(await tasks.drain({ delayed: true })).toBe(1);
    const { id } = await tasks.add({ n: 1 });
    work(tasks, () => 1);
    await tasks.waitFor(id);
    expect(await tasks.clean("done", { keepMs: 60_000 })).toBe(0);
    expect(await tasks.clean("done")).toBe(1);
    expect(await tasks.get(id)).toBeNull();
    await workers.pop()!.stop();
    await tasks.clear();
    expect(await keysIn(backend.store)).toEqual([]);
  });

  test("finished jobs are kept to a bound", async () => {
    const tasks = queue();
    await tasks.configure({ keepDone: 10, keepDead: 5 });
    expect(await tasks.settings()).toEqual({ keepDone: 10, keepDead: 5 });
    await tasks.addMany(Array.from({ length: 40 }, (_, n) => ({ data: { n } })));
    const last = await tasks.add({ n: 40 });
    work(tasks, ({ data }) => {
      if (data.n % 2 === 1) throw new Error("odd");
      return null;
    });
    await tasks.waitFor(last.id);
    expect(await tasks.counts()).toMatchObject({ waiting: 0, done: 10, dead: 5 });
    expect((await tasks.list("done", { newestFirst: true, limit: 1 })).items[0]).toMatchObject({ data: { n: 40 } });
    const fields = (await backend.store.call("HKEYS", "queue:{tasks}:data")) as string[];
    expect(fields.filter((field) => /^[jrs]/.test(field)).length).toBeLessThanOrEqual(30);
    // Nothing of a job that asks for that.
    expect(await tasks.addAndWait({ n: 42 }, { id: "gone", keep: false })).toEqual({ status: "done", result: null });
    expect(await tasks.get("gone")).toBeNull();
  });

  test("a full queue refuses more", async () => {
    const tasks = queue();
    await tasks.configure({ maxWaiting: 3 });
    await tasks.addMany([{ data: { n: 1 } }, { data: { n: 2 } }, { data: { n: 3 } }]);
    await expect(tasks.add({ n: 4 })).rejects.toThrow(QueueFullError);
    expect(await tasks.counts()).toMatchObject({ waiting: 3 });
  });

  test("waiting for a result ends with a timeout, a signal, or the knowledge that there is no such job", async () => {
    const tasks = queue();
    const { id } = await tasks.add({ n: 1 });
    expect(await tasks.waitFor(id, { timeoutMs: 20 })).toEqual({ status: "timeout" });
    expect(await tasks.waitFor("nobody")).toEqual({ status: "not-found" });
    const abort = new AbortController();
    const waiting = tasks.waitFor(id, { signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    const both = Promise.all([tasks.waitFor(id), queue().waitFor(id)]);
    work(tasks, () => "x");
    expect(await both).toEqual([
      { status: "done", result: "x" },
      { status: "done", result: "x" },
    ]);
  });

  // ---------------------------------------------------------------------------------------------- groups and limits

  test("groups take turns, and each keeps its order", async () => {
    const tasks = queue();
    await tasks.addMany(Array.from({ length: 6 }, (_, n) => ({ data: { n }, options: { group: "a" } })));
    await tasks.addMany(Array.from({ length: 3 }, (_, n) => ({ data: { n: 10 + n }, options: { group: "b" } })));
    await tasks.addMany(Array.from({ length: 3 }, (_, n) => ({ data: { n: 20 + n }, options: { group: "c" } })));
    expect(await order(tasks, 12)).toEqual([0, 10, 20, 1, 11, 21, 2, 12, 22, 3, 4, 5]);
  });

  test("a group runs one at a time, or as many as the settings allow, whatever the room", async () => {
    const tasks = queue();
    const most = async (count: number): Promise<number> => {
      let running = 0;
      let peak = 0;
      const added = await tasks.addMany(
        Array.from({ length: count }, (_, n) => ({ data: { n }, options: { group: "g" } })),
      );
      const worker = work(
        tasks,
        async () => {
          peak = Math.max(peak, ++running);
          await tasks.counts();
          running--;
        },
        { concurrency: 20 },
      );
      for (const { id } of added) await tasks.waitFor(id);
      await worker.stop();
      return peak;
    };
    expect(await most(10)).toBe(1);
    await tasks.configure({ groupConcurrency: 3 });
    expect(await most(15)).toBe(3);
  });

  test("a retry keeps the order of its group, and other groups go on meanwhile", async () => {
    const tasks = queue();
    for (let n = 0; n < 4; n++) await tasks.add({ n }, { group: "a", attempts: 3, backoff: 60 });
    for (let n = 10; n < 14; n++) await tasks.add({ n }, { group: "b" });
    const ended: number[] = [];
    await new Promise<void>((resolve) => {
      work(
        tasks,
        ({ data, attempt }) => {
          if (data.n === 1 && attempt < 3) throw new Error("not yet");
          if (ended.push(data.n) === 8) resolve();
          return null;
        },
        { concurrency: 4 },
      );
    });
    expect(ended.filter((n) => n < 10)).toEqual([0, 1, 2, 3]);
    expect(ended.filter((n) => n >= 10)).toEqual([10, 11, 12, 13]);
    expect(ended.indexOf(13)).toBeLessThan(ended.indexOf(1));
  });

  test("a rate limit holds in every window, for the queue and for each group", async () => {
    const tasks = queue();
    await tasks.configure({ rate: { limit: 5, windowMs: 200 }, groupRate: { limit: 2, windowMs: 150 } });
    const starts: { group: string | null; ms: number }[] = [];
    await tasks.addMany(Array.from({ length: 9 }, (_, n) => ({ data: { n }, options: { group: `g${n % 2}` } })));
    await tasks.addMany(Array.from({ length: 4 }, (_, n) => ({ data: { n: 20 + n } })));
    await new Promise<void>((resolve) => {
      const handler: Handler<Task, unknown> = ({ group, startedAt }) => {
        if (starts.push({ group, ms: startedAt.getTime() }) === 13) resolve();
        return null;
      };
      work(tasks, handler, { concurrency: 20 });
    });
    const crowded = (times: readonly number[], max: number, windowMs: number) =>
      times.some((ms, at) => (times[at + max] ?? Number.POSITIVE_INFINITY) - ms < windowMs);
    expect(
      crowded(
        starts.map(({ ms }) => ms),
        5,
        200,
      ),
    ).toBe(false);
    for (const group of ["g0", "g1"]) {
      expect(
        crowded(
          starts.filter((start) => start.group === group).map(({ ms }) => ms),
          2,
          150,
        ),
      ).toBe(false);
    }
  });

  test("a rate limit of groups keeps nothing of a group past its window", async () => {
    const tasks = queue();
    await tasks.configure({ groupRate: { limit: 2, windowMs: 20 } });
    const jobs = Array.from({ length: 100 }, (_, n) => ({ data: { n }, options: { group: `g${n}` } }));
    await tasks.addMany(jobs);
    await order(tasks, jobs.length, { concurrency: 10 });
    const { index, timers } = tasks.shards[0]!.keys;
    // Workers look at what is due when they look for work.
    await expect
      .poll(
        async () => {
          await tasks.addAndWait({ n: -1 });
          return [await backend.store.call("ZCARD", index), await backend.store.call("ZCOUNT", timers, "-inf", "+inf")];
        },
        { timeout: 20_000 },
      )
      // What is left is the session of the worker.
      .toEqual([1, 1]);
  });

  test("at most so many jobs run at once over all workers", async () => {
    const tasks = queue();
    await tasks.configure({ concurrency: 3 });
    let running = 0;
    let peak = 0;
    const handler = async () => {
      peak = Math.max(peak, ++running);
      await tasks.counts();
      running--;
    };
    const added = await tasks.addMany(Array.from({ length: 30 }, (_, n) => ({ data: { n } })));
    work(tasks, handler, { concurrency: 10 });
    work(tasks, handler, { concurrency: 10 });
    for (const { id } of added) expect(await tasks.waitFor(id)).toMatchObject({ status: "done" });
    expect(peak).toBe(3);
  });

  // ---------------------------------------------------------------------------------------------- shards

  test("a queue over several slots: all jobs run, groups keep their order, ids find their job", async () => {
    const tasks = queue("wide", { shards: 4 });
    const added = await tasks.addMany(
      Array.from({ length: 80 }, (_, n) => ({ data: { n }, options: n % 2 === 0 ? { group: `g${n % 5}` } : {} })),
    );
    const named = await tasks.add({ n: 100 }, { id: "mine" });
    expect(await tasks.add({ n: 101 }, { id: "mine" })).toEqual({ id: named.id, status: "exists" });
    expect(await tasks.counts()).toMatchObject({ waiting: 81 });
    expect((await tasks.list("waiting", { limit: 1_000 })).items.length).toBe(81);
    const byGroup = new Map<string | null, number[]>();
    work(
      tasks,
      ({ data, group }) => {
        byGroup.set(group, [...(byGroup.get(group) ?? []), data.n]);
        return data.n;
      },
      { concurrency: 8 },
    );
    for (const [n, { id }] of added.entries()) expect(await tasks.waitFor(id)).toEqual({ status: "done", result: n });
    expect(await tasks.waitFor(named.id)).toEqual({ status: "done", result: 100 });
    for (const [group, numbers] of byGroup)
      if (group !== null) expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    await expect(tasks.get("no-shard")).rejects.toThrow(InputError);
  });

  test("all keys of a queue are in one slot, and queues, like shards, are in different ones", async () => {
    if (backend.store.topology !== "cluster") return;
    const slotOf = (key: string) => backend.store.send(["CLUSTER", "KEYSLOT", key]) as Promise<number>;
    const slots = new Set<number>();
    for (let number = 0; number < 8; number++) {
      for (const { keys } of queue(`queue ${number}`, { shards: 2 }).shards) {
        const own = new Set(await Promise.all(Object.values(keys).map(slotOf)));
        expect(own.size).toBe(1);
        for (const slot of own) slots.add(slot);
      }
    }
    expect(slots.size).toBeGreaterThan(12);
  });
});
