/**
 * The same rules in the memory of one process, for while the store is away: each process judges for itself, by its own clock, and begins
 * with nothing. Bounded: subjects that were not seen for longest are forgotten.
 */
import type { Clock } from "../../base/clock.ts";
import { dropOldest } from "../../base/lists.ts";
import type { Rule, Verdict } from "./index.ts";

interface Judgement {
  readonly remaining: number;
  readonly waitMs: number;
  readonly resetMs: number;
  /** Null: refused. */
  readonly charge: (() => void) | null;
}

/** What one rule knows of one subject: times of hits, or the end of a window and a count, or an arrival time. */
interface Bucket {
  hits: number[];
  count: number;
  until: number;
}

export class Insurance {
  readonly #clock: Clock;
  readonly #rules: readonly Rule[];
  readonly #maxSubjects: number;
  /** In the order of last use. */
  readonly #subjects = new Map<string, readonly Bucket[]>();

  /** `share`: the part of each limit that this process may use. */
  constructor(clock: Clock, rules: readonly Rule[], { share, maxSubjects }: { share: number; maxSubjects: number }) {
    this.#clock = clock;
    this.#maxSubjects = maxSubjects;
    const part = (whole: number): number => Math.max(1, Math.floor(whole * share));
    this.#rules = rules.map(({ burst, ...rule }) => ({
      ...rule,
      limit: part(rule.limit),
      ...(burst === undefined ? {} : { burst: part(burst) }),
    }));
  }

  judge(subject: string, cost: number, mode: "take" | "look"): Verdict {
    const buckets = this.#bucketsOf(subject);
    const now = this.#clock.monotonicMs();
    const all = this.#rules.map((rule, at) => {
      const bucket = buckets[at] ?? freshBucket();
      return { limit: rule.limit, ...judgeOne(rule, bucket, cost, now) };
    });
    const allowed = all.every(({ charge }) => charge !== null);
    if (allowed && mode === "take") for (const { charge } of all) charge?.();
    const worst = all.reduce((a, b) => ((allowed ? b.remaining < a.remaining : b.waitMs > a.waitMs) ? b : a));
    return {
      allowed,
      limit: worst.limit,
      remaining: Math.max(0, worst.remaining),
      retryAfterMs: allowed ? 0 : worst.waitMs,
      resetAfterMs: worst.resetMs,
      unchecked: true,
    };
  }

  forget(subject: string): void {
    this.#subjects.delete(subject);
  }

  get count(): number {
    return this.#subjects.size;
  }

  #bucketsOf(subject: string): readonly Bucket[] {
    const known = this.#subjects.get(subject);
    if (known !== undefined) this.#subjects.delete(subject);
    else if (this.#subjects.size >= this.#maxSubjects) dropOldest(this.#subjects);
    const buckets = known ?? this.#rules.map(freshBucket);
    this.#subjects.set(subject, buckets);
    return buckets;
  }
}

const freshBucket = (): Bucket => ({ hits: [], count: 0, until: 0 });

function judgeOne(rule: Rule, bucket: Bucket, cost: number, now: number): Judgement {
  switch (rule.algorithm) {
    case "fixed":
      return fixed(rule, bucket, cost, now);
    case "sliding":
      return sliding(rule, bucket, cost, now);
    default:
      return gcra(rule, bucket, cost, now);
  }
}

function fixed({ limit, windowMs }: Rule, bucket: Bucket, cost: number, now: number): Judgement {
  if (bucket.until <= now) Object.assign(bucket, { count: 0, until: now + windowMs });
  const resetMs = bucket.until - now;
  if (bucket.count + cost > limit) return { remaining: limit - bucket.count, waitMs: resetMs, resetMs, charge: null };
  const charge = (): void => {
    bucket.count += cost;
  };
  return { remaining: limit - bucket.count - cost, waitMs: 0, resetMs, charge };
}

function sliding({ limit, windowMs }: Rule, bucket: Bucket, cost: number, now: number): Judgement {
  bucket.hits = bucket.hits.filter((at) => at > now - windowMs);
  const { hits } = bucket;
  const used = hits.length;
  if (used + cost <= limit) {
    const charge = (): void => {
      for (let nth = 0; nth < cost; nth++) hits.push(now);
    };
    return { remaining: limit - used - cost, waitMs: 0, resetMs: windowMs, charge };
  }
  const blocking = hits[used + cost - limit - 1] ?? now;
  const newest = hits.at(-1) ?? now;
  return { remaining: limit - used, waitMs: blocking + windowMs - now, resetMs: newest + windowMs - now, charge: null };
}

function gcra({ limit, windowMs, burst = limit }: Rule, bucket: Bucket, cost: number, now: number): Judgement {
  const each = windowMs / limit;
  const tolerance = each * burst;
  const arrival = Math.max(bucket.until, now);
  const ahead = arrival + each * cost - now;
  if (ahead > tolerance) {
    const remaining = Math.floor((tolerance - (arrival - now)) / each);
    return { remaining, waitMs: ahead - tolerance, resetMs: arrival - now, charge: null };
  }
  const charge = (): void => {
    bucket.until = now + ahead;
  };
  return { remaining: Math.floor((tolerance - ahead) / each), waitMs: 0, resetMs: ahead, charge };
}
