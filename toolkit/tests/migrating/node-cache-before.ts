import NodeCache from "node-cache";

const cache = new NodeCache({ stdTTL: 60 });
let loads = 0;
const load = (id: string): string => {
  loads++;
  return `product ${id}`;
};

function product(id: string): string {
  const known = cache.get<string>(id);
  if (known !== undefined) return known;
  const made = load(id);
  cache.set(id, made);
  return made;
}

console.log(product("17"), product("17"), "loads", loads);
console.log(cache.has("17"), cache.del("17"), cache.get("17") ?? null);
cache.mset([
  { key: "a", val: "A" },
  { key: "b", val: "B" },
]);
console.log(Object.values(cache.mget(["a", "b"])).join(" "));
cache.flushAll();
console.log(cache.get("a") ?? null);
cache.close();
