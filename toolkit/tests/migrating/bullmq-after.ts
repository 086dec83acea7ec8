import { open } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";

const db = await open(process.env.REDIS_URL ?? "memory:");

const mails = new Queue<{ to: string }, string>(db, "mails", {
  defaults: { attempts: 3, backoff: { type: "fixed", delayMs: 10 } },
});

let failures = 1;
const worker = new Worker(
  mails,
  async (job) => {
    if (job.data.to === "ben" && failures-- > 0) throw new Error("try again");
    return `${job.name} sent to ${job.data.to}`;
  },
  { concurrency: 10 },
);
worker.start();

const welcome = await mails.add({ to: "ann" }, { name: "welcome", id: "welcome-ann" });
await mails.add({ to: "ann" }, { name: "welcome", id: "welcome-ann" }); // the same job
const retried = await mails.add({ to: "ben" }, { name: "welcome" });
const delayed = await mails.add({ to: "cid" }, { name: "reminder", delayMs: 50 });
for (const { id } of [welcome, retried, delayed]) {
  const outcome = await mails.waitFor(id);
  if (outcome?.status === "done") console.log(outcome.result);
}

const next = await mails.schedule(
  "nightly",
  { cron: "0 3 * * *", timeZone: "Europe/Rome" },
  { to: "all" },
  { name: "report" },
);
console.log("nightly", next.getUTCMinutes());
console.log("done", (await mails.counts()).done);

await worker.stop();
await db.close();
