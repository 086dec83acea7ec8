/** Who wants to know whether a key has changed: WATCH, and MIGRATE for the keys that are on their way. */

export interface Watcher {
  watchBroken: boolean;
  /** The key's time had come before it was watched: for the watcher it is not there, so that it goes is no change. */
  stale?: boolean;
  /** Also of changes that WATCH does not see: to a stream's consumer groups. */
  readonly seesAll?: boolean;
}

/** Where the watched keys are. */
interface Keys {
  /** Whether a key is there, also if its time has come. */
  has(key: string): boolean;
  /** Whether a key is there although its time has come. */
  isDue(key: string): boolean;
}

/** The watched keys of one database. */
export class Watchers {
  /** How many keys are watched. */
  size = 0;
  readonly #watchers = new Map<string, Set<Watcher>>();

  add(key: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(key);
    if (watchers === undefined) this.#watchers.set(key, new Set([watcher]));
    else watchers.add(watcher);
    this.size = this.#watchers.size;
  }

  remove(key: string, watcher: Watcher): void {
    const watchers = this.#watchers.get(key);
    if (watchers === undefined) return;
    watchers.delete(watcher);
    if (watchers.size === 0) this.#watchers.delete(key);
    this.size = this.#watchers.size;
  }

  /** A key was changed. */
  changed(key: string, keys: Keys): void {
    for (const watcher of this.#watchers.get(key) ?? []) {
      if (watcher.stale) {
        if (keys.has(key)) {
          if (keys.isDue(key)) continue;
        } else {
          watcher.stale = false;
          continue;
        }
      }
      watcher.watchBroken = true;
    }
  }

  /** What belongs to a key beside its elements was changed. */
  tended(key: string): void {
    for (const watcher of this.#watchers.get(key) ?? []) if (watcher.seesAll) watcher.watchBroken = true;
  }

  /**
   * The whole database is about to be emptied or replaced. A watched key has changed unless it is missing, or its time has
   * come, on both sides.
   */
  replaced(goes: Keys, comes: Keys | null): void {
    for (const [key, watchers] of this.#watchers) {
      const isThere = goes.has(key);
      const willBe = comes?.has(key) ?? false;
      if (!isThere && !willBe) continue;
      const willBeStale = comes !== null && willBe && comes.isDue(key);
      for (const watcher of watchers) {
        const wasMissing = watcher.stale || !isThere;
        if (wasMissing && (!willBe || willBeStale)) watcher.stale = willBeStale;
        else watcher.watchBroken = true;
      }
    }
  }
}
