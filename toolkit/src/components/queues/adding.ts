/**
 * Adding jobs: which shard gets a job, under which id, and what is sent for it. Where telemetry watches, every way of adding is observed
 * here.
 */

import { randomToken } from "../../base/clock.ts";
import { InputError } from "../../base/errors.ts";
import type { Filled } from "../../base/lists.ts";
import type { NameIndex } from "../../base/names.ts";
import { type Carrier, type Observation, observed } from "../../base/probe.ts";
import { settled } from "../../base/together.ts";
import type { Store } from "../../connection/store.ts";
import type { Added, NewJob, Shard } from "./answers.ts";
import { QueueFullError } from "./errors.ts";
import { buildFlow, type FlowNode, type FlowQueue, type FlowTarget, relay } from "./flows.ts";
import { checkWord, shardOf } from "./keys.ts";
import { JOB_OPTIONS, type JobOptions } from "./options.ts";
import type { Prepare, Prepared } from "./record.ts";
import { addJobs, isFull, type NotAdded } from "./scripts/add.ts";

/** Jobs in one call of the adding script; more are sent in several, one round trip each. */
const ADD_CHUNK = 500;

/** What goes to one shard: words of jobs, and where each job stands in the list that was given. */
interface Part {
  readonly shard: Shard;
  words: (string | Uint8Array)[];
  at: number[];
}

/** A job whose end somebody waits for. */
export interface Awaited {
  readonly id: string;
  readonly shard: Shard;
  /** Adds it. Answers with the job that stands in its place, if there is one. */
  send(): Promise<NotAdded | undefined>;
}

/** The queue that jobs are added to. */
interface Adder<I> {
  readonly store: Store;
  readonly name: string;
  readonly shards: Filled<Shard>;
  readonly names: NameIndex;
  readonly prepare: Prepare<I>;
}

export class Adding<I> {
  readonly #queue: Adder<I>;
  /** Ids are this and a number: unique, cheap, and in order for one producer. */
  readonly #idBase = randomToken().slice(0, 10).replaceAll("-", "a").replaceAll("_", "b");
  #idCount = 0;
  #nextShard = 0;

  constructor(queue: Adder<I>) {
    this.#queue = queue;
  }

  one(data: I, options?: JobOptions): Promise<Added> {
    const adding = this.#adding(1);
    if (adding === null) return this.#one(data, options);
    return observed(adding, () => this.#one(data, options, adding.carrier), outcomeOfAdding);
  }

  async #one(data: I, options: JobOptions | undefined, carrier?: Carrier): Promise<Added> {
    const { shard, job } = this.#prepared(data, options, carrier);
    const [other] = await this.#send(shard, [job.id, job.how, job.tail]);
    return other === undefined ? { id: job.id, status: "added" } : { id: other.id, status: other.status };
  }

  awaited(data: I, options: JobOptions): Awaited {
    const adding = this.#adding(1);
    const { shard, job } = this.#prepared(data, options, adding?.carrier);
    const how = job.how === "" ? '{"a":1}' : `${job.how.slice(0, -1)},"a":1}`;
    const send = () => this.#send(shard, [job.id, how, job.tail]);
    const outcome = ([other]: readonly NotAdded[]) => outcomeOfAdding(other ?? { id: job.id, status: "added" });
    return {
      id: job.id,
      shard,
      send: async () => {
        const [other] = await (adding === null ? send() : observed(adding, send, outcome));
        return other;
      },
    };
  }

  many(jobs: readonly NewJob<I>[]): Promise<Added[]> {
    const adding = this.#adding(jobs.length);
    if (adding === null) return this.#many(jobs);
    return observed(
      adding,
      () => this.#many(jobs, adding.carrier),
      (all) => ({ outcome: "added", added: all.filter(({ status }) => status === "added").length }),
    );
  }

  async #many(jobs: readonly NewJob<I>[], carrier?: Carrier): Promise<Added[]> {
    const added: Added[] = new Array(jobs.length);
    const parts = this.#queue.shards.map((shard): Part => ({ shard, words: [], at: [] }));
    const calls: Promise<void>[] = [];
    const flush = (part: Part) => {
      const { words, at, shard } = part;
      part.words = [];
      part.at = [];
      const settle = (others: readonly NotAdded[]) => {
        for (const { at: nth, id, status } of others) added[at[nth]!] = { id, status };
      };
      if (words.length > 0) calls.push(this.#send(shard, words).then(settle));
    };
    jobs.forEach(({ data, options }, nth) => {
      const { shard, job } = this.#prepared(data, options, carrier);
      const part = parts[shard.index]!;
      part.words.push(job.id, job.how, job.tail);
      part.at.push(nth);
      added[nth] = { id: job.id, status: "added" };
      if (part.at.length === ADD_CHUNK) flush(part);
    });
    parts.forEach(flush);
    await settled(calls);
    return added;
  }

