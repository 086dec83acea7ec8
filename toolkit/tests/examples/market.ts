import { open } from "cinnabar";
import { Market } from "cinnabar/market";

const db = await open(process.env.STORE ?? "memory:");
const fair = new Market(db, "fair");

// Money comes in once for each id, however often the call is repeated. Any other call with that id is refused.
await fair.deposit("ben", 1_000, { id: "payment-17" });
console.log(await fair.deposit("ben", 1_000, { id: "payment-17" }));
console.log(await fair.deposit("ben", 2_000, { id: "payment-17" }));

await fair.mint("ann", "sword");
console.log(await fair.offer("ann", "sword", 900));

// At the price that the buyer has seen, or not at all.
console.log(await fair.buy("ben", "sword", 800));
console.log(await fair.buy("ben", "sword", 900));
console.log(await fair.buy("ben", "sword", 900));
console.log(await fair.funds("ann"), await fair.funds("ben"), await fair.inventory("ben"), await fair.ownerOf("sword"));

await fair.offer("ben", "sword", 1_200);
console.log((await fair.list({ limit: 10 })).items);
console.log(await fair.retract("ben", "sword"), await fair.withdraw("ben", 100));
await db.close();
