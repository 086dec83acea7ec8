/**
 * What the social network's acts cost, part by part: the server of each part alone, a Cluster's primaries together, and the process
 * that asks (which for a delivery is the worker). Processor time, counted by the processes themselves, so that other work on the
 * machine does not count; microseconds.
 *
 *   node --conditions=source --import tsx bench/scale-costs.ts             prints them
 *   node --conditions=source --import tsx bench/scale-costs.ts --write     and writes bench/scale-costs.json
 *
 * bench/scale-study.ts calculates with these figures and with those of bench/social-costs.ts.
 */
import { writeFileSync } from "node:fs";
import { join as path } from "node:path";
import { open, type Store } from "cinnabar";
import { Social, type SocialParts } from "cinnabar/social";
import { StatusStream } from "cinnabar/streaming";
import { startCluster } from "../toolkit/tests/kit/servers.ts";
import { type BenchServer, median, startServer } from "./servers.ts";
import { join, settled } from "./social-audience.ts";

const PARTS = ["users", "statuses", "follows", "timelines", "queue"] as const;
type Part = (typeof PARTS)[number];

/** Processor time in microseconds: of each part's server, and of the process that asked. */
export type PartCosts = Readonly<Record<Part | "asking", number>>;
export interface ClusterCosts {
  readonly primaries: number;
  readonly asking: number;
}

export interface ActCosts<C> {
  /** A status without followers, with the work that the queue does for it. */
  readonly post: C;
  /** On top of it, for each follower with a full timeline. */
  readonly delivered: C;
  /** A page of a home timeline, nobody merged in; and on top of it, for each author who is. */
  readonly homePage: C;
  readonly merged: C;
  readonly follow: C;
}

export interface ScaleCosts {
  readonly parts: ActCosts<PartCosts>;
  readonly cluster: ActCosts<ClusterCosts>;
  /** An event that is published to the stream, whose log is full; without readers. */
  readonly stream: { readonly server: number; readonly asking: number };
}

const TEXT = "a status of a usual length, with some words in it and perhaps a link at the end";
const FULL = 1_000;

type Figures = Record<string, number>;

const minus = (a: Figures, b: Figures): Figures =>
  Object.fromEntries(Object.entries(a).map(([name, value]) => [name, value - b[name]!]));
const over = (figures: Figures, count: number): Figures =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Math.round((value / count) * 100) / 100]));

function cpuIn(text: string): number {
  const of = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, "m").exec(text)![1]);
  return (of("used_cpu_user") + of("used_cpu_sys")) * 1e6;
}

