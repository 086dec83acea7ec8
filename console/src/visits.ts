/** Work beside the requests of an example, while somebody uses it. */
import type { Store } from "cinnabar";
import { untraced } from "./trace.ts";
import { alsoStop } from "./work.ts";

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
  alsoStop(visits.stop);
  return visits;
}
