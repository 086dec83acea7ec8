/**
 * Answers kept in the store for paging. A kept answer has an id of its own and does not change; pages read from it follow each
 * other without gap or repetition, whatever happens to the index. Asking the same again within the time given is answered by the
 * kept one; reading a page keeps it for that time again.
 */
import { createHash } from "node:crypto";
import { randomToken } from "../../base/clock.ts";
import { asList, asReply, asTuple, orNull } from "../../base/replies.ts";
import { defineScript } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";
import type { Store } from "../../connection/store.ts";
import { type IndexKeys, queryKey, resultKey } from "./keys.ts";
import type { Explanation, Found, Ranked } from "./searcher.ts";

const PAGE = `
local function page(result)
  local head = redis.call("LINDEX", result, 0)
  if not head then return nil end
  redis.call("PEXPIRE", result, string.match(head, "^%d+"))
  local from = tonumber(offset) + 1
  local items = {}
  if tonumber(limit) > 0 then items = redis.call("LRANGE", result, from, from + limit - 1) end
  return {head, items}
end
`;

/** A list: lifetime and JSON of what holds for all of it, then JSON of each hit. */
const keep = defineScript({
  name: "search.keep",
  keys: ["result", "query"],
  args: ["id", "ttlMs"],
  rest: "items",
  repeatable: true,
  lua: `
    -- First, so that a server that is full refuses it: it does not look again once a script has written.
    redis.call("SET", query, id, "PX", ttlMs)
    redis.call("DEL", result)
    for i = 1, #items, 1000 do redis.call("RPUSH", result, unpack(items, i, math.min(i + 999, #items))) end
    redis.call("PEXPIRE", result, ttlMs)
    return 1
  `,
});

const read = defineScript({
  name: "search.page",
  keys: ["result"],
  args: ["offset", "limit"],
  include: [PAGE],
  repeatable: true,
  lua: "return page(result)",
});

/** The key of the answer is made from `base`, which carries the index's tag. */
const recall = defineScript({
  name: "search.recall",
  keys: ["query"],
  args: ["base", "offset", "limit"],
  include: [PAGE],
  repeatable: true,
  lua: `
    local id = redis.call("GET", query)
    if not id then return nil end
    local found = page(base .. ":r:" .. id)
    return found and {id, found[1], found[2]}
  `,
});

interface Head {
  readonly count: number;
  readonly facets: Found["facets"];
  readonly complete: boolean;
  readonly explanation: Explanation;
  readonly highlighted: readonly string[];
}

export interface KeptAnswer extends Found {
  readonly id: string;
}

/** Id, head and items. */
const asRecalled = orNull(asTuple(asReply, asReply, asReply));
/** Head and items. */
const asPage = orNull(asTuple(asReply, asReply));

export class Results {
  readonly #store: Store;
  readonly #keys: IndexKeys;

  constructor(store: Store, keys: IndexKeys) {
    this.#store = store;
    this.#keys = keys;
  }

  /** What stands for a question: the query and all options that the answer depends on. */
  hash(question: unknown): string {
    return createHash("sha1").update(JSON.stringify(question)).digest("base64url");
  }

  async keep(hash: string, found: Found, ttlMs: number): Promise<string> {
    const id = `${hash}.${randomToken()}`;
    const { count, facets, complete, explanation, hits } = found;
    const head: Head = { count, facets, complete, explanation, highlighted: [...found.highlighted] };
    await this.#store.run(keep, {
      result: resultKey(this.#keys.base, id),
      query: queryKey(this.#keys.base, hash),
      id,
      ttlMs,
      items: [`${ttlMs} ${JSON.stringify(head)}`, ...hits.map((hit) => JSON.stringify(hit))],
    });
    return id;
  }

  async recall(hash: string, offset: number, limit: number): Promise<KeptAnswer | null> {
    const query = queryKey(this.#keys.base, hash);
    const reply = asRecalled(await this.#store.run(recall, { query, base: this.#keys.base, offset, limit }));
    return reply === null ? null : toAnswer(String(reply[0]), reply[1], reply[2]);
  }

  async page(id: string, offset: number, limit: number): Promise<KeptAnswer | null> {
    const result = resultKey(this.#keys.base, id);
    const reply = asPage(await this.#store.run(read, { result, offset, limit }));
    return reply === null ? null : toAnswer(id, reply[0], reply[1]);
  }
}

function toAnswer(id: string, head: Reply, items: Reply): KeptAnswer {
  const text = String(head);
  const { highlighted, ...rest }: Head = JSON.parse(text.slice(text.indexOf(" ") + 1));
  const hits = asList(items).map((item): Ranked => JSON.parse(String(item)));
  return { id, ...rest, highlighted: new Set(highlighted), hits };
}
