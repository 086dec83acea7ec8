/**
 * Moving elements from one layout to the next: step by step behind each tag, by the holder of its lease. See scripts/movement.ts for
 * what makes it safe.
 */
import { randomToken } from "../../base/clock.ts";
import { ServerError } from "../../base/errors.ts";
import { getOrMake, zipped } from "../../base/lists.ts";
import { asByteList, asBytes, asList, asTuple } from "../../base/replies.ts";
import type { Word } from "../../connection/port.ts";
import { rootKey } from "./keys.ts";
import { type Layout, spotOf } from "./place.ts";
import { type Claim, claimIn, movedIn, RANGED, valueIn, verdictOf } from "./scripts/answers.ts";
import { fieldsOf } from "./scripts/core.ts";
import { begin, claim, MOVE, settle, settleRoot } from "./scripts/movement.ts";
import type { Gate, Root, Structure } from "./structure.ts";

/** Old shards that one step takes on. */
const SHARDS_PER_STEP = 8;
/** What is read of a shard at a time: all of it where it is packed. */
const SCAN_COUNT = 512;
const TAGS_AT_ONCE = 8;

/** How much to move, and until when. */
export interface MoveOptions {
  /** How long a mover that died in the middle keeps others from the same tag. 10 s by default. */
  readonly leaseMs?: number;
  /** Steps at most, each of up to 8 shards; without an end by default. */
  readonly maxSteps?: number;
  /** Ends moving after the step under way; `move` resolves. None by default. */
  readonly signal?: AbortSignal;
}

/** What a call of `move` has done. */
export interface MoveResult {
  /** Elements that this call has moved. */
  readonly moved: number;
  /** Whether the change is over: also true when there was none. */
  readonly finished: boolean;
}

/** One call of `moveAll`: what it may still do, and what it has done. */
interface Run {
  readonly root: Root;
  readonly token: string;
  readonly leaseMs: number;
  readonly signal: AbortSignal | undefined;
  steps: number;
  moved: number;
}

/** A tag whose elements are being moved. */
interface Moving {
  readonly tag: number;
  readonly gate: Gate;
  readonly old: Layout;
}

/** Moves elements of a change that is under way, until it is over or others are at it. */
export async function moveAll(structure: Structure, options: MoveOptions = {}): Promise<MoveResult> {
  const leaseMs = options.leaseMs ?? 10_000;
  const maxSteps = options.maxSteps ?? Number.MAX_SAFE_INTEGER;
  const root = await structure.freshRoot();
  if (!root.moving) return { moved: 0, finished: true };
  const gates = await beginAll(structure, root);
  const run: Run = { root, token: randomToken(), leaseMs, signal: options.signal, steps: maxSteps, moved: 0 };
  const waiting = gates.flatMap((gate, tag) => (gate.old === null ? [] : [tag]));
  let settled = root.tags - waiting.length;
  const worker = async (): Promise<void> => {
    for (let tag = waiting.pop(); tag !== undefined; tag = waiting.pop()) {
      if (await moveTag(structure, tag, run)) settled++;
    }
  };
  await Promise.all(Array.from({ length: Math.min(TAGS_AT_ONCE, waiting.length) }, worker));
  const finished = settled === root.tags;
  if (finished) {
    const key = rootKey(structure.prefix, structure.name);
    await structure.store.run(settleRoot, { root: key, layout: root.layout.number });
    await structure.freshRoot();
  }
  return { moved: run.moved, finished };
}

/** Has every gate begin: also those that a mover did not come to before it died. */
export async function beginAll(structure: Structure, root: Root): Promise<Gate[]> {
  const { number, shards, size } = root.layout;
  const calls = Array.from({ length: root.tags }, (_, tag) =>
    begin.with({ gate: structure.keys(tag).gate, layout: number, shards, size }),
  );
  const gates = await structure.store.pipeline(calls);
  return Promise.all(
    gates.map((fields, tag) => {
      if (fields instanceof ServerError) throw fields;
      return structure.learn(tag, fields);
    }),
  );
}

