/**
 * What sharding is for, measured: bytes for each element of one large structure and of the same in packed shards, on both servers,
 * and how many operations a second each does. Bytes are the growth of the resident set between a quarter and five quarters of the
 * elements, so that what a server takes once is not counted.
 *
 * For comparison: a visitor as a 64-bit integer of a packed set takes 8 bytes (16 for the id as such). RPOPLPUSH on one packed list
 * falls from 52 000 to 550 a second when the list grows to 100 000 elements.
 */
import { open, type Store } from "cinnabar";
import { ShardedHash, ShardedList, ShardedSet, ShardedSortedSet, UniqueVisitors } from "cinnabar/sharded";
import { type BenchServer, startServer } from "./servers.ts";

export interface ShardedMemoryRow {
  readonly what: string;
  readonly elements: number;
  readonly redis: { readonly plain: number; readonly sharded: number };
  readonly ours: { readonly plain: number; readonly sharded: number };
  readonly notes?: string;
}

export interface ShardedSpeedRow {
  readonly what: string;
  /** Operations a second. */
  readonly redis: { readonly plain: number; readonly sharded: number };
  readonly ours: { readonly plain: number; readonly sharded: number };
}

export interface ShardedResults {
  readonly memory: ShardedMemoryRow[];
  readonly speed: ShardedSpeedRow[];
}

type Words = (string | number)[];

interface Kind {
  readonly what: string;
  readonly notes?: string;
  /** One command that adds element i to the plain structure. */
  plain(i: number): Words;
  /** Adds elements to the sharded one. */
  sharded(store: Store, elements: number): (from: number, to: number) => Promise<unknown>;
}

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, nth) => from + nth);
const city = (i: number): string => `["City ${i % 9_973}","R${i % 50}","DE"]`;
const user = (i: number): string => `user:${i.toString(36).padStart(8, "0")}`;
const session = (i: number): string => `${i.toString(16).padStart(8, "0")}-5a1e-4c1d-9b1e-9f3d6ab5c2e1`;
/** About 56 bits of the session as a number. */
const visitor = (i: number): string => String(BigInt(Math.imul(i, 0x9e3779b1) >>> 0) * 16_777_213n + BigInt(i));

const KINDS: Kind[] = [
  {
    what: "hash, numbers as fields, 30-byte values (cities by number)",
    plain: (i) => ["HSET", "plain", i, city(i)],
    sharded: (store, expected) => {
      const hash = new ShardedHash<unknown>(store, "cities", { expected });
      return (from, to) => hash.setMany(numbers(from, to).map((i) => [String(i), JSON.parse(city(i))]));
    },
  },
  {
    what: "hash, 13-byte fields, 30-byte values",
    plain: (i) => ["HSET", "plain", user(i), city(i)],
    sharded: (store, expected) => {
      const hash = new ShardedHash<unknown>(store, "users", { expected });
      return (from, to) => hash.setMany(numbers(from, to).map((i) => [user(i), JSON.parse(city(i))]));
    },
  },
  {
    what: "set, consecutive numbers",
    plain: (i) => ["SADD", "plain", 1_000_000 + i],
    sharded: (store, expected) => {
      const set = new ShardedSet(store, "ids", { expected });
      return (from, to) => set.addMany(numbers(from, to).map((i) => String(1_000_000 + i)));
    },
  },
  {
    what: "set, 13-byte members",
    plain: (i) => ["SADD", "plain", user(i)],
    sharded: (store, expected) => {
      const set = new ShardedSet(store, "users", { expected });
      return (from, to) => set.addMany(numbers(from, to).map(user));
    },
  },
  {
    what: "unique visitors of a day (plain: one set of the same numbers)",
    notes: "8",
    plain: (i) => ["SADD", "plain", visitor(i)],
    sharded: (store, expected) => {
      const visitors = new UniqueVisitors(store, "site", { expected: Math.ceil(expected / 1.5), maxExact: 10_000_000 });
      return (from, to) => visitors.visitMany(numbers(from, to).map(session));
    },
  },
  {
    what: "sorted set, 13-byte members",
    plain: (i) => ["ZADD", "plain", i % 10_007, user(i)],
    sharded: (store, expected) => {
      const set = new ShardedSortedSet(store, "scores", { expected });
      return (from, to) => set.addMany(numbers(from, to).map((i) => [user(i), i % 10_007]));
    },
  },
  {
    what: "list, 32-byte values",
    plain: (i) => ["RPUSH", "plain", user(i).padEnd(30, "-")],
    sharded: (store) => {
      const list = new ShardedList<string>(store, "list");
      return async (from, to) => {
        for (let at = from; at < to; at += 1_000) {
          await list.pushMany(
            "right",
            numbers(at, Math.min(to, at + 1_000)).map((i) => user(i).padEnd(30, "-")),
          );
        }
      };
    },
  },
];

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function settled(server: BenchServer, store: Store): Promise<number> {
  for (let round = 0; round < 2; round++) {
    await store.call("MEMORY", "PURGE");
    await pause(400);
  }
  return server.rssBytes();
}

