/**
 * The limit on live sessions. Each round takes the least recently used ones over the limit out of the list, in one step, so many
 * cleaners share the work and never do it twice. A cleaner that dies in between leaves sessions that end by their own lifetime.
 */
import { BackgroundLoop } from "../../base/background-loop.ts";
import type { Store } from "../../connection/store.ts";
import { liveKeys, type SessionPlace } from "./keys.ts";
import { oldest } from "./scripts.ts";

const AT_ONCE = 100;

export interface CleanerOptions {
  readonly prefix: string;
  readonly maxLive: number;
  readonly keepMs: number;
  readonly everyMs: number;
  readonly onError: (error: unknown) => void;
  readonly end: (place: SessionPlace) => Promise<void>;
}

export function sessionCleaner(store: Store, options: CleanerOptions): BackgroundLoop {
  const { prefix, maxLive, keepMs, everyMs, onError, end } = options;
  const keys = liveKeys(prefix);
  // Users are spread evenly over the shards by a hash, so each may hold its part.
  const limit = Math.ceil(maxLive / keys.length);

  async function round(signal: AbortSignal): Promise<number> {
    let ended = 0;
    for (const live of keys) {
      for (let taken = AT_ONCE; taken === AT_ONCE && !signal.aborted; ) {
        const found = await store.run(oldest, { live, limit, most: AT_ONCE, keepMs });
        await Promise.all(found.map((member) => end(toPlace(member))));
        taken = found.length;
        ended += taken;
      }
    }
    return ended;
  }

  return new BackgroundLoop(store, { everyMs, onError, round });
}

function toPlace(member: string): SessionPlace {
  const at = member.indexOf("\0");
  return { tag: member.slice(0, at), id: member.slice(at + 1) };
}
