/** The contract of what a queue tells about itself: histories, workers, incidents, events, flows, results kept elsewhere; on every backend. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { type Incident, Queue, type QueueEvent, type ResultStore, type RunningJob } from "./index.ts";
import { cycle } from "./scripts/cycle.ts";
import { joinSession } from "./scripts/sessions.ts";
import { gate, type Task, workersOfSuite } from "./testing/suite.ts";

describeBackends("insight into queues", (backend) => {
  const work = workersOfSuite();
  const queue = <R = unknown>(name = "tasks", options = {}) => new Queue<Task, R>(backend.store, name, options);

  /** A worker that takes the first job and is never heard of again; its lease is over at once. */
  const vanish = async (tasks: Queue<Task, unknown>, name: string): Promise<void> => {
    const { keys } = tasks.shards[0]!;
    const params = { session: "0", leaseMs: 1, worker: name, figures: '{"o":[]}', held: [] };
    const { session } = await backend.store.run(joinSession, { ...keys, ...params });
    const taking = { session, leaseMs: 1, look: 0, most: 1, finished: [] };
    expect((await backend.store.run(cycle, { ...keys, ...taking })).jobs).not.toEqual([]);
    await backend.store.call("ZADD", keys.timers, 1, `w${session}`);
  };

  /** Until the server's clock is so much further. */
  const passMs = async (ms: number): Promise<void> => {
    const now = async () => (await backend.store.call("TIME")).map(Number) as [number, number];
    const [seconds, micros] = await now();
    for (let at = await now(); (at[0] - seconds) * 1_000 + (at[1] - micros) / 1_000 < ms; ) at = await now();
  };

  // ---------------------------------------------------------------------------------------------- history

  test("a job knows its attempts: when, by whom, and why each failed", async () => {
    const tasks = queue();
    const { id } = await tasks.add({ n: 1 }, { attempts: 4, backoff: 5 });
    expect(await tasks.history(id)).toEqual([]);
    await vanish(tasks, "lost one");
    expect(await tasks.history(id)).toMatchObject([
      { attempt: 1, status: "active", worker: "lost one", endedAt: null },
    ]);
    work(
      tasks,
      async ({ attempt }) => {
        await passMs(5);
        const cause = Object.assign(new TypeError("no connection"), { code: "ECONNREFUSED" });
        if (attempt < 3) throw Object.assign(new RangeError(`attempt ${attempt}`, { cause }), { code: "E_OWN" });
        return "well";
      },
      { name: "wörker 1" },
    );
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: "well" });
    const history = (await tasks.history(id))!;
    expect(history).toMatchObject([
      { attempt: 1, status: "stalled", worker: "lost one", startedAt: null, error: null },
      { attempt: 1, status: "failed", worker: "wörker 1", error: { name: "RangeError", message: "attempt 1" } },
      { attempt: 2, status: "failed", worker: "wörker 1", error: { name: "RangeError", message: "attempt 2" } },
      { attempt: 3, status: "done", worker: "wörker 1", error: null },
    ]);
    expect(history[1]!.error!.stack).toContain("insight.test.ts");
    expect(history[1]!.error!.stack).toContain("Caused by: TypeError: no connection");
    expect(history[1]!.error!.code).toBe("E_OWN");
    for (const { startedAt, endedAt } of history.slice(1)) {
      expect(endedAt!.getTime() - startedAt!.getTime()).toBeGreaterThanOrEqual(4);
    }
    expect(history[2]!.startedAt!.getTime()).toBeGreaterThanOrEqual(history[1]!.endedAt!.getTime() - 1);
    const job = (await tasks.get(id))!;
    expect(job).toMatchObject({
      worker: "wörker 1",
      startedAt: history[3]!.startedAt,
      finishedAt: history[3]!.endedAt,
    });
    expect(await tasks.history("nobody")).toBeNull();
  });

  test("what an attempt took is its own time, also where handlers keep the thread busy one after the other", async () => {
    const tasks = queue();
    const ids = (await tasks.addMany([1, 2, 3, 4].map((n) => ({ data: { n } })))).map(({ id }) => id);
    const ran: string[] = [];
    let begunMs = Number.NaN;
    let endedMs = 0;
    const worker = work(
      tasks,
      ({ id, data }) => {
        ran.push(id);
        const from = performance.now();
        if (ran.length === 1) begunMs = from;
        while (performance.now() - from < 30);
        if (data.n % 2 === 0) throw new Error("even");
        return null;
      },
      { concurrency: 4 },
    );
    const ended = (): void => {
      endedMs = performance.now();
    };
    worker.on("done", ended);
    worker.on("failed", ended);
    for (const id of ids) await tasks.waitFor(id);
    const jobs = await tasks.getMany(ran);
    const took = jobs.map((job) => job!.finishedAt!.getTime() - job!.startedAt!.getTime());
    for (const ms of took) expect(ms).toBeGreaterThanOrEqual(29);
    // The last one did not count the others' time, which was 30 ms each at least.
    expect(took[3]! + 3 * 30).toBeLessThanOrEqual(endedMs - begunMs + 1);
  });

  test("a retry by hand keeps the attempts before it; they go with the job", async () => {
    const tasks = queue();
    let isSound = false;
    work(tasks, () => {
      if (!isSound) throw new Error("broken");
      return 1;
    });
    const { id } = await tasks.add({ n: 1 });
    await tasks.waitFor(id);
    expect(await tasks.history(id)).toMatchObject([{ attempt: 1, status: "failed", error: { message: "broken" } }]);
    isSound = true;
    await tasks.retry(id);
    await tasks.waitFor(id);
    await tasks.retry(id);
    await tasks.waitFor(id);
    expect((await tasks.history(id))!.map(({ status }) => status)).toEqual(["failed", "done", "done"]);
    await tasks.delete(id);
    const fields = (await backend.store.call("HKEYS", "queue:{tasks}:data")) as string[];
    expect(fields.filter((field) => field.endsWith(id))).toEqual([]);
  });

  test("of many attempts the last are kept, as many as the settings say, and none with 0", async () => {
    const tasks = queue();
    work(tasks, ({ attempt }) => {
      throw new Error(`attempt ${attempt}`);
    });
    const messages = async (settings: object): Promise<(string | undefined)[]> => {
      await tasks.configure(settings);
      const { id } = await tasks.add({ n: 1 }, { attempts: 14 });
      await tasks.waitFor(id);
      return (await tasks.history(id))!.map(({ error }) => error?.message);
    };
    expect(await messages({})).toEqual(Array.from({ length: 11 }, (_, at) => `attempt ${at + 4}`));
    expect(await messages({ keepAttempts: 2 })).toEqual(["attempt 12", "attempt 13", "attempt 14"]);
    expect(await messages({ keepAttempts: 0 })).toEqual(["attempt 14"]);
  });

  test("a plain job that goes well keeps two fields, and knows its worker and its times nevertheless", async () => {
    const tasks = queue();
    work(tasks, () => null, { name: "w" });
    const { id } = await tasks.add({ n: 1 });
    await tasks.waitFor(id);
    const fields = (await backend.store.call("HKEYS", "queue:{tasks}:data")) as string[];
    expect(fields.filter((field) => field.endsWith(id)).sort()).toEqual([`j${id}`, `r${id}`]);
    expect(await tasks.history(id)).toMatchObject([{ attempt: 1, status: "done", worker: "w", error: null }]);
  });

  test("a job that was cancelled before it ran has no attempts", async () => {
    const tasks = queue();
    const { id } = await tasks.add({ n: 1 });
    await tasks.cancel(id);
    expect(await tasks.history(id)).toEqual([]);
    expect(await tasks.get(id)).toMatchObject({ state: "dead", worker: null, startedAt: null });
  });

  // ---------------------------------------------------------------------------------------------- workers

  test("workers are counted among themselves and by the queue, as long as they live", async () => {
    const tasks = queue("wide", { shards: 2 });
    const release = gate();
    const begun = gate();
    let running = 0;
    const worker = work(
      tasks,
      async ({ data }) => {
        if (data.n === 0) throw new Error("failed");
        if (data.n > 2) return 1;
        if (++running === 2) begun.open();
        return release.passed;
      },
      { concurrency: 8, name: "first" },
    );
    const others = work(tasks, () => 1, { name: "second" });
    others.pause();
    const ids = (await tasks.addMany([0, 1, 2, 3, 4].map((n) => ({ data: { n } })))).map(({ id }) => id);
    await begun.passed;
    for (const id of [ids[0]!, ids[3]!, ids[4]!]) await tasks.waitFor(id);
    expect(worker.stats()).toMatchObject({ name: "first", concurrency: 8, running: 2, done: 2, failed: 1, lost: 0 });
    // It tells so by itself, every few seconds.
    await expect
      .poll(async () => (await tasks.workers()).find(({ name }) => name === "first"), { timeout: 20_000 })
      .toMatchObject({ concurrency: 8, running: 2, done: 2, failed: 1, lost: 0, pid: process.pid });
    const workers = await tasks.workers();
    expect(workers.map(({ name }) => name).sort()).toEqual(["first", "second"]);
    const first = workers.find(({ name }) => name === "first")!;
    expect(first.oldest.map(({ id }) => id).sort()).toEqual([ids[1]!, ids[2]!].sort());
    expect(first.oldest[0]!.startedAt).toBeInstanceOf(Date);
    expect(first.startedAt.getTime()).toBeLessThanOrEqual(first.toldAt.getTime());
    // So the history of a job that runs knows since when.
    expect(await tasks.history(ids[1]!)).toMatchObject([
      { status: "active", worker: "first", startedAt: first.oldest.find(({ id }) => id === ids[1])!.startedAt },
    ]);
    release.open();
    await worker.stop();
    expect((await tasks.workers()).map(({ name }) => name)).toEqual(["second"]);
    await others.stop();
    expect(await tasks.workers()).toEqual([]);
    expect(() => work(tasks, () => 1, { name: "a;b" })).toThrow(InputError);
  });

  // ---------------------------------------------------------------------------------------------- incidents

  test("stalled and slow jobs are reported, to a bound", async () => {
    const tasks = queue();
    const events: QueueEvent[] = [];
    const feed = await tasks.events({ kinds: ["slow", "stalled"] });
    const reading = (async () => {
      for await (const event of feed) events.push(event);
    })();
    const { id } = await tasks.add({ n: 1 });
    await vanish(tasks, "lost one");
    const seen = gate<number>();
    const release = gate();
    const worker = work(tasks, () => release.passed, { slowMs: 20, name: "slow one" });
    worker.on("slow", (job, { runningMs }) => {
      expect(job.id).toBe(id);
      seen.open(runningMs);
    });
    expect(await seen.passed).toBeGreaterThanOrEqual(20);
    await expect.poll(() => tasks.incidents()).toHaveLength(2);
    const [slow, stalled] = (await tasks.incidents()) as [Incident, Incident];
    expect(slow).toMatchObject({ kind: "slow", id, worker: "slow one" });
    expect(slow.kind === "slow" && slow.runningMs).toBeGreaterThanOrEqual(20);
    expect(stalled).toMatchObject({ kind: "stalled", id, worker: "lost one", stalls: 1 });
    expect(await tasks.incidents({ kind: "stalled" })).toEqual([stalled]);
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(["stalled", "slow"]);
    release.open();
    await tasks.waitFor(id);
    await worker.stop();
    // Once for each attempt.
    expect(await tasks.incidents({ kind: "slow" })).toHaveLength(1);
    feed.close();
    await reading;
    await tasks.addMany(Array.from({ length: 130 }, (_, n) => ({ data: { n } })));
    const { keys } = tasks.shards[0]!;
    const joined = await backend.store.run(joinSession, {
      ...{ ...keys, session: "0", leaseMs: 1 },
      ...{ worker: "w", figures: '{"o":[]}', held: [] },
    });
    const { session } = joined;
    await backend.store.run(cycle, { ...keys, session, leaseMs: 1, look: 0, most: 130, finished: [] });
    await backend.store.call("ZADD", keys.timers, 1, `w${session}`);
    const last = work(tasks, () => 1, { concurrency: 50 });
    await expect.poll(async () => (await tasks.counts()).done).toBe(131);
    await last.stop();
    expect(await tasks.incidents({ kind: "stalled", limit: 1_000 })).toHaveLength(100);
    expect(await tasks.incidents({ limit: 5 })).toHaveLength(5);
  });

  // ---------------------------------------------------------------------------------------------- events

  test("events of some kinds have the types of their payloads, with results where the settings say so", async () => {
    const tasks = queue<{ readonly sum: number }>();
    await tasks.configure({ resultsInEvents: true });
    expect(await tasks.settings()).toEqual({ resultsInEvents: true });
    const feed = await tasks.events({ kinds: ["done", "drained", "updated"] });
    const { id } = await tasks.add({ n: 1 }, { delayMs: 60_000 });
    await tasks.update(id, { data: { n: 20 }, delayMs: 0 });
    work(tasks, ({ data }) => ({ sum: data.n + 1 }));
    const seen: unknown[] = [];
    for await (const event of feed) {
      // Typed: only these kinds, and the result is the queue's.
      if (event.kind === "done") seen.push(event.id, event.result?.sum);
      else if (event.kind === "updated") seen.push(event.kind);
      else if (seen.push(event.kind) === 4) break;
    }
    expect(seen).toEqual(["updated", id, 21, "drained"]);
    await expect(tasks.events({ kinds: ["nothing" as "done"] })).rejects.toThrow(InputError);
  });

  test("results in events may be bytes, and a cursor goes on behind them", async () => {
    const images = new Queue<Task, Uint8Array>(backend.store, "images", { resultCodec: bytes });
    await images.configure({ resultsInEvents: true });
    work(images, ({ data }) => Uint8Array.of(data.n, 10, 0, 255));
    for (const n of [1, 2]) await images.addAndWait({ n });
    const results: number[][] = [];
    let cursor = "start";
    for await (const event of await images.events({ from: "start", kinds: ["done"] })) {
      results.push([...event.result!]);
      cursor = event.cursor;
      break;
    }
    for await (const event of await images.events({ from: cursor, kinds: ["done"] })) {
      results.push([...event.result!]);
      break;
    }
    expect(results).toEqual([
      [1, 10, 0, 255],
      [2, 10, 0, 255],
    ]);
  });

  // ---------------------------------------------------------------------------------------------- flows

  test("parents and children of flows can be asked for, over queues", async () => {
    const tasks = queue();
    const images = new Queue<Task, unknown>(backend.store, "im/ages", { shards: 2, prefix: "other" });
    const root = await tasks.addFlow({
      data: { n: 0 },
      children: [
        { data: { n: 1 }, options: { id: "near", delayMs: 60_000 } },
        { queue: images, data: { n: 2 }, options: { id: "far" } },
        {
          data: { n: 3 },
          options: { id: "middle" },
          children: [{ queue: images, data: { n: 4 }, options: { id: "deep" } }],
        },
      ],
    });
    const far = (await images.add({ n: 9 }, { id: "far" })).id;
    const deep = (await images.add({ n: 9 }, { id: "deep" })).id;
    expect(await tasks.parent("near")).toEqual({ queue: "tasks", id: root });
    expect(await images.parent(far)).toEqual({ queue: "tasks", id: root });
    expect(await images.parent(deep)).toEqual({ queue: "tasks", id: "middle" });
    expect(await tasks.parent(root)).toBeNull();
    expect(await tasks.parent("nobody")).toBeNull();
    const first = await tasks.children(root, { limit: 2 });
    expect(first).toEqual({
      items: [
        { queue: "tasks", id: "near", name: "near", status: "pending" },
        { queue: "im/ages", id: far, name: `im/ages/${far}`, status: "pending" },
      ],
      cursor: "2",
    });
    expect(await tasks.children(root, { limit: 2, cursor: "2" })).toMatchObject({
      items: [{ id: "middle" }],
      cursor: null,
    });
    expect(await tasks.children("near")).toEqual({ items: [], cursor: null });
    const tree = (await tasks.getFlow(root))!;
    expect(tree).toMatchObject({
      ...{ queue: "tasks", id: root, state: "waiting-for-children", hiddenChildren: 0 },
      children: [
        { queue: "tasks", id: "near", state: "delayed", job: { data: { n: 1 } }, children: [] },
        { queue: "im/ages", id: far, state: "waiting", job: { data: { n: 2 } } },
        { id: "middle", state: "waiting-for-children", children: [{ queue: "im/ages", id: deep, state: "waiting" }] },
      ],
    });
    expect(await tasks.getFlow(root, { depth: 0 })).toMatchObject({ children: [], hiddenChildren: 3 });
    expect(await tasks.getFlow(root, { limit: 1 })).toMatchObject({ children: [{ id: "near" }], hiddenChildren: 2 });
    expect(await tasks.getFlow("nobody")).toBeNull();
    work(images, ({ data }) => {
      if (data.n === 4) throw new Error("too deep");
      return data.n * 10;
    });
    await images.waitFor(far);
    await images.waitFor(deep);
    await expect
      .poll(async () => (await tasks.children(root)).items[1])
      .toMatchObject({ id: far, status: "done", result: 20 });
    // Its parent waits until it is replayed.
    expect((await tasks.getFlow(root))!.children[2]!.children[0]).toMatchObject({ id: deep, state: "dead" });
    expect((await tasks.children("middle")).items).toMatchObject([{ id: deep, status: "pending" }]);
  });

  // ---------------------------------------------------------------------------------------------- results elsewhere

  /** A bucket in memory. */
  const bucket = () => {
    const kept = new Map<string, string | Uint8Array>();
    const results: ResultStore = {
      async set(result, { queue: of, id, attempt }) {
        const ref = `${of}/${id}/${attempt}`;
        kept.set(ref, result);
        return ref;
      },
      async get(ref) {
        return kept.get(ref) ?? null;
      },
    };
    return { kept, results };
  };

  test("large results are kept elsewhere, and come from there wherever a result is read", async () => {
    const { kept, results } = bucket();
    const tasks = queue<string>("tasks", { results, maxInlineResultBytes: 100, maxPayloadBytes: 1_000 });
    const large = "x".repeat(5_000);
    let seen: unknown;
    work(tasks, async ({ data }: RunningJob<Task>, { children }) => {
      if (data.n === 3) seen = [...(await children()).values()];
      return data.n === 1 ? "small" : large;
    });
    expect(await tasks.addAndWait({ n: 1 })).toEqual({ status: "done", result: "small" });
    expect(kept.size).toBe(0);
    expect(await tasks.addAndWait({ n: 2 }, { id: "two" })).toEqual({ status: "done", result: large });
    expect([...kept.keys()]).toEqual(["tasks/two/1"]);
    expect(await tasks.waitFor("two")).toEqual({ status: "done", result: large });
    expect(await tasks.get("two")).toMatchObject({ result: large, resultRef: "tasks/two/1" });
    expect((await tasks.list("done", { newestFirst: true, limit: 1 })).items[0]).toMatchObject({ result: large });
    const parent = await tasks.addFlow({ data: { n: 3 }, children: [{ data: { n: 2 } }] });
    expect(await tasks.waitFor(parent)).toEqual({ status: "done", result: large });
    expect(seen).toEqual([{ status: "done", result: large }]);
    expect((await tasks.children(parent)).items).toMatchObject([{ status: "done", result: large }]);
    // In the store there is only where it is.
    const stored = await backend.store.call("HGET", "queue:{tasks}:data", "rtwo");
    expect(String(stored).length).toBeLessThan(150);
    // Who does not know where results are kept sees the reference, and a result that is gone is null.
    expect(await queue("tasks").get("two")).toMatchObject({ state: "done", result: null, resultRef: "tasks/two/1" });
    kept.clear();
    expect(await tasks.get("two")).toMatchObject({ result: null, resultRef: "tasks/two/1" });
  });

  test("bytes are kept elsewhere as they are, and what looks like a reference is none", async () => {
    const { kept, results } = bucket();
    const images = new Queue<Task, Uint8Array>(backend.store, "images", { resultCodec: bytes, results });
    const tricky = Buffer.from("\u0001cinnabar:result\nelsewhere");
    const large = Buffer.alloc(100_000, 7);
    work(images, ({ data }) => (data.n === 1 ? tricky : large));
    const first = await images.addAndWait({ n: 1 });
    expect(first.status === "done" && Buffer.from(first.result!).equals(tricky)).toBe(true);
    const second = await images.addAndWait({ n: 2 });
    expect(second.status === "done" && Buffer.from(second.result!).equals(large)).toBe(true);
    expect(kept.size).toBe(2);
  });

  test("an attempt whose result cannot be kept has failed, and is tried again", async () => {
    const { kept, results } = bucket();
    let refusals = 1;
    const careful: ResultStore = {
      ...results,
      async set(result, about) {
        if (refusals-- > 0) throw new Error("the bucket is full");
        return results.set(result, about);
      },
    };
    const tasks = queue<string>("tasks", { results: careful, maxInlineResultBytes: 10 });
    const effectKey = "effects:{tasks}";
    work(tasks, (_job, { effect }) => {
      effect(["INCR", effectKey], [effectKey]);
      return "more than ten bytes";
    });
    const { id } = await tasks.add({ n: 1 }, { attempts: 2 });
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: "more than ten bytes" });
    expect((await tasks.history(id))!.map(({ error }) => error?.message)).toEqual(["the bucket is full", undefined]);
    expect([...kept.keys()]).toEqual([`tasks/${id}/2`]);
    expect(await backend.store.call("GET", effectKey)).toBe("1");
  });
});
