/**
 * Collections beside the commands that one sends by hand over ioredis: keys with a lifetime, lists and sorted sets as queues, a
 * set for each key of a multi-map, a sorted set of samples; and the local map beside the client cache of node-redis.
 */
import { BoundedQueue, PriorityQueue } from "cinnabar/blocking-queues";
import { ExpiringMap, ExpiringSet } from "cinnabar/expiring";
import { LocalMap } from "cinnabar/local-map";
import { MultiMap } from "cinnabar/multi-map";
import { TimeSeries } from "cinnabar/time-series";
import type { Redis } from "ioredis";
import { createClient } from "redis";
import { Arrivals, type CaseMaker, type Sides, type StructureCase } from "./structures-kit.ts";

const KEYS = 1_000;
const TTL_MS = 600_000;

const key = (nth: number): string => `key:${(nth * 7_919) % KEYS}`;

interface Entry {
  readonly nth: number;
  readonly text: string;
}

const entry = (nth: number): Entry => ({ nth, text: "a value of a usual size, with some words in it" });

export const collectionCases: readonly CaseMaker[] = [expiring, queues, handing, multiMap, localMap, timeSeries];

async function expiring(sides: Sides): Promise<StructureCase[]> {
  const redis = sides.byHand;
  const set = await sides.cases(
    "expiring set: add",
    (store) => new ExpiringSet(store, "online", { ttlMs: TTL_MS }),
    (online, nth) => online.add(key(nth)),
    { others: { "SET PX of a key by hand": (nth) => redis.set(`online:${key(nth)}`, 1, "PX", TTL_MS) } },
  );
  const has = await sides.cases(
    "expiring set: has",
    (store) => new ExpiringSet(store, "online", { ttlMs: TTL_MS }),
    (online, nth) => online.has(key(nth)),
    { others: { "EXISTS of a key by hand": (nth) => redis.exists(`online:${key(nth)}`) } },
  );
  const put = await sides.cases(
    "expiring map: set",
    (store) => new ExpiringMap<Entry>(store, "codes", { ttlMs: TTL_MS }),
    (codes, nth) => codes.set(key(nth), entry(nth)),
    {
      others: {
        "SET PX of a key by hand": (nth) => redis.set(`codes:${key(nth)}`, JSON.stringify(entry(nth)), "PX", TTL_MS),
      },
    },
  );
  const get = await sides.cases(
    "expiring map: get",
    (store) => new ExpiringMap<Entry>(store, "codes", { ttlMs: TTL_MS }),
    (codes, nth) => codes.get(key(nth)),
    {
      others: { "GET of a key by hand": async (nth) => JSON.parse((await redis.get(`codes:${key(nth)}`)) ?? "null") },
    },
  );
  return [...set, ...has, ...put, ...get];
}

async function queues(sides: Sides): Promise<StructureCase[]> {
  const redis = sides.byHand;
  const bounded = await sides.cases(
    "bounded queue: push and take",
    (store) => new BoundedQueue<Entry>(store, "pages"),
    async (pages, nth) => {
      await pages.push(entry(nth));
      await pages.take();
    },
    {
      others: {
        "RPUSH and LPOP by hand, no bound": async (nth) => {
          await redis.rpush("pages", JSON.stringify(entry(nth)));
          return JSON.parse((await redis.lpop("pages")) ?? "null");
        },
      },
    },
  );
  const priority = await sides.cases(
    "priority queue: push and take",
    (store) => new PriorityQueue<Entry>(store, "alarms"),
    async (alarms, nth) => {
      await alarms.push(entry(nth), { priority: nth % 10 });
      await alarms.take();
    },
    {
      others: {
        "ZADD and ZPOPMIN by hand, no bound": async (nth) => {
          await redis.zadd("alarms", nth % 10, JSON.stringify(entry(nth)));
          return JSON.parse((await redis.zpopmin("alarms"))[0] ?? "null");
        },
      },
    },
  );
  return [...bounded, ...priority];
}

/** Takes what comes, as one writes it by hand. */
async function takeAll(redis: Redis, arrivals: Arrivals): Promise<never> {
  for (;;) {
    const popped = await redis.bzpopmin("calls", 5);
    if (popped !== null) arrivals.arrived((JSON.parse(popped[1]) as Entry).nth);
  }
}

async function handing(sides: Sides): Promise<StructureCase[]> {
  const byHand = new Arrivals();
  // Ends with its connection, at the end.
  takeAll(sides.connect(), byHand).catch(() => {});
  return sides.cases(
    "priority queue: pushed to a process that waits",
    async (store) => {
      const queue = new PriorityQueue<Entry>(store, "calls");
      const arrivals = new Arrivals();
      const ended = new AbortController();
      const taking = (async () => {
        for await (const { nth } of queue.values({ signal: ended.signal })) arrivals.arrived(nth);
      })();
      sides.onClose(async () => {
        ended.abort();
        await taking.catch(() => {});
      });
      return { queue, arrivals };
    },
    ({ queue, arrivals }) => arrivals.send((nth) => queue.push(entry(nth), { priority: nth % 10 })),
    {
      others: {
        "ZADD and BZPOPMIN by hand": () =>
          byHand.send((nth) => sides.byHand.zadd("calls", nth % 10, JSON.stringify(entry(nth)))),
      },
    },
  );
}

