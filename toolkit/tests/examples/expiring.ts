import { open } from "cinnabar";
import { ExpiringMap, ExpiringSet } from "cinnabar/expiring";

const db = await open(process.env.STORE ?? "memory:");

// Who is online: each sign of life counts for a minute.
const online = new ExpiringSet(db, "online", { ttlMs: 60_000 });
console.log(await online.add("ann"), await online.add("ann"));
await online.add("admin", { ttlMs: 3_600_000 });
console.log(await online.count(), await online.has("ben"));
console.log((await online.list({ limit: 10 })).items.map(({ member }) => member));

// One-time codes: each is good for five minutes, and for one use.
const codes = new ExpiringMap<{ code: string }>(db, "codes", { ttlMs: 300_000 });
console.log(await codes.create("ann", { code: "482 113" }), await codes.create("ann", { code: "999 999" }));
console.log(await codes.take("ann"), await codes.take("ann"));
await db.close();
