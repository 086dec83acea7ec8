/**
 * Flows: a job that runs when its children have. Children in the parent's slot are added with it in one script. Others travel as
 * messages: the parent's script puts them among its timers, in the same step that adds the parent; they are passed on at once,
 * and again by any worker of that queue if the worker that should have done it died. The same way a child in another slot tells
 * its end. Every message may arrive twice and counts once.
 */

import { InputError } from "../../base/errors.ts";
import type { Carrier } from "../../base/probe.ts";
import type { Store } from "../../connection/store.ts";
import { keptElsewhere, type ResultStore } from "./elsewhere.ts";
import { type QueueKeys, queueKeys } from "./keys.ts";
import type { JobOptions } from "./options.ts";
import { type Facts, type Kinship, type Prepared, textFrom } from "./record.ts";
import type { ChildOutcome } from "./running.ts";
import { addJobs } from "./scripts/add.ts";
import { forgetMessage, readChildren, readChildrenBytes, settleChild } from "./scripts/flows.ts";

/** One shard of a queue, as flows see it: enough to make a record for it. */
export interface FlowTarget {
  /** Names the queue and the shard, across all queues. */
  readonly address: string;
  /** The name of the queue. */
  readonly name: string;
  /** The id that a job with these options gets. */
  newId(options: JobOptions | undefined): string;
  /** The job as it is stored. */
  prepare(id: string, data: unknown, options: JobOptions | undefined, kin: Kinship): Prepared;
  /** Tells that its queue is used. */
  announce(): void;
}

/** A queue, whatever its jobs are. */
export interface FlowQueue {
  /** The shard for a job: its parent's where it may be. `Queue.addFlow` calls it. */
  flowTarget(options: JobOptions | undefined, parent: FlowTarget | null): FlowTarget;
}

/** A job of a flow, with the jobs that it waits for. */
export interface FlowNode {
  /** Where the job is to run; the parent's queue by default. */
  readonly queue?: FlowQueue;
  /** What its handler gets. */
  readonly data: unknown;
  /** How it is run. A job with children has no delay and no time. */
  readonly options?: JobOptions;
  /** The jobs that end before it runs: 1 000 at most, none by default. */
  readonly children?: readonly FlowNode[];
  /** When this job is a dead letter: the parent waits (the default: replaying it lets the flow go on), fails, or runs without it. */
  readonly onDead?: "wait" | "fail" | "ignore";
}

export const MAX_CHILDREN = 1_000;

/** `q` is the address of the shard that it is for. */
type Message =
  /** Adds jobs: id, how and record of each. */
  | { readonly t: "add"; readonly q: string; readonly j: readonly string[] }
  /** A child has ended: parent, child, whether it is done, payload, policy. */
  | {
      readonly t: "child";
      readonly q: string;
      readonly k: string;
      readonly c: string;
      readonly o: number;
      readonly p?: string;
      readonly f?: Facts["f"];
    };

export function addressOf(prefix: string, name: string, shard: number, shards: number): string {
  return JSON.stringify([prefix, name, shard, shards]);
}

/** Where a shard is. */
export function placeAt(address: string): { readonly name: string; readonly keys: QueueKeys } {
  const [prefix, name, shard, shards]: [string, string, number, number] = JSON.parse(address);
  return { name, keys: queueKeys(prefix, name, shard, shards) };
}

export interface BuiltFlow {
  readonly id: string;
  /** Jobs for the root's own slot, and messages for the others. */
  readonly jobs: readonly Prepared[];
  readonly messages: readonly string[];
  /** Where its jobs go, one for each job. */
  readonly targets: readonly FlowTarget[];
}

