/**
 * Rows of typed columns by whole number, packed: a few bytes a row where a hash takes a hundred, and sums over all of them without
 * reading them here.
 *
 *   const users = await PackedTable.open(store, "users", { country: words(), state: words([], { bits: 16 }), age: uint8() });
 *   await users.set(17, { country: "USA", state: "CA", age: 30 });
 *   await users.aggregate({ groupBy: ["country"], measure: ["age"] });
 *
 * Rows lie one behind the other in strings, one string for each shard of 65 536 rows. Meant for dense numbers: the number of a row is
 * its place.
 */
import { aStore, integer } from "../../base/checks.ts";
import { InputError, ServerError } from "../../base/errors.ts";
import { only, zipped } from "../../base/lists.ts";
import { NameIndex } from "../../base/names.ts";
import { anything, defineOptions, flag, listOf, object, prefix, text, whole } from "../../base/options.ts";
import { asTextOrNull, asTexts } from "../../base/replies.ts";
import type { Script, ScriptCall } from "../../base/script.ts";
import type { Store } from "../../connection/store.ts";
import {
  type Aggregate,
  type Group,
  IDS_PER_RUN,
  type Plan,
  planned,
  type Query,
  ROWS_PER_RUN,
  type Sums,
  Totals,
} from "./aggregate.ts";
import { type Column, fromNumber, isWord } from "./columns.ts";
import { Dictionary } from "./dictionary.ts";
import { type TableKeys, tableKeys } from "./keys.ts";
import { type Layout, layoutOf, reconciled, type Schema, type StoredSchema, storedSchema } from "./layout.ts";
import { type Part, Rows } from "./rows.ts";
import { block, putSchema, read, remove, write } from "./scripts.ts";

export type { Aggregate, Condition, Group, GroupBy, Measure, Query } from "./aggregate.ts";
export {
  type Column,
  day,
  fixedBytes,
  flags,
  float32,
  float64,
  int8,
  int16,
  int24,
  int32,
  time,
  uint8,
  uint16,
  uint24,
  uint32,
  type WordsOptions,
  words,
} from "./columns.ts";
export type { Schema } from "./layout.ts";

/** A row: the value of each column of the schema. */
export type Row<S extends Schema> = { -readonly [name in keyof S]: S[name] extends Column<infer T> ? T : never };

/** What a table is opened with. */
export interface PackedTableOptions {
  /** How all keys begin (default "packed"). */
  readonly prefix?: string;
  /** How many rows one string holds: a multiple of 8 (default 65 536). Fixed when the table is made. */
  readonly rowsPerShard?: number;
  /** Whether columns that the stored table does not have are added at its end (default false). */
  readonly addColumns?: boolean;
}

/** A row with its number. */
export interface Entry<S extends Schema> {
  /** The number of the row, from 0. */
  readonly id: number;
  /** Its values. */
  readonly row: Row<S>;
}

const MAX_ID = 2 ** 40;
const MAX_SHARD_BYTES = 2 ** 26;
const ROWS_PER_SCRIPT = 500;
/** Scripts that are sent at once: a server does what one client has sent before it turns to the next. */
const AT_ONCE = 4;
const BLOCK_BYTES = 65_536;

/** One run of an aggregate: rows from one to another, or the numbers of some. */
interface Run {
  readonly shard: number;
  readonly range: string | Buffer;
}

const OPEN_OPTIONS = defineOptions<PackedTableOptions>("PackedTable.open", {
  prefix,
  rowsPerShard: whole(8, 2 ** 20),
  addColumns: flag,
});

const QUERY_OPTIONS = defineOptions<Query>("PackedTable.aggregate", {
  ids: anything,
  where: object,
  groupBy: listOf(anything),
  measure: listOf(text),
  maxGroups: whole(1),
});

/** What `open` has found. */
interface Opened {
  readonly keys: TableKeys;
  readonly layout: Layout;
  readonly columns: readonly string[];
  readonly names: NameIndex;
}

