/** Values in forms that Redis wrote before 7.0 or writes since: as DUMP payloads, made by hand. */
import { crc64 } from "../../../src/persist/rdb/crc64.ts";
import { ListpackWriter } from "../../../src/persist/rdb/listpack-writer.ts";

export function length(value: number): Buffer {
  if (value < 64) return Buffer.from([value]);
  if (value < 16384) return Buffer.from([0x40 | (value >> 8), value & 0xff]);
  const bytes = Buffer.alloc(5, 0x80);
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

export const string = (bytes: Buffer | string): Buffer => {
  const content = typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes;
  return Buffer.concat([length(content.length), content]);
};

/** A payload of this type with this body. */
export function payload(type: number, ...body: Buffer[]): string {
  const bytes = Buffer.concat([Buffer.from([type]), ...body, Buffer.from([10, 0])]);
  return Buffer.concat([bytes, crc64(bytes)]).toString("latin1");
}

const isInteger = (word: string): boolean => /^(0|-?[1-9]\d{0,18})$/.test(word) && inInt64(BigInt(word));
const inInt64 = (value: bigint): boolean => value === BigInt.asIntN(64, value);

function ziplistInteger(value: bigint): Buffer {
  if (value >= 0n && value <= 12n) return Buffer.from([0xf1 + Number(value)]);
  for (const [kind, width] of [
    [0xfe, 1],
    [0xc0, 2],
    [0xf0, 3],
    [0xd0, 4],
  ] as const) {
    if (value !== BigInt.asIntN(width * 8, value)) continue;
    const bytes = Buffer.alloc(1 + width, kind);
    bytes.writeIntLE(Number(value), 1, width);
    return bytes;
  }
  const bytes = Buffer.alloc(9, 0xe0);
  bytes.writeBigInt64LE(value, 1);
  return bytes;
}

function ziplistWord(word: string): Buffer {
  const content = Buffer.from(word, "latin1");
  if (content.length < 64) return Buffer.concat([Buffer.from([content.length]), content]);
  if (content.length < 16384) {
    return Buffer.concat([Buffer.from([0x40 | (content.length >> 8), content.length & 0xff]), content]);
  }
  const header = Buffer.alloc(5, 0x80);
  header.writeUInt32BE(content.length, 1);
  return Buffer.concat([header, content]);
}

export function ziplist(words: readonly string[]): Buffer {
  const parts: Buffer[] = [];
  let previous = 0;
  let tail = 10;
  let size = 10;
  for (const word of words) {
    const before = previous < 254 ? Buffer.from([previous]) : Buffer.alloc(5, 0xfe);
    if (previous >= 254) before.writeUInt32LE(previous, 1);
    const entry = Buffer.concat([before, isInteger(word) ? ziplistInteger(BigInt(word)) : ziplistWord(word)]);
    parts.push(entry);
    tail = size;
    previous = entry.length;
    size += entry.length;
  }
  const header = Buffer.alloc(10);
  header.writeUInt32LE(size + 1, 0);
  header.writeUInt32LE(tail, 4);
  header.writeUInt16LE(Math.min(words.length, 0xffff), 8);
  return Buffer.concat([header, ...parts, Buffer.from([0xff])]);
}

export function zipmap(pairs: readonly (readonly [string, string])[], unused = 0): Buffer {
  const size = (count: number): Buffer => {
    if (count < 254) return Buffer.from([count]);
    const bytes = Buffer.alloc(5, 254);
    bytes.writeUInt32LE(count, 1);
    return bytes;
  };
  const parts = pairs.flatMap(([field, value]) => [
    size(field.length),
    Buffer.from(field, "latin1"),
    size(value.length),
    Buffer.from([unused]),
    Buffer.from(value, "latin1"),
    Buffer.alloc(unused),
  ]);
  return Buffer.concat([Buffer.from([Math.min(pairs.length, 254)]), ...parts, Buffer.from([0xff])]);
}

export function intset(width: 2 | 4 | 8, numbers: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(8 + width * numbers.length);
  bytes.writeUInt32LE(width, 0);
  bytes.writeUInt32LE(numbers.length, 4);
  for (const [i, number] of numbers.entries()) {
    if (width === 8) bytes.writeBigInt64LE(number, 8 + i * 8);
    else bytes.writeIntLE(Number(number), 8 + i * width, width);
  }
  return bytes;
}

/** A listpack as the engine writes it, which is compared with the real server's elsewhere. */
export function listpack(words: readonly (string | number)[]): Buffer {
  const writer = new ListpackWriter();
  writer.begin();
  for (const word of words) {
    if (typeof word === "number") writer.integer(word);
    else writer.word(word);
  }
  return Buffer.from(writer.bytes.subarray(0, writer.finish()));
}

export function streamId(ms: bigint, seq: bigint): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeBigUInt64BE(ms, 0);
  bytes.writeBigUInt64BE(seq, 8);
  return bytes;
}

