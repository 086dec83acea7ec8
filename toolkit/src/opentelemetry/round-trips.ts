/** Round trips as spans of a database client, and their durations. */
import { type Attributes, context, type Span, SpanKind, type Tracer, trace } from "@opentelemetry/api";
import type { Item, RoundTrip, RoundTripListener, Store } from "../connection/store.ts";
import { errorAttributes, fail } from "./errors.ts";
import type { Instruments } from "./instruments.ts";
import { DB, OWN, SERVER_ADDRESS, SERVER_PORT } from "./names.ts";

export interface RoundTripSettings {
  readonly tracer: Tracer;
  readonly instruments: Instruments;
  /** A span only inside of another one: what runs in the background makes none. */
  readonly requireParentSpan: boolean;
  readonly queryText: boolean;
}

const MOST_WORDS = 32;
const MOST_COMMANDS = 10;

export function roundTripListener(store: Store, settings: RoundTripSettings): RoundTripListener {
  const { tracer, instruments, requireParentSpan, queryText } = settings;
  const where = addressOf(store);
  return (trip) => {
    const attributes: Attributes = { ...where, ...described(trip) };
    const begunMs = store.clock.monotonicMs();
    const span =
      requireParentSpan && !isInSpan()
        ? null
        : startSpan(tracer, trip, queryText ? { ...attributes, [DB.queryText]: textOf(trip) } : attributes);
    return (error) => {
      const seconds = (store.clock.monotonicMs() - begunMs) / 1_000;
      const { [DB.batchSize]: _size, ...dimensions } = attributes;
      instruments.dbDuration.record(seconds, { ...dimensions, ...errorAttributes(error) });
      if (span === null) return;
      if (error !== undefined) fail(span, error);
      span.end();
    };
  };
}

/** A timer that a span has started goes on in its context; what it does after the end of the span is not part of it. */
const isInSpan = (): boolean => trace.getSpan(context.active())?.isRecording() === true;

function startSpan(tracer: Tracer, { items }: RoundTrip, attributes: Attributes): Span {
  const size = items.length > 1 ? { [DB.batchSize]: items.length } : {};
  const script = attributes[DB.script];
  const name = `${attributes[DB.operation]}${script === undefined ? "" : ` ${script}`}`;
  return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes: { ...attributes, ...size } });
}

/** The same for all round trips of a store. Of a Cluster or behind Sentinel, who is asked is decided later. */
export function addressOf({ topology, workerAddress }: Store): Attributes {
  const known: Attributes = { [DB.system]: "redis", [OWN.topology]: topology };
  if (topology !== "single" || workerAddress === null) return known;
  const { protocol, hostname, port, pathname, searchParams } = new URL(workerAddress.url);
  if (protocol === "unix:") {
    return { ...known, [SERVER_ADDRESS]: decodeURI(pathname), [DB.namespace]: searchParams.get("db") ?? "0" };
  }
  const namespace = pathname.slice(1) || "0";
  return { ...known, [SERVER_ADDRESS]: hostname, [SERVER_PORT]: Number(port || 6_379), [DB.namespace]: namespace };
}

const nameOf = (item: Item): string => ("script" in item ? "EVALSHA" : String(item[0]).toUpperCase());

/** `GET`; `EVALSHA` with the name of the script; `PIPELINE GET` where all are the same; `MULTI` where they are not. */
function described({ kind, items }: RoundTrip): Attributes {
  const [first] = items;
  if (first === undefined) return { [DB.operation]: kind.toUpperCase() };
  const names = new Set(items.map(nameOf));
  const one = names.size === 1 ? nameOf(first) : null;
  const scripts = new Set(items.map((item) => ("script" in item ? item.script.name : null)));
  const script = scripts.size === 1 && "script" in first ? { [DB.script]: first.script.name } : {};
  if (kind === "call" || kind === "script") return { [DB.operation]: nameOf(first), ...script };
  const many = kind === "pipeline" ? "PIPELINE" : "MULTI";
  return { [DB.operation]: one === null ? many : `${many} ${one}`, ...script };
}

/** Commands with the keys of scripts and without any other word: values may be secrets. */
function textOf({ items }: RoundTrip): string {
  const lines = items.slice(0, MOST_COMMANDS).map((item) => {
    const [keys, others] = "script" in item ? [item.keys, item.args.length] : [[], item.length - 1];
    const shown = [...keys.slice(0, MOST_WORDS), ...Array.from({ length: Math.min(others, MOST_WORDS) }, () => "?")];
    return [nameOf(item), ...shown].join(" ");
  });
  return lines.join("\n");
}
