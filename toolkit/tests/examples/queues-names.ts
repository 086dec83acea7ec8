import { open } from "cinnabar";
import { Queue, type RunningJob, Worker } from "cinnabar/queues";

interface Welcome {
  readonly to: string;
}
interface Resize {
  readonly file: string;
  readonly width: number;
}

const db = await open();
const jobs = new Queue<Welcome | Resize, string>(db, "jobs");

const worker = new Worker(jobs, {
  welcome: ({ data }: RunningJob<Welcome>) => `welcome, ${data.to}`,
  resize: ({ data }: RunningJob<Resize>) => `${data.file} is ${data.width} wide`,
  "*": ({ name }) => `no handler of its own: ${name}`,
}).start();

console.log(await jobs.addAndWait({ to: "ada" }, { name: "welcome" }));
console.log(await jobs.addAndWait({ file: "a.png", width: 80 }, { name: "resize" }));
console.log(await jobs.addAndWait({ to: "bob" }, { name: "farewell" }));

await worker.stop();
await db.close();
