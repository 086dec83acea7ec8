/** The contract of what is done to jobs from outside: changing them, many at once, cleaning; names of jobs; schedules; on every backend. */
import { expect, test } from "vitest";
import { describeBackends } from "../../../tests/kit/index.ts";
import { keysIn } from "../../../tests/kit/keys.ts";
import { bytes } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { Registry } from "../../base/registry.ts";
import { type JobState, Queue, type RunningJob } from "./index.ts";
import { gate, type Task, workersOfSuite } from "./testing/suite.ts";

describeBackends("managing queues", (backend) => {
  const work = workersOfSuite();
  const queue = (name = "tasks", options = {}) => new Queue<Task, unknown>(backend.store, name, options);
  /** Runs what waits, one after the other; the numbers of `count` jobs in order. */
  const order = (on: Queue<Task, unknown>, count: number): Promise<number[]> =>
    new Promise((resolve) => {
      const seen: number[] = [];
      work(on, ({ data }: RunningJob<Task>) => {
        if (seen.push(data.n) === count) resolve(seen);
        return null;
      });
    });

  // ---------------------------------------------------------------------------------------------- names

  test("jobs have names, and a worker a handler for each", async () => {
    const tasks = new Queue<{ readonly to: string } | { readonly file: string }, string>(backend.store, "named");
    work(tasks, {
      mail: ({ data, name }: RunningJob<{ readonly to: string }>) => `${name} to ${data.to}`,
      resize: ({ data }: RunningJob<{ readonly file: string }>) => `resized ${data.file}`,
    });
    const mail = await tasks.add({ to: "ann" }, { name: "mail", attempts: 3 });
    expect(await tasks.waitFor(mail.id)).toEqual({ status: "done", result: "mail to ann" });
    expect(await tasks.get(mail.id)).toMatchObject({ name: "mail", attempts: 3 });
    const [resize] = await tasks.addMany([{ data: { file: "a.png" }, options: { name: "resize" } }]);
    expect(await tasks.waitFor(resize!.id)).toEqual({ status: "done", result: "resized a.png" });
    const unknown = await tasks.addAndWait({ to: "bob" }, { name: "fax" });
    expect(unknown).toMatchObject({ status: "dead", error: { name: "NoHandlerError" } });
    expect(unknown.status === "dead" && unknown.error.message).toContain('jobs named "fax"; it has mail, resize');
    expect(await tasks.addAndWait({ to: "bob" })).toMatchObject({ status: "dead", error: { name: "NoHandlerError" } });
  });

  test("a handler for * takes what the others do not, and jobs without a name", async () => {
    const tasks = queue();
    work(tasks, { one: () => "one", "*": ({ name }) => `other: ${name}` });
    expect(await tasks.addAndWait({ n: 1 }, { name: "one" })).toEqual({ status: "done", result: "one" });
    expect(await tasks.addAndWait({ n: 1 }, { name: "two" })).toEqual({ status: "done", result: "other: two" });
    expect(await tasks.addAndWait({ n: 1 })).toEqual({ status: "done", result: "other: null" });
    expect((await tasks.get((await tasks.add({ n: 1 })).id))?.name).toBeNull();
    expect(() => work(tasks, {})).toThrow(InputError);
    await expect(tasks.add({ n: 1 }, { name: "a\nb" })).rejects.toThrow(InputError);
  });

  // ---------------------------------------------------------------------------------------------- changing

  test("data, options and name of a job that waits can be changed, wherever it stands", async () => {
    const tasks = queue();
    const places = [{}, { priority: 3 }, { group: "g" }, { delayMs: 60_000 }, { attempts: 2, name: "x" }];
    for (const options of places) {
      const { id } = await tasks.add({ n: 1 }, options);
      const before = (await tasks.get(id))!;
      expect(await tasks.update(id, { data: { n: 2 } })).toEqual({ status: "updated" });
      expect(await tasks.get(id)).toEqual({ ...before, data: { n: 2 } });
      const change = { attempts: 7, timeoutMs: 500, backoff: { type: "fixed", delayMs: 5 }, name: "y" } as const;
      expect(await tasks.update(id, change)).toEqual({ status: "updated" });
      expect(await tasks.get(id)).toEqual({ ...before, data: { n: 2 }, attempts: 7, name: "y" });
    }
    expect(await tasks.counts()).toMatchObject({ waiting: 4, delayed: 1 });
    expect(await tasks.update("nobody", { data: { n: 3 } })).toEqual({ status: "not-found" });
    const ran = gate<number>();
    work(tasks, ({ data }) => ran.open(data.n));
    expect(await ran.passed).toBe(2);
  });

  test("a change of priority moves a job to where it belongs", async () => {
    const tasks = queue();
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await tasks.add({ n }, n === 5 ? { priority: 5 } : {})).id);
    expect(await tasks.update(ids[3]!, { priority: 10 })).toEqual({ status: "updated" });
    await tasks.update(ids[1]!, { priority: -1 });
    // Back among those that have none: at their end.
    await tasks.update(ids[5]!, { priority: 0 });
    // The same as before is no change of place.
    await tasks.update(ids[0]!, { priority: 0 });
    expect((await tasks.list("waiting")).items.map(({ data }) => data.n)).toEqual([3, 0, 2, 4, 5, 1]);
    expect(await order(tasks, 6)).toEqual([3, 0, 2, 4, 5, 1]);
  });

  test("a change of priority within a group keeps it one at a time", async () => {
    const tasks = queue();
    const ids: string[] = [];
    for (let n = 0; n < 4; n++) ids.push((await tasks.add({ n }, { group: "g" })).id);
    await tasks.update(ids[3]!, { priority: 2 });
    await tasks.update(ids[0]!, { priority: -2 });
    expect(await order(tasks, 4)).toEqual([3, 1, 2, 0]);
    expect(await tasks.counts()).toMatchObject({ waiting: 0 });
  });

  test("a job that waits can be delayed, a delayed one later or sooner, or now", async () => {
    const tasks = queue();
    const waiting = await tasks.add({ n: 1 });
    const delayed = await tasks.add({ n: 2 }, { delayMs: 60_000, group: "g" });
    expect(await tasks.update(waiting.id, { delayMs: 60_000 })).toEqual({ status: "updated" });
    expect(await tasks.get(waiting.id)).toMatchObject({ state: "delayed" });
    const at = new Date("2100-01-01T00:00:00Z");
    await tasks.update(waiting.id, { at });
    expect(await tasks.get(waiting.id)).toMatchObject({ state: "delayed", dueAt: at });
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 2 });
    // A worker that sleeps learns of an earlier time.
    work(tasks, ({ data }) => data.n);
    await tasks.update(waiting.id, { delayMs: 50, priority: 3 });
    expect(await tasks.waitFor(waiting.id)).toEqual({ status: "done", result: 1 });
    await tasks.update(delayed.id, { delayMs: 0 });
    expect(await tasks.waitFor(delayed.id)).toEqual({ status: "done", result: 2 });
  });

  test("a job that runs is not changed; one that ended can be before it is retried, but has no time", async () => {
    const tasks = queue();
    const begun = gate();
    const release = gate();
    work(tasks, async ({ data }) => {
      if (data.n === 1) {
        begun.open();
        await release.passed;
        throw new Error("the wrong number");
      }
      return data.n;
    });
    const { id } = await tasks.add({ n: 1 });
    await begun.passed;
    expect(await tasks.update(id, { data: { n: 2 } })).toEqual({ status: "active" });
    release.open();
    await tasks.waitFor(id);
    expect(await tasks.update(id, { delayMs: 5 })).toEqual({ status: "finished" });
    expect(await tasks.update(id, { data: { n: 2 }, priority: 4 })).toEqual({ status: "updated" });
    expect(await tasks.retry(id)).toBe(true);
    expect(await tasks.waitFor(id)).toEqual({ status: "done", result: 2 });
    const parent = await tasks.addFlow({
      data: { n: 5 },
      children: [{ data: { n: 6 }, options: { delayMs: 60_000 } }],
    });
    expect(await tasks.update(parent, { delayMs: 5 })).toEqual({ status: "waiting-for-children" });
    expect(await tasks.update(parent, { data: { n: 50 } })).toEqual({ status: "updated" });
    await tasks.promoteDelayed();
    expect(await tasks.waitFor(parent)).toEqual({ status: "done", result: 50 });
  });

  test("bad changes are refused before anything is written, and payloads may be bytes", async () => {
    const tasks = queue("tasks", { maxPayloadBytes: 12 });
    const { id } = await tasks.add({ n: 1 });
    const bad: object[] = [
      { delayMs: -1 },
      { delayMs: 1, at: 5 },
      { priority: 2_000 },
      { attempts: 0 },
      { lifo: true },
    ];
    for (const change of bad) await expect(tasks.update(id, change)).rejects.toThrow(InputError);
    await expect(tasks.update(id, { data: { n: 1e15 + 0.5 } })).rejects.toThrow(InputError);
    expect(await tasks.get(id)).toMatchObject({ data: { n: 1 }, priority: 0 });
    const images = new Queue<Uint8Array, unknown>(backend.store, "images", { codec: bytes });
    const added = await images.add(Uint8Array.of(1, 10, 0), { priority: 1 });
    const all = Uint8Array.from({ length: 256 }, (_, at) => at);
    await images.update(added.id, { priority: 2 });
    expect([...(await images.get(added.id))!.data]).toEqual([1, 10, 0]);
    await images.update(added.id, { data: all });
    expect([...(await images.get(added.id))!.data]).toEqual([...all]);
  });

  test("racing changes and workers: each job runs once, with one of the payloads that it had", async () => {
    const tasks = queue();
    const ids = (await tasks.addMany(Array.from({ length: 60 }, (_, n) => ({ data: { n } })))).map(({ id }) => id);
    const ran: number[] = [];
    work(tasks, ({ data }) => ran.push(data.n), { concurrency: 3 });
    const outcomes = await Promise.all(
      ids.map((id, n) => tasks.update(id, { data: { n: n + 1_000 }, priority: (n % 3) - 1, delayMs: n % 20 })),
    );
    for (const id of ids) expect(await tasks.waitFor(id)).toMatchObject({ status: "done" });
    expect([...new Set(ran.map((n) => n % 1_000))]).toHaveLength(60);
    expect(ran).toHaveLength(60);
    for (const [n, { status }] of outcomes.entries()) {
      if (status === "active") expect(ran).toContain(n);
      if (status === "updated") expect(ran.includes(n) || ran.includes(n + 1_000)).toBe(true);
    }
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 0, active: 0 });
  });

  // ---------------------------------------------------------------------------------------------- many at once

  test("many jobs at once: one result for each, in the order given, over shards and past one round trip", async () => {
    const tasks = queue("wide", { shards: 3 });
    const added = await tasks.addMany(Array.from({ length: 1_203 }, (_, n) => ({ data: { n } })));
    const ids = added.map(({ id }) => id);
    const absent = "nobody@1";
    expect((await tasks.getMany([ids[5]!, absent, ids[900]!])).map((job) => job?.data.n)).toEqual([5, undefined, 900]);
    const updated = await tasks.updateMany([
      { id: ids[7]!, data: { n: 7_000 }, delayMs: 60_000 },
      { id: absent, priority: 1 },
      { id: ids[8]!, delayMs: 60_000 },
    ]);
    expect(updated.map(({ status }) => status)).toEqual(["updated", "not-found", "updated"]);
    expect(await tasks.promoteMany([ids[7]!, ids[9]!, absent])).toEqual([true, false, false]);
    expect((await tasks.cancelMany([ids[1]!, absent])).map(({ status }) => status)).toEqual(["cancelled", "not-found"]);
    expect(await tasks.retryMany([ids[2]!, ids[1]!])).toEqual([false, true]);
    const deleted = await tasks.deleteMany([...ids, absent]);
    expect(deleted.map(({ status }) => status)).toEqual([...ids.map(() => "deleted"), "not-found"]);
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 0, dead: 0 });
    expect(await tasks.deleteMany([])).toEqual([]);
    await expect(tasks.deleteMany(["no-shard"])).rejects.toThrow(InputError);
  });

  test("all delayed jobs can be promoted, or those that are due first", async () => {
    const tasks = queue();
    for (let n = 0; n < 5; n++) await tasks.add({ n }, { delayMs: 60_000 + n * 1_000 });
    expect(await tasks.promoteDelayed({ limit: 2 })).toBe(2);
    expect((await tasks.list("waiting")).items.map(({ data }) => data.n)).toEqual([0, 1]);
    expect(await tasks.promoteDelayed()).toBe(3);
    expect(await order(tasks, 5)).toEqual([0, 1, 2, 3, 4]);
  });

  // ---------------------------------------------------------------------------------------------- cleaning

  test("jobs of every state but the active are cleaned by age", async () => {
    const tasks = queue();
    const states = ["waiting", "delayed", "waiting-for-children", "done", "dead"] as const;
    await tasks.pause();
    await tasks.addMany(Array.from({ length: 1_100 }, (_, n) => ({ data: { n } })));
    for (let n = 0; n < 5; n++) {
      await tasks.add({ n }, { priority: 1 });
      await tasks.add({ n }, { group: `g${n}` });
      await tasks.add({ n }, { delayMs: 60_000 });
    }
    await tasks.addFlow({ data: { n: 1 }, children: [{ data: { n: 2 }, options: { delayMs: 60_000 } }] });
    await tasks.cancel((await tasks.add({ n: 9 })).id);
    expect(await tasks.counts()).toMatchObject({ waiting: 1_110, delayed: 6, waitingForChildren: 1, dead: 1 });
    for (const state of states) expect(await tasks.clean(state, { keepMs: 3_600_000 })).toBe(0);
    expect(await tasks.clean("waiting", { limit: 600 })).toBe(600);
    expect((await tasks.list("waiting", { limit: 1_000 })).items.map(({ data }) => data.n).slice(0, 7)).toEqual([
      ...[0, 1, 2, 3, 4],
      ...[600, 601],
    ]);
    expect(await tasks.clean("waiting")).toBe(510);
    expect(await tasks.clean("delayed", { limit: 4 })).toBe(4);
    expect(await tasks.clean("delayed")).toBe(2);
    expect(await tasks.clean("waiting-for-children")).toBe(1);
    expect(await tasks.clean("dead")).toBe(1);
    expect(await tasks.counts()).toMatchObject({ waiting: 0, delayed: 0, waitingForChildren: 0, dead: 0 });
    for (const state of states) expect((await tasks.list(state)).items).toEqual([]);
    const fields = (await backend.store.call("HKEYS", "queue:{tasks}:data")) as string[];
    expect(fields.filter((field) => /^[jrsh]/.test(field))).toEqual([]);
    await tasks.clear();
    expect(await keysIn(backend.store)).toEqual([]);
  });

  test("cleaning by age leaves the younger, and tells who waits for the others", async () => {
    const tasks = queue();
    const kinds = [{}, { priority: 1 }, { group: "g" }, { delayMs: 60_000 }];
    const { data } = tasks.shards[0]!.keys;
    for (const options of kinds) {
      const old = await tasks.add({ n: 1 }, options);
      const young = await tasks.add({ n: 2 }, options);
      const state = (await tasks.get(old.id))!.state as "waiting" | "delayed";
      // Added an hour earlier.
      const record = String(await backend.store.call("HGET", data, `j${old.id}`));
      const createdMs = Number.parseInt(record, 10) - 3_600_000;
      await backend.store.call("HSET", data, `j${old.id}`, record.replace(/^\d+/, String(createdMs)));
      const waiting = tasks.waitFor(old.id);
      await expect.poll(() => backend.store.call("HEXISTS", data, `a${old.id}`)).toBe(1);
      expect(await tasks.clean(state, { keepMs: 1_800_000 })).toBe(1);
      expect(await waiting).toMatchObject({ status: "dead", error: { name: "Removed" } });
      expect(await tasks.get(young.id)).toMatchObject({ state, data: { n: 2 } });
    }
    expect(await tasks.counts()).toMatchObject({ waiting: 3, delayed: 1 });
  });

  test("groups with waiting jobs are listed page by page", async () => {
    const tasks = queue("grouped", { shards: 2 });
    for (let n = 0; n < 7; n++)
      await tasks.addMany(Array.from({ length: n + 1 }, () => ({ data: { n }, options: { group: `g${n}` } })));
    const seen: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await tasks.listGroups(cursor === undefined ? { limit: 3 } : { limit: 3, cursor });
      for (const { name, waiting } of page.items) seen.push(`${name}:${waiting}`);
      ({ cursor } = page);
    }
    expect(seen.sort()).toEqual(["g0:1", "g1:2", "g2:3", "g3:4", "g4:5", "g5:6", "g6:7"]);
    expect((await tasks.listGroups()).items[0]).toMatchObject({ active: 0, blocked: false });
  });

  test("every state is listed page by page", async () => {
    const tasks = queue();
    const release = gate();
    const stuck = gate();
    await tasks.addMany(Array.from({ length: 9 }, (_, n) => ({ data: { n }, options: { delayMs: 60_000 + n } })));
    await Promise.all(
      Array.from({ length: 9 }, (_, n) =>
        tasks.addFlow({ data: { n }, children: [{ data: { n }, options: { delayMs: 90_000 } }] }),
      ),
    );
    const all = await tasks.addMany(Array.from({ length: 27 }, (_, n) => ({ data: { n } })));
    let running = 0;
    const worker = work(
      tasks,
      async ({ data }) => {
        if (data.n < 9) return null;
        if (data.n < 18) throw new Error("dead");
        if (++running === 9) stuck.open();
        return release.passed;
      },
      { concurrency: 9 },
    );
    await stuck.passed;
    for (const { id } of all.slice(0, 18)) await tasks.waitFor(id);
    const states: readonly JobState[] = ["delayed", "waiting-for-children", "done", "dead", "active"];
    for (const state of states) {
      const seen: number[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await tasks.list(state, cursor === undefined ? { limit: 4 } : { limit: 4, cursor });
        expect(page.items.every((job) => job.state === state)).toBe(true);
        for (const { data } of page.items) seen.push(data.n % 9);
        ({ cursor } = page);
      }
      expect(new Set(seen)).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7, 8]));
    }
    release.open();
    await worker.stop();
  });

  // ---------------------------------------------------------------------------------------------- schedules

  test("schedules are listed by name, read, changed in part, and removed", async () => {
    const tasks = queue();
    for (const name of ["c", "a", "b"]) await tasks.schedule(name, { everyMs: 3_600_000 }, { n: 1 }, { priority: 2 });
    const page = await tasks.listSchedules({ limit: 2 });
    expect(page.items.map(({ name }) => name)).toEqual(["a", "b"]);
    const rest = await tasks.listSchedules({ limit: 2, cursor: page.cursor! });
    expect(rest).toMatchObject({ items: [{ name: "c" }], cursor: null });
    const before = (await tasks.getSchedule("a"))!;
    expect(before).toMatchObject({
      everyMs: 3_600_000,
      data: { n: 1 },
      options: { priority: 2 },
      count: 0,
      lastAt: null,
    });
    expect(await tasks.updateSchedule("a", { data: { n: 2 } })).toBe(true);
    expect(await tasks.getSchedule("a")).toEqual({ ...before, data: { n: 2 } });
    const options = { name: "tick", attempts: 3, timeoutMs: 500, backoff: 5, keep: false } as const;
    expect(await tasks.updateSchedule("a", { options, times: { cron: "0 5 * * *", timeZone: "Europe/Rome" } })).toBe(
      true,
    );
    const after = (await tasks.getSchedule("a"))!;
    expect(after).toMatchObject({ cron: "0 5 * * *", timeZone: "Europe/Rome", data: { n: 2 }, options });
    expect(after.everyMs).toBeUndefined();
    expect(after.options.priority).toBeUndefined();
    expect(await tasks.updateSchedule("nobody", { data: { n: 1 } })).toBe(false);
    expect(await tasks.getSchedule("nobody")).toBeNull();
    await expect(tasks.updateSchedule("a", { times: { cron: "no" } })).rejects.toThrow(InputError);
    expect(await tasks.unschedule("a")).toBe(true);
    expect(await tasks.unschedule("a")).toBe(false);
  });

  test("concurrent changes of different parts of a schedule are both kept", async () => {
    const tasks = queue();
    await tasks.schedule("s", { everyMs: 3_600_000 }, { n: 1 });
    await Promise.all([
      tasks.updateSchedule("s", { data: { n: 2 } }),
      tasks.updateSchedule("s", { options: { priority: 7 } }),
      tasks.updateSchedule("s", { times: { everyMs: 60_000 } }),
    ]);
    expect(await tasks.getSchedule("s")).toMatchObject({ data: { n: 2 }, options: { priority: 7 }, everyMs: 60_000 });
  });

  test("a paused schedule makes no jobs, not even when it is set again, and goes on when it is resumed", async () => {
    const tasks = queue();
    const ran: string[] = [];
    const some = gate();
    work(tasks, ({ id }) => {
      if (ran.push(id) === 3) some.open();
      return null;
    });
    await tasks.schedule("tick", { everyMs: 20 }, { n: 1 });
    await some.passed;
    expect(await tasks.pauseSchedule("tick")).toBe(true);
    expect(await tasks.pauseSchedule("tick")).toBe(false);
    await expect.poll(async () => (await tasks.counts()).waiting + (await tasks.counts()).active).toBe(0);
    const paused = (await tasks.getSchedule("tick"))!;
    expect(paused.pausedAt).toBeInstanceOf(Date);
    expect(paused.count).toBe(ran.length);
    expect(await tasks.upcoming("tick")).toEqual([]);
    await tasks.schedule("tick", { everyMs: 25 }, { n: 1 });
    expect((await tasks.getSchedule("tick"))!.pausedAt).toEqual(paused.pausedAt);
    // Nothing is due: so much work later, there is no job of it.
    const made = ran.length;
    await tasks.schedule("other", { everyMs: 20, limit: 3 }, { n: 2 });
    await expect.poll(async () => await tasks.getSchedule("other")).toBeNull();
    await expect.poll(() => ran.length).toBe(made + 3);
    expect(await tasks.resumeSchedule("tick")).toBe(true);
    expect(await tasks.resumeSchedule("tick")).toBe(false);
    expect((await tasks.getSchedule("tick"))!.pausedAt).toBeNull();
    await expect.poll(() => ran.length).toBeGreaterThan(made + 3);
    expect((await tasks.getSchedule("tick"))!.lastAt).toBeInstanceOf(Date);
    // It goes with what it was paused for.
    await tasks.pauseSchedule("tick");
    await tasks.unschedule("tick");
    await tasks.schedule("tick", { everyMs: 3_600_000 }, { n: 1 });
    expect((await tasks.getSchedule("tick"))!.pausedAt).toBeNull();
    expect(await tasks.pauseSchedule("nobody")).toBe(false);
    expect(await tasks.resumeSchedule("nobody")).toBe(false);
  });

  test("a schedule by the calendar that is paused while it fires stays paused", async () => {
    const tasks = queue();
    const fired = gate();
    work(tasks, async () => {
      await tasks.pauseSchedule("each-second");
      fired.open();
    });
    await tasks.schedule("each-second", { cron: "* * * * * *" }, { n: 1 });
    await fired.passed;
    await expect.poll(async () => (await tasks.counts()).done).toBeGreaterThanOrEqual(1);
    const { timers } = tasks.shards[0]!.keys;
    await expect.poll(async () => backend.store.call("ZSCORE", timers, "teach-second")).toBeNull();
    expect((await tasks.getSchedule("each-second"))!.pausedAt).not.toBeNull();
    expect(await tasks.resumeSchedule("each-second")).toBe(true);
    expect(await backend.store.call("ZSCORE", timers, "teach-second")).not.toBeNull();
  });

  test("the coming times of a schedule can be seen", async () => {
    const tasks = queue();
    const startAt = new Date("2100-01-01T00:00:00Z");
    const endAt = new Date("2100-01-05T00:00:00Z");
    await tasks.schedule("daily", { cron: "30 5 * * *", startAt, endAt }, { n: 1 });
    const days = ["01", "02", "03", "04"].map((day) => new Date(`2100-01-${day}T05:30:00Z`));
    expect(await tasks.upcoming("daily")).toEqual(days);
    expect(await tasks.upcoming("daily", { limit: 2 })).toEqual(days.slice(0, 2));
    await tasks.schedule("hourly", { everyMs: 3_600_000, startAt, limit: 3 }, { n: 1 });
    expect(await tasks.upcoming("hourly")).toEqual(
      [0, 1, 2].map((hour) => new Date(startAt.getTime() + hour * 3_600_000)),
    );
    expect(await tasks.upcoming("nobody")).toBeNull();
  });

  test("a schedule that moves to another group makes its jobs once, in a queue of several shards", async () => {
    const tasks = queue("wide", { shards: 4 });
    for (const group of ["a", "b", "c", "d", "e"])
      await tasks.schedule("s", { everyMs: 3_600_000 }, { n: 1 }, { group });
    expect((await tasks.listSchedules()).items).toMatchObject([{ name: "s", options: { group: "e" } }]);
    await expect(tasks.updateSchedule("s", { options: { group: "f" } })).rejects.toThrow("stay in their group");
    expect(await tasks.updateSchedule("s", { options: { attempts: 2 } })).toBe(true);
    expect(await tasks.getSchedule("s")).toMatchObject({ options: { group: "e", attempts: 2 } });
  });

  test("a queue that has schedules only, or jobs of others' flows only, is in the registry", async () => {
    const names = async () => (await new Registry(backend.store).list("queues")).items.map(({ name }) => name);
    await queue("timed").schedule("daily", { everyMs: 86_400_000 }, { n: 1 });
    await queue("flow").addFlow({ data: { n: 1 }, children: [{ queue: queue("parts"), data: { n: 2 } }] });
    await expect.poll(names).toEqual(expect.arrayContaining(["timed", "flow", "parts"]));
  });
});
