import { open } from "cinnabar";
import { Carts } from "cinnabar/carts";
import { Sessions } from "cinnabar/sessions";

const db = await open(process.env.STORE ?? "memory:");
const sessions = new Sessions(db);
const carts = new Carts(db, { sessions });

// A visitor's cart belongs to the session, and ends with it. Prices are in the smallest unit.
const visitor = await sessions.create();
console.log(await carts.add(visitor, "book:17", 2, { price: 1_999 }));
console.log(await carts.add(visitor, "book:17", -1));

// At sign-in it goes into the user's own: quantities add up, nothing is lost or taken over twice.
await carts.set("ann", "book:17", 1);
await carts.set("ann", "pen", 5, { price: 250 });
await sessions.signIn(visitor.token, "ann");
await carts.merge(visitor, "ann");
console.log(await carts.get("ann"), await carts.get(visitor));

// A session that ends takes its cart along.
const other = await sessions.create();
await carts.add(other, "pen");
await sessions.signOut(other.token);
console.log(await carts.get(other));

await carts.delete("ann", "pen");
await carts.clear("ann");
await db.close();
