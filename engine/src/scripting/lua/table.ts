/**
 * Lua tables that behave like the reference's in everything that a script can see: how `#` finds a border, in which order
 * `next` walks, and what a constructor leaves room for. So the layout is Lua 5.1's own.
 *
 * A table has an array part of `asize` slots for the keys 1..asize, and a hash part of 2^n nodes. A key that fits neither
 * goes to the hash part; when that is full, everything is counted, and the array part becomes the largest power of two of
 * which more than half is used. Colliding nodes are chained inside the node vector; a free node is looked for from its end.
 *
 * - `array` holds only what was stored: array[0] is not used, its last element is never nil, and it may be shorter than
 *   `asize`. `holes` counts the nils in it; where there are none its end is the only border, and nobody searches.
 *   It always is an array of any values (never of integers or doubles only), so that each access compiles to one shape.
 * - `nodes` is flat: key, value, index of the next node in the chain (or -1), hash. The hash is compared before the key, so
 *   that keys are compared only when they are very likely equal. Hashes of constant keys are computed by the compiler.
 * - A key whose value is nil keeps its node until the next count, as in Lua. Storing nil under a new key makes a node, too.
 *
 * Not reproduced: the order of keys that Lua hashes by address (tables, functions), which differs from run to run there.
 */
import { hashNumber, hashOf, hashString } from "./hash.ts";
import { take } from "./memory.ts";
import { LuaError, type LuaValue } from "./value.ts";

/** Array parts end here (2^26), as in Lua. */
const MAX_ARRAY = 1 << 26;
const READONLY = "Attempt to modify a readonly table";

/** Fields of a node. */
const VALUE = 1;
const NEXT = 2;
const HASH = 3;
const SHIFT = 2;

// biome-ignore lint/suspicious/noExplicitAny: nodes mix keys, values and integers
type Nodes = any[];

/** Shared by all tables without an array part; never written to. */
const NO_ARRAY: LuaValue[] = [undefined];
/** Shared by all tables without a hash part: one node that no key is in. */
const NO_NODES: Nodes = [undefined, undefined, -1, 0];

/** Elements that need not be paid for one by one. */
const FEW = 16;
/** What an element takes in a JavaScript array, which while it grows is there twice. */
const SLOT_BYTES = 16;
/** A node's four fields. */
const NODE_BYTES = 32;

const templates: Nodes[] = [];

/** Up to this size, vectors are copies of one that is kept. */
const KEPT_BITS = 10;

/** Beyond this, V8 makes a hash table of an array that is made with its length: many times the memory, and slow. */
const LITERAL_BITS = 21;
/** The largest vector that V8 keeps as one: 2^26 slots. In Lua it is the number of bits of an integer. */
const MOST_NODE_BITS = 24;

/** A fresh vector of 2^bits nodes. */
function emptyNodes(bits: number): Nodes {
  if (bits > LITERAL_BITS) return pushNodes(4 << bits);
  if (bits > KEPT_BITS) return fillNodes(new Array(4 << bits));
  templates[bits] ??= Array.from(fillNodes(new Array(4 << bits)));
  return templates[bits].slice();
}

function fillNodes(nodes: Nodes): Nodes {
  for (let i = 0; i < nodes.length; i += 1 << SHIFT) {
    nodes[i] = undefined;
    nodes[i + VALUE] = undefined;
    nodes[i + NEXT] = -1;
    nodes[i + HASH] = 0;
  }
  return nodes;
}

function pushNodes(length: number): Nodes {
  const nodes: Nodes = [];
  for (let i = 0; i < length; i += 1 << SHIFT) nodes.push(undefined, undefined, -1, 0);
  return nodes;
}

/** Strings and booleans are spread over all nodes by their low bits, the rest by a remainder. */
function mainPosition(key: LuaValue, hash: number, mask: number): number {
  if (typeof key === "string" || typeof key === "boolean") return (hash & mask) << SHIFT;
  if (key === 0) return 0;
  return ((hash >>> 0) % (mask | 1)) << SHIFT;
}

