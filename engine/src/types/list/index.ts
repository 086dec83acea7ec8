/**
 * A list. Small, it is one packed string (packed-run.ts); past SMALL_MAX it is a chain of chunks (chunked.ts), and it
 * becomes one string again below SMALL_AGAIN. Redis 7.0 calls every list `quicklist`.
 *
 * A small list is one node of Redis's (nodes.ts), so that it need not say how it is cut: one that Redis would cut is long,
 * whatever its size. It keeps the setting by which it is cut, `fill`, from the push that makes it.
 *
 * Words that are pushed are kept as they are, so they must share memory with nothing (types/packed.ts, `own`). Words that
 * come out may share memory with the list: right for replies, to be owned before they are kept.
 */

import { type Collection, stringBytes } from "../collection.ts";
import { entry, entryLength, own, seek, skip, splice, wordAt } from "../packed.ts";
import { Chunked } from "./chunked.ts";
import { fillOf, NODE_OBJECT_BYTES, Nodes } from "./nodes.ts";
import { glue, packedLength, packSlice, pushBack, pushFront, readInto } from "./packed-run.ts";

const SMALL_MAX = 2048;
const SMALL_AGAIN = 1024;

/** What the objects of each form take besides the words. */
const SMALL_BYTES = 40;
const LONG_BYTES = 240;
const CHUNK_BYTES = 80;
const OPEN_WORD_BYTES = 24;

const DEFAULT_FILL = -2;
/** A small list's words and its fill are one number: the count in the lower bits, of which it has at most SMALL_MAX. */
const COUNT_BITS = 12;
const COUNT_MASK = (1 << COUNT_BITS) - 1;
const LOWEST_FILL = -5;
const shapeOf = (count: number, fill: number): number => ((fill - LOWEST_FILL) << COUNT_BITS) | count;
/** What is packed into so many chars takes at most twice as many bytes in a node of at most 4 KB. */
const SMALLEST_NODE = 4096 / 2 - 32;

export class ListValue implements Collection {
  static readonly typeName = "list";

  #form: string | Chunked = "";
  /** Of a small list: how many words, and the fill. A long one has its own. */
  #shape = shapeOf(0, DEFAULT_FILL);

  /** From the words of a small list in a packed string that nothing shares: one node. */
  static fromPacked(packed: string, count: number, listMaxListpackSize = DEFAULT_FILL): ListValue {
    const made = new ListValue();
    made.#form = packed;
    made.#shape = shapeOf(count, fillOf(listMaxListpackSize));
    return made;
  }

