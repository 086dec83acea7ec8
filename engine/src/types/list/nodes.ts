/**
 * Where Redis would cut a list.
 *
 * Redis keeps a list as a chain of nodes, each a listpack of up to list-max-listpack-size, and writes it to files node by node. How
 * a list is cut depends on its history: pushing opens a node where the one at that end is full, inserting into a full node splits
 * it and joins what has become small, and taking words away leaves the others where they are. Nothing here is stored that way
 * (chunked.ts), so this keeps the count of words of each node beside the list, and DUMP, DEBUG OBJECT and files agree with Redis's.
 *
 * The bytes of a node decide whether it has room. They follow every change whose words are at hand; where a range of words is cut
 * off unread they become unknown, and are added up when somebody asks. Only asking is expensive, and only pushing to that node asks.
 */
import { EMPTY_LISTPACK, wordSize } from "../listpack-size.ts";

/** The largest nodes in bytes for list-max-listpack-size -1 to -5. */
const NODE_BYTES = [4096, 8192, 16384, 32768, 65536];
/** No node is larger than this when words are counted instead, unless it holds one word. */
const COUNTED_NODE_BYTES = 8192;
/** What Redis reckons an entry to take beside its word. */
const ESTIMATED_OVERHEAD = 8;
/** What Redis reckons that joining two nodes saves; it is EMPTY_LISTPACK, and was this when nodes were ziplists. */
const ESTIMATED_SAVING = 11;
const MOST_COUNTED = 32767;

/** Of bytes. A small integer like the known ones: V8 keeps those in the object itself. */
const UNKNOWN = -1;

/** What a node takes here. */
export const NODE_OBJECT_BYTES = 56;

/** The setting as a list keeps it: Redis cuts what is beyond its range. */
export const fillOf = (listMaxListpackSize: number): number =>
  Math.max(-NODE_BYTES.length, Math.min(listMaxListpackSize, MOST_COUNTED));

/** The words of the list, for nodes whose bytes are unknown. */
interface Words {
  readonly size: number;
  range(start: number, count: number): readonly string[];
}

class Node {
  count: number;
  bytes: number;
  prev: Node | null = null;
  next: Node | null = null;

  constructor(count: number, bytes: number) {
    this.count = count;
    this.bytes = bytes;
  }
}

function sizeOf(words: readonly string[]): number {
  let size = 0;
  for (const word of words) size += wordSize(word);
  return size;
}

export class Nodes {
  readonly fill: number;
  /** Of a node: the most bytes, and the most words. */
  readonly #mostBytes: number;
  readonly #mostWords: number;
  #first: Node | null = null;
  #last: Node | null = null;
  /** How many nodes there are. */
  length = 0;

  constructor(fill: number) {
    this.fill = fill;
    this.#mostBytes = fill < 0 ? (NODE_BYTES[-fill - 1] ?? COUNTED_NODE_BYTES) : COUNTED_NODE_BYTES;
    this.#mostWords = fill < 0 ? Number.POSITIVE_INFINITY : fill;
  }

  /** Nodes with these counts. */
  static of(counts: Iterable<number>, fill: number): Nodes {
    const nodes = new Nodes(fill);
    for (const count of counts) if (count > 0) nodes.#link(new Node(count, UNKNOWN), nodes.#last, null);
    return nodes;
  }

  clone(): Nodes {
    const copy = new Nodes(this.fill);
    for (let node = this.#first; node !== null; node = node.next) {
      copy.#link(new Node(node.count, node.bytes), copy.#last, null);
    }
    return copy;
  }

