import { Redis } from "ioredis";
import { RateLimiterRedis, type RateLimiterRes } from "rate-limiter-flexible";

const redis = new Redis(process.env.REDIS_URL ?? "redis://localhost:6379", { enableOfflineQueue: true });
const limiter = new RateLimiterRedis({ storeClient: redis, keyPrefix: "api", points: 3, duration: 60 });

for (let nth = 0; nth < 4; nth++) {
  await limiter.consume("203.0.113.7").then(
    ({ remainingPoints }) => console.log("allowed", remainingPoints),
    ({ msBeforeNext }: RateLimiterRes) => console.log("refused", msBeforeNext > 0),
  );
}
await limiter.delete("203.0.113.7");
console.log("left", (await limiter.consume("203.0.113.7", 2)).remainingPoints);
await redis.quit();
