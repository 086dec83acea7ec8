import { open } from "cinnabar";
import { Locks } from "cinnabar/locks";

const db = await open(process.env.REDIS_URL ?? "memory:");
const locks = new Locks(db, { leaseMs: 20_000, waitMs: 0 });

const lease = await locks.acquire("order:17");
const second = await locks.acquire("order:17");
console.log("second", second === null ? "refused" : "granted");
await lease?.renew(); // needed only with `renew: false`: a lease is renewed by itself while it is held
console.log("extended", (lease?.validForMs ?? 0) > 15_000);
await lease?.release();

const again = await locks.acquire("order:17");
console.log("again", (again?.validForMs ?? 0) > 0);
await again?.release();
await db.close();
