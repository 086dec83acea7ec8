/**
 * A long list: a chain of chunks between two open ends.
 *
 *   head (open)   first ⇄ … ⇄ last (sealed)   tail (open)
 *
 * A sealed chunk is one packed string, so that the bulk of a list costs little more than its bytes. An open end is a plain
 * array of words, innermost first, so that pushing and popping at either end is Array.push and Array.pop with nothing
 * copied. When an end grows past its limit, its inner half is sealed onto the chain; when a pop finds it empty, half as
 * many words as the limit are opened from the chain. Halves, so that a queue that swings around a limit does not seal and
 * open the same words again and again. The limit follows the list's length, since an open word costs several times a sealed
 * one.
 *
 * A word too long to share a chunk is a `plain` chunk of its own, held as it came.
 *
 * Changes in the middle first seal both ends, and then edit the one chunk that they concern.
 */
import { entry, entryLength, flat, own, seek, skip, splice, wordAt } from "../packed.ts";
import { Nodes } from "./nodes.ts";
import { glue, matches, packSlice, readInto, withoutMatches } from "./packed-run.ts";

/** A sealed chunk's most chars. */
const CHUNK_MAX = 4096;
/** Neighbours that shrank are joined when both fit in this. */
const MERGE_MAX = CHUNK_MAX / 2;
/** A longer word is a chunk of its own. */
const SHARED_WORD_MAX = 1024;
const OPEN_WORDS_MIN = 8;
const OPEN_WORDS_MAX = 64;
const OPEN_BYTES_MAX = 2048;
/** Fewer words than this are dropped from an end by popping them, more by cutting the chunk. */
const CUT_MIN = 16;

class Chunk {
  /** A packed run, or the word itself when plain. */
  text: string;
  count: number;
  plain: boolean;
  prev: Chunk | null = null;
  next: Chunk | null = null;

  constructor(text: string, count: number, plain: boolean) {
    this.text = text;
    this.count = count;
    this.plain = plain;
  }

  get bytes(): number {
    return this.plain ? entryLength(this.text.length) : this.text.length;
  }

  wordAt(index: number): string {
    return this.plain ? this.text : wordAt(this.text, seek(this.text, index));
  }

  readInto(index: number, count: number, out: string[], at: number): void {
    if (this.plain) out[at] = this.text;
    else readInto(this.text, index, count, out, at);
  }

  matches(word: string): number[] {
    if (!this.plain) return matches(this.text, word);
    return this.text === word ? [0] : [];
  }
}

export class Chunked {
  size = 0;
  /** What all words would take packed: how the owner knows that the list has become small. */
  bytes = 0;
  /** Sealed chunks in the chain. */
  chunks = 0;
  /** Where Redis would cut it. Every change goes there first. */
  nodes: Nodes;
  #head: string[] = [];
  #tail: string[] = [];
  #headBytes = 0;
  #tailBytes = 0;
  #first: Chunk | null = null;
  #last: Chunk | null = null;
  /** Set by #locate: the number within the chunk that it returned. */
  #ordinal = 0;

  constructor(nodes: Nodes) {
    this.nodes = nodes;
  }

  static of(run: string, count: number, fill: number): Chunked {
    const list = new Chunked(Nodes.of([count], fill));
    if (count > 0) {
      list.#link(new Chunk(run, count, false), null, null);
      list.size = count;
      list.bytes = run.length;
    }
    return list;
  }

  get openWords(): number {
    return this.#head.length + this.#tail.length;
  }

  clone(): Chunked {
    const copy = new Chunked(this.nodes.clone());
    copy.#head = this.#head.slice();
    copy.#tail = this.#tail.slice();
    copy.#headBytes = this.#headBytes;
    copy.#tailBytes = this.#tailBytes;
    for (let chunk = this.#first; chunk !== null; chunk = chunk.next) {
      copy.#link(new Chunk(chunk.text, chunk.count, chunk.plain), copy.#last, null);
    }
    copy.size = this.size;
    copy.bytes = this.bytes;
    return copy;
  }

