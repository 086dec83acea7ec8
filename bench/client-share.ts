/**
 * How much of redis-benchmark's rate a program gets that uses one connection: GETs one after the other, in pipelines of 100, and
 * with a new connection for each, which is the usual mistake. redis-benchmark with one client and the same pipeline is the
 * whole. On Redis, rounds in turn, medians.
 */
import { open } from "cinnabar";
import { type BenchServer, median, run, startServer } from "./servers.ts";

export interface ShareRow {
  readonly what: string;
  /** Requests a second: of redis-benchmark, and of a program. */
  readonly benchmark: number;
  readonly program: number;
}

const PIPELINE = 100;

function benchmark(server: BenchServer, pipeline: number, requests: number): number {
  const args = ["-p", String(server.port), "-n", String(requests), "-c", "1", "-P", String(pipeline), "--csv"];
  const line = run("redis-benchmark", [...args, "GET", "key"])
    .trim()
    .split("\n")
    .at(-1);
  return Number(line?.split('","')[1]);
}

async function rate(requests: number, perCall: number, call: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  for (let sent = 0; sent < requests; sent += perCall) await call();
  return requests / ((performance.now() - startedAt) / 1_000);
}

export async function compareShares(quick: boolean): Promise<ShareRow[]> {
  const server = await startServer("redis");
  const url = `redis://127.0.0.1:${server.port}`;
  const store = await open(url);
  await store.set("key", "v".repeat(16));
  const batch = Array.from({ length: PIPELINE }, () => ["GET", "key"]);
  const tests = [
    { what: "one after the other", pipeline: 1, requests: 50_000, perCall: 1, call: () => store.get("key") },
    {
      what: `pipelines of ${PIPELINE}`,
      pipeline: PIPELINE,
      requests: 1_000_000,
      perCall: PIPELINE,
      call: () => store.pipeline(batch),
    },
    {
      what: "one after the other, a new connection for each",
      pipeline: 1,
      requests: 5_000,
      perCall: 1,
      call: async () => {
        const own = await open(url);
        await own.get("key");
        await own.close();
      },
    },
  ];
  const rows: ShareRow[] = [];
  for (const { what, pipeline, requests, perCall, call } of tests) {
    const count = quick ? requests / 50 : requests;
    const figures = { benchmark: [] as number[], program: [] as number[] };
    // The first round warms up, and does not count.
    for (let round = 0; round <= (quick ? 1 : 5); round++) {
      const whole = benchmark(server, pipeline, pipeline === 1 ? count : count * 2);
      const part = await rate(count, perCall, call);
      if (round === 0) continue;
      figures.benchmark.push(whole);
      figures.program.push(part);
    }
    process.stderr.write(".");
    rows.push({ what, benchmark: median(figures.benchmark), program: median(figures.program) });
  }
  process.stderr.write("\n");
  await store.close();
  await server.stop();
  return rows;
}

export function shareTable(rows: readonly ShareRow[]): string {
  const round = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return [
    "**A program beside redis-benchmark**: GETs a second, one connection, on Redis",
    "",
    "| GETs | redis-benchmark -c 1 | a program with `open(url)` | share |",
    "| --- | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, benchmark: whole, program }) =>
        `| ${what} | ${round(whole)} | ${round(program)} | ${Math.round((program / whole) * 100)} % |`,
    ),
  ].join("\n");
}