  /** How many words each node has. */
  counts(): number[] {
    const counts: number[] = [];
    for (let node = this.#first; node !== null; node = node.next) counts.push(node.count);
    return counts;
  }

  // Ends. All are called before the list itself changes.

  pushHead(word: string, list: Words): void {
    const first = this.#first;
    if (first !== null && this.#hasRoom(first, 0, word, list)) this.#add(first, word);
    else this.#link(new Node(1, EMPTY_LISTPACK + wordSize(word)), null, first);
  }

  pushTail(word: string, list: Words): void {
    const last = this.#last;
    if (last !== null && this.#hasRoom(last, list.size - last.count, word, list)) this.#add(last, word);
    else this.#link(new Node(1, EMPTY_LISTPACK + wordSize(word)), last, null);
  }

  popHead(word: string): void {
    if (this.#first !== null) this.#take(this.#first, 1, wordSize(word));
  }

  popTail(word: string): void {
    if (this.#last !== null) this.#take(this.#last, 1, wordSize(word));
  }

  dropHead(count: number): void {
    for (let left = count, node = this.#first; node !== null && left > 0; node = this.#first) {
      const taken = Math.min(left, node.count);
      left -= taken;
      this.#take(node, taken, UNKNOWN);
    }
  }

  dropTail(count: number): void {
    for (let left = count, node = this.#last; node !== null && left > 0; node = this.#last) {
      const taken = Math.min(left, node.count);
      left -= taken;
      this.#take(node, taken, UNKNOWN);
    }
  }

  // The middle

  /** Another word in the place of the one at an index, which is `before` where that is known. */
  replace(index: number, before: string | undefined, word: string): void {
    const { node } = this.#at(index);
    if (before === undefined) node.bytes = UNKNOWN;
    else if (node.bytes !== UNKNOWN) node.bytes += wordSize(word) - wordSize(before);
  }

  /** Takes words away that are all alike: one by one, by the indexes that they had before the first, from one end on. */
  removal(word: string, fromTail: boolean, size: number): { take(index: number): void } {
    const bytes = wordSize(word);
    let node = fromTail ? this.#last : this.#first;
    let following = fromTail ? node?.prev : node?.next;
    let start = fromTail ? size - (node?.count ?? 0) : 0;
    let end = fromTail ? size : (node?.count ?? 0);
    const move = (): void => {
      node = following ?? null;
      if (node === null) return;
      following = fromTail ? node.prev : node.next;
      if (fromTail) [start, end] = [start - node.count, start];
      else [start, end] = [end, end + node.count];
    };
    return {
      take: (index) => {
        while (node !== null && (index < start || index >= end)) move();
        if (node !== null) this.#take(node, 1, bytes);
      },
    };
  }

  /** Puts a word before or behind the one at an index. */
  insert(index: number, behind: boolean, word: string, list: Words): void {
    const { node, start } = this.#at(index);
    const offset = index - start;
    const { prev, next } = node;
    if (this.#hasRoom(node, start, word, list)) this.#add(node, word);
    else if (behind && offset === node.count - 1) {
      if (next !== null && this.#hasRoom(next, start + node.count, word, list)) this.#add(next, word);
      else this.#link(new Node(1, EMPTY_LISTPACK + wordSize(word)), node, next);
    } else if (!behind && offset === 0) {
      if (prev !== null && this.#hasRoom(prev, start - prev.count, word, list)) this.#add(prev, word);
      else this.#link(new Node(1, EMPTY_LISTPACK + wordSize(word)), prev, node);
    } else {
      this.#measureAround(node, start, list);
      this.#split(node, start, behind ? offset + 1 : offset, behind, word, list);
      this.#merge(node);
    }
  }

  /** Cuts a node before the word at `at`; the word that is inserted goes to the part that is new. */
  #split(node: Node, start: number, at: number, behind: boolean, word: string, list: Words): void {
    const left = sizeOf(list.range(start, at));
    const right = node.bytes - EMPTY_LISTPACK - left;
    const added = behind ? new Node(node.count - at, EMPTY_LISTPACK + right) : new Node(at, EMPTY_LISTPACK + left);
    node.count -= added.count;
    node.bytes -= added.bytes - EMPTY_LISTPACK;
    this.#add(added, word);
    if (behind) this.#link(added, node, node.next);
    else this.#link(added, node.prev, node);
  }

  /** Joins the nodes around one that was split where that makes no node too large, in the order in which Redis tries. */
  #merge(center: Node): void {
    this.#mergeWithNext(center.prev?.prev ?? null);
    this.#mergeWithNext(center.next);
    const target = center.prev !== null && this.#mergeWithNext(center.prev) ? center.prev : center;
    this.#mergeWithNext(target);
  }

  /** Joins a node with the next; the next is gone then. */
  #mergeWithNext(node: Node | null): boolean {
    const next = node?.next ?? null;
    if (node === null || next === null) return false;
    const { bytes, count } = next;
    if (node.bytes + bytes - ESTIMATED_SAVING > this.#mostBytes || node.count + count > this.#mostWords) return false;
    node.bytes += bytes - EMPTY_LISTPACK;
    node.count += count;
    this.#unlink(next);
    return true;
  }

  // Nodes

  #at(index: number): { node: Node; start: number } {
    let start = 0;
    for (let node = this.#first; node !== null; node = node.next) {
      if (index < start + node.count) return { node, start };
      start += node.count;
    }
    throw new RangeError(`no node holds the word at ${index}`);
  }

  /** Whether Redis would put a word into this node, whose first word stands at `start`. */
  #hasRoom(node: Node, start: number, word: string, list: Words): boolean {
    if (node.count >= this.#mostWords) return false;
    this.#measure(node, start, list);
    return node.bytes + word.length + ESTIMATED_OVERHEAD <= this.#mostBytes;
  }

  #measure(node: Node, start: number, list: Words): void {
    if (node.bytes === UNKNOWN) node.bytes = EMPTY_LISTPACK + sizeOf(list.range(start, node.count));
  }

  /** Makes the bytes of a node known, and those of two on each side. */
  #measureAround(node: Node, start: number, list: Words): void {
    let before = start;
    for (let at: Node | null = node, steps = 0; at !== null && steps < 3; at = at.prev, steps++) {
      if (steps > 0) before -= at.count;
      this.#measure(at, before, list);
    }
    let after = start;
    for (let at: Node | null = node, steps = 0; at !== null && steps < 3; at = at.next, steps++) {
      this.#measure(at, after, list);
      after += at.count;
    }
  }

  #add(node: Node, word: string): void {
    node.count++;
    node.bytes += wordSize(word);
  }

  #take(node: Node, count: number, bytes: number): void {
    node.count -= count;
    if (bytes === UNKNOWN) node.bytes = UNKNOWN;
    else if (node.bytes !== UNKNOWN) node.bytes -= bytes;
    if (node.count === 0) this.#unlink(node);
  }

  #link(node: Node, prev: Node | null, next: Node | null): void {
    node.prev = prev;
    node.next = next;
    if (prev === null) this.#first = node;
    else prev.next = node;
    if (next === null) this.#last = node;
    else next.prev = node;
    this.length++;
  }

  #unlink(node: Node): void {
    if (node.prev === null) this.#first = node.next;
    else node.prev.next = node.next;
    if (node.next === null) this.#last = node.prev;
    else node.next.prev = node.prev;
    this.length--;
  }
}
