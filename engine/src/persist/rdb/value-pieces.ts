/**
 * Large values, written a few kilobytes at a time, so that a snapshot can let commands run in between. The bytes are those
 * of value-writer.ts. What is written must not change meanwhile: it is a frozen copy (`freezeValue`), which costs next to
 * nothing to make.
 */

import { Buffer } from "../../platform/bytes.ts";
import { Bytes, type StringValue } from "../../types/bytes.ts";
import type { HashValue } from "../../types/hash/index.ts";
import { isCollection } from "../../types/kind.ts";
import type { SetValue } from "../../types/set/index.ts";
import type { Value } from "../../types/value.ts";
import type { ZsetValue } from "../../types/zset/index.ts";
import { writeNodes } from "./list-writer.ts";
import { ListpackWriter } from "./listpack-writer.ts";
import { LONG_STRING, type Output } from "./output.ts";
import { streamPieces } from "./stream-writer.ts";

/** Values with more elements than this, or that take more memory, are written in pieces. */
export const LARGE = 1024;
const LARGE_BYTES = 128 * 1024;
/** About the bytes of a piece. */
const PIECE_BYTES = 8 * 1024;
/** Elements that are looked up together: few, since each may be long. */
const STEP = 32;

/** Whether a value is large, and of a form that can be written in pieces. */
export function isLarge(value: Value, most: number): boolean {
  if (typeof value === "string") return value.length > LONG_STRING;
  if (!isCollection(value)) return value instanceof Bytes && value.length > LONG_STRING;
  if (value.size <= most && value.sizeBytes <= LARGE_BYTES) return false;
  return value.encoding !== "listpack" && value.encoding !== "intset";
}

/** A value that stays as this one is now. */
export function freezeValue(value: Value): Value {
  if (isCollection(value)) return value.freeze();
  return value instanceof Bytes ? new Bytes(Buffer.from(value.raw.subarray(0, value.length))) : value;
}

/** The frozen copy of this value is not needed any more. */
export function thawValue(value: Value): void {
  if (isCollection(value)) value.thaw();
}

/** Writes the body of a large value. Nothing else may be written before the end. */
export function* writePieces(value: Value, output: Output): Generator<void> {
  if (!isCollection(value)) {
    yield* stringPieces(value, output);
    return;
  }
  switch (value.type) {
    case "list":
      yield* writeNodes(value, new ListpackWriter(), output);
      break;
    case "set":
      yield* setPieces(value, output);
      break;
    case "hash":
      yield* hashPieces(value, output);
      break;
    case "zset":
      yield* zsetPieces(value, output);
      break;
    default:
      yield* streamPieces(value, new ListpackWriter(), output);
  }
}

function* stringPieces(value: StringValue, output: Output): Generator<void> {
  if (typeof value === "string") yield* output.longWord(value);
  else if (value instanceof Bytes) yield* output.longBlob(value.raw, 0, value.length);
  else output.integer(value);
}

/** Writes a word, in pieces where it is long. */
function* wordPieces(word: string, output: Output): Generator<void> {
  if (word.length > LONG_STRING) yield* output.longWord(word);
  else output.word(word);
}

function* setPieces(set: SetValue, output: Output): Generator<void> {
  output.count(set.size);
  let written = output.length;
  for (let cursor = 0, more = true; more; more = cursor !== 0) {
    const words: string[] = [];
    cursor = set.scan(cursor, STEP, (word) => {
      words.push(word);
    });
    for (const word of words) yield* wordPieces(word, output);
    if (output.length - written < PIECE_BYTES) continue;
    written = output.length;
    yield;
  }
}

function* hashPieces(hash: HashValue, output: Output): Generator<void> {
  output.count(hash.size);
  let written = output.length;
  for (let cursor = 0, more = true; more; more = cursor !== 0) {
    const words: string[] = [];
    cursor = hash.scan(cursor, STEP, (field, value) => {
      words.push(field, value);
    });
    for (const word of words) yield* wordPieces(word, output);
    if (output.length - written < PIECE_BYTES) continue;
    written = output.length;
    yield;
  }
}

function* zsetPieces(zset: ZsetValue, output: Output): Generator<void> {
  output.count(zset.size);
  let written = output.length;
  for (let to = zset.size; to > 0; to -= STEP) {
    const entries: { readonly member: string; readonly score: number }[] = [];
    zset.visit(Math.max(0, to - STEP), to, true, (member, score) => {
      entries.push({ member, score });
    });
    for (const { member, score } of entries) {
      yield* wordPieces(member, output);
      output.double(score);
    }
    if (output.length - written < PIECE_BYTES) continue;
    written = output.length;
    yield;
  }
}
