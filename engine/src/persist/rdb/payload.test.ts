import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../../types/collection.ts";
import { HashValue } from "../../types/hash/index.ts";
import { ListValue } from "../../types/list/index.ts";
import { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import { ZsetValue } from "../../types/zset/index.ts";
import { crc64 } from "./crc64.ts";
import { dumpValue, isIntact, restoreValue } from "./payload.ts";

const list = (...words: string[]) => {
  const made = new ListValue();
  made.pushAll(words, 0, false);
  return made;
};
const set = (...words: string[]) => {
  const made = new SetValue();
  for (const word of words) made.add(word, DEFAULT_LIMITS);
  return made;
};
const zset = (pairs: Record<string, number>, limits = DEFAULT_LIMITS) =>
  ZsetValue.from(Object.keys(pairs), Object.values(pairs), limits);
const hash = (pairs: Record<string, string>, limits = DEFAULT_LIMITS) => {
  const made = new HashValue();
  for (const [field, value] of Object.entries(pairs)) made.set(field, value, limits);
  return made;
};
const wide = { ...DEFAULT_LIMITS, zsetMaxListpackEntries: 0, hashMaxListpackEntries: 0 };

/** What Redis 7.0.15 answered to DUMP. */
const golden: [name: string, value: Value, hex: string][] = [
  ["12", 12, "00c00c 0a00 3c2af8515c04bcd5"],
  ["-300", -300, "00c1d4fe 0a00 c6c48623febede2e"],
  ["1000000", 1_000_000, "00c240420f00 0a00 4ff5eb5407088b03"],
  ["12345678901", 12345678901, "000b3132333435363738393031 0a00 304e52d727176510"],
  ["hello", "hello", "000568656c6c6f 0a00 6372df766534200a"],
  ["a hundred times a", "a".repeat(100), "00c3094064016161e05700016161 0a00 e8a3b507b06df271"],
  ["a list", list("a", "1", "bb"), "12010210100000000300816102010182626203ff 0a00 df0af310be9d9e9d"],
  ["an intset", set("1", "2", "70000"), "0b140400000003000000010000000200000070110100 0a00 85d5c1065b1dd055"],
  ["a set", set("x"), "02010178 0a00 ffe880ba760c2f09"],
  ["a zset", zset({ a: 1, b: 2.5 }), "1114140000000400816102010181620283322e3504ff 0a00 d44c6ea4f644d9d7"],
  [
    "a wide zset",
    zset({ a: 1, b: Number.POSITIVE_INFINITY }, wide),
    "05020162000000000000f07f0161000000000000f03f 0a00 8f165b1b452a686e",
  ],
  ["a hash", hash({ f: "v", n: "1" }), "1012120000000400816602817602816e020101ff 0a00 fce408f17922e016"],
  ["a wide hash", hash({ f: "v" }, wide), "040101660176 0a00 adf24356b1860efc"],
];

describe("DUMP payloads", () => {
  test.each(golden)("of %s are the real server's bytes", (_name, value, hex) => {
    expect(dumpValue(value, true).toString("hex")).toBe(hex.replaceAll(" ", ""));
  });

  test.each(golden)("of %s are read back", (_name, value, hex) => {
    const payload = Buffer.from(hex.replaceAll(" ", ""), "hex");
    expect(isIntact(payload)).toBe(true);
    const limits = payload[0] === 4 || payload[0] === 5 ? wide : DEFAULT_LIMITS;
    const read = restoreValue(payload, limits);
    if (typeof value !== "object") expect(read).toBe(value);
    expect(dumpValue(read, true).equals(payload)).toBe(true);
  });

  test("the checksum is the one of the format's description", () => {
    expect(crc64(Buffer.from("123456789")).toString("hex")).toBe(
      Buffer.from("e9c6d914c4b8d9ca", "hex").reverse().toString("hex"),
    );
  });
});
