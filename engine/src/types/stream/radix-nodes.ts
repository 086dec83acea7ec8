/**
 * How many nodes Redis's radix tree would have for a stream's blocks: XINFO reports it, nothing here depends on it.
 *
 * The tree's keys are the blocks' first ids, 16 bytes each. A run of bytes without a fork is one node, a fork is one, the
 * end of each key is one.
 */
import type { Id } from "./ids.ts";
import type { StreamValue } from "./index.ts";

export function radixNodes(stream: StreamValue): number {
  if (stream.blockCount === 0) return 1;
  const ids: Id[] = [];
  for (let i = 0; i < stream.blockCount; i++) ids.push(stream.block(i)!.first);
  return nodesBelow(ids, 0, ids.length, 0);
}

/** Nodes for the ids between two places, which are sorted and agree in their first `depth` bytes. */
function nodesBelow(ids: readonly Id[], from: number, to: number, depth: number): number {
  const first = ids[from]!;
  const last = ids[to - 1]!;
  if (to - from === 1) return depth < first.length ? 2 : 1;
  let fork = depth;
  while (first.charCodeAt(fork) === last.charCodeAt(fork)) fork++;
  let nodes = fork > depth ? 2 : 1;
  for (let start = from; start < to; ) {
    const byte = ids[start]!.charCodeAt(fork);
    let end = start + 1;
    while (end < to && ids[end]!.charCodeAt(fork) === byte) end++;
    nodes += nodesBelow(ids, start, end, fork + 1);
    start = end;
  }
  return nodes;
}