const ceilLog2 = (n: number) => (n <= 1 ? 0 : 32 - Math.clz32(n - 1));

/** Where the fields of a table are that were stored in a certain order, without their values. */
export interface FieldLayout {
  readonly nodes: Nodes;
  /** Of each value. */
  readonly places: readonly number[];
  readonly mask: number;
  readonly lastFree: number;
}

export class LuaTable {
  /** 1-based; see above. For generated code, which reads and overwrites existing elements here. */
  array: LuaValue[] = NO_ARRAY;
  metatable: LuaTable | null = null;
  /** Set on the tables that scripts must not change; every way of changing one looks at it. */
  readonly = false;
  declare readonly luaType: "table";
  /** Slots of the array part, used or not. */
  #arraySize = 0;
  #holes = 0;
  #nodes: Nodes = NO_NODES;
  /** Number of nodes - 1. */
  #mask = 0;
  /** Nodes from here on are taken (an index into the flat vector). */
  #lastFree = 0;

  /** Room for this many elements and fields, as Lua's lua_createtable. */
  constructor(elements = 0, fields = 0) {
    if (elements > 0) {
      this.#arraySize = elements;
      this.array = [undefined];
    }
    if (fields > 0) this.#newNodes(fields);
  }

  /** A table of values 1..n with an array part of exactly n slots. Undefined elements are holes. */
  static fromArray(values: readonly LuaValue[]): LuaTable {
    const table = new LuaTable(values.length);
    table.append(0, values);
    return table;
  }

  /** A table of the words from one index to another: KEYS and ARGV, made for every call of a script. */
  static fromWords(words: readonly string[], from: number, to: number): LuaTable {
    const table = new LuaTable();
    const length = to - from;
    if (length === 0) return table;
    const array = new Array<LuaValue>(length + 1);
    array[0] = undefined;
    for (let i = 1; i <= length; i++) array[i] = words[from + i - 1];
    table.array = array;
    table.#arraySize = length;
    return table;
  }

  /** A table whose hash part is this vector, laid out as `layoutOf` says; the caller gives the vector away. */
  static fromNodes(nodes: Nodes, mask: number, lastFree: number): LuaTable {
    const table = new LuaTable();
    table.#nodes = nodes;
    table.#mask = mask;
    table.#lastFree = lastFree;
    return table;
  }

