/**
 * Queues under faults: workers killed and stopped, clocks that are wrong, a primary that fails over, a server that comes back
 * empty. QUEUE_HISTORY_SEEDS=20 and QUEUE_HISTORY_JOBS=2000 run the histories long.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Queue, type QueueEvent, Worker } from "../../../src/components/queues/index.ts";
import { parseEnding } from "../../../src/components/queues/record.ts";
import { addJobs } from "../../../src/components/queues/scripts/add.ts";
import { cycle } from "../../../src/components/queues/scripts/cycle.ts";
import { open, type Store } from "../../../src/index.ts";
import { FaultyProxy } from "../../kit/proxy.ts";
import { installed, type ServerProcess, startRedis, startSentinel } from "../../kit/servers.ts";
import { type AddedJob, faultsOf } from "./history.ts";
import { endWorkers, startWorker, type WorkerProcess } from "./processes.ts";
import type { WorkerTask } from "./worker-process.ts";

const SEEDS = Number(process.env.QUEUE_HISTORY_SEEDS ?? 1);
const JOBS = Number(process.env.QUEUE_HISTORY_JOBS ?? 250);

function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Waits by the server's clock: past a lease of 400 ms, whatever this machine is busy with. */
async function serverTimePasses(store: Store, ms: number): Promise<void> {
  const now = async () => {
    const [seconds, micros] = (await store.call("TIME")) as [string, string];
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  };
  const until = (await now()) + ms;
  while ((await now()) < until) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** Events until `enough` says so. */
async function follow(
  queue: Queue<WorkerTask, number>,
  from: string,
  enough: (event: QueueEvent) => boolean,
): Promise<QueueEvent[]> {
  const seen: QueueEvent[] = [];
  for await (const event of await queue.events({ from })) {
    seen.push(event);
    if (enough(event)) break;
  }
  return seen;
}

const doneOf = (count: number) => {
  const ids = new Set<string>();
  return (event: QueueEvent) => event.kind === "done" && ids.add(event.id).size === count;
};

describe.skipIf(!installed("redis-server"))("queues under faults", () => {
  let server: ServerProcess;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
    store = await open(server.url);
  });
  afterEach(async () => {
    await endWorkers();
    await store.call("FLUSHALL");
  });
  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  test.each(Array.from({ length: SEEDS }, (_, at) => at + 1))(
    "history %i: workers are killed and stopped, clocks are wrong; nothing is lost, ended twice, or out of order",
    async (seed) => {
      const random = randomFrom(seed);
      const queue = new Queue<WorkerTask, number>(store, `history ${seed}`);
      await queue.configure({ maxEvents: 1_000_000, keepDone: 1_000_000, stalledLimit: 100 });
      const start = (number: number) =>
        startWorker({
          url: server.url,
          queue: queue.name,
          mode: "history",
          concurrency: 8,
          leaseMs: 400,
          seed: seed * 100 + number,
        });
      const workers: WorkerProcess[] = [start(0), start(1), start(2)];
      const everyone = [...workers];
      const jobs: { data: WorkerTask; options: object }[] = Array.from({ length: JOBS }, (_, n) => {
        const group = random() < 0.6 ? `g${Math.floor(random() * 4)}` : undefined;
        const delayMs = group === undefined && random() < 0.2 ? Math.floor(random() * 300) : undefined;
        return {
          data: { n, ...(group === undefined ? {} : { group }), failFirst: random() < 0.1 },
          options: {
            attempts: 2,
            backoff: 20,
            ...(group === undefined ? {} : { group }),
            ...(delayMs === undefined ? {} : { delayMs }),
          },
        };
      });
      const ended = follow(queue, "start", doneOf(JOBS));
      const added: AddedJob[] = [];
      const parts = Math.ceil(JOBS / 25);
      await Promise.all(workers.map((worker) => worker.says("ready")));
      for (let part = 0; part < parts; part++) {
        const chunk = jobs.slice(part * 25, part * 25 + 25);
        const outcome = await queue.addMany(chunk);
        outcome.forEach(({ id }, at) => {
          added.push({ id, n: chunk[at]!.data.n, group: chunk[at]!.data.group ?? null });
        });
        // One fault after every few chunks.
        const victim = workers[Math.floor(random() * workers.length)]!;
        if (part % 4 === 1) {
          victim.kill("SIGKILL");
          const fresh = start(10 + part);
          everyone.push(fresh);
          workers[workers.indexOf(victim)] = fresh;
        } else if (part % 4 === 3) {
          victim.kill("SIGSTOP");
          await serverTimePasses(store, 700);
          victim.kill("SIGCONT");
        }
      }
      const events = await ended;
      const taken = new Map<string, number>();
      for (const { id } of added) {
        const ending = (await store.call("HGET", queue.shards[0]!.keys.data, `r${id}`)) as string;
        expect(parseEnding(ending).made).toBeGreaterThan(0);
        taken.set(id, Number.parseInt(ending, 10));
      }
      expect(faultsOf({ added, events, workers: everyone.map(({ lines }) => lines), taken })).toEqual([]);
      expect(await queue.counts()).toMatchObject({ waiting: 0, delayed: 0, active: 0, done: JOBS, dead: 0 });
    },
    60_000 + JOBS * 200,
  );

  test("a worker with a hundred jobs in flight is killed: all of them run again within a lease", async () => {
    const queue = new Queue<WorkerTask, number>(store, "killed");
    const worker = startWorker({
      url: server.url,
      queue: "killed",
      mode: "hang",
      concurrency: 100,
      leaseMs: 600,
      seed: 1,
    });
    await queue.addMany(Array.from({ length: 100 }, (_, n) => ({ data: { n } })));
    let active = 0;
    await follow(queue, "start", ({ kind }) => kind === "active" && ++active === 100);
    worker.kill("SIGKILL");
    await worker.ended();
    const [seconds, micros] = (await store.call("TIME")) as [string, string];
    const killedMs = Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    const rescuer = new Worker(queue, (_job, { lease }) => lease.fence, { concurrency: 10 }).start();
    const events = await follow(queue, "start", doneOf(100));
    await rescuer.stop();
    const stalled = events.filter(({ kind }) => kind === "stalled");
    expect(stalled.length).toBe(100);
    const lateMs = Math.max(...stalled.map(({ cursor }) => Number.parseInt(cursor, 10))) - killedMs;
    console.log(`a hundred jobs of a killed worker were taken over ${lateMs} ms after its death; its lease was 600 ms`);
    expect(await queue.counts()).toMatchObject({ done: 100, active: 0, waiting: 0, dead: 0 });
  });

  test("a handler that blocks the event loop for longer than its lease keeps its job", async () => {
    const queue = new Queue<WorkerTask, number>(store, "busy");
    const busy = startWorker({ url: server.url, queue: "busy", mode: "block", concurrency: 1, leaseMs: 500, seed: 2 });
    await busy.says("threaded");
    const { id } = await queue.add({ n: 1, blockMs: 2_000 });
    await busy.says("start");
    const thief = new Worker(queue, () => -1, { leaseMs: 500 }).start();
    const outcome = await queue.waitFor(id);
    await thief.stop();
    expect(outcome).toEqual({ status: "done", result: (await busy.says("end")).fence });
    expect(await queue.get(id)).toMatchObject({ stalls: 0 });
  });

  test("answers that are lost on the way neither lose jobs nor run them twice", async () => {
    const proxy = await FaultyProxy.open(server.port);
    const through = await open(proxy.url);
    const direct = new Queue<WorkerTask, number>(store, "lossy");
    const queue = new Queue<WorkerTask, number>(through, "lossy");
    await direct.configure({ maxEvents: 100_000, keepDone: 100_000 });
    const ran = new Map<number, number>();
    const worker = new Worker(
      queue,
      async ({ data }) => {
        ran.set(data.n, (ran.get(data.n) ?? 0) + 1);
        return 1;
      },
      { concurrency: 5, leaseMs: 60_000 },
    ).start();
    for (let round = 0; round < 5; round++) {
      // Run, and the answer is lost: in turn of an add, and of a cycle that has ended jobs and leased others.
      const lost = proxy.loseAnswerOf(round % 2 === 0 ? addJobs.sha : cycle.sha);
      await queue.addMany(Array.from({ length: 20 }, (_, at) => ({ data: { n: round * 20 + at } })));
      await lost;
    }
    const events = await follow(direct, "start", doneOf(100));
    await worker.stop();
    expect(events.filter(({ kind }) => kind === "added").length).toBe(100);
    expect(events.filter(({ kind }) => kind === "done").length).toBe(100);
    expect(await direct.counts()).toMatchObject({ waiting: 0, active: 0, done: 100 });
    expect([...ran.values()].filter((times) => times !== 1)).toEqual([]);
    expect(ran.size).toBe(100);
    await through.close();
    await proxy.close();
  });

  test("an idle worker whose wake was swallowed on the way finds the job by itself", async () => {
    const proxy = await FaultyProxy.open(server.port);
    const through = await open(proxy.url);
    const direct = new Queue<WorkerTask, number>(store, "silent");
    const worker = new Worker(new Queue<WorkerTask, number>(through, "silent"), ({ data }) => data.n).start();
    expect(await direct.addAndWait({ n: 1 })).toEqual({ status: "done", result: 1 });
    const blocked = async () => /flags=b .*cmd=blpop/.test(String(await store.call("CLIENT", "LIST")));
    // A sign that was left over may wake it once more before it really waits.
    while (!(await blocked()) || (await store.call("EXISTS", direct.shards[0]!.keys.wake)) === 1)
      await store.call("PING");
    proxy.swallow();
    const { id } = await direct.add({ n: 2 });
    while (await blocked()) await store.call("PING");
    proxy.swallow(false);
    expect(await direct.waitFor(id)).toEqual({ status: "done", result: 2 });
    await worker.stop();
    await through.close();
    await proxy.close();
  });

  test("a server that comes back empty: workers go on, and who waited is told", async () => {
    const own = await startRedis();
    const db = await open(own.url);
    const queue = new Queue<WorkerTask, number>(db, "forgotten");
    let begun!: () => void;
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let release!: () => void;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const lost: string[] = [];
    const worker = new Worker(
      queue,
      async ({ data }) => {
        begun();
        if (data.n === 0) await held;
        return data.n;
      },
      { concurrency: 2, leaseMs: 2_000 },
    ).start();
    worker.on("lost", (id) => void lost.push(id));
    const { id } = await queue.add({ n: 0 });
    await running;
    const waiting = queue.waitFor(id);
    await own.restart();
    const after = await queue.add({ n: 1 });
    expect(await queue.waitFor(after.id)).toEqual({ status: "done", result: 1 });
    expect(await waiting).toEqual({ status: "not-found" });
    release();
    await worker.stop();
    expect(lost).toEqual([id]);
    await db.close();
    await own.stop();
  });

  test.skipIf(!installed("redis-sentinel"))(
    "a primary fails over in the middle: what replicas had is done, and workers go on by themselves",
    async () => {
      const sentinel = await startSentinel();
      const db = await open(sentinel.url);
      const queue = new Queue<WorkerTask, number>(db, "failover");
      await queue.configure({ keepDone: 10_000 });
      const added = await queue.addMany(Array.from({ length: 200 }, (_, n) => ({ data: { n, group: `g${n % 3}` } })));
      expect(await db.call("WAIT", 2, 5_000)).toBe(2);
      const seen = new Set<number>();
      let half!: () => void;
      const halfway = new Promise<void>((resolve) => {
        half = resolve;
      });
      const worker = new Worker(
        queue,
        async ({ data }) => {
          seen.add(data.n);
          if (seen.size === 100) half();
          await new Promise((resolve) => setTimeout(resolve, 2));
          return data.n;
        },
        { concurrency: 10, leaseMs: 1_000 },
      ).start();
      await halfway;
      await sentinel.primary.kill();
      const late = await queue.add({ n: 1_000 });
      for (const [n, { id }] of added.entries()) expect(await queue.waitFor(id)).toEqual({ status: "done", result: n });
      expect(await queue.waitFor(late.id)).toEqual({ status: "done", result: 1_000 });
      expect(await queue.counts()).toMatchObject({ waiting: 0, active: 0, dead: 0 });
      await worker.stop();
      await db.close();
      await sentinel.stop();
    },
    60_000,
  );
});
