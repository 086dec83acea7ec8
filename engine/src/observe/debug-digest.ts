/**
 * DEBUG DIGEST: one number for everything that is stored, the same as a real Redis computes for the same data. It does not
 * depend on the order of keys, members and fields, only of what has an order.
 *
 * Two steps make it: `xor` adds a word's SHA1 to a digest, in any order; `mix` does that and hashes the result, so that the
 * order counts.
 */

import type { Db } from "../core/db.ts";
import { formatG } from "../lib/numbers.ts";
import { Buffer } from "../platform/bytes.ts";
import { sha1 } from "../platform/digest.ts";
import { textOf } from "../types/bytes.ts";
import type { TypeName } from "../types/collection.ts";
import { isCollection } from "../types/kind.ts";
import type { StreamValue } from "../types/stream/index.ts";
import type { Value } from "../types/value.ts";

const LENGTH = 20;

/** Redis's number for a type. */
const TYPE_NUMBER: Readonly<Record<TypeName, number>> = { string: 0, list: 1, set: 2, zset: 3, hash: 4, stream: 6 };

const hashOf = (word: string | Buffer): Buffer => sha1(typeof word === "string" ? Buffer.from(word, "latin1") : word);

class Digest {
  bytes: Buffer = Buffer.alloc(LENGTH);

  xor(word: string | Buffer): this {
    const hash = hashOf(word);
    for (let i = 0; i < LENGTH; i++) this.bytes[i]! ^= hash[i]!;
    return this;
  }

  mix(word: string | Buffer): this {
    this.bytes = sha1(this.xor(word).bytes);
    return this;
  }
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function mixStream(digest: Digest, stream: StreamValue): void {
  const cursor = stream.cursor();
  while (cursor.next()) {
    digest.mix(cursor.idText.replace("-", "."));
    for (const word of cursor.words()) digest.mix(word);
  }
}

function mixValue(digest: Digest, value: Value, hasDeadline: boolean): void {
  const type = isCollection(value) ? value.type : "string";
  digest.mix(number(TYPE_NUMBER[type]));
  if (!isCollection(value)) digest.mix(textOf(value));
  else if (value.type === "list") for (const word of value.range(0, value.size - 1)) digest.mix(word);
  else if (value.type === "set") value.forEach((word) => void digest.xor(word));
  else if (value.type === "hash") {
    value.forEach((field, word) => void digest.xor(new Digest().mix(field).mix(word).bytes));
  } else if (value.type === "zset") {
    value.visit(0, value.size, false, (member, score) => {
      digest.xor(new Digest().mix(member).mix(formatG(score, 17)).bytes);
    });
  } else mixStream(digest, value);
  if (hasDeadline) digest.xor("!!expire!!");
}

/** The digest of all databases, as 40 hexadecimal digits. */
export function digestOfAll(databases: readonly Db[]): string {
  const total = new Digest();
  for (const db of databases) {
    if (db.size === 0) continue;
    total.mix(number(db.index));
    for (const [key, value] of db.keyspace.entries()) {
      const digest = new Digest().mix(key);
      mixValue(digest, value, db.expires.has(key));
      total.xor(digest.bytes);
    }
  }
  return total.bytes.toString("hex");
}

/** The digest of one value; zeros for a key that does not exist. */
export function digestOfValue(db: Db, key: string): string {
  const digest = new Digest();
  const value = db.peek(key);
  if (value !== undefined) mixValue(digest, value, db.deadline(key) !== undefined);
  return digest.bytes.toString("hex");
}
