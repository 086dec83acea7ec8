/** Things that an example keeps for each store: components, and work beside the requests. */
import type { Store } from "cinnabar";
import { untraced } from "./trace.ts";

/** Makes something once for each store, when it is first needed. */
export function perStore<T>(make: (store: Store) => T): (of: { readonly store: Store }) => T {
  const made = new WeakMap<Store, { readonly value: T }>();
  return ({ store }) => {
    let held = made.get(store);
    if (held === undefined) {
      held = { value: make(store) };
      made.set(store, held);
    }
    return held.value;
  };
}

const owners = new WeakMap<Store, Store>();

/** The store for looking at another one: what a request has begun there, others ask about here. */
export function observerOf(store: Store): Store {
  const observer = store.observing();
  owners.set(observer, store);
  return observer;
}

/** The store that is looked at through this one; itself if it is not for looking. */
export const ownerOf = (store: Store): Store => owners.get(store) ?? store;

interface Stoppable {
  stop(): Promise<unknown>;
}

export interface Visits {
  /** Somebody is here: starts the work unless it is under way. */
  visit(of: { readonly store: Store }): void;
  /** Ends it at once; the next visit starts it again. */
  stop(of: { readonly store: Store }): Promise<void>;
}

const IDLE_MS = 60_000;
const everywhere = new Set<Pick<Visits, "stop">>();

/** Work of another kind that ends with the store, too. */
export function alsoStop(stop: Visits["stop"]): void {
  everywhere.add({ stop });
}

/**
 * Work beside the requests (a refresher, the workers of a queue) that runs only while an example is in use: from the first visit
 * until nobody has come for a minute. A console that is merely open sends nothing.
 */
export function whileVisited(start: (store: Store) => Stoppable): Visits {
  const working = new WeakMap<Store, { readonly work: Stoppable; timer: NodeJS.Timeout }>();
  const visits: Visits = {
    visit: ({ store }) => {
      if (store.closed) return;
      const timer = setTimeout(() => void visits.stop({ store }).catch(() => {}), IDLE_MS);
      timer.unref();
      const found = working.get(store);
      if (found === undefined) working.set(store, { work: untraced(() => start(store)), timer });
      else {
        clearTimeout(found.timer);
        found.timer = timer;
      }
    },
    stop: async ({ store }) => {
      const found = working.get(store);
      if (found === undefined) return;
      working.delete(store);
      clearTimeout(found.timer);
      await found.work.stop();
    },
  };
  everywhere.add(visits);
  return visits;
}

/** Ends all work on a store. */
export async function stopWork(store: Store): Promise<void> {
  await Promise.allSettled([...everywhere].map((visits) => visits.stop({ store })));
}

/** Does something with each of many, some at a time, and tells how far it is. */
export async function forEachOf<T>(
  items: readonly T[],
  run: (item: T, nth: number) => Promise<unknown>,
  progress: (done: number) => void = () => {},
  atOnce = 20,
): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) {
    const some = items.slice(at, at + atOnce);
    await Promise.all(some.map((item, nth) => run(item, at + nth)));
    progress(at + some.length);
  }
}
