/** Which queues there are and how each is opened: names, prefixes and shards, from the registry that components keep. */
import { Registry, type Store } from "cinnabar";
import { Queue } from "cinnabar/queues";
import { type Context, Problem } from "../route.ts";
import { integer, object, string } from "../schema.ts";

/** How many are listed at once. */
const MOST = 1_000;
const MOST_SHARDS = 64;
const PREFIX = "queue";

export const NAME = string({ minLength: 1, maxLength: 512 });
export const ID = string({ minLength: 1, maxLength: 600 });

/** What the address says besides the name. */
export const OPENING = {
  shards: integer({
    minimum: 1,
    maximum: MOST_SHARDS,
    description: "Over how many slots the queue is spread; as it was last used, if it is left out.",
  }),
  prefix: string({ default: PREFIX, minLength: 1, maxLength: 512, description: "The first word of its keys." }),
};

export const OPENING_QUERY = object(OPENING, ["shards"]);

export interface Opening {
  readonly shards?: number;
  readonly prefix: string;
}

export interface Place {
  readonly name: string;
  readonly prefix: string;
  readonly shards: number;
}

/** All queues, the latest used first, whatever else is in the store. */
export async function places(store: Store): Promise<{ places: Place[]; complete: boolean }> {
  const { items, cursor } = await new Registry(store).list("queues", { limit: MOST });
  const found = new Map<string, Place>();
  for (const { name, prefix, details } of items) {
    const shards = Number(details.shards ?? 1);
    const id = `${prefix}\0${name}`;
    // One that was opened in several ways is the one that was used last.
    if (shards >= 1 && shards <= MOST_SHARDS && !found.has(id)) found.set(id, { name, prefix, shards });
  }
  return { places: [...found.values()], complete: cursor === null };
}

/** A queue keeps an id prefix and subscriptions: one object for each is enough. */
const known = new WeakMap<Store, Map<string, Queue>>();

export function queueOf(store: Store, { name, prefix, shards }: Place): Queue {
  const queues = known.get(store) ?? new Map<string, Queue>();
  known.set(store, queues);
  const id = `${prefix}\0${name}\0${shards}`;
  const queue = queues.get(id) ?? new Queue(store, name, { shards, prefix });
  queues.set(id, queue);
  return queue;
}

async function existing(queue: Queue): Promise<boolean> {
  const there = await Promise.all(queue.shards.map(({ keys }) => queue.store.call("EXISTS", keys.data)));
  return there.some((count) => Number(count) > 0);
}

/** A queue that was used before: looking at another would write the version of its layout into the store. */
export async function used({ store }: Context, name: string, { shards, prefix }: Opening): Promise<Queue> {
  if (shards !== undefined) {
    const queue = queueOf(store, { name, prefix, shards });
    if (await existing(queue)) return queue;
  }
  const found = (await places(store)).places.find((place) => place.name === name && place.prefix === prefix);
  if (found === undefined) throw new Problem(404, "NO_QUEUE", `no queue named ${name} was used in this store`);
  return queueOf(store, { ...found, ...(shards !== undefined && { shards }) });
}
