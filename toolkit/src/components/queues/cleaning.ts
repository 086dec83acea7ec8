/** Dropping jobs by their state and age. */
import { oneOf } from "../../base/checks.ts";
import { defineOptions, whole } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import type { Shard } from "./answers.ts";
import { BULK_CHUNK } from "./bulk.ts";
import { MAX_MS } from "./options.ts";
import { cleanJobs, cleanPlaces } from "./scripts/manage.ts";

/** Which jobs of a state are dropped. */
export interface CleanOptions {
  /** Those stay that have ended, or were added if they have not ended, less than so long ago. 0 by default: none stays. */
  readonly keepMs?: number;
  /** So many at most. All by default. */
  readonly limit?: number;
}

const CLEAN_OPTIONS = defineOptions<CleanOptions>("Queue.clean", {
  keepMs: whole(0, MAX_MS),
  limit: whole(1),
});

export const CLEANABLE = ["done", "dead", "waiting", "delayed", "waiting-for-children"] as const;
/** The states whose jobs `Queue.clean` drops. */
export type CleanableState = (typeof CLEANABLE)[number];

/** Where the jobs of a state that has no end stand. */
const PLACES = {
  waiting: ["plain", "prio", "group"],
  delayed: ["delayed"],
  "waiting-for-children": ["parent"],
} as const;

/** In steps of bounded size; how many were dropped. */
export async function clean(
  queue: { readonly store: Store; readonly shards: readonly Shard[] },
  state: CleanableState,
  options: CleanOptions,
): Promise<number> {
  oneOf("state", state, CLEANABLE);
  CLEAN_OPTIONS.check(options);
  const { keepMs = 0, limit = Number.POSITIVE_INFINITY } = options;
  const { store } = queue;
  let total = 0;
  for (const { keys } of queue.shards) {
    if (state === "done" || state === "dead") {
      for (let most = BULK_CHUNK, count = most; count === most && total < limit; total += count) {
        most = Math.min(BULK_CHUNK, limit - total);
        count = await store.run(cleanJobs, { ...keys, state, keepMs, most });
      }
      continue;
    }
    for (const kind of PLACES[state]) {
      for (let skip = 0, more = true; more && total < limit; ) {
        const most = Math.min(BULK_CHUNK, limit - total);
        const [removed, seen] = await store.run(cleanPlaces, { ...keys, kind, keepMs, skip, most });
        total += removed;
        skip += seen - removed;
        more = seen === most;
      }
    }
  }
  return total;
}
