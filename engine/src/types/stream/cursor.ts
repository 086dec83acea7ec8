/**
 * Walks a stream's living entries between two ids, either way. Decodes nothing that is not asked for: ids are compared
 * with the ends of the range in the form in which the blocks hold them.
 */
import { skip, wordStart } from "../packed.ts";
import { type Block, isAtOrAfter, seekOpen } from "./block.ts";
import { type Id, idAfter } from "./ids.ts";
import type { StreamValue } from "./index.ts";

export class StreamCursor {
  readonly #stream: StreamValue;
  readonly #reverse: boolean;
  readonly #start: Id;
  /** The first id behind the range; undefined when nothing is behind it. */
  readonly #stop: Id | undefined;

  #blockIndex: number;
  #block: Block | undefined;
  /** The entries of an open block. */
  #list: readonly string[] | undefined;
  #index = 0;
  /** Where the entries of a sealed block begin, walked backwards: from the first that is not deleted on. */
  #offsets: number[] = [];
  /** Where the entry after the current one begins, in a sealed block walked forwards. */
  #nextAt = 0;
  /** The border in the block's form: of the end that the walk goes towards; undefined where it lies outside the block. */
  #border: string | undefined;

  // The current entry: between these places of this text.
  #text = "";
  #from = 0;
  #to = 0;

  /** Both ends belong to the range. */
  constructor(stream: StreamValue, start: Id, end: Id, reverse = false) {
    this.#stream = stream;
    this.#reverse = reverse;
    this.#start = start;
    this.#stop = idAfter(end);
    this.#blockIndex = reverse ? stream.blockAt(end) : Math.max(0, stream.blockAt(start));
    this.#enter();
  }

  /** Moves to the next entry; false when there is none. */
  next(): boolean {
    while (this.#block !== undefined) {
      if (this.#step(this.#block)) return true;
      this.#blockIndex += this.#reverse ? -1 : 1;
      this.#enter();
    }
    return false;
  }

  get id(): Id {
    return this.#current.idAt(this.#text, this.#from);
  }

  get idText(): string {
    return this.#current.idTextAt(this.#text, this.#from);
  }

  /** Fields and values in turn. They may share memory with the stream: right for replies, wrong for keeping. */
  words(): string[] {
    return this.#current.wordsAt(this.#text, this.#from, this.#to);
  }

  /** The block of the current entry. */
  get #current(): Block {
    if (this.#block === undefined) throw new Error("the cursor stands behind the last entry");
    return this.#block;
  }

  #enter(): void {
    const block = this.#stream.block(this.#blockIndex);
    this.#block = block;
    if (block === undefined) return;
    if (this.#reverse) this.#enterBackwards(block);
    else this.#enterForwards(block);
  }

  #enterForwards(block: Block): void {
    const stop = this.#stop;
    if (stop !== undefined && stop <= block.first) {
      this.#block = undefined;
      return;
    }
    this.#border = stop === undefined || stop > block.last ? undefined : block.code(stop);
    this.#list = block.open;
    this.#index = block.head;
    this.#nextAt = block.headAt;
    if (this.#start <= block.first) return;
    const code = block.code(this.#start);
    if (this.#list !== undefined) {
      this.#index = Math.max(this.#index, seekOpen(this.#list, code));
      return;
    }
    const text = block.sealed;
    let at = this.#nextAt;
    for (; at < text.length && !isAtOrAfter(text, wordStart(text, at), code); at = skip(text, at)) this.#index++;
    this.#nextAt = at;
  }

  #enterBackwards(block: Block): void {
    if (this.#start > block.last) {
      this.#block = undefined;
      return;
    }
    this.#list = block.open;
    this.#border = this.#start <= block.first ? undefined : block.code(this.#start);
    const stop = this.#stop;
    const code = stop === undefined || stop > block.last ? undefined : block.code(stop);
    if (this.#list !== undefined) {
      this.#index = code === undefined ? this.#list.length : seekOpen(this.#list, code);
      return;
    }
    const text = block.sealed;
    this.#offsets = [];
    for (let at = block.headAt; at < text.length; at = skip(text, at)) {
      if (code !== undefined && isAtOrAfter(text, wordStart(text, at), code)) break;
      this.#offsets.push(at);
    }
    this.#index = block.head + this.#offsets.length;
  }

  /** Moves on within the block; false at its end or at the end of the range. */
  #step(block: Block): boolean {
    if (this.#list === undefined) return this.#reverse ? this.#stepPackedBack(block) : this.#stepPacked(block);
    return this.#reverse ? this.#stepOpenBack(block, this.#list) : this.#stepOpen(block, this.#list);
  }

  #stepOpen(block: Block, list: readonly string[]): boolean {
    while (this.#index < list.length) {
      const index = this.#index++;
      if (block.isDead(index)) continue;
      const text = list[index]!;
      if (this.#border !== undefined && text >= this.#border) return this.#finish();
      this.#text = text;
      this.#from = 0;
      this.#to = text.length;
      return true;
    }
    return false;
  }

  #stepPacked(block: Block): boolean {
    const text = block.sealed;
    while (this.#nextAt < text.length) {
      const from = wordStart(text, this.#nextAt);
      const to = skip(text, this.#nextAt);
      this.#nextAt = to;
      if (block.isDead(this.#index++)) continue;
      if (this.#border !== undefined && isAtOrAfter(text, from, this.#border)) return this.#finish();
      this.#text = text;
      this.#from = from;
      this.#to = to;
      return true;
    }
    return false;
  }

  #stepPackedBack(block: Block): boolean {
    const text = block.sealed;
    while (this.#index > block.head) {
      const index = --this.#index;
      if (block.isDead(index)) continue;
      const at = this.#offsets[index - block.head]!;
      const from = wordStart(text, at);
      if (this.#border !== undefined && !isAtOrAfter(text, from, this.#border)) return this.#finish();
      this.#text = text;
      this.#from = from;
      this.#to = skip(text, at);
      return true;
    }
    return false;
  }

  #stepOpenBack(block: Block, list: readonly string[]): boolean {
    while (this.#index > 0) {
      const index = --this.#index;
      if (block.isDead(index)) continue;
      const text = list[index]!;
      if (this.#border !== undefined && text < this.#border) return this.#finish();
      this.#text = text;
      this.#from = 0;
      this.#to = text.length;
      return true;
    }
    return false;
  }

  /** The range ends inside this block. */
  #finish(): false {
    this.#blockIndex = this.#reverse ? -1 : Number.MAX_SAFE_INTEGER - 1;
    return false;
  }
}
