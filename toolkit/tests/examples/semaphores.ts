import { open } from "cinnabar";
import { Semaphores } from "cinnabar/semaphores";

const db = await open(process.env.STORE ?? "memory:");
const semaphores = new Semaphores(db, { limit: 3 });

// One permit for the time of a block. Null: none could be had within five seconds.
const answer = await semaphores.using("payments-api", { waitMs: 5_000 }, async (_lease, signal) => {
  signal.throwIfAborted();
  return "paid";
});
console.log(answer);

// Several at once, all or none. A holder that needs many permits is not overtaken by holders that need few.
const large = await semaphores.acquire("payments-api", { permits: 2, leaseMs: 10_000 });
const small = await semaphores.acquire("payments-api");
console.log("a fourth:", await semaphores.acquire("payments-api", { waitMs: 0 }));

// More room, for all processes and at once.
await semaphores.resize("payments-api", 5);
const more = await semaphores.acquire("payments-api", { permits: 2, waitMs: 0 });
const { limit, used, waiting } = await semaphores.inspect("payments-api");
console.log({ limit, used, waiting });

for (const lease of [large, small, more]) await lease?.release();
await semaphores.resize("payments-api", null); // back to what the constructor says
await db.close();