  /** The whole list as one packed run; only while it is small. */
  pack(): string {
    this.#seal();
    let run = "";
    for (let chunk = this.#first; chunk !== null; chunk = chunk.next) {
      run = glue(run, chunk.plain ? flat(entry(chunk.text)) : chunk.text);
    }
    return run;
  }

  // Ends

  pushHead(word: string): void {
    const length = word.length;
    this.nodes.pushHead(word, this);
    this.size++;
    this.bytes += entryLength(length);
    if (length > SHARED_WORD_MAX) {
      this.#sealHead(this.#head.length);
      this.#link(new Chunk(word, 1, true), null, this.#first);
      return;
    }
    const count = this.#head.push(word);
    this.#headBytes += length;
    if (this.#isFull(count, this.#headBytes)) this.#sealHead(count >> 1);
  }

  pushTail(word: string): void {
    const length = word.length;
    this.nodes.pushTail(word, this);
    this.size++;
    this.bytes += entryLength(length);
    if (length > SHARED_WORD_MAX) {
      this.#sealTail(this.#tail.length);
      this.#link(new Chunk(word, 1, true), this.#last, null);
      return;
    }
    const count = this.#tail.push(word);
    this.#tailBytes += length;
    if (this.#isFull(count, this.#tailBytes)) this.#sealTail(count >> 1);
  }

  popHead(): string | undefined {
    if (this.#head.length === 0) this.#openHead();
    const word = this.#head.pop();
    if (word === undefined) return undefined;
    this.nodes.popHead(word);
    this.#headBytes -= word.length;
    this.size--;
    this.bytes -= entryLength(word.length);
    return word;
  }

  popTail(): string | undefined {
    if (this.#tail.length === 0) this.#openTail();
    const word = this.#tail.pop();
    if (word === undefined) return undefined;
    this.nodes.popTail(word);
    this.#tailBytes -= word.length;
    this.size--;
    this.bytes -= entryLength(word.length);
    return word;
  }

  dropHead(count: number): void {
    if (count < CUT_MIN) {
      for (let left = count; left > 0; left--) this.popHead();
      return;
    }
    this.nodes.dropHead(count);
    this.#cutHead(count);
  }

  #cutHead(count: number): void {
    let left = count;
    this.#sealHead(this.#head.length);
    for (let chunk = this.#first; chunk !== null && left > 0; chunk = this.#first) {
      if (chunk.count <= left) {
        left -= chunk.count;
        this.#drop(chunk);
      } else {
        const at = seek(chunk.text, left);
        this.#shrink(chunk, own(chunk.text.substring(at)), chunk.count - left);
        return;
      }
    }
    if (left === 0) return;
    this.#sealTail(this.#tail.length);
    this.#cutHead(left);
  }

  dropTail(count: number): void {
    if (count < CUT_MIN) {
      for (let left = count; left > 0; left--) this.popTail();
      return;
    }
    this.nodes.dropTail(count);
    this.#cutTail(count);
  }

  #cutTail(count: number): void {
    let left = count;
    this.#sealTail(this.#tail.length);
    for (let chunk = this.#last; chunk !== null && left > 0; chunk = this.#last) {
      if (chunk.count <= left) {
        left -= chunk.count;
        this.#drop(chunk);
      } else {
        const at = seek(chunk.text, chunk.count - left);
        this.#shrink(chunk, own(chunk.text.substring(0, at)), chunk.count - left);
        return;
      }
    }
    if (left === 0) return;
    this.#sealHead(this.#head.length);
    this.#cutTail(left);
  }

  // Reading; the caller has checked that indexes are within the list

  at(index: number): string {
    const head = this.#head;
    if (index < head.length) return head[head.length - 1 - index]!;
    const fromTail = this.size - index;
    if (fromTail <= this.#tail.length) return this.#tail[this.#tail.length - fromTail]!;
    return this.#locate(index).wordAt(this.#ordinal);
  }

  /** `count` words from `start` on; they may share memory with the list. */
  range(start: number, count: number): string[] {
    const out = new Array<string>(count);
    const head = this.#head;
    let done = 0;
    for (let i = head.length - 1 - start; i >= 0 && done < count; i--) out[done++] = head[i]!;
    const tailStart = this.size - this.#tail.length;
    if (done < count && start + done < tailStart) {
      let chunk: Chunk | null = this.#locate(start + done);
      for (let ordinal = this.#ordinal; chunk !== null && done < count; chunk = chunk.next) {
        const take = Math.min(count - done, chunk.count - ordinal);
        chunk.readInto(ordinal, take, out, done);
        done += take;
        ordinal = 0;
      }
    }
    for (let i = start + done - tailStart; done < count; i++) out[done++] = this.#tail[i]!;
    return out;
  }

  /** Every word, head first. */
  *words(): IterableIterator<string> {
    yield* this.#head.toReversed();
    for (let chunk = this.#first; chunk !== null; chunk = chunk.next) yield* wordsOf(chunk);
    yield* this.#tail;
  }

  /**
   * Where the word stands, looking at no more than `scan` words from one end: up to `limit` indexes, after `spare` that are
   * passed over.
   */
  positions(word: string, fromTail: boolean, spare: number, limit: number, scan: number): number[] {
    this.#seal();
    const found: number[] = [];
    let passed = 0;
    let scanned = 0;
    for (let chunk = fromTail ? this.#last : this.#first; chunk !== null && scanned < scan; ) {
      const ordinals = chunk.matches(word);
      for (const ordinal of fromTail ? ordinals.reverse() : ordinals) {
        const distance = scanned + (fromTail ? chunk.count - 1 - ordinal : ordinal);
        if (distance >= scan) return found;
        if (passed++ < spare) continue;
        found.push(fromTail ? this.size - 1 - distance : distance);
        if (found.length === limit) return found;
      }
      scanned += chunk.count;
      chunk = fromTail ? chunk.prev : chunk.next;
    }
    return found;
  }

  // Changes in the middle

  set(index: number, word: string): void {
    const length = word.length;
    const head = this.#head;
    const tail = this.#tail;
    const fromTail = this.size - index;
    if (length <= SHARED_WORD_MAX) {
      if (index < head.length) {
        const at = head.length - 1 - index;
        this.nodes.replace(index, head[at], word);
        const before = head[at]!.length;
        this.#headBytes += length - before;
        this.bytes += entryLength(length) - entryLength(before);
        head[at] = word;
        return;
      }
      if (fromTail <= tail.length) {
        const at = tail.length - fromTail;
        this.nodes.replace(index, tail[at], word);
        const before = tail[at]!.length;
        this.#tailBytes += length - before;
        this.bytes += entryLength(length) - entryLength(before);
        tail[at] = word;
        return;
      }
    } else if (index < head.length || fromTail <= tail.length) this.#seal();
    this.nodes.replace(index, undefined, word);
    const chunk = this.#locate(index);
    this.#replace(chunk, this.#ordinal, 1, word);
  }

  /** Puts a word before or behind the first that is `pivot`; false if there is none. */
  insert(pivot: string, word: string, behind: boolean): boolean {
    this.#seal();
    let start = 0;
    for (let chunk = this.#first; chunk !== null; chunk = chunk.next) {
      const ordinal = chunk.matches(pivot)[0];
      if (ordinal === undefined) {
        start += chunk.count;
        continue;
      }
      this.nodes.insert(start + ordinal, behind, word, this);
      this.#replace(chunk, behind ? ordinal + 1 : ordinal, 0, word);
      return true;
    }
    return false;
  }

  /** Removes up to `limit` occurrences of a word, from the head or from the tail; returns how many. */
  remove(word: string, limit: number, fromTail: boolean): number {
    this.#seal();
    let removed = 0;
    /** Words of chunks that have been looked at, counted as they were. */
    let passed = 0;
    const { size } = this;
    const removal = this.nodes.removal(word, fromTail, size);
    for (let chunk = fromTail ? this.#last : this.#first; chunk !== null && removed < limit; ) {
      const following: Chunk | null = fromTail ? chunk.prev : chunk.next;
      const start = fromTail ? size - passed - chunk.count : passed;
      passed += chunk.count;
      const ordinals = chunk.matches(word);
      const present = ordinals.length;
      if (present > 0) {
        const count = Math.min(present, limit - removed);
        removed += count;
        if (fromTail) ordinals.reverse();
        for (let i = 0; i < count; i++) removal.take(start + ordinals[i]!);
        if (count === chunk.count) this.#drop(chunk);
        else {
          const spare = fromTail ? present - count : 0;
          this.#shrink(chunk, withoutMatches(chunk.text, word, spare, count), chunk.count - count);
          this.#mergeNext(fromTail ? chunk : (chunk.prev ?? chunk));
        }
      }
      chunk = following;
    }
    return removed;
  }

  /** Puts a word in the place of `gone` (0 or 1) words of a chunk. */
  #replace(chunk: Chunk, ordinal: number, gone: number, word: string): void {
    const before = chunk.bytes;
    if (chunk.plain || word.length > SHARED_WORD_MAX) {
      this.#replaceByChunk(chunk, ordinal, gone, word);
      return;
    }
    const from = seek(chunk.text, ordinal);
    const to = gone === 0 ? from : skip(chunk.text, from);
    chunk.text = splice(chunk.text, from, to, entry(word));
    chunk.count += 1 - gone;
    this.size += 1 - gone;
    this.bytes += chunk.bytes - before;
    if (chunk.text.length > CHUNK_MAX && chunk.count > 1) this.#split(chunk, chunk.count >> 1);
    else if (gone > 0) this.#mergeNext(chunk);
  }

  /** The same where the word, or the chunk, shares with no other: the word gets a chunk of its own. */
  #replaceByChunk(chunk: Chunk, ordinal: number, gone: number, word: string): void {
    const plain = word.length > SHARED_WORD_MAX;
    const fresh = plain ? new Chunk(word, 1, true) : new Chunk(flat(entry(word)), 1, false);
    if (ordinal > 0 && ordinal < chunk.count) this.#split(chunk, ordinal);
    const right = ordinal === 0 ? chunk : chunk.next;
    this.#link(fresh, right === null ? this.#last : right.prev, right);
    this.size++;
    this.bytes += fresh.bytes;
    if (gone > 0 && right !== null) {
      if (right.count === 1) this.#drop(right);
      else this.#shrink(right, own(right.text.substring(skip(right.text, 0))), right.count - 1);
    }
    this.#mergeNext(fresh);
    if (fresh.prev !== null) this.#mergeNext(fresh.prev);
  }

  // Open ends

  #openLimit(): number {
    return Math.min(Math.max(this.size >> 4, OPEN_WORDS_MIN), OPEN_WORDS_MAX);
  }

  #isFull(words: number, bytes: number): boolean {
    return words >= OPEN_WORDS_MIN && (words >= this.#openLimit() || bytes > OPEN_BYTES_MAX);
  }

  #seal(): void {
    if (this.#head.length > 0) this.#sealHead(this.#head.length);
    if (this.#tail.length > 0) this.#sealTail(this.#tail.length);
  }

  /** Moves the innermost `count` open words of the head to the chain. */
  #sealHead(count: number): void {
    if (count === 0) return;
    const run = packSlice(this.#head, 0, count, true);
    const first = this.#first;
    if (first !== null && !first.plain && first.text.length + run.length <= CHUNK_MAX) {
      first.text = glue(run, first.text);
      first.count += count;
    } else this.#link(new Chunk(run, count, false), null, first);
    this.#head = count === this.#head.length ? [] : this.#head.slice(count);
    this.#headBytes = totalLength(this.#head);
  }

  #sealTail(count: number): void {
    if (count === 0) return;
    const run = packSlice(this.#tail, 0, count, false);
    const last = this.#last;
    if (last !== null && !last.plain && last.text.length + run.length <= CHUNK_MAX) {
      last.text = glue(last.text, run);
      last.count += count;
    } else this.#link(new Chunk(run, count, false), last, null);
    this.#tail = count === this.#tail.length ? [] : this.#tail.slice(count);
    this.#tailBytes = totalLength(this.#tail);
  }

  /** Fills the empty head from the chain, or from the tail when there is no chain. It stays empty if the list is. */
  #openHead(): void {
    if (this.#first === null) this.#sealTail(this.#tail.length);
    const chunk = this.#first;
    if (chunk === null) return;
    const count = Math.min(chunk.count, this.#openLimit() >> 1);
    if (count === chunk.count) {
      this.#head = wordsOf(chunk);
      this.#unlink(chunk);
    } else {
      const at = seek(chunk.text, count);
      this.#head = wordsOf(new Chunk(own(chunk.text.substring(0, at)), count, false));
      chunk.text = own(chunk.text.substring(at));
      chunk.count -= count;
    }
    this.#head.reverse();
    this.#headBytes = totalLength(this.#head);
  }

  #openTail(): void {
    if (this.#last === null) this.#sealHead(this.#head.length);
    const chunk = this.#last;
    if (chunk === null) return;
    const count = Math.min(chunk.count, this.#openLimit() >> 1);
    if (count === chunk.count) {
      this.#tail = wordsOf(chunk);
      this.#unlink(chunk);
    } else {
      const at = seek(chunk.text, chunk.count - count);
      this.#tail = wordsOf(new Chunk(own(chunk.text.substring(at)), count, false));
      chunk.text = own(chunk.text.substring(0, at));
      chunk.count -= count;
    }
    this.#tailBytes = totalLength(this.#tail);
  }

  // The chain

  /** The chunk that holds the word at `index`, which is in no open end; its number there is left in #ordinal. */
  #locate(index: number): Chunk {
    const fromHead = index - this.#head.length;
    const sealed = this.size - this.#head.length - this.#tail.length;
    if (fromHead <= sealed >> 1) {
      let left = fromHead;
      for (let chunk = this.#first; chunk !== null; chunk = chunk.next) {
        if (left < chunk.count) {
          this.#ordinal = left;
          return chunk;
        }
        left -= chunk.count;
      }
    } else {
      let end = sealed;
      for (let chunk = this.#last; chunk !== null; chunk = chunk.prev) {
        end -= chunk.count;
        if (end <= fromHead) {
          this.#ordinal = fromHead - end;
          return chunk;
        }
      }
    }
    throw new RangeError(`the list has no word at ${index}`);
  }

  #link(chunk: Chunk, prev: Chunk | null, next: Chunk | null): void {
    chunk.prev = prev;
    chunk.next = next;
    if (prev === null) this.#first = chunk;
    else prev.next = chunk;
    if (next === null) this.#last = chunk;
    else next.prev = chunk;
    this.chunks++;
  }

  #unlink(chunk: Chunk): void {
    if (chunk.prev === null) this.#first = chunk.next;
    else chunk.prev.next = chunk.next;
    if (chunk.next === null) this.#last = chunk.prev;
    else chunk.next.prev = chunk.prev;
    this.chunks--;
  }

  /** Takes a chunk and its words out of the list. */
  #drop(chunk: Chunk): void {
    this.#unlink(chunk);
    this.size -= chunk.count;
    this.bytes -= chunk.bytes;
  }

  /** Gives a packed chunk a shorter run. */
  #shrink(chunk: Chunk, run: string, count: number): void {
    this.size -= chunk.count - count;
    this.bytes -= chunk.text.length - run.length;
    chunk.text = run;
    chunk.count = count;
  }

  #split(chunk: Chunk, ordinal: number): void {
    const at = seek(chunk.text, ordinal);
    const right = new Chunk(own(chunk.text.substring(at)), chunk.count - ordinal, false);
    chunk.text = own(chunk.text.substring(0, at));
    chunk.count = ordinal;
    this.#link(right, chunk, chunk.next);
  }

  /** Joins a chunk with its next where both have become small. */
  #mergeNext(chunk: Chunk): void {
    const next = chunk.next;
    if (next === null || chunk.plain || next.plain || chunk.text.length + next.text.length > MERGE_MAX) return;
    chunk.text = glue(chunk.text, next.text);
    chunk.count += next.count;
    this.#unlink(next);
  }
}

function wordsOf(chunk: Chunk): string[] {
  const words = new Array<string>(chunk.count);
  chunk.readInto(0, chunk.count, words, 0);
  return words;
}

function totalLength(words: readonly string[]): number {
  let total = 0;
  for (const word of words) total += word.length;
  return total;
}
