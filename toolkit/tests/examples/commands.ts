import { open } from "cinnabar";

const db = await open(process.env.STORE ?? "memory:");

await db.set("greeting", "hello", "EX", 60);
console.log(await db.get("greeting"), await db.ttl("greeting"));

await db.hset("user:1", { name: "Ann", visits: 3 });
console.log({ ...(await db.hgetall("user:1")) });

await db.zadd("scores", { ann: 30, ben: 10 });
console.log(await db.zrange("scores", 0, -1, "REV", "WITHSCORES"));

// Many in one round trip; each answer has its command's type, or is an error.
const [visits, first] = await db.pipeline([
  ["HINCRBY", "user:1", "visits", 1],
  ["ZRANK", "scores", "ann"],
]);
console.log(visits, first);

await db.del("greeting", "user:1", "scores");
await db.close();
