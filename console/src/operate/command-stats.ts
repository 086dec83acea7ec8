/** How often commands were run, how long they took, and how their durations spread: INFO commandstats and LATENCY HISTOGRAM. */
import { ServerError } from "cinnabar";
import { parseInfo } from "../info.ts";
import { type Context, type Route, route } from "../route.ts";
import { array, boolean, integer, nullable, number, object, string } from "../schema.ts";
import { listOf, sound } from "../values.ts";

const group = "Live";

interface Stats {
  calls: number;
  micros: number;
  rejected: number;
  failed: number;
  p50: number | null;
  p99: number | null;
}

const fieldsOf = (line: string): Map<string, number> =>
  new Map(
    line.split(",").map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at), Number(pair.slice(at + 1))];
    }),
  );

/** Counts of all nodes together; of percentiles, the worst. */
async function commandStats({ store }: Context) {
  const all = new Map<string, Stats>();
  const of = (name: string): Stats => {
    const stats = all.get(name) ?? { calls: 0, micros: 0, rejected: 0, failed: 0, p50: null, p99: null };
    all.set(name, stats);
    return stats;
  };
  for (const answer of await store.sendToAll(["INFO", "commandstats"])) {
    for (const [name, line] of Object.entries(parseInfo(String(sound(answer))).Commandstats ?? {})) {
      const [stats, fields] = [of(name.replace(/^cmdstat_/, "")), fieldsOf(line)];
      stats.calls += fields.get("calls") ?? 0;
      stats.micros += fields.get("usec") ?? 0;
      stats.rejected += fields.get("rejected_calls") ?? 0;
      stats.failed += fields.get("failed_calls") ?? 0;
    }
  }
  for (const answer of await store.sendToAll(["INFO", "latencystats"])) {
    if (answer instanceof ServerError) continue;
    for (const [name, line] of Object.entries(parseInfo(String(answer)).Latencystats ?? {})) {
      const stats = all.get(name.replace(/^latency_percentiles_usec_/, ""));
      const fields = fieldsOf(line);
      if (stats === undefined) continue;
      stats.p50 = Math.max(stats.p50 ?? 0, fields.get("p50") ?? 0);
      stats.p99 = Math.max(stats.p99 ?? 0, fields.get("p99") ?? 0);
    }
  }
  const commands = [...all].map(([name, stats]) => ({ name, ...stats }));
  return { commands: commands.sort((a, b) => b.micros - a.micros) };
}

/** Of each command, how many calls took at most so long and longer than the bound before. */
async function histograms({ store }: Context) {
  const all = new Map<string, Map<number, number>>();
  try {
    for (const answer of await store.sendToAll(["LATENCY", "HISTOGRAM"])) {
      const flat = listOf(sound(answer));
      for (let at = 0; at + 1 < flat.length; at += 2) {
        const bounds = listOf(listOf(flat[at + 1])[3]);
        const counts = all.get(String(flat[at])) ?? new Map<number, number>();
        all.set(String(flat[at]), counts);
        let before = 0;
        for (let i = 0; i + 1 < bounds.length; i += 2) {
          const [bound, upTo] = [Number(bounds[i]), Number(bounds[i + 1])];
          counts.set(bound, (counts.get(bound) ?? 0) + upTo - before);
          before = upTo;
        }
      }
    }
  } catch (error) {
    // Servers before Redis 7 have none.
    if (error instanceof ServerError) return { supported: false, commands: [] };
    throw error;
  }
  const commands = [...all].map(([name, counts]) => ({
    name,
    calls: [...counts.values()].reduce((sum, count) => sum + count, 0),
    buckets: [...counts].sort(([a], [b]) => a - b).map(([boundMicros, count]) => ({ boundMicros, count })),
  }));
  return { supported: true, commands: commands.sort((a, b) => b.calls - a.calls) };
}

const PERCENTILE = nullable(number({ description: "Microseconds; null where the server keeps none." }));

export const COMMAND_STATS_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    url: "/api/commandstats",
    group,
    summary: "Calls and durations of every command since the servers' starts or the last reset.",
    answers: "Commands, the one that took most time in all first.",
    answer: object({
      commands: array(
        object({
          name: string(),
          calls: integer(),
          micros: integer({ description: "In all." }),
          rejected: integer({ description: "Refused before they ran." }),
          failed: integer({ description: "Failed while they ran." }),
          p50: PERCENTILE,
          p99: PERCENTILE,
        }),
      ),
    }),
    run: commandStats,
  }),
  route({
    method: "GET",
    url: "/api/latency",
    group,
    summary: "How the durations of every command spread (LATENCY HISTOGRAM).",
    answers: "Buckets by their upper bounds; `supported` is false where the server has none.",
    answer: object({
      supported: boolean(),
      commands: array(
        object({
          name: string(),
          calls: integer(),
          buckets: array(object({ boundMicros: integer(), count: integer() })),
        }),
      ),
    }),
    run: histograms,
  }),
  route({
    method: "DELETE",
    url: "/api/commandstats",
    group,
    summary: "Begins counting anew on every node (CONFIG RESETSTAT): all figures of INFO stats begin at zero.",
    answers: "Nothing.",
    answer: object({ ok: boolean() }),
    run: async ({ store }) => {
      for (const answer of await store.sendToAll(["CONFIG", "RESETSTAT"])) sound(answer);
    },
  }),
];
