/** Packed tables: their schema, how much is in them, and their records. A table is opened by the schema that it has stored. */
import { json } from "cinnabar";
import { type Column, PackedTable, type Schema } from "cinnabar/packed-table";
import { bytesIn, sound } from "../../values.ts";
import { deleting, deletingRow } from "./actions.ts";
import {
  type Cell,
  type Figure,
  gone,
  type Kind,
  keyOf,
  type List,
  type Looking,
  NOT_THERE,
  type Opening,
  PAGE,
  plural,
  type Row,
  STORED,
  shardKey,
  shortText,
  type Unit,
} from "./kind.ts";

/** Columns that a page of records shows; looking up one shows all. */
const MOST_COLUMNS = 10;
/** Shards that are listed, and that one page of records looks through. */
const MOST_SHARDS = 50;
/** Shards whose bytes are added up. */
const MOST_SUMMED = 1_000;
/** A shard has keys of its own, so that a table spreads over a Cluster. */
const SHARD_MARK = ":";
const MAX_ID = 2 ** 40;

type Values = Readonly<Record<string, unknown>>;
type StoredColumn = Column<unknown> & { readonly name: string };

/** As a table stores it: the columns of the beginning, then those of each time when some were added. */
interface Stored {
  readonly rowsPerShard: number;
  readonly segments: readonly (readonly StoredColumn[])[];
}

const SCHEMA_CODEC = json<Stored>();

async function schemaOf({ store, thing }: Opening): Promise<Stored | null> {
  const text = await store.call("GET", keyOf(thing, ":schema"));
  return text === null ? null : SCHEMA_CODEC.decode(text);
}

function open({ store, thing: { name, prefix } }: Opening, { segments, rowsPerShard }: Stored) {
  const schema = Object.fromEntries(segments.flat().map(({ name: column, ...facts }) => [column, facts]));
  return PackedTable.open<Schema>(store, name, schema, { prefix, rowsPerShard });
}

async function opened(opening: Opening): Promise<PackedTable<Schema>> {
  const stored = await schemaOf(opening);
  if (stored === null) throw gone(`the table ${opening.thing.name}`);
  return open(opening, stored);
}

const widthOf = (columns: readonly StoredColumn[]): number => columns.reduce((sum, { width }) => sum + width, 0);

/** Numbers of shards that there may be, in order. */
async function shardsOf({ store, thing }: Opening): Promise<number[]> {
  const shards = await store.call("SMEMBERS", keyOf(thing, ":shards"));
  return shards.map(Number).sort((a, b) => a - b);
}

interface Size {
  readonly records: number;
  readonly bytes: number;
}

async function sizesOf(opening: Opening, { segments }: Stored, shards: readonly number[]): Promise<Size[]> {
  const each = 2 + segments.length;
  const answers = await opening.store.pipeline(
    shards.flatMap((shard) => {
      const present = shardKey(opening.thing, `${SHARD_MARK}${shard}`, ":present");
      const rows = segments.map((_, nth) => [
        "STRLEN",
        shardKey(opening.thing, `${SHARD_MARK}${shard}`, `:rows:${nth}`),
      ]);
      return [["BITCOUNT", present], ["STRLEN", present], ...rows];
    }),
  );
  const numbers = answers.map((answer) => Number(sound(answer)));
  return shards.map((_, at) => {
    const [records = 0, ...lengths] = numbers.slice(at * each, (at + 1) * each);
    return { records, bytes: lengths.reduce((sum, length) => sum + length, 0) };
  });
}

const UNITS_OF: Readonly<Record<string, Unit>> = { word8: "text", word16: "text", flags: "text", bytes: "text" };
const unitOf = ({ kind }: StoredColumn): Unit =>
  kind === "time" ? "date" : kind === "day" ? "text" : (UNITS_OF[kind] ?? "amount");

function cellOf(value: unknown): Cell {
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return STORED.decode(Buffer.from(value));
  if (Array.isArray(value)) return value.length === 0 ? null : value.join(", ");
  return typeof value === "string" ? shortText(value) : typeof value === "number" ? value : null;
}

const WORDS = /^word/;

async function columnList({ store, thing }: Looking, { segments }: Stored): Promise<List> {
  const columns = segments.flatMap((segment, nth) => segment.map((column) => ({ ...column, nth })));
  const worded = columns.filter(({ kind }) => WORDS.test(kind));
  const counts = await store.pipeline(worded.map(({ name }) => ["HLEN", keyOf(thing, `:words:${name}`)]));
  const about = ({ name, names, grows }: StoredColumn): string | null => {
    if (names !== undefined) return shortText(names.join(", "));
    const at = worded.findIndex((each) => each.name === name);
    if (at === -1) return null;
    return `${plural(Number(sound(counts[at]!)), "word")}${grows === false ? ", no others" : ""}`;
  };
  return {
    title: "Schema",
    empty: "",
    columns: [
      { title: "Column", unit: "text" },
      { title: "Type", unit: "text" },
      { title: "Width", unit: "bytes" },
      { title: "Values", unit: "text" },
      { title: "Segment", unit: "number" },
    ],
    rows: columns.map((column) => ({
      id: column.name,
      cells: [column.name, column.kind, column.width, about(column), column.nth + 1],
    })),
    actions: [],
    cursor: null,
    isWhole: true,
  };
}