/**
 * Rows of typed columns by whole number, packed: a few bytes a row where a hash takes a hundred, and sums over all of them without reading
 * them here.
 *
 * @example
 * const users = await PackedTable.open(db, "users", { country: words(), age: uint8() });
 * await users.setMany([[1, { country: "USA", age: 31 }], [2, { country: "ITA", age: 45 }], [3, { country: "USA", age: 19 }]]);
 * const { groups } = await users.aggregate({ groupBy: ["country"], measure: ["age"] });
 * groups.map(({ key, count, measures }) => [key[0], count, measures.age?.avg]); // → [["USA", 2, 25], ["ITA", 1, 45]]
 * (await users.aggregate({ where: { age: { min: 30 } } })).count; // → 2
 * @example
 * const users = await PackedTable.open(db, "users", { country: words(), age: uint8() });
 * await users.set(17, { country: "USA" });
 * await users.get(17); // → { country: "USA", age: 0 }
 * await users.getMany([17, 18]); // → [{ country: "USA", age: 0 }, null]
 * for await (const block of users.entries()) console.log(block.map(({ id }) => id));
 * await users.words("country"); // → Map { "USA" → 1 }
 * @example
 * const users = await PackedTable.open(db, "users", { age: uint8() });
 * await users.setMany([[1, { age: 31 }], [2, { age: 45 }]]);
 * await users.deleteMany([1, 7]); // → 1
 * await users.count(); // → 1
 * await users.clear();
 */
export class PackedTable<S extends Schema> {
  /** The name of the table, as it was given. */
  readonly name: string;
  readonly #store: Store;
  readonly #keys: TableKeys;
  readonly #layout: Layout;
  readonly #rows: Rows;
  readonly #names: NameIndex;
  readonly #dictionaries = new Map<string, Dictionary>();
  readonly #knownShards = new Set<number>();

