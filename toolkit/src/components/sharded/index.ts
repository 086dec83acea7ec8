/** Structures of any size in packed shards, over the slots of a Cluster; their number of shards changes while they are used. */

export type { MoveOptions, MoveResult } from "./movement.ts";
export type { OnceOptions } from "./once.ts";
export {
  type BitBlock,
  type BitOperation,
  type BitRange,
  ShardedBitmap,
  type ShardedBitmapOptions,
} from "./sharded-bitmap.ts";
export { ShardedHash, type ShardedHashOptions } from "./sharded-hash.ts";
export {
  type ListInfo,
  type PopOptions,
  type PushOptions,
  ShardedList,
  type ShardedListOptions,
  type Side,
} from "./sharded-list.ts";
export { ShardedSet } from "./sharded-set.ts";
export {
  type AddOptions,
  type RangeOptions,
  type Scored,
  type ScoreRange,
  ShardedSortedSet,
} from "./sharded-sorted-set.ts";
export type {
  MoverOptions,
  ReshardTarget,
  ShardInfo,
  Shards,
  ShardsInfo,
} from "./shards.ts";
export { FullError, type ShardedOptions } from "./structure.ts";
export { type NamedStructure, ShardedStructures } from "./structures.ts";
export { UniqueVisitors, type UniqueVisitorsOptions, type VisitorCount } from "./unique-visitors.ts";
