/**
 * Task queues: ours and BullMQ's on the same Redis, in turns, and ours on the store in this process. Payloads are small, handlers
 * do nothing: what is measured is the queue. Both workers are connected and warm before the clock starts, and the queue is
 * resumed to start them. Round trips and commands are counted by the server, over a whole run of a worker.
 */
import { Queue as BullQueue, Worker as BullWorker } from "bullmq";
import { open, type Store } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";
import { Redis } from "ioredis";
import { type BenchServer, median, startServer } from "./servers.ts";

export interface QueueRow {
  readonly test: string;
  readonly ours: number;
  readonly bullmq: number;
  readonly ratio: number;
  readonly embedded: number;
  /** Requests that reached the server for each job, ours and BullMQ's; of workers only. */
  readonly requestsPerJob?: readonly [ours: number, bullmq: number];
}

interface Payload {
  readonly user: number;
  readonly text: string;
}

/** One queue under test. */
interface Subject {
  readonly add: (count: number) => Promise<void>;
  readonly addBulk: (count: number, chunk: number) => Promise<void>;
  /** Fills the queue, then runs all of it; milliseconds for the running. */
  readonly work: (count: number, concurrency: number) => Promise<number>;
  readonly clear: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const payload = (at: number): Payload => ({ user: at, text: "a job of a usual size, with some words in it" });
const chunkOf = (from: number, size: number): number[] => Array.from({ length: size }, (_, at) => from + at);

/** Calls `begin`, and resolves with the milliseconds until `count` jobs have run. */
async function timed(count: number, begin: (ran: () => void) => Promise<() => Promise<void>>): Promise<number> {
  let left = count;
  let finished!: () => void;
  const all = new Promise<void>((resolve) => {
    finished = resolve;
  });
  const start = await begin(() => {
    if (--left === 0) finished();
  });
  const started = performance.now();
  await start();
  await all;
  return performance.now() - started;
}

function ours(store: Store): Subject {
  const queue = new Queue<Payload, number>(store, "bench");
  return {
    add: async (count) => {
      for (let at = 0; at < count; at++) await queue.add(payload(at));
    },
    addBulk: async (count, chunk) => {
      for (let at = 0; at < count; at += chunk)
        await queue.addMany(chunkOf(at, chunk).map((n) => ({ data: payload(n) })));
    },
    work: async (count, concurrency) => {
      await queue.pause();
      for (let at = 0; at < count; at += 500) await queue.addMany(chunkOf(at, 500).map((n) => ({ data: payload(n) })));
      let worker!: Worker<Payload, number>;
      const ms = await timed(count, async (ran) => {
        worker = new Worker<Payload, number>(
          queue,
          async (job) => {
            ran();
            return job.data.user;
          },
          { concurrency },
        ).start();
        await settled();
        return () => queue.resume();
      });
      await worker.stop();
      return ms;
    },
    clear: () => queue.clear(),
    close: () => store.close(),
  };
}

/** Time for a worker to connect and for its threads to start. */
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1_500));

function bullmq(port: number): Subject {
  const connection = new Redis({ port, maxRetriesPerRequest: null });
  const queue = new BullQueue<Payload>("bench", { connection });
  return {
    add: async (count) => {
      for (let at = 0; at < count; at++) await queue.add("job", payload(at));
    },
    addBulk: async (count, chunk) => {
      for (let at = 0; at < count; at += chunk) {
        await queue.addBulk(chunkOf(at, chunk).map((n) => ({ name: "job", data: payload(n) })));
      }
    },
    work: async (count, concurrency) => {
      await queue.pause();
      for (let at = 0; at < count; at += 500) {
        // Kept to the same bound as ours, so that both do the same work.
        const opts = { removeOnComplete: 1_000 };
        await queue.addBulk(chunkOf(at, 500).map((n) => ({ name: "job", data: payload(n), opts })));
      }
      const own = connection.duplicate();
      let worker!: BullWorker<Payload>;
      const ms = await timed(count, async (ran) => {
        worker = new BullWorker<Payload>(
          "bench",
          async (job) => {
            ran();
            return job.data.user;
          },
          { connection: own, concurrency },
        );
        await worker.waitUntilReady();
        await settled();
        return () => queue.resume();
      });
      await worker.close();
      own.disconnect();
      return ms;
    },
    clear: () => queue.obliterate({ force: true }),
    close: async () => {
      await queue.close();
      connection.disconnect();
    },
  };
}

