import { open } from "cinnabar";
import { BoundedQueue, PriorityQueue } from "cinnabar/blocking-queues";

const db = await open(process.env.STORE ?? "memory:");

// A bound between who makes and who uses: the faster one waits.
const pages = new BoundedQueue<string>(db, "pages", { capacity: 2 });
console.log(await pages.pushMany(["/1", "/2", "/3"]), await pages.push("/3"));
const pushed = pages.push("/3", { waitMs: 10_000 });
console.log(await pages.take(), await pushed, await pages.count());

// A take waits for what others push.
const next = new BoundedQueue<string>(db, "orders").take({ waitMs: 10_000 });
await new BoundedQueue<string>(db, "orders").push("order 17");
console.log(await next);

// The most urgent first.
const alarms = new PriorityQueue<string>(db, "alarms");
await alarms.push("disk at 80 %", { priority: 1 });
await alarms.push("on fire", { priority: 10 });
await alarms.push("disk at 81 %", { priority: 1 });
console.log(await alarms.takeMany({ limit: 10 }));
await db.close();
