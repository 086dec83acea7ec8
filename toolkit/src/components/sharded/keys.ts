/**
 * The keys of a sharded structure. Its elements are divided among a fixed number of tags, which spread over the slots of a Cluster;
 * an element's tag never changes. Behind each tag stand the shards of the layout in force, and while that is being changed those of
 * the one before, always in the same slot: so whatever happens to an element is one step on one node.
 */

import { word } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("sharded");

/** Structures that were not used for so long are not listed. */
export const NAMES_MS = 30 * 86_400_000;

export const DEFAULT_PREFIX = "sharded";

/** The keys behind one tag. */
export interface TagKeys {
  /** Hash: generation, layout, number of elements; while elements are moved, the layout before and how far it is. */
  readonly gate: string;
  /** Sorted set: numbers of the shards of a layout that are placed by range and not empty. */
  dir(layout: number): string;
  /** A shard of elements that are placed by their hash. */
  hashed(layout: number, index: number): string;
  /** A shard of elements that are placed by the range of their number. */
  ranged(layout: number, index: number): string;
  /** String, expires: what the call with this id answered. */
  once(id: string): string;
  /** List: one piece of a list. */
  piece(index: number): string;
  /** List: a word in it says that there is something to pop. */
  readonly bell: string;
}

export function checkedName(name: string): string {
  word("the name of a sharded structure", name, 512);
  // It would end the tag, and everything would be in one slot.
  if (name.includes("}")) throw new InputError('the name of a sharded structure must not contain "}"');
  return name;
}

export const rootKey = (prefix: string, name: string): string =>
  `${tagged(prefix, checkedName(name), "sharded structure")}:root`;

export function tagKeys(prefix: string, name: string, tag: number): TagKeys {
  const base = tagged(prefix, `${name}/${tag}`, "sharded structure");
  return {
    gate: `${base}:gate`,
    dir: (layout) => `${base}:${layout}:dir`,
    hashed: (layout, index) => `${base}:${layout}:${index}`,
    ranged: (layout, index) => `${base}:${layout}:r${index}`,
    once: (id) => `${base}:once:${id}`,
    piece: (index) => `${base}:piece:${index}`,
    bell: `${base}:bell`,
  };
}
