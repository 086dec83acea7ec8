import { open } from "cinnabar";
import { type JobOptions, Queue, Worker } from "cinnabar/queues";

const db = await open(process.env.REDIS_URL ?? "memory:");
const sums = new Queue<{ x: number; y: number }, number>(db, "sums");
let failures = 1;
const worker = new Worker(
  sums,
  async (job) => {
    if (job.data.x === 5 && failures-- > 0) throw new Error("try again");
    return job.data.x + job.data.y;
  },
  { concurrency: 2 },
);
worker.start();

const run = async (x: number, y: number, options: JobOptions = {}): Promise<number | null> => {
  const outcome = await sums.addAndWait({ x, y }, options);
  return outcome.status === "done" ? outcome.result : null;
};

console.log(await run(1, 2));
console.log(await run(5, 5, { attempts: 3, backoff: 10 }));
console.log(await run(2, 2, { at: Date.now() + 50 }));
console.log("done", (await sums.counts()).done);
await worker.stop();
await db.close();
