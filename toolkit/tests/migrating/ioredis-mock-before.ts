import RedisMock from "ioredis-mock";

const redis = new RedisMock();

await redis.set("stock:apples", 3);
const take = (name: string, count: number) =>
  redis.eval(
    `local left = tonumber(redis.call("GET", KEYS[1])) - tonumber(ARGV[1])
     if left < 0 then return -1 end
     redis.call("SET", KEYS[1], left)
     return left`,
    1,
    `stock:${name}`,
    count,
  );
console.log(await take("apples", 2), await take("apples", 2));
const answers = await redis.pipeline().incr("visits").hset("user:1", "name", "ann").hget("user:1", "name").exec();
console.log(answers?.map(([, answer]) => answer).join(" "));
console.log(await redis.lpush("stock:apples", "x").catch(() => "refused"));
redis.disconnect();
