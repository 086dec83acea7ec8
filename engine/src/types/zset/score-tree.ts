/**
 * The order of a large sorted set: a counted B+ tree over (score, member).
 *
 * Redis uses a skip list for this, with a node for every member; as JavaScript objects with arrays of links such nodes would
 * take several times the memory of what they hold, and every step of a search would be a cache miss. Here a leaf holds up to
 * 64 members in two plain arrays (V8 keeps arrays of numbers unboxed), which takes 15 to 27 bytes a member, and a search is
 * a few binary searches. Inner nodes count what is below each child, so ranks cost what searches cost; a range by score or
 * by word becomes a range of ranks, and everything else is done on ranks.
 *
 * Invariants:
 * - entries are in order of score, then of the member's bytes, across and within leaves;
 * - in an inner node, `counts[i]` is the number of entries under child i, and (`lowScores[i]`, `lowMembers[i]`) is not above
 *   any entry of child i and above every entry of child i − 1. For i = 0 nothing is promised, nor is the bound itself an
 *   entry: it may have been removed since;
 * - no node but the root is empty. Small neighbours are merged after removals; a node may stay small beside full ones.
 *
 * **Frozen trees** (`freeze`) share their nodes with the tree that they were taken from. A node belongs to a tree if it is of
 * that tree's generation, and freezing begins a new generation; so all nodes are shared from then on, at no cost. A change
 * copies the shared nodes on its way down, and only those. Therefore code that changes a node first makes sure, from the root
 * down, that the node is of the current generation (`ownChild`); and new nodes get their parent's.
 *
 * Where a node overflows at its right end (scores that only grow, as times do), it is left full and a fresh one begun, so
 * that such sets do not end up with half-empty leaves.
 */
import type { Visit } from "./range.ts";

const MOST = 64;
const FEW = 16;
const MERGED_MOST = 48;
/** How full leaves and inner nodes are made when a tree is built from sorted entries. */
const BUILT = 56;

/** What a tree takes per entry, and per leaf of about 45 of them, without the members' own bytes. */
const ENTRY_BYTES = 26;

class Leaf {
  scores: number[];
  members: string[];
  readonly generation: number;

  constructor(scores: number[], members: string[], generation: number) {
    this.scores = scores;
    this.members = members;
    this.generation = generation;
  }
}

class Inner {
  children: TreeNode[];
  counts: number[];
  lowScores: number[];
  lowMembers: string[];
  readonly generation: number;

  constructor(children: TreeNode[], counts: number[], lowScores: number[], lowMembers: string[], generation: number) {
    this.children = children;
    this.counts = counts;
    this.lowScores = lowScores;
    this.lowMembers = lowMembers;
    this.generation = generation;
  }
}

type TreeNode = Leaf | Inner;

const widthOf = (node: TreeNode) => (node instanceof Leaf ? node.members.length : node.children.length);

function countOf(node: TreeNode): number {
  if (node instanceof Leaf) return node.members.length;
  let sum = 0;
  for (const count of node.counts) sum += count;
  return sum;
}

// Shifting by hand is quicker than splice at this size. One function for numbers and one for the rest, though they read the
// same: code that has seen both kinds of array makes V8 turn arrays of numbers into arrays of boxed numbers, three times the
// memory.

function insertNumber(array: number[], place: number, item: number): void {
  array.push(item);
  for (let i = array.length - 1; i > place; i--) array[i] = array[i - 1]!;
  array[place] = item;
}

function insertItem<T extends string | object>(array: T[], place: number, item: T): void {
  array.push(item);
  for (let i = array.length - 1; i > place; i--) array[i] = array[i - 1]!;
  array[place] = item;
}

function removeNumber(array: number[], place: number): void {
  for (let i = place + 1; i < array.length; i++) array[i - 1] = array[i]!;
  array.pop();
}

function removeItem(array: string[], place: number): void {
  for (let i = place + 1; i < array.length; i++) array[i - 1] = array[i]!;
  array.pop();
}