  /** How the fields of a constructor lie if none of them is nil: the vector with `true` for each value. */
  static layoutOf(names: readonly string[], room: number): { nodes: Nodes; mask: number; lastFree: number } {
    const table = new LuaTable(0, room);
    for (const name of names) table.setStr(name, true);
    return { nodes: table.#nodes, mask: table.#mask, lastFree: table.#lastFree };
  }

  /** A table laid out like another one, with values of its own. */
  static fromLayout(layout: FieldLayout, values: readonly LuaValue[]): LuaTable {
    const table = new LuaTable();
    const { places } = layout;
    const nodes = layout.nodes.slice();
    for (let i = 0; i < places.length; i++) nodes[places[i]!] = values[i];
    table.#nodes = nodes;
    table.#mask = layout.mask;
    table.#lastFree = layout.lastFree;
    return table;
  }

  /** The layout of a table that has these fields and nothing else. */
  fieldLayout(keys: readonly string[]): FieldLayout {
    const nodes = this.#nodes.slice();
    const places = keys.map((key) => this.#find(key, hashString(key)) + VALUE);
    for (const place of places) nodes[place] = undefined;
    return { nodes, places, mask: this.#mask, lastFree: this.#lastFree };
  }

  /** Stores values at from + 1, from + 2 …, making room for exactly those (what a constructor's list does). */
  append(from: number, values: readonly LuaValue[]): void {
    const { length } = values;
    if (length > FEW) take(length * SLOT_BYTES);
    if (from + length > this.#arraySize) this.#resizeArray(from + length);
    const { array } = this;
    let i = 0;
    if (array.length === from + 1) for (; i < length && values[i] !== undefined; i++) array.push(values[i]);
    for (; i < length; i++) {
      const value = values[i];
      if (value !== undefined || from + i + 1 < array.length) this.#setSlot(from + i + 1, value);
    }
  }

  /** The values from one integer key to another. */
  slice(from: number, to: number): LuaValue[] {
    if (from > 0 && to < this.array.length) return this.array.slice(from, to + 1);
    const values: LuaValue[] = [];
    for (let i = from; i <= to; i++) values.push(this.getInt(i));
    return values;
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === "string") return this.getHashed(key, hashString(key));
    if (typeof key === "number") return this.getNumber(key);
    if (key === undefined) return undefined;
    const i = this.#find(key, hashOf(key));
    return i < 0 ? undefined : this.#nodes[i + VALUE];
  }

  getStr(key: string): LuaValue {
    return this.getHashed(key, hashString(key));
  }

  /** A string key whose `hashString` is known. */
  getHashed(key: string, hash: number): LuaValue {
    const nodes = this.#nodes;
    let i = (hash & this.#mask) << SHIFT;
    do {
      if (nodes[i + HASH] === hash && nodes[i] === key) return nodes[i + VALUE];
      i = nodes[i + NEXT];
    } while (i >= 0);
    return undefined;
  }

  getNumber(key: number): LuaValue {
    const index = key | 0;
    if (index === key) {
      const array = this.array;
      if (index > 0 && index < array.length) return array[index];
    }
    if (this.#nodes === NO_NODES) return undefined;
    const i = this.#find(key, hashNumber(key));
    return i < 0 ? undefined : this.#nodes[i + VALUE];
  }

  /** An integer key. */
  getInt(key: number): LuaValue {
    const array = this.array;
    return key > 0 && key < array.length ? array[key] : this.getNumber(key);
  }

  /** Stores without regard to metatables. Throws Lua's error for a read-only table and for the keys nil and NaN. */
  set(key: LuaValue, value: LuaValue): void {
    if (typeof key === "string") this.setHashed(key, hashString(key), value);
    else if (typeof key === "number") this.setNumber(key, value);
    else if (key === undefined) throw new LuaError("table index is nil");
    else {
      if (this.readonly) throw new LuaError(READONLY);
      this.#setNode(key, hashOf(key), value);
    }
  }

  setStr(key: string, value: LuaValue): void {
    this.setHashed(key, hashString(key), value);
  }

  setHashed(key: string, hash: number, value: LuaValue): void {
    if (this.readonly) throw new LuaError(READONLY);
    const nodes = this.#nodes;
    let i = (hash & this.#mask) << SHIFT;
    do {
      if (nodes[i + HASH] === hash && nodes[i] === key) {
        nodes[i + VALUE] = value;
        return;
      }
      i = nodes[i + NEXT];
    } while (i >= 0);
    this.#insert(key, hash, value);
  }

  /** Overwrites a field that has a value; false where there is none. Generated code, which must look at metatables then. */
  replaceHashed(key: string, hash: number, value: LuaValue): boolean {
    const nodes = this.#nodes;
    let i = (hash & this.#mask) << SHIFT;
    do {
      if (nodes[i + HASH] === hash && nodes[i] === key) {
        if (nodes[i + VALUE] === undefined || this.readonly) return false;
        nodes[i + VALUE] = value;
        return true;
      }
      i = nodes[i + NEXT];
    } while (i >= 0);
    return false;
  }

  /** An integer key. */
  setInt(key: number, value: LuaValue): void {
    this.setNumber(key, value);
  }

  setNumber(key: number, value: LuaValue): void {
    const index = key | 0;
    if (index === key && index > 0) {
      const array = this.array;
      if (index < array.length) {
        if (value !== undefined && array[index] !== undefined) {
          array[index] = value;
          return;
        }
      } else if (index === array.length && index <= this.#arraySize && value !== undefined) {
        array.push(value);
        return;
      }
      if (index <= this.#arraySize) {
        this.#setSlot(index, value);
        return;
      }
    }
    if (Number.isNaN(key)) throw new LuaError("table index is NaN");
    if (this.readonly) throw new LuaError(READONLY);
    this.#setNode(key, hashNumber(key), value);
  }

  /** A border: n with t[n] not nil and t[n + 1] nil, the one that Lua finds. */
  length(): number {
    const size = this.#arraySize;
    const used = this.array.length - 1;
    if (used < size) return this.#holes === 0 ? used : this.#searchArray(size);
    return this.#nodes === NO_NODES ? size : this.#searchNodes(size);
  }

  /** The key and value after this key (undefined: the first ones); null at the end. Throws for a key that is not there. */
  next(key: LuaValue): [LuaValue, LuaValue] | null {
    const position = this.advance(this.locate(key));
    return position < 0 ? null : [this.keyAt(position), this.valueAt(position)];
  }

  /** All keys and values in the order of `next`. The table may lose keys meanwhile, not gain any. */
  *entries(): IterableIterator<[LuaValue, LuaValue]> {
    for (let p = this.advance(0); p >= 0; p = this.advance(p)) yield [this.keyAt(p), this.valueAt(p)];
  }

  /**
   * Walking by position: `for (let p = t.advance(0); p >= 0; p = t.advance(p))`, with `keyAt(p)` and `valueAt(p)`. Positions
   * stay true until `layout` changes; then `locate(key)` finds a key's new one.
   */
  advance(position: number): number {
    const array = this.array;
    let p = position + 1;
    for (; p < array.length; p++) if (array[p] !== undefined) return p;
    const size = this.#arraySize;
    const nodes = this.#nodes;
    for (let i = p <= size ? 0 : (p - size - 1) << SHIFT; i < nodes.length; i += 1 << SHIFT) {
      if (nodes[i + VALUE] !== undefined) return (i >> SHIFT) + size + 1;
    }
    return -1;
  }

  keyAt(position: number): LuaValue {
    const size = this.#arraySize;
    return position <= size ? position : this.#nodes[(position - size - 1) << SHIFT];
  }

  valueAt(position: number): LuaValue {
    const size = this.#arraySize;
    return position <= size ? this.array[position] : this.#nodes[((position - size - 1) << SHIFT) + VALUE];
  }

  /** The object that changes when positions do. */
  get layout(): unknown {
    return this.#nodes;
  }

  /** A key's position, 0 for nil. */
  locate(key: LuaValue): number {
    if (key === undefined) return 0;
    const size = this.#arraySize;
    if (typeof key === "number" && key > 0 && key <= size && Number.isInteger(key)) return key;
    const i = this.#find(key, hashOf(key));
    if (i < 0) throw new LuaError("invalid key to 'next'");
    return (i >> SHIFT) + size + 1;
  }

  /** Whether there is nothing in it. */
  get isEmpty(): boolean {
    return this.advance(0) < 0;
  }

  #find(key: LuaValue, hash: number): number {
    const nodes = this.#nodes;
    let i = mainPosition(key, hash, this.#mask);
    do {
      if (nodes[i + HASH] === hash && nodes[i] === key) return i;
      i = nodes[i + NEXT];
    } while (i >= 0);
    return -1;
  }

  #searchArray(size: number): number {
    const array = this.array;
    let i = 0;
    let j = size;
    while (j - i > 1) {
      const middle = (i + j) >>> 1;
      if (array[middle] === undefined) j = middle;
      else i = middle;
    }
    return i;
  }

  #searchNodes(size: number): number {
    let i = size;
    let j = size + 1;
    while (this.getNumber(j) !== undefined) {
      i = j;
      j *= 2;
      if (j > 0x7fffffff) {
        i = 1;
        while (this.getNumber(i) !== undefined) i++;
        return i - 1;
      }
    }
    while (j - i > 1) {
      const middle = Math.floor((i + j) / 2);
      if (this.getNumber(middle) === undefined) j = middle;
      else i = middle;
    }
    return i;
  }

  /** Stores in the array part: 1 <= index <= #arraySize. */
  #setSlot(index: number, value: LuaValue): void {
    if (this.readonly) throw new LuaError(READONLY);
    const array = this.array;
    if (index < array.length) {
      const before = array[index];
      if (value !== undefined) {
        if (before === undefined) this.#holes--;
        array[index] = value;
      } else if (before !== undefined) {
        if (index === array.length - 1) this.#dropLast();
        else {
          array[index] = undefined;
          this.#holes++;
        }
      }
    } else if (value !== undefined) {
      this.#holes += index - array.length;
      while (array.length < index) array.push(undefined);
      array.push(value);
    }
  }

  #dropLast(): void {
    const array = this.array;
    array.pop();
    while (array.length > 1 && array[array.length - 1] === undefined) {
      array.pop();
      this.#holes--;
    }
  }

  #setNode(key: LuaValue, hash: number, value: LuaValue): void {
    const i = this.#find(key, hash);
    if (i >= 0) this.#nodes[i + VALUE] = value;
    else this.#insert(key, hash, value);
  }

  /**
   * A key that is not there yet. If the node where it belongs is taken by one that belongs there, the new one goes to a free
   * node; if by one that does not, that one moves.
   */
  #insert(key: LuaValue, hash: number, value: LuaValue): void {
    const nodes = this.#nodes;
    let i = mainPosition(key, hash, this.#mask);
    if (nodes[i + VALUE] !== undefined || nodes === NO_NODES) {
      const free = this.#freeNode();
      if (free < 0) {
        this.#grow(key);
        if (typeof key === "number") this.setNumber(key, value);
        else this.#setNode(key, hash, value);
        return;
      }
      let other = mainPosition(nodes[i], nodes[i + HASH], this.#mask);
      if (other !== i) {
        while (nodes[other + NEXT] !== i) other = nodes[other + NEXT];
        nodes[other + NEXT] = free;
        for (let field = 0; field < 4; field++) nodes[free + field] = nodes[i + field];
        nodes[i + NEXT] = -1;
      } else {
        nodes[free + NEXT] = nodes[i + NEXT];
        nodes[i + NEXT] = free;
        i = free;
      }
    }
    nodes[i] = key;
    nodes[i + VALUE] = value;
    nodes[i + HASH] = hash;
  }

  #freeNode(): number {
    const nodes = this.#nodes;
    let i = this.#lastFree;
    while (i > 0) {
      i -= 1 << SHIFT;
      if (nodes[i] === undefined) {
        this.#lastFree = i;
        return i;
      }
    }
    this.#lastFree = 0;
    return -1;
  }

  #newNodes(count: number): void {
    if (count === 0) {
      this.#nodes = NO_NODES;
      this.#mask = 0;
      this.#lastFree = 0;
      return;
    }
    const bits = ceilLog2(count);
    if (bits > MOST_NODE_BITS) throw new LuaError("table overflow");
    this.#nodes = emptyNodes(bits);
    this.#mask = (1 << bits) - 1;
    this.#lastFree = 4 << bits;
  }

  #resizeArray(size: number): void {
    if (this.array === NO_ARRAY && size > 0) this.array = [undefined];
    // As in Lua the nodes are built anew, which moves keys that now belong into the array.
    this.#resize(size, this.#nodes === NO_NODES ? 0 : this.#mask + 1);
  }

