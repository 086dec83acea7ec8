/** Checks of what a fleet is given. */
import { callback, defineOptions, flag, listOf, object, prefix, signal, text, whole } from "../../base/options.ts";
import type { AddShardOptions, DefineOptions, FleetOptions, MoveOptions } from "./types.ts";

export const OPEN_OPTIONS = defineOptions<FleetOptions>("Fleet.open", {
  name: text,
  prefix,
  leaseMs: whole(500),
  waitMs: whole(1),
  slotsPerStep: whole(1, 16_384),
  takesOver: flag,
  open: object,
  onError: callback,
});

export const DEFINE_OPTIONS = defineOptions<DefineOptions>("Fleet.define", {
  prefixes: listOf(text),
  shared: flag,
});

export const ADD_SHARD_OPTIONS = defineOptions<AddShardOptions>("Fleet.addShard", {
  shared: flag,
  signal,
  onProgress: callback,
});

export const MOVE_OPTIONS = defineOptions<MoveOptions>("Fleet.balance", {
  signal,
  onProgress: callback,
});
