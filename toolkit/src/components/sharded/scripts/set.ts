/** The sharded set in Lua. Numbers by range are members of sets, which are packed as integers; others are fields of hashes. */
import { boundedBy, itemScript } from "./core.ts";

export const add = itemScript({
  name: "sharded.set-add",
  kind: "set",
  args: ["most"],
  before: boundedBy((shard) => `has(${shard}, range, element) == 1`),
  pulls: true,
  each: `
    answer = put(shard, range, element)
    if answer == 1 then
      added = added + 1
      opened(shard, range)
    end
  `,
});

export const has = itemScript({
  name: "sharded.set-has",
  kind: "set",
  repeatable: true,
  each: `
    answer = has(shard, range, element)
    if answer == 0 and from then answer = has(from, range, element) end
  `,
});

export const remove = itemScript({
  name: "sharded.set-remove",
  kind: "set",
  pulls: true,
  each: `
    answer = drop(shard, range, element)
    if answer == 1 then
      added = added - 1
      closed(shard, range)
    end
  `,
});
