/**
 * Country and state of many users, packed (three bytes and a bit a row) and as a hash for each user, which is what most people
 * write: memory, and visits by country over all of them and over some. The hashes are read in pipelines of a thousand.
 */
import { open, type Store } from "cinnabar";
import { PackedTable, words } from "cinnabar/packed-table";
import { median, startServer } from "./servers.ts";

export interface PackedRow {
  readonly what: string;
  readonly unit: string;
  readonly redis: number;
  readonly embedded?: number;
}

const COUNTRIES = Array.from({ length: 240 }, (_, nth) => `C${nth}`);
const STATES = Array.from({ length: 60 }, (_, nth) => `S${nth}`);
const schema = { country: words(COUNTRIES), state: words(STATES, { bits: 16 }) };

const rowOf = (id: number): { country: string; state: string } => ({
  country: COUNTRIES[(id * 7_919) % 240]!,
  state: STATES[(id * 104_729) % 60]!,
});

async function usedMemory(store: Store): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await store.call("INFO", "memory")))![1]);
}

/** With dictionaries and schema. By the keys: beside so little, the buffers of connections would count. */
async function tableBytes(store: Store): Promise<number> {
  const keys = (await store.call("KEYS", "packed:*")) as string[];
  const sizes = await store.pipeline(keys.map((key) => ["MEMORY", "USAGE", key, "SAMPLES", 0] as const));
  return sizes.reduce<number>((sum, size) => sum + Number(size), 0);
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

async function loadTable(store: Store, count: number): Promise<PackedTable<typeof schema>> {
  const table = await PackedTable.open(store, "users", schema);
  for (let first = 0; first < count; first += 10_000) {
    await table.setMany(
      Array.from({ length: Math.min(10_000, count - first) }, (_, nth) => [first + nth, rowOf(first + nth)] as const),
    );
  }
  return table;
}

async function hashBytes(store: Store, count: number): Promise<number> {
  const before = await usedMemory(store);
  for (let first = 0; first < count; first += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, nth) => {
      const { country, state } = rowOf(first + nth);
      return ["HSET", `user:${first + nth}`, "country", country, "state", state] as const;
    });
    await store.pipeline(some);
  }
  return ((await usedMemory(store)) - before) / count;
}

async function countHashes(store: Store, count: number): Promise<number> {
  const counts = new Map<string, number>();
  for (let first = 0; first < count; first += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, nth) => ["HGET", `user:${first + nth}`, "country"] as const);
    for (const country of await store.pipeline(some))
      counts.set(String(country), (counts.get(String(country)) ?? 0) + 1);
  }
  return counts.size;
}

interface Figures {
  readonly set: number;
  readonly setMany: number;
  readonly get: number;
  readonly all: number;
  readonly two: number;
  readonly some: number;
}

async function measured(store: Store, count: number, quick: boolean): Promise<Figures> {
  const table = await PackedTable.open(store, "users", schema);
  const setMany = count / (await seconds(() => loadTable(store, count)));
  const calls = quick ? 500 : 20_000;
  const each = async (op: (nth: number) => Promise<unknown>): Promise<number> =>
    calls /
    (await seconds(async () => {
      for (let nth = 0; nth < calls; nth++) await op((nth * 7_919) % count);
    }));
  const set = await each((id) => table.set(id, rowOf(id)));
  const get = await each((id) => table.get(id));
  const ids = Array.from({ length: 10_000 }, (_, nth) => (nth * 99_991) % count);
  const rate = async (rows: number, work: () => Promise<unknown>): Promise<number> => {
    const rates: number[] = [];
    await work();
    for (let round = 0; round < (quick ? 1 : 5); round++) rates.push(rows / (await seconds(work)));
    return median(rates);
  };
  return {
    set,
    setMany,
    get,
    all: await rate(count, () => table.aggregate({ groupBy: ["country"] })),
    two: await rate(count, () =>
      table.aggregate({ groupBy: ["country", "state"], where: { country: COUNTRIES.slice(0, 20) } }),
    ),
    some: await rate(ids.length, () => table.aggregate({ ids, groupBy: ["country"] })),
  };
}

export async function comparePacked(quick: boolean): Promise<PackedRow[]> {
  const count = quick ? 100_000 : 1_000_000;
  const server = await startServer("redis");
  const [redis, embedded] = [await open(`redis://127.0.0.1:${server.port}`), await open()];
  await loadTable(redis, count);
  const packedBytes = (await tableBytes(redis)) / count;
  const [ours, own] = [await measured(redis, count, quick), await measured(embedded, count, quick)];
  const perHash = await hashBytes(redis, count);
  const naive = count / (await seconds(() => countHashes(redis, count)));
  const rows: PackedRow[] = [
    { what: "memory, packed", unit: "bytes a row", redis: packedBytes },
    { what: "memory, a hash for each", unit: "bytes a row", redis: perHash },
    { what: "count by country, all rows", unit: "rows/s", redis: ours.all, embedded: own.all },
    { what: "the same from hashes, read in pipelines", unit: "rows/s", redis: naive },
    { what: "by country and state, 20 countries", unit: "rows/s", redis: ours.two, embedded: own.two },
    { what: "count by country, 10 000 ids", unit: "rows/s", redis: ours.some, embedded: own.some },
    { what: "set, many", unit: "rows/s", redis: ours.setMany, embedded: own.setMany },
    { what: "set, one after the other", unit: "rows/s", redis: ours.set, embedded: own.set },
    { what: "get, one after the other", unit: "rows/s", redis: ours.get, embedded: own.get },
  ];
  await redis.close();
  await embedded.close();
  await server.stop();
  return rows;
}

export function packedTable(rows: readonly PackedRow[]): string {
  const figure = (value: number | undefined): string => {
    if (value === undefined) return "";
    return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  };
  return [
    "**Packed tables**: country and state of a million users",
    "",
    "| what | unit | on redis | embedded |",
    "| --- | --- | ---: | ---: |",
    ...rows.map(({ what, unit, redis, embedded }) => `| ${what} | ${unit} | ${figure(redis)} | ${figure(embedded)} |`),
  ].join("\n");
}
