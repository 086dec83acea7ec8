/**
 * This commit beside an earlier one, in one run: `npm run bench:against -- 05e01ee`, to see what a change of many files costs.
 *
 *   npm run bench:against -- 05e01ee --parts servers          some parts: servers, queues, search
 *   npm run bench:against -- 05e01ee --pairs 31               more pairs of runs for each test of redis-benchmark
 *
 * The earlier commit is built in a temporary folder. Machines are noisy, and slow down and speed up for seconds: so a test of
 * redis-benchmark is a pair of short runs, one on each server, the first of them in turn, and many pairs make a row. Its figure is
 * the median of the pairs' ratios; beside it stands the range that holds the true median with 95 % (by the ranks of the binomial
 * distribution). Beside it stands the processor time that the servers took for a request, which other work on the machine changes
 * little. Queues and search are the benches of each commit, run in turn.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { median, run, startServer } from "./servers.ts";

const PARTS = ["servers", "queues", "search"] as const;
type Part = (typeof PARTS)[number];

const TESTS = ["ping_mbulk", "set", "get", "incr", "lpush", "rpop", "sadd", "hset", "spop", "zadd", "zpopmin", "mset"];
const LOADS = [
  { label: "pipeline of 16", pipeline: 16, requests: 200_000 },
  { label: "no pipelining", pipeline: 1, requests: 40_000 },
];

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    parts: { type: "string", default: PARTS.join(",") },
    pairs: { type: "string", default: "15" },
    /** Of the benches of queues and search, on each side. */
    rounds: { type: "string", default: "3" },
    /** Tests of redis-benchmark. */
    tests: { type: "string", default: TESTS.join(",") },
    /** A folder with the earlier commit, already built. */
    folder: { type: "string" },
  },
});
const commit = positionals[0];
if (commit === undefined) {
  console.error("which commit? npm run bench:against -- <commit>");
  process.exit(1);
}
const parts = flags.parts.split(",") as Part[];
const unknown = parts.filter((part) => !PARTS.includes(part));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(", ")} (there are ${PARTS.join(", ")})`);
  process.exit(1);
}
const pairs = Number(flags.pairs);

const here = join(import.meta.dirname, "..");
const loud = { stdio: ["ignore", "ignore", "inherit"] as ("ignore" | "inherit")[] };

/** The folder of the earlier commit, and what takes it away again. */
function earlier(): { folder: string; remove: () => void } {
  if (flags.folder !== undefined) return { folder: flags.folder, remove: () => {} };
  const folder = join(mkdtempSync(join(tmpdir(), "cinnabar-against-")), "tree");
  execFileSync("git", ["worktree", "add", "--detach", folder, commit!], { cwd: here, ...loud });
  execFileSync("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder, ...loud });
  execFileSync("npm", ["run", "build"], { cwd: folder, ...loud });
  return {
    folder,
    remove: () => {
      execFileSync("git", ["worktree", "remove", "--force", folder], { cwd: here, ...loud });
      rmSync(join(folder, ".."), { recursive: true, force: true });
    },
  };
}

interface Row {
  readonly test: string;
  readonly now: number;
  readonly before: number;
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  /** Processor time of the servers for a request, now over before. */
  readonly cpu?: number;
}

/** How many of the smallest of `count` values lie below the median with 97.5 %. */
function rankBelow(count: number): number {
  let [term, sum, rank] = [0.5 ** count, 0.5 ** count, 0];
  while (sum < 0.025) {
    rank += 1;
    term *= (count - rank + 1) / rank;
    sum += term;
  }
  return rank;
}

function rowOf(test: string, now: readonly number[], before: readonly number[]): Row {
  const ratios = now.map((each, at) => each / (before[at] ?? Number.NaN)).sort((a, b) => a - b);
  const rank = rankBelow(ratios.length);
  return {
    test,
    now: median(now),
    before: median(before),
    ratio: median(ratios),
    low: ratios[rank] ?? Number.NaN,
    high: ratios[ratios.length - 1 - rank] ?? Number.NaN,
  };
}

function once(port: number, test: string, { pipeline, requests }: { pipeline: number; requests: number }): number {
  const words = ["-p", String(port), "-c", "50", "-r", "1000000", "--csv", "-t", test];
  const printed = run("redis-benchmark", [...words, "-n", String(requests), "-P", String(pipeline)]);
  const line = printed.trim().split("\n").at(-1) ?? "";
  return Number(line.split('","')[1]);
}

async function compareServers(folder: string): Promise<Row[]> {
  const now = await startServer("cinnabar");
  const before = await startServer("cinnabar", [], {}, folder);
  const rows: Row[] = [];
  try {
    for (const load of LOADS) {
      for (const test of flags.tests.split(",")) {
        const figures = { now: [] as number[], before: [] as number[] };
        const sides = [
          { server: now, into: figures.now },
          { server: before, into: figures.before },
        ];
        // Pops need something to pop, and both servers the same; the first run of a test warms up.
        for (const { server } of sides) {
          if (test === "rpop") once(server.port, "lpush", { pipeline: 16, requests: (pairs + 1) * load.requests });
          once(server.port, test, load);
        }
        const startedMs = [now.cpuMs(), before.cpuMs()] as const;
        for (let pair = 0; pair < pairs; pair++) {
          for (const { server, into } of pair % 2 === 0 ? sides : sides.toReversed()) {
            into.push(once(server.port, test, load));
          }
        }
        const cpu = (now.cpuMs() - startedMs[0]) / (before.cpuMs() - startedMs[1]);
        rows.push({ ...rowOf(`${test.toUpperCase()}, ${load.label}`, figures.now, figures.before), cpu });
        process.stderr.write(".");
      }
    }
  } finally {
    await now.stop();
    await before.stop();
  }
  process.stderr.write("\n");
  return rows;
}

type Figures = ReadonlyMap<string, number>;

/** What the bench of a tree finds for a part: calls a second by test. */
function bench(folder: string, part: "queues" | "search"): Figures {
  execFileSync("node", ["--import", "tsx", "bench/run.ts", "--only", part], { cwd: folder, ...loud });
  const results = JSON.parse(readFileSync(join(folder, "bench/results.json"), "utf8"));
  execFileSync("git", ["checkout", "--quiet", "bench/results.json", "docs", "README.md"], { cwd: folder, ...loud });
  const figures = new Map<string, number>();
  if (part === "queues") {
    for (const { test, ours, embedded } of results.queues) {
      figures.set(`queues, ${test}, on Redis`, ours);
      figures.set(`queues, ${test}, embedded`, embedded);
    }
    return figures;
  }
  for (const row of results.search.filter((each: { what?: string; engine?: string }) =>
    (each.what ?? each.engine ?? "").startsWith("cinnabar"),
  )) {
    for (const [name, value] of Object.entries(row)) {
      if (typeof value === "number") figures.set(`search, ${row.what ?? row.engine}, ${name}`, value);
    }
  }
  return figures;
}

function comparePart(folder: string, part: "queues" | "search"): Row[] {
  const figures = new Map<string, { now: number[]; before: number[] }>();
  for (let round = 0; round < Number(flags.rounds); round++) {
    for (const side of round % 2 === 0 ? (["now", "before"] as const) : (["before", "now"] as const)) {
      for (const [test, value] of bench(side === "now" ? here : folder, part)) {
        const row = figures.get(test) ?? { now: [], before: [] };
        row[side].push(value);
        figures.set(test, row);
      }
    }
  }
  return [...figures]
    .filter(([, { before }]) => before.length > 0)
    .map(([test, row]) => rowOf(test, row.now, row.before));
}

function table(rows: readonly Row[]): string {
  const figure = (value: number) => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US"));
  return [
    `Now ÷ ${commit}: median of the rows ${median(rows.map(({ ratio }) => ratio)).toFixed(2)}`,
    "",
    "| test | now | before | ratio | 95 % | processor time, ratio |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ test, now, before, ratio, low, high, cpu }) =>
        `| ${test} | ${figure(now)} | ${figure(before)} | ${ratio.toFixed(2)} | ${low.toFixed(2)}–${high.toFixed(2)} | ${cpu?.toFixed(2) ?? ""} |`,
    ),
  ].join("\n");
}

const { folder, remove } = earlier();
if (!existsSync(join(folder, "engine/dist"))) throw new Error(`${folder} has not been built`);
try {
  if (parts.includes("servers")) console.log(`${table(await compareServers(folder))}\n`);
  for (const part of ["queues", "search"] as const) {
    if (parts.includes(part)) console.log(`${table(comparePart(folder, part))}\n`);
  }
} finally {
  remove();
}
