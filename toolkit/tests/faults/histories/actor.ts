/**
 * One process of a history: it takes locks and semaphores, writes under their fences, and works on queues, all at once and as fast as it
 * can, until SIGTERM. It is killed, stopped and cut off meanwhile, and its clock is wrong. What it does it says on standard
 * output, at once, a line each, so that what a killed process believed is known up to the moment:
 *
 *   ready
 *   o <count>                                         so many operations that need no line of their own (refused, failed)
 *   g <id> <name> <weight> <fence> <start> <got> <until>   a lease was got: asked for at `start`, valid until `until`
 *   e <id> <at> <until> <operations> <refused 0|1>    it ended here; `refused`: a fenced write was refused while it was valid
 *   s <queue> <job> <fence> · d <queue> <job> <fence> · l <queue> <job>    a job began, ended, or was lost
 *
 * Times are microseconds of the machine's monotonic clock, which all processes share and which goes on while one is stopped.
 */
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { ConnectionError } from "../../../src/base/errors.ts";
import { type Lease, Locks } from "../../../src/components/locks/index.ts";
import { Queue, Worker } from "../../../src/components/queues/index.ts";
import { Semaphores } from "../../../src/components/semaphores/index.ts";
import { open } from "../../../src/connection/open.ts";
import type { Store } from "../../../src/connection/store.ts";
import { WHOLE_LOCK } from "../../../src/leases/scripts.ts";
import { out } from "../../kit/out.ts";
import { guard, micros, randomFrom } from "../leases/player.ts";

export interface Plan {
  readonly url: string;
  readonly actor: string;
  readonly seed: number;
  readonly locks: readonly string[];
  readonly semaphores: readonly string[];
  readonly limit: number;
  readonly queues: readonly string[];
  /** How many take leases at the same time. */
  readonly players: number;
  readonly leaseMs: number;
}

export interface Task {
  readonly n: number;
  readonly group?: string;
  readonly failFirst?: boolean;
}

const plan = JSON.parse(process.argv[2]!) as Plan;
const random = randomFrom(plan.seed);
const say = (line: string): void => out(`${line}\n`);
const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** `otherwise` if it is over. The time first, and one look at the lease: who is stopped in between must not take it for longer. */
const validUntil = (lease: Lease, otherwise = 0): number => {
  const now = micros();
  const leftMs = lease.validForMs;
  return leftMs > 0 ? Math.floor(now + leftMs * 1_000) : otherwise;
};

const rate = 0.995 + random() / 100;
const shift = random() * 1e9;
const clock: Clock = {
  ...systemClock,
  monotonicMs: () => systemClock.monotonicMs() * rate + shift,
  wallMs: () => Math.floor(random() * 2 ** 41),
};

let stopping = false;
let leases = 0;
let quiet = 0;

/** What has no line of its own is told in sums. */
function count(operations: number): void {
  quiet += operations;
  if (quiet < 50) return;
  say(`o ${quiet}`);
  quiet = 0;
}

async function play(store: Store, locks: Locks, semaphores: Semaphores): Promise<void> {
  while (!stopping) {
    const isLock = random() < 0.6;
    const name = pick(isLock ? plan.locks : plan.semaphores);
    const shared = isLock && random() < 0.3;
    const permits = 1 + Math.floor(random() * plan.limit);
    const renew = random() < 0.8;
    const options = { leaseMs: plan.leaseMs, waitMs: pick([0, 50, 1_000, 5_000]), renew };
    const start = Math.floor(micros());
    try {
      const lease = isLock
        ? await locks.acquire(name, { ...options, shared })
        : await semaphores.acquire(name, { ...options, permits });
      if (lease === null) count(1);
      else {
        const weight = isLock ? (shared ? 1 : WHOLE_LOCK) : permits;
        const id = `${plan.actor}-${leases++}`;
        say(`g ${id} ${name} ${weight} ${lease.fence} ${start} ${Math.floor(micros())} ${validUntil(lease)}`);
        await section(store, lease, id, weight === WHOLE_LOCK, renew);
      }
    } catch (error) {
      // The connection was cut, or the slot moved for longer than the call waits.
      if (!(error instanceof ConnectionError)) throw error;
      count(1);
    }
  }
}

/** Most do one write and go; some stay for longer than their lease. */
async function section(store: Store, lease: Lease, id: string, exclusive: boolean, renew: boolean): Promise<void> {
  let until = validUntil(lease);
  let operations = 2;
  let refused = 0;
  const write = async (): Promise<void> => {
    if (lease.validForMs <= 0) return;
    operations += 1;
    const passed = await store.run(guard, { seen: `seen:{${lease.name}}`, fence: lease.fence });
    // Valid before the write was sent and after its answer came: nobody else can have been let in between.
    if (passed === 0 && lease.validForMs > 0) refused = 1;
  };
  try {
    if (exclusive) await write();
    if (random() < 0.02) {
      await pause(random() * lease.leaseMs * (renew ? 1.5 : 0.9));
      until = validUntil(lease, until);
      if (exclusive) await write();
    }
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
  }
  until = validUntil(lease, until);
  say(`e ${id} ${Math.floor(micros())} ${until} ${operations} ${refused}`);
  await lease.release();
}

function work(store: Store, name: string): Worker<Task, number> {
  const queue = new Queue<Task, number>(store, name);
  const worker = new Worker<Task, number>(
    queue,
    async ({ id, data, attempt }, { lease }) => {
      say(`s ${name} ${id} ${lease.fence}`);
      if (random() < 0.05) await pause(random() * 30);
      if (data.failFirst === true && attempt === 1) throw new Error("the first attempt fails");
      say(`d ${name} ${id} ${lease.fence}`);
      return lease.fence;
    },
    { concurrency: 8, leaseMs: plan.leaseMs },
  );
  worker.on("lost", (id) => say(`l ${name} ${id}`));
  return worker;
}

const store = await open(plan.url, { clock });
const locks = new Locks(store);
const semaphores = new Semaphores(store, { limit: plan.limit });
const workers = plan.queues.map((name) => work(store, name).start());
const parent = process.ppid;
setInterval(() => {
  if (process.ppid !== parent) process.exit();
}, 500).unref();
process.on("SIGTERM", () => {
  stopping = true;
});
say("ready");
await Promise.all(Array.from({ length: plan.players }, () => play(store, locks, semaphores)));
say(`o ${quiet}`);
await Promise.all(workers.map((worker) => worker.stop({ timeoutMs: 5_000 })));
await store.close();
