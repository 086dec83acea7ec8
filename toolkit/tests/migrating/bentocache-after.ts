import { open } from "cinnabar";
import { Cache } from "cinnabar/cache";

const db = await open(process.env.REDIS_URL ?? "memory:");
const cache = new Cache<string>(db, "products", {
  freshMs: 60_000,
  staleMs: 600_000,
  memoryTtlMs: 1_000,
  memoryItems: 1_000,
});

let loads = 0;
const load = async (id: string): Promise<string> => {
  loads++;
  return `product ${id}`;
};
const product = (id: string) => cache.get(id, () => load(id), { tags: ["catalogue"] });

const asked = await Promise.all(Array.from({ length: 20 }, () => product("17")));
console.log(new Set(asked).size, "loads", loads);
await cache.invalidate("catalogue");
console.log(await product("17"), "loads", loads);
await cache.set("18", "product 18");
console.log(await cache.get("18"), await cache.delete("18"), await cache.get("18"));
await db.close();
