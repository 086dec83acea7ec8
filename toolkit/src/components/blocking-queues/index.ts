/**
 * Queues as structures, shared by processes: bounded, with callers that wait for a value or for room.
 *
 *   const pages = new BoundedQueue<string>(store, "pages", { capacity: 1_000 });
 *   await pages.push("/17", { waitMs: 5_000 });                    // waits while it is full
 *   await pages.take({ waitMs: 5_000 });                           // waits while it is empty
 *
 * A value that was taken is gone: for work that must be done in spite of crashes, see queues.
 */
export { BoundedQueue } from "./bounded-queue.ts";
export type { WaitOptions } from "./line.ts";
export type { BlockingQueueOptions, TakeManyOptions, ValuesOptions } from "./options.ts";
export { type Prioritised, type PriorityPushOptions, PriorityQueue } from "./priority-queue.ts";
