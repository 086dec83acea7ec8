/**
 * Changes to keys, each with its way back. A change is one script that reads what is there, changes it, and answers both; the way
 * back is one script that makes sure that the key is as the change has left it before it puts anything back. So nobody can come
 * in between.
 */
import { type Reply, ServerError, type Store, type Word } from "cinnabar";
import { type Context, Problem } from "../route.ts";
import { bytesIn, listOf } from "../values.ts";
import { keepUndo, MOST_UNDO_BYTES } from "./undo.ts";

interface Change {
  /** Lua that sets `answer`, and `kept` where it can be undone. ARGV has the arguments of the change. */
  readonly there: string;
  /** Lua that puts back. `kept` is what the change has kept, as text. It returns "CHANGED" where something else is there now. */
  readonly back: string;
}

/** Servers before Redis 7 do not tell deadlines, which is why they are computed there, to some milliseconds. */
const COMMON = `
  local key = KEYS[1]
  local function nowMs()
    local now = redis.call("TIME")
    return now[1] * 1000 + math.floor(now[2] / 1000)
  end
  local function deadline()
    local at = redis.pcall("PEXPIRETIME", key)
    if type(at) == "number" then return at end
    local left = redis.call("PTTL", key)
    return left < 0 and left or nowMs() + left
  end
  local function typeOf() return redis.call("TYPE", key).ok end
  local function isLarge()
    local bytes = redis.pcall("MEMORY", "USAGE", key)
    return type(bytes) ~= "number" or bytes > ${MOST_UNDO_BYTES}
  end
  local function isOther(old, expected)
    return expected ~= "" and (not old or redis.sha1hex(old) ~= expected)
  end
  local function conflict() return redis.error_reply("CHANGED meanwhile") end
  local function digest() return redis.sha1hex(redis.call("DUMP", key)) end
`;

const there = (body: string): string => `${COMMON}
  local was, at, kind = redis.call("EXISTS", key), deadline(), typeOf()
  local answer, kept
  ${body}
  if type(answer) == "table" then answer = answer.ok end
  return { answer, redis.call("EXISTS", key), at, was == 0 and typeOf() or kind, kept or false }
`;

const back = (body: string): string => `${COMMON}
  local wasThere, at, kind = tonumber(table.remove(ARGV, 1)), table.remove(ARGV, 1), table.remove(ARGV, 1)
  local kept = ARGV
  local isThere = redis.call("EXISTS", key)
  if isThere ~= wasThere then return isThere == 1 and "MADE" or "GONE" end
  if isThere == 1 and typeOf() ~= kind then return "CHANGED" end
  if isThere == 0 and tonumber(at) > 0 and tonumber(at) <= nowMs() then return "OVER" end
  ${body}
  if isThere == 0 and tonumber(at) > 0 then redis.call("PEXPIREAT", key, at) end
  return "DONE"
`;

/** Fields may have a time of their own, from Redis 7.4 on. */
const FIELD_DEADLINE = `
  local times = redis.pcall("HPEXPIRETIME", key, "FIELDS", 1, ARGV[1])
  local untilMs = times.err == nil and times[1] or -1
`;

