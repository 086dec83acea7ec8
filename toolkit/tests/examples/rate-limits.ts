import { open } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";

const db = await open(process.env.STORE ?? "memory:");

// A hundred a minute, evenly, of which ten may come at once.
const api = new RateLimits(db, { name: "api", rules: { limit: 100, windowMs: 60_000, burst: 10 } });
const verdict = await api.take("203.0.113.7");
console.log(verdict.allowed, verdict.remaining, verdict.retryAfterMs);
console.log((await api.take("203.0.113.7", { cost: 9 })).allowed, (await api.take("203.0.113.7")).allowed);

// Several rules at once: charged to all or to none.
const login = new RateLimits(db, {
  name: "login",
  rules: [
    { limit: 2, windowMs: 60_000, algorithm: "sliding" },
    { limit: 20, windowMs: 86_400_000, algorithm: "fixed" },
  ],
});
for (let nth = 0; nth < 3; nth++) console.log((await login.take("ann")).allowed);
console.log((await login.peek("ben")).remaining);
await login.reset("ann");
await db.close();
