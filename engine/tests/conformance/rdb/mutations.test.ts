/**
 * Damaged payloads and files: whatever the damage, the outcome is an error that says where, or a value that is whole. Never
 * a fault, never a long time, never memory out of proportion.
 *
 * RDB_MUTATIONS=100000 RDB_SEED=7 npx vitest run engine/tests/conformance/rdb/mutations.test.ts
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { EmbeddedEngine } from "../../../src/embed/embedded.ts";
import { crc64 } from "../../../src/persist/rdb/crc64.ts";
import { RdbError } from "../../../src/persist/rdb/errors.ts";
import { writeRdb } from "../../../src/persist/rdb/file.ts";
import { dumpValue, isIntact, restoreValue } from "../../../src/persist/rdb/payload.ts";
import { RdbReader } from "../../../src/persist/rdb/reader.ts";
import { DEFAULT_LIMITS } from "../../../src/types/collection.ts";
import type { Value } from "../../../src/types/value.ts";
import { Prng } from "../prng.ts";
import { openWire } from "../target.ts";
import { dataCommands } from "./data.ts";
import { forms } from "./old-forms.ts";

const COUNT = Number(process.env.RDB_MUTATIONS ?? 3000);
const SEED = Number(process.env.RDB_SEED ?? 1);
/** Far more than any of these takes, and far less than what a number in a damaged file can ask for. */
const MOST_MS = 3000;
const MOST_BYTES = 400 * 1024 * 1024;

const EXTREMES = [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0x81, 0xbf, 0xc0, 0xc3, 0xe0, 0xf0, 0xf4, 0xfe, 0xff];

/** The bytes with one to four kinds of damage. */
function damaged(bytes: Buffer, others: readonly Buffer[], prng: Prng): Buffer {
  let result = Buffer.from(bytes);
  for (let rounds = prng.between(1, 4); rounds > 0 && result.length > 0; rounds--) {
    const at = prng.below(result.length);
    switch (prng.below(9)) {
      case 0:
        result[at]! ^= 1 << prng.below(8);
        break;
      case 1:
      case 2:
        result[at] = prng.pick(EXTREMES);
        break;
      case 3:
        result[at] = prng.below(256);
        break;
      case 4:
        result = result.subarray(0, at);
        break;
      case 5:
        result = Buffer.concat([
          result.subarray(0, at),
          result.subarray(Math.min(at + prng.between(1, 8), result.length)),
        ]);
        break;
      case 6:
        result = Buffer.concat([
          result.subarray(0, at),
          Buffer.alloc(prng.between(1, 8), prng.pick(EXTREMES)),
          result.subarray(at),
        ]);
        break;
      case 7: {
        const other = prng.pick(others);
        const from = prng.below(other.length);
        const piece = other.subarray(from, from + prng.between(1, 40));
        result = Buffer.concat([result.subarray(0, at), piece, result.subarray(at)]);
        break;
      }
      default:
        for (let i = at; i < Math.min(at + 8, result.length); i++) result[i] = 0xff;
    }
  }
  return result;
}

/** Runs something that may throw RdbError; false if it did. Anything else is a fault. */
function survives(run: () => void, input: Buffer): boolean {
  const started = systemClock.monotonic();
  try {
    run();
    return true;
  } catch (error) {
    if (!(error instanceof RdbError))
      throw new Error(`fault on ${input.toString("hex").slice(0, 2000)}`, { cause: error });
    expect(error.offset).toBeGreaterThanOrEqual(0);
    expect(error.offset).toBeLessThanOrEqual(input.length);
    return false;
  } finally {
    expect(systemClock.monotonic() - started).toBeLessThan(MOST_MS);
  }
}

