/**
 * Judges the history of a queue while it happens. The events come from the store, in the order in which things happened; what workers
 * say comes from them. What is checked: every job that was added is done once; no job is leased twice without an end or an expiry
 * between; jobs of a group run one at a time, in their order; a fence is given once; what the store took as the end of a job is the
 * end that a worker came to under that fence.
 */
import type { QueueEvent } from "../../../src/components/queues/index.ts";

export interface JudgedJob {
  readonly n: number;
  readonly group: string | null;
}

interface Seen extends JudgedJob {
  state: "waiting" | "active" | "done";
}

export class QueueJudge {
  readonly name: string;
  readonly violations: string[] = [];
  readonly #jobs = new Map<string, Seen>();
  readonly #running = new Map<string, string>();
  readonly #lastInGroup = new Map<string, number>();
  readonly #starts = new Set<number>();
  readonly #ends = new Map<number, string>();
  /** The fence under which the store took the end of each job. */
  readonly #taken = new Map<string, number>();
  #done = 0;

  constructor(name: string) {
    this.name = name;
  }

  get unfinished(): number {
    return this.#jobs.size - this.#done;
  }

  added(id: string, job: JudgedJob): void {
    this.#jobs.set(id, { ...job, state: "waiting" });
  }

  event(event: QueueEvent): void {
    if (!("id" in event)) return;
    const job = this.#jobs.get(event.id);
    if (job === undefined) this.#wrong(`${event.kind} of a job that nobody added: ${event.id}`);
    else if (event.kind === "active") this.#active(event.id, job);
    else if (event.kind === "done") this.#ended(job);
    else if (event.kind !== "added" && event.kind !== "progress") {
      if (event.kind === "dead") this.#wrong(`${job.n} is a dead letter`);
      this.#back(event.id, job);
    }
  }

  #active(id: string, job: Seen): void {
    if (job.state === "active") this.#wrong(`${job.n} was leased twice without an end or an expiry between`);
    if (job.state === "done") this.#wrong(`${job.n} ran after it was done`);
    if (job.group !== null) {
      const other = this.#running.get(job.group);
      if (other !== undefined && other !== id) this.#wrong(`${job.n} ran while another of group ${job.group} did`);
      this.#running.set(job.group, id);
    }
    job.state = "active";
  }

  #ended(job: Seen): void {
    if (job.state !== "active") this.#wrong(`${job.n} was done, and was ${job.state}`);
    if (job.state !== "done") this.#done += 1;
    job.state = "done";
    if (job.group === null) return;
    this.#running.delete(job.group);
    if ((this.#lastInGroup.get(job.group) ?? -1) > job.n)
      this.#wrong(`${job.n} of group ${job.group} came out of turn`);
    this.#lastInGroup.set(job.group, job.n);
  }

  #back(id: string, job: Seen): void {
    if (job.state === "active") job.state = "waiting";
    if (job.group !== null && this.#running.get(job.group) === id) this.#running.delete(job.group);
  }

  began(fence: number): void {
    if (this.#starts.has(fence)) this.#wrong(`the fence ${fence} was given twice`);
    this.#starts.add(fence);
  }

  cameToEnd(id: string, fence: number): void {
    this.#ends.set(fence, id);
  }

  /** What the store has noted as the end of a job. */
  took(id: string, fence: number): void {
    this.#taken.set(id, fence);
  }

  /** Everything that is wrong, in words; when all is over. */
  verdict(): string[] {
    const found = [...this.violations];
    for (const [id, job] of this.#jobs) {
      if (job.state !== "done") found.push(`${this.name}: ${job.n} was not done`);
      const fence = this.#taken.get(id);
      if (fence !== undefined && this.#ends.get(fence) !== id) {
        found.push(`${this.name}: ${job.n} was taken as done, but no worker ended it so`);
      }
    }
    return found;
  }

  #wrong(what: string): void {
    this.violations.push(`${this.name}: ${what}`);
  }
}
