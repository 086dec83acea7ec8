/** Operations of components as spans and figures: the probe of an instrumented store (../base/probe.ts). */
import {
  type Attributes,
  type Context,
  context,
  createContextKey,
  propagation,
  type Span,
  SpanKind,
  type SpanOptions,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { Clock } from "../base/clock.ts";
import type {
  AddOperation,
  CacheCount,
  CacheOperation,
  Carrier,
  LeaseOperation,
  Observation,
  Operation,
  Outcome,
  Probe,
  ProcessOperation,
} from "../base/probe.ts";
import { errorAttributes, fail } from "./errors.ts";
import type { Instruments } from "./instruments.ts";
import { MESSAGING, OWN } from "./names.ts";

export interface OperationSettings {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  readonly clock: Clock;
  /** Whether the span of a job's attempt is a child of the one that added it, or only linked to it. */
  readonly processAs: "child" | "link";
}

/** A propagator's headers are some hundred bytes; baggage may be any size, and stands in every job. */
const MOST_CARRIER_CHARACTERS = 8_192;

const CACHE_OUTCOMES: Readonly<Partial<Record<CacheCount, string>>> = {
  hits: "hit",
  staleHits: "stale",
  misses: "miss",
};

/** In the context of an acquisition: that of its caller. */
const CALLER = createContextKey("cinnabar.caller");

/** How a span begins, and what is measured at its end. `name` is null for what is measured only. */
interface Plan {
  readonly name: string | null;
  readonly options: SpanOptions;
  readonly parent: Context;
  readonly carrier?: (within: Context) => Carrier | undefined;
  ended(seconds: number, outcome: Outcome, span: Span | null): void;
}

export function operationProbe(settings: OperationSettings): Probe {
  const { instruments } = settings;
  return {
    begin: (operation) => observe(settings, planOf(settings, operation)),
    counted: (cache, what) => {
      const outcome = CACHE_OUTCOMES[what];
      if (outcome === undefined) return;
      instruments.cacheRequests.add(1, { [OWN.cacheName]: cache, [OWN.cacheOutcome]: outcome });
    },
  };
}

function observe({ tracer, clock }: OperationSettings, plan: Plan): Observation {
  const begunMs = clock.monotonicMs();
  const span = plan.name === null ? null : tracer.startSpan(plan.name, plan.options, plan.parent);
  const within = span === null ? context.active() : trace.setSpan(plan.parent, span);
  let isOver = false;
  return {
    carrier: plan.carrier?.(within),
    run: (body) => context.with(within, body),
    end: (outcome) => {
      if (isOver) return;
      isOver = true;
      plan.ended((clock.monotonicMs() - begunMs) / 1_000, outcome, span);
      if (outcome.error !== undefined && span !== null) fail(span, outcome.error);
      span?.end();
    },
  };
}

function planOf(settings: OperationSettings, operation: Operation): Plan {
  switch (operation.kind) {
    case "add":
      return adding(settings, operation);
    case "process":
      return processing(settings, operation);
    case "acquire":
    case "hold":
      return leasing(settings, operation);
    case "get":
    case "load":
      return caching(settings, operation);
  }
}

const messaging = (queue: string, operation: string, type: string): Attributes => ({
  [MESSAGING.system]: "cinnabar",
  [MESSAGING.destination]: queue,
  [MESSAGING.operation]: operation,
  [MESSAGING.operationType]: type,
});

function adding({ instruments }: OperationSettings, { queue, jobs }: AddOperation): Plan {
  const attributes = messaging(queue, "add", "send");
  const batch = jobs === 1 ? {} : { [MESSAGING.batchCount]: jobs };
  return {
    name: `add ${queue}`,
    options: { kind: SpanKind.PRODUCER, attributes: { ...attributes, ...batch } },
    parent: context.active(),
    carrier: injected,
    ended: (seconds, { error, id, outcome, added = 0 }, span) => {
      const dimensions = { ...attributes, ...errorAttributes(error) };
      instruments.clientDuration.record(seconds, dimensions);
      if (added > 0) instruments.sent.add(added, dimensions);
      if (id !== undefined) span?.setAttribute(MESSAGING.messageId, id);
      span?.setAttribute(OWN.jobOutcome, outcome);
    },
  };
}

/** Undefined where there is nothing to pass on: no propagator, no span that is recorded, or baggage past all bounds. */
function injected(within: Context): Carrier | undefined {
  const carrier: Record<string, string> = {};
  propagation.inject(within, carrier);
  const words = Object.entries(carrier);
  const characters = words.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return words.length === 0 || characters > MOST_CARRIER_CHARACTERS ? undefined : carrier;
}

function processing({ instruments, processAs }: OperationSettings, operation: ProcessOperation): Plan {
  const { queue, id, name, attempt, stalls, waitedMs, carrier } = operation;
  const attributes = messaging(queue, "process", "process");
  const origin = propagation.extract(context.active(), carrier ?? {});
  const creation = trace.getSpanContext(origin);
  const isKnown = carrier !== undefined && creation !== undefined;
  // Whatever was active when the worker took the job has nothing to do with it.
  const parent = isKnown && processAs === "child" ? origin : trace.deleteSpan(origin);
  instruments.consumed.add(1, attributes);
  if (attempt === 1 && stalls === 0) instruments.jobWait.record(waitedMs / 1_000, attributes);
  return {
    name: `process ${queue}`,
    options: {
      kind: SpanKind.CONSUMER,
      links: isKnown ? [{ context: creation }] : [],
      attributes: {
        ...attributes,
        [MESSAGING.messageId]: id,
        [OWN.jobAttempt]: attempt,
        [OWN.jobStalls]: stalls,
        ...(name === null ? {} : { [OWN.jobName]: name }),
      },
    },
    parent,
    ended: (seconds, { outcome, error }, span) => {
      const ending = { [OWN.jobOutcome]: outcome };
      instruments.processDuration.record(seconds, { ...attributes, ...ending, ...errorAttributes(error) });
      span?.setAttributes(ending);
    },
  };
}

function leasing({ instruments }: OperationSettings, { kind, what, prefix, name }: LeaseOperation): Plan {
  const attributes = { [OWN.leaseKind]: what, [OWN.leasePrefix]: prefix };
  const histogram = kind === "acquire" ? instruments.leaseWait : instruments.leaseHold;
  // A leader is one for days; that is a figure and no span.
  const hasSpan = kind === "acquire" || what !== "election";
  // A lease is made while it is acquired, and held by the caller: the two spans stand side by side.
  const active = context.active();
  const caller = (active.getValue(CALLER) as Context | undefined) ?? active;
  return {
    name: hasSpan ? `${kind} ${what}` : null,
    options: { kind: SpanKind.INTERNAL, attributes: { ...attributes, [OWN.leaseName]: name } },
    parent: kind === "hold" ? caller : active.setValue(CALLER, caller),
    ended: (seconds, { outcome, error }, span) => {
      const ending = { [OWN.leaseOutcome]: outcome };
      histogram.record(seconds, { ...attributes, ...ending, ...errorAttributes(error) });
      span?.setAttributes(ending);
    },
  };
}

function caching({ instruments }: OperationSettings, { kind, cache, key }: CacheOperation): Plan {
  const attributes = { [OWN.cacheName]: cache };
  return {
    name: `${kind} ${cache}`,
    options: { kind: SpanKind.INTERNAL, attributes: { ...attributes, [OWN.cacheKey]: key } },
    parent: context.active(),
    ended: (seconds, { outcome, error }, span) => {
      if (kind === "load") instruments.cacheLoad.record(seconds, { ...attributes, ...errorAttributes(error) });
      else span?.setAttribute(OWN.cacheOutcome, outcome);
    },
  };
}
