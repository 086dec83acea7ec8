import { describe, expect, test } from "vitest";
import { textOf } from "../../types/bytes.ts";
import { DEFAULT_LIMITS } from "../../types/collection.ts";
import { HashValue } from "../../types/hash/index.ts";
import { ListValue } from "../../types/list/index.ts";
import { SetValue } from "../../types/set/index.ts";
import { makeId, StreamValue } from "../../types/stream/index.ts";
import type { Value } from "../../types/value.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { crc64 } from "./crc64.ts";
import { RdbError } from "./errors.ts";
import { dumpValue } from "./payload.ts";
import { type RdbHandler, RdbReader } from "./reader.ts";
import { OPCODE } from "./types.ts";
import { RdbWriter } from "./writer.ts";

/** Everything that a reader tells, as lines. */
class Log implements RdbHandler {
  readonly lines: string[] = [];
  version(version: number): void {
    this.lines.push(`version ${version}`);
  }
  aux(name: string, value: string): void {
    this.lines.push(`aux ${name}=${value}`);
  }
  selectDb(index: number): void {
    this.lines.push(`db ${index}`);
  }
  resizeDb(keys: number, expires: number): void {
    this.lines.push(`resize ${keys} ${expires}`);
  }
  function(source: string): void {
    this.lines.push(`function ${source}`);
  }
  emptyKey(key: string): void {
    this.lines.push(`empty ${key}`);
  }
  key(key: string, value: Value, attributes: { deadline?: unknown; idle?: unknown; frequency?: unknown }): void {
    const { deadline, idle, frequency } = attributes;
    const dump = dumpValue(value, false).toString("hex").slice(0, -20);
    this.lines.push(`key ${key} ${[deadline, idle, frequency].join("/")} ${dump}`);
  }
}

function read(bytes: Buffer, piece = bytes.length, handler: RdbHandler = new Log()): RdbReader {
  const reader = new RdbReader(handler, DEFAULT_LIMITS);
  for (let at = 0; at < bytes.length; at += piece) reader.feed(Buffer.from(bytes.subarray(at, at + piece)));
  reader.end();
  return reader;
}

function logOf(bytes: Buffer, piece?: number): string[] {
  const log = new Log();
  read(bytes, piece, log);
  return log.lines;
}

function failure(bytes: Buffer, handler?: RdbHandler): RdbError {
  try {
    read(bytes, undefined, handler);
  } catch (error) {
    if (error instanceof RdbError) return error;
    throw error;
  }
  throw new Error("was read");
}

function values(): [string, Value][] {
  const list = new ListValue();
  for (let i = 0; i < 3000; i++) list.pushTail(`word ${i}`);
  const set = new SetValue();
  for (let i = 0; i < 1500; i++) set.add(`member ${i}`, DEFAULT_LIMITS);
  const hash = new HashValue();
  for (let i = 0; i < 600; i++) hash.set(`field ${i}`, `value ${i}`, DEFAULT_LIMITS);
  const small = new HashValue();
  small.set("a", "1", DEFAULT_LIMITS);
  const members = Array.from({ length: 200 }, (_, i) => `member ${i}`);
  const zset = ZsetValue.from(
    members,
    members.map((_, i) => i / 3),
    DEFAULT_LIMITS,
  );
  const stream = new StreamValue();
  for (let i = 1; i < 300; i++) stream.add(makeId(i, 0), ["n", String(i)], 0, DEFAULT_LIMITS);
  const group = stream.addGroup("group", makeId(5, 0), 5);
  const consumer = group.addConsumer("consumer", 12345);
  for (let i = 1; i < 50; i++) group.deliver(makeId(i, 0), consumer, 54321);
  return Object.entries({ text: "x".repeat(500), number: 5, list, set, hash, small, zset, stream });
}

function fileOf(
  entries: readonly [string, Value][],
  options: { chunkBytes?: number; checksum?: boolean } = {},
): Buffer {
  const chunks: Buffer[] = [];
  const writer = new RdbWriter({
    sink: (chunk) => chunks.push(chunk),
    compress: true,
    checksum: options.checksum ?? true,
    stamps: { opcode: OPCODE.IDLE, valueOf: (stamp) => stamp },
  });
  writer.begin([["redis-ver", "7.0.15"]]);
  writer.functions(["code"]);
  writer.selectDb(3);
  writer.resizeDb(entries.length, 1);
  for (const [i, [key, value]] of entries.entries()) writer.key(key, value, i === 1 ? 1_700_000_000_123 : undefined, i);
  const length = writer.end();
  const file = Buffer.concat(chunks);
  expect(length).toBe(file.length);
  return file;
}

