/** Whether two stores have the same keys with the same values and deadlines. Both may change meanwhile: what differs is a suspect. */

import { keysOf, type WholeStore } from "../link/stores.ts";
import { differing } from "../link/values.ts";
import type { Progress } from "../progress.ts";

/** Which database of the new store a database of the old one becomes. */
export type DbMap = (db: number) => number;

/** Names of keys (latin1) by database of the old store. */
export type Suspects = Map<number, Set<string>>;

export function suspect(into: Suspects, db: number, keys: Iterable<string>): void {
  const known = into.get(db) ?? new Set();
  for (const key of keys) known.add(key);
  into.set(db, known);
}

const BATCH = 500;

export interface Compared {
  readonly keys: number;
  readonly suspects: Suspects;
}

/** Every key of the old store with its like in the new one. */
export async function compareAll(from: WholeStore, to: WholeStore, toDb: DbMap, progress: Progress): Promise<Compared> {
  const suspects: Suspects = new Map();
  const total = await from.count();
  let keys = 0;
  for (const part of await from.parts()) {
    for await (const batch of keysOf(part, undefined, BATCH)) {
      const [old, now] = [
        { store: from, db: part.db },
        { store: to, db: toDb(part.db) },
      ];
      const different = await differing(old, now, batch);
      if (different.length > 0)
        suspect(
          suspects,
          part.db,
          different.map((key) => key.toString("latin1")),
        );
      keys += batch.length;
      progress.show("Comparing", keys, total);
    }
  }
  return { keys, suspects };
}

/** Those of the suspects that still differ. */
export async function stillDifferent(
  from: WholeStore,
  to: WholeStore,
  toDb: DbMap,
  suspects: Suspects,
): Promise<Suspects> {
  const left: Suspects = new Map();
  for (const [db, names] of suspects) {
    const keys = [...names].map((name) => Buffer.from(name, "latin1"));
    for (let at = 0; at < keys.length; at += BATCH) {
      const [old, now] = [
        { store: from, db },
        { store: to, db: toDb(db) },
      ];
      const different = await differing(old, now, keys.slice(at, at + BATCH));
      if (different.length > 0)
        suspect(
          left,
          db,
          different.map((key) => key.toString("latin1")),
        );
    }
  }
  return left;
}

/** Keys of the new store that the old one does not have, by database of the old one. */
export async function surplus(from: WholeStore, to: WholeStore, toDb: DbMap): Promise<Suspects> {
  const found: Suspects = new Map();
  const dbs = await databases(from, to, toDb);
  for (const part of await to.parts()) {
    const db = dbs.find((each) => toDb(each) === part.db) ?? part.db;
    for await (const batch of keysOf(part, undefined, BATCH)) {
      const replies = await from.run(
        db,
        batch.map((key) => ({ key, words: ["EXISTS", key] })),
      );
      const more = batch.filter((_, at) => "digits" in replies[at]! && replies[at].digits === "0");
      if (more.length > 0)
        suspect(
          found,
          db,
          more.map((key) => key.toString("latin1")),
        );
    }
  }
  return found;
}

/** The databases of the old store that either has keys for. */
export async function databases(from: WholeStore, to: WholeStore, toDb: DbMap): Promise<number[]> {
  const dbs = new Set((await from.parts()).map(({ db }) => db));
  const { place } = from.reached;
  if (place.kind === "folder" || !place.namesDb) {
    for (const { db } of await to.parts()) if (toDb(db) === db) dbs.add(db);
  }
  return [...dbs];
}

export const sizeOf = (suspects: Suspects): number => [...suspects.values()].reduce((sum, { size }) => sum + size, 0);

/** What is wrong with them, and some of their names. */
export function tellOf(suspects: Suspects, one: string, many: string): string {
  const size = sizeOf(suspects);
  return size === 1 ? `1 ${one}: ${someOf(suspects)}` : `${size} ${many}, among them ${someOf(suspects)}`;
}

function someOf(suspects: Suspects): string {
  return [...suspects.values()]
    .flatMap((names) => [...names])
    .slice(0, 5)
    .map((name) => JSON.stringify(Buffer.from(name, "latin1").toString()))
    .join(", ");
}
