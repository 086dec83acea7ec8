/** Lists, written node by node, as Redis would have cut them (types/list/nodes.ts). */
import type { ListValue } from "../../types/list/index.ts";
import { EMPTY_LISTPACK, wordSize } from "../../types/listpack-size.ts";
import type { ListpackWriter } from "./listpack-writer.ts";
import { LONG_STRING, type Output } from "./output.ts";
import { NODE_PACKED } from "./types.ts";

/** Writes a list's body. */
export function writeList(list: ListValue, listpack: ListpackWriter, output: Output): void {
  const pieces = writeNodes(list, listpack, output);
  while (!pieces.next().done);
}

/** The same in pieces; the caller that pauses at a `yield` keeps list and listpack as they are. */
export function* writeNodes(list: ListValue, listpack: ListpackWriter, output: Output): Generator<void, void> {
  const nodes = list.nodes();
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

/** The bytes of all nodes together. */
export function bytesOfNodes(list: ListValue): number {
  let bytes = list.nodes().length * EMPTY_LISTPACK;
  for (const word of list) bytes += wordSize(word);
  return bytes;
}
