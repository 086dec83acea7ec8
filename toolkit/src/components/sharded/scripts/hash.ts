/** The sharded hash in Lua. */
import { DONE } from "./answers.ts";
import { boundedBy, itemScript } from "./core.ts";

const bounded = boundedBy((shard) => `redis.call("HEXISTS", ${shard}, element) == 1`);

const setting = (name: string, command: "HSET" | "HSETNX") =>
  itemScript({
    name,
    kind: "hash",
    words: ["value"],
    args: ["most"],
    before: bounded,
    pulls: true,
    each: `
    answer = redis.call("${command}", shard, element, value)
    if answer == 1 then
      added = added + 1
      opened(shard, range)
    end
  `,
  });

export const set = setting("sharded.hash-set", "HSET");
export const setIfAbsent = setting("sharded.hash-set-if-absent", "HSETNX");

export const get = itemScript({
  name: "sharded.hash-get",
  kind: "hash",
  repeatable: true,
  buffers: true,
  each: `
    answer = redis.call("HGET", shard, element)
    if not answer and from then answer = redis.call("HGET", from, element) end
  `,
});

export const has = itemScript({
  name: "sharded.hash-has",
  kind: "hash",
  repeatable: true,
  each: `
    answer = redis.call("HEXISTS", shard, element)
    if answer == 0 and from then answer = redis.call("HEXISTS", from, element) end
  `,
});

export const remove = itemScript({
  name: "sharded.hash-remove",
  kind: "hash",
  pulls: true,
  each: `
    answer = redis.call("HDEL", shard, element)
    if answer == 1 then
      added = added - 1
      closed(shard, range)
    end
  `,
});

/** `receipt`: what a call with this id has answered before; with `keepMs` 0 nothing is kept. */
const incrementScript = (repeatable: boolean) =>
  itemScript({
    repeatable,
    name: "sharded.hash-increment",
    kind: "hash",
    keys: ["receipt"],
    words: ["by"],
    args: ["most", "keepMs"],
    before: `
    if keepMs ~= "0" then
      local before = redis.call("GET", receipt)
      if before then return {${DONE}, {before}} end
    end
    ${bounded}
  `,
    pulls: true,
    each: `
    local isNew = redis.call("HEXISTS", shard, element) == 0
    answer = redis.call("HINCRBY", shard, element, by)
    -- A reply's integer would lose what a number of Lua cannot hold.
    answer = redis.call("HGET", shard, element)
    if isNew then
      added = added + 1
      opened(shard, range)
    end
    if keepMs ~= "0" then redis.call("SET", receipt, answer, "PX", keepMs) end
  `,
  });

export const increment = incrementScript(false);
/** With an id. */
export const incrementOnce = incrementScript(true);
