/**
 * What happens now, and what happened in the last hour. Once a second the nodes are asked for INFO and LATENCY HISTOGRAM; a point
 * is the difference to the last answer, so that it tells of that second only (Redis's own percentiles are since its start).
 * Points are kept at three precisions, each a ring; a coarse one is made of the fine ones: means of rates, the worst of latencies.
 *
 * A server that cannot be asked leaves a gap and a state, not an end: the next second tries again.
 */
import { type Reply, ServerError, type Store } from "cinnabar";
import { type Info, keysIn, parseInfo, total } from "./info.ts";
import { listOf, messageOf } from "./values.ts";

/** One moment. Rates are per second, latencies in microseconds; null where nothing is known. */
export interface Point {
  readonly at: number;
  readonly ops: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly p999: number | null;
  readonly memory: number;
  /** Part of the look-ups that found something; null where there were none. */
  readonly hitRate: number | null;
  readonly clients: number;
  readonly keys: number;
  readonly netIn: number;
  readonly netOut: number;
}

export type LiveState = { readonly state: "ready" } | { readonly state: "lost"; readonly reason: string };
export type LiveEvent = { readonly type: "point"; readonly point: Point } | ({ readonly type: "state" } & LiveState);

/** Seconds of one point, and how many are kept: ten minutes, half an hour, an hour. */
export const PRECISIONS = [
  { seconds: 1, keep: 600 },
  { seconds: 5, keep: 360 },
  { seconds: 10, keep: 360 },
] as const;

const INTERVAL_MS = 1_000;

/** Totals since the servers' starts; a point is what lies between two. */
interface Totals {
  readonly at: number;
  readonly runs: string;
  readonly commands: number;
  readonly hits: number;
  readonly misses: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** Upper bound in microseconds → how many calls took at most that, over all commands; null where the server has no such. */
  readonly histogram: Map<number, number> | null;
}

export class Live {
  readonly #store: Pick<Store, "sendToAll">;
  readonly #rings: Point[][] = PRECISIONS.map(() => []);
  readonly #pending: Point[][] = PRECISIONS.map(() => []);
  readonly #listeners = new Set<(event: LiveEvent) => void>();
  readonly #now: () => number;
  #last: Totals | null = null;
  #timer: ReturnType<typeof setInterval> | null = null;
  #running: Promise<void> | null = null;
  #state: LiveState = { state: "ready" };

  constructor(store: Pick<Store, "sendToAll">, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
  }

  get state(): LiveState {
    return this.#state;
  }

  /** How many listen. */
  get listeners(): number {
    return this.#listeners.size;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.sample(), INTERVAL_MS);
    void this.sample();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#listeners.clear();
  }

