import { defineScript, open } from "cinnabar";

const db = await open(process.env.REDIS_URL ?? "memory:");

await db.del("visits", "work");
await db.set("greeting", "hello", "PX", 60_000);
console.log(await db.get("greeting"), await db.get("none"));
await db.hset("user:1", { name: "ann", visits: 1 });
await db.zadd("scores", { ann: 3, ben: 5 });
console.log(JSON.stringify(await db.hgetall("user:1")), await db.zrange("scores", 0, -1, "REV"));

const answers = await db.pipeline([
  ["INCR", "visits"],
  ["INCRBY", "visits", 9],
]);
console.log(answers.join(" "));

const take = defineScript({
  name: "stock.take",
  keys: ["stock"],
  args: ["count"],
  lua: `local left = tonumber(redis.call("GET", stock)) - tonumber(count)
        if left < 0 then return -1 end
        return redis.call("DECRBY", stock, count)`,
});
console.log(await db.run(take, { stock: "visits", count: 4 }), await db.run(take, { stock: "visits", count: 40 }));

const heard = new Promise(
  (resolve) =>
    void db.subscribe("news", (message) => resolve(String(message))).then(() => db.publish("news", "it works")),
);
console.log(await heard);

await db.transaction({ watch: ["visits"] }, async (watched) => {
  const visits = Number(await watched.call("GET", "visits"));
  return [["SET", "visits", visits * 2]];
});
console.log(await db.get("visits"));

setImmediate(() => db.rpush("work", "first"));
console.log(await db.blocking("work").blpop("work", 5));
console.log(await db.keys("user:*"));
await db.close();
