import { open } from "cinnabar";
import { MultiMap } from "cinnabar/multi-map";

const db = await open(process.env.STORE ?? "memory:");

const tags = new MultiMap<string>(db, "tags");
console.log(await tags.addMany("article:17", ["redis", "node", "redis"]));
console.log((await tags.get("article:17")).sort(), await tags.has("article:17", "node"));

// Values as a list: in order, and any number of times.
const events = new MultiMap<{ step: string }>(db, "orders", { values: "list" });
await events.add("order:1", { step: "paid" });
await events.add("order:1", { step: "sent" });
console.log(await events.get("order:1"), await events.counts());

await tags.deleteValue("article:17", "node");
await tags.delete("article:17");
console.log((await tags.list()).items);
await db.close();
