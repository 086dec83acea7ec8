/**
 * RPOPLPUSH of a list onto itself, by its length: what it costs to take from one end of a packed list and add to the other. Redis
 * packs a list into nodes of 8 KB (list-max-listpack-size -2), or of 64 KB with -5, the largest; a node is moved in memory by
 * every push at its head. One connection of redis-benchmark with 100 commands in a pipeline, rounds in turn, medians.
 */
import { type BenchServer, median, run, startServer } from "./servers.ts";

export interface ListRow {
  readonly length: number;
  /** Requests a second. */
  readonly ours: number;
  readonly redis: number;
  /** Redis with the largest nodes. */
  readonly redisLarge: number;
}

const LENGTHS = [1, 10, 100, 1_000, 5_000, 10_000, 50_000, 100_000];
const PIPELINE = 100;
/** Words in one RPUSH. */
const PUSHED = 1_000;

function fill(server: BenchServer, length: number): void {
  for (let from = 0; from < length; from += PUSHED) {
    const words = Array.from({ length: Math.min(PUSHED, length - from) }, (_, i) => String(from + i));
    run("redis-cli", ["-p", String(server.port), "RPUSH", `list:${length}`, ...words]);
  }
}

function rate(server: BenchServer, length: number, requests: number): number {
  const key = `list:${length}`;
  const args = ["-p", String(server.port), "-n", String(requests), "-c", "1", "-P", String(PIPELINE), "--csv"];
  const line = run("redis-benchmark", [...args, "RPOPLPUSH", key, key])
    .trim()
    .split("\n")
    .at(-1);
  const figure = Number(line?.split('","')[1]);
  if (!(figure > 0)) throw new Error(`redis-benchmark printed ${line}`);
  return figure;
}

export async function compareLists(quick: boolean): Promise<ListRow[]> {
  const servers = {
    ours: await startServer("cinnabar"),
    redis: await startServer("redis"),
    redisLarge: await startServer("redis", ["--list-max-listpack-size", "-5"]),
  };
  const names = ["ours", "redis", "redisLarge"] as const;
  const rows: ListRow[] = [];
  for (const length of LENGTHS) {
    const figures: Record<(typeof names)[number], number[]> = { ours: [], redis: [], redisLarge: [] };
    for (const name of names) fill(servers[name], length);
    // The first round warms up, and does not count.
    for (let round = 0; round <= (quick ? 1 : 5); round++) {
      for (const name of round % 2 === 0 ? names : [...names].reverse()) {
        const figure = rate(servers[name], length, quick ? 20_000 : 300_000);
        if (round > 0) figures[name].push(figure);
      }
    }
    process.stderr.write(".");
    rows.push({
      length,
      ours: median(figures.ours),
      redis: median(figures.redis),
      redisLarge: median(figures.redisLarge),
    });
  }
  process.stderr.write("\n");
  for (const name of names) await servers[name].stop();
  return rows;
}

export function listTable(rows: readonly ListRow[]): string {
  const round = (value: number) => Math.round(value).toLocaleString("en-US").replaceAll(",", " ");
  return [
    "**RPOPLPUSH of a list onto itself, by its length**: requests a second, one connection, pipeline of 100",
    "",
    "| elements | cinnabar | redis, nodes of 8 KB | redis, nodes of 64 KB | ratio to redis |",
    "| ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(
      ({ length, ours, redis, redisLarge }) =>
        `| ${round(length)} | ${round(ours)} | ${round(redis)} | ${round(redisLarge)} | ${(ours / redis).toFixed(2)} |`,
    ),
  ].join("\n");
}
