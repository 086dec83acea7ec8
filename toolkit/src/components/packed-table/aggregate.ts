/**
 * Aggregates: a script is made for what is asked (which columns, which conditions, which groups), with the places of the columns as
 * constants, and the values to compare with as arguments; so a program has as many scripts as it asks different questions. Each run
 * is over part of one shard, in blocks that are read whole; what it finds is put together here.
 */
import { integer } from "../../base/checks.ts";
import { InputError } from "../../base/errors.ts";
import { dropOldest } from "../../base/lists.ts";
import { defineScript, type Params, type Script } from "../../base/script.ts";
import type { Reply } from "../../connection/port.ts";
import { flagBits, isWord, luaNumber, toNumber } from "./columns.ts";
import type { Layout, PlacedColumn } from "./layout.ts";

/** What one run looks at, at most. */
export const ROWS_PER_RUN = 32_768;
export const IDS_PER_RUN = 8_192;
const BLOCK_BYTES = 65_536;
/** Of the rows around an id, so many are read at once: the next id is often near. */
const WINDOW_ROWS = 64;
const LOWEST = -Number.MAX_VALUE;

/** Which values of a column count: one value, null for none, any of a list, a range, or flags. */
export type Condition =
  | string
  | number
  | Date
  | null
  | readonly (string | number | Date | null)[]
  | {
      /** The least value that counts. None by default. */
      readonly min?: string | number | Date;
      /** The largest value that counts, itself included. None by default. */
      readonly max?: string | number | Date;
    }
  | {
      /** Flags that must all be set. */
      readonly has: string | readonly string[];
    };

/** A column, or a column in steps: 10 puts 20 to 29 together. */
export type GroupBy<K extends string> =
  | K
  | {
      /** The column's name. */
      readonly column: K;
      /** The width of a group: 10 puts 20 to 29 together. */
      readonly step: number;
    };

/** Which rows to count, and how. */
export interface Query<K extends string = string> {
  /** Only these rows, each once; all by default. */
  readonly ids?: Iterable<number>;
  /** Conditions by column, all of which a row must meet. None by default. */
  readonly where?: { readonly [column in K]?: Condition };
  /** Up to two. */
  readonly groupBy?: readonly GroupBy<K>[];
  /** Columns of numbers whose sum, least, largest and mean are wanted. */
  readonly measure?: readonly K[];
  /** More groups than this are an error (default 100 000). */
  readonly maxGroups?: number;
}

/** Figures of one column. */
export interface Measure {
  /** The sum of its values. */
  readonly sum: number;
  /** The least value. */
  readonly min: number;
  /** The largest value. */
  readonly max: number;
  /** The mean of its values. */
  readonly avg: number;
}

/** The rows that have the same values in the columns of `groupBy`. */
export interface Group {
  /** As in `groupBy`; empty without. */
  readonly key: readonly unknown[];
  /** How many rows. */
  readonly count: number;
  /** Figures of the columns of `measure`, by their names. */
  readonly measures: Readonly<Record<string, Measure>>;
}

/** What an aggregate came to. */
export interface Aggregate {
  /** How many rows counted in all. */
  readonly count: number;
  /** The largest first. */
  readonly groups: readonly Group[];
}

export type RunScript = Script<Params<"present", "range", "given", "segments">, Reply>;

export interface Grouping {
  readonly column: PlacedColumn;
  /** 0: by value. */
  readonly step: number;
}

/** A query that was understood. */
export interface Plan {
  readonly script: RunScript;
  readonly segments: readonly number[];
  readonly given: readonly (string | number)[];
  readonly groupings: readonly Grouping[];
  readonly measured: readonly PlacedColumn[];
}

/** Sums of a group, as runs give them and as they are put together. */
export interface Sums {
  readonly keys: readonly [number, number];
  count: number;
  /** Sum, least and largest of each measured column. */
  readonly values: number[];
}

const NUMERIC = /^(u?int|float)/;

interface Compiled {
  readonly tests: string[];
  readonly setup: string[];
  readonly given: (string | number)[];
}

