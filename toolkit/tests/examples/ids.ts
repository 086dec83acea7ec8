import { open } from "cinnabar";
import { Ids, madeAt, ulid, uuid7 } from "cinnabar/ids";

const db = await open(process.env.STORE ?? "memory:");

// Whole numbers, unique over all processes: one round trip for a thousand.
const ids = new Ids(db, { blockCount: 1_000 });
console.log(await ids.next("orders"), await ids.next("orders"), await ids.nextMany("orders", 3));

// To go on where another counter has ended.
await ids.raise("invoices", 20_000);
console.log(await ids.next("invoices"));

// Ids that sort by time, without asking anybody: text, and UUIDs of version 7.
const [first, second] = [ulid(), ulid()];
console.log(first < second, first.length, uuid7().length);
console.log(madeAt(first) <= new Date());
await db.close();
