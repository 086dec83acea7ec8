/** Streams, written. See stream-reader.ts for what is in them. */
import { narrow } from "../../lib/numbers.ts";
import type { Group, Id } from "../../types/stream/index.ts";
import { type Block, type Half, MIN_ID, msOf, type StreamValue, seqOf } from "../../types/stream/index.ts";
import type { ListpackWriter } from "./listpack-writer.ts";
import { LONG_STRING, type Output } from "./output.ts";

const DELETED = 1;
const SAME_FIELDS = 2;

/** Deliveries between two pauses. */
const PIECE = 256;

export function writeStream(stream: StreamValue, listpack: ListpackWriter, output: Output): void {
  const pieces = streamPieces(stream, listpack, output);
  while (!pieces.next().done);
}

/** The same in pieces; the caller that pauses at a `yield` keeps stream and listpack as they are. */
export function* streamPieces(stream: StreamValue, listpack: ListpackWriter, output: Output): Generator<void, void> {
  output.count(stream.blockCount);
  for (const block of stream.blocks()) {
    output.count(block.first.length);
    output.text(block.first);
    writeNode(block, listpack);
    const length = listpack.finish();
    if (length > LONG_STRING) yield* output.longBlob(listpack.bytes, 0, length);
    else output.blob(listpack.bytes, 0, length);
    yield;
  }
  output.count(stream.size);
  writeId(stream.lastId, output);
  writeId(stream.firstId, output);
  writeId(stream.maxDeletedId, output);
  output.length64(stream.entriesAdded);
  output.count(stream.groups.size);
  for (const group of stream.sortedGroups()) yield* writeGroup(group, output);
}

function writeId(id: Id, output: Output): void {
  output.length64(msOf(id));
  output.length64(seqOf(id));
}

/** The difference of two unsigned 64-bit numbers as a signed one. */
function difference(to: Half, from: Half): number | bigint {
  if (typeof to === "number" && typeof from === "number") return to - from;
  return narrow(BigInt.asIntN(64, BigInt(to) - BigInt(from)));
}

function writeNode(block: Block, listpack: ListpackWriter): void {
  const { fields } = block;
  const ms = msOf(block.first);
  const seq = seqOf(block.first);
  listpack.begin();
  listpack.integer(block.live);
  listpack.integer(block.deleted);
  listpack.integer(fields.length);
  for (const field of fields) listpack.word(field);
  listpack.integer(0);
  for (const { id, words, deleted } of block.all()) {
    const same = hasFields(words, fields);
    const count = words.length / 2;
    listpack.integer((deleted ? DELETED : 0) | (same ? SAME_FIELDS : 0));
    listpack.integer(difference(msOf(id), ms));
    listpack.integer(difference(seqOf(id), seq));
    if (!same) listpack.integer(count);
    for (const [i, word] of words.entries()) if (!same || i % 2 === 1) listpack.word(word);
    listpack.integer(same ? count + 3 : 2 * count + 4);
  }
}

function hasFields(words: readonly string[], fields: readonly string[]): boolean {
  if (words.length !== 2 * fields.length) return false;
  for (let i = 0; i < fields.length; i++) if (words[2 * i] !== fields[i]) return false;
  return true;
}

function* writeGroup(group: Group, output: Output): Generator<void> {
  output.word(group.name);
  writeId(group.lastId, output);
  output.length64(group.entriesRead);
  output.count(group.pending.size);
  let written = 0;
  for (const { id, timeMs, count } of group.pending.from(MIN_ID)) {
    output.text(id);
    output.time(timeMs);
    output.length64(count);
    if (++written % PIECE === 0) yield;
  }
  output.count(group.consumers.size);
  for (const { name, seenMs, pending } of group.sortedConsumers()) {
    output.word(name);
    output.time(seenMs);
    output.count(pending.size);
    for (const { id } of pending.from(MIN_ID)) {
      output.text(id);
      if (++written % PIECE === 0) yield;
    }
  }
}
