import { open } from "cinnabar";
import { Stats } from "cinnabar/stats";

const db = await open(process.env.STORE ?? "memory:");
const stats = new Stats(db);

await stats.record("checkout", "items", [1, 2, 3, 4, 10]);
const hours = await stats.get("checkout", "items");
const summary = hours?.thisHour ?? hours?.lastHour;
console.log(summary?.count, summary?.min, summary?.max, summary?.mean, summary?.standardDeviation.toFixed(2));
console.log(Math.round(summary?.p50 ?? 0), Math.round(summary?.quantile(0.75) ?? 0));

// How long a block takes; what it gives or throws is not touched.
const page = await stats.time("/products", () => "rendered");
await stats.duration("/report", 1_500);
await stats.duration("/report", 2_500);
console.log(page, await stats.slowest({ limit: 1 }));
await db.close();
