/**
 * Keys that are where only some calls have them, and access that depends on an option: ACL DRYRUN of the same calls on the engine
 * and on a real server, for users with no keys, all to read, all to write, and some of either kind.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { splitWords } from "../../../src/resp/split-words.ts";
import { redisMissing } from "../redis-server.ts";
import { engineTarget, realTarget, type Target } from "../target.ts";

const missing = redisMissing();
if (missing !== undefined) console.warn(`Key specs are not compared: ${missing}`);

const USERS: readonly string[] = [
  "",
  "~*",
  "%R~*",
  "%W~*",
  "~k1",
  "~k2",
  "~k3",
  "~k1 ~k2",
  "%R~k1 %R~k2 %R~k3",
  "%W~k1 %W~k2 %W~k3",
  "%R~k1 %W~k2",
  "%W~k1 %R~k2",
  "%R~k1 %R~k2 %W~k3",
  "%W~k1 %R~k2 %R~k3",
  "~k1 %R~k2",
  "~k1 %W~k2",
];

/** By topic, a call in a line. The keys are k1, k2 and k3; other words are none. */
const CALLS = {
  sort: `
    SORT k1
    SORT k1 BY nosort GET #
    SORT k1 STORE k2
    SORT k1 LIMIT 0 1 ASC STORE k2
    SORT k1 BY store GET store STORE k2
    SORT k1 GET STORE STORE k2
    SORT k1 LIMIT STORE 1 STORE k2
    SORT k1 STORE k2 STORE k3
    SORT k1 STORE
    SORT k1 BY k2
    SORT k1 GET k2_*
    SORT k1 BY w_* GET v_*
    SORT_RO k1
    SORT_RO k1 GET k2_*
    SORT_RO k1 STORE k2`,
  streams: `
    XREAD STREAMS k1 0
    XREAD COUNT 1 STREAMS k1 k2 0 0
    XREAD BLOCK 1 COUNT 1 STREAMS k1 k2 k3 0 0 0
    XREAD STREAMS k1 k2 0
    XREAD COUNT STREAMS STREAMS k1 0
    XREAD STREAMS STREAMS k1 0 0
    XREAD COUNT 1
    XREAD STREAMS
    XREADGROUP GROUP g c STREAMS k1 >
    XREADGROUP GROUP g c COUNT 1 NOACK STREAMS k1 k2 > >
    XREADGROUP GROUP STREAMS c STREAMS k1 >
    XREADGROUP GROUP g STREAMS STREAMS k1 k2 > >
    XREADGROUP GROUP g c STREAMS k1 k2 >
    XADD k1 NOMKSTREAM MAXLEN 1 * f v
    XADD k1 * k2 k3
    XCLAIM k1 g c 0 1-1
    XAUTOCLAIM k1 g c 0 0
    XACK k1 g 1-1
    XPENDING k1 g
    XTRIM k1 MAXLEN 1
    XSETID k1 1-1
    XGROUP CREATE k1 g $ MKSTREAM
    XGROUP DESTROY k1 g
    XGROUP CREATECONSUMER k1 g c
    XGROUP DELCONSUMER k1 g c
    XGROUP SETID k1 g 0
    XGROUP HELP
    XINFO STREAM k1
    XINFO STREAM k1 FULL COUNT 1
    XINFO GROUPS k1
    XINFO CONSUMERS k1 g
    XINFO HELP`,
  migrate: `
    MIGRATE h 1 k1 0 1
    MIGRATE h 1 k1 0 1 COPY REPLACE
    MIGRATE h 1 k1 0 1 AUTH k2
    MIGRATE h 1 "" 0 1 KEYS k1 k2
    MIGRATE h 1 "" 0 1 COPY AUTH pw KEYS k1 k2 k3
    MIGRATE h 1 "" 0 1 AUTH KEYS KEYS k1
    MIGRATE h 1 "" 0 1 AUTH2 KEYS KEYS KEYS k1
    MIGRATE h 1 "" 0 1 AUTH2 u pw KEYS k1 KEYS k2
    MIGRATE h 1 "" 0 1 KEYS
    MIGRATE h 1 "" 0 1
    MIGRATE h 1 k1 0 1 KEYS k2`,
  places: `
    GEOADD k1 1 1 m
    GEORADIUS k1 0 0 1 m
    GEORADIUS k1 0 0 1 m STORE k2
    GEORADIUS k1 0 0 1 m STOREDIST k2
    GEORADIUS k1 0 0 1 m COUNT 1 ASC STORE k2
    GEORADIUS k1 0 0 1 m STORE k2 STOREDIST k3
    GEORADIUS k1 0 0 1 m STOREDIST k2 STORE k3
    GEORADIUS k1 0 0 1 m STORE
    GEORADIUS k1 0 0 1 m WITHCOORD store k2
    GEORADIUS_RO k1 0 0 1 m
    GEORADIUS_RO k1 0 0 1 m STORE k2
    GEORADIUSBYMEMBER k1 m 1 m
    GEORADIUSBYMEMBER k1 m 1 m STORE k2
    GEORADIUSBYMEMBER k1 STORE 1 m STOREDIST k2
    GEORADIUSBYMEMBER_RO k1 m 1 m
    GEOSEARCH k1 FROMMEMBER m BYRADIUS 1 m
    GEOSEARCHSTORE k1 k2 FROMMEMBER m BYRADIUS 1 m
    GEOSEARCHSTORE k2 k1 FROMLONLAT 0 0 BYBOX 1 1 m STOREDIST
    GEODIST k1 a b
    GEOPOS k1 a`,
  strings: `
    SET k1 v
    SET k1 v GET
    SET k1 v NX GET
    SET k1 v EX 10 get
    SET k1 GET
    SET k1 v KEEPTTL
    GETEX k1
    GETEX k1 PERSIST
    GETDEL k1
    GETSET k1 v
    MSET k1 v k2 v
    MSETNX k1 v k2 v k3 v
    MGET k1 k2 k3
    APPEND k1 v
    SETRANGE k1 0 v
    INCR k1
    LCS k1 k2
    STRLEN k1
    SUBSTR k1 0 1
    BITFIELD k1
    BITFIELD k1 GET u8 0
    BITFIELD k1 get u8 0 GET u8 8
    BITFIELD k1 SET u8 0 1
    BITFIELD k1 GET u8 0 INCRBY u8 0 1
    BITFIELD k1 OVERFLOW FAIL
    BITFIELD k1 OVERFLOW WRAP GET u8 0
    BITFIELD k1 GET u8 SET
    BITFIELD k1 nonsense
    BITFIELD_RO k1 GET u8 0
    BITOP AND k1 k2 k3
    BITOP NOT k1 k2
    BITCOUNT k1
    SETBIT k1 0 1
    PFADD k1 a
    PFCOUNT k1 k2
    PFMERGE k1 k2 k3
    PFDEBUG GETREG k1
    PFDEBUG ENCODING k1`,
  numkeys: `
    EVAL "return 1" 0
    EVAL "return 1" 1 k1
    EVAL "return 1" 2 k1 k2 k3
    EVAL "return 1" 1 k1 k2
    EVAL "return 1" 3 k1
    EVAL "return 1" -1 k1
    EVAL "return 1" x k1
    EVAL_RO "return 1" 2 k1 k2
    EVALSHA sha 1 k1
    EVALSHA_RO sha 2 k1 k2
    FCALL f 1 k1 k2
    FCALL f 0
    FCALL_RO f 2 k1 k2
    LMPOP 1 k1 LEFT
    LMPOP 2 k1 k2 LEFT COUNT 1
    LMPOP 3 k1 k2 LEFT
    BLMPOP 1 2 k1 k2 RIGHT
    ZMPOP 1 k1 MIN
    ZMPOP 2 k1 k2 MAX COUNT 1
    BZMPOP 1 2 k1 k2 MIN
    ZUNION 2 k1 k2 WEIGHTS 1 1
    ZINTER 1 k1
    ZDIFF 2 k1 k2 WITHSCORES
    ZINTERCARD 2 k1 k2 LIMIT 1
    SINTERCARD 2 k1 k2
    SINTERCARD 9 k1 k2
    ZUNIONSTORE k1 1 k2
    ZUNIONSTORE k1 2 k2 k3 WEIGHTS 1 2 AGGREGATE MAX
    ZUNIONSTORE k3 2 k1 k2
    ZUNIONSTORE k1 0
    ZUNIONSTORE k1 x k2
    ZINTERSTORE k1 2 k2 k3
    ZDIFFSTORE k1 2 k2 k3`,
  collections: `
    ZRANGESTORE k1 k2 0 -1
    ZRANGESTORE k2 k1 (1 5 BYSCORE
    ZRANGE k1 0 -1
    ZADD k1 GT CH 1 m
    ZADD k1 INCR 1 m
    ZPOPMIN k1
    BZPOPMIN k1 k2 0
    BZPOPMAX k1 0
    SINTER k1 k2
    SINTERSTORE k1 k2 k3
    SUNIONSTORE k1 k2
    SDIFFSTORE k3 k1 k2
    SMOVE k1 k2 m
    SPOP k1
    SPOP k1 2
    SRANDMEMBER k1
    SADD k1 k2
    LMOVE k1 k2 LEFT RIGHT
    BLMOVE k1 k2 LEFT RIGHT 0
    RPOPLPUSH k1 k2
    BRPOPLPUSH k1 k2 0
    BLPOP k1 k2 k3 0
    BRPOP k1 0
    LPOP k1
    LPOP k1 2
    LSET k1 0 v
    LPUSHX k1 k2
    LRANGE k1 0 -1
    HGETALL k1
    HSET k1 k2 k3
    HDEL k1 f
    HINCRBY k1 f 1
    HSCAN k1 0
    HRANDFIELD k1 1`,
  keys: `
    OBJECT ENCODING k1
    OBJECT FREQ k1
    OBJECT IDLETIME k1
    OBJECT REFCOUNT k1
    OBJECT HELP
    MEMORY USAGE k1
    MEMORY USAGE k1 SAMPLES 1
    MEMORY DOCTOR
    DUMP k1
    RESTORE k1 0 x
    RESTORE k1 0 x REPLACE
    RESTORE-ASKING k1 0 x
    COPY k1 k2
    COPY k1 k2 DB 1 REPLACE
    RENAME k1 k2
    RENAMENX k1 k2
    MOVE k1 1
    DEL k1 k2
    UNLINK k1
    EXISTS k1 k2 k3
    TOUCH k1
    TYPE k1
    TTL k1
    EXPIRE k1 1 NX
    EXPIRETIME k1
    PERSIST k1
    WATCH k1 k2
    SCAN 0 MATCH k1
    KEYS k1
    RANDOMKEY
    DEBUG OBJECT k1
    DEBUG SLEEP 0
    COMMAND GETKEYS GET k1
    COMMAND GETKEYSANDFLAGS SET k1 v
    SPUBLISH k1 m
    SSUBSCRIBE k1
    CLUSTER KEYSLOT k1
    REPLICAOF k1 1
    ASKING
    SWAPDB 0 1`,
};

