import { open } from "cinnabar";
import { Cache } from "cinnabar/cache";

const db = await open(); // in this process, as before; a URL shares the cache with other processes
const cache = new Cache<string>(db, "products", { freshMs: 60_000 });
let loads = 0;
const load = (id: string): string => {
  loads++;
  return `product ${id}`;
};

const product = (id: string): Promise<string> => cache.get(id, () => load(id));

console.log(await product("17"), await product("17"), "loads", loads);
console.log(await cache.has("17"), Number(await cache.delete("17")), await cache.get("17"));
await cache.setMany([
  ["a", "A"],
  ["b", "B"],
]);
console.log((await cache.getMany(["a", "b"])).join(" "));
await cache.clear();
console.log(await cache.get("a"));
await db.close();
