/**
 * Flows: a job that runs when its children have. Children in the parent's slot are added with it in one script. Others travel as
 * messages: the parent's script puts them among its timers, in the same step that adds the parent; they are passed on at once,
 * and again by any worker of that queue if the worker that should have done it died. The same way a child in another slot tells
 * its end. Every message may arrive twice and counts once.
 */

import { InputError } from "../../base/errors.ts";
import type { Store } from "../../connection/store.ts";
import { type QueueKeys, queueKeys } from "./keys.ts";
import type { JobOptions } from "./options.ts";
import { type Facts, type JobError, type Kinship, type Prepared, textFrom } from "./record.ts";
import type { ChildOutcome } from "./running.ts";
import { addJobs } from "./scripts/add.ts";
import { forgetMessage, readChildren, readChildrenBytes, settleChild } from "./scripts/flows.ts";

/** One shard of a queue, as flows see it: enough to make a record for it. */
export interface FlowTarget {
  readonly address: string;
  readonly name: string;
  newId(options: JobOptions | undefined): string;
  prepare(id: string, data: unknown, options: JobOptions | undefined, kin: Kinship): Prepared;
}

/** A queue, whatever its jobs are. */
export interface FlowQueue {
  flowTarget(options: JobOptions | undefined, parent: FlowTarget | null): FlowTarget;
}

export interface FlowNode {
  /** Where the job is to run; the parent's queue by default. */
  readonly queue?: FlowQueue;
  readonly data: unknown;
  readonly options?: JobOptions;
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

function keysAt(address: string): QueueKeys {
  const [prefix, name, shard, shards] = JSON.parse(address) as [string, string, number, number];
  return queueKeys(prefix, name, shard, shards);
}

export interface BuiltFlow {
  readonly id: string;
  /** Jobs for the root's own slot, and messages for the others. */
  readonly jobs: readonly Prepared[];
  readonly messages: readonly string[];
}

/** All jobs of a tree; `queue` is that of jobs which name none. */
export function buildFlow(
  node: FlowNode,
  queue: FlowQueue,
  parent: { readonly id: string; readonly target: FlowTarget } | null = null,
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
  const built = children.map((child) => buildFlow(child, own, { id, target }));
  const here: Prepared[] = [];
  const messages: string[] = [];
  for (const child of built) {
    if (child.target.address === target.address) {
      for (const job of child.jobs) here.push(job);
    } else {
      const words = child.jobs.flatMap(({ id: each, how, tail }) => {
        if (typeof tail !== "string") throw new InputError("payloads of bytes cannot cross slots in a flow");
        return [each, how, tail];
      });
      messages.push(JSON.stringify({ t: "add", q: child.target.address, j: words } satisfies Message));
    }
  }
  const kin: Kinship = {
    ...(children.length === 0 ? {} : { children: built.map((child) => child.ref), messages }),
    ...(parent === null ? {} : { parent: kinship(node, parent, near, ref) }),
  };
  return { id, ref, target, jobs: [target.prepare(id, node.data, node.options, kin), ...here], messages };
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
  const message = JSON.parse(text) as Message;
  const keys = keysAt(message.q);
  if (message.t === "add") {
    await store.run(addJobs, { ...keys, jobs: message.j });
    for (const [at, how] of message.j.entries()) {
      if (at % 3 !== 1 || how === "") continue;
      const { o: nested = [] } = JSON.parse(how) as { o?: string[] };
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

/** What the children of a job gave, by their names. */
export async function childrenOf(
  store: Store,
  keys: QueueKeys,
  id: string,
  binary: boolean,
): Promise<Map<string, ChildOutcome>> {
  const flat = await store.run(binary ? readChildrenBytes : readChildren, { ...keys, id });
  const found = new Map<string, ChildOutcome>();
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const outcome = textFrom(flat[at + 1]);
    if (outcome === "") continue;
    const payload = outcome.slice(1);
    const status = outcome.startsWith("+") ? "done" : "dead";
    found.set(
      textFrom(flat[at]),
      status === "done" ? { status, result: resultOf(payload) } : { status, error: JSON.parse(payload) as JobError },
    );
  }
  return found;
}

/** A child of another queue may have a codec of its own; a result that is not JSON is given as text. */
function resultOf(payload: string): unknown {
  if (payload === "") return null;
  try {
    return JSON.parse(payload);
  } catch {
    return payload;
  }
}