function asking(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

interface EdgeStores {
  readonly follows: Store;
  readonly timelines: Store;
}

/** Followers with timelines that are as full as they get, so that each delivery pushes one out; written as the component does. */
async function addAudience({ follows, timelines }: EdgeStores, author: string, count: number): Promise<void> {
  const ids = Array.from({ length: FULL }, (_, at) => `5${String(at).padStart(7, "0")}somebody-x`);
  for (let nth = 0; nth < count; nth += 10) {
    const fans = Array.from({ length: Math.min(10, count - nth) }, (_, at) => `fan${nth + at}`);
    await follows.pipeline([
      ["ZADD", `social:{${author}}:followers`, ...fans.flatMap((fan, at) => [1_000_000 + nth + at, fan])],
      ...fans.map((fan) => ["ZADD", `social:{${fan}}:following`, 1_000_000, author]),
    ]);
    const entries = ids.flatMap((id) => [0, id]);
    await timelines.pipeline(fans.map((fan) => ["ZADD", `social:{${fan}}:home`, 0, "#|made", ...entries]));
  }
}

async function settle(social: Social): Promise<void> {
  const worker = social.worker({ concurrency: 4 }).start();
  // Looked at rarely: looking costs too.
  await settled(social, 200);
  await worker.stop();
}

/** Runs all acts, with `look` telling the processor time so far. */
async function measureActs(
  social: Social,
  stores: EdgeStores,
  look: () => Promise<Figures>,
  scale: number,
): Promise<Record<keyof ActCosts<unknown>, Figures>> {
  const spent = async (body: () => Promise<unknown>): Promise<Figures> => {
    const before = await look();
    await body();
    return minus(await look(), before);
  };
  const times = Math.round(400 * scale);
  const followers = Math.round(1_000 * scale);
  for (let nth = 0; nth < times; nth++) await join(social, `user${nth}`);
  const posts = (count: number, author: (nth: number) => string) => async (): Promise<void> => {
    for (let nth = 0; nth < count; nth++) await social.statuses.post(author(nth), TEXT);
    await settle(social);
  };
  // Once for what is compiled and loaded on the way.
  await posts(50, (nth) => `user${nth}`)();
  const idle = await spent(() => settle(social));
  const post = over(minus(await spent(posts(times, (nth) => `user${nth}`)), idle), times);

  await join(social, "loved");
  await addAudience(stores, "loved", followers);
  await posts(2, () => "loved")();
  const loved = minus(await spent(posts(10, () => "loved")), idle);
  const delivered = over(
    Object.fromEntries(Object.entries(loved).map(([name, value]) => [name, value - 10 * post[name]!])),
    10 * followers,
  );

  const authors = Array.from({ length: 50 }, (_, at) => `author${at}`);
  await join(social, "reader");
  for (const author of authors) await join(social, author);
  const follow = over(
    await spent(async () => {
      for (const author of authors) await social.follows.follow("reader", author);
    }),
    authors.length,
  );
  await posts(500, (nth) => authors[nth % 50]!)();
  const read = (count: number) => async (): Promise<void> => {
    for (let nth = 0; nth < count; nth++) await social.timelines.home("reader");
  };
  await read(50)();
  await settle(social);
  const homePage = over(await spent(read(times)), times);
  for (const author of authors.slice(0, 25)) await social.follows.switchTo(author, "pull");
  await settle(social);
  await read(50)();
  const merging = over(await spent(read(times)), times);
  return { post, delivered, homePage, merged: over(minus(merging, homePage), 25), follow };
}

async function measureParts(scale: number): Promise<ActCosts<PartCosts>> {
  const servers = new Map<Part, BenchServer>();
  const stores = new Map<Part, Store>();
  for (const part of PARTS) {
    const server = await startServer("redis");
    servers.set(part, server);
    stores.set(part, await open(`redis://127.0.0.1:${server.port}`));
  }
  const look = async (): Promise<Figures> => {
    const figures: Figures = {};
    for (const [part, store] of stores) figures[part] = cpuIn(String(await store.call("INFO", "cpu")));
    return { ...figures, asking: asking() };
  };
  const parts = Object.fromEntries(stores) as unknown as SocialParts;
  try {
    const social = new Social(parts, { pushBelow: 10_000_000 });
    const { follows, timelines } = parts;
    return (await measureActs(social, { follows, timelines }, look, scale)) as unknown as ActCosts<PartCosts>;
  } finally {
    for (const store of stores.values()) await store.close();
    for (const server of servers.values()) await server.stop();
  }
}

async function measureCluster(scale: number): Promise<ActCosts<ClusterCosts>> {
  const cluster = await startCluster();
  const store = await open(cluster.url);
  const look = async (): Promise<Figures> => {
    const told = await store.sendToAll(["INFO", "cpu"]);
    return { primaries: told.reduce((sum: number, text) => sum + cpuIn(String(text)), 0), asking: asking() };
  };
  try {
    const social = new Social(store, { pushBelow: 10_000_000 });
    const stores = { follows: store, timelines: store };
    return (await measureActs(social, stores, look, scale)) as unknown as ActCosts<ClusterCosts>;
  } finally {
    await store.close();
    await cluster.stop();
  }
}

async function measureStream(scale: number): Promise<ScaleCosts["stream"]> {
  const server = await startServer("redis");
  const store = await open(`redis://127.0.0.1:${server.port}`);
  const look = async (): Promise<Figures> => ({
    server: cpuIn(String(await store.call("INFO", "cpu"))),
    asking: asking(),
  });
  try {
    const stream = new StatusStream(store, "public", { maxEvents: Math.round(5_000 * scale) });
    const publish = async (from: number, count: number): Promise<void> => {
      for (let nth = from; nth < from + count; nth += 50) {
        const ids = Array.from({ length: 50 }, (_, at) => String(nth + at));
        const of = { kind: "status", userId: "somebody", login: "somebody", text: TEXT, atMs: 0 } as const;
        await Promise.all(ids.map((id) => stream.publish({ ...of, id })));
      }
    };
    const count = Math.round(10_000 * scale);
    await publish(0, count);
    const before = await look();
    await publish(count, count);
    return over(minus(await look(), before), count) as unknown as ScaleCosts["stream"];
  } finally {
    await store.close();
    await server.stop();
  }
}

/** Of figures of the same shape, the middle one of each. */
function middles<T>(all: readonly T[]): T {
  const first = all[0]!;
  if (typeof first === "number") return median(all as unknown as number[]) as T;
  const entries = Object.keys(first as object).map((name) => [
    name,
    middles(all.map((each) => (each as Record<string, unknown>)[name])),
  ]);
  return Object.fromEntries(entries) as T;
}

/** All of it so many times, and the middle of each figure. */
export async function measureScaleCosts(scale = 1, rounds = 3): Promise<ScaleCosts> {
  const all: ScaleCosts[] = [];
  for (let round = 0; round < rounds; round++) {
    const parts = await measureParts(scale);
    const cluster = await measureCluster(scale);
    all.push({ parts, cluster, stream: await measureStream(scale) });
  }
  return middles(all);
}

if (process.argv[1] === import.meta.filename) {
  const costs = await (process.argv.includes("--quick") ? measureScaleCosts(0.1, 1) : measureScaleCosts());
  const text = `${JSON.stringify(costs, null, 2)}\n`;
  console.log(text);
  if (process.argv.includes("--write")) writeFileSync(path(import.meta.dirname, "scale-costs.json"), text);
  process.exit(0);
}
