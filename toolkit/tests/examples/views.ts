import { open } from "cinnabar";
import { Views } from "cinnabar/views";

const db = await open(process.env.STORE ?? "memory:");
const views = new Views(db, "pages", { halfLifeMs: 300_000, maxItems: 20_000 });

for (let nth = 0; nth < 3; nth++) await views.add("/products/17");
await views.add("/about");
await views.add("/products/18", 2); // a sum, counted elsewhere

console.log((await views.top({ limit: 3 })).map(({ item, rank }) => `${rank} ${item}`));
console.log(await views.rank("/about"), await views.rank("/nowhere"));
console.log(((await views.get("/products/17"))?.views ?? 0) > 2.9);

// A busy process counts in memory and sends sums.
const buffered = new Views(db, "pages", { bufferMs: 200 });
await buffered.add("/about");
await buffered.flush();
await db.close();