const wordsOf = (text: string): string[][] =>
  text
    .trim()
    .split("\n")
    .map((line) => splitWords(line.trim())!);

describe.skipIf(missing !== undefined)("key specs", () => {
  let real: Target;
  let ours: Target;

  beforeAll(async () => {
    [real, ours] = await Promise.all([realTarget(), engineTarget()]);
  });
  afterAll(async () => {
    await Promise.all([real?.close(), ours?.close()]);
  });

  test.each(Object.entries(CALLS))("of %s ask for the same access to the same keys", async (_, text) => {
    const wires = await Promise.all([real.connect(), ours.connect()]);
    try {
      const calls = wordsOf(text);
      const asked = calls.flatMap((words) => [
        ["ACL", "SETUSER", "one", "reset", "on", "+@all", "&*"],
        ...USERS.flatMap((keys) => [
          ["ACL", "SETUSER", "one", "resetkeys", ...keys.split(" ")],
          ["ACL", "DRYRUN", "one", ...words],
        ]),
      ]);
      const [theirs, mine] = await Promise.all(wires.map((wire) => wire.pipeline(asked)));
      const told = (answers: typeof theirs) =>
        Object.fromEntries(
          calls.map((words, i) => {
            const from = i * (1 + 2 * USERS.length) + 1;
            return [words.join(" "), USERS.map((keys, j) => `${keys}: ${answers![from + 2 * j + 1]!.text}`)];
          }),
        );
      expect(told(mine)).toEqual(told(theirs));
      // Both answers must occur, or nothing is compared.
      const texts = Object.values(told(theirs)).flat();
      expect(texts.some((line) => line.endsWith(": OK"))).toBe(true);
      expect(texts.some((line) => line.includes("has no permissions to access"))).toBe(true);
      expect(texts.filter((line) => line.includes("Unknown") || line.includes("not found"))).toEqual([]);
    } finally {
      await Promise.all(wires.map((wire) => wire.close()));
    }
  });
});