  listen(listener: (event: LiveEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The points of the precision that is nearest to the one asked for, oldest first. */
  history(seconds: number): readonly Point[] {
    const at = PRECISIONS.findIndex((precision) => precision.seconds >= seconds);
    return this.#rings[at === -1 ? PRECISIONS.length - 1 : at]!;
  }

  /** Asks once; while one question is open, a second is not asked. */
  sample(): Promise<void> {
    this.#running ??= this.#sample().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #sample(): Promise<void> {
    try {
      const nodes = await infoOfAll(this.#store);
      const totals = totalsOf(nodes, this.#now(), await this.#histogram());
      const last = this.#last;
      this.#last = totals;
      this.#become({ state: "ready" });
      // After a restart the totals begin again: the difference to the old ones tells nothing.
      if (last !== null && last.runs === totals.runs && totals.at > last.at) this.#add(between(last, totals, nodes));
    } catch (error) {
      this.#last = null;
      this.#become({ state: "lost", reason: messageOf(error) });
    }
  }

  async #histogram(): Promise<Map<number, number> | null> {
    try {
      return histogramOf(await this.#store.sendToAll(["LATENCY", "HISTOGRAM"]));
    } catch (error) {
      if (error instanceof ServerError) return null;
      throw error;
    }
  }

  #become(state: LiveState): void {
    if (state.state === this.#state.state) return;
    this.#state = state;
    this.#tell({ type: "state", ...state });
  }

  #add(point: Point): void {
    for (const [nth, { seconds, keep }] of PRECISIONS.entries()) {
      const pending = this.#pending[nth]!;
      pending.push(point);
      if (pending.length < seconds) continue;
      const ring = this.#rings[nth]!;
      ring.push(seconds === 1 ? point : merged(pending));
      pending.length = 0;
      if (ring.length > keep) ring.shift();
    }
    this.#tell({ type: "point", point });
  }

  #tell(event: LiveEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** INFO of every primary. */
export async function infoOfAll(store: Pick<Store, "sendToAll">): Promise<Info[]> {
  const answers = await store.sendToAll(["INFO"]);
  return answers.map((answer) => {
    if (answer instanceof ServerError) throw answer;
    return parseInfo(String(answer));
  });
}

function totalsOf(nodes: readonly Info[], at: number, histogram: Map<number, number> | null): Totals {
  return {
    at,
    runs: nodes.map((node) => node.Server?.run_id ?? "").join(),
    commands: total(nodes, "Stats", "total_commands_processed"),
    hits: total(nodes, "Stats", "keyspace_hits"),
    misses: total(nodes, "Stats", "keyspace_misses"),
    bytesIn: total(nodes, "Stats", "total_net_input_bytes"),
    bytesOut: total(nodes, "Stats", "total_net_output_bytes"),
    histogram,
  };
}

function between(last: Totals, now: Totals, nodes: readonly Info[]): Point {
  const seconds = (now.at - last.at) / 1_000;
  const rate = (name: "commands" | "bytesIn" | "bytesOut") => Math.max(0, (now[name] - last[name]) / seconds);
  const hits = now.hits - last.hits;
  const looks = hits + now.misses - last.misses;
  const quantile = quantilesOf(last.histogram, now.histogram);
  return {
    at: now.at,
    ops: rate("commands"),
    p50: quantile(0.5),
    p99: quantile(0.99),
    p999: quantile(0.999),
    memory: total(nodes, "Memory", "used_memory"),
    hitRate: looks > 0 && hits >= 0 ? hits / looks : null,
    clients: total(nodes, "Clients", "connected_clients"),
    keys: keysIn(nodes),
    netIn: rate("bytesIn"),
    netOut: rate("bytesOut"),
  };
}

/**
 * LATENCY HISTOGRAM: command, [calls, n, histogram_usec, [bound, so many at most that …]] …, for each node. A command's list ends
 * where its slowest call is, so what is summed are the differences, not the running totals.
 */
export function histogramOf(answers: readonly (Reply | ServerError)[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const answer of answers) {
    if (answer instanceof ServerError) throw answer;
    const flat = listOf(answer);
    for (let at = 1; at < flat.length; at += 2) {
      const bounds = listOf(listOf(flat[at])[3]);
      let before = 0;
      for (let i = 0; i < bounds.length; i += 2) {
        const upTo = Number(bounds[i + 1]);
        const bound = Number(bounds[i]);
        counts.set(bound, (counts.get(bound) ?? 0) + upTo - before);
        before = upTo;
      }
    }
  }
  return counts;
}

/** Quantiles of the calls between two histograms; null where there were none. */
export function quantilesOf(last: Map<number, number> | null, now: Map<number, number> | null) {
  const counts: [number, number][] = [];
  let calls = 0;
  for (const [bound, count] of [...(now ?? [])].sort(([a], [b]) => a - b)) {
    const more = count - (last?.get(bound) ?? 0);
    if (more <= 0) continue;
    counts.push([bound, more]);
    calls += more;
  }
  return (q: number): number | null => {
    let left = Math.ceil(q * calls);
    for (const [bound, count] of counts) {
      left -= count;
      if (left <= 0) return bound;
    }
    return null;
  };
}

function merged(points: readonly Point[]): Point {
  const mean = (name: "ops" | "netIn" | "netOut") =>
    points.reduce((sum, point) => sum + point[name], 0) / points.length;
  const known = (name: "p50" | "p99" | "p999" | "hitRate") =>
    points.map((point) => point[name]).filter((value) => value !== null);
  const worst = (name: "p50" | "p99" | "p999") => (known(name).length === 0 ? null : Math.max(...known(name)));
  const rates = known("hitRate");
  return {
    ...points.at(-1)!,
    ops: mean("ops"),
    netIn: mean("netIn"),
    netOut: mean("netOut"),
    p50: worst("p50"),
    p99: worst("p99"),
    p999: worst("p999"),
    hitRate: rates.length === 0 ? null : rates.reduce((sum, rate) => sum + rate, 0) / rates.length,
  };
}
