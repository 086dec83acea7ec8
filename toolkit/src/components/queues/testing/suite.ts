/** What the suites of queues share: workers that stop after each test, and promises that a test settles. */
import { afterEach } from "vitest";
import type { Queue } from "../queue.ts";
import { type Handler, Worker, type WorkerOptions } from "../worker.ts";

export interface Task {
  readonly n: number;
}

/** A promise and what settles it. */
export function gate<V = void>() {
  let open!: (value: V) => void;
  const passed = new Promise<V>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Workers that end with the test. */
export function workersOfSuite() {
  const workers: Worker<never, never>[] = [];
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop({ timeoutMs: 2_000 })));
  });
  return <T, R>(
    on: Queue<T, R>,
    handler: ConstructorParameters<typeof Worker<T, R>>[1] | Handler<T, R>,
    options: WorkerOptions<T> = {},
  ): Worker<T, R> => {
    const worker = new Worker(on, handler, options);
    workers.push(worker as unknown as Worker<never, never>);
    return worker.start();
  };
}