/** `codeOf` gives the code of a word; undefined if it has none, and then it matches nothing. */
export function planned(
  layout: Layout,
  query: Query,
  codeOf: (column: PlacedColumn, word: string) => number | undefined,
): Plan {
  const columnOf = (name: string): PlacedColumn => {
    const column = layout.columns.get(name);
    if (column === undefined) throw new InputError(`the table has no column "${name}"`);
    if (column.kind === "bytes") throw new InputError(`"${name}" is bytes, which cannot be compared or grouped`);
    return column;
  };
  const groupings = (query.groupBy ?? []).map((each): Grouping => {
    const name = typeof each === "string" ? each : each.column;
    const column = columnOf(name);
    const step = typeof each === "string" ? 0 : each.step;
    if (step === 0 && column.kind.startsWith("float")) throw new InputError(`"${name}" can be grouped only in steps`);
    if (step < 0 || !Number.isFinite(step)) throw new InputError("step must be a number above 0");
    if (step > 0 && (isWord(column) || column.kind === "flags")) throw new InputError(`"${name}" has no steps`);
    return { column, step };
  });
  if (groupings.length > 2) throw new InputError("groupBy takes two columns at most");
  const measured = (query.measure ?? []).map((name) => {
    const column = columnOf(name);
    if (!NUMERIC.test(column.kind)) throw new InputError(`"${name}" is not a column of numbers`);
    return column;
  });
  const compiled: Compiled = { tests: [], setup: [], given: [] };
  const tested = Object.entries<Condition | undefined>(query.where ?? {}).flatMap(([name, condition]) => {
    return condition === undefined ? [] : [{ column: columnOf(name), condition }];
  });
  const used = [
    ...new Set([...tested.map(({ column }) => column), ...groupings.map(({ column }) => column), ...measured]),
  ];
  if (used.length > 32) throw new InputError("a query uses 32 columns at most");
  const variable = (column: PlacedColumn): string => `c${used.indexOf(column)}_`;
  for (const { column, condition } of tested) {
    addCondition(compiled, { column, name: variable(column) }, condition, codeOf);
  }
  const steps = groupings.map(({ column, step }, at) => {
    if (step === 0) return `local k${at + 1} = ${variable(column)}`;
    compiled.given.push(step);
    compiled.setup.push(`local step${at} = tonumber(given[${compiled.given.length}])`);
    return `local k${at + 1} = floor(${variable(column)} / step${at})`;
  });
  const segments = [...new Set(used.map(({ segment }) => segment))].sort((a, b) => a - b);
  const reads = used.map((column) => {
    const nth = segments.indexOf(column.segment);
    return luaNumber(variable(column), column, { block: `b${nth}`, at: `at${nth}`, offset: column.offset });
  });
  const row = rowLua(reads, compiled.tests, steps, measured.map(variable));
  const widths = segments.map((segment) => layout.widths[segment]!);
  const walk = query.ids === undefined ? rangeLua(widths, row) : idsLua(widths, row);
  const source = `${PROLOGUE}\n${compiled.setup.join("\n")}\n${walk}\n${EPILOGUE}`;
  return { script: scriptOf(source), segments, given: compiled.given, groupings, measured };
}