async function multiMap(sides: Sides): Promise<StructureCase[]> {
  const redis = sides.byHand;
  const value = (nth: number): string => `tag ${nth % 10}`;
  const add = await sides.cases(
    "multi-map: add",
    (store) => new MultiMap<string>(store, "tags"),
    (tags, nth) => tags.add(key(nth), value(nth)),
    { others: { "SADD by hand": (nth) => redis.sadd(`tags:${key(nth)}`, JSON.stringify(value(nth))) } },
  );
  const get = await sides.cases(
    "multi-map: get",
    (store) => new MultiMap<string>(store, "tags"),
    (tags, nth) => tags.get(key(nth)),
    {
      others: {
        "SMEMBERS by hand": async (nth) => (await redis.smembers(`tags:${key(nth)}`)).map((each) => JSON.parse(each)),
      },
    },
  );
  return [...add, ...get];
}

/** One call in a thousand changes an entry, so that what is in memory becomes outdated. */
const changes = (nth: number): boolean => nth % 1_000 === 999;

async function localMap(sides: Sides): Promise<StructureCase[]> {
  const client = createClient({
    RESP: 3,
    socket: { port: sides.port, host: "127.0.0.1" },
    clientSideCache: { ttl: 0, maxEntries: 0 },
  });
  await client.connect();
  sides.onClose(() => client.destroy());
  for (let nth = 0; nth < KEYS; nth++) await client.set(`flags:${key(nth)}`, JSON.stringify(entry(nth)));
  return sides.cases(
    "local map: get, one in 1 000 calls sets",
    async (store) => {
      const flags = new LocalMap<Entry>(store, "flags");
      sides.onClose(() => flags.close());
      await flags.setMany(Array.from({ length: KEYS }, (_, nth) => [key(nth), entry(nth)] as const));
      return flags;
    },
    (flags, nth) => (changes(nth) ? flags.set(key(nth), entry(nth)) : flags.get(key(nth))),
    {
      others: {
        "node-redis 6, client cache": async (nth) =>
          changes(nth)
            ? client.set(`flags:${key(nth)}`, JSON.stringify(entry(nth)))
            : JSON.parse((await client.get(`flags:${key(nth)}`)) ?? "null"),
      },
    },
  );
}

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const SERIES = 10;
/** Of an hour, one every 5 s. */
const SAMPLES = 720;

/** The points of an hour by the minute, from all of its samples. */
function byMinute(samples: readonly string[], from: number): { count: number; sum: number; max: number }[] {
  const points: { count: number; sum: number; max: number }[] = [];
  for (const sample of samples) {
    const [at, value] = sample.split(":").map(Number) as [number, number];
    const minute = Math.floor((at - from) / MINUTE_MS);
    points[minute] ??= { count: 0, sum: 0, max: Number.NEGATIVE_INFINITY };
    const point = points[minute];
    point.count++;
    point.sum += value;
    point.max = Math.max(point.max, value);
  }
  return points;
}

async function timeSeries(sides: Sides): Promise<StructureCase[]> {
  const redis = sides.byHand;
  const from = Math.floor(Date.now() / HOUR_MS) * HOUR_MS - 2 * HOUR_MS;
  const rollUps = [{ everyMs: MINUTE_MS, keepMs: 24 * HOUR_MS }];
  const name = (nth: number): string => `cpu:${nth % SERIES}`;
  const samples = Array.from({ length: SAMPLES }, (_, nth) => ({ at: from + nth * 5_000, value: nth % 100 }));
  for (let nth = 0; nth < SERIES; nth++) {
    await redis.zadd(name(nth), ...samples.flatMap(({ at, value }) => [at, `${at}:${value}`]));
  }
  const add = await sides.cases(
    "time series, minutes of a day: add",
    (store) => new TimeSeries(store, { prefix: "added", rollUps }),
    (series, nth) => series.add(name(nth), nth % 100),
    {
      others: {
        "ZADD and ZREMRANGEBYSCORE by hand": (nth) => {
          const at = Date.now();
          return redis
            .pipeline()
            .zadd(`added:${name(nth)}`, at, `${at}:${nth % 100}:${nth}`)
            .zremrangebyscore(`added:${name(nth)}`, 0, at - 24 * HOUR_MS)
            .exec();
        },
      },
    },
  );
  const range = await sides.cases(
    `time series: an hour of ${SAMPLES} samples by the minute`,
    async (store) => {
      const series = new TimeSeries(store, { rollUps });
      for (let nth = 0; nth < SERIES; nth++) await series.addMany(name(nth), samples);
      return series;
    },
    (series, nth) => series.range(name(nth), { from, to: from + HOUR_MS - 1, everyMs: MINUTE_MS }),
    {
      others: {
        "ZRANGEBYSCORE by hand, added up by the client": async (nth) =>
          byMinute(await redis.zrangebyscore(name(nth), from, from + HOUR_MS - 1), from),
      },
    },
  );
  return [...add, ...range];
}