async function shardList(looking: Looking, stored: Stored, shards: readonly number[]): Promise<List> {
  const some = shards.slice(0, MOST_SHARDS);
  const sizes = await sizesOf(looking, stored, some);
  return {
    title: some.length < shards.length ? `Shards, the first ${some.length} of ${shards.length}` : "Shards",
    empty: "Nothing was written into the table.",
    columns: [
      { title: "First record", unit: "amount" },
      { title: "Records", unit: "number" },
      { title: "Size", unit: "bytes" },
    ],
    rows: some.map((shard, at) => ({
      id: String(shard),
      cells: [shard * stored.rowsPerShard, sizes[at]!.records, sizes[at]!.bytes],
    })),
    actions: [],
    cursor: null,
    isWhole: true,
  };
}

/** Numbers of records from one on: one more than a page where there are more. Where only empty shards were looked at, where to go on. */
async function idsFrom(
  opening: Opening,
  { from, rowsPerShard, shards }: { readonly from: number; readonly rowsPerShard: number; readonly shards: number[] },
): Promise<{ readonly ids: number[]; readonly next: number | null }> {
  const ids: number[] = [];
  const rest = shards.filter((shard) => (shard + 1) * rowsPerShard > from);
  for (const shard of rest.slice(0, MOST_SHARDS)) {
    const first = shard * rowsPerShard;
    const begin = Math.max(0, from - first);
    const words = ["GETRANGE", shardKey(opening.thing, `${SHARD_MARK}${shard}`, ":present"), begin >> 3, -1];
    const marks = bytesIn(await opening.store.send(words, { buffers: true }));
    for (let row = begin; row >> 3 < (begin >> 3) + marks.length; row++) {
      if (((marks[(row >> 3) - (begin >> 3)]! >> (7 - (row & 7))) & 1) === 1) ids.push(first + row);
      if (ids.length > PAGE) return { ids: ids.slice(0, PAGE), next: ids[PAGE]! };
    }
  }
  const further = rest[MOST_SHARDS];
  return { ids, next: further === undefined ? null : further * rowsPerShard };
}

async function recordList(looking: Looking, stored: Stored, shards: number[]): Promise<List> {
  const all = stored.segments.flat();
  const columns = all.slice(0, MOST_COLUMNS);
  const from = Number(looking.after ?? 0);
  const [table, { ids, next }] = await Promise.all([
    open(looking, stored),
    idsFrom(looking, { from: Number.isSafeInteger(from) ? from : 0, rowsPerShard: stored.rowsPerShard, shards }),
  ]);
  const found = await table.getMany(ids);
  const rows = ids.flatMap((id, at): Row[] => {
    const values: Values | null = found[at] ?? null;
    return values === null
      ? []
      : [{ id: String(id), cells: [String(id), ...columns.map(({ name }) => cellOf(values[name]))] }];
  });
  return {
    title: columns.length < all.length ? `Records, ${columns.length} of ${all.length} columns` : "Records",
    empty: "No record is in this part of the table.",
    columns: [
      { title: "Record", unit: "text" },
      ...columns.map((column) => ({ title: column.name, unit: unitOf(column) })),
    ],
    rows,
    actions: ["delete"],
    asks: true,
    cursor: next === null ? null : String(next),
  };
}

const idOf = (text: string): number | null => (/^\d{1,13}$/.test(text) && Number(text) <= MAX_ID ? Number(text) : null);

export const PACKED_TABLES: Kind = {
  kind: "packed-table",
  title: "Packed tables",
  shardMark: SHARD_MARK,
  about: "Rows of typed columns by whole number, a few bytes each.",
  async figures(looking) {
    const stored = await schemaOf(looking);
    if (stored === null) return [{ title: "State", value: "deleted", unit: "state", note: "the table has no schema" }];
    const shards = await shardsOf(looking);
    const some = shards.slice(0, MOST_SUMMED);
    const sizes = await sizesOf(looking, stored, some);
    const note = some.length < shards.length ? `in the first ${some.length} shards` : "";
    const sum = (what: keyof Size): number => sizes.reduce((total, size) => total + size[what], 0);
    return [
      { title: "Records", value: sum("records"), unit: "number", note },
      { title: "Size", value: sum("bytes"), unit: "bytes", note: note === "" ? "without the words" : note },
      { title: "Columns", value: stored.segments.flat().length, unit: "number" },
      { title: "Width of a record", value: widthOf(stored.segments.flat()), unit: "bytes" },
      { title: "Shards", value: shards.length, unit: "number", note: `of ${stored.rowsPerShard} records at most` },
    ];
  },
  async lists(looking) {
    const stored = await schemaOf(looking);
    if (stored === null) return [];
    const shards = await shardsOf(looking);
    return Promise.all([
      columnList(looking, stored),
      recordList(looking, stored, shards),
      shardList(looking, stored, shards),
    ]);
  },
  question: { label: "Number of a record", button: "Look up record" },
  async answer(looking, item) {
    const [id, stored] = [idOf(item), await schemaOf(looking)];
    if (id === null) return [{ ...NOT_THERE, note: "the number of a record is a whole number" }];
    const values: Values | null = stored === null ? null : await (await open(looking, stored)).get(id);
    if (stored === null || values === null) return [NOT_THERE];
    return stored.segments
      .flat()
      .map((column): Figure => ({ title: column.name, value: cellOf(values[column.name]), unit: unitOf(column) }));
  },
  offers: (_action, figures) => figures.every(({ title }) => title !== "State"),
  actions: [
    deletingRow("record", async (doing) => {
      const id = idOf(doing.row);
      return id !== null && (await (await opened(doing)).deleteMany([id])) === 1;
    }),
    {
      ...deleting(
        "table",
        "All its records and words, and its schema, are deleted. This cannot be undone.",
        async (doing) => {
          await (await opened(doing)).clear();
          return true;
        },
      ),
      name: "deleteTable",
    },
  ],
};
