import { Redis } from "ioredis";

const redis = new Redis(process.env.REDIS_URL ?? "redis://localhost:6379");
const subscriber = redis.duplicate();

await redis.del("visits", "work");
await redis.set("greeting", "hello", "PX", 60_000);
console.log(await redis.get("greeting"), await redis.get("none"));
await redis.hset("user:1", { name: "ann", visits: 1 });
await redis.zadd("scores", 3, "ann", 5, "ben");
console.log(JSON.stringify(await redis.hgetall("user:1")), await redis.zrange("scores", 0, -1, "REV"));

const answers = await redis.pipeline().incr("visits").incrby("visits", 9).exec();
console.log(answers?.map(([, answer]) => answer).join(" "));

redis.defineCommand("take", {
  numberOfKeys: 1,
  lua: `local left = tonumber(redis.call("GET", KEYS[1])) - tonumber(ARGV[1])
        if left < 0 then return -1 end
        return redis.call("DECRBY", KEYS[1], ARGV[1])`,
});
const { take } = redis as unknown as { take(key: string, count: number): Promise<number> };
console.log(await take.call(redis, "visits", 4), await take.call(redis, "visits", 40));

await subscriber.subscribe("news");
const heard = new Promise((resolve) => void subscriber.on("message", (_channel, message) => resolve(message)));
await redis.publish("news", "it works");
console.log(await heard);

for (;;) {
  await redis.watch("visits");
  const visits = Number(await redis.get("visits"));
  if (
    (await redis
      .multi()
      .set("visits", visits * 2)
      .exec()) !== null
  )
    break;
}
console.log(await redis.get("visits"));

setImmediate(() => redis.rpush("work", "first"));
console.log(await subscriber.duplicate().blpop("work", 5));
for await (const keys of redis.scanStream({ match: "user:*" })) if (keys.length > 0) console.log(keys);
process.exit(0);
