/** Things that are kept for each store, and work that ends with it. */
import type { Store } from "cinnabar";

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

type Stop = (of: { readonly store: Store }) => Promise<void>;

const stops = new Set<Stop>();

/** What ends with the store. */
export function alsoStop(stop: Stop): void {
  stops.add(stop);
}

/** Ends all work on a store. */
export async function stopWork(store: Store): Promise<void> {
  await Promise.allSettled([...stops].map((stop) => stop({ store })));
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
