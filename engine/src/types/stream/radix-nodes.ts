/**
 * How many nodes Redis's radix tree would have for a stream's blocks: XINFO reports it, nothing here depends on it.
 *
 * The tree's keys are the blocks' first ids, 16 bytes each. A run of bytes without a fork is one node, a fork is one, the
 * end of each key is one.
 */
import type { Id } from "./ids.ts";
import type { StreamValue } from "./index.ts";

export function radixNodes(stream: StreamValue): number {
  const ids = stream.blocks().map((block) => block.first);
  return nodesBelow(ids, 0);
}

/** Nodes for ids which are sorted and agree in their first `depth` bytes. The tree of none is its root alone. */
function nodesBelow(ids: readonly Id[], depth: number): number {
  const first = ids[0];
  const last = ids.at(-1);
  if (first === undefined || last === undefined) return 1;
  if (ids.length === 1) return depth < first.length ? 2 : 1;
  let fork = depth;
  while (first.charCodeAt(fork) === last.charCodeAt(fork)) fork++;
  let nodes = fork > depth ? 2 : 1;
  for (const branch of branchesAt(ids, fork)) nodes += nodesBelow(branch, fork + 1);
  return nodes;
}

/** The ids with the same byte at a place, in groups. */
function branchesAt(ids: readonly Id[], place: number): Iterable<Id[]> {
  const branches = new Map<number, Id[]>();
  for (const id of ids) {
    const byte = id.charCodeAt(place);
    const branch = branches.get(byte);
    if (branch === undefined) branches.set(byte, [id]);
    else branch.push(id);
  }
  return branches.values();
}