const CHANGES = {
  set: {
    there: `
      local isFine = redis.call("STRLEN", key) <= ${MOST_UNDO_BYTES}
      local old = isFine and redis.call("GET", key)
      if isOther(old, ARGV[2]) then return conflict() end
      answer = redis.call("SET", key, ARGV[1], "KEEPTTL")
      if isFine then kept = { ARGV[1], old and 1 or 0, old or "" } end
    `,
    back: `
      if redis.call("GET", key) ~= kept[1] then return "CHANGED" end
      if kept[2] == "1" then redis.call("SET", key, kept[3], "KEEPTTL") else redis.call("DEL", key) end
    `,
  },
  setField: {
    there: `
      local isFine = redis.call("HSTRLEN", key, ARGV[1]) <= ${MOST_UNDO_BYTES}
      local old = isFine and redis.call("HGET", key, ARGV[1])
      if isOther(old, ARGV[3]) then return conflict() end
      ${FIELD_DEADLINE}
      answer = redis.call("HSET", key, ARGV[1], ARGV[2])
      if isFine then kept = { ARGV[1], ARGV[2], old and 1 or 0, old or "", untilMs } end
    `,
    back: `
      if redis.call("HGET", key, kept[1]) ~= kept[2] then return "CHANGED" end
      if kept[3] == "0" then redis.call("HDEL", key, kept[1]) else redis.call("HSET", key, kept[1], kept[4]) end
      if tonumber(kept[5]) > 0 then redis.call("HPEXPIREAT", key, kept[5], "FIELDS", 1, kept[1]) end
    `,
  },
  removeField: {
    there: `
      local isFine = redis.call("HSTRLEN", key, ARGV[1]) <= ${MOST_UNDO_BYTES}
      local old = isFine and redis.call("HGET", key, ARGV[1])
      ${FIELD_DEADLINE}
      answer = redis.call("HDEL", key, ARGV[1])
      if old then kept = { ARGV[1], old, untilMs } end
    `,
    back: `
      if redis.call("HEXISTS", key, kept[1]) == 1 then return "CHANGED" end
      redis.call("HSET", key, kept[1], kept[2])
      if tonumber(kept[3]) > 0 then redis.call("HPEXPIREAT", key, kept[3], "FIELDS", 1, kept[1]) end
    `,
  },
  setIndex: {
    there: `
      local old = redis.call("LINDEX", key, ARGV[1])
      if isOther(old, ARGV[3]) then return conflict() end
      answer = redis.call("LSET", key, ARGV[1], ARGV[2])
      kept = { ARGV[1], ARGV[2], old, redis.call("LLEN", key) }
    `,
    back: `
      if redis.call("LLEN", key) ~= tonumber(kept[4]) then return "CHANGED" end
      if redis.call("LINDEX", key, kept[1]) ~= kept[2] then return "CHANGED" end
      redis.call("LSET", key, kept[1], kept[3])
    `,
  },
  /**
   * An item of a list is taken out by its place: LREM knows only values, of which there may be several, so the place is overwritten
   * by a mark that nobody else has, and the mark removed. Only if it still holds what was shown.
   */
  removeIndex: {
    there: `
      answer = 0
      local place = tonumber(ARGV[1])
      if place < 0 then place = redis.call("LLEN", key) + place end
      if redis.call("LINDEX", key, place) == ARGV[2] then
        redis.call("LSET", key, place, ARGV[3])
        answer = redis.call("LREM", key, 1, ARGV[3])
        local before = place > 0 and redis.call("LINDEX", key, place - 1)
        kept = { place, ARGV[2], ARGV[3], redis.call("LLEN", key), before or "", redis.call("LINDEX", key, place) or "" }
      end
    `,
    back: `
      local place, length = tonumber(kept[1]), redis.call("LLEN", key)
      if length ~= tonumber(kept[4]) then return "CHANGED" end
      if place > 0 and redis.call("LINDEX", key, place - 1) ~= kept[5] then return "CHANGED" end
      if place == length then redis.call("RPUSH", key, kept[2])
      else
        if redis.call("LINDEX", key, place) ~= kept[6] then return "CHANGED" end
        redis.call("LSET", key, place, kept[3])
        redis.call("LINSERT", key, "BEFORE", kept[3], kept[2])
        redis.call("LSET", key, place + 1, kept[6])
      end
    `,
  },
  /** A set member and a sorted set's member leave by the same action; the type decides. */
  removeMember: {
    there: `
      if kind == "zset" then
        local score = redis.call("ZSCORE", key, ARGV[1])
        answer = redis.call("ZREM", key, ARGV[1])
        if score then kept = { ARGV[1], score } end
      else
        answer = redis.call("SREM", key, ARGV[1])
        if answer == 1 then kept = { ARGV[1] } end
      end
    `,
    back: `
      if kind == "zset" then
        if redis.call("ZSCORE", key, kept[1]) then return "CHANGED" end
        redis.call("ZADD", key, kept[2], kept[1])
      else
        if redis.call("SISMEMBER", key, kept[1]) == 1 then return "CHANGED" end
        redis.call("SADD", key, kept[1])
      end
    `,
  },
  setScore: {
    there: `
      local old = redis.call("ZSCORE", key, ARGV[1])
      if isOther(old, ARGV[3]) then return conflict() end
      answer = redis.call("ZADD", key, ARGV[2], ARGV[1])
      kept = { ARGV[1], redis.call("ZSCORE", key, ARGV[1]), old and 1 or 0, old or "" }
    `,
    back: `
      if redis.call("ZSCORE", key, kept[1]) ~= kept[2] then return "CHANGED" end
      if kept[3] == "1" then redis.call("ZADD", key, kept[4], kept[1]) else redis.call("ZREM", key, kept[1]) end
    `,
  },
  /** No command puts an entry between others, so the stream as a whole is put back. */
  removeEntry: {
    there: `
      local old = not isLarge() and redis.call("DUMP", key)
      answer = redis.call("XDEL", key, ARGV[1])
      if old and answer == 1 then kept = { old, digest() } end
    `,
    back: `
      if digest() ~= kept[2] then return "CHANGED" end
      local untilMs = deadline()
      redis.call("RESTORE", key, 0, kept[1], "REPLACE")
      if untilMs > 0 then redis.call("PEXPIREAT", key, string.format("%.0f", untilMs)) end
    `,
  },
  delete: {
    there: `
      local old = not isLarge() and redis.call("DUMP", key)
      answer = redis.call("UNLINK", key)
      if old then kept = { old } end
    `,
    back: `redis.call("RESTORE", key, 0, kept[1])`,
  },
  ttl: {
    there: `
      if ARGV[1] == "" then answer = redis.call("PERSIST", key) else answer = redis.call("PEXPIRE", key, ARGV[1]) end
      if answer == 1 then kept = { string.format("%.0f", deadline()) } end
    `,
    back: `
      if math.abs(deadline() - tonumber(kept[1])) > 20 then return "CHANGED" end
      if tonumber(at) < 0 then redis.call("PERSIST", key)
      elseif tonumber(at) <= nowMs() then return "OVER"
      else redis.call("PEXPIREAT", key, at) end
    `,
  },
} as const satisfies Readonly<Record<string, Change>>;

