/**
 * Ids. `Ids` gives whole numbers that are unique over all processes: each process reserves a block in the store and gives its numbers
 * one after the other, so that the store is asked once for a thousand. `ulid` and `uuid7` ask nobody (sortable.ts).
 *
 * A block is asked for before the last one is used up, so that callers seldom wait.
 */
import { aStore, integer } from "../../base/checks.ts";
import { CinnabarError } from "../../base/errors.ts";
import { getOrMake } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { defineOptions, prefix, whole, withDefaults } from "../../base/options.ts";
import type { Store } from "../../connection/store.ts";
import { idKey } from "./keys.ts";
import { LARGEST, raise, reserve } from "./scripts.ts";

export { madeAt, ulid, uuid7 } from "./sortable.ts";

/** What `Ids` may be given. */
export interface IdsOptions {
  /** How all keys begin (default "id"). */
  readonly prefix?: string;
  /** How many numbers a process reserves at a time: what it has not used is a gap when it ends. 1 000 by default. */
  readonly blockCount?: number;
}

/** A sequence at one moment. */
export interface SequenceInspection {
  /** Numbers up to this one are reserved. */
  readonly last: number;
}

/** All numbers up to 2^53 are taken. */
export class SequenceExhaustedError extends CinnabarError {
  override readonly name = "SequenceExhaustedError";

  constructor(name: string) {
    super("EXHAUSTED", `the sequence "${name}" has no numbers below 2^53 left`);
  }
}

const DEFAULTS = { prefix: "id", blockCount: 1_000 };
const MOST_AT_ONCE = 1_000_000;
/** The next block is asked for when so much of the current one is left. */
const LOW = 0.25;
/** Names whose blocks this process keeps. */
const MOST_NAMES = 100_000;

const OPTIONS = defineOptions<IdsOptions>("Ids", { prefix, blockCount: whole(1, MOST_AT_ONCE) });

/** Numbers that this process may give: from `next` to `last`. */
interface Block {
  next: number;
  last: number;
}

class Sequence {
  readonly blocks: Block[] = [];
  asking: Promise<void> | null = null;

  get left(): number {
    return this.blocks.reduce((sum, { next, last }) => sum + last - next + 1, 0);
  }

  /** So many numbers, if they are here. */
  take(count: number): number[] | null {
    if (this.left < count) return null;
    const taken: number[] = [];
    for (let block = this.blocks[0]; block !== undefined && taken.length < count; block = this.blocks[0]) {
      while (block.next <= block.last && taken.length < count) taken.push(block.next++);
      if (block.next > block.last) this.blocks.shift();
    }
    return taken;
  }
}

/**
 * Whole numbers that are unique over all processes, from blocks that each process reserves in the store.
 *
 * @example
 * const ids = new Ids(db, { blockCount: 1_000 });
 * await ids.raise("orders", 20_000); // → 20000
 * await ids.next("orders"); // → 20001
 * await ids.nextMany("orders", 2); // → [20002, 20003]
 * await ids.inspect("orders"); // → { last: 21000 }
 * await ids.delete("orders"); // → true
 */
export class Ids {
  readonly #store: Store;
  readonly #prefix: string;
  readonly #blockCount: number;
  readonly #names: NameIndex;
  readonly #sequences = new Map<string, Sequence>();

  constructor(store: Store, options: IdsOptions = {}) {
    this.#store = aStore("Ids", store);
    OPTIONS.check(options);
    const { prefix, blockCount } = withDefaults(DEFAULTS, options);
    this.#prefix = prefix;
    this.#blockCount = blockCount;
    this.#names = new NameIndex(store, { kind: "ids", prefix });
  }

  /** A number that nobody else gets for this name. One of a process is larger than those before it, unless the sequence was deleted. */
  async next(name: string): Promise<number> {
    const [id] = await this.nextMany(name, 1);
    if (id === undefined) throw new SequenceExhaustedError(name);
    return id;
  }

  /** Several, in ascending order; not always without gaps. */
  async nextMany(name: string, count: number): Promise<number[]> {
    integer("count", count, 1, MOST_AT_ONCE);
    const key = idKey(this.#prefix, name);
    if (this.#sequences.size >= MOST_NAMES && !this.#sequences.has(name)) this.#sequences.clear();
    const sequence = getOrMake(this.#sequences, name, () => new Sequence());
    for (;;) {
      const taken = sequence.take(count);
      if (taken !== null) {
        // Others will need more: it is asked for while they use what is left.
        if (sequence.left < Math.floor(this.#blockCount * LOW))
          this.#ask(sequence, { name, key, count: 0 }).catch(() => {});
        return taken;
      }
      await this.#ask(sequence, { name, key, count: count - sequence.left });
    }
  }

  /** Up to which number a sequence is reserved; 0 where nobody has asked for one. */
  async inspect(name: string): Promise<SequenceInspection> {
    return { last: await this.#store.run(raise, { last: idKey(this.#prefix, name), to: 0 }) };
  }

  /**
   * Numbers up to `to` are not given from now on, for a sequence that goes on where another has ended. Processes that have a block
   * use it up first, so raise it before the first `next`. Answers with the last number that is taken.
   */
  async raise(name: string, to: number): Promise<number> {
    integer("to", to, 0, LARGEST);
    this.#sequences.delete(name);
    this.#names.announce(name);
    return this.#store.run(raise, { last: idKey(this.#prefix, name), to });
  }

  /** The sequence begins at 1 again; processes that have a block of it use it up first. False: there was none. */
  async delete(name: string): Promise<boolean> {
    this.#sequences.delete(name);
    const deleted = await this.#store.send(["DEL", idKey(this.#prefix, name)], { repeatable: true });
    await this.#names.remove(name);
    return Number(deleted) > 0;
  }

  /** One request at a time, for all who need it. */
  #ask(
    sequence: Sequence,
    { name, key, count }: { readonly name: string; readonly key: string; readonly count: number },
  ): Promise<void> {
    sequence.asking ??= this.#reserve(sequence, name, key, Math.max(count, this.#blockCount)).finally(() => {
      sequence.asking = null;
    });
    return sequence.asking;
  }

  async #reserve(sequence: Sequence, name: string, key: string, count: number): Promise<void> {
    const last = await this.#store.run(reserve, { last: key, count });
    if (last === null) throw new SequenceExhaustedError(name);
    sequence.blocks.push({ next: last - count + 1, last });
    this.#names.announce(name);
  }
}
