/** What is measured: made once for each store that is instrumented. */
import type { Counter, Histogram, Meter } from "@opentelemetry/api";
import { METRICS, SECONDS } from "./names.ts";

export interface Instruments {
  readonly dbDuration: Histogram;
  readonly sent: Counter;
  readonly consumed: Counter;
  readonly clientDuration: Histogram;
  readonly processDuration: Histogram;
  readonly jobWait: Histogram;
  readonly leaseWait: Histogram;
  readonly leaseHold: Histogram;
  readonly cacheRequests: Counter;
  readonly cacheLoad: Histogram;
  readonly circuitChanges: Counter;
  readonly connectionChanges: Counter;
}

export function instrumentsOf(meter: Meter): Instruments {
  const seconds = (name: string, description: string) =>
    meter.createHistogram(name, { description, unit: "s", advice: { explicitBucketBoundaries: SECONDS } });
  const counter = (name: string, description: string, unit: string) => meter.createCounter(name, { description, unit });
  return {
    dbDuration: seconds(METRICS.dbDuration, "Duration of round trips to the store."),
    sent: counter(METRICS.sent, "Jobs that were added.", "{message}"),
    consumed: counter(METRICS.consumed, "Attempts of jobs that were begun.", "{message}"),
    clientDuration: seconds(METRICS.clientDuration, "Duration of adding jobs."),
    processDuration: seconds(METRICS.processDuration, "Duration of attempts of jobs."),
    jobWait: seconds(METRICS.jobWait, "From adding a job until its first attempt, its delay included."),
    leaseWait: seconds(METRICS.leaseWait, "How long callers waited for locks and permits."),
    leaseHold: seconds(METRICS.leaseHold, "How long locks and permits were held."),
    cacheRequests: counter(METRICS.cacheRequests, "What caches answered: hit, stale or miss.", "{request}"),
    cacheLoad: seconds(METRICS.cacheLoad, "How long loaders of caches took."),
    circuitChanges: counter(METRICS.circuitChanges, "Circuits that opened, were tried or closed.", "{change}"),
    connectionChanges: counter(METRICS.connectionChanges, "Changes of the connection's state.", "{change}"),
  };
}
