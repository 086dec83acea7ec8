import { open } from "cinnabar";
import { Carts } from "cinnabar/carts";
import { Sessions } from "cinnabar/sessions";

const db = await open(process.env.STORE ?? "memory:");
const carts = new Carts(db);
const sessions = new Sessions(db);

// A visitor's cart lives beside the session. Prices are in the smallest unit.
const visitor = await sessions.create();
const owner = sessions.tagOf(visitor.token)!;
console.log(await carts.add(owner, "book:17", 2, { price: 1_999 }));
console.log(await carts.add(owner, "book:17", -1));

// At sign-in it goes into the user's own: quantities add up, nothing is lost or taken over twice.
await carts.set("ann", "book:17", 1);
await carts.set("ann", "pen", 5, { price: 250 });
await sessions.signIn(visitor.token, "ann");
await carts.merge(owner, "ann");
console.log(await carts.get("ann"), await carts.get(owner));

await carts.delete("ann", "pen");
await carts.clear("ann");
await db.close();
