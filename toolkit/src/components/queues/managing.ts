/** What is done to jobs that a queue has already: each step to many of one shard, in one call of a script. */

import { type Codec, encodeWithin } from "../../base/codec.ts";
import type { Store } from "../../connection/store.ts";
import type { CancelOutcome, DeleteOutcome, Shard, UpdateOutcome } from "./answers.ts";
import { BULK_CHUNK } from "./bulk.ts";
import { cancelChannel, type QueueKeys } from "./keys.ts";
import { encodeUpdate, type JobUpdate } from "./options.ts";
import { cancelJobs, drainJobs, promoteJobs, removeJobs, replayJobs, updateJobs } from "./scripts/manage.ts";

/** What is to be changed of a job, as the script gets it. */
export interface Change {
  readonly shard: Shard;
  readonly id: string;
  readonly how: string;
  readonly payload: string | Uint8Array;
}

/** What encoding the data of a job takes. */
interface Encoding<I> {
  readonly codec: Codec<unknown, I>;
  readonly maxPayloadBytes: number;
}

export function changeOf<I>(queue: Encoding<I>, shard: Shard, id: string, update: JobUpdate<I>): Change {
  const how = encodeUpdate(update);
  const { data } = update;
  if (data === undefined) return { shard, id, how, payload: "" };
  return { shard, id, how, payload: encodeWithin(queue.codec, data, queue.maxPayloadBytes, "the payload of a job") };
}

export class Managing {
  readonly #store: Store;
  readonly #shards: readonly Shard[];

  constructor(store: Store, shards: readonly Shard[]) {
    this.#store = store;
    this.#shards = shards;
  }

  readonly delete = async ({ keys }: Shard, ids: readonly string[]): Promise<DeleteOutcome[]> =>
    (await this.#store.run(removeJobs, { ...keys, ids })).map((status) => ({ status }));

  readonly update = async ({ keys }: Shard, changes: readonly Change[]): Promise<UpdateOutcome[]> => {
    const words = changes.flatMap(({ id, how, payload }) => [id, how, payload]);
    return (await this.#store.run(updateJobs, { ...keys, changes: words })).map((status) => ({ status }));
  };

  readonly cancel = async ({ keys }: Shard, ids: readonly string[]): Promise<CancelOutcome[]> =>
    (await this.#store.run(cancelJobs, { ...keys, channel: cancelChannel(keys), ids })).map((status) => ({ status }));

  readonly retry = async ({ keys }: Shard, ids: readonly string[]): Promise<boolean[]> =>
    (await this.#store.run(replayJobs, { ...keys, most: "", ids })).map((each) => each === 1);

  readonly promote = async ({ keys }: Shard, ids: readonly string[]): Promise<boolean[]> =>
    (await this.#store.run(promoteJobs, { ...keys, most: "", ids })).map((each) => each === 1);

  /** Dead letters, the oldest first; how many. */
  replayDead(limit: number): Promise<number> {
    return this.#repeat(limit, async (keys, most) => {
      return (await this.#store.run(replayJobs, { ...keys, most, ids: [] })).length;
    });
  }

  /** Delayed jobs, those that are due first before the others; how many. */
  promoteDelayed(limit: number): Promise<number> {
    return this.#repeat(limit, async (keys, most) => {
      return (await this.#store.run(promoteJobs, { ...keys, most, ids: [] })).length;
    });
  }

  /** How many were removed. */
  drain(alsoDelayed: boolean): Promise<number> {
    return this.#repeat(Number.POSITIVE_INFINITY, (keys, most) =>
      this.#store.run(drainJobs, { ...keys, alsoDelayed: alsoDelayed ? 1 : 0, most }),
    );
  }

  /** Does a bounded step again and again until nothing is left. */
  async #repeat(limit: number, step: (keys: QueueKeys, most: number) => Promise<number>): Promise<number> {
    let total = 0;
    for (const { keys } of this.#shards) {
      for (;;) {
        const most = Math.min(BULK_CHUNK, limit - total);
        if (most <= 0) return total;
        const count = await step(keys, most);
        total += count;
        if (count < most) break;
      }
    }
    return total;
  }
}