/** Users of the store who may run no scripts change things all the same; that cannot be undone then. */
const PLAIN: Readonly<
  Record<Exclude<ChangeName, "removeIndex">, (key: Word, args: readonly Word[], kind: Reply) => Word[]>
> = {
  set: (key, [value]) => ["SET", key, value!, "KEEPTTL"],
  setField: (key, [field, value]) => ["HSET", key, field!, value!],
  removeField: (key, [field]) => ["HDEL", key, field!],
  setIndex: (key, [index, value]) => ["LSET", key, index!, value!],
  removeMember: (key, [member], kind) => [kind === "zset" ? "ZREM" : "SREM", key, member!],
  setScore: (key, [member, score]) => ["ZADD", key, score!, member!],
  removeEntry: (key, [id]) => ["XDEL", key, id!],
  delete: (key) => ["UNLINK", key],
  ttl: (key, [ms]) => (ms === "" ? ["PERSIST", key] : ["PEXPIRE", key, ms!]),
};

type ChangeName = keyof typeof CHANGES;
export const isChange = (name: string): name is ChangeName => name in CHANGES;

const REFUSALS: Readonly<Record<string, string>> = {
  CHANGED: "not undone: somebody has changed this meanwhile",
  MADE: "not undone: there is a key of this name again, which was made meanwhile",
  GONE: "not undone: the key is gone meanwhile",
  OVER: "not undone: the earlier time to live is over, and the key would be gone at once",
};

export function refuseUndo(why: string): never {
  throw new Problem(409, "CHANGED", REFUSALS[why] ?? `not undone: the store answered ${why}`);
}

/** Servers add to errors of scripts where in the script they arose, which says nothing to people. */
function plain(error: unknown): unknown {
  if (!(error instanceof ServerError)) return error;
  if (error.code === "CHANGED")
    return new Problem(409, "CHANGED", "somebody has changed this meanwhile; look at it again before you change it");
  const message = error.message.replace(/\s*script: [0-9a-f]{40}, on @?user_script.*$/s, "");
  return new Problem(422, error.code, message);
}

async function evaluate(store: Store, script: string, key: Word, args: readonly Word[]): Promise<Reply> {
  try {
    return await store.send(["EVAL", script, 1, key, ...args], { buffers: true });
  } catch (error) {
    throw plain(error);
  }
}

const sizeOf = (words: readonly Word[]): number =>
  words.reduce<number>((sum, word) => sum + (word instanceof Uint8Array ? word.length : String(word).length), 0);

interface Changed {
  readonly answer: Reply;
  /** The id that undoes it. */
  readonly undo: string | null;
  /** Whether the key went with its last element. */
  readonly gone: boolean;
}

/** Makes a change that can be undone. `about` is for the audit log. */
export async function change(
  context: Context,
  name: ChangeName,
  key: Word,
  args: readonly Word[],
  about: Readonly<Record<string, unknown>>,
): Promise<Changed> {
  let reply: Reply;
  try {
    reply = await evaluate(context.store, there(CHANGES[name].there), key, args);
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "NOPERM" || name === "removeIndex") throw error;
    const kind = name === "removeMember" ? await context.store.call("TYPE", key) : null;
    const answer = await context.store.send(PLAIN[name](key, args, kind), { buffers: true });
    return { answer, undo: null, gone: false };
  }
  const [answer = null, isThere, at, kind, kept] = listOf(reply);
  if (!Array.isArray(kept)) return { answer, undo: null, gone: false };
  const words: Word[] = [
    Number(isThere),
    Number(at),
    bytesIn(kind),
    ...kept.map((each) => (typeof each === "number" ? each : bytesIn(each))),
  ];
  const undo = keepUndo(context, {
    about: { action: `undo ${name}`, ...about },
    bytes: sizeOf(words),
    back: async ({ store }) => {
      const said = String(await evaluate(store, back(CHANGES[name].back), key, words));
      if (said !== "DONE") refuseUndo(said);
    },
  });
  return { answer, undo, gone: isThere === 0 };
}
