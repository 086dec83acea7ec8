/** What can be done to jobs, one or many, and why it is not done to some. */
import type { Queue } from "cinnabar/queues";

export const STATES = ["waiting", "delayed", "active", "done", "dead", "waiting-for-children"] as const;
export const ACTIONS = ["retry", "promote", "remove", "cancel"] as const;
export type Action = (typeof ACTIONS)[number];

interface Outcome {
  readonly id: string;
  readonly isDone: boolean;
  /** Of one that is done, what became of it; else why not. */
  readonly status: string;
}

const REFUSALS = {
  retry: "only a job that has ended can be retried",
  promote: "only a delayed job can be promoted",
  remove: "the job is running: cancel it first",
};

export async function doTo(queue: Queue, ids: readonly string[], action: Action): Promise<Outcome[]> {
  if (action === "retry" || action === "promote") {
    const done = action === "retry" ? await queue.retryMany(ids) : await queue.promoteMany(ids);
    return ids.map((id, at) => ({ id, isDone: done[at]!, status: done[at] ? "done" : REFUSALS[action] }));
  }
  if (action === "remove") {
    const done = await queue.deleteMany(ids);
    return ids.map((id, at) => {
      const { status } = done[at]!;
      if (status === "deleted") return { id, isDone: true, status: "done" };
      return { id, isDone: false, status: status === "active" ? REFUSALS.remove : "not-found" };
    });
  }
  const done = await queue.cancelMany(ids);
  return ids.map((id, at) => ({ id, isDone: done[at]!.status !== "not-found", status: done[at]!.status }));
}
