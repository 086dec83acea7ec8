/** Commands as methods: made from the engine's table, typed, and with the replies that the types say. */
import { readFileSync } from "node:fs";
import { describe, expect, expectTypeOf, test } from "vitest";
import { parseSyntax } from "../../../engine/src/table/syntax.ts";
import { isLater } from "../../../engine/tests/conformance/later.ts";
import { blockingCommands, commandsFile, typedCommands } from "../../../scripts/generate-typed-commands.ts";
import { sampleCall } from "../../../scripts/sample-call.ts";
import { describeBackends } from "../../tests/kit/index.ts";
import { replyCheck } from "../../tests/kit/reply-type.ts";
import { InputError, type ServerError } from "../base/errors.ts";
import type { Store } from "./store.ts";

const repliesOf = (reply: string | object | undefined): string[] =>
  typeof reply === "object" ? Object.values(reply) : [reply ?? "Reply"];

describe("the table", () => {
  test("is what the methods are made from: npm run docs", () => {
    const isSame = readFileSync(new URL("commands.ts", import.meta.url), "utf8") === commandsFile();
    expect(isSame).toBe(true);
  });

  test("says what every command answers", () => {
    for (const { words, row } of [...typedCommands(), ...blockingCommands()]) {
      expect(row.reply, words.join(" ")).toBeDefined();
      for (const text of repliesOf(row.reply)) expect(() => replyCheck(text), words.join(" ")).not.toThrow();
    }
  });

  test("a reply of another type is seen", () => {
    expect(replyCheck("[string, Entry[]][] | null")([["s", [["1-0", ["f", "v"]]]]])).toBe(true);
    expect(replyCheck("[string, Entry[]][] | null")(null)).toBe(true);
    expect(replyCheck("[string, Entry[]][] | null")([["s", [["1-0", [1]]]]])).toBe(false);
    expect(replyCheck("Map<string, Reply>[]")([["a", 1]])).toBe(true);
    expect(replyCheck("Map<string, string>")(["a"])).toBe(false);
    expect(replyCheck('"OK" | null')("NO")).toBe(false);
    expect(() => replyCheck("strong")).toThrow();
  });
});

describe("types", () => {
  test("of replies follow the command and its options", () => {
    const types = async (store: Store): Promise<void> => {
      expectTypeOf(store.get("k")).resolves.toEqualTypeOf<string | null>();
      expectTypeOf(store.set("k", "v")).resolves.toEqualTypeOf<"OK" | null>();
      expectTypeOf(store.set("k", "v", "GET")).resolves.toEqualTypeOf<string | null>();
      expectTypeOf(store.set("k", "v", "NX", "EX", 10)).resolves.toEqualTypeOf<"OK" | null>();
      expectTypeOf(store.lpop("k")).resolves.toEqualTypeOf<string | null>();
      expectTypeOf(store.lpop("k", 2)).resolves.toEqualTypeOf<string[] | null>();
      expectTypeOf(store.hgetall("k")).resolves.toEqualTypeOf<Record<string, string>>();
      expectTypeOf(store.zrange("k", 0, -1, "REV", "WITHSCORES")).resolves.toEqualTypeOf<string[]>();
      expectTypeOf(store.configGet("maxmemory")).resolves.toEqualTypeOf<Record<string, string>>();
      // @ts-expect-error GET has one key.
      await store.get("a", "b");
      // @ts-expect-error There is no such option.
      await store.set("k", "v", "EC", 10);
      // @ts-expect-error EX needs its seconds.
      await store.set("k", "v", "EX");
      // @ts-expect-error It would hold up all other calls.
      await store.blpop("k", 0);
      const blocking = store.blocking("k");
      expectTypeOf(blocking.blpop("k", 0)).resolves.toEqualTypeOf<[string, string] | null>();
      expectTypeOf(blocking.blpop(["k", "l"], 1.5)).resolves.toEqualTypeOf<[string, string] | null>();
      expectTypeOf(blocking.blmove("k", "l", "LEFT", "RIGHT", 1)).resolves.toEqualTypeOf<string | null>();
      // @ts-expect-error It does not wait: the shared connection takes it.
      await blocking.lpop("k");
      expectTypeOf(store.call("INCR", "n")).resolves.toEqualTypeOf<number>();
      const answers = await store.pipeline([
        ["GET", "a"],
        ["INCR", "n"],
      ]);
      expectTypeOf(answers).toEqualTypeOf<[string | ServerError | null, number | ServerError]>();
    };
    expect(types).toBeTypeOf("function");
  });
});

