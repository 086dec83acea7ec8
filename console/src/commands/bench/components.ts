/** Calls of components as workloads: a lock, a job of a queue, a value of a cache; on one store, as a program has it. */
import { type OpenOptions, open, Registry, type Store } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { Locks } from "cinnabar/locks";
import { Queue, Worker } from "cinnabar/queues";
import type { Reached } from "../link/reach.ts";
import type { Chance } from "./chance.ts";
import { CallTarget } from "./target.ts";

/** Names that are announced to operators stay few: the list of names has room for others. */
const MOST_NAMES = 1_000;
const LAYOUTS = "cinnabar:layouts";

export interface ComponentSetting {
  readonly prefix: string;
  readonly keys: number;
  readonly value: string;
  readonly chance: Chance;
  /** Calls that may be in flight. */
  readonly inFlight: number;
}

interface Calls {
  readonly title: string;
  call(): Promise<unknown>;
  stop?(): Promise<void>;
}

type Maker = (store: Store, setting: ComponentSetting) => Calls;

const KINDS = { lock: "locks", queue: "queues", cache: "cache" } as const;
type Workload = keyof typeof KINDS;

const MAKERS: Readonly<Record<Workload, Maker>> = {
  lock(store, { prefix, keys, chance }) {
    const locks = new Locks(store, { prefix });
    const names = Math.min(keys, MOST_NAMES);
    const call = async (): Promise<void> => {
      const lease = await locks.acquire(`lock:${chance.below(names)}`, { leaseMs: 30_000, waitMs: 30_000 });
      if (lease === null) throw new Error("TAKEN the lock was not free within 30 s");
      await lease.release();
    };
    return { title: "Locks.acquire and release", call };
  },
  queue(store, { prefix, value, inFlight }) {
    const queue = new Queue<{ value: string }, number>(store, "jobs", { prefix });
    const worker = new Worker(queue, async ({ data }) => data.value.length, { concurrency: Math.min(inFlight, 1_000) });
    worker.start();
    const call = async (): Promise<void> => {
      const { id } = await queue.add({ value });
      const { status } = await queue.waitFor(id);
      if (status !== "done") throw new Error(`JOB ended as ${status}`);
    };
    return { title: "Queue.add, worked off, waitFor", call, stop: () => worker.stop() };
  },
  cache(store, { prefix, keys, value, chance }) {
    const cache = new Cache<string>(store, "values", { prefix, freshMs: 600_000 });
    const call = (): Promise<unknown> => cache.get(String(chance.below(keys)), async () => value);
    return { title: "Cache.get with a loader", call };
  },
};

export const COMPONENT_WORKLOADS = Object.keys(MAKERS);

export const isComponentWorkload = (name: string): name is Workload => Object.hasOwn(MAKERS, name);

export interface Component {
  readonly title: string;
  readonly target: CallTarget;
  /** Takes its names out of the store's lists; once the target is closed. The keys are under its prefix. */
  tidy(): Promise<void>;
}

export async function openComponent(
  name: Workload,
  reached: Reached,
  setting: ComponentSetting,
  options: OpenOptions,
): Promise<Component> {
  const { place, engine } = reached;
  const opened = (): Promise<Store> => (place.kind === "folder" ? open(engine!) : open(place.url, options));
  const store = await opened();
  const before = await store.call("HGET", LAYOUTS, KINDS[name]);
  const { title, call, stop } = MAKERS[name](store, setting);
  const close = async (): Promise<void> => {
    await stop?.();
    await store.close();
  };
  const tidy = async (): Promise<void> => {
    const again = await opened();
    try {
      const registry = new Registry(again);
      const kind = KINDS[name];
      const ours = [];
      let cursor: string | undefined;
      do {
        const page = await registry.list(kind, { limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
        ours.push(...page.items.filter(({ prefix }) => prefix === setting.prefix));
        cursor = page.cursor ?? undefined;
      } while (cursor !== undefined);
      for (const thing of ours) await registry.delete(kind, thing);
      if (before === null) await again.call("HDEL", LAYOUTS, kind);
    } finally {
      await again.close();
    }
  };
  return { title, target: new CallTarget(call, close), tidy };
}
