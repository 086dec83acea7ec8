/**
 * redis-benchmark's own tests against both servers, in turn, several rounds; medians, their ratios, and the lowest and highest ratio
 * of a round. Keys, members and fields are random among a million, unless the caller asks for one hot key: a store that remembers
 * the last words it has seen looks better with one key than users will find it.
 */
import { type BenchServer, median, ratioOf, run } from "./servers.ts";

export interface Row {
  readonly test: string;
  readonly ours: number;
  readonly redis: number;
  readonly ratio: number;
  /** Of the rounds. */
  readonly low?: number;
  readonly high?: number;
}

const RANDOM = ["-r", "1000000"];

export interface ServerOptions {
  readonly pipeline: number;
  readonly requests: number;
  readonly rounds: number;
  readonly clients?: number;
  /** One key for all requests. */
  readonly hot?: boolean;
  readonly extra?: readonly string[];
}

/** One run of all default tests: requests a second by test. */
function once(
  server: BenchServer,
  { pipeline, requests, clients = 50, hot, extra = [] }: ServerOptions,
): Map<string, number> {
  const args = [
    "-p",
    String(server.port),
    "-n",
    String(requests),
    "-c",
    String(clients),
    "-P",
    String(pipeline),
    "--csv",
    ...(hot === true ? [] : RANDOM),
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

export function compareServers(ours: BenchServer, redis: BenchServer, options: ServerOptions): Row[] {
  const figures = new Map<string, { ours: number[]; redis: number[] }>();
  for (let round = 0; round < options.rounds; round++) {
    // The side that goes first in a round goes second in the next.
    const order = round % 2 === 0 ? ([ours, redis] as const) : ([redis, ours] as const);
    for (const server of order) {
      for (const [test, rps] of once(server, options)) {
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
    const { low = a / b, high = a / b } = ratioOf(row.ours, row.redis) ?? {};
    return { test, ours: a, redis: b, ratio: a / b, low, high };
  });
}
