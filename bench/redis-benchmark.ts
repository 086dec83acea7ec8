/** redis-benchmark's own tests against both servers, in turn, several rounds; medians and their ratios. */
import { type BenchServer, median, run } from "./servers.ts";

export interface Row {
  readonly test: string;
  readonly ours: number;
  readonly redis: number;
  readonly ratio: number;
}

/** One run of all default tests: requests a second by test. */
function once(server: BenchServer, pipeline: number, requests: number, extra: string[]): Map<string, number> {
  const args = [
    "-p",
    String(server.port),
    "-n",
    String(requests),
    "-c",
    "50",
    "-P",
    String(pipeline),
    "--csv",
    ...extra,
  ];
  const lines = run("redis-benchmark", args).trim().split("\n").slice(1);
  return new Map(
    lines.map((line) => {
      const [test, rps] = line.split('","').map((cell) => cell.replaceAll('"', ""));
      return [test!, Number(rps)];
    }),
  );
}

export function compareServers(
  ours: BenchServer,
  redis: BenchServer,
  options: { pipeline: number; requests: number; rounds: number; extra?: string[] },
): Row[] {
  const figures = new Map<string, { ours: number[]; redis: number[] }>();
  for (let round = 0; round < options.rounds; round++) {
    // The side that goes first in a round goes second in the next.
    const order = round % 2 === 0 ? ([ours, redis] as const) : ([redis, ours] as const);
    for (const server of order) {
      for (const [test, rps] of once(server, options.pipeline, options.requests, options.extra ?? [])) {
        const row = figures.get(test) ?? { ours: [], redis: [] };
        row[server.name === "redis" ? "redis" : "ours"].push(rps);
        figures.set(test, row);
      }
      process.stderr.write(".");
    }
  }
  process.stderr.write("\n");
  return [...figures].map(([test, row]) => {
    const a = median(row.ours);
    const b = median(row.redis);
    return { test, ours: a, redis: b, ratio: a / b };
  });
}
