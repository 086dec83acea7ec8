/** The keys of a job board. Jobs and candidates are spread over shards by their names; everything of a shard has its tag. */

import { tagged } from "../../base/keys.ts";
import { defineLayout } from "../../base/layout.ts";

defineLayout("job-search");

/** The beginning of all keys of a shard. */
export function shardBase(prefix: string, name: string, shard: number, shards: number): string {
  return tagged(prefix, shards === 1 ? name : `${name}/${shard}`, "job board");
}

/** What jobs and candidates have alike, each under its own name. */
export interface SideKeys {
  /** Hash: id → what it requires or has, packed. */
  readonly packed: string;
  /** Hash: id → the caller's data. */
  readonly data: string;
  /** Hash: skill → how many have it. */
  readonly skills: string;
  /** Sorted set: id by when it was posted. */
  readonly all: string;
  /** Sorted set: id by when it closes. */
  readonly closing: string;
  /** Beginning of the lists: sorted sets of ids by when they were posted. */
  readonly lists: string;
}

export function sideKeys(base: string, side: "job" | "candidate"): SideKeys {
  const of = `${base}:${side}`;
  return {
    packed: `${of}s:packed`,
    data: `${of}s:data`,
    skills: `${of}s:skills`,
    all: `${of}s`,
    closing: `${of}s:closing`,
    lists: `${of}:`,
  };
}
