/**
 * Lists, written as nodes that are cut as a sequence of RPUSHes would have: that is how most lists came about, and any cut is
 * as good to load. How many nodes there are must be written first; a list of one node shows that by fitting, others are
 * walked twice.
 */
import type { ListValue } from "../../types/list/index.ts";
import { wordSize } from "../../types/stream/listpack-size.ts";
import type { ListpackWriter } from "./listpack-writer.ts";
import { LONG_STRING, type Output } from "./output.ts";
import { NODE_PACKED } from "./types.ts";

/** The largest nodes in bytes for list-max-listpack-size -1 to -5. */
const NODE_BYTES = [4096, 8192, 16384, 32768, 65536];
/** No node is larger than this when words are counted instead, unless it holds one word. */
const COUNTED_NODE_BYTES = 8192;
/** What Redis reckons an entry to take beside its word. */
const ESTIMATED_OVERHEAD = 8;
const EMPTY_NODE = 7;
/** Nodes that are cut between two pauses. */
const CUT_AT_ONCE = 16;

/** Whether Redis would push a word into a node that has these many words and bytes already. */
function hasRoom(count: number, bytes: number, length: number, fill: number): boolean {
  const estimate = bytes + length + ESTIMATED_OVERHEAD;
  if (fill < 0) return estimate <= NODE_BYTES[Math.min(-fill, NODE_BYTES.length) - 1]!;
  return estimate <= COUNTED_NODE_BYTES && count < fill;
}

/** Writes a list's body. */
export function writeList(list: ListValue, fill: number, listpack: ListpackWriter, output: Output): void {
  listpack.begin();
  let fits = true;
  for (const word of list) {
    if (listpack.count > 0 && !hasRoom(listpack.count, listpack.length, word.length, fill)) {
      fits = false;
      break;
    }
    listpack.word(word);
  }
  if (fits) {
    output.count(1);
    output.count(NODE_PACKED);
    const length = listpack.finish();
    output.blob(listpack.bytes, 0, length);
    return;
  }
  const pieces = writeNodes(list, fill, listpack, output);
  while (!pieces.next().done);
}

/** The same for a long list; the caller that pauses at a `yield` keeps list and listpack as they are. */
export function* writeNodes(
  list: ListValue,
  fill: number,
  listpack: ListpackWriter,
  output: Output,
): Generator<void, void> {
  const nodes: number[] = [];
  for (const { count } of cutNodes(list, fill)) {
    nodes.push(count);
    if (nodes.length % CUT_AT_ONCE === 0) yield;
  }
  output.count(nodes.length);
  let node = 0;
  listpack.begin();
  for (const word of list) {
    listpack.word(word);
    if (listpack.count < nodes[node]!) continue;
    output.count(NODE_PACKED);
    const length = listpack.finish();
    if (length > LONG_STRING) yield* output.longBlob(listpack.bytes, 0, length);
    else output.blob(listpack.bytes, 0, length);
    listpack.begin();
    node++;
    yield;
  }
}

/** How many words and bytes each node has. */
export function* cutNodes(list: ListValue, fill: number): Generator<{ count: number; bytes: number }> {
  let count = 0;
  let bytes = EMPTY_NODE;
  for (const word of list) {
    if (count > 0 && !hasRoom(count, bytes, word.length, fill)) {
      yield { count, bytes };
      count = 0;
      bytes = EMPTY_NODE;
    }
    count++;
    bytes += wordSize(word);
  }
  yield { count, bytes };
}
