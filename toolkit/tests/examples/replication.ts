import { open } from "cinnabar";
import { waitForReplicas, writeToReplicas } from "cinnabar/replication";

const db = await open(process.env.STORE ?? "memory:");

// One write, and whether a replica has it. It is written in any case; what to do about too few is yours.
const paid = await writeToReplicas(db, ["SET", "order:17", "paid"], { replicas: 1, timeoutMs: 50 });
console.log(paid);

// Everything that was written before, on the disks of two.
await db.pipeline([
  ["SET", "order:18", "paid"],
  ["SET", "order:19", "paid"],
]);
const { enough, onDisk } = await waitForReplicas(db, { replicas: 2, onDisk: true, timeoutMs: 50 });
console.log(enough, onDisk);
await db.close();