function addCondition(
  { tests, setup, given }: Compiled,
  { column, name }: { readonly column: PlacedColumn; readonly name: string },
  condition: Condition,
  codeOf: (column: PlacedColumn, word: string) => number | undefined,
): void {
  const what = `the condition on "${column.name}"`;
  const numberOf = (value: unknown): number => {
    if (!isWord(column)) return toNumber(what, column, value);
    if (value !== null && typeof value !== "string") throw new InputError(`${what} must be a word or null`);
    return value === null ? 0 : (codeOf(column, value) ?? -1);
  };
  const local = `w${setup.length}`;
  const isMap = typeof condition === "object" && condition !== null && !Array.isArray(condition);
  if (isMap && !(condition instanceof Date)) {
    if ("has" in condition) {
      if (column.kind !== "flags") throw new InputError(`"${column.name}" is not a column of flags`);
      given.push(flagBits(what, column, [condition.has].flat()));
      setup.push(`local ${local} = tonumber(given[${given.length}])`);
      tests.push(`band(${name}, ${local}) == band(${local}, ${local})`);
      return;
    }
    const min = "min" in condition ? condition.min : undefined;
    const max = "max" in condition ? condition.max : undefined;
    if ((min === undefined && max === undefined) || isWord(column) || column.kind === "flags") {
      throw new InputError(`${what} must have a min or a max, on a column that has an order`);
    }
    given.push(min === undefined ? LOWEST : numberOf(min), max === undefined ? Number.MAX_VALUE : numberOf(max));
    setup.push(`local ${local}, ${local}b = tonumber(given[${given.length - 1}]), tonumber(given[${given.length}])`);
    tests.push(`${name} >= ${local} and ${name} <= ${local}b`);
    return;
  }
  const isFlags = column.kind === "flags";
  const values = isFlags ? [numberOf(condition)] : [condition].flat().map(numberOf);
  given.push(values.join(","));
  setup.push(
    `local ${local} = {} for value in string.gmatch(given[${given.length}], "[^,]+") do ${local}[tonumber(value)] = true end`,
  );
  tests.push(`${local}[${name}]`);
}

const PROLOGUE = `
local byte, floor, unpackNumber, band, call = string.byte, math.floor, struct.unpack, bit.band, redis.call
local POWERS = {[0] = 128, 64, 32, 16, 8, 4, 2, 1}
local groups, list = {}, {}
-- What was never written, at the end of a string, is zeros.
local function rows(key, first, last, width)
  local found = call("GETRANGE", key, first * width, (last + 1) * width - 1)
  local missing = (last + 1 - first) * width - #found
  if missing > 0 then found = found .. string.rep("\\0", missing) end
  return found
end
`;

const EPILOGUE = `
local answer = {}
for i = 1, #list do
  local group = list[i]
  for j = 1, #group do answer[#answer + 1] = string.format("%.17g", group[j]) end
end
return answer
`;

/** What is done with a row that is there. A group is a list: both keys, count, then sum, least and largest of each measure. */
function rowLua(reads: string[], tests: string[], steps: string[], measured: string[]): string {
  const fresh = ["k1", "k2", "0", ...measured.flatMap(() => ["0", "math.huge", "-math.huge"])].join(", ");
  const place =
    steps.length < 2
      ? `local g = groups[k1] if not g then g = {${fresh}} groups[k1] = g list[#list + 1] = g end`
      : `local of = groups[k1] if not of then of = {} groups[k1] = of end
         local g = of[k2] if not g then g = {${fresh}} of[k2] = g list[#list + 1] = g end`;
  const sums = measured.map((name, nth) => {
    const at = 4 + nth * 3;
    return `g[${at}] = g[${at}] + ${name} if ${name} < g[${at + 1}] then g[${at + 1}] = ${name} end if ${name} > g[${at + 2}] then g[${at + 2}] = ${name} end`;
  });
  const keys = [steps[0] ?? "local k1 = 0", steps[1] ?? "local k2 = 0"];
  const body = [...keys, place, "g[3] = g[3] + 1", ...sums].join("\n");
  return `${reads.join("\n")}\n${tests.length === 0 ? `do ${body} end` : `if ${tests.join(" and ")} then ${body} end`}`;
}

/** `range`: first and last row, in whole eights. */
function rangeLua(widths: readonly number[], row: string): string {
  const widest = Math.max(1, ...widths);
  const step = Math.max(8, Math.floor(BLOCK_BYTES / widest / 8) * 8);
  const blocks = widths.map((width, nth) => `local b${nth} = rows(segments[${nth + 1}], first, last, ${width})`);
  const places = widths.map((width, nth) => `local at${nth} = r * ${width}`);
  return `
    local from, upto = string.match(range, "(%d+) (%d+)")
    for first = tonumber(from), tonumber(upto), ${step} do
      local last = math.min(tonumber(upto), first + ${step - 1})
      local marks = call("GETRANGE", present, first / 8, (last + 1) / 8 - 1)
      if string.find(marks, "[^%z]") then
        ${blocks.join("\n")}
        for j = 1, #marks do
          local mark = byte(marks, j)
          if mark > 0 then
            for n = 0, 7 do
              local power = POWERS[n]
              if mark >= power then
                mark = mark - power
                local r = (j - 1) * 8 + n
                ${places.join("\n")}
                ${row}
              end
            end
          end
        end
      end
    end
  `;
}

