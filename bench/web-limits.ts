/**
 * The rate limiter against rate-limiter-flexible, which has a fixed window on Redis: ours of the same kind, and for comparison the
 * exact sliding window and GCRA, which it does not have.
 */
import { open, type Store } from "cinnabar";
import { RateLimits } from "cinnabar/rate-limits";
import { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import type { Cases, Op, WebCase } from "./web.ts";

const SUBJECTS = 1_000;
const WINDOW_MS = 60_000;
/** What a sliding window may remember at most; nobody gets there while it is measured. */
const LIMIT = 10_000;

const subject = (nth: number): string => `198.51.100.${nth % SUBJECTS}`;

function ours(store: Store, algorithm: "fixed" | "sliding" | "gcra"): Op {
  const limiter = new RateLimits(store, { name: algorithm, rules: { limit: LIMIT, windowMs: WINDOW_MS, algorithm } });
  return (nth) => limiter.take(subject(nth));
}

export async function limiterCases(port: number): Promise<Cases> {
  const storeClient = new Redis({ port, host: "127.0.0.1" });
  const [remote, embedded] = [await open(`redis://127.0.0.1:${port}`), await open()];
  const flexible = new RateLimiterRedis({
    storeClient,
    keyPrefix: "flexible",
    points: LIMIT,
    duration: WINDOW_MS / 1_000,
  });
  const caseOf = (algorithm: "fixed" | "sliding" | "gcra", inFlight: number): WebCase => ({
    test: `rate limit, ${algorithm === "gcra" ? "GCRA" : `${algorithm} window`}`,
    inFlight,
    ours: ours(remote, algorithm),
    embedded: ours(embedded, algorithm),
    others: { "rate-limiter-flexible 11, fixed window": (nth) => flexible.consume(subject(nth)) },
  });
  return {
    cases: [caseOf("fixed", 1), caseOf("fixed", 50), caseOf("gcra", 50), caseOf("sliding", 50)],
    close: async () => {
      storeClient.disconnect();
      await remote.close();
      await embedded.close();
    },
  };
}
