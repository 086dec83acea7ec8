/**
 * What queues do beyond one job after the other (bench/queues.ts), beside BullMQ on the same Redis: jobs with priorities,
 * handlers in sandboxes, schedules. A job counts when its worker has ended it.
 */
import { fileURLToPath } from "node:url";
import { Queue as BullQueue, Worker as BullWorker } from "bullmq";
import type { Store } from "cinnabar";
import { Queue, sandboxed, Worker } from "cinnabar/queues";
import { Arrivals, type CaseMaker, type Sides, type StructureCase } from "./structures-kit.ts";

interface Payload {
  readonly nth: number;
}

/** Sandboxes of each side. */
const SANDBOXES = 2;
const HANDLER = new URL("./structures-sandbox.js", import.meta.url);

export const jobCases: readonly CaseMaker[] = [
  priorities,
  (sides) => sandboxes(sides, "thread"),
  (sides) => sandboxes(sides, "process"),
  schedules,
];

type OurHandler = ConstructorParameters<typeof Worker<Payload, number>>[1];

/** A queue of ours whose worker runs, and tells when a job has ended. */
function ours(sides: Sides, store: Store, name: string, handler: OurHandler, concurrency: number) {
  const queue = new Queue<Payload, number>(store, name);
  const arrivals = new Arrivals();
  const worker = new Worker(queue, handler, { concurrency }).start();
  worker.on("done", (job) => arrivals.arrived(job.data.nth));
  sides.onClose(() => worker.stop());
  return { queue, arrivals };
}

/** The same of BullMQ, which keeps as many jobs that have ended. */
async function bullmq(sides: Sides, name: string, handler: string | (() => Promise<number>), options: object) {
  const queue = new BullQueue<Payload>(name, { connection: sides.connect() });
  const arrivals = new Arrivals();
  const worker = new BullWorker<Payload>(name, handler as string, { connection: sides.connect(), ...options });
  worker.on("completed", (job) => arrivals.arrived(job.data.nth));
  await worker.waitUntilReady();
  sides.onClose(async () => {
    await worker.close();
    await queue.close();
  });
  return { queue, arrivals };
}

async function priorities(sides: Sides): Promise<StructureCase[]> {
  const other = await bullmq(sides, "urgent", async () => 0, { concurrency: 50 });
  return sides.cases(
    "job with a priority: added and done",
    (store) => ours(sides, store, "urgent", async () => 0, 50),
    ({ queue, arrivals }) => arrivals.send((nth) => queue.add({ nth }, { priority: nth % 10 })),
    {
      others: {
        "BullMQ 6": () =>
          other.arrivals.send((nth) =>
            other.queue.add("job", { nth }, { priority: 1 + (nth % 10), removeOnComplete: 1_000 }),
          ),
      },
    },
  );
}

async function sandboxes(sides: Sides, kind: "thread" | "process"): Promise<StructureCase[]> {
  const other = await bullmq(sides, `sandboxed-${kind}`, fileURLToPath(HANDLER), {
    concurrency: SANDBOXES,
    useWorkerThreads: kind === "thread",
  });
  return sides.cases(
    `job in a sandbox (${kind}, ${SANDBOXES} of them): added and done`,
    (store) => ours(sides, store, `sandboxed-${kind}`, sandboxed(HANDLER, { kind }), SANDBOXES),
    ({ queue, arrivals }) => arrivals.send((nth) => queue.add({ nth })),
    {
      others: {
        "BullMQ 6": () => other.arrivals.send((nth) => other.queue.add("job", { nth }, { removeOnComplete: 1_000 })),
      },
    },
  );
}

async function schedules(sides: Sides): Promise<StructureCase[]> {
  const name = (nth: number): string => `schedule ${nth % 1_000}`;
  const other = new BullQueue<Payload>("scheduled", { connection: sides.connect() });
  sides.onClose(() => other.close());
  return sides.cases(
    "schedule: set, one of 1 000",
    (store) => new Queue<Payload, number>(store, "scheduled"),
    (queue, nth) => queue.schedule(name(nth), { everyMs: 3_600_000 }, { nth }),
    {
      others: {
        "BullMQ 6, upsertJobScheduler": (nth) =>
          other.upsertJobScheduler(name(nth), { every: 3_600_000 }, { name: "job", data: { nth } }),
      },
    },
  );
}
