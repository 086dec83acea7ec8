import { open } from "cinnabar";
import { Queue, UnrecoverableError, Worker } from "cinnabar/queues";

interface Mail {
  readonly to: string;
}

const db = await open(); // or a URL of Redis, Sentinel or Cluster
const mails = new Queue<Mail, string>(db, "mails", {
  defaults: { attempts: 5, backoff: { type: "exponential", delayMs: 1_000, jitter: 0.5 } },
});

const worker = new Worker(
  mails,
  async ({ data, attempt }, { signal, progress, log }) => {
    signal.throwIfAborted(); // cancelled, too slow, handed back, or the lease is lost
    if (!data.to.includes("@")) throw new UnrecoverableError(`no address: ${data.to}`);
    await log(`attempt ${attempt}`);
    await progress({ percent: 50 });
    return `sent to ${data.to}`;
  },
  { concurrency: 50 },
).start();

const { id } = await mails.add({ to: "ada@example.org" });
console.log(await mails.waitFor(id, { timeoutMs: 5_000 }));
const refused = await mails.addAndWait({ to: "nobody" });
console.log(refused.status === "dead" && refused.error.message);

await mails.add({ to: "later@example.org" }, { delayMs: 60_000 });
await mails.add({ to: "first@example.org" }, { priority: 10, timeoutMs: 30_000 });
const once = { dedup: { id: "welcome:17", windowMs: 3_600_000 } };
console.log((await mails.add({ to: "eve@example.org" }, once)).status);
console.log((await mails.add({ to: "eve@example.org" }, once)).status);
await mails.addMany([{ data: { to: "a@example.org" } }, { data: { to: "b@example.org" } }]);
await mails.schedule("digest", { cron: "0 7 * * 1-5", timeZone: "Europe/Rome" }, { to: "all@example.org" });

await worker.stop(); // lets jobs end, hands back what does not in 30 s
console.log((await mails.counts()).delayed, "delayed");
await db.close();
