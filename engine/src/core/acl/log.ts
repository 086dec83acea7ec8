/**
 * ACL LOG: what was refused lately, newest first. The same refusal again within a minute counts up the entry that is there
 * and moves it to the front, so that a client that tries in a loop does not drive out everything else.
 */
import type { Client } from "../client.ts";
import { clientLine } from "../client-info.ts";
import type { RefusedEntry } from "../ports.ts";

export type Refused = Pick<RefusedEntry, "reason" | "context" | "object" | "user">;

interface Entry extends Refused {
  count: number;
  at: number;
  clientInfo: string;
}

const SAME_WITHIN_MS = 60_000;
/** How many entries are looked at for the same refusal. */
const MOST_SEARCHED = 10;

export class AclLog {
  #entries: Entry[] = [];

  get entries(): readonly RefusedEntry[] {
    return this.#entries;
  }

  /** Notes a refusal, and keeps at most so many entries. */
  add(refused: Refused, client: Client, most: number): void {
    const at = client.engine.clock.now();
    const clientInfo = clientLine(client);
    const found = this.#entries.findIndex((entry, i) => i < MOST_SEARCHED && isSame(entry, refused, at));
    const [entry] = found < 0 ? [] : this.#entries.splice(found, 1);
    if (entry === undefined) {
      this.#entries.unshift({ ...refused, count: 1, at, clientInfo });
      if (this.#entries.length > most) this.#entries.length = most;
      return;
    }
    entry.count++;
    entry.at = at;
    entry.clientInfo = clientInfo;
    this.#entries.unshift(entry);
  }

  clear(): void {
    this.#entries = [];
  }
}

function isSame(entry: Entry, { reason, context, object, user }: Refused, at: number): boolean {
  if (entry.reason !== reason || entry.context !== context) return false;
  return entry.object === object && entry.user === user && Math.abs(at - entry.at) <= SAME_WITHIN_MS;
}
