/**
 * The cache against BentoCache and Cacheable: values that are in Redis, values that are in the process too, values that have to be
 * made, and a cold key that many ask for at once. Cacheable reaches Redis through the few lines of store below, over node-redis,
 * which do what its own adapter does and no more.
 */
import { BentoCache, bentostore } from "bentocache";
import { memoryDriver } from "bentocache/drivers/memory";
import { redisDriver } from "bentocache/drivers/redis";
import { Cacheable, Keyv, type KeyvStoreAdapter } from "cacheable";
import { open, type Store } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { median } from "./servers.ts";
import type { Cases, Op, WebCase } from "./web.ts";

export interface StampedeRow {
  readonly what: string;
  /** How often the value was made. */
  readonly loads: number;
  /** Until the last caller had it. */
  readonly ms: number;
}

interface Product {
  readonly id: number;
  readonly name: string;
  readonly text: string;
  readonly prices: readonly number[];
}

/** One cache under test: the value of a key, made by `load` if it is not there. */
interface Subject {
  get(key: string, load: () => Promise<Product>): Promise<unknown>;
  close(): Promise<unknown>;
}

const FRESH_MS = 600_000;
const KEYS = 1_000;

const product = (id: number): Product => ({
  id,
  name: `Product number ${id}`,
  text: "Made to last, of good stuff, in many colours and sizes; sent within a day. ".repeat(4),
  prices: [1_999, 2_499, 2_999],
});

function ours(store: Store, memoryTtlMs: number): Subject {
  const cache = new Cache<Product>(store, "bench", { freshMs: FRESH_MS, memoryTtlMs: memoryTtlMs });
  return { get: (key, load) => cache.get(key, load), close: () => store.close() };
}

function bento(port: number, hasMemory: boolean): Subject {
  const connection = new Redis({ port, host: "127.0.0.1" });
  const remote = redisDriver({ connection });
  const layers = hasMemory
    ? bentostore()
        .useL1Layer(memoryDriver({ maxItems: 10_000 }))
        .useL2Layer(remote)
    : bentostore().useL2Layer(remote);
  const cache = new BentoCache({ default: "bench", stores: { bench: layers } });
  return {
    get: (key, load) => cache.getOrSet({ key, factory: load, ttl: FRESH_MS }),
    close: () => cache.disconnectAll(),
  };
}

async function cacheable(port: number, hasMemory: boolean): Promise<Subject> {
  const client = createClient({ url: `redis://127.0.0.1:${port}` });
  await client.connect();
  const store: KeyvStoreAdapter = {
    opts: {},
    get: async (key) => (await client.get(key)) as never,
    set: (key, value: string, ttl) => client.set(key, value, ttl === undefined ? {} : { PX: ttl }),
    delete: async (key) => (await client.del(key)) === 1,
    clear: async () => {},
    on: () => store,
  };
  const remote = new Keyv({ store, useKeyPrefix: false });
  const cache = new Cacheable({ ...(hasMemory ? { secondary: remote } : { primary: remote }), ttl: FRESH_MS });
  return {
    get: (key, load) => cache.getOrSet(`cacheable:${key}`, load, { ttl: FRESH_MS }),
    close: () => client.close(),
  };
}

const BENTO = "BentoCache 1";
const CACHEABLE = "Cacheable 2";

async function subjects(port: number, hasMemory: boolean): Promise<Record<string, Subject>> {
  const memoryTtlMs = hasMemory ? FRESH_MS : 0;
  return {
    ours: ours(await open(`redis://127.0.0.1:${port}`), memoryTtlMs),
    embedded: ours(await open(), memoryTtlMs),
    [BENTO]: bento(port, hasMemory),
    [CACHEABLE]: await cacheable(port, hasMemory),
  };
}

function caseOf(
  test: string,
  inFlight: number,
  all: Record<string, Subject>,
  op: (subject: Subject, nth: number) => Promise<unknown>,
): WebCase {
  const of = (name: string): Op => {
    const subject = all[name]!;
    return (nth) => op(subject, nth);
  };
  const others = { [BENTO]: of(BENTO), [CACHEABLE]: of(CACHEABLE) };
  return { test, inFlight, ours: of("ours"), embedded: of("embedded"), others };
}

export async function cacheCases(port: number): Promise<Cases> {
  const plain = await subjects(port, false);
  const layered = await subjects(port, true);
  for (let nth = 0; nth < KEYS; nth++) {
    for (const subject of [...Object.values(plain), ...Object.values(layered)]) {
      await subject.get(`key:${nth}`, async () => product(nth));
    }
  }
  const hit = (subject: Subject, nth: number) => subject.get(`key:${nth % KEYS}`, async () => product(nth));
  let misses = 0;
  const miss = (subject: Subject, nth: number) => subject.get(`miss:${misses++}`, async () => product(nth));
  return {
    cases: [
      caseOf("cache, in Redis", 1, plain, hit),
      caseOf("cache, in Redis", 50, plain, hit),
      caseOf("cache, made and put", 50, plain, miss),
      caseOf("cache, in the process", 1, layered, hit),
    ],
    close: async () => {
      await Promise.all([...Object.values(plain), ...Object.values(layered)].map((subject) => subject.close()));
    },
  };
}

const INSTANCES = 8;
const CALLERS = 20;

export async function stampede(port: number, rounds: number): Promise<StampedeRow[]> {
  const makers: Record<string, () => Promise<Subject>> = {
    cinnabar: async () => ours(await open(`redis://127.0.0.1:${port}`), 0),
    [BENTO]: async () => bento(port, false),
    [CACHEABLE]: () => cacheable(port, false),
  };
  const rows: StampedeRow[] = [];
  for (const [what, make] of Object.entries(makers)) {
    const instances = await Promise.all(Array.from({ length: INSTANCES }, make));
    const measured: { loads: number; ms: number }[] = [];
    // The first is not counted: connections are opened on the way.
    for (let round = 0; round <= rounds; round++) {
      let loads = 0;
      const load = async (): Promise<Product> => {
        loads++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        return product(round);
      };
      const started = performance.now();
      const asked = instances.flatMap((each) => Array.from({ length: CALLERS }, () => each.get(`cold:${round}`, load)));
      await Promise.all(asked);
      if (round > 0) measured.push({ loads, ms: performance.now() - started });
    }
    await Promise.all(instances.map((each) => each.close()));
    rows.push({ what, loads: median(measured.map(({ loads }) => loads)), ms: median(measured.map(({ ms }) => ms)) });
  }
  return rows;
}
