/**
 * How long a caller waits while a server is under a steady load: commands go out at a fixed rate whether or not the answers are there
 * (an open loop), and a process of its own asks PING every 2 ms. The load is that of the soak: keys that expire, hashes, sorted sets,
 * lists, scripts, streams, publish/subscribe. Servers in turn, percentiles of each round, medians of the rounds. At a rate that a
 * server cannot keep, commands are left out, and the row says how many.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { ManualClock } from "@cinnabar/engine";
import { makeBatch, Target } from "../engine/tests/faults/soak/load.ts";
import { type BenchServer, median, startServer } from "./servers.ts";

const BATCH_MS = 10;
const WARM_UP_MS = 2_000;

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly longest: number;
  /** Of the commands that were due, how many were left out. */
  readonly missed: number;
}

export interface LatencyRow {
  readonly rate: number;
  readonly ours: Percentiles;
  readonly redis: Percentiles;
}

const NAMES = ["cinnabar", "redis"] as const;

/** PING every 2 ms, from a process of its own. */
class Probe {
  readonly #child: ChildProcess;
  readonly #times: Promise<Float64Array>;
  readonly asking: Promise<void>;

  constructor(port: number) {
    const program = join(import.meta.dirname, "../engine/tests/faults/soak/probe.ts");
    this.#child = fork(program, [String(port)], { serialization: "advanced" });
    let asks = (): void => {};
    this.asking = new Promise((resolve) => {
      asks = resolve;
    });
    this.#times = new Promise((resolve, reject) => {
      this.#child.on("message", (said) => (said === "asking" ? asks() : resolve((said as Float64Array[])[0]!)));
      this.#child.once("exit", (code) => reject(new Error(`the probe ended with ${code}`)));
    });
  }

  begin(): void {
    this.#child.send("begin");
  }

  end(): Promise<Float64Array> {
    this.#child.send("end");
    return this.#times;
  }
}

/** Sends what is due by the clock, for so long. */
function atRate(target: Target, rate: number, forMs: number): Promise<void> {
  const clock = new ManualClock(0, 7);
  const random = () => clock.random();
  const started = performance.now();
  let sentMs = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const elapsed = performance.now() - started;
      for (; sentMs < elapsed; sentMs += BATCH_MS) target.send(makeBatch((rate / 1_000) * BATCH_MS, random));
      if (elapsed < forMs) return;
      clearInterval(timer);
      resolve();
    }, BATCH_MS);
  });
}

async function measured(name: BenchServer["name"], rate: number, forMs: number): Promise<Percentiles> {
  const server = await startServer(name);
  const target = new Target(server.port);
  const probe = new Probe(server.port);
  await probe.asking;
  await atRate(target, rate, WARM_UP_MS);
  const [sentBefore, missedBefore] = [target.done, target.missed];
  probe.begin();
  await atRate(target, rate, forMs);
  const times = await probe.end();
  const missed = target.missed - missedBefore;
  const share = missed / Math.max(1, missed + target.done - sentBefore);
  target.close();
  await server.stop();
  const at = (part: number) => times[Math.floor((times.length - 1) * part)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999), longest: at(1), missed: share };
}

const middle = (rounds: readonly Percentiles[]): Percentiles => {
  const of = (figure: keyof Percentiles) => median(rounds.map((round) => round[figure]));
  return { p50: of("p50"), p99: of("p99"), p999: of("p999"), longest: of("longest"), missed: of("missed") };
};

export async function compareLatency(quick: boolean): Promise<LatencyRow[]> {
  const rows: LatencyRow[] = [];
  for (const rate of [5_000, 20_000, 40_000]) {
    const rounds: Record<BenchServer["name"], Percentiles[]> = { cinnabar: [], redis: [] };
    for (let round = 0; round < (quick ? 1 : 5); round++) {
      for (const name of round % 2 === 0 ? NAMES : [...NAMES].reverse()) {
        rounds[name].push(await measured(name, rate, quick ? 2_000 : 10_000));
        process.stderr.write(".");
      }
    }
    rows.push({ rate, ours: middle(rounds.cinnabar), redis: middle(rounds.redis) });
  }
  return rows;
}

export function latencyTable(rows: readonly LatencyRow[]): string {
  const missed = ({ missed: share }: Percentiles) => (share === 0 ? "" : ` (${(share * 100).toFixed(1)} % left out)`);
  return [
    "**PING under a steady mixed load**, milliseconds: p50 / p99 / p99.9, and the longest",
    "",
    "| commands a second | cinnabar | longest | redis | longest | ratio of p99 | of p99.9 |",
    "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows.map(({ rate, ours, redis }) => {
      const side = (each: Percentiles) => {
        const parts = [each.p50, each.p99, each.p999].map((ms) => ms.toFixed(2)).join(" / ");
        return `${parts}${missed(each)} | ${each.longest.toFixed(1)}`;
      };
      const ratios = `${(ours.p99 / redis.p99).toFixed(2)} | ${(ours.p999 / redis.p999).toFixed(2)}`;
      return `| ${rate.toLocaleString("en-US").replaceAll(",", " ")} | ${side(ours)} | ${side(redis)} | ${ratios} |`;
    }),
  ].join("\n");
}
