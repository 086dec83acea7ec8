import { open } from "cinnabar";
import { Cache } from "cinnabar/cache";

const db = await open(process.env.STORE ?? "memory:");
const users = new Cache<{ name: string }>(db, "users", { freshMs: 60_000, errorStaleMs: 86_400_000 });

// Many at once: one call for all that are missing.
const load = async (ids: readonly string[]) => ids.map((id) => ({ name: `user ${id}` }));
await users.setMany([["1", { name: "Ann" }]], { tags: ["user:1"] });
console.log((await users.getMany(["1", "2", "3"], load)).map(({ name }) => name));
console.log(await users.has("2"), await users.has("4"));

// When making fails, the last value that was made is given, for a day.
const fetched = users.staleIfError("5", async () => ({ name: "Eve" }));
await users.get("5", fetched, { freshMs: 1 });
while (await users.has("5"));
const failing = users.staleIfError("5", () => Promise.reject(new Error("the database is down")));
console.log(await users.get("5", failing));

// Values in demand are made anew before they end, and nobody waits for that.
console.log(await users.getAhead("6", async () => ({ name: "Fay" }), { eagerness: 2 }));

console.log(await users.invalidateMatching("user:*"), await users.get("1"));
await users.clear();
console.log(await users.getMany(["2", "3", "6"]));
await db.close();
