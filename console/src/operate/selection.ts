/** Which keys an action is about: those that are named, or all that a filter fits. */
import type { Store } from "cinnabar";
import { countKeys } from "../nodes.ts";
import { Problem } from "../route.ts";
import { array, object, string } from "../schema.ts";
import type { Progress } from "../tasks.ts";
import { wordOf } from "../values.ts";
import { FILTER, type Filter, OPTIONAL, walk } from "./walk.ts";

export const SELECTION = object(
  {
    keys: array(string({ maxLength: 1_000_000 }), { minItems: 1, maxItems: 10_000 }),
    filter: object(FILTER, OPTIONAL),
  },
  ["keys", "filter"],
);

export interface Selection {
  readonly keys?: readonly string[] | undefined;
  readonly filter?: Filter | undefined;
}

const BATCH = 100;

const bytesOf = (key: string): Buffer => {
  const word = wordOf(key);
  return typeof word === "string" ? Buffer.from(word) : word;
};

/** The keys in batches; `progress` hears how far the selection is gone through. */
export async function* selected(
  store: Store,
  { keys, filter }: Selection,
  progress: Progress,
): AsyncGenerator<readonly Buffer[], void, undefined> {
  if (keys !== undefined && filter === undefined) {
    for (let at = 0; at < keys.length; at += BATCH) {
      progress.signal.throwIfAborted();
      progress(at, keys.length);
      yield keys.slice(at, at + BATCH).map(bytesOf);
    }
    progress(keys.length, keys.length);
    return;
  }
  const total = await countKeys(store);
  progress(0, total);
  let scanned = 0;
  for await (const step of walk(store, { filter: filter!, signal: progress.signal })) {
    const found = step.keys.map(({ key }) => key);
    for (let at = 0; at < found.length; at += BATCH) {
      progress.signal.throwIfAborted();
      yield found.slice(at, at + BATCH);
    }
    scanned = step.scanned;
    progress(scanned, total);
  }
  progress(scanned, scanned);
}

/** Refuses what names both, or neither. */
export function checkSelection({ keys, filter }: Selection): void {
  if ((keys === undefined) === (filter === undefined))
    throw new Problem(400, "INPUT", "a selection has either keys or a filter");
}
