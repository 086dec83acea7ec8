import { open } from "cinnabar";
import { Counters } from "cinnabar/counters";

const db = await open(process.env.STORE ?? "memory:");
const counters = new Counters(db);

await counters.add("hits");
await counters.add("hits", 4);

// The last 120 slices of a precision, oldest first; the last one is still growing.
const perDay = await counters.series("hits", 86_400_000);
console.log(
  perDay.length,
  perDay.reduce((sum, { count }) => sum + count, 0),
);
console.log(counters.precisionsMs);

// A busy process counts in memory and sends sums, each counted once even if its answer is lost.
const buffered = new Counters(db, { bufferMs: 100 });
await Promise.all(Array.from({ length: 1_000 }, () => buffered.add("jobs")));
const jobs = await buffered.series("jobs", 3_600_000, { samples: 2 });
console.log(jobs.reduce((sum, { count }) => sum + count, 0));
console.log([...(await counters.list()).items].sort());
await db.close();
