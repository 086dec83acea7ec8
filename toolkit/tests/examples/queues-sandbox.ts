import { open } from "cinnabar";
import { Queue, sandboxed, Worker } from "cinnabar/queues";

const db = await open();
const numbers = new Queue<number, number>(db, "numbers");

// The file is an entry of its own: a bundler does not follow the address.
const handlers = sandboxed(new URL("./queues-sandbox-handlers.ts", import.meta.url), {
  kind: "thread", // or "process", which native code may crash
  maxHeapBytes: 64 << 20,
  killDelayMs: 100, // for handlers that heed their signal
});
const worker = new Worker(numbers, handlers, { concurrency: 4 }).start();

for (const name of ["square", "loop", "leak", "crash", "square"]) {
  const outcome = await numbers.addAndWait(7, { name, timeoutMs: 5_000 });
  console.log(name, outcome.status === "dead" ? outcome.error.message : outcome);
}

await worker.stop();
await db.close();
