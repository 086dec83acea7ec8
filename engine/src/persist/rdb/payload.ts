/** What DUMP returns and RESTORE takes: a type, a value, the version, and a checksum over all of it. */
import { Buffer } from "../../platform/bytes.ts";
import type { Limits } from "../../types/collection.ts";
import type { Value } from "../../types/value.ts";
import { crc64 } from "./crc64.ts";
import { Cursor, UNDERFLOW } from "./cursor.ts";
import { EMPTY } from "./empty.ts";
import { RdbError } from "./errors.ts";
import { Output } from "./output.ts";
import { RDB_VERSION } from "./types.ts";
import { ValueReader } from "./value-reader.ts";
import { typeForFile, writeValue } from "./value-writer.ts";

const FOOTER = 10;
/** A reader for payloads, which come whole: it never has to wait. */
const reader = new ValueReader();

export function dumpValue(value: Value, compress: boolean): Buffer {
  const chunks: Buffer[] = [];
  const output = new Output((chunk) => void chunks.push(chunk), { compress, checksum: true, chunkBytes: 4096 });
  output.byte(typeForFile(value));
  writeValue(value, output);
  output.byte(RDB_VERSION & 0xff);
  output.byte(RDB_VERSION >> 8);
  output.checksum();
  output.flush();
  const [only] = chunks;
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks);
}

/** How long a value is in a snapshot, without its type: what DEBUG OBJECT calls serializedlength. */
export function serializedLength(value: Value, compress: boolean): number {
  const output = new Output(() => {}, { compress, checksum: false });
  writeValue(value, output);
  return output.length;
}

/** Whether a payload is of a version that can be read, and is what was written. */
export function isIntact(payload: Buffer, verifies = true): boolean {
  const { length } = payload;
  if (length < FOOTER || payload.readUInt16LE(length - FOOTER) > RDB_VERSION) return false;
  return !verifies || crc64(payload, 0, length - 8).compare(payload, length - 8) === 0;
}

/** The value in a payload whose checksum is right. Throws RdbError. What is left behind the value is ignored, as by Redis. */
export function restoreValue(payload: Buffer, limits: Limits): Value {
  const cursor = new Cursor();
  cursor.bytes = payload;
  cursor.end = payload.length - FOOTER;
  reader.reset();
  try {
    const value = reader.read(cursor.byte(), cursor, limits);
    if (value === EMPTY) throw cursor.corrupt("a collection without elements");
    return value;
  } catch (error) {
    if (error === UNDERFLOW) throw new RdbError("truncated", "the payload ends too early", cursor.end);
    throw error;
  } finally {
    reader.reset();
  }
}
