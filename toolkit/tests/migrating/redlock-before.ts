import { Redis } from "ioredis";
// @ts-expect-error redlock 4 comes without types
import Redlock from "redlock";

const redis = new Redis(process.env.REDIS_URL ?? "redis://localhost:6379");
const redlock = new Redlock([redis], { retryCount: 0 });

const lock = await redlock.lock("order:17", 10_000);
const second = await redlock.lock("order:17", 10_000).catch(() => null);
console.log("second", second === null ? "refused" : "granted");
const extended = await lock.extend(20_000);
console.log("extended", extended.expiration > Date.now() + 15_000);
await extended.unlock();

const again = await redlock.lock("order:17", 10_000);
console.log("again", again.expiration > Date.now());
await again.unlock();
await redis.quit();