/** `range`: rows in ascending order, four bytes each. */
function idsLua(widths: readonly number[], row: string): string {
  const names = widths.map((_, nth) => `b${nth}`);
  const blocks = widths.map((width, nth) => `b${nth} = rows(segments[${nth + 1}], first, last, ${width})`);
  const places = widths.map((width, nth) => `local at${nth} = r * ${width}`);
  return `
    local first, last, marks = 0, -1, ""
    ${names.length === 0 ? "" : `local ${names.join(", ")}`}
    for i = 1, #range, 4 do
      local i1, i2, i3, i4 = byte(range, i, i + 3)
      local id = ((i1 * 256 + i2) * 256 + i3) * 256 + i4
      if id > last then
        first = id - id % 8
        last = first + ${WINDOW_ROWS - 1}
        marks = call("GETRANGE", present, first / 8, (last + 1) / 8 - 1)
        ${blocks.join("\n")}
      end
      local r = id - first
      local mark = byte(marks, floor(r / 8) + 1) or 0
      if floor(mark / POWERS[r % 8]) % 2 == 1 then
        ${places.join("\n")}
        ${row}
      end
    end
  `;
}

const MAX_SCRIPTS = 500;
const scripts = new Map<string, RunScript>();

function scriptOf(lua: string): RunScript {
  const known = scripts.get(lua);
  if (known !== undefined) return known;
  const made: RunScript = defineScript({
    name: "packed-table.aggregate",
    keys: ["present"],
    restKeys: "segments",
    args: ["range"],
    rest: "given",
    repeatable: true,
    lua,
  });
  if (scripts.size >= MAX_SCRIPTS) dropOldest(scripts);
  scripts.set(lua, made);
  return made;
}

/** Puts what runs have found together. */
export class Totals {
  readonly #groups = new Map<string, Sums>();
  readonly #measures: number;
  readonly #most: number;

  constructor(plan: Plan, maxGroups: number | undefined) {
    this.#measures = plan.measured.length;
    this.#most = integer("maxGroups", maxGroups ?? 100_000, 1);
  }

  add(answer: readonly string[]): void {
    const size = 3 + 3 * this.#measures;
    for (let at = 0; at < answer.length; at += size) {
      const name = `${answer[at]} ${answer[at + 1]}`;
      let sums = this.#groups.get(name);
      if (sums === undefined) {
        if (this.#groups.size >= this.#most) throw new InputError(`there are more than ${this.#most} groups`);
        const values = Array.from({ length: this.#measures }, () => [
          0,
          Number.POSITIVE_INFINITY,
          Number.NEGATIVE_INFINITY,
        ]);
        sums = { keys: [Number(answer[at]), Number(answer[at + 1])], count: 0, values: values.flat() };
        this.#groups.set(name, sums);
      }
      sums.count += Number(answer[at + 2]);
      for (let nth = 0; nth < this.#measures; nth++) {
        const [to, from] = [nth * 3, at + 3 + nth * 3];
        sums.values[to]! += Number(answer[from]);
        sums.values[to + 1] = Math.min(sums.values[to + 1]!, Number(answer[from + 1]));
        sums.values[to + 2] = Math.max(sums.values[to + 2]!, Number(answer[from + 2]));
      }
    }
  }

  /** The largest first; of equals the one with the smaller key. */
  sorted(): Sums[] {
    const order = (a: Sums, b: Sums): number => b.count - a.count || a.keys[0] - b.keys[0] || a.keys[1] - b.keys[1];
    return [...this.#groups.values()].sort(order);
  }
}
