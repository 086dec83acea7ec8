import { open } from "cinnabar";
import { Locks } from "cinnabar/locks";

const db = await open(process.env.STORE ?? "memory:");
const locks = new Locks(db);

// Take it, use it, give it back. Null: it could not be had within two seconds.
const lease = await locks.acquire("order:17", { leaseMs: 10_000, waitMs: 2_000 });
if (lease !== null) {
  console.log("mine", lease.fence > 0, lease.validForMs > 0);
  await lease.release();
}

// The same as a block. The signal is aborted when the lease is lost: stop then.
const total = await locks.using("order:17", { waitMs: 2_000 }, async (_lease, signal) => {
  signal.throwIfAborted();
  return 42;
});
console.log("total", total);

// Readers share, writers do not; both wait in one line.
const readers = [await locks.acquire("report", { shared: true }), await locks.acquire("report", { shared: true })];
console.log("writer", await locks.acquire("report", { waitMs: 0 }));
for (const reader of readers) await reader?.release();

// Several at once, without ever waiting for each other in a circle.
const both = await locks.acquireMany(["account:1", "account:2"], { waitMs: 2_000 });
await both?.release();

// Handed to another process: the handle is text.
const mine = await locks.acquire("long job");
const handle = mine?.detach() ?? "";
const theirs = await new Locks(db).resume(handle);
console.log("handed on", theirs?.fence === mine?.fence, await theirs?.release());

await db.close();
