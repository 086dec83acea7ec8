import { BentoCache, bentostore } from "bentocache";
import { memoryDriver } from "bentocache/drivers/memory";
import { redisDriver } from "bentocache/drivers/redis";
import { Redis } from "ioredis";

const connection = new Redis(process.env.REDIS_URL ?? "redis://localhost:6379");
const store = bentostore()
  .useL1Layer(memoryDriver({ maxItems: 1_000 }))
  .useL2Layer(redisDriver({ connection }));
const bento = new BentoCache({ default: "products", stores: { products: store }, ttl: "1m", grace: "10m" });

let loads = 0;
const load = async (id: string): Promise<string> => {
  loads++;
  return `product ${id}`;
};
const product = (id: string) => bento.getOrSet({ key: id, factory: () => load(id), tags: ["catalogue"] });

const asked = await Promise.all(Array.from({ length: 20 }, () => product("17")));
console.log(new Set(asked).size, "loads", loads);
await bento.deleteByTag({ tags: ["catalogue"] });
console.log(await product("17"), "loads", loads);
await bento.set({ key: "18", value: "product 18" });
console.log(
  await bento.get({ key: "18" }),
  await bento.delete({ key: "18" }),
  (await bento.get({ key: "18" })) ?? null,
);
await bento.disconnectAll();
