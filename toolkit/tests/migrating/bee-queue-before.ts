import BeeQueue from "bee-queue";

const sums = new BeeQueue<{ x: number; y: number }>("sums", {
  redis: { url: process.env.REDIS_URL ?? "redis://localhost:6379" },
  activateDelayedJobs: true,
});
let failures = 1;
sums.process(2, async (job: BeeQueue.Job<{ x: number; y: number }>) => {
  if (job.data.x === 5 && failures-- > 0) throw new Error("try again");
  return job.data.x + job.data.y;
});

const result = (job: BeeQueue.Job<{ x: number; y: number }>): Promise<number> =>
  new Promise((resolve) => void job.on("succeeded", resolve));

const now = sums.createJob({ x: 1, y: 2 });
const first = result(now);
await now.save();
console.log(await first);

const again = sums.createJob({ x: 5, y: 5 }).retries(2).backoff("fixed", 10);
const second = result(again);
await again.save();
console.log(await second);

const soon = sums.createJob({ x: 2, y: 2 }).delayUntil(Date.now() + 50);
const third = result(soon);
await soon.save();
console.log(await third);
console.log("done", (await sums.checkHealth()).succeeded);
await sums.close();
