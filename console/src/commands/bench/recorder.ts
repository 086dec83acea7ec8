/** What is measured of one side: latencies, requests over time, errors. Its size does not depend on how much is measured. */
import { Histogram } from "./histogram.ts";

const MOST_BUCKETS = 600;
const MOST_KINDS = 20;

/** Requests answered in each second; in each two seconds, four … when there would be too many of them. */
class Series {
  #counts: number[] = [];
  bucketMs = 1_000;

  count(atMs: number): void {
    let bucket = Math.max(0, Math.floor(atMs / this.bucketMs));
    while (bucket >= MOST_BUCKETS) {
      this.#counts = Array.from(
        { length: Math.ceil(this.#counts.length / 2) },
        (_, at) => this.#counts[at * 2]! + (this.#counts[at * 2 + 1] ?? 0),
      );
      this.bucketMs *= 2;
      bucket = Math.floor(atMs / this.bucketMs);
    }
    while (this.#counts.length <= bucket) this.#counts.push(0);
    this.#counts[bucket]!++;
  }

  /** Requests a second; the last bucket is as long as what was measured of it. */
  rates(totalMs: number): { readonly atMs: number; readonly perSecond: number }[] {
    return this.#counts.flatMap((count, at) => {
      const atMs = at * this.bucketMs;
      const lengthMs = Math.min(this.bucketMs, totalMs - atMs);
      // What is left of a bucket at the end says nothing.
      return lengthMs < this.bucketMs / 10 ? [] : [{ atMs, perSecond: (count / lengthMs) * 1_000 }];
    });
  }
}

export interface ErrorCount {
  /** The first one's text. */
  readonly text: string;
  readonly count: number;
}

/** One round of a side. */
export interface Round {
  readonly requests: number;
  readonly ms: number;
  readonly latency: Histogram;
}

export class Recorder {
  readonly latency = new Histogram();
  /** How long after its intended time a request was sent, in an open loop. */
  readonly late = new Histogram();
  readonly series = new Series();
  readonly rounds: Round[] = [];
  readonly #errors = new Map<string, { text: string; count: number }>();
  errorCount = 0;
  /** Sent, and nothing came. */
  unanswered = 0;
  /** Due, and not sent: the store did not keep up. */
  unsent = 0;
  ms = 0;
  #began = 0;
  #isRunning = false;
  #latencyOfRound = new Histogram();

  /** Requests that were answered without an error. */
  get requests(): number {
    return this.latency.total + this.#latencyOfRound.total;
  }

  /** With the round that runs. */
  get elapsedMs(): number {
    return this.ms + (this.#isRunning ? performance.now() - this.#began : 0);
  }

  get errors(): readonly ErrorCount[] {
    return [...this.#errors.values()].sort((a, b) => b.count - a.count);
  }

  begin(at: number): void {
    this.#began = at;
    this.#isRunning = true;
    this.#latencyOfRound = new Histogram();
  }

  answer(at: number, latencyMs: number, error: string | null): void {
    if (error !== null) {
      this.#countError(error);
      return;
    }
    this.#latencyOfRound.record(latencyMs);
    this.series.count(this.ms + at - this.#began);
  }

  end(at: number): void {
    const [latency, ms] = [this.#latencyOfRound, at - this.#began];
    this.#latencyOfRound = new Histogram();
    this.#isRunning = false;
    this.rounds.push({ requests: latency.total, ms, latency });
    this.latency.add(latency);
    this.ms += ms;
  }

  /** By the error's first word, so that names of keys in it do not make thousands of kinds. */
  #countError(text: string): void {
    this.errorCount++;
    const code = /^\S+/.exec(text)?.[0] ?? "";
    const kind = this.#errors.has(code) || this.#errors.size < MOST_KINDS ? code : "others";
    const known = this.#errors.get(kind);
    if (known === undefined) this.#errors.set(kind, { text: text.slice(0, 200), count: 1 });
    else known.count++;
  }
}
