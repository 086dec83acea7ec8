/**
 * Seeded commands that change something, for the replication load: every data type in every encoding, expiry in all its
 * forms, transactions, scripts, functions, consumer groups, several databases. Many have effects that differ from their
 * words (SPOP, INCRBYFLOAT, EXPIRE, XADD *, scripts that draw lots), which is where replication goes wrong first.
 */
import type { Prng } from "../conformance/prng.ts";
import { yardstickMissing } from "../conformance/redis-server.ts";
import { SHORT_LIVED } from "./content.ts";

type Words = string[];
/** One step: commands that belong together. */
export type Step = Words[];

/** A day and more: never gone while a test runs. */
const FAR_MS = 86_400_000;

export const LIBRARY = `#!lua name=load
redis.register_function('load_add', function(keys, args)
  redis.call('HINCRBY', keys[1], args[1], args[2])
  return redis.call('HLEN', keys[1])
end)
redis.register_function('load_pop', function(keys, args)
  local popped = redis.call('SPOP', keys[1], 2)
  for _, member in ipairs(popped) do redis.call('RPUSH', keys[2], member) end
  return #popped
end)`;

const SCRIPTS = [
  "redis.call('INCR', KEYS[1]) redis.call('EXPIRE', KEYS[1], 100000) return redis.call('GET', KEYS[1])",
  "for i = 1, tonumber(ARGV[1]) % 20 do redis.call('RPUSH', KEYS[2], ARGV[1] .. ':' .. i) end return 1",
  "local t = redis.call('TIME') redis.call('HSET', KEYS[3], 'at', t[1], 'by', t[2]) return t",
  "redis.call('SADD', KEYS[4], ARGV[1], 'a', 'b') return redis.call('SPOP', KEYS[4])",
  // The first write stays, as in Redis.
  "redis.call('INCR', KEYS[1]) return redis.call('LPUSH', KEYS[1], 'wrong')",
  "redis.call('SELECT', 2) redis.call('SET', KEYS[1], ARGV[1]) return 1",
  "return redis.call('PUBLISH', 'channel', ARGV[1])",
];

export class Vocabulary {
  readonly #rng: Prng;
  readonly #kinds: (() => Step)[];

