import { open } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";

const db = await open();
const tasks = new Queue<string, void>(db, "tasks");
await tasks.add("one"); // first in, first out
await tasks.add("two");
await tasks.add("soon", { priority: 1 }); // several queues by priority: one queue, several priorities
await tasks.add("now", { priority: 2 });
await tasks.add("in a moment", { delayMs: 100 }); // delayed tasks: no poller, workers see what is due

const seen: string[] = [];
await new Promise<void>((resolve) => {
  const worker = new Worker(tasks, ({ data }) => {
    if (seen.push(data) === 5) resolve();
  });
  worker.start();
});
console.log(seen.join(", "));
await db.close();
