import { open } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";

const db = await open(process.env.STORE ?? "memory:");
const login = new RateLimits(db, {
  name: "login",
  rules: { limit: 10, windowMs: 3_600_000 },
  whenUnreachable: "memory", // while the store is away, each of four processes allows a quarter
  insurance: { share: 1 / 4 },
});

// A wrong password costs more than a right one.
await login.take("ann");
console.log((await login.penalty("ann", { cost: 2 })).remaining);
const { allowed, remaining } = await login.penalty("ann", { cost: 50 });
console.log(allowed, remaining);
const after = await login.reward("ann", { cost: 2 });
console.log(after.allowed, after.remaining);

// Kept away for a day, whatever the rules say.
await login.block("ben", { ttlMs: 86_400_000 });
const verdict = await login.take("ben");
console.log(verdict.allowed, verdict.blocked, verdict.retryAfterMs > 86_000_000);
await login.unblock("ben");
console.log((await login.take("ben")).allowed);
await db.close();
