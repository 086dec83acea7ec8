/**
 * Moves slots from node to node as `redis-cli --cluster reshard` does: the target imports, the source migrates, keys go over a
 * few at a time, and at the end the target is the owner. Clients may read and write all the while; in between they meet ASK
 * and TRYAGAIN. What is written to the slot meanwhile either goes over later or is written to the target at once.
 */
import { Buffer } from "../platform/bytes.ts";
import type { LocalClient, ReplyValue } from "./local-client.ts";

/** How slots are moved from node to node. */
export interface MoveSlotsOptions {
  /** How many keys go over in one step (default 10). */
  readonly keysAtOnce?: number;
  /** How long to rest between two steps (default 0), so that clients meet the slot in every state. */
  readonly pauseMs?: number;
  /** Called before each step, with the slot and how many of its keys have gone over. None by default. */
  readonly onStep?: (slot: number, movedKeys: number) => void | Promise<void>;
}

/** How MIGRATE comes in at the other end: `AUTH`, `AUTH2` or no words. */
export function migrateAuth({
  masteruser,
  masterauth,
}: {
  readonly masteruser: string;
  readonly masterauth: string;
}): string[] {
  if (masterauth === "") return [];
  return masteruser === "" ? ["AUTH", masterauth] : ["AUTH2", masteruser, masterauth];
}

/** One end of a move. */
export interface MoveEnd {
  readonly id: string;
  readonly host: string;
  readonly port: number;
  connect(): LocalClient;
}

const TIMEOUT_MS = "5000";

/** Moves one slot; settles with the number of keys that went over. */
export async function moveSlot(
  slot: number,
  from: MoveEnd,
  to: MoveEnd,
  { keysAtOnce = 10, pauseMs = 0, onStep, auth }: MoveSlotsOptions & { readonly auth: readonly string[] },
): Promise<number> {
  const source = from.connect();
  const target = to.connect();
  const word = String(slot);
  let moved = 0;
  try {
    await target.call("CLUSTER", "SETSLOT", word, "IMPORTING", from.id);
    await source.call("CLUSTER", "SETSLOT", word, "MIGRATING", to.id);
    for (;;) {
      await onStep?.(slot, moved);
      const keys = namesOf(await source.callBuffer("CLUSTER", "GETKEYSINSLOT", word, String(keysAtOnce)));
      if (keys.length === 0) break;
      // The source still owns the slot, so what it has of a key is what counts.
      const where = [to.host, String(to.port), "", "0", TIMEOUT_MS, "REPLACE", ...auth, "KEYS"];
      await source.call("MIGRATE", ...where, ...keys);
      moved += keys.length;
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    // No key can come to the source between its last look and this: new ones are written to the target.
    await target.call("CLUSTER", "SETSLOT", word, "NODE", to.id);
    await source.call("CLUSTER", "SETSLOT", word, "NODE", to.id).catch(ignoreNewReplica);
    return moved;
  } finally {
    source.close();
    target.close();
  }
}

const namesOf = (reply: ReplyValue): Buffer[] => (Array.isArray(reply) ? reply.filter(Buffer.isBuffer) : []);

/** Who has given its last slot away is a replica by now, which need not be told. */
function ignoreNewReplica(error: unknown): void {
  if (!(error instanceof Error) || !error.message.includes("only with masters")) throw error;
}
