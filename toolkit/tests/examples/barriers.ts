import { open } from "cinnabar";
import { Barriers } from "cinnabar/barriers";

const db = await open(process.env.STORE ?? "memory:");
const barriers = new Barriers(db, { parties: 3 });

// Three workers compute in steps; none begins a step before all have ended the one before.
async function work(worker: string): Promise<void> {
  for (let step = 1; step <= 2; step++) {
    const met = await barriers.arrive("simulation", { id: worker, timeoutMs: 60_000 });
    // One of them does what is to be done once.
    if (met.status === "released" && met.isLast) console.log("all have come, generation", met.generation);
  }
}
await Promise.all([work("north"), work("south"), work("west")]);

// A party whose time is over leaves, and does not count.
console.log((await barriers.arrive("simulation", { timeoutMs: 10 })).status);
console.log(await barriers.inspect("simulation"));
await db.close();
