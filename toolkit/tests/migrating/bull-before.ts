import Queue from "bull";

const thumbnails = new Queue<{ file: string }>("thumbnails", process.env.REDIS_URL ?? "redis://localhost:6379");
thumbnails.process("resize", 5, async (job) => {
  await job.progress(50);
  if (job.data.file === "broken.png") throw new Error("not an image");
  return `${job.data.file} is small`;
});

const job = await thumbnails.add("resize", { file: "a.png" }, { attempts: 2, backoff: 10 });
console.log(await job.finished());
const broken = await thumbnails.add("resize", { file: "broken.png" }, { attempts: 2, backoff: 10 });
console.log(await broken.finished().catch((error: Error) => error.message));
console.log("attempts", (await thumbnails.getJob(broken.id))?.attemptsMade);

await thumbnails.pause();
await thumbnails.add("resize", { file: "b.png" });
const { completed, failed, paused } = (await thumbnails.getJobCounts()) as {
  completed: number;
  failed: number;
  paused?: number;
};
console.log(completed, "done,", failed, "failed,", paused ?? (await thumbnails.getPausedCount()), "waiting");
await thumbnails.close();