/** What is said to a key of a type whose payload was damaged: reads of all of it, and changes in every place. */
const TRAFFIC: Readonly<Record<string, string>> = {
  string:
    "GET k|STRLEN k|GETRANGE k 0 -1|APPEND k x|SETRANGE k 3 yy|BITCOUNT k|PFCOUNT k|PFADD k a|INCR k|INCRBYFLOAT k 1",
  list:
    "LLEN k|LRANGE k 0 -1|LINDEX k 1|LINDEX k -1|LPOS k a|LINSERT k BEFORE a b|LPUSH k x|RPUSH k y|LSET k 0 z|LREM k 0 a|" +
    "LTRIM k 0 100|LMOVE k k LEFT RIGHT|SORT k ALPHA|LPOP k|RPOP k 3",
  set:
    "SCARD k|SMEMBERS k|SISMEMBER k a|SRANDMEMBER k -5|SADD k 1 x|SSCAN k 0|SINTER k k|SUNIONSTORE k2 k k|SREM k a|" +
    "SMOVE k k2 x|SPOP k 2",
  zset:
    "ZCARD k|ZRANGE k 0 -1 WITHSCORES|ZRANGEBYSCORE k -inf +inf|ZRANGEBYLEX k - +|ZRANK k a|ZCOUNT k -1 1|ZSCAN k 0|" +
    "ZADD k 1.5 x|ZINCRBY k 2 x|ZRANDMEMBER k -5 WITHSCORES|ZUNIONSTORE k2 1 k|ZREM k a|ZPOPMIN k|ZREMRANGEBYRANK k 1 3",
  hash:
    "HLEN k|HGETALL k|HKEYS k|HGET k a|HRANDFIELD k -5 WITHVALUES|HSCAN k 0|HSET k a 1 x y|HINCRBY k n 1|HSTRLEN k a|" +
    "HDEL k a x",
  stream:
    "XLEN k|XRANGE k - +|XREVRANGE k + - COUNT 5|XINFO STREAM k FULL|XINFO GROUPS k|XADD k * a b|XREAD STREAMS k 0|" +
    "XGROUP CREATE k g 0|XREADGROUP GROUP g c COUNT 3 STREAMS k >|XPENDING k g|XAUTOCLAIM k g c 0 0|XTRIM k MAXLEN 3|" +
    "XDEL k 1-1|XSETID k 99999999999999-0",
};

/** What is said to a key of any type. */
const ANY =
  "OBJECT ENCODING k|OBJECT FREQ k|MEMORY USAGE k|DEBUG OBJECT k|DEBUG DIGEST-VALUE k|DUMP k|COPY k copy REPLACE|EXPIRE k 100";

const commandsOf = (text: string) => text.split("|").map((line) => line.split(" "));

