/**
 * Whole collections built from others: SUNIONSTORE and its kin, COPY, RESTORE, and a client that adds back what it was given.
 * What counts is the processor time of the servers' main threads, so that neither the client nor what else the machine does
 * is counted, in the least disturbed of several rounds.
 */
import { readFileSync } from "node:fs";
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

interface Step {
  readonly what: string;
  /** Not counted; what it returns goes to `step`. */
  readonly prepare?: (client: Redis) => Promise<never>;
  readonly step: (client: Redis, prepared: never) => Promise<unknown>;
}

const from = <T>(
  what: string,
  prepare: (client: Redis) => Promise<T>,
  step: (client: Redis, given: T) => Promise<unknown>,
) => ({ what, prepare, step }) as unknown as Step;

/** The sets `a` and `b` share half of their members. */
const STEPS: readonly Step[] = [
  { what: "SUNIONSTORE d a b", step: (client) => client.sunionstore("d", "a", "b") },
  { what: "SINTERSTORE d a b", step: (client) => client.sinterstore("d", "a", "b") },
  { what: "SDIFFSTORE d a b", step: (client) => client.sdiffstore("d", "a", "b") },
  { what: "ZUNIONSTORE d 2 a b", step: (client) => client.zunionstore("d", 2, "a", "b") },
  { what: "COPY a d", step: (client) => client.copy("a", "d") },
  from(
    "RESTORE d of a's DUMP",
    (client) => client.dumpBuffer("a"),
    (client, dump) => client.restore("d", 0, dump!),
  ),
  from(
    "SADD of what SMEMBERS gave",
    (client) => client.smembers("a"),
    (client, given) => addBack(client, given),
  ),
  from("SADD of what SSCAN gave", scanned, (client, given) => addBack(client, given)),
  from(
    "HSET of what SMEMBERS gave",
    (client) => client.smembers("a"),
    (client, given) => addBack(client, given, true),
  ),
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

/** The processor time that a server's main thread has taken, in milliseconds. */
function spent({ pid }: BenchServer): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

async function measure(server: BenchServer, members: number, rounds: number): Promise<number[]> {
  const client = new Redis(server.port, "127.0.0.1");
  await fill(client, members);
  const times: number[] = [];
  for (const { step, prepare } of STEPS) {
    const taken: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await client.del("d");
      const prepared = await prepare?.(client);
      const before = spent(server);
      await step(client, prepared!);
      taken.push(spent(server) - before);
    }
    times.push(Math.min(...taken));
    process.stderr.write(".");
  }
  await client.flushall();
  client.disconnect();
  return times;
}

export async function compareBuilding(
  quick: boolean,
  sizes = quick ? [30_000] : [30_000, 300_000, 3_000_000],
): Promise<BuildRow[]> {
  const rows: BuildRow[] = [];
  for (const members of sizes) {
    const ours = await startServer("cinnabar");
    const redis = await startServer("redis");
    const rounds = members > 1_000_000 ? 3 : 7;
    const a = await measure(ours, members, rounds);
    const b = await measure(redis, members, rounds);
    STEPS.forEach(({ what }, i) => void rows.push({ what, members, ours: a[i]!, redis: b[i]! }));
    await ours.stop();
    await redis.stop();
  }
  process.stderr.write("\n");
  return rows;
}

export function buildTable(rows: readonly BuildRow[]): string {
  return [
    "**Collections built from others** (milliseconds of processor time: less is better)",
    "",
    "| what | members | cinnabar | redis | ratio |",
    "| --- | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, members, ours, redis }) =>
        `| ${what} | ${members.toLocaleString("en-US")} | ${ours.toFixed(1)} | ${redis.toFixed(1)} | ${(ours / redis).toFixed(2)} |`,
    ),
  ].join("\n");
}