interface Case {
  readonly test: string;
  readonly jobs: number;
  readonly run: (subject: Subject, jobs: number) => Promise<number>;
  readonly worker?: true;
}

async function clocked(body: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await body();
  return performance.now() - started;
}

const CASES: readonly Case[] = [
  { test: "add, one at a time", jobs: 5_000, run: (subject, jobs) => clocked(() => subject.add(jobs)) },
  { test: "add, 50 at a time", jobs: 20_000, run: (subject, jobs) => clocked(() => subject.addBulk(jobs, 50)) },
  { test: "work, concurrency 1", jobs: 5_000, run: (subject, jobs) => subject.work(jobs, 1), worker: true },
  { test: "work, concurrency 10", jobs: 10_000, run: (subject, jobs) => subject.work(jobs, 10), worker: true },
  { test: "work, concurrency 100", jobs: 20_000, run: (subject, jobs) => subject.work(jobs, 100), worker: true },
];

async function requests(port: number): Promise<number> {
  const redis = new Redis({ port });
  const stats = await redis.info("commandstats");
  redis.disconnect();
  let total = 0;
  for (const [, name, calls] of stats.matchAll(/cmdstat_([^:]+):calls=(\d+)/g)) {
    // Commands inside scripts are counted too; requests are what clients send to a working queue.
    if (["evalsha", "eval", "bzpopmin", "blpop", "xread"].includes(name!)) total += Number(calls);
  }
  return total;
}

export async function compareQueues(quick: boolean): Promise<QueueRow[]> {
  const server: BenchServer = await startServer("redis");
  const subjects = {
    ours: ours(await open(`redis://127.0.0.1:${server.port}`)),
    bullmq: bullmq(server.port),
    embedded: ours(await open()),
  };
  const names = ["ours", "bullmq", "embedded"] as const;
  const rows: QueueRow[] = [];
  try {
    for (const { test, jobs: usual, run, worker } of CASES) {
      const jobs = quick ? usual / 10 : usual;
      const figures: Record<(typeof names)[number], number[]> = { ours: [], bullmq: [], embedded: [] };
      const sent: Record<(typeof names)[number], number> = { ours: 0, bullmq: 0, embedded: 0 };
      for (let round = 0; round < (quick ? 1 : 4); round++) {
        for (const name of round % 2 === 0 ? names : [...names].reverse()) {
          const before = await requests(server.port);
          const ms = await run(subjects[name], jobs);
          sent[name] = ((await requests(server.port)) - before) / jobs;
          await subjects[name].clear();
          // The first round warms up.
          if (round > 0 || quick) figures[name].push((jobs / ms) * 1_000);
        }
      }
      const [mine, theirs, local] = names.map((name) => median(figures[name])) as [number, number, number];
      const row = { test, ours: mine, bullmq: theirs, ratio: mine / theirs, embedded: local };
      rows.push(worker === true ? { ...row, requestsPerJob: [sent.ours, sent.bullmq] } : row);
      process.stderr.write(".");
    }
  } finally {
    for (const name of names) await subjects[name].close();
    await server.stop();
  }
  process.stderr.write("\n");
  return rows;
}

export function queueTable(rows: readonly QueueRow[]): string {
  const whole = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return [
    "**Task queues, jobs a second, against BullMQ on the same Redis**",
    "",
    "| test | cinnabar | BullMQ | ratio | cinnabar, embedded | × on Redis | requests a job, cinnabar / BullMQ |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(({ test, ours: mine, bullmq: theirs, ratio, embedded, requestsPerJob }) => {
      const sent = requestsPerJob === undefined ? "" : requestsPerJob.map((each) => each.toFixed(2)).join(" / ");
      return `| ${test} | ${whole(mine)} | ${whole(theirs)} | ${ratio.toFixed(2)} | ${whole(embedded)} | ${(embedded / mine).toFixed(1)} | ${sent} |`;
    }),
  ].join("\n");
}
