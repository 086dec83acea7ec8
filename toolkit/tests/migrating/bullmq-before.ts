import { Queue, QueueEvents, Worker } from "bullmq";

const { hostname: host, port } = new URL(process.env.REDIS_URL ?? "redis://localhost:6379");
const connection = { host, port: Number(port) };

const mails = new Queue("mails", {
  connection,
  defaultJobOptions: { attempts: 3, backoff: { type: "fixed", delay: 10 } },
});
const events = new QueueEvents("mails", { connection });
await events.waitUntilReady();

let failures = 1;
const worker = new Worker(
  "mails",
  async (job) => {
    if (job.data.to === "ben" && failures-- > 0) throw new Error("try again");
    return `${job.name} sent to ${job.data.to}`;
  },
  { connection, concurrency: 10 },
);

const welcome = await mails.add("welcome", { to: "ann" }, { jobId: "welcome-ann" });
await mails.add("welcome", { to: "ann" }, { jobId: "welcome-ann" }); // the same job
const retried = await mails.add("welcome", { to: "ben" });
const delayed = await mails.add("reminder", { to: "cid" }, { delay: 50 });
for (const job of [welcome, retried, delayed]) console.log(await job.waitUntilFinished(events));

await mails.upsertJobScheduler(
  "nightly",
  { pattern: "0 3 * * *", tz: "Europe/Rome" },
  { name: "report", data: { to: "all" } },
);
console.log("nightly", new Date((await mails.getJobScheduler("nightly"))?.next ?? 0).getUTCMinutes());
console.log("done", (await mails.getJobCounts("completed")).completed);

await worker.close();
await events.close();
await mails.close();