const header = (version: string) => Buffer.from(`REDIS${version}`);
const EOF = Buffer.from([255]);

/** A file of version 11 with this inside, checksum and all. */
function wrap(...parts: (Buffer | number[])[]): Buffer {
  const bytes = Buffer.concat([header("0011"), ...parts.map((part) => Buffer.from(part)), EOF]);
  return Buffer.concat([bytes, crc64(bytes)]);
}

describe("a file", () => {
  const entries = values();
  const file = fileOf(entries);
  const lines = logOf(file);

  test("is told in full and in order", () => {
    expect(lines.slice(0, 5)).toEqual(["version 10", "aux redis-ver=7.0.15", "function code", "db 3", "resize 8 1"]);
    expect(lines.slice(5).map((line) => line.split(" ")[1])).toEqual(entries.map(([key]) => key));
    expect(lines[6]).toMatch(/^key number 1700000000123\/1\/ /);
    for (const [i, [key, value]] of entries.entries()) {
      // Tables have no order of their own.
      if (key === "set" || key === "hash") continue;
      const dump = dumpValue(value, false).toString("hex").slice(0, -20);
      expect(lines[5 + i]!.endsWith(` ${dump}`)).toBe(true);
    }
  });

  test.each([1, 2, 3, 7, 100, 1021, 8192])("is read the same in pieces of %d bytes", (piece) => {
    const sorted = (all: string[]) => all.map((line) => line.slice(0, 200));
    expect(sorted(logOf(file, piece))).toEqual(sorted(lines));
  });

  test("that ends early is noticed wherever it ends", () => {
    for (let length = 1; length < file.length; length += 97) {
      const error = failure(file.subarray(0, length));
      expect(["truncated", "corrupt"]).toContain(error.kind);
      expect(error.offset).toBe(length);
    }
  });

  test("that was changed is noticed by its checksum", () => {
    const changed = Buffer.from(file);
    changed[file.length - 3]! ^= 1;
    expect(failure(changed)).toMatchObject({ kind: "checksum", offset: file.length - 8 });
  });

  test("without a checksum is read", () => {
    const reader = read(fileOf(entries, { checksum: false }));
    expect(reader.checksumVerified).toBe(false);
    expect(read(file).checksumVerified).toBe(true);
  });

  test("may have something behind it", () => {
    const reader = new RdbReader(new Log(), DEFAULT_LIMITS);
    expect(reader.feed(Buffer.concat([file, Buffer.from("be")]))).toBe(true);
    reader.feed(Buffer.from("hind"));
    expect(reader.rest().toString()).toBe("behind");
    expect(reader.offset).toBe(file.length);
  });

  test("comes in chunks, however large a value is", () => {
    const sizes: number[] = [];
    const writer = new RdbWriter({
      sink: (chunk) => sizes.push(chunk.length),
      compress: false,
      checksum: true,
    });
    writer.begin([]);
    writer.key("k", "x".repeat(3_000_000), undefined, 0);
    writer.end();
    expect(Math.max(...sizes)).toBeLessThanOrEqual(256 * 1024);
    expect(sizes.length).toBeGreaterThan(10);
  });
});

describe("the head of a file", () => {
  test.each(["0001", "0004"])("version %s has no checksum", (version) => {
    expect(logOf(Buffer.concat([header(version), EOF]))).toEqual([`version ${Number(version)}`]);
  });

  test.each(["0009", "0010", "0011", "0012"])("version %s has one", (version) => {
    expect(logOf(Buffer.concat([header(version), EOF, Buffer.alloc(8)]))).toEqual([`version ${Number(version)}`]);
  });

  test.each([
    ["REDIS0000", "unsupported"],
    ["REDIS0013", "unsupported"],
    ["VALKEY080", "unsupported"],
    ["REDIS00x1", "corrupt"],
    ["NOT AN RDB", "corrupt"],
    ["REDIS", "corrupt"],
  ])("%s is refused", (magic, kind) => {
    expect(failure(Buffer.from(`${magic}${magic.length === 9 ? "\xff" : ""}`, "latin1")).kind).toBe(kind);
  });
});