describe("damage", () => {
  let payloads: Buffer[];
  let file: Buffer;

  beforeAll(async () => {
    const engine = await EmbeddedEngine.open({});
    const wire = await openWire((await engine.listen({ host: "127.0.0.1", port: 0 })).port);
    const commands = dataCommands(SEED);
    for (let i = 0; i < commands.length; i += 500) await wire.pipeline(commands.slice(i, i + 500));
    const keys = (await wire.call("KEYS", "*")).items.map((item) => item.text).sort();
    const answers = await wire.pipeline(keys.map((key) => ["DUMP", key]));
    const dumps = answers.map((answer) => Buffer.from(answer.text, "latin1"));
    // Collections as often as strings, of which there are many more.
    const collections = dumps.filter((dump) => dump[0] !== 0 && dump.length < 20_000);
    const strings = dumps.filter((dump) => dump[0] === 0 && dump.length < 2000);
    const old = Object.values(forms).map((form) => Buffer.from(form, "latin1"));
    payloads = [...strings.slice(0, 40), ...collections, ...collections, ...old.filter((form) => form.length < 20_000)];
    const large = keys.filter((_, i) => dumps[i]!.length > 5000);
    await wire.pipeline(large.map((key) => ["DEL", key]));
    const chunks: Buffer[] = [];
    writeRdb(engine.core, (chunk) => chunks.push(chunk), { functions: ["#!lua name=x"] });
    file = Buffer.concat(chunks);
    await wire.close();
    await engine.close();
  });

  const before = process.memoryUsage().rss;
  afterAll(() => {
    expect(process.memoryUsage().rss - before).toBeLessThan(MOST_BYTES);
  });

  test(`of ${COUNT} payloads is noticed or harmless`, () => {
    const prng = new Prng(SEED, 1);
    let loaded = 0;
    for (let i = 0; i < COUNT; i++) {
      const original = prng.pick(payloads);
      const body = damaged(original.subarray(0, -8), payloads, prng);
      const input = Buffer.concat([body, crc64(body)]);
      if (input.length < 10) continue;
      const whole = survives(() => checkWhole(restoreValue(input, DEFAULT_LIMITS)), input);
      if (whole) loaded++;
    }
    console.log(`${COUNT} damaged payloads: ${loaded} loaded, ${COUNT - loaded} refused`);
    expect(loaded).toBeGreaterThan(0);
  });

  test.each(["no", "yes"])(
    "of payloads that are restored without a look at their checksum, sanitize-dump-payload %s, leaves values that every command can use",
    async (sanitize) => {
      const engine = await EmbeddedEngine.open({ config: { "enable-debug-command": "yes" } });
      const faults: string[] = [];
      const wire = await openWire((await engine.listen({ host: "127.0.0.1", port: 0 })).port);
      await wire.pipeline([
        ["CONFIG", "SET", "sanitize-dump-payload", sanitize],
        ["DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1"],
      ]);
      const prng = new Prng(SEED, sanitize === "yes" ? 5 : 6);
      const count = Math.ceil(COUNT / 10);
      let restored = 0;
      for (let i = 0; i < count; i++) {
        const input = damaged(prng.pick(payloads), payloads, prng);
        const given = input.toString("latin1");
        engine.core.onError = (error, command) =>
          void faults.push(`${command}: ${error} on ${input.toString("hex").slice(0, 2000)}`);
        const [answer, type] = await wire.pipeline([
          ["RESTORE", "k", "0", given, "REPLACE"],
          ["TYPE", "k"],
        ]);
        if (answer!.text === "OK") {
          restored++;
          const said = [...commandsOf(ANY), ...commandsOf(TRAFFIC[type!.text]!), ...commandsOf(ANY)];
          const answers = await wire.pipeline(said);
          expect(answers.map(({ tag }) => tag)).not.toContain("closed");
        }
        expect((await wire.call("FLUSHALL")).text).toBe("OK");
      }
      console.log(`${count} damaged payloads without checksum: ${restored} restored`);
      expect(faults).toEqual([]);
      expect(restored).toBeGreaterThan(0);
      expect(restored).toBeLessThan(count);
      await wire.close();
      await engine.close();
    },
  );

  test("of bits of payloads is noticed always by the checksum", () => {
    const prng = new Prng(SEED, 2);
    for (let i = 0; i < COUNT; i++) {
      const input = Buffer.from(prng.pick(payloads));
      for (let bits = prng.between(1, 5); bits > 0; bits--) input[prng.below(input.length)]! ^= 1 << prng.below(8);
      if (!payloads.some((payload) => payload.equals(input))) expect(isIntact(input)).toBe(false);
    }
  });

  test(`of ${Math.ceil(COUNT / 10)} files is noticed or harmless, however they are cut`, () => {
    const prng = new Prng(SEED, 3);
    let loaded = 0;
    const count = Math.ceil(COUNT / 10);
    for (let i = 0; i < count; i++) {
      const input = damaged(file, payloads, prng);
      const piece = prng.pick([1000, 10_000, 100_000, input.length + 1]);
      const whole = survives(() => {
        const reader = new RdbReader({ key() {}, module() {} }, DEFAULT_LIMITS, { checksum: false });
        for (let at = 0; at < input.length; at += piece) reader.feed(input.subarray(at, at + piece));
        reader.end();
      }, input);
      if (whole) loaded++;
    }
    console.log(`${count} damaged files: ${loaded} loaded, ${count - loaded} refused`);
    expect(loaded).toBeGreaterThan(0);
  });

  test("of files is noticed always by the checksum", () => {
    const prng = new Prng(SEED, 4);
    for (let i = 0; i < Math.ceil(COUNT / 30); i++) {
      const input = Buffer.from(file);
      const at = prng.between(9, file.length - 1);
      input[at]! ^= 1 << prng.below(8);
      const whole = survives(() => {
        const reader = new RdbReader({ key() {}, module() {} }, DEFAULT_LIMITS);
        reader.feed(input);
        reader.end();
      }, input);
      expect(whole).toBe(false);
    }
  });

  test("of a file that ends early is noticed at every place", () => {
    for (let length = 0; length < Math.min(file.length, 3000); length++) {
      const reader = new RdbReader({ key() {} }, DEFAULT_LIMITS);
      const cut = file.subarray(0, length);
      expect(() => {
        reader.feed(cut);
        reader.end();
      }).toThrow(RdbError);
    }
  });
});

/** A value that was read can be written and read again, and is then written as it was. */
function checkWhole(value: Value): void {
  const once = dumpValue(value, true);
  const again = dumpValue(restoreValue(once, DEFAULT_LIMITS), true);
  // Tables have no order of their own; their sizes tell enough.
  expect(again.length === once.length || once[0] === 2 || once[0] === 4).toBe(true);
}