const BATCH = 5_000;

async function bytesPerElement(name: BenchServer["name"], kind: Kind, form: "plain" | "sharded", elements: number) {
  const server = await startServer(name);
  const store = await open(`redis://127.0.0.1:${server.port}`);
  const add =
    form === "sharded"
      ? kind.sharded(store, Math.round(elements * 1.25))
      : (from: number, to: number) => store.pipeline(numbers(from, to).map((i) => kind.plain(i)));
  const load = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at += BATCH) await add(at, Math.min(to, at + BATCH));
  };
  const first = Math.round(elements / 4);
  await load(0, first);
  const before = await settled(server, store);
  await load(first, first + elements);
  const after = await settled(server, store);
  await store.close();
  await server.stop();
  return (after - before) / elements;
}

async function compareBytes(elements: number): Promise<ShardedMemoryRow[]> {
  const rows: ShardedMemoryRow[] = [];
  for (const kind of KINDS) {
    const of = async (name: BenchServer["name"]) => ({
      plain: await bytesPerElement(name, kind, "plain", elements),
      sharded: await bytesPerElement(name, kind, "sharded", elements),
    });
    const { what, notes } = kind;
    rows.push({
      what,
      elements,
      redis: await of("redis"),
      ours: await of("cinnabar"),
      ...(notes === undefined ? {} : { notes }),
    });
    process.stderr.write(".");
  }
  process.stderr.write("\n");
  return rows;
}

// ---------------------------------------------------------------------------------------------------- speed

interface Speed {
  readonly what: string;
  /** Operations that one call does. */
  readonly each?: number;
  plain(store: Store, nth: number): Promise<unknown>;
  sharded(store: Store): (nth: number) => Promise<unknown>;
}

const ELEMENTS = 100_000;
/** Everywhere, one after the other. */
const at = (nth: number): number => (nth * 7_919) % ELEMENTS;
const many = (nth: number): number[] => Array.from({ length: 1_000 }, (_, i) => at(nth * 1_000 + i));

const SPEEDS: Speed[] = [
  {
    what: "hash: set",
    plain: (store, nth) => store.call("HSET", "h", user(at(nth)), "1"),
    sharded: (store) => {
      const hash = new ShardedHash<number>(store, "h", { expected: ELEMENTS });
      return (nth) => hash.set(user(at(nth)), 1);
    },
  },
  {
    what: "hash: get",
    plain: (store, nth) => store.call("HGET", "h", user(at(nth))),
    sharded: (store) => {
      const hash = new ShardedHash<number>(store, "h", { expected: ELEMENTS });
      return (nth) => hash.get(user(at(nth)));
    },
  },
  {
    what: "hash: fields set, 1 000 a call",
    each: 1_000,
    plain: (store, nth) => store.call("HSET", "h", ...many(nth).flatMap((i) => [user(i), "1"])),
    sharded: (store) => {
      const hash = new ShardedHash<number>(store, "h", { expected: ELEMENTS });
      return (nth) => hash.setMany(many(nth).map((i) => [user(i), 1]));
    },
  },
  {
    what: "set: add",
    plain: (store, nth) => store.call("SADD", "s", at(nth)),
    sharded: (store) => {
      const set = new ShardedSet(store, "s", { expected: ELEMENTS });
      return (nth) => set.add(String(at(nth)));
    },
  },
  {
    what: "sorted set: add",
    plain: (store, nth) => store.call("ZADD", "z", nth, user(at(nth))),
    sharded: (store) => {
      const set = new ShardedSortedSet(store, "z", { expected: ELEMENTS });
      return (nth) => set.add(user(at(nth)), nth);
    },
  },
  {
    what: "sorted set: top 100",
    plain: (store) => store.call("ZREVRANGE", "z", 0, 99, "WITHSCORES"),
    sharded: (store) => {
      const set = new ShardedSortedSet(store, "z", { expected: ELEMENTS });
      return () => set.top({ limit: 100 });
    },
  },
  {
    what: "list of 100 000: pop and push",
    each: 2,
    plain: async (store) => {
      await store.call("RPUSH", "l", ((await store.call("LPOP", "l")) as string | null) ?? "x");
    },
    sharded: (store) => {
      const list = new ShardedList<string>(store, "l");
      return async () => list.push("right", (await list.pop("left")) ?? "x");
    },
  },
];

