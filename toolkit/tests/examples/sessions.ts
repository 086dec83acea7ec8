import { open } from "cinnabar";
import { Sessions } from "cinnabar/sessions";

const db = await open(process.env.STORE ?? "memory:");
const sessions = new Sessions(db, { idleMs: 14 * 86_400_000, ttlMs: 90 * 86_400_000, maxLive: 10_000_000 });

// Somebody who has not signed in. The token goes to the client; the store keeps only what its secret hashes to.
const visitor = await sessions.create({ data: { theme: "dark" } });
await sessions.load(visitor.token, { viewed: "item:17" }); // on every request: one round trip

// Signing in gives a new token and takes everything along. The old token is worth nothing now.
const ann = await sessions.signIn(visitor.token, "ann");
console.log(ann.user, ann.data, await sessions.viewed(ann.token));
console.log("the old token:", await sessions.load(visitor.token));

// Single pieces of data: two requests at once do not overwrite each other.
await Promise.all([sessions.update(ann.token, { theme: "light" }), sessions.update(ann.token, { cart: 3 })]);
const now = await sessions.load(ann.token);
console.log(now?.data.theme, now?.data.cart, await sessions.update(ann.token, { cart: 4 }, { ifVersion: 1 }));

// Where ann is signed in, and out of everywhere but here.
await sessions.create({ user: "ann" });
console.log((await sessions.list("ann", { current: ann.token })).items.map(({ current }) => current).sort());
console.log("ended", await sessions.signOutEverywhere("ann", { except: ann.token }));

// Holds the limit on live sessions, in as many processes as you like.
const cleaner = sessions.cleaner().start();
await cleaner.stop();
await db.close();
