/** Spans and metrics of every component, as the real SDK has them. */
import { context, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-node";
import { afterAll, afterEach, beforeEach, expect, test } from "vitest";
import { describeBackends } from "../../tests/kit/index.ts";
import { FaultyProxy } from "../../tests/kit/proxy.ts";
import { Cache } from "../components/cache/index.ts";
import { Locks, QuorumLocks } from "../components/locks/index.ts";
import { Queue, Worker } from "../components/queues/index.ts";
import { Semaphores } from "../components/semaphores/index.ts";
import { defineScript, InputError, open, type Store } from "../index.ts";
import { type InstrumentOptions, instrument } from "./index.ts";

const spanExporter = new InMemorySpanExporter();
const tracerProvider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spanExporter)] });
tracerProvider.register();
const tracer = tracerProvider.getTracer("test");
const double = defineScript({
  name: "double",
  keys: ["counter"],
  lua: `return redis.call("INCRBY", counter, redis.call("GET", counter))`,
});

afterAll(async () => {
  await tracerProvider.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
});

describeBackends("a store with telemetry", (backend) => {
  let db: Store;
  let metrics: Metrics;
  let stop = (): void => {};

  beforeEach(async () => {
    spanExporter.reset();
    metrics = new Metrics();
    db = await backend.open();
    instrumented();
  });

  afterEach(async () => {
    stop();
    await db.close();
    await metrics.provider.shutdown();
  });

  function instrumented(options: InstrumentOptions = {}): void {
    stop();
    stop = instrument(db, { tracer, meter: metrics.provider.getMeter("test"), ...options });
  }

  test("tells of round trips inside of a span, by the conventions for databases", async () => {
    await db.set("counter", "4");
    expect(spans()).toEqual([]);
    await inSpan(async () => {
      await db.get("counter");
      await db.run(double, { counter: "counter" });
      await db.pipeline([
        ["GET", "counter"],
        ["GET", "counter"],
      ]);
      await db.multi([
        ["SET", "counter", "1"],
        ["INCR", "counter"],
      ]);
      await expect(db.call("LPUSH", "counter", "1")).rejects.toThrow("WRONGTYPE");
    });
    const [get, evalsha, pipeline, multi, push] = spans().filter(({ kind }) => kind === SpanKind.CLIENT);
    expect(get).toMatchObject({ name: "GET", attributes: { "db.system.name": "redis", "db.operation.name": "GET" } });
    expect(evalsha?.attributes).toMatchObject({
      "db.operation.name": "EVALSHA",
      "db.stored_procedure.name": double.name,
    });
    expect(pipeline).toMatchObject({ name: "PIPELINE GET", attributes: { "db.operation.batch.size": 2 } });
    expect(multi).toMatchObject({ name: "MULTI", attributes: { "db.operation.batch.size": 2 } });
    expect(push).toMatchObject({
      attributes: { "error.type": "WRONGTYPE", "db.response.status_code": "WRONGTYPE" },
      status: { code: SpanStatusCode.ERROR },
    });
    for (const span of [get, evalsha, pipeline, multi, push]) {
      expect(span?.parentSpanContext?.spanId).toBe(only("outside").spanContext().spanId);
      expect(span?.attributes).not.toHaveProperty("db.query.text");
    }
    const durations = await metrics.histogram("db.client.operation.duration");
    const count = (operation: string) =>
      durations.find(({ attributes }) => attributes["db.operation.name"] === operation)?.value.count;
    expect([count("SET"), count("GET"), count("PIPELINE GET"), count("MULTI")]).toEqual([1, 1, 1, 1]);
    expect(durations.find(({ attributes }) => attributes["error.type"] === "WRONGTYPE")?.value.count).toBe(1);
  });

  test("shows commands without their values, where that is wanted, and round trips outside of spans", async () => {
    instrumented({ queryText: true, requireParentSpan: false });
    await db.set("counter", "secret");
    expect(only("SET").attributes["db.query.text"]).toBe("SET ? ?");
  });

  test("links a job to what added it, and carries the trace along", async () => {
    const queue = new Queue<number, string>(db, "sums");
    const added = await inSpan(() => queue.add(1, { attempts: 2, backoff: 1 }));
    const failures = ["first"];
    const seen: (string | undefined)[] = [];
    const worker = new Worker(queue, async () => {
      seen.push(trace.getActiveSpan()?.spanContext().traceId);
      if (failures.pop() !== undefined) throw new TypeError("not this time");
      return "done";
    });
    worker.start();
    await queue.waitFor(added.id);
    await worker.stop();
    const add = only("add sums");
    expect(add).toMatchObject({ kind: SpanKind.PRODUCER, attributes: { "messaging.message.id": added.id } });
    const attempts = spans("process sums");
    expect(attempts.map(({ attributes }) => attributes["cinnabar.job.outcome"])).toEqual(["retry", "done"]);
    expect(attempts[0]).toMatchObject({
      attributes: { "error.type": "TypeError" },
      status: { code: SpanStatusCode.ERROR },
    });
    for (const attempt of attempts) {
      expect(attempt.kind).toBe(SpanKind.CONSUMER);
      expect(attempt.parentSpanContext?.spanId).toBe(add.spanContext().spanId);
      expect(attempt.links.map((link) => link.context.spanId)).toEqual([add.spanContext().spanId]);
    }
    expect(new Set(seen)).toEqual(new Set([add.spanContext().traceId]));
    expect(await metrics.sum("messaging.client.sent.messages")).toBe(1);
    expect(await metrics.sum("messaging.client.consumed.messages")).toBe(2);
    const taken = await metrics.histogram("messaging.process.duration");
    expect(taken.map(({ attributes, value }) => [attributes["cinnabar.job.outcome"], value.count])).toEqual([
      ["retry", 1],
      ["done", 1],
    ]);
    const [waited] = await metrics.histogram("cinnabar.job.wait.duration");
    expect(waited?.value.count).toBe(1);
  });

  test("links only, where that is wanted; many jobs and flows carry the trace, too", async () => {
    instrumented({ processAs: "link" });
    const queue = new Queue<string, string>(db, "parts");
    const ids = await inSpan(async () => {
      const many = await queue.addMany([
        { data: "a" },
        { data: "b", options: { id: "b" } },
        { data: "b", options: { id: "b" } },
      ]);
      const flow = await queue.addFlow({ data: "parent", children: [{ data: "child" }] });
      return [...many.map(({ id }) => id), flow];
    });
    const worker = new Worker(queue, ({ data }) => data, { concurrency: 4 });
    worker.start();
    for (const id of ids) await queue.waitFor(id);
    const last = await inSpan(() => queue.addAndWait("c"));
    expect(last.status).toBe("done");
    await worker.stop();
    expect(await metrics.sum("messaging.client.sent.messages")).toBe(2 + 1 + 1);
    const adds = new Set(spans("add parts").map((span) => span.spanContext().spanId));
    expect(adds.size).toBe(3);
    const attempts = spans("process parts");
    expect(attempts).toHaveLength(5);
    for (const { links, parentSpanContext } of attempts) {
      expect(parentSpanContext).toBeUndefined();
      expect(adds).toContain(links[0]?.context.spanId);
    }
  });

  test("a job that was added without telemetry has a trace of its own", async () => {
    stop();
    const queue = new Queue<string, string>(db, "bare");
    const { id } = await queue.add("x");
    instrumented({ queues: [queue] });
    expect(await metrics.points("cinnabar.queue.jobs")).toContainEqual([{ state: "waiting" }, 1]);
    const worker = new Worker(queue, () => "y").start();
    await queue.waitFor(id);
    await worker.stop();
    const attempt = only("process bare");
    expect(attempt.parentSpanContext).toBeUndefined();
    expect(attempt.links).toEqual([]);
  });

  test("tells how long locks and permits were waited for and held", async () => {
    const locks = new Locks(db);
    await inSpan(async () => {
      const lease = await locks.acquire("door");
      expect(await locks.acquire("door", { waitMs: 0 })).toBeNull();
      await lease?.release();
      await (await locks.acquireMany(["a", "b"]))?.release();
      const permit = await new Semaphores(db, { limit: 1 }).acquire("room");
      permit?.detach();
    });
    const outcomes = spans("acquire lock").map(({ attributes }) => attributes["cinnabar.lease.outcome"]);
    expect(outcomes.filter((outcome) => outcome === "timeout")).toHaveLength(1);
    expect(outcomes[0]).toBe("acquired");
    expect(only("acquire semaphore").attributes).toMatchObject({ "cinnabar.lease.name": "room" });
    expect(spans("hold lock").map(({ attributes }) => attributes["cinnabar.lease.outcome"])).toEqual([
      "released",
      "released",
      "released",
    ]);
    const held = await metrics.histogram("cinnabar.lease.hold.duration");
    expect(
      held.map(({ attributes, value }) => [
        attributes["cinnabar.lease.kind"],
        attributes["cinnabar.lease.outcome"],
        value.count,
      ]),
    ).toEqual([
      ["lock", "released", 3],
      ["semaphore", "detached", 1],
    ]);
    const waited = await metrics.histogram("cinnabar.lease.wait.duration");
    expect(waited.every(({ attributes }) => !("cinnabar.lease.name" in attributes))).toBe(true);
  });

  test("tells what caches have, and how long making takes", async () => {
    const cache = new Cache<string>(db, "pages", { freshMs: 60_000 });
    let inside: string | undefined;
    await inSpan(async () => {
      await cache.get("a", () => {
        inside = trace.getActiveSpan()?.spanContext().spanId;
        return "A";
      });
      await cache.get("a", () => "never");
      await cache.getEntry("a", () => "never");
      await cache.get("missing");
      await expect(
        cache.get("b", () => {
          throw new RangeError("no");
        }),
      ).rejects.toThrow("no");
    });
    const gets = spans("get pages").map(({ attributes }) => attributes["cinnabar.cache.outcome"] ?? "failed");
    expect(gets).toEqual(["miss", "hit", "hit", "failed"]);
    const [load, failed] = spans("load pages");
    expect(load?.spanContext().spanId).toBe(inside);
    expect(failed?.attributes["error.type"]).toBe("RangeError");
    const requests = await metrics.points("cinnabar.cache.requests");
    expect(requests).toEqual(
      expect.arrayContaining([
        [{ name: "pages", outcome: "hit" }, 2],
        [{ name: "pages", outcome: "miss" }, 3],
      ]),
    );
    const loads = await metrics.histogram("cinnabar.cache.load.duration");
    expect(loads.reduce((sum, { value }) => sum + value.count, 0)).toBe(2);
  });

  test("is not told twice, and not at all after its end", async () => {
    expect(() => instrument(db)).toThrow(InputError);
    expect(() => instrument(db, { links: true } as never)).toThrow("no option");
    stop();
    await inSpan(() => new Queue(db, "quiet").add(1));
    expect(spans().map(({ name }) => name)).toEqual(["outside"]);
    instrumented();
    await inSpan(() => new Queue(db.reading({ from: "primary" }), "quiet").add(1));
    expect(spans("add quiet")).toHaveLength(1);
  });
});