const IN_FLIGHT = 64;

async function rate(call: (nth: number) => Promise<unknown>, each: number, ms: number): Promise<number> {
  let nth = 0;
  let end = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) await call(nth++);
  };
  const round = async (duration: number): Promise<number> => {
    nth = 0;
    const began = performance.now();
    end = began + duration;
    await Promise.all(Array.from({ length: each >= 1_000 ? 2 : IN_FLIGHT }, worker));
    return (nth * each) / ((performance.now() - began) / 1_000);
  };
  await round(ms / 4);
  return round(ms);
}

async function speeds(name: BenchServer["name"], ms: number): Promise<Map<string, { plain: number; sharded: number }>> {
  const server = await startServer(name);
  const store = await open(`redis://127.0.0.1:${server.port}`);
  const list = new ShardedList<string>(store, "l");
  const values = Array.from({ length: 1_000 }, (_, i) => user(i));
  for (let nth = 0; nth < 100; nth++) {
    await list.pushMany("right", values);
    await store.call("RPUSH", "l", ...values);
  }
  const zset = new ShardedSortedSet(store, "z", { expected: ELEMENTS });
  for (let from = 0; from < ELEMENTS; from += BATCH) {
    await zset.addMany(numbers(from, from + BATCH).map((i) => [user(i), i]));
    await store.call("ZADD", "z", ...numbers(from, from + BATCH).flatMap((i) => [i, user(i)]));
  }
  const found = new Map<string, { plain: number; sharded: number }>();
  for (const { what, each = 1, plain, sharded } of SPEEDS) {
    found.set(what, {
      plain: await rate((nth) => plain(store, nth), each, ms),
      sharded: await rate(sharded(store), each, ms),
    });
    process.stderr.write(".");
  }
  await store.close();
  await server.stop();
  return found;
}

export async function compareSharded(quick: boolean): Promise<ShardedResults> {
  const memory = await compareBytes(quick ? 20_000 : 250_000);
  const ms = quick ? 100 : 2_000;
  const redis = await speeds("redis", ms);
  const ours = await speeds("cinnabar", ms);
  process.stderr.write("\n");
  return { memory, speed: SPEEDS.map(({ what }) => ({ what, redis: redis.get(what)!, ours: ours.get(what)! })) };
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

export function shardedTables({ memory, speed }: ShardedResults): string {
  const times = ({ plain, sharded }: { plain: number; sharded: number }): string => `${(plain / sharded).toFixed(1)} ×`;
  return [
    `**Sharded structures, bytes an element** (${whole(memory[0]!.elements)} elements; one structure, and the same in packed shards)`,
    "",
    "| what | redis, one | sharded | less by | cinnabar, one | sharded | less by | packed integers alone |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...memory.map(
      ({ what, redis, ours, notes }) =>
        `| ${what} | ${redis.plain.toFixed(1)} | ${redis.sharded.toFixed(1)} | ${times(redis)} | ${ours.plain.toFixed(1)} | ${ours.sharded.toFixed(1)} | ${times(ours)} | ${notes ?? ""} |`,
    ),
    "",
    "**Sharded structures, operations a second** (one client, 64 calls in flight; the plain command through the same client)",
    "",
    "| what | redis, plain | sharded | cinnabar, plain | sharded |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...speed.map(
      ({ what, redis, ours }) =>
        `| ${what} | ${whole(redis.plain)} | ${whole(redis.sharded)} | ${whole(ours.plain)} | ${whole(ours.sharded)} |`,
    ),
  ].join("\n");
}
