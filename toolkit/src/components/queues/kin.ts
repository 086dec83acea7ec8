/** What is asked about flows: the parent of a job, its children, the whole tree; wherever in the Cluster they are. */
import type { Codec } from "../../base/codec.ts";
import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { defineOptions, whole } from "../../base/options.ts";
import { type Page, type PageOptions, pageChecks } from "../../base/page.ts";
import { asList, asText, asTextOrNull, asTuple } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { fetchedJob, type ResultStore } from "./elsewhere.ts";
import { childrenFrom, looseResult, MAX_CHILDREN, placeAt } from "./flows.ts";
import type { QueueKeys } from "./keys.ts";
import { describeJob, type Facts, type Job, type JobError, type JobState, parseRecord } from "./record.ts";
import { getJobs } from "./scripts/read.ts";

/** A job somewhere in a flow. */
export interface FlowMember {
  /** The name of its queue. */
  readonly queue: string;
  /** Its id there. */
  readonly id: string;
}

/** A child and what it gave. `pending`: its parent waits for it, whatever its state is. */
export type FlowChild = FlowMember & { readonly name: string } & (
    | { readonly status: "pending" }
    | { readonly status: "done"; readonly result: unknown }
    | { readonly status: "dead"; readonly error: JobError }
  );

/** A job of a flow and all below it. */
export interface FlowTree extends FlowMember {
  /** `not-found`: the queue does not know it any more. */
  readonly state: JobState | "not-found";
  /** Data and results of other queues that are not JSON are text. */
  readonly job: Job<unknown, unknown> | null;
  /** The jobs that it waits for, in the order of the flow. */
  readonly children: readonly FlowTree[];
  /** Children that are not shown, because of `limit` or `depth`. */
  readonly hiddenChildren: number;
}

/** How much of a flow is read. */
export interface FlowOptions {
  /** How many levels of children. 10 by default. */
  readonly depth?: number;
  /** How many children of each job. 100 by default. */
  readonly limit?: number;
}

const CHILDREN_OPTIONS = defineOptions<PageOptions>("Queue.children", pageChecks(MAX_CHILDREN));

const FLOW_OPTIONS = defineOptions<FlowOptions>("Queue.getFlow", {
  depth: whole(0, 100),
  limit: whole(1, MAX_CHILDREN),
});

/** One shard, and how its queue reads results. */
export interface Lookout {
  readonly store: Store;
  readonly address: string;
  readonly binary: boolean;
  readonly results: ResultStore | null;
}

async function factsOf(store: Store, keys: QueueKeys, id: string): Promise<Facts | null> {
  const record = asTextOrNull(await store.call("HGET", keys.data, `j${id}`));
  return record === null ? null : parseRecord(record).facts;
}

export async function parentOf({ store, address }: Lookout, id: string): Promise<FlowMember | null> {
  const facts = await factsOf(store, placeAt(address).keys, id);
  if (facts?.k === undefined) return null;
  return { queue: placeAt(facts.K ?? address).name, id: facts.k };
}

/** Where a child is, by the name that its parent knows it by. */
function memberOf(name: string, facts: Facts, own: string): FlowMember & { readonly address: string } {
  const far = facts.A?.[name];
  const address = far ?? own;
  const queue = placeAt(address).name;
  return { address, queue, id: far === undefined ? name : name.slice(queue.length + 1) };
}

export async function listChildren(lookout: Lookout, id: string, options: PageOptions): Promise<Page<FlowChild>> {
  CHILDREN_OPTIONS.check(options);
  const { limit = 100, cursor = "0" } = options;
  const skip = Number(cursor);
  if (!Number.isSafeInteger(skip) || skip < 0) throw new InputError(`"${cursor}" is no cursor`);
  const { store, address, binary, results } = lookout;
  const { keys } = placeAt(address);
  const facts = await factsOf(store, keys, id);
  if (facts?.c === undefined) return { items: [], cursor: null };
  const found = await childrenFrom({ store, keys, id, binary, results }, { skip, most: limit });
  const items = found.map(({ name, outcome }): FlowChild => {
    const { queue, id: child } = memberOf(name, facts, address);
    return { queue, id: child, name, ...(outcome ?? { status: "pending" }) };
  });
  return { items, cursor: skip + limit < facts.c.length ? String(skip + limit) : null };
}

/** Reads what others wrote. */
const LOOSE: Codec<unknown> = {
  binary: false,
  encode: String,
  decode: looseResult,
};

export async function flowFrom(lookout: Lookout, id: string, options: FlowOptions): Promise<FlowTree | null> {
  FLOW_OPTIONS.check(options);
  const { depth = 10, limit = 100 } = options;
  const [root] = await treesOf(lookout, [{ address: lookout.address, id }], { depth, limit });
  return root === undefined || root.state === "not-found" ? null : root;
}

interface Known {
  readonly job: Job<unknown, unknown> | null;
  readonly facts: Facts;
}

const UNKNOWN: Known = { job: null, facts: {} };

/** One round trip for each shard that has children of one job. */
async function treesOf(
  lookout: Lookout,
  members: readonly { readonly address: string; readonly id: string }[],
  { depth, limit }: Required<FlowOptions>,
): Promise<FlowTree[]> {
  const ids = new Map<string, string[]>();
  for (const { address, id } of members) ids.set(address, [...(ids.get(address) ?? []), id]);
  const known = new Map<string, Known>();
  await Promise.all(
    [...ids].map(async ([address, some]) => {
      const found = asList(await lookout.store.run(getJobs, { ...placeAt(address).keys, ids: some }));
      for (const [id, reply] of zipped(some, found)) {
        const job = describeJob(reply, LOOSE, LOOSE);
        if (job === null) continue;
        const [, , record] = asTuple(asText, asText, asText)(reply);
        const whole = await fetchedJob({ results: lookout.results, resultCodec: LOOSE }, job);
        known.set(`${address} ${id}`, { job: whole, facts: parseRecord(record).facts });
      }
    }),
  );
  return Promise.all(
    members.map(async ({ address, id }): Promise<FlowTree> => {
      const { job, facts } = known.get(`${address} ${id}`) ?? UNKNOWN;
      const names = facts.c ?? [];
      const shown = depth === 0 ? [] : names.slice(0, limit).map((name) => memberOf(name, facts, address));
      const children = shown.length === 0 ? [] : await treesOf(lookout, shown, { depth: depth - 1, limit });
      return {
        queue: placeAt(address).name,
        id,
        state: job?.state ?? "not-found",
        job,
        children,
        hiddenChildren: names.length - shown.length,
      };
    }),
  );
}