/** Steps behind one tag. True when it is settled; false when the budget is used up or another has the lease. */
async function moveTag(structure: Structure, tag: number, run: Run): Promise<boolean> {
  const { gate: gateKey } = structure.keys(tag);
  const { token, leaseMs } = run;
  for (;;) {
    const gate = structure.gate(tag, run.root);
    if (gate.old === null) return true;
    if (run.steps <= 0 || run.signal?.aborted === true) return false;
    run.steps--;
    const oldDir = oldDirOf(structure, tag, gate);
    const lease = { gate: gateKey, oldDir, gen: gate.gen, token, leaseMs, most: SHARDS_PER_STEP };
    const claimed = asList(await structure.store.run(claim, lease));
    if (verdictOf(claimed) === "busy") return false;
    if (!(await structure.settled(tag, claimed))) continue;
    const next = claimIn(claimed);
    if (next !== null) {
      if (!(await moveShards(structure, { tag, gate, old: gate.old }, next, run))) return false;
      continue;
    }
    const ended = asList(await structure.store.run(settle, { gate: gateKey, oldDir, gen: gate.gen }));
    if ((await structure.settled(tag, ended)) && valueIn(ended) === 1) {
      await structure.learn(tag, fieldsOf(await structure.store.call("HGETALL", gateKey)));
    }
  }
}

/** Reads old shards and moves what was in them. False when the lease is another's by now. */
async function moveShards(structure: Structure, moving: Moving, next: Claim, run: Run): Promise<boolean> {
  const { tag, gate, old } = moving;
  const { family, numbers } = next;
  const keys = structure.keys(tag);
  const olds = numbers.map((at) => (family === RANGED ? keys.ranged(old.number, at) : keys.hashed(old.number, at)));
  const found = await contents(structure, moving, next, olds);
  const script = MOVE[structure.kind];
  const replies = await structure.send(
    script,
    zipped(zipped(numbers, olds), found).map(([[index, oldKey], { shards, items }]) => ({
      gate: keys.gate,
      dir: keys.dir(gate.layout.number),
      oldDir: keys.dir(old.number),
      old: oldKey,
      gen: gate.gen,
      token: run.token,
      family,
      index,
      shards,
      items,
    })),
  );
  for (const reply of replies) {
    if (verdictOf(reply) === "busy") return false;
    if (await structure.settled(tag, reply)) run.moved += movedIn(reply);
  }
  return true;
}

/** What is in old shards, and where in the new layout it belongs. */
async function contents(
  structure: Structure,
  moving: Moving,
  { family, numbers }: Claim,
  olds: readonly string[],
): Promise<{ shards: string[]; items: Word[] }[]> {
  const { gate } = moving;
  const root = await structure.root();
  if (structure.kind === "bitmap") return numbers.map((at) => bitmapParts(structure, moving, at));
  const { kind } = structure;
  const [command, width] = scanCommand(kind, family === RANGED);
  const found = await Promise.all(olds.map((key) => firstElements(structure, command, key)));
  return found.map((flat) => {
    const shards: string[] = [];
    const items: Word[] = [];
    const placed = new Map<string, number>();
    for (const [at, element] of flat.entries()) {
      if (at % width !== 0) continue;
      const spot = spotOf(element.toString("utf8"), root);
      const key = structure.shardKey(spot, gate.layout);
      const place = getOrMake(placed, key, () => shards.push(key));
      items.push(place, spot.id >= 0 ? Math.floor(spot.id / gate.layout.size) : "", element);
    }
    return { shards, items };
  });
}

export function oldDirOf(structure: Structure, tag: number, gate: Gate): string {
  return structure.keys(tag).dir(gate.old?.number ?? gate.layout.number - 1);
}

/** The command that reads a shard step by step, and how many words an element has in its answer. */
export function scanCommand(kind: "hash" | "set" | "zset", isRange: boolean): [command: string, width: number] {
  if (kind === "zset") return ["ZSCAN", 2];
  return kind === "set" && isRange ? ["SSCAN", 1] : ["HSCAN", 2];
}

/** Some elements of a shard, none only if it is empty. Moved ones are gone from it, so the beginning is always the place. */
async function firstElements(structure: Structure, command: string, key: string): Promise<Buffer[]> {
  let cursor = "0";
  do {
    const [next, found] = asTuple(
      asBytes,
      asByteList,
    )(await structure.store.callBuffer(command, key, cursor, "COUNT", SCAN_COUNT));
    if (found.length > 0) return found;
    cursor = next.toString("latin1");
  } while (cursor !== "0");
  return [];
}

/** Where the bytes of an old shard of a bitmap belong: parts that lie in one old and one new shard. */
function bitmapParts(
  structure: Structure,
  { tag, gate, old }: Moving,
  index: number,
): { shards: string[]; items: Word[] } {
  const { layout } = gate;
  const shards: string[] = [];
  const items: Word[] = [];
  const part = Math.min(old.size, layout.size);
  for (let from = index * old.size; from < (index + 1) * old.size; from += part) {
    const to = Math.floor(from / layout.size);
    shards.push(structure.keys(tag).ranged(layout.number, to));
    items.push(shards.length, to, (from % old.size) / 8, (from % layout.size) / 8, part / 8);
  }
  return { shards, items };
}