  private constructor(store: Store, name: string, { keys, layout, columns, names }: Opened) {
    this.name = name;
    this.#store = store;
    this.#keys = keys;
    this.#layout = layout;
    this.#names = names;
    for (const column of layout.columns.values()) {
      if (!isWord(column)) continue;
      const key = keys.dictionary(column.name);
      this.#dictionaries.set(column.name, new Dictionary(store, key, column.name, column));
    }
    // The caller's columns may be only the first of those that there are.
    this.#rows = new Rows(
      layout,
      columns.map((column) => layout.columns.get(column)!),
      this.#dictionaries,
    );
  }

  /**
   * Makes the table, or opens it if it has these columns; any other schema is an error. So is a table that does not exist, through
   * `store.observing()`.
   */
  static async open<const S extends Schema>(
    store: Store,
    name: string,
    schema: S,
    options: PackedTableOptions = {},
  ): Promise<PackedTable<S>> {
    aStore("PackedTable", store);
    OPEN_OPTIONS.check(options);
    const { prefix = "packed", addColumns = false } = options;
    const rowsPerShard = options.rowsPerShard ?? 65_536;
    if (rowsPerShard % 8 !== 0) throw new InputError("rowsPerShard must be a multiple of 8");
    const keys = tableKeys(prefix, name);
    const wanted = storedSchema(schema, rowsPerShard);
    checkSize(layoutOf(wanted));
    let before = asTextOrNull(await store.call("GET", keys.schema)) ?? "";
    let stored: StoredSchema;
    for (;;) {
      stored = before === "" ? wanted : reconciled(JSON.parse(before), wanted, addColumns);
      checkSize(layoutOf(stored));
      const after = JSON.stringify(stored);
      if (after === before) break;
      if (store.isObserver)
        throw new InputError(before === "" ? `there is no table "${name}"` : `the table "${name}" has other columns`);
      const there = await store.run(putSchema, { schema: keys.schema, before, after });
      if (there === after) break;
      before = there;
    }
    const names = new NameIndex(store, { kind: "packed-table", prefix });
    names.announce(name);
    const columns = Object.keys(schema);
    const table = new PackedTable<S>(store, name, { keys, layout: layoutOf(stored), columns, names });
    await Promise.all([...table.#dictionaries.values()].map((dictionary) => dictionary.load()));
    for (const [column, { words = [] }] of store.isObserver ? [] : Object.entries(schema)) {
      await table.#dictionaries.get(column)?.ensure(words, true);
    }
    return table;
  }

  /** Bytes of a row. */
  get rowBytes(): number {
    return this.#layout.widths.reduce((sum, width) => sum + width, 0);
  }

  // ---------------------------------------------------------------------------------------------- rows

  /** Writes the columns that are given; in a row that was not there the others are zero, empty or null. */
  async set(id: number, row: Partial<Row<S>>): Promise<void> {
    await this.setMany([[id, row]]);
  }

  /** The same for many. What is written in one shard in one call of 500 is one step; the whole is not. */
  async setMany(rows: Iterable<readonly [number, Partial<Row<S>>]>): Promise<void> {
    const all = [...rows];
    for (const [id] of all) integer("id", id, 0, MAX_ID);
    await this.#rows.ensureWords(all.map(([, row]) => row));
    const byShard = new Map<number, Part[][]>();
    for (const [id, row] of all) {
      const shard = Math.floor(id / this.#layout.rowsPerShard);
      const parts = this.#rows.partsOf(id % this.#layout.rowsPerShard, row);
      const list = byShard.get(shard);
      if (list === undefined) byShard.set(shard, [parts]);
      else list.push(parts);
    }
    await this.#register([...byShard.keys()]);
    const steps = [...byShard].flatMap(([shard, list]) =>
      chunks(list, ROWS_PER_SCRIPT).map((some) => this.#writing(shard, some.flat())),
    );
    await this.#each(write, steps);
  }

  /** A row; null if there is none. */
  async get(id: number): Promise<Row<S> | null> {
    return only(await this.getMany([id]));
  }

  /** Rows in the order of their numbers in the list. */
  async getMany(ids: Iterable<number>): Promise<(Row<S> | null)[]> {
    const all = [...ids];
    const found: (Buffer | null)[] = all.map(() => null);
    const byShard = this.#places(all);
    const steps = [...byShard].flatMap(([shard, places]) =>
      chunks(places, ROWS_PER_SCRIPT).map((some) => ({ shard, places: some })),
    );
    const params = steps.map(({ shard, places }) => ({
      ...this.#shard(shard),
      widths: this.#widths,
      rows: places.map(({ row }) => row),
    }));
    for (const [{ places }, rows] of zipped(steps, await this.#each(read, params))) {
      for (const [nth, { at }] of places.entries()) found[at] = rows[nth] ?? null;
    }
    await this.#rows.refresh(found.filter((bytes) => bytes !== null));
    return found.map((bytes) => (bytes === null ? null : (this.#rows.decode(bytes) as Row<S>)));
  }

  /** Removes rows. Answers how many were there. */
  async deleteMany(ids: readonly number[]): Promise<number> {
    const steps = [...this.#places(ids)].flatMap(([shard, places]) =>
      chunks(places, ROWS_PER_SCRIPT).map((some) => ({
        present: this.#keys.present(shard),
        rows: some.map(({ row }) => row),
      })),
    );
    return (await this.#each(remove, steps)).reduce((sum, removed) => sum + removed, 0);
  }

  /** How many rows there are. */
  async count(): Promise<number> {
    let count = 0;
    for (const some of chunks(await this.#shards(), 100)) {
      const answers = await this.#store.pipeline(some.map((shard) => ["BITCOUNT", this.#keys.present(shard)] as const));
      for (const answer of failed(answers)) count += Number(answer);
    }
    return count;
  }

  /** All rows, in blocks of up to 64 KiB, in the order of their numbers. Each block is as it was at one moment. */
  async *entries(): AsyncGenerator<Entry<S>[], void, undefined> {
    const { rowsPerShard, widths } = this.#layout;
    const step = Math.min(rowsPerShard, Math.max(8, Math.floor(BLOCK_BYTES / Math.max(...widths) / 8) * 8));
    for (const shard of await this.#shards()) {
      for (let first = 0; first < rowsPerShard; first += step) {
        const last = Math.min(rowsPerShard, first + step) - 1;
        const params = { ...this.#shard(shard), widths: this.#widths, first, last };
        const { marks, segments } = await this.#store.run(block, params);
        const found = this.#rows.rowsIn(marks, segments);
        if (found.length === 0) continue;
        await this.#rows.refresh(found.map(([, bytes]) => bytes));
        yield found.map(([row, bytes]) => ({
          id: shard * rowsPerShard + first + row,
          row: this.#rows.decode(bytes) as Row<S>,
        }));
      }
    }
  }

  /** The words of a column, with their codes. */
  async words(column: keyof S & string): Promise<Map<string, number>> {
    const dictionary = this.#dictionaries.get(column);
    if (dictionary === undefined) throw new InputError(`"${column}" is not a column of words`);
    await dictionary.load();
    return new Map(dictionary.entries());
  }

  /** Removes the table: rows, words and schema. This object is of no use then. */
  async clear(): Promise<void> {
    for (const shard of await this.#shards()) {
      const { present, segments } = this.#shard(shard);
      await this.#store.send(["UNLINK", present, ...segments], { repeatable: true });
    }
    const words = [...this.#dictionaries.keys()].map((column) => this.#keys.dictionary(column));
    await this.#store.send(["UNLINK", this.#keys.shards, ...words, this.#keys.schema], { repeatable: true });
    await this.#names.remove(this.name);
  }

  // ---------------------------------------------------------------------------------------------- aggregates

  /** Counts rows and sums over them, in the store. Each run of a script looks at 32 768 rows or 8 192 ids at most. */
  async aggregate(query: Query<keyof S & string> = {}): Promise<Aggregate> {
    QUERY_OPTIONS.check(query);
    await this.#learnWords(query);
    const plan = planned(this.#layout, query, (column, word) => this.#dictionaries.get(column.name)!.codeOf(word));
    const totals = new Totals(plan, query.maxGroups);
    const runs = query.ids === undefined ? await this.#rangeRuns() : this.#idRuns(query.ids);
    const given = [...plan.given];
    for (const some of chunks(runs, AT_ONCE)) {
      const params = some.map(({ shard, range }) => {
        const segments = plan.segments.map((segment) => this.#keys.segment(shard, segment));
        return { present: this.#keys.present(shard), segments, range, given };
      });
      for (const answer of await this.#each(plan.script, params)) totals.add(asTexts(answer));
    }
    const sums = totals.sorted();
    for (const [at, { column }] of plan.groupings.entries()) {
      await this.#dictionaries.get(column.name)?.refresh(sums.map(({ keys }) => keys[at]!));
    }
    const count = sums.reduce((sum, each) => sum + each.count, 0);
    return { count, groups: sums.map((each) => this.#groupOf(plan, each)) };
  }

  /** Words in conditions that this process has not seen may be others'. */
  async #learnWords({ where = {} }: Query): Promise<void> {
    for (const [column, condition] of Object.entries(where)) {
      const dictionary = this.#dictionaries.get(column);
      if (dictionary === undefined) continue;
      const isNew = [condition]
        .flat()
        .some((word) => typeof word === "string" && dictionary.codeOf(word) === undefined);
      if (isNew) await dictionary.load();
    }
  }

  async #rangeRuns(): Promise<Run[]> {
    const { rowsPerShard } = this.#layout;
    const firsts = Array.from({ length: Math.ceil(rowsPerShard / ROWS_PER_RUN) }, (_, nth) => nth * ROWS_PER_RUN);
    return (await this.#shards()).flatMap((shard) =>
      firsts.map((first) => ({ shard, range: `${first} ${Math.min(rowsPerShard, first + ROWS_PER_RUN) - 1}` })),
    );
  }

  #idRuns(ids: Iterable<number>): Run[] {
    return [...this.#places([...new Set(ids)])].flatMap(([shard, places]) => {
      const rows = Uint32Array.from(places, ({ row }) => row).sort();
      return Array.from({ length: Math.ceil(rows.length / IDS_PER_RUN) }, (_, nth) => {
        const some = rows.slice(nth * IDS_PER_RUN, (nth + 1) * IDS_PER_RUN);
        const range = Buffer.alloc(some.length * 4);
        some.forEach((row, at) => {
          range.writeUInt32BE(row, at * 4);
        });
        return { shard, range };
      });
    });
  }

  #groupOf({ groupings, measured }: Plan, { keys, count, values }: Sums): Group {
    const key = groupings.map(({ column, step }, at) => {
      const number = step === 0 ? keys[at]! : keys[at]! * step;
      const dictionary = this.#dictionaries.get(column.name);
      return dictionary === undefined ? fromNumber(column, number) : dictionary.wordOf(number);
    });
    const measures = measured.map(({ name }, at) => {
      const [sum = 0, min = 0, max = 0] = values.slice(at * 3, at * 3 + 3);
      return [name, { sum, min, max, avg: sum / count }] as const;
    });
    return { key, count, measures: Object.fromEntries(measures) };
  }

  // ---------------------------------------------------------------------------------------------- bytes

  /** Runs a script with each of these, a few at once; one alone in the shortest way. */
  async #each<P, T>(script: Script<P, T>, params: readonly P[]): Promise<T[]> {
    const [first] = params;
    if (first !== undefined && params.length === 1) return [await this.#store.run(script, first)];
    const answers: T[] = [];
    for (const some of chunks(params, AT_ONCE)) {
      const calls: ScriptCall<T>[] = some.map((each) => script.with(each));
      answers.push(...failed(await this.#store.pipeline(calls)));
    }
    return answers;
  }

  get #widths(): string {
    return this.#layout.widths.join(" ");
  }

  #shard(shard: number): { present: string; segments: string[] } {
    const segments = this.#layout.widths.map((_, segment) => this.#keys.segment(shard, segment));
    return { present: this.#keys.present(shard), segments };
  }

  #places(ids: readonly number[]): Map<number, { at: number; row: number }[]> {
    const { rowsPerShard } = this.#layout;
    const byShard = new Map<number, { at: number; row: number }[]>();
    ids.forEach((id, at) => {
      const shard = Math.floor(integer("id", id, 0, MAX_ID) / rowsPerShard);
      const place = { at, row: id % rowsPerShard };
      const list = byShard.get(shard);
      if (list === undefined) byShard.set(shard, [place]);
      else list.push(place);
    });
    return byShard;
  }

  async #shards(): Promise<number[]> {
    const shards = asTexts(await this.#store.call("SMEMBERS", this.#keys.shards));
    return shards.map(Number).sort((a, b) => a - b);
  }

  /** Before anything is written to it: a shard that is listed and empty does no harm. */
  async #register(shards: readonly number[]): Promise<void> {
    const fresh = shards.filter((shard) => !this.#knownShards.has(shard));
    for (const some of chunks(fresh, 1_000)) {
      await this.#store.send(["SADD", this.#keys.shards, ...some], { repeatable: true });
      for (const shard of some) this.#knownShards.add(shard);
    }
  }

  #writing(shard: number, parts: readonly Part[]) {
    const { rowsPerShard, widths } = this.#layout;
    // The first shard of a small table grows; those of large ones are made in one piece.
    const sizes = [1 / 8, ...widths].map((width) => (shard === 0 ? 0 : rowsPerShard * width)).join(" ");
    const words = parts.flatMap(({ segment, row, offset, bytes }) => [segment + 1, row, offset, bytes]);
    return { ...this.#shard(shard), widths: this.#widths, sizes, parts: words };
  }
}

function checkSize({ rowsPerShard, widths }: Layout): void {
  if (Math.max(...widths) * rowsPerShard > MAX_SHARD_BYTES) {
    throw new InputError(`a shard must not take more than ${MAX_SHARD_BYTES} bytes: fewer rowsPerShard`);
  }
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  const some: T[][] = [];
  for (let at = 0; at < list.length; at += size) some.push(list.slice(at, at + size));
  return some;
}

/** The answers, unless one of them is an error. */
function failed<T>(answers: readonly T[]): Exclude<T, ServerError>[] {
  for (const answer of answers) if (answer instanceof ServerError) throw answer;
  return answers as Exclude<T, ServerError>[];
}
