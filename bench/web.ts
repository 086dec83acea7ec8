/**
 * The components for the web beside those that people use, on one Redis and in turns: sessions against connect-redis, the cache
 * against BentoCache and Cacheable, the rate limiter against rate-limiter-flexible; ours on the embedded store for comparison.
 * Then a service as a whole: sessions touched one by one and many at once, sessions cleaned, and purchases in the
 * three ways of the market.
 *
 * A case runs for a while with so many calls in flight, and what is told is the median of the rounds.
 */
import { Redis } from "ioredis";
import { median, startServer } from "./servers.ts";
import { cacheCases, type StampedeRow, stampede } from "./web-cache.ts";
import { limiterCases } from "./web-limits.ts";
import { measureNotes, type NoteRow } from "./web-notes.ts";
import { sessionCases } from "./web-sessions.ts";

/** Calls with the number of the call; what it answers is not looked at. */
export type Op = (nth: number) => Promise<unknown>;

export interface WebCase {
  readonly test: string;
  readonly inFlight: number;
  readonly ours: Op;
  readonly embedded: Op;
  /** By the name that the table shows. */
  readonly others: Readonly<Record<string, Op>>;
}

export interface Cases {
  readonly cases: readonly WebCase[];
  close(): Promise<void>;
}

export interface WebRow {
  readonly test: string;
  readonly against: string;
  readonly ours: number;
  readonly theirs: number;
  readonly ratio: number;
  readonly embedded: number;
}

export interface WebResults {
  readonly rows: readonly WebRow[];
  readonly stampede: readonly StampedeRow[];
  readonly notes: readonly NoteRow[];
}

/** Calls a second, for as many milliseconds, with so many in flight. */
export async function rateOf(op: Op, inFlight: number, ms: number): Promise<number> {
  let calls = 0;
  const started = performance.now();
  const caller = async (): Promise<void> => {
    while (performance.now() - started < ms) await op(calls++);
  };
  await Promise.all(Array.from({ length: inFlight }, caller));
  return calls / ((performance.now() - started) / 1_000);
}

async function measure({ test, inFlight, ours, embedded, others }: WebCase, quick: boolean): Promise<WebRow[]> {
  const subjects: [string, Op][] = [["ours", ours], ["embedded", embedded], ...Object.entries(others)];
  const rates = new Map<string, number[]>(subjects.map(([name]) => [name, []]));
  // Past what is compiled on the way.
  for (const [, op] of subjects) await rateOf(op, inFlight, quick ? 30 : 300);
  for (let round = 0; round < (quick ? 1 : 5); round++) {
    for (const [name, op] of round % 2 === 0 ? subjects : [...subjects].reverse()) {
      rates.get(name)!.push(await rateOf(op, inFlight, quick ? 60 : 400));
    }
  }
  process.stderr.write(".");
  const rate = (name: string): number => median(rates.get(name)!);
  return Object.keys(others).map((against) => ({
    test: `${test}, ${inFlight} in flight`,
    against,
    ours: rate("ours"),
    theirs: rate(against),
    ratio: rate("ours") / rate(against),
    embedded: rate("embedded"),
  }));
}

export async function compareWeb(quick: boolean): Promise<WebResults> {
  const server = await startServer("redis");
  const admin = new Redis({ port: server.port, host: "127.0.0.1" });
  const rows: WebRow[] = [];
  for (const make of [sessionCases, cacheCases, limiterCases]) {
    await admin.flushall();
    const { cases, close } = await make(server.port);
    for (const each of cases) rows.push(...(await measure(each, quick)));
    await close();
  }
  await admin.flushall();
  const stampedes = await stampede(server.port, quick ? 1 : 5);
  process.stderr.write(".");
  await admin.flushall();
  const notes = await measureNotes(server.port, quick);
  process.stderr.write("\n");
  admin.disconnect();
  await server.stop();
  return { rows, stampede: stampedes, notes };
}

const whole = (value: number): string => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");

export function webTables({ rows, stampede: stampedes, notes }: WebResults): string {
  return [
    "**Components for the web**, beside others on the same Redis, calls a second",
    "",
    "| test | against | cinnabar | the other | ratio | cinnabar, embedded |",
    "| --- | --- | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ test, against, ours, theirs, ratio, embedded }) =>
        `| ${test} | ${against} | ${whole(ours)} | ${whole(theirs)} | ${ratio.toFixed(2)} | ${whole(embedded)} |`,
    ),
    "",
    "**A cold key that everybody asks for**: 8 instances with a connection each, 20 callers on each, a value that takes 20 ms to make",
    "",
    "| cache | times it was made | all served after, ms |",
    "| --- | ---: | ---: |",
    ...stampedes.map(({ what, loads, ms }) => `| ${what} | ${loads} | ${ms.toFixed(0)} |`),
    "",
    "**Sessions and a market**, a second",
    "",
    "| what | on Redis | embedded |",
    "| --- | ---: | ---: |",
    ...notes.map(({ what, redis, embedded }) => `| ${what} | ${whole(redis)} | ${whole(embedded)} |`),
  ].join("\n");
}
