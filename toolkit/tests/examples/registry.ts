import { LayoutError, open, Registry } from "cinnabar";
import { Carts } from "cinnabar/carts";
import { Locks } from "cinnabar/locks";
import { Queue } from "cinnabar/queues";

const db = await open(process.env.STORE ?? "memory:");
await new Queue(db, "mails", { shards: 2 }).add({ to: "ann" });
await new Locks(db).using("door", {}, async () => console.log("inside"));

const registry = new Registry(db);
console.log(await registry.components());
console.log((await registry.list("queues")).items);

// As if a later version of the toolkit had changed how carts are stored.
await db.call("HSET", "cinnabar:layouts", "carts", 7);
await new Carts(db).add("ann", "book", 1).catch((error) => console.log(error instanceof LayoutError, error.message));
await db.close();
