import { open } from "cinnabar";
import { cinnabarCache } from "cinnabar/cache-manager";

const db = await open(process.env.STORE ?? "memory:");
const cache = cinnabarCache(db, { ttl: 60_000 });
let loads = 0;
const product = () => cache.wrap("product:17", async () => ({ id: 17, loads: ++loads }));
console.log(await product(), await product());
await cache.del("product:17");
console.log(await product());
await db.close();
