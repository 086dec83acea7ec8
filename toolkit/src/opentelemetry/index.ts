/**
 * OpenTelemetry: what a store and its components do, as spans and metrics of the SDK that the program has set up.
 *
 *   const stop = instrument(db);
 *
 * `@opentelemetry/api` is an optional peer, and only this entry imports it. A store that is not instrumented pays a comparison with
 * null. docs/telemetry.md lists all spans and metrics.
 */
import {
  type BatchObservableResult,
  type Meter,
  metrics,
  type Observable,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { aStore } from "../base/checks.ts";
import { choice, defineOptions, flag, having, listOf } from "../base/options.ts";
import type { Queue } from "../components/queues/index.ts";
import type { Store } from "../connection/store.ts";
import { instrumentsOf } from "./instruments.ts";
import { MESSAGING, METRICS, OWN } from "./names.ts";
import { operationProbe } from "./operations.ts";
import { addressOf, roundTripListener } from "./round-trips.ts";

/** What is told to OpenTelemetry. */
export interface InstrumentOptions {
  /** Makes the spans. That of the global provider by default. */
  readonly tracer?: Tracer;
  /** Makes the metrics. That of the global provider by default. */
  readonly meter?: Meter;
  /** Round trips have a span only inside of another one, so that heartbeats and waiting workers make none. True by default. */
  readonly requireParentSpan?: boolean;
  /** Puts the commands on the spans of round trips, without their values. False by default: the keys of scripts are among them. */
  readonly queryText?: boolean;
  /** The span of a job's attempt is a child of the span that added it, and linked to it; or only linked. `"child"` by default. */
  readonly processAs?: "child" | "link";
  /** Queues whose jobs are counted by state whenever metrics are collected. None by default. */
  readonly queues?: readonly Pick<Queue<never, never>, "name" | "counts">[];
}

const OPTIONS = defineOptions<InstrumentOptions>("instrument", {
  tracer: having("a Tracer", "startSpan"),
  meter: having("a Meter", "createHistogram", "createCounter"),
  requireParentSpan: flag,
  queryText: flag,
  processAs: choice("child", "link"),
  queues: listOf(having("a Queue", "counts")),
});

const SCOPE = "cinnabar";

/**
 * Begins to tell OpenTelemetry what the store and everything on it does. Returns what ends that; it ends with the store, too.
 * @example
 * const stop = instrument(db, { queues: [new Queue(db, "mails")] });
 * await db.set("k", "v"); // → "OK"
 * stop();
 */
export function instrument(store: Store, options: InstrumentOptions = {}): () => void {
  aStore("instrument", store);
  OPTIONS.check(options);
  const tracer = options.tracer ?? trace.getTracer(SCOPE);
  const meter = options.meter ?? metrics.getMeter(SCOPE);
  const { requireParentSpan = true, queryText = false, processAs = "child", queues = [] } = options;
  const instruments = instrumentsOf(meter);
  const { clock } = store;
  const where = addressOf(store);
  const ends = [
    store.attachProbe(operationProbe({ tracer, instruments, clock, processAs })),
    store.on("roundTrip", roundTripListener(store, { tracer, instruments, requireParentSpan, queryText })),
    store.on("circuit", ({ server, state }) =>
      instruments.circuitChanges.add(1, { ...where, ...named(server), [OWN.circuitState]: state }),
    ),
    store.on("connection", (state) => instruments.connectionChanges.add(1, { ...where, [OWN.connectionState]: state })),
    observeStore(meter, store),
    observeQueues(meter, queues),
  ];
  const stop = (): void => {
    for (const end of ends.splice(0)) end();
  };
  ends.push(store.on("close", stop));
  return stop;
}

/** Under which a node of a Cluster is known; where there is one server it has no name. */
const named = (server: string) => (server === "" ? {} : { "server.address": server });

/** What is asked for when metrics are collected. Returns what ends it. */
function observing(
  meter: Meter,
  observables: Observable[],
  observe: (result: BatchObservableResult) => void | Promise<void>,
) {
  meter.addBatchObservableCallback(observe, observables);
  return () => meter.removeBatchObservableCallback(observe, observables);
}

function observeStore(meter: Meter, store: Store): () => void {
  const open = meter.createObservableGauge(METRICS.circuitsOpen, {
    description: "1 while nothing is sent to a server because it does not answer, otherwise 0.",
  });
  const requests = meter.createObservableCounter(METRICS.clientCacheRequests, {
    description: "Reads that the client cache answered (hit) or passed on (miss).",
    unit: "{request}",
  });
  const entries = meter.createObservableUpDownCounter(METRICS.clientCacheEntries, {
    description: "Replies in the client cache.",
    unit: "{entry}",
  });
  const bytes = meter.createObservableUpDownCounter(METRICS.clientCacheBytes, {
    description: "Size of the client cache.",
    unit: "By",
  });
  const where = addressOf(store);
  return observing(meter, [open, requests, entries, bytes], (result) => {
    for (const { server, state } of store.servers()) {
      result.observe(open, state === "closed" ? 0 : 1, { ...where, ...named(server) });
    }
    const cache = store.clientCache();
    if (cache === null) return;
    result.observe(requests, cache.hits, { ...where, [OWN.cacheOutcome]: "hit" });
    result.observe(requests, cache.misses, { ...where, [OWN.cacheOutcome]: "miss" });
    result.observe(entries, cache.entries, where);
    result.observe(bytes, cache.bytes, where);
  });
}

function observeQueues(meter: Meter, queues: readonly Pick<Queue<never, never>, "name" | "counts">[]): () => void {
  if (queues.length === 0) return () => {};
  const jobs = meter.createObservableGauge(METRICS.jobs, { description: "Jobs of a queue by state.", unit: "{job}" });
  return observing(meter, [jobs], async (result) => {
    for (const queue of queues) {
      const counts = await queue.counts();
      for (const [state, count] of Object.entries(counts)) {
        if (typeof count !== "number") continue;
        result.observe(jobs, count, { [MESSAGING.destination]: queue.name, [OWN.jobState]: kebab(state) });
      }
    }
  });
}

const kebab = (word: string): string => word.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
