/**
 * The moment of the switch. Writes to the old store wait (CLIENT PAUSE WRITE), and a fence makes it refuse those that come later:
 * what waited is answered with NOREPLICAS, which has not run, instead of going to a store that nobody reads any more.
 *
 * The fence is min-replicas-to-write with a number that nobody reaches. The setting that was there is part of the number, so that
 * another process can put it back after this one was killed.
 */
import { CommandFailure } from "../command.ts";
import { type Link, ReplyFailure } from "../link/link.ts";
import { itemsIn, textIn } from "../link/reply.ts";
import type { WholeStore } from "../link/stores.ts";

const FENCE = 1_000_000_000;
const SETTING = "min-replicas-to-write";

async function setting(link: Link): Promise<number> {
  return Number(textIn(itemsIn(await link.call("CONFIG", "GET", SETTING))[1]));
}

/** Whether the store refuses writes because of a move. */
export async function isFenced(store: WholeStore): Promise<boolean> {
  const [primary] = await store.primaries();
  const reply = await primary!.send(["CONFIG", "GET", SETTING]);
  return Number(textIn(itemsIn(reply)[1])) >= FENCE;
}

export async function raiseFence(store: WholeStore): Promise<void> {
  for (const primary of await store.primaries()) {
    const before = await setting(primary);
    if (before < FENCE) await primary.call("CONFIG", "SET", SETTING, String(FENCE + before));
  }
}

export async function lowerFence(store: WholeStore): Promise<void> {
  for (const primary of await store.primaries()) {
    const now = await setting(primary);
    if (now >= FENCE) await primary.call("CONFIG", "SET", SETTING, String(now - FENCE));
  }
}

/** Writes wait from now on, for no longer than so. Answers when that was, by this process's clock. */
export async function holdWrites(store: WholeStore, mostMs: number): Promise<number> {
  const began = performance.now();
  try {
    for (const primary of await store.primaries()) await primary.call("CLIENT", "PAUSE", String(mostMs), "WRITE");
    await raiseFence(store);
  } catch (error) {
    await releaseWrites(store).catch(() => {});
    if (!(error instanceof ReplyFailure)) throw error;
    const advice =
      "a move under writes needs CLIENT PAUSE and CONFIG SET: use a user with these rights, and Redis 6.2 or later";
    throw new CommandFailure(`${store.label} cannot hold its writes: ${error.message}`, advice);
  }
  return began;
}

export async function releaseWrites(store: WholeStore): Promise<void> {
  for (const primary of await store.primaries()) await primary.call("CLIENT", "UNPAUSE");
}
