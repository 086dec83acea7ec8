/**
 * SCAN over everything there is. In a Cluster each primary has its own cursor: the one that callers get is `node:cursor`, and
 * nodes are walked one after the other. A node is reached through a key that hashes to one of its slots.
 */
import { type Store, slotOf } from "cinnabar";
import { Problem } from "./route.ts";
import { listOf, scanned } from "./values.ts";

const SLOTS = 16_384;

/** Slot → a short text that hashes to it. Made on first need: about 150 000 hashes. */
let keyOfSlot: string[] | undefined;

function keyFor(slot: number): string {
  if (keyOfSlot === undefined) {
    keyOfSlot = new Array<string>(SLOTS);
    let left = SLOTS;
    for (let n = 0; left > 0; n++) {
      const text = n.toString(36);
      const at = slotOf(text);
      if (keyOfSlot[at] !== undefined) continue;
      keyOfSlot[at] = text;
      left--;
    }
  }
  return keyOfSlot[slot]!;
}

/** For each primary that has slots, a key that leads to it; one undefined where there is only one server. */
async function keysOfNodes(store: Store): Promise<(string | undefined)[]> {
  if (store.topology !== "cluster") return [undefined];
  const first = new Map<string, number>();
  for (const range of listOf(await store.call("CLUSTER", "SLOTS"))) {
    const [begin, , primary] = listOf(range);
    const node = listOf(primary);
    const id = String(node[2] ?? `${node[0]}:${node[1]}`);
    first.set(id, Math.min(first.get(id) ?? SLOTS, Number(begin)));
  }
  return [...first.values()].sort((a, b) => a - b).map(keyFor);
}

export interface ScanOptions {
  readonly match?: string | undefined;
  readonly type?: string | undefined;
  readonly count: number;
}

/** One step. The cursor is "0" at the beginning and after the end. */
export async function scan(
  store: Store,
  cursor: string,
  options: ScanOptions,
): Promise<{ cursor: string; keys: Buffer[] }> {
  const place = /^(?:(\d{1,4}):)?(\d{1,20})$/.exec(cursor);
  if (place === null) throw new Problem(400, "INPUT", "that is no cursor of this console");
  const nodes = await keysOfNodes(store);
  const nth = Number(place[1] ?? 0);
  if (nth >= nodes.length) return { cursor: "0", keys: [] };
  const words = ["SCAN", place[2]!, "COUNT", options.count];
  if (options.match) words.push("MATCH", options.match);
  if (options.type) words.push("TYPE", options.type);
  const key = nodes[nth];
  const reply = await store.send(words, { buffers: true, ...(key !== undefined && { key }) });
  const { next, found } = scanned(reply);
  return { cursor: after(nth, next, nodes.length), keys: found };
}

/** How many keys there are, on all nodes. */
export async function countKeys(store: Store): Promise<number> {
  let count = 0;
  for (const key of await keysOfNodes(store)) {
    count += Number(await store.send(["DBSIZE"], { ...(key !== undefined && { key }) }));
  }
  return count;
}

function after(nth: number, next: string, nodes: number): string {
  if (nodes === 1) return next;
  if (next !== "0") return `${nth}:${next}`;
  return nth + 1 < nodes ? `${nth + 1}:0` : "0";
}

export interface Found {
  readonly keys: string[];
  /** False where the store has more keys than were looked at. */
  readonly complete: boolean;
}

/**
 * Keys of one step. In this process a step keeps every other client waiting, so it is short, and others have a turn after each; a
 * server answers others between two steps in any case, and fewer of them take less of its time.
 */
const STEP = { embedded: 200, server: 2_000 };
const MOST_SEEN = 500_000;
const MOST_FOUND = 5_000;
/** A search is repeated at the earliest after so many times what it took: views that ask every other second must not keep a
 * large store busy. */
const REST = 20;

const searches = new WeakMap<Store, Map<string, { readonly until: number; readonly found: Promise<Found> }>>();

/** Keys that match, as text, sorted. What was found a moment ago is found again without asking. */
export function findKeys(store: Store, match: string): Promise<Found> {
  const known = searches.get(store) ?? new Map();
  searches.set(store, known);
  const begin = performance.now();
  const last = known.get(match);
  if (last !== undefined && last.until > begin) return last.found;
  const found = search(store, match);
  known.set(match, { until: Number.POSITIVE_INFINITY, found });
  found.then(
    () => known.set(match, { until: begin + (REST + 1) * (performance.now() - begin), found }),
    () => known.delete(match),
  );
  return found;
}

async function search(store: Store, match: string): Promise<Found> {
  const keys = new Set<string>();
  let cursor = "0";
  const isEmbedded = store.topology === "embedded";
  const count = isEmbedded ? STEP.embedded : STEP.server;
  for (let seen = 0; seen < MOST_SEEN && keys.size < MOST_FOUND; seen += count) {
    const step = await scan(store, cursor, { match, count });
    if (isEmbedded) await new Promise((resolve) => setImmediate(resolve));
    for (const key of step.keys) keys.add(key.toString());
    cursor = step.cursor;
    if (cursor === "0") return { keys: [...keys].sort(), complete: true };
  }
  return { keys: [...keys].sort(), complete: false };
}
