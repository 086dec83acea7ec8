import { open } from "cinnabar";
import { Executor, type TaskContext } from "cinnabar/executor";

const db = await open(process.env.STORE ?? "memory:");

const tasks = {
  greet: ({ name }: { name: string }) => `hello ${name}`,
  report: async (_: unknown, { schedule, signal }: TaskContext) => {
    signal.throwIfAborted(); // cancelled, too slow, or the lease is lost
    console.log("runs for", schedule);
  },
};
const executor = new Executor(db, "main", { tasks, attempts: 3, backoff: 1_000 }).start();

// Once, in one of the processes: now, or later.
const { id } = await executor.run("greet", { name: "ann" });
console.log(await executor.waitFor(id));
const later = await executor.run("greet", { name: "bob" }, { delayMs: 60_000 });
console.log((await executor.list("delayed")).items.map(({ task, data }) => ({ task, data })));
console.log((await executor.cancel(later.id)).status);

// At a fixed rate, and by a calendar: once for each time, however many processes say so.
await executor.schedule("pulse", { task: "report", everyMs: 20, limit: 1 });
await executor.schedule("digest", { task: "report", cron: "0 7 * * 1-5", timeZone: "Europe/Rome" });
while ((await executor.listSchedules()).items.length > 1) await new Promise(setImmediate);
console.log((await executor.listSchedules()).items.map(({ name, task }) => ({ name, task })));
console.log(await executor.unschedule("digest"));

await executor.stop();
await db.close();
