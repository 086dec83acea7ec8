import { open } from "cinnabar";
import { createKeyv } from "cinnabar/keyv";

const db = await open(process.env.STORE ?? "memory:");
const users = createKeyv<{ name: string }>(db, { namespace: "users", ttl: 60_000 });
await users.set("17", { name: "Ann" });
console.log(await users.get("17"), await users.has("18"));
await users.clear();
console.log(await users.get("17"));
await db.close();
