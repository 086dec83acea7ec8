/** What INFO stats and commandstats report, counted as it happens. */
import { Histogram } from "./histogram.ts";

/** How many ticks the rates are averaged over. */
const RATE_SAMPLES = 16;

/** A counter's growth per second over the last ticks. */
class Rate {
  readonly #perSecond: number[] = [];
  #last = 0;
  #lastMs = 0;

  sample(count: number, nowMs: number): void {
    const elapsed = nowMs - this.#lastMs;
    if (this.#lastMs > 0 && elapsed > 0) {
      this.#perSecond.push((Math.max(0, count - this.#last) * 1000) / elapsed);
      if (this.#perSecond.length > RATE_SAMPLES) this.#perSecond.shift();
    }
    this.#last = count;
    this.#lastMs = nowMs;
  }

  get value(): number {
    const { length } = this.#perSecond;
    return length === 0 ? 0 : this.#perSecond.reduce((sum, rate) => sum + rate, 0) / length;
  }

  reset(): void {
    this.#perSecond.length = 0;
    this.#last = 0;
  }
}

/**
 * One command's calls. Not every call is timed (engine.ts): a call that is stands for the untimed ones before it, and
 * `settle` lets the last one stand for those after it, so that sums and histograms cover every call when they are read.
 */
export class CommandStats {
  calls = 0;
  rejected = 0;
  failed = 0;
  /** How long calls took; made by the first call that is measured. */
  histogram: Histogram | null = null;
  #microseconds = 0;
  #last = 0;
  /** Calls that the sum and the histogram cover. */
  #covered = 0;

  /** The last call took this long. */
  took(microseconds: number, withHistogram: boolean): void {
    const calls = this.calls - this.#covered;
    this.#covered = this.calls;
    this.#last = microseconds;
    this.#microseconds += microseconds * calls;
    if (!withHistogram) return;
    this.histogram ??= new Histogram();
    this.histogram.record(microseconds, calls);
  }

  /** A call that was counted when it began to wait has waited so long. */
  waited(microseconds: number, withHistogram: boolean): void {
    this.#microseconds += microseconds;
    if (!withHistogram) return;
    this.histogram ??= new Histogram();
    this.histogram.record(microseconds, 1);
  }

  settle(withHistogram: boolean): void {
    if (this.#covered < this.calls) this.took(this.#last, withHistogram);
  }

  get microseconds(): number {
    return this.#microseconds + this.#last * (this.calls - this.#covered);
  }

  reset(): void {
    this.calls = this.rejected = this.failed = this.#microseconds = this.#last = this.#covered = 0;
    this.histogram = null;
  }
}

export class Stats {
  keyspaceHits = 0;
  keyspaceMisses = 0;
  expiredKeys = 0;
  expiredStale = 0;
  expireCyclesCut = 0;
  evictedKeys = 0;
  evictedClients = 0;
  /** Values that Redis would have freed in the background. */
  lazyFreed = 0;
  replyBufferShrinks = 0;
  replyBufferExpands = 0;
  connections = 0;
  rejectedConnections = 0;
  /** Clients ended because their replies piled up past client-output-buffer-limit. */
  outputLimitDisconnections = 0;
  commands = 0;
  /** Batches of bytes taken from and given to sockets. */
  reads = 0;
  writes = 0;
  netInput = 0;
  netOutput = 0;
  /** To and from replicas and primaries, which is not part of the above. */
  replInput = 0;
  replOutput = 0;
  fullSyncs = 0;
  partialSyncs = 0;
  /** Errors between a primary and its replica, where none should be. */
  unexpectedErrors = 0;
  refusedPartialSyncs = 0;
  errorReplies = 0;
  /** The most that the data and waiting replies have taken. */
  peakBytes = 0;
  readonly opsPerSecond = new Rate();
  readonly inputPerSecond = new Rate();
  readonly outputPerSecond = new Rate();
  readonly replInputPerSecond = new Rate();
  readonly replOutputPerSecond = new Rate();
  /** Per command, by Command.index; made when it is first called. */
  readonly perCommand: (CommandStats | undefined)[];
  /** Error replies by their first word. */
  readonly errors = new Map<string, number>();

  constructor(commands: number) {
    this.perCommand = new Array(commands).fill(undefined);
  }

  get #rates(): Rate[] {
    return [
      this.opsPerSecond,
      this.inputPerSecond,
      this.outputPerSecond,
      this.replInputPerSecond,
      this.replOutputPerSecond,
    ];
  }

  of(index: number): CommandStats {
    let stats = this.perCommand[index];
    if (stats === undefined) {
      stats = new CommandStats();
      this.perCommand[index] = stats;
    }
    return stats;
  }

  countError(code: string): void {
    this.errorReplies++;
    this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
  }

  /** Called by every tick: what INFO shows as instantaneous, and the peak. */
  sample(nowMs: number, usedBytes: number): void {
    this.opsPerSecond.sample(this.commands, nowMs);
    this.inputPerSecond.sample(this.netInput, nowMs);
    this.outputPerSecond.sample(this.netOutput, nowMs);
    this.replInputPerSecond.sample(this.replInput, nowMs);
    this.replOutputPerSecond.sample(this.replOutput, nowMs);
    if (usedBytes > this.peakBytes) this.peakBytes = usedBytes;
  }

  /** CONFIG RESETSTAT. */
  reset(): void {
    this.keyspaceHits = this.keyspaceMisses = 0;
    this.expiredKeys =
      this.expiredStale =
      this.expireCyclesCut =
      this.evictedKeys =
      this.evictedClients =
      this.lazyFreed =
        0;
    this.replyBufferShrinks = this.replyBufferExpands = 0;
    this.connections = this.rejectedConnections = this.outputLimitDisconnections = 0;
    this.commands = this.errorReplies = 0;
    this.netInput = this.netOutput = this.reads = this.writes = 0;
    this.replInput = this.replOutput = 0;
    this.unexpectedErrors = 0;
    this.fullSyncs = this.partialSyncs = this.refusedPartialSyncs = 0;
    for (const rate of this.#rates) rate.reset();
    // In place: the command that asks for this is itself still to be counted.
    for (const command of this.perCommand) command?.reset();
    this.errors.clear();
  }
}