/** A score as text with its length before it; -1 to -3 of the length stand for what has no digits. */
export function textScore(score: string): Buffer {
  const special = ["-inf", "inf", "nan"].indexOf(score);
  return special >= 0 ? Buffer.from([255 - special]) : Buffer.from([score.length, ...Buffer.from(score)]);
}

const INTEGERS = ["0", "12", "13", "-1", "127", "-128", "128", "32767", "-32769", "8388607", "8388608", "-2147483648"];
const WORDS = [
  ...INTEGERS,
  "2147483648",
  "-9223372036854775808",
  "a",
  "",
  "x".repeat(63),
  "y".repeat(64),
  "z".repeat(300),
];
const LONG = ["w".repeat(16383), "v".repeat(16384), "end"];
const many = Array.from({ length: 700 }, (_, i) => [`field ${i}`, `value ${i}`] as const);
const distinct = (words: readonly string[]) => words.flatMap((word, i) => [`${word}/${i}`.slice(0, 60), word]);
/** As old servers wrote scores, with 17 digits: Redis keeps the text. */
const scored = ["d", "-3", "a", "1", "b", "2.5", "e", "1.0000000000000001e+300", "c", "inf"];
export const u64 = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
};

/** A Redis 5 stream of two entries with a group that has read one of them. */
const oldStream = (groupAt: number): string => {
  const node = string(listpack([2, 0, 1, "f", 0, 2, 0, 0, "v1", 4, 2, 1, 0, "v2", 4]));
  const own = [length(2), length(6), length(1), length(1), string("g"), length(groupAt), length(1)];
  const pending = [length(1), streamId(5n, 1n), u64(1_700_000_000_000n), length(3)];
  const consumers = [length(1), string("c"), u64(1_700_000_000_001n), length(1), streamId(5n, 1n)];
  return payload(15, length(1), string(streamId(5n, 1n)), node, ...own, ...pending, ...consumers);
};

/** Payloads that Redis 7.0 takes, by type and what they hold. */
export const forms: Record<string, string> = {
  "1 list": payload(1, length(3), string("a"), string("1"), Buffer.from([0xc0, 5])),
  "1 list, long": payload(1, length(3000), ...Array.from({ length: 3000 }, (_, i) => string(`word ${i}`))),
  "2 set of integers": payload(2, length(3), string("3"), Buffer.from([0xc0, 5]), string("123456789012")),
  "2 set": payload(2, length(3), string("3"), string("x"), string("")),
  "3 zset": payload(3, length(4), ...["1", "-2.5", "inf", "-inf"].flatMap((s) => [string(`m${s}`), textScore(s)])),
  "4 hash": payload(4, length(2), string("f"), string("v"), string("g"), Buffer.from([0xc1, 0, 1])),
  "4 hash, wide": payload(4, length(2), string("f"), string("v".repeat(65)), string("g"), string("1")),
  "4 hash, many": payload(4, length(700), ...many.flatMap(([field, value]) => [string(field), string(value)])),
  "5 zset": payload(5, length(2), string("a"), u64(0x3ff8000000000000n), string("b"), u64(0xfff0000000000000n)),
  "9 zipmap": payload(
    9,
    string(
      zipmap([
        ["f", "v"],
        ["number", "12"],
        ["", ""],
        ["long", "x".repeat(260)],
      ]),
    ),
  ),
  "9 zipmap with unused bytes": payload(
    9,
    string(
      zipmap(
        [
          ["f", "v"],
          ["g", "w"],
        ],
        3,
      ),
    ),
  ),
  "9 zipmap, many": payload(9, string(zipmap(many))),
  "10 ziplist": payload(10, string(ziplist(WORDS))),
  "10 ziplist, long words": payload(10, string(ziplist(LONG))),
  "11 intset of 2": payload(11, string(intset(2, [-32768n, 0n, 32767n]))),
  "11 intset of 4": payload(11, string(intset(4, [-2147483648n, 1n, 2147483647n]))),
  "11 intset of 8": payload(11, string(intset(8, [-9223372036854775808n, -1n, 9007199254740993n]))),
  "11 intset, too many": payload(
    11,
    string(
      intset(
        4,
        Array.from({ length: 600 }, (_, i) => BigInt(i * 1000)),
      ),
    ),
  ),
  "12 zset ziplist": payload(12, string(ziplist(scored))),
  "12 zset ziplist, wide": payload(12, string(ziplist(["a".repeat(65), "1", "b", "2"]))),
  "13 hash ziplist": payload(13, string(ziplist(distinct(INTEGERS)))),
  "13 hash ziplist, wide": payload(13, string(ziplist(distinct(WORDS)))),
  "14 quicklist": payload(14, length(2), string(ziplist(WORDS)), string(ziplist(LONG))),
  "15 stream with a group at its end": oldStream(6),
  "15 stream with a group at its beginning": oldStream(5),
  "15 stream with a group before all": oldStream(1),
  "14 quicklist with an empty node": payload(14, length(2), string(ziplist([])), string(ziplist(["a"]))),
};
