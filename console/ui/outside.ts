/** State that is kept outside of components: the address, the live points, the theme. */
import { useSyncExternalStore } from "react";

/** What `read` returns, also after every change that `subscribe` tells of. `read` must return the same value while nothing changes. */
export function useOutside<T>(read: () => T, subscribe: (changed: () => void) => () => void): T {
  return useSyncExternalStore(subscribe, read);
}

/** Listeners for changes. */
export class Watchers {
  readonly #watchers = new Set<() => void>();

  readonly subscribe = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  };

  tell(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
