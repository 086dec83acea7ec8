/**
 * How long components that go on without the store take to answer while their server is gone, or stands still: the first call,
 * and calls once the circuit of the server is open.
 */
import { open, type Store } from "cinnabar";
import { Cache } from "cinnabar/cache";
import { RateLimits } from "cinnabar/rate-limits";
import { median, startServer } from "./servers.ts";

export interface FailOpenRow {
  readonly what: string;
  readonly fault: "gone" | "frozen";
  /** From the first call after the fault until the circuit is open. */
  readonly untilOpenMs: number;
  readonly medianMs: number;
  readonly worstMs: number;
}

type Call = (nth: number) => Promise<unknown>;

const COMPONENTS: Readonly<Record<string, (store: Store) => Call>> = {
  "rate limit, whenUnreachable: allow": (store) => {
    const rule = { limit: 1_000_000, windowMs: 60_000 };
    const limiter = new RateLimits(store, { name: "bench", rules: rule, whenUnreachable: "allow" });
    return () => limiter.take("somebody");
  },
  "cache, with a loader that takes no time": (store) => {
    const cache = new Cache<number>(store, "bench");
    return (nth) => cache.get(`key ${nth}`, () => nth);
  },
};

async function timed(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

async function measure(what: string, fault: FailOpenRow["fault"], calls: number): Promise<FailOpenRow> {
  const server = await startServer("redis");
  // The server is not asked again while it is measured: a sign of life is no part of an answer.
  const store = await open(`redis://127.0.0.1:${server.port}`, { breaker: { probeEveryMs: 3_600_000 } });
  const call = COMPONENTS[what]!(store);
  for (let nth = 0; nth < 100; nth++) await call(nth);
  if (fault === "gone") await server.stop();
  else process.kill(server.pid, "SIGSTOP");
  const untilOpenMs = await timed(async () => {
    for (let nth = 0; store.circuits()[0]?.state !== "open"; nth++) {
      await Promise.all([call(nth), store.send(["GET", "k"], { timeoutMs: 500 }).catch(() => {})]);
    }
  });
  const times: number[] = [];
  for (let nth = 0; nth < calls; nth++) times.push(await timed(() => call(nth)));
  await store.close();
  if (fault === "frozen") {
    process.kill(server.pid, "SIGCONT");
    await server.stop();
  }
  const worstMs = times.reduce((worst, each) => Math.max(worst, each), 0);
  return { what, fault, untilOpenMs, medianMs: median(times), worstMs };
}

export async function measureFailOpen(quick: boolean): Promise<FailOpenRow[]> {
  const rows: FailOpenRow[] = [];
  for (const what of Object.keys(COMPONENTS)) {
    for (const fault of ["gone", "frozen"] as const) rows.push(await measure(what, fault, quick ? 200 : 2_000));
  }
  return rows;
}

export function failOpenTable(rows: readonly FailOpenRow[]): string {
  return [
    "**Answers without the store**: the server is stopped, or stands still (SIGSTOP)",
    "",
    "| component | server | until the circuit is open, ms | then median, ms | then worst, ms |",
    "| --- | --- | ---: | ---: | ---: |",
    ...rows.map(
      ({ what, fault, untilOpenMs, medianMs, worstMs }) =>
        `| ${what} | ${fault} | ${Math.round(untilOpenMs)} | ${medianMs.toFixed(3)} | ${worstMs.toFixed(2)} |`,
    ),
  ].join("\n");
}
