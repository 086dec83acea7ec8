import { open } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";

const db = await open(process.env.REDIS_URL ?? "memory:");
const limiter = new RateLimits(db, { name: "api", rules: { limit: 3, windowMs: 60_000, algorithm: "fixed" } });

for (let nth = 0; nth < 4; nth++) {
  const { allowed, remaining, retryAfterMs } = await limiter.take("203.0.113.7");
  if (allowed) console.log("allowed", remaining);
  else console.log("refused", retryAfterMs > 0);
}
await limiter.reset("203.0.113.7");
console.log("left", (await limiter.take("203.0.113.7", { cost: 2 })).remaining);
await db.close();
