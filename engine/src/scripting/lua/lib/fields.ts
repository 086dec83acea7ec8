/**
 * Tables of fields as decoders make them, field by field.
 *
 * The order in which Lua walks a table depends on its keys and on the order in which they were stored, and to get it right
 * the table has to grow step by step. But data that is decoded mostly looks like data that was decoded before. So the
 * sequences of keys that were seen form a tree, and the layout that each came to is kept: the next table with the same keys
 * is a copy of it, with its own values. Each node of the tree remembers which key came next last time, so that usually no
 * key has to be looked up, or even cut out of the text.
 *
 * The tree is bounded: sequences are kept up to a length, and when there are too many all are forgotten.
 */
import { copied } from "../memory.ts";
import { type FieldLayout, LuaTable } from "../table.ts";
import type { LuaValue } from "../value.ts";

const MAX_SHAPES = 2000;
const MAX_KEYS = 32;
const MAX_KEY_LENGTH = 64;

/** A sequence of keys. */
class Shape {
  readonly keys: readonly string[];
  readonly #children: Map<string, Shape>;
  /** The key that came next last time, and where it leads to. */
  expected: string | undefined;
  #next: Shape | undefined;
  /** Made when the sequence has ended here for the second time: most of what is seen once is never seen again. */
  #layout: FieldLayout | undefined;
  #seen: boolean;

  constructor(keys: readonly string[]) {
    this.keys = keys;
    this.#children = new Map();
    this.expected = undefined;
    this.#next = undefined;
    this.#layout = undefined;
    this.#seen = false;
  }

  /** This sequence with one more key; undefined where that is not to be kept, or the key is in it already. */
  child(key: string): Shape | undefined {
    if (key === this.expected) return this.#next;
    let shape = this.#children.get(key);
    if (shape === undefined) {
      if (this.keys.length >= MAX_KEYS || key.length > MAX_KEY_LENGTH || this.keys.includes(key)) return undefined;
      if (++shapes > MAX_SHAPES) {
        root = new Shape([]);
        shapes = 0;
      }
      const kept = copied(key);
      shape = new Shape([...this.keys, kept]);
      this.#children.set(kept, shape);
    }
    this.expected = key;
    this.#next = shape;
    return shape;
  }

  make(values: LuaValue[]): LuaTable {
    if (this.#layout !== undefined) return LuaTable.fromLayout(this.#layout, values);
    const table = new LuaTable();
    this.keys.forEach((key, i) => {
      table.setStr(key, values[i]);
    });
    if (this.#seen) this.#layout = table.fieldLayout(this.keys);
    this.#seen = true;
    return table;
  }
}

let root = new Shape([]);
let shapes = 0;

/** A table in the making. */
export class Fields {
  #shape = root;
  readonly #values: LuaValue[] = [];
  /** From the first field on that does not fit into the scheme, an ordinary table. */
  #table: LuaTable | undefined;

  /** The key that is likely to come next. */
  get expected(): string | undefined {
    return this.#table === undefined ? this.#shape.expected : undefined;
  }

  add(key: LuaValue, value: LuaValue): void {
    if (this.#table === undefined) {
      if (typeof key === "string" && value !== undefined) {
        const shape = this.#shape.child(key);
        if (shape !== undefined) {
          this.#shape = shape;
          this.#values.push(value);
          return;
        }
      }
      this.#table = this.#shape.make(this.#values);
    }
    this.#table.set(key, value);
  }

  done(): LuaTable {
    return this.#table ?? this.#shape.make(this.#values);
  }
}
