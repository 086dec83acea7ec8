/**
 * The keys of a table of places: one tag, since a look-up searches the whole of it. A load makes a new version beside the one in
 * use and swaps them in one step.
 */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";
import type { Family } from "./address.ts";

defineLayout("places");

export interface TableKeys {
  /** String: the version in use. */
  readonly current: string;
  /** Sorted set: every version that there is something of, by when its loader was last heard of. */
  readonly versions: string;
  /** Beginning of a version's keys. */
  readonly base: string;
}

export function tableKeys(prefix: string, name: string): TableKeys {
  const base = tagged(prefix, name, "table of places");
  return { current: `${base}:current`, versions: `${base}:versions`, base: `${base}:` };
}

/** Sorted set, all scores 0: first address of each block, in hexadecimal. */
export const indexKey = (base: string, version: string, family: Family): string => `${base}${version}:${family}`;

/** String: up to 512 ranges, each first address, last address, number of the place (four bytes). */
export const blockKey = (base: string, version: string, family: Family, first: string): string =>
  `${base}${version}:${family}:${first}`;

/** Hash: number of the place within its bucket → the place as JSON. */
export const bucketKey = (base: string, version: string, bucket: number): string => `${base}${version}:p:${bucket}`;

/** Hash: how many ranges, places, buckets, and bytes. */
export const metaKey = (base: string, version: string): string => `${base}${version}:meta`;

export const PLACES_PER_BUCKET = 512;
export const RANGES_PER_BLOCK = 512;
