/**
 * Checks the history of a queue. The events come from the store, so their order is the order in which things happened; the
 * lines come from the workers, each in its own order. Everything that is wrong is said in words; an empty list is a proof for
 * this history.
 */
import type { QueueEvent } from "../../../src/components/queues/index.ts";
import type { Line } from "./processes.ts";

export interface AddedJob {
  readonly id: string;
  readonly n: number;
  readonly group: string | null;
}

export interface History {
  readonly added: readonly AddedJob[];
  readonly events: readonly QueueEvent[];
  /** What each worker process said. */
  readonly workers: readonly (readonly Line[])[];
  /** The fence under which the store took the end of each job. */
  readonly taken: ReadonlyMap<string, number>;
}

export function faultsOf({ added, events, workers, taken }: History): string[] {
  const faults: string[] = [];
  const jobs = new Map(added.map((job) => [job.id, job]));
  const active = new Set<string>();
  const running = new Map<string, string>();
  const done = new Map<string, number>();
  const doneInGroup = new Map<string, number[]>();
  const release = (id: string) => {
    active.delete(id);
    const group = jobs.get(id)?.group;
    if (group != null && running.get(group) === id) running.delete(group);
  };
  for (const event of events) {
    if (!("id" in event)) continue;
    const job = jobs.get(event.id);
    if (job === undefined) {
      faults.push(`${event.kind} of a job that nobody added: ${event.id}`);
      continue;
    }
    switch (event.kind) {
      case "active": {
        if (active.has(job.id)) faults.push(`${job.n} was leased twice without an end or an expiry between`);
        if (done.has(job.id)) faults.push(`${job.n} ran after it was done`);
        const other = job.group === null ? undefined : running.get(job.group);
        if (other !== undefined) faults.push(`${job.n} ran while ${jobs.get(other)!.n} of its group did`);
        active.add(job.id);
        if (job.group !== null) running.set(job.group, job.id);
        break;
      }
      case "done":
        if (!active.has(job.id)) faults.push(`${job.n} was done without a lease`);
        done.set(job.id, (done.get(job.id) ?? 0) + 1);
        if (job.group !== null) doneInGroup.set(job.group, [...(doneInGroup.get(job.group) ?? []), job.n]);
        release(job.id);
        break;
      case "retry":
      case "stalled":
      case "waiting":
      case "dead":
        if (event.kind === "dead") faults.push(`${job.n} is a dead letter`);
        release(job.id);
        break;
    }
  }
  for (const job of added) {
    const times = done.get(job.id) ?? 0;
    if (times !== 1) faults.push(`${job.n} was done ${times} times`);
  }
  for (const [group, numbers] of doneInGroup) {
    if (numbers.some((n, at) => at > 0 && numbers[at - 1]! > n)) faults.push(`group ${group} ended as ${numbers}`);
  }
  return [...faults, ...workersFaults(added, workers, taken)];
}

function workersFaults(
  added: readonly AddedJob[],
  workers: readonly (readonly Line[])[],
  taken: ReadonlyMap<string, number>,
): string[] {
  const faults: string[] = [];
  const fences = new Set<number>();
  const ends = new Map<number, string>();
  for (const lines of workers) {
    for (const line of lines) {
      if (line.t === "start") {
        if (fences.has(line.fence!)) faults.push(`the fence ${line.fence} was given twice`);
        fences.add(line.fence!);
      }
      if (line.t === "end") ends.set(line.fence!, line.id!);
    }
  }
  for (const { id, n } of added) {
    const fence = taken.get(id);
    if (fence === undefined || ends.get(fence) !== id) faults.push(`${n} was taken as done, but no worker ended it so`);
  }
  // Only a worker that ended a job under another fence than the one that was taken hears about a lost lease.
  for (const lines of workers) {
    for (const line of lines) {
      if (line.t !== "lost") continue;
      const late = lines.some(
        ({ t, id, fence }) => (t === "end" || t === "fail") && id === line.id && taken.get(id!) !== fence,
      );
      if (!late) faults.push(`a worker was told that it had lost ${line.id}, which it had not`);
    }
  }
  return faults;
}