/** The place in a leaf of the first entry that is not below this one. */
function placeIn(leaf: Leaf, score: number, member: string): number {
  const { scores, members } = leaf;
  let low = 0;
  let high = scores.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const s = scores[middle]!;
    if (s < score || (s === score && members[middle]! < member)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The child in whose part this entry falls. */
function childFor(node: Inner, score: number, member: string): number {
  const { lowScores, lowMembers } = node;
  let low = 1;
  let high = lowScores.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const s = lowScores[middle]!;
    if (s < score || (s === score && lowMembers[middle]! <= member)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Tells for a bound whether an entry lies before it. */
type IsBefore = (score: number, member: string) => boolean;

export class ScoreTree {
  #root: TreeNode;
  #size: number;
  #generation = 0;

  constructor() {
    this.#root = new Leaf([], [], 0);
    this.#size = 0;
  }

  /** A tree of entries that are in order. */
  static fromSorted(members: readonly string[], scores: readonly number[]): ScoreTree {
    const tree = new ScoreTree();
    let nodes: TreeNode[] = [];
    let lowScores: number[] = [];
    let lowMembers: string[] = [];
    for (let i = 0; i < members.length; i += BUILT) {
      nodes.push(new Leaf(scores.slice(i, i + BUILT), members.slice(i, i + BUILT), 0));
      lowScores.push(scores[i]!);
      lowMembers.push(members[i]!);
    }
    while (nodes.length > 1) {
      const above: TreeNode[] = [];
      const aboveScores: number[] = [];
      const aboveMembers: string[] = [];
      for (let i = 0; i < nodes.length; i += BUILT) {
        const children = nodes.slice(i, i + BUILT);
        above.push(
          new Inner(children, children.map(countOf), lowScores.slice(i, i + BUILT), lowMembers.slice(i, i + BUILT), 0),
        );
        aboveScores.push(lowScores[i]!);
        aboveMembers.push(lowMembers[i]!);
      }
      nodes = above;
      lowScores = aboveScores;
      lowMembers = aboveMembers;
    }
    const [root] = nodes;
    if (root !== undefined) tree.#root = root;
    tree.#size = members.length;
    return tree;
  }

  get size(): number {
    return this.#size;
  }

  /** What the nodes take, about, without the members' own bytes. */
  get sizeBytes(): number {
    return 64 + this.#size * ENTRY_BYTES;
  }

  /** A tree that stays as this one is now, for reading. */
  freeze(): ScoreTree {
    const frozen = new ScoreTree();
    frozen.#root = this.#root;
    frozen.#size = this.#size;
    this.#generation++;
    return frozen;
  }

  /** The root, to be changed. */
  #ownRoot(): TreeNode {
    if (this.#root.generation !== this.#generation) this.#root = copyOf(this.#root, this.#generation);
    return this.#root;
  }

  // ---------------------------------------------------------------------------------------------- one entry

  /** Puts an entry that is not there yet. */
  insert(score: number, member: string): void {
    this.#size++;
    const left = this.#ownRoot();
    const right = this.#insertInto(left, score, member);
    if (right === null) return;
    const lows = lowOf(right);
    const counts = [countOf(left), countOf(right)];
    this.#root = new Inner([left, right], counts, [0, lows.score], ["", lows.member], this.#generation);
  }

  /** Returns the right half if the node had to be split. */
  #insertInto(node: TreeNode, score: number, member: string): TreeNode | null {
    if (node instanceof Leaf) {
      const place = placeIn(node, score, member);
      if (node.members.length < MOST) {
        insertNumber(node.scores, place, score);
        insertItem(node.members, place, member);
        return null;
      }
      return splitLeaf(node, place, score, member);
    }
    const at = childFor(node, score, member);
    const child = ownChild(node, at);
    node.counts[at]!++;
    const right = this.#insertInto(child, score, member);
    if (right === null) return null;
    const added = countOf(right);
    node.counts[at]! -= added;
    const lows = lowOf(right);
    insertItem(node.children, at + 1, right);
    insertNumber(node.counts, at + 1, added);
    insertNumber(node.lowScores, at + 1, lows.score);
    insertItem(node.lowMembers, at + 1, lows.member);
    return node.children.length <= MOST ? null : splitInner(node, at + 1);
  }

  /** Takes an entry out; false if it is not there. */
  delete(score: number, member: string): boolean {
    if (!this.#deleteFrom(this.#ownRoot(), score, member)) return false;
    this.#size--;
    this.#lowerRoot();
    return true;
  }

  #deleteFrom(node: TreeNode, score: number, member: string): boolean {
    if (node instanceof Leaf) {
      const place = placeIn(node, score, member);
      if (node.members[place] !== member) return false;
      removeNumber(node.scores, place);
      removeItem(node.members, place);
      return true;
    }
    const at = childFor(node, score, member);
    const child = ownChild(node, at);
    if (!this.#deleteFrom(child, score, member)) return false;
    node.counts[at]!--;
    if (widthOf(child) < FEW) mergeAround(node, at);
    return true;
  }

  /** Gives an entry another score. */
  move(member: string, from: number, to: number): void {
    if (this.#replaceInPlace(member, from, to)) return;
    this.delete(from, member);
    this.insert(to, member);
  }

  /** The common case of a move: the entry stays between its neighbours in the leaf. */
  #replaceInPlace(member: string, from: number, to: number): boolean {
    let node = this.#ownRoot();
    while (node instanceof Inner) node = ownChild(node, childFor(node, from, member));
    const { scores, members } = node;
    const place = placeIn(node, from, member);
    // At a leaf's edges the bounds above would have to be looked at; the long way does that.
    if (place === 0 || place >= members.length - 1 || members[place] !== member) return false;
    const before = scores[place - 1]!;
    const after = scores[place + 1]!;
    if (before > to || (before === to && members[place - 1]! > member)) return false;
    if (after < to || (after === to && members[place + 1]! < member)) return false;
    scores[place] = to;
    return true;
  }

  #lowerRoot(): void {
    while (this.#root instanceof Inner && this.#root.children.length <= 1) {
      this.#root = this.#root.children[0] ?? new Leaf([], [], this.#generation);
    }
  }

  // ---------------------------------------------------------------------------------------------- ranks

  /** How many entries lie before this one. */
  rank(score: number, member: string): number {
    let before = 0;
    let node = this.#root;
    while (node instanceof Inner) {
      const at = childFor(node, score, member);
      for (let i = 0; i < at; i++) before += node.counts[i]!;
      node = node.children[at]!;
    }
    return before + placeIn(node, score, member);
  }

  /** How many entries have a score below the bound, or up to and with it. */
  countBelow(bound: number, inclusive: boolean): number {
    return this.#countBefore(inclusive ? (score) => score <= bound : (score) => score < bound);
  }

  /** How many members come before the word, or up to and with it; only where all scores are equal. */
  countBeforeWord(word: string, inclusive: boolean): number {
    return this.#countBefore(inclusive ? (_, member) => member <= word : (_, member) => member < word);
  }

  #countBefore(isBefore: IsBefore): number {
    let before = 0;
    let node = this.#root;
    while (node instanceof Inner) {
      let low = 1;
      let high = node.children.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (isBefore(node.lowScores[middle]!, node.lowMembers[middle]!)) low = middle + 1;
        else high = middle;
      }
      for (let i = 0; i < low - 1; i++) before += node.counts[i]!;
      node = node.children[low - 1]!;
    }
    let low = 0;
    let high = node.members.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(node.scores[middle]!, node.members[middle]!)) low = middle + 1;
      else high = middle;
    }
    return before + low;
  }

  /** Walks the ranks from `from` up to `to`, or down from `to`. The tree must not change meanwhile. */
  visit(from: number, to: number, reverse: boolean, visitor: Visit): void {
    if (from >= to) return;
    if (reverse) visitDown(this.#root, from, to, visitor);
    else visitUp(this.#root, from, to, visitor);
  }

  /** Takes the ranks from `from` up to `to` out. */
  deleteRanks(from: number, to: number): void {
    if (from >= to) return;
    deleteRanksIn(this.#ownRoot(), from, to);
    this.#size -= to - from;
    this.#lowerRoot();
  }
}

// ------------------------------------------------------------------------------------------------ nodes

function copyOf(node: TreeNode, generation: number): TreeNode {
  if (node instanceof Leaf) return new Leaf(node.scores.slice(), node.members.slice(), generation);
  const { children, counts, lowScores, lowMembers } = node;
  return new Inner(children.slice(), counts.slice(), lowScores.slice(), lowMembers.slice(), generation);
}

/** A child, to be changed, of a node that is of the current generation: made so itself if it is shared. */
function ownChild(node: Inner, at: number): TreeNode {
  const child = node.children[at]!;
  if (child.generation === node.generation) return child;
  const copy = copyOf(child, node.generation);
  node.children[at] = copy;
  return copy;
}

function lowOf(node: TreeNode): { score: number; member: string } {
  let low = node;
  while (low instanceof Inner) low = low.children[0]!;
  return { score: low.scores[0]!, member: low.members[0]! };
}

function splitLeaf(leaf: Leaf, place: number, score: number, member: string): Leaf {
  if (place === MOST) return new Leaf([score], [member], leaf.generation);
  const half = MOST / 2;
  const right = new Leaf(leaf.scores.slice(half), leaf.members.slice(half), leaf.generation);
  leaf.scores = leaf.scores.slice(0, half);
  leaf.members = leaf.members.slice(0, half);
  const target = place <= half ? leaf : right;
  const at = place <= half ? place : place - half;
  insertNumber(target.scores, at, score);
  insertItem(target.members, at, member);
  return right;
}

/** `added` is where the child stands that made the node too wide. */
function splitInner(node: Inner, added: number): Inner {
  const cut = added === MOST ? MOST : MOST / 2;
  const right = new Inner(
    node.children.slice(cut),
    node.counts.slice(cut),
    node.lowScores.slice(cut),
    node.lowMembers.slice(cut),
    node.generation,
  );
  node.children.length = cut;
  node.counts.length = cut;
  node.lowScores.length = cut;
  node.lowMembers.length = cut;
  return right;
}

function dropChildren(node: Inner, at: number, count: number): void {
  node.children.splice(at, count);
  node.counts.splice(at, count);
  node.lowScores.splice(at, count);
  node.lowMembers.splice(at, count);
}

/** Joins a small child with a neighbour where both fit in one node; drops it where it is empty. */
function mergeAround(node: Inner, at: number): void {
  const { children } = node;
  const width = widthOf(children[at]!);
  if (width === 0) dropChildren(node, at, 1);
  else if (at > 0 && width + widthOf(children[at - 1]!) <= MERGED_MOST) mergeWithNext(node, at - 1);
  else if (at + 1 < children.length && width + widthOf(children[at + 1]!) <= MERGED_MOST) mergeWithNext(node, at);
}

function mergeWithNext(node: Inner, at: number): void {
  const left = ownChild(node, at);
  const right = node.children[at + 1]!;
  if (left instanceof Leaf && right instanceof Leaf) {
    left.scores = left.scores.concat(right.scores);
    left.members = left.members.concat(right.members);
  } else if (left instanceof Inner && right instanceof Inner) {
    const seam = left.children.length;
    left.children = left.children.concat(right.children);
    left.counts = left.counts.concat(right.counts);
    left.lowScores = left.lowScores.concat(right.lowScores);
    left.lowMembers = left.lowMembers.concat(right.lowMembers);
    // The right node's first bound promised nothing by itself; the bound that its parent kept for it does.
    left.lowScores[seam] = node.lowScores[at + 1]!;
    left.lowMembers[seam] = node.lowMembers[at + 1]!;
  }
  node.counts[at]! += node.counts[at + 1]!;
  dropChildren(node, at + 1, 1);
}

function visitUp(node: TreeNode, from: number, to: number, visitor: Visit): boolean {
  if (node instanceof Leaf) {
    const { scores, members } = node;
    const end = Math.min(to, members.length);
    for (let i = Math.max(from, 0); i < end; i++) if (visitor(members[i]!, scores[i]!) === false) return false;
    return true;
  }
  let before = 0;
  for (let i = 0; i < node.children.length && before < to; i++) {
    const count = node.counts[i]!;
    if (before + count > from && !visitUp(node.children[i]!, from - before, to - before, visitor)) return false;
    before += count;
  }
  return true;
}

function visitDown(node: TreeNode, from: number, to: number, visitor: Visit): boolean {
  if (node instanceof Leaf) {
    const { scores, members } = node;
    const start = Math.max(from, 0);
    for (let i = Math.min(to, members.length) - 1; i >= start; i--)
      if (visitor(members[i]!, scores[i]!) === false) return false;
    return true;
  }
  let before = countOf(node);
  for (let i = node.children.length - 1; i >= 0 && before > from; i--) {
    before -= node.counts[i]!;
    if (before < to && !visitDown(node.children[i]!, from - before, to - before, visitor)) return false;
  }
  return true;
}

function deleteRanksIn(node: TreeNode, from: number, to: number): void {
  if (node instanceof Leaf) {
    const start = Math.max(from, 0);
    const count = Math.min(to, node.members.length) - start;
    if (count === 1) {
      // What ZPOPMIN and ZPOPMAX do.
      removeNumber(node.scores, start);
      removeItem(node.members, start);
    } else {
      node.scores.splice(start, count);
      node.members.splice(start, count);
    }
    return;
  }
  let before = 0;
  let firstGone = -1;
  let gone = 0;
  let edge = -1;
  for (let i = 0; i < node.children.length && before < to; i++) {
    const count = node.counts[i]!;
    const start = Math.max(from - before, 0);
    const end = Math.min(to - before, count);
    before += count;
    if (start >= end) continue;
    if (end - start === count) {
      if (firstGone < 0) firstGone = i;
      gone++;
    } else {
      deleteRanksIn(ownChild(node, i), start, end);
      node.counts[i] = count - (end - start);
      edge = i;
    }
  }
  if (gone > 0) dropChildren(node, firstGone, gone);
  if (edge < 0 || node.children.length === 0) return;
  const right = Math.min(gone > 0 && edge > firstGone ? edge - gone : edge, node.children.length - 1);
  for (let i = right; i >= Math.max(0, right - 1); i--) {
    const child = node.children[i];
    if (child !== undefined && widthOf(child) < FEW) mergeAround(node, i);
  }
}