  /** `queue` is that of the jobs which name none. */
  flow(root: FlowNode, queue: FlowQueue): Promise<string> {
    const adding = this.#adding(1);
    if (adding === null) return this.#flow(root, queue);
    return observed(
      adding,
      () => this.#flow(root, queue, adding.carrier),
      (id) => ({ outcome: "added", added: 1, id }),
    );
  }

  async #flow(root: FlowNode, queue: FlowQueue, carrier?: Carrier): Promise<string> {
    const { shards, store } = this.#queue;
    const flow = buildFlow(root, queue, null, carrier);
    const shard = shards.find(({ address }) => address === flow.target.address);
    if (shard === undefined) throw new InputError("the root of a flow belongs to the queue that adds it");
    const words = flow.jobs.flatMap(({ id, how, tail }) => [id, how, tail]);
    await this.#send(shard, words);
    // They are in the store; who adds is only the first to pass them on.
    await Promise.all(flow.messages.map((message) => relay(store, shard.keys, message)));
    for (const target of flow.targets) target.announce();
    return flow.id;
  }

  /** Where a job of a flow goes: beside its parent if it may. */
  flowTarget(options: JobOptions | undefined, parent: FlowTarget | null): FlowTarget {
    const { name, names, prepare, shards } = this.#queue;
    const own = shards.find(({ address }) => address === parent?.address);
    const free = options?.group === undefined && options?.id === undefined && options?.dedup === undefined;
    const shard = free && own !== undefined ? own : this.#shardFor(options);
    return {
      address: shard.address,
      name,
      newId: (chosen) => this.#idFor(shard, chosen),
      prepare: (jobId, data, chosen, kin) => prepare(jobId, data as I, chosen, kin),
      announce: () => names.announce(name),
    };
  }

  /** Null where nobody watches. */
  #adding(jobs: number): Observation | null {
    const { name, store } = this.#queue;
    return store.probe?.begin({ kind: "add", queue: name, jobs }) ?? null;
  }

  #prepared(
    data: I,
    options: JobOptions | undefined,
    carrier: Carrier | undefined,
  ): { readonly shard: Shard; readonly job: Prepared } {
    if (options !== undefined) JOB_OPTIONS.check(options);
    const shard = this.#shardFor(options);
    const id = this.#idFor(shard, options);
    const kin = carrier === undefined ? undefined : { carrier };
    return { shard, job: this.#queue.prepare(id, data, options, kin) };
  }

  async #send(shard: Shard, jobs: readonly (string | Uint8Array)[]): Promise<NotAdded[]> {
    const { name, names, store } = this.#queue;
    try {
      const others = await store.run(addJobs, { ...shard.keys, jobs });
      names.announce(name);
      return others;
    } catch (error) {
      if (isFull(error)) throw new QueueFullError(name);
      throw error;
    }
  }

  #shardFor(options: JobOptions | undefined): Shard {
    const { shards } = this.#queue;
    const count = shards.length;
    if (count === 1) return shards[0];
    const name = options?.group ?? options?.dedup?.id ?? options?.id;
    if (name !== undefined) return shards[shardOf(name, count)]!;
    this.#nextShard = (this.#nextShard + 1) % count;
    return shards[this.#nextShard]!;
  }

  /** In a queue of several shards the id ends in `@shard`, so that the id alone finds the job. */
  #idFor(shard: Shard, options: JobOptions | undefined): string {
    const own = options?.id === undefined ? this.#newId() : checkWord(options.id, "the id of a job");
    return this.#queue.shards.length === 1 || own.endsWith(`@${shard.index}`) ? own : `${own}@${shard.index}`;
  }

  #newId(): string {
    return this.#idBase + (this.#idCount++).toString(36).padStart(7, "0");
  }
}

const outcomeOfAdding = ({ id, status }: Added) => ({ outcome: status, id, added: status === "added" ? 1 : 0 });
