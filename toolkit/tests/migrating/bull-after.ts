import { open } from "cinnabar";
import { Queue, Worker } from "cinnabar/queues";

const db = await open(process.env.REDIS_URL ?? "memory:");
const thumbnails = new Queue<{ file: string }, string>(db, "thumbnails");
const worker = new Worker(
  thumbnails,
  {
    resize: async (job, { progress }) => {
      await progress(50);
      if (job.data.file === "broken.png") throw new Error("not an image");
      return `${job.data.file} is small`;
    },
  },
  { concurrency: 5 },
);
worker.start();

const job = await thumbnails.addAndWait({ file: "a.png" }, { name: "resize", attempts: 2, backoff: 10 });
console.log(job?.status === "done" ? job.result : job);
const { id } = await thumbnails.add({ file: "broken.png" }, { name: "resize", attempts: 2, backoff: 10 });
const outcome = await thumbnails.waitFor(id);
console.log(outcome?.status === "dead" ? outcome.error.message : outcome);
console.log("attempts", (await thumbnails.get(id))?.attemptsMade);

await thumbnails.pause();
await thumbnails.add({ file: "b.png" }, { name: "resize" });
const { done, dead, waiting } = await thumbnails.counts();
console.log(done, "done,", dead, "failed,", waiting, "waiting");
await worker.stop();
await db.close();