  get #count(): number {
    return this.#shape & COUNT_MASK;
  }

  /** How many words, or bytes, a node of this list takes: list-max-listpack-size when it was made. */
  get fill(): number {
    const form = this.#form;
    return typeof form === "string" ? (this.#shape >> COUNT_BITS) + LOWEST_FILL : form.nodes.fill;
  }

  /** How many words each of the nodes has that Redis would keep it in. */
  nodes(): number[] {
    const form = this.#form;
    return typeof form === "string" ? [this.#count] : form.nodes.counts();
  }

  /** Says how it is cut: what a file has in one node stays in one. */
  cutAs(counts: readonly number[], listMaxListpackSize: number): void {
    const long = this.widen();
    long.nodes = Nodes.of(counts, fillOf(listMaxListpackSize));
    this.settle(long);
  }

  get type(): "list" {
    return "list";
  }

  get encoding(): string {
    return "quicklist";
  }

  get size(): number {
    const form = this.#form;
    return typeof form === "string" ? this.#count : form.size;
  }

  get sizeBytes(): number {
    const form = this.#form;
    if (typeof form === "string") return SMALL_BYTES + stringBytes(form.length);
    const { bytes, chunks, openWords, nodes } = form;
    return LONG_BYTES + bytes + chunks * CHUNK_BYTES + openWords * OPEN_WORD_BYTES + nodes.length * NODE_OBJECT_BYTES;
  }

  /** A copy: that is a few dozen nanoseconds for each four kilobytes of the list, since strings are shared as they are. */
  freeze(): ListValue {
    return this.clone();
  }

  thaw(): void {}

  clone(): ListValue {
    const copy = new ListValue();
    const form = this.#form;
    copy.#form = typeof form === "string" ? form : form.clone();
    copy.#shape = this.#shape;
    return copy;
  }

  /** Pushes a word. The setting counts for a list that is made by it; others keep theirs. */
  pushHead(word: string, listMaxListpackSize = DEFAULT_FILL): void {
    const form = this.#form;
    if (typeof form !== "string") form.pushHead(word);
    else if (!this.staysSmall(form, 1, entryLength(word.length), listMaxListpackSize)) this.widen().pushHead(word);
    else {
      this.#form = pushFront(form, word);
      this.#shape++;
    }
  }

  pushTail(word: string, listMaxListpackSize = DEFAULT_FILL): void {
    const form = this.#form;
    if (typeof form !== "string") form.pushTail(word);
    else if (!this.staysSmall(form, 1, entryLength(word.length), listMaxListpackSize)) this.widen().pushTail(word);
    else {
      this.#form = pushBack(form, word);
      this.#shape++;
    }
  }

  /** Pushes `words[from]` and all behind it, one after the other; returns how many. */
  pushAll(words: readonly string[], from: number, atHead: boolean, listMaxListpackSize = DEFAULT_FILL): number {
    const count = words.length - from;
    const form = this.#form;
    if (count === 1) {
      if (atHead) this.pushHead(words[from]!, listMaxListpackSize);
      else this.pushTail(words[from]!, listMaxListpackSize);
    } else if (
      typeof form === "string" &&
      this.staysSmall(form, count, packedLength(words, from), listMaxListpackSize)
    ) {
      const run = packSlice(words, from, words.length, atHead);
      this.#form = atHead ? glue(run, form) : glue(form, run);
      this.#shape += count;
    } else {
      const long = this.widen();
      for (let i = from; i < words.length; i++) {
        if (atHead) long.pushHead(words[i]!);
        else long.pushTail(words[i]!);
      }
    }
    return count;
  }

  popHead(): string | undefined {
    const form = this.#form;
    if (typeof form !== "string") {
      const word = form.popHead();
      if (isSmall(form, SMALL_AGAIN)) this.narrow(form);
      return word;
    }
    if (form === "") return undefined;
    const word = wordAt(form, 0);
    this.#form = own(form.substring(skip(form, 0)));
    this.#shape--;
    return word;
  }

  popTail(): string | undefined {
    const form = this.#form;
    if (typeof form !== "string") {
      const word = form.popTail();
      if (isSmall(form, SMALL_AGAIN)) this.narrow(form);
      return word;
    }
    if (form === "") return undefined;
    const at = seek(form, this.#count - 1);
    const word = wordAt(form, at);
    this.#form = own(form.substring(0, at));
    this.#shape--;
    return word;
  }

  /** Pops up to `count` words, in the order in which they come off. */
  popAll(count: number, atHead: boolean): string[] {
    const form = this.#form;
    const taken = Math.min(count, this.size);
    if (typeof form === "string") {
      const words = this.rangeOfRun(form, atHead ? 0 : this.#count - taken, taken);
      if (!atHead) words.reverse();
      if (atHead) this.trim(taken, this.#count - 1);
      else this.trim(0, this.#count - 1 - taken);
      return words;
    }
    const words: string[] = [];
    while (words.length < taken) {
      const word = atHead ? form.popHead() : form.popTail();
      if (word === undefined) break;
      words.push(word);
    }
    if (isSmall(form, SMALL_AGAIN)) this.narrow(form);
    return words;
  }

  /** The word at an index; negative ones count from the tail. */
  at(index: number): string | undefined {
    const size = this.size;
    const i = index < 0 ? size + index : index;
    if (i < 0 || i >= size) return undefined;
    const form = this.#form;
    return typeof form === "string" ? wordAt(form, seek(form, i)) : form.at(i);
  }

  /** Replaces the word at an index; false where there is none. */
  set(index: number, word: string): boolean {
    const size = this.size;
    const i = index < 0 ? size + index : index;
    if (i < 0 || i >= size) return false;
    const form = this.#form;
    if (typeof form === "string") {
      const at = seek(form, i);
      const end = skip(form, at);
      if (form.length - (end - at) + entryLength(word.length) <= SMALL_MAX) {
        this.#form = splice(form, at, end, entry(word));
        return true;
      }
    }
    const long = this.widen();
    long.set(i, word);
    if (isSmall(long, SMALL_AGAIN)) this.narrow(long);
    return true;
  }

  /** The words from `start` to `stop`, both within the list and inclusive; none if they cross. */
  range(start: number, stop: number): string[] {
    const count = stop - start + 1;
    if (count <= 0) return [];
    const form = this.#form;
    return typeof form === "string" ? this.rangeOfRun(form, start, count) : form.range(start, count);
  }

  /** Keeps the words from `start` to `stop`, both within the list and inclusive; none if they cross. */
  trim(start: number, stop: number): void {
    const size = this.size;
    const count = stop - start + 1;
    if (count <= 0) {
      this.#shape = shapeOf(0, this.fill);
      this.#form = "";
      return;
    }
    if (count === size) return;
    const form = this.#form;
    if (typeof form === "string") {
      const from = seek(form, start);
      const to = stop === size - 1 ? form.length : from + seek(form.substring(from), count);
      this.#form = own(form.substring(from, to));
      this.#shape += count - size;
      return;
    }
    form.dropTail(size - 1 - stop);
    form.dropHead(start);
    if (isSmall(form, SMALL_AGAIN)) this.narrow(form);
  }

  /** Puts a word before or behind the first that is `pivot`; false if there is none. */
  insert(pivot: string, word: string, behind: boolean): boolean {
    const long = this.long();
    const done = long.insert(pivot, word, behind);
    if (done) this.settle(long);
    return done;
  }

  /** Removes up to `limit` occurrences of a word, from the head or from the tail; returns how many. */
  remove(word: string, limit: number, fromTail: boolean): number {
    const long = this.long();
    const removed = long.remove(word, limit, fromTail);
    if (removed > 0) this.settle(long);
    return removed;
  }

  /**
   * Where the word stands, looking at no more than `scan` words from one end: up to `limit` indexes, after `spare` that are
   * passed over.
   */
  positions(word: string, fromTail: boolean, spare: number, limit: number, scan: number): number[] {
    return this.long().positions(word, fromTail, spare, limit, scan);
  }

  /** Every word, head first. */
  [Symbol.iterator](): IterableIterator<string> {
    const form = this.#form;
    return typeof form === "string" ? this.rangeOfRun(form, 0, this.#count).values() : form.words();
  }

  private rangeOfRun(run: string, start: number, count: number): string[] {
    const words = new Array<string>(count);
    readInto(run, start, count, words, 0);
    return words;
  }

  /** The list as a chain, for work that the small form leaves to it; #settle takes a changed one back. */
  private long(): Chunked {
    const form = this.#form;
    return typeof form === "string" ? Chunked.of(form, this.#count, this.fill) : form;
  }

  /** Takes a chain that has changed: as it is if it is long, as one string if it is small. */
  private settle(long: Chunked): void {
    const limit = typeof this.#form === "string" ? SMALL_MAX : SMALL_AGAIN;
    if (isSmall(long, limit)) this.narrow(long);
    else this.#form = long;
  }

  /** Whether so many more words leave it small, and in one node. */
  private staysSmall(form: string, more: number, chars: number, listMaxListpackSize: number): boolean {
    if (form === "") this.#shape = shapeOf(0, fillOf(listMaxListpackSize));
    const { length } = form;
    if (length + chars > SMALL_MAX) return false;
    const { fill } = this;
    if (fill < -1) return true;
    return fill === -1 ? length + chars <= SMALLEST_NODE : this.#count + more <= Math.max(1, fill);
  }

  private widen(): Chunked {
    const form = this.#form;
    if (typeof form !== "string") return form;
    const long = Chunked.of(form, this.#count, this.fill);
    this.#form = long;
    return long;
  }

  private narrow(long: Chunked): void {
    this.#form = long.pack();
    this.#shape = shapeOf(long.size, long.nodes.fill);
  }
}

/** Whether a long list can be a small one. */
const isSmall = (long: Chunked, limit: number): boolean => long.bytes <= limit && long.nodes.length <= 1;
