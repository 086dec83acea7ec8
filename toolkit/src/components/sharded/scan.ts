/**
 * Going through all elements, page by page, behind one tag after the other. Nothing is remembered on the server or here: the cursor
 * says where to go on.
 *
 * As with SCAN, an element that is there all the time is met at least once, also while the layout is being changed: elements go from
 * the old layout to the new, so the old one's shards are read first; and when those of the newest that was known have been read and
 * there is a newer one by now, that is read as well. So an element that is moved meanwhile can be met twice, and none is missed.
 */

import { InputError } from "../../base/errors.ts";
import { zipped } from "../../base/lists.ts";
import { asByteList, asBytes, asTexts, asTuple } from "../../base/replies.ts";
import { scanCommand } from "./movement.ts";
import type { Layout } from "./place.ts";
import { type Family, HASHED, RANGED } from "./scripts/answers.ts";
import { fieldsOf } from "./scripts/core.ts";
import type { Gate, Structure } from "./structure.ts";

const SHARDS_AT_ONCE = 16;

interface Position {
  readonly tag: number;
  /** Number of the layout whose shards are being read; 0: the oldest that there is. */
  readonly layout: number;
  readonly family: Family;
  /** The shard to read next, or to go on with. */
  readonly index: number;
  /** Within that shard. */
  readonly inner: string;
}

export interface ScanPage {
  /** Where the next page begins; null when this was the last. */
  readonly next: string | null;
  /** Flat, as the server's own commands give them: {element, value} or {element}. */
  readonly elements: readonly { readonly element: Buffer; readonly value: Buffer | null }[];
}

const FIRST: Position = { tag: 0, layout: 0, family: HASHED, index: 0, inner: "0" };

export async function scanPage(structure: Structure, cursor: string | undefined, count: number): Promise<ScanPage> {
  const root = await structure.root();
  const elements: ScanPage["elements"][number][] = [];
  let position: Position | null = cursor === undefined ? FIRST : parsed(cursor, root.tags);
  while (position !== null && elements.length < count) {
    const { keys, after } = await nextShards(structure, position);
    position = await readShards(structure, keys, after, elements);
    if (position !== null && position.tag >= root.tags) position = null;
  }
  return { next: position === null ? null : shown(position), elements };
}

export async function* scanAll(structure: Structure, count: number): AsyncGenerator<ScanPage["elements"][number]> {
  let cursor: string | undefined;
  do {
    const page = await scanPage(structure, cursor, count);
    yield* page.elements;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

interface Read {
  readonly key: string;
  readonly at: Position;
}

/** The shards to read from a position on, all of one family of one layout, and where to go on behind them. */
async function nextShards(structure: Structure, position: Position): Promise<{ keys: Read[]; after: Position }> {
  const { tag, index, inner } = position;
  const keys = structure.keys(tag);
  const fields = fieldsOf(await structure.store.call("HGETALL", keys.gate));
  // Nobody has ever written behind this tag.
  if (fields.size === 0) return { keys: [], after: { ...FIRST, tag: tag + 1 } };
  const gate = await structure.learn(tag, fields);
  const layout = layoutFor(position, gate);
  // The layout has been given up meanwhile: all that was in it is in the next.
  const isSame = position.layout === layout.number || position.layout === 0;
  const family = isSame ? position.family : HASHED;
  const from = isSame ? index : 0;
  const here = (nth: number): Position => ({ tag, layout: layout.number, family, index: nth, inner: "0" });
  if (family === HASHED) {
    const last = Math.min(layout.shards, from + SHARDS_AT_ONCE);
    const found = Array.from({ length: Math.max(0, last - from) }, (_, nth) => {
      const at = nth === 0 && isSame ? { ...here(from), inner } : here(from + nth);
      return { key: keys.hashed(layout.number, from + nth), at };
    });
    return { keys: found, after: last < layout.shards ? here(last) : { ...here(0), family: RANGED } };
  }
  const numbers = asTexts(
    await structure.store.call("ZRANGEBYSCORE", keys.dir(layout.number), from, "+inf", "LIMIT", 0, SHARDS_AT_ONCE),
  ).map(Number);
  const found = numbers.map((number) => ({
    key: keys.ranged(layout.number, number),
    at: number === from && isSame ? { ...here(number), inner } : here(number),
  }));
  const last = numbers.at(-1);
  if (last !== undefined && numbers.length === SHARDS_AT_ONCE) return { keys: found, after: here(last + 1) };
  return { keys: found, after: { tag, layout: -layout.number, family: HASHED, index: 0, inner: "0" } };
}

/** A negative number: behind the last shard of that layout, so a newer one if there is one by now. */
function layoutFor({ layout }: Position, { layout: current, old }: Gate): Layout {
  if (layout < 0) return current;
  return old !== null && layout <= old.number ? old : current;
}

/** Reads the shards; stops at the first that needs another step, and answers where to go on. */
async function readShards(
  structure: Structure,
  reads: readonly Read[],
  after: Position,
  into: ScanPage["elements"][number][],
): Promise<Position | null> {
  const { store, kind } = structure;
  const isRange = reads[0]?.at.family === RANGED;
  const [command, width] = scanCommand(kind as "hash", isRange);
  const pages = await Promise.all(reads.map(({ key, at }) => store.callBuffer(command, key, at.inner, "COUNT", 512)));
  for (const [{ at: read }, page] of zipped(reads, pages)) {
    const [inner, flat] = asTuple(asBytes, asByteList)(page);
    for (let at = 0; at < flat.length; at += width) {
      into.push({ element: asBytes(flat[at]), value: width === 2 ? asBytes(flat[at + 1]) : null });
    }
    // A large one: those beyond it are read again when it is through.
    const next = inner.toString("latin1");
    if (next !== "0") return { ...read, inner: next };
  }
  return newerOrNextTag(structure, after);
}

/** Behind the last shard of the newest layout that was known: the next tag, unless there is a newer layout. */
async function newerOrNextTag(structure: Structure, after: Position): Promise<Position> {
  if (after.layout >= 0) return after;
  const read = -after.layout;
  const answer = await structure.store.call("HGET", structure.keys(after.tag).gate, "l");
  if (Number(answer) > read) return { ...FIRST, tag: after.tag, layout: read + 1 };
  return { ...FIRST, tag: after.tag + 1 };
}

const shown = ({ tag, layout, family, index, inner }: Position): string =>
  `${tag}.${layout}.${family}.${index}.${inner}`;

function parsed(cursor: string, tags: number): Position {
  const [, tag, layout, family, index, inner] = /^(\d+)\.(\d+)\.([hr])\.(\d+)\.(\d+)$/.exec(cursor) ?? [];
  if (inner === undefined || Number(tag) >= tags) throw new InputError("cursor is not one that list() gave");
  return {
    tag: Number(tag),
    layout: Number(layout),
    family: family === RANGED ? RANGED : HASHED,
    index: Number(index),
    inner,
  };
}
