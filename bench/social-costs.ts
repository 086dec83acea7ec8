/**
 * What each act of the social network costs a Redis: requests, commands inside of scripts too, bytes in and out, processor time, and
 * what things take in memory. The server counts; nobody else uses it meanwhile.
 *
 *   node --conditions=source --import tsx bench/social-costs.ts            prints them
 *   node --conditions=source --import tsx bench/social-costs.ts --write    and writes bench/social-costs.json
 *
 * docs/scale.md calculates with these figures.
 */
import { writeFileSync } from "node:fs";
import { join as path } from "node:path";
import { open, type Store } from "cinnabar";
import { Social } from "cinnabar/social";
import { startServer } from "./servers.ts";
import { addAudience, join, settled } from "./social-audience.ts";

export interface Cost {
  /** Commands that this process sent, but for those with which workers wait for jobs. */
  readonly requests: number;
  /** Commands that were run, those inside of scripts included. */
  readonly commands: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Of the server. */
  readonly cpuMicros: number;
}

export interface SocialCosts {
  /** One of each, with the work that the queue does for it; without followers, where there could be some. */
  readonly acts: {
    readonly join: Cost;
    readonly post: Cost;
    readonly follow: Cost;
    readonly unfollow: Cost;
    readonly remove: Cost;
    readonly homePage: Cost;
    readonly profilePage: Cost;
  };
  /** What comes on top of an act, for each follower, author or followed user. */
  readonly each: {
    /** Of a post: for each follower with a full timeline, and for each whose timeline is cold. */
    readonly delivered: Cost;
    readonly cold: Cost;
    /** Of a deletion: for each follower. */
    readonly cleaned: Cost;
    /** Of a page of a home timeline: for each author who is merged in. */
    readonly merged: Cost;
    /** Of a timeline that is built: for each who is followed, with a full timeline in the end. */
    readonly built: Cost;
  };
  /** Bytes in memory. */
  readonly memory: {
    readonly user: number;
    readonly status: number;
    /** One side of an edge, in a large set. */
    readonly follower: number;
    readonly following: number;
    /** A timeline with nothing in it, and each status in a full one. */
    readonly timeline: number;
    readonly entry: number;
  };
}

const TEXT = "a status of a usual length, with some words in it and perhaps a link at the end";
const KINDS = ["requests", "commands", "bytesIn", "bytesOut", "cpuMicros"] as const;

/** Counted by the store, since the server counts what scripts do with it. */
let requests = 0;

async function info(store: Store): Promise<Map<string, string>> {
  const text = String(await store.call("INFO", "everything"));
  return new Map(text.split("\r\n").map((line) => line.split(":") as [string, string]));
}

/** What the server has done so far. */
async function counted(store: Store): Promise<Cost> {
  const facts = await info(store);
  const cpu = Number(facts.get("used_cpu_user")) + Number(facts.get("used_cpu_sys"));
  return {
    requests,
    commands: Number(facts.get("total_commands_processed")),
    bytesIn: Number(facts.get("total_net_input_bytes")),
    bytesOut: Number(facts.get("total_net_output_bytes")),
    cpuMicros: cpu * 1e6,
  };
}

const combine = (a: Cost, b: Cost, how: (x: number, y: number) => number): Cost =>
  Object.fromEntries(KINDS.map((kind) => [kind, how(a[kind], b[kind])])) as unknown as Cost;
const per = (cost: Cost, count: number): Cost =>
  Object.fromEntries(KINDS.map((kind) => [kind, Math.round((cost[kind] / count) * 100) / 100])) as unknown as Cost;
const more = (whole: Cost, part: Cost, count: number): Cost =>
  per(
    combine(whole, part, (x, y) => x - y),
    count,
  );

class Meter {
  readonly #store: Store;
  #looking: Cost | null = null;

  constructor(store: Store) {
    this.#store = store;
  }