describeBackends("circuits with telemetry", { backends: ["redis"] }, (backend) => {
  test("are counted as they open and close", async () => {
    const metrics = new Metrics();
    const proxy = await FaultyProxy.open(backend.ports[0]!);
    const db = await open(`redis://127.0.0.1:${proxy.port}`, {
      breaker: { failures: 1, openAfterMs: 0, probeEveryMs: 20 },
      retryMs: 0,
    });
    instrument(db, { tracer, meter: metrics.provider.getMeter("test") });
    const open1 = () => metrics.points("cinnabar.circuit.open").then((points) => points.map(([, value]) => value));
    expect(await open1()).toEqual([0]);
    proxy.refuse();
    proxy.cut();
    await expect(db.send(["GET", "k"], { whenOpen: "fail" })).rejects.toThrow();
    await expect.poll(open1).toEqual([1]);
    await expect(db.send(["GET", "k"], { whenOpen: "fail" })).rejects.toThrow("circuit open");
    const failures = await metrics.histogram("db.client.operation.duration");
    expect(failures.map(({ attributes }) => attributes["error.type"])).toContain("CIRCUIT_OPEN");
    proxy.refuse(false);
    await expect.poll(open1).toEqual([0]);
    const changes = await metrics.points("cinnabar.circuit.changes");
    expect(new Set(changes.map(([{ state }]) => state))).toEqual(new Set(["open", "half-open", "closed"]));
    await db.close();
    await proxy.close();
    await metrics.provider.shutdown();
  });
});