/** All jobs of a tree; `queue` is that of jobs which name none. */
export function buildFlow(
  node: FlowNode,
  queue: FlowQueue,
  parent: { readonly id: string; readonly target: FlowTarget } | null = null,
  carrier?: Carrier,
): BuiltFlow & { readonly ref: string; readonly target: FlowTarget } {
  const own = node.queue ?? queue;
  const target = own.flowTarget(node.options, parent?.target ?? null);
  const id = target.newId(node.options);
  const near = parent === null || parent.target.address === target.address;
  const ref = near ? id : `${target.name}/${id}`;
  const children = node.children ?? [];
  if (children.length > MAX_CHILDREN) throw new InputError(`a job has at most ${MAX_CHILDREN} children`);
  if (children.length > 0 && (node.options?.delayMs !== undefined || node.options?.at !== undefined)) {
    throw new InputError("a parent runs when its children have; it has no time of its own");
  }
  const built = children.map((child) => buildFlow(child, own, { id, target }, carrier));
  const here: Prepared[] = [];
  const messages: string[] = [];
  /** Those that are put beside jobs below. */
  const nested: string[] = [];
  for (const child of built) {
    if (child.target.address === target.address) {
      for (const job of child.jobs) here.push(job);
      nested.push(...child.messages);
    } else {
      const words = child.jobs.flatMap(({ id: each, how, tail }) => {
        if (typeof tail !== "string") throw new InputError("payloads of bytes cannot cross slots in a flow");
        return [each, how, tail];
      });
      messages.push(JSON.stringify({ t: "add", q: child.target.address, j: words } satisfies Message));
    }
  }
  const far = built.filter((child) => child.target.address !== target.address);
  const addresses = Object.fromEntries(far.map((child) => [child.ref, child.target.address]));
  const kin: Kinship = {
    ...(children.length === 0 ? {} : { children: built.map((child) => child.ref), messages }),
    ...(far.length === 0 ? {} : { addresses }),
    ...(parent === null ? {} : { parent: kinship(node, parent, near, ref) }),
    ...(carrier === undefined ? {} : { carrier }),
  };
  const jobs = [target.prepare(id, node.data, node.options, kin), ...here];
  const targets = [target, ...built.flatMap((child) => child.targets)];
  return { id, ref, target, targets, jobs, messages: [...messages, ...nested] };
}

function kinship(
  node: FlowNode,
  parent: { readonly id: string; readonly target: FlowTarget },
  near: boolean,
  ref: string,
): NonNullable<Kinship["parent"]> {
  return {
    id: parent.id,
    ...(near ? {} : { address: parent.target.address, name: ref }),
    ...(node.onDead === undefined ? {} : { onDead: node.onDead }),
  };
}

/** Passes a message on, and what came along with it, then notes that it has arrived. */
export async function relay(store: Store, from: QueueKeys, text: string): Promise<void> {
  const message: Message = JSON.parse(text);
  const { keys } = placeAt(message.q);
  if (message.t === "add") {
    await store.run(addJobs, { ...keys, jobs: message.j });
    for (const [at, how] of message.j.entries()) {
      if (at % 3 !== 1 || how === "") continue;
      const { o: nested = [] }: { readonly o?: readonly string[] } = JSON.parse(how);
      for (const each of nested) await relay(store, keys, each);
    }
  } else {
    await store.run(settleChild, {
      ...keys,
      parent: message.k,
      child: message.c,
      ok: message.o,
      payload: message.p ?? "",
      policy: message.f ?? "wait",
    });
  }
  await store.run(forgetMessage, { timers: from.timers, message: text });
}

/** Whose children are asked for. */
export interface Parentage {
  readonly store: Store;
  readonly keys: QueueKeys;
  readonly id: string;
  readonly binary: boolean;
  /** Fetches what is kept elsewhere. */
  readonly results: ResultStore | null;
}

/** The children of a job in their order, so many from `skip` on: their names, and what they gave, or null while that is not known. */
export async function childrenFrom(
  { store, keys, id, binary, results }: Parentage,
  { skip, most }: { readonly skip: number; readonly most: number },
): Promise<{ readonly name: string; readonly outcome: ChildOutcome | null }[]> {
  const flat = await store.run(binary ? readChildrenBytes : readChildren, { ...keys, id, skip, most });
  const outcomeOf = async (text: string): Promise<ChildOutcome | null> => {
    if (text === "") return null;
    const payload = text.slice(1);
    if (!text.startsWith("+")) return { status: "dead", error: JSON.parse(payload) };
    const kept = keptElsewhere(payload);
    const result = kept === null ? payload : ((await results?.get(kept.ref)) ?? "");
    return { status: "done", result: looseResult(typeof result === "string" ? result : Buffer.from(result)) };
  };
  const found: Promise<{ readonly name: string; readonly outcome: ChildOutcome | null }>[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = textFrom(flat[at]);
    found.push(outcomeOf(textFrom(flat[at + 1])).then((outcome) => ({ name, outcome })));
  }
  return Promise.all(found);
}

/** What the children of a job gave, by their names. */
export async function childrenOf(parentage: Parentage): Promise<Map<string, ChildOutcome>> {
  const found = new Map<string, ChildOutcome>();
  for (const { name, outcome } of await childrenFrom(parentage, { skip: 0, most: MAX_CHILDREN })) {
    if (outcome !== null) found.set(name, outcome);
  }
  return found;
}

/** A child of another queue may have a codec of its own; a result that is not JSON is given as text. */
export function looseResult(stored: string | Buffer): unknown {
  const payload = textFrom(stored);
  if (payload === "") return null;
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
