/**
 * The limit on live sessions, of all users together. A round counts what the shards of the list hold, finds the least recently used
 * sessions over the limit among all shards, and trims each shard to what is left for it. A shard is trimmed to a length, in one
 * step, so many cleaners share the work and never do it twice. A cleaner that dies in between leaves sessions that end by their own
 * lifetime.
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import { zipped } from "../../base/lists.ts";
import { asList, asNumber, asPairs, asTuple } from "../../base/replies.ts";
import type { Store } from "../../connection/store.ts";
import { liveKeys, type SessionPlace } from "./keys.ts";
import { liveOldest, oldest } from "./scripts.ts";

const AT_ONCE = 500;

export interface CleanerOptions {
  readonly prefix: string;
  readonly maxLive: number;
  /** How long a session is listed after it was last touched. */
  readonly listMs: number;
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
  readonly end: (place: SessionPlace) => Promise<void>;
}

interface Shard {
  readonly live: string;
  readonly size: number;
  /** When its least recently used sessions were used. */
  readonly seen: readonly number[];
}

export function sessionCleaner(store: Store, options: CleanerOptions): BackgroundLoop {
  const { prefix, maxLive, listMs, everyMs, onError, end } = options;
  const keys = liveKeys(prefix);

  /** What each shard holds, and its least recently used. */
  async function look(most: number): Promise<Shard[]> {
    const answers = await store.pipeline(keys.map((live) => liveOldest.with({ live, listMs, most })));
    return zipped(keys, answers).map(([live, answer]) => {
      const [size, flat] = asTuple(asNumber, asList)(answer);
      return { live, size, seen: asPairs(flat).map(([, at]) => Number(at)) };
    });
  }

  const overOf = (shards: readonly Shard[]): number =>
    Math.min(shards.reduce((sum, { size }) => sum + size, 0) - maxLive, AT_ONCE);

  /** Answers how many were taken: none when there are not too many, or others have taken them. */
  async function trim(): Promise<number> {
    const most = overOf(await look(0));
    if (most <= 0) return 0;
    // Sizes are counted again with what is oldest: another cleaner may have been here in between.
    const shards = await look(most);
    const all = shards.flatMap(({ live, seen }) => seen.map((at) => ({ live, at })));
    all.sort((a, b) => a.at - b.at);
    const going = all.slice(0, Math.max(0, overOf(shards)));
    const taken = await Promise.all(
      shards.map(({ live, size }) => {
        const share = going.filter((each) => each.live === live).length;
        return share === 0 ? [] : store.run(oldest, { live, limit: size - share, most: share });
      }),
    );
    const members = taken.flat();
    await Promise.all(members.map((member) => end(toPlace(member))));
    return members.length;
  }

  async function round(signal: AbortSignal): Promise<number> {
    let ended = 0;
    for (let taken = 1; taken > 0 && !signal.aborted; ended += taken) taken = await trim();
    return ended;
  }

  return new BackgroundLoop(store, { everyMs, onError, round });
}

function toPlace(member: string): SessionPlace {
  const at = member.indexOf("\0");
  return { tag: member.slice(0, at), id: member.slice(at + 1) };
}