/** Calls, and what is there when they are made. A command without one here is called as its syntax says. */
const SAMPLES: readonly (readonly [words: string, before?: string])[] = [
  ["APPEND k a"],
  ["DECR n"],
  ["DECRBY n 2"],
  ["GET k"],
  ["GET none"],
  ["GETDEL k", "SET k v"],
  ["GETEX k PERSIST", "SET k v"],
  ["GETRANGE k 0 1"],
  ["GETSET k v"],
  ["INCR n"],
  ["INCRBY n 2"],
  ["INCRBYFLOAT f 1.5"],
  ["LCS {t}a {t}b", "MSET {t}a abc {t}b abd"],
  ["LCS {t}a {t}b LEN"],
  ["LCS {t}a {t}b IDX"],
  ["MGET {t}a {t}x"],
  ["MSET {t}a 1 {t}b 2"],
  ["MSETNX {t}c 1"],
  ["PSETEX k 1000 v"],
  ["SET k v"],
  ["SET k v NX"],
  ["SET k v GET"],
  ["SETEX k 10 v"],
  ["SETNX k v"],
  ["SETRANGE k 1 v"],
  ["STRLEN k"],
  ["SUBSTR k 0 1"],
  ["BITCOUNT k"],
  ["BITFIELD bf SET u8 0 255"],
  ["BITFIELD bf OVERFLOW FAIL INCRBY u8 0 1"],
  ["BITFIELD_RO bf GET u8 0"],
  ["BITOP NOT {t}n {t}a"],
  ["BITPOS k 1"],
  ["GETBIT k 1"],
  ["SETBIT b 1 1"],
  ["HSET h a 1 b 2"],
  ["HDEL h zz"],
  ["HEXISTS h a"],
  ["HGET h a"],
  ["HGETALL h"],
  ["HINCRBY h a 1"],
  ["HINCRBYFLOAT h f 1.5"],
  ["HKEYS h"],
  ["HLEN h"],
  ["HMGET h a none"],
  ["HMSET h c 3"],
  ["HRANDFIELD h"],
  ["HRANDFIELD h 2"],
  ["HRANDFIELD h 2 WITHVALUES"],
  ["HSCAN h 0"],
  ["HSETNX h z 1"],
  ["HSTRLEN h a"],
  ["HVALS h"],
  ["RPUSH l a b c d e f"],
  ["LINDEX l 0"],
  ["LINSERT l BEFORE a x"],
  ["LLEN l"],
  ["LPOP l"],
  ["LPOP l 1"],
  ["LPOP none"],
  ["LPOS l c"],
  ["LPOS l c COUNT 0"],
  ["LPUSH l z"],
  ["LPUSHX l z"],
  ["LRANGE l 0 -1"],
  ["LREM l 0 q"],
  ["LSET l 0 v"],
  ["LTRIM l 0 -1"],
  ["RPOP l"],
  ["RPOP l 1"],
  ["RPUSHX l z"],
  ["LMOVE {t}l {t}m LEFT RIGHT", "RPUSH {t}l a b"],
  ["RPOPLPUSH {t}l {t}m"],
  ["LMPOP 1 l LEFT"],
  ["SADD s a b c"],
  ["SCARD s"],
  ["SDIFF {t}s {t}u", "SADD {t}s a b"],
  ["SDIFFSTORE {t}d {t}s {t}u"],
  ["SINTER {t}s"],
  ["SINTERCARD 1 {t}s"],
  ["SINTERSTORE {t}d {t}s"],
  ["SISMEMBER s a"],
  ["SMEMBERS s"],
  ["SMISMEMBER s a z"],
  ["SMOVE {t}s {t}u a"],
  ["SPOP s"],
  ["SPOP s 1"],
  ["SRANDMEMBER s"],
  ["SRANDMEMBER s 2"],
  ["SREM s a"],
  ["SSCAN s 0"],
  ["SUNION {t}s"],
  ["SUNIONSTORE {t}d {t}s"],
  ["ZADD z 1 a 2 b 3 c"],
  ["ZADD z INCR 1 a"],
  ["ZCARD z"],
  ["ZCOUNT z -inf +inf"],
  ["ZDIFF 1 z"],
  ["ZDIFF 1 z WITHSCORES"],
  ["ZDIFFSTORE {t}d 1 {t}z", "ZADD {t}z 1 a"],
  ["ZINCRBY z 1 a"],
  ["ZINTER 1 z"],
  ["ZINTERCARD 1 z"],
  ["ZINTERSTORE {t}d 1 {t}z"],
  ["ZLEXCOUNT z - +"],
  ["ZMPOP 1 z MIN"],
  ["ZMPOP 1 none MIN"],
  ["ZMSCORE z a none"],
  ["ZPOPMAX z"],
  ["ZPOPMIN none"],
  ["ZRANDMEMBER z", "ZADD z 1 a 2 b"],
  ["ZRANDMEMBER z 2"],
  ["ZRANGE z 0 -1"],
  ["ZRANGE z 0 -1 WITHSCORES"],
  ["ZRANGEBYLEX z - +"],
  ["ZRANGEBYSCORE z -inf +inf WITHSCORES"],
  ["ZRANGESTORE {t}d {t}z 0 -1"],
  ["ZRANK z a"],
  ["ZRANK z none"],
  ["ZREM z q"],
  ["ZREMRANGEBYLEX z [q [r"],
  ["ZREMRANGEBYRANK z 9 9"],
  ["ZREMRANGEBYSCORE z 90 91"],
  ["ZREVRANGE z 0 -1"],
  ["ZREVRANGEBYLEX z + -"],
  ["ZREVRANGEBYSCORE z +inf -inf"],
  ["ZREVRANK z a"],
  ["ZSCAN z 0"],
  ["ZSCORE z a"],
  ["ZUNION 1 z"],
  ["ZUNIONSTORE {t}d 1 {t}z"],
  ["XADD x 1-1 f v"],
  ["XADD x NOMKSTREAM 1-2 f v"],
  ["XADD none NOMKSTREAM 1-2 f v"],
  ["XGROUP CREATE x g 0"],
  ["XGROUP CREATECONSUMER x g c"],
  ["XREADGROUP GROUP g c COUNT 1 STREAMS x >"],
  ["XACK x g 9-9"],
  ["XPENDING x g"],
  ["XPENDING x g - + 10"],
  ["XAUTOCLAIM x g c 0 0"],
  ["XAUTOCLAIM x g c 0 0 JUSTID"],
  ["XCLAIM x g c 0 1-1"],
  ["XCLAIM x g c 0 1-1 JUSTID"],
  ["XINFO CONSUMERS x g"],
  ["XINFO GROUPS x"],
  ["XINFO STREAM x"],
  ["XLEN x"],
  ["XRANGE x - +"],
  ["XREVRANGE x + -"],
  ["XREAD COUNT 1 STREAMS x 0"],
  ["XREAD STREAMS none 0"],
  ["XREADGROUP GROUP g c STREAMS x 0"],
  ["XSETID x 5-0"],
  ["XTRIM x MAXLEN 10"],
  ["XDEL x 9-9"],
  ["XGROUP SETID x g 0"],
  ["XGROUP DELCONSUMER x g c"],
  ["XGROUP DESTROY x g"],
  ["PFADD p a"],
  ["PFCOUNT p"],
  ["PFMERGE {t}p {t}q"],
  ["GEOADD g 13.36 38.11 Palermo 15.08 37.5 Catania"],
  ["GEODIST g Palermo Catania"],
  ["GEODIST g Palermo none"],
  ["GEOHASH g Palermo none"],
  ["GEOPOS g Palermo none"],
  ["GEORADIUS g 15 37 200 KM"],
  ["GEORADIUS_RO g 15 37 200 KM WITHDIST"],
  ["GEORADIUSBYMEMBER g Palermo 200 KM"],
  ["GEORADIUSBYMEMBER_RO g Palermo 200 KM"],
  ["GEOSEARCH g FROMMEMBER Palermo BYRADIUS 200 KM"],
  ["GEOSEARCH g FROMMEMBER Palermo BYRADIUS 200 KM WITHCOORD WITHHASH"],
  ["GEOSEARCHSTORE {t}d {t}g FROMLONLAT 1 1 BYRADIUS 1 KM"],
  ["COPY {t}a {t}cp", "SET {t}a v"],
  ["DEL none"],
  ["DUMP none"],
  ["EXISTS k"],
  ["EXPIRE k 100", "SET k v"],
  ["EXPIREAT k 9999999999"],
  ["EXPIRETIME k"],
  ["OBJECT ENCODING k"],
  ["OBJECT ENCODING none"],
  ["OBJECT IDLETIME k"],
  ["OBJECT REFCOUNT k"],
  ["PERSIST k"],
  ["PEXPIRE k 100000"],
  ["PEXPIREAT k 9999999999999"],
  ["PEXPIRETIME k"],
  ["PTTL k"],
  ["RANDOMKEY"],
  ["RENAME {t}a {t}a2"],
  ["RENAMENX {t}a2 {t}a3"],
  ["SORT l ALPHA"],
  ["SORT {t}l ALPHA STORE {t}sorted"],
  ["SORT_RO l ALPHA"],
  ["TOUCH k"],
  ["TTL k"],
  ["TYPE k"],
  ["UNLINK none"],
  ["PUBLISH c m"],
  ["PUBSUB CHANNELS"],
  ["PUBSUB NUMPAT"],
  ["PUBSUB NUMSUB c"],
  ["PUBSUB SHARDCHANNELS"],
  ["PUBSUB SHARDNUMSUB c"],
  ["SPUBLISH c m"],
  ["SCRIPT LOAD return_1"],
  ["SCRIPT EXISTS aa"],
  ["FUNCTION LIST"],
  ["FUNCTION STATS"],
  ["FUNCTION DUMP"],
  ["CLIENT GETNAME"],
  ["CLIENT ID"],
  ["CLIENT INFO"],
  ["CLIENT LIST"],
  ["CLIENT TRACKINGINFO"],
  ["CLIENT UNBLOCK 99999"],
  ["CLIENT UNPAUSE"],
  ["ECHO x"],
  ["PING"],
  ["PING x"],
  ["COMMAND COUNT"],
  ["COMMAND DOCS GET"],
  ["COMMAND GETKEYS GET k"],
  ["COMMAND GETKEYSANDFLAGS GET k"],
  ["COMMAND INFO GET nope"],
  ["COMMAND LIST"],
  ["ACL CAT"],
  ["ACL CAT hash"],
  ["ACL SETUSER someone on nopass"],
  ["ACL DRYRUN someone GET k"],
  ["ACL GETUSER someone"],
  ["ACL GETUSER nobody"],
  ["ACL LIST"],
  ["ACL USERS"],
  ["ACL LOG"],
  ["ACL LOG RESET"],
  ["ACL GENPASS"],
  ["ACL WHOAMI"],
  ["ACL DELUSER someone"],
  ["CONFIG GET maxmemory*"],
  ["CONFIG SET slowlog-max-len 128"],
  ["DBSIZE"],
  ["INFO server"],
  ["LASTSAVE"],
  ["LATENCY DOCTOR"],
  ["LATENCY HISTOGRAM GET"],
  ["LATENCY HISTORY e"],
  ["LATENCY LATEST"],
  ["LATENCY RESET"],
  ["LOLWUT"],
  ["MEMORY DOCTOR"],
  ["MEMORY STATS"],
  ["MEMORY USAGE k"],
  ["MEMORY USAGE none"],
  ["MODULE LIST"],
  ["ROLE"],
  ["SLOWLOG GET"],
  ["SLOWLOG LEN"],
  ["SLOWLOG RESET"],
  ["TIME"],
];

