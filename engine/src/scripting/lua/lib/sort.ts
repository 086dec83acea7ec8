/**
 * `table.sort`: the quicksort of Lua 5.1, comparison by comparison, since a script sees the order in which its function is
 * asked, what equal elements end up like, and when an inconsistent function is found out.
 *
 * Where nobody can see it (only numbers or only strings, and no function) JavaScript sorts.
 */
// biome-ignore-all lint/complexity/noArguments: only the number of arguments is asked for, which costs nothing
import { LONG, take, VALUE_BYTES } from "../memory.ts";
import type { Runtime } from "../runtime.ts";
import type { LuaTable } from "../table.ts";
import { EMPTY, first, type LuaFunction, type LuaValue, type Results } from "../value.ts";
import { checkFunction, checkTable } from "./check.ts";

type Less = (a: LuaValue, b: LuaValue) => boolean;

/** Thrown deep inside; the Lua error is made where the place in the script is near on the stack. */
const INCONSISTENT = Symbol("invalid order function");

export function sortFunction(rt: Runtime): LuaFunction {
  return function sort(t, f): Results {
    const table = checkTable(rt, t, 1, "sort", arguments.length);
    const count = table.length();
    const less = f === undefined ? rt.lessThan : asking(checkFunction(rt, f, 2, "sort", arguments.length));
    if (f === undefined && sortPlain(rt, table, count)) return EMPTY;
    try {
      quicksort(rt, table, 1, count, less);
    } catch (thrown) {
      throw thrown === INCONSISTENT ? rt.error("invalid order function for sorting") : thrown;
    }
    return EMPTY;
  };
}

function asking(f: LuaFunction): Less {
  return (a, b) => {
    const answer = first(fromNative(f, a, b));
    return answer !== undefined && answer !== false;
  };
}

/** By this name a stack tells that a native function called back: see trace.ts. */
const { fromNative } = {
  fromNative(f: LuaFunction, a: LuaValue, b: LuaValue): Results {
    return f(a, b);
  },
};

/** Numbers and strings of which equal ones cannot be told apart; false where there is anything else. */
function sortPlain(rt: Runtime, table: LuaTable, count: number): boolean {
  if (count < 2 || table.readonly) return false;
  take(count * 2 * VALUE_BYTES);
  const values: LuaValue[] = [];
  const type = typeof table.getInt(1);
  if (type !== "number" && type !== "string") return false;
  for (let i = 1; i <= count; i++) {
    const value = table.getInt(i);
    // NaN is not in order with anything, and the two zeros look different.
    if (typeof value !== type || Number.isNaN(value) || Object.is(value, -0)) return false;
    values.push(value);
  }
  // Comparing is where the time goes, and where it can be interrupted.
  if (type === "string") {
    (values as string[]).sort((a, b) => {
      rt.step(a.length > LONG ? 2 * a.length : 0);
      return a < b ? -1 : a > b ? 1 : 0;
    });
  } else {
    (values as number[]).sort((a, b) => {
      rt.step(0);
      return a - b;
    });
  }
  for (let i = 0; i < count; i++) table.setInt(i + 1, values[i]);
  return true;
}

function swapIf(table: LuaTable, less: Less, low: number, high: number): void {
  const a = table.getInt(low);
  const b = table.getInt(high);
  if (!less(b, a)) return;
  table.setInt(low, b);
  table.setInt(high, a);
}

/** Sorts from..to: the smaller part by a call of its own, the larger one by going on. */
function quicksort(rt: Runtime, table: LuaTable, from: number, to: number, less: Less): void {
  let low = from;
  let high = to;
  while (low < high) {
    swapIf(table, less, low, high);
    if (high - low === 1) return;
    const middle = (low + high) >> 1;
    const a = table.getInt(middle);
    const first = table.getInt(low);
    if (less(a, first)) {
      table.setInt(middle, first);
      table.setInt(low, a);
    } else swapIf(table, less, middle, high);
    if (high - low === 2) return;
    const pivot = table.getInt(middle);
    table.setInt(middle, table.getInt(high - 1));
    table.setInt(high - 1, pivot);
    const split = partition(rt, table, low, high, pivot, less);
    if (split - low < high - split) {
      quicksort(rt, table, low, split - 1, less);
      low = split + 1;
    } else {
      quicksort(rt, table, split + 1, high, less);
      high = split - 1;
    }
  }
}

/** Puts what is less than the pivot (which stands before the last one) before it; returns where it ends up. */
function partition(rt: Runtime, table: LuaTable, low: number, high: number, pivot: LuaValue, less: Less): number {
  let i = low;
  let j = high - 1;
  for (;;) {
    let a = table.getInt(++i);
    while (less(a, pivot)) {
      if (i > high) throw INCONSISTENT;
      a = table.getInt(++i);
    }
    let b = table.getInt(--j);
    while (less(pivot, b)) {
      if (j < low) throw INCONSISTENT;
      b = table.getInt(--j);
    }
    if (--rt.fuel < 0) rt.tick();
    if (j < i) break;
    table.setInt(i, b);
    table.setInt(j, a);
  }
  const last = table.getInt(high - 1);
  table.setInt(high - 1, table.getInt(i));
  table.setInt(i, last);
  return i;
}
