/**
 * Writes the value of a key as Redis 7.0 does: of the several forms that each type has, the one that goes with the encoding
 * that OBJECT ENCODING reports. Where the order of elements is determined, the bytes are Redis's own.
 */

import { formatDouble } from "../../lib/numbers.ts";
import { Buffer } from "../../platform/bytes.ts";
import { Bytes, type StringValue } from "../../types/bytes.ts";
import type { HashValue } from "../../types/hash/index.ts";
import { isCollection } from "../../types/kind.ts";
import type { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import type { ZsetValue } from "../../types/zset/index.ts";
import { INTSET_HEADER, swapped } from "./intset.ts";
import { writeList } from "./list-writer.ts";
import { ListpackWriter } from "./listpack-writer.ts";
import type { Output } from "./output.ts";
import { writeStream } from "./stream-writer.ts";
import { RDB } from "./types.ts";

/** The one listpack that is being written. */
const listpack = new ListpackWriter();

/** The type under which a value is written. */
export function typeForFile(value: Value): number {
  if (!isCollection(value)) return RDB.STRING;
  switch (value.type) {
    case "list":
      return RDB.LIST_QUICKLIST_2;
    case "set":
      return value.encoding === "intset" ? RDB.SET_INTSET : RDB.SET;
    case "zset":
      return value.encoding === "listpack" ? RDB.ZSET_LISTPACK : RDB.ZSET_2;
    case "hash":
      return value.encoding === "listpack" ? RDB.HASH_LISTPACK : RDB.HASH;
    default:
      return RDB.STREAM_LISTPACKS_2;
  }
}

/** Writes a value's body; its type and key stand before it. */
export function writeValue(value: Value, output: Output): void {
  if (!isCollection(value)) {
    writeString(value, output);
    return;
  }
  switch (value.type) {
    case "list":
      writeList(value, listpack, output);
      break;
    case "set":
      writeSet(value, output);
      break;
    case "zset":
      writeZset(value, output);
      break;
    case "hash":
      writeHash(value, output);
      break;
    default:
      writeStream(value, listpack, output);
  }
}

function writeString(value: StringValue, output: Output): void {
  if (typeof value === "string") output.word(value);
  else if (!(value instanceof Bytes)) output.integer(value);
  else if (value.length < 32) output.word(value.text());
  else output.blob(value.raw, 0, value.length);
}

function writeListpack(output: Output): void {
  const length = listpack.finish();
  output.blob(listpack.bytes, 0, length);
}

function writeHash(hash: HashValue, output: Output): void {
  const { packed } = hash;
  if (packed !== undefined) {
    listpack.begin();
    listpack.packedWords(packed);
    writeListpack(output);
    return;
  }
  output.count(hash.size);
  hash.forEach((field, value) => {
    output.word(field);
    output.word(value);
  });
}

function writeSet(set: SetValue, output: Output): void {
  const { ints } = set;
  if (ints === undefined) {
    output.count(set.size);
    set.forEach((word) => {
      output.word(word);
    });
    return;
  }
  const { text, width } = ints;
  const blob = Buffer.allocUnsafe(INTSET_HEADER + text.length);
  blob.latin1Write(text, INTSET_HEADER, text.length);
  swapped(blob, INTSET_HEADER, blob.length, width).copy(blob, INTSET_HEADER);
  blob.writeUInt32LE(width, 0);
  blob.writeUInt32LE(set.size, 4);
  output.blob(blob, 0, blob.length);
}

/** Whole numbers up to here are integers in a listpack; beyond they are text. */
const LARGEST_WHOLE = 2 ** 62;

function writeZset(zset: ZsetValue, output: Output): void {
  if (zset.encoding !== "listpack") {
    output.count(zset.size);
    zset.visit(0, zset.size, true, (member, score) => {
      output.word(member);
      output.double(score);
    });
    return;
  }
  listpack.begin();
  zset.visit(0, zset.size, false, (member, score) => {
    listpack.word(member);
    if (!Number.isInteger(score) || Math.abs(score) > LARGEST_WHOLE) listpack.word(formatDouble(score));
    else listpack.integer(Number.isSafeInteger(score) ? score : BigInt(score));
  });
  writeListpack(output);
}