  /** What `count` acts have cost, for each; without what looking costs. */
  async of(count: number, act: (nth: number) => Promise<unknown>, after?: () => Promise<unknown>): Promise<Cost> {
    if (this.#looking === null) {
      const once = await counted(this.#store);
      this.#looking = combine(await counted(this.#store), once, (x, y) => x - y);
    }
    const before = await counted(this.#store);
    for (let nth = 0; nth < count; nth++) await act(nth);
    await after?.();
    const all = combine(await counted(this.#store), before, (x, y) => x - y);
    return per(
      combine(all, this.#looking, (x, y) => x - y),
      count,
    );
  }
}

async function memoryOf(store: Store, count: number, make: (nth: number) => Promise<unknown>): Promise<number> {
  const used = async (): Promise<number> => Number((await info(store)).get("used_memory_dataset"));
  const before = await used();
  for (let nth = 0; nth < count; nth++) await make(nth);
  return Math.round(((await used()) - before) / count);
}

/** Acts with all that the queue does for them. A worker's start and end is counted, and divided by many acts. */
async function withWork(
  meter: Meter,
  social: Social,
  count: number,
  act: (nth: number) => Promise<unknown>,
): Promise<Cost> {
  let looks = 0;
  const asked = await meter.of(20, () => social.stats());
  const cost = await meter.of(count, act, async () => {
    const worker = social.worker({ concurrency: 1 }).start();
    looks = await settled(social, 20);
    await worker.stop();
  });
  return combine(cost, asked, (all, one) => Math.round((all - (one * looks) / count) * 100) / 100);
}

async function fillHome(store: Store, user: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, at) => `5${String(at).padStart(7, "0")}somebody-x`);
  for (let at = 0; at < count; at += 500) {
    await store.call("ZADD", `social:{${user}}:home`, ...ids.slice(at, at + 500).flatMap((id) => [0, id]));
  }
}

async function measureActs(store: Store, social: Social, scale: number): Promise<Pick<SocialCosts, "acts" | "each">> {
  const meter = new Meter(store);
  const times = Math.max(20, Math.round(200 * scale));
  const followers = Math.max(100, Math.round(1_000 * scale));
  await join(social, "warm-up");
  const joined = await meter.of(times, (nth) => join(social, `user${nth}`));
  await social.statuses.post("user0", TEXT);
  const post = await withWork(meter, social, times, (nth) => social.statuses.post(`user${nth}`, TEXT));
  const follow = await meter.of(times - 1, (nth) => social.follows.follow("user0", `user${nth + 1}`));
  const unfollow = await meter.of(times / 2, (nth) => social.follows.unfollow("user0", `user${nth + 1}`));

  await join(social, "loved");
  await addAudience(store, "loved", "warm", followers);
  for (let at = 0; at < followers; at++) await fillHome(store, `warm${at}`, 1_000);
  const posts = 10;
  const ids: string[] = [];
  const toAll = await withWork(meter, social, posts, async () =>
    ids.push((await social.statuses.post("loved", TEXT))!),
  );
  const fewer = await withWork(meter, social, posts, () => social.statuses.post("user1", TEXT));
  const fromAll = await withWork(meter, social, posts, (nth) => social.statuses.delete("loved", ids[nth]!));
  const own: string[] = [];
  for (let nth = 0; nth < posts; nth++) own.push((await social.statuses.post("user1", TEXT))!);
  await settleAll(social);
  const remove = await withWork(meter, social, posts, (nth) => social.statuses.delete("user1", own[nth]!));
  for (let at = 0; at < followers; at++) await store.call("DEL", `social:{warm${at}}:home`);
  const toCold = await withWork(meter, social, posts, () => social.statuses.post("loved", TEXT));

  const authors = Array.from({ length: 50 }, (_, at) => `author${at}`);
  await join(social, "reader");
  for (const author of authors) {
    await join(social, author);
    await social.follows.follow("reader", author);
  }
  for (let nth = 0; nth < 25 * authors.length; nth++) await social.statuses.post(authors[nth % 50]!, TEXT);
  await settleAll(social);
  const built = await withWork(meter, social, 1, () => social.timelines.home("reader"));
  const homePage = await meter.of(times, () => social.timelines.home("reader"));
  const profilePage = await meter.of(times, () => social.timelines.profile("author1"));
  for (const author of authors.slice(0, 10)) await social.follows.switchTo(author, "pull");
  await settleAll(social);
  const merging = await meter.of(times, () => social.timelines.home("reader"));
  return {
    acts: { join: joined, post, follow, unfollow, remove, homePage, profilePage },
    each: {
      delivered: more(toAll, fewer, followers),
      cold: more(toCold, fewer, followers),
      cleaned: more(fromAll, remove, followers),
      merged: more(merging, homePage, 10),
      built: more(built, homePage, authors.length),
    },
  };
}

async function settleAll(social: Social): Promise<void> {
  const worker = social.worker({ concurrency: 4 }).start();
  await settled(social);
  await worker.stop();
}

async function measureMemory(store: Store, social: Social, scale: number): Promise<SocialCosts["memory"]> {
  const count = Math.max(500, Math.round(5_000 * scale));
  const user = await memoryOf(store, count, (nth) => join(social, `somebody-${nth}`));
  await store.pipeline([["DEL", "x"]]);
  const status = await memoryOf(store, count, (nth) =>
    store.pipeline([
      ["SET", `social:{somebody-${nth}}:s:5${String(nth).padStart(7, "0")}`, JSON.stringify({ x: TEXT })],
      ["ZADD", "social:{somebody-0}:profile", 0, `5${String(nth).padStart(7, "0")}`],
    ]),
  );
  const member = (nth: number) => `abcdef${String(nth).padStart(4, "0")}`;
  const follower = await memoryOf(store, count, (nth) => store.call("ZADD", "f", 1_763_236_800_000 + nth, member(nth)));
  const following = await memoryOf(store, count, (nth) =>
    store.call("ZADD", `social:{somebody-${Math.floor(nth / 100)}}:following`, 1_763_236_800_000 + nth, member(nth)),
  );
  const timeline = await memoryOf(store, count, (nth) =>
    store.call(
      "ZADD",
      `social:{somebody-${nth}}:home`,
      0,
      `#|${"x".repeat(22)}`,
      0,
      `#5000000${nth % 9}|${"x".repeat(22)}`,
    ),
  );
  const homes = 20;
  const full = await memoryOf(store, homes, (nth) => fillHome(store, `somebody-${nth}`, 1_000));
  return { user, status, follower, following, timeline, entry: Math.round(full / 1_000) };
}

/** `scale` 1 is what is recorded; less is for trying it out. */
export async function measureSocialCosts(scale = 1): Promise<SocialCosts> {
  const server = await startServer("redis");
  const roundTrip = ({ commands }: { readonly commands: number }): undefined => {
    requests += commands;
    return undefined;
  };
  const store = await open(`redis://127.0.0.1:${server.port}`, { hooks: { roundTrip } });
  try {
    const social = new Social(store, { pushBelow: 10_000_000 });
    const { acts, each } = await measureActs(store, social, scale);
    await store.call("FLUSHALL");
    return { acts, each, memory: await measureMemory(store, social, scale) };
  } finally {
    await store.close();
    await server.stop();
  }
}

if (process.argv[1] === import.meta.filename) {
  const costs = await measureSocialCosts(process.argv.includes("--quick") ? 0.1 : 1);
  const text = `${JSON.stringify(costs, null, 2)}\n`;
  console.log(text);
  if (process.argv.includes("--write")) writeFileSync(path(import.meta.dirname, "social-costs.json"), text);
}