/** Which of the replies of a row a call has: that of the option that it names. */
function expected(words: readonly string[], reply: string | Readonly<Record<string, string>>): string[] {
  if (typeof reply === "string") return [reply];
  const named = Object.keys(reply).filter((option) => words.includes(option));
  if (named.length > 0) return named.map((option) => reply[option]!);
  // The option is a value, not a token: the words alone do not tell whether it is there.
  return Object.values(reply);
}

describeBackends("typed commands", { backends: ["embedded", "redis"], flush: "suite" }, (backend) => {
  test("have the replies that their types say", async () => {
    const rows = new Map(typedCommands().map((each) => [each.words.join(" "), each]));
    const seen = new Set<string>();
    const check = async (words: readonly string[], name: string): Promise<void> => {
      seen.add(name);
      const { row } = rows.get(name)!;
      const reply = await backend.store.send(words);
      const types = expected(words, row.reply!);
      expect(
        types.some((type) => replyCheck(type)(reply)),
        `${words.join(" ")}: ${JSON.stringify(reply)} is no ${types}`,
      ).toBe(true);
    };
    for (const [sample, before] of SAMPLES) {
      if (before !== undefined) await backend.store.send(before.split(" "));
      const words = sample.split(" ").map((word) => word.replace("return_1", "return 1"));
      const name = rows.has(`${words[0]} ${words[1]}`) ? `${words[0]} ${words[1]}` : words[0]!;
      expect(rows.get(name), name).toBeDefined();
      await check(words, name);
    }
    // What needs more than a key, or changes the server.
    const special =
      /^(ACL (?:LOAD|SAVE)|CLUSTER|MODULE|FUNCTION|SCRIPT|CLIENT|CONFIG|EVAL|FCALL|MEMORY|LATENCY|COMMAND|OBJECT|BG|FLUSH|SLAVEOF|REPLICAOF|SAVE|SWAPDB|MIGRATE|FAILOVER|MOVE|RESTORE|KEYS|SCAN|PFDEBUG|PFSELFTEST)/;
    for (const [name, { words, row }] of rows) {
      // A real server does not have what came later.
      if (seen.has(name) || special.test(name) || (backend.name !== "embedded" && isLater(row))) continue;
      const made = sampleCall(parseSyntax(row.syntax, row.keys ?? []));
      await check([...words, ...made.words], name);
    }
  });

  test("take words, lists, objects and Maps", async () => {
    const { store } = backend;
    expect(await store.set("t:k", "v", "NX", "EX", 100)).toBe("OK");
    expect(await store.get("t:k")).toBe("v");
    expect(await store.hset("t:h", { a: 1, b: "two" })).toBe(2);
    expect(await store.hset("t:h", new Map([["c", Buffer.from("three")]]))).toBe(1);
    expect({ ...(await store.hgetall("t:h")) }).toEqual({ a: "1", b: "two", c: "three" });
    expect(await store.zadd("t:z", { x: 1, y: 2 })).toBe(2);
    expect(await store.zadd("t:z", "XX", "CH", { x: 5 })).toBe(1);
    expect(await store.zrange("t:z", 0, -1, "REV", "WITHSCORES")).toEqual(["x", "5", "y", "2"]);
    expect(await store.rpush("t:l", "a", "b")).toBe(2);
    expect(await store.rpush("t:l", ["c", "d"])).toBe(4);
    expect(await store.lpop("t:l", 2)).toEqual(["a", "b"]);
    expect(await store.eval("return {KEYS[1], ARGV[1], ARGV[2]}", 1, ["t:k"], ["x", "y"])).toEqual(["t:k", "x", "y"]);
    expect((await store.configGet("maxmemory", "save")).maxmemory).toBe("0");
    expect(await store.xadd("t:x", "MAXLEN", "~", 100, "*", { f: "v" })).toMatch(/^\d+-\d+$/);
    expect(Object.keys(await store.xinfoStream("t:x")).includes("length")).toBe(true);
    expect(await store.objectEncoding("t:z")).toBe("listpack");
  });

  test("refuse nonsense before anything is sent", async () => {
    const { store } = backend;
    await expect(store.get(undefined as never)).rejects.toBeInstanceOf(InputError);
    await expect(store.hset("t:none", {})).rejects.toBeInstanceOf(InputError);
    await expect(store.hset("t:none", { a: { b: 1 } as never })).rejects.toBeInstanceOf(InputError);
    expect(await store.exists("t:none")).toBe(0);
    await store.call("HSET", "t:odd", "__proto__", "2");
    expect(Object.entries(await store.hgetall("t:odd"))).toEqual([["__proto__", "2"]]);
  });
});

