/**
 * The social network, on Redis and on the store in this process: posts a second with all their followers served, how long until the
 * last of them has it, timelines read a second. Workers are in the same process; with a Redis, that is the second core.
 */
import { open, type Store } from "cinnabar";
import { Social } from "cinnabar/social";
import { median, startServer } from "./servers.ts";
import { addAudience, join, settled } from "./social-audience.ts";

export interface SocialRow {
  readonly test: string;
  readonly unit: string;
  readonly redis: number;
  readonly embedded: number;
}

interface Network {
  readonly social: Social;
  readonly store: Store;
  readonly close: () => Promise<void>;
}

type Measured = Record<string, { readonly unit: string; readonly value: number }>;

/** Nobody is merged in unless a test says so. */
const ALL_PUSHED = 10_000_000;
const TEXT = "a status of a usual length, with some words in it and perhaps a link at the end";

async function network(store: Store): Promise<Network> {
  const social = new Social(store, { pushBelow: ALL_PUSHED });
  const worker = social.worker({ concurrency: 8 }).start();
  return {
    social,
    store,
    close: async () => {
      await worker.stop();
      await store.close();
    },
  };
}

async function seconds(body: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await body();
  return (performance.now() - started) / 1_000;
}

async function atOnce(count: number, lanes: number, body: (nth: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) await body(next++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Milliseconds from before the call until the last follower's timeline has the status. */
async function untilLast({ social, store }: Network, author: string, last: string): Promise<number> {
  const started = performance.now();
  const id = (await social.statuses.post(author, TEXT))!;
  while ((await store.call("ZSCORE", `social:{${last}}:home`, id)) === null) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  return performance.now() - started;
}

async function posting(into: Network, quick: boolean, measured: Measured): Promise<void> {
  const { social, store } = into;
  const few = quick ? 10 : 1;
  for (const [followers, posts] of [
    [10, 2_000 / few],
    [1_000, 200 / few],
    [quick ? 10_000 : 100_000, quick ? 1 : 5],
  ] as const) {
    const author = await join(social, `author${followers}`);
    await addAudience(store, author, `fan${followers}-`, followers);
    const took = await seconds(async () => {
      await atOnce(posts, 20, () => social.statuses.post(author, TEXT));
      await settled(social);
    });
    const to = `${followers.toLocaleString("en-US").replaceAll(",", " ")} followers`;
    measured[`posts, delivered to ${to}`] = { unit: "posts/s", value: posts / took };
    measured[`timelines delivered to, ${to}`] = { unit: "timelines/s", value: (posts * followers) / took };
    const waits: number[] = [];
    for (let round = 0; round < 3; round++) {
      waits.push(await untilLast(into, author, `fan${followers}-${followers - 1}`));
      await settled(social);
    }
    measured[`until the last of ${to} has it`] = { unit: "ms", value: median(waits) };
  }
}

async function reading({ social }: Network, quick: boolean, measured: Measured): Promise<void> {
  const reads = quick ? 200 : 3_000;
  const authors = Array.from({ length: 50 }, (_, at) => `writer${at}`);
  await atOnce(authors.length, 10, (nth) => join(social, authors[nth]!));
  await join(social, "reader");
  await atOnce(authors.length, 5, (nth) => social.follows.follow("reader", authors[nth]!));
  await social.timelines.home("reader");
  await atOnce(quick ? 100 : 1_000, 20, (nth) => social.statuses.post(authors[nth % authors.length]!, TEXT));
  await settled(social);
  const read = () => social.timelines.home("reader");
  measured["home timeline, a page of 30, one at a time"] = {
    unit: "reads/s",
    value: reads / 2 / (await seconds(() => atOnce(reads / 2, 1, read))),
  };
  measured["home timeline, a page of 30, 50 at once"] = {
    unit: "reads/s",
    value: reads / (await seconds(() => atOnce(reads, 50, read))),
  };
  for (const author of authors.slice(0, 5)) await social.follows.switchTo(author, "pull");
  await settled(social);
  measured["the same, 5 authors merged in"] = {
    unit: "reads/s",
    value: reads / (await seconds(() => atOnce(reads, 50, read))),
  };
}

async function following({ social }: Network, quick: boolean, measured: Measured): Promise<void> {
  const count = quick ? 100 : 2_000;
  const users = Array.from({ length: 200 }, (_, at) => `user${at}`);
  await atOnce(users.length, 20, (nth) => join(social, users[nth]!));
  const pair = (nth: number): [string, string] => [users[nth % 200]!, users[(nth + 1 + Math.floor(nth / 200)) % 200]!];
  const took = await seconds(() => atOnce(count, 50, (nth) => social.follows.follow(...pair(nth))));
  measured["follow, 50 at once"] = { unit: "follows/s", value: count / took };
}

async function measure(store: Store, quick: boolean): Promise<Measured> {
  const into = await network(store);
  const measured: Measured = {};
  await posting(into, quick, measured);
  await reading(into, quick, measured);
  await following(into, quick, measured);
  await into.close();
  process.stderr.write(".");
  return measured;
}

export async function compareSocial(quick: boolean): Promise<SocialRow[]> {
  const server = await startServer("redis");
  const redis = await measure(await open(`redis://127.0.0.1:${server.port}`), quick);
  await server.stop();
  const embedded = await measure(await open(), quick);
  process.stderr.write("\n");
  return Object.entries(redis).map(([test, { unit, value }]) => ({
    test,
    unit,
    redis: value,
    embedded: embedded[test]!.value,
  }));
}

export function socialTable(rows: readonly SocialRow[]): string {
  const figure = (value: number) =>
    value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return [
    "**Social network** (milliseconds: less is better)",
    "",
    "| what | unit | on Redis | embedded |",
    "| --- | --- | ---: | ---: |",
    ...rows.map(({ test, unit, redis, embedded }) => `| ${test} | ${unit} | ${figure(redis)} | ${figure(embedded)} |`),
  ].join("\n");
}
