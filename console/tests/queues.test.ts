/** The API of queues on our store and on a real Redis: jobs one and many, schedules, flows, workers, and queues among many other keys. */
import { Queue, Worker } from "cinnabar/queues";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installed, startRedis } from "../../toolkit/tests/kit/servers.ts";
import { type Backend, backends, type Served, serve } from "./support.ts";

describe.each(backends(installed("redis-server") ? startRedis : undefined))("queues on %s", (_name, start) => {
  let backend: Backend;
  let api: Served;
  beforeAll(async () => {
    backend = await start();
    api = await serve(backend.store);
  });
  afterAll(async () => {
    await api?.console.close();
    await backend?.stop();
  });
  const fresh = (name: string) => new Queue<unknown, unknown>(backend.store, name);
  /** Work on many jobs, when it is over. */
  const ended = async (queue: string, what: string, body: unknown) => {
    const { id } = (await api.send("POST", `/api/queues/${queue}/${what}`, body)).body;
    const look = async () => (await api.get(`/api/queues/${queue}/bulk/${id}`)).body;
    await expect.poll(async () => (await look()).state, { timeout: 30_000 }).not.toBe("running");
    return look();
  };
  const job = (queue: string, id: string) => `/api/queues/${queue}/jobs/${encodeURIComponent(id)}`;

  test("a job is added, changed, told apart from what cannot be changed, and its data are kept exactly", async () => {
    const queue = fresh("edited");
    await queue.add("first");
    const added = await api.send("POST", "/api/queues/edited/jobs", {
      data: { to: "ann", big: [1, null] },
      name: "welcome",
      delayMs: 60_000,
      priority: 5,
      attempts: 4,
      backoffMs: 250,
    });
    expect(added).toMatchObject({ status: 200, body: { status: "added" } });
    const { id } = added.body;
    expect(await queue.get(id)).toMatchObject({
      name: "welcome",
      state: "delayed",
      priority: 5,
      attempts: 4,
      data: { to: "ann", big: [1, null] },
    });
    expect(await api.send("PUT", job("edited", id), { data: null, priority: -2, delayMs: 0 })).toMatchObject({
      status: 200,
    });
    expect(await queue.get(id)).toMatchObject({ data: null, priority: -2, state: "waiting" });
    expect(await api.send("PUT", job("edited", "absent"), { priority: 1 })).toMatchObject({ status: 404 });
    expect(await api.send("PUT", job("edited", id), { priority: 5_000 })).toMatchObject({ status: 400 });
    expect(await api.send("POST", "/api/queues/edited/jobs", {})).toMatchObject({ status: 400 });
    expect(await api.send("POST", "/api/queues/never-used/jobs", { data: 1 })).toMatchObject({ status: 404 });
    expect(await backend.store.call("EXISTS", "queue:{never-used}:data")).toBe(0);
  });

  test("a job's story has its attempts with errors, stacks, worker and log", async () => {
    const queue = new Queue<unknown, unknown>(backend.store, "stories", { defaults: { attempts: 2, backoff: 1 } });
    const worker = new Worker(
      queue,
      async ({ attempt }, { log }) => {
        await log(`try ${attempt}`);
        throw new Error(`no route ${attempt}`);
      },
      { name: "mailer-1" },
    ).start();
    const { id } = await queue.add({ to: "ann" });
    expect((await queue.waitFor(id, { timeoutMs: 30_000 })).status).toBe("dead");
    const { body } = await api.get(job("stories", id));
    expect(body.attempts).toMatchObject([
      { attempt: 1, status: "failed", worker: "mailer-1", error: { message: "no route 1", stack: expect.any(String) } },
      { attempt: 2, status: "failed", worker: "mailer-1", error: { message: "no route 2" } },
    ]);
    expect(body).toMatchObject({ job: { state: "dead", attemptsMade: 2 }, log: ["try 1", "try 2"], parent: null });
    const seen = async () => (await api.get("/api/queues/stories/workers")).body.workers;
    await expect.poll(seen, { timeout: 30_000 }).toMatchObject([{ name: "mailer-1", failed: 2, done: 0 }]);
    const { minutes, waits, workers } = (await api.get("/api/queues/stories")).body;
    expect(minutes.reduce((sum: number, { dead }: { dead: number }) => sum + dead, 0)).toBe(1);
    expect(waits).toMatchObject([{ jobs: 1, waitP50Ms: expect.any(Number), runP95Ms: expect.any(Number) }]);
    expect(workers).toBe(1);
    await worker.stop();
  });

  test("many are done at once, by id or by state, each refusal with its reason", async () => {
    const queue = fresh("many");
    const jobs = await queue.addMany(
      Array.from({ length: 30 }, (_, n) => ({ data: n, options: { delayMs: 600_000 } })),
    );
    const ids = jobs.map(({ id }) => id);
    const bulk = (body: unknown) => ended("many", "bulk", body);
    expect(await bulk({ action: "promote", ids: [...ids.slice(0, 10), "absent"] })).toMatchObject({
      state: "done",
      done: 11,
      total: 11,
      changed: 10,
      failed: 1,
      failures: [{ id: "absent", reason: "only a delayed job can be promoted" }],
    });
    expect(await bulk({ action: "promote", state: "delayed" })).toMatchObject({ changed: 20, failed: 0 });
    expect((await bulk({ action: "retry", ids: ids.slice(0, 1) })).failures).toHaveLength(1);
    expect(await bulk({ action: "cancel", state: "waiting" })).toMatchObject({ changed: 30 });
    expect(await queue.counts()).toMatchObject({ dead: 30, waiting: 0 });
    expect(await bulk({ action: "retry", state: "dead" })).toMatchObject({ changed: 30 });
    expect(await bulk({ action: "remove", ids: ids.slice(0, 5) })).toMatchObject({ changed: 5 });
    expect(await bulk({ action: "remove", state: "waiting" })).toMatchObject({ changed: 25 });
    expect(await queue.counts()).toMatchObject({ waiting: 0, dead: 0 });
    expect((await api.send("POST", "/api/queues/many/bulk", { action: "retry" })).status).toBe(400);
    expect(
      (await api.send("POST", "/api/queues/many/bulk", { action: "retry", ids: ["a"], state: "dead" })).status,
    ).toBe(400);
  });

  test("work on thousands can be stopped, and what is done by then stays done", async () => {
    const queue = fresh("thousands");
    const add = (count: number) => queue.addMany(Array.from({ length: count }, (_, n) => ({ data: n })));
    for (let nth = 0; nth < 4; nth++) await add(1_000);
    expect(await ended("thousands", "bulk", { action: "cancel", state: "waiting" })).toMatchObject({ changed: 4_000 });
    const { body } = await api.send("POST", "/api/queues/thousands/bulk", { action: "retry", state: "dead" });
    const work = `/api/queues/thousands/bulk/${body.id}`;
    expect((await api.send("DELETE", work)).status).toBe(200);
    const { state, changed } = (await api.get(work)).body;
    // On a fast store it has ended before it could be stopped.
    expect(["stopped", "done"]).toContain(state);
    expect(await queue.counts()).toMatchObject({ waiting: changed, dead: 4_000 - changed });
    expect((await api.get("/api/queues/thousands/bulk/unknown")).body.code).toBe("NO_TASK");
  });

  test("jobs are paged, and long data are cut in lists only", async () => {
    const queue = fresh("pages");
    const long = "x".repeat(10_000);
    await queue.addMany(Array.from({ length: 7 }, () => ({ data: { long } })));
    const first = (await api.get("/api/queues/pages/jobs?state=waiting&limit=5")).body;
    const second = (await api.get(`/api/queues/pages/jobs?state=waiting&limit=5&cursor=${first.cursor}`)).body;
    expect([first.items.length, second.items.length, second.cursor]).toEqual([5, 2, null]);
    expect(new Set([...first.items, ...second.items].map(({ id }) => id)).size).toBe(7);
    expect(first.items[0].data).toHaveLength(2_001);
    expect((await api.get(job("pages", first.items[0].id))).body.job.data).toEqual({ long });
  });

  test("a state is cleaned by age, and what waits is drained", async () => {
    const queue = fresh("tidied");
    await queue.addMany([{ data: 1 }, { data: 2 }, { data: 3, options: { delayMs: 600_000 } }]);
    const send = (what: string, body: unknown) => ended("tidied", what, body);
    expect(await send("clean", { state: "waiting", keepMs: 600_000 })).toMatchObject({ changed: 0 });
    expect(await send("drain", { delayed: false })).toMatchObject({ changed: 2 });
    await queue.add(4);
    expect(await send("drain", { delayed: true })).toMatchObject({ changed: 2, done: 2, total: 2 });
    expect((await api.send("POST", "/api/queues/tidied/clean", { state: "active" })).status).toBe(400);
    expect((await api.send("DELETE", "/api/queues/tidied")).status).toBe(200);
    expect((await api.get("/api/queues/tidied")).status).toBe(404);
  });

  test("schedules are set, changed without losing their count, paused, run and removed", async () => {
    await fresh("scheduled").add("x");
    const url = "/api/queues/scheduled/schedules/daily";
    const set = await api.send("PUT", url, { cron: "0 7 * * *", timeZone: "Europe/Rome", data: { to: "all" } });
    expect(set.body).toMatchObject({ name: "daily", cron: "0 7 * * *", count: 0, pausedAt: null });
    expect(set.body.upcoming).toHaveLength(5);
    expect((await api.send("PUT", url, { everyMs: 60_000, data: 1 })).body).toMatchObject({ everyMs: 60_000, data: 1 });
    expect((await api.send("POST", url, { action: "pause" })).status).toBe(200);
    expect((await api.send("POST", url, { action: "pause" })).status).toBe(409);
    const [paused] = (await api.get("/api/queues/scheduled/schedules")).body.items;
    expect(paused).toMatchObject({ pausedAt: expect.any(String), upcoming: [] });
    expect((await api.send("POST", url, { action: "resume" })).status).toBe(200);
    const { job: made } = (await api.send("POST", url, { action: "run" })).body;
    expect(await fresh("scheduled").get(made)).toMatchObject({ data: 1 });
    expect((await api.send("PUT", url, { cron: "never", data: 1 })).status).toBe(400);
    expect((await api.send("PUT", url, { cron: "0 7 * * *", everyMs: 5, data: 1 })).status).toBe(400);
    expect((await api.send("DELETE", url)).body).toEqual({ removed: true });
    expect((await api.send("POST", url, { action: "run" })).status).toBe(404);
  });

  test("a flow is a tree from its topmost parent, over several queues and shards", async () => {
    const [tops, parts] = [fresh("tops"), new Queue<unknown, unknown>(backend.store, "parts", { shards: 3 })];
    const root = await tops.addFlow({
      data: "whole",
      options: { name: "report" },
      children: [{ data: "a" }, { queue: parts, data: "b", children: [{ queue: parts, data: "c" }] }],
    });
    const { flow } = (await api.get(`${job("tops", root)}/flow`)).body;
    expect(flow).toMatchObject({ queue: "tops", id: root, name: "report", state: "waiting-for-children" });
    const inner = flow.children.find(({ queue }: { queue: string }) => queue === "parts");
    expect(inner).toMatchObject({ state: "waiting-for-children", children: [{ queue: "parts", state: "waiting" }] });
    const leaf = inner.children[0].id;
    expect((await api.get(`${job("parts", leaf)}/flow`)).body.flow.id).toBe(root);
    expect((await api.get(job("parts", leaf))).body.parent).toEqual({ queue: "parts", id: inner.id });
    expect((await api.get(`${job("tops", "absent")}/flow`)).status).toBe(404);
  });

  test("groups are listed with what waits in them", async () => {
    await fresh("grouped").addMany(Array.from({ length: 6 }, (_, n) => ({ data: n, options: { group: `g${n % 2}` } })));
    const { items } = (await api.get("/api/queues/grouped/groups?limit=1")).body;
    expect(items).toEqual([{ name: "g0", waiting: 3, active: 0, blocked: false }]);
  });

  test("queues of every prefix and number of shards are listed with counts and the last hour", async () => {
    await new Queue(backend.store, "same", { prefix: "billing" }).add(1);
    await new Queue(backend.store, "same", { shards: 4 }).addMany([{ data: 1 }, { data: 2 }]);
    const { queues } = (await api.get("/api/queues")).body;
    const same = queues.filter(({ name }: { name: string }) => name === "same");
    expect(same).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ prefix: "billing", shards: 1, counts: expect.objectContaining({ waiting: 1 }) }),
        expect.objectContaining({ prefix: "queue", shards: 4, counts: expect.objectContaining({ waiting: 2 }) }),
      ]),
    );
    expect(queues.find(({ name }: { name: string }) => name === "stories").hour).toEqual({
      done: 0,
      dead: 1,
      retried: 1,
    });
    expect((await api.get("/api/queues/same?prefix=billing")).body.counts.waiting).toBe(1);
    // Without a number of shards, the one that it was used with.
    expect((await api.get("/api/queues/same")).body.counts.waiting).toBe(2);
  });
});