// What waits is not sent again when its server is replaced: its caller is told.
describeBackends("commands that wait", { fixedServer: true }, (backend) => {
  test("are methods of a connection of their own, and answer what their types say", async () => {
    const { store } = backend;
    const blocking = store.blocking("{b}l");
    const replies: Record<string, unknown> = {};
    const waited = async (method: string, call: Promise<unknown>): Promise<unknown> => {
      replies[method] = await call;
      return replies[method];
    };
    await store.rpush("{b}l", "a", "b", "c", "d", "e");
    expect(await waited("blpop", blocking.blpop(["{b}none", "{b}l"], 1))).toEqual(["{b}l", "a"]);
    expect(await waited("brpop", blocking.brpop("{b}l", "0.5"))).toEqual(["{b}l", "e"]);
    expect(await waited("blmove", blocking.blmove("{b}l", "{b}m", "LEFT", "RIGHT", 1))).toBe("b");
    expect(await waited("brpoplpush", blocking.brpoplpush("{b}l", "{b}m", 0))).toBe("d");
    expect(await waited("blmpop", blocking.blmpop(1, 1, "{b}m", "LEFT", "COUNT", 5))).toEqual(["{b}m", ["d", "b"]]);
    await store.zadd("{b}z", { a: 1, b: 2, c: 3 });
    expect(await waited("bzpopmin", blocking.bzpopmin("{b}z", 1))).toEqual(["{b}z", "a", "1"]);
    expect(await waited("bzpopmax", blocking.bzpopmax("{b}z", 1))).toEqual(["{b}z", "c", "3"]);
    expect(await waited("bzmpop", blocking.bzmpop(1, 1, "{b}z", "MIN"))).toEqual(["{b}z", [["b", "2"]]]);
    await store.xadd("{b}x", "1-0", { f: "v" });
    const entries = [["{b}x", [["1-0", ["f", "v"]]]]];
    expect(await waited("xread", blocking.xread("BLOCK", 1_000, "STREAMS", "{b}x", "0"))).toEqual(entries);
    await store.xgroupCreate("{b}x", "g", "0");
    const read = blocking.xreadgroup("GROUP", "g", "c", "BLOCK", 1_000, "STREAMS", "{b}x", ">");
    expect(await waited("xreadgroup", read)).toEqual(entries);
    for (const { method, words, row } of blockingCommands()) {
      const made = [...words, ...sampleCall(parseSyntax(row.syntax, row.keys ?? [])).words];
      const reply = method in replies ? replies[method] : await store.send(made);
      const isOne = repliesOf(row.reply).some((text) => replyCheck(text)(reply as never));
      expect(isOne, method).toBe(true);
    }
    blocking.close();
  });

  test("wait as long as they say, and for ever if that is nothing", async () => {
    const { store } = backend;
    const blocking = store.blocking("{b}l");
    expect(await blocking.blpop("{b}l", 0.05)).toBeNull();
    expect(await blocking.xread("BLOCK", 20, "STREAMS", "{b}x", "$")).toBeNull();
    const waiting = blocking.blpop("{b}l", 0);
    await store.rpush("{b}l", "late");
    expect(await waiting).toEqual(["{b}l", "late"]);
    await expect(blocking.blpop("{b}l", -1)).rejects.toThrow("timeout is negative");
    await expect(blocking.blpop("{b}l", "soon")).rejects.toThrow("timeout is not a float");
    blocking.close();
  });
});
