import { open } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";

const db = await open();
const reports = new Queue<{ readonly month: string }, string>(db, "reports");

// Change what waits, one or many; each has its result.
const [january, february] = await reports.addMany([
  { data: { month: "2026-01" }, options: { delayMs: 3_600_000, attempts: 2 } },
  { data: { month: "2026-02" }, options: { delayMs: 3_600_000 } },
]);
const changed = await reports.updateMany([
  { id: january!.id, data: { month: "2027-01" }, priority: 5 },
  { id: february!.id, delayMs: 60_000 },
  { id: "nobody", priority: 1 },
]);
console.log(changed.map(({ status }) => status).join(", "));
console.log(await reports.promoteMany([january!.id, "nobody"]));

// What happened to a job: attempts with times, workers and errors.
const worker = new Worker(
  reports,
  ({ data, attempt }) => {
    if (attempt === 1) throw new Error("the database is away");
    return `report of ${data.month}`;
  },
  { name: "reporter-1", slowMs: 5_000 },
).start();
console.log(await reports.waitFor(january!.id));
for (const { attempt, status, worker: by, error } of (await reports.history(january!.id)) ?? []) {
  console.log(attempt, status, by, error?.message ?? "");
}
console.log(worker.stats().done, "done and", worker.stats().failed, "failed here");

// Schedules: see what comes, change it, pause it.
const startAt = new Date("2100-01-01T00:00:00Z");
await reports.schedule("monthly", { cron: "0 6 1 * *", startAt }, { month: "last" });
await reports.updateSchedule("monthly", { times: { cron: "0 7 1 * *", startAt }, data: { month: "previous" } });
console.log((await reports.upcoming("monthly", { limit: 2 }))?.map((at) => at.toISOString()).join(", "));
console.log(await reports.pauseSchedule("monthly"), (await reports.upcoming("monthly"))?.length);

// Tidy up: by state and age, or all that waits.
console.log(await reports.clean("delayed", { keepMs: 86_400_000 }), "old delayed jobs");
console.log(await reports.drain({ delayed: true }), "drained");

await worker.stop();
await db.close();