  /** Counts all keys, and the one that found no room, and gives each part its new size. */
  #grow(extra: LuaValue): void {
    if (this.#arraySize === 0 && typeof extra !== "number" && this.#growFields()) return;
    const slices = new Array<number>(27).fill(0);
    let total = this.#countArray(slices);
    let integers = total;
    const nodes = this.#nodes;
    for (let i = nodes.length - (1 << SHIFT); i >= 0; i -= 1 << SHIFT) {
      if (nodes[i + VALUE] !== undefined) {
        integers += countKey(nodes[i], slices);
        total++;
      }
    }
    integers += countKey(extra, slices);
    total++;
    let size = 0;
    let inArray = 0;
    let sum = 0;
    for (let bit = 0, power = 1; power / 2 < integers; bit++, power *= 2) {
      const slice = slices[bit]!;
      if (slice > 0) {
        sum += slice;
        if (sum > power / 2) {
          size = power;
          inArray = sum;
        }
      }
      if (sum === integers) break;
    }
    this.#resize(size, total - inArray);
  }

  /** The same for a table of fields only, which most are: nothing can move to the array part. False if there is a number. */
  #growFields(): boolean {
    const nodes = this.#nodes;
    let total = 1;
    for (let i = 0; i < nodes.length; i += 1 << SHIFT) {
      if (nodes[i + VALUE] === undefined) continue;
      if (typeof nodes[i] === "number") return false;
      total++;
    }
    this.#resize(0, total);
    return true;
  }

  /** Elements of the array part by slices (2^(n-1), 2^n]; returns how many. */
  #countArray(slices: number[]): number {
    const array = this.array;
    const used = array.length - 1;
    let total = 0;
    for (let bit = 0, start = 1, power = 1; start <= used; bit++, start = power + 1, power *= 2) {
      const end = Math.min(power, used);
      let count = end - start + 1;
      if (this.#holes > 0) for (let i = start; i <= end; i++) if (array[i] === undefined) count--;
      slices[bit]! += count;
      total += count;
    }
    return total;
  }

  #resize(arraySize: number, nodeCount: number): void {
    const oldSize = this.#arraySize;
    const old = this.#nodes;
    // Before anything is changed, since it may throw.
    if (arraySize > oldSize) take((arraySize - oldSize) * SLOT_BYTES);
    if (nodeCount > 0) take(NODE_BYTES << Math.min(ceilLog2(nodeCount), MOST_NODE_BITS));
    if (arraySize > oldSize && this.array === NO_ARRAY) this.array = [undefined];
    this.#arraySize = arraySize;
    this.#newNodes(nodeCount);
    if (arraySize < oldSize) this.#shrinkArray(arraySize);
    if (old === NO_NODES) return;
    for (let i = old.length - (1 << SHIFT); i >= 0; i -= 1 << SHIFT) {
      const value = old[i + VALUE];
      if (value === undefined) continue;
      const key = old[i];
      if (typeof key === "number") this.setNumber(key, value);
      else this.#insert(key, old[i + HASH], value);
    }
  }

  /** Moves the elements past the new end of the array part to the hash part, in ascending order as Lua does. */
  #shrinkArray(size: number): void {
    const rest = this.array.slice(size + 1);
    if (this.array.length > size + 1) {
      this.array.length = size + 1;
      for (const value of rest) if (value === undefined) this.#holes--;
      while (this.array.length > 1 && this.array[this.array.length - 1] === undefined) {
        this.array.pop();
        this.#holes--;
      }
    }
    if (size === 0) this.array = NO_ARRAY;
    rest.forEach((value, i) => {
      if (value !== undefined) this.setNumber(size + 1 + i, value);
    });
  }
}
Object.defineProperty(LuaTable.prototype, "luaType", { value: "table" });

/** Counts a key if it could be in an array part. */
function countKey(key: LuaValue, slices: number[]): number {
  if (typeof key !== "number" || key < 1 || key > MAX_ARRAY || !Number.isInteger(key)) return 0;
  slices[ceilLog2(key)]!++;
  return 1;
}
