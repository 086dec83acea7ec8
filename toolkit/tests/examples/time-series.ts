import { open } from "cinnabar";
import { TimeSeries } from "cinnabar/time-series";

const db = await open(process.env.STORE ?? "memory:");
const series = new TimeSeries(db, {
  rollUps: [
    { everyMs: 60_000, keepMs: 86_400_000 }, // minutes of a day
    { everyMs: 3_600_000, keepMs: 90 * 86_400_000 }, // hours of 90 days
  ],
});

// Samples of now, or of when they were measured.
const hour = Math.floor(Date.now() / 3_600_000) * 3_600_000 - 7_200_000;
await series.add("cpu:web-1", 0.4, { at: hour });
await series.addMany("cpu:web-1", [
  { value: 0.8, at: hour + 10_000 },
  { value: 0.1, at: hour + 90_000 },
]);

const minutes = await series.range("cpu:web-1", { from: hour, to: hour + 3_599_999, everyMs: 60_000 });
console.log(minutes.map(({ count, max, last }) => ({ count, max, last })));
const [point] = await series.range("cpu:web-1", { from: hour, to: hour + 3_599_999, everyMs: 3_600_000 });
console.log(point?.count, point?.min, point?.max, point?.at.getTime() === hour);
console.log((await series.get("cpu:web-1"))?.value);

// Series are found by their labels.
await series.label("cpu:web-1", { host: "web-1", region: "eu" });
console.log((await series.list({ labels: { region: "eu" } })).items);
await db.close();
