/**
 * Large collections, written a few hundred elements at a time, so that a snapshot can let commands run in between. The bytes
 * are those of value-writer.ts. Lists and streams are written in one piece: a long list takes about a third of what
 * a sorted set of that length does.
 */
import { isCollection } from "../../db.ts";
import type { HashValue } from "../../types/hash/index.ts";
import type { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import type { ZsetValue } from "../../types/zset/index.ts";
import type { Output } from "./output.ts";

/** Collections with more elements than this are worth it. */
export const LARGE = 4096;
const PIECE = 256;

type Divisible = HashValue | SetValue | ZsetValue;

/** Whether a value has more elements than `most` and a form that can be written in pieces. */
export function isDivisible(value: Value, most: number): value is Divisible {
  if (!isCollection(value) || value.size <= most) return false;
  return value.encoding === "hashtable" || value.encoding === "skiplist";
}

/** Writes a value's body. The value must not change between two pieces, and nothing else may be written. */
export function* writePieces(value: Divisible, output: Output): Generator<void> {
  output.count(value.size);
  if (value.type === "zset") {
    for (let to = value.size; to > 0; to -= PIECE) {
      value.visit(Math.max(0, to - PIECE), to, true, (member, score) => {
        output.word(member);
        output.double(score);
      });
      yield;
    }
    return;
  }
  let cursor = 0;
  do {
    if (value.type === "hash") {
      cursor = value.scan(cursor, PIECE, (field, word) => {
        output.word(field);
        output.word(word);
      });
    } else cursor = value.scan(cursor, PIECE, (word) => output.word(word));
    yield;
  } while (cursor !== 0);
}
