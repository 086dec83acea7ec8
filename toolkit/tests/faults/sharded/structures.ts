/** The structures of this folder, each behind the same three calls. */

import {
  ShardedBitmap,
  ShardedHash,
  ShardedList,
  ShardedSet,
  ShardedSortedSet,
  type Shards,
} from "../../../src/components/sharded/index.ts";
import type { Store } from "../../../src/connection/store.ts";
import { BITMAP, type Kind, LIST, SMALL } from "./acts.ts";

export interface Subject {
  readonly shards: Shards;
  /** Null removes it. */
  write(element: string, value: number | null): Promise<unknown>;
  /** 1 for an element of a set; null if it is not there. */
  read(element: string): Promise<number | null>;
  all(): Promise<Map<string, number>>;
  size(): Promise<number>;
}

export const listOf = (store: Store): ShardedList<string> => new ShardedList<string>(store, "list", LIST);

export function subjectsOf(store: Store): Record<Kind, Subject> {
  return { hash: hashOf(store), set: setOf(store), zset: zsetOf(store), bitmap: bitmapOf(store) };
}

function hashOf(store: Store): Subject {
  const hash = new ShardedHash<number>(store, "hash", SMALL);
  return {
    shards: hash.shards,
    write: (element, value) => (value === null ? hash.delete(element) : hash.set(element, value)),
    read: (element) => hash.get(element),
    all: async () => {
      const found = new Map<string, number>();
      for await (const [field, value] of hash.entries()) found.set(field, value);
      return found;
    },
    size: () => hash.count(),
  };
}

function setOf(store: Store): Subject {
  const set = new ShardedSet(store, "set", SMALL);
  return {
    shards: set.shards,
    write: (element, value) => (value === null ? set.delete(element) : set.add(element)),
    read: async (element) => ((await set.has(element)) ? 1 : null),
    all: async () => {
      const found = new Map<string, number>();
      for await (const member of set.members()) found.set(member, 1);
      return found;
    },
    size: () => set.count(),
  };
}

function zsetOf(store: Store): Subject {
  const zset = new ShardedSortedSet(store, "zset", SMALL);
  return {
    shards: zset.shards,
    write: (element, value) => (value === null ? zset.delete(element) : zset.add(element, value)),
    read: (element) => zset.score(element),
    all: async () => {
      const found = new Map<string, number>();
      for await (const { member, score } of zset.members()) found.set(member, score);
      return found;
    },
    size: () => zset.count(),
  };
}

function bitmapOf(store: Store): Subject {
  const bitmap = new ShardedBitmap(store, "bitmap", BITMAP);
  return {
    shards: bitmap.shards,
    write: (element, value) => bitmap.set(Number(element), value !== null),
    read: async (element) => ((await bitmap.get(Number(element))) ? 1 : null),
    all: async () => {
      const found = new Map<string, number>();
      for await (const offset of bitmap.positions()) found.set(String(offset), 1);
      return found;
    },
    size: () => bitmap.count(),
  };
}
