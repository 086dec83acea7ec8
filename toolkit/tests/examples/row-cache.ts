import { open } from "cinnabar";
import { RowCache } from "cinnabar/row-cache";

const database = new Map([["17", { stock: 5 }]]);

const db = await open(process.env.STORE ?? "memory:");
const rows = new RowCache(db, "inventory", { load: async (id) => database.get(id) });

await rows.schedule("17", 5_000); // every five seconds, the first time at once
const refresher = rows.refresher({ concurrency: 10 }); // in as many processes as you like
refresher.start();

let row = await rows.get("17");
while (row === null) row = await rows.get("17");
console.log(row);

await rows.schedule("17", 0); // no longer: the row is gone
console.log(await rows.get("17"), await rows.count());
await refresher.stop();
await db.close();