describeBackends("quorum locks with telemetry", { backends: ["embedded"] }, () => {
  test("are told by the first store that is watched", async () => {
    spanExporter.reset();
    const stores = await Promise.all([open(), open(), open()]);
    instrument(stores[1]!, { tracer });
    const lease = await inSpan(() => new QuorumLocks(stores).acquire("door"));
    await lease?.release();
    expect(only("acquire quorum-lock").attributes["cinnabar.lease.outcome"]).toBe("acquired");
    expect(only("hold quorum-lock").attributes["cinnabar.lease.outcome"]).toBe("released");
    for (const store of stores) await store.close();
  });
});

function spans(name?: string): ReadableSpan[] {
  return spanExporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);
}

function only(name: string): ReadableSpan {
  const found = spans(name);
  expect(found, name).toHaveLength(1);
  return found[0]!;
}

function inSpan<T>(body: () => Promise<T>): Promise<T> {
  return tracer.startActiveSpan("outside", async (span) => {
    try {
      return await body();
    } finally {
      span.end();
    }
  });
}

/** The metrics of one test, collected when they are asked for. */
class Metrics {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({ exporter: this.#exporter, exportIntervalMillis: 2 ** 30 });
  readonly provider = new MeterProvider({ readers: [this.#reader] });

  async #dataPoints(name: string) {
    const { resourceMetrics } = await this.#reader.collect();
    const all = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    return all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
  }

  async histogram(name: string) {
    const points = await this.#dataPoints(name);
    return points.map(({ attributes, value }) => ({ attributes, value: value as Histogram }));
  }

  /** With the last words of our own attributes as names. */
  async points(name: string): Promise<[Record<string, unknown>, number][]> {
    const points = await this.#dataPoints(name);
    return points.map(({ attributes, value }) => {
      const own = Object.entries(attributes).filter(
        ([each]) => each.startsWith("cinnabar.") && each !== "cinnabar.topology",
      );
      return [Object.fromEntries(own.map(([each, word]) => [each.split(".").at(-1), word])), value as number];
    });
  }

  async sum(name: string): Promise<number> {
    return (await this.points(name)).reduce((total, [, value]) => total + value, 0);
  }
}
