/**
 * A worker in a process of its own, to be killed, stopped and started by the tests. Writes what happens to its standard output,
 * a line of JSON each, at once, so that nothing is lost with the process.
 *
 *   worker-process.ts URL QUEUE MODE CONCURRENCY LEASE_MS SEED
 *
 * MODE: `history` runs jobs for a short random time; `hang` never ends one; `block` blocks the event loop for `blockMs` of a job.
 * Its clock is wrong on purpose: off by hours, running too fast or too slow, by the seed.
 */
import { Queue, Worker } from "../../../src/components/queues/index.ts";
import { type Clock, open, systemClock } from "../../../src/index.ts";
import { Renewal } from "../../../src/leases/renewal.ts";
import { out } from "../../kit/out.ts";

export interface WorkerTask {
  readonly n: number;
  readonly group?: string;
  readonly failFirst?: boolean;
  readonly blockMs?: number;
}

const [url, name, mode, concurrency, leaseMs, seed] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const say = (line: object): void => out(`${JSON.stringify(line)}\n`);

let state = Number(seed) * 2654435761;
const random = (): number => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const rate = 0.9 + random() * 0.2;
const skewMs = (random() - 0.5) * 8 * 3_600_000;
const clock: Clock = {
  ...systemClock,
  wallMs: () => systemClock.wallMs() * rate + skewMs,
  monotonicMs: () => systemClock.monotonicMs() * rate,
  random,
};

const store = await open(url, { clock });
const queue = new Queue<WorkerTask, number>(store, name);
const worker = new Worker<WorkerTask, number>(
  queue,
  async ({ id, data, attempt }, { lease }) => {
    say({ t: "start", id, n: data.n, fence: lease.fence, group: data.group ?? null });
    if (mode === "hang") await new Promise(() => {});
    if (data.blockMs !== undefined) {
      const until = performance.now() + data.blockMs;
      while (performance.now() < until);
    } else {
      await new Promise((resolve) => setTimeout(resolve, random() * 15));
    }
    if (data.failFirst === true && attempt === 1) {
      say({ t: "fail", id, n: data.n, fence: lease.fence });
      throw new Error("the first attempt fails");
    }
    say({ t: "end", id, n: data.n, fence: lease.fence });
    return lease.fence;
  },
  {
    concurrency: Number(concurrency),
    leaseMs: Number(leaseMs),
  },
);
worker.on("lost", (id) => say({ t: "lost", id }));
if (mode === "block") {
  // The thread that renews must be there before the loop is blocked.
  const waiting = setInterval(() => {
    if (worker.running > 0 || Renewal.of(store).thread !== "running") return;
    clearInterval(waiting);
    say({ t: "threaded" });
  }, 10);
}
worker.start();
say({ t: "ready" });

// The test that it belongs to may be killed.
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 500);
