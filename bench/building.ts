/**
 * Whole collections built from others: SUNIONSTORE and its kin, COPY, RESTORE, and a client that adds back what it was given.
 * What counts is the servers' own time (INFO commandstats), so that the client's share is left out, in
 * the least disturbed of several rounds.
 */
import { Redis } from "ioredis";
import { type BenchServer, startServer } from "./servers.ts";

export interface BuildRow {
  readonly what: string;
  readonly members: number;
  /** Milliseconds. */
  readonly ours: number;
  readonly redis: number;
}

const BATCH = 1000;

type Step = (client: Redis) => Promise<unknown>;

/** What is built, and which command's time it takes. The sets `a` and `b` share half of their members. */
const STEPS: readonly (readonly [what: string, command: string, step: Step])[] = [
  ["SUNIONSTORE d a b", "sunionstore", (client) => client.sunionstore("d", "a", "b")],
  ["SINTERSTORE d a b", "sinterstore", (client) => client.sinterstore("d", "a", "b")],
  ["SDIFFSTORE d a b", "sdiffstore", (client) => client.sdiffstore("d", "a", "b")],
  ["ZUNIONSTORE d 2 a b", "zunionstore", (client) => client.zunionstore("d", 2, "a", "b")],
  ["COPY a d", "copy", (client) => client.copy("a", "d", "REPLACE")],
  [
    "RESTORE d of a's DUMP",
    "restore",
    async (client) => client.restore("d", 0, (await client.dumpBuffer("a"))!, "REPLACE"),
  ],
  ["SADD of what SMEMBERS gave", "sadd", async (client) => addBack(client, await client.smembers("a"))],
  ["SADD of what SSCAN gave", "sadd", async (client) => addBack(client, await scanned(client))],
  ["HSET of what SMEMBERS gave", "hset", async (client) => addBack(client, await client.smembers("a"), true)],
];

async function addBack(client: Redis, members: readonly string[], toHash = false): Promise<void> {
  for (let i = 0; i < members.length; i += BATCH) {
    const batch = members.slice(i, i + BATCH);
    if (toHash) await client.hset("d", ...batch.flatMap((member) => [member, "1"]));
    else await client.sadd("d", ...batch);
  }
}

async function scanned(client: Redis): Promise<string[]> {
  const members: string[] = [];
  let cursor = "0";
  do {
    const [next, page] = await client.sscan("a", cursor, "COUNT", BATCH);
    for (const member of page) members.push(member);
    cursor = next;
  } while (cursor !== "0");
  return members;
}

async function fill(client: Redis, members: number): Promise<void> {
  await client.flushall();
  for (const [key, from] of [
    ["a", 0],
    ["b", members / 2],
  ] as const) {
    for (let i = 0; i < members; i += BATCH) {
      await client.sadd(
        key,
        ...Array.from({ length: Math.min(BATCH, members - i) }, (_, j) => `member:${from + i + j}`),
      );
    }
  }
}

/** How long the server says that a command took in all, in milliseconds, since the last CONFIG RESETSTAT. */
async function spent(client: Redis, command: string): Promise<number> {
  const info = await client.info("commandstats");
  return Number(new RegExp(`cmdstat_${command}:calls=\\d+,usec=(\\d+)`).exec(info)![1]) / 1000;
}

async function measure(server: BenchServer, members: number, rounds: number): Promise<number[]> {
  const client = new Redis(server.port, "127.0.0.1");
  await fill(client, members);
  const times: number[] = [];
  for (const [, command, step] of STEPS) {
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await client.del("d");
      await client.config("RESETSTAT");
      await step(client);
      taken.push(await spent(client, command));
    }
    times.push(Math.min(...taken));
    process.stderr.write(".");
  }
  await client.flushall();
  client.disconnect();
  return times;
}

export async function compareBuilding(quick: boolean): Promise<BuildRow[]> {
  const rows: BuildRow[] = [];
  for (const members of quick ? [30_000] : [30_000, 300_000, 3_000_000]) {
    const ours = await startServer("cinnabar");
    const redis = await startServer("redis");
    const rounds = members > 1_000_000 ? 3 : 7;
    const a = await measure(ours, members, rounds);
    const b = await measure(redis, members, rounds);
    STEPS.forEach(([what], i) => void rows.push({ what, members, ours: a[i]!, redis: b[i]! }));
    await ours.stop();
    await redis.stop();
  }
  process.stderr.write("\n");
  return rows;
}

export function buildTable(rows: readonly BuildRow[]): string {
  return [
    "**Collections built from others** (milliseconds: less is better)",
    "",
    "| what | members | cinnabar | redis | ratio |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, members, ours, redis }) =>
        `| ${what} | ${members.toLocaleString("en-US")} | ${ours.toFixed(1)} | ${redis.toFixed(1)} | ${(ours / redis).toFixed(2)} |`,
    ),
  ].join("\n");
}
