/**
 * Where an element is: its tag, for ever, and its shard in a layout. Integers can be placed by range, so that ids which are given one
 * after the other fill shard after shard; everything else is placed by a hash, which never changes either.
 */
import { hashOf } from "../../base/hash.ts";

export interface Layout {
  /** Counts the layouts of a structure; part of its shards' names. */
  readonly number: number;
  /** Shards by hash behind each tag. */
  readonly shards: number;
  /** Numbers in each shard by range. Divides the stride. */
  readonly size: number;
}

export interface Placing {
  readonly tags: number;
  /** So many consecutive numbers are behind the same tag, whatever the layout. */
  readonly stride: number;
  readonly ids: "range" | "hash";
}

export interface Spot {
  readonly tag: number;
  /** The number, of an element that is placed by range; -1 for others. */
  readonly id: number;
  /** Of an element that is placed by hash: which of the shards behind the tag, modulo their number. */
  readonly code: number;
}

export function spotOf(element: string, { tags, stride, ids }: Placing): Spot {
  const id = ids === "range" ? idOf(element) : -1;
  if (id >= 0) return { tag: Math.floor(id / stride) % tags, id, code: 0 };
  const hash = hashOf(element);
  return { tag: hash % tags, id: -1, code: Math.floor(hash / tags) };
}

export function spotOfNumber(id: number, { tags, stride }: Placing): Spot {
  return { tag: Math.floor(id / stride) % tags, id, code: 0 };
}

/** The number that a text is; -1 unless it is written as numbers are: "010" is another text than "10". */
function idOf(text: string): number {
  if (text.length === 0 || text.length > 16) return -1;
  const first = text.charCodeAt(0);
  if (first < 48 || first > 57 || (first === 48 && text.length > 1)) return -1;
  for (let at = 1; at < text.length; at++) {
    const digit = text.charCodeAt(at);
    if (digit < 48 || digit > 57) return -1;
  }
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : -1;
}
