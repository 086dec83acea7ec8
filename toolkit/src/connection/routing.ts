/**
 * Which key decides where a command goes in a Cluster, and which commands may be sent again when an answer was lost. Both are
 * judged by the command's name; a caller who knows better says so (`store.send` with `key` or `repeatable`).
 */
import type { Word } from "./port.ts";

/** Commands whose key is not their first argument: where it stands. */
const KEY_AT: Readonly<Record<string, number>> = {
  BITOP: 2,
  DEBUG: 2,
  EVAL: 3,
  EVALSHA: 3,
  EVALSHA_RO: 3,
  EVAL_RO: 3,
  FCALL: 3,
  FCALL_RO: 3,
  MEMORY: 2,
  OBJECT: 2,
  XGROUP: 2,
  XINFO: 2,
};

/** Commands whose keys follow a count: the count's place. */
const COUNTED: Readonly<Record<string, number>> = {
  BLMPOP: 2,
  BZMPOP: 2,
  LMPOP: 1,
  SINTERCARD: 1,
  ZDIFF: 1,
  ZINTER: 1,
  ZINTERCARD: 1,
  ZMPOP: 1,
  ZUNION: 1,
};

/** Commands that touch no key. */
const KEYLESS = new Set(
  `ACL AUTH BGREWRITEAOF BGSAVE CLIENT CLUSTER COMMAND CONFIG DBSIZE ECHO FAILOVER FLUSHALL FLUSHDB FUNCTION HELLO INFO KEYS
   LASTSAVE LATENCY LOLWUT MODULE PING PUBLISH PUBSUB RANDOMKEY READONLY READWRITE REPLICAOF RESET ROLE SAVE SCAN SCRIPT SELECT
   SHUTDOWN SLAVEOF SLOWLOG SWAPDB TIME WAIT WAITAOF`.split(/\s+/),
);

/** Commands that change nothing. */
const READS = new Set(
  `BITCOUNT BITPOS DBSIZE ECHO EVALSHA_RO EVAL_RO EXISTS EXPIRETIME GEODIST GEOHASH GEOPOS GEOSEARCH GET GETBIT GETRANGE HEXISTS
   HGET HGETALL HKEYS HLEN HMGET HRANDFIELD HSCAN HSTRLEN HVALS INFO KEYS LCS LINDEX LLEN LPOS LRANGE MEMORY MGET OBJECT
   PEXPIRETIME PING PTTL RANDOMKEY SCAN SCARD SDIFF SINTER SINTERCARD SISMEMBER SMEMBERS SMISMEMBER SORT_RO SRANDMEMBER SSCAN
   STRLEN SUNION TIME TTL TYPE XINFO XLEN XPENDING XRANGE XREAD XREVRANGE ZCARD ZCOUNT ZDIFF ZINTER ZINTERCARD ZLEXCOUNT ZMSCORE
   ZRANDMEMBER ZRANGE ZRANGEBYLEX ZRANGEBYSCORE ZRANK ZREVRANGE ZREVRANGEBYLEX ZREVRANGEBYSCORE ZREVRANK ZSCAN ZSCORE
   ZUNION`.split(/\s+/),
);

export function routingKey(words: readonly Word[]): string | undefined {
  const name = String(words[0]).toUpperCase();
  if (KEYLESS.has(name)) return undefined;
  const counted = COUNTED[name];
  if (counted !== undefined) return text(words[counted + 1]);
  if (name === "XREAD" || name === "XREADGROUP") {
    const streams = words.findIndex((word, at) => at > 0 && String(word).toUpperCase() === "STREAMS");
    return text(words[streams + 1]);
  }
  const at = KEY_AT[name] ?? 1;
  if (at === 3 && Number(words[2]) === 0) return undefined;
  return text(words[at]);
}

function text(word: Word | undefined): string | undefined {
  if (word === undefined) return undefined;
  return word instanceof Uint8Array ? Buffer.from(word).toString("utf8") : String(word);
}

export function isRead(words: readonly Word[]): boolean {
  return READS.has(String(words[0]).toUpperCase());
}