describe("parts of files", () => {
  test("seconds, frequencies, slots, sets as listpacks and streams of Redis 7.2", () => {
    const listpack = [15, 15, 0, 0, 0, 3, 0, 0x81, 0x61, 2, 1, 1, 0x81, 0x62, 2, 0xff];
    const streamLengths = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const group = [1, 1, 0x67, 0, 0, 0, 0, 1, 1, 0x63, ...Array(8).fill(7), ...Array(8).fill(8), 0];
    const log = logOf(
      wrap(
        [244, 1, 2, 3],
        [253, 10, 0, 0, 0, 249, 77, 0, 1, 0x6b, 1, 0x76],
        [20, 1, 0x73, ...listpack],
        [21, 1, 0x74, ...streamLengths.slice(0, 9), ...group],
      ),
    );
    expect(log[1]).toMatch(/^key k 10000\/\/77 000176/);
    expect(log[2]).toMatch(/^key s /);
    expect(log[3]).toMatch(/^key t /);
  });

  test("a listpack of integers becomes an intset again", () => {
    let encoding = "";
    const handler: RdbHandler = {
      key: (_key, value) => {
        encoding = (value as SetValue).encoding;
      },
    };
    read(wrap([20, 1, 0x73, 11, 11, 0, 0, 0, 2, 0, 5, 1, 6, 1, 0xff]), 1, handler);
    expect(encoding).toBe("intset");
  });

  test("empty collections are left out", () => {
    expect(logOf(wrap([4, 1, 0x68, 0], [0, 1, 0x6b, 1, 0x76]))).toEqual([
      "version 11",
      "empty h",
      expect.stringMatching(/^key k/),
    ]);
  });

  test("modules are named, and passed over where that is asked for", () => {
    // "testmodul" in six bits a character, version 1; an unsigned 5 and a string.
    const name = [..."testmodul"].reduce(
      (id, char) =>
        (id << 6n) | BigInt("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".indexOf(char)),
      0n,
    );
    const id = Buffer.alloc(9, 0x81);
    id.writeBigUInt64BE((name << 10n) | 1n, 1);
    const value = Buffer.concat([Buffer.from([7, 1, 0x6b]), id, Buffer.from([2, 5, 5, 2, 0x61, 0x62, 0])]);
    const aux = Buffer.concat([Buffer.from([247]), id, Buffer.from([2, 1, 2, 5, 0])]);
    for (const part of [value, aux]) {
      const error = failure(wrap(part));
      expect(error.kind).toBe("unsupported");
      expect(error.message).toContain("testmodul");
      const seen: string[] = [];
      read(wrap(part), 1, { key() {}, module: (module) => seen.push(module) });
      expect(seen).toEqual(["testmodul"]);
    }
  });

  test.each([
    [[24, 1, 0x6b], "hash with field times (Redis 7.4)"],
    [[25, 1, 0x6b], "Redis 7.4"],
    [[8, 1, 0x6b], "type 8 (unknown)"],
    [[6, 1, 0x6b], "type 6"],
    [[246, 1, 0x6b], "pre-release"],
    [[243], "opcode 243"],
  ])("%j is refused by name, at its offset", (part, text) => {
    const error = failure(wrap(part));
    expect(error).toMatchObject({ kind: "unsupported", offset: 9 });
    expect(error.message).toContain(text);
  });

  test("a string past every bound is refused before memory is taken", () => {
    const error = failure(wrap([0, 1, 0x6b, 0x81, 0, 0, 1, 0, 0, 0, 0, 0]));
    expect(error).toMatchObject({ kind: "corrupt", offset: 12 });
    const compressed = failure(wrap([0, 1, 0x6b, 0xc3, 5, 0x80, 0x10, 0, 0, 0, 1, 2, 3, 4, 5]));
    expect(compressed).toMatchObject({ kind: "corrupt", offset: 13 });
  });

  test("keys may be numbers and compressed", () => {
    const keys: string[] = [];
    const long = "key".repeat(50);
    const entries: [string, Value][] = [
      ["12345", "a"],
      [long, "b"],
    ];
    read(fileOf(entries), 5, { key: (key, value) => keys.push(`${key}=${textOf(value as string)}`) });
    expect(keys).toEqual(["12345=a", `${long}=b`]);
  });
});