  constructor(rng: Prng) {
    this.#rng = rng;
    const weighted: [number, () => Step][] = [
      [10, () => this.#string()],
      // Valkey 8.0.1 leaves a byte as it was where SETBIT makes a string longer: no replica can have the same.
      [yardstickMissing() === undefined ? 4 : 0, () => this.#bits()],
      [10, () => this.#list()],
      [10, () => this.#set()],
      [10, () => this.#hash()],
      [10, () => this.#zset()],
      [12, () => this.#stream()],
      [3, () => this.#counted()],
      [10, () => this.#expiry()],
      [8, () => this.#shortLived()],
      [6, () => this.#generic()],
      [5, () => this.#transaction()],
      [6, () => this.#script()],
      [1, () => this.#rare()],
    ];
    this.#kinds = weighted.flatMap(([weight, kind]) => Array.from({ length: weight }, () => kind));
  }

  step(): Step {
    return this.#rng.pick(this.#kinds)();
  }

  #key(type: string): string {
    return `${type}:${this.#rng.below(40)}`;
  }

  #int(most: number): string {
    return String(this.#rng.below(most));
  }

  /** Mostly a small word, sometimes bytes of all values, seldom long. */
  #value(): string {
    const kind = this.#rng.below(20);
    if (kind < 6) return this.#int(1_000_000);
    if (kind < 14) return `value ${this.#rng.below(100_000)}`;
    if (kind < 19) {
      const bytes = Array.from({ length: this.#rng.between(0, 60) }, () => this.#rng.below(256));
      return String.fromCharCode(...bytes);
    }
    return `${this.#rng.below(1000)} long `.repeat(this.#rng.between(10, 400));
  }

  #member(): string {
    return this.#rng.chance(0.5) ? this.#int(400) : `m${this.#rng.below(400)}`;
  }

  /** Seldom many at once, so that collections outgrow their small encodings. */
  #count(): number {
    return this.#rng.chance(0.04) ? this.#rng.between(100, 300) : this.#rng.between(1, 4);
  }

  #members(): string[] {
    return Array.from({ length: this.#count() }, () => this.#member());
  }

  #one(...choices: (() => Words)[]): Step {
    return [this.#rng.pick(choices)()];
  }

  #string(): Step {
    const key = this.#key("string");
    return this.#one(
      () => ["SET", key, this.#value()],
      () => ["SET", key, this.#value(), "KEEPTTL"],
      () => ["SET", key, this.#value(), "NX", "GET"],
      () => ["APPEND", key, this.#value()],
      () => ["SETRANGE", key, this.#int(200), this.#value()],
      () => ["GETSET", key, this.#value()],
      () => ["GETDEL", key],
      () => ["MSET", key, this.#value(), this.#key("string"), this.#value()],
      () => ["MSETNX", key, this.#value(), this.#key("string"), this.#value()],
      () => ["INCR", this.#key("number")],
      () => ["DECRBY", this.#key("number"), this.#int(1000)],
      () => ["INCRBYFLOAT", this.#key("float"), (this.#rng.below(2000) / 7 - 100).toFixed(3)],
    );
  }

  #bits(): Step {
    const key = this.#key("bits");
    return this.#one(
      () => ["SETBIT", key, this.#int(2000), this.#int(2)],
      () => ["BITFIELD", key, "INCRBY", "u8", `#${this.#rng.below(50)}`, this.#int(300), "GET", "i16", "0"],
      () => ["BITOP", this.#rng.pick(["AND", "OR", "XOR"]), key, this.#key("bits"), this.#key("bits")],
      () => ["BITOP", "NOT", key, this.#key("bits")],
    );
  }

  #list(): Step {
    const key = this.#key("list");
    const values = () => Array.from({ length: this.#count() }, () => this.#value());
    const side = () => this.#rng.pick(["LEFT", "RIGHT"]);
    return this.#one(
      () => ["RPUSH", key, ...values()],
      () => ["LPUSH", key, ...values()],
      () => ["LPUSHX", key, this.#value()],
      () => ["LPOP", key, this.#int(4)],
      () => ["RPOP", key],
      () => ["LMOVE", key, this.#key("list"), side(), side()],
      () => ["RPOPLPUSH", key, this.#key("list")],
      () => ["LMPOP", "2", key, this.#key("list"), side(), "COUNT", "2"],
      () => ["BLMPOP", "0.001", "2", key, this.#key("list"), side()],
      () => ["BRPOPLPUSH", key, this.#key("list"), "0.001"],
      () => ["LSET", key, this.#int(20), this.#value()],
      () => ["LINSERT", key, "BEFORE", this.#int(1000), this.#value()],
      () => ["LREM", key, "2", this.#int(1000)],
      () => ["LTRIM", key, this.#int(3), "300"],
    );
  }

  #set(): Step {
    const key = this.#key("set");
    return this.#one(
      () => ["SADD", key, ...this.#members()],
      () => ["SADD", `intset:${this.#rng.below(10)}`, this.#int(100_000), this.#int(100)],
      () => ["SREM", key, ...this.#members()],
      () => ["SPOP", key],
      () => ["SPOP", key, this.#int(5)],
      () => ["SPOP", key, "1000000"],
      () => ["SMOVE", key, this.#key("set"), this.#member()],
      () => ["SUNIONSTORE", this.#key("set"), key, this.#key("set")],
      () => ["SINTERSTORE", this.#key("set"), key, this.#key("set")],
      () => ["SDIFFSTORE", this.#key("set"), key, this.#key("set")],
      () => ["SORT", key, "ALPHA", "STORE", this.#key("list")],
    );
  }

  #hash(): Step {
    const key = this.#key("hash");
    const pairs = () => this.#members().flatMap((member) => [member, this.#value()]);
    return this.#one(
      () => ["HSET", key, ...pairs()],
      () => ["HSETNX", key, this.#member(), this.#value()],
      () => ["HMSET", key, ...pairs()],
      () => ["HDEL", key, ...this.#members()],
      () => ["HINCRBY", key, `n${this.#rng.below(10)}`, this.#int(100)],
      () => ["HINCRBYFLOAT", key, `f${this.#rng.below(10)}`, (this.#rng.below(1000) / 9).toFixed(4)],
    );
  }

  #zset(): Step {
    const key = this.#key("zset");
    const score = () => this.#rng.pick([this.#int(100), (this.#rng.below(10_000) / 13).toFixed(5), "-inf", "+inf"]);
    return this.#one(
      () => ["ZADD", key, ...this.#members().flatMap((member) => [score(), member])],
      () => ["ZADD", key, "XX", "GT", "CH", score(), this.#member()],
      () => ["ZADD", key, "INCR", this.#int(50), this.#member()],
      () => ["ZINCRBY", key, (this.#rng.below(1000) / 3).toFixed(6), this.#member()],
      () => ["ZREM", key, ...this.#members()],
      () => ["ZPOPMIN", key, this.#int(3)],
      () => ["ZMPOP", "2", key, this.#key("zset"), "MAX", "COUNT", "2"],
      () => ["BZPOPMAX", key, this.#key("zset"), "0.001"],
      () => ["ZREMRANGEBYRANK", key, "300", "-1"],
      () => ["ZREMRANGEBYSCORE", key, "(10", "12"],
      () => ["ZUNIONSTORE", this.#key("zset"), "2", key, this.#key("zset"), "WEIGHTS", "2", "0.5"],
      () => ["ZINTERSTORE", this.#key("zset"), "2", key, this.#key("set")],
      () => ["ZRANGESTORE", this.#key("zset"), key, "0", "50"],
      () => ["GEOADD", this.#key("geo"), `${this.#rng.below(170)}.25`, `${this.#rng.below(80)}.5`, this.#member()],
      () => ["GEOSEARCHSTORE", this.#key("geo"), this.#key("geo"), "FROMLONLAT", "20", "20", "BYRADIUS", "4000", "km"],
    );
  }

  #stream(): Step {
    const key = this.#key("stream");
    const group = `g${this.#rng.below(3)}`;
    const consumer = `c${this.#rng.below(4)}`;
    const id = () => `${this.#rng.between(1, 60)}-${this.#rng.below(3)}`;
    return this.#one(
      () => ["XADD", key, "*", "field", this.#value()],
      () => ["XADD", key, "MAXLEN", "~", "100", "*", "field", this.#value(), "n", this.#int(10)],
      () => ["XADD", key, "MAXLEN", "=", "60", "*", "other", this.#value()],
      () => ["XADD", key, "NOMKSTREAM", "MINID", "~", "5", "*", "a", "b"],
      () => ["XADD", `fixed:${this.#rng.below(5)}`, id(), "f", this.#value()],
      () => ["XGROUP", "CREATE", key, group, this.#rng.pick(["0", "$"]), "MKSTREAM"],
      () => ["XREADGROUP", "GROUP", group, consumer, "COUNT", "5", "STREAMS", key, ">"],
      () => ["XREADGROUP", "GROUP", group, consumer, "NOACK", "COUNT", "2", "STREAMS", key, ">"],
      () => ["XREADGROUP", "GROUP", group, consumer, "BLOCK", "1", "STREAMS", key, ">"],
      () => ["XCLAIM", `fixed:${this.#rng.below(5)}`, group, consumer, "0", id(), id(), "FORCE", "JUSTID"],
      () => ["XAUTOCLAIM", key, group, consumer, "0", "0", "COUNT", "3"],
      () => ["XGROUP", "SETID", key, group, "0"],
      () => ["XGROUP", "CREATECONSUMER", key, group, `c${this.#rng.below(9)}`],
      () => ["XGROUP", "DELCONSUMER", key, group, consumer],
      () => ["XGROUP", "CREATE", `fixed:${this.#rng.below(5)}`, group, "0", "MKSTREAM"],
      () => ["XACK", `fixed:${this.#rng.below(5)}`, group, id(), id()],
      () => ["XDEL", `fixed:${this.#rng.below(5)}`, id()],
      () => ["XTRIM", key, "MAXLEN", this.#int(80)],
      () => ["XSETID", `fixed:${this.#rng.below(5)}`, "61-0"],
    );
  }

  #counted(): Step {
    return this.#one(
      () => ["PFADD", this.#key("hll"), ...this.#members()],
      () => ["PFMERGE", this.#key("hll"), this.#key("hll"), this.#key("hll")],
      () => ["PFCOUNT", this.#key("hll")],
    );
  }

  #any(): string {
    return this.#key(this.#rng.pick(["string", "list", "set", "hash", "zset", "stream", "number", "bits", "hll"]));
  }

  #expiry(): Step {
    const key = this.#any();
    const seconds = () => String(100_000 + this.#rng.below(100_000));
    const farMs = () => String(FAR_MS + this.#rng.below(FAR_MS));
    // A day in the year 2100.
    const at = () => String(4_102_444_800 + this.#rng.below(100_000));
    return this.#one(
      () => ["EXPIRE", key, seconds()],
      () => ["EXPIRE", key, seconds(), this.#rng.pick(["NX", "XX", "GT", "LT"])],
      () => ["PEXPIRE", key, farMs()],
      () => ["EXPIREAT", key, at()],
      () => ["PEXPIREAT", key, `${at()}123`],
      () => ["PERSIST", key],
      () => ["EXPIRE", key, "-1"],
      () => ["SET", this.#key("string"), this.#value(), "EX", seconds()],
      () => ["SET", this.#key("string"), this.#value(), "PXAT", `${at()}001`],
      () => ["SETEX", this.#key("string"), seconds(), this.#value()],
      () => ["PSETEX", this.#key("string"), farMs(), this.#value()],
      () => ["GETEX", this.#key("string"), "EX", seconds()],
      () => ["GETEX", this.#key("string"), "PERSIST"],
    );
  }

  #shortLived(): Step {
    const key = `${SHORT_LIVED}${this.#rng.below(60)}`;
    const ms = String(this.#rng.between(1, 900));
    return this.#rng.pick<() => Step>([
      () => [["SET", key, this.#value(), "PX", ms]],
      () => [
        ["DEL", key],
        ["RPUSH", key, ...this.#members()],
        ["PEXPIRE", key, ms],
      ],
      () => [
        ["DEL", key],
        ["SADD", key, ...this.#members()],
        ["PEXPIRE", key, ms],
      ],
      // On a key that has just expired this begins anew, on the replica too.
      () => [["EVAL", "redis.call('APPEND', KEYS[1], 'x') redis.call('PEXPIRE', KEYS[1], ARGV[1])", "1", key, ms]],
      () => [["PSETEX", key, ms, this.#value()]],
    ])();
  }

  #generic(): Step {
    const type = this.#rng.pick(["string", "list", "set", "hash", "zset", "stream"]);
    const [key, other] = [this.#key(type), this.#key(type)];
    return this.#one(
      () => ["DEL", key, other],
      () => ["UNLINK", key],
      () => ["RENAME", key, other],
      () => ["RENAMENX", key, other],
      () => ["COPY", key, other, "REPLACE"],
      () => ["COPY", key, other, "DB", this.#rng.pick(["1", "2", "9"]), "REPLACE"],
      () => ["MOVE", key, this.#rng.pick(["1", "2", "9"])],
      () => ["SORT", this.#key("list"), "BY", "nosort", "STORE", this.#key("list")],
    );
  }

  #transaction(): Step {
    const commands = Array.from({ length: this.#rng.between(1, 5) }, () => {
      // Inside MULTI nothing waits, and a script would be one step more than this is about.
      const kinds = [
        () => this.#string(),
        () => this.#list(),
        () => this.#set(),
        () => this.#hash(),
        () => this.#zset(),
      ];
      return this.#rng.pick(kinds)();
    }).flat();
    if (this.#rng.chance(0.2)) commands.push(["SELECT", this.#rng.pick(["0", "1", "2", "9"])]);
    return [["MULTI"], ...commands, [this.#rng.chance(0.9) ? "EXEC" : "DISCARD"]];
  }

  #script(): Step {
    const keys = [this.#key("number"), this.#key("list"), this.#key("hash"), this.#key("set")];
    if (this.#rng.chance(0.3)) {
      return this.#one(
        () => ["FCALL", "load_add", "1", this.#key("hash"), `n${this.#rng.below(10)}`, this.#int(50)],
        () => ["FCALL", "load_pop", "2", this.#key("set"), this.#key("list")],
      );
    }
    return [["EVAL", this.#rng.pick(SCRIPTS), "4", ...keys, this.#int(1000)]];
  }

  #rare(): Step {
    return this.#rng.pick<() => Step>([
      () => [["SWAPDB", "1", "2"]],
      () => [["FUNCTION", "LOAD", "REPLACE", `${LIBRARY}\n-- ${this.#rng.below(1000)}`]],
      () => [["PUBLISH", "channel", this.#value()]],
      () => [["SELECT", this.#rng.pick(["0", "1", "2"])]],
      () =>
        this.#rng.chance(0.2)
          ? [
              ["SELECT", "9"],
              ["FLUSHDB", this.#rng.pick(["SYNC", "ASYNC"])],
            ]
          : [],
    ])();
  }
}
