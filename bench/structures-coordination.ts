/**
 * Leader election beside the locks that people take for it; ids beside INCR and the packages that make them in the process;
 * topics beside publish/subscribe and streams by hand.
 */

import { Elections } from "cinnabar/elections";
import { Ids, ulid, uuid7 } from "cinnabar/ids";
import { DurableTopic, Topic } from "cinnabar/topics";
import type { Redis } from "ioredis";
import { nanoid } from "nanoid";
import { Mutex } from "redis-semaphore";
import { monotonicFactory } from "ulid";
import { v7 } from "uuid";
import { Arrivals, type CaseMaker, type Sides, type StructureCase, withoutStore } from "./structures-kit.ts";
import type { Op } from "./web.ts";

const NAMES = 1_000;
const LEASE_MS = 10_000;
/** Ids that one call makes: one alone takes less time than a promise. */
const IDS = 100;

export const coordinationCases: readonly CaseMaker[] = [elections, ids, topics, durable];

/** What is used of redlock, which comes without types. */
interface Redlock {
  lock(name: string, ttlMs: number): Promise<{ unlock(): Promise<unknown> }>;
}

async function elections(sides: Sides): Promise<StructureCase[]> {
  // @ts-expect-error It has no types.
  const { default: Redlock } = await import("redlock");
  const redlock: Redlock = new Redlock([sides.byHand], { retryCount: 0 });
  return sides.cases(
    "leader election: a free name won and resigned",
    (store) => new Elections(store, { leaseMs: LEASE_MS }),
    async (elected, nth) => (await elected.campaign(`name ${nth % NAMES}`, { id: "host" }))?.resign(),
    {
      others: {
        "redlock 4": async (nth) => (await redlock.lock(`redlock ${nth % NAMES}`, LEASE_MS)).unlock(),
        "redis-semaphore 5, Mutex": async (nth) => {
          const mutex = new Mutex(sides.byHand, `mutex ${nth % NAMES}`, { lockTimeout: LEASE_MS });
          await mutex.acquire();
          await mutex.release();
        },
      },
    },
  );
}

const many =
  (make: () => unknown): Op =>
  async () => {
    for (let nth = 0; nth < IDS; nth++) make();
  };

async function ids(sides: Sides): Promise<StructureCase[]> {
  const monotonic = monotonicFactory();
  return [
    ...(await sides.cases(
      "ids from blocks of 1 000",
      (store) => new Ids(store),
      (numbers) => numbers.next("orders"),
      { others: { "INCR by hand": () => sides.byHand.incr("orders") } },
    )),
    ...withoutStore("ulid()", many(ulid), {
      inProcess: { "ulid 3, monotonic": many(() => monotonic()), "nanoid 5": many(() => nanoid()) },
      each: IDS,
    }),
    ...withoutStore("uuid7()", many(uuid7), { inProcess: { "uuid 14, v7": many(() => v7()) }, each: IDS }),
  ];
}

interface News {
  readonly nth: number;
  readonly text: string;
}

const news = (nth: number): News => ({ nth, text: "a message of a usual size, with some words in it" });

async function topics(sides: Sides): Promise<StructureCase[]> {
  const listener = sides.connect();
  const byHand = new Arrivals();
  await listener.subscribe("prices");
  listener.on("message", (_channel, text) => byHand.arrived((JSON.parse(text) as News).nth));
  return sides.cases(
    "topic: published and heard",
    async (store) => {
      const topic = new Topic<News>(store, "prices");
      const arrivals = new Arrivals();
      const ended = new AbortController();
      const heard = await topic.messages({ signal: ended.signal });
      const listening = (async () => {
        for await (const { data } of heard) arrivals.arrived(data.nth);
      })();
      sides.onClose(async () => {
        ended.abort();
        await listening.catch(() => {});
      });
      return { topic, arrivals };
    },
    ({ topic, arrivals }) => arrivals.send((nth) => topic.publish(news(nth))),
    {
      others: {
        "PUBLISH and SUBSCRIBE by hand": () =>
          byHand.send((nth) => sides.byHand.publish("prices", JSON.stringify(news(nth)))),
      },
    },
  );
}

/** A consumer of a stream as one writes it by hand, with the handler's end acknowledged. */
async function consume(reader: Redis, redis: Redis, arrivals: Arrivals): Promise<never> {
  for (;;) {
    const words = ["GROUP", "billing", "one", "COUNT", "50", "BLOCK", "5000", "STREAMS", "orders-log", ">"] as const;
    const read = (await reader.call("XREADGROUP", ...words)) as [string, [string, string[]][]][] | null;
    const entries = read?.[0]?.[1] ?? [];
    for (const [, fields] of entries) arrivals.arrived((JSON.parse(fields[1]!) as News).nth);
    if (entries.length > 0) await redis.xack("orders-log", "billing", ...entries.map(([id]) => id));
  }
}

async function durable(sides: Sides): Promise<StructureCase[]> {
  const byHand = new Arrivals();
  await sides.byHand.xgroup("CREATE", "orders-log", "billing", "$", "MKSTREAM");
  // Ends with its connection, at the end.
  consume(sides.connect(), sides.byHand, byHand).catch(() => {});
  const add = (nth: number): Promise<unknown> =>
    sides.byHand.xadd("orders-log", "MAXLEN", "~", 100_000, "*", "data", JSON.stringify(news(nth)));
  const published = await sides.cases(
    "durable topic: published",
    (store) => new DurableTopic<News>(store, "log"),
    (topic, nth) => topic.publish(news(nth)),
    {
      others: {
        "XADD by hand": (nth) =>
          sides.byHand.xadd("log", "MAXLEN", "~", 100_000, "*", "data", JSON.stringify(news(nth))),
      },
    },
  );
  const handled = await sides.cases(
    "durable topic: published, handled by a group and acknowledged",
    async (store) => {
      const topic = new DurableTopic<News>(store, "orders");
      const arrivals = new Arrivals();
      await topic.createGroup("billing");
      const subscriber = topic.subscriber("billing", { concurrency: 50 }, ({ data }) => arrivals.arrived(data.nth));
      subscriber.start();
      sides.onClose(() => subscriber.stop());
      return { topic, arrivals };
    },
    ({ topic, arrivals }) => arrivals.send((nth) => topic.publish(news(nth))),
    { others: { "XADD, XREADGROUP and XACK by hand": () => byHand.send(add) } },
  );
  return [...published, ...handled];
}
